/* writer.h - interface between the files of the Perfetto writer. Each file depends only on those above it:
 *
 *     writer.c             packets of one graph: interned text, the sequence's clock and default track
 *     plain.c              packets of events, including those that refer to interned data that is not modelled
 *     extension.c          converts args to fields that the file itself describes
 *     nested.c             JSON objects and arrays as nested annotations
 *     flow_points.c        flows of an event: ids, properties of flow points
 *     thread_times.c       CPU time of threads, in the packets of their events
 *     event.c              one TrackEvent: names, args
 *     flows.c              lists the flows of a graph
 *     lanes.c              assignment of spans to lanes; the stack of the current lane
 *     nest.c               order of the packets of nested spans
 *     segments.c           spans of threads, written on several threads
 *     cut.c                packets of a trace that was cut in time
 *     move.c               packets of a trace that was moved, or that is one of several
 *     passthrough.c        unmodelled contents of a Perfetto input
 *     machine.c            machines of tracks
 *     descriptors.c        descriptors of tracks, clocks, top-level data
 *     asyncs.c             async spans: lanes by name, nested by id
 *     counters.c           counter samples: a track for each series
 *     companions.c         samples that belong in the packets of events
 *     samples.c            stack samples
 *     gpu.c                work of devices as GpuRenderStageEvents
 *     gpu_counters.c       samples of devices as GpuCounterEvents
 *     records.c            records: data without a time or a meaning in a trace of events
 *     write.c              the sink: one track after the other */
#ifndef FORMAT_PERFETTO_WRITE_WRITER_H
#define FORMAT_PERFETTO_WRITE_WRITER_H

#include "base/heap.h"
#include "graph/sink.h"
#include "io/out.h"
#include "format/pb_out.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/passthrough.h"
#include "nested.h"
#include "format/perfetto/schema.h"

/* Interned ids of one kind, by string id. */
struct iids {
  uint32_t *iid; /* by string id: its iid; 0 = not interned yet */
  uint32_t n;
  tk_id *known; /* strings that have an iid */
  uint32_t n_known, cap_known;
};

/* One end of a flow; the array is sorted by event. */
struct flow_end {
  tk_id event;
  bool at_end; /* true if it belongs to the span's end, because the other end of the flow begins after this span */
  bool terminating;
  bool has_points; /* true if its flow points are also written to private fields */
  uint64_t id;
};

/* Converts args to fields of TrackEvent extensions. */
struct extension_writer {
  struct schema schema; /* descriptions from the file from which the graph was read */
  uint32_t open;        /* number of the extension whose message is being written; 0 = none */
  struct buf message;
};

/* Prefix for the keys of args that belong to the end event: "json.end.key". */
#define END_ARG "json.end."
enum { END_ARG_SIZE = sizeof END_ARG - 1 };

/* Fields of an event as bytes. */
struct raw_fields {
  const uint8_t *p;
  size_t n;
};

/* Keys of the args that are fields of a TrackEvent; 0 = no event has such an arg. */
struct field_keys {
  tk_id fields, interned, correlation, thread_time, instructions, types;
};

/* Counters of a thread whose samples can be in the packets of its events: CPU time, instructions (thread_times.c). */
enum { THREAD_COUNTERS = 2 };
/* Set in event_writer.accompanied for a sample that is in the packet of an event. */
enum { ACCOMPANIES = 1 };

/* Interned data that is written unchanged (plain.c). */
struct interned_out {
  const uint8_t *p;
  size_t n;
  uint32_t sequence; /* sequence on which it is written; 0 = not written yet */
};

/* Thread of legacy events that has no descriptor, so that the events themselves state it. */
struct legacy_thread {
  int64_t pid, tid;
  bool known;
};

/* Writes the packets of one graph. Each machine has one sequence. */
struct event_writer {
  struct out *out;
  struct mem *mem;
  const struct tk_trace *t;
  uint32_t sequence, clock, machine;
  bool has_private_fields;        /* true to write `private_fields` into the packet, even if they are empty */
  tk_id own_tid;         /* string: tid of the process track's instants in other formats, which is not written; 0 = none */
  bool track_has_scope;  /* true if the scope of instants follows from their track */
  bool track_is_mixed;   /* true if the track is FORM_MIXED */
  bool is_legacy;        /* true to write the track's events as legacy events (legacy.h) */
  bool started;          /* true if the sequence's first packet, which clears its state, has been written */
  int64_t base_ns;       /* time in the file that corresponds to graph time 0 */
  int64_t last_ns;       /* current time of the incremental clock */
  uint32_t n_since_clock; /* number of packets since the clock's base was last written */
  uint64_t track;        /* default track of the sequence at this time */
  struct iids names, categories, keys, end_keys, values;
  struct iids functions, paths, sources; /* for stack samples, by string */
  struct iids mappings, frames, stacks;  /* by module, by frame, by stack of the graph */
  struct buf sample;                     /* PerfSample for the next packet */
  struct buf stage, counter;             /* GpuRenderStageEvent and GpuCounterEvent for the next packet */
  struct map stage_iids;                 /* hardware queues and stages that have an iid (gpu.c) */
  uint64_t n_packets;    /* number of packets with descriptors, events or records */
  const struct sink_meter *meter; /* NULL = sizes are not measured */
  tk_id *points;         /* flow points that need more than Perfetto's flow ids, by event */
  uint32_t n_points;
  bool is_part;          /* the output states its range (TRACEKIT_PART) */
  bool has_packets;      /* events of tracks marked in_packets are not written: they are in packets that are passed through */
  uint8_t *in_packets;   /* by class: 1 = flows of this class are in these packets (flows.c); NULL = none */
  uint8_t *has_flows;    /* bit set by event: 1 = it has an entry in `points` or `flow_ends` */
  struct iids point_classes; /* category of the event -> class of the last point written */
  struct flow_end *flow_ends;
  uint32_t n_flow_ends, cap_flow_ends, last_flow_end, last_point; /* last_*: where the last search ended */
  bool has_ends; /* true if some flow end has at_end set */
  struct buf interned, event, annotation, packet, scratch, private_fields;
  struct buf legacy;                     /* legacy_event of the current event, if is_legacy */
  struct legacy_thread legacy_thread;
  struct extension_writer extensions;
  uint64_t companions[THREAD_COUNTERS]; /* uuids of the counters of the current thread; 0 = none */
  uint8_t *accompanied;                 /* by event: bits of samples in its packets (thread_times.c); NULL = none */
  struct interned_out *kept; /* interned data that is written unchanged, by number - 1 */
  uint32_t n_kept, cap_kept;
  struct field_keys begin_keys, end_field_keys;
  struct interned_out *plain; /* interned data to which the current event may refer; NULL = none */
  bool plain_has_points;      /* true if an event that may refer to `plain` had flow points */
  struct nested_writer nested;
  uint8_t *key_types;         /* by key: type of its numbers (passthrough.h); NULL = as in the graph */
  const struct intern_str *types; /* the current event's arg ARG_TYPES, and how much of it was used; NULL = none */
  size_t types_at;
  struct raw_fields fields;   /* the event's fields that are not modelled, which are written last */
  struct buf decoded;         /* contains them, if another format stored them as text */
  bool loses_fields;          /* true if the interned data of these fields is no longer available */
  uint64_t n_lost_fields;
  struct map *sequences;      /* sequence ids in use; next candidate, and distance between candidates */
  uint32_t *next_sequence, step;
  uint64_t first_flow;        /* for a part of a trace: added to new ids of flows, so that other parts have other ids */
};

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem);
void writer_end(struct event_writer *w);
/* Makes a second writer for the same sequence, with its own memory and output. It shares what `from` found in the graph, so `from` must
 * exist longer. Returns false when memory runs out; writer_unfork may be called in either case. */
bool writer_fork(struct event_writer *w, const struct event_writer *from, struct out *out, struct mem *mem);
void writer_unfork(struct event_writer *w);
/* Forgets the state of the sequence: the next packet clears it, and writes names and the track again. */
void writer_restart(struct event_writer *w);
/* Switches to a machine for the following packets. If w->started, the caller must first set w->sequence to a new sequence. */
void writer_switch(struct event_writer *w, uint32_t machine, int64_t base_ns);
/* Assigns an iid to the string. */
void writer_iids_set(struct event_writer *w, struct iids *kind, tk_id s, uint32_t iid);

/* True if the event has an end packet. */
static inline bool writer_has_end(const struct tk_event *e) {
  return (e->flags & (TK_FLAG_PAIRED | TK_FLAG_UNFINISHED)) == TK_FLAG_PAIRED;
}

/* Returns the time in the file, in ns. Rounds to the nearest ns, so that order and nesting do not change. The sum saturates,
 * because a damaged input may contain any origin. */
static inline int64_t writer_ns(const struct event_writer *w, tk_time ts) { return num_add(w->base_ns, num_ns(ts)); }

/* Sets the track of the following events. */
void writer_track(struct event_writer *w, uint64_t uuid);
/* Interns the string, without its first `skip` bytes, in the packet under construction. Returns the new iid. */
uint32_t writer_new_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip);
/* Returns the iid of a string, interning it if it is new. */
static inline uint32_t writer_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) {
  return kind->iid[s] ? kind->iid[s] : writer_new_iid(w, kind, field, s, 0);
}

/* Writes a packet on the writer's own sequence. */
void writer_sequence_packet(struct event_writer *w, int64_t ns);

/* Writes a packet without a sequence. */
void writer_packet(struct out *out, const struct buf *packet);

/* ---- lanes and flows ---- */

/* Returns the rank of a track in the output order; tracks of equal rank stay in the order of the graph. */
unsigned writer_place_of(const struct tk_track *k);

/* ---- the sink ---- */

struct open_span {
  tk_id event;
  int64_t end_ns;
  bool endless; /* true if the span never ends */
};

/* The spans that are open at a position of a lane, from the outermost to the innermost. */
struct open_spans {
  struct open_span *v;
  uint32_t n, cap;
};

/* The sink. It also writes the packets of a Perfetto input that are passed through, and avoids the sequences that they use
 * (passthrough.c). */
struct perfetto_sink;
/* Place of a track in the input file. A track with a uuid keeps its original descriptors, or stays without a descriptor; no new
 * one is written. */
struct kept_track {
  uint64_t uuid, parent;
  tk_id parent_track; /* for a counter: named track below which it is shown; 0 = none */
  bool has_uuid, has_parent;
  bool is_legacy; /* async track: its events were legacy events of Chrome */
};

struct perfetto_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  int64_t zero_ns;
  uint32_t next_sequence, clock; /* clock: clock of the times; BOOTTIME, unless passthrough data names another one */
  struct map sequences;          /* sequence ids that passthrough data uses */
  bool has_clocks, has_realtime; /* passthrough data has clock snapshots; one of them contains REALTIME */
  bool has_remote_clocks;        /* passthrough data has clock offsets of other machines */
  bool has_sched; /* this graph contains the tracks of CPUs */
  struct schema extensions; /* extensions that earlier graphs describe, if there are several graphs */
  bool drops_extensions;    /* true if the graph's own descriptions contradict these, so that its fields become annotations */
  bool whole_packets; /* true if events of the graph stay in their packets; their tracks are then not written, or have no events */
  bool is_valid;      /* packets and descriptors of the current graph are written */
  bool waits_for_clocks; /* the first graph has packets, perhaps with clock snapshots: write_clocks runs after them */
  bool keeps_packets; /* the packets of the current graph are passed through */
  bool at_first;                 /* the trace-wide data has been written, but no graph yet */
  uint64_t last_uuid, next_flow;
  int32_t next_pid; /* next number for pids that do not fit into an int32 */
  uint32_t step;    /* distance between new ids; other graphs use the ids in between (graph/sink.h) */
  const struct tk_trace *t;
  struct event_writer w;
  bool keeps_tracks; /* tracks of the graph keep the uuids of the input file */
  uint64_t *uuids; /* by track: its uuid */
  int64_t *pids;   /* by track: pid of a process */
  int64_t *tids;   /* by track: tid of a thread */
  tk_id *own_tids; /* by process: tid of the track for the process's own spans, if these are on a separate track; 0 = none */
  const struct tk_meta *passthrough_tracks;
  struct map passthrough_at;   /* track -> offset of its entry in the meta `passthrough_tracks` */
  struct map named;  /* process and text of the tid -> named track */
  struct map threads; /* process and number of the tid -> thread */
  struct machine_of_writer {
    uint32_t id;
    int64_t ahead_ns; /* clock offset from passthrough data */
    bool described;
  } *machines; /* machines of the graph; [0] is for processes without a machine */
  uint32_t n_machines, cap_machines, next_machine;
  tk_id machine_name;     /* name of the current machine */
  struct map machine_of;  /* name -> machine */
  struct map machine_ids; /* machine ids in use */
  struct map names;    /* processes with new names: machine and pid in the input -> track */
  struct map is_named; /* processes of `names` whose new name is in a packet that was passed through */
  struct map series; /* process, counter, series -> track of the series (counters.c) */
  struct map thread_counters; /* thread << 1 | which -> counter (companions.c) */
  struct map lone_counters; /* counter track -> index in counter_uuids of the track for events without samples */
  uint64_t *counter_uuids;  /* uuids of the tracks of counters */
  uint32_t n_counter_uuids, cap_counter_uuids;
  struct map part_uuids; /* for a part of a trace: uuids that depend on the identity of their track */
  struct gpu_writer *gpu; /* NULL = device work is written as track events */
  uint64_t last_stage;    /* id of the last GpuRenderStageEvent */
  uint32_t last_counter;  /* id of the last counter in GpuCounterEvents */
  struct buf packet, inner, text, private_fields;
  struct buf late; /* packets to be written after the events of the graph */
  struct tk_arg *args; /* args of the current counter event */
  uint32_t n_args, cap_args;
  struct open_spans stack; /* of the current lane */
  struct segments *segments; /* NULL = spans of threads are written one after the other (segments.c) */
  tk_id *deep; /* spans of the track that cannot be on its stack: they are too deep, or end later than their parent */
  uint32_t n_deep, cap_deep;
};

static inline void writer_add_deep(struct perfetto_sink *s, tk_id span) {
  if (mem_grow(&s->mem, (void **)&s->deep, &s->cap_deep, (uint64_t)s->n_deep + 1, sizeof span)) s->deep[s->n_deep++] = span;
}
static inline uint64_t writer_uuid(struct perfetto_sink *s) { return s->last_uuid += s->step; }
static inline int32_t writer_pid(struct perfetto_sink *s) { return (s->next_pid += (int32_t)s->step) - (int32_t)s->step; }

/* ---- descriptors (descriptors.c) ---- */

/* True for a track that is identified by its name rather than by a thread (fields.h). */
static inline bool track_is_named(const struct tk_track *k) {
  return k->kind == TK_TRACK_THREAD && k->tid.kind == TK_IDENT_STR && k->tid.num != 0;
}

/* A named track to describe below a parent (0 = none). `form` and `tid` are for our reader. */
struct child {
  uint64_t parent;
  const char *name;
  size_t n;
  uint32_t form;
  struct tk_ident tid;
  uint64_t process;
  tk_id track; /* the track of the graph; 0 = none */
  bool counter, has_rank, explicit;
  bool lone; /* true if only our reader needs its descriptor */
  tk_id series; /* for a counter: suffix of its name */
  const char *unit, *id; /* for a counter: unit; id, which is part of its name */
  size_t n_id;
  int64_t rank;
};

#endif

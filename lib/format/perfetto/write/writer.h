/* writer.h - interface between the files of the Perfetto writer. Each file depends only on those above it:
 *
 *     writer.c             packets of one graph: interned text, the sequence's clock and default track
 *     plain.c              packets of events, including packets that reference interned data that is not modelled
 *     extension.c          args -> fields that the file itself describes
 *     flow_points.c        flows of an event: ids, complete flow points
 *     event.c              one TrackEvent: names, args
 *     flows.c              the list of flows
 *     lanes.c              assignment of spans to lanes; the stack of the current lane
 *     cut.c                packets of a trace that was cut in time
 *     passthrough.c        unmodelled contents of a Perfetto input
 *     machine.c            machines of tracks
 *     descriptors.c        descriptors of tracks, clocks, top-level data
 *     asyncs.c             async spans: lanes by name, nested by id
 *     counters.c           counter samples: a track for each series
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
#include "format/perfetto/schema.h"

/* Interned ids of one kind, by string id. */
struct iids {
  uint32_t *iid; /* 0 = not interned yet */
  uint32_t n;
  tk_id *known; /* the strings that have an iid */
  uint32_t n_known, cap_known;
};

/* One end of a flow; sorted by event. */
struct flow_end {
  tk_id event;
  bool at_end; /* belongs to the span's end, because the flow's other end begins after this span */
  bool terminating;
  bool has_points; /* its flow points are written completely too */
  uint64_t id;
};

/* Writer of args that are fields of TrackEvent extensions. */
struct extension_writer {
  struct schema schema; /* descriptions in the graph's input file */
  uint32_t open;        /* number of the extension whose message is being written; 0 = none */
  struct buf message;
};

/* Prefix of keys of args that belong to the end event: "json.end.key". */
#define END_ARG "json.end."
enum { END_ARG_SIZE = sizeof END_ARG - 1 };

/* Keys of args that are fields of a TrackEvent; 0 = no event has such an arg. */
struct field_keys {
  tk_id fields, interned, correlation, thread_time;
};

/* Interned data that is written unchanged (plain.c). */
struct interned_out {
  const uint8_t *p;
  size_t n;
  uint32_t sequence; /* its sequence; 0 = not written yet */
};

/* Writer of the packets of one graph: one sequence for each machine, so that each name is interned once. */
struct event_writer {
  struct out *out;
  struct mem *mem;
  const struct tk_trace *t;
  uint32_t sequence, clock, machine;
  bool has_private_fields;        /* write `private_fields` into the packet, even if it is empty */
  bool track_has_scope;  /* the track implies the scope of its instants */
  bool track_is_mixed;   /* the track is FORM_MIXED */
  bool started;          /* its first packet, which clears the state, was written */
  int64_t base_ns;       /* time in the file of graph time 0 */
  int64_t last_ns;       /* current time of the incremental clock */
  uint32_t n_since_clock; /* packets since the clock's base was last written */
  uint64_t track;        /* current default track of the sequence */
  struct iids names, categories, keys, end_keys, values;
  uint64_t n_packets;    /* with descriptors, events or records */
  const struct sink_meter *meter; /* NULL = sizes are not measured */
  tk_id *points;         /* flow points that Perfetto's ids do not fully represent, by event */
  uint32_t n_points;
  uint8_t *has_flows;    /* bit set by event: it occurs in `points` or `flow_ends` */
  struct iids point_classes; /* category of the event -> class of the point written last */
  struct flow_end *flow_ends;
  uint32_t n_flow_ends, cap_flow_ends, last_flow_end, last_point; /* last_*: where the last search ended */
  bool has_ends; /* some flow end is at_end */
  struct buf interned, event, annotation, packet, scratch, private_fields;
  struct extension_writer extensions;
  struct interned_out *kept; /* interned data, by number - 1 */
  uint32_t n_kept, cap_kept;
  struct field_keys begin_keys, end_field_keys;
  struct interned_out *plain; /* interned data that the current event references; NULL = none */
  tk_id fields;               /* string of its unmodelled fields, to be written last */
  bool loses_fields;          /* their interned data no longer exists */
  uint64_t n_lost_fields;
  struct map *sequences;      /* sequence ids in use; next candidate, and distance between candidates */
  uint32_t *next_sequence, step;
};

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem);
void writer_end(struct event_writer *w);
/* Switches to this machine for the following packets. The caller sets a new sequence first if one was begun. */
void writer_switch(struct event_writer *w, uint32_t machine, int64_t base_ns);
/* Assigns the iid to the string. */
void writer_iids_set(struct event_writer *w, struct iids *kind, tk_id s, uint32_t iid);

/* Returns the time in the file, in ns: rounded to nearest, so order and nesting survive. A damaged input can state any origin. */
static inline int64_t writer_ns(const struct event_writer *w, tk_time ts) { return num_add(w->base_ns, num_ns(ts)); }

/* Sets the track of the following events. */
void writer_track(struct event_writer *w, uint64_t uuid);
/* Interns the string, without its first `skip` bytes, in the packet under construction. */
uint32_t writer_new_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip);
/* Returns the iid of a string, interning it if it is new. */
static inline uint32_t writer_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) {
  return kind->iid[s] ? kind->iid[s] : writer_new_iid(w, kind, field, s, 0);
}

/* Writes the same packet on the writer's own sequence. */
void writer_sequence_packet(struct event_writer *w, int64_t ns);

/* Writes a packet that belongs to no sequence. */
void writer_packet(struct out *out, const struct buf *packet);

/* ---- lanes and flows ---- */

/* Returns a track's place in the output order; tracks with the same place keep the order of the graph. */
unsigned writer_place_of(const struct tk_track *k);

/* ---- the sink ---- */

struct open_span {
  tk_id event;
  int64_t end_ns;
  bool endless; /* never ends */
};

/* The sink, including the unmodelled packets of a Perfetto input and the sequences they do not use (passthrough.c). */
struct perfetto_sink;
/* Position of a track in the input file. A track with a uuid keeps its original descriptors, if it had any; no new one is
 * written. */
struct kept_track {
  uint64_t uuid, parent;
  bool has_uuid, has_parent;
};

struct perfetto_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  int64_t zero_ns;
  uint32_t next_sequence, clock; /* clock: of the times; BOOTTIME, unless passthrough names another one */
  struct map sequences;          /* sequence ids that passthrough uses */
  bool has_clocks, has_realtime; /* passthrough has clock snapshots; one of them contains REALTIME */
  bool has_remote_clocks;        /* passthrough has clock offsets of other machines */
  bool has_sched; /* this graph has rows of CPUs */
  bool whole_packets; /* events that the graph has, too, stay in packets: their tracks are not written, or have no events */
  bool keeps_packets; /* the packets of the graph being written are passed through */
  bool at_first;                 /* no graph was written yet; the first graph's trace-wide data was */
  uint64_t last_uuid, next_flow;
  int32_t next_pid; /* next substitute for pids that do not fit in int32 */
  uint32_t step;    /* distance between these ids; other graphs use those in between (graph/sink.h) */
  const struct tk_trace *t;
  struct event_writer w;
  bool keeps_tracks; /* tracks of the graph keep their uuids from the input file */
  uint64_t *uuids; /* by track */
  int64_t *pids;   /* by track; of processes */
  const struct tk_meta *passthrough_tracks;
  struct map passthrough_at;   /* track -> offset of its entry in the meta `passthrough_tracks` */
  struct map named;  /* process and text of the tid -> named track */
  struct map threads; /* process and number of the tid -> thread */
  struct machine_of_writer {
    uint32_t id;
    int64_t ahead_ns; /* clock offset from passthrough */
    bool described;
  } *machines; /* machines of the graph; [0]: for processes without a machine */
  uint32_t n_machines, cap_machines, next_machine;
  tk_id machine_name;     /* the current machine */
  struct map machine_of;  /* name -> machine */
  struct map machine_ids; /* machine ids in use */
  struct map series; /* process, counter, series -> its track (counters.c) */
  struct map lone_counters; /* counter track -> uuid for its events without samples, relative to first_series */
  uint64_t first_series;
  struct buf packet, inner, text, private_fields;
  struct tk_arg *args; /* args of a counter event */
  uint32_t n_args, cap_args;
  struct open_span *stack;
  uint32_t n_stack, cap_stack;
  tk_id *deep; /* spans of the track that are too deep for its stack or extend beyond their parent */
  uint32_t n_deep, cap_deep;
};

static inline uint64_t writer_uuid(struct perfetto_sink *s) { return s->last_uuid += s->step; }
static inline int32_t writer_pid(struct perfetto_sink *s) { return (s->next_pid += (int32_t)s->step) - (int32_t)s->step; }

/* ---- descriptors (descriptors.c) ---- */

/* True for a track that is not a thread but is identified by its name (fields.h). */
static inline bool track_is_named(const struct tk_track *k) {
  return k->kind == TK_THREAD && k->tid.kind == TK_IDENT_STR && k->tid.num != 0;
}

/* A named track to be described under a parent (0 = none). `form` and `tid` are for our reader. */
struct child {
  uint64_t parent;
  const char *name;
  size_t n;
  uint32_t form;
  struct tk_ident tid;
  uint64_t process;
  tk_id track; /* track of the graph that it represents; 0 = none */
  bool counter, has_rank, explicit;
  bool lone; /* its descriptor is only for our reader */
  tk_id series; /* counter: suffix of its name */
  const char *unit, *id; /* counter: unit; id, which is part of its name */
  size_t n_id;
  int64_t rank;
};

#endif

/* writer.h - interface between the files of the Perfetto writer. Each file depends only on those above it:
 *
 *     writer.c             packets of one graph: interned text, the sequence's clock and default track
 *     plain.c              packets of events, including packets that reference interned data that is not modelled
 *     extension.c          args -> fields that the file itself describes
 *     flow_points.c        flows of an event: ids, complete flow points
 *     event.c              one TrackEvent: names, args
 *     flows.c              the list of flows
 *     lanes.c              assignment of spans to lanes; the stack of the current lane
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

void extension_begin(struct extension_writer *x, const struct tk_trace *t, struct mem *mem);
void extension_free(struct extension_writer *x);
/* True if any event has an arg that is a field of an extension. */
bool extension_in_use(const struct tk_trace *t, struct mem *mem);
/* Writes the arg into the event if it belongs to an extension; otherwise returns false. The first `skip` bytes of its key are
 * ignored. A message is complete after extension_end. */
bool extension_write(struct extension_writer *x, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event);
void extension_end(struct extension_writer *x, struct buf *event);

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

/* Returns the time in the file, in ns: rounded to nearest, so order and nesting survive. */
static inline int64_t writer_ns(const struct event_writer *w, tk_time ts) { return w->base_ns + num_ns(ts); }

void event_find_keys(struct event_writer *w);
/* Collects interned data that events reference. Returns the number of entries that cannot be kept. */
uint64_t plain_interned_begin(struct event_writer *w);
/* plain_begin decides whether the current event is written in plain form, without our interned ids; the others write its texts
 * and args in that form. */
void plain_begin(struct event_writer *w, uint32_t args, bool at_end);
void plain_text(struct event_writer *w, uint32_t field, tk_id text);
void plain_annotation(struct event_writer *w, const struct tk_arg *arg, uint32_t skip, const struct buf *value);

/* Sets the track of the following events. */
void writer_track(struct event_writer *w, uint64_t uuid);
void event_slice_begin(struct event_writer *w, tk_id event);
void event_slice_end(struct event_writer *w, tk_id event, int64_t ns);
void event_instant(struct event_writer *w, tk_id event);
/* Writes a flow point that belongs to no span; only our reader uses it. */
void flow_points_lone(struct event_writer *w, uint64_t uuid, tk_id flow);
/* Write a counter sample. First come the args of its event that the sample does not represent: event_begin_rest, then
 * event_rest for each, then event_counter. `joined`: it is a further series of the previous sample's event. */
void event_begin_rest(struct event_writer *w);
void event_rest(struct event_writer *w, const struct tk_arg *arg);
void event_counter(struct event_writer *w, tk_id event, const struct tk_arg *value, bool joined);
bool event_is_counter_field(const struct event_writer *w, const struct tk_arg *arg);
/* Writes a counter event that has no sample; only our reader uses it. */
void event_lone_counter(struct event_writer *w, tk_id event);
/* True if a reader recovers exactly this number from the nearest double, which is stored in *d. */
bool event_decimal_is_double(const struct tk_arg *a, double *d);
/* Appends the flows of the event to w->event and w->private_fields: the flows of its begin, or of its end. */
void flow_points_write(struct event_writer *w, tk_id event, bool at_end);
/* Interns the string, without its first `skip` bytes, in the packet under construction. */
uint32_t writer_new_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip);
/* Returns the iid of a string, interning it if it is new. */
static inline uint32_t writer_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) {
  return kind->iid[s] ? kind->iid[s] : writer_new_iid(w, kind, field, s, 0);
}
/* Writes the packet with w->event and w->private_fields. `id` is the event or flow point that its size is attributed to. */
void plain_event(struct event_writer *w, int64_t ns, enum sink_part part, tk_id id);

/* Writes the same packet on the writer's own sequence. */
void writer_sequence_packet(struct event_writer *w, int64_t ns);

/* Writes a packet that belongs to no sequence. */
void writer_packet(struct out *out, const struct buf *packet);

/* ---- lanes and flows ---- */

/* Returns a track's place in the output order; tracks with the same place keep the order of the graph. */
unsigned writer_place_of(const struct tk_track *k);

/* Converts the graph's flow points to flows, each with a fresh id: *next_id and up, in steps of w->step. Returns the number of
 * dangling points. */
uint64_t flows_write_ends(struct event_writer *w, uint64_t *next_id);

/* A heap contains the lanes with one name, by the time they become free. lanes_take returns a lane that is free at `ts` and
 * marks it busy until `end`; 0 if all are busy: then the caller makes a new lane and adds it with lanes_add. */
uint64_t lanes_take(struct heap *lanes, tk_time ts, tk_time end);
void lanes_add(struct heap *lanes, uint64_t uuid, tk_time end);

/* ---- the sink ---- */

struct open_span {
  tk_id event;
  int64_t end_ns;
  bool endless; /* never ends */
};

/* The sink, including the unmodelled packets of a Perfetto input and the sequences they do not use (passthrough.c). */
struct perfetto_sink;
/* Appends the unmodelled fields of the track's descriptor; `inner`: the fields of the process, thread or counter in it. */
void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to);
void passthrough_tracks_begin(struct perfetto_sink *s);
bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid);
/* Position of a track in the input file. A track with a uuid keeps its original descriptors, if it had any; no new one is
 * written. */
struct kept_track {
  uint64_t uuid, parent;
  bool has_uuid, has_parent;
};
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track);
/* Writes the original descriptors that follow the events if `after`, otherwise the others. */
void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after);
/* Writes the passthrough packets of the first graph. Those of later graphs are lost, because they may use the same sequences
 * and their clocks differ. */
void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t, bool first);
/* Writes the data that other formats have asked to embed since the last call (format/carry.h). */
void write_blocks(struct perfetto_sink *s);
uint32_t passthrough_sequence(struct perfetto_sink *s);

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

/* Push and pop spans on the stack of the current lane (lanes.c). A child ends no later than its parent. */
void lanes_open_slices(struct perfetto_sink *s, tk_id event);
void lanes_close_slices(struct perfetto_sink *s, uint32_t height);

/* Writes the events of an async track (asyncs.c). */
void asyncs_write(struct perfetto_sink *s, tk_id track);
/* Writes the samples of a counter track (counters.c). */
void counters_write(struct perfetto_sink *s, tk_id track);

/* Writes the records of the graph as private packets (records.c). */
void records_write(struct perfetto_sink *s);

/* ---- machines (machine.c) ---- */

bool machine_write_all(struct perfetto_sink *s);
/* Switches to the machine of the track. Returns true on the first switch to it in this graph. */
bool machine_of_writer(struct perfetto_sink *s, tk_id track);

/* ---- descriptors (descriptors.c) ---- */

/* True for a track that is not a thread but is identified by its name (fields.h). */
static inline bool track_is_named(const struct tk_track *k) {
  return k->kind == TK_THREAD && k->tid.kind == TK_IDENT_STR && k->tid.num != 0;
}


/* Returns FORM_COMPLETE, FORM_MIXED or 0 for the spans of a track. */
uint32_t descriptor_form_of_spans(const struct tk_trace *t, const struct tk_track *k);
void descriptor_tracks(struct perfetto_sink *s);
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
uint64_t descriptor_thread_uuid(const struct perfetto_sink *s, tk_id process, int64_t tid);
uint64_t descriptor_child(struct perfetto_sink *s, const struct child *c);
/* Writes trace-wide data: clocks and extension descriptors at the start, top-level data at the end. */
void descriptor_trace(struct perfetto_sink *s, const struct tk_trace *t);
/* Writes the extension descriptors of a graph; the first graph's come at the start. */
void descriptor_extensions(struct perfetto_sink *s, const struct tk_trace *t);
void descriptor_metas(struct perfetto_sink *s, const struct tk_trace *t);
void write_attribute(struct perfetto_sink *s, const char *key, const char *text, size_t n);
bool descriptor_track_hidden(const struct tk_trace *t, tk_id track);

#endif

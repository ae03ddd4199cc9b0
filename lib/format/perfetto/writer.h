/* writer.h - what the files of the Perfetto writer share.  Each stands on those above it:
 *
 *     writer.c             packets of one graph: interned text, the sequence's clock and default track
 *     write_plain.c        packets of events, and those that refer to interned data which is not modelled
 *     write_extension.c    args -> fields that the file describes itself
 *     write_flow_points.c  flows of an event: ids, points in full
 *     write_event.c        one TrackEvent: names, args
 *     write_flows.c        which flows there are
 *     write_lanes.c        which lane a span goes to, the stack of the one that is being written
 *     write_passthrough.c  what came from a Perfetto file and is not modelled
 *     write_machine.c      which machine tracks are of
 *     write_descriptors.c  descriptors of tracks, clocks, top-level data
 *     write_asyncs.c       async spans: lanes by name, those of one id nested
 *     write_counters.c     counter samples: a track for each series
 *     write_records.c      what has no time or no meaning in a trace of events
 *     write.c              the sink: one track after the other */
#ifndef FORMAT_PERFETTO_WRITER_H
#define FORMAT_PERFETTO_WRITER_H

#include "base/heap.h"
#include "graph/sink.h"
#include "io/out.h"
#include "format/pb_out.h"
#include "fields.h"
#include "passthrough.h"
#include "schema.h"

/* Interned ids of one kind: by string id. */
struct iids {
  uint32_t *iid; /* 0 = not yet */
  uint32_t n;
  tk_id *known; /* the strings that have one */
  uint32_t n_known, cap_known;
};

/* One end of a flow; in order of events. */
struct flow_end {
  tk_id event;
  bool at_end; /* goes with the span's end: its other end begins later than this span */
  bool terminating;
  bool has_points; /* the flow points stand in full as well */
  uint64_t id;
};

/* Args that are fields of extensions of TrackEvent. */
struct extension_writer {
  struct schema schema; /* of what the graph's file described */
  uint32_t open;        /* the extension whose message is being written; 0 = none */
  struct buf message;
};

/* "json.end.key" is an arg of the end event. */
#define END_ARG "json.end."
enum { END_ARG_SIZE = sizeof END_ARG - 1 };

/* Keys of args that are fields of a TrackEvent; 0 = no event has such an arg. */
struct field_keys {
  tk_id fields, interned, correlation, thread_time;
};

/* Interned data that goes back as it came (write_plain.c). */
struct interned_out {
  const uint8_t *p;
  size_t n;
  uint32_t sequence; /* that it is on; 0 = not yet */
};

void extension_begin(struct extension_writer *x, const struct tk_trace *t, struct mem *mem);
void extension_free(struct extension_writer *x);
/* Has any event an arg that is a field of an extension? */
bool extension_in_use(const struct tk_trace *t, struct mem *mem);
/* Writes the arg into the event if it is of an extension; the first `skip` bytes of its key do not count.  A message is complete
 * when extension_end has been called. */
bool extension_write(struct extension_writer *x, const struct tk_trace *t, const struct tk_arg *arg, uint32_t skip, struct buf *event);
void extension_end(struct extension_writer *x, struct buf *event);

/* The packets of one graph: one sequence for each machine, so that names are interned once. */
struct event_writer {
  struct out *out;
  struct mem *mem;
  const struct tk_trace *t;
  uint32_t sequence, clock, machine;
  bool has_private_fields;        /* `private_fields` go into the packet, also if it is empty */
  bool track_has_scope;  /* what the scope of instants on it is, the track says */
  bool track_is_mixed;   /* FORM_MIXED */
  bool started;          /* its first packet, which clears the state, is written */
  int64_t base_ns;       /* of ts 0 against what the file prints times */
  int64_t last_ns;       /* the incremental clock */
  uint32_t n_since_clock; /* packets since it was said what it counts from */
  uint64_t track;        /* default track of the sequence now */
  struct iids names, categories, keys, end_keys, values;
  uint64_t n_packets;    /* descriptors, events */
  const struct sink_meter *meter; /* NULL = nobody hears */
  tk_id *points;         /* flow points that Perfetto's ids do not say all of, in order of their events */
  uint32_t n_points;
  uint8_t *has_flows;    /* by event, a bit: it is in `points` or `flows` */
  struct iids point_classes; /* by category of the event: class of the point written last */
  struct flow_end *flow_ends;
  uint32_t n_flow_ends, cap_flow_ends, last_flow_end, last_point; /* last: where the events before were found */
  bool has_ends; /* a flow is at_end */
  struct buf interned, event, annotation, packet, scratch, private_fields;
  struct extension_writer extensions;
  struct interned_out *kept; /* by number - 1 */
  uint32_t n_kept, cap_kept;
  struct field_keys begin_keys, end_field_keys;
  struct interned_out *plain; /* what the event that is being written refers to; NULL = nothing */
  tk_id fields;               /* bytes of its fields that are not modelled, to be written last */
  bool loses_fields;          /* ... is not there any more */
  uint64_t n_lost_fields;
  struct map *sequences;      /* that are taken, and the next to try, from the one to the other of which it is so far */
  uint32_t *next_sequence, step;
};

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem);
void writer_end(struct event_writer *w);
/* What follows is of this machine, on the sequence that the caller set if any was begun. */
void writer_switch(struct event_writer *w, uint32_t machine, int64_t base_ns);
/* The string has this iid from now on. */
void iids_set(struct event_writer *w, struct iids *kind, tk_id s, uint32_t iid);

/* ns of a graph time as it is printed: rounded to nearest, so order and nesting survive. */
static inline int64_t writer_ns(const struct event_writer *w, tk_time ts) { return w->base_ns + num_ns(ts); }

void writer_find_keys(struct event_writer *w);
/* Finds what events may refer to.  Returns how much of it is lost. */
uint64_t writer_interned_begin(struct event_writer *w);
/* Says of the event that is begun whether it is written plainly, and so are its texts, args and packet. */
void plain_begin(struct event_writer *w, uint32_t args, bool at_end);
void plain_text(struct event_writer *w, uint32_t field, tk_id text);
void plain_annotation(struct event_writer *w, const struct tk_arg *arg, uint32_t skip, const struct buf *value);

/* Events from here on are on this track. */
void writer_track(struct event_writer *w, uint64_t uuid);
void writer_slice_begin(struct event_writer *w, tk_id event);
void writer_slice_end(struct event_writer *w, tk_id event, int64_t ns);
void writer_instant(struct event_writer *w, tk_id event);
/* A flow point that no span holds: for our reader alone. */
void writer_lone_point(struct event_writer *w, uint64_t uuid, tk_id flow);
/* A counter sample, behind the args of its event that it does not say itself: writer_begin_rest, writer_rest for each.  `joined`: it
 * is a further series of the event. */
void writer_begin_rest(struct event_writer *w);
void writer_rest(struct event_writer *w, const struct tk_arg *arg);
void writer_counter(struct event_writer *w, tk_id event, const struct tk_arg *value, bool joined);
bool writer_is_counter_field(const struct event_writer *w, const struct tk_arg *arg);
/* An event of a counter that has no sample: for our reader alone. */
void writer_lone_counter(struct event_writer *w, tk_id event);
/* Is the number exactly what a reader makes of the double *d that is nearest to it? */
bool decimal_is_double(const struct tk_arg *a, double *d);
/* The flows of the event whose fields stand in w->event: those of its begin, or those of its end. */
void writer_flows(struct event_writer *w, tk_id event, bool at_end);
/* Interns the string, less its first `skip` bytes, in the packet that is being made. */
uint32_t writer_new_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip);
/* The iid of a string, which is interned if it is new. */
static inline uint32_t writer_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s) {
  return kind->iid[s] ? kind->iid[s] : writer_new_iid(w, kind, field, s, 0);
}
/* The packet of w->event and w->private_fields, which is for this event or flow point. */
void writer_event(struct event_writer *w, int64_t ns, enum sink_part part, tk_id id);

/* The same on the sequence that the writer interns in. */
void sequence_packet(struct event_writer *w, int64_t ns);

/* A packet outside of the sequence. */
void writer_packet(struct out *out, const struct buf *packet);

/* ---- lanes and flows ---- */

/* Tracks are written by these, then as they are in the graph. */
unsigned writer_place_of(const struct tk_track *k);

/* Flow points of the graph as flows, one fresh id each, w->step apart, from *next_id on.  Returns the points that lead nowhere. */
uint64_t writer_flow_ends(struct event_writer *w, uint64_t *next_id);

/* Lanes of equal name, by when they are free.  A lane that is free at `ts`, busy until `end` from now on; 0 = all are busy, and the
 * caller makes a new one, which lanes_add takes in. */
uint64_t lanes_take(struct heap *lanes, tk_time ts, tk_time end);
void lanes_add(struct heap *lanes, uint64_t uuid, tk_time end);

/* ---- the sink ---- */

struct open_span {
  tk_id event;
  int64_t end_ns;
  bool endless; /* never ends */
};

/* Packets of a Perfetto input that are not modelled, and a sequence that they do not use (write_passthrough.c). */
struct perfetto_sink;
/* Fields of the track's descriptor, or of the process, thread or counter in it, that are not modelled. */
void write_passthrough_fields(struct perfetto_sink *s, tk_id track, bool inner, struct buf *to);
void passthrough_tracks_begin(struct perfetto_sink *s);
bool passthrough_pid(struct perfetto_sink *s, tk_id track, int64_t *pid);
/* Where a track stood in the file.  One that has its uuid is described as it was: nothing more is to be said of it. */
struct kept_track {
  uint64_t uuid, parent;
  bool has_uuid, has_parent;
};
struct kept_track passthrough_track(const struct perfetto_sink *s, tk_id track);
/* Descriptors as they came: those behind the events, or the others. */
void write_descriptors(struct perfetto_sink *s, const struct tk_trace *t, bool after);
/* The packets of the first graph.  A later one may use the same sequences, and its clocks are others: its packets are lost. */
void write_passthrough(struct perfetto_sink *s, const struct tk_trace *t, bool first);
/* What other formats have asked to be carried since the last call (format/carry.h). */
void write_blocks(struct perfetto_sink *s);
uint32_t writer_sequence(struct perfetto_sink *s);

struct perfetto_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  int64_t zero_ns;
  uint32_t next_sequence, clock; /* what times count on: BOOTTIME, unless passthrough says another */
  struct map sequences;          /* that passthrough is on */
  bool has_clocks, has_realtime; /* passthrough has clock snapshots, and one of them says REALTIME */
  bool has_remote_clocks;        /* and how far clocks of other machines are ahead */
  bool at_first;                 /* no graph is written yet: what stands of the first one as a whole is */
  uint64_t last_uuid, next_flow;
  int32_t next_pid; /* for pids that are no int32 */
  uint32_t step;    /* from one of these ids to the next: other graphs have those between them (graph/sink.h) */
  const struct tk_trace *t;
  struct event_writer w;
  bool keeps_tracks; /* tracks of the graph stand where they stood in its file */
  uint64_t *uuids; /* by track */
  int64_t *pids;   /* by track: of processes */
  const struct tk_meta *passthrough_tracks;
  struct map passthrough_at;   /* by track: where in the graph's text its further fields stand */
  struct map named;  /* process and text of the tid -> named track */
  struct map threads; /* process and number of the tid -> thread */
  struct writer_machine {
    uint32_t id;
    int64_t ahead_ns; /* of its clock, as passthrough has it */
    bool described;
  } *machines; /* of the graph; 0 = of processes that say none */
  uint32_t n_machines, cap_machines, next_machine;
  tk_id machine_name;     /* that is written of */
  struct map machine_of;  /* name -> machine */
  struct map machine_ids; /* that are taken */
  struct map series; /* process, counter, series -> its track (write_counters.c) */
  struct map lone_counters; /* counter track -> the uuid for its events without samples, from first_series on */
  uint64_t first_series;
  struct buf packet, inner, text, private_fields;
  struct tk_arg *args; /* of a counter event */
  uint32_t n_args, cap_args;
  struct open_span *stack;
  uint32_t n_stack, cap_stack;
  tk_id *deep; /* of the track: spans that are too deep for its stack, or stick out on it */
  uint32_t n_deep, cap_deep;
};

static inline uint64_t writer_uuid(struct perfetto_sink *s) { return s->last_uuid += s->step; }
static inline int32_t writer_pid(struct perfetto_sink *s) { return (s->next_pid += (int32_t)s->step) - (int32_t)s->step; }

/* The stack of the lane that is being written (write_lanes.c).  A child ends no later than its parent. */
void slices_open(struct perfetto_sink *s, tk_id event);
void slices_close(struct perfetto_sink *s, uint32_t height);

/* The events of an async track (write_asyncs.c). */
void asyncs_write(struct perfetto_sink *s, tk_id track);
/* The samples of a counter track (write_counters.c). */
void counters_write(struct perfetto_sink *s, tk_id track);

/* Records of the graph, as private packets (write_records.c). */
void records_write(struct perfetto_sink *s);

/* ---- machines (write_machine.c) ---- */

bool writer_machines(struct perfetto_sink *s);
/* What follows is of the track's machine.  True if that is the first of it in the graph. */
bool writer_machine(struct perfetto_sink *s, tk_id track);

/* ---- descriptors (write_descriptors.c) ---- */

/* A track of the file that is no thread, told by its name (fields.h). */
static inline bool track_is_named(const struct tk_track *k) {
  return k->kind == TK_THREAD && k->tid.kind == TK_IDENT_STR && k->tid.num != 0;
}


/* Which of FORM_COMPLETE and FORM_MIXED the spans of a track are. */
uint32_t form_of_spans(const struct tk_trace *t, const struct tk_track *k);
void describe_tracks(struct perfetto_sink *s);
/* A named track under another (0 = under none).  `form` and `tid` are for our reader. */
struct child {
  uint64_t parent;
  const char *name;
  size_t n;
  uint32_t form;
  struct tk_ident tid;
  uint64_t process;
  tk_id track; /* that it stands for; 0 = none */
  bool counter, has_rank, explicit;
  bool lone; /* its descriptor is for our reader alone */
  tk_id series; /* of a counter: the end of its name */
  const char *unit, *id; /* of a counter; the id that is part of its name */
  size_t n_id;
  int64_t rank;
};
uint64_t describe_thread_uuid(const struct perfetto_sink *s, tk_id process, int64_t tid);
uint64_t describe_child(struct perfetto_sink *s, const struct child *c);
/* What stands of the trace as a whole: clocks and extension descriptors at its start, top-level data at its end. */
void describe_trace(struct perfetto_sink *s, const struct tk_trace *t);
/* Of each graph, those of the first at the start. */
void describe_extensions(struct perfetto_sink *s, const struct tk_trace *t);
void describe_metas(struct perfetto_sink *s, const struct tk_trace *t);
void write_attribute(struct perfetto_sink *s, const char *key, const char *text, size_t n);
bool track_hidden(const struct tk_trace *t, tk_id track);

#endif

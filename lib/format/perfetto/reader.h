/* reader.h - what the files of the Perfetto reader share.  Each stands on those above it:
 *
 *     reader.c            notes, text, passthrough, the table of machines
 *     read_sequence.c     sequences: interned text, defaults
 *     read_clock.c        clocks and snapshots: every time becomes one of the trace's clock
 *     read_machine.c      machines: their names, how far their clocks are apart
 *     read_track.c        descriptors of tracks -> nodes
 *     read_args.c         DebugAnnotation -> arg
 *     read_extension.c    fields that the file describes itself -> args
 *     read_flow_points.c  flow points in full, as our writer has them
 *     read_counters.c     counter samples
 *     decode.c            a packet that any thread can take apart (decode.h)
 *     decoded_args.c      annotations of such a one -> args
 *     take_event.c        struct track_event -> event, counter samples, flow points (track_event.h)
 *     read_track_event.c  TrackEvent -> struct track_event
 *     read_records.c      private packets without an event: records and what else no viewer shows
 *     read_passthrough.c  packets that are not modelled
 *     read_packet.c       one packet: its sequence's state, then what it carries
 *     finish_ends.c       ends that name what they end
 *     finish.c            what is known only at the end: which tracks there are, flows in order of time, the origin
 *     read_compressed.c   packets in a compressed one
 *     read_frames.c       where packets begin and end (frames.h)
 *     read_chunks.c       packets that several threads take apart (format/chunks.h)
 *     read.c              the file: packet after packet
 *
 * While reading, an event's ts is ns of the trace's clock and its track is a site: a node and an aspect of it, below.  perfetto_finish
 * translates both. */
#ifndef FORMAT_PERFETTO_READER_H
#define FORMAT_PERFETTO_READER_H

#include "format/format.h"
#include "graph/trace.h"
#include "format/pb.h"
#include "decode.h"
#include "fields.h"
#include "passthrough.h"
#include "schema.h"

/* Interned text of one kind in one sequence: iid -> string, dense while iids are, else by hash. */
struct iid_table {
  tk_id *ids;
  uint32_t cap, n;
  struct map sparse;
};
enum iid_kind { IID_CATEGORY, IID_NAME, IID_KEY, IID_VALUE, IID_CORRELATION, IID_KINDS };

enum { EXTRA_COUNTERS = 16 };
struct uuid_list {
  uint32_t n;
  uint64_t uuid[EXTRA_COUNTERS];
};

struct sequence {
  struct buf deferred; /* packets that need state, before there is any (read_packet.c) */
  uint64_t n_deferred, first_deferred; /* its events; where the first packet stood */
  struct buf pending; /* its state since the last clearing, while it has no passthrough */
  bool has_others;    /* holds packets that are not modelled */
  uint64_t key; /* machine and trusted_packet_sequence_id */
  bool valid;   /* its state has been cleared once and nothing was lost since */
  bool cleared; /* ... once */
  bool has_track, has_thread;
  uint32_t default_clock; /* 0 = the trace's own */
  uint64_t default_track;
  struct uuid_list extra, extra_double;
  struct iid_table tables[IID_KINDS];
  int64_t pid, tid, time_us; /* of an old thread_descriptor packet */
  uint32_t clock_id, clock;  /* clock met last, its index */
  int64_t thread_us, instructions; /* of its thread, which deltas count from */
  uint32_t generation;       /* of its interned data that is not modelled; 0 = there is none */
  uint64_t last_uuid;        /* track met last */
  uint32_t n_clearings;
  struct map point_classes; /* by category of the event: class of the flow point met last */
  uint32_t last_node;
};

/* A track as its descriptors say, or as events name one that is never described. */
enum node_kind { NODE_UNKNOWN, NODE_PROCESS, NODE_THREAD, NODE_COUNTER, NODE_NAMED };
/* What of a node an event is on. */
enum aspect { ON_TRACK, ON_ASYNCS, ON_PROCESS, ON_COUNTER, ON_GLOBAL, ASPECTS };

struct node {
  uint64_t uuid, parent_uuid;
  uint32_t machine;
  uint8_t kind;
  bool described, has_parent, has_rank, has_slices, has_events, incremental, finished, is_default, last_name_counts;
  bool has_private;        /* our writer says more of it */
  bool as_it_came;         /* its descriptors are passthrough */
  bool descriptor_late;    /* where the last of them stands: behind the first event */
  uint64_t descriptor_at;
  uint32_t descriptor_size;
  tk_id name, own_name, labels; /* own_name: of process or thread */
  tk_id unit, first_name;
  int64_t pid, tid, rank, multiplier, sum;
  double sum_double;
  tk_id counter_name; /* of its samples, once finished */
  uint32_t form;          /* FORM_*: of a track that our writer made */
  tk_id fields, inner_fields;   /* fields of the descriptor that are not modelled, and of its process, thread or counter */
  tk_id ident_text;       /* the pid or tid that was a string */
  tk_id counter_id;
  struct tk_ident thread; /* of an async lane */
  uint64_t process;       /* of instants of global scope: the uuid of their process */
  tk_id open;             /* spans that are paired while reading: the innermost; each begin's dur is the one around it */
  tk_id tracks[ASPECTS];
  struct tk_ident tid_text; /* named tracks, once finished */
};

struct clock_point {
  int64_t own, trace;
};
struct clock {
  uint32_t id, machine;
  bool of_sequence, unsorted; /* unsorted: a point's own time is before that of the one before it */
  uint64_t unit;
  int64_t now; /* incremental */
  bool incremental;
  struct clock_point *points;
  uint32_t n, cap, at;
  uint32_t n_readings;
};

/* Of a trace of several (read_machine.c). */
struct machine {
  uint32_t id;
  tk_id name, said; /* 0 = not asked for yet; as its descriptors have it */
  uint32_t n_same;  /* others that were called the same */
  int64_t ahead_ns; /* of its clock before machine 0's */
};

/* A time on a clock that no snapshot has tied to the trace's yet. */
struct pending_time {
  uint32_t clock, at;
  bool is_flow;
};

struct raw_point {
  uint64_t id;
  int64_t ts;
  uint32_t event, site, order, machine;
  bool terminating, at_end;
  uint8_t direction; /* of an older event's flow: 1 in, 2 out, 3 both; 0 = it is a chain */
};

/* Classes of counter samples, by node and category. */
struct counter_classes {
  struct map index;
  struct counter_class {
    tk_id cls;
    uint32_t node;
  } *of;
  uint32_t n, cap;
};

/* Args of an event that came as several samples. */
struct collected {
  tk_id event; /* 0 = none */
  struct tk_arg *args;
  uint32_t n, cap;
};

/* Interned data of one state of a sequence that is not modelled: fields of events may refer to it. */
struct generation {
  struct buf bytes;
  uint32_t number; /* given to it when an event needs it; 0 = none does */
};

/* Packets by what they carry. */
enum { PACKET_KINDS = 64 };
struct packet_kind {
  uint32_t field; /* 0 = nothing */
  uint64_t count, bytes;
};
/* For `info`: what the meta "perfetto.counts" begins with. */
struct perfetto_counts {
  uint32_t n_kinds, n_clocks;
  uint64_t n_sequences;
};
struct perfetto_clock {
  uint32_t id, machine, readings;
  bool of_sequence;
};

/* ---- fields that the file describes itself (read_extension.c) ---- */

/* One field of a message. */
struct occurrence {
  uint32_t number, order;
  struct pb_field f;
  const uint8_t *from, *end; /* the field with its tag */
};

/* An arg in the making.  JSON stands in the reader's `json`, since it may move. */
struct member {
  uint32_t extension, name; /* text ids; name 0 = the extension's own value */
  struct scalar value;
  size_t json, n_json; /* n_json != 0: value is JSON */
};

struct extension_reader {
  struct schema schema; /* of what the file has described so far */
  struct occurrence *found;
  uint32_t n_found, cap_found;
  struct member *members;
  uint32_t n_members, cap_members;
  struct buf json, path, rest; /* rest: fields that become no args */
};

/* Of the fields of an event, those that become args: *n of them.  They point into `fields`. */
const struct member *extension_read(struct extension_reader *x, const struct buf *fields, uint32_t *n);
/* The args of them; returns how many are bytes that need not be text. */
uint32_t extension_args(struct extension_reader *x, const struct member *m, uint32_t n, struct tk_trace *t);

/* What a packet says, in one pass. */
struct packet {
  struct pb_field event, interned, defaults, descriptor, snapshot, compressed, process, thread, attributes, extension, sync;
  struct pb_field private_fields, bundle; /* bundle: field 1, of ftrace */
  uint64_t timestamp, sequence, flags;
  uint32_t clock, machine;
  bool has_timestamp, has_clock, has_sequence, dropped;
  bool damaged;     /* read as far as it goes */
  bool of_sequence; /* the snapshot is of the sequence's own clocks */
  uint32_t other; /* a field that is not modelled */
  const uint8_t *p; /* all of it */
  size_t n;
};

/* ---- the reader ---- */

enum { DAMAGES = 16 }; /* kinds of damage */

struct perfetto {
  struct tk_trace *t;
  struct tk_err *err;
  const struct tk_load_options *opt;
  uint64_t offset; /* of the packet in the file */
  uint64_t n_packets; /* so far */
  struct damage {
    const char *what;
    uint64_t count, offset, packet; /* the first one's place */
  } damage[DAMAGES];
  unsigned n_damages;
  struct sequence *sequences;
  struct node *nodes;
  struct clock *clocks;
  struct machine *machines;
  struct pending_time *pending;
  struct raw_point *points;
  uint32_t n_sequences, cap_sequences, n_nodes, cap_nodes, n_clocks, cap_clocks, n_pending, cap_pending, n_points, cap_points;
  uint32_t n_machines, cap_machines;
  struct map sequence_index, uuid_index, thread_index, clock_index, sequence_clock_index, machine_index, machine_names;
  uint64_t last_sequence_key;
  uint32_t last_sequence;
  uint32_t trace_clock; /* what times count on: BOOTTIME, unless a snapshot names another */
  bool has_trace_clock, has_real, has_snapshot;
  int64_t zero_ns, last_real;
  int64_t later_ns; /* our writer moved all times by that, for the first one was negative */
  uint32_t n_bytes;
  struct packet_kind kinds[PACKET_KINDS];
  uint32_t n_kinds, last_kind;
  tk_id block; /* meta of the block that was met last */
  tk_id passthrough; /* meta of the packets that were passed through last */
  uint64_t inflated; /* bytes out of compressed packets */
  struct buf text, json, fields, copy, packets;
  struct buf descriptors, late_descriptors; /* packets of them */
  struct extension_reader extensions;
  struct generation *generations;
  uint32_t n_generations, cap_generations, n_used_generations;
  tk_id interned_key; /* ARG_INTERNED */
  struct counter_classes counter_classes;
  struct collected collected;
  struct in *in; /* the file */
  struct chunks *chunks; /* NULL = no other thread reads */
  struct pb_field compressed; /* what it holds comes next */
  struct decoder decoder; /* of one packet */
  struct layouts *layouts;
  struct packet taken; /* a decoded one: what such a packet has not is never set */
};

void perfetto_note(struct perfetto *r, enum tk_note_kind kind, const char *text);
/* A repair that is said with the number of the first packet that it was made in.  `what` is static. */
void perfetto_damage(struct perfetto *r, const char *what);
void perfetto_note_damage(struct perfetto *r);
/* The string of these bytes, repaired where they are not UTF-8. */
tk_id perfetto_text(struct perfetto *r, const uint8_t *p, size_t n);
static inline tk_id perfetto_field_text(struct perfetto *r, const struct pb_field *f) {
  return perfetto_text(r, f->p, (size_t)f->value);
}
/* The string of these bytes, which need not be text. */
tk_id perfetto_bytes(struct perfetto *r, const uint8_t *p, size_t n);
/* A meta of passthrough that consists of these bytes. */
void perfetto_add_passthrough(struct perfetto *r, const char *key, const void *p, size_t n);

/* Progress; false, with an error, when reading is to end. */
bool perfetto_tick(struct perfetto *r);

/* Packets of the file by several threads: r->chunks, and NULL without them; false when memory has run out. */
bool perfetto_chunks_start(struct perfetto *r);
bool perfetto_chunks_are_due(const struct perfetto *r, const struct pb_in *s);
/* What comes next is for the one reader again: what is behind *compressed, if that is set. */
bool perfetto_chunks_read(struct perfetto *r, struct pb_in *s, struct pb_field *compressed);

/* One that was decoded, or is read field by field after all.  Otherwise as below. */
bool perfetto_take_packet(struct perfetto *r, const struct decoded *d, struct pb_field *compressed);
/* One packet.  A compressed one is left to the caller.  False, and nothing was done: it cannot be read to its end. */
bool perfetto_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);
/* Such a one, as far as it goes. */
void perfetto_damaged_packet(struct perfetto *r, const uint8_t *p, size_t n, struct pb_field *compressed);
/* At the end of the file: packets of sequences whose state was never set. */
void perfetto_read_deferred(struct perfetto *r);

/* Packets in a compressed one, as far as they can be had; INFLATE_LIMIT: r->err says why not. */
enum inflated { INFLATED, INFLATE_CHECKSUM, INFLATE_DAMAGED, INFLATE_LIMIT };
enum inflated perfetto_inflate(struct perfetto *r, const struct pb_field *f, struct buf *out);

/* Packets that are not modelled (passthrough.c).  `ns`: the packet's time, if it counts on a clock of its sequence, else NULL. */
void passthrough_packet(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns);
/* The event of a packet that has been passed through already: it stays what it was.  `ns` as above. */
void passthrough_event(struct perfetto *r, struct sequence *q, const struct packet *k, const int64_t *ns);
/* A descriptor of the track; `late`: it stands behind the first event of it. */
void passthrough_descriptor(struct perfetto *r, const struct sequence *q, const struct packet *k, struct node *n, bool late);
void passthrough_extension(struct perfetto *r, const struct sequence *q, const struct packet *k);
/* A field of the file that is no packet. */
void passthrough_other(struct perfetto *r, const uint8_t *p, size_t n);
void passthrough_descriptors(struct perfetto *r);
void passthrough_interned(struct perfetto *r);
void passthrough_clock(struct perfetto *r);
/* The event of such a packet has no usable time, and is written so that it gets none.  `whole`: it is not damaged. */
void passthrough_untimed(struct perfetto *r, struct sequence *q, const struct packet *k, bool whole);
/* One that was written so; false: the packet of our own is none. */
bool passthrough_untimed_again(struct perfetto *r, struct sequence *q, const struct packet *k);
/* What another format asked to be carried; false: the packet of our own is none. */
bool passthrough_block(struct perfetto *r, const struct packet *k);

/* ---- what the file is made of (inspect.c) ---- */

void perfetto_count(struct perfetto *r, const struct packet *k, size_t n);
void perfetto_add_counts(struct perfetto *r);
/* "track_event", or NULL. */
const char *perfetto_packet_name(uint32_t field);

/* ---- state ---- */

struct sequence *perfetto_sequence(struct perfetto *r, uint32_t machine, uint64_t id);
void sequence_clear(struct perfetto *r, struct sequence *q);
void sequence_defaults(struct sequence *q, const struct pb_field *f);
/* The number of the state whose interned data fields of the event may refer to; 0 = they cannot. */
uint32_t sequence_interned(struct perfetto *r, const struct sequence *q);
void sequence_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f);
/* 0 = it was not interned yet. */
tk_id sequence_find(const struct sequence *q, enum iid_kind kind, uint64_t iid);
/* The text of an iid; one that was never interned is "[iid 5]". */
tk_id sequence_text(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid);

/* ---- clocks ---- */

/* True if clocks of the sequence itself are in it. */
bool clock_snapshot(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);
/* Does the packet's time count on a clock of its sequence? */
bool clock_of_sequence(const struct sequence *q, const struct packet *k);
/* Is it an incremental one, so that a packet without a time is at that of the packet before? */
bool clock_counts_on(struct perfetto *r, struct sequence *q, const struct packet *k);
/* ns of the trace's clock; false: not known yet, *ns is a time of the clock whose index is *clock. */
bool clock_time(struct perfetto *r, struct sequence *q, const struct packet *k, int64_t *ns, uint32_t *clock);
bool clock_to_trace(struct perfetto *r, uint32_t clock, int64_t own, int64_t *ns);
uint32_t clock_builtin(struct perfetto *r, uint32_t machine, uint32_t id);

/* ---- machines ---- */

/* Index of the machine with this id in the file, which is new if it was never met; 0 = memory has run out. */
uint32_t perfetto_machine_of(struct perfetto *r, uint32_t id);
/* RemoteClockSync of a machine other than 0. */
void machine_sync(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);
int64_t machine_ahead(const struct perfetto *r, uint32_t id);
void machine_named(struct perfetto *r, uint32_t id, tk_id name);
/* 0 for machine 0, unless it was named. */
tk_id machine_name(struct perfetto *r, uint32_t id);
/* For the writer and a manifest: which ids they have. */
void passthrough_machines(struct perfetto *r);

/* ---- tracks ---- */

uint32_t node_of_uuid(struct perfetto *r, struct sequence *q, uint32_t machine, uint64_t uuid);
uint32_t node_find(const struct perfetto *r, uint32_t machine, uint64_t uuid); /* 0 = never mentioned */
/* What the node hangs under; the process that its events of global scope are of; itself if there is none. */
uint32_t node_parent(const struct perfetto *r, uint32_t node);
uint32_t node_process(const struct perfetto *r, uint32_t node);
uint32_t node_of_thread(struct perfetto *r, uint32_t machine, int64_t pid, int64_t tid);
/* Its node, and whether the descriptor could be read whole; 0 = memory has run out. */
uint32_t track_descriptor(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f, bool *whole);
void old_process_descriptor(struct perfetto *r, uint32_t machine, const struct pb_field *f);
void old_thread_descriptor(struct perfetto *r, struct sequence *q, uint32_t machine, const struct pb_field *f);

/* ---- events ---- */

void perfetto_track_event(struct perfetto *r, struct sequence *q, const struct packet *k);
/* The event of a decoded packet, of which k says all else; false: it has ids that were not interned. */
bool perfetto_decoded_event(struct perfetto *r, struct sequence *q, const struct packet *k, const struct decoded *d);
bool layouts_start(struct perfetto *r);
/* A flow id of the event that is being read. */
void perfetto_add_point(struct perfetto *r, uint64_t id, bool terminating);
/* Flow points in full: of an event at `node`, whose flow ids are r->points from `first` on; its points stand for these. */
struct flow_site {
  uint32_t node;
  tk_id cat;
  int64_t ns;
  uint32_t first;
  bool implied; /* a flow id alone may stand for a point */
};
void perfetto_points(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of);
/* One that no event holds. */
void perfetto_lone_point(struct perfetto *r, struct sequence *q, const struct packet *k, const struct flow_site *of,
                         const struct pb_field *f);
/* Adds the annotation to the args under construction. */
void perfetto_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f);
/* Appends it to `to` as an annotation that is not interned. */
void perfetto_plain_annotation(struct perfetto *r, struct sequence *q, const struct pb_field *f, struct buf *to);
/* Is it JSON?  Then r->json is its strict compact text. */
bool perfetto_is_json(struct perfetto *r, const struct pb_field *f);

/* ---- counters ---- */

struct counter_sample {
  uint32_t node, pending; /* pending: the clock that `ns` is a time of, if it is not known yet */
  tk_id cat, fields; /* fields: bytes of those that are not modelled */
  uint32_t interned; /* what they may refer to */
  int64_t ns;
  struct tk_arg value; /* INT or DOUBLE */
};
void perfetto_sample(struct perfetto *r, const struct counter_sample *s);
/* One whose packet has private fields. */
void perfetto_private_sample(struct perfetto *r, struct sequence *q, const struct packet *k, const struct counter_sample *s);
/* An event of a counter that no sample shows; `s` says where and when. */
void perfetto_lone_counter(struct perfetto *r, struct sequence *q, const struct counter_sample *s, const struct pb_field *f);
/* The event whose args were collected gets them. */
void perfetto_end_collected(struct perfetto *r);
/* When it is known what counters are called. */
void perfetto_name_counters(struct perfetto *r);

/* ---- records ---- */

void perfetto_private_packet(struct perfetto *r, struct sequence *q, const struct packet *k);
void perfetto_record_times(struct perfetto *r, int64_t origin);

/* ---- the end ---- */

void perfetto_add_pending(struct perfetto *r, struct pending_time p);
/* Is the time near enough to the origin for a time of the graph? */
bool perfetto_in_range(int64_t ns, int64_t origin);
void perfetto_finish(struct perfetto *r);
/* Pairs spans whose ends say which one they end (finish_ends.c). */
void perfetto_finish_ends(struct perfetto *r);
/* Every site becomes a track of the graph: those of events, of flow points not bound to an event (finish_tracks.c). */
void perfetto_finish_tracks(struct perfetto *r);

/* Verified structure in the first bytes of a file (detect.c). */
unsigned perfetto_bid(const uint8_t *p, size_t n);
bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

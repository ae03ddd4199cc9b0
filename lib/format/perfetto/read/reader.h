/* reader.h - interface between the files of the Perfetto reader. Each file depends only on those above it:
 *
 *     reader.c            notes, text, passthrough, the table of machines
 *     sequence.c          sequences: interned text, defaults
 *     clock.c             clocks and snapshots: converts every time to the trace clock
 *     machine.c           machines: their names and clock offsets
 *     track.c             track descriptors -> nodes
 *     args.c              DebugAnnotation -> arg
 *     extension.c         fields that the file itself describes -> args
 *     flow_points.c       flow points in private fields of our writer
 *     counters.c          counter samples
 *     decode.c            decodes a packet in any thread (decode.h)
 *     decoded_args.c      annotations of decoded packets -> args
 *     extra.c             counter samples that accompany an event
 *     take_event.c        struct track_event -> event, counter samples, flow points (track_event.h)
 *     track_event.c       TrackEvent -> struct track_event
 *     procs.c             processes, threads and counters that packets of the system name by number
 *     atrace.c            text that programs write to the kernel's trace_marker
 *     sched.c             switches of threads: rows of CPUs, states of threads
 *     system.c            process trees, counters of the system
 *     ftrace.c            bundles of kernel events
 *     gpu_args.c          args of GpuRenderStageEvent
 *     gpu.c               GpuRenderStageEvent
 *     gpu_flows.c         flows between GPU events
 *     gpu_own.c           GpuRenderStageEvent and GpuCounterEvent of our writer
 *     gpu_counters.c      GpuCounterEvent, GpuMemTotalEvent, VulkanApiEvent
 *     samples.c           PerfSample, and stack samples of our writer
 *     records.c           private packets without an event: records and other data that viewers do not show
 *     early.c             leaves out packets that a later cut removes
 *     prune_flows.c       drops flows that a later cut removes
 *     prune.c             drops events that a later cut removes
 *     passthrough.c       packets that are not modelled
 *     packet.c            one packet: the state of its sequence, then its contents
 *     finish_ends.c       end events that name the span they end
 *     finish_atrace.c     pairs begin and end events in ftrace bundles
 *     finish_filed.c      tracks as the file describes them, for queries
 *     filed_stacks.c      stacks as the file describes them, for queries
 *     finish.c            steps that need the complete file: tracks, flows in order of time, the origin
 *     compressed.c        packets inside compressed packets
 *     frames.c            boundaries of packets (frames.h)
 *     chunks.c            packets decoded by several threads (format/chunks.h)
 *     read.c              the file: packet after packet
 *
 * While the file is read, an event's ts is in ns on the trace clock, and its track is a site: node * ASPECTS + aspect (see
 * below). perfetto_finish converts both. */
#ifndef FORMAT_PERFETTO_READ_READER_H
#define FORMAT_PERFETTO_READ_READER_H

#include "format/format.h"
#include "graph/stack.h"
#include "format/pb.h"
#include "decode.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/passthrough.h"
#include "format/perfetto/schema.h"

/* Interned text of one kind in one sequence: iid -> string. An array for small iids, a hash table for others. */
struct iid_table {
  tk_id *ids;
  uint32_t cap, n;
  struct map sparse;
};
enum iid_kind { IID_CATEGORY, IID_NAME, IID_KEY, IID_VALUE, IID_CORRELATION, IID_GPU, IID_FUNCTION, IID_PATH, IID_SOURCE,
                IID_COMPUTE_ARG, /* key of an arg of a kernel or launch */
                IID_STAGE,   /* enum gpu_memory of a stage */
                IID_CONTEXT, /* 1 + pid of the process of a graphics context */
                IID_KERNEL,  /* 1 + offset in `kernels` */
                IID_MAPPING, IID_OWN_MAPPING, /* string: module; the same for mappings of our writer */
                IID_FRAME,   /* frame of the graph */
                IID_STACK,   /* stack of the graph */
                IID_BUILD_ID, /* string, only for queries; MAPPING, FRAME, STACK are then 1 + index in filed_stacks */
                IID_KINDS };

enum { EXTRA_COUNTERS = 16 };
struct uuid_list {
  uint32_t n;
  uint64_t uuid[EXTRA_COUNTERS];
};

struct sequence {
  struct buf deferred; /* packets that came before the state that they need (packet.c) */
  uint64_t n_deferred, first_deferred; /* number of events in these packets; offset of the first packet */
  struct buf pending; /* state since the last reset of the incremental state; used until the sequence has passthrough */
  bool has_others;    /* true if it contains packets that are not modelled */
  bool had_defaults;  /* true if any packet of the sequence had defaults */
  uint64_t key; /* machine << 32 | trusted_packet_sequence_id */
  bool valid;   /* true if its state was cleared once and nothing was lost afterwards */
  bool cleared; /* true if its state was cleared at least once */
  bool has_track, has_thread;
  uint32_t default_clock; /* 0 = the trace clock */
  uint64_t default_track;
  struct uuid_list extra, extra_double;
  struct iid_table tables[IID_KINDS];
  struct buf kernels;        /* interned kernels, as messages with a header */
  int64_t pid, tid, time_us; /* from the thread_descriptor packet of old traces */
  uint32_t clock_id, clock;  /* the clock that was used last: id and index */
  int64_t thread_us, instructions; /* current sums, to which deltas of its thread are added */
  uint32_t generation;       /* index of its current unmodelled interned data; 0 = none */
  uint64_t last_uuid;        /* uuid of the track that was used last */
  uint32_t n_clearings;
  struct map point_classes; /* category of the event -> class of the last flow point */
  uint32_t last_node;
};

/* A node is a track as its descriptors define it, or a track that events use but no descriptor describes. */
enum node_kind { NODE_UNKNOWN, NODE_PROCESS, NODE_THREAD, NODE_COUNTER, NODE_NAMED };
/* The part of a node to which an event belongs. Each part that has events becomes a track. */
enum aspect { ON_TRACK, ON_ASYNCS, ON_PROCESS, ON_COUNTER, ON_GLOBAL, ASPECTS };

struct node {
  uint64_t uuid, parent_uuid;
  uint32_t machine;
  uint8_t kind;
  bool described, has_parent, has_rank, has_slices, has_events, incremental, finished, is_default, last_name_counts;
  bool has_private;        /* true if it has private fields of our writer */
  bool used;               /* for queries: true if it or a track below it has events */
  bool in_packets;         /* true if its events come from packets that are passed through (procs.c) */
  bool is_of_gpu;          /* true for a process to which work of a GPU belongs */
  bool no_process;         /* true for a thread whose process is unknown */
  uint8_t name_source;     /* enum proc_source: where own_name comes from */
  uint32_t up;             /* node of the parent, if no uuid identifies the parent; 0 = none */
  bool as_it_came;         /* true if its original descriptors are passed through */
  bool descriptor_late;    /* true if the last descriptor came after the first event */
  uint64_t descriptor_at;
  uint32_t descriptor_size;
  tk_id name, own_name, labels; /* own_name: name in the process or thread descriptor */
  tk_id unit, first_name;
  int64_t pid, tid, rank, multiplier;
  tk_id counter_name; /* name of the counter's samples; set by perfetto_finish */
  uint32_t form;          /* for a track that our writer wrote: FORM_* bits */
  tk_id fields, inner_fields;   /* fields that are not modelled, of the descriptor and of its process, thread or counter */
  tk_id ident_text;       /* original pid or tid, if it was a string */
  tk_id counter_id;
  struct tk_ident thread; /* for an async lane: its thread */
  uint64_t process;       /* uuid of the process to which global instants belong */
  tk_id open;             /* innermost open span, if spans are paired while reading; dur of the span links to the enclosing one */
  tk_id tracks[ASPECTS];
  struct tk_ident tid_text; /* for a named track: its tid; set by perfetto_finish */
};

/* Names of GPU queues and stages by number, for producers that do not intern names (gpu.c). */
struct gpu_names {
  tk_id *ids;
  uint32_t n, cap;
};

/* Nodes for packets that refer to processes, threads and counters by number or name (procs.c). */
struct procs {
  struct map threads, processes, counters; /* machine and number (counters: process and name) -> node */
};

/* Interned parts of stacks, for queries (filed_stacks.c). */
struct filed_stacks {
  struct filed_mapping {
    struct stack_mapping m; /* without its name and build id */
    uint64_t build_id;      /* iid */
    uint32_t path, path_end; /* range of indices in `ids`: iids of the parts of the path */
  } *mappings;
  struct filed_frame {
    uint64_t name, mapping, file, address; /* name, mapping, file: iids */
    uint32_t line;
  } *frames;
  struct buf ids;       /* uint64_t: for each callstack, the number of its frames and their iids; for each mapping, the iids of
                         * its path */
  struct map processes; /* process -> index */
  struct map stacks, of_process; /* process and callstack -> stack of the graph; process and mapping -> mapping of the graph */
  struct map frame_rows; /* hash of mapping, address and name -> frame of the graph */
  struct intern shared; /* mappings without a range, as bytes */
  uint32_t *mapping_of; /* by number in `shared` -> mapping of the graph */
  uint32_t n_mappings, cap_mappings, n_frames, cap_frames, cap_mapping_of;
};

/* State of reading the scheduler (sched.c). */
struct sched {
  struct sched_cpu *cpus;
  struct sched_change *changes;
  struct map index; /* machine << 32 | cpu -> 1 + index in `cpus` */
  uint32_t n_cpus, cap_cpus, n_changes, cap_changes;
  uint32_t kernel; /* major << 16 | minor; 0 = unknown */
};

/* State of reading GPU counters (gpu_counters.c). */
struct gpu_counters {
  struct gpu_counter *of;
  struct map index; /* sequence, descriptor and id -> 1 + index in `of` */
  uint32_t n, cap;
};

struct clock_point {
  int64_t own, trace;
};
struct clock {
  uint32_t id, machine;
  bool of_sequence, unsorted; /* unsorted: some point has an earlier own time than the point before it */
  uint64_t unit;
  int64_t now; /* current time of an incremental clock */
  bool incremental;
  struct clock_point *points;
  uint32_t n, cap, at;
  uint32_t n_readings;
};

/* One machine of a trace that has several (machine.c). */
struct machine {
  uint32_t id;
  tk_id name, said; /* name: 0 = not needed yet; said: name in its descriptors */
  uint32_t n_same;  /* number of earlier machines with the same name */
  int64_t ahead_ns; /* how far its clock is ahead of machine 0's clock */
};

/* A timestamp on a clock that no ClockSnapshot has mapped to the trace clock yet. */
struct pending_time {
  uint32_t clock, at;
  bool is_flow;
};

struct raw_point {
  uint64_t id;
  int64_t ts;
  uint32_t event, site, order, machine;
  bool terminating, at_end;
  uint8_t direction; /* flow of a legacy event: 1 in, 2 out, 3 both; 0 = link of a chain */
};

/* Sums of incremental counters, which are separate for each sequence. */
struct counter_sums {
  struct map index; /* node << 32 | sequence -> 1 + index in `of` */
  struct counter_sum {
    int64_t whole;
    double real;
    uint32_t clearing; /* the sequence's n_clearings when the sum was last reset */
  } *of;
  uint32_t n, cap;
};

/* Classes of counter samples, by node and category of the sample. */
struct counter_classes {
  struct map index;
  struct counter_class {
    tk_id cls;
    uint32_t node;
  } *of;
  uint32_t n, cap;
};

/* Args of an event that is stored as several samples, collected until all samples are read. */
struct collected {
  tk_id event; /* the event; 0 = none */
  struct tk_arg *args;
  uint32_t n, cap;
};

/* Interned data that is not modelled, from one reset of a sequence's incremental state to the next. Fields of events may refer to
 * this data. */
struct generation {
  struct buf bytes;
  uint32_t number; /* set when the first event needs it; 0 = not needed */
};

/* PACKET_KINDS: most kinds of content that are counted separately. struct packet_kind: number and size of the packets of a
 * kind. */
enum { PACKET_KINDS = 64 };
struct packet_kind {
  uint32_t field; /* number of the field with the content; 0 = only sequence state */
  uint64_t count, bytes;
};
/* Totals for `info`, at the start of the meta "perfetto.counts". */
struct perfetto_counts {
  uint32_t n_kinds, n_clocks;
  uint64_t n_sequences;
};
struct perfetto_clock {
  uint32_t id, machine, readings;
  bool of_sequence;
};

/* ---- fields that the file itself describes (extension.c) ---- */

/* A field of a message. */
struct occurrence {
  uint32_t number, order;
  struct pb_field f;
  const uint8_t *from, *end; /* the field, including its tag */
};

/* An arg under construction. Its JSON text is at an offset of the reader's `json`, which may move. */
struct member {
  uint32_t extension, name; /* string ids; name 0 = the extension itself is the value */
  struct scalar value;
  size_t json, n_json; /* n_json != 0: the value is this JSON */
};

struct extension_reader {
  struct schema schema; /* everything that the file has described so far */
  struct occurrence *found;
  uint32_t n_found, cap_found;
  struct member *members;
  uint32_t n_members, cap_members;
  struct buf json, path, rest; /* rest: fields that do not become args */
};

/* Number of clocks in a snapshot: local to its sequence, and shared. */
struct snapshot_clocks {
  uint32_t local, shared;
};

/* Contents of a packet, found in one pass over its fields. */
struct packet {
  struct pb_field event, interned, defaults, descriptor, snapshot, compressed, process, thread, attributes, extension, sync;
  struct pb_field sample;  /* PerfSample of our writer */
  struct pb_field stage;   /* GpuRenderStageEvent or GpuCounterEvent of our writer */
  struct pb_field content; /* content that is not a track event */
  struct pb_field private_fields, bundle; /* bundle: ftrace events (field 1) */
  uint64_t timestamp, sequence, flags;
  uint32_t clock, machine;
  bool has_timestamp, has_clock, has_sequence, dropped;
  bool damaged;     /* true if it could not be read to its end */
  struct snapshot_clocks clocks; /* clocks in the packet's snapshot */
  int64_t own_ns;   /* time of the packet on the trace clock, if the packet uses a clock of the sequence */
  bool has_own_ns;
  uint32_t other; /* number of a field that is not modelled; 0 = none */
  const uint8_t *p; /* the complete packet */
  size_t n;
};

/* ---- events that a later cut removes (prune.c) ---- */

/* A range of time in ns; empty if last < first. */
struct prune_hull {
  int64_t first, last;
};
struct prune_site {
  struct prune_hull gone[2]; /* times of the dropped nested events before and after the range of the cut */
  bool shared;               /* true if several sites become one track, so that nested events stay */
};
struct prune {
  struct prune_site *sites;
  uint32_t n_sites, cap_sites;
  tk_id next, batch; /* next: number of events at which the next pass is due; batch: least number of events between two passes */
  tk_id settled, settled_points; /* number of events and of flow points that were there at the end of the last pass */
  uint32_t settled_raw;          /* number of raw points that were there */
  struct map flows, flow_ids;    /* identities of dropped flows (prune_flows.c), and their ids */
};

/* Which parts of passthrough packets were dropped because they no longer apply at the start of the cut (prune_packets.c). Times are in
 * ns on the trace clock. */
enum { PRUNE_BUCKETS = 1 << 16 };
struct packet_prune {
  uint64_t next, batch;      /* size of the raw data at which the next pass is due; least number of bytes between two passes */
  uint64_t checked;          /* size of the raw data at the end of the last pass */
  int64_t *dropped_until;    /* by hash of the key: the latest end of dropped spans; NULL before the first pass */
  int64_t newest, settled;   /* the latest event so far, and until the last pass */
  int64_t lateness;          /* the greatest time by which an event was earlier than one before it in the file */
  bool has_dropped, is_late; /* spans were dropped; a later event shows that they should have been kept */
  bool is_mixed;             /* some ftrace events are on another clock */
};

/* ---- the reader ---- */

enum { RECENT_CLASSES = 64 };

enum { DAMAGES = 16 }; /* maximum number of kinds of damage */

/* The start of a part (parts.c). */
struct part_edge {
  int64_t start; /* ns on the trace clock */
  tk_id events;  /* number of events before the part */
  bool joins;    /* the part before ended here */
};

/* The part of a trace that is being read (parts.c). */
struct part_reader {
  int64_t start, end;  /* range of the part, ns on the trace clock */
  bool is_part, joins; /* the trace is a part; the part begins where the one before it ended */
  bool has_end;
  struct intern seen;  /* packets of earlier parts of which later parts contain copies */
  struct buf packet, content, columns;
  struct part_edge *edges;
  uint32_t n_edges, cap_edges, n_joined;
};

struct perfetto {
  struct tk_trace *t;
  struct tk_err *err;
  const struct tk_load_options *opt;
  uint64_t offset; /* offset of the packet in the file */
  uint64_t n_packets; /* number of packets read so far */
  struct damage {
    const char *what;
    uint64_t count, offset, packet; /* number of repairs; offset and number of the first packet that needed one */
  } damage[DAMAGES];
  unsigned n_damages;
  uint64_t n_said; /* number of notes and repairs so far, including repeated ones */
  struct sequence *sequences;
  struct node *nodes;
  struct clock *clocks;
  struct machine *machines;
  struct pending_time *pending;
  struct raw_point *points;
  uint32_t n_sequences, cap_sequences, n_nodes, cap_nodes, n_clocks, cap_clocks, n_pending, cap_pending, n_points, cap_points;
  uint32_t n_machines, cap_machines;
  struct gpu_names gpu_queues, gpu_stages;
  struct procs procs;
  struct filed_stacks filed_stacks;
  struct sched sched;
  struct gpu_counters gpu_counters;
  struct buf gpu_links; /* array of struct gpu_link (gpu_flows.c) */
  struct map gpu_nodes; /* GPU, queue and machine -> node */
  struct map gpu_machines; /* process of a GPU -> id of its machine */
  struct map sequence_index, uuid_index, thread_index, clock_index, sequence_clock_index, machine_index, machine_names;
  uint64_t last_sequence_key;
  uint32_t last_sequence;
  bool orders_processes, orders_threads; /* the file orders processes or threads by explicit ranks, as viewers then do */
  bool filed; /* TK_WITHOUT_RESTORING: private fields are ignored, as other programs do, and nothing is passed through */
  uint32_t trace_clock; /* id of the trace clock: BOOTTIME, unless a snapshot names another clock */
  bool has_trace_clock, has_real, has_snapshot;
  bool adopted; /* true if the trace clock has no snapshot (finish.c) */
  int64_t zero_ns, last_real;
  int64_t later_ns; /* ns that our writer added to all times because the first time was negative */
  uint32_t n_bytes;
  struct packet_kind kinds[PACKET_KINDS];
  uint32_t n_kinds, last_kind;
  tk_id block; /* meta of the block that was added last */
  tk_id passthrough; /* meta of the packets that were passed through last */
  bool has_starts;   /* true if a descriptor states when its process started */
  uint64_t inflated; /* bytes decompressed from compressed packets */
  struct buf text, json, fields, copy, packets;
  struct map early_cpus; /* machine << 32 | cpu: the CPUs for which a bundle was read (early.c) */
  struct prune prune;
  struct packet_prune packet_prune;
  struct part_reader parts;
  struct buf early_copy;
  uint32_t early_clock;  /* the trace clock, and later_ns, when the first packet was left out */
  int64_t early_later_ns;
  struct buf value_types, types; /* value_types: of the last nested annotation; types: ARG_TYPES of the event, without the
                                  * closing brace */
  bool has_types;                /* true if JSON text does not imply value_types */
  struct buf descriptors, late_descriptors; /* packets with descriptors: those before and after their track's first event */
  struct extension_reader extensions;
  struct generation *generations;
  uint32_t n_generations, cap_generations, n_used_generations;
  tk_id interned_key; /* string id of ARG_INTERNED */
  struct counter_classes counter_classes;
  struct counter_sums counter_sums;
  struct collected collected;
  struct in *in; /* the file */
  struct chunks *chunks; /* NULL = one thread */
  struct pb_field compressed; /* a compressed packet whose contents are read next */
  struct recent_class {
    uint64_t key; /* name << 32 | category */
    tk_id cls;    /* 0 = the entry is unused */
  } recent_classes[RECENT_CLASSES];
  struct decoder decoder; /* decoder for single packets */
  struct layouts *layouts;
  struct packet taken; /* the decoded packet as a struct packet; only members that decoded packets can have are ever set */
};

void perfetto_note(struct perfetto *r, enum tk_note_kind kind, const char *text);
/* Counts a repair. The note will contain the count and the number of the first packet. `what`: a literal. */
void perfetto_damage(struct perfetto *r, const char *what);
void perfetto_note_damage(struct perfetto *r);
/* Returns the string of these bytes; invalid UTF-8 is repaired. */
tk_id perfetto_text(struct perfetto *r, const uint8_t *p, size_t n);
static inline tk_id perfetto_field_text(struct perfetto *r, const struct pb_field *f) {
  return perfetto_text(r, f->p, (size_t)f->value);
}
/* Returns the key for an annotation with this name. If private fields are ignored, a name that our writer reserves is an
 * ordinary name, and its key begins with "json.args.". */
tk_id perfetto_key(struct perfetto *r, tk_id name);
/* Returns the string of these bytes, which need not be text. */
tk_id perfetto_bytes(struct perfetto *r, const uint8_t *p, size_t n);
/* Adds a passthrough meta with these bytes. */
void perfetto_add_passthrough(struct perfetto *r, const char *key, const void *p, size_t n);

/* Reports progress; returns false with an error if the caller wants to stop. */
bool perfetto_tick(struct perfetto *r);

/* Result of decompressing a compressed packet. INFLATE_CHECKSUM, INFLATE_DAMAGED: the output up to the damage can be used.
 * INFLATE_LIMIT: a limit was exceeded, see r->err. */
enum inflated { INFLATED, INFLATE_CHECKSUM, INFLATE_DAMAGED, INFLATE_LIMIT };

/* ---- machines ---- */

/* Returns the index of the machine with this id, adding it if necessary; 0 when memory runs out. */
uint32_t perfetto_machine_of(struct perfetto *r, uint32_t id);
int64_t reader_machine_ahead(const struct perfetto *r, uint32_t id);

/* ---- events ---- */

/* An event, for perfetto_points, which reads flow points from the event's private fields. The event's flow ids are r->points[first..];
 * if the event has flow points, these flow ids are removed. */
struct flow_site {
  uint32_t node;
  tk_id cat;
  int64_t ns;
  uint32_t first;
  bool implied; /* true if a flow id alone may imply a flow point */
};

/* ---- counters ---- */

struct counter_sample {
  uint32_t sequence;      /* index of the sample's sequence */
  uint32_t node, pending; /* pending: clock of `ns`, if it cannot be converted yet; otherwise 0 */
  tk_id cat, fields; /* fields: bytes of fields that are not modelled */
  uint32_t interned; /* number of the interned data to which these fields may refer */
  int64_t ns;
  struct tk_arg value; /* the value, INT or DOUBLE */
};

/* ---- the end ---- */

void perfetto_add_pending(struct perfetto *r, struct pending_time p);
/* True if the graph can store the time relative to this origin. */
bool perfetto_in_range(int64_t ns, int64_t origin);

#endif

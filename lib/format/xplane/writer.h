/* writer.h - what the files of the XPlane writer share.
 *
 *     write.c               the file: its graphs, its clock, what is of the whole file
 *     write_plane.c         a plane: its name and id, its passthrough, its lines, what they add to its maps
 *     write_lines.c         the lines of a plane: which tracks, ids and times
 *     write_event.c         an event
 *     write_class.c         event metadata
 *     write_private.c       what a plane and its lines cannot say
 *     write_flow.c          flow points
 *     write_derived.c       what is not written: it was derived
 *     write_kineto.c        what xprof's tables need of a trace of PyTorch
 *     write_passthrough.c   the fields of a plane as they were, or what still holds of them
 *     write_adopted.c       events of a plane that another format carried: their metadata and the types of their stats
 *     write_carried.c       a file without events, for other formats to carry
 *     writer.c              stats, and the maps of the plane
 *
 * A length stands before what it measures, so each plane is encoded twice: once for the sizes, which also finds out what the
 * maps must name, once for the bytes.  Nothing of a plane is held but its maps. */
#ifndef FORMAT_XPLANE_WRITER_H
#define FORMAT_XPLANE_WRITER_H

#include "by_process.h"
#include "format/pb_out.h"
#include "graph/sink.h"
#include "io/out.h"
#include "passthrough.h"
#include "plane_ids.h"
#include "program.h"

/* What the events of a graph say of programs. */
struct xplane_programs {
  struct map ids;     /* values of program_id */
  struct map modules; /* strings: values of hlo_module on events without program_id */
  struct map names;   /* strings: of classes in use */
};

/* Where an arg of the event at hand stands, by its key; the serial says whether it is of that event. */
struct xplane_found {
  uint32_t serial, at;
};

/* Which tracks and shapes a plane has met: those that bear its number. */
struct xplane_marks {
  uint32_t number, *tracks, *shapes;
};

/* Where a process comes from: another format, an XSpace, an XSpace by way of another format. */
enum xplane_origin { XPLANE_NEW, XPLANE_READ, XPLANE_ADOPTED };

/* One graph on its way out, with what it remembers of having been XPlane. */
struct xplane_graph {
  const struct tk_trace *t;
  const struct xplane_plane *planes;
  const struct xplane_line *lines;
  const struct xplane_class *classes;
  uint32_t n_planes, n_lines, n_classes;
  int64_t base_ns;  /* what the file's times count from */
  int64_t moved_ns; /* of its lines' timestamps against what they were */
  uint32_t ordinal; /* 0 = the first graph of the file */
  bool converted;   /* the file was XPlane, but written by tracekit from another format */
  bool restarted;   /* the file's times count from another start than those of the XSpace that was read */
  bool pruned;      /* events or names of it are not those that were read: of the passthrough goes along what still holds */
  bool renamed;     /* events or their args have other names than their metadata */
  bool bare;        /* what the graph does not model is left out as far as events do not need it */
  bool adopted;     /* another format carried the planes */
  bool carried;     /* for another format to carry: no events are written, which the graph holds */
  struct xplane_programs programs; /* if pruned */
  tk_id key_derived;  /* string of the arg that marks what tk_derive made; 0 = nothing is marked */
  uint8_t *derived;   /* by track: it made all of it; NULL = of none */
  struct map overruled, overruling; /* key -> key of the arg in which metadata has it that is overruled, and back */
  struct xplane_found *found; /* by string, if the graph is adopted */
  struct by_process tracks, was, of_classes, records, points; /* tracks, lines, classes .. of each process */
  struct xplane_marks *marks;
  struct kineto *kineto; /* NULL: it is no trace of PyTorch, or one of several ranks */
  uint64_t lost_points; /* flow points that the stat "flow" of their event has no room for: it states one flow */
  uint8_t *planes_of; /* by track: enum xplane_origin of a process; NULL = none was read as XPlane */
  uint32_t *rows;   /* by track: id of the plane of a process of another format, in the order of rows; NULL = not known yet */
  uint64_t *flows;  /* by event: value of its stat "flow", 0 = none; NULL = no event has one */
};

struct xplane_out_line {
  tk_id track;                   /* 0: all counters of the plane */
  const struct xplane_line *was; /* as it was read, or NULL */
  enum xplane_line_kind kind;
  int64_t id, display_id, timestamp_ns, duration_ps;
  tk_id name, display_name;
  i128 zero_ps;  /* of its offsets, on the graph's own time */
  uint64_t size; /* of the encoded message */
};

/* In xplane_graph.flows: private stats state the points, and so the stat is for xprof alone. */
static const uint64_t XPLANE_FLOW_STATED = (uint64_t)1 << 63;

/* An event, or only one series of a counter sample (from 1). */
struct xplane_out_event {
  tk_id id;
  uint32_t series;
};

/* Stats that are made for xprof. */
enum xplane_made {
  XPLANE_MADE_GROUP, XPLANE_MADE_STEP_NAME, XPLANE_MADE_CORRELATION, XPLANE_MADE_OP, XPLANE_MADE_KERNEL, XPLANE_MADE_MEMCPY,
  XPLANE_MADE_MEMSET, XPLANE_MADE_POOL, XPLANE_MADE_STACK, XPLANE_MADE_HEAP, XPLANE_MADE_AVAILABLE, XPLANE_MADE_PEAK,
  XPLANE_MADE_REQUESTED, XPLANE_MADE_SIZE, XPLANE_MADE_ADDRESS, XPLANE_MADE_CORES, XPLANE_MADE_MEMORY, XPLANE_MADE_MAJOR,
  XPLANE_MADE_MINOR, XPLANE_MADE_VENDOR, XPLANE_MADE_DEVICE, XPLANE_MADE
};

/* How far the events of a graph are written; each is encoded twice, first for its size. */
struct xplane_pace {
  struct tk_progress progress;
  uint64_t done, total;
  bool stopped;
};

struct xplane_encoder {
  struct mem *mem;
  const struct xplane_graph *g;
  tk_id process;
  const struct xplane_plane *was; /* as it was read, or NULL */
  struct map classes;             /* class -> event metadata id */
  struct map stats;               /* name << 8 | type -> stat metadata id */
  struct map compressed;          /* ids of stats whose bytes are compressed strings */
  struct map class_of_id;         /* event metadata id, as it was read -> class */
  struct map class_of_name;       /* name -> class of the plane, if there is a series */
  struct map overruled_classes;   /* hash of class and of the stats that are overruled -> event metadata id */
  int64_t next_class, next_stat, first_new_stat;
  struct buf new_classes, new_stats; /* encoded map entries, with their tags */
  struct buf event, stat, inner;     /* scratch */
  struct buf fields;                 /* of the event that are not known here */
  struct buf lines;                  /* struct xplane_out_line */
  struct xplane_out_event *counters; /* samples of the plane by time */
  uint32_t n_counters;
  tk_id key_flow, key_long_name;     /* strings of the trace, 0 = it has none */
  int64_t made[XPLANE_MADE];         /* ids of stats that are made for xprof, 0 = none yet */
  const struct sink_meter *meter;    /* hears of what is encoded, or NULL */
  struct xplane_pace *pace;          /* or NULL */
  struct xplane_adopted *adopted;    /* of a plane that another format carried */
  /* of a pruned plane */
  struct map class_entries, stat_entries; /* metadata id -> its entry as it was, from 1; 0 = it has been written */
  struct buf entries;                     /* struct xplane_bytes */
  struct buf children;                    /* int64_t: ids that event metadata in use refers to */
  uint64_t lost;                          /* blocks that are gone though nobody asked for it */
};

/* ---- writer.c ---- */

void xplane_encoder_init(struct xplane_encoder *e, const struct xplane_graph *g, tk_id process, const struct xplane_plane *was,
                         struct mem *mem);
void xplane_encoder_free(struct xplane_encoder *e);
tk_id xplane_find_text(const struct tk_trace *t, const void *p, size_t n);
/* An entry of the plane's map of this field number. */
void xplane_put_entry(struct buf *b, uint32_t number, int64_t key, const struct buf *value);
/* The name that an arg stands for. */
tk_id xplane_stat_name(const struct xplane_encoder *e, tk_id key);
/* The stat of an arg as a field of this number in b. */
void xplane_add_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const struct tk_arg *arg);
/* The field of XStat for the bytes of this stat. */
unsigned xplane_bytes_field(const struct xplane_encoder *e, uint32_t id);
void xplane_add_bytes_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, tk_id key, struct xplane_bytes bytes);
/* A private stat likewise. */
void xplane_add_private_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, const void *text,
                             size_t n);
void xplane_add_private_int(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, int64_t v);
int64_t xplane_private_stat_id(struct xplane_encoder *e, const char *name, const char *description);
/* Of a pruned plane: a stat that stays as it was brings the names that it refers to. */
void xplane_use_stat(struct xplane_encoder *e, struct pb stat);
/* The field of XStat for args of this type, 0 = one that takes a description as well; the id of the plane's stat of this key. */
unsigned xplane_field_of(unsigned type);
const uint32_t *xplane_known_stat(const struct xplane_encoder *e, tk_id key);
bool xplane_stat_is_used(const struct xplane_encoder *e, int64_t id);
/* The entry of event metadata as it was, once; p = NULL afterwards, and if there was none. */
struct xplane_bytes xplane_unwritten_class(struct xplane_encoder *e, int64_t id);
/* Did the class come from metadata of this process? */
bool xplane_class_is_of(const struct xplane_graph *g, tk_id cls, tk_id process);
/* Event metadata id -> class of this process, less those that a step's name made. */
void xplane_classes_by_id(const struct xplane_graph *g, tk_id process, struct map *by_id);
/* What is shown of event metadata: its display name, else its name. */
struct xplane_bytes xplane_shown_name(struct pb metadata);
/* Is the class called as its metadata says? */
bool xplane_bears_name(const struct tk_trace *t, tk_id cls, struct pb metadata);

/* Picoseconds -> nanoseconds, downwards. */
static inline i128 xplane_floor_ns(i128 ps) { return ps >= 0 ? ps / 1000 : -((-ps + 999) / 1000); }

/* Can a viewer draw it? */
static inline bool xplane_is_number(enum tk_arg_type type) {
  return type == TK_ARG_INT || type == TK_ARG_UINT || type == TK_ARG_DECIMAL || type == TK_ARG_DOUBLE;
}

/* ---- write_class.c ---- */

/* The id of the metadata of a class, which is added to the map if need be. */
int64_t xplane_class_id(struct xplane_encoder *e, tk_id cls);
/* Of an event whose stats overrule those of its metadata, which args say. */
int64_t xplane_overruled_class_id(struct xplane_encoder *e, const struct tk_event *ev);
/* Of a class whose events xprof knows by another name than is shown; `name` NULL: of events that are made for xprof. */
int64_t xplane_variant_id(struct xplane_encoder *e, tk_id cls, uint32_t variant, const char *name, size_t n);
/* Of one series of a counter. */
int64_t xplane_series_id(struct xplane_encoder *e, tk_id cls, tk_id series);
/* Of a pruned plane: the metadata that what is in use refers to. */
void xplane_put_children(struct xplane_encoder *e);

/* ---- write_adopted.c ---- */

/* What names the events of a plane that another format carried, less the args that their metadata says, with the types of stats. */
struct xplane_adopted *xplane_adopted_new(struct xplane_encoder *e);
void xplane_adopted_free(struct xplane_adopted *a);
/* The event's own args, *n of them, until the next call; *id is that of its metadata, 0 = the plane has none for it. */
const struct tk_arg *xplane_adopted_args(struct xplane_encoder *e, const struct tk_event *ev, uint32_t *n, int64_t *id);
/* Is the arg bytes that the other format had as text?  They are valid until the next call. */
bool xplane_adopted_bytes(struct xplane_encoder *e, const struct tk_arg *arg, struct xplane_bytes *bytes);
/* Of a pruned plane: metadata that an event has goes along as it was. */
void xplane_use_class(struct xplane_encoder *e, int64_t id);

/* ---- write_event.c ---- */

/* The body of an XEvent into e->event. */
void xplane_encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event event);

/* ---- write_lines.c ---- */

static inline struct xplane_out_line *xplane_out_lines(const struct xplane_encoder *e, uint32_t *n) {
  *n = (uint32_t)(e->lines.len / sizeof(struct xplane_out_line));
  return (struct xplane_out_line *)(void *)e->lines.data;
}
/* The lines of the plane, in order; and their sizes.  False: memory ran out, or the work is to stop (e->pace). */
bool xplane_choose_lines(struct xplane_encoder *e);
bool xplane_measure_lines(struct xplane_encoder *e);
uint64_t xplane_lines_size(const struct xplane_encoder *e);
/* Writes the lines as fields of the plane; false: the work is to stop. */
bool xplane_put_lines(struct xplane_encoder *e, struct out *out);

/* ---- write_private.c ---- */

/* The texts of the stats "tracekit.tracks" and "tracekit.records"; false if there is none. */
bool xplane_put_tracks(struct xplane_encoder *e, struct buf *text);
bool xplane_put_records(struct xplane_encoder *e, struct buf *text);
static inline enum xplane_origin xplane_origin_of(const struct xplane_graph *g, tk_id process) {
  return g->planes_of ? (enum xplane_origin)g->planes_of[process] : XPLANE_NEW;
}
/* Do private stats tell of the tracks of this process?  Not of a plane that was read as XPlane. */
static inline bool xplane_is_private(const struct xplane_graph *g, tk_id process) {
  return (xplane_origin_of(g, process) == XPLANE_NEW || g->converted) && process && !g->t->tracks[process].hidden;
}
/* Counts the records that no private stat states. */
void xplane_count_records(struct sink *sink, const struct xplane_graph *g);
static inline tk_id xplane_process(const struct tk_trace *t, tk_id track) {
  return !track || t->tracks[track].kind == TK_PROCESS ? track : t->tracks[track].parent;
}
/* `key` is what stands before the value: ",\"name\":".  Nothing for text 0, and for no identity. */
void xplane_member_string(struct xplane_encoder *e, struct buf *b, const char *key, tk_id text);
void xplane_member_number(struct buf *b, const char *key, int64_t v);
void xplane_member_ident(struct xplane_encoder *e, struct buf *b, const char *key, struct tk_ident i);

/* ---- write_derived.c ---- */

/* Finds out what of a graph tk_derive made, which xprof makes again by itself. */
void xplane_find_derived(struct xplane_graph *g, struct mem *mem);
static inline bool xplane_is_derived(const struct xplane_graph *g, tk_id track) {
  return g->t->tracks[track].derived || (g->derived && g->derived[track]);
}
/* The names of args that were given to the event, "" = none. */
const char *xplane_derived_args(const struct xplane_graph *g, const struct tk_event *ev);
/* Is the arg one of them, or the mark itself? */
bool xplane_is_derived_arg(const struct xplane_graph *g, const char *args, tk_id key);

/* ---- write_flow.c ---- */

/* Finds the values of g->flows; ids of flows count from `next`.  Returns the next one. */
int64_t xplane_link_events(struct xplane_graph *g, int64_t next, struct mem *mem);
/* The text of the stat "tracekit.flows"; false if there is none. */
bool xplane_put_flow_points(struct xplane_encoder *e, struct buf *text);
/* Counts the points that are written, and those that neither stat states. */
void xplane_count_flow_points(struct sink *sink, const struct xplane_graph *g);

/* ---- write_kineto.c ---- */

/* Finds out whether the graph is of PyTorch's profiler, for all that follows. */
void xplane_find_kineto(struct xplane_graph *g, struct mem *mem);
/* The number of the device that a process is, -1 = none. */
int64_t xplane_made_device(const struct xplane_graph *g, tk_id process);
/* Adds the line of steps to a device's; its i-th event, 0 = there are no more; its body into e->event. */
void xplane_add_steps(struct xplane_encoder *e);
tk_id xplane_step_event(const struct xplane_encoder *e, uint32_t i);
void xplane_encode_step(struct xplane_encoder *e, const struct xplane_out_line *line, tk_id event);
/* May the plane's lines count from the file's own zero?  xprof takes times of allocations so, whatever the line says. */
bool xplane_counts_from_base(const struct xplane_encoder *e, tk_time first);
/* What a stream is called; false: as its thread is. */
bool xplane_put_stream_name(const struct xplane_encoder *e, struct buf *b, tk_id track);
/* Of an event: its stats, and the id of metadata that is not its class's, or 0. */
void xplane_put_made_stats(struct xplane_encoder *e, struct buf *b, tk_id event);
int64_t xplane_made_class_id(struct xplane_encoder *e, const struct tk_event *ev);
/* What a device is. */
void xplane_put_made_plane(struct xplane_encoder *e, struct buf *plane);

/* ---- write_passthrough.c ---- */

/* What the events that stay refer to, for a graph that an operation changed. */
void xplane_prune_init(struct xplane_graph *g, bool bare, struct mem *mem);
void xplane_prune_free(struct xplane_graph *g);
/* The plane's fields as they were, less id, name, lines and private stats; called when the lines have been measured. */
void xplane_put_passthrough(struct xplane_encoder *e, struct buf *plane);

/* ---- write_plane.c ---- */

struct xplane_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  uint64_t written;
  int64_t base_ns;
  uint32_t graphs, planes; /* so far */
  int64_t next_flow;
  struct xplane_plane_ids ids;
  struct buf space; /* fields that are no planes, by segment */
  uint32_t segment; /* whose fields are to be written */
  bool has_start;   /* a plane "Task Environment" has been written */
  bool edited;      /* an operation changed a graph */
  bool carrier;     /* what other formats carry is written */
  struct xplane_pace pace;
  bool pristine;    /* the first graph is written as an XSpace that was recorded: its planes say all of it */
  struct buf carried_names, carried_stats;
  int64_t next_carried;
};

/* Counts bytes of the file: false with err set when they are more than protobuf can read. */
bool xplane_grow(struct xplane_sink *s, uint64_t n, struct tk_err *err);
/* A plane that was read as XPlane. */
bool xplane_write_known(struct xplane_sink *s, const struct xplane_graph *g, const struct xplane_plane *plane,
                        struct tk_err *err);
/* Puts the processes of other formats in order, by their sort indices, behind those of earlier graphs.  False when memory runs out. */
bool xplane_order_rows(struct xplane_sink *s, struct xplane_graph *g);
/* A process of another format, when rows are in order. */
bool xplane_write_new(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct tk_err *err);
/* ---- write_carried.c ---- */

/* What a block says of a plane, which is the one to be written next. */
void xplane_carry_plane(struct xplane_sink *s, struct xplane_encoder *e);
/* And of itself as a whole; its stats and their names stand in the sink.  False: there is no block. */
bool xplane_end_carried(struct xplane_sink *s, const struct tk_trace *first);
/* Is the graph just what an XSpace was read as that was carried? */
bool xplane_is_pristine(const struct xplane_graph *g, struct mem *mem);

/* ---- write_plane.c ---- */

/* A plane of this name with the stats in `stats`, whose names e->new_stats holds; nothing if there are none. */
bool xplane_write_stats(struct xplane_sink *s, struct xplane_encoder *e, const char *name, const struct buf *stats,
                        struct tk_err *err);

#endif

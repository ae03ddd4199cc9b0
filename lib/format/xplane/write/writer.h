/* writer.h - interface between the files of the XPlane writer.
 *
 *     write.c               the file: its graphs, its clock, file-wide data
 *     plane.c               a plane: its name and id, its passthrough, its lines, their additions to its maps
 *     lines.c               the lines of a plane: their tracks, ids and times
 *     event.c               an event
 *     class.c               event metadata
 *     private.c             properties that a plane and its lines cannot represent
 *     flow.c                flow points
 *     derived.c             skips derived tracks and args
 *     kineto.c              data of a PyTorch trace for xprof's tables
 *     passthrough.c         the original fields of a plane, or those that remain valid
 *     adopted.c             events of a plane that another format embedded: their metadata and the types of their stats
 *     carried.c             a file without events, for other formats to embed
 *     writer.c              stats, and the maps of the plane
 *
 * A length precedes the data, so each plane is encoded twice: first to compute the sizes, which also shows what the maps must
 * contain, then to write the bytes. Only the maps of a plane are kept in memory. */
#ifndef FORMAT_XPLANE_WRITE_WRITER_H
#define FORMAT_XPLANE_WRITE_WRITER_H

#include "by_process.h"
#include "format/pb_out.h"
#include "graph/sink.h"
#include "io/out.h"
#include "format/xplane/passthrough.h"
#include "format/xplane/plane_ids.h"
#include "format/xplane/program.h"

/* Programs to which the events of a graph refer. */
struct xplane_programs {
  struct map ids;     /* values of the stat program_id */
  struct map modules; /* string ids: values of hlo_module on events without program_id */
  struct map names;   /* string ids: names of classes in use */
};

/* Entry of an array that is indexed by key: index of the current event's arg with this key. Valid if `serial` is the serial number
 * of the current event (xplane_adopted.serial). */
struct xplane_found {
  uint32_t serial, at;
};

/* Marks the tracks and shapes that were visited for a plane, with the number of the plane. */
struct xplane_marks {
  uint32_t number, *tracks, *shapes;
};

/* Origin of a process: another format, an XSpace, or an XSpace that another format embedded. */
enum xplane_origin { XPLANE_NEW, XPLANE_READ, XPLANE_ADOPTED };

/* A graph that is being written, with its XPlane passthrough data. */
struct xplane_graph {
  const struct tk_trace *t;
  const struct xplane_plane *planes;
  const struct xplane_line *lines;
  const struct xplane_class *classes;
  uint32_t n_planes, n_lines, n_classes;
  int64_t base_ns;  /* base of the file's times */
  int64_t moved_ns; /* by how much timestamps of its lines moved since they were read */
  uint32_t ordinal; /* 0 = the first graph of the file */
  bool converted;   /* true if tracekit had converted the XPlane file from another format */
  bool restarted;   /* true if the base of times in the file differs from that of the XSpace that was read */
  bool pruned;      /* true if events or names have changed, so that only valid passthrough data is written */
  bool renamed;     /* true if names of events or args differ from those in their metadata */
  bool bare;        /* true if data that is not in the graph is omitted, unless events need it */
  bool adopted;     /* true if another format embedded the planes */
  bool carried;     /* true if another format embeds the file, which then has no events, because the other format contains them */
  struct xplane_programs programs; /* used if pruned */
  tk_id key_derived;  /* key of the arg with which tk_derive marks data; 0 = nothing is marked */
  uint8_t *derived;   /* by track: true if tk_derive added the whole track; NULL = none */
  struct map overruled, overruling; /* key -> key of the arg with the overridden stat of metadata, and the reverse */
  struct xplane_found *found; /* by string id; used if adopted */
  struct by_process tracks, was, of_classes, records, points; /* tracks, lines, classes, etc. of each process */
  struct xplane_marks *marks;
  tk_id home;       /* process whose private stats contain the records without a process; 0 = none */
  struct kineto *kineto; /* NULL: not a PyTorch trace, or one with several ranks */
  uint64_t lost_points; /* number of flow points for which the stat "flow" of their event has no room */
  uint8_t *planes_of; /* by track: enum xplane_origin of a process; NULL = none was read as XPlane */
  uint32_t *rows;   /* by track: plane id of a process of another format, in row order; NULL = not assigned yet */
  uint64_t *flows;  /* by event: value of its stat "flow"; 0 = none; NULL = no event has one */
};

struct xplane_out_line {
  tk_id track;                   /* 0: the line contains all counters of the plane */
  const struct xplane_line *was; /* the line as it was read, or NULL */
  enum xplane_line_kind kind;
  int64_t id, display_id, timestamp_ns, duration_ps;
  tk_id name, display_name;
  i128 zero_ps;  /* graph time to which its offsets are relative */
  uint64_t size; /* size of the encoded message */
};

/* Flag in xplane_graph.flows: private stats contain the points, so the stat is only for xprof. */
static const uint64_t XPLANE_FLOW_STATED = (uint64_t)1 << 63;

/* An event, or one series of a counter sample (1, 2, ...; 0 = the whole event). */
struct xplane_out_event {
  tk_id id;
  uint32_t series;
};

/* Stats generated for xprof. */
enum xplane_made {
  XPLANE_MADE_GROUP, XPLANE_MADE_STEP_NAME, XPLANE_MADE_CORRELATION, XPLANE_MADE_OP, XPLANE_MADE_KERNEL, XPLANE_MADE_MEMCPY,
  XPLANE_MADE_MEMSET, XPLANE_MADE_POOL, XPLANE_MADE_STACK, XPLANE_MADE_HEAP, XPLANE_MADE_AVAILABLE, XPLANE_MADE_PEAK,
  XPLANE_MADE_REQUESTED, XPLANE_MADE_SIZE, XPLANE_MADE_ADDRESS, XPLANE_MADE_CORES, XPLANE_MADE_MEMORY, XPLANE_MADE_MAJOR,
  XPLANE_MADE_MINOR, XPLANE_MADE_VENDOR, XPLANE_MADE_DEVICE, XPLANE_MADE
};

/* Progress of writing the events of a graph; each is encoded twice, first for its size. */
struct xplane_pace {
  struct tk_progress progress;
  uint64_t done, total;
  bool stopped;
};

struct xplane_encoder {
  struct mem *mem;
  const struct xplane_graph *g;
  tk_id process;
  const struct xplane_plane *was; /* the plane as it was read, or NULL */
  struct map classes;             /* class -> event metadata id, encoded by xplane_slot_of */
  struct map stats;               /* name << 8 | type -> stat metadata id, encoded in the same way */
  struct buf wide;                /* array of int64_t: ids that are too large for a map's value */
  struct map compressed;          /* ids of stats whose bytes are compressed strings */
  struct map class_of_id;         /* event metadata id as read -> class */
  struct map class_of_name;       /* name -> class of the plane; filled in when the first series is written */
  struct map overruled_classes;   /* hash of class and overridden stats -> event metadata id, encoded in the same way */
  int64_t next_class, next_stat, first_new_stat;
  struct buf new_classes, new_stats; /* encoded entries of the maps, with their tags */
  struct buf event, stat, inner;     /* scratch */
  struct buf fields;                 /* unknown fields of the current event */
  struct buf lines;                  /* array of struct xplane_out_line */
  struct xplane_out_event *counters; /* samples of the plane, by time */
  uint32_t n_counters;
  tk_id key_flow, key_long_name, key_metadata_id; /* string ids; 0 = the trace lacks the string */
  int64_t made[XPLANE_MADE];         /* ids of stats that were generated for xprof; 0 = not used yet */
  const struct sink_meter *meter;    /* measures encoded sizes, or NULL */
  struct xplane_pace *pace;          /* or NULL */
  struct xplane_adopted *adopted;    /* for a plane that another format embedded */
  /* Used only if the planes are pruned (struct xplane_graph): */
  struct map class_entries, stat_entries; /* metadata id -> 1 + index of its original entry; 0 = the entry was written */
  struct buf entries;                     /* array of struct xplane_bytes */
  struct buf children;                    /* array of int64_t: ids to which event metadata in use refers */
  uint64_t lost;                          /* number of lost blocks, excluding blocks that the user removed */
};

/* ---- writer.c ---- */

void xplane_encoder_init(struct xplane_encoder *e, const struct xplane_graph *g, tk_id process, const struct xplane_plane *was,
                         struct mem *mem);
void xplane_encoder_free(struct xplane_encoder *e);
tk_id xplane_find_text(const struct tk_trace *t, const void *p, size_t n);
/* Appends an entry of the map with this field number. */
void xplane_put_entry(struct buf *b, uint32_t number, int64_t key, const struct buf *value);
/* Returns the name of the stat for the key of an arg. */
tk_id xplane_stat_name(const struct xplane_encoder *e, tk_id key);
/* Appends an arg to b as a stat, in field `number`. */
void xplane_add_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const struct tk_arg *arg);
/* Returns the field of XStat for the bytes of this stat. */
unsigned xplane_bytes_field(const struct xplane_encoder *e, int64_t id);
void xplane_add_bytes_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, tk_id key, struct xplane_bytes bytes);
/* Append a private stat: text or an integer. */
void xplane_add_private_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, const void *text,
                             size_t n);
void xplane_add_private_int(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, int64_t v);
int64_t xplane_private_stat_id(struct xplane_encoder *e, const char *name, const char *description);
/* For a pruned plane: keeps the stat metadata to which an unchanged stat refers. */
void xplane_use_stat(struct xplane_encoder *e, struct pb stat);
/* xplane_field_of returns the XStat field for args of this type (0 = a description is needed, too). xplane_known_stat returns
 * the id of the plane's stat with this key (0 = none). */
unsigned xplane_field_of(unsigned type);
int64_t xplane_known_stat(const struct xplane_encoder *e, tk_id key);
/* Ids of metadata have 64 bits, but values of a map only 32. xplane_slot_of encodes an id as a value (0 if memory runs out);
 * xplane_id_of decodes it. */
uint32_t xplane_slot_of(struct xplane_encoder *e, int64_t id);
int64_t xplane_id_of(const struct xplane_encoder *e, uint32_t slot);
bool xplane_stat_is_used(const struct xplane_encoder *e, int64_t id);
/* Returns the original entry of event metadata on the first call for an id. Afterwards, and if there is none, p is NULL. */
struct xplane_bytes xplane_unwritten_class(struct xplane_encoder *e, int64_t id);
/* True if the class was read from metadata of this process. */
bool xplane_class_is_of(const struct xplane_graph *g, tk_id cls, tk_id process);
/* Maps event metadata ids to classes of this process, except classes made from step names. */
void xplane_classes_by_id(const struct xplane_graph *g, tk_id process, struct map *by_id);
/* Returns the displayed name of event metadata: its display name, otherwise its name. */
struct xplane_bytes xplane_shown_name(struct pb metadata);
/* True if the name of the class is the displayed name of the metadata. */
bool xplane_bears_name(const struct tk_trace *t, tk_id cls, struct pb metadata);

/* Converts picoseconds to nanoseconds, rounding down. */
static inline i128 xplane_floor_ns(i128 ps) { return ps >= 0 ? ps / 1000 : -((-ps + 999) / 1000); }

/* True if viewers can draw an arg of this type. */
static inline bool xplane_is_number(enum tk_arg_type type) {
  return type == TK_ARG_INT || type == TK_ARG_UINT || type == TK_ARG_DECIMAL || type == TK_ARG_DOUBLE;
}

/* ---- lines.c ---- */

static inline struct xplane_out_line *xplane_out_lines(const struct xplane_encoder *e, uint32_t *n) {
  *n = (uint32_t)(e->lines.len / sizeof(struct xplane_out_line));
  return (struct xplane_out_line *)(void *)e->lines.data;
}

/* ---- private.c ---- */

static inline enum xplane_origin xplane_origin_of(const struct xplane_graph *g, tk_id process) {
  return g->planes_of ? (enum xplane_origin)g->planes_of[process] : XPLANE_NEW;
}
/* True if private stats describe the tracks of this process. A plane that was read from XPlane does not need them. */
static inline bool xplane_is_private(const struct xplane_graph *g, tk_id process) {
  return (xplane_origin_of(g, process) == XPLANE_NEW || g->converted) && process && !g->t->tracks[process].hidden;
}
static inline tk_id xplane_process(const struct tk_trace *t, tk_id track) {
  return !track || t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}
static inline tk_id xplane_process_of_record(const struct xplane_graph *g, const struct tk_record *r) {
  return r->track ? xplane_process(g->t, r->track) : g->home;
}

/* ---- derived.c ---- */

static inline bool xplane_is_derived(const struct xplane_graph *g, tk_id track) {
  return g->t->tracks[track].derived || (g->derived && g->derived[track]);
}

/* ---- plane.c ---- */

struct xplane_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  uint64_t written;
  int64_t base_ns;
  uint32_t planes; /* number of planes so far */
  int64_t next_flow;
  struct xplane_plane_ids ids;
  struct buf space; /* encoded fields of the file other than planes, one run of bytes for each segment */
  uint32_t segment; /* segment whose fields will be written next */
  bool has_start;   /* true if a plane "Task Environment" has been written */
  bool edited;      /* true if an operation changed some graph */
  bool carrier;     /* true for the file that other formats embed */
  struct xplane_pace pace;
  bool pristine;    /* true if the first graph is written like a recorded XSpace, whose planes represent all of it */
  struct buf carried_names, carried_stats;
  struct buf carried; /* blocks for the planes of the current graph; passed to the process that joins the parts of the file */
  struct buf added;   /* fields of the current graph's space that are not planes; passed on in the same way */
  int64_t next_carried;
};

#endif

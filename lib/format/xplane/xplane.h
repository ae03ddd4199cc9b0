/* xplane.h - what the files of the XPlane reader and writer share.
 *
 *     detect.c   how much a beginning of bytes looks like an XSpace; damage by a text filter
 *     read.c     space, planes, lines, events: one pass, nothing but the graph is kept
 *     read_names.c    a plane's end: its maps name the classes, keys and refs that its events used
 *     read_flow.c     flow points from the stats that link events
 *     finish.c   the file's end: pids, clocks, top-level data
 *     read_private.c      what our own writer added for the way back
 *     passthrough.c     what the graph has no place for, kept as it is on the wire
 *     join.c    passthrough of several graphs that became one
 *     inspect.c    what the file was made of, for `info`
 *     write.c    graphs -> planes of one XSpace
 *     write_event.c   an event -> bytes
 *
 * On the wire a plane's lines stand before the maps that name their events, and a plane may be 99% of a file of gigabytes.  So
 * events are added at once under provisional names ("#7" for stat metadata 7, a class without a name for event metadata 7), and
 * the plane's end names them: each class, and each arg shape that the plane brought, once.  Only refs, whose values are names
 * too, are visited event by event; they are packed at a fixed width, so that this happens in place. */
#ifndef FORMAT_XPLANE_XPLANE_H
#define FORMAT_XPLANE_XPLANE_H

#include "graph/trace.h"
#include "format/format.h"
#include "format/pb.h"

/* Field numbers of proto/xplane.proto (a test holds the two against each other). */
enum { XSPACE_PLANES = 1, XSPACE_ERRORS, XSPACE_WARNINGS, XSPACE_HOSTNAMES };
enum { XPLANE_ID = 1, XPLANE_NAME, XPLANE_LINES, XPLANE_EVENT_METADATA, XPLANE_STAT_METADATA, XPLANE_STATS };
enum {
  XLINE_ID = 1,
  XLINE_NAME,
  XLINE_TIMESTAMP_NS,
  XLINE_EVENTS,
  XLINE_DURATION_PS = 9,
  XLINE_DISPLAY_ID,
  XLINE_DISPLAY_NAME
};
enum { XEVENT_METADATA_ID = 1, XEVENT_OFFSET_PS, XEVENT_DURATION_PS, XEVENT_STATS, XEVENT_NUM_OCCURRENCES };
enum {
  XSTAT_METADATA_ID = 1,
  XSTAT_DOUBLE,
  XSTAT_UINT64,
  XSTAT_INT64,
  XSTAT_STR,
  XSTAT_BYTES,
  XSTAT_REF,
  XSTAT_COMPRESSED_STR
};
enum {
  XEVENT_METADATA_KEY = 1,
  XEVENT_METADATA_NAME,
  XEVENT_METADATA_METADATA,
  XEVENT_METADATA_DISPLAY_NAME,
  XEVENT_METADATA_STATS,
  XEVENT_METADATA_CHILD_ID
};
enum { XSTAT_METADATA_KEY = 1, XSTAT_METADATA_NAME, XSTAT_METADATA_DESCRIPTION };
enum { MAP_KEY = 1, MAP_VALUE };

/* xprof's process ids: devices from 1, custom devices from 501, the host's threads from 701 (kHostThreadsDeviceId). */
enum { PID_DEVICE = 1, PID_CUSTOM = 501, PID_HOST = 701, PID_OTHER = 1000 };

struct xstat {
  int64_t id;
  uint8_t field;  /* XSTAT_DOUBLE ..., 0 = has no value */
  uint64_t value; /* number, or length */
  const uint8_t *p;
};

/* ---- side tables: how the graph was spelled, for the way back ---- */

enum xplane_line_kind { XLINE_THREAD, XLINE_ASYNC, XLINE_PROCESS, XLINE_COUNTERS };

struct xplane_plane {
  tk_id process; /* track */
  tk_id name;    /* as in the file */
  tk_id shown;   /* as the track is called after reading */
  int64_t id;
  uint64_t at; /* of the trace's raw text: the plane's fields less its lines */
  uint64_t size;
  uint32_t lines; /* were in it */
  uint32_t first_line;
  uint32_t segment; /* files joined by cat: which of them */
  uint64_t line_bytes, stat_bytes; /* on the wire: of its lines, and of these what the stats of events take */
};

struct xplane_line {
  tk_id track, process;
  tk_id name, display_name; /* as in the file; 0 = absent */
  tk_id shown;              /* as the track is called after reading */
  int64_t id, display_id, timestamp_ns, duration_ps;
  int64_t zero_ps;    /* where its offsets count from, on the graph's time */
  tk_id first, count; /* its events while reading */
  uint32_t domain;
  uint32_t ordinal; /* in its plane, from 1 */
  uint8_t kind;     /* enum xplane_line_kind */
  bool links;       /* may hold stats that link events */
  bool series;      /* COUNTERS: every series of a sample stands in an event of its own besides */
};

/* By class id: the metadata that it came from. */
struct xplane_class {
  tk_id process;
  bool derived; /* named by a step_name: the metadata has another name */
  bool series;  /* of events that repeat one series of the counter sample before them, for viewers that show one of each */
  int64_t id;
};

/* Keys of the metas that hold them (binary). */
#define XPLANE_META_PLANES "xplane.planes"
#define XPLANE_META_LINES "xplane.lines"
#define XPLANE_META_CLASSES "xplane.classes"
#define XPLANE_META_SPACE "xplane.space"
#define XPLANE_META_CLOCK "xplane.clock"

/* In the table of an XSpace's other fields: those of segment n follow. */
enum { XPLANE_SEGMENT = 536870911 };

/* The trace's clock as it was read: an operation that moves it moves the lines. */
struct xplane_clock {
  int64_t origin_ns;
  int64_t base_ns; /* what timestamps of lines count from */
  int64_t own;     /* 1: written by tracekit from another format */
};

/* Our own additions, which xprof passes over: a plane for what is of the whole file, a stat for what an XEvent cannot say,
 * words in XStatMetadata.description for types that an XStat does not have. */
#define XPLANE_OWN_PLANE "/tracekit:metadata"
#define XPLANE_EARLIER "xplane.earlier." /* an arg that a later stat of the same name overrules */
#define XPLANE_OWN_BITS "tracekit.event"
/* XEventMetadata.metadata of one series of a counter: a stat would be drawn as one. */
#define XPLANE_OWN_SERIES "tracekit.series"
#define XPLANE_OWN_CAT "tracekit.cat"
#define XPLANE_OWN_TRACKS "tracekit.tracks"
/* Name of the row, and origin of the passthrough. */
#define XPLANE_FORMAT "xplane"

#define XPLANE_OWN_FLOWS "tracekit.flows"
#define XPLANE_OWN_RECORDS "tracekit.records"
#define XPLANE_OWN_ZERO "tracekit.zero_ns"
#define XPLANE_OWN_BASE "tracekit.base_ns"
#define XPLANE_OWN_HOST "tracekit.host" /* of several in one file: ids of contexts are each host's own */
#define XPLANE_OWN_META "tracekit.meta."
#define XPLANE_OWN_TYPE "tracekit:"
#define XPLANE_OWN_DECIMAL "decimal:" /* and the exponent: 1.50 is the double 1.5 of exponent -2 */
#define XPLANE_COUNTERS "_counters_"
#define XPLANE_TASK "Task Environment"
#define XPLANE_START "profile_start_time"

/* A stat "flow" of this description is for xprof alone: tracekit.flows says it all. */
#define XPLANE_OWN_FLOW XPLANE_OWN_TYPE "flow"
enum { XPLANE_DROP = TK_ARG_TYPES + 1 };

/* Decimals that a double holds exactly and gives back. */
enum { XPLANE_DECIMAL = 100, XPLANE_MAX_EXP = 18 };
static const int64_t XPLANE_MAX_MANT = (int64_t)1 << 50;
static const double XPLANE_TENS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                     1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static inline double xplane_decimal(int64_t mant, int exp) {
  return exp < 0 ? (double)mant / XPLANE_TENS[-exp] : (double)mant * XPLANE_TENS[exp];
}

/* ---- reading ---- */

/* Stat metadata of the plane being read: a key of args, the target of refs, or both. */
struct xplane_stat_name {
  int64_t id;
  tk_id key;     /* provisional, "#id"; 0 = not used as one */
  tk_id earlier; /* the same of a value that a later one of its event overrules; 0 = there is none */
  tk_id name;    /* 0 = not known (yet) */
  tk_id earlier_name;
  uint8_t type; /* of our own: enum tk_arg_type to read it as, TK_ARG_TYPES = as it is; decimals: XPLANE_DECIMAL + exponent */
};

/* Lines whose clocks are less than 100 days apart. */
enum { DOMAINS = 64 };
struct xplane_domain {
  int64_t ref_ns; /* 0: times count from the start of the profile, or from nothing known */
  uint32_t segment;
  tk_time min;
  uint64_t n_events;
};

struct xplane_reader {
  struct tk_trace *t;
  struct tk_err *err;
  const struct tk_load_options *opt;
  struct pb_in s;
  struct buf planes, lines, classes, space; /* side tables */
  struct buf text;                          /* scratch */
  struct xplane_domain domains[DOMAINS];
  uint32_t n_domains, segment, n_opaque;
  struct map parts; /* planes by (segment, name, id) */
  bool segment_ends;
  int64_t base_ns; /* what timestamps of lines count from */
  uint64_t stat_bytes; /* of the plane's events so far */
  bool own;        /* written by tracekit from another format: has its own metas */
  /* the plane being read */
  struct map class_ids;           /* event metadata id -> class */
  struct map stat_ids;            /* stat metadata id -> index of stats */
  struct xplane_stat_name *stats; /* [1..n_stats] */
  uint32_t n_stats, cap_stats, first_shape;
  struct {
    int64_t id;
    tk_id cls;
  } class_cache[1024];
  struct {
    int64_t id;
    uint32_t at;
  } stat_cache[256];
};

static inline struct xplane_plane *xplane_planes(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->planes.len / sizeof(struct xplane_plane));
  return (struct xplane_plane *)(void *)r->planes.data;
}
static inline struct xplane_line *xplane_lines(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->lines.len / sizeof(struct xplane_line));
  return (struct xplane_line *)(void *)r->lines.data;
}

void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text);

/* Decodes a stat; false if the message is damaged (c->fault).  *odd: a field had another wire type than its own. */
bool xplane_stat(struct pb *c, struct xstat *s, bool *odd);
/* Where the stat metadata of this id stands in r->stats, made if need be; 0 = no memory. */
uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id);
/* A string of the file: what is not UTF-8 is replaced, with a note. */
tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n);
/* Adds a stat to the args under construction; false and no arg for what has no place there. */
void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key);
/* The class of this event metadata, made if need be. */
tk_id xplane_class_of(struct xplane_reader *r, int64_t id);
tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from);

/* Names what the plane's events used (read_names.c); its fields less lines are raw text from plane->at on. */
bool xplane_name_plane(struct xplane_reader *r, struct xplane_plane *plane, uint32_t first_line);
bool xplane_damaged(struct xplane_reader *r, const struct pb *c, const char *where);

/* Adds the flow points that the stats of events say (read_flow.c). */
void xplane_link(struct xplane_reader *r);

/* Pids, clocks, flows, metas: after the last plane (finish.c). */
void xplane_finish(struct xplane_reader *r);

/* ---- cold data (passthrough.c): a plane's fields less its lines, as they are on the wire ---- */

struct xplane_names {
  struct map index; /* stat metadata id -> place in names, from 1 */
  struct buf names; /* struct xplane_name */
};
struct xplane_name {
  int64_t id;
  const uint8_t *p;
  size_t n;
};
/* The names of a plane's stats.  p must stay where it is. */
void xplane_names_of(struct xplane_names *names, struct pb plane, struct mem *mem);
void xplane_names_free(struct xplane_names *names);
const struct xplane_name *xplane_name_of(const struct xplane_names *names, int64_t id);

/* The plane's stat of this name, the last if there are several. */
bool xplane_plane_stat(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, struct xstat *s);
bool xplane_plane_int(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, int64_t *value);
/* What is said to all formats of spaces and planes, and the tables for the way back. */
void xplane_keep_metas(struct xplane_reader *r);
void xplane_add_meta(struct tk_trace *t, const char *key, const void *p, size_t n, bool passthrough);

/* ---- what our own writer added (read_private.c) ---- */

/* Gives tracks what planes and lines could not say of them, the trace its zero and its top-level data. */
void xplane_restore(struct xplane_reader *r);
/* Copies text that is strict compact JSON into out, followed by zeros; false if it is anything else. */
bool xplane_strict_json(const void *p, size_t n, struct buf *out);

unsigned xplane_bid(const uint8_t *p, size_t n);
/* Was every byte above 0x7f replaced by U+FFFD? */
bool xplane_mangled(const uint8_t *p, size_t n);

/* Kinds of planes that xprof numbers apart, by how their names begin. */
unsigned xplane_plane_kind(const char *name);
/* What a plane that was read is called in a file where its graph is the `ordinal`-th. */
void xplane_print_plane_name(const struct tk_trace *t, uint32_t ordinal, const struct xplane_plane *p, struct buf *b);

/* Passthrough of a graph that has joined another one, and of all when no more will join (join.c). */
void xplane_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids);
void xplane_join_finish(struct tk_trace *t);

/* What the file was made of (inspect.c). */
void xplane_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);

struct sink *xplane_writer(struct out *out, const struct sink_options *opt);

#endif

/* reader.h - what the files of the XPlane reader share.
 *
 * On the wire a plane's lines stand before the maps that name their events, and a plane may be 99% of a file of gigabytes.  So
 * events are added at once under provisional names ("#7" for stat metadata 7, a class without a name for event metadata 7), and
 * the plane's end names them: each class, and each arg shape that the plane brought, once.  Only refs, whose values are names
 * too, are visited event by event; they are packed at a fixed width, so that this happens in place. */
#ifndef FORMAT_XPLANE_READER_H
#define FORMAT_XPLANE_READER_H

#include "format/chunks.h"
#include "format/format.h"
#include "passthrough.h"
#include "salvage.h"

/* xprof's process ids: devices from 1, custom devices from 501, the host's threads from 701 (kHostThreadsDeviceId). */
enum { PID_DEVICE = 1, PID_CUSTOM = 501, PID_HOST = 701, PID_OTHER = 1000 };

/* Stat metadata of the plane being read: a key of args, the target of refs, or both. */
struct xplane_stat_name {
  int64_t id;
  tk_id key;     /* provisional, "#id"; 0 = not used as one */
  tk_id earlier; /* the same of a value that a later one of its event overrules; 0 = there is none */
  tk_id name;    /* 0 = not known (yet) */
  tk_id earlier_name;
  bool compressed; /* a value was a compressed string */
  uint8_t type; /* of our own: enum tk_arg_type to read it as, TK_ARG_TYPES = as it is; decimals: XPLANE_DECIMAL + exponent */
};

/* Stats that events of one metadata have had, in their order, and the shape that they make (read_alike.c). */
enum { XPLANE_STATS_MOST = 24, XPLANE_ALIKES = 256 };
struct xplane_alike {
  int64_t id; /* of the metadata */
  uint32_t n, shape;
  struct xplane_alike_stat {
    int64_t id;
    uint8_t field;
  } stats[XPLANE_STATS_MOST];
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
  struct buf text, event_fields;            /* scratch */
  struct buf line_fields;                   /* fields of lines that are not known here, of all lines */
  struct xplane_domain domains[DOMAINS];
  uint32_t n_domains, segment, n_not_text;
  struct map parts; /* planes by (segment, name, id) */
  bool segment_ends;
  int64_t base_ns; /* what timestamps of lines count from */
  uint64_t stat_bytes; /* of the plane's events so far */
  tk_id plane_name, line_name; /* where the reader is, as far as it is known */
  uint64_t made;  /* events that were made for xprof */
  bool converted; /* the file was written by tracekit from another format */
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
  struct xplane_alike alike[XPLANE_ALIKES]; /* by metadata */
  struct xplane_alike seen;                 /* of the event being read; n may be more than it holds */
  struct chunks *chunks; /* NULL = one thread */
  bool apart;   /* it reads a chunk into a fragment (read_chunks.c): tables are those of the one reader, and stay as they are */
  bool unknown; /* ... and it has met what is for the one reader */
  tk_id track;  /* of the line that is read by chunks */
};

static inline struct xplane_plane *xplane_planes(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->planes.len / sizeof(struct xplane_plane));
  return (struct xplane_plane *)(void *)r->planes.data;
}
static inline struct xplane_line *xplane_lines(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->lines.len / sizeof(struct xplane_line));
  return (struct xplane_line *)(void *)r->lines.data;
}

/* The name to show: "" is none. */
static inline tk_id xplane_shown(tk_id name) { return name == KEY_EMPTY ? 0 : name; }

/* ---- reader.c ---- */

void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text);
void xplane_note_odd(struct xplane_reader *r);
/* Something at offset `at` is left out, since its bytes are wrong: a repair that says in which plane and line. */
void xplane_note_damage(struct xplane_reader *r, uint64_t at, const char *what, const char *why);
/* The next field of a message of this level, as pb_in_next gives it.  Where bytes are wrong it is one that comes after them, a tag
 * that is wrong is mended, and so is a length that turns out too small. */
enum pb_status xplane_next(struct xplane_reader *r, const struct xplane_level *level, struct xplane_extent *extent, struct pb_field *f);
/* Now and then: false with r->err when memory has run out or the caller wants to stop. */
bool xplane_tick(struct xplane_reader *r);
/* A string of the file: what is not UTF-8 is replaced, with a note. */
tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n);
/* Where the stat metadata of this id stands in r->stats, made if need be; 0 = no memory. */
uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id);
/* Adds a stat to the args under construction. */
void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key);
/* A ref to the at-th of r->stats, packed at the width of any string id: five bytes; returns what is behind them. */
static inline uint8_t *xplane_put_ref(uint8_t *p, uint32_t at) {
  for (unsigned i = 0; i < 5; i++) *p++ = (uint8_t)((at >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  return p;
}
/* What the plane's args do not say of the types of its stats, behind its fields. */
void xplane_keep_types(struct xplane_reader *r, struct xplane_plane *plane);
/* The class of this event metadata, made if need be. */
tk_id xplane_class_of(struct xplane_reader *r, int64_t id);
tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from);
tk_id xplane_new_track(struct xplane_reader *r, enum tk_track_kind kind, tk_id parent);

/* ---- the stages ---- */

/* Events at the cursor, of a line that ends at `end`, by several threads (read_chunks.c): until it comes to something else. */
bool xplane_chunks_start(struct xplane_reader *r);
bool xplane_chunks_are_due(const struct xplane_reader *r, uint64_t end);
bool xplane_chunks_read(struct xplane_reader *r, tk_id track, uint64_t end);
/* The event in p[0, n), at which the cursor ends, of a line that ends at `end` (read_event.c). */
void xplane_read_event(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n, uint64_t end);
/* Does the content of a field begin as an entry of a map does, with a key and a message? */
bool xplane_looks_like_entry(const uint8_t *p, const uint8_t *end);
/* The event of a chunk; false if it is for the one reader. */
bool xplane_read_event_apart(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n);

/* A line, with its events (read_line.c). */
enum pb_status xplane_read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, struct xplane_extent extent);
/* Events at the cursor whose stats are as expected, up to `most` of them in the message that ends at `end` (read_alike.c).  The general
 * path tells of each stat that it reads, and of the args that they made; a plane begins without knowledge. */
uint32_t xplane_read_alike(struct xplane_reader *r, const struct xplane_line *line, uint64_t end, uint32_t most);
void xplane_see_stat(struct xplane_reader *r, const struct xstat *s);
void xplane_learn_alike(struct xplane_reader *r, int64_t id, uint32_t args);
void xplane_forget_alike(struct xplane_reader *r);
/* Names what the plane's events used (read_names.c); its fields less lines are raw text from plane->at on. */
bool xplane_name_plane(struct xplane_reader *r, struct xplane_plane *plane, uint32_t first_line);
/* Gives tracks what planes and lines could not say of them, the trace its zero and its top-level data (read_private.c). */
void xplane_restore(struct xplane_reader *r);
/* Adds the flow points that the stats of events say (read_flow.c). */
void xplane_link(struct xplane_reader *r);
/* What is said to all formats of spaces and planes, and the passthrough (read_metas.c). */
void xplane_add_metas(struct xplane_reader *r);
/* Pids, clocks, flows, metas: after the last plane (finish.c). */
void xplane_finish(struct xplane_reader *r);

#endif

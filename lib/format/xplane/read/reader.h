/* reader.h - interface between the files of the XPlane reader.
 *
 * In a file, a plane's lines precede the maps that name their events, and one plane may be 99% of a file of gigabytes. So
 * events are added immediately, under provisional names ("#7" for stat metadata 7, a class without a name for event metadata
 * 7). At the end of the plane, each class and each new arg shape gets its name once. Only refs, whose values are also names,
 * must be updated in each event; they are packed with a fixed width, so that they can be updated in place. */
#ifndef FORMAT_XPLANE_READ_READER_H
#define FORMAT_XPLANE_READ_READER_H

#include "format/chunks.h"
#include "format/format.h"
#include "format/xplane/passthrough.h"
#include "salvage.h"

/* Process ids in xprof: devices from 1, custom devices from 501, host threads from 701 (kHostThreadsDeviceId). */
enum { PID_DEVICE = 1, PID_CUSTOM = 501, PID_HOST = 701, PID_OTHER = 1000 };

/* Stat metadata of the current plane: the key of args, the target of refs, or both. */
struct xplane_stat_name {
  int64_t id;
  tk_id key;     /* provisional key, "#id"; 0 = not used as a key */
  tk_id earlier; /* key for a value that a later value of the same event overrides; 0 = none */
  tk_id name;    /* 0 = unknown so far */
  tk_id earlier_name;
  bool compressed; /* true if some value was a compressed string */
  uint8_t type; /* private type: enum tk_arg_type to which values are converted; TK_ARG_TYPES = no conversion; for decimals,
                 * XPLANE_DECIMAL + exponent */
};

/* The stats of an event, in order, and the resulting shape; a prediction for events with the same metadata (alike.c). */
enum { XPLANE_STATS_MOST = 24, XPLANE_ALIKES = 256 };
struct xplane_alike {
  int64_t id; /* id of the event metadata */
  uint32_t n, shape;
  struct xplane_alike_stat {
    int64_t id;
    uint8_t field;
  } stats[XPLANE_STATS_MOST];
};

/* Maximum number of domains. A domain is a group of lines whose timestamps are less than 100 days apart. */
enum { DOMAINS = 64 };
struct xplane_domain {
  int64_t ref_ns; /* reference time; 0: times are relative to the start of the profile, or to an unknown time */
  uint32_t segment;
  tk_time min;
  uint64_t n_events;
};

struct xplane_reader {
  struct tk_trace *t;
  struct tk_err *err;
  const struct tk_load_options *opt;
  struct pb_in s;
  struct buf planes, lines, classes, space; /* side tables under construction */
  struct buf text, event_fields;            /* scratch */
  struct buf line_fields;                   /* unknown fields of all lines */
  struct xplane_domain domains[DOMAINS];
  uint32_t n_domains, segment, n_not_text;
  struct map parts; /* (segment, name, id) -> plane */
  bool segment_ends;
  int64_t base_ns; /* base of the lines' timestamps */
  uint64_t stat_bytes; /* bytes of stats of the plane's events so far */
  tk_id plane_name, line_name; /* current plane and line, if known */
  uint64_t made;  /* number of events generated for xprof */
  bool converted; /* true if tracekit converted the file from another format */
  /* For the current plane: */
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
  struct xplane_alike alike[XPLANE_ALIKES]; /* predictions, by a hash of the event metadata id */
  struct xplane_alike seen;                 /* stats of the current event; n may exceed the capacity */
  struct chunks *chunks; /* NULL = only one thread */
  bool apart;   /* true while a chunk is read into a fragment (chunks.c): tables belong to the main reader and must not be
                 * changed */
  bool unknown; /* set while `apart` is true if the main reader must handle an event */
  tk_id track;  /* track of the line that is being read in chunks */
};

static inline struct xplane_plane *xplane_planes(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->planes.len / sizeof(struct xplane_plane));
  return (struct xplane_plane *)(void *)r->planes.data;
}
static inline struct xplane_line *xplane_lines(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->lines.len / sizeof(struct xplane_line));
  return (struct xplane_line *)(void *)r->lines.data;
}

/* Returns the name to display; 0 for an empty name. */
static inline tk_id xplane_shown(tk_id name) { return name == KEY_EMPTY ? 0 : name; }

/* ---- reader.c ---- */

void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text);
void xplane_note_odd(struct xplane_reader *r);
/* Notes that a part at offset `at` was skipped because its bytes are invalid. The note names the plane and the line. */
void xplane_note_damage(struct xplane_reader *r, uint64_t at, const char *what, const char *why);
/* Reads the next field of a message of this level, like pb_in_next. Also skips invalid bytes, and repairs invalid tags and
 * lengths that are too small. */
enum pb_status xplane_next(struct xplane_reader *r, const struct xplane_level *level, struct xplane_extent *extent, struct pb_field *f);
/* Called regularly: returns false with r->err if memory runs out or the caller wants to stop. */
bool xplane_tick(struct xplane_reader *r);
/* Returns the string for text of the file. Replaces invalid UTF-8 and adds a note. */
tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n);
/* Returns the index in r->stats of the stat metadata with this id, adding it if necessary; 0 when memory runs out. */
uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id);
/* Adds a stat to the args under construction. */
void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key);
/* Writes a ref to r->stats[at] in five bytes, the most that a string id needs; returns the position after it. */
static inline uint8_t *xplane_put_ref(uint8_t *p, uint32_t at) {
  for (unsigned i = 0; i < 5; i++) *p++ = (uint8_t)((at >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  return p;
}
/* Stores those types of the plane's stats that do not follow from args, after the plane's fields. */
void xplane_keep_types(struct xplane_reader *r, struct xplane_plane *plane);
/* Returns the class of this event metadata, adding it if necessary. */
tk_id xplane_class_of(struct xplane_reader *r, int64_t id);
tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from);
tk_id xplane_new_track(struct xplane_reader *r, enum tk_track_kind kind, tk_id parent);

/* ---- the stages ---- */

#endif

/* reader.h - interface between the files of the XPlane reader.
 *
 * In a file, a plane's lines precede the maps that name their events, and one plane may be 99% of a file of gigabytes. So
 * events are added at once under provisional names ("#7" for stat metadata 7, a class without a name for event metadata 7). At
 * the end of the plane, each class and each new arg shape is named once. Only refs, whose values are names too, must be updated
 * event by event; they are packed with a fixed width, so that this happens in place. */
#ifndef FORMAT_XPLANE_READER_H
#define FORMAT_XPLANE_READER_H

#include "format/chunks.h"
#include "format/format.h"
#include "passthrough.h"
#include "salvage.h"

/* xprof's process ids: devices from 1, custom devices from 501, host threads from 701 (kHostThreadsDeviceId). */
enum { PID_DEVICE = 1, PID_CUSTOM = 501, PID_HOST = 701, PID_OTHER = 1000 };

/* Stat metadata of the current plane: a key of args, the target of refs, or both. */
struct xplane_stat_name {
  int64_t id;
  tk_id key;     /* provisional, "#id"; 0 = not used as a key */
  tk_id earlier; /* key for a value that a later one of its event overrides; 0 = none */
  tk_id name;    /* 0 = unknown (so far) */
  tk_id earlier_name;
  bool compressed; /* some value was a compressed string */
  uint8_t type; /* private type: enum tk_arg_type to convert to, TK_ARG_TYPES = unchanged; decimals: XPLANE_DECIMAL + exponent
                 */
};

/* Stats that events of one metadata had, in order, and the resulting shape (read_alike.c). */
enum { XPLANE_STATS_MOST = 24, XPLANE_ALIKES = 256 };
struct xplane_alike {
  int64_t id; /* of the event metadata */
  uint32_t n, shape;
  struct xplane_alike_stat {
    int64_t id;
    uint8_t field;
  } stats[XPLANE_STATS_MOST];
};

/* A group of lines whose clocks are less than 100 days apart. */
enum { DOMAINS = 64 };
struct xplane_domain {
  int64_t ref_ns; /* 0: times are relative to the start of the profile, or to an unknown time */
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
  struct buf line_fields;                   /* unknown fields of all lines */
  struct xplane_domain domains[DOMAINS];
  uint32_t n_domains, segment, n_not_text;
  struct map parts; /* (segment, name, id) -> plane */
  bool segment_ends;
  int64_t base_ns; /* base of the lines' timestamps */
  uint64_t stat_bytes; /* of the plane's events so far */
  tk_id plane_name, line_name; /* current plane and line, if known */
  uint64_t made;  /* number of events generated for xprof */
  bool converted; /* tracekit converted the file from another format */
  /* of the current plane */
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
  struct xplane_alike alike[XPLANE_ALIKES]; /* by event metadata id */
  struct xplane_alike seen;                 /* of the current event; n may exceed its capacity */
  struct chunks *chunks; /* NULL = one thread */
  bool apart;   /* reads a chunk into a fragment (read_chunks.c): tables belong to the main reader and are read-only */
  bool unknown; /* with `apart`: found something that the main reader must handle */
  tk_id track;  /* of the line being read in chunks */
};

static inline struct xplane_plane *xplane_planes(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->planes.len / sizeof(struct xplane_plane));
  return (struct xplane_plane *)(void *)r->planes.data;
}
static inline struct xplane_line *xplane_lines(const struct xplane_reader *r, uint32_t *n) {
  *n = (uint32_t)(r->lines.len / sizeof(struct xplane_line));
  return (struct xplane_line *)(void *)r->lines.data;
}

/* Returns the name to display; 0 for "". */
static inline tk_id xplane_shown(tk_id name) { return name == KEY_EMPTY ? 0 : name; }

/* ---- reader.c ---- */

void xplane_note(struct xplane_reader *r, enum tk_note_kind kind, const char *text);
void xplane_note_odd(struct xplane_reader *r);
/* Reports a repair: something at offset `at` was skipped because its bytes are invalid. The note names the plane and line. */
void xplane_note_damage(struct xplane_reader *r, uint64_t at, const char *what, const char *why);
/* Reads the next field of a message of this level, like pb_in_next. Skips invalid bytes, and repairs invalid tags and lengths
 * that turn out too small. */
enum pb_status xplane_next(struct xplane_reader *r, const struct xplane_level *level, struct xplane_extent *extent, struct pb_field *f);
/* To be called now and then: returns false with r->err when memory runs out or the caller wants to stop. */
bool xplane_tick(struct xplane_reader *r);
/* Returns a string of the file; invalid UTF-8 is replaced, with a note. */
tk_id xplane_text(struct xplane_reader *r, const uint8_t *p, size_t n);
/* Returns the index in r->stats of the stat metadata with this id, adding it if necessary; 0 = out of memory. */
uint32_t xplane_stat_at(struct xplane_reader *r, int64_t id);
/* Adds a stat to the args under construction. */
void xplane_arg(struct xplane_reader *r, const struct xstat *s, tk_id key);
/* Writes a ref to r->stats[at] with the width of any string id, five bytes; returns the position after it. */
static inline uint8_t *xplane_put_ref(uint8_t *p, uint32_t at) {
  for (unsigned i = 0; i < 5; i++) *p++ = (uint8_t)((at >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
  return p;
}
/* Adds the id of their metadata to events of the plane, from `first` on, whose metadata other formats would confuse. */
void xplane_mark_unclear(struct xplane_reader *r, const struct xplane_plane *plane, tk_id first);
/* Stores types of the plane's stats that args do not imply, after its fields. */
void xplane_keep_types(struct xplane_reader *r, struct xplane_plane *plane);
/* Returns the class of this event metadata, adding it if necessary. */
tk_id xplane_class_of(struct xplane_reader *r, int64_t id);
tk_id xplane_new_class(struct xplane_reader *r, struct xplane_class from);
tk_id xplane_new_track(struct xplane_reader *r, enum tk_track_kind kind, tk_id parent);

/* ---- the stages ---- */

/* Reads events at the cursor, in a line that ends at `end`, with several threads, until something else follows (read_chunks.c).
 */
bool xplane_chunks_start(struct xplane_reader *r);
bool xplane_chunks_are_due(const struct xplane_reader *r, uint64_t end);
bool xplane_chunks_read(struct xplane_reader *r, tk_id track, uint64_t end);
/* Reads the event in p[0, n), where the cursor is at its end, in a line that ends at `end` (read_event.c). */
void xplane_read_event(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n, uint64_t end);
/* True if the content of a field begins like an entry of a map, with a key and a message. */
bool xplane_looks_like_entry(const uint8_t *p, const uint8_t *end);
/* Reads an event of a chunk; returns false if the main reader must handle it. */
bool xplane_read_event_apart(struct xplane_reader *r, const struct xplane_line *line, const uint8_t *p, size_t n);

/* Reads a line and its events (read_line.c). */
enum pb_status xplane_read_line(struct xplane_reader *r, tk_id process, uint32_t ordinal, struct xplane_extent extent);
/* Reads up to `most` events at the cursor, as long as their stats are as predicted, in the message that ends at `end`
 * (read_alike.c). The general path calls the other functions: for each stat that it reads, for the resulting args, and at the
 * start of a plane. */
uint32_t xplane_read_alike(struct xplane_reader *r, const struct xplane_line *line, uint64_t end, uint32_t most);
void xplane_see_stat(struct xplane_reader *r, const struct xstat *s);
void xplane_learn_alike(struct xplane_reader *r, int64_t id, uint32_t args);
void xplane_forget_alike(struct xplane_reader *r);
/* Names the classes, keys and refs that the plane's events use (read_names.c); its fields except lines are the raw text from
 * plane->at on. */
bool xplane_name_plane(struct xplane_reader *r, struct xplane_plane *plane, uint32_t first_line);
/* Restores properties of tracks that planes and lines cannot represent, the zero and the top-level data (read_private.c). */
void xplane_restore(struct xplane_reader *r);
/* Adds the flow points that stats of events define (read_flow.c). */
void xplane_link(struct xplane_reader *r);
/* Adds the passthrough, and the data of spaces and planes that all formats can represent (read_metas.c). */
void xplane_add_metas(struct xplane_reader *r);
/* Sets pids, clocks, flows and metas after the last plane (finish.c). */
void xplane_finish(struct xplane_reader *r);

#endif

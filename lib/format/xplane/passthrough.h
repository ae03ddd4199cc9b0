/* passthrough.h - contents of an XSpace that the graph cannot represent, and how the graph was encoded.
 *
 * Passthrough is only written to an XSpace, not to other formats: the original bytes of all fields of each plane except its
 * lines; fields of the space that are not planes; and side tables that map each track and class to its plane, line and
 * metadata. Each of these is a binary meta of the trace whose origin is XPLANE_FORMAT. */
#ifndef FORMAT_XPLANE_PASSTHROUGH_H
#define FORMAT_XPLANE_PASSTHROUGH_H

#include "graph/trace.h"
#include "wire.h"

/* Name of the format, and origin of its metas. */
#define XPLANE_FORMAT "xplane"

/* Keys of the metas. Their contents, in the same order: an array of struct xplane_plane; an array of struct xplane_line; an
 * array of struct xplane_class, by class id; the fields of the space other than planes, where a varint field XPLANE_SEGMENT
 * with value n precedes the fields of segment n; a struct xplane_clock. */
#define XPLANE_META_PLANES "xplane.planes"
#define XPLANE_META_LINES "xplane.lines"
#define XPLANE_META_CLASSES "xplane.classes"
#define XPLANE_META_SPACE "xplane.space"
#define XPLANE_META_CLOCK "xplane.clock"
enum { XPLANE_SEGMENT = 536870911 };

/* Kinds of lines. XLINE_STEPS only exists in output. */
enum xplane_line_kind { XLINE_THREAD, XLINE_ASYNC, XLINE_PROCESS, XLINE_COUNTERS, XLINE_STEPS };

struct xplane_plane {
  tk_id process; /* its track */
  tk_id name;    /* name in the file */
  tk_id shown;   /* name that the reader gave the track */
  int64_t id;
  uint64_t at; /* offset in the trace's raw text: fields of the plane except its lines */
  uint64_t size;
  uint32_t lines; /* number of the plane's lines */
  uint32_t first_line;
  uint32_t segment; /* for files joined by cat: number of the file */
  uint64_t line_bytes, stat_bytes; /* encoded size of its lines; size of the stats in them */
  bool adopted; /* true if another format embedded the plane (write/carried.c); args of its events then come from that format */
  /* Places in the trace's raw text: types of stats that do not follow from args; for an adopted plane, its process and
   * threads. */
  uint32_t types_size, tracks_size;
  uint64_t types_at, tracks_at;
};

struct xplane_line {
  tk_id track, process;
  tk_id name, display_name; /* names in the file; 0 = absent */
  tk_id shown;              /* name of the track after reading */
  int64_t id, display_id, timestamp_ns, duration_ps;
  int64_t zero_ps;    /* graph time to which its offsets are relative */
  tk_id first, count; /* range of its events, while reading */
  uint32_t domain;
  uint32_t ordinal; /* number of the line within its plane, from 1 */
  uint32_t fields_size; /* place in the raw text of its unknown fields */
  uint64_t fields_at;
  uint8_t kind;     /* enum xplane_line_kind */
  bool links;       /* true if it may have stats that link events */
  bool series;      /* for COUNTERS: each series of a sample also has a separate event */
};

/* By class id: the event metadata from which the class was read. */
struct xplane_class {
  tk_id process;
  bool derived; /* true if the name of the class is a step_name; the metadata then has a different name */
  bool series;  /* true if its events repeat one series of the previous counter sample, because viewers show one series per event */
  bool nameless; /* its events have no name */
  bool made;    /* true if its events were generated for xprof and are not part of the trace */
  int64_t id;
};

/* Tells whether tracekit converted the file from another format. If tracekit converted the whole file, the graph is complete
 * and is written as if it had been read from the other format. */
enum xplane_converted { XPLANE_NATIVE, XPLANE_CONVERTED_PARTLY, XPLANE_CONVERTED };

/* The trace's clock when it was read. If an operation has changed the clock since, lines must be shifted in time. */
struct xplane_clock {
  int64_t origin_ns;
  int64_t base_ns;   /* base of the lines' timestamps when read */
  int64_t converted; /* enum xplane_converted */
  /* Trace-wide results of reading the XSpace: */
  int64_t zero_ns;
  uint64_t shown; /* hash of the top-level data; 0 = tracekit converted the XSpace from another format */
  uint64_t names; /* for planes that another format embedded: hash of the class names, which shows whether an operation renamed
                   * some */
};

/* Return the hash of the class names (xplane_clock.names), and of the top-level data (xplane_clock.shown). */
uint64_t xplane_hash_names(const struct tk_trace *t);
uint64_t xplane_hash_shown(const struct tk_trace *t);

/* Returns the bytes of a passthrough meta; p is NULL if the trace does not have it. */
struct xplane_bytes xplane_passthrough(const struct tk_trace *t, const char *key);
/* Returns a side table and sets *n to the number of its elements; NULL and *n = 0 if the trace lacks it. The table is not
 * aligned, so its elements must be copied. */
const void *xplane_table(const struct tk_trace *t, const char *key, size_t elem, uint32_t *n);
bool xplane_clock_of(const struct tk_trace *t, struct xplane_clock *clock);

/* True if the fields of the space contain this host name. */
bool xplane_is_named(const struct buf *space, const void *name, size_t n);
/* Appends the fields of another XSpace as segment n. */
void xplane_add_space(struct buf *space, uint32_t segment, struct xplane_bytes fields);

/* Returns the plane's fields without its lines. The pointer becomes invalid when raw text is added to the trace. */
static inline struct pb xplane_fields(const struct tk_trace *t, const struct xplane_plane *p) {
  return pb_over(trace_raw(t, p->at), (size_t)p->size);
}

/* Finds the plane's stat with this name; if there are several, the last one. */
bool xplane_plane_stat(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, struct xstat *s);
bool xplane_plane_int(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, int64_t *value);

/* Calls `each` for the types of stats that the raw text contains as {"3":[7,9],..}: number of an XStat field and ids of
 * stats. */
void xplane_each_type(const struct tk_trace *t, const struct xplane_plane *plane,
                      void (*each)(void *arg, int64_t id, unsigned field), void *arg);

/* Adds a top-level key, or passthrough data. */
void xplane_add_meta(struct tk_trace *t, const char *key, const void *p, size_t n, bool passthrough);

/* Prints the name of a plane. `ordinal`: number of its graph in the file. The name is "/device:TPU:0", or, if an operation
 * renamed its process, "/device:TPU:0 [rank 1 - hostB]". xprof recognises planes by the beginning of their names. */
void xplane_print_plane_name(const struct tk_trace *t, uint32_t ordinal, const struct xplane_plane *p, struct buf *b);

#endif

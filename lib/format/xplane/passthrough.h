/* passthrough.h - what an XSpace holds and the graph has no place for, and how the graph was spelled.
 *
 * Passthrough is what goes back into an XSpace and into no other format: the fields of each plane less its lines, byte by
 * byte; the fields of the space that are no planes; and side tables, which say which plane, line and metadata each track and
 * class came from.  Each is a binary meta of the trace, whose origin is XPLANE_FORMAT. */
#ifndef FORMAT_XPLANE_PASSTHROUGH_H
#define FORMAT_XPLANE_PASSTHROUGH_H

#include "graph/trace.h"
#include "wire.h"

/* Name of the row, and origin of the passthrough. */
#define XPLANE_FORMAT "xplane"

/* Keys of the metas: an array of struct xplane_plane, of xplane_line, of xplane_class by class id; the space's other fields,
 * where those of segment n stand behind a varint field XPLANE_SEGMENT of value n; a struct xplane_clock. */
#define XPLANE_META_PLANES "xplane.planes"
#define XPLANE_META_LINES "xplane.lines"
#define XPLANE_META_CLASSES "xplane.classes"
#define XPLANE_META_SPACE "xplane.space"
#define XPLANE_META_CLOCK "xplane.clock"
enum { XPLANE_SEGMENT = 536870911 };

/* The last is made when it is written. */
enum xplane_line_kind { XLINE_THREAD, XLINE_ASYNC, XLINE_PROCESS, XLINE_COUNTERS, XLINE_STEPS };

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
  bool adopted; /* another format carried it (write_carried.c): its events have the args of that format */
  /* In the raw text of the trace: types of stats that args do not say; of an adopted plane, which process and threads it is. */
  uint32_t types_size, tracks_size;
  uint64_t types_at, tracks_at;
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
  uint32_t fields_size; /* in the raw text: its fields that are not known here */
  uint64_t fields_at;
  uint8_t kind;     /* enum xplane_line_kind */
  bool links;       /* may hold stats that link events */
  bool series;      /* COUNTERS: every series of a sample stands in an event of its own besides */
};

/* By class id: the metadata that it came from. */
struct xplane_class {
  tk_id process;
  bool derived; /* named by a step_name: the metadata has another name */
  bool series;  /* of events that repeat one series of the counter sample before them, for viewers that show one of each */
  bool made;    /* of events that were made for xprof, which are none of the trace */
  int64_t id;
};

/* Was the file written by tracekit from another format?  Of one that was as a whole, the graph says all: it is written as if it had
 * come in that format. */
enum xplane_converted { XPLANE_NATIVE, XPLANE_CONVERTED_PARTLY, XPLANE_CONVERTED };

/* The trace's clock as it was read: an operation that moves it moves the lines. */
struct xplane_clock {
  int64_t origin_ns;
  int64_t base_ns;   /* what timestamps of lines count from */
  int64_t converted; /* enum xplane_converted */
  /* What the reader of the XSpace made of it as a whole: */
  int64_t zero_ns;
  uint64_t shown; /* hash of the top-level data; 0 = tracekit wrote the XSpace from another format */
  uint64_t names; /* of planes that another format carried: hash of the names of classes, of which an operation may give others */
};

/* Hashes of what the graph says that a block was carried with, for struct xplane_clock. */
uint64_t xplane_hash_names(const struct tk_trace *t);
uint64_t xplane_hash_shown(const struct tk_trace *t);

/* The bytes of a passthrough meta; p is NULL where the trace has none. */
struct xplane_bytes xplane_passthrough(const struct tk_trace *t, const char *key);
/* A side table of *n elements.  NULL with *n = 0 if the trace has none.  Its bytes have no alignment: copy them out. */
const void *xplane_table(const struct tk_trace *t, const char *key, size_t elem, uint32_t *n);
bool xplane_clock_of(const struct tk_trace *t, struct xplane_clock *clock);

/* Is the host one that the fields of a space name already? */
bool xplane_is_named(const struct buf *space, const void *name, size_t n);
/* What a later XSpace says of itself stands in segment n, behind what the others do. */
void xplane_add_space(struct buf *space, uint32_t segment, struct xplane_bytes fields);

/* The plane's fields less its lines.  They move when raw text is added to the trace. */
static inline struct pb xplane_fields(const struct tk_trace *t, const struct xplane_plane *p) {
  return pb_over(trace_raw(t, p->at), (size_t)p->size);
}

/* The plane's stat of this name, the last if there are several. */
bool xplane_plane_stat(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, struct xstat *s);
bool xplane_plane_int(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, int64_t *value);

/* Types of stats that stand in the raw text, {"3":[7,9],..}: field of XStat and id of a stat. */
void xplane_each_type(const struct tk_trace *t, const struct xplane_plane *plane,
                      void (*each)(void *arg, uint32_t id, unsigned field), void *arg);

/* A top-level key, or passthrough. */
void xplane_add_meta(struct tk_trace *t, const char *key, const void *p, size_t n, bool passthrough);

/* What a plane that was read is called in a file where its graph is the `ordinal`-th: "/device:TPU:0", or of a process that an
 * operation named anew "/device:TPU:0 [rank 1 - hostB]": xprof knows planes by how their names begin. */
void xplane_print_plane_name(const struct tk_trace *t, uint32_t ordinal, const struct xplane_plane *p, struct buf *b);

#endif

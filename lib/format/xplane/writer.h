/* writer.h - what the files of the XPlane writer share.
 *
 *     write.c    the file: which planes, in which order, under which names and ids; what is of the whole file
 *     write_lines.c    the lines of a plane: which tracks, ids and times
 *     write_event.c   events, stats and the maps that name them
 *
 * A length stands before what it measures, so each plane is encoded twice: once for the sizes, which also finds out what the
 * maps must name, once for the bytes.  Nothing of a plane is held but its maps. */
#ifndef FORMAT_XPLANE_WRITER_H
#define FORMAT_XPLANE_WRITER_H

#include "format/pb_out.h"
#include "xplane.h"

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
  bool own;         /* was XPlane, but written by tracekit from another format */
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

/* In xplane_graph.flows: the points are told, and so the stat is for xprof alone. */
static const uint64_t XPLANE_FLOW_TOLD = (uint64_t)1 << 63;

/* An event, or only one series of a counter sample (from 1). */
struct xplane_out_event {
  tk_id id;
  uint32_t series;
};

struct xplane_encoder {
  struct mem *mem;
  const struct xplane_graph *g;
  tk_id process;
  const struct xplane_plane *was; /* as it was read, or NULL */
  struct map classes;             /* class -> event metadata id */
  struct map stats;               /* name << 8 | type -> stat metadata id */
  int64_t next_class, next_stat;
  struct buf new_classes, new_stats; /* encoded map entries, with their tags */
  struct buf event, stat, inner;     /* scratch */
  struct buf lines;                  /* struct xplane_out_line */
  struct xplane_out_event *counters; /* samples of the plane by time */
  uint32_t n_counters;
  tk_id key_flow, key_bits, key_cat, key_long_name; /* strings of the trace, 0 = it has none */
  const char *failed;
  const struct sink_meter *meter; /* hears of what is encoded, or NULL */
};

/* ---- write_event.c ---- */

void xplane_encoder_init(struct xplane_encoder *e, const struct xplane_graph *g, tk_id process, const struct xplane_plane *was,
                         struct mem *mem);
void xplane_encoder_free(struct xplane_encoder *e);
/* The body of an XEvent into e->event. */
void xplane_encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event event);
/* Can a viewer draw it? */
static inline bool xplane_is_number(enum tk_arg_type type) {
  return type == TK_ARG_INT || type == TK_ARG_UINT || type == TK_ARG_DECIMAL || type == TK_ARG_DOUBLE;
}
/* Adds a stat whose name is our own: a field of number `number` in b. */
void xplane_add_own_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, const void *text,
                         size_t n);
void xplane_add_own_int(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, int64_t v);

/* ---- write_lines.c ---- */

/* The lines of the plane, in order, with their sizes. */
bool xplane_lay_out(struct xplane_encoder *e);
/* Writes the lines as fields of the plane. */
void xplane_put_lines(struct xplane_encoder *e, struct out *out);
uint64_t xplane_lines_size(const struct xplane_encoder *e);
/* The JSON text that tells of tracks what a plane and its lines cannot; false if there is nothing to tell. */
bool xplane_tell_tracks(struct xplane_encoder *e, struct buf *text);

/* The JSON text of the flow points that are events of their own; false if there are none. */
bool xplane_tell_flows(struct xplane_encoder *e, struct buf *text);
/* The JSON text of the records that are tied to the plane's tracks; false if there are none. */
bool xplane_tell_records(struct xplane_encoder *e, struct buf *text);

#endif

/* xplane.h - what the row of XPlane is made of.
 *
 *     fields.h                 numbers and names of the schema, of xprof, and of what tracekit adds
 *     wire.h                   cursors over an XStat, a map entry and the names of a plane's stats
 *     passthrough.h            what the graph has no place for: bytes of planes, and tables of how the graph was spelled
 *     reader.h, reader.c       the reader's context: notes, text, stats and classes
 *       read_event.c             events and lines
 *       read_names.c             a plane's end: its maps name the classes, keys and refs that its events used
 *       read_flow.c              flow points from the stats that link events
 *       read_private.c           what our own writer added
 *       read_metas.c             top-level data, and the passthrough
 *       read.c, finish.c         space and planes; pids and clocks after the last plane
 *     writer.h, writer.c       the writer's encoder: the maps of a plane, which name its events and stats
 *       write_event.c            an event -> bytes
 *       write_lines.c            the lines of a plane
 *       write_class.c            event metadata
 *       write_private.c          what a plane and its lines cannot say, as JSON
 *       write_flow.c             flow points
 *       write_passthrough.c      passthrough on its way out, pruned where an operation changed the graph
 *       write_plane.c, write.c   planes; the file
 *     hlo.h, program.h         programs whose HLO stands in an XSpace
 *       write_carried.c          what other formats carry of an XSpace: the file without events
 *       write_adopted.c          events of what was carried, to which their metadata is given back
 *     adopt.c                  a block that another format carried becomes passthrough
 *     private.h                JSON of our own stats
 *     detect.c, inspect.c      is it an XSpace, and what is it made of
 *
 * No file of the reader sees writer.h, and none of the writer reader.h. */
#ifndef FORMAT_XPLANE_XPLANE_H
#define FORMAT_XPLANE_XPLANE_H

#include "format/format.h"

/* How much a beginning of bytes looks like an XSpace, in bits of verified structure. */
unsigned xplane_bid(const uint8_t *p, size_t n);
/* What its messages look like. */
extern const struct pb_shape xplane_shape;
bool xplane_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
/* What the file was made of, for `info`. */
void xplane_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
struct sink *xplane_writer(struct out *out, const struct sink_options *opt);
/* What other formats carry for XPlane, and back. */
struct sink *xplane_carrier(struct out *out, const struct sink_options *opt);
bool xplane_adopt(struct tk_trace *t);
/* What its times count from, where it is an XSpace. */
struct sink_start xplane_start(const struct tk_trace *first);

#endif

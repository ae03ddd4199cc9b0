/* xplane.h - the functions that the row of XPlane in the table of formats points to.
 *
 *     fields.h                 numbers and names of the schema, of xprof, and of tracekit
 *     wire.h                   cursors over an XStat, a map entry and the names of a plane's stats
 *     passthrough.h            data that the graph cannot represent: bytes of planes, and tables of how the graph was encoded
 *     read/reader.h, read/reader.c  the reader's context: notes, text, stats and classes
 *       read/event.c             events and lines
 *       read/names.c             finishes a plane: names classes, keys and refs by the maps of the plane
 *       read/flow.c              flow points from the stats that link events
 *       read/private.c           additions of our own writer
 *       read/metas.c             top-level data, and the passthrough
 *       read/read.c, read/finish.c    space and planes; pids and clocks after the last plane
 *     write/writer.h, write/writer.c  the writer's encoder: the maps of a plane, which name its events and stats
 *       write/event.c            an event -> bytes
 *       write/lines.c            the lines of a plane
 *       write/class.c            event metadata
 *       write/private.c          properties that a plane and its lines cannot represent, as JSON
 *       write/flow.c             flow points
 *       write/passthrough.c      writes passthrough, pruned if an operation changed the graph
 *       write/plane.c, write/write.c  planes; the file
 *       write/carried.c          the part of an XSpace that other formats embed: the file without events
 *       write/adopted.c          events of embedded planes: restores the link to their metadata
 *     hlo.h, program.h         programs whose HLO is in an XSpace
 *     read/adopt.c             turns an embedded block into passthrough
 *     private.h                JSON of our private stats
 *     read/detect.c, read/inspect.c  recognises an XSpace; reports its composition
 *
 * Files of the reader do not include write/writer.h, and files of the writer do not include read/reader.h. */
#ifndef FORMAT_XPLANE_XPLANE_H
#define FORMAT_XPLANE_XPLANE_H

#include "format/format.h"

/* Field types of the messages of an XSpace, for the detection of damage. */
extern const struct pb_shape xplane_shape;

#endif

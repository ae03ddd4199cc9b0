/* salvage.h - what the messages of an XSpace look like: how a reader that has lost its way finds the next one.
 *
 * A flipped bit in a length or a tag takes away where the next message begins.  Messages of an XSpace are told by what stands in them:
 * an event begins with the number of its metadata and an offset, an entry of a map with a key and a message, a plane with a name.  A
 * place from which a chain of messages of one level goes on, or which reaches the end of the message around it, is taken for one. */
#ifndef FORMAT_XPLANE_SALVAGE_H
#define FORMAT_XPLANE_SALVAGE_H

#include "format/pb.h"

/* What fields a message may have: the wire type of each by its number, '-' = none. */
struct xplane_level {
  const char *part; /* what is lost of it where it is damaged: "part of a line" */
  const char *wires;
  const struct xplane_level *const *inner; /* by number: what the field of PB_BYTES is, NULL = anything */
  const struct xplane_level *around; /* of the message that such messages stand in */
  uint32_t first, second; /* fields that a message of this level begins with; 0 = any */
};
extern const struct xplane_level XPLANE_SPACE_LEVEL, XPLANE_PLANE_LEVEL, XPLANE_LINE_LEVEL;

/* Where a message ends by its own length, and where the one around it does. */
struct xplane_extent {
  uint64_t end, most;
};

/* Does the message have a field of this number and wire type? */
bool xplane_has_field(const struct xplane_level *level, const struct pb_field *f);
/* Does a chain of fields of this level begin at p?  Of the message around it `room` bytes remain, of which `n` can be seen. */
bool xplane_is_chain(const struct xplane_level *level, const uint8_t *p, size_t n, uint64_t room);

/* Goes on at the next place that looks like fields of this level, from the cursor on.  PB_DONE: the message ends there, which may be
 * before its length says or behind; PB_CUT: the input does. */
enum pb_status xplane_resync(struct pb_in *s, const struct xplane_level *level, struct xplane_extent *extent);
/* Does the field that pb_in_next met last begin such a chain?  Then the cursor is put before it. */
bool xplane_step_back(struct pb_in *s, const struct xplane_level *level, uint64_t end);
/* Is that field a message of this level whose tag is damaged?  Then *f is what it is, and the cursor stands at its content.
 * `was`: what it seems to be, NULL = nothing that can be read. */
bool xplane_retag(struct pb_in *s, const struct xplane_level *level, uint64_t end, const struct pb_field *was, struct pb_field *f);

#endif

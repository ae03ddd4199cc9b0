/* salvage.h - finds the next message after damage, by the structure of XSpace messages.
 *
 * If a bit of a length or a tag is wrong, the start of the next message is unknown. Messages of an XSpace are recognised by their
 * contents: an event begins with its metadata id and an offset, a map entry with a key and a message, a plane with a name. A
 * position is accepted if a chain of messages of one level begins there, or reaches the end of the enclosing message. */
#ifndef FORMAT_XPLANE_READ_SALVAGE_H
#define FORMAT_XPLANE_READ_SALVAGE_H

#include "format/pb.h"

/* Structure of a kind of message. wires: wire type of each field by its number; '-' = no such field. */
struct xplane_level {
  const char *part; /* name of the damaged part in notes: "part of a line" */
  const char *wires;
  const struct xplane_level *const *inner; /* by field number: structure of the message in a PB_BYTES field; NULL = any contents */
  const struct xplane_level *around; /* structure of the enclosing message */
  uint32_t first, second; /* fields with which a message of this kind begins; 0 = any */
};
extern const struct xplane_level XPLANE_SPACE_LEVEL, XPLANE_PLANE_LEVEL, XPLANE_LINE_LEVEL;

/* End of a message according to its own length, and end of the enclosing message. */
struct xplane_extent {
  uint64_t end, most;
};

/* True if the message has a field with this number and wire type. */
bool xplane_has_field(const struct xplane_level *level, const struct pb_field *f);
/* True if a chain of fields of this level begins at p. `room` bytes remain in the enclosing message; n of them are available.
 */
bool xplane_is_chain(const struct xplane_level *level, const uint8_t *p, size_t n, uint64_t room);

/* Moves the cursor to the next position that looks like fields of this level. PB_DONE: the message ends there, whatever length it
 * states. PB_CUT: the input ends. */
enum pb_status xplane_resync(struct pb_in *s, const struct xplane_level *level, struct xplane_extent *extent);
/* If a chain of fields of this level begins at the field that pb_in_next returned last, moves the cursor back to this field and
 * returns true. */
bool xplane_step_back(struct pb_in *s, const struct xplane_level *level, uint64_t end);
/* Returns true if this field is a message of this level with a damaged tag. *f then becomes the repaired field, and the cursor
 * is at its content. `was`: the field as read; NULL = it could not be read. */
bool xplane_retag(struct pb_in *s, const struct xplane_level *level, uint64_t end, const struct pb_field *was, struct pb_field *f);

#endif

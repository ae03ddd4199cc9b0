/* mangled.h - recognises protobuf files damaged by a text filter that replaced bytes above 0x7f by U+FFFD.
 *
 * It is not enough that all such bytes of a file are U+FFFD: a trace of small numbers may have names that contain it. The proof
 * is that a filter writes three bytes for one into tags, lengths and values, after which the lengths of the surrounding
 * messages are wrong. A file is refused only if both are found, a number that contains a replacement and a damaged message, so
 * valid files are never refused. */
#ifndef FORMAT_MANGLED_H
#define FORMAT_MANGLED_H

#include "format/pb.h"

enum { MANGLED_LOOK = 64 << 10 }; /* number of bytes that is sufficient */

/* Field types of a message. */
struct pb_shape {
  const char *wires; /* wire type of each field by its number, as a digit; '-' = any. Further fields are unknown */
  const struct pb_shape *const *inner; /* by number: message type of the field, or NULL; NULL = no field contains a message */
};

enum mangled_damage {
  PB_SOUND,  /* no damage is visible, or bytes above 0x7f remain that such a filter would have replaced */
  PB_BROKEN, /* a message is damaged */
  PB_MANGLED /* the same, and a number contains a replacement */
};

/* Examines the first bytes of a file. `last`: the input ends after them. */
enum mangled_damage mangled_damage(const struct pb_shape *file, const uint8_t *p, size_t n, bool last);

#endif

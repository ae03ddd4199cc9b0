/* mangled.h - recognises protobuf files damaged by a text filter that replaced bytes above 0x7f with U+FFFD.
 *
 * A file in which all bytes above 0x7f belong to U+FFFD may still be valid: a trace with small numbers may have names that contain this
 * character. But a filter also replaces one byte of a tag, length or value with three bytes, which makes the lengths of the surrounding
 * messages wrong. A file is refused only if it has both a number that contains a replacement and a damaged message, so valid files are
 * never refused. */
#ifndef FORMAT_MANGLED_H
#define FORMAT_MANGLED_H

#include "format/pb.h"

enum { MANGLED_LOOK = 64 << 10 }; /* number of bytes that must be examined */

/* Field types of a message. */
struct pb_shape {
  const char *wires; /* by field number, a digit: its wire type; '-' = any. Later fields are unknown */
  const struct pb_shape *const *inner; /* by field number: type of its message, or NULL; NULL = no field contains a message */
};

enum mangled_damage {
  PB_SOUND,  /* no damage is visible, or there are bytes above 0x7f, which a filter would have replaced */
  PB_BROKEN, /* some message is damaged */
  PB_MANGLED /* some message is damaged, and a number contains a replacement */
};

/* Examines the first bytes of a file. `last`: these are all bytes of the file. */
enum mangled_damage mangled_damage(const struct pb_shape *file, const uint8_t *p, size_t n, bool last);

#endif

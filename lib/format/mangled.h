/* mangled.h - did a text filter damage a protobuf, which replaced bytes above 0x7f by U+FFFD?
 *
 * That all such bytes of a file are U+FFFD proves nothing: a trace of small numbers may have names that hold it.  The proof is that a
 * filter writes three bytes for one into tags, lengths and values, after which the lengths of the messages around them are wrong.
 * A file is refused when both are seen, a number that holds a replacement and a message that breaks: what is sound never is. */
#ifndef FORMAT_MANGLED_H
#define FORMAT_MANGLED_H

#include "format/pb.h"

enum { MANGLED_LOOK = 64 << 10 }; /* bytes that are enough */

/* What fields a message has. */
struct pb_shape {
  const char *wires; /* the digit of the wire type of each by its number, '-' = of any; further ones are not known */
  const struct pb_shape *const *inner; /* by number: the message that it holds, NULL = none; NULL = no field holds one */
};

enum pb_damage {
  PB_SOUND,  /* as far as can be seen, or bytes above 0x7f are not as such a filter leaves them */
  PB_BROKEN, /* a message breaks */
  PB_MANGLED /* ... and a number holds a replacement */
};

/* Of a file that begins like this.  `last`: the input ends behind these bytes. */
enum pb_damage pb_damage(const struct pb_shape *file, const uint8_t *p, size_t n, bool last);

#endif

/* utf8.h - what is well-formed UTF-8 (Unicode, table 3-7). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed sequence at p, of which n > 0 bytes are there; 0 = there is none. */
unsigned utf8_sequence(const uint8_t *p, size_t n);
bool utf8_valid(const uint8_t *p, size_t n);

/* Does U+FFFD, with which readers of text replace what is no UTF-8, stand at p, of which n > 0 bytes are there? */
bool utf8_is_replacement(const uint8_t *p, size_t n);
/* Are these bytes as such a reader leaves those of a binary file: UTF-8, of whose characters above U+007F most are U+FFFD?  The last
 * character may be cut. */
bool utf8_is_replaced(const uint8_t *p, size_t n);

/* The character of a well-formed sequence of n bytes. */
uint32_t utf8_char(const uint8_t *p, unsigned n);
/* Is it one that is obeyed instead of shown: a control, a mark or an override of direction, a separator of lines, an invisible tag? */
bool utf8_is_obeyed(uint32_t c);

#endif

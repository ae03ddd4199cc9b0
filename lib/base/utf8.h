/* utf8.h - what is well-formed UTF-8 (Unicode, table 3-7). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mem.h"

/* Length of the well-formed sequence at p, of which n > 0 bytes are there; 0 = there is none. */
unsigned utf8_sequence(const uint8_t *p, size_t n);
bool utf8_valid(const uint8_t *p, size_t n);
/* Appends the text to `b` with U+FFFD for each byte that is part of no well-formed sequence. */
void utf8_repair(struct buf *b, const uint8_t *p, size_t n);

#endif

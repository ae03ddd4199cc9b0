/* utf8.h - checks and converts UTF-8; well-formed means as in Unicode, table 3-7. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the length of the well-formed sequence at p, where n > 0 bytes are available; 0 if it is not well-formed. */
unsigned utf8_sequence(const uint8_t *p, size_t n);
bool utf8_valid(const uint8_t *p, size_t n);

/* True if p, with n > 0 bytes, starts with U+FFFD, which readers of text substitute for invalid UTF-8. */
bool utf8_is_replacement(const uint8_t *p, size_t n);
/* True if the bytes look like a binary file that a reader of text converted: UTF-8 in which most characters above U+007F are
 * U+FFFD. The last character may be truncated. */
bool utf8_is_replaced(const uint8_t *p, size_t n);

/* Writes a character as UTF-8; returns the number of bytes, at most 4. */
unsigned utf8_put(uint8_t *to, uint32_t c);
/* Returns the UTF-16 character at p, where n >= 2 bytes are available, and sets *used to its length; U+FFFD for an unpaired
 * surrogate. `big`: the high byte of a unit comes first. */
uint32_t utf8_from_16(const uint8_t *p, size_t n, bool big, size_t *used);

/* Returns the character of a well-formed sequence of n bytes. */
uint32_t utf8_char(const uint8_t *p, unsigned n);
/* True for characters that terminals interpret rather than display: controls, directional marks and overrides, line separators,
 * invisible tags. */
bool utf8_is_obeyed(uint32_t c);

#endif

/* base64.h - encodes bytes as text (RFC 4648). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "mem.h"

/* Appends the n bytes at p as base64 text, padded with '='. */
bool base64_append(struct buf *b, const uint8_t *p, size_t n);

/* Decodes n bytes of text in place and returns the number of bytes. Returns SIZE_MAX, and leaves the text unchanged, if the
 * text is not exactly in the form that base64_append writes. */
size_t base64_decode(uint8_t *p, size_t n);

#endif

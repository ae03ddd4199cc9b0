/* json_put.h - appends values to JSON that is built as text, each after `before`: ",\"rank\":". */
#ifndef FORMAT_JSON_PUT_H
#define FORMAT_JSON_PUT_H

#include "base/int128.h"
#include "base/mem.h"

void json_put_int(struct buf *b, const char *before, int64_t v);
void json_put_uint(struct buf *b, const char *before, uint64_t v);
/* Microseconds, exact to the picosecond. */
void json_put_us(struct buf *b, const char *before, i128 ps);
/* A text in quotes; one that is not UTF-8, such as the name of a file, becomes "?". */
void json_put_text(struct buf *b, const char *before, const char *text);

#endif

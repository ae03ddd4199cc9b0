/* json_put.h - appends values to JSON text. `before`: text to append first, such as ",\"rank\":". */
#ifndef FORMAT_JSON_PUT_H
#define FORMAT_JSON_PUT_H

#include "base/int128.h"
#include "base/mem.h"

void json_put_int(struct buf *b, const char *before, int64_t v);
void json_put_uint(struct buf *b, const char *before, uint64_t v);
/* Appends ps as microseconds, exact to the picosecond. */
void json_put_us(struct buf *b, const char *before, i128 ps);
/* Appends a string with quotes. If it is not valid UTF-8 (the name of a file may have any bytes), appends "?" instead. */
void json_put_text(struct buf *b, const char *before, const char *text);

#endif

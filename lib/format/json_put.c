/* json_put.c - appends values to JSON text (json_put.h). */
#include "json_put.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "json.h"

void json_put_int(struct buf *b, const char *before, int64_t v) {
  char text[24];
  buf_text(b, before);
  buf_append(b, text, num_put_i64(text, v));
}

void json_put_uint(struct buf *b, const char *before, uint64_t v) {
  char text[24];
  buf_text(b, before);
  buf_append(b, text, num_put_u64(text, v));
}

void json_put_us(struct buf *b, const char *before, i128 ps) {
  char text[48];
  buf_text(b, before);
  buf_append(b, text, num_put_us(text, ps));
}

void json_put_text(struct buf *b, const char *before, const char *text) {
  const size_t n = strlen(text);
  buf_text(b, before);
  if (utf8_valid((const uint8_t *)text, n)) json_quote(b, text, n);
  else buf_text(b, "\"?\"");
}

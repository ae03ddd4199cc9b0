/* json_text.c - decodes and encodes JSON strings: escapes and UTF-8. */
#include <string.h>

#include "json.h"

/* ---- errors and repairs ---- */

bool json_bad(struct json *j, const uint8_t *at, const char *why) {
  if (j->status != JSON_OK) return false;
  j->status = JSON_BAD;
  j->at = at;
  j->why = why;
  return false;
}

void json_fix(struct json *j, const uint8_t *at, const char *text) {
  if (j->n_fixes < JSON_FIXES) j->fixes[j->n_fixes++] = (struct json_fix){text, at, false};
}

void json_remark(struct json *j, const uint8_t *at, const char *text) {
  if (j->n_fixes < JSON_FIXES) j->fixes[j->n_fixes++] = (struct json_fix){text, at, true};
}

/* ---- escapes ---- */

static int hex4(const uint8_t *p, size_t n) {
  int v = 0;
  if (n < 4) return -1;
  for (int i = 0; i < 4; i++) {
    uint8_t c = p[i], low = c | 32;
    int digit = c >= '0' && c <= '9' ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
    if (digit < 0) return -1;
    v = v << 4 | digit;
  }
  return v;
}

static uint8_t *put_utf8(uint8_t *q, uint32_t c) {
  if (c < 0x80) {
    *q++ = (uint8_t)c;
  } else if (c < 0x800) {
    *q++ = (uint8_t)(0xc0 | c >> 6);
    *q++ = (uint8_t)(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    *q++ = (uint8_t)(0xe0 | c >> 12);
    *q++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    *q++ = (uint8_t)(0x80 | (c & 0x3f));
  } else {
    *q++ = (uint8_t)(0xf0 | c >> 18);
    *q++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    *q++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    *q++ = (uint8_t)(0x80 | (c & 0x3f));
  }
  return q;
}

enum { REPLACEMENT = 0xfffd };

/* Decodes \uXXXX at p (p[0] == '\\', p[1] == 'u'), including the second half of a surrogate pair. Returns the number of bytes
 * used. */
static size_t unicode_escape(struct json *j, const uint8_t *p, size_t n, uint32_t *c) {
  int hi = hex4(p + 2, n - 2), lo;
  if (hi < 0) {
    json_fix(j, p, "\\u without four hex digits: kept as text");
    *c = '\\';
    return 1;
  }
  *c = (uint32_t)hi;
  if (hi < 0xd800 || hi > 0xdfff) return 6;
  lo = n >= 12 && p[6] == '\\' && p[7] == 'u' ? hex4(p + 8, n - 8) : -1;
  if (hi < 0xdc00 && lo >= 0xdc00 && lo <= 0xdfff) {
    *c = 0x10000 + ((uint32_t)(hi - 0xd800) << 10) + (uint32_t)(lo - 0xdc00);
    return 12;
  }
  json_fix(j, p, "half of a surrogate pair: replaced by U+FFFD");
  *c = REPLACEMENT;
  return 6;
}

static const char ESCAPES[] = "\"\\/bfnrt", ESCAPED[] = "\"\\/\b\f\n\r\t";

/* True for a string whose producer did not escape backslashes, such as the path C:\new\data: some backslash has no valid escape, and
 * none escapes a backslash, a slash or a quote. The other escapes in such a string are only parts of the path. */
static bool is_raw(const uint8_t *p, const uint8_t *end) {
  bool any = false;
  for (; (p = memchr(p, '\\', (size_t)(end - p))) && end - p >= 2; p += 2) {
    if (p[1] == '"' || p[1] == '\\' || p[1] == '/') return false;
    any |= p[1] == 'u' ? hex4(p + 2, (size_t)(end - p - 2)) < 0 : !p[1] || !strchr(ESCAPES, p[1]);
    if (end - p == 2) return any;
  }
  return any;
}

static size_t keep_backslash(struct json *j, const uint8_t *p, uint32_t *c) {
  json_fix(j, p, "backslash without a valid escape: kept as text");
  *c = '\\';
  return 1;
}

/* Decodes the escape at p; returns the number of bytes used. */
static size_t escape(struct json *j, const uint8_t *p, size_t n, uint32_t *c) {
  const char *at;
  if (n >= 2 && p[1] == 'u') return unicode_escape(j, p, n, c);
  at = n >= 2 && p[1] ? strchr(ESCAPES, p[1]) : NULL;
  if (!at) return keep_backslash(j, p, c);
  *c = (uint8_t)ESCAPED[at - ESCAPES];
  return 2;
}

bool json_decode(struct json *j, const uint8_t *p, size_t n, struct buf *out) {
  const uint8_t *end = p + n;
  uint8_t *q = buf_reserve(out, n * 3 + 8); /* an invalid byte becomes the three bytes of U+FFFD */
  if (!q) return json_bad(j, p, "out of memory");
  const bool raw = is_raw(p, end);
  while (p < end) {
    uint32_t c;
    unsigned len;
    if (*p == '\\') {
      p += raw ? keep_backslash(j, p, &c) : escape(j, p, (size_t)(end - p), &c);
      q = put_utf8(q, c);
      continue;
    }
    if (*p < 0x20) json_fix(j, p, "raw control character in a string: escaped");
    len = utf8_sequence(p, (size_t)(end - p));
    if (len) {
      memcpy(q, p, len);
      p += len;
      q += len;
      continue;
    }
    json_fix(j, p, "invalid UTF-8: replaced by U+FFFD");
    q = put_utf8(q, REPLACEMENT);
    for (p++; p < end && (*p & 0xc0) == 0x80; p++) {}
  }
  out->len = (size_t)(q - out->data);
  return true;
}

bool json_clean(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\') return false;
  return true;
}

size_t json_escape(uint8_t *out, const uint8_t *p, size_t n) {
  static const char hex[] = "0123456789abcdef", names[] = "btn\0fr"; /* the escapes of 8, 9, 10, 12 and 13 */
  uint8_t *q = out;
  for (size_t i = 0; i < n; i++) {
    uint8_t c = p[i];
    if (c >= 0x20 && c != '"' && c != '\\') {
      *q++ = c;
      continue;
    }
    *q++ = '\\';
    if (c >= 0x20) {
      *q++ = c;
    } else if (c >= 8 && c <= 13 && c != 11) {
      *q++ = (uint8_t)names[c - 8];
    } else {
      memcpy(q, "u00", 3);
      q[3] = (uint8_t)hex[c >> 4];
      q[4] = (uint8_t)hex[c & 15];
      q += 5;
    }
  }
  return (size_t)(q - out);
}

bool json_quote(struct buf *out, const void *text, size_t n) {
  uint8_t *q = buf_reserve(out, n * 6 + 2);
  if (!q) return false;
  q[0] = '"';
  n = json_escape(q + 1, text, n);
  q[n + 1] = '"';
  out->len += n + 2;
  return true;
}

/* json.c - see json.h. Everything outside printable ASCII is escaped, so that the output is valid JSON for any input bytes,
 * and safe on a terminal. */
#include "json.h"

#include <string.h>

static void quote(struct json *j, const char *text, size_t n);

/* Writes bytes with the unlocked functions of stdio, because a large report is mostly keys and spaces: 146 MB take 0.8 s of
 * CPU, with fputc and fprintf 2.0 s. Only one thread prints. */
static void put_bytes(struct json *j, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) putc_unlocked(text[i], j->to);
}

static void new_line(struct json *j) {
  static const char spaces[] = "\n                                ";
  const size_t n = (size_t)j->depth * 2;
  if (j->flat) return;
  if (n < sizeof spaces - 1) put_bytes(j, spaces, n + 1);
  else fprintf(j->to, "\n%*s", (int)n, "");
}

static void begin(struct json *j, const char *key) {
  if (j->more) put_bytes(j, ", ", j->flat ? 2 : 1);
  if (j->depth > 0) new_line(j);
  j->more = true;
  if (!key) return;
  quote(j, key, strlen(key));
  put_bytes(j, ": ", 2);
}

void json_open(struct json *j, const char *key, char bracket) {
  begin(j, key);
  putc_unlocked(bracket, j->to);
  j->depth++;
  j->more = false;
}

void json_close(struct json *j, char bracket) {
  j->depth--;
  if (j->more) new_line(j);
  putc_unlocked(bracket, j->to);
  j->more = true;
  if (j->depth == 0) fputc('\n', j->to);
}

void json_uint(struct json *j, const char *key, uint64_t n) {
  begin(j, key);
  fprintf(j->to, "%llu", (unsigned long long)n);
}

void json_int(struct json *j, const char *key, int64_t n) {
  begin(j, key);
  fprintf(j->to, "%lld", (long long)n);
}

void json_bool(struct json *j, const char *key, bool b) {
  begin(j, key);
  fputs(b ? "true" : "false", j->to);
}

void json_raw(struct json *j, const char *key, const char *text) {
  begin(j, key);
  put_bytes(j, text, strlen(text));
}

void json_null(struct json *j, const char *key) {
  begin(j, key);
  fputs("null", j->to);
}

void json_milli(struct json *j, const char *key, uint64_t n) {
  begin(j, key);
  fprintf(j->to, "%llu.%03u", (unsigned long long)(n / 1000), (unsigned)(n % 1000));
}

static void unit(FILE *to, uint32_t code) {
  if (code >= 0x10000) {
    fprintf(to, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (code >> 10)), (unsigned)(0xdc00 + (code & 0x3ff)));
  } else {
    fprintf(to, "\\u%04x", (unsigned)code);
  }
}

/* Decodes one code point of s. Returns its length in bytes; an invalid byte is decoded as U+FFFD. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *code) {
  size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
  *code = 0xfffd;
  if (len == 1) *code = s[0];
  if (len < 2 || len > n || s[0] > 0xf4) return 1;
  uint32_t c = s[0] & (0xff >> (len + 1));
  for (size_t i = 1; i < len; i++) {
    if ((s[i] & 0xc0) != 0x80) return 1;
    c = c << 6 | (s[i] & 0x3f);
  }
  if ((len == 3 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) || (len == 4 && (c < 0x10000 || c > 0x10ffff))) return 1;
  *code = c;
  return len;
}

/* Returns the number of bytes at the start of s that need no escape. */
static size_t plain(const unsigned char *s, size_t n) {
  size_t i = 0;
  while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '\\') i++;
  return i;
}

static void quote(struct json *j, const char *text, size_t n) {
  const unsigned char *s = (const unsigned char *)text, *const end = s + n;
  putc_unlocked('"', j->to);
  while (s < end) {
    uint32_t code;
    const size_t run = plain(s, (size_t)(end - s));
    if (run > 0) put_bytes(j, (const char *)s, run);
    s += run;
    if (s == end) break;
    s += decode(s, (size_t)(end - s), &code);
    if (code == '"' || code == '\\') fprintf(j->to, "\\%c", (int)code);
    else unit(j->to, code);
  }
  putc_unlocked('"', j->to);
}

void json_text(struct json *j, const char *key, const char *text, size_t n) {
  begin(j, key);
  quote(j, text, n);
}

void json_string(struct json *j, const char *key, const char *text) { json_text(j, key, text, strlen(text)); }

/* json.h - JSON tokens in, JSON text out.
 *
 * The scanner works on a window of the input.  When it needs bytes beyond the window it stops with JSON_MORE and the caller comes
 * back with a larger window from the same start; on a fault it stops with JSON_BAD, where and why.  Nothing recurses.
 *
 * It reads what trace producers write, not only what RFC 8259 allows: each such repair is listed in `fixes` and becomes a note of
 * the trace when the caller accepts what was read.  Text that it gives out is always valid UTF-8 or valid JSON. */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include "base/num.h"
#include "base/utf8.h"
#include "base/mem.h"

enum json_status { JSON_OK, JSON_MORE, JSON_BAD };

struct json_fix {
  const char *text; /* static */
  const uint8_t *at;
  bool harmless; /* worth a remark, but every reader agrees on what it means */
};
enum { JSON_FIXES = 16, JSON_DEPTH = 512 };

struct json {
  const uint8_t *p, *end; /* the window; readable zeros follow */
  bool last;              /* the input ends where the window does */
  enum json_status status;
  const char *why; /* static */
  const uint8_t *at;
  struct json_fix fixes[JSON_FIXES];
  unsigned n_fixes;
  struct buf scratch; /* decoded strings */
};

/* A string as it stands between its quotes. */
struct json_string {
  const uint8_t *p;
  size_t n;
  bool plain; /* no escape, no control character: the bytes are the text, if they are UTF-8 */
};

enum json_type { JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
  enum json_type type;
  struct num num;         /* NUMBER */
  const uint8_t *p, *end; /* the value's text */
  struct json_string str; /* STRING */
  bool fixed;             /* a repair made it what it is */
};

static inline bool json_is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* All of these return false unless status is JSON_OK. */
bool json_bad(struct json *j, const uint8_t *at, const char *why);
void json_fix(struct json *j, const uint8_t *at, const char *text);
void json_remark(struct json *j, const uint8_t *at, const char *text);
/* The window ends too soon: MORE, or BAD "the input ends here" if it is the last. */
bool json_need_more(struct json *j);
/* Skips blanks; false at the end of the window, as json_need_more says. */
static inline bool json_blank(struct json *j) {
  while (json_is_space(*j->p)) j->p++; /* the zeros behind the window stop it */
  return j->p < j->end || json_need_more(j);
}
/* A member's key and its colon. */
bool json_key(struct json *j, struct json_string *key);
/* Any value; of arrays and objects only the extent is found. */
bool json_value(struct json *j, struct json_value *v);
/* Passes over a value of any depth, looking only at strings and brackets. */
bool json_skip(struct json *j);
/* Appends the value at j as strict compact JSON: numbers as they were printed, strings as raw UTF-8. */
bool json_copy(struct json *j, struct buf *out);

/* The text of a string: its own bytes if plain and valid, else decoded into j->scratch (valid until the next call). */
const uint8_t *json_string_text(struct json *j, const struct json_string *s, size_t *n);
/* Does the string say `text`? */
bool json_is(struct json *j, const struct json_string *s, const char *text);

/* The whole number that a value's text is, rounded if it has a fraction; in quotes or not. */
bool json_whole(const char *text, size_t n, int64_t *out);

/* The value of member `key` of the object in text[0, n), which is JSON that json_copy wrote; false if it has none. */
bool json_member(const char *text, size_t n, const char *key, struct json_value *v);

/* ---- text (json_text.c) ---- */

/* Decodes escapes, replaces what is not UTF-8 by U+FFFD, lists repairs.  Appends to out. */
bool json_decode(struct json *j, const uint8_t *p, size_t n, struct buf *out);
/* Appends text as a JSON string with its quotes. */
bool json_quote(struct buf *out, const void *text, size_t n);
/* The escaped form without quotes, at most 6 n bytes, into out; returns the length. */
size_t json_escape(uint8_t *out, const uint8_t *p, size_t n);
/* True if the text needs no escape. */
bool json_clean(const uint8_t *p, size_t n);

/* The largest integer up to which readers that hold numbers as doubles, as browsers do, tell all apart: 2^53. */
#define JSON_SAFE_INT (UINT64_C(1) << 53)

#endif

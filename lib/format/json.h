/* json.h - scans JSON tokens and writes JSON text.
 *
 * The scanner works on a window of the input. If it needs bytes beyond the window, it stops with JSON_MORE, and the caller
 * retries with a larger window from the same start. On an error it stops with JSON_BAD, the position and the reason. Nothing
 * recurses.
 *
 * It accepts what trace producers write, not only what RFC 8259 allows. Each such repair is listed in `fixes` and becomes a
 * note of the trace if the caller accepts the value. Text that it returns is always valid UTF-8 or valid JSON. */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include "base/num.h"
#include "base/utf8.h"
#include "base/mem.h"

enum json_status { JSON_OK, JSON_MORE, JSON_BAD };

struct json_fix {
  const char *text; /* static string */
  const uint8_t *at;
  bool harmless; /* worth a remark, but every reader agrees on the meaning */
};
enum { JSON_FIXES = 16, JSON_DEPTH = 512 };

struct json {
  const uint8_t *p, *end; /* the window; readable zeros follow */
  bool last;              /* the window extends to the end of the input */
  bool member;            /* a member's value follows, and after it a comma only before a key: 7,5 is one number */
  enum json_status status;
  const char *why; /* static string */
  const uint8_t *at;
  struct json_fix fixes[JSON_FIXES];
  unsigned n_fixes;
  struct buf scratch; /* decoded strings */
};

/* A string between its quotes, undecoded. */
struct json_string {
  const uint8_t *p;
  size_t n;
  bool plain; /* no escapes or control characters: the bytes are the text, if they are UTF-8 */
};

enum json_type { JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
  enum json_type type;
  struct num num;         /* NUMBER */
  const uint8_t *p, *end; /* the value's text */
  struct json_string str; /* STRING */
  bool fixed;             /* the result of a repair */
};

static inline bool json_is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* All of these return false unless status is JSON_OK. */
bool json_bad(struct json *j, const uint8_t *at, const char *why);
void json_fix(struct json *j, const uint8_t *at, const char *text);
void json_remark(struct json *j, const uint8_t *at, const char *text);
/* Handles a window that ends too soon: MORE, or BAD "the input ends here" if it is the last. */
bool json_need_more(struct json *j);
/* Skips whitespace; at the end of the window returns false as json_need_more does. */
static inline bool json_blank(struct json *j) {
  while (json_is_space(*j->p)) j->p++; /* the zeros after the window stop it */
  return j->p < j->end || json_need_more(j);
}
/* Scans a member's key and its colon. */
bool json_key(struct json *j, struct json_string *key);
/* Scans any value; for arrays and objects, finds only the extent. */
bool json_value(struct json *j, struct json_value *v);
/* Skips a value of any depth, checking only strings and brackets. */
bool json_skip(struct json *j);
/* Appends the value at j as strict compact JSON: numbers as spelled, strings as raw UTF-8. */
bool json_copy(struct json *j, struct buf *out);

/* Returns the text of a string: its own bytes if plain and valid, otherwise decoded into j->scratch (valid until the next
 * call). */
const uint8_t *json_string_text(struct json *j, const struct json_string *s, size_t *n);
/* True if the string equals `text`. */
bool json_is(struct json *j, const struct json_string *s, const char *text);

/* Converts a value's text to an integer, rounding a fraction; accepts quotes. */
bool json_whole(const char *text, size_t n, int64_t *out);

/* Finds the member `key` of the object in text[0, n), which must be JSON written by json_copy; false if missing. */
bool json_member(const char *text, size_t n, const char *key, struct json_value *v);

/* ---- text (json_text.c) ---- */

/* Decodes escapes, replaces invalid UTF-8 by U+FFFD and lists repairs. Appends to out. */
bool json_decode(struct json *j, const uint8_t *p, size_t n, struct buf *out);
/* Appends text as a JSON string with its quotes. */
bool json_quote(struct buf *out, const void *text, size_t n);
/* Writes the escaped form without quotes, at most 6 n bytes, to out; returns its length. */
size_t json_escape(uint8_t *out, const uint8_t *p, size_t n);
/* True if the text needs no escape. */
bool json_clean(const uint8_t *p, size_t n);

/* Largest integer up to which doubles, as in browsers, distinguish all integers: 2^53. */
#define JSON_SAFE_INT (UINT64_C(1) << 53)

#endif

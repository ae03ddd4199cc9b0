/* json.h - scans JSON tokens and writes JSON text.
 *
 * The scanner works on a window of the input. If it needs bytes beyond the window, it stops with JSON_MORE; the caller then calls it
 * again with a larger window that has the same start. On an error it stops with JSON_BAD, the position and the reason. No function is
 * recursive.
 *
 * It accepts all text that trace producers write, even if RFC 8259 does not allow it. Each such repair is listed in `fixes` and becomes
 * a note of the trace if the caller accepts the value. Text that it returns is always valid UTF-8 or valid JSON. */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include "base/num.h"
#include "base/utf8.h"
#include "base/mem.h"

enum json_status { JSON_OK, JSON_MORE, JSON_BAD };

struct json_fix {
  const char *text; /* a string literal */
  const uint8_t *at;
  bool harmless; /* worth a note, although every reader interprets it in the same way */
};
enum { JSON_FIXES = 16, JSON_DEPTH = 512 };

struct json {
  const uint8_t *p, *end; /* the window, followed by readable zeros */
  bool last;              /* true if the window extends to the end of the input */
  bool member;            /* true if a member's value follows; a comma can then only precede a key, so 7,5 is one number */
  enum json_status status;
  const char *why; /* reason for JSON_BAD, a string literal */
  const uint8_t *at;
  struct json_fix fixes[JSON_FIXES];
  unsigned n_fixes;
  struct buf scratch; /* decoded strings */
};

/* A string without its quotes, not decoded. */
struct json_string {
  const uint8_t *p;
  size_t n;
  bool plain; /* true if it has no escapes or control characters, so that the text equals the bytes, if they are valid UTF-8 */
};

enum json_type { JSON_NULL, JSON_TRUE, JSON_FALSE, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_value {
  enum json_type type;
  struct num num;         /* for NUMBER */
  const uint8_t *p, *end; /* the value's text */
  struct json_string str; /* for STRING */
  bool fixed;             /* true if the value was repaired */
};

static inline bool json_is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* All of these functions return false unless status is JSON_OK. json_bad records an error at `at`. */
bool json_bad(struct json *j, const uint8_t *at, const char *why);
void json_fix(struct json *j, const uint8_t *at, const char *text);
void json_remark(struct json *j, const uint8_t *at, const char *text);
/* Handles the end of the window: sets JSON_MORE, or JSON_BAD "the input ends here" if it is the last window. */
bool json_need_more(struct json *j);
/* Skips whitespace. At the end of the window, does the same as json_need_more. */
static inline bool json_blank(struct json *j) {
  while (json_is_space(*j->p)) j->p++; /* stops at the latest at the zeros after the window */
  return j->p < j->end || json_need_more(j);
}
/* Returns the end of the comment at p, as in JavaScript or in a shell: after the line or after the closing mark. Returns NULL if none
 * starts at p, or if it does not end before `end`; with `last`, a line also ends there. */
const uint8_t *json_comment_end(const uint8_t *p, const uint8_t *end, bool last);
/* Scans a member's key and its colon. */
bool json_key(struct json *j, struct json_string *key);
/* Scans any value. For an array or object, only finds where it ends. */
bool json_value(struct json *j, struct json_value *v);
/* Skips a value of any depth; only checks its strings and brackets. */
bool json_skip(struct json *j);
/* Appends the value at j as compact, strict JSON. Numbers keep their spelling, and strings are in UTF-8 without unnecessary
 * escapes. */
bool json_copy(struct json *j, struct buf *out);

/* Returns the text of a string: its own bytes if it is plain and valid, otherwise the text decoded into j->scratch. Valid until
 * the next call. */
const uint8_t *json_string_text(struct json *j, const struct json_string *s, size_t *n);
/* True if the string equals `text`. */
bool json_is(struct json *j, const struct json_string *s, const char *text);

/* Converts a value's text to an integer; rounds a fraction, and accepts quotes. Returns false if it is not a number. */
bool json_whole(const char *text, size_t n, int64_t *out);

/* Finds the member `key` of the object in text[0, n), which json_copy must have written. Returns false if it is missing. */
bool json_member(const char *text, size_t n, const char *key, struct json_value *v);

/* ---- text (json_text.c) ---- */

/* Decodes escapes, replaces invalid UTF-8 with U+FFFD and lists repairs. Appends the result to `out`. */
bool json_decode(struct json *j, const uint8_t *p, size_t n, struct buf *out);
/* Appends text as a JSON string with its quotes. */
bool json_quote(struct buf *out, const void *text, size_t n);
/* Writes the text with escapes but without quotes, at most 6 n bytes, to `out`; returns its length. */
size_t json_escape(uint8_t *out, const uint8_t *p, size_t n);
/* True if the text needs no escapes in JSON. */
bool json_clean(const uint8_t *p, size_t n);

/* Largest integer up to which doubles represent all integers, which matters for browsers: 2^53. */
#define JSON_SAFE_INT (UINT64_C(1) << 53)

#endif

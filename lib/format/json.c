/* json.c - scans JSON. See json.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "json.h"

#include <string.h>

bool json_need_more(struct json *j) {
  if (j->last) return json_bad(j, j->end, "the input ends here");
  if (j->status == JSON_OK) j->status = JSON_MORE;
  return false;
}

/* ---- strings ---- */

/* Returns the first quote, backslash or control character at or after p. Tests eight bytes at a time: a byte below 0x20 causes
 * a borrow in the subtraction, and an equal byte becomes zero in the exclusive or. */
static const uint8_t *string_stop(const uint8_t *p) {
  const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
  for (;; p += 8) {
    uint64_t w, q, b, hit;
    memcpy(&w, p, 8);
    q = w ^ ones * '"';
    b = w ^ ones * '\\';
    hit = (((w - ones * 0x20) & ~w) | ((q - ones) & ~q) | ((b - ones) & ~b)) & high;
    if (!hit) continue;
    while (*p != '"' && *p != '\\' && *p >= 0x20) p++;
    return p;
  }
}

/* True if the quote at q ends a value, that is, if a comma, a bracket or the end follows. */
static bool ends_value(struct json *j, const uint8_t *q) {
  const uint8_t *r = q + 1;
  while (json_is_space(*r)) r++;
  if (r >= j->end) return j->last || json_need_more(j);
  return *r == ',' || *r == '}' || *r == ']';
}

/* Returns the closing brace in the same line if the value whose text begins at p is a dict in raw quotes, such as the file name of code
 * that torch.compile generated: "{"device": "cpu"}(12): run". Otherwise returns NULL. */
static const uint8_t *end_of_dict(struct json *j, const uint8_t *p) {
  enum { LONGEST = 512 }; /* limit, so that many strings that begin like this are read in linear time */
  const uint8_t *most = j->end - p > LONGEST ? p + LONGEST : j->end;
  if (p[0] != '{' || p[1] != '"') return NULL;
  while (p < most && *p != '}' && *p != '\n') p++;
  if (p >= j->end && !j->last) json_need_more(j);
  return p < most && *p == '}' ? p : NULL;
}

/* True if the comma after the quote at q is part of a call in raw quotes, such as the line of code lib = Library("a", "b"): a string
 * and a parenthesis follow. */
static bool is_in_call(struct json *j, const uint8_t *q) {
  enum { LONGEST = 256 }; /* limit, so that strings with many raw quotes are read in linear time */
  const uint8_t *most = j->end - q > LONGEST ? q + LONGEST : j->end, *p = q + 1;
  if (p >= most || *p++ != ',') return false;
  while (p < most && json_is_space(*p)) p++;
  if (p >= most || *p != '"') return false;
  for (p++; p < most && *p != '"' && *p != '\n';) p++;
  if (p + 1 >= j->end && !j->last) json_need_more(j);
  return p + 1 < most && p[0] == '"' && p[1] == ')';
}

/* Scans the string whose opening quote is at j->p. Some producers do not escape quotes inside values. An unescaped quote counts as part
 * of the value unless a comma, a bracket or the end follows; once a value has one, a comma in a call does not end it. After a line
 * break, this applies only to a quote directly before the closing quote, so that a missing comma cannot make the rest of the file part
 * of a string. */
static bool scan_string(struct json *j, struct json_string *s, bool is_value) {
  const uint8_t *p = j->p + 1, *newline = NULL;
  bool raw_quotes = false;
  s->p = p;
  s->plain = true;
  for (;;) {
    p = string_stop(p);
    if (p >= j->end) return json_need_more(j);
    if (*p == '"') {
      if (!is_value || (ends_value(j, p) && !(raw_quotes && is_in_call(j, p)))) break;
      if (j->status != JSON_OK) return false;
      raw_quotes = true;
      if (newline && (p[1] != '"' || !ends_value(j, p + 1)))
        return j->status == JSON_OK && json_bad(j, newline, "text after a string");
      const uint8_t *dict = p == s->p + 1 ? end_of_dict(j, s->p) : NULL;
      if (j->status != JSON_OK) return false;
      s->plain = false;
      json_fix(j, p, "unescaped quote inside a string");
      p = dict ? dict : p + 1;
    } else if (*p == '\\') {
      s->plain = false;
      p += 2;
    } else {
      if (*p == '\n') newline = p;
      s->plain = false;
      p++;
    }
  }
  s->n = (size_t)(p - s->p);
  j->p = p + 1;
  return true;
}

static bool is_letter(uint8_t c) { return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_'; }

/* Scans a key without quotes, or without its first quote. */
static bool scan_bare_key(struct json *j, struct json_string *key) {
  const uint8_t *from = j->p, *p = from;
  if (!is_letter(*p)) return json_bad(j, from, "expected a key");
  while (p < j->end && (is_letter(*p) || (*p >= '0' && *p <= '9'))) p++;
  *key = (struct json_string){.p = from, .n = (size_t)(p - from), .plain = true};
  if (p < j->end && *p == '"') p++;
  const uint8_t *colon = p;
  while (colon < j->end && json_is_space(*colon)) colon++;
  if (colon >= j->end) return json_need_more(j);
  if (*colon != ':') return json_bad(j, from, "expected a key");
  json_fix(j, from, "key without quotes");
  j->p = p;
  return true;
}

const uint8_t *json_comment_end(const uint8_t *p, const uint8_t *end, bool last) {
  const size_t n = (size_t)(end - p);
  if (n > 1 && p[0] == '/' && p[1] == '*') {
    const uint8_t *close = memmem(p + 2, n - 2, "*/", 2);
    return close ? close + 2 : NULL;
  }
  if (n < 2 || (*p != '#' && (p[0] != '/' || p[1] != '/'))) return NULL;
  const uint8_t *line = memchr(p, '\n', n);
  return line ? line + 1 : last ? end : NULL;
}

bool json_key(struct json *j, struct json_string *key) {
  if (!json_blank(j)) return false;
  if (*j->p != '"' ? !scan_bare_key(j, key) : !scan_string(j, key, false)) return false;
  if (!json_blank(j)) return false;
  if (*j->p != ':') return json_bad(j, j->p, "expected ':' after a key");
  j->p++;
  return j->member = true;
}

const uint8_t *json_string_text(struct json *j, const struct json_string *s, size_t *n) {
  *n = s->n;
  if (s->plain && utf8_valid(s->p, s->n)) return s->p;
  j->scratch.len = 0;
  if (!json_decode(j, s->p, s->n, &j->scratch)) *n = 0;
  else *n = j->scratch.len;
  return j->scratch.data;
}

bool json_is(struct json *j, const struct json_string *s, const char *text) {
  size_t n = strlen(text), m;
  if (s->plain) return s->n == n && memcmp(s->p, text, n) == 0;
  const uint8_t *p = json_string_text(j, s, &m);
  return m == n && memcmp(p, text, n) == 0;
}

/* ---- values ---- */

bool json_skip(struct json *j) {
  uint64_t depth = 0;
  for (;;) {
    struct json_string s;
    if (!json_blank(j)) return false;
    switch (*j->p) {
    case '"':
      if (!scan_string(j, &s, false)) return false;
      break;
    case '{':
    case '[':
      depth++;
      j->p++;
      break;
    case '}':
    case ']':
      if (depth == 0) return true;
      depth--;
      j->p++;
      break;
    case ',':
      if (depth == 0) return true;
      j->p++;
      break;
    default: j->p++;
    }
    if (depth == 0 && (j->p[-1] == '"' || j->p[-1] == '}' || j->p[-1] == ']')) return true;
  }
}

struct word {
  const char *text;
  enum json_type type;
  const char *fix;  /* repair to report; NULL: the word is valid JSON */
  const char *said; /* for STRING: replacement text */
};

static const char NOT_FINITE[] = "NaN or Infinity: kept as a string";
static const char NOT_LITERAL[] = "literal of another language (True, None, undefined, (nil)): converted to JSON";
static const struct word WORDS[] = {
    {"true", JSON_TRUE, NULL, NULL},
    {"false", JSON_FALSE, NULL, NULL},
    {"null", JSON_NULL, NULL, NULL},
    {"NaN", JSON_STRING, NOT_FINITE, "NaN"},
    {"nan", JSON_STRING, NOT_FINITE, "NaN"},
    {"-nan", JSON_STRING, NOT_FINITE, "NaN"},
    {"-NaN", JSON_STRING, NOT_FINITE, "NaN"},
    {"Infinity", JSON_STRING, NOT_FINITE, "Infinity"},
    {"-Infinity", JSON_STRING, NOT_FINITE, "-Infinity"},
    {"inf", JSON_STRING, NOT_FINITE, "Infinity"},
    {"-inf", JSON_STRING, NOT_FINITE, "-Infinity"},
    {"nan(ind)", JSON_STRING, NOT_FINITE, "NaN"}, /* the C library of Windows, also before 2015 */
    {"-nan(ind)", JSON_STRING, NOT_FINITE, "NaN"},
    {"1.#QNAN", JSON_STRING, NOT_FINITE, "NaN"},
    {"-1.#IND", JSON_STRING, NOT_FINITE, "NaN"},
    {"1.#INF", JSON_STRING, NOT_FINITE, "Infinity"},
    {"-1.#INF", JSON_STRING, NOT_FINITE, "-Infinity"},
    {"True", JSON_TRUE, NOT_LITERAL, NULL},
    {"False", JSON_FALSE, NOT_LITERAL, NULL},
    {"None", JSON_NULL, NOT_LITERAL, NULL},
    {"undefined", JSON_NULL, NOT_LITERAL, NULL},
    {"(nil)", JSON_NULL, NOT_LITERAL, NULL}, /* %p of a null pointer in C */
};

/* True for characters of numbers and words, including those of "(nil)" and "1.#INF". */
static bool word_char(uint8_t c) {
  return is_letter(c) || (c >= '0' && c <= '9') || (c && strchr("+-.()#", c));
}

/* Returns the end of the word at `q`, which may contain slashes, as in "N/A", but not the slashes of a comment. */
static const uint8_t *end_of_word(const uint8_t *q) {
  while (word_char(*q) || (*q == '/' && is_letter(q[1]))) q++;
  return q;
}

static bool scan_word(struct json *j, struct json_value *v) {
  const uint8_t *q = end_of_word(j->p);
  size_t n;
  if (q + 1 >= j->end && !j->last) return json_need_more(j);
  n = (size_t)(q - j->p);
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    const struct word *w = &WORDS[i];
    if (strlen(w->text) != n || memcmp(w->text, j->p, n) != 0) continue;
    v->type = w->type;
    if (w->fix) json_fix(j, j->p, w->fix);
    v->fixed = w->fix != NULL;
    if (w->said) v->str = (struct json_string){(const uint8_t *)w->said, strlen(w->said), true};
    v->end = j->p = q;
    return true;
  }
  if (!is_letter(*j->p) || !ends_value(j, q - 1)) return j->status == JSON_OK && json_bad(j, j->p, "invalid JSON value");
  json_fix(j, j->p, "value without quotes: kept as a string");
  v->type = JSON_STRING;
  v->fixed = true;
  v->str = (struct json_string){.p = j->p, .n = n, .plain = true};
  v->end = j->p = q;
  return true;
}

static bool scan_odd_number(struct json *j, bool member, struct json_value *v) {
  const uint8_t *q;
  if (!num_odd(j->p, &q, member, &v->num) || word_char(*q)) return false;
  json_fix(j, j->p, "number that is not valid JSON, such as 7,5 or +5 or 0x1f");
  v->type = JSON_NUMBER;
  v->fixed = true;
  v->end = j->p = q;
  return true;
}

static bool scan_number(struct json *j, bool member, struct json_value *v) {
  const uint8_t *q;
  v->num = num_scan(j->p, &q);
  if (v->num.kind != NUM_NONE && !word_char(*q)) {
    if (q + member >= j->end && !(q < j->end && j->last)) return json_need_more(j); /* 12 may be the start of 1234 or 12,5 */
    if (member && *q == ',' && q[1] >= '0' && q[1] <= '9' && scan_odd_number(j, true, v)) return true;
    v->type = JSON_NUMBER;
    v->end = j->p = q;
    return true;
  }
  if (j->end - j->p < 64 && !j->last) return json_need_more(j);
  return scan_odd_number(j, member, v) || scan_word(j, v);
}

bool json_value(struct json *j, struct json_value *v) {
  const bool member = j->member;
  j->member = false;
  if (!json_blank(j)) return false;
  v->p = j->p;
  v->fixed = false;
  switch (*j->p) {
  case '"': {
    unsigned fixes = j->n_fixes;
    v->type = JSON_STRING;
    if (!scan_string(j, &v->str, true)) return false;
    v->end = j->p;
    v->fixed = j->n_fixes != fixes;
    return true;
  }
  case '{':
  case '[':
    v->type = *j->p == '{' ? JSON_OBJECT : JSON_ARRAY;
    if (!json_skip(j)) return false;
    v->end = j->p;
    return true;
  default: return scan_number(j, member, v);
  }
}

/* ---- copying ---- */

static bool append_or_fail(struct json *j, struct buf *out, const void *p, size_t n) {
  return buf_append(out, p, n) || json_bad(j, j->p, "out of memory");
}

static bool json_put_string(struct json *j, struct buf *out, const struct json_string *s) {
  size_t n;
  const uint8_t *p;
  if (s->plain && utf8_valid(s->p, s->n))
    return append_or_fail(j, out, "\"", 1) && append_or_fail(j, out, s->p, s->n) && append_or_fail(j, out, "\"", 1);
  p = json_string_text(j, s, &n);
  return json_quote(out, p, n) || json_bad(j, j->p, "out of memory");
}

static size_t json_put_number(char *text, const struct num *v) {
  if (v->kind == NUM_INT) return num_put_i64(text, v->mant);
  if (v->kind == NUM_UINT) return num_put_u64(text, (uint64_t)v->mant);
  return num_put_decimal(text, v->mant, v->exp);
}

static bool copy_scalar(struct json *j, struct buf *out) {
  struct json_value v;
  char text[96];
  if (!json_value(j, &v)) return false;
  switch (v.type) {
  case JSON_STRING: return json_put_string(j, out, &v.str);
  case JSON_NULL: return append_or_fail(j, out, "null", 4);
  case JSON_TRUE: return append_or_fail(j, out, "true", 4);
  case JSON_FALSE: return append_or_fail(j, out, "false", 5);
  default:
    if (!v.fixed) return append_or_fail(j, out, v.p, (size_t)(v.end - v.p));
    return append_or_fail(j, out, text, json_put_number(text, &v.num));
  }
}

static bool copy_key(struct json *j, struct buf *out) {
  struct json_string key;
  return json_key(j, &key) && json_put_string(j, out, &key) && append_or_fail(j, out, ":", 1);
}

/* Copies the text after a value inside a container: a comma and the next key, or a closing bracket, which decreases *depth. */
static bool copy_next(struct json *j, struct buf *out, const uint8_t *kinds, unsigned *depth, bool *closed) {
  uint8_t close = kinds[*depth - 1] == '{' ? '}' : ']';
  *closed = false;
  if (!json_blank(j)) return false;
  if (*j->p == ',') {
    j->p++;
    if (!json_blank(j)) return false;
    if (*j->p != close) return append_or_fail(j, out, ",", 1) && (close == ']' || copy_key(j, out));
    json_remark(j, j->p, "comma before a closing bracket");
  }
  if (*j->p != close) return json_bad(j, j->p, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
  j->p++;
  *closed = true;
  (*depth)--;
  return append_or_fail(j, out, &close, 1);
}

bool json_copy(struct json *j, struct buf *out) {
  uint8_t kinds[JSON_DEPTH];
  unsigned depth = 0;
  bool closed;
  for (;;) {
    if (!json_blank(j)) return false;
    bool open = *j->p == '{' || *j->p == '[';
    if (open && depth == JSON_DEPTH) {
      json_fix(j, j->p, "nested more than 512 levels deep: replaced by null");
      if (!json_skip(j) || !append_or_fail(j, out, "null", 4)) return false;
    } else if (open) {
      uint8_t c = *j->p++;
      kinds[depth++] = c;
      j->member = false;
      if (!append_or_fail(j, out, &c, 1) || !json_blank(j)) return false;
      if (*j->p != (c == '{' ? '}' : ']')) {
        if (c == '{' && !copy_key(j, out)) return false;
        continue;
      }
    } else if (!copy_scalar(j, out)) {
      return false;
    }
    for (closed = true; closed && depth;)
      if (!copy_next(j, out, kinds, &depth, &closed)) return false;
    if (depth == 0) return true;
  }
}

bool json_whole(const char *text, size_t n, int64_t *out) {
  bool quoted = n > 2 && text[0] == '"' && text[n - 1] == '"';
  i128 v;
  if (!num_scaled((const uint8_t *)text + quoted, (const uint8_t *)text + n - quoted, 0, &v)) return false;
  if (v > INT64_MAX || v < INT64_MIN) return false;
  *out = (int64_t)v;
  return true;
}

bool json_member(const char *text, size_t n, const char *key, struct json_value *v) {
  struct mem mem = {0};
  struct json j = {.p = (const uint8_t *)text, .end = (const uint8_t *)text + n, .last = true, .scratch = {.mem = &mem}};
  struct json_string k;
  bool found = false;
  if (n == 0 || *j.p != '{') return false;
  for (j.p++; !found && json_blank(&j) && *j.p == '"'; j.p += *j.p == ',') {
    if (!json_key(&j, &k) || !json_value(&j, v)) break;
    found = json_is(&j, &k, key);
    if (!found && !json_blank(&j)) break;
  }
  buf_free(&j.scratch);
  return found;
}

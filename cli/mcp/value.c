/* value.c - see value.h. */
#include "value.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 100, BLOCK = 512, MOST = 1 << 20 };

struct value_block {
  struct value_block *next;
  size_t n;
  struct value nodes[BLOCK];
};

struct scan {
  struct value_tree *tree;
  const char *p, *end;
};

/* ---- text ---- */

static bool is_cont(const char *p, const char *end) { return p < end && ((unsigned char)*p & 0xc0) == 0x80; }

/* Returns the length of the UTF-8 character at p; 0 if it is invalid. */
static size_t char_length(const char *p, const char *end) {
  const unsigned char c = (unsigned char)*p;
  const size_t n = c < 0x80 ? 1 : c >= 0xf0 && c < 0xf5 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 0;
  for (size_t i = 1; i < n; i++)
    if (!is_cont(p + i, end)) return 0;
  const unsigned char d = n > 1 ? (unsigned char)p[1] : 0;
  const bool wrong = (c == 0xe0 && d < 0xa0) || (c == 0xed && d > 0x9f) || (c == 0xf0 && d < 0x90) || (c == 0xf4 && d > 0x8f);
  return wrong ? 0 : n;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Returns the value of the four hexadecimal digits at p; -1 if there are fewer than four. */
static int unit_at(const char *p, const char *end) {
  int unit = 0;
  if (end - p < 4) return -1;
  for (int i = 0; i < 4; i++) {
    const int d = digit_of(p[i]);
    if (d < 0) return -1;
    unit = unit << 4 | d;
  }
  return unit;
}

/* Moves s->p past the string that begins there, with a quote. Returns false if the string is invalid. */
static bool skip_string(struct scan *s) {
  for (s->p++; s->p < s->end && *s->p != '"';) {
    const size_t n = char_length(s->p, s->end);
    if (n == 0 || (unsigned char)*s->p < 0x20) return false;
    if (*s->p != '\\') {
      s->p += n;
      continue;
    }
    if (++s->p == s->end || !strchr("\"\\/bfnrtu", *s->p) || (*s->p == 'u' && unit_at(s->p + 1, s->end) < 0)) return false;
    s->p += *s->p == 'u' ? 5 : 1;
  }
  return s->p < s->end && *s->p++ == '"';
}

/* Moves s->p past decimal digits. Returns false if there are none. */
static bool skip_digits(struct scan *s) {
  const char *from = s->p;
  while (s->p < s->end && *s->p >= '0' && *s->p <= '9') s->p++;
  return s->p > from;
}

static bool skip_char(struct scan *s, const char *choice) {
  if (s->p == s->end || !*s->p || !strchr(choice, *s->p)) return false;
  s->p++;
  return true;
}

static bool skip_number(struct scan *s) {
  skip_char(s, "-");
  const char *digits = s->p;
  if (!skip_digits(s) || (*digits == '0' && s->p - digits > 1)) return false;
  if (skip_char(s, ".") && !skip_digits(s)) return false;
  if (!skip_char(s, "eE")) return true;
  skip_char(s, "+-");
  return skip_digits(s);
}

/* ---- values ---- */

static struct value *new_value(struct value_tree *t) {
  if (t->n >= MOST) return NULL;
  if (!t->blocks || t->blocks->n == BLOCK) {
    struct value_block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->next = t->blocks;
    t->blocks = b;
  }
  t->n++;
  return &t->blocks->nodes[t->blocks->n++];
}

static void skip_space(struct scan *s) {
  while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) s->p++;
}

static bool skip_word(struct scan *s, const char *text) {
  const size_t n = strlen(text);
  if ((size_t)(s->end - s->p) < n || memcmp(s->p, text, n) != 0) return false;
  s->p += n;
  return true;
}

static struct value *read_value(struct scan *s, unsigned depth);

/* Reads the key of a member and the colon. */
static bool read_key(struct scan *s, const char **key, size_t *n) {
  skip_space(s);
  *key = s->p;
  if (s->p == s->end || *s->p != '"' || !skip_string(s)) return false;
  *n = (size_t)(s->p - *key);
  skip_space(s);
  return s->p < s->end && *s->p++ == ':';
}

static bool read_children(struct scan *s, struct value *v, unsigned depth) {
  const char close = *s->p++ == '{' ? '}' : ']';
  struct value **to = &v->child;
  v->kind = close == '}' ? VALUE_OBJECT : VALUE_ARRAY;
  skip_space(s);
  if (s->p < s->end && *s->p == close) {
    s->p++;
    return true;
  }
  for (;;) {
    const char *key = NULL;
    size_t n_key = 0;
    if (close == '}' && !read_key(s, &key, &n_key)) return false;
    struct value *child = read_value(s, depth + 1);
    if (!child) return false;
    child->key = key;
    child->n_key = n_key;
    *to = child;
    to = &child->next;
    v->n++;
    skip_space(s);
    if (s->p == s->end) return false;
    const char c = *s->p++;
    if (c == close) return true;
    if (c != ',') return false;
  }
}

static bool read_any(struct scan *s, struct value *v, unsigned depth) {
  switch (*s->p) {
  case '{': case '[': return depth < DEPTH && read_children(s, v, depth);
  case '"': v->kind = VALUE_STRING; return skip_string(s);
  case 'n': v->kind = VALUE_NULL; return skip_word(s, "null");
  case 't': v->kind = VALUE_TRUE; return skip_word(s, "true");
  case 'f': v->kind = VALUE_FALSE; return skip_word(s, "false");
  default: v->kind = VALUE_NUMBER; return skip_number(s);
  }
}

static struct value *read_value(struct scan *s, unsigned depth) {
  skip_space(s);
  struct value *v = s->p < s->end ? new_value(s->tree) : NULL;
  if (!v) return NULL;
  v->raw = s->p;
  if (!read_any(s, v, depth)) return NULL;
  v->n_raw = (size_t)(s->p - v->raw);
  return v;
}

bool value_read(struct value_tree *t, const char *text, size_t n) {
  struct scan s = { t, text, text + n };
  *t = (struct value_tree){ .n = 0 };
  t->root = memchr(text, 0, n) ? NULL : read_value(&s, 0);
  skip_space(&s);
  if (t->root && s.p == s.end) return true;
  value_free(t);
  return false;
}

void value_free(struct value_tree *t) {
  for (struct value_block *b = t->blocks, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  *t = (struct value_tree){ .n = 0 };
}

const struct value *value_member(const struct value *v, const char *key) {
  const size_t n = strlen(key);
  for (const struct value *m = v && v->kind == VALUE_OBJECT ? v->child : NULL; m; m = m->next)
    if (m->n_key == n + 2 && memcmp(m->key + 1, key, n) == 0) return m;
  return NULL;
}

/* ---- strings ---- */

static char *put_code(char *to, uint32_t c) {
  if (c < 0x80) {
    *to++ = (char)c;
    return to;
  }
  const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to++ = (char)((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | c >> 6 * more);
  for (unsigned i = more; i-- > 0;) *to++ = (char)(0x80 | (c >> 6 * i & 0x3f));
  return to;
}

/* Reads the code point of \uXXXX, or of a pair; an unpaired surrogate becomes U+FFFD. */
static uint32_t code_at(const char **p, const char *end) {
  const uint32_t high = (uint32_t)unit_at(*p, end);
  *p += 4;
  if (high < 0xd800 || high > 0xdfff) return high;
  const int low = high < 0xdc00 && end - *p >= 6 && **p == '\\' && (*p)[1] == 'u' ? unit_at(*p + 2, end) : -1;
  if (low < 0xdc00 || low > 0xdfff) return 0xfffd;
  *p += 6;
  return 0x10000 + ((high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
}

char *value_text(const struct value *v) {
  static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
  if (!v || v->kind != VALUE_STRING) return NULL;
  char *text = malloc(v->n_raw), *to = text;
  for (const char *p = v->raw + 1, *end = v->raw + v->n_raw - 1; text && p < end;) {
    if (*p != '\\') {
      *to++ = *p++;
      continue;
    }
    const char c = p[1], *at = strchr(from, c);
    p += 2;
    if (c == 'u') to = put_code(to, code_at(&p, end));
    else *to++ = at ? into[at - from] : c;
  }
  if (text) *to = 0;
  if (!text || strlen(text) == (size_t)(to - text)) return text;
  free(text);
  return NULL;
}

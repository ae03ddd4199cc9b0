/* short_mangled.c - see short_mangled.h.
 *
 * The function is the last name of the path. Template arguments, and the types of the result and of parameters, are skipped. If such a
 * part has an unknown form, or if text is left at the end, the whole name is rejected. Each character is read once. */
#include "short_mangled.h"

#include <string.h>

#include "base/text.h"

enum { DEEPEST_PART = 64 };

struct mangled {
  const char *p, *end;
  unsigned depth;
};

static char peek(const struct mangled *m) { return m->p < m->end ? *m->p : 0; }

static bool eat(struct mangled *m, const char *text) {
  const struct short_span rest = {m->p, m->end};
  if (!short_begins(rest, text)) return false;
  m->p += strlen(text);
  return true;
}

/* Skips digits and the text `last` after them. */
static bool skip_number(struct mangled *m, const char *last) {
  while (ascii_digit(peek(m))) m->p++;
  return eat(m, last);
}

/* Skips a character if it is one of `chars`. */
static bool skip_any(struct mangled *m, const char *chars) {
  if (!peek(m) || !strchr(chars, *m->p)) return false;
  m->p++;
  return true;
}

/* Reads a name that is preceded by its length: "7ck_tile". */
static bool take_name(struct mangled *m, struct short_span *name) {
  size_t n = 0;
  while (ascii_digit(peek(m)) && n < 100000) n = n * 10 + (size_t)(*m->p++ - '0');
  if (!n || n > (size_t)(m->end - m->p)) return false;
  *name = (struct short_span){m->p, m->p + n};
  m->p += n;
  return true;
}

/* ---- skipped parts ---- */

static bool skip_part(struct mangled *m);

/* Skips a list of parts and the letter E that ends it. */
static bool skip_list(struct mangled *m) {
  while (m->p < m->end && *m->p != 'E')
    if (!skip_part(m)) return false;
  return eat(m, "E");
}

/* Skips digits and capital letters, and the underscore that ends them: "_", "0_", "1A_". */
static bool skip_sequence(struct mangled *m) {
  while (ascii_digit(peek(m)) || (peek(m) >= 'A' && peek(m) <= 'Z')) m->p++;
  return eat(m, "_");
}

/* Skips a substitution, after the letter S: "St", "_", "1A_". */
static bool skip_substitution(struct mangled *m) {
  return skip_any(m, "tabsiod") || skip_sequence(m);
}

/* Skips a literal, after the letter L: the address of a function ("_Z...E"), or a type with a value ("i256E", "b1E", "N1a1bE0E"). */
static bool skip_literal(struct mangled *m) {
  if (eat(m, "_Z")) return skip_list(m);
  while (skip_any(m, "PROKV")) {}
  if (!skip_part(m)) return false;
  while (skip_any(m, "0123456789abcdefn")) {}
  return eat(m, "E");
}

/* Skips a type, after the letter D: "DF16_" (half), "DF16b" (bfloat16), "Dv4_" (vector), "Dp" (pack), "DTnw_E" (decltype). */
static bool skip_special_type(struct mangled *m) {
  if (eat(m, "T") || eat(m, "t")) return skip_list(m);
  if (eat(m, "v")) return skip_sequence(m);
  if (eat(m, "F")) return skip_number(m, "_") || eat(m, "b");
  return skip_any(m, "pnhfdeisuac");
}

/* Skips a class without a name, after the letter U: a lambda ("lfE0_") or another class ("t_"). */
static bool skip_unnamed(struct mangled *m) {
  const bool is_known = eat(m, "l") ? skip_list(m) : eat(m, "t");
  return is_known && skip_number(m, "_");
}

static bool skip_known(struct mangled *m) {
  struct short_span name;
  if (ascii_digit(peek(m))) return take_name(m, &name);
  const char c = peek(m);
  if (!c) return false;
  m->p++;
  if (strchr("PROKVM", c) || (c >= 'a' && c <= 'z')) return true; /* pointers, qualifiers, types of the language, operators */
  if (strchr("NIJXFZ", c)) return skip_list(m);
  switch (c) {
  case 'S': return skip_substitution(m);
  case 'T': return skip_any(m, "ny") || skip_sequence(m); /* "Tn" and "Ty" declare a template parameter */
  case 'A': return skip_sequence(m);
  case 'L': return skip_literal(m);
  case 'D': return skip_special_type(m);
  case 'U': return skip_unnamed(m);
  default: return false;
  }
}

/* Skips a type, a name, or a part of one of them. */
static bool skip_part(struct mangled *m) {
  const bool is_skipped = ++m->depth <= DEEPEST_PART && skip_known(m);
  m->depth--;
  return is_skipped;
}

/* ---- the path ---- */

static bool is_anonymous(struct short_span name) { return short_begins(name, "_GLOBAL__N_"); }

/* Reads one part of a path. If the part is a name, stores it in *base, and the previous name in *outer. */
static bool read_component(struct mangled *m, struct short_span *outer, struct short_span *base) {
  struct short_span name;
  eat(m, "L"); /* a static function */
  if (eat(m, "I")) return base->p < base->end && skip_list(m);
  if (eat(m, "S")) return skip_substitution(m);
  if (!take_name(m, &name)) return false;
  if (is_anonymous(name)) return true;
  *outer = *base;
  *base = name;
  return true;
}

static bool read_path(struct mangled *m, struct short_span *outer, struct short_span *base) {
  while (skip_any(m, "rVKRO")) {}
  while (m->p < m->end && *m->p != 'E')
    if (!read_component(m, outer, base)) return false;
  return eat(m, "E");
}

/* Reads the name of a function in the global namespace or in std. */
static bool read_global(struct mangled *m, struct short_span *outer, struct short_span *base) {
  eat(m, "St");
  if (!read_component(m, outer, base)) return false;
  return peek(m) != 'I' || read_component(m, outer, base);
}

bool short_mangled(struct short_span s, struct short_span *outer, struct short_span *base) {
  const char *dot = memchr(s.p, '.', (size_t)(s.end - s.p)); /* "_Z1fv.kd" is the descriptor of an AMD kernel */
  struct mangled m = {s.p, dot ? dot : s.end, 0};
  *outer = *base = (struct short_span){s.p, s.p};
  if (!eat(&m, "_Z")) return false;
  const bool is_read = eat(&m, "N") ? read_path(&m, outer, base) : read_global(&m, outer, base);
  if (!is_read || base->p == base->end) return false;
  while (m.p < m.end)
    if (!skip_part(&m)) return false;
  return true;
}

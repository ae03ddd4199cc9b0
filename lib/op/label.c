/* label.c - templates of process names (label.h). */
#include "label.h"

#include <string.h>

#include "base/utf8.h"

static const char *const FIELDS[] = {"rank", "host", "process", "pid", "input", "run", "step"};
_Static_assert(sizeof FIELDS / sizeof *FIELDS == LABEL_FIELDS, "a name for each field");

enum token_kind { TEXT, FIELD, END, BAD };
struct token {
  enum token_kind kind;
  enum label_field field;
  const char *p; /* for TEXT and BAD */
  size_t n;
};

/* Returns the next token of a template: text, an escaped brace, or a field. */
static struct token next(const char **at) {
  const char *p = *at;
  struct token t = {.kind = TEXT, .p = p, .n = strcspn(p, "{}")};
  if (!*p) return (struct token){.kind = END};
  if (t.n == 0 && p[0] == p[1]) t.n = 1, *at = p + 2;
  else *at = p + t.n;
  if (t.n) return t;
  t.kind = BAD;
  t.n = *p == '{' ? strcspn(p + 1, "}") : 0;
  if (*p == '{' && p[1 + t.n] == '}') {
    for (unsigned i = 0; i < LABEL_FIELDS; i++)
      if (strlen(FIELDS[i]) == t.n && memcmp(FIELDS[i], p + 1, t.n) == 0) t.kind = FIELD, t.field = (enum label_field)i;
    t.n += 2;
  } else {
    t.n = 1;
  }
  *at = p + t.n;
  return t;
}

bool label_check(const char *label, struct tk_err *err) {
  static const char have[] = "available fields: {rank}, {host}, {process}, {pid}, {input}, {run} and {step}";
  bool any = false;
  if (!utf8_valid((const uint8_t *)label, strlen(label))) return err_set(err, TK_EUSAGE, "the label is not UTF-8");
  for (const char *p = label;;) {
    struct token t = next(&p);
    if (t.kind == END) break;
    if (t.kind == BAD && t.n > 1) return err_set(err, TK_EUSAGE, "label: unknown field %.*s; %s", (int)t.n, t.p, have);
    if (t.kind == BAD) return err_set(err, TK_EUSAGE, "label '%s': write a literal brace twice; %s", label, have);
    any = any || t.kind == FIELD;
  }
  return any || err_set(err, TK_EUSAGE, "label '%s': has no field, so all processes would have the same name; %s", label, have);
}

/* Text under construction. */
struct line {
  char *text;
  size_t n, size;
};

static void append_part(struct line *l, const char *p, size_t n) {
  size_t room = l->size - 1 - l->n;
  if (n > room) {
    n = room;
    while (n && ((unsigned char)p[n] & 0xc0) == 0x80) n--;
    l->size = l->n + n + 1; /* after a cut, append nothing more */
  }
  memcpy(l->text + l->n, p, n);
  l->n += n;
}

static char closing(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '<' ? '>' : 0; }

/* Fills in the fields. If a field is unknown, removes the text before it again; `tie` is the start of this text. */
size_t label_expand(const char *label, const struct label_values *values, char *text, size_t size) {
  struct line l = {text, 0, size};
  size_t tie = 0;
  bool any = false, none = false; /* any: a known field was seen; none: the first fields were unknown */
  char bracket = 0;               /* closing bracket to drop, because its opening bracket was dropped with the last field */
  for (const char *p = label;;) {
    struct token t = next(&p);
    if (t.kind == END) break;
    if (t.kind == TEXT) {
      bool skip = bracket && *t.p == bracket;
      bracket = 0;
      append_part(&l, t.p + skip, t.n - skip);
      continue;
    }
    const char *value = values->of[t.field] ? values->of[t.field] : "";
    if (!*value) {
      bracket = l.n > tie ? closing(text[l.n - 1]) : 0;
      none = none || !any;
      l.n = tie;
      continue;
    }
    bool first = none && !any;
    bracket = first && l.n ? closing(text[l.n - 1]) : 0;
    if (first) l.n = 0;
    append_part(&l, value, strlen(value));
    any = true;
    tie = l.n;
  }
  l.text[l.n] = 0;
  return l.n;
}

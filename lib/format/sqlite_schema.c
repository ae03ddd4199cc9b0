/* sqlite_schema.c - see sqlite_schema.h. Only parses what determines where a column is stored: its name, INTEGER PRIMARY KEY
 * (an alias of the rowid), generated columns (virtual ones are not stored), and WITHOUT ROWID. */
#include "sqlite_schema.h"

#include <string.h>

#include "base/text.h"

enum { COLUMNS_MOST = 2000 };

enum token_type { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_MARK };

struct token {
  enum token_type type;
  const char *p; /* text of the token; for a quoted word, without the quotes */
  size_t n;
};

struct lexer {
  const char *p, *end;
};

static void skip_blanks(struct lexer *l) {
  while (l->p < l->end) {
    const size_t left = (size_t)(l->end - l->p);
    const char *stop = NULL;
    if (strchr(" \t\r\n\f", *l->p) && *l->p) {
      l->p++;
    } else if (left > 1 && l->p[0] == '-' && l->p[1] == '-') {
      stop = memchr(l->p, '\n', left);
      l->p = stop ? stop : l->end;
    } else if (left > 1 && l->p[0] == '/' && l->p[1] == '*') {
      for (l->p += 2; l->p < l->end && !(l->p[0] == '*' && l->p + 1 < l->end && l->p[1] == '/');) l->p++;
      l->p = l->end - l->p > 2 ? l->p + 2 : l->end;
    } else {
      return;
    }
  }
}

static bool in_word(char c) {
  return ascii_letter(c) || ascii_digit(c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static struct token quoted(struct lexer *l, char close) {
  struct token t = {TOKEN_QUOTED, ++l->p, 0};
  while (l->p < l->end && (*l->p != close || (l->end - l->p > 1 && l->p[1] == close && close != ']'))) l->p += *l->p == close ? 2 : 1;
  t.n = (size_t)(l->p - t.p);
  if (l->p < l->end) l->p++;
  return t;
}

static struct token next_token(struct lexer *l) {
  skip_blanks(l);
  struct token t = {TOKEN_END, l->p, 0};
  if (l->p >= l->end) return t;
  if (*l->p == '"' || *l->p == '`' || *l->p == '\'') return quoted(l, *l->p);
  if (*l->p == '[') return quoted(l, ']');
  t.type = in_word(*l->p) ? TOKEN_WORD : TOKEN_MARK;
  do l->p++;
  while (t.type == TOKEN_WORD && l->p < l->end && in_word(*l->p));
  t.n = (size_t)(l->p - t.p);
  return t;
}

static bool is_word(struct token t, const char *word) {
  return t.type == TOKEN_WORD && t.n == strlen(word) && ascii_equal(t.p, word, t.n);
}
static bool is_mark(struct token t, char mark) { return t.type == TOKEN_MARK && *t.p == mark; }

static bool is_constraint(struct token t) {
  static const char *const WORDS[] = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", NULL};
  for (const char *const *w = WORDS; *w; w++)
    if (is_word(t, *w)) return true;
  return false;
}

/* The definition of a column, without its name. */
struct definition {
  bool integer; /* true if its type is exactly INTEGER */
  bool key, descends, generated, stored;
};

/* Reads up to the comma or the bracket that ends a definition, and returns this token. */
static struct token read_definition(struct lexer *l, struct definition *d) {
  struct token t, last = {0};
  unsigned depth = 0, n = 0;
  *d = (struct definition){0};
  for (;; last = t, n++) {
    t = next_token(l);
    if (t.type == TOKEN_END || (!depth && (is_mark(t, ',') || is_mark(t, ')')))) return t;
    if (is_mark(t, '(')) depth++;
    if (is_mark(t, ')')) depth--;
    if (depth) continue;
    if (n == 0) d->integer = is_word(t, "INTEGER");
    if (n == 1 && t.type == TOKEN_WORD && !is_word(t, "PRIMARY") && !is_constraint(t) && !is_word(t, "NOT") && !is_word(t, "DEFAULT"))
      d->integer = false; /* "INTEGER UNSIGNED" does not make an alias of the rowid */
    if (is_word(t, "KEY") && is_word(last, "PRIMARY")) d->key = true;
    if (is_word(t, "DESC") && is_word(last, "KEY")) d->descends = true;
    if (is_word(t, "AS")) d->generated = true;
    if (is_word(t, "STORED")) d->stored = true;
  }
}

static bool name_column(struct sqlite_column *c, struct token name, struct arena *arena) {
  c->name = arena_text(arena, name.p, name.n);
  return c->name != NULL;
}

/* Returns the position of a column in the record; -1 for an alias of the rowid, at whose position the record contains a NULL;
 * -2 for a column that is not stored. */
static int16_t place_of(const struct definition *d, int16_t *places) {
  if (d->generated && !d->stored) return -2;
  const int16_t place = (*places)++;
  return d->integer && d->key && !d->descends ? -1 : place;
}

static bool ends_without_rowid(struct lexer *l) {
  struct token last = {0};
  for (struct token t = next_token(l); t.type != TOKEN_END; last = t, t = next_token(l))
    if (is_word(t, "ROWID") && is_word(last, "WITHOUT")) return true;
  return false;
}

/* Handles "PRIMARY KEY (id)" after the columns, which makes an alias of the rowid, too, if it names a single INTEGER column. */
static void take_key(struct sqlite_column *columns, uint32_t n, struct lexer l, const bool *integers) {
  if (!is_word(next_token(&l), "KEY") || !is_mark(next_token(&l), '(')) return;
  const struct token name = next_token(&l);
  if (!is_mark(next_token(&l), ')')) return;
  for (uint32_t i = 0; i < n; i++) {
    const char *known = columns[i].name;
    if (strlen(known) == name.n && ascii_equal(known, name.p, name.n) && integers[i]) columns[i].stored = -1;
  }
}

/* Returns an upper bound for the number of columns. */
static uint32_t most_columns(const char *sql, size_t n) {
  uint32_t most = 1;
  for (size_t i = 0; i < n && most < COLUMNS_MOST; i++) most += sql[i] == ',';
  return most;
}

bool sqlite_parse(struct sqlite_table *table, const char *sql, size_t n, struct arena *arena) {
  struct lexer l = {sql, sql + n};
  struct token t = next_token(&l);
  struct definition d;
  int16_t places = 0;
  while (t.type != TOKEN_END && !is_mark(t, '(')) t = next_token(&l);
  const uint32_t most = most_columns(sql, n);
  struct sqlite_column *columns = arena_alloc(arena, most * sizeof *columns);
  bool *integers = arena_alloc(arena, most);
  if (!columns || !integers) return false;
  table->columns = columns;
  while (t.type != TOKEN_END && !is_mark(t, ')') && table->n_columns < most) {
    const struct token name = next_token(&l);
    const struct lexer behind = l;
    t = read_definition(&l, &d);
    if (is_word(name, "PRIMARY")) take_key(columns, table->n_columns, behind, integers);
    if (name.type == TOKEN_END || is_mark(name, ')') || is_constraint(name)) continue;
    integers[table->n_columns] = d.integer;
    struct sqlite_column *c = &columns[table->n_columns++];
    c->stored = place_of(&d, &places);
    if (!name_column(c, name, arena)) return false;
  }
  table->without_rowid = ends_without_rowid(&l);
  return true;
}

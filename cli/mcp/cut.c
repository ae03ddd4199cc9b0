/* cut.c - see cut.h. */
#include "cut.h"

#include "print/json.h"
#include "print/tty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NOTES = 8 };

/* The output stream, and the notes on omitted rows, while an answer is written. */
struct cutter {
  const struct cut *c;
  FILE *to;
  struct json notes;
  size_t limit, n_notes;
};

static bool is_paged(const struct cutter *w, const struct value *v) {
  const size_t n = w->c->paged ? strlen(w->c->paged) : 0;
  return n && v->n_key == n + 2 && memcmp(v->key + 1, w->c->paged, n) == 0;
}

static void note(struct cutter *w, const struct value *v, size_t first, size_t shown) {
  char text[256], next[64] = "";
  if (w->n_notes++ >= MOST_NOTES) return;
  if (is_paged(w, v)) snprintf(next, sizeof next, "; the next rows start at offset %zu", first + shown);
  snprintf(text, sizeof text, "%.*s: %zu of %zu shown, from %zu on%s", v->n_key > 82 ? 80 : (int)(v->n_key ? v->n_key - 2 : 4),
           v->n_key ? v->key + 1 : "list", shown, v->n, first, next);
  json_string(&w->notes, NULL, text);
}

static void cut_value(struct cutter *w, const struct value *v) {
  const size_t first = v->kind == VALUE_ARRAY && is_paged(w, v) ? w->c->offset : 0;
  size_t i = 0, shown = 0;
  if (v->kind < VALUE_ARRAY) {
    fwrite(v->raw, 1, v->n_raw, w->to);
    return;
  }
  fputc(*v->raw, w->to);
  for (const struct value *m = v->child; m; m = m->next, i++) {
    if (v->kind == VALUE_ARRAY && (i < first || shown >= w->limit)) continue;
    if (shown++) fputc(',', w->to);
    if (m->key) fwrite(m->key, 1, m->n_key, w->to), fputc(':', w->to);
    cut_value(w, m);
  }
  fputc(v->raw[v->n_raw - 1], w->to);
  if (first + shown < v->n) note(w, v, first, shown);
}

/* Writes the answer with at most `limit` rows in each list. */
static char *try_limit(const struct value *v, const struct cut *c, size_t limit, char **notes) {
  char *text = NULL;
  size_t n = 0, n_notes = 0;
  struct cutter w = { .c = c, .limit = limit, .to = tty_open_text(&text, &n) };
  w.notes = (struct json){ .to = tty_open_text(notes, &n_notes), .flat = true };
  if (w.to && w.notes.to) {
    json_open(&w.notes, NULL, '[');
    cut_value(&w, v);
    if (w.n_notes > MOST_NOTES) json_string(&w.notes, NULL, "and more lists");
    if (w.n_notes) json_string(&w.notes, NULL, "to see the rest, select less, or set limit and offset");
    json_close(&w.notes, ']');
  }
  const bool ok = w.notes.to && tty_close_text(w.notes.to, notes);
  if (w.to && tty_close_text(w.to, &text) && ok) return text;
  free(text);
  return NULL;
}

char *cut_answer(const struct value *v, const struct cut *c, char **notes) {
  *notes = NULL;
  for (size_t limit = c->limit; limit > 0; limit /= 2) {
    char *text = try_limit(v, c, limit, notes);
    if (!text || strlen(text) <= c->bytes) return text;
    free(text);
    free(*notes);
    *notes = NULL;
  }
  return NULL;
}

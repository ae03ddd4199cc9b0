/* reader.c - functions that all files of the Chrome JSON reader use: the window on the input, positions, text, identities
 * (reader.h). */
#include "reader.h"

#include <string.h>

bool chrome_tick(struct chrome *r) {
  const struct tk_progress progress = r->opt->progress;
  if (!progress.tick || progress.tick(progress.arg, in_raw_read(r->in), in_raw_total(r->in))) return true;
  return err_set(r->err, TK_EINTERRUPTED, "interrupted");
}

bool chrome_refill(struct chrome *r, const uint8_t *p, size_t min) {
  size_t avail;
  if (p != r->base) in_consume(r->in, (size_t)(p - r->base));
  r->base = in_ahead(r->in, min, &avail, r->err);
  r->base_offset = in_offset(r->in);
  if (!r->base || !mem_check(&r->t->store->mem, r->err)) return false;
  r->j.p = r->base;
  r->j.end = r->base + avail;
  r->j.last = avail < min;
  return chrome_tick(r);
}

static const char *const BEGINNINGS[] = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"};

bool chrome_looks_like_event(const uint8_t *p, const uint8_t *end) {
  const uint8_t *q = p + 1;
  while (json_is_space(*q)) q++;
  if (*q++ != '"') return false;
  for (size_t i = 0; i < sizeof BEGINNINGS / sizeof BEGINNINGS[0]; i++) {
    size_t n = strlen(BEGINNINGS[i]);
    if ((size_t)(end - q) > n && memcmp(q, BEGINNINGS[i], n) == 0 && q[n] == '"') return true;
  }
  return false;
}

void chrome_note(struct chrome *r, enum tk_note_kind kind, const uint8_t *at, const char *text) {
  trace_note(r->t, kind, chrome_offset(r, at), text);
}

void chrome_keep_fixes(struct chrome *r) {
  for (unsigned i = 0; i < r->j.n_fixes; i++)
    chrome_note(r, r->j.fixes[i].harmless ? TK_NOTE_INFO : TK_NOTE_REPAIR, r->j.fixes[i].at, r->j.fixes[i].text);
  r->j.n_fixes = 0;
}

tk_id chrome_string(struct chrome *r, const struct json_string *s) {
  tk_id id = s->plain ? intern_id(&r->t->store->strings, s->p, s->n) : 0;
  size_t n;
  const uint8_t *text;
  if (id) return id;
  text = json_string_text(&r->j, s, &n);
  return trace_string(r->t, text, n);
}

void chrome_learn_spelling(struct chrome *r, const uint8_t *p, size_t n, tk_id id) {
  /* grow raw_ids first, because other code reads it at every id in `raw` */
  if (mem_grow(&r->t->store->mem, (void **)&r->raw_ids, &r->cap_raw_ids, (uint64_t)r->raw.n + 2, sizeof *r->raw_ids))
    r->raw_ids[intern(&r->raw, p, n)] = id;
}

struct tk_ident chrome_ident(const struct chrome *r, tk_id text) {
  const struct intern_str *s = trace_str(r->t, text);
  const uint8_t *end;
  struct num n = num_scan(s->bytes, &end);
  if (n.kind == NUM_INT && end == s->bytes + s->len) return (struct tk_ident){n.mant, 0, TK_IDENT_QUOTED};
  return ident_str(text);
}

void chrome_add_pending(struct chrome *r, struct pending f) {
  if (!mem_grow(&r->t->store->mem, (void **)&r->pending, &r->cap_pending, (uint64_t)r->n_pending + 1, sizeof *r->pending)) return;
  r->pending[r->n_pending++] = f;
}

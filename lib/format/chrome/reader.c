/* reader.c - what all files of the Chrome JSON reader need: places in the input, text, identities, tracks (reader.h). */
#include "reader.h"

#include <string.h>

void chrome_note(struct chrome *r, enum tk_note_kind kind, const uint8_t *at, const char *text) {
  trace_note(r->t, kind, chrome_offset(r, at), text);
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
  /* room first: whoever finds a spelling reads its id */
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

/* reader.c - basic functions that the files of the Perfetto reader share: notes, text, times, passthrough, machines. */
#include "reader.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"

/* ---- notes and text ---- */

void perfetto_note(struct perfetto *r, enum tk_note_kind kind, const char *text) {
  r->n_said++;
  trace_note(r->t, kind, r->offset, text);
}

void perfetto_damage(struct perfetto *r, const char *what) {
  unsigned i = 0;
  while (i < r->n_damages && strcmp(r->damage[i].what, what) != 0) i++;
  if (i == DAMAGES) i = DAMAGES - 1;
  if (i == r->n_damages) r->damage[r->n_damages++] = (struct damage){what, 0, r->offset, r->n_packets};
  r->damage[i].count++;
  r->n_said++;
}

void perfetto_note_damage(struct perfetto *r) {
  char text[160];
  for (unsigned i = 0; i < r->n_damages; i++) {
    const struct damage *d = &r->damage[i];
    const char *form = d->count > 1 ? "%s; the first is packet %llu" : "%s: packet %llu";
    snprintf(text, sizeof text, form, d->what, (unsigned long long)d->packet);
    trace_notes(r->t, TK_NOTE_REPAIR, d->offset, text, d->count);
  }
}

tk_id perfetto_text(struct perfetto *r, const uint8_t *p, size_t n) {
  bool repaired = false;
  tk_id id = intern_text(&r->t->store->strings, p, n, r->n_bytes != 0, &repaired);
  if (repaired) perfetto_note(r, TK_NOTE_REPAIR, "text that is not UTF-8: replaced by U+FFFD");
  return id;
}

tk_id perfetto_key(struct perfetto *r, tk_id name) {
  size_t n, prefix;
  const char *text = tk_string(r->t, name, &n), *args = tk_string(r->t, KEY_ARGS, &prefix);
  if (!r->filed || !key_is_reserved(text)) return name;
  struct buf b = {.mem = &r->t->store->mem};
  buf_append(&b, args, prefix);
  buf_append(&b, ".", 1);
  buf_append(&b, text, n);
  const tk_id key = trace_string(r->t, b.data, b.len);
  buf_free(&b);
  return key;
}

tk_id perfetto_bytes(struct perfetto *r, const uint8_t *p, size_t n) {
  if (!utf8_valid(p, n)) r->n_bytes++;
  return trace_string(r->t, p, n);
}

bool perfetto_tick(struct perfetto *r) {
  const struct tk_progress progress = r->opt->progress;
  if (!mem_check(&r->t->store->mem, r->err)) return false;
  if (progress.tick && !progress.tick(progress.arg, in_raw_read(r->in), in_raw_total(r->in)))
    return err_set(r->err, TK_EINTERRUPTED, "interrupted");
  return true;
}

/* ---- times ---- */

static const int64_t DAYS_100_NS = (int64_t)100 * 86400 * 1000000000;

bool perfetto_in_range(int64_t ns, int64_t origin) {
  i128 apart = (i128)ns - origin;
  return apart < DAYS_100_NS && apart > -(i128)DAYS_100_NS;
}

void perfetto_add_pending(struct perfetto *r, struct pending_time p) {
  if (mem_grow(&r->t->store->mem, (void **)&r->pending, &r->cap_pending, (uint64_t)r->n_pending + 1, sizeof p))
    r->pending[r->n_pending++] = p;
}

/* ---- passthrough ---- */

void perfetto_add_passthrough(struct perfetto *r, const char *key, const void *p, size_t n) {
  struct buf *raw = &r->t->store->raw;
  struct tk_meta *m = trace_add_meta(r->t);
  *m = (struct tk_meta){.key = trace_text(r->t, key), .at = raw->len, .size = n, .origin = PERFETTO_FORMAT};
  buf_append(raw, p, n);
  trace_end_raw(r->t);
}

/* ---- machines ---- */

uint32_t perfetto_machine_of(struct perfetto *r, uint32_t id) {
  uint32_t *slot = map_put(&r->machine_index, id, 0);
  if (!slot) return 0;
  if (*slot) return *slot;
  if (!mem_grow(&r->t->store->mem, (void **)&r->machines, &r->cap_machines, (uint64_t)r->n_machines + 2, sizeof *r->machines)) return 0;
  r->machines[*slot = ++r->n_machines] = (struct machine){.id = id};
  return *slot;
}

int64_t reader_machine_ahead(const struct perfetto *r, uint32_t id) {
  const uint32_t *at = id ? map_get(&r->machine_index, id) : NULL;
  return at && *at ? r->machines[*at].ahead_ns : 0;
}

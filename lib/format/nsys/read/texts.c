/* texts.c - texts of an export: StringIds, and the labels of the ENUM_ tables. */
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "reader.h"

tk_id nsys_string(struct nsys *r, const void *p, size_t n) {
  bool repaired = false;
  const tk_id id = intern_text(&r->t->store->strings, p, n, false, &repaired);
  if (repaired) trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "invalid UTF-8: replaced by U+FFFD");
  return id;
}

tk_id nsys_text(struct nsys *r, const struct cell *c) {
  if (c->type == CELL_TEXT) return nsys_string(r, c->p, c->n);
  if (c->type != CELL_INT) return 0;
  const uint32_t *known = map_get(&r->texts, (uint64_t)c->i);
  if (known) return *known;
  trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, "names that StringIds lacks");
  return 0;
}

static void take_text(struct nsys *r, const struct sqlite_scan *row, void *arg) {
  (void)arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_TEXT) return;
  map_put(&r->texts, (uint64_t)row->v[0].i, nsys_string(r, row->v[1].p, row->v[1].n));
}

bool nsys_read_texts(struct nsys *r) {
  static const char *const COLUMNS[] = {"id", "value", NULL};
  return nsys_each(r, "StringIds", COLUMNS, take_text, NULL);
}

/* ---- labels ---- */

static uint64_t label_key(const char *table, int64_t value) { return hash_pair(hash_text(table, strlen(table)), (uint64_t)value); }

static void take_label(struct nsys *r, const struct sqlite_scan *row, void *table) {
  const struct cell *label = row->v[1].type == CELL_TEXT ? &row->v[1] : &row->v[2];
  if (row->v[0].type == CELL_INT && label->type == CELL_TEXT)
    map_put(&r->labels, label_key(table, row->v[0].i), nsys_string(r, label->p, label->n));
}

tk_id nsys_label(struct nsys *r, const char *table, int64_t value) {
  static const char *const COLUMNS[] = {"id", "label", "name", NULL};
  uint32_t *read = map_put(&r->labels, label_key(table, INT64_MIN), 0);
  if (read && !*read) {
    *read = 1;
    nsys_each(r, table, COLUMNS, take_label, (void *)table);
  }
  const uint32_t *known = map_get(&r->labels, label_key(table, value));
  return known ? *known : 0;
}

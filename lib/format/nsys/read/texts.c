/* texts.c - texts of an export: StringIds, and the labels of the ENUM_ tables.
 *
 * StringIds also holds what the program printed. So a text becomes a string of the graph only when an event refers to it. */
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "texts.h"

/* A text in StringIds. */
struct stored {
  uint64_t at; /* in `stored_bytes` */
  uint64_t n;
  tk_id id;    /* 0 = not used yet */
};

tk_id texts_of(struct nsys *r, const struct cell *c) {
  if (c->type == CELL_TEXT) return database_string(&r->d, c->p, c->n);
  if (c->type != CELL_INT) return 0;
  const uint32_t *known = map_get(&r->texts, (uint64_t)c->i);
  if (!known) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "names that StringIds lacks");
    return 0;
  }
  struct stored *s = (struct stored *)(void *)r->stored.data + *known;
  if (!s->id) s->id = database_string(&r->d, r->stored_bytes.data + s->at, (size_t)s->n);
  return s->id;
}

static void take_text(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  const struct stored s = {.at = r->stored_bytes.len, .n = row->v[1].n};
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_TEXT) return;
  map_put(&r->texts, (uint64_t)row->v[0].i, (uint32_t)(r->stored.len / sizeof s));
  buf_append(&r->stored, &s, sizeof s);
  buf_append(&r->stored_bytes, row->v[1].p, row->v[1].n);
}

bool texts_read(struct nsys *r) {
  static const char *const COLUMNS[] = {"id", "value", NULL};
  return database_each(&r->d, "StringIds", COLUMNS, take_text, r);
}

/* ---- labels ---- */

static uint64_t label_key(const char *table, int64_t value) { return hash_pair(hash_text(table, strlen(table)), (uint64_t)value); }

struct labels {
  struct nsys *r;
  const char *table;
};

static void take_label(const struct sqlite_scan *row, void *arg) {
  const struct labels *of = arg;
  struct nsys *r = of->r;
  const struct cell *label = row->v[1].type == CELL_TEXT ? &row->v[1] : &row->v[2];
  if (row->v[0].type == CELL_INT && label->type == CELL_TEXT)
    map_put(&r->labels, label_key(of->table, row->v[0].i), database_string(&r->d, label->p, label->n));
}

tk_id texts_label(struct nsys *r, const char *table, int64_t value) {
  static const char *const COLUMNS[] = {"id", "label", "name", NULL};
  uint32_t *read = map_put(&r->labels, label_key(table, INT64_MIN), 0);
  if (read && !*read) {
    *read = 1;
    database_each(&r->d, table, COLUMNS, take_label, &(struct labels){r, table});
  }
  const uint32_t *known = map_get(&r->labels, label_key(table, value));
  return known ? *known : 0;
}

/* texts.c - reads the texts of an export: StringIds, and the labels of the ENUM_ tables. */
#include <string.h>

#include "base/hash.h"
#include "texts.h"

tk_id texts_of(struct nsys *r, const struct cell *c) { return database_text(&r->d, &r->texts, c); }

bool texts_read(struct nsys *r) { return database_texts_read(&r->d, &r->texts, "StringIds", "id", "value"); }

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

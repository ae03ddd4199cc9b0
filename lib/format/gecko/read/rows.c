/* rows.c - see rows.h. */
#include "rows.h"

#include <string.h>

/* Finds the columns in the schema of a raw table. */
static void read_schema(struct gecko_rows *r, struct json_walk w, const char *const *names) {
  struct json_string key;
  struct json_value v;
  int64_t at;
  memset(r->column_at, -1, sizeof r->column_at);
  if (json_walk_enter(&w, '{'))
    while (json_walk_key(&w, &key)) {
      unsigned c = 0;
      while (c < r->n && !json_is(&w.j, &key, names[c])) c++;
      if (!json_walk_value(&w, &v)) break;
      if (c < r->n && json_walk_whole(&v, &at) && at >= 0 && at < GECKO_SCHEMA) r->column_at[at] = (int8_t)c;
    }
  json_walk_free(&w);
}

bool gecko_rows_begin(struct gecko_rows *r, const struct json_walk *w, const struct json_value *table, const char *const *names) {
  struct json_value schema = {.p = NULL}, data = {.p = NULL}, columns[GECKO_COLUMNS] = {{.p = NULL}};
  struct json_place places[GECKO_COLUMNS + 3];
  *r = (struct gecko_rows){.n = 0};
  for (; names[r->n]; r->n++) places[r->n] = (struct json_place){names[r->n], &columns[r->n]};
  places[r->n] = (struct json_place){"schema", &schema};
  places[r->n + 1] = (struct json_place){"data", &data};
  places[r->n + 2] = (struct json_place){NULL, NULL};
  if (!table->p || table->type != JSON_OBJECT) return false;
  json_walk_object(w, table, places);
  r->raw = schema.p != NULL;
  for (unsigned i = 0; r->raw && i < r->n; i++)
    if (strcmp(names[i], "data") == 0) data = columns[i];
  if (r->raw) {
    read_schema(r, json_walk_into(w, &schema), names);
    r->rows = json_walk_into(w, &data);
    return data.p && json_walk_enter(&r->rows, '[');
  }
  for (unsigned i = 0; i < r->n; i++) {
    if (!columns[i].p || columns[i].type != JSON_ARRAY) continue;
    r->columns[i] = json_walk_into(w, &columns[i]);
    r->open[i] = json_walk_enter(&r->columns[i], '[');
  }
  return r->open[0];
}

static bool next_raw(struct gecko_rows *r) {
  struct json_value row, cell;
  if (!json_walk_more(&r->rows) || !json_walk_value(&r->rows, &row)) return false;
  r->at = row.p;
  struct json_walk w = json_walk_into(&r->rows, &row);
  if (row.type == JSON_ARRAY && json_walk_enter(&w, '['))
    for (unsigned i = 0; i < GECKO_SCHEMA && json_walk_more(&w) && json_walk_value(&w, &cell); i++)
      if (r->column_at[i] >= 0) r->cells[r->column_at[i]] = cell;
  json_walk_free(&w);
  return true;
}

bool gecko_rows_next(struct gecko_rows *r) {
  for (unsigned i = 0; i < r->n; i++) r->cells[i].p = NULL;
  if (r->raw) return next_raw(r);
  for (unsigned i = 0; i < r->n; i++) {
    if (!r->open[i]) continue;
    r->open[i] = json_walk_more(&r->columns[i]) && json_walk_value(&r->columns[i], &r->cells[i]);
    if (!r->open[i]) r->cells[i].p = NULL;
  }
  r->at = r->cells[0].p;
  return r->open[0];
}

void gecko_rows_end(struct gecko_rows *r) {
  json_walk_free(&r->rows);
  for (unsigned i = 0; i < r->n; i++) json_walk_free(&r->columns[i]);
}

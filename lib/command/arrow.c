/* arrow.c - implements tk_arrow: chooses the columns of a table and fills them. */
#include <stdlib.h>
#include <string.h>

#include "arrow/table.h"
#include "arrow/tables.h"
#include "base/err.h"
#include "base/options.h"
#include "source/identity.h"

static const struct table *const tables[TK_TABLES] = {&events_table, &table_of_tracks, &table_of_flows,
                                                     &table_of_args,   &table_of_steps,  &collectives_table};

const char *tk_table_name(enum tk_table table) { return table < TK_TABLES ? tables[table]->name : NULL; }

const char *tk_table_column(enum tk_table table, size_t i, bool *usual) {
  if (table >= TK_TABLES || i >= tables[table]->n) return NULL;
  if (usual) *usual = !tables[table]->columns[i].asked;
  return tables[table]->columns[i].name;
}

static const struct table_column *column_of(const struct table *table, const char *name) {
  for (uint32_t i = 0; i < table->n; i++)
    if (strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
  return NULL;
}

static bool make(struct table_source *s, const struct table *table, const char *name, int64_t rows, struct column *c,
                 struct tk_err *err) {
  const struct table_column *d = column_of(table, name);
  bool known = d != NULL, ok;
  if (d) ok = column_init(c, s->t, d->name, d->type, rows) && d->fill(s, c);
  else ok = !table->other || table->other(s, name, c, &known);
  if (!known) return err_set(err, TK_EUSAGE, "the table %s has no column '%s'", table->name, name);
  return ok || err_set(err, TK_ELIMIT, "out of memory");
}

static bool make_all(struct table_source *s, const struct table *table, const char *const *names, struct column *columns, uint32_t *n,
                     struct tk_err *err) {
  const int64_t rows = table->rows(s);
  if (rows < 0) return err_set(err, TK_ELIMIT, "out of memory");
  for (uint32_t i = 0; names && names[i]; i++)
    if (!make(s, table, names[i], rows, &columns[(*n)++], err)) return false;
  for (uint32_t i = 0; !names && i < table->n; i++)
    if (!table->columns[i].asked && !make(s, table, table->columns[i].name, rows, &columns[(*n)++], err)) return false;
  return *n > 0 || err_set(err, TK_EUSAGE, "no columns selected");
}

bool tk_arrow(struct tk_trace *t, enum tk_table table, const struct tk_arrow_options *opt, struct ArrowArrayStream *out,
              struct tk_err *err) {
  struct tk_arrow_options options;
  struct mem mem = {0};
  struct track_origin *origins;
  struct tk_err own;
  uint32_t n = 0, most = 0;
  if (!err) err = &own;
  err_clear(err);
  *out = (struct ArrowArrayStream){0};
  if (!trace_is_sealed(t, err)) return false;
  if (!TAKE_OPTIONS(&options, opt, err)) return false;
  opt = &options;
  if (opt->ps && opt->typed) return err_set(err, TK_EUSAGE, "ps and typed cannot be combined: Arrow has no picosecond timestamps");
  if (table >= TK_TABLES) return err_set(err, TK_EUSAGE, "no such table");
  while (opt->columns && opt->columns[most]) most++;
  if (!opt->columns) most = tables[table]->n;
  struct table_source s = {.t = t, .origins = origins = identity_of_tracks(t, &mem), .ps = opt->ps};
  const struct column_times times = {.ps = opt->ps, .typed = opt->typed, .utc = t->clock == TK_CLOCK_REALTIME};
  struct column *columns = calloc((size_t)most + 1, sizeof *columns);
  bool ok = (origins && columns) || err_set(err, TK_ELIMIT, "out of memory");
  ok = ok && make_all(&s, tables[table], opt->columns, columns, &n, err);
  if (ok) ok = columns_export(columns, n, times, out, err);
  else
    for (uint32_t i = 0; i < n; i++) column_free(&columns[i]);
  free(columns);
  table_free(&s);
  identity_free_tracks(origins, &mem);
  return ok;
}

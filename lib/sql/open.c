/* open.c - opens a sealed trace as a database. */
#include <string.h>

#include "base/options.h"
#include "base/os.h"
#include "guard.h"
#include "source/identity.h"
#include "table.h"
#include "args.h"
#include "connected.h"
#include "events.h"
#include "functions.h"
#include "names.h"
#include "spans.h"
#include "stacks.h"
#include "tables.h"
#include "texts.h"
#include "tracks.h"
#include "views.h"

static bool open_prepare(struct tk_sql *s, struct tk_err *err) {
  s->key_tts = trace_text_id(s->t, "json.tts");
  s->key_end_tts = trace_text_id(s->t, "json.end.json.tts");
  s->origins = identity_of_tracks(s->t, &s->mem);
  s->strings_shown = mem_zeros(&s->mem, SQL_SHOWN, sizeof *s->strings_shown);
  if (!s->origins || !s->strings_shown || !sql_names(s) || !sql_tracks(s)) return mem_refuse(&s->mem, err);
  if (sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
    return err_set(err, TK_ELIMIT, "SQLite: %s", s->db ? sqlite3_errmsg(s->db) : "out of memory");
  sqlite3_exec(s->db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL); /* sorting writes no file */
  if (sql_register_texts(s) && sql_register_events(s) && sql_register_tables(s) && sql_register_stacks(s) &&
      sql_register_args(s) && sql_register_connected(s) && sql_register_functions(s) && sql_register_spans(s) && sql_register_views(s))
    return guard_install(s) || err_set(err, TK_ELIMIT, "out of memory");
  return err_set(err, TK_ELIMIT, "SQLite: %s", sqlite3_errmsg(s->db));
}

struct tk_sql *tk_sql_open(struct tk_trace *t, const struct tk_sql_options *opt, struct tk_err *err) {
  struct mem own = {0};
  struct tk_sql_options options;
  if (err) err_clear(err);
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return NULL;
  struct tk_sql *s = mem_alloc(&own, sizeof *s);
  if (!s) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  *s = (struct tk_sql){.t = t, .mem = own, .times = times_of(t)};
  s->opt = options;
  s->limit = os_memory_limit(s->opt.max_memory);
  s->graph_bytes = t->store->mem.used;
  s->mem.limit = s->limit && s->limit > s->graph_bytes ? s->limit - s->graph_bytes : 0;
  intern_init(&s->texts, &s->mem);
  map_init(&s->kind_texts, &s->mem);
  map_init(&s->text_numbers, &s->mem);
  if (open_prepare(s, err)) return s;
  tk_sql_close(s);
  return NULL;
}

const char *const *tk_sql_tables(const struct tk_sql *s, size_t *n) {
  *n = s->n_table_names;
  return s->table_names;
}

static void free_arrays(struct tk_sql *s) {
  const struct by_name *b = &s->names;
  void *const arrays[] = {s->tracks,  s->processes, s->threads,  b->of_class, b->name,        b->counts,
                          b->first,   b->events,    b->order,    s->parents,  s->children,    s->siblings,
                          s->strings_shown, s->timeline, s->selves,  s->child_durs, s->launches, s->stacks, s->counters,  s->flows,
                          s->counter_tracks, s->table_names, s->stack.samples, s->stack.modules, s->stack.mapping,
                          s->stack.symbols, s->stack.symbol};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mem_free(&s->mem, arrays[i]);
}

void tk_sql_close(struct tk_sql *s) {
  if (!s) return;
  for (unsigned i = 0; i < s->n_others; i++) tk_sql_close(s->others[i]);
  sqlite3_close(s->db);
  table_free_indices(s);
  identity_free_tracks(s->origins, &s->mem);
  if (s->has_kinds) kinds_free(&s->kinds);
  if (s->has_steps) steps_free(&s->steps);
  for (size_t i = 0; i < AROUND_FACTS; i++) around_free(&s->around[i]);
  intern_free(&s->texts);
  map_free(&s->kind_texts);
  map_free(&s->text_numbers);
  free_arrays(s);
  struct mem mem = s->mem;
  mem_free(&mem, s);
}

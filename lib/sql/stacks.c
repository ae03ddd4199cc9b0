/* stacks.c - stack samples, call sites, frames, symbols and modules as rows: Perfetto's tables, and `stack_sample`.
 *
 * A call site is an entry of the graph's table of stacks. Mappings and addresses of formats that trace_processor reads come from
 * the file (struct stack_site). In other formats, a mapping is a module, and frames without a module share one mapping without
 * a name, so that joins with the mappings keep all frames. trace_processor has a table for samples of Perfetto's perf packets and
 * one for all other samples; only `stack_sample` has weights. */
#include "stacks.h"

#include "events_value.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "table.h"
#include "timeline.h"

static int put_number(sqlite3_context *out, int64_t number) {
  sqlite3_result_int64(out, number);
  return SQLITE_OK;
}

static int put_string(const struct tk_sql *s, sqlite3_context *out, tk_id id) {
  sql_result_string(s, out, id);
  return SQLITE_OK;
}

/* ---- rows: built when a query first needs them ---- */

static bool collect_samples(struct tk_sql *s) {
  const bool any = stack_has_samples(s->t);
  s->stack.samples = mem_array(&s->mem, any ? (uint64_t)s->t->n_events + 1 : 1, sizeof *s->stack.samples);
  if (!s->stack.samples || (any && !timeline_build(s))) return false;
  for (tk_id i = 0; any && i < s->t->n_events; i++)
    if (s->t->events[s->timeline[i]].kind == TK_EVENT_SAMPLE) s->stack.samples[s->stack.n_samples++] = s->timeline[i];
  return true;
}

static bool collect_modules(struct tk_sql *s) {
  const uint64_t n = (uint64_t)s->t->n_frames + 1;
  struct map seen;
  s->stack.modules = mem_array(&s->mem, n, sizeof *s->stack.modules);
  s->stack.mapping = mem_array(&s->mem, n, sizeof *s->stack.mapping);
  if (!s->stack.modules || !s->stack.mapping) return false;
  map_init(&seen, &s->mem);
  for (tk_id i = 1; i <= s->t->n_frames && !s->mem.failed; i++) {
    const tk_id module = s->t->frames[i].module;
    const struct stack_site site = stack_site_of(s->t, i);
    const uint32_t *at = site.mapping ? NULL : map_put(&seen, module, s->stack.n_modules);
    s->stack.mapping[i] = at ? s->t->store->n_mappings + *at : site.mapping - 1;
    if (at && *at == s->stack.n_modules) s->stack.modules[s->stack.n_modules++] = module;
  }
  map_free(&seen);
  return !s->mem.failed;
}

static bool collect_symbols(struct tk_sql *s) {
  const uint64_t n = (uint64_t)s->t->n_frames + 1;
  s->stack.symbols = mem_array(&s->mem, n, sizeof *s->stack.symbols);
  s->stack.symbol = mem_array(&s->mem, n, sizeof *s->stack.symbol);
  if (!s->stack.symbols || !s->stack.symbol) return false;
  for (tk_id i = 1; i <= s->t->n_frames; i++) {
    const struct stack_site site = stack_site_of(s->t, i);
    const bool has = !site.mapping || site.has_symbol;
    s->stack.symbol[i] = has ? s->stack.n_symbols : SQL_NONE;
    if (has) s->stack.symbols[s->stack.n_symbols++] = i;
  }
  return true;
}

static bool know_stacks(struct tk_sql *s) {
  return s->stack.known || (s->stack.known = collect_samples(s) && collect_modules(s) && collect_symbols(s));
}

/* ---- mappings, frames and symbols ---- */

static bool mapping_rows(struct tk_sql *s, uint32_t *n) {
  return know_stacks(s) && (*n = s->t->store->n_mappings + s->stack.n_modules, true);
}

static const char *no_module(const struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  return f && f->engine.no_module ? f->engine.no_module : "";
}

/* Returns a string, or an empty text if there is none. */
static int put_or_empty(const struct tk_sql *s, sqlite3_context *out, tk_id id) {
  if (id) return put_string(s, out, id);
  sqlite3_result_text(out, "", 0, SQLITE_STATIC);
  return SQLITE_OK;
}

/* Returns a value of a mapping that the file describes. */
static int filed_mapping_value(const struct tk_sql *s, const struct stack_mapping *m, int column, sqlite3_context *out) {
  const uint64_t numbers[] = {[2] = m->exact_offset, m->start_offset, m->start, m->end, m->load_bias};
  if (column == 1 || column == 7) return put_or_empty(s, out, column == 1 ? m->build_id : m->name);
  return put_number(out, (int64_t)numbers[column]);
}

static int mapping_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const uint32_t filed = s->t->store->n_mappings;
  if (row < filed) return filed_mapping_value(s, &s->t->store->mappings[row], column, out);
  row -= filed;
  switch (column) {
  case 1:
    sqlite3_result_text(out, "", 0, SQLITE_STATIC);
    return SQLITE_OK;
  case 5: return put_number(out, -1); /* as an unsigned number, the end of the address space */
  case 7:
    if (!s->stack.modules[row]) sqlite3_result_text(out, no_module(s), -1, SQLITE_STATIC);
    else sql_result_string(s, out, s->stack.modules[row]);
    return SQLITE_OK;
  default: return put_number(out, 0);
  }
}

static bool frame_rows(struct tk_sql *s, uint32_t *n) { return know_stacks(s) && (*n = s->t->n_frames, true); }

static bool frame_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  *key = column == 2 ? s->stack.mapping[row + 1] : s->stack.symbol[row + 1];
  return column == 2 || *key != SQL_NONE;
}

static int frame_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  int64_t key;
  switch (column) {
  case 1: return put_string(s, out, s->t->frames[row + 1].name);
  case 2: case 4: return frame_key(s, row, column, &key) ? put_number(out, key) : SQLITE_OK;
  case 3: return put_number(out, (int64_t)stack_site_of(s->t, row + 1).address);
  default: return SQLITE_OK;
  }
}

static bool symbol_rows(struct tk_sql *s, uint32_t *n) { return know_stacks(s) && (*n = s->stack.n_symbols, true); }

static int symbol_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct tk_frame *f = &s->t->frames[s->stack.symbols[row]];
  switch (column) {
  case 2: return put_string(s, out, f->name);
  case 3: return put_string(s, out, f->file);
  case 4: return f->line ? put_number(out, f->line) : SQLITE_OK;
  default: return SQLITE_OK;
  }
}

/* ---- call sites ---- */

static bool callsite_rows(struct tk_sql *s, uint32_t *n) {
  *n = s->t->n_stacks;
  return true;
}

static bool callsite_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  const struct tk_stack *v = &s->t->stacks[row + 1];
  *key = (int64_t)(column == 2 ? v->parent : v->frame) - 1;
  return *key >= 0;
}

static uint8_t outer_depth(const struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  return f ? f->engine.outer_depth : 0;
}

static int callsite_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  int64_t key;
  if (column == 1) return put_number(out, (int64_t)s->t->stacks[row + 1].depth - 1 + outer_depth(s));
  return callsite_key(s, row, column, &key) ? put_number(out, key) : SQLITE_OK;
}

/* ---- samples ---- */

static bool has_perf_samples(const struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  return f && f->engine.perf_samples;
}

static bool stack_sample_rows(struct tk_sql *s, uint32_t *n) { return know_stacks(s) && (*n = s->stack.n_samples, true); }

static bool profile_rows(struct tk_sql *s, uint32_t *n) {
  *n = 0;
  return has_perf_samples(s) || stack_sample_rows(s, n);
}

static bool perf_rows(struct tk_sql *s, uint32_t *n) {
  *n = 0;
  return !has_perf_samples(s) || stack_sample_rows(s, n);
}

static const struct tk_event *sample_at(const struct tk_sql *s, uint32_t row) { return &s->t->events[s->stack.samples[row]]; }

static int64_t utid_of(const struct tk_sql *s, const struct tk_event *e) {
  const uint32_t utid = s->tracks[e->track].utid;
  return utid == SQL_NONE ? -1 : (int64_t)utid;
}

static int64_t callsite_of(const struct tk_sql *s, const struct tk_event *e) { return (int64_t)s->t->classes[e->cls].stack - 1; }

/* Returns an index as a result; -1 becomes NULL. */
static int put_index(sqlite3_context *out, int64_t index) { return index < 0 ? SQLITE_OK : put_number(out, index); }

static bool profile_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  const struct tk_event *e = sample_at(s, row);
  *key = column == 1 ? times_at(&s->times, e->ts) : column == 2 ? callsite_of(s, e) : utid_of(s, e);
  return column == 1 || *key >= 0;
}

static int profile_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct tk_event *e = sample_at(s, row);
  switch (column) {
  case 1: return put_number(out, times_at(&s->times, e->ts));
  case 2: return put_index(out, callsite_of(s, e));
  case 3: return put_index(out, utid_of(s, e));
  default: return put_number(out, 0);
  }
}

static bool perf_key(const struct tk_sql *s, uint32_t row, int column, int64_t *key) {
  return profile_key(s, row, column == 5 ? 2 : column == 2 ? 3 : column, key);
}

/* Returns an arg of a sample: a number, a string, or NULL. */
static int put_arg(const struct tk_sql *s, const struct tk_event *e, const char *name, sqlite3_context *out) {
  struct tk_arg arg;
  if (!tk_args_find(s->t, e->args, name, &arg)) return SQLITE_OK;
  if (arg.type == TK_ARG_INT) return put_number(out, arg.i);
  return arg.type == TK_ARG_STR ? put_string(s, out, arg.s) : SQLITE_OK;
}

static int perf_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct tk_event *e = sample_at(s, row);
  switch (column) {
  case 1: return put_number(out, times_at(&s->times, e->ts));
  case 2: return put_index(out, utid_of(s, e));
  case 3: return put_arg(s, e, "cpu", out);
  case 4: return put_arg(s, e, "cpu_mode", out);
  case 5: return put_index(out, callsite_of(s, e));
  case 6: return put_arg(s, e, "unwind_error", out);
  default: return put_number(out, 0);
  }
}

static int put_weight(const struct tk_sql *s, const struct tk_event *e, sqlite3_context *out) {
  int32_t exp;
  const int64_t weight = tk_sample_weight(s->t, e, &exp);
  if (exp == 0) return put_number(out, weight);
  sqlite3_result_double(out, num_nearest(weight, exp));
  return SQLITE_OK;
}

static int stack_sample_value(struct tk_sql *s, uint32_t row, int column, sqlite3_context *out) {
  const struct tk_event *e = sample_at(s, row);
  const struct tk_class *c = &s->t->classes[e->cls];
  const struct track_origin *origin = &s->origins[e->track];
  switch (column) {
  case 1: case 2: case 3: return profile_value(s, row, column, out);
  case 4: return put_string(s, out, c->name);
  case 5: return put_string(s, out, c->cat);
  case 6: return put_weight(s, e, out);
  case 7: return put_string(s, out, c->unit);
  case 8: return put_index(out, origin->rank);
  default:
    if (*origin->host) sqlite3_result_text(out, origin->host, -1, SQLITE_STATIC);
    return SQLITE_OK;
  }
}

#define BIT(column) (1u << (column))

static const struct table TABLES[] = {
  {"stack_profile_mapping", "id INTEGER, build_id TEXT, exact_offset INTEGER, start_offset INTEGER, start INTEGER, \"end\" INTEGER, "
                            "load_bias INTEGER, name TEXT",
   mapping_rows, NULL, mapping_value, NULL, BIT(0), 0, 0, 0, 0},
  {"stack_profile_frame", "id INTEGER, name TEXT, mapping INTEGER, rel_pc INTEGER, symbol_set_id INTEGER, deobfuscated_name TEXT",
   frame_rows, NULL, frame_value, frame_key, BIT(0), 0, BIT(2) | BIT(4), 0, 0},
  {"stack_profile_symbol", "id INTEGER, symbol_set_id INTEGER, name TEXT, source_file TEXT, line_number INTEGER",
   symbol_rows, NULL, symbol_value, NULL, BIT(0) | BIT(1), 0, 0, 0, 0},
  {"stack_profile_callsite", "id INTEGER, depth INTEGER, parent_id INTEGER, frame_id INTEGER",
   callsite_rows, NULL, callsite_value, callsite_key, BIT(0), 0, BIT(2) | BIT(3), 0, 0},
  {"cpu_profile_stack_sample", "id INTEGER, ts INTEGER, callsite_id INTEGER, utid INTEGER, process_priority INTEGER",
   profile_rows, NULL, profile_value, profile_key, BIT(0), 0, BIT(2) | BIT(3), 1, BIT(2) | BIT(3)},
  {"perf_sample", "id INTEGER, ts INTEGER, utid INTEGER, cpu INTEGER, cpu_mode TEXT, callsite_id INTEGER, unwind_error TEXT, "
                  "perf_session_id INTEGER",
   perf_rows, NULL, perf_value, perf_key, BIT(0), 0, BIT(2) | BIT(5), 1, BIT(2) | BIT(5)},
  {"stack_sample", "id INTEGER, ts INTEGER, callsite_id INTEGER, utid INTEGER, name TEXT, category TEXT, "
                   "weight NUMERIC, unit TEXT, rank INTEGER, host TEXT",
   stack_sample_rows, NULL, stack_sample_value, profile_key, BIT(0), 0, BIT(2) | BIT(3), 1, BIT(2) | BIT(3)},
};

bool sql_register_stacks(struct tk_sql *s) {
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof TABLES / sizeof *TABLES; i++) ok = table_register(s, &TABLES[i]);
  return ok;
}

/* events_value.c - computes the values of the columns of an event row. Texts belong to the trace and outlive every statement. */
#include <math.h>
#include <string.h>

#include "events_value.h"
#include "events.h"
#include "op/launched.h"
#include "op/match.h"
#include "graph/args.h"
#include "argsets.h"
#include "relatives.h"
#include "tracks.h"
#include "op/step_launches.h"

void sql_result_string(const struct tk_sql *s, sqlite3_context *out, tk_id id) {
  if (!id) return;
  const struct intern_str *text = trace_str(s->t, id);
  const char *bytes = (const char *)text->bytes;
  sql_shows(s, bytes);
  sqlite3_result_text(out, bytes, (int)text->len, SQLITE_STATIC);
}

void sql_result_id(sqlite3_context *out, uint32_t id) {
  if (id != SQL_NONE) sqlite3_result_int64(out, id);
}

/* ---- kinds ---- */

bool sql_kinds(struct tk_sql *s) {
  if (s->has_kinds) return true;
  return s->has_kinds = kinds_init(&s->kinds, s->t, &s->mem);
}

bool sql_steps(struct tk_sql *s) {
  if (s->has_steps) return true;
  return s->has_steps = sql_kinds(s) && steps_runs_init(&s->steps, &s->kinds, s->origins, &s->mem) &&
                        step_launches_link(&s->steps, &s->kinds, s->origins, NULL);
}

/* Returns the most specific kind; an event can have several. */
static const char *main_kind(unsigned kind) {
  static const struct kind_word words[] = {
      {"collective", KIND_COLLECTIVE}, {"memcpy", KIND_MEMCPY},         {"memset", KIND_MEMSET}, {"transfer", KIND_TRANSFER},
      {"kernel", KIND_KERNEL},         {"runtime", KIND_RUNTIME},       {"step", KIND_STEP},     {"module", KIND_MODULE},
      {"python", KIND_PYTHON},         {"annotation", KIND_ANNOTATION}, {"op", KIND_OP},         {"async", KIND_ASYNC},
      {"counter", KIND_COUNTER},       {"instant", KIND_INSTANT},       {"span", KIND_SPAN},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (kind & words[i].kind) return words[i].word;
  return "span";
}

static const struct intern_str *all_kinds(struct tk_sql *s, unsigned kind) {
  struct buf text = {.mem = &s->mem};
  uint32_t *made = map_put(&s->kind_texts, kind, 0);
  if (made && !*made) {
    for (const struct kind_word *w = kind_words; w->word; w++) {
      if (!(kind & w->kind)) continue;
      if (text.len) buf_append(&text, " ", 1);
      buf_text(&text, w->word);
    }
    *made = intern(&s->texts, text.data, text.len);
    buf_free(&text);
  }
  return made && *made ? &s->texts.strs[*made] : NULL;
}

static int kind_value(struct tk_sql *s, const struct tk_event *e, bool all, sqlite3_context *out) {
  if (!sql_kinds(s)) return SQLITE_NOMEM;
  unsigned kind = kinds_of(&s->kinds, e);
  const struct intern_str *text = all ? all_kinds(s, kind) : NULL;
  if (all && !text) return SQLITE_NOMEM;
  if (all) sqlite3_result_text(out, (const char *)text->bytes, (int)text->len, SQLITE_STATIC);
  else sqlite3_result_text(out, main_kind(kind), -1, SQLITE_STATIC);
  return SQLITE_OK;
}

/* ---- streams and devices ---- */

static bool number_of_arg(const struct tk_sql *s, const struct tk_event *e, const char *name, int64_t *number) {
  struct tk_arg arg;
  tk_id key = trace_text_id(s->t, name);
  if (!key || !args_of_event(s->t, e, key, &arg) || arg.type != TK_ARG_INT) return false;
  *number = arg.i;
  return true;
}

static bool device_of(const struct tk_sql *s, const struct tk_event *e, int64_t *number) {
  return number_of_arg(s, e, "device", number) || match_device_in_name(s->t, e->track, number);
}

static bool stream_of(struct tk_sql *s, const struct tk_event *e, int64_t *number) {
  if (!sql_kinds(s) || !kinds_on_stream(&s->kinds, e)) return false;
  return number_of_arg(s, e, "stream", number) || match_stream_in_name(s->t, e->track, number);
}

/* ---- phases, ops and modules ---- */

static int around_value(struct tk_sql *s, tk_id event, enum around_fact fact, sqlite3_context *out) {
  struct around *a = &s->around[fact];
  size_t n;
  if (!a->t) {
    if (!sql_kinds(s) || !sql_steps(s)) return SQLITE_NOMEM;
    if (!around_init(a, fact, &s->kinds, &s->steps, s->origins, &s->mem)) {
      around_free(a);
      return SQLITE_NOMEM;
    }
  }
  const char *text = around_text(a, event, &n);
  if (!text) return SQLITE_OK;
  sql_shows(s, text);
  sqlite3_result_text(out, text, (int)n, SQLITE_STATIC);
  return SQLITE_OK;
}

/* ---- facts that are computed for all events at once ---- */

static bool find_launches(struct tk_sql *s) {
  if (s->launches) return true;
  if (!sql_kinds(s) || !(s->launches = mem_zeros(&s->mem, (uint64_t)s->t->n_events + 1, sizeof *s->launches))) return false;
  if (launched_each(&s->kinds, s->origins, &s->mem, launched_keep, s->launches)) return true;
  mem_free(&s->mem, s->launches);
  s->launches = NULL;
  return false;
}

static int launch_value(struct tk_sql *s, tk_id event, sqlite3_context *out) {
  if (!find_launches(s)) return SQLITE_NOMEM;
  if (s->launches[event]) sqlite3_result_int64(out, s->launches[event]);
  return SQLITE_OK;
}

static int self_value(struct tk_sql *s, tk_id event, sqlite3_context *out) {
  const struct tk_event *e = &s->t->events[event];
  if (!is_slice(e) || e->flags & TK_FLAG_UNFINISHED) return SQLITE_OK;
  if (!sql_selves(s)) return SQLITE_NOMEM;
  sqlite3_result_int64(out, num_ns(s->selves[event]));
  return SQLITE_OK;
}

/* ---- columns ---- */

static int ours(struct tk_sql *s, tk_id event, sqlite3_context *out, enum column column) {
  static const char *const KINDS[] = {[TK_EVENT_SPAN] = "span", [TK_EVENT_INSTANT] = "instant", [TK_EVENT_COUNTER] = "counter",
                                      [TK_EVENT_SAMPLE] = "sample"};
  const struct tk_event *e = &s->t->events[event];
  const struct track_origin *origin = &s->origins[e->track];
  int64_t number;
  switch (column) {
  case COL_PHASE: case COL_OP: case COL_MODULE: return around_value(s, event, (enum around_fact)(column - COL_PHASE), out);
  case COL_TYPE:
    sqlite3_result_text(out, KINDS[e->kind], -1, SQLITE_STATIC);
    break;
  case COL_KIND: case COL_KINDS: return kind_value(s, e, column == COL_KINDS, out);
  case COL_RANK:
    if (origin->rank >= 0) sqlite3_result_int64(out, origin->rank);
    break;
  case COL_HOST:
    if (*origin->host) sqlite3_result_text(out, origin->host, -1, SQLITE_STATIC);
    break;
  case COL_STEP:
    if (!sql_steps(s)) return SQLITE_NOMEM;
    if (steps_of(&s->steps, e, &number)) sqlite3_result_int64(out, number);
    break;
  case COL_STREAM:
    if (stream_of(s, e, &number)) sqlite3_result_int64(out, number);
    break;
  case COL_DEVICE:
    if (device_of(s, e, &number)) sqlite3_result_int64(out, number);
    break;
  case COL_LAUNCH_ID: return launch_value(s, event, out);
  case COL_CHILD_DUR:
    if (!sql_child_durs(s)) return SQLITE_NOMEM;
    sqlite3_result_int64(out, s->child_durs[event]);
    break;
  default: return self_value(s, event, out); /* COL_SELF_DUR */
  }
  return SQLITE_OK;
}

static void of_track(const struct tk_sql *s, const struct tk_event *e, sqlite3_context *out, enum column column) {
  const tk_id track = sql_track_of(s, e);
  const struct sql_track *v = &s->tracks[track];
  const struct sql_thread *thread = v->utid == SQL_NONE ? NULL : &s->threads[v->utid];
  const struct sql_process *process = v->upid == SQL_NONE ? NULL : &s->processes[v->upid];
  switch (column) {
  case COL_TRACK_NAME: sql_result_string(s, out, sql_track_name(s, track)); break;
  case COL_UTID: sql_result_id(out, v->utid); break;
  case COL_UPID: sql_result_id(out, v->upid); break;
  case COL_THREAD_NAME:
    if (thread) sql_result_string(s, out, thread->name);
    break;
  case COL_TID:
    if (thread) sqlite3_result_int64(out, thread->tid);
    break;
  case COL_IS_MAIN_THREAD:
    if (thread) sqlite3_result_int(out, thread->main);
    break;
  case COL_PROCESS_NAME:
    if (process) sql_result_string(s, out, process->name);
    break;
  default: /* COL_PID */
    if (process) sqlite3_result_int64(out, process->pid);
  }
}

static int of_stack(struct event_cursor *c, sqlite3_context *out, enum column column) {
  struct tk_sql *s = c->sql;
  if (!is_slice(&s->t->events[c->at])) return SQLITE_OK;
  if (column == COL_PARENT_ID ? !sql_parents(s) : !sql_stacks(s)) return SQLITE_NOMEM;
  const tk_id parent = s->parents[c->at];
  if (column == COL_STACK_ID) sqlite3_result_int64(out, (sqlite3_int64)s->stacks[c->at]);
  else if (column == COL_PARENT_STACK_ID) sqlite3_result_int64(out, (sqlite3_int64)s->stacks[parent]);
  else if (parent) sqlite3_result_int64(out, parent);
  return SQLITE_OK;
}

static void name_value(const struct event_cursor *c, const struct tk_event *e, sqlite3_context *out) {
  const struct tk_sql *s = c->sql;
  if (c->walk == WALK_NAMES) {
    if (c->text) sqlite3_result_text(out, c->text, (int)c->text_n, SQLITE_STATIC);
    return;
  }
  const tk_id name = s->t->classes[e->cls].name;
  if ((name && name != KEY_EMPTY) || s->times.exact) sql_result_string(s, out, name);
  else sqlite3_result_text(out, NO_NAME, -1, SQLITE_STATIC);
}

/* Returns the category; an empty one is NULL, as in trace_processor's JSON importer. */
static void category_value(const struct tk_sql *s, const struct tk_event *e, sqlite3_context *out) {
  const tk_id cat = s->t->classes[e->cls].cat;
  if (cat != KEY_EMPTY || s->times.exact) sql_result_string(s, out, cat);
}

/* Converts a thread time of an event from microseconds to ns. Perfetto files store an integer on the thread's clock. */
static bool thread_ns(const struct tk_sql *s, const struct tk_event *e, tk_id key, int64_t *ns) {
  struct tk_arg arg;
  if (!key || !is_slice(e) || !args_of_event(s->t, e, key, &arg)) return false;
  switch (arg.type) {
  case TK_ARG_INT:
    *ns = (int64_t)((uint64_t)arg.i * 1000);
    return true;
  case TK_ARG_DECIMAL:
    *ns = llround(num_nearest(arg.i, arg.exp) * 1000);
    return true;
  case TK_ARG_DOUBLE:
    *ns = llround(arg.d * 1000);
    return true;
  default: return false;
  }
}

static int thread_time(const struct tk_sql *s, const struct tk_event *e, bool dur, sqlite3_context *out) {
  int64_t ts, other;
  if (!s->times.exact && s->t->tracks[e->track].kind != TK_TRACK_THREAD) return SQLITE_OK; /* only threads have thread times */
  const bool has_ts = thread_ns(s, e, s->key_tts, &ts), lasts = !s->times.exact && e->kind == TK_EVENT_SPAN &&
      !(e->flags & TK_FLAG_PAIRED);
  if (!dur) {
    if (has_ts) sqlite3_result_int64(out, ts);
  } else if (has_ts && thread_ns(s, e, s->key_end_tts, &other)) sqlite3_result_int64(out, other - ts);
  else if ((has_ts || lasts) && thread_ns(s, e, KEY_TDUR, &other)) sqlite3_result_int64(out, other);
  return SQLITE_OK;
}

/* Returns the value of a rarely used column. Not inlined, because inlining makes other columns slower by 5 ns per row. */
__attribute__((noinline)) static int rare_value(struct event_cursor *c, sqlite3_context *out, enum column column) {
  struct tk_sql *s = c->sql;
  const struct tk_event *e = &s->t->events[c->at];
  uint32_t set;
  switch (column) {
  case COL_TRACK_ID: sqlite3_result_int64(out, sql_track_of(s, e)); break;
  case COL_ARG_SET_ID:
    if ((set = argset_of_event(s, c->at))) sqlite3_result_int64(out, set);
    break;
  case COL_NULL_INT: break;
  case COL_THREAD_TS: case COL_THREAD_DUR: return thread_time(s, e, column == COL_THREAD_DUR, out);
  case COL_ARGUMENT: sqlite3_result_int64(out, c->argument); break;
  case COL_STACK_ID: case COL_PARENT_STACK_ID: case COL_PARENT_ID: return of_stack(c, out, column);
  case COL_TRACK_NAME: case COL_THREAD_NAME: case COL_UTID: case COL_TID: case COL_IS_MAIN_THREAD: case COL_PROCESS_NAME:
  case COL_UPID: case COL_PID: of_track(s, e, out, column); break;
  default: return ours(s, c->at, out, column);
  }
  return SQLITE_OK;
}

int events_value(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
  struct event_cursor *c = (struct event_cursor *)cursor;
  struct tk_sql *s = c->sql;
  const struct tk_event *e = &s->t->events[c->at];
  const enum column is = (enum column)c->table->columns[column];
  switch (is) {
  case COL_ID: sqlite3_result_int64(out, c->at); break;
  case COL_TS: sqlite3_result_int64(out, times_at(&s->times, e->ts)); break;
  case COL_DUR:
    if (is_slice(e)) sqlite3_result_int64(out, times_dur(&s->times, e));
    break;
  case COL_CATEGORY: category_value(s, e, out); break;
  case COL_NAME: name_value(c, e, out); break;
  case COL_DEPTH:
    if (is_slice(e)) sqlite3_result_int(out, e->depth);
    break;
  default: return rare_value(c, out, is);
  }
  return SQLITE_OK;
}

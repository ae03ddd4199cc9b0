/* database.c - see database.h. */
#include "database.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/text.h"
#include "graph/args.h"

bool database_open(struct database *d, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  *d = (struct database){.t = t, .opt = opt, .in = in, .err = err};
  d->db = sqlite_open(in, &t->store->mem, err);
  if (d->db && sqlite_is_wal(d->db))
    trace_note(t, TK_NOTE_FACT, UINT64_MAX, "the database is in WAL mode: its latest changes, in a file ending in -wal, are not read");
  return d->db != NULL;
}

void database_close(struct database *d) {
  if (sqlite_is_cut(d->db)) {
    trace_note(d->t, TK_NOTE_REPAIR, in_size(d->in), "the file is shorter than the size in its header: the missing data is lost");
    d->t->truncated = true;
  }
  d->t->counts.bytes = in_size(d->in);
  d->t->counts.read = d->t->n_events;
  sqlite_close(d->db);
}

/* ---- rows ---- */

static bool report_progress(struct database *d) {
  const struct tk_progress p = d->opt->progress;
  if (!mem_check(&d->t->store->mem, d->err)) return false;
  if (!p.tick || p.tick(p.arg, in_raw_read(d->in), in_raw_total(d->in))) return true;
  return err_set(d->err, TK_EINTERRUPTED, "interrupted");
}

static bool note_damage(struct database *d, const struct sqlite_scan *s) {
  char text[200];
  if (!s->lost_rows && !s->lost_pages) return true;
  snprintf(text, sizeof text, "damaged rows or pages of table %.80s: skipped", s->table->name);
  if (d->opt->strict) return err_set(d->err, TK_ECORRUPT, "%s", text);
  trace_notes(d->t, TK_NOTE_REPAIR, UINT64_MAX, text, s->lost_rows + s->lost_pages);
  d->t->counts.dropped += s->lost_rows;
  return true;
}

static bool walk(struct database *d, const struct sqlite_table *table, const int *columns, unsigned n, database_take *take, void *arg) {
  enum { TICK = 1 << 14 };
  struct sqlite_scan s;
  bool ok = sqlite_begin(&s, d->db, table, columns, n, d->err);
  while (ok && sqlite_next(&s, d->err)) {
    take(&s, arg);
    ok = s.rows % TICK || report_progress(d);
  }
  ok = ok && !s.failed && note_damage(d, &s) && report_progress(d);
  sqlite_end(&s);
  return ok;
}

bool database_each(struct database *d, const char *table, const char *const *columns, database_take *take, void *arg) {
  const struct sqlite_table *t = sqlite_find(d->db, table);
  int index[SQLITE_COLUMNS];
  unsigned n = 0;
  for (; t && columns[n]; n++) index[n] = sqlite_column(t, columns[n]);
  return !t || walk(d, t, index, n, take, arg);
}

bool database_each_whole(struct database *d, const struct sqlite_table *table, database_take *take, void *arg) {
  int index[SQLITE_COLUMNS];
  unsigned n = 0;
  for (; n < table->n_columns && n < SQLITE_COLUMNS; n++) index[n] = (int)n;
  if (table->n_columns > SQLITE_COLUMNS)
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "tables with more than 64 columns: the columns after the 64th are lost");
  return walk(d, table, index, n, take, arg);
}

/* Returns the length of a name without its version, such as _V2, and sets *version; 0 if the name has none. */
static size_t without_version(const char *name, uint64_t *version) {
  enum { DIGITS_MOST = 9 };
  const size_t n = strlen(name);
  size_t at = n;
  while (at > 0 && ascii_digit(name[at - 1])) at--;
  if (at == n || n - at > DIGITS_MOST || at < 3 || name[at - 2] != '_' || ascii_lower(name[at - 1]) != 'v') return 0;
  *version = 0;
  for (size_t i = at; i < n; i++) *version = *version * 10 + (uint64_t)(name[i] - '0');
  return at - 2;
}

/* True if the database has the table without a version, or in a later one. */
static bool is_superseded(const struct database *d, const char *base, uint64_t version) {
  const size_t n = strlen(base);
  const struct sqlite_table *t;
  uint64_t other;
  if (sqlite_find(d->db, base)) return true;
  for (size_t i = 0; (t = sqlite_row(d->db, i)) != NULL; i++)
    if (without_version(t->name, &other) == n && ascii_equal(t->name, base, n) && other > version) return true;
  return false;
}

bool database_adopt_versions(struct database *d, bool (*is_known)(const char *table)) {
  char base[80], text[240];
  const struct sqlite_table *t;
  uint64_t version;
  for (size_t i = 0; (t = sqlite_row(d->db, i)) != NULL; i++) {
    const size_t n = is_known(t->name) ? 0 : without_version(t->name, &version);
    if (!n || n >= sizeof base) continue;
    snprintf(base, sizeof base, "%.*s", (int)n, t->name);
    if (!is_known(base) || is_superseded(d, base, version)) continue;
    snprintf(text, sizeof text, "table %.90s is read as a later version of %s", t->name, base);
    trace_note(d->t, TK_NOTE_FACT, UINT64_MAX, text);
    if (!sqlite_shorten(d->db, i, n)) return mem_refuse(&d->t->store->mem, d->err);
  }
  return true;
}

void database_note_unread(struct database *d, bool (*is_known)(const char *table)) {
  char text[160];
  const struct sqlite_table *t;
  for (size_t i = 0; (t = sqlite_row(d->db, i)) != NULL; i++) {
    const uint64_t n = is_known(t->name) ? 0 : sqlite_count(d->db, t);
    snprintf(text, sizeof text, "rows of table %.80s are not read", t->name);
    if (!n) continue;
    trace_notes(d->t, TK_NOTE_FACT, UINT64_MAX, text, n);
    trace_mark_unread(d->t, t->name);
  }
}

/* ---- values ---- */

tk_id database_string(struct database *d, const void *p, size_t n) {
  bool repaired = false;
  const tk_id id = intern_text(&d->t->store->strings, p, n, false, &repaired);
  if (repaired) trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "invalid UTF-8: replaced by U+FFFD");
  return id;
}

void database_arg(struct database *d, tk_id key, const struct cell *c) {
  switch (c->type) {
  case CELL_INT: args_int(d->t, key, c->i); return;
  case CELL_REAL: args_double(d->t, key, c->d); return;
  case CELL_TEXT: args_str(d->t, key, TK_ARG_STR, database_string(d, c->p, c->n)); return;
  default: return;
  }
}

void database_triple(struct database *d, tk_id key, const struct cell *v) {
  char text[80], *end = text;
  for (int i = 0; i < 3; i++) {
    if (v[i].type != CELL_INT) return;
    *end++ = i ? ',' : '[';
    end += num_put_i64(end, v[i].i);
  }
  *end++ = ']';
  args_str(d->t, key, TK_ARG_JSON, trace_string(d->t, text, (size_t)(end - text)));
}

/* ---- times ---- */

static const int64_t MOST_NS = INT64_C(100) * 86400 * 1000000000; /* 100 days; the range of tk_time is 106 days */

static bool number_of(const struct cell *c, int64_t *v) {
  char digits[24] = "";
  const uint8_t *end;
  *v = c->i;
  if (c->type != CELL_TEXT || c->n >= sizeof digits) return c->type == CELL_INT;
  memcpy(digits, c->p, c->n);
  const struct num n = num_scan((const uint8_t *)digits, &end);
  *v = n.mant;
  return n.kind == NUM_INT && !*end;
}

/* Converts a time as database_time in database.h describes; 0 stands for a missing time and must not become the origin. */
bool database_time(struct database *d, const struct cell *c, tk_time *ts) {
  int64_t at, ns;
  if (!number_of(c, &at) || (!d->has_origin && at == 0)) return false;
  if (!d->has_origin) {
    d->has_origin = true;
    d->origin = d->t->origin_ns = at;
  }
  if (__builtin_sub_overflow(at, d->origin, &ns) || ns > MOST_NS || ns < -MOST_NS) return false;
  *ts = ns * 1000;
  return true;
}

bool database_span(struct database *d, const struct cell *start, const struct cell *end, struct tk_event *e) {
  tk_time last = 0;
  if (!database_time(d, start, &e->ts)) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "rows without a usable start time: skipped");
    d->t->counts.dropped++;
    return false;
  }
  const bool ends = database_time(d, end, &last);
  e->kind = ends ? TK_EVENT_SPAN : TK_EVENT_BEGIN; /* without an end time: the process died before the span ended */
  if (ends && last < e->ts)
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "spans that end before they begin: the duration is set to 0");
  e->dur = ends && last > e->ts ? last - e->ts : 0;
  return true;
}

/* ---- events ---- */

tk_id database_add(struct database *d, const struct tk_event *e) {
  struct tk_event *added = trace_add_event(d->t);
  *added = *e;
  return (tk_id)(added - d->t->events);
}

void database_sample(struct database *d, tk_id counter, tk_time ts) {
  struct tk_event e = {.ts = ts, .kind = TK_EVENT_COUNTER, .track = counter, .args = args_end(d->t)};
  e.cls = trace_class(d->t, d->t->tracks[counter].name, 0);
  database_add(d, &e);
}

void database_point(struct database *d, tk_id event, enum tk_flow_role role, int64_t id, tk_id cls) {
  const struct tk_event *e = &d->t->events[event];
  struct tk_flow_point *f = trace_add_flow_point(d->t);
  *f = (struct tk_flow_point){.ts = e->ts, .id = id, .cls = cls, .at = e->track, .role = (uint8_t)role};
  f->id_kind = TK_FLOW_ID_INT;
  f->enclosing = role == TK_FLOW_END;
}

void database_link(struct database *d, tk_id from, tk_id to, tk_id cls) {
  d->n_flows++;
  database_point(d, from, TK_FLOW_START, d->n_flows, cls);
  database_point(d, to, TK_FLOW_END, d->n_flows, cls);
}

/* ---- tracks ---- */

static bool is_taken(const struct database *d, int64_t pid) {
  return trace_find(d->t, &(struct tk_track){.kind = TK_TRACK_PROCESS, .pid = ident_int(pid)}) != 0;
}

tk_id database_add_process(struct database *d, const char *name) {
  while (is_taken(d, d->n_processes)) d->n_processes++;
  const tk_id track = trace_process(d->t, ident_int(d->n_processes++));
  trace_own(d->t, track, UINT32_MAX); /* the pid is invented, so it must not be taken as the number of the owner */
  database_name(d, track, trace_text(d->t, name));
  return track;
}

tk_id database_add_device(struct database *d, const char *name, int64_t number) {
  if (number < 0 || number > UINT32_MAX || is_taken(d, number)) return database_add_process(d, name);
  const uint32_t next = d->n_processes;
  d->n_processes = (uint32_t)number;
  const tk_id track = database_add_process(d, name);
  d->n_processes = next;
  return track;
}

tk_id database_counter(struct database *d, tk_id process, tk_id name) {
  return trace_track(d->t, TK_TRACK_COUNTERS, d->t->tracks[process].pid, ident_none(), name);
}

void database_name(struct database *d, tk_id track, tk_id name) {
  d->t->tracks[track].name = name;
  d->t->tracks[track].renamed = name != 0;
}

/* ---- texts ---- */

struct text_item {
  uint64_t at, n; /* place in `bytes` */
  tk_id id;       /* string id; 0 = not used yet */
};

void database_texts_init(struct database_texts *x, struct mem *mem) {
  *x = (struct database_texts){.items.mem = mem, .bytes.mem = mem};
  map_init(&x->index, mem);
}

void database_texts_free(struct database_texts *x) {
  map_free(&x->index);
  buf_free(&x->items);
  buf_free(&x->bytes);
}

static void take_text(const struct sqlite_scan *row, void *arg) {
  struct database_texts *x = arg;
  const struct text_item item = {.at = x->bytes.len, .n = row->v[1].n};
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_TEXT) return;
  map_put(&x->index, (uint64_t)row->v[0].i, (uint32_t)(x->items.len / sizeof item));
  buf_append(&x->items, &item, sizeof item);
  buf_append(&x->bytes, row->v[1].p, row->v[1].n);
}

bool database_texts_read(struct database *d, struct database_texts *x, const char *table, const char *id, const char *text) {
  const char *const columns[] = {id, text, NULL};
  return database_each(d, table, columns, take_text, x);
}

tk_id database_text(struct database *d, struct database_texts *x, const struct cell *c) {
  if (c->type == CELL_TEXT) return database_string(d, c->p, c->n);
  if (c->type != CELL_INT) return 0;
  const uint32_t *known = map_get(&x->index, (uint64_t)c->i);
  if (!known) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "unknown name ids: names left empty");
    return 0;
  }
  struct text_item *item = (struct text_item *)(void *)x->items.data + *known;
  if (!item->id) item->id = database_string(d, x->bytes.data + item->at, (size_t)item->n);
  return item->id;
}

void database_text_arg(struct database *d, struct database_texts *x, tk_id key, const struct cell *c) {
  const tk_id text = c->type == CELL_NULL ? 0 : database_text(d, x, c);
  if (text) args_str(d->t, key, TK_ARG_STR, text);
}

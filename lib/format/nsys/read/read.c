/* read.c - the tables of an export in the order in which they are read: names, calls of the host, work of devices, counters.
 *
 * Never read, because a converted file is passed on: the environment of the job (TARGET_INFO_SYSTEM_ENV), its command line
 * (META_DATA_CAPTURE) and its output (ProcessStreams). */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "reader.h"

/* ---- detection ---- */

unsigned nsys_bid(const uint8_t *p, size_t n) { return sqlite_is(p, n) ? 128 : 0; }

bool nsys_is_database(const struct sqlite *db) {
  static const char *const PREFIX = "CUPTI_ACTIVITY_KIND_";
  const struct sqlite_table *t;
  if (!sqlite_find(db, "StringIds")) return false;
  for (size_t i = 0; (t = sqlite_row(db, i)) != NULL; i++)
    if (text_begins(t->name, PREFIX) || strcmp(t->name, "NVTX_EVENTS") == 0 || strcmp(t->name, "OSRT_API") == 0) return true;
  return sqlite_find(db, "META_DATA_EXPORT") != NULL || sqlite_find(db, "EXPORT_META_DATA") != NULL;
}

/* ---- rows ---- */

static bool tick(struct nsys *r) {
  const struct tk_progress p = r->opt->progress;
  if (!mem_check(&r->t->store->mem, r->err)) return false;
  if (!p.tick || p.tick(p.arg, in_raw_read(r->in), in_raw_total(r->in))) return true;
  return err_set(r->err, TK_EINTERRUPTED, "interrupted");
}

static bool note_damage(struct nsys *r, const struct sqlite_scan *s) {
  char text[200];
  if (!s->lost_rows && !s->lost_pages) return true;
  snprintf(text, sizeof text, "damaged rows or pages of table %.80s: skipped", s->table->name);
  if (r->opt->strict) return err_set(r->err, TK_ECORRUPT, "%s", text);
  trace_notes(r->t, TK_NOTE_REPAIR, UINT64_MAX, text, s->lost_rows + s->lost_pages);
  r->t->counts.dropped += s->lost_rows;
  return true;
}

static bool walk(struct nsys *r, const struct sqlite_table *table, const int *columns, unsigned n, nsys_take *take, void *arg) {
  enum { TICK = 1 << 14 };
  struct sqlite_scan s;
  bool ok = sqlite_begin(&s, r->db, table, columns, n, r->err);
  while (ok && sqlite_next(&s, r->err)) {
    take(r, &s, arg);
    ok = s.rows % TICK || tick(r);
  }
  ok = ok && !s.failed && note_damage(r, &s) && mem_check(&r->t->store->mem, r->err);
  sqlite_end(&s);
  return ok;
}

bool nsys_each(struct nsys *r, const char *table, const char *const *columns, nsys_take *take, void *arg) {
  const struct sqlite_table *t = sqlite_find(r->db, table);
  int index[SQLITE_COLUMNS];
  unsigned n = 0;
  for (; t && columns[n]; n++) index[n] = sqlite_column(t, columns[n]);
  return !t || walk(r, t, index, n, take, arg);
}

bool nsys_each_whole(struct nsys *r, const struct sqlite_table *table, nsys_take *take, void *arg) {
  int index[SQLITE_COLUMNS];
  unsigned n = 0;
  for (; n < table->n_columns && n < SQLITE_COLUMNS; n++) index[n] = (int)n;
  if (table->n_columns > SQLITE_COLUMNS) trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "tables with more than 64 columns: the others are lost");
  return walk(r, table, index, n, take, arg);
}

/* ---- the clock ---- */

bool nsys_time(const struct nsys *r, const struct cell *c, tk_time *ts) {
  static const int64_t MOST_NS = INT64_C(100) * 86400 * 1000000000;
  int64_t ns;
  if (c->type != CELL_INT || __builtin_sub_overflow(c->i, r->shift_ns, &ns)) return false;
  if (ns > MOST_NS || ns < -MOST_NS) return false;
  *ts = ns * 1000;
  return true;
}

/* Every time counts from the start of the session, plus what the export was told to add (--ts-normalize, --ts-shift). */
static void take_setting(struct nsys *r, const struct sqlite_scan *row, void *arg) {
  static const char SHIFT[] = "EXPORT_CONFIG_TIME_SHIFT";
  const uint8_t *end;
  (void)arg;
  if (row->v[0].type != CELL_TEXT || row->v[0].n != sizeof SHIFT - 1 || memcmp(row->v[0].p, SHIFT, sizeof SHIFT - 1) != 0) return;
  char digits[24] = "";
  if (row->v[1].type == CELL_TEXT && row->v[1].n < sizeof digits) memcpy(digits, row->v[1].p, row->v[1].n);
  const struct num n = num_scan((const uint8_t *)digits, &end);
  r->shift_ns = row->v[1].type == CELL_INT ? row->v[1].i : n.kind == NUM_INT ? n.mant : 0;
}

static void take_session(struct nsys *r, const struct sqlite_scan *row, void *arg) {
  (void)arg;
  if (row->v[0].type != CELL_INT || row->v[0].i <= 0 || r->t->clock == TK_CLOCK_REALTIME) return;
  r->t->origin_ns = r->t->zero_ns = row->v[0].i;
  r->t->has_zero = true;
  r->t->clock = TK_CLOCK_REALTIME;
  r->t->store->clock_from = "TARGET_INFO_SESSION_START_TIME";
}

static bool read_clock(struct nsys *r) {
  static const char *const SETTING[] = {"name", "value", NULL}, *const SESSION[] = {"utcEpochNs", NULL};
  return nsys_each(r, "META_DATA_EXPORT", SETTING, take_setting, NULL) &&
    nsys_each(r, "TARGET_INFO_SESSION_START_TIME", SESSION, take_session, NULL);
}

/* ---- what the profiler says ---- */

static void take_diagnostic(struct nsys *r, const struct sqlite_scan *row, void *arg) {
  enum { WARNING = 2 }; /* ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
  char text[240];
  (void)arg;
  if (row->v[0].type != CELL_INT || row->v[0].i < WARNING) return;
  const tk_id said = nsys_text(r, &row->v[1]);
  snprintf(text, sizeof text, "the profiler says: %.200s", tk_string(r->t, said, NULL));
  text[strcspn(text, "\r\n")] = 0;
  trace_note(r->t, TK_NOTE_FACT, UINT64_MAX, trace_text(r->t, text) ? text : "");
}

/* ---- what is not read ---- */

static bool is_support(const char *table) {
  static const char *const BEGINNINGS[] = {"ENUM_", "TARGET_INFO_", "META_DATA_", "EXPORT_META", "ANALYSIS_", "sqlite_", "_", NULL};
  static const char *const NAMES[] = {"StringIds", "PROCESSES", "ThreadNames", "ProcessStreams", "NVTX_EVENTS", "DIAGNOSTIC_EVENT",
                                      "GPU_METRICS", "CUDA_GPU_MEMORY_USAGE_EVENTS", "UnwindMethodType", NULL};
  if (text_any_begins(table, BEGINNINGS) || nsys_knows(table)) return true;
  for (const char *const *name = NAMES; *name; name++)
    if (strcmp(*name, table) == 0) return true;
  return false;
}

static void note_unread(struct nsys *r) {
  char text[160];
  const struct sqlite_table *t;
  for (size_t i = 0; (t = sqlite_row(r->db, i)) != NULL; i++) {
    const uint64_t n = is_support(t->name) ? 0 : sqlite_count(r->db, t);
    if (!n) continue;
    snprintf(text, sizeof text, "rows of table %.80s are not read", t->name);
    trace_notes(r->t, TK_NOTE_FACT, UINT64_MAX, text, n);
  }
}

/* ---- all ---- */

static void start(struct nsys *r) {
  struct mem *mem = &r->t->store->mem;
  struct map *const maps[] = {&r->texts, &r->threads, &r->streams, &r->devices, &r->calls, &r->processes, &r->linked, &r->labels, &r->domains, &r->categories};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], mem);
  r->text.mem = mem;
}

static void end(struct nsys *r) {
  struct map *const maps[] = {&r->texts, &r->threads, &r->streams, &r->devices, &r->calls, &r->processes, &r->linked, &r->labels, &r->domains, &r->categories};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_free(maps[i]);
  buf_free(&r->text);
  sqlite_close(r->db);
}

static bool read_all(struct nsys *r) {
  static const char *const SAID[] = {"severity", "text", NULL};
  bool ok = nsys_read_texts(r) && read_clock(r) && nsys_read_nvtx(r) && nsys_read_tables(r) && nsys_read_counters(r) &&
    nsys_name_tracks(r);
  if (!ok || !nsys_each(r, "DIAGNOSTIC_EVENT", SAID, take_diagnostic, NULL)) return false;
  note_unread(r);
  if (sqlite_is_cut(r->db)) {
    trace_note(r->t, TK_NOTE_REPAIR, in_size(r->in), "the file is shorter than its header says: what it lacks is lost");
    r->t->truncated = true;
  }
  return true;
}

bool nsys_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct nsys r = {.t = t, .opt = opt, .in = in, .err = err};
  r.db = sqlite_open(in, &t->store->mem, err);
  if (!r.db) return false;
  start(&r);
  const bool ok = read_all(&r);
  t->counts.bytes = in_size(in);
  t->counts.read = t->n_events;
  end(&r);
  return ok && mem_check(&t->store->mem, err);
}

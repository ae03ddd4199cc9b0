/* read.c - reads the tables of an export in this order: names, host calls, device work, counters.
 *
 * Some tables are never read, because converted files are passed on to others: the environment of the job
 * (TARGET_INFO_SYSTEM_ENV), its command line (META_DATA_CAPTURE) and its output (ProcessStreams). */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "chains.h"
#include "counters.h"
#include "gpus.h"
#include "nvtx.h"
#include "schemas.h"
#include "samples.h"
#include "sched.h"
#include "tables.h"
#include "texts.h"
#include "tracks.h"

/* ---- detection ---- */

unsigned nsys_bid(const uint8_t *p, size_t n) { return sqlite_is(p, n) ? 128 : 0; }

bool nsys_is_database(const struct sqlite *db) {
  static const char *const PREFIX = "CUPTI_ACTIVITY_KIND_";
  const struct sqlite_table *t;
  if (!sqlite_find(db, "StringIds")) return false;
  for (size_t i = 0; (t = sqlite_row(db, i)) != NULL; i++)
    if (text_begins(t->name, PREFIX) || nvtx_knows(t->name) || strcmp(t->name, "OSRT_API") == 0) return true;
  return sqlite_find(db, "META_DATA_EXPORT") != NULL || sqlite_find(db, "EXPORT_META_DATA") != NULL;
}

/* ---- the clock ---- */

/* Reads the amount that was added to all times of the export, as chosen by the user (--ts-normalize, --ts-shift). Without it, times
 * are relative to the start of the session. */
static void take_setting(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  static const char SHIFT[] = "EXPORT_CONFIG_TIME_SHIFT";
  const uint8_t *end;
  if (row->v[0].type != CELL_TEXT || row->v[0].n != sizeof SHIFT - 1 || memcmp(row->v[0].p, SHIFT, sizeof SHIFT - 1) != 0) return;
  char digits[24] = "";
  if (row->v[1].type == CELL_TEXT && row->v[1].n < sizeof digits) memcpy(digits, row->v[1].p, row->v[1].n);
  const struct num n = num_scan((const uint8_t *)digits, &end);
  r->d.origin = row->v[1].type == CELL_INT ? row->v[1].i : n.kind == NUM_INT ? n.mant : 0;
}

static void take_session(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  if (row->v[0].type != CELL_INT || row->v[0].i <= 0 || r->d.t->clock == TK_CLOCK_REALTIME) return;
  r->d.t->origin_ns = r->d.t->zero_ns = row->v[0].i;
  r->d.t->has_zero = true;
  r->d.t->clock = TK_CLOCK_REALTIME;
  r->d.t->store->clock_from = "TARGET_INFO_SESSION_START_TIME";
}

static bool read_clock(struct nsys *r) {
  r->d.has_origin = true; /* origin 0, unless the export adds an amount */
  static const char *const SETTING[] = {"name", "value", NULL}, *const SESSION[] = {"utcEpochNs", NULL};
  return database_each(&r->d, "META_DATA_EXPORT", SETTING, take_setting, r) &&
    database_each(&r->d, "TARGET_INFO_SESSION_START_TIME", SESSION, take_session, r);
}

/* ---- messages of the profiler ---- */

static void take_diagnostic(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  enum { WARNING = 2 }; /* value of ENUM_DIAGNOSTIC_SEVERITY_LEVEL */
  char text[240];
  if (row->v[0].type != CELL_INT || row->v[0].i < WARNING) return;
  const tk_id said = texts_of(r, &row->v[1]);
  snprintf(text, sizeof text, "the profiler says: %.200s", tk_string(r->d.t, said, NULL));
  text[strcspn(text, "\r\n")] = 0;
  trace_note(r->d.t, TK_NOTE_FACT, UINT64_MAX, text);
}

/* ---- known tables ---- */

static bool is_known(const char *table) {
  static const char *const BEGINNINGS[] = {"ENUM_", "TARGET_INFO_", "META_DATA_", "EXPORT_META", "ANALYSIS_", "NVTX_PAYLOAD_",
                                           "sqlite_", "_", NULL};
  static const char *const NAMES[] = {"StringIds", "PROCESSES", "ThreadNames", "ProcessStreams", "DIAGNOSTIC_EVENT",
                                      "GPU_METRICS", "CUDA_GPU_MEMORY_USAGE_EVENTS", "UnwindMethodType", "COMPOSITE_EVENTS",
                                      "MPI_RANKS", "SAMPLING_CALLCHAINS", "OSRT_CALLCHAINS", "CUDA_CALLCHAINS", "SCHED_EVENTS", NULL};
  if (text_any_begins(table, BEGINNINGS) || tables_know(table) || nvtx_knows(table)) return true;
  for (const char *const *name = NAMES; *name; name++)
    if (strcmp(*name, table) == 0) return true;
  return false;
}

/* ---- entry points ---- */

enum { MAPS = 11 };

static void list_maps(struct nsys *r, struct map **maps) {
  struct map *const all[MAPS] = {&r->labels, &r->threads, &r->streams, &r->devices,
                                 &r->processes, &r->calls, &r->linked, &r->domains, &r->categories, &r->chains,
                                 &r->communicators};
  memcpy(maps, all, sizeof all);
}

static void start(struct nsys *r) {
  struct mem *mem = &r->d.t->store->mem;
  struct map *maps[MAPS];
  list_maps(r, maps);
  for (size_t i = 0; i < MAPS; i++) map_init(maps[i], mem);
  database_texts_init(&r->texts, mem);
  schemas_init(&r->payloads, mem);
  r->text.mem = r->switches.mem = r->collectives.mem = r->used.mem = mem;
}

static void end(struct nsys *r) {
  struct map *maps[MAPS];
  list_maps(r, maps);
  for (size_t i = 0; i < MAPS; i++) map_free(maps[i]);
  buf_free(&r->text);
  buf_free(&r->switches);
  buf_free(&r->used);
  buf_free(&r->collectives);
  database_texts_free(&r->texts);
  schemas_free(&r->payloads);
}

static bool read_all(struct nsys *r) {
  static const char *const SAID[] = {"severity", "text", NULL};
  bool ok = database_adopt_versions(&r->d, is_known) && texts_read(r) && read_clock(r);
  ok = ok && chains_read_texts(r) && nvtx_read(r) && tables_read(r) && samples_read(r);
  ok = ok && sched_read(r) && counters_read(r) && tracks_name(r) && gpus_read(r) && sched_add(r);
  ok = ok && database_each(&r->d, "DIAGNOSTIC_EVENT", SAID, take_diagnostic, r);
  if (ok) database_note_unread(&r->d, is_known);
  return ok;
}

bool nsys_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct nsys r = {.flow_class = 0};
  if (!database_open(&r.d, in, t, opt, err)) return false;
  start(&r);
  const bool ok = read_all(&r);
  end(&r);
  database_close(&r.d);
  return ok && mem_check(&t->store->mem, err);
}

/* read.c - reads the tables of an Ascend database, each after the tables that it refers to. */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "counters.h"
#include "device.h"
#include "host.h"

unsigned ascend_bid(const uint8_t *p, size_t n) { return sqlite_is(p, n) ? 128 : 0; }

bool ascend_is_database(const struct sqlite *db) {
  return sqlite_find(db, "STRING_IDS") && (sqlite_find(db, "TASK") || sqlite_find(db, "CANN_API") || sqlite_find(db, "PYTORCH_API"));
}

/* Stores the rank under the key that Kineto's JSON uses, because source/identity.c looks for it there. */
static void take_rank(const struct sqlite_scan *row, void *arg) {
  struct ascend *r = arg;
  struct tk_trace *t = r->d.t;
  char text[48];
  if (row->v[0].type != CELL_INT || row->v[0].i < 0 || trace_meta(t, "distributedInfo")) return;
  const int n = snprintf(text, sizeof text, "{\"rank\":%lld}", (long long)row->v[0].i);
  const uint64_t at = t->store->raw.len;
  if (!buf_append(&t->store->raw, text, (size_t)n)) return;
  *trace_add_meta(t) = (struct tk_meta){.key = trace_text(t, "distributedInfo"), .at = at, .size = (uint64_t)n};
  trace_end_raw(t);
}

/* Makes the start of the session the origin of times: database_time uses the first time that it converts. */
static void take_session(const struct sqlite_scan *row, void *arg) {
  tk_time ts;
  database_time(arg, &row->v[0], &ts);
}

static bool is_known(const char *table) {
  static const char *const BEGINNINGS[] = {"ENUM_", "META_DATA", "sqlite_", NULL};
  static const char *const NAMES[] = {"STRING_IDS", "CONNECTION_IDS", "PYTORCH_API", "CANN_API", "TASK", "COMPUTE_TASK_INFO",
                                      "COMMUNICATION_TASK_INFO", "COMMUNICATION_OP", "RANK_DEVICE_MAP", "SESSION_TIME_INFO",
                                      "HOST_INFO",
                                      "NPU_INFO", "OVERLAP_ANALYSIS", "STEP_TIME", "status_info", "connectionCats", NULL};
  if (text_any_begins(table, BEGINNINGS) || ascend_is_counter(table)) return true;
  for (const char *const *name = NAMES; *name; name++)
    if (strcmp(*name, table) == 0) return true;
  return false;
}

enum { MAPS = 6 };

static void list_maps(struct ascend *r, struct map **maps) {
  struct map *const all[MAPS] = {&r->connections, &r->calls, &r->ops, &r->queued, &r->tasks, &r->groups};
  memcpy(maps, all, sizeof all);
}

static bool read_tables(struct ascend *r) {
  static const char *const RANK[] = {"rankId", NULL}, *const SESSION[] = {"startTimeNs", NULL};
  const bool ok = database_each(&r->d, "SESSION_TIME_INFO", SESSION, take_session, &r->d) &&
    database_texts_read(&r->d, &r->texts, "STRING_IDS", "id", "value") &&
    ascend_read_host(r) && ascend_read_device(r) &&
    ascend_read_counters(r) && database_each(&r->d, "RANK_DEVICE_MAP", RANK, take_rank, r);
  if (ok) database_note_unread(&r->d, is_known);
  return ok;
}

bool ascend_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct ascend r = {.pid = 0};
  struct map *maps[MAPS];
  if (!database_open(&r.d, in, t, opt, err)) return false;
  list_maps(&r, maps);
  for (size_t i = 0; i < MAPS; i++) map_init(maps[i], mem);
  database_texts_init(&r.texts, mem);
  r.links.mem = mem;
  t->clock = TK_CLOCK_REALTIME;
  t->store->clock_from = "times since the epoch";
  const bool ok = read_tables(&r);
  for (size_t i = 0; i < MAPS; i++) map_free(maps[i]);
  database_texts_free(&r.texts);
  buf_free(&r.links);
  database_close(&r.d);
  return ok && mem_check(mem, err);
}

/* ranks.c - finds the ranks of a database that covers several processes: each process that ran work on a device is a rank. Ranks are
 * numbered in the order of the devices. Neither schema stores the rank itself.
 *
 * rpd: an operation states no process, but the upper half of an id is the session, which one process wrote. rocpd: each process has its
 * own set of tables. */
#include "ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "read.h"
#include "rocpd.h"
#include "rpd.h"

struct ranks {
  struct parts *parts;
  struct database d;
  struct map numbers; /* rpd: session -> process; rocpd: agent -> number of the device */
  bool mixed;         /* some session contains several processes */
  int64_t process;    /* rocpd: first process of the set of tables */
};

/* ---- rpd ---- */

static void take_session(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  if (row->v[0].type != CELL_INT || row->v[1].type != CELL_INT) return;
  const uint32_t *known = map_put(&k->numbers, rpd_session(row->v[0].i), (uint32_t)row->v[1].i);
  if (known && *known != (uint32_t)row->v[1].i) k->mixed = true;
}

static void take_operation(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  const uint32_t *process = row->v[0].type == CELL_INT ? map_get(&k->numbers, rpd_session(row->v[0].i)) : NULL;
  if (process) parts_use(k->parts, *process, row->v[1].i);
}

static bool find_rpd(struct ranks *k) {
  static const char *const CALL[] = {"id", "pid", NULL}, *const WORK[] = {"id", "gpuId", NULL};
  if (!database_each(&k->d, "rocpd_api", CALL, take_session, k)) return false;
  return k->mixed || k->numbers.n < 2 || database_each(&k->d, "rocpd_op", WORK, take_operation, k);
}

/* ---- rocpd ---- */

static void take_process(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  if (k->process < 0 && row->v[0].type == CELL_INT) k->process = row->v[0].i;
}

static void take_agent(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  if (row->v[0].type == CELL_INT) map_put(&k->numbers, (uint64_t)row->v[0].i, (uint32_t)row->v[1].i);
}

static void take_dispatch(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  const uint32_t *device = database_find(&k->numbers, &row->v[0]);
  parts_use(k->parts, k->process, device ? *device : 0);
}

static void take_node(const struct sqlite_scan *row, void *arg) {
  struct ranks *k = arg;
  const struct cell *name = &row->v[0];
  if (name->type != CELL_TEXT || name->n >= sizeof k->parts->host || memchr(name->p, 0, name->n)) return;
  memcpy(k->parts->host, name->p, name->n);
  k->parts->host[name->n] = 0;
}

static bool each(struct ranks *k, const char *base, const char *id, const char *const *columns, database_take *take) {
  char table[128];
  snprintf(table, sizeof table, "%s%s", base, id);
  return database_each(&k->d, table, columns, take, k);
}

static bool find_set(struct ranks *k, const char *id) {
  static const char *const PROCESS[] = {"pid", NULL}, *const AGENT[] = {"id", "type_index", NULL};
  static const char *const DISPATCH[] = {"agent_id", NULL}, *const NODE[] = {"hostname", NULL};
  k->process = -1;
  map_free(&k->numbers); /* agents have other ids in each set */
  map_init(&k->numbers, k->parts->mem);
  if (!each(k, "rocpd_info_process", id, PROCESS, take_process) || !each(k, "rocpd_info_agent", id, AGENT, take_agent)) return false;
  return k->process < 0 || (each(k, "rocpd_kernel_dispatch", id, DISPATCH, take_dispatch) &&
                            each(k, "rocpd_info_node", id, NODE, take_node));
}

static bool find_rocpd(struct ranks *k) {
  static const char BASE[] = "rocpd_info_process";
  const struct sqlite_table *t;
  size_t n = 0;
  for (size_t i = 0; (t = sqlite_row(k->d.db, i)) != NULL; i++) n += rocpd_is_table(t->name, BASE);
  for (size_t i = 0; n > 1 && (t = sqlite_row(k->d.db, i)) != NULL; i++)
    if (rocpd_is_table(t->name, BASE) && !find_set(k, t->name + sizeof BASE - 1)) return false;
  return true;
}

/* ---- either ---- */

bool rocm_ranks(struct in *in, struct parts *parts, struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_trace *t = trace_new(parts->mem->limit);
  struct ranks k = {.parts = parts};
  if (!t) return err_set(err, TK_ELIMIT, "out of memory");
  map_init(&k.numbers, parts->mem);
  bool ok = database_open(&k.d, in, t, &defaults, err);
  if (ok) {
    ok = (rocm_is_rpd(k.d.db) ? find_rpd : find_rocpd)(&k);
    database_close(&k.d);
  }
  map_free(&k.numbers);
  tk_free(t);
  parts_sort(parts);
  return ok;
}

/* read.c - distinguishes rpd from rocpd databases, and reads either. */
#include "read.h"

#include "base/err.h"
#include "rocpd.h"
#include "rpd.h"
#include "work.h"

unsigned rocm_bid(const uint8_t *p, size_t n) { return sqlite_is(p, n) ? 128 : 0; }

bool rocm_is_rpd(const struct sqlite *db) { return sqlite_find(db, "rocpd_api") && sqlite_find(db, "rocpd_op"); }

bool rocm_is_database(const struct sqlite *db) {
  const struct sqlite_table *t;
  for (size_t i = 0; (t = sqlite_row(db, i)) != NULL; i++)
    if (rocpd_is_table(t->name, "rocpd_info_process")) return true;
  return rocm_is_rpd(db);
}

bool rocm_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct rocm r = {.flow_class = 0};
  if (!database_open(&r.d, in, t, opt, err)) return false;
  work_init(&r);
  const bool rpd = rocm_is_rpd(r.d.db), ok = rpd ? rpd_read(&r) : rocpd_read(&r);
  if (ok) database_note_unread(&r.d, rpd ? rpd_knows : rocpd_knows);
  work_free(&r);
  database_close(&r.d);
  return ok && mem_check(&t->store->mem, err);
}

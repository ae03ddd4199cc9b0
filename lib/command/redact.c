/* redact.c - implements the list of redacted texts, and tk_redact, which passes the hosts of the trace to the operation. */
#include "op/redact.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/options.h"
#include "io/out.h"
#include "op/redact_list.h"
#include "source/identity.h"

bool tk_redact(struct tk_trace *t, const struct tk_redact_options *opt, struct tk_redact_report *report, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_redact_report unused = {0};
  struct tk_redact_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  struct identity id = identity_of(t);
  struct track_origin *origins = identity_of_tracks(t, &mem);
  struct redact_plan plan = {.opt = &options, .origins = origins, .host = id.host};
  bool ok = origins ? op_redact(t, &plan, report ? report : &unused, err) : err_set(err, TK_ELIMIT, "out of memory");
  identity_free_tracks(origins, &mem);
  return ok;
}

/* ---- the list ---- */

struct tk_redact_list *tk_redact_list_new(void) {
  struct tk_redact_list *l = malloc(sizeof *l);
  if (!l) return NULL;
  *l = (struct tk_redact_list){.n = 0};
  intern_init(&l->texts, &l->mem);
  map_init(&l->rows_by_key, &l->mem);
  return l;
}

void tk_redact_list_free(struct tk_redact_list *l) {
  if (!l) return;
  intern_free(&l->texts);
  map_free(&l->rows_by_key);
  mem_free(&l->mem, l->rows);
  free(l);
}

static bool finish(struct tk_redact_list *l, struct out *o, bool opened, struct tk_err *err) {
  bool ok = opened && (redact_list_write(l, o) || mem_refuse(&l->mem, err)) && out_commit(o, err);
  out_close(o);
  return ok;
}

bool tk_redact_list_save(struct tk_redact_list *l, const char *path, bool force, struct tk_err *err) {
  const struct out_options opt = {.force = force, .owner_only = true};
  struct out o;
  if (err) err_clear(err);
  return finish(l, &o, out_open(&o, path, &opt, &l->mem, err), err) || err_prefix(err, "%s", path);
}

bool tk_redact_list_print(struct tk_redact_list *l, struct tk_writer to, struct tk_err *err) {
  struct out o;
  if (err) err_clear(err);
  return finish(l, &o, out_custom(&o, to, NULL, &l->mem, err), err);
}

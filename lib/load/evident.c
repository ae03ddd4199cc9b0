/* evident.c - see evident.h. */
#include "evident.h"

#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "format/format.h"
#include "recordings.h"
#include "source/identity.h"
#include "source/sources_beside.h"

/* True if the format states pids of the operating system. */
static bool has_pids(const struct tk_sources *s, size_t i) {
  const struct format *f = s->inputs[i].format ? format_by_name(s->inputs[i].format) : NULL;
  return f && !f->invents_pids;
}

static bool is_same_host(const struct tk_trace *a, const struct tk_trace *b, bool *known) {
  const struct identity x = identity_of(a), y = identity_of(b);
  *known = *x.host && *y.host;
  return strcmp(x.host, y.host) == 0;
}

/* Sets *one if the contents of both traces show that they are recordings of one rank. */
static bool compare(const struct tk_trace *a, const struct tk_trace *b, bool *one, struct tk_err *err) {
  struct mem mem = {0};
  const bool walled = a->clock == TK_CLOCK_REALTIME && b->clock == TK_CLOCK_REALTIME;
  bool known, same = is_same_host(a, b, &known), share = false;
  *one = false;
  if (known && !same) return true;
  if (walled ? !recordings_overlap(a, b) : !known) return true;
  if (!beside_share_process(a, b, &mem, &share)) return mem_refuse(&mem, err);
  *one = share;
  return true;
}

/* Joins input i with the main recording of its rank if their contents show that both are recordings of one rank. Inputs that cannot be
 * read stay separate: a later pass reports them. */
static bool join_if_evident(struct tk_sources *s, size_t main, size_t i, const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_trace *a = tk_sources_load(s, main, opt, err), *b = a ? tk_sources_load(s, i, opt, err) : NULL;
  bool one = false, ok = !a || !b || compare(a, b, &one, err);
  tk_free(a);
  tk_free(b);
  if (ok && err->code == TK_EINTERRUPTED) return false;
  if (ok) err_clear(err);
  if (ok && one) return sources_put_beside(s, main, i) || err_set(err, TK_ELIMIT, "out of memory");
  return ok;
}

bool load_join_evident(struct tk_sources *s, enum tk_align align, const struct tk_load_options *opt, struct tk_err *err) {
  size_t *main_of = calloc(s->n + 1, sizeof *main_of);
  bool ok = main_of || err_set(err, TK_ELIMIT, "out of memory"), any = false;
  sources_set_align(s, align);
  ok = ok && sources_find_recordings(s, main_of, err);
  for (size_t i = 0; ok && i < s->n; i++) {
    const size_t main = main_of[i];
    if (main == i || !has_pids(s, main) || !has_pids(s, i)) continue;
    ok = join_if_evident(s, main, i, opt, err);
    any = true;
  }
  free(main_of);
  if (ok && any) sources_drop_joined(s);
  return ok;
}

/* evident.c - see evident.h. */
#include "evident.h"

#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "format/format.h"
#include "source/identity.h"
#include "source/sources_beside.h"
#include "source/sources_join.h"

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

static bool overlap(const struct tk_trace *a, const struct tk_trace *b) {
  tk_time from[2], to[2];
  trace_extent(a, &from[0], &to[0]);
  trace_extent(b, &from[1], &to[1]);
  return trace_ns(a, 0, from[0]) <= trace_ns(b, 0, to[1]) && trace_ns(b, 0, from[1]) <= trace_ns(a, 0, to[0]);
}

/* Sets *one if the contents of both traces show that they are recordings of one rank. */
static bool compare(const struct tk_trace *a, const struct tk_trace *b, bool *one, struct tk_err *err) {
  struct mem mem = {0};
  const bool walled = a->clock == TK_CLOCK_REALTIME && b->clock == TK_CLOCK_REALTIME;
  bool known, same = is_same_host(a, b, &known), share = false;
  *one = false;
  if (known && !same) return true;
  if (walled ? !overlap(a, b) : !known) return true;
  if (!beside_share_process(a, b, &mem, &share)) return mem_refuse(&mem, err);
  *one = share;
  return true;
}

static bool is_final(const struct tk_err *err) { return err->code == TK_EINTERRUPTED; }

/* Joins the candidates of one rank with its main recording. */
static bool join_rank(struct tk_sources *s, const size_t *main_of, size_t main, const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_trace *a = NULL, *b;
  bool ok = true, one;
  for (size_t i = 0; i < s->n && ok; i++) {
    if (i == main || main_of[i] != main || !has_pids(s, i)) continue;
    if (!a) a = tk_sources_load(s, main, opt, err);
    if (!a) break;
    b = tk_sources_load(s, i, opt, err);
    if (!b) break;
    ok = compare(a, b, &one, err);
    tk_free(b);
    if (ok && one) ok = sources_put_beside(s, main, i) || err_set(err, TK_ELIMIT, "out of memory");
  }
  tk_free(a);
  return ok && !is_final(err);
}

bool load_join_evident(struct tk_sources *s, enum tk_align align, const struct tk_load_options *opt, struct tk_err *err) {
  size_t *main_of = calloc(s->n + 1, sizeof *main_of);
  bool ok = main_of || err_set(err, TK_ELIMIT, "out of memory"), any = false;
  sources_set_align(s, align);
  ok = ok && sources_find_recordings(s, main_of, err);
  for (size_t i = 0; ok && i < s->n; i++) {
    bool candidates = false;
    for (size_t k = 0; main_of[i] == i && k < s->n && !candidates; k++) candidates = k != i && main_of[k] == i;
    if (candidates && has_pids(s, i)) ok = join_rank(s, main_of, i, opt, err), any = true;
    if (ok) err_clear(err);
  }
  free(main_of);
  if (ok && any) sources_drop_joined(s);
  return ok;
}

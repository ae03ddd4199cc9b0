/* part.c - see part.h. */
#include "part.h"

#include "base/err.h"
#include "graph/subset.h"
#include "op/filter.h"

/* Returns, by track, the index of its part. */
static uint32_t *parts_of_tracks(const struct tk_trace *t, const struct parts *parts, struct mem *mem) {
  uint32_t *of = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *of);
  for (tk_id i = 1; of && i <= t->n_tracks; i++) {
    const int64_t owner = trace_owner(t, i);
    const struct parts_item *p = owner >= 0 ? parts_find(parts, owner) : NULL;
    of[i] = p ? (uint32_t)(p - parts->v) : 0;
  }
  return of;
}

/* Filters `t` into `to`, as op_filter does. */
static bool filter_part(struct tk_trace *t, struct tk_trace *to, const struct parts *parts, uint32_t at, struct tk_err *err) {
  static const struct tk_filter_options all = {0};
  struct mem mem = {0};
  struct tk_filter_report unused = {0};
  uint32_t *of = parts_of_tracks(t, parts, &mem);
  const struct filter_plan plan = {.opt = &all, .part_of = of, .part = at};
  const bool ok = mem_check(&mem, err) && op_filter(t, to, &plan, &unused, err);
  mem_free(&mem, of);
  return ok;
}

bool load_part(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err) {
  return filter_part(t, t, parts, at, err);
}

struct tk_trace *load_part_copy(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err) {
  struct tk_trace view = {.events = NULL};
  struct tk_trace *copy = filter_part(t, &view, parts, at, err) ? tk_copy(&view, err) : NULL;
  subset_free_view(&view);
  return copy;
}

static int64_t rank_of(const struct parts *parts, uint32_t i) { return parts->v[i].rank >= 0 ? parts->v[i].rank : i; }

void load_ranks_within(struct tk_trace *t, const struct parts *parts) {
  for (uint32_t i = 0; i < parts->n; i++) trace_number_owner(t, parts->v[i].process, rank_of(parts, i));
  trace_number_owner(t, TRACE_NO_OWNER, rank_of(parts, 0));
}

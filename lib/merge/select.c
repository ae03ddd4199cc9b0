/* select.c - removes unselected data from each input of a merge (select.h).
 *
 * Unselected ranks and steps are removed right after anchors were collected from the whole input, so that graphs kept for the second
 * pass are smaller. A time range refers to the common timeline, so it is applied only after the input has been moved there. */
#include "select.h"

#include "base/err.h"
#include "op/filter.h"
#include "source/identity.h"

bool merge_select_check(const struct tk_merge_options *opt, struct tk_err *err) {
  const struct tk_filter_options filter = {.time = opt->time, .steps = opt->steps};
  return tk_filter_check(&filter, err);
}

bool merge_selects_ranks(const struct tk_merge_options *opt) { return opt->n_ranks || opt->every_rank > 1; }

bool merge_wants_rank(const struct tk_merge_options *opt, int64_t rank) {
  bool any = !opt->n_ranks;
  for (size_t i = 0; !any && i < opt->n_ranks; i++) any = rank >= opt->ranks[i].first && rank <= opt->ranks[i].last;
  return any && (opt->every_rank < 2 || rank % opt->every_rank == 0);
}

/* For a merged trace: returns an array by track, which is 1 if the track's rank is selected or the track belongs to no rank, otherwise
 * 0. Sets *any to true if any rank is selected. NULL if memory runs out. */
static uint32_t *wanted_tracks(const struct tk_merge_options *opt, struct tk_trace *t, struct mem *mem, bool *any) {
  struct track_origin *origins = identity_of_tracks(t, mem);
  uint32_t *part = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *part);
  *any = false;
  for (tk_id i = 0; origins && part && i <= t->n_tracks; i++) {
    bool known = origins[i].rank >= 0, wanted = !known || merge_wants_rank(opt, origins[i].rank);
    part[i] = wanted;
    *any = *any || (known && wanted);
  }
  if (origins) identity_free_tracks(origins, mem);
  return origins ? part : NULL;
}

bool merge_wants(const struct tk_merge_options *opt, struct tk_trace *t, int64_t rank, struct tk_err *err) {
  struct mem mem = {0};
  bool any;
  if (!merge_selects_ranks(opt)) return true;
  if (!identity_is_merged(t)) return merge_wants_rank(opt, rank);
  mem_free(&mem, wanted_tracks(opt, t, &mem, &any));
  return mem_check(&mem, err) && any;
}

static bool cut_ranks(struct tk_trace *t, const struct tk_merge_options *opt, struct tk_err *err) {
  static const struct tk_filter_options all = {0};
  struct mem mem = {0};
  struct tk_filter_report unused = {0};
  bool any;
  const struct filter_plan plan = {.opt = &all, .part_of = wanted_tracks(opt, t, &mem, &any), .part = 1};
  bool ok = mem_check(&mem, err) && op_filter(t, t, &plan, &unused, err);
  mem_free(&mem, (void *)plan.part_of);
  return ok;
}

static bool cut_steps(struct tk_trace *t, const char *wanted, struct tk_err *err) {
  const struct tk_filter_options steps = {.steps = wanted};
  struct mem mem = {0};
  struct tk_filter_report unused = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  const struct filter_plan plan = {.opt = &steps, .origins = origins};
  bool ok = mem_check(&mem, err) && op_filter(t, t, &plan, &unused, err);
  identity_free_tracks(origins, &mem);
  return ok;
}

bool merge_cut(struct tk_trace *t, const struct tk_merge_options *opt, struct tk_err *err) {
  if (merge_selects_ranks(opt) && identity_is_merged(t) && !cut_ranks(t, opt, err)) return false;
  return !opt->steps || cut_steps(t, opt->steps, err);
}

bool merge_cut_time(struct tk_trace *t, const struct window *w, uint64_t *events, struct tk_err *err) {
  static const struct tk_filter_options all = {0};
  struct tk_filter_report report = {0};
  const struct filter_plan plan = {.opt = &all, .cut = w};
  if (!op_filter(t, t, &plan, &report, err)) return false;
  *events = report.events_before;
  return true;
}

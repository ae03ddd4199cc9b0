/* apply.c - implements tk_apply: converts one rank of a planned merge to a part.
 *
 *     plan -> a merger in the same state as in the full merge -> load -> merge_write, without the output's head -> part_end */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/options.h"
#include "base/os.h"
#include "base/path.h"
#include "base/progress.h"
#include "graph/diagnostics.h"
#include "load/load.h"
#include "merge/select.h"
#include "part.h"
#include "load/save.h"
#include "source/identity.h"
#include "source/sources.h"
#include "source/sources_parts.h"
#include "merge/merge.h"
#include "merge/rank.h"

struct applier {
  const struct tk_apply_options *opt;
  struct mem mem;
  struct tasks tasks;
  struct tk_merge_options merge;
  struct saver saver;
  struct merge_output output;
  struct merger m;
  struct merge_place_of place;
  struct tk_trace *trace;
};

/* ---- finding the rank ---- */

static bool is_named(const char *input, const char *name, bool leaf) {
  return strcmp(leaf ? path_leaf(input) : input, leaf ? path_leaf(name) : name) == 0;
}

/* Counts the plan's inputs with this name (`leaf`: only the last part of the name) and, if `number` is not NULL, this rank.
 * Sets *found to the last of them. */
static uint32_t count_inputs(const struct tasks *t, const char *name, bool leaf, const int64_t *number, uint32_t *found) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->sources.n; i++) {
    if (!is_named(t->inputs[i].name, name, leaf) || (number && t->plan->rank[i]->number != *number)) continue;
    *found = i;
    n++;
  }
  return n;
}

/* Finds the plan's input for the trace: by the input's full name, otherwise by the last part of the name, otherwise by the rank
 * that the trace states. Each of these must match exactly one input. */
static bool find_rank(struct applier *a, uint32_t *rank, struct tk_err *err) {
  const struct tasks *t = &a->tasks;
  const char *name = a->opt->input ? a->opt->input : a->trace->source;
  const int64_t stated = identity_of(a->trace).rank, *number = a->opt->rank ? a->opt->rank : &stated;
  uint32_t n = 0;
  if (count_inputs(t, name, false, a->opt->rank, rank) == 1 || count_inputs(t, name, true, a->opt->rank, rank) == 1) return true;
  if (a->opt->input) return err_set(err, TK_EUSAGE, "the plan has no input '%s', or several with this name", name);
  for (uint32_t i = 0; *number >= 0 && i < t->sources.n; i++) {
    if (t->plan->rank[i]->number != *number || t->plan->rank[i]->skipped) continue;
    *rank = i;
    n++;
  }
  return n == 1 || err_set(err, TK_EUSAGE, "%s: matches no input of the plan, or several; give its name in the plan", name);
}

/* For a file that contains several ranks: finds the selected rank in the plan, and sets *input to its index among the inputs of
 * the file. */
static bool find_part(struct applier *a, const struct tk_sources *sources, const char *name, uint32_t *rank, size_t *input,
                      struct tk_err *err) {
  const struct tasks *t = &a->tasks;
  const int64_t *number = a->opt->rank;
  if (a->opt->input) name = a->opt->input;
  if (!number)
    return err_set(err, TK_EUSAGE, "%s: contains %zu ranks, but apply writes one; select one by its number in the plan", name,
                   sources->n);
  if (count_inputs(t, name, false, number, rank) != 1 && count_inputs(t, name, true, number, rank) != 1)
    return err_set(err, TK_EUSAGE, "the plan has no rank %lld of '%s', or several", (long long)*number, name);
  *input = t->plan->rank[*rank]->part - (size_t)1;
  return *input < sources->n || err_set(err, TK_EUSAGE, "%s: has changed since it was scanned: it contains other ranks", name);
}

/* Adds a note if the trace is not the one that was scanned. */
static void compare_mark(const struct applier *a, uint32_t rank, struct tk_merge_report *report, uint64_t mark) {
  const uint64_t scanned = a->tasks.plan->rank[rank]->mark;
  if (scanned && scanned != mark)
    diagnostics_say(report->notes, a->trace->source, TK_NOTE_INFO, "has changed since it was scanned, so its clock may be wrong");
}

static bool load_rank(struct applier *a, const struct tk_sources *sources, size_t input, struct tk_err *err) {
  a->trace = tk_sources_load((struct tk_sources *)sources, input, &a->opt->load, err);
  if (!a->trace) return false;
  if (a->trace->truncated && !a->opt->keep_truncated && !a->tasks.opt.keep_truncated)
    return err_set(err, TK_ECORRUPT, "%s: truncated: its last events are missing", a->trace->source);
  return true;
}

/* Opens the file, loads the rank and finds it in the plan. */
static bool take_rank(struct applier *a, const char *name, struct tk_sources **sources, uint32_t *rank, struct tk_err *err) {
  struct tk_source_options options = sources_chosen(a->opt->source, &a->opt->load);
  size_t input = 0;
  options.by_rank = true;
  if (!(*sources = tk_sources_open(&name, 1, &options, err))) return false;
  const size_t n = (*sources)->n;
  if (n == 1) return load_rank(a, *sources, 0, err) && find_rank(a, rank, err);
  if (!n || sources_part(*sources, n - 1) != n)
    return err_set(err, TK_EUSAGE, "%s: contains %zu inputs; apply accepts one at a time", name, n);
  return find_part(a, *sources, name, rank, &input, err) && load_rank(a, *sources, input, err);
}

/* ---- writing ---- */

static bool write_rank(struct applier *a, uint32_t rank, struct tk_merge_report *report, struct tk_err *err) {
  struct merger *m = &a->m;
  struct tk_trace *t = a->trace;
  struct tk_merge_rank *r = &report->ranks[rank];
  const char *name = a->tasks.inputs[rank].name;
  const Plan__Rank *planned = a->tasks.plan->rank[rank];
  if (planned->part) t->store->rank = planned->number;
  if (identity_of(t).rank < 0 && !(planned->given && planned->number == rank)) {
    t->store->rank = planned->number;
    t->store->rank_from = planned->given ? IDENTITY_GIVEN : "file name";
  }
  if (strcmp(t->source, name) != 0) t->source = tk_string(t, trace_text(t, name), NULL);
  if (!mem_check(&t->store->mem, err)) return false; /* checked here because otherwise the name would be empty */
  r->input = merger_text(m, name);
  r->host = r->rank_from = "";
  progress_phase(&a->opt->save.progress, (struct tk_phase){"writing", r->input, rank + 1, a->tasks.sources.n, true});
  if (!merge_write(m, rank, t) || !part_end(&a->saver, m, &a->tasks, rank)) return false;
  return mem_check(&t->store->mem, err);
}

static bool open_part(struct applier *a, const char *path, uint32_t rank, uint32_t ordinal, struct tk_err *err) {
  const char *const inputs[] = {a->trace->source, NULL};
  struct tk_save_options *save = &a->merge.save;
  save->force = a->opt->save.force;
  save->progress = a->opt->save.progress;
  save->threads = 1;
  a->saver.part = a->saver.several = true;
  if (ordinal) a->saver.starts = &a->tasks.starts;
  if (!save_open(&a->saver, path, save, NULL, inputs, err)) return err_prefix(err, "%s", path);
  a->output = (struct merge_output){.sink = a->saver.sink, .saver = &a->saver, .needs_start = true};
  a->output.keeps_ids = a->saver.format->keeps_ids;
  if (!tasks_begin(&a->m, &a->tasks, err) || !tasks_rank(&a->m, &a->tasks, rank, &a->place, &ordinal)) return false;
  a->m.planned = &a->place;
  a->m.n_merged = ordinal;
  return true;
}

static bool report_of_one(struct tk_merge_report *report, uint32_t rank) {
  report->ranks[0] = report->ranks[rank];
  report->n_ranks = 1;
  return true;
}

static bool apply(struct applier *a, const char *plan, const char *rank, const char *output, struct tk_merge_report *report,
                  struct tk_err *err) {
  struct tk_sources *sources = NULL;
  uint32_t at = 0, ordinal = 0;
  if (!merge_report_init(report, 0, err) || !tasks_read(&a->tasks, plan, &a->mem, err)) return false;
  if (!merge_report_ranks(report, a->tasks.sources.n, err)) return false;
  a->merge = a->tasks.opt;
  a->m = (struct merger){.opt = &a->merge, .output = &a->output, .report = report};
  bool ok = take_rank(a, rank, &sources, &at, err);
  if (ok) compare_mark(a, at, report, scan_mark(a->trace));
  ok = ok && (merge_cut(a->trace, &a->merge, err) || err_prefix(err, "%s", rank));
  if (ok && a->tasks.plan->rank[at]->skipped)
    ok = err_set(err, TK_EUSAGE, "%s: the plan excludes this rank", a->tasks.inputs[at].name);
  for (uint32_t i = 0; ok && i < at; i++) ordinal += !a->tasks.plan->rank[i]->skipped;
  ok = ok && open_part(a, output, at, ordinal, err) && write_rank(a, at, report, err);
  ok = ok && (save_commit(&a->saver, &report->saved, err) || err_prefix(err, "%s", output));
  if (ok) diagnostics_add_notes(report->notes, a->trace, a->trace->source);
  tk_free(a->trace);
  tk_sources_close(sources);
  return ok && report_of_one(report, at);
}

bool tk_apply(const char *plan, const char *rank, const char *output, const struct tk_apply_options *opt,
              struct tk_merge_report **report, struct tk_err *err) {
  struct tk_apply_options options;
  struct tk_merge_report *unused = NULL;
  struct tk_err own;
  struct applier a = {.opt = &options};
  if (!err) err = &own;
  err_clear(err);
  if (!report) report = &unused;
  if (!NEW_REPORT(report, err) || !TAKE_OPTIONS(&options, opt, err)) return merge_report_drop(unused);
  a.mem.limit = os_memory_limit(a.opt->load.max_memory);
  bool ok = apply(&a, plan, rank, output, *report, err);
  mem_free(&a.m.mem, (void *)a.place.pids);
  merge_end(&a.m);
  save_close(&a.saver);
  tasks_free(&a.tasks);
  tk_merge_report_free(unused);
  return ok;
}

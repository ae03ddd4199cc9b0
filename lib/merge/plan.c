/* plan.c - makes the decisions of a merge that precede all writing (merger.h). The decisions are the same whether scans or the
 * inputs themselves are read. */
#include <stdio.h>
#include <string.h>

#include "plan.h"
#include "align/report.h"
#include "base/paths.h"
#include "order.h"
#include "share.h"
#include "shares.h"
#include "base/path.h"
#include "source/rundir.h"
#include "source/sources.h"
#include "alignment.h"

bool merge_joins(const struct merger *m) {
  return (m->n_inputs > 1 && !m->output->run) || m->opt->label || m->opt->group_by != TK_GROUP_RANK;
}

/* ---- names ---- */

/* True if the inputs belong to several runs, which only TK_ALIGN_START merges; each label must then contain run and step. */
static bool is_of_runs(const struct merger *m) {
  for (size_t i = 1; m->opt->align == TK_ALIGN_START && i < m->n_inputs; i++)
    if (strcmp(m->inputs[i].run, m->inputs[0].run) != 0 || strcmp(m->inputs[i].step, m->inputs[0].step) != 0) return true;
  return false;
}

const char *merge_label(const struct merger *m) {
  if (m->opt->label) return m->opt->label;
  return is_of_runs(m) ? "{run} - step {step} - " LABEL_DEFAULT : LABEL_DEFAULT;
}

static const char *name_of_input(const void *arg, size_t i) { return ((const struct tk_input *)arg)[i].name; }

/* Finds how many parent folders labels must include to make the names of the inputs differ. */
static bool find_folders(struct merger *m) {
  m->folders = paths_folders(name_of_input, m->inputs, m->n_inputs, &m->mem);
  return mem_check(&m->mem, m->err);
}

/* ---- ranks and pids ---- */

/* Values of m->ranks for ranks that no input has claimed. RESERVED: an input will claim the rank. GIVEN: the number was given to an
 * input whose own rank was taken. */
enum { SLOT_RESERVED = INT32_MAX - 1, SLOT_GIVEN = INT32_MAX };

/* Reserves the ranks that inputs will claim, so that none of them is given to an input whose own rank is already taken. */
static bool reserve_ranks(struct merger *m) {
  const struct merge_who *who = m->alignment.who;
  for (size_t i = 0; who && i < m->n_inputs; i++) {
    const bool claims = who[i].rank >= 0 && who[i].rank < INT64_MAX;
    if (claims && !map_put(&m->ranks, (uint64_t)who[i].rank, SLOT_RESERVED)) return mem_refuse(&m->mem, m->err);
  }
  return true;
}

int64_t merge_given_rank(const struct merger *m, size_t input) {
  const struct merge_who *who = m->alignment.who;
  int64_t last = -1, rank, before = 0;
  if (who && who[input].rank >= 0 && who[input].rank < INT64_MAX) return who[input].rank;
  if (who) return (int64_t)input;
  for (size_t i = 0; i < m->n_inputs; i++) {
    const bool is_named = rundir_rank(path_leaf(m->inputs[i].name), &rank) && rank < INT32_MAX;
    if (is_named && rank > last) last = rank;
    before += !is_named && i < input;
  }
  return last < 0 ? (int64_t)input : last + 1 + before;
}

int64_t merge_slot(struct merger *m, size_t input, int64_t rank, int64_t *claimed, uint32_t *other) {
  int64_t sort = *claimed = rank >= 0 ? rank : merge_given_rank(m, input);
  uint32_t *slot = map_put(&m->ranks, (uint64_t)sort, 0);
  *other = 0;
  if (!slot) return sort;
  if (*slot == 0 || *slot == SLOT_RESERVED) {
    *slot = (uint32_t)input + 1;
    return sort;
  }
  if (*slot != SLOT_GIVEN) *other = *slot;
  if (sort > INT32_MAX) sort = 0; /* leaves room to count up to a free number */
  while (slot && *slot) slot = map_put(&m->ranks, (uint64_t)++sort, 0);
  if (slot) *slot = SLOT_GIVEN;
  return sort;
}

struct pid_change *merge_pids(struct merger *m, const int64_t *pids, uint32_t n) {
  struct pid_change *changes = mem_array(&m->mem, (uint64_t)n + 1, sizeof *changes);
  if (changes && renumber_give_pid(&m->ids, pids, n, changes)) return changes;
  mem_free(&m->mem, changes);
  return NULL;
}

/* ---- clocks and order ---- */

static bool order_rows(struct merger *m) {
  if (m->opt->group_by != TK_GROUP_HOST || !m->alignment.who) return true;
  m->places = mem_array(&m->mem, m->n_inputs, sizeof *m->places);
  if (!m->places) return mem_refuse(&m->mem, m->err);
  return merge_order(m->alignment.who, m->n_inputs, true, m->places) || err_set(m->err, TK_ELIMIT, "out of memory");
}

/* True if an input is stdin. Reading stdin twice requires a copy, which is too expensive just to learn the start time. */
static bool has_stdin(const struct merger *m) {
  for (size_t i = 0; i < m->n_inputs; i++)
    if (strcmp(m->inputs[i].name, "standard input") == 0 || strcmp(m->inputs[i].name, "-") == 0) return true;
  return false;
}

static bool align_inputs(struct merger *m) {
  const struct merge_inputs in = {.sources = m->sources, .first = m->first, .n = m->n_inputs, .scans = m->scans,
                                  .weighed = m->weighed, .packed = m->packed};
  bool start = m->scans || m->output->needs_start || m->opt->to_zero || (m->opt->align != TK_ALIGN_NONE && !has_stdin(m));
  return merge_align(&m->alignment, &in, m->opt, start, m->report, m->err);
}

/* Aligns the inputs. If viewers of the format ignore sort indices, they show processes in file order, so the inputs are sorted by rank
 * and aligned again. */
static bool align_in_order(struct merger *m) {
  bool sorted = true;
  if (!align_inputs(m)) return false;
  const struct merge_who *who = m->alignment.who;
  for (size_t i = 1; who && i < m->n_inputs; i++) sorted = sorted && who[i - 1].rank <= who[i].rank;
  if (sorted || !m->output->own_order) return true;
  uint32_t *places = mem_array(&m->mem, m->n_inputs, sizeof *places);
  bool ok = places && merge_order(who, m->n_inputs, false, places) && sources_arrange(m->sources, m->first, m->n_inputs, places);
  mem_free(&m->mem, places);
  if (!ok) return err_set(m->err, TK_ELIMIT, "out of memory");
  merge_alignment_free(&m->alignment); /* no longer valid after sorting: it is indexed by input, and relative to the first input */
  align_report_free(m->report);
  return align_inputs(m);
}

bool merge_plan(struct merger *m) {
  if (!align_in_order(m) || !reserve_ranks(m) || !order_rows(m) || !find_folders(m)) return false;
  m->first_link = 1;
  m->ids.graphs = (uint32_t)m->n_inputs;
  if (m->opt->link_collectives) m->ids.first_id = 1 + (int64_t)m->alignment.collectives.n;
  return merge_shares_plan(m);
}

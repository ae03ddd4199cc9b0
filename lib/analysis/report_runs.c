/* report_runs.c - names the runs of a report whose inputs have the same ranks, as if each were a separate job (report.h).
 * Names that the user gave are kept; if there are any, the other runs have names, too. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ---- equal names ---- */

static int by_place(const void *p, const void *q) {
  const struct tk_report_rank *const *a = p, *const *b = q;
  if ((*a)->rank != (*b)->rank) return (*a)->rank < (*b)->rank ? -1 : 1;
  const int order = (*a)->rank < 0 ? strcmp((*a)->host, (*b)->host) : 0;
  return order ? order : strcmp((*a)->input, (*b)->input);
}

/* True if the rows are of the same rank, or of the same host without a rank, in two inputs. */
static bool is_twin(const struct tk_report_rank *a, const struct tk_report_rank *b) {
  if (a->rank != b->rank || strcmp(a->input, b->input) == 0) return false;
  return a->rank >= 0 || (*a->host && strcmp(a->host, b->host) == 0);
}

/* True if two inputs have the same rank, or the same host without a rank. If `run` is set, they must also have the same run. */
static bool has_twins(const struct tk_report_rank **v, size_t n, bool run) {
  for (size_t i = 1; i < n; i++)
    if (is_twin(v[i - 1], v[i]) && (!run || strcmp(v[i - 1]->run, v[i]->run) == 0)) return true;
  return false;
}

/* ---- names ---- */

/* Returns the length of the folders with which all inputs begin, including the last slash. */
static size_t common_folders(const struct tk_report *r) {
  const char *first = r->ranks[0].input;
  size_t n = strlen(first);
  for (size_t i = 1; i < r->n_ranks; i++) {
    size_t k = 0;
    while (k < n && first[k] == r->ranks[i].input[k]) k++;
    n = k;
  }
  while (n && first[n - 1] != '/') n--;
  return n;
}

/* Names each run without a label by the folder, or the file, at which the paths of the inputs begin to differ. whole: use the rest of
 * the path from there. */
static void name_runs(struct tk_report *r, const bool *labelled, size_t folders, bool whole) {
  for (size_t i = 0; i < r->n_ranks; i++) {
    if (labelled[i]) continue;
    const char *rest = r->ranks[i].input + folders;
    r->ranks[i].run = report_keep(r->impl, rest, whole || *rest == '/' ? strlen(rest) : strcspn(rest, "/"));
  }
}

bool report_runs_name(struct tk_report *r) {
  const struct tk_report_rank **v = mem_array(&r->impl->mem, r->n_ranks + 1, sizeof *v);
  bool *labelled = mem_array(&r->impl->mem, r->n_ranks + 1, sizeof *labelled);
  bool any = false;
  for (size_t i = 0; v && labelled && i < r->n_ranks; i++) {
    labelled[i] = *r->ranks[i].run != 0;
    any = any || labelled[i];
    v[i] = &r->ranks[i];
  }
  const bool ok = v && labelled;
  if (ok && r->n_ranks) qsort(v, r->n_ranks, sizeof *v, by_place);
  if (ok && (any || has_twins(v, r->n_ranks, false))) {
    const size_t folders = common_folders(r);
    name_runs(r, labelled, folders, false);
    if (has_twins(v, r->n_ranks, true)) name_runs(r, labelled, folders, true);
  }
  mem_free(&r->impl->mem, v);
  mem_free(&r->impl->mem, labelled);
  return ok;
}

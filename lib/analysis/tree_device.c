/* tree_device.c - see tree_device.h. */
#include "tree_device.h"

#include <stdlib.h>
#include <string.h>

#include "op/launched.h"

/* ---- add ---- */

static bool in_step(const struct tree *tree, tk_id event) {
  return !tree->opt->per_step || steps_at(&tree->match.steps, &tree->t->events[event]);
}

bool tree_device_rests(const struct tree *tree, tk_id work) {
  return tree->place_of[work] == PLACE_OUTSIDE || (tree->place_of[work] == PLACE_UNKNOWN && in_step(tree, work));
}

static struct interval work_of(const struct tree *tree, tk_id event) {
  const struct tk_event *e = &tree->t->events[event];
  return measure_part(scope_window(&tree->scope, e), e->ts, e->ts + e->dur);
}

static void add_work(void *arg, tk_id launch, tk_id work) {
  struct tree *tree = arg;
  const uint32_t node = tree->around[launch];
  if (!scope_holds(&tree->scope, &tree->t->events[work])) return;
  tree->place_of[work] = node ? PLACE_NODE : in_step(tree, launch) ? PLACE_OUTSIDE : PLACE_STEPLESS;
  if (node) tree_nodes_work(tree, node, work_of(tree, work));
}

static bool add_works(struct tree *tree) {
  if (!tree->found) return launched_each(&tree->match.kinds, tree->match.origins, tree->mem, add_work, tree);
  for (tk_id i = 1; i <= tree->t->n_events; i++)
    if (tree->found->launch_of[i]) add_work(tree, tree->found->launch_of[i], i);
  return true;
}

/* Measures the total time in which any work ran, and that in which work outside of all nodes ran. */
static bool measure_rest(struct tree *tree) {
  const struct tk_trace *t = tree->t;
  struct intervals rest = {0}, all = {0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < tree->n_works; i++) ok = measure_add(&all, tree->works[i].when, tree->mem);
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    if (!launched_is_work(&tree->match.kinds, &t->events[i]) || !scope_holds(&tree->scope, &t->events[i])) continue;
    if (!tree_device_rests(tree, i)) continue;
    ok = measure_add(&rest, work_of(tree, i), tree->mem) && measure_add(&all, work_of(tree, i), tree->mem);
  }
  tree->report->outside = measure_join(&rest, tree->mem, &ok);
  tree->report->work = measure_join(&all, tree->mem, &ok);
  return ok;
}

bool tree_device_add(struct tree *tree) {
  const size_t n = (size_t)tree->t->n_events + 1;
  tree->place_of = mem_array(tree->mem, n, sizeof *tree->place_of);
  if (!tree->place_of) return false;
  memset(tree->place_of, PLACE_UNKNOWN, n * sizeof *tree->place_of);
  if (!add_works(tree) || tree->mem->failed) return false;
  return tree->opt->layers || !tree->n_works || measure_rest(tree);
}

/* ---- sum ---- */

/* Returns the intervals of all work, sorted by the index of the work's node in the report. Sets from[k] to the first interval whose
 * node has index k or higher. Returns NULL if memory runs out. */
static struct interval *sort_works(const struct tree *tree, uint32_t *from) {
  struct interval *v = mem_array(tree->mem, (uint64_t)tree->n_works + 1, sizeof *v);
  if (!v) return NULL;
  for (uint32_t i = 0; i < tree->n_works; i++) from[tree->nodes[tree->works[i].node].order + 1]++;
  for (uint32_t k = 1; k <= tree->n; k++) from[k] += from[k - 1];
  for (uint32_t i = 0; i < tree->n_works; i++) v[from[tree->nodes[tree->works[i].node].order]++] = tree->works[i].when;
  for (uint32_t k = tree->n; k; k--) from[k] = from[k - 1];
  from[0] = 0;
  return v;
}

/* Computes the device time of each node. The intervals of a node and its descendants are contiguous. If all of them belong to one
 * child, copies the child's time, which is faster on long paths. */
bool tree_device_sum(struct tree *tree) {
  struct interval *v = mem_array(tree->mem, 2 * (uint64_t)tree->n_works + 1, sizeof *v);
  uint32_t *from = mem_zeros(tree->mem, (uint64_t)tree->n + 1, sizeof *from);
  struct interval *sorted = from ? sort_works(tree, from) : NULL;
  for (uint32_t i = v && sorted ? tree->n : 1; i-- > 1;) {
    struct node *n = &tree->nodes[i];
    const uint32_t count = from[n->last + 1] - from[n->order];
    n->launched = count;
    for (uint32_t c = n->child; c && !n->device; c = tree->nodes[c].sibling)
      if (tree->nodes[c].launched == count) n->device = tree->nodes[c].device;
    if (n->device) continue;
    memcpy(v, sorted + from[n->order], count * sizeof *v);
    n->device = measure_union(v, count, v + count);
  }
  mem_free(tree->mem, v);
  mem_free(tree->mem, from);
  mem_free(tree->mem, sorted);
  return v && sorted;
}

/* tree_nodes.c - see tree_nodes.h. */
#include "tree_nodes.h"

uint32_t tree_nodes_child(struct tree *tree, uint32_t parent, uint32_t group, bool is_by) {
  uint32_t *slot = map_put(&tree->children, (uint64_t)parent << 32 | group, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(tree->mem, (void **)&tree->nodes, &tree->cap, (uint64_t)tree->n + 1, sizeof *tree->nodes)) return 0;
  tree->nodes[tree->n] = (struct node){.parent = parent, .group = group, .is_by = is_by, .is_sum = is_by, .start = INT64_MAX,
                                       .stepless = is_by ? group == GROUP_NONE : tree->nodes[parent].stepless};
  return *slot = tree->n++;
}

bool tree_nodes_work(struct tree *tree, uint32_t node, struct interval when) {
  if (!mem_grow(tree->mem, (void **)&tree->works, &tree->cap_works, (uint64_t)tree->n_works + 1, sizeof *tree->works)) return false;
  tree->works[tree->n_works++] = (struct tree_work){node, when};
  return true;
}

void tree_nodes_start(struct tree *tree, const struct tk_event *e, uint32_t node) {
  if (e->flags & TK_FLAG_LOST_CLOCK) return;
  for (uint32_t k = node; k && e->ts < tree->nodes[k].start; k = tree->nodes[k].parent) tree->nodes[k].start = e->ts;
}

bool tree_nodes_stepless(struct tree *tree, const struct tk_event *e) {
  if (!tree->opt->per_step || steps_at(&tree->match.steps, e)) return false;
  tree->report->stepless++;
  return true;
}

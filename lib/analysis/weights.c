/* weights.c - see weights.h. The stacks form a tree, which is visited once. So the time depends on the number of stacks, and not on the
 * number of samples times their depth. */
#include "weights.h"

#include <string.h>

void weights_see(struct weight_unit *u, const struct tk_trace *t, const struct tk_event *e) {
  int exp;
  if (e->kind == TK_EVENT_SPAN) u->times = true;
  if (e->kind != TK_EVENT_SAMPLE || u->times) return;
  const tk_id unit = t->classes[e->cls].unit;
  if (stack_unit_is_time(t, unit, &exp)) u->times = true;
  else if (!u->unit) u->unit = unit;
}

bool weights_of(struct weight_unit *u, const struct tk_trace *t, const struct tk_event *e, i128 *amount) {
  const tk_id unit = t->classes[e->cls].unit;
  int exp;
  *amount = 0;
  if (u->times ? stack_unit_is_time(t, unit, &exp) : unit == u->unit) {
    *amount = stack_amount(t, e);
    return true;
  }
  u->n_other++;
  return false;
}

const char *weights_unit(const struct weight_unit *u, const struct tk_trace *t) {
  return u->times || !u->unit ? NULL : tk_string(t, u->unit, NULL);
}

bool weights_init(struct weights *w, const struct tk_trace *t, struct mem *mem) {
  const uint64_t n = (uint64_t)t->n_stacks + 1;
  *w = (struct weights){mem, mem_zeros(mem, n, sizeof *w->sums)};
  return w->sums != NULL;
}

void weights_free(struct weights *w) {
  if (w->mem) mem_free(w->mem, w->sums);
  w->sums = NULL;
}

/* Adds the sums of each entry to the sums of its parent. */
static void roll_up(struct weights *w, const struct tk_trace *t) {
  for (tk_id i = 0; i <= t->n_stacks; i++) {
    w->sums[i].total = w->sums[i].self;
    w->sums[i].n_total = w->sums[i].n_self;
  }
  for (tk_id i = t->n_stacks; i > 0; i--) {
    struct stack_sum *up = &w->sums[t->stacks[i].parent];
    if (!t->stacks[i].parent) continue;
    up->total += w->sums[i].total;
    up->n_total += w->sums[i].n_total;
  }
}

/* The tree of stacks: first child and next sibling of each entry; children of 0 are the outermost entries. */
struct stack_tree {
  tk_id *child, *sibling;
  uint32_t *open; /* by group: number of open entries */
};

static void plant(const struct tk_trace *t, struct stack_tree *tree) {
  for (tk_id i = t->n_stacks; i > 0; i--) {
    const tk_id parent = t->stacks[i].parent;
    tree->sibling[i] = tree->child[parent];
    tree->child[parent] = i;
  }
}

static void visit(const struct tk_trace *t, struct stack_tree *tree, const uint32_t *group_of, weights_see_stack *see, void *arg) {
  tk_id at = tree->child[0];
  while (at) {
    const uint32_t group = group_of[t->stacks[at].frame];
    const bool is_outer = tree->open[group]++ == 0;
    see(arg, at, is_outer);
    if (tree->child[at]) {
      at = tree->child[at];
      continue;
    }
    for (tree->open[group]--; at && !tree->sibling[at]; tree->open[at ? group_of[t->stacks[at].frame] : 0] -= at != 0)
      at = t->stacks[at].parent;
    at = at ? tree->sibling[at] : 0;
  }
}

bool weights_outer(const struct tk_trace *t, struct mem *mem, const uint32_t *group_of, uint32_t n_groups, weights_see_stack *see,
                   void *arg) {
  const uint64_t n = (uint64_t)t->n_stacks + 1;
  struct stack_tree tree = {mem_zeros(mem, n, sizeof(tk_id)), mem_array(mem, n, sizeof(tk_id)),
                            mem_zeros(mem, (uint64_t)n_groups + 1, sizeof(uint32_t))};
  const bool ok = tree.child && tree.sibling && tree.open;
  if (ok) {
    plant(t, &tree);
    visit(t, &tree, group_of, see, arg);
  }
  mem_free(mem, tree.child);
  mem_free(mem, tree.sibling);
  mem_free(mem, tree.open);
  return ok;
}

struct giving {
  const struct weights *w;
  const struct tk_trace *t;
  const uint32_t *group_of;
  weights_take *add;
  void *arg;
};

static void give_sum(void *arg, tk_id stack, bool is_outer) {
  const struct giving *g = arg;
  const struct stack_sum *sum = &g->w->sums[stack];
  if (sum->n_total) g->add(g->arg, g->group_of[g->t->stacks[stack].frame], sum, is_outer);
}

bool weights_each(struct weights *w, const struct tk_trace *t, const uint32_t *group_of, uint32_t n_groups, weights_take *add,
                  void *arg) {
  struct giving g = {w, t, group_of, add, arg};
  roll_up(w, t);
  return weights_outer(t, w->mem, group_of, n_groups, give_sum, &g);
}

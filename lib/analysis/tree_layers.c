/* tree_layers.c - see tree_layers.h. */
#include "tree_layers.h"

#include <string.h>

#include "graph/args.h"
#include "op/regions.h"
#include "op/scopes.h"

bool tree_layers_holds(const struct tree *tree, const struct tk_event *e) {
  if (tree->layers == TREE_MODULES) return regions_is_module(tree->t, e->cls);
  const unsigned kind = kinds_of(&tree->match.kinds, e);
  return kind & KIND_ANNOTATION && !(kind & (KIND_DEVICE | KIND_STEP));
}

/* Sets *path to the scopes that the event states. Returns false if it states none. */
static bool scopes_of(const struct tree *tree, const struct tk_event *e, const char **path) {
  struct tk_arg arg;
  if (!args_of_event(tree->t, e, tree->path, &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) return false;
  *path = tk_string(tree->t, arg.s, NULL);
  return true;
}

/* Returns the node of the modules in the scopes of work; the last scope is the operation itself. */
static uint32_t hang_scopes(struct tree *tree, const struct tk_event *e) {
  uint32_t node = tree->opt->has_by ? tree_nodes_child(tree, 0, groups_of(tree->by, e), true) : 0;
  const uint32_t top = node;
  const char *p = "", *name;
  if (!scopes_of(tree, e, &p)) p = "";
  while (*p) {
    const size_t n = scopes_part(p), m = p[n] ? scopes_module(p, n, &name) : 0;
    if (m) node = tree_nodes_child(tree, node, groups_of_text(tree->names, name, m), false);
    if (m) tree->nodes[node].is_sum = true;
    p += n;
    p += *p == '/';
  }
  return node != top ? node : tree_nodes_child(tree, top, GROUP_NONE, false);
}

static bool add_scoped(struct tree *tree, const struct work *w) {
  const struct tk_event *e = &tree->t->events[w->event];
  const uint32_t node = hang_scopes(tree, e);
  if (!node || !mem_grow(tree->mem, (void **)&tree->works, &tree->cap_works, (uint64_t)tree->n_works + 1, sizeof *tree->works))
    return false;
  tree->works[tree->n_works++] = (struct tree_work){node, {w->start, w->end - w->start}};
  struct node *n = &tree->nodes[node];
  n->count += w->first;
  n->timed += w->first;
  n->total += w->end - w->start;
  n->self += w->end - w->start;
  tree_nodes_start(tree, e, node);
  return true;
}

bool tree_layers_add(struct tree *tree, const struct works *works) {
  struct interval *v = mem_array(tree->mem, 2 * (uint64_t)works->n + 1, sizeof *v);
  uint32_t n = 0;
  bool ok = v != NULL;
  for (uint32_t i = 0; ok && i < works->n; i++) {
    const struct work *w = &works->v[i];
    if (tree->opt->per_step && !steps_at(&tree->match.steps, &tree->t->events[w->event])) continue;
    v[n++] = (struct interval){w->start, w->end - w->start};
    if (tree->layers == TREE_SCOPES) ok = add_scoped(tree, w);
  }
  if (ok) tree->report->work = measure_union(v, n, v + n);
  mem_free(tree->mem, v);
  return ok;
}

/* Args that contain the scopes of work: of XLA's programs, and of work that TensorFlow itself launched. */
static const char *const PATHS[] = {"tf_op", "level 0"};

static bool any_scopes(struct tree *tree, const struct works *works) {
  const char *path;
  for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
    tree->path = intern_id(&tree->t->store->strings, PATHS[k], strlen(PATHS[k]));
    for (uint32_t i = 0; tree->path && i < works->n; i++)
      if (scopes_of(tree, &tree->t->events[works->v[i].event], &path) && *path) return true;
  }
  return false;
}

static bool any_modules(const struct tree *tree) {
  for (tk_id i = 1; i <= tree->t->n_classes; i++)
    if (regions_is_module(tree->t, i)) return true;
  return false;
}

void tree_layers_choose(struct tree *tree, const struct works *works) {
  static const char *const WORDS[] = {[TREE_SCOPES] = "scopes", [TREE_MODULES] = "modules", [TREE_ANNOTATIONS] = "annotations"};
  tree->layers = any_scopes(tree, works) ? TREE_SCOPES : any_modules(tree) ? TREE_MODULES : TREE_ANNOTATIONS;
  tree->report->layers = WORDS[tree->layers];
}

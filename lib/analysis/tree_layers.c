/* tree_layers.c - see tree_layers.h. */
#include "tree_layers.h"

#include <string.h>

#include "base/text.h"
#include "graph/args.h"
#include "op/backward.h"
#include "op/regions.h"
#include "op/scopes.h"
#include "op/pending.h"
#include "tree_device.h"

bool tree_layers_holds(const struct tree *tree, const struct tk_event *e) {
  const unsigned kind = kinds_of(&tree->match.kinds, e);
  if (tree->layers == TREE_MODULES) return !(kind & KIND_DEVICE) && regions_is_module(tree->t, e->cls);
  const bool is_step = kind & KIND_STEP && !(tree->begins.cuts && tree->begins.marks && tree->begins.marks[e->cls]);
  return kind & KIND_ANNOTATION && !(kind & KIND_DEVICE) && !is_step;
}

/* Returns the scopes in the event's arg `path`; "" if there is none. */
static const char *scopes_of(const struct tk_trace *t, const struct tk_event *e, tk_id path) {
  struct tk_arg arg;
  if (!args_of_event(t, e, path, &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) return "";
  return tk_string(t, arg.s, NULL);
}

/* Returns the node for the modules among the scopes of work. Ignores the last scope, which is the operation itself. If there are no
 * modules, returns the node without a name. */
static uint32_t hang_scopes(struct tree *tree, const struct tk_event *e) {
  uint32_t node = tree->opt->has_by ? tree_nodes_child(tree, 0, groups_of(tree->by, e), true) : 0;
  const uint32_t top = node;
  const char *p = scopes_of(tree->t, e, tree->path), *name;
  while (*p) {
    const size_t n = scopes_part(p), m = p[n] ? scopes_module(p, n, &name) : 0;
    if (m) node = tree_nodes_child(tree, node, groups_of_name(tree->names, name, m), false);
    if (m) tree->nodes[node].is_sum = true;
    p += n;
    p += *p == '/';
  }
  return node != top ? node : tree_nodes_child(tree, top, GROUP_NONE, false);
}

static bool add_scoped(struct tree *tree, const struct work *w) {
  const struct tk_event *e = &tree->t->events[w->event];
  const uint32_t node = hang_scopes(tree, e);
  if (!node || !tree_nodes_work(tree, node, (struct interval){w->start, w->end - w->start})) return false;
  struct node *n = &tree->nodes[node];
  n->count += w->first;
  n->timed += w->first;
  n->total += w->end - w->start;
  n->self += w->end - w->start;
  tree_nodes_start(tree, e, node);
  return true;
}

/* Adds work to the row without a name if it was launched outside of all layers. */
static bool add_rest(struct tree *tree, const struct work *w) {
  const struct tk_event *e = &tree->t->events[w->launch ? w->launch : w->event];
  if (!tree_device_rests(tree, w->event)) return true;
  const uint32_t top = tree->opt->has_by ? tree_nodes_child(tree, 0, groups_of(tree->by, e), true) : 0;
  const uint32_t node = tree_nodes_child(tree, top, GROUP_NONE, false);
  if (!node || !tree_nodes_work(tree, node, (struct interval){w->start, w->end - w->start})) return false;
  tree->nodes[node].count += w->first;
  return true;
}

static bool add_scopes(struct tree *tree, const struct works *works) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < works->n; i++)
    if (!tree_nodes_stepless(tree, &tree->t->events[works->v[i].event])) ok = add_scoped(tree, &works->v[i]);
  return ok;
}

bool tree_layers_add(struct tree *tree, const struct works *works) {
  struct intervals all = {0};
  bool ok = tree->layers != TREE_SCOPES || add_scopes(tree, works);
  for (uint32_t i = 0; ok && tree->layers != TREE_SCOPES && i < works->n; i++) ok = add_rest(tree, &works->v[i]);
  for (uint32_t i = 0; ok && works->n && i < tree->n_works; i++) ok = measure_add(&all, tree->works[i].when, tree->mem);
  tree->report->work = measure_join(&all, tree->mem, &ok);
  return ok;
}

/* ---- the backward pass ---- */

/* True if a span may move from the layer `from` to the layer `to`: `from` must be a layer around `to`, or 0 (outside of all layers). */
static bool is_around(const struct tree *tree, uint32_t from, uint32_t to) {
  while (to && to != from) to = tree->nodes[to].parent;
  return to == from;
}

/* Returns the node of an operator of the backward pass, which is below the layer of its forward pass. Returns 0 if the trace does not
 * link the operator to a layer, or if the operator is already in another layer. */
static uint32_t hang_operator(struct tree *tree, tk_id event, tk_id forward) {
  const struct tk_event *e = &tree->t->events[event];
  const uint32_t layer = forward ? tree->around[forward] : 0;
  if (!layer || !scope_holds(&tree->scope, e) || !is_around(tree, tree->around[event], layer)) return 0;
  if (tree->opt->per_step && !steps_at(&tree->match.steps, e)) return 0;
  return tree_nodes_child(tree, layer, groups_of_name(tree->names, "(backward)", 10), false);
}

/* Adds the operators of the backward pass on a track to the layers of their forward pass. If nested operators have the same forward
 * pass, adds only the outermost one. */
static bool hang_operators(struct tree *tree, tk_id track, const tk_id *forward_of) {
  const struct tk_trace *t = tree->t;
  const struct tk_track *k = &t->tracks[track];
  within_begin(&tree->within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct within_span around = within_find(&tree->within, &t->events[i]);
    const bool own = tree->node_of[i] != 0;
    const uint32_t node = own ? 0 : hang_operator(tree, i, forward_of[i]);
    if (node && node != around.node) tree->node_of[i] = node;
    if (!own && (node || around.node)) tree->around[i] = node ? node : around.node;
    if (!pending_add(&tree->within, &tree->match.kinds, i, around, own ? tree->node_of[i] : node)) return false;
  }
  return true;
}

bool tree_layers_hang_backward(struct tree *tree) {
  const struct tk_trace *t = tree->t;
  tk_id *forward_of = tree->layers == TREE_SCOPES ? NULL : backward_find(&tree->match.kinds, tree->mem);
  bool ok = true;
  for (tk_id k = 1; forward_of && ok && k <= t->n_tracks; k++)
    if (t->tracks[k].kind == TK_TRACK_THREAD) ok = hang_operators(tree, k, forward_of);
  mem_free(tree->mem, forward_of);
  return ok && !tree->mem->failed;
}

/* ---- steps ---- */

/* Counts the steps of a run that begin in the selected range, except steps that an earlier run has already counted. `most`: by step
 * number, the maximum number of times that a run contains it. In a joined run, several devices mark the same steps, so each number is
 * counted once. */
static bool count_numbers(struct tree *tree, const struct steps_run *run, struct map *most) {
  const struct window *w = &tree->scope.window;
  struct map here;
  bool ok = true;
  map_init(&here, tree->mem);
  for (uint32_t i = 0; ok && i < run->n; i++) {
    if (run->v[i].start < w->start || run->v[i].start >= w->end) continue;
    uint32_t *count = map_put(&here, (uint64_t)run->v[i].number, 0);
    uint32_t *known = map_put(most, (uint64_t)run->v[i].number, 0);
    ok = count && known;
    if (!ok || (run->source == STEPS_JOINED && *count) || ++*count <= *known) continue;
    *known = *count;
    tree->report->calls++;
  }
  map_free(&here);
  return ok;
}

/* Sets divides[] for each run of steps that applies to work: the run of its launch or, if layers come from the args of the work, the
 * run of the work itself. */
static void mark_runs(const struct tree *tree, const struct works *works, bool *divides) {
  const struct steps *s = &tree->match.steps;
  for (uint32_t i = 0; i < works->n; i++) {
    const struct work *w = &works->v[i];
    const tk_id event = w->launch && tree->layers != TREE_SCOPES ? w->launch : w->event;
    divides[steps_runs_own(s, tree->t->events[event].track) - s->runs] = true;
  }
}

bool tree_layers_count_steps(struct tree *tree, const struct works *works) {
  const struct steps *s = &tree->match.steps;
  bool *divides = mem_zeros(tree->mem, (uint64_t)s->n_runs + 1, sizeof *divides), ok = divides;
  struct map most;
  map_init(&most, tree->mem);
  if (ok) mark_runs(tree, works, divides);
  for (uint32_t i = 1; ok && i < s->n_runs; i++)
    if (divides[i]) ok = count_numbers(tree, &s->runs[i], &most);
  map_free(&most);
  mem_free(tree->mem, divides);
  return ok;
}

/* ---- the kind of the layers ---- */

/* Args that contain the scopes of work. `begin`: prefix of scopes, if the arg can also contain other text; "" = any. */
static const struct {
  const char *key, *begin;
} PATHS[] = {
    {"tf_op", ""},    /* programs of XLA */
    {"level 0", ""},  /* work that was launched by TensorFlow without XLA */
    {"name", "jit("}, /* programs of XLA on ROCm, where tf_op is only "XlaModule:" */
};

static bool is_path(const char *text, const char *begin) { return strchr(text, '/') && text_begins(text, begin); }

static bool any_scopes(const struct tk_trace *t, const struct works *works, tk_id *path) {
  for (size_t k = 0; k < sizeof PATHS / sizeof *PATHS; k++) {
    *path = trace_text_id(t, PATHS[k].key);
    for (uint32_t i = 0; *path && i < works->n; i++)
      if (is_path(scopes_of(t, &t->events[works->v[i].event], *path), PATHS[k].begin)) return true;
  }
  return false;
}

static bool any_modules(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (regions_is_module(t, i)) return true;
  return false;
}

enum tree_layers tree_layers_of(const struct tk_trace *t, const struct works *works, tk_id *path) {
  if (any_scopes(t, works, path)) return TREE_SCOPES;
  return any_modules(t) ? TREE_MODULES : TREE_ANNOTATIONS;
}

bool tree_layers_choose(struct tree *tree, const struct works *works) {
  static const char *const WORDS[] = {[TREE_SCOPES] = "scopes", [TREE_MODULES] = "modules", [TREE_ANNOTATIONS] = "annotations"};
  tree->layers = tree_layers_of(tree->t, works, &tree->path);
  tree->report->layers = WORDS[tree->layers];
  return step_names_find(&tree->begins, tree->t, tree->mem);
}

/* tree.c - see tree.h, and struct tk_tree_node for the meaning of each figure.
 *
 *     hang      find the node of each selected span: the path of selected spans around it, and its own name
 *     add       sum up durations and self times
 *     device    add device work to all spans around its launch (tree_device.c)
 *     layers    device time by layer (tree_layers.c)
 *     waiting   assign work launched by autograd threads to the spans in which their caller waits (tree_waiting.c)
 *     order     sort siblings by total time or by start, and put parents before children */
#include "tree_layers.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "op/modules.h"
#include "op/scopes.h"
#include "graph/args.h"
#include "host_names.h"
#include "op/pending.h"
#include "short_apart.h"
#include "tree.h"
#include "tree_device.h"
#include "tree_waiting.h"
#include "op/step_launches.h"

struct tk_tree_impl {
  struct mem mem;
  struct groups names, by; /* contain the texts of the rows */
  char *unit;
};

/* ---- hang ---- */

static bool is_per(struct tree *tree, tk_id cls) {
  const struct tk_trace *t = tree->t;
  if (!tree->is_per[cls]) tree->is_per[cls] = glob_matches(tree->opt->per, tk_string(t, t->classes[cls].name, NULL)) ? 1 : 2;
  return tree->is_per[cls] == 1;
}

/* If rows are grouped by step: true if the span begins in a step but the span around it does not, for example because that is an
 * epoch. */
static bool begins_step(struct tree *tree, const struct tk_event *e, uint32_t parent) {
  const bool by_step = tree->opt->has_by && tree->opt->by == TK_TOP_STEP;
  return by_step && tree->nodes[parent].stepless && groups_of(tree->by, e) != GROUP_NONE;
}

/* Returns the group of a span's name. If layers are modules, uses the name of the module in it. */
static uint32_t name_of_span(struct tree *tree, const struct tk_event *e) {
  size_t n;
  const char *name = tree->layers == TREE_MODULES ? modules_name(tk_string(tree->t, tree->t->classes[e->cls].name, NULL), &n) : NULL;
  return name ? groups_of_name(tree->names, name, n) : groups_of(tree->names, e);
}

/* Returns the group of an outermost span. Steps that --per selects have the same group, although their numbers differ. */
static uint32_t name_of_root(struct tree *tree, const struct tk_event *e) {
  const char *per = tree->opt->per;
  const bool is_numbered = per && kinds_of(&tree->match.kinds, e) & KIND_STEP;
  return is_numbered ? groups_of_name(tree->names, per, strlen(per)) : name_of_span(tree, e);
}

/* Finds or adds the node of a span below `parent`, the node of the enclosing span (0 = none). Returns 0 if the span is not selected. */
static uint32_t hang_span(struct tree *tree, tk_id event, uint32_t parent) {
  const struct tk_event *e = &tree->t->events[event];
  if (tree->layers && !tree_layers_holds(tree, e)) return 0;
  if (!groups_has_row(tree->names, e) || !scope_holds(&tree->scope, e) || !match_event(&tree->match, event)) return 0;
  if (tree_nodes_stepless(tree, e)) return 0;
  if (parent && !begins_step(tree, e, parent)) return tree_nodes_child(tree, parent, name_of_span(tree, e), false);
  if (parent) return tree_nodes_child(tree, tree_nodes_child(tree, 0, groups_of(tree->by, e), true), name_of_span(tree, e), false);
  if (tree->opt->per && !is_per(tree, e->cls)) return 0;
  tree->report->calls += tree->opt->per != NULL;
  if (tree->opt->has_by) parent = tree_nodes_child(tree, 0, groups_of(tree->by, e), true);
  return tree_nodes_child(tree, parent, name_of_root(tree, e), false);
}

/* Finds or adds the node of an event by the path in an arg. Returns 0 if the event is not selected or has no such arg. */
static uint32_t hang_path(struct tree *tree, tk_id event) {
  const struct tk_event *e = &tree->t->events[event];
  struct tk_arg arg;
  if (!scope_holds(&tree->scope, e) || !match_event(&tree->match, event)) return 0;
  if (!args_of_event(tree->t, e, tree->path, &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) return 0;
  uint32_t node = tree->opt->has_by ? tree_nodes_child(tree, 0, groups_of(tree->by, e), true) : 0;
  for (const char *p = tk_string(tree->t, arg.s, NULL); *p; p += *p == '/') {
    const size_t n = scopes_part(p);
    if (n) node = tree_nodes_child(tree, node, groups_of_name(tree->names, p, n), false);
    if (n) tree->nodes[node].is_sum = true;
    p += n;
  }
  return tree_nodes_child(tree, node, groups_of(tree->names, e), false);
}

static bool hang_track(struct tree *tree, const struct tk_track *k) {
  const struct tk_trace *t = tree->t;
  const bool nests = k->kind == TK_TRACK_THREAD;
  within_begin(&tree->within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    const struct within_span around = nests ? within_find(&tree->within, e) : (struct within_span){0};
    const bool hangs = e->kind == TK_EVENT_SPAN && tree->layers != TREE_SCOPES;
    const uint32_t node = !hangs ? 0 : tree->opt->path ? hang_path(tree, i) : hang_span(tree, i, around.node);
    tree->node_of[i] = node;
    tree->around[i] = node ? node : around.node;
    const bool is_parent = node && !tree->is_mark[e->cls] && !pending_is(&tree->match.kinds, i);
    if (nests && !within_add(&tree->within, t, i, around, is_parent ? node : 0)) return false;
  }
  return true;
}

static bool hang(struct tree *tree, struct tk_err *err) {
  const struct tk_progress p = tree->opt->select.progress;
  const struct tk_trace *t = tree->t;
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    if (p.tick && !p.tick(p.arg, t->tracks[k].first, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
    if (!hang_track(tree, &t->tracks[k])) return false;
    if (!match_check(&tree->match, err) || tree->mem->failed) return false;
  }
  return true;
}

/* ---- add ---- */

/* Returns the part of a span inside the window. */
static struct interval part_of(const struct window *w, const struct tk_event *e) {
  return e->flags & TK_FLAG_LOST_CLOCK ? (struct interval){INT64_MIN, e->dur} : measure_part(w, e->ts, e->ts + e->dur);
}

static void add_span(struct tree *tree, tk_id event) {
  const struct tk_event *e = &tree->t->events[event];
  struct node *n = &tree->nodes[tree->node_of[event]];
  const bool is_mark = tree->is_mark[e->cls];
  n->count++;
  n->marks += is_mark;
  if (!n->others && groups_is_kernel(tree->names, e)) n->kernels = true;
  else n->others = true;
  tree_nodes_start(tree, e, tree->node_of[event]);
  n->unfinished += (e->flags & TK_FLAG_UNFINISHED) != 0;
  if (e->flags & TK_FLAG_UNFINISHED) return;
  n->timed++;
  const struct interval x = part_of(scope_window(&tree->scope, e), e);
  n->clipped += x.dur != e->dur || e->flags & TK_FLAG_CLIPPED;
  const bool nests = tree->t->tracks[e->track].kind == TK_TRACK_THREAD && !(e->flags & TK_FLAG_LOST_CLOCK);
  if (!tree->opt->path || !nests) n->total += x.dur;
  const bool alone = e->flags & TK_FLAG_LOST_CLOCK || tree->t->tracks[e->track].kind != TK_TRACK_THREAD;
  if (alone && !is_mark) n->self += x.dur;
}

static void add_self(void *arg, tk_id event, tk_time self) {
  struct tree *tree = arg;
  struct node *n = &tree->nodes[tree->node_of[event]];
  if (tree->is_mark[tree->t->events[event].cls]) return;
  n->self += self;
  if (tree->opt->path) n->total += self;
}

static bool add_all(struct tree *tree) {
  const struct tk_trace *t = tree->t;
  tree->selves = (struct selves){
      .mem = tree->mem, .scope = tree->scope, .only = tree->node_of, .done = add_self, .arg = tree};
  for (tk_id i = 1; i <= t->n_events; i++)
    if (tree->node_of[i]) add_span(tree, i);
  for (tk_id k = 1; k <= t->n_tracks; k++)
    if (t->tracks[k].kind == TK_TRACK_THREAD && !self_of_track(&tree->selves, t, k)) return false;
  return !tree->mem->failed && (tree->layers == TREE_SCOPES || tree_device_add(tree));
}

/* Adds the times of children to each node with is_sum, from the bottom up. */
static bool sum_nodes(struct tree *tree) {
  for (uint32_t i = tree->n; i-- > 1;) {
    struct node *parent = &tree->nodes[tree->nodes[i].parent];
    if (!parent->is_sum || tree_nodes_is_mark(&tree->nodes[i])) continue;
    parent->total += tree->nodes[i].total;
    parent->count += tree->nodes[i].count;
    parent->timed += tree->nodes[i].timed;
  }
  return !tree->mem->failed;
}

/* ---- stack samples ---- */

/* Returns the node of a stack below the node `base`. */
static uint32_t node_of_stack(struct tree *tree, uint32_t base, tk_id stack) {
  const struct tk_trace *t = tree->t;
  uint32_t n = 0, node = base;
  for (; stack; stack = t->stacks[stack].parent) {
    const uint32_t *known = map_get(&tree->node_of_stack, (uint64_t)base << 32 | stack);
    if (known) {
      node = *known;
      break;
    }
    if (!mem_grow(tree->mem, (void **)&tree->stack_path, &tree->cap_stack_path, (uint64_t)n + 1, sizeof *tree->stack_path)) return 0;
    tree->stack_path[n++] = stack;
  }
  while (n-- > 0) {
    const struct intern_str *s = trace_str(t, t->frames[t->stacks[tree->stack_path[n]].frame].name);
    node = tree_nodes_child(tree, node, s->len ? groups_of_name(tree->names, s->bytes, s->len) : GROUP_NONE, false);
    if (!node || !map_put(&tree->node_of_stack, (uint64_t)base << 32 | tree->stack_path[n], node)) return 0;
  }
  return node;
}

static bool tree_is_chosen(struct tree *tree, tk_id event) {
  const struct tk_event *e = &tree->t->events[event];
  return e->kind == TK_EVENT_SAMPLE && scope_holds(&tree->scope, e) && match_event(&tree->match, event);
}

static bool hang_sample(struct tree *tree, tk_id event) {
  const struct tk_event *e = &tree->t->events[event];
  const tk_id stack = tree->t->classes[e->cls].stack;
  const uint32_t base = tree->opt->has_by ? tree_nodes_child(tree, 0, groups_of(tree->by, e), true) : 0;
  const uint32_t node = stack ? node_of_stack(tree, base, stack) : tree_nodes_child(tree, base, GROUP_NONE, false);
  i128 amount;
  if (!node) return false;
  weights_of(&tree->unit, tree->t, e, &amount);
  tree_nodes_start(tree, e, node);
  tree->nodes[node].samples++;
  tree->nodes[node].others = true;
  tree->nodes[node].weight += amount;
  tree->nodes[node].self += amount;
  return true;
}

/* Adds stack samples below the root, because their stacks contain all callers. Samples are left out with --per, --layers or a path from
 * an arg: those modes select only spans. */
static bool hang_samples(struct tree *tree) {
  const struct tk_trace *t = tree->t;
  bool ok = true;
  if (!stack_has_samples(t) || tree->opt->path || tree->opt->per || tree->opt->layers) return true;
  tree->unit.times = tree->n > 1; /* if there are spans, the unit is time */
  for (tk_id i = 1; i <= t->n_events; i++)
    if (tree_is_chosen(tree, i)) weights_see(&tree->unit, t, &t->events[i]);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (tree_is_chosen(tree, i)) ok = hang_sample(tree, i);
  for (uint32_t i = tree->n; ok && i-- > 1;) {
    struct node *node = &tree->nodes[i], *parent = &tree->nodes[node->parent];
    node->total += node->weight;
    node->count += node->samples;
    parent->weight += node->weight;
    parent->samples += node->samples;
  }
  tree->report->unweighed = tree->unit.n_other;
  return ok && !tree->mem->failed;
}

/* ---- order ---- */

struct placed {
  const struct intern_str *name;
  tk_time start; /* 0 unless siblings are sorted by it */
  i128 total;
  uint32_t node, parent;
  bool is_mark;
};

static const struct intern_str *tree_name_of(const struct tree *tree, const struct node *n) {
  return groups_text(n->is_by ? tree->by : tree->names, n->group);
}

static int tree_by_name(const struct intern_str *a, const struct intern_str *b) {
  if (!a || !b) return (a == NULL) - (b == NULL);
  int order = memcmp(a->bytes, b->bytes, a->len < b->len ? a->len : b->len);
  return order ? order : (a->len > b->len) - (a->len < b->len);
}

static int in_order(const void *p, const void *q) {
  const struct placed *a = p, *b = q;
  if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
  if (a->is_mark != b->is_mark) return a->is_mark ? 1 : -1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->total != b->total) return a->total > b->total ? -1 : 1;
  return tree_by_name(a->name, b->name);
}

/* Returns the node after `at` in preorder; 0 after the last. */
static uint32_t next_node(const struct tree *tree, uint32_t at) {
  if (tree->nodes[at].child) return tree->nodes[at].child;
  while (at && !tree->nodes[at].sibling) at = tree->nodes[at].parent;
  return at ? tree->nodes[at].sibling : 0;
}

/* Numbers the nodes in the order of the report. */
static void number_nodes(struct tree *tree) {
  uint32_t place = 0;
  for (uint32_t at = tree->nodes[0].child; at; at = next_node(tree, at)) {
    struct node *n = &tree->nodes[at];
    n->order = n->last = place++;
    n->depth = n->parent ? tree->nodes[n->parent].depth + 1 : 0;
  }
  for (uint32_t i = tree->n; i-- > 1;) { /* backwards, because children have larger numbers than their parents */
    struct node *parent = &tree->nodes[tree->nodes[i].parent];
    if (tree->nodes[i].last > parent->last) parent->last = tree->nodes[i].last;
  }
}

/* Sorts siblings, then numbers the nodes. Returns false if memory runs out. */
static bool order_nodes(struct tree *tree) {
  struct placed *v = mem_array(tree->mem, (uint64_t)tree->n, sizeof *v);
  if (!v) return false;
  for (uint32_t i = 1; i < tree->n; i++)
    v[i - 1] = (struct placed){.name = tree_name_of(tree, &tree->nodes[i]), .start = tree->opt->by_start ? tree->nodes[i].start : 0,
                               .total = tree->nodes[i].total, .node = i, .parent = tree->nodes[i].parent,
                               .is_mark = tree_nodes_is_mark(&tree->nodes[i])};
  qsort(v, tree->n - 1, sizeof *v, in_order);
  for (uint32_t i = tree->n - 1; i-- > 0;) {
    struct node *n = &tree->nodes[v[i].node], *parent = &tree->nodes[n->parent];
    n->sibling = parent->child;
    parent->child = v[i].node;
  }
  mem_free(tree->mem, v);
  number_nodes(tree);
  return true;
}

/* ---- entry points ---- */

static struct tk_total total_of(i128 ps) {
  const i128 second = 1000000000000;
  return (struct tk_total){(int64_t)(ps / second), (int64_t)(ps % second)};
}

static bool tree_name_unit(struct tree *tree) {
  struct tk_tree_impl *impl = tree->report->impl;
  const char *unit = weights_unit(&tree->unit, tree->t);
  if (!unit) return true;
  impl->unit = mem_alloc(&impl->mem, strlen(unit) + 1);
  if (!impl->unit) return false;
  memcpy(impl->unit, unit, strlen(unit) + 1);
  tree->report->unit = impl->unit;
  return true;
}

/* Returns the mean duration of the spans of a node, rounded to a picosecond; -1 if no span has a duration. */
static tk_time mean_of(const struct node *n) {
  const i128 timed = (i128)n->timed;
  return timed ? (tk_time)(((n->total - n->weight) * 2 + timed) / (timed * 2)) : -1;
}

static bool is_kernel(const struct node *n) { return n->kernels && !n->others && !n->is_by && n->group != GROUP_NONE; }

/* Sets the short names of nodes that are kernels. Nodes with equal names get equal short names. */
static bool shorten_nodes(struct tree *tree) {
  struct tk_tree_report *r = tree->report;
  struct short_name *names = mem_array(tree->mem, (uint64_t)tree->n, sizeof *names);
  uint32_t *of_place = mem_array(tree->mem, (uint64_t)tree->n, sizeof *of_place), n = 0;
  struct map at; /* group -> 1 + index of its name */
  bool ok = names && of_place;
  map_init(&at, tree->mem);
  for (uint32_t i = 1; ok && i < tree->n; i++) of_place[tree->nodes[i].order] = is_kernel(&tree->nodes[i]) ? tree->nodes[i].group : 0;
  for (size_t i = 0; ok && !tree->opt->fold && i < r->n_nodes; i++) {
    uint32_t *slot = of_place[i] ? map_put(&at, of_place[i], 0) : NULL;
    ok = slot || !of_place[i];
    if (!slot || *slot) continue;
    names[n++] = (struct short_name){.name = r->nodes[i].name, .name_len = r->nodes[i].name_len};
    *slot = n;
  }
  ok = ok && (!n || short_apart_names(names, n, &tree->names->texts, tree->mem));
  for (size_t i = 0; ok && n && i < r->n_nodes; i++)
    if (of_place[i]) r->nodes[i].short_name = names[*map_get(&at, of_place[i]) - 1].text;
  map_free(&at);
  mem_free(tree->mem, names);
  mem_free(tree->mem, of_place);
  return ok;
}

static bool report_nodes(struct tree *tree) {
  struct tk_tree_report *r = tree->report;
  i128 sum = 0;
  r->nodes = mem_array(&r->impl->mem, (uint64_t)tree->n, sizeof *r->nodes);
  if (!r->nodes) return false;
  for (uint32_t i = 1; i < tree->n; i++) {
    const struct node *n = &tree->nodes[i];
    const struct intern_str *name = tree_name_of(tree, n);
    r->nodes[n->order] = (struct tk_tree_node){
        .name = name ? (const char *)name->bytes : NULL, .name_len = name ? name->len : 0,
        .parent = n->parent ? tree->nodes[n->parent].order : UINT32_MAX, .depth = n->depth, .count = n->count,
        .unfinished = n->unfinished, .clipped = n->clipped, .total = total_of(n->total), .self = total_of(n->self),
        .device = n->device, .launched = n->launched, .mean = mean_of(n),
        .is_mark = tree_nodes_is_mark(n)};
    if (!n->parent && !tree_nodes_is_mark(n)) sum += n->total;
  }
  r->n_nodes = tree->n - 1;
  if (!tree_name_unit(tree) || !shorten_nodes(tree)) return false;
  r->sum = total_of(sum);
  return true;
}

/* Counts the host steps that begin in the selected range; if no host has any, the device steps. If several threads of a rank have
 * steps, uses the thread with the most. */
static void count_steps(struct tree *tree) {
  const struct steps *s = &tree->match.steps;
  const struct window *w = &tree->scope.window;
  uint64_t hosts = 0, devices = 0;
  for (uint32_t i = 1; i < s->n_runs; i++) {
    const struct steps_run *run = &s->runs[i];
    if (run->source > STEPS_DEVICE || steps_runs_of(s, run->v->track) != run) continue;
    for (uint32_t k = 0; k < run->n; k++)
      if (run->v[k].start >= w->start && run->v[k].start < w->end) ++*(run->source == STEPS_DEVICE ? &devices : &hosts);
  }
  tree->report->calls = hosts ? hosts : devices;
}

static bool tree_prepare(struct tree *tree) {
  const struct tk_tree_options *o = tree->opt;
  const struct tk_top_options names = {.by = TK_TOP_NAME, .fold = o->fold}, by = {.by = o->by, .arg = o->arg};
  const uint64_t n = (uint64_t)tree->t->n_events + 1;
  struct mem *mem = &tree->report->impl->mem;
  tree->names = &tree->report->impl->names;
  tree->by = &tree->report->impl->by;
  if (o->path) tree->path = intern_id(&tree->t->store->strings, o->path, strlen(o->path));
  map_init(&tree->children, tree->mem);
  map_init(&tree->node_of_stack, tree->mem);
  tree->node_of = mem_array(tree->mem, n, sizeof *tree->node_of);
  tree->around = mem_array(tree->mem, n, sizeof *tree->around);
  tree->is_mark = host_names_marks(tree->t, tree->mem);
  tree->is_per = mem_zeros(tree->mem, (uint64_t)tree->t->n_classes + 1, 1);
  if (!tree->node_of || !tree->around || !within_init(&tree->within, tree->mem) || !tree->is_per || !tree->is_mark)
    return false;
  if (!mem_grow(tree->mem, (void **)&tree->nodes, &tree->cap, 1, sizeof *tree->nodes)) return false;
  tree->nodes[tree->n++] = (struct node){0};
  return groups_init(tree->names, &tree->match, &names, mem) && (!o->has_by || groups_init(tree->by, &tree->match, &by, mem));
}

static void free_tree(struct tree *tree) {
  mem_free(tree->mem, tree->node_of);
  mem_free(tree->mem, tree->around);
  within_free(&tree->within);
  mem_free(tree->mem, tree->is_per);
  mem_free(tree->mem, tree->is_mark);
  mem_free(tree->mem, tree->nodes);
  mem_free(tree->mem, tree->works);
  mem_free(tree->mem, tree->place_of);
  if (tree->children.mem) map_free(&tree->children), map_free(&tree->node_of_stack);
  mem_free(tree->mem, tree->stack_path);
  step_names_free(&tree->begins, tree->mem);
  self_free(&tree->selves);
}

/* Removes nodes below the first `levels` levels from the report. */
static bool cut_levels(struct tree *tree, uint32_t levels) {
  struct tk_tree_report *r = tree->report;
  uint32_t *at = mem_array(tree->mem, (uint64_t)r->n_nodes + 1, sizeof *at);
  uint32_t n = 0;
  if (!at) return false;
  for (size_t i = 0; i < r->n_nodes; i++) {
    struct tk_tree_node node = r->nodes[i];
    if (node.depth >= levels) continue;
    if (node.parent != UINT32_MAX) node.parent = at[node.parent];
    at[i] = n;
    r->nodes[n++] = node;
  }
  r->n_nodes = n;
  mem_free(tree->mem, at);
  return true;
}

/* Finds the path of each event, and sums up counts and times by path. */
static bool fill(struct tree *tree, const struct works *works, struct tk_err *err) {
  const uint32_t levels = tree->opt->levels;
  const bool layers = tree->opt->layers;
  const bool added = hang(tree, err) && (!layers || tree_layers_hang_backward(tree)) && tree_waiting_hang(tree) && add_all(tree) &&
                     (!layers || tree_layers_add(tree, works));
  return added && sum_nodes(tree) && hang_samples(tree) && order_nodes(tree) && tree_device_sum(tree) && report_nodes(tree) &&
         (!levels || cut_levels(tree, levels));
}

bool tree_of_found(struct tk_trace *t, const struct tk_tree_options *opt, const struct tree_found *found, struct tk_tree_report *report,
                   struct tk_err *err) {
  struct tk_tree_options own = *opt;
  struct tree tree = {.t = t, .opt = &own, .report = report, .mem = found->mem, .match = *found->match, .scope = *found->scope,
                      .found = found->works};
  *report = (struct tk_tree_report){.impl = calloc(1, sizeof *report->impl)};
  if (!report->impl) return err_set(err, TK_ELIMIT, "out of memory");
  report->impl->mem.limit = tree.mem->limit;
  bool ok = tree_prepare(&tree);
  if (ok && opt->layers) {
    own.per_step = tree.match.steps.n > 0;
    ok = tree_layers_choose(&tree, found->works);
  }
  ok = ok && fill(&tree, found->works, err) && mem_check(&report->impl->mem, err);
  if (!report->n_nodes) report->layers = NULL;
  if (ok && own.per_step && !opt->layers) count_steps(&tree);
  if (ok && own.per_step && opt->layers) ok = tree_layers_count_steps(&tree, found->works);
  free_tree(&tree);
  return ok || mem_refuse(found->mem, err);
}

bool tree_of(struct tk_trace *t, const struct tk_tree_options *opt, const struct track_origin *origins, struct tk_tree_report *report,
             struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct match match;
  struct scope scope = SCOPE_ALL;
  struct works works = {.mem = NULL};
  bool ok = match_init(&match, t, opt->select.where, origins, mem, err) && window_select(&scope, t, &match.steps, &opt->select, err) &&
            match_follow_launches(&match, &scope, NULL) && (!opt->layers || works_find(&works, &match, &scope, true, mem));
  ok = ok && (!(opt->layers || opt->per_step) || step_launches_link(&match.steps, &match.kinds, origins, works.launch_of));
  const struct tree_found found = {&match, &scope, opt->layers ? &works : NULL, mem};
  ok = ok && tree_of_found(t, opt, &found, report, err);
  works_free(&works);
  match_free(&match);
  return ok || mem_refuse(mem, err);
}

static void tree_clear(struct tk_tree_report *report) {
  if (!report->impl) return;
  mem_free(&report->impl->mem, report->nodes);
  mem_free(&report->impl->mem, report->impl->unit);
  groups_free(&report->impl->names);
  groups_free(&report->impl->by);
  free(report->impl);
}

void tk_tree_report_free(struct tk_tree_report *report) {
  if (report) tree_clear(report);
  free(report);
}

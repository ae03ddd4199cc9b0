/* report_layers.c - device time by layer (tree_layers.h), summed by path over all traces (report.h).
 *
 * For each kind of layers (scopes, modules or annotations) there is a node that contains the layers of all traces with this kind. The
 * node stores the number of steps and the device time of these traces; it is not listed itself. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "tree.h"
#include "tree_layers.h"

/* ---- a trace ---- */

/* The search for the layers of a trace. */
struct layers_job {
  struct reporter *p;
  struct jobs *jobs;  /* runs the search in another thread; NULL = report_layers_add runs it */
  struct mem mem;     /* separate memory for the search, because the other thread must not use the trace's memory */
  struct tk_tree_report *tree;
  struct tk_err err;
  bool ok;
};

static bool is_linked(const struct works *w) {
  bool any = false;
  for (uint32_t i = 0; i < w->n && !any; i++) any = w->v[i].launch != 0;
  return any;
}

static bool is_annotated(const struct reporter *p) {
  const struct tk_trace *t = p->t;
  bool any = false;
  for (tk_id i = 1; i <= t->n_events && !any; i++) {
    const unsigned kind = kinds_of(&p->match.kinds, &t->events[i]);
    any = kind & KIND_ANNOTATION && !(kind & (KIND_STEP | KIND_DEVICE));
  }
  return any;
}

/* True if device work may belong to layers. This is only a quick check. */
static bool has_layers(const struct reporter *p) {
  tk_id path;
  if (p->impl->opt.brief || !p->works.n) return false;
  const enum tree_layers kind = tree_layers_of(p->t, &p->works, &path);
  return kind == TREE_SCOPES || (is_linked(&p->works) && (kind == TREE_MODULES || is_annotated(p)));
}

static void find_layers(void *job) {
  struct layers_job *j = job;
  struct tk_tree_options opt = TK_TREE_OPTIONS_INIT;
  const struct tree_found found = {&j->p->match, &j->p->scope, &j->p->works, &j->mem};
  opt.layers = true;
  j->ok = tree_of_found(j->p->t, &opt, &found, j->tree, &j->err);
}

/* True if the search may run in another thread. Not with a filter, because match caches results and is not thread-safe; not with a
 * memory limit that only counts bytes, because the search has a count of its own; and not for a small trace, which is not worth a
 * thread. */
static bool may_run_beside(const struct reporter *p) {
  enum { WORTH = 5000 };
  const bool counts = p->mem->limit && !p->mem->whole;
  return p->impl->opt.load.threads != 1 && !p->match.root && !counts && p->t->n_events >= WORTH;
}

bool report_layers_begin(struct reporter *p) {
  if (!has_layers(p)) return true;
  struct layers_job *j = mem_zeros(p->mem, 1, sizeof *j);
  if (!j) return false;
  p->layers = j;
  j->p = p;
  j->mem = *p->mem;
  j->tree = calloc(1, sizeof *j->tree);
  j->jobs = j->tree && may_run_beside(p) ? jobs_start(1, find_layers) : NULL;
  if (j->jobs) jobs_give(j->jobs, j);
  return j->tree != NULL;
}

/* Waits for the end of the search. If it was not started, runs it now. */
static bool finish_search(struct layers_job *j) {
  if (j->jobs) jobs_take(j->jobs);
  else find_layers(j);
  return j->ok;
}

/* Returns the index of the layer `name` within `parent`; 0 if memory runs out. */
static uint32_t layer_within(struct tk_report_impl *impl, uint32_t parent, uint32_t name) {
  uint32_t *slot = map_put(&impl->layer_of, (uint64_t)parent << 32 | name, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&impl->mem, (void **)&impl->layers, &impl->cap_layers, (uint64_t)impl->n_layers + 2, sizeof *impl->layers)) return 0;
  if (!impl->n_layers) impl->layers[impl->n_layers++] = (struct report_layer){.name = 0};
  impl->layers[impl->n_layers] = (struct report_layer){.name = name, .parent = parent};
  *slot = impl->n_layers++;
  return *slot;
}

static i128 ps_of(struct tk_total total) { return (i128)total.s * 1000000000000 + total.ps; }

static uint32_t add_layer(struct tk_report_impl *impl, const struct tk_tree_node *n, uint32_t parent) {
  const uint32_t name = n->name ? intern(&impl->texts, n->name, n->name_len) : 0;
  const uint32_t at = layer_within(impl, parent, name);
  if (!at) return 0;
  struct report_layer *l = &impl->layers[at];
  l->count += n->count;
  l->launched += n->launched;
  l->total += ps_of(n->total);
  l->device += n->device;
  return at;
}

static bool add_kind(struct tk_report_impl *impl, const struct tk_tree_report *tree, uint32_t *at) {
  *at = layer_within(impl, 0, intern(&impl->texts, tree->layers, strlen(tree->layers)));
  if (!*at) return false;
  struct report_layer *kind = &impl->layers[*at];
  kind->device += tree->work;
  kind->steps += tree->calls;
  kind->stepless = kind->stepless || !tree->calls;
  return true;
}

static bool add_tree(struct tk_report_impl *impl, const struct tk_tree_report *tree) {
  uint32_t *at = mem_array(&impl->mem, (uint64_t)tree->n_nodes + 1, sizeof *at), kind;
  bool ok = at && add_kind(impl, tree, &kind);
  for (size_t i = 0; ok && i < tree->n_nodes; i++) {
    const struct tk_tree_node *n = &tree->nodes[i];
    at[i] = add_layer(impl, n, n->parent == UINT32_MAX ? kind : at[n->parent]);
    ok = at[i] != 0;
  }
  mem_free(&impl->mem, at);
  return ok;
}

/* True if any work belongs to a layer. Otherwise the table is left out. */
static bool any_work(const struct tk_tree_report *tree) {
  bool any = false;
  for (size_t i = 0; i < tree->n_nodes; i++) any = any || (tree->nodes[i].name && tree->nodes[i].launched);
  return any;
}

bool report_layers_add(struct reporter *p, struct tk_err *err) {
  struct layers_job *j = p->layers;
  if (!j) return true;
  if (!finish_search(j)) {
    *err = j->err;
    return false;
  }
  return !any_work(j->tree) || add_tree(p->impl, j->tree) || mem_refuse(&p->impl->mem, err);
}

void report_layers_end(struct reporter *p) {
  if (!p->layers) return;
  jobs_stop(p->layers->jobs);
  tk_tree_report_free(p->layers->tree);
  mem_free(p->mem, p->layers);
  p->layers = NULL;
}

/* ---- the table ---- */

/* A layer that is to be sorted. */
struct placed {
  uint32_t at, parent;
  i128 device;
};

static int by_device(const void *p, const void *q) {
  const struct placed *a = p, *b = q;
  if (a->parent != b->parent) return a->parent < b->parent ? -1 : 1;
  if (a->device != b->device) return a->device > b->device ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

/* Links the children of each layer in order of device time, longest first. */
static bool link_layers(struct tk_report_impl *impl) {
  struct report_layer *v = impl->layers;
  struct placed *order = mem_array(&impl->mem, (uint64_t)impl->n_layers, sizeof *order);
  if (!order) return false;
  for (uint32_t i = 0; i < impl->n_layers; i++) order[i] = (struct placed){i, v[i].parent, v[i].device};
  qsort(order + 1, impl->n_layers - 1, sizeof *order, by_device);
  for (uint32_t i = impl->n_layers; i-- > 1;) {
    struct report_layer *l = &v[order[i].at];
    l->sibling = v[l->parent].child;
    v[l->parent].child = order[i].at;
  }
  mem_free(&impl->mem, order);
  return true;
}

/* Returns the layer after `at` in preorder; 0 at the end. */
static uint32_t layer_after(const struct report_layer *v, uint32_t at) {
  if (v[at].child) return v[at].child;
  while (at && !v[at].sibling) at = v[at].parent;
  return v[at].sibling;
}

static void list_layer(struct tk_report *r, const struct report_layer *l, const struct report_layer *kind) {
  const struct intern_str *name = &r->impl->texts.strs[l->name];
  r->layers[r->n_layers++] = (struct tk_report_layer){
      .name = l->name ? (const char *)name->bytes : NULL, .name_len = l->name ? name->len : 0,
      .kind = (const char *)r->impl->texts.strs[kind->name].bytes, .depth = l->depth - 1, .count = l->count, .launched = l->launched,
      .total = report_total(l->total), .device = report_total(l->device),
      .of_work = kind->device > 0 ? i128_double(l->device) / i128_double(kind->device) : 0,
      .per_step = kind->stepless ? -1 : (tk_time)(l->device / (i128)kind->steps)};
}

bool report_layers_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  struct report_layer *v = impl->layers;
  if (!impl->n_layers) return true;
  r->layers = mem_array(&impl->mem, impl->n_layers, sizeof *r->layers);
  if (!r->layers || !link_layers(impl)) return false;
  for (uint32_t at = layer_after(v, 0), kind = 0; at; at = layer_after(v, at)) {
    v[at].depth = v[at].parent ? v[v[at].parent].depth + 1 : 0;
    if (v[at].parent) list_layer(r, &v[at], &v[kind]);
    else kind = at;
  }
  return true;
}

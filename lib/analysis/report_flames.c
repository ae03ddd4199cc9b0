/* report_flames.c - flame graphs of a report: the spans of hosts, and stack samples, by path of names (report.h). */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "weights.h"

/* Deeper spans and frames count as part of the last box above them. Narrower boxes are left out: a thousandth is about a pixel. */
enum { DEEPEST = 64, MOST_NODES = 1 << 20 };
static const double NARROWEST = .001;

/* Values for the parent of outermost nodes of samples, by unit; these are not numbers of nodes. Outermost nodes of spans have
 * the parent 0. */
static const uint32_t SAMPLED = 0x80000000;

/* Returns the number, from 1, of the node with this name below `parent`, and adds the node if it is new; `parent` itself, if there are
 * too many nodes; 0 if memory runs out. */
static uint32_t flame_node(struct tk_report_impl *impl, uint32_t parent, uint32_t name) {
  const bool outermost = !parent || parent & SAMPLED;
  const uint32_t depth = outermost ? 0 : impl->flames[parent - 1].depth + 1;
  if (!name) return 0;
  if (depth >= DEEPEST || (impl->n_flames >= MOST_NODES && !outermost)) return parent;
  uint32_t *slot = map_put(&impl->flame_of, (uint64_t)parent << 32 | name, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&impl->mem, (void **)&impl->flames, &impl->cap_flames, (uint64_t)impl->n_flames + 1, sizeof *impl->flames)) return 0;
  impl->flames[impl->n_flames] = (struct report_flame){.name = name, .parent = parent, .depth = depth};
  return *slot = ++impl->n_flames;
}

/* ---- spans ---- */

bool report_flames_thread(struct reporter *p, tk_id track) {
  const struct tk_track *k = &p->t->tracks[track];
  uint32_t around[DEEPEST + 1] = {0}; /* by depth: the node of the last span, or of the span around it */
  for (tk_id i = k->first; p->impl->opt.strips && i < k->first + k->count; i++) {
    const struct tk_event *e = &p->t->events[i];
    if (e->kind != TK_EVENT_SPAN || e->depth >= DEEPEST) continue;
    const uint32_t parent = e->depth ? around[e->depth - 1] : 0;
    around[e->depth] = parent;
    if (!is_timed(e) || !scope_holds(&p->scope, e)) continue;
    const uint32_t node = flame_node(p->impl, parent, report_class_name(p, e->cls));
    if (!node) return false;
    around[e->depth] = node;
    if (node == parent) continue;
    p->impl->flames[node - 1].total += measure_part(&p->scope.window, e->ts, e->ts + e->dur).dur;
    p->impl->flames[node - 1].count++;
  }
  return true;
}

/* ---- samples ---- */

bool report_flames_samples(struct reporter *p, const struct weights *w, const uint32_t *name_of, uint32_t unit) {
  const struct tk_trace *t = p->t;
  uint32_t *nodes = p->impl->opt.strips ? mem_zeros(p->mem, (uint64_t)t->n_stacks + 1, sizeof *nodes) : NULL;
  bool ok = nodes || !p->impl->opt.strips;
  for (tk_id i = 1; nodes && ok && i <= t->n_stacks; i++) {
    const tk_id up = t->stacks[i].parent;
    if (!w->sums[i].n_total) continue;
    const uint32_t parent = up ? nodes[up] : SAMPLED | unit;
    nodes[i] = flame_node(p->impl, parent, name_of[t->stacks[i].frame]);
    ok = nodes[i] != 0;
    if (!ok || nodes[i] == parent) continue;
    p->impl->flames[nodes[i] - 1].total += w->sums[i].total;
    p->impl->flames[nodes[i] - 1].count += w->sums[i].n_total;
  }
  mem_free(p->mem, nodes);
  return ok;
}

/* ---- boxes ---- */

/* Makes each box as wide as its total, or as the boxes below it, if spans overlap. */
static void set_widths(struct tk_report_impl *impl) {
  for (uint32_t i = impl->n_flames; i-- > 0;) {
    struct report_flame *n = &impl->flames[i];
    if (n->total < 0) n->total = 0;
    if (n->inner > n->total) n->total = n->inner;
    if (n->depth) impl->flames[n->parent - 1].inner += n->total;
  }
}

static int by_parent(const void *a, const void *b) {
  const struct report_flame *const *x = a, *const *y = b;
  if ((*x)->parent != (*y)->parent) return (*x)->parent < (*y)->parent ? -1 : 1;
  if ((*x)->total != (*y)->total) return (*x)->total > (*y)->total ? -1 : 1;
  return ((*x)->name > (*y)->name) - ((*x)->name < (*y)->name);
}

/* An array of nodes, sorted by by_parent. */
struct flame_list {
  struct tk_report *r;
  const struct report_flame **v;
  uint32_t n;
};

/* Returns the index of the first node with a parent of at least `parent`. */
static uint32_t flame_first(const struct flame_list *l, uint32_t parent) {
  uint32_t lo = 0, hi = l->n;
  while (lo < hi) {
    const uint32_t mid = lo + (hi - lo) / 2;
    if (l->v[mid]->parent < parent) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static void put_flame(struct tk_report *r, const struct report_flame *n, uint32_t unit, double start, double width) {
  const struct intern_str *name = &r->impl->texts.strs[n->name];
  r->flames[r->n_flames++] = (struct tk_report_flame){
    .name = (const char *)name->bytes, .name_len = name->len, .sampled = unit != 0, .depth = n->depth, .count = n->count,
    .unit = unit & ~SAMPLED ? (const char *)r->impl->texts.strs[unit & ~SAMPLED].bytes : "", .total = report_total(n->total),
    .start = start, .width = width};
}

/* Adds the boxes of a graph in preorder: the outermost nodes with this parent, and those below them. */
static void put_graph(const struct flame_list *l, uint32_t parent) {
  struct {
    uint32_t at, parent;
    double start;
  } open[DEEPEST + 1];
  i128 all = 0;
  uint32_t depth = 0;
  open[0].at = flame_first(l, parent);
  open[0].parent = parent;
  open[0].start = 0;
  for (uint32_t i = open[0].at; i < l->n && l->v[i]->parent == parent; i++) all += l->v[i]->total;
  for (;;) {
    const uint32_t i = open[depth].at++;
    const struct report_flame *n = i < l->n && l->v[i]->parent == open[depth].parent ? l->v[i] : NULL;
    const double width = n && all > 0 ? i128_double(n->total) / i128_double(all) : 0;
    if (width < NARROWEST) { /* all following boxes are narrower still */
      if (!depth--) return;
      continue;
    }
    put_flame(l->r, n, parent, open[depth].start, width);
    const double start = open[depth].start;
    open[depth].start += width;
    if (depth + 1 == DEEPEST) continue;
    depth++;
    open[depth].parent = n->number;
    open[depth].at = flame_first(l, n->number);
    open[depth].start = start;
  }
}

bool report_flames_make(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  struct flame_list l = {.r = r, .n = impl->n_flames};
  if (!impl->n_flames) return true;
  l.v = mem_array(&impl->mem, impl->n_flames, sizeof *l.v);
  r->flames = l.v ? mem_array(&impl->mem, impl->n_flames, sizeof *r->flames) : NULL;
  if (!r->flames) {
    mem_free(&impl->mem, l.v);
    return false;
  }
  set_widths(impl);
  for (uint32_t i = 0; i < impl->n_flames; i++) {
    impl->flames[i].number = i + 1;
    l.v[i] = &impl->flames[i];
  }
  qsort(l.v, l.n, sizeof *l.v, by_parent);
  put_graph(&l, 0);
  for (uint32_t i = flame_first(&l, SAMPLED), last = 0; i < l.n; i++) {
    if (l.v[i]->parent != last) put_graph(&l, l.v[i]->parent);
    last = l.v[i]->parent;
  }
  mem_free(&impl->mem, l.v);
  return true;
}

/* diff_launches.c - see diff_launches.h.
 *
 *     ops      finds the innermost operator around each host event, and the row of each operator's path
 *     index    numbers the work that each operator call launched, in launch order */
#include "diff_launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff_annotations.h"
#include "diff_rows.h"
#include "graph/within.h"
#include "op/pending.h"

enum { WORK = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET, DEEPEST_OP = DIFF_DEEPEST - 2 };

/* A kernel, copy or fill, and the call of an operator that launched it. */
struct launched_work {
  tk_id op, replay, work; /* replay: the launch, if the work belongs to a replayed graph */
  unsigned class;
  tk_time launch, start;
};

/* ---- ops ---- */

/* True for an operator or an annotation. Other host events cannot be matched between runs: steps have numbers, names of runtime calls
 * depend on the device, and Python frames are recorded in few traces. */
static bool is_op(const struct kinds *kinds, const struct tk_event *e) {
  const unsigned kind = kinds_of(kinds, e);
  return e->kind == TK_EVENT_SPAN && kind & (KIND_OP | KIND_ANNOTATION) &&
         !(kind & (KIND_STEP | KIND_PYTHON | KIND_RUNTIME | KIND_DEVICE));
}

static uint32_t path_of(struct diff_launches *x, const struct tk_event *e, uint32_t parent) {
  const struct intern_str *s = groups_text(x->groups, groups_of(x->groups, e));
  if (parent && x->set->rows[parent - 1].depth >= DEEPEST_OP) return parent;
  const uint32_t row = diff_rows_add(x->set, s ? intern(&x->set->texts, s->bytes, s->len) : 0, parent);
  if (!(kinds_of(x->kinds, e) & KIND_OP)) diff_annotations_see(x->set, x->side, row);
  return row;
}

static bool ops_of_track(struct diff_launches *x, struct within *within, const struct tk_track *k) {
  const struct tk_trace *t = x->kinds->t;
  const bool nests = k->kind == TK_TRACK_THREAD;
  within_begin(within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    const struct within_span around = nests ? within_find(within, e) : (struct within_span){0};
    const bool own = is_op(x->kinds, e);
    if (own) x->path[i] = path_of(x, e, around.node ? x->path[around.node] : 0);
    x->op[i] = own ? i : around.node;
    if (nests && !pending_add(within, x->kinds, i, around, own ? i : 0)) return false;
  }
  return !x->set->mem.failed;
}

static bool find_ops(struct diff_launches *x) {
  const struct tk_trace *t = x->kinds->t;
  struct within within;
  bool ok = within_init(&within, x->mem);
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) ok = ops_of_track(x, &within, &t->tracks[k]);
  within_free(&within);
  return ok;
}

/* ---- index ---- */

static unsigned class_of(const struct diff_launches *x, const struct tk_event *e) {
  const unsigned kind = kinds_of(x->kinds, e);
  return kind & KIND_MEMCPY ? KIND_MEMCPY : kind & KIND_MEMSET ? KIND_MEMSET : KIND_KERNEL;
}

/* Orders work by operator call, then by class, then by launch. */
static int by_launch(const void *p, const void *q) {
  const struct launched_work *a = p, *b = q;
  if (a->op != b->op) return a->op < b->op ? -1 : 1;
  if (a->replay != b->replay) return a->replay < b->replay ? -1 : 1;
  if (a->class != b->class) return a->class < b->class ? -1 : 1;
  if (a->launch != b->launch) return a->launch < b->launch ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return (a->work > b->work) - (a->work < b->work);
}

static bool is_same_call(const struct launched_work *a, const struct launched_work *b) {
  return a->op == b->op && a->replay == b->replay && a->class == b->class;
}

/* Stores the work that was launched by operators in v. Returns the number of elements. Work of a replayed graph belongs to the operator
 * around its captured call. */
static uint32_t list_work(struct diff_launches *x, struct launched_work *v) {
  const struct tk_trace *t = x->kinds->t;
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const tk_id launch = x->links.launch[i], capture = links_capture(&x->links, i);
    const bool captured = capture && x->op[capture];
    const tk_id call = captured ? capture : launch;
    if (!launch || !x->op[call]) continue;
    x->op[i] = x->op[call];
    v[n++] = (struct launched_work){x->op[i], captured ? launch : 0, i, class_of(x, &t->events[i]), t->events[call].ts,
                                    t->events[i].ts};
  }
  return n;
}

static bool number_work(struct diff_launches *x) {
  uint64_t most = 1;
  for (tk_id i = 1; i <= x->kinds->t->n_events; i++) most += x->links.launch[i] != 0;
  struct launched_work *v = mem_array(x->mem, most, sizeof *v);
  if (!v) return false;
  const uint32_t n = list_work(x, v);
  qsort(v, n, sizeof *v, by_launch);
  for (uint32_t i = 0; i < n; i++) x->index[v[i].work] = i && is_same_call(&v[i], &v[i - 1]) ? x->index[v[i - 1].work] + 1 : 1;
  mem_free(x->mem, v);
  return true;
}

/* ---- rows ---- */

bool diff_launches_is_work(const struct diff_launches *x, const struct tk_event *e) {
  const unsigned kind = kinds_of(x->kinds, e);
  return e->kind == TK_EVENT_SPAN && kind & WORK && kind & KIND_DEVICE;
}

uint32_t diff_launches_row(struct diff_launches *x, tk_id event) {
  static const char *const names[] = {"kernel", "copy", "fill"};
  char text[32];
  if (!x->index[event]) return 0;
  const unsigned class = class_of(x, &x->kinds->t->events[event]);
  const int n = snprintf(text, sizeof text, "%s %u", names[class == KIND_MEMCPY ? 1 : class == KIND_MEMSET ? 2 : 0],
                         (unsigned)x->index[event]);
  const uint32_t row = diff_rows_add(x->set, intern(&x->set->texts, text, (size_t)n), x->path[x->op[event]]);
  if (row) x->set->rows[row - 1].launched = true;
  return row;
}

bool diff_launches_init(struct diff_launches *x, struct diff_set *set, uint32_t side, const struct match *match,
                        struct groups *groups) {
  struct mem *mem = groups->mem;
  const size_t n = (size_t)match->t->n_events + 1;
  *x = (struct diff_launches){.set = set, .side = side, .mem = mem, .groups = groups, .kinds = &match->kinds};
  x->op = mem_zeros(mem, n, sizeof *x->op);
  x->path = mem_zeros(mem, n, sizeof *x->path);
  x->index = mem_zeros(mem, n, sizeof *x->index);
  if (!x->op || !x->path || !x->index) return false;
  return links_init(&x->links, &match->kinds, match->origins, mem) && find_ops(x) && number_work(x);
}

void diff_launches_free(struct diff_launches *x) {
  if (!x->mem) return;
  links_free(&x->links);
  mem_free(x->mem, x->op);
  mem_free(x->mem, x->path);
  mem_free(x->mem, x->index);
}

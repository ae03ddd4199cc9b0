/* backward.c - see backward.h.
 *
 * For each autograd node, Kineto draws a flow `fwdbwd` from the last operator of the forward pass before the node was created, to the
 * operator of the backward pass that runs the node. Both have the same arg "Sequence number". The arg "Fwd thread id" is positive only
 * in the backward pass. (Kineto's libkineto/src/output_json.cpp, and generateForwardBackwardLinks in
 * torch/csrc/profiler/kineto_shim.cpp.) */
#include "backward.h"

#include <string.h>

#include "graph/chain.h"
#include "graph/picks.h"

struct backward_pass {
  uint64_t id; /* process and sequence number, combined */
  tk_id event;
};

struct backward {
  const struct tk_trace *t;
  struct map forward; /* process and sequence number -> last operator of the forward pass; 0 = several threads use the number */
  struct picks numbers; /* sequence number, id of the thread of the forward pass */
  struct buf passes; /* struct backward_pass of each operator of the backward pass */
  tk_id *of;
};

static bool is_number(const struct tk_arg *arg) { return (arg->type == TK_ARG_INT || arg->type == TK_ARG_UINT) && arg->i >= 0; }

/* Reads an operator's sequence number (each thread counts separately), and whether the operator belongs to the backward pass. */
static bool sequence_of(const struct backward *b, const struct tk_event *e, uint64_t *id, bool *is_backward) {
  struct tk_arg args[2];
  const uint32_t known = e->kind == TK_EVENT_SPAN ? picks_of(&b->numbers, e, args) : 0;
  if (!(known & 1) || !is_number(&args[0])) return false;
  *id = args[0].u ^ (uint64_t)b->t->tracks[e->track].parent << 40;
  *is_backward = known & 2 && is_number(&args[1]) && args[1].i > 0;
  return true;
}

/* Stores the last operator with this number, or 0 if several threads use the number. All operators between the creation of two autograd
 * nodes have the same number; the last of them created the second node. */
static bool add_forward(struct backward *b, tk_id event, uint64_t id) {
  const struct tk_event *v = b->t->events;
  uint32_t *at = map_put(&b->forward, id, event);
  if (!at) return false;
  if (!*at) return true;
  if (v[*at].track != v[event].track) *at = 0;
  else if (v[event].ts >= v[*at].ts) *at = event;
  return true;
}

static bool find_operators(struct backward *b) {
  uint64_t id;
  bool ok = true, is_backward;
  for (tk_id i = 1; ok && i <= b->t->n_events; i++) {
    if (!sequence_of(b, &b->t->events[i], &id, &is_backward)) continue;
    if (is_backward) ok = buf_append(&b->passes, &(struct backward_pass){id, i}, sizeof(struct backward_pass));
    else ok = add_forward(b, i, id);
  }
  return ok;
}

static void link_by_number(struct backward *b) {
  const struct backward_pass *v = (const struct backward_pass *)b->passes.data;
  for (size_t i = 0; i < b->passes.len / sizeof *v; i++) {
    const uint32_t *at = map_get(&b->forward, v[i].id);
    if (at) b->of[v[i].event] = *at;
  }
}

static bool is_link(const struct tk_trace *t, const struct tk_flow_point *f) {
  const struct tk_class *c = &t->classes[f->cls];
  return f->bound && f->cls && strcmp(tk_string(t, c->cat ? c->cat : c->name, NULL), "fwdbwd") == 0;
}

static bool link_by_flow(struct backward *b, struct mem *mem) {
  const struct tk_trace *t = b->t;
  struct chains chains;
  if (!t->n_flow_points) return true;
  if (!chains_init(&chains, t, mem)) return false;
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    tk_id *start = is_link(t, f) ? chains_of(&chains, f) : NULL;
    if (start && flow_starts(f)) *start = i;
    else if (start && *start) b->of[f->at] = t->flow_points[*start].at;
  }
  chains_free(&chains);
  return true;
}

tk_id *backward_find(const struct kinds *kinds, struct mem *mem) {
  const struct tk_trace *t = kinds->t;
  struct backward b = {.t = t, .passes.mem = mem, .of = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *b.of)};
  const tk_id keys[] = {trace_text_id(t, "Sequence number"), trace_text_id(t, "Fwd thread id")};
  if (!b.of) return NULL;
  map_init(&b.forward, mem);
  const bool numbered = keys[0] && keys[1];
  bool ok = !numbered || (picks_init(&b.numbers, t, keys, 2, mem) && find_operators(&b));
  if (ok && numbered) link_by_number(&b);
  map_free(&b.forward);
  picks_free(&b.numbers);
  buf_free(&b.passes);
  ok = ok && link_by_flow(&b, mem);
  if (!ok) mem_free(mem, b.of);
  return ok ? b.of : NULL;
}

/* report_host.c - counts host activity: compilation, operators, runtime calls. */
#include "report.h"

#include <string.h>

#include "base/text.h"
#include "measure.h"

/* True for spans of the compilers of XLA, JAX, Triton and TorchInductor, and for Python frames within these compilers. */
static bool is_compilation(const char *name) {
  static const char *const parts[] = {"XlaCompile", "backend_compile", "BackendCompile", "::Compile", "CompileAndLoad", "RunHloPasses",
                                      "RunBackend", "HloPassPipeline", "compile_fx", "CompiledFxGraph.compile", "triton/compiler",
                                      "triton/runtime/jit.py", "async_compile", "torch/_dynamo/convert_frame",
                                      "Inductor::compile", "TritonBundler", NULL};
  static const char *const first[] = {"Compile", "XlaBuild", "jit_compile", "triton_compile", NULL};
  static const char *const others[] = {"Torch-Compiled", NULL};
  return (text_any_holds(name, parts) || text_any_begins(name, first)) && !text_any_begins(name, others);
}

struct host {
  struct reporter *p;
  struct report_host_sums *sums;
  struct interval *v;  /* compilations */
  uint32_t n, cap;
};

/* The open outermost operator of a thread. `launches`: whether it has launched work. */
struct outermost {
  const struct tk_event *op;
  bool launched;
};

static void end_op(struct host *h, struct outermost *o) {
  if (o->op && !o->launched) {
    h->sums->host_only_ops++;
    h->sums->host_only += o->op->flags & TK_UNFINISHED ? 0 : o->op->dur;
  }
  *o = (struct outermost){NULL, false};
}

static void see_op(struct host *h, tk_id event, unsigned kind, struct outermost *o) {
  const struct tk_event *e = &h->p->t->events[event];
  if (o->op && e->depth <= o->op->depth) end_op(h, o);
  if (!o->op && kind & KIND_OP) {
    h->sums->host_ops++;
    o->op = e;
  }
  if (o->op && h->p->launches[event]) o->launched = true;
}

static bool see_compilation(struct host *h, const struct tk_event *e, int64_t *depth) {
  const struct window *w = &h->p->scope.window;
  if (*depth >= 0 && e->depth > *depth) return true;
  *depth = -1;
  if (!h->p->compiles[e->cls] || e->flags & (TK_UNFINISHED | TK_LOST_CLOCK)) return true;
  *depth = e->depth;
  h->sums->compilations++;
  if (!mem_grow(h->p->mem, (void **)&h->v, &h->cap, (uint64_t)h->n + 1, sizeof *h->v)) return false;
  const tk_time start = e->ts > w->start ? e->ts : w->start, end = e->ts + e->dur < w->end ? e->ts + e->dur : w->end;
  h->v[h->n++] = (struct interval){start, end - start};
  return true;
}

static bool see_track(struct host *h, const struct tk_track *k) {
  const struct tk_trace *t = h->p->t;
  struct outermost o = {NULL, false};
  int64_t compiling = -1;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (!scope_holds(&h->p->scope, e)) continue;
    h->sums->events++;
    const unsigned kind = e->kind == TK_SPAN ? kinds_of(&h->p->match.kinds, e) : KIND_DEVICE;
    if (kind & KIND_DEVICE || k->kind != TK_THREAD) continue;
    h->sums->runtime_calls += (kind & KIND_RUNTIME) != 0;
    see_op(h, i, kind, &o);
    if (!see_compilation(h, e, &compiling)) return false;
  }
  end_op(h, &o);
  return true;
}

static bool report_prepare(struct reporter *p) {
  const struct tk_trace *t = p->t;
  const struct works *w = &p->works;
  if (p->launches) return true;
  p->compiles = mem_alloc(p->mem, (size_t)t->n_classes + 1);
  p->launches = mem_alloc(p->mem, (size_t)t->n_events + 1);
  if (!p->compiles || !p->launches) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) p->compiles[i] = is_compilation(tk_string(t, t->classes[i].name, NULL));
  memset(p->launches, 0, (size_t)t->n_events + 1);
  for (tk_id i = 1; w->launch_of && i <= t->n_events; i++)
    if (w->launch_of[i]) p->launches[w->launch_of[i]] = true;
  return true;
}

static bool sum_up(struct reporter *p, uint32_t group) {
  const struct report_index *x = &p->index;
  struct host h = {.p = p, .sums = &x->hosts[group]};
  bool ok = report_prepare(p);
  for (uint32_t i = x->tracks_at[group]; ok && i < x->tracks_at[group + 1]; i++) ok = see_track(&h, &p->t->tracks[x->tracks[i]]);
  struct interval *room = ok ? mem_array(p->mem, (uint64_t)h.n + 1, sizeof *room) : NULL;
  if (room) h.sums->compile = measure_union(h.v, h.n, room);
  h.sums->made = room != NULL;
  mem_free(p->mem, room);
  mem_free(p->mem, h.v);
  return h.sums->made;
}

bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group) {
  const struct report_host_sums *s = &p->index.hosts[group];
  if (!s->made && !sum_up(p, group)) return false;
  row->events = s->events;
  row->runtime_calls = s->runtime_calls;
  row->host_ops = s->host_ops;
  row->host_only_ops = s->host_only_ops;
  row->host_only = s->host_only;
  row->compilations = s->compilations;
  row->compile = s->compile;
  return true;
}

void report_host_free(struct reporter *p) {
  mem_free(p->mem, p->compiles);
  mem_free(p->mem, p->launches);
}

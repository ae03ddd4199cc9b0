/* report_host.c - what the hosts did: compilation, operators, calls of the runtime. */
#include "report.h"

#include <string.h>

#include "base/text.h"
#include "measure.h"

/* XLA's compilers, those of JAX, Triton and TorchInductor, and frames of Python in them. */
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
  struct tk_report_rank *row;
  uint8_t *compiles;   /* by class: 1 = yes */
  bool *launches;      /* by event: it launched what a device ran */
  struct interval *v;  /* compilations */
  uint32_t n, cap;
};

/* The outermost operator of a thread that is open, and whether anything was launched in it. */
struct outermost {
  const struct tk_event *op;
  bool launched;
};

static void end_op(struct host *h, struct outermost *o) {
  if (o->op && !o->launched) {
    h->row->host_only_ops++;
    h->row->host_only += o->op->flags & TK_UNFINISHED ? 0 : o->op->dur;
  }
  *o = (struct outermost){NULL, false};
}

static void see_op(struct host *h, tk_id event, unsigned kind, struct outermost *o) {
  const struct tk_event *e = &h->p->t->events[event];
  if (o->op && e->depth <= o->op->depth) end_op(h, o);
  if (!o->op && kind & KIND_OP) {
    h->row->host_ops++;
    o->op = e;
  }
  if (o->op && h->launches[event]) o->launched = true;
}

static bool see_compilation(struct host *h, const struct tk_event *e, int64_t *depth) {
  const struct window *w = &h->p->scope.window;
  if (*depth >= 0 && e->depth > *depth) return true;
  *depth = -1;
  if (!h->compiles[e->cls] || e->flags & (TK_UNFINISHED | TK_LOST_CLOCK)) return true;
  *depth = e->depth;
  h->row->compilations++;
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
    h->row->events++;
    const unsigned kind = e->kind == TK_SPAN ? kinds_of(&h->p->match.kinds, e) : KIND_DEVICE;
    if (kind & KIND_DEVICE || k->kind != TK_THREAD) continue;
    h->row->runtime_calls += (kind & KIND_RUNTIME) != 0;
    see_op(h, i, kind, &o);
    if (!see_compilation(h, e, &compiling)) return false;
  }
  end_op(h, &o);
  return true;
}

static bool prepare(struct host *h) {
  const struct tk_trace *t = h->p->t;
  const struct works *w = &h->p->works;
  h->compiles = mem_alloc(h->p->mem, (size_t)t->n_classes + 1);
  h->launches = mem_alloc(h->p->mem, (size_t)t->n_events + 1);
  if (!h->compiles || !h->launches) return false;
  for (tk_id i = 1; i <= t->n_classes; i++) h->compiles[i] = is_compilation(tk_string(t, t->classes[i].name, NULL));
  memset(h->launches, 0, (size_t)t->n_events + 1);
  for (tk_id i = 1; w->launch_of && i <= t->n_events; i++)
    if (w->launch_of[i]) h->launches[w->launch_of[i]] = true;
  return true;
}

bool report_host(struct reporter *p, struct tk_report_rank *row) {
  struct host h = {.p = p, .row = row};
  bool ok = prepare(&h);
  for (tk_id i = 1; ok && i <= p->t->n_tracks; i++)
    if (report_is_of(p, i, row)) ok = see_track(&h, &p->t->tracks[i]);
  struct interval *room = ok ? mem_array(p->mem, (uint64_t)h.n + 1, sizeof *room) : NULL;
  if (room) row->compile = measure_union(h.v, h.n, room);
  mem_free(p->mem, room);
  mem_free(p->mem, h.v);
  mem_free(p->mem, h.compiles);
  mem_free(p->mem, h.launches);
  return room != NULL;
}

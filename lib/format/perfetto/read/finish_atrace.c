/* finish_atrace.c - pairs begin and end events that programs wrote to the kernel's trace_marker.
 *
 * Seal could pair them, but would report each event without a partner as a repair. Programs write such text all the time, so every
 * thread may be inside a span when a recording starts or stops; the begin or end event of this span is then missing. This is not
 * damage, and also happens when a range is cut from a trace. As in trace_processor, an async begin event is ignored if an equal one is
 * still open, because Android programs repeat such events. */
#include "finish_atrace.h"

#include "base/keyed.h"
#include "base/map.h"
#include "graph/args.h"
#include "graph/seal.h"

struct atrace_pairs {
  struct perfetto *r;
  struct map open; /* thread, or process with scope and id -> innermost open begin event; its dur is the next one */
  uint64_t n_late; /* number of end events whose span began before the trace */
  int64_t end;     /* end of the trace */
};

static bool is_mark(const struct perfetto *r, const struct tk_event *e) {
  return (e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_END) && r->nodes[e->track / ASPECTS].in_packets;
}

/* Returns a hash of the properties that a begin event and its end event share. The args of these events are only ids and scopes. */
static uint64_t identity(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  uint64_t key = e->track;
  struct tk_arg arg;
  if (e->flags & TK_FLAG_ASYNC)
    while (tk_args_next(&it, &arg)) key = hash_pair(hash_pair(key, arg.key), arg.u);
  return key;
}

static void drop(struct tk_event *e) { e->kind = KIND_DEAD; }

static void close(struct tk_event *begin, int64_t end, unsigned flags) {
  begin->kind = TK_EVENT_SPAN;
  begin->dur = end > begin->ts ? end - begin->ts : 0;
  begin->flags |= (uint8_t)(TK_FLAG_PAIRED | flags);
}

/* True if an async begin event repeats an open one. Spans on a track nest, so equal ones may be open at once; spans whose scope is
 * their name do not nest. */
static bool repeats(const struct tk_trace *t, const struct tk_event *begin, tk_id open) {
  struct tk_arg scope;
  if (!(begin->flags & TK_FLAG_ASYNC) || !open) return false;
  return args_of_event(t, begin, KEY_SCOPE, &scope) && scope.s == t->classes[begin->cls].name;
}

static void pair(struct atrace_pairs *p, tk_id at) {
  struct tk_trace *t = p->r->t;
  struct tk_event *e = &t->events[at];
  uint32_t *top = map_put(&p->open, identity(t, e), 0);
  if (!top) return;
  if (e->kind == TK_EVENT_BEGIN && repeats(t, e, *top)) {
    drop(e);
  } else if (e->kind == TK_EVENT_BEGIN) {
    e->dur = *top;
    *top = at;
  } else {
    p->n_late += *top == 0;
    drop(e);
    if (!*top) return;
    struct tk_event *begin = &t->events[*top];
    *top = (uint32_t)begin->dur;
    close(begin, e->ts, 0);
  }
}

static void pair_sorted(struct atrace_pairs *p, const struct keyed *sorted, uint32_t n) {
  struct tk_trace *t = p->r->t;
  for (uint32_t i = 0; i < n; i++) pair(p, sorted[i].index);
  for (uint32_t i = 0; i < n; i++)
    if (t->events[sorted[i].index].kind == TK_EVENT_BEGIN) close(&t->events[sorted[i].index], p->end, TK_FLAG_UNFINISHED);
  if (p->n_late) trace_notes(t, TK_NOTE_INFO, UINT64_MAX, "ends of spans that began before the trace: not shown", p->n_late);
}

void perfetto_finish_atrace(struct perfetto *r) {
  struct tk_trace *t = r->t;
  struct mem *mem = &t->store->mem;
  struct atrace_pairs p = {.r = r, .end = INT64_MIN};
  uint32_t n = 0;
  if (r->procs.threads.n + r->procs.processes.n == 0) return;
  for (tk_id i = 1; i <= t->n_events; i++) n += is_mark(r, &t->events[i]);
  struct keyed *keys = n ? mem_array(mem, n, sizeof *keys) : NULL, *spare = n ? mem_array(mem, n, sizeof *spare) : NULL;
  map_init(&p.open, mem);
  n = 0;
  for (tk_id i = 1; keys && spare && i <= t->n_events; i++) {
    if (t->events[i].ts > p.end) p.end = t->events[i].ts;
    if (is_mark(r, &t->events[i])) keys[n++] = (struct keyed){t->events[i].ts, i};
  }
  if (n) pair_sorted(&p, keyed_sort(keys, spare, n), n);
  map_free(&p.open);
  mem_free(mem, keys);
  mem_free(mem, spare);
}

/* spent.c - see spent.h. All times that are reported for a device are sums over its stretches, so they are consistent with each
 * other. */
#include "spent.h"

#include "base/heap.h"

static const tk_time DELAY = 30000000; /* ps: a shorter idle time is normal between kernels that were launched in time */

enum spent_wait spent_wait(tk_time from, tk_time to, const struct tk_trace *t, tk_id launch) {
  if (launch && t->events[launch].ts > from) return WAIT_HOST;
  if (to - from < DELAY) return WAIT_KERNEL;
  return launch ? WAIT_OTHER : WAIT_UNKNOWN;
}

struct sweep {
  struct spent *s;
  struct heap ends;    /* ends of running work */
  uint32_t running[4]; /* by class: number of running pieces of work */
  tk_time now;
};

static unsigned classes_of(const struct sweep *w) {
  return (w->running[0] ? WORK_COMPUTE : 0u) | (w->running[1] ? WORK_COMMUNICATION : 0u) | (w->running[2] ? WORK_COPY : 0u) |
         (w->running[3] ? WORK_FILL : 0u);
}

/* Advances the current time to `to`, and appends a stretch for the time in between. If the stretch is idle, `wait` is its cause, and
 * `ready` the time at which the next work was ready to run. */
static bool advance(struct sweep *w, tk_time to, enum spent_wait wait, tk_time ready) {
  struct spent *s = w->s;
  const uint8_t classes = (uint8_t)classes_of(w);
  struct stretch *last = s->n ? &s->v[s->n - 1] : NULL;
  const tk_time from = w->now;
  if (to <= from) return true;
  w->now = to;
  if (last && last->classes == classes && classes) {
    last->end = to;
    return true;
  }
  if (!mem_grow(s->mem, (void **)&s->v, &s->cap, (uint64_t)s->n + 1, sizeof *s->v)) return false;
  s->v[s->n++] = (struct stretch){from, to, ready, classes, (uint8_t)wait};
  return true;
}

/* Ends all work whose end is no later than `until`. */
static bool end_until(struct sweep *w, tk_time until) {
  bool ok = true;
  while (ok && w->ends.n && w->ends.items[0].time <= until) {
    ok = advance(w, w->ends.items[0].time, WAIT_OTHER, INT64_MAX);
    w->running[__builtin_ctz((unsigned)heap_pop(&w->ends))]--;
  }
  return ok;
}

static void begin(struct sweep *w, const struct work *v) {
  if (v->end <= v->start) return;
  heap_push(&w->ends, (struct heap_item){v->end, v->class, 0});
  w->running[__builtin_ctz(v->class)]++;
}

/* Returns the time at which work was ready to run: the end of the call that launched it. INT64_MAX if the launch is unknown, or if the
 * call ended after `start`, the start of the work. The start of the call is not used, because the call may load the kernel's module, or
 * wait for memory, before it submits the work. */
static tk_time ready_at(const struct tk_trace *t, tk_id launch, tk_time start) {
  const struct tk_event *call = &t->events[launch];
  return launch && call->ts + call->dur <= start ? call->ts + call->dur : INT64_MAX;
}

bool spent_find(struct spent *s, const struct work *v, uint32_t n, const struct tk_trace *t, struct mem *mem) {
  struct sweep w = {.s = s, .now = v[0].start, .ends = {.mem = mem}};
  bool ok = true;
  *s = (struct spent){.mem = mem};
  for (uint32_t i = 0; ok && i < n; i++) {
    ok = end_until(&w, v[i].start) && advance(&w, v[i].start, spent_wait(w.now, v[i].start, t, v[i].launch),
                                              ready_at(t, v[i].launch, v[i].start));
    begin(&w, &v[i]);
  }
  ok = ok && end_until(&w, INT64_MAX);
  heap_free(&w.ends);
  return ok && !mem->failed;
}

void spent_free(struct spent *s) {
  if (s->mem) mem_free(s->mem, s->v);
  *s = (struct spent){.mem = NULL};
}

static void add(struct tk_device_times *d, unsigned classes, enum spent_wait wait, tk_time time) {
  const bool compute = classes & WORK_COMPUTE, communication = classes & WORK_COMMUNICATION;
  if (!classes) {
    d->idle += time;
    *(wait == WAIT_HOST ? &d->idle_host : wait == WAIT_KERNEL ? &d->idle_kernel : &d->idle_other) += time;
    return;
  }
  d->busy += time;
  if (compute) d->compute += time;
  if (communication) d->communication += time;
  if (compute && communication) d->overlap += time;
  if (classes & WORK_COPY) d->copy += time;
  if (classes & WORK_FILL) d->fill += time;
  if (classes & (WORK_COPY | WORK_FILL)) d->memory += time;
  if (compute) return;
  *(communication ? &d->exposed_communication : classes & WORK_COPY ? &d->exposed_copy : &d->exposed_fill) += time;
}

uint32_t spent_at(const struct spent *s, tk_time at) {
  uint32_t lo = 0, hi = s->n;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->v[mid].end <= at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

tk_time spent_queued(const struct spent *s, tk_time start, tk_time end) {
  tk_time sum = 0;
  for (uint32_t i = spent_at(s, start); i < s->n && s->v[i].start < end; i++) {
    const struct stretch *v = &s->v[i];
    const tk_time ready = v->start > v->ready ? v->start : v->ready, from = ready > start ? ready : start;
    const tk_time to = v->end < end ? v->end : end;
    if (!v->classes && ready < v->end && v->end - ready >= DELAY && to > from) sum += to - from;
  }
  return sum;
}

struct tk_device_times spent_in(const struct spent *s, tk_time start, tk_time end) {
  struct tk_device_times d = {.window = end > start ? end - start : 0};
  tk_time known = 0;
  for (uint32_t i = spent_at(s, start); i < s->n && s->v[i].start < end; i++) {
    const struct stretch *v = &s->v[i];
    const tk_time from = v->start > start ? v->start : start, to = v->end < end ? v->end : end;
    add(&d, v->classes, (enum spent_wait)v->wait, to - from);
    known += to - from;
  }
  add(&d, 0, WAIT_HOST, d.window - known);
  return d;
}

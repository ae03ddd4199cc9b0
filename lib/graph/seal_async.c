/* seal_async.c - pairs async begin and end events by identity instead of by a thread's stack.
 *
 * Identity is (process, category, scope, id); the old phases S/F are matched by name instead of category.  Begins of one identity
 * nest: an end closes the innermost.  An end that finds none in its own process closes one of another, unless its id is local
 * (id2.local): Chrome passes work between processes under one id, while other producers take pointers for ids. */
#include <string.h>

#include "seal.h"

struct async_item {
  tk_time ts;
  uint32_t event;
  uint32_t below, below_any; /* the begin under this one on its identity's stacks, index + 1 */
  uint64_t identity;         /* without the process */
  tk_id process;             /* 0 for an id that is not local */
};

struct pairing {
  struct tk_trace *t;
  struct async_item *items;
  uint32_t n;
  struct map tops; /* identity -> index + 1 of the innermost begin: of the process, and of all */
};

static uint64_t mix_bits(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 32;
}

/* 64 bits of hash stand for the identity: with a million ids the chance of one false pair is below 1e-7. */
static uint64_t identity(const struct tk_trace *t, const struct tk_event *e) {
  const struct tk_class *c = &t->classes[e->cls];
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  uint64_t h = 1;
  bool legacy = false;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == KEY_PH) legacy = true;
    if (arg.key == KEY_ID || arg.key == KEY_SCOPE) h = mix_bits(mix_bits(h, arg.key), mix_bits((uint64_t)arg.type, arg.u));
    if (arg.key == KEY_ID2) {
      size_t n;
      const char *text = tk_string(t, arg.s, &n);
      bool local = n > 8 && memcmp(text, "{\"local\"", 8) == 0;
      h = mix_bits(mix_bits(h, arg.s), local ? t->tracks[e->track].parent : 0); /* local: of no other process */
    }
  }
  return mix_bits(h, legacy ? (uint64_t)c->name << 32 : c->cat);
}

static bool collect(struct pairing *p) {
  struct tk_trace *t = p->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(e->flags & TK_ASYNC) || (e->kind != TK_BEGIN && e->kind != TK_END)) continue;
    p->items[p->n++] = (struct async_item){e->ts, i, 0, 0, identity(t, e), t->tracks[e->track].parent};
  }
  return true;
}

/* Stable by time: insertion into sorted halves would do for most files, a merge sort for all. */
static void sort_items(struct async_item *a, struct async_item *spare, uint32_t n) {
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t lo = 0; lo < n; lo += 2 * width) {
      uint32_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
      uint32_t i = lo, j = mid, to = lo;
      while (i < mid || j < hi) spare[to++] = j >= hi || (i < mid && a[i].ts <= a[j].ts) ? a[i++] : a[j++];
    }
    memcpy(a, spare, (size_t)n * sizeof *a);
    if (width > n / 2) break;
  }
}

/* What the end says that its begin does not: its thread, its args less the identity. */
static void prepare_end(struct tk_trace *t, const struct tk_event *begin, struct tk_event *end) {
  const struct tk_track *b = &t->tracks[begin->track], *e = &t->tracks[end->track];
  struct tk_args it = tk_args_of(t, end->args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg))
    if (arg.key != KEY_ID && arg.key != KEY_ID2 && arg.key != KEY_SCOPE && arg.key != KEY_PH) args_copy(t, &arg);
  if (!ident_equal(b->pid, e->pid) && e->pid.kind == TK_IDENT_INT) args_int(t, KEY_PID, e->pid.num);
  if (!ident_equal(b->pid, e->pid) && e->pid.kind == TK_IDENT_STR) args_str(t, KEY_PID, TK_ARG_STR, e->pid.str);
  if (!ident_equal(b->tid, e->tid) && e->tid.kind == TK_IDENT_INT) args_int(t, KEY_TID, e->tid.num);
  if (!ident_equal(b->tid, e->tid) && e->tid.kind == TK_IDENT_STR) args_str(t, KEY_TID, TK_ARG_STR, e->tid.str);
  end->args = args_end(t);
}

/* Begins that an end of another process has closed meanwhile are passed over. */
static uint32_t innermost(const struct pairing *p, uint32_t top, bool any) {
  while (top && p->t->events[p->items[top - 1].event].kind != TK_BEGIN)
    top = any ? p->items[top - 1].below_any : p->items[top - 1].below;
  return top;
}

static void open_begin(struct pairing *p, uint32_t at) {
  struct async_item *item = &p->items[at];
  uint32_t *top = map_put(&p->tops, mix_bits(item->identity, item->process), 0);
  if (!top) return;
  item->below = *top;
  *top = at + 1;
  top = map_put(&p->tops, item->identity, 0);
  if (!top) return;
  item->below_any = *top;
  *top = at + 1;
}

static void close_end(struct pairing *p, uint32_t at) {
  struct tk_trace *t = p->t;
  const struct async_item *item = &p->items[at];
  struct tk_event *e = &t->events[item->event];
  uint32_t *own = map_put(&p->tops, mix_bits(item->identity, item->process), 0), *any = map_put(&p->tops, item->identity, 0), found;
  own = map_get(&p->tops, mix_bits(item->identity, item->process)); /* the second put may have moved it */
  if (!own || !any) return;
  *own = innermost(p, *own, false);
  *any = innermost(p, *any, true);
  found = *own ? *own : *any;
  e->kind = KIND_DEAD;
  t->tracks[e->track].count--;
  if (found == 0) {
    trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "async end events without a begin event: dropped");
    t->counts.dropped++;
    return;
  }
  struct tk_event *begin = &t->events[p->items[found - 1].event];
  struct tk_event end = *e;
  prepare_end(t, begin, &end);
  seal_close(t, begin, &end);
}

bool seal_async(struct tk_trace *t, tk_time trace_end) {
  struct pairing p = {.t = t};
  struct mem *m = &t->store->mem;
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) n += (t->events[i].flags & TK_ASYNC) != 0;
  struct async_item *spare = mem_array(m, (uint64_t)n + 1, sizeof *spare);
  p.items = mem_array(m, (uint64_t)n + 1, sizeof *p.items);
  map_init(&p.tops, m);
  bool ok = spare && p.items && collect(&p);
  if (ok) sort_items(p.items, spare, p.n);
  for (uint32_t i = 0; ok && i < p.n; i++) {
    if (t->events[p.items[i].event].kind == TK_BEGIN) open_begin(&p, i);
    else close_end(&p, i);
  }
  for (uint32_t i = 0; ok && i < p.n; i++) {
    struct tk_event *e = &t->events[p.items[i].event];
    if (e->kind != TK_BEGIN) continue;
    e->kind = TK_SPAN;
    e->flags |= TK_PAIRED | TK_UNFINISHED;
    e->dur = seal_dur(e->ts, trace_end);
    trace_note(t, TK_NOTE_INFO, UINT64_MAX, SEAL_UNFINISHED);
  }
  mem_free(m, spare);
  mem_free(m, p.items);
  map_free(&p.tops);
  return ok && !m->failed;
}

/* seal_async.c - pairs async begin and end events by identity instead of by a thread's stack.
 *
 * The identity is (process, category, scope, id); the old phases S/F use the name instead of the category. As in trace_processor and
 * catapult, an end event closes the latest open begin event with the same identity and name, so spans of one id may cross; if there is
 * none, it closes the latest begin event with the same identity. An end event without a begin event in its own process closes a begin
 * event of another process, unless its id is local (id2.local): Chrome passes work between processes under one id, while other
 * producers use pointers as ids. Begin events without a clock come before all other events, and end events without a clock after them.
 * Of begin events that match equally well, one without a clock is therefore closed last; it then takes the time of its end. An end
 * event without a clock closes only a begin event that no other end event has closed. */
#include <string.h>

#include "seal.h"
#include "args.h"

/* The four stacks of open begin events. A begin event is on all four; an end event tries each stack in turn. */
enum stack { OF_NAME_HERE, OF_NAME, OF_ID_HERE, OF_ID, STACKS }; /* HERE: only begin events in the same process */

struct async_item {
  tk_time ts;
  uint32_t event;
  bool lost; /* true if the event has no clock */
  bool begin;
  uint32_t below[STACKS]; /* index + 1 of the begin event below this one */
  uint64_t identity;      /* hash of the identity without the process */
  tk_id process;          /* process of the event's track */
};

struct pairing {
  struct tk_trace *t;
  struct async_item *items;
  uint32_t n;
  struct map tops; /* stack -> index + 1 of its topmost begin event */
};

/* Returns a 64-bit hash that represents the identity: with a million ids, the probability of one false pair is below 1e-7. */
static uint64_t identity(const struct tk_trace *t, const struct tk_event *e) {
  const struct tk_class *c = &t->classes[e->cls];
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  uint64_t h = 1;
  bool legacy = false;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == KEY_PH) legacy = true;
    if (arg.key == KEY_ID || arg.key == KEY_SCOPE) h = hash_pair(hash_pair(h, arg.key), hash_pair((uint64_t)arg.type, arg.u));
    if (arg.key == KEY_ID2) {
      size_t n;
      const char *text = tk_string(t, arg.s, &n);
      bool local = n > 8 && memcmp(text, "{\"local\"", 8) == 0;
      h = hash_pair(hash_pair(h, arg.s), local ? t->tracks[e->track].parent : 0); /* a local id is valid in one process only */
    }
  }
  return hash_pair(h, legacy ? (uint64_t)c->name << 32 : c->cat);
}

static bool collect(struct pairing *p) {
  struct tk_trace *t = p->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!(e->flags & TK_FLAG_ASYNC) || (e->kind != TK_EVENT_BEGIN && e->kind != TK_EVENT_END)) continue;
    p->items[p->n++] = (struct async_item){.ts = e->ts, .event = i, .lost = !seal_is_timed(e), .begin = e->kind == TK_EVENT_BEGIN,
                                           .identity = identity(t, e), .process = t->tracks[e->track].parent};
  }
  return true;
}

/* Returns the place of an item in the order of pairing: 0 for begin events without a clock, 1 for everything that has a clock, 2 for
 * end events without a clock. */
static unsigned turn(const struct async_item *item) { return !item->lost ? 1 : item->begin ? 0 : 2; }

static bool not_after(const struct async_item *a, const struct async_item *b) {
  return turn(a) != turn(b) ? turn(a) < turn(b) : a->ts <= b->ts;
}

/* Merge sort by time, stable. Insertion sort would be enough for most files, but too slow for some. */
static void sort_items(struct async_item *a, struct async_item *spare, uint32_t n) {
  for (uint32_t width = 1; width < n; width *= 2) {
    for (uint32_t lo = 0; lo < n; lo += 2 * width) {
      uint32_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
      uint32_t i = lo, j = mid, to = lo;
      while (i < mid || j < hi) spare[to++] = j >= hi || (i < mid && not_after(&a[i], &a[j])) ? a[i++] : a[j++];
    }
    memcpy(a, spare, (size_t)n * sizeof *a);
    if (width > n / 2) break;
  }
}

/* Reduces the args of the end event to what they add to the span: the thread of the end event, and its args without the identity. */
static void prepare_end(struct tk_trace *t, const struct tk_event *begin, struct tk_event *end) {
  const struct tk_track *b = &t->tracks[begin->track], *e = &t->tracks[end->track];
  struct tk_args it = tk_args_of(t, end->args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg))
    if (arg.key != KEY_ID && arg.key != KEY_ID2 && arg.key != KEY_SCOPE && arg.key != KEY_PH) args_copy(t, &arg);
  if (!trace_ident_equal(b->pid, e->pid) && e->pid.kind == TK_IDENT_INT) args_int(t, KEY_PID, e->pid.num);
  if (!trace_ident_equal(b->pid, e->pid) && e->pid.kind == TK_IDENT_STR) args_str(t, KEY_PID, TK_ARG_STR, e->pid.str);
  if (!trace_ident_equal(b->tid, e->tid) && e->tid.kind == TK_IDENT_INT) args_int(t, KEY_TID, e->tid.num);
  if (!trace_ident_equal(b->tid, e->tid) && e->tid.kind == TK_IDENT_STR) args_str(t, KEY_TID, TK_ARG_STR, e->tid.str);
  end->args = args_end(t);
}

static uint64_t seal_key_of(const struct pairing *p, const struct async_item *item, enum stack stack) {
  uint64_t key = hash_pair(item->identity, stack);
  if (stack == OF_NAME_HERE || stack == OF_NAME) key = hash_pair(key, p->t->classes[p->t->events[item->event].cls].name);
  return stack == OF_NAME_HERE || stack == OF_ID_HERE ? hash_pair(key, item->process) : key;
}

static void open_begin(struct pairing *p, uint32_t at) {
  struct async_item *item = &p->items[at];
  for (enum stack stack = 0; stack < STACKS; stack++) {
    uint32_t *top = map_put(&p->tops, seal_key_of(p, item, stack), 0);
    if (!top) return;
    item->below[stack] = *top;
    *top = at + 1;
  }
}

/* Returns 1 + the index of the latest open begin event of the stack; first pops begin events that were closed through another stack. */
static uint32_t latest_open(struct pairing *p, const struct async_item *end, enum stack stack) {
  uint32_t *top = map_get(&p->tops, seal_key_of(p, end, stack));
  if (!top) return 0;
  while (*top && p->t->events[p->items[*top - 1].event].kind != TK_EVENT_BEGIN) *top = p->items[*top - 1].below[stack];
  return *top;
}

/* Gives a begin event without a clock the time of its end event, or an end event without a clock the time of its begin event. */
static void share_time(struct tk_trace *t, struct tk_event *begin, struct tk_event *end) {
  if (!seal_is_timed(end)) end->ts = begin->ts;
  if (seal_is_timed(begin) || !seal_is_timed(end)) return;
  begin->ts = end->ts;
  begin->flags &= (uint8_t)~TK_FLAG_LOST_CLOCK;
  begin->flags |= TK_FLAG_REPAIRED;
  trace_note(t, TK_NOTE_FACT, UINT64_MAX, "async spans whose start is unknown: shown at their end, without a duration");
}

static void close_end(struct pairing *p, uint32_t at) {
  struct tk_trace *t = p->t;
  const struct async_item *item = &p->items[at];
  struct tk_event *e = &t->events[item->event];
  uint32_t found = 0;
  for (enum stack stack = t->classes[e->cls].name ? OF_NAME_HERE : OF_ID_HERE; !found && stack < STACKS; stack++)
    found = latest_open(p, item, stack);
  e->kind = KIND_DEAD;
  t->tracks[e->track].count--;
  if (found == 0) {
    trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "async end events without a begin event: dropped");
    t->counts.dropped++;
    return;
  }
  struct tk_event *begin = &t->events[p->items[found - 1].event];
  struct tk_event end = *e;
  share_time(t, begin, &end);
  prepare_end(t, begin, &end);
  seal_close(t, begin, &end);
}

bool seal_async(struct tk_trace *t, tk_time trace_end) {
  struct pairing p = {.t = t};
  struct mem *m = &t->store->mem;
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) n += (t->events[i].flags & TK_FLAG_ASYNC) != 0;
  struct async_item *spare = mem_array(m, (uint64_t)n + 1, sizeof *spare);
  p.items = mem_array(m, (uint64_t)n + 1, sizeof *p.items);
  map_init(&p.tops, m);
  bool ok = spare && p.items && collect(&p);
  if (ok) sort_items(p.items, spare, p.n);
  for (uint32_t i = 0; ok && i < p.n; i++) {
    if (t->events[p.items[i].event].kind == TK_EVENT_BEGIN) open_begin(&p, i);
    else close_end(&p, i);
  }
  for (uint32_t i = 0; ok && i < p.n; i++) {
    struct tk_event *e = &t->events[p.items[i].event];
    if (e->kind != TK_EVENT_BEGIN) continue;
    e->kind = TK_EVENT_SPAN;
    e->flags |= TK_FLAG_PAIRED | TK_FLAG_UNFINISHED;
    e->dur = seal_is_timed(e) ? seal_dur(e->ts, trace_end) : 0;
    trace_note(t, TK_NOTE_FACT, UINT64_MAX, SEAL_UNFINISHED);
  }
  mem_free(m, spare);
  mem_free(m, p.items);
  map_free(&p.tops);
  return ok && !m->failed;
}

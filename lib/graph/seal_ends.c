/* seal_ends.c - finds the begin event that an end event closes, and marks pairs that sorting by time would separate.
 *
 * An end event with a name or a category closes the innermost open begin event that agrees with both, as in trace_processor; an end
 * event with neither closes the innermost one. Begin events inside a span that is closed this way may still find their
 * own end event at the same time; without one they end with the span. */
#include "seal.h"

/* Marks the stack entry of a begin event that is closed but not yet popped. */
static const uint32_t CLOSED = UINT32_MAX;

/* Number of open begin events that are searched for the match of an end event. Real stacks are less deep; the limit keeps the time
 * linear. */
enum { REACH = 1024 };

static bool states(tk_id text) { return text && text != KEY_EMPTY; }

bool seal_is_end_of(const struct tk_trace *t, const struct tk_event *begin, const struct tk_event *end) {
  const struct tk_class *b = &t->classes[begin->cls], *e = &t->classes[end->cls];
  return begin->cls == end->cls || ((!states(e->name) || e->name == b->name) && (!states(e->cat) || e->cat == b->cat));
}

uint32_t seal_find_begin(const struct tk_trace *t, const struct tk_event *events, const uint32_t *stack, uint32_t n,
                         const struct tk_event *end) {
  const uint32_t last = n > REACH ? n - REACH : 0;
  for (uint32_t at = n; at > last; at--) {
    if (stack[at - 1] == CLOSED) continue;
    const struct tk_event *e = &events[stack[at - 1]];
    if (e->kind == TK_EVENT_BEGIN && seal_is_end_of(t, e, end)) return at;
  }
  return 0;
}

/* Pairs begin and end events of one thread in file order. Contains the open begin events, as positions in the track. */
struct pairs {
  struct tk_trace *t;
  struct tk_event *e;
  uint32_t *stack;
  uint32_t open;
  bool has_cut;    /* as in struct sweep */
  uint32_t lowest;
  tk_time cut_ts;
};

/* Links a begin event to an end event of the same name that came just before it at the same time and closed nothing: some producers
 * write the end event first. Until the begin event is closed, the link is stored in its otherwise unused dur. */
static void link_early_end(struct pairs *p, uint32_t at) {
  struct tk_event *begin = &p->e[at];
  begin->dur = 0;
  for (uint32_t i = at; i > 0 && at - i < 8 && p->e[i - 1].ts == begin->ts; i--) {
    struct tk_event *e = &p->e[i - 1];
    if (e->kind != TK_EVENT_END || e->depth != SEAL_STRAY || !p->t->classes[e->cls].name || !seal_is_end_of(p->t, begin, e)) continue;
    begin->dur = i;
    e->depth = 0;
    return;
  }
}

/* Pops the begin events from this position of the stack on. They have no end event of their own, but one that is linked to an early end
 * event becomes a span of zero length. */
static void close_early(struct pairs *p, uint32_t from) {
  for (uint32_t i = from; i < p->open; i++) {
    if (p->stack[i] == CLOSED) continue;
    struct tk_event *begin = &p->e[p->stack[i]], *end = begin->dur ? &p->e[begin->dur - 1] : NULL;
    begin->dur = 0;
    if (!end) continue;
    seal_close(p->t, begin, end);
    end->kind = KIND_DEAD;
    trace_note(p->t, TK_NOTE_FACT, UINT64_MAX, SEAL_EARLY);
  }
  p->open = from;
  p->has_cut = false;
}

static void pair_end(struct pairs *p, struct tk_event *end) {
  if (p->has_cut && end->ts > p->cut_ts) close_early(p, p->lowest);
  const uint32_t at = seal_find_begin(p->t, p->e, p->stack, p->open, end);
  end->depth = at ? 0 : SEAL_STRAY;
  if (!at) return;
  struct tk_event *begin = &p->e[p->stack[at - 1]];
  begin->dur = 0;
  if (begin->ts == end->ts) end->depth = SEAL_BRIEF;
  if (at == p->open) {
    p->open--;
    if (p->has_cut && p->open <= p->lowest) p->has_cut = false;
    return;
  }
  p->stack[at - 1] = CLOSED;
  if (!p->has_cut || at - 1 < p->lowest) p->lowest = at - 1;
  p->has_cut = true;
  p->cut_ts = end->ts;
}

static void pair_other(struct pairs *p, uint32_t at) {
  if (p->e[at].kind == KIND_DEAD) return;
  if (p->has_cut) close_early(p, p->lowest);
  if (p->e[at].kind != TK_EVENT_BEGIN) return;
  link_early_end(p, at);
  p->stack[p->open++] = at;
}

void seal_mark_ends(struct tk_trace *t, const struct tk_track *k, uint32_t *stack) {
  struct pairs p = {.t = t, .e = t->events + k->first, .stack = stack};
  for (uint32_t i = 0; i < k->count; i++) {
    if (p.e[i].kind == TK_EVENT_END) pair_end(&p, &p.e[i]);
    else pair_other(&p, i);
  }
  close_early(&p, 0);
}

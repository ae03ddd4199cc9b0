/* seal_ends.c - which begin an end closes, and pairs of begins and ends that need care before ties are sorted.
 *
 * An end with a name or a category closes the innermost open begin that has both, as in trace_processor; an end without them closes the
 * top. Begins inside a span that is closed this way may still find their own end at the same time; then they end with the span. */
#include "seal.h"

/* Replaces the position of a begin that is closed, but still in the stack. */
static const uint32_t CLOSED = UINT32_MAX;

/* Number of open spans among which an end finds its begin. Real stacks are less deep, and the limit keeps the time linear. */
enum { REACH = 1024 };

static bool states(tk_id text) { return text && text != KEY_EMPTY; }

/* True if an end with this class may close the begin: a name or a category that the end states must be the begin's, as in
 * trace_processor. An empty one states nothing. */
static bool is_end_of(const struct tk_trace *t, const struct tk_event *begin, const struct tk_event *end) {
  const struct tk_class *b = &t->classes[begin->cls], *e = &t->classes[end->cls];
  return begin->cls == end->cls || ((!states(e->name) || e->name == b->name) && (!states(e->cat) || e->cat == b->cat));
}

uint32_t seal_find_begin(const struct tk_trace *t, const struct tk_event *events, const uint32_t *stack, uint32_t n,
                         const struct tk_event *end) {
  const uint32_t last = n > REACH ? n - REACH : 0;
  for (uint32_t at = n; at > last; at--) {
    if (stack[at - 1] == CLOSED) continue;
    const struct tk_event *e = &events[stack[at - 1]];
    if (e->kind == TK_BEGIN && is_end_of(t, e, end)) return at;
  }
  return 0;
}

/* Pairs of one thread, in file order: the open begins, as positions in the track. */
struct pairs {
  struct tk_trace *t;
  struct tk_event *e;
  uint32_t *stack;
  uint32_t open;
  bool has_cut;    /* as in struct sweep */
  uint32_t lowest;
  tk_time cut_ts;
};

/* Links a begin to a stray end with its name that came just before it, at the same time: some producers sort ends first. Until the
 * begin is closed, its dur has no other use. */
static void link_early_end(struct pairs *p, uint32_t at) {
  struct tk_event *begin = &p->e[at];
  begin->dur = 0;
  for (uint32_t i = at; i > 0 && at - i < 8 && p->e[i - 1].ts == begin->ts; i--) {
    struct tk_event *e = &p->e[i - 1];
    if (e->kind != TK_END || e->depth != SEAL_STRAY || !p->t->classes[e->cls].name || !is_end_of(p->t, begin, e)) continue;
    begin->dur = i;
    e->depth = 0;
    return;
  }
}

/* Begins from this position of the stack on have no end of their own. With an end before them, they are spans of zero length. */
static void close_early(struct pairs *p, uint32_t from) {
  for (uint32_t i = from; i < p->open; i++) {
    if (p->stack[i] == CLOSED) continue;
    struct tk_event *begin = &p->e[p->stack[i]], *end = begin->dur ? &p->e[begin->dur - 1] : NULL;
    begin->dur = 0;
    if (!end) continue;
    seal_close(p->t, begin, end);
    end->kind = KIND_DEAD;
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
  if (p->e[at].kind != TK_BEGIN) return;
  link_early_end(p, at);
  p->stack[p->open++] = at;
}

void seal_mark_ends(struct tk_trace *t, const struct tk_track *k, uint32_t *stack) {
  struct pairs p = {.t = t, .e = t->events + k->first, .stack = stack};
  for (uint32_t i = 0; i < k->count; i++) {
    if (p.e[i].kind == TK_END) pair_end(&p, &p.e[i]);
    else pair_other(&p, i);
  }
  close_early(&p, 0);
}

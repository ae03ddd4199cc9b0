/* self.c - see self.h. Visits each span once: pushes it onto a stack at its start, and reports it when it is on top of the stack after
 * its end. A span that ends below a running span stays on the stack at first. Such spans are removed whenever the stack has doubled in
 * size, so its size is proportional to the number of running spans. */
#include "self.h"

#include "measure.h"

static void give_away(struct selves *s) {
  const struct self_span *v = &s->open[--s->n];
  s->done(s->arg, v->event, v->self);
}

/* Advances the current time to `to`. Assigns the time in between to the spans on top of the stack, and reports spans that end. */
static void advance(struct selves *s, tk_time to) {
  while (s->n) {
    struct self_span *v = &s->open[s->n - 1];
    tk_time until = v->end < to ? v->end : to;
    if (until > s->now) {
      v->self += measure_part(scope_window(&s->scope, &s->events[v->event]), s->now, until).dur;
      s->now = until;
    }
    if (v->end > to) break;
    give_away(s);
  }
  s->now = to;
}

static void sweep_out(struct selves *s) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->open[i].end > s->now) s->open[kept++] = s->open[i];
    else s->done(s->arg, s->open[i].event, s->open[i].self);
  }
  s->n = s->live = kept;
}

static bool open_span(struct selves *s, tk_id event, tk_time end) {
  if (s->n >= 64 && s->n > 2 * (uint64_t)s->live) sweep_out(s);
  if (!mem_grow(s->mem, (void **)&s->open, &s->cap, (uint64_t)s->n + 1, sizeof *s->open)) return false;
  s->open[s->n++] = (struct self_span){.end = end, .event = event};
  return true;
}

bool self_of_track(struct selves *s, const struct tk_trace *t, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  s->events = t->events;
  s->now = INT64_MIN;
  s->n = s->live = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || !is_timed(e) || (s->only && !s->only[i])) continue;
    advance(s, e->ts);
    if (!open_span(s, i, e->ts + e->dur)) return false;
  }
  advance(s, INT64_MAX);
  return true;
}

void self_free(struct selves *s) {
  if (s->mem) mem_free(s->mem, s->open);
}

/* finish_ends.c - pairs spans with end events that name the span they end.
 *
 * A Perfetto end event closes the innermost open span of its track. If it has a name or a category, it closes the innermost span with
 * the same name or category, or nothing if there is none. Seal pairs ends according to the rules of JSON, which differ if the named
 * span is not the innermost one. This file therefore pairs the spans of tracks that have such end events. Spans inside a closed span
 * remain open. */
#include <stdlib.h>

#include "finish_ends.h"
#include "graph/seal.h"
#include "reader.h"

enum { STACK_MOST = 512 }; /* same limit as in trace_processor */

struct mark {
  uint32_t site;
  tk_id event;
  tk_time ts;
};

struct marks {
  struct perfetto *r;
  struct mark *of;
  uint32_t n, cap;
  tk_id *open;
  uint32_t n_open, cap_open;
};

static bool is_mark(const struct tk_event *e) {
  return (e->kind == TK_EVENT_BEGIN || e->kind == TK_EVENT_END) && !(e->flags & (TK_FLAG_ASYNC | TK_FLAG_LOST_CLOCK)) &&
      e->track % ASPECTS == ON_TRACK;
}

static bool is_named(const struct tk_trace *t, const struct tk_event *e) {
  return e->kind == TK_EVENT_END && (t->classes[e->cls].name || t->classes[e->cls].cat);
}

/* True if the end event may close the begin event. An end event without a name or category matches any begin event. */
static bool fits(const struct tk_trace *t, tk_id begin, tk_id end) {
  const struct tk_class *b = &t->classes[t->events[begin].cls], *e = &t->classes[t->events[end].cls];
  return (!e->name || !b->name || e->name == b->name) && (!e->cat || !b->cat || e->cat == b->cat);
}

static int by_site_and_time(const void *a, const void *b) {
  const struct mark *x = a, *y = b;
  if (x->site != y->site) return x->site < y->site ? -1 : 1;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  return x->event < y->event ? -1 : x->event > y->event;
}

static void push(struct marks *m, tk_id event) {
  struct mem *mem = &m->r->t->store->mem;
  if (mem_grow(mem, (void **)&m->open, &m->cap_open, (uint64_t)m->n_open + 1, sizeof event)) m->open[m->n_open++] = event;
}

/* True if some end among marks first .. end-1 of a track does not match the innermost open span. */
static bool differs(struct marks *m, uint32_t first, uint32_t end) {
  const struct tk_trace *t = m->r->t;
  m->n_open = 0;
  for (uint32_t i = first; i < end; i++) {
    tk_id id = m->of[i].event;
    if (t->events[id].kind == TK_EVENT_BEGIN) push(m, id);
    else if (m->n_open && !fits(t, m->open[m->n_open - 1], id)) return true;
    else if (m->n_open) m->n_open--;
  }
  return false;
}

static void pair(struct marks *m, uint32_t first, uint32_t end) {
  struct tk_trace *t = m->r->t;
  m->n_open = 0;
  for (uint32_t i = first; i < end; i++) {
    tk_id id = m->of[i].event;
    if (t->events[id].kind == TK_EVENT_BEGIN) {
      push(m, id);
      continue;
    }
    uint32_t at = m->n_open, least = at > STACK_MOST ? at - STACK_MOST : 0;
    t->events[id].kind = KIND_DEAD;
    while (at > least && !fits(t, m->open[at - 1], id)) at--;
    if (at == least) {
      perfetto_note(m->r, TK_NOTE_REPAIR, "end events whose name matches no open span: dropped");
      continue;
    }
    seal_close(t, &t->events[m->open[at - 1]], &t->events[id]);
    for (; at < m->n_open; at++) m->open[at - 1] = m->open[at];
    m->n_open--;
  }
}

void perfetto_finish_ends(struct perfetto *r) {
  const struct tk_trace *t = r->t;
  struct marks m = {.r = r};
  struct map named;
  map_init(&named, &r->t->store->mem);
  for (tk_id i = 1; i <= t->n_events; i++)
    if (is_mark(&t->events[i]) && is_named(t, &t->events[i])) map_put(&named, t->events[i].track, 1);
  for (tk_id i = 1; named.n && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (!is_mark(e) || !map_get(&named, e->track)) continue;
    if (!mem_grow(&r->t->store->mem, (void **)&m.of, &m.cap, (uint64_t)m.n + 1, sizeof *m.of)) break;
    m.of[m.n++] = (struct mark){e->track, i, e->ts};
  }
  if (m.n) qsort(m.of, m.n, sizeof *m.of, by_site_and_time);
  for (uint32_t first = 0, end; first < m.n; first = end) {
    for (end = first; end < m.n && m.of[end].site == m.of[first].site;) end++;
    if (differs(&m, first, end)) pair(&m, first, end);
  }
  mem_free(&r->t->store->mem, m.of);
  mem_free(&r->t->store->mem, m.open);
  map_free(&named);
}

/* relatives.c - parents, children, self times and stacks of events: arrays by event, each built in one pass over the graph when
 * a query first needs it. The graph itself stores only depths; with these arrays a join of slices with their parents is
 * linear. */
#include <string.h>

#include "relatives.h"
#include "analysis/self.h"
#include "sql.h"

enum { DEPTHS = UINT16_MAX + 1 };

static void parents_of_track(struct tk_sql *s, const struct tk_track *k, tk_id *last) {
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &s->t->events[i];
    s->parents[i] = e->depth ? last[e->depth - 1] : 0;
    if (trace_nests(s->t, i)) last[e->depth] = i;
  }
}

bool sql_parents(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  if (s->parents) return true;
  tk_id *last = mem_zeros(&s->mem, DEPTHS, sizeof *last);
  tk_id *parents = mem_array(&s->mem, (uint64_t)t->n_events + 1, sizeof *parents);
  if (last && parents) {
    s->parents = parents;
    parents[0] = 0;
    for (tk_id k = 1; k <= t->n_tracks; k++) parents_of_track(s, &t->tracks[k], last);
  } else mem_free(&s->mem, parents);
  mem_free(&s->mem, last);
  return s->parents != NULL;
}

bool sql_children(struct tk_sql *s) {
  const uint64_t n = (uint64_t)s->t->n_events + 1;
  if (s->siblings) return true;
  if (!sql_parents(s)) return false;
  tk_id *children = mem_zeros(&s->mem, n, sizeof *children), *siblings = mem_array(&s->mem, n, sizeof *siblings);
  if (!children || !siblings) {
    mem_free(&s->mem, children);
    mem_free(&s->mem, siblings);
    return false;
  }
  siblings[0] = 0;
  for (tk_id i = s->t->n_events; i; i--) { /* in descending order, so that each list is ascending */
    siblings[i] = children[s->parents[i]];
    children[s->parents[i]] = i;
  }
  s->children = children;
  s->siblings = siblings;
  return true;
}

struct below sql_below(const struct tk_sql *s, tk_id event) {
  const struct tk_event *all = s->t->events, *e = &all[event];
  const struct tk_track *k = &s->t->tracks[e->track];
  const int64_t ts = times_at(&s->times, e->ts), dur = times_dur(&s->times, e);
  struct below b = {event, event + 1, e->depth};
  if (!is_slice(e)) return b;
  while (b.first > k->first && times_at(&s->times, all[b.first - 1].ts) == ts) b.first--;
  if (dur < 0) b.end = k->first + k->count;
  while (b.end < k->first + k->count && times_at(&s->times, all[b.end].ts) <= ts + dur) b.end++;
  return b;
}

static void take_self(void *arg, tk_id event, tk_time self) { ((tk_time *)arg)[event] = self; }

bool sql_selves(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  const uint64_t n = (uint64_t)t->n_events + 1;
  if (s->selves) return true;
  tk_time *selves = mem_zeros(&s->mem, n, sizeof *selves);
  struct selves of = {.mem = &s->mem, .scope = SCOPE_ALL, .done = take_self, .arg = selves};
  bool ok = selves != NULL;
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (t->events[i].kind == TK_EVENT_SPAN && is_timed(&t->events[i])) selves[i] = t->events[i].dur; /* for asynchronous spans, the
                                                                                                * whole duration */
  for (tk_id k = 1; ok && k <= t->n_tracks; k++)
    if (t->tracks[k].kind != TK_TRACK_ASYNCS) ok = self_of_track(&of, t, k);
  self_free(&of);
  if (ok) s->selves = selves;
  else mem_free(&s->mem, selves);
  return ok;
}

bool sql_child_durs(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  const uint64_t n = (uint64_t)t->n_events + 1;
  if (s->child_durs) return true;
  if (!sql_parents(s)) return false;
  int64_t *durs = mem_zeros(&s->mem, n, sizeof *durs);
  if (!durs) return false;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (t->events[i].kind == TK_EVENT_SPAN) durs[s->parents[i]] += times_dur(&s->times, &t->events[i]);
  s->child_durs = durs;
  return true;
}

/* Combines two numbers; deterministic, because the result appears in output. */
static uint64_t mixed(uint64_t a, uint64_t b) { return hash_fold(a ^ UINT64_C(0x9e3779b97f4a7c15), b ^ UINT64_C(0xd1342543de82ef95)); }

static uint64_t hash_of_class(const struct tk_sql *s, tk_id cls) {
  const struct tk_trace *t = s->t;
  const struct intern_str *name = trace_str(t, t->classes[cls].name), *cat = trace_str(t, t->classes[cls].cat);
  const tk_id own = t->classes[cls].cat;
  const bool has_cat = own && (s->times.exact || own != KEY_EMPTY); /* the same rule as for the column `category` */
  uint64_t of_cat = has_cat ? hash_bytes(cat->bytes, cat->len) : 1;
  return mixed(t->classes[cls].name ? hash_bytes(name->bytes, name->len) : 1, of_cat << 1);
}

/* Computes the stack id of each event: a hash of the names and categories of the event and of all slices around it. */
bool sql_stacks(struct tk_sql *s) {
  const struct tk_trace *t = s->t;
  if (s->stacks) return true;
  if (!sql_parents(s)) return false;
  uint64_t *of_class = mem_array(&s->mem, (uint64_t)t->n_classes + 1, sizeof *of_class);
  uint64_t *stacks = mem_array(&s->mem, (uint64_t)t->n_events + 1, sizeof *stacks);
  if (of_class && stacks) {
    stacks[0] = 0;
    for (tk_id c = 1; c <= t->n_classes; c++) of_class[c] = hash_of_class(s, c);
    for (tk_id i = 1; i <= t->n_events; i++)
      stacks[i] = mixed(stacks[s->parents[i]] * 2 + 1, of_class[t->events[i].cls]) >> 10 | 1; /* small enough for a double to
                                                                                               * represent it */
    s->stacks = stacks;
  } else mem_free(&s->mem, stacks);
  mem_free(&s->mem, of_class);
  return s->stacks != NULL;
}

tk_id sql_first_after(const struct tk_sql *s, const struct tk_track *k, tk_time ts) {
  tk_id from = k->first, to = k->first + k->count;
  while (from < to) {
    const tk_id middle = from + (to - from) / 2;
    if (s->t->events[middle].ts <= ts) from = middle + 1;
    else to = middle;
  }
  return from;
}

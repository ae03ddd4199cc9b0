/* work.c - see work.h.
 *
 * GPUs are numbered by the host, and so are the same for all processes. */
#include "work.h"

#include <stdio.h>

#include "base/hash.h"

void work_init(struct rocm *r) {
  struct mem *mem = &r->d.t->store->mem;
  database_texts_init(&r->texts, mem);
  map_init(&r->devices, mem);
  map_init(&r->queues, mem);
  map_init(&r->by_id, mem);
  r->flow_class = trace_class(r->d.t, trace_text(r->d.t, "launch"), trace_text(r->d.t, "launch"));
  r->d.t->clock = TK_CLOCK_MONOTONIC;
}

void work_free(struct rocm *r) {
  database_texts_free(&r->texts);
  map_free(&r->devices);
  map_free(&r->queues);
  map_free(&r->by_id);
}

/* ---- the clock ---- */

bool work_time(struct rocm *r, const struct cell *c, tk_time *ts) {
  int64_t ns;
  if (c->type != CELL_INT) return false;
  if (!r->has_origin) {
    r->has_origin = true;
    r->origin_ns = r->d.t->origin_ns = c->i;
  }
  if (__builtin_sub_overflow(c->i, r->origin_ns, &ns) || ns > DATABASE_MOST_NS || ns < -DATABASE_MOST_NS) return false;
  *ts = ns * 1000;
  return true;
}

bool work_span(struct rocm *r, const struct cell *start, const struct cell *end, struct tk_event *e) {
  tk_time last;
  e->kind = TK_SPAN;
  if (!work_time(r, start, &e->ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "rows without a usable start: skipped");
    r->d.t->counts.dropped++;
    return false;
  }
  const bool ends = work_time(r, end, &last);
  if (!ends) e->kind = TK_BEGIN; /* the process died before its end */
  if (ends && last < e->ts) trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "spans that end before they begin: using 0");
  e->dur = ends && last > e->ts ? last - e->ts : 0;
  return true;
}

/* ---- devices ---- */

tk_id work_device(struct rocm *r, int64_t number) {
  char name[48];
  uint32_t *known = map_put(&r->devices, (uint64_t)number, 0);
  if (!known || *known) return known ? *known : 0;
  while (trace_find(r->d.t, &(struct tk_track){.kind = TK_PROCESS, .pid = ident_int(r->n_devices)})) r->n_devices++;
  *known = trace_process(r->d.t, ident_int(r->n_devices++));
  snprintf(name, sizeof name, "GPU %lld", (long long)number);
  r->d.t->tracks[*known].name = trace_text(r->d.t, name);
  r->d.t->tracks[*known].renamed = true; /* no record names it */
  return *known;
}

tk_id work_queue(struct rocm *r, uint64_t process, int64_t device, int64_t queue, tk_id name) {
  char text[48];
  uint32_t *known = map_put(&r->queues, hash_pair(hash_pair(process, (uint64_t)device), (uint64_t)queue), 0);
  if (!known || *known) return known ? *known : 0;
  snprintf(text, sizeof text, "queue %lld", (long long)queue);
  const tk_id owner = work_device(r, device);
  const struct tk_ident tid = ident_int((int64_t)r->queues.n);
  *known = trace_track(r->d.t, TK_THREAD, r->d.t->tracks[owner].pid, tid, 0);
  struct tk_track *track = &r->d.t->tracks[*known];
  track->name = name ? name : trace_text(r->d.t, text);
  track->sort_index = queue;
  track->has_sort = track->renamed = true;
  return *known;
}

/* ---- flows ---- */

static void add_point(struct rocm *r, tk_id event, enum tk_flow_role role, int64_t id) {
  const struct tk_event *e = &r->d.t->events[event];
  const tk_time ts = e->ts;
  const tk_id track = e->track;
  struct tk_flow_point *f = trace_add_flow_point(r->d.t);
  *f = (struct tk_flow_point){.ts = ts, .id = id, .cls = r->flow_class, .at = track, .role = (uint8_t)role};
  f->id_kind = TK_FLOW_ID_INT;
  f->enclosing = role == TK_FLOW_END;
}

void work_link(struct rocm *r, tk_id from, tk_id to) {
  const int64_t id = ++r->n_flows;
  add_point(r, from, TK_FLOW_START, id);
  add_point(r, to, TK_FLOW_END, id);
}

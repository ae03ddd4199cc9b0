/* reader.c - see reader.h. */
#include "reader.h"

#include <stdio.h>
#include <string.h>

bool ascend_time(struct ascend *r, const struct cell *c, tk_time *ts) {
  char digits[24] = "";
  const uint8_t *end;
  int64_t at = c->i, ns;
  if (c->type == CELL_TEXT && c->n < sizeof digits) {
    memcpy(digits, c->p, c->n);
    const struct num n = num_scan((const uint8_t *)digits, &end);
    if (n.kind != NUM_INT || *end) return false;
    at = n.mant;
  } else if (c->type != CELL_INT) {
    return false;
  }
  if (!r->has_origin) {
    r->has_origin = true;
    r->origin_ns = r->d.t->origin_ns = at;
  }
  if (__builtin_sub_overflow(at, r->origin_ns, &ns) || ns > DATABASE_MOST_NS || ns < -DATABASE_MOST_NS) return false;
  *ts = ns * 1000;
  return true;
}

bool ascend_span(struct ascend *r, const struct cell *start, const struct cell *end, struct tk_event *e) {
  tk_time last;
  e->kind = TK_SPAN;
  if (!ascend_time(r, start, &e->ts)) {
    trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "rows without a usable start: skipped");
    r->d.t->counts.dropped++;
    return false;
  }
  const bool ends = ascend_time(r, end, &last);
  if (!ends) e->kind = TK_BEGIN;
  if (ends && last < e->ts) trace_note(r->d.t, TK_NOTE_REPAIR, UINT64_MAX, "spans that end before they begin: using 0");
  e->dur = ends && last > e->ts ? last - e->ts : 0;
  return true;
}

static tk_id named(struct ascend *r, tk_id track, const char *name) {
  struct tk_track *k = &r->d.t->tracks[track];
  if (k->name) return track;
  k->name = trace_text(r->d.t, name);
  k->renamed = true; /* no record names it */
  return track;
}

tk_id ascend_process(struct ascend *r, enum ascend_row row, int64_t device, const char *name) {
  const int64_t pid = (int64_t)((uint64_t)r->pid << 10 | (unsigned)row << 5 | ((uint64_t)device & 31));
  const tk_id id = named(r, trace_process(r->d.t, ident_int(pid)), name);
  char label[32] = "CPU";
  if (row != ROW_CANN) snprintf(label, sizeof label, "NPU %lld", (long long)device);
  if (!r->d.t->tracks[id].labels) r->d.t->tracks[id].labels = trace_text(r->d.t, label);
  return id;
}

tk_id ascend_thread(struct ascend *r, tk_id process, int64_t tid, const char *name) {
  return named(r, trace_track(r->d.t, TK_THREAD, r->d.t->tracks[process].pid, ident_int(tid), 0), name);
}

tk_id ascend_add(struct ascend *r, const struct tk_event *e) {
  struct tk_event *added = trace_add_event(r->d.t);
  *added = *e;
  return (tk_id)(added - r->d.t->events);
}

void ascend_link(struct ascend *r, tk_id from, tk_id to, const char *name, const char *category) {
  struct tk_trace *t = r->d.t;
  const tk_id cls = trace_class(t, trace_text(t, name), trace_text(t, category)), ends[2] = {from, to};
  r->n_flows++;
  for (int i = 0; i < 2; i++) {
    const struct tk_event e = t->events[ends[i]];
    struct tk_flow_point *f = trace_add_flow_point(t);
    *f = (struct tk_flow_point){.ts = e.ts, .id = r->n_flows, .cls = cls, .at = e.track, .role = i ? TK_FLOW_END : TK_FLOW_START};
    f->id_kind = TK_FLOW_ID_INT;
    f->enclosing = i == 1;
  }
}

bool ascend_is_connection(const struct cell *c) { return c->type == CELL_INT && c->i >= 0 && c->i != UINT32_MAX; }

/* finish.c - the steps that need the complete file: converting pending times, ordering flows by time, choosing the origin. */
#include <stdlib.h>
#include <string.h>

#include "finish.h"
#include "early.h"
#include "prune.h"
#include "prune_packets.h"
#include "graph/seal.h"
#include "parts_spans.h"
#include "format/time_base.h"
#include "reader.h"
#include "records.h"
#include "sched.h"
#include "passthrough.h"
#include "inspect.h"
#include "finish_tracks.h"
#include "finish_ends.h"
#include "finish_atrace.h"
#include "gpu_flows.h"
#include "counters.h"
#include "clock.h"
#include "graph/args.h"

/* ---- times ---- */

/* Makes the clock of the first event the trace clock, for a trace without events on its default clock. A built-in clock is usable
 * without a snapshot: REALTIME is the time since the epoch. */
static void adopt_clock(struct perfetto *r) {
  const uint32_t id = r->clocks[r->pending[0].clock].id;
  if (r->has_snapshot || r->clocks[r->pending[0].clock].of_sequence || id >= CLOCK_OF_SEQUENCE) return;
  r->trace_clock = id;
  r->has_snapshot = r->adopted = true;
}

/* Converts pending times to the trace clock. If a clock has no snapshot, its first event is placed at the start of the
 * trace. */
static void finish_pending_times(struct perfetto *r) {
  struct tk_trace *t = r->t;
  int64_t first = INT64_MAX;
  uint32_t next = 0;
  for (tk_id i = 1; i <= t->n_events && r->n_pending; i++) {
    while (next < r->n_pending && (r->pending[next].is_flow || r->pending[next].at < i)) next++;
    if (next < r->n_pending && r->pending[next].at == i) continue;
    if (t->events[i].ts < first) first = t->events[i].ts;
  }
  if (first == INT64_MAX && r->n_pending) adopt_clock(r);
  if (first == INT64_MAX) first = 0;
  for (uint32_t i = 0; i < r->n_pending; i++) {
    const struct pending_time *l = &r->pending[i];
    struct clock *c = &r->clocks[l->clock];
    tk_time *ts = l->is_flow ? &t->flow_points[l->at].ts : &t->events[l->at].ts;
    if (c->n == 0 && (c->id != r->trace_clock || c->of_sequence)) {
      perfetto_note(r, TK_NOTE_REPAIR, "clock without a snapshot: its first event is placed at the start of the trace");
      c->n = mem_grow(&t->store->mem, (void **)&c->points, &c->cap, 1, sizeof *c->points);
      if (c->n) c->points[0] = (struct clock_point){*ts, first};
    }
    clock_to_trace(r, l->clock, *ts, ts);
  }
}

/* Returns the time of the first, the middle or the last event, depending on which of them is close to most events. */
static int64_t choose_origin(const struct tk_trace *t) {
  int64_t best = 0;
  uint64_t most = 0;
  for (int pick = 0; pick < 3 && t->n_events; pick++) {
    int64_t origin = t->events[pick == 0 ? 1 : pick == 1 ? (t->n_events + 1) / 2 : t->n_events].ts;
    uint64_t n = 0;
    for (tk_id i = 1; i <= t->n_events; i++) n += perfetto_in_range(t->events[i].ts, origin);
    if (n > most) most = n, best = origin;
    if (most == t->n_events) break;
  }
  return best;
}

/* Flags an event that is too far from the others as having lost its clock, and keeps its time as text in an arg. */
static void mark_lost_clock(struct perfetto *r, struct tk_event *e, int64_t ns) {
  struct tk_trace *t = r->t;
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg arg;
  char text[64];
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  args_str(t, KEY_TS, TK_ARG_NUMBER, trace_string(t, text, num_put_us(text, (i128)ns * 1000)));
  e->args = args_end(t);
  e->flags |= TK_FLAG_LOST_CLOCK;
  e->ts = 0;
  perfetto_note(r, TK_NOTE_REPAIR, "events more than 100 days from the rest: excluded from time ranges");
}

static void finish_times(struct perfetto *r) {
  struct tk_trace *t = r->t;
  int64_t origin = choose_origin(t);
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_BEGIN) e->dur = 0; /* dur was a link to the enclosing begin */
    e->dur = e->dur > INT64_MAX / 1000 ? INT64_MAX : e->dur * 1000;
    if (!perfetto_in_range(e->ts, origin)) {
      mark_lost_clock(r, e, e->ts);
      continue;
    }
    e->ts = (e->ts - origin) * 1000;
    if (e->ts > 0 && e->dur > INT64_MAX - e->ts) e->dur = INT64_MAX - e->ts;
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    tk_time *ts = &t->flow_points[i].ts;
    *ts = perfetto_in_range(*ts, origin) ? (*ts - origin) * 1000 : 0;
  }
  perfetto_record_times(r, origin);
  for (uint32_t i = 0; i < r->n_points; i++) {
    const struct tk_event *e = &t->events[r->points[i].event];
    r->points[i].ts = e->ts;
    r->points[i].machine = r->nodes[e->track / ASPECTS].machine;
  }
  t->origin_ns = origin;
}

static void add_base_time(struct tk_trace *t) {
  char text[24];
  size_t n = num_put_i64(text, t->zero_ns);
  struct tk_meta *m = trace_add_meta(t);
  m->key = trace_text(t, "baseTimeNanoseconds");
  m->at = t->store->raw.len;
  m->size = n;
  buf_append(&t->store->raw, text, n);
  trace_end_raw(t);
}

static void set_clock(struct perfetto *r) {
  static const int64_t SANE = INT64_MAX / 2;
  struct tk_trace *t = r->t;
  if (r->has_real && r->trace_clock != CLOCK_REALTIME && r->zero_ns < SANE && r->zero_ns > -SANE && t->origin_ns < SANE) {
    t->zero_ns = r->zero_ns + r->later_ns;
    t->origin_ns += r->zero_ns;
    /* a trace whose timestamps are dates needs no base, unless its data from another format states a base of 0 */
    const bool stated = time_base_is_stated(t);
    t->has_zero = stated || t->zero_ns != 0 || !time_base_is_date(t->origin_ns);
    t->clock = TK_CLOCK_REALTIME;
    t->store->clock_from = "clock snapshot";
    if (t->has_zero && !stated) add_base_time(t);
    return;
  }
  t->zero_ns = r->later_ns;
  if (r->has_snapshot) {
    t->store->clock_from = r->adopted ? "timestamps on this clock, without a snapshot" : "clock snapshot";
    t->clock = r->trace_clock == CLOCK_REALTIME ? TK_CLOCK_REALTIME
               : r->trace_clock == CLOCK_BOOTTIME ? TK_CLOCK_BOOTTIME
               : r->trace_clock == CLOCK_MONOTONIC ? TK_CLOCK_MONOTONIC : TK_CLOCK_UNKNOWN;
  }
}

/* ---- flows ---- */

enum { FLOW_IN = 1, FLOW_OUT }; /* LegacyEvent.flow_direction */

static int finish_by_time(const void *a, const void *b) {
  const struct raw_point *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  if (x->machine != y->machine) return x->machine < y->machine ? -1 : 1;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  if (x->event == y->event && x->terminating != y->terminating) return x->terminating - y->terminating;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Adds a flow point. A point of an end event belongs to the span that ends there. Seal has not paired this span yet, so the
 * point is moved back to the last moment inside the span. */
static void add_flow_point(struct perfetto *r, const struct raw_point *p, int64_t id, enum tk_flow_role role) {
  const uint64_t own = p->direction ? p->id ^ 1ull << 63 : p->id;
  uint32_t args = 0;
  if (r->filed && (uint64_t)id != own) {
    args_begin(r->t);
    args_int(r->t, KEY_ID, (int64_t)own);
    args = args_end(r->t);
  }
  struct tk_flow_point *f = trace_add_flow_point(r->t);
  f->args = args;
  f->ts = p->ts;
  f->role = (uint8_t)role;
  f->cls = trace_class(r->t, 0, 0);
  f->id = id;
  f->id_kind = id < 0 ? TK_FLOW_ID_UINT : TK_FLOW_ID_INT;
  f->bound = !p->at_end;
  f->at = p->at_end ? p->site : p->event;
  f->enclosing = !p->direction || p->at_end;
  if (p->at_end && f->ts > INT64_MIN) f->ts--;
}

/* Returns the role of a point. Flows of Chrome's legacy events do not form chains, because each incoming flow belongs to the latest
 * outgoing one. */
static enum tk_flow_role role_of(const struct raw_point *p) {
  return p->direction == FLOW_IN ? TK_FLOW_IN : p->direction == FLOW_OUT ? TK_FLOW_OUT : TK_FLOW_INOUT;
}

/* Generates flow ids, from 1, that the file does not use. */
struct fresh_ids {
  struct map used;
  int64_t last;
};

static void use_ids(struct perfetto *r, struct fresh_ids *f) {
  const struct tk_trace *t = r->t;
  map_init(&f->used, &r->t->store->mem);
  for (uint32_t i = 0; i < r->n_points; i++) map_put(&f->used, r->points[i].id ^ (r->points[i].direction ? 1ull << 63 : 0), 1);
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (t->flow_points[i].id_kind != TK_FLOW_ID_STR) map_put(&f->used, (uint64_t)t->flow_points[i].id, 1);
}

static int64_t fresh_id(struct perfetto *r, struct fresh_ids *f) {
  if (!f->used.mem) use_ids(r, f);
  do f->last++;
  while (map_get(&f->used, (uint64_t)f->last) || map_get(&r->prune.flow_ids, (uint64_t)f->last));
  return f->last;
}

/* True if the point belongs to the same flow as the previous point. */
static bool goes_on(const struct raw_point *before, const struct raw_point *p) {
  if (before->id != p->id || before->machine != p->machine || !before->direction != !p->direction) return false;
  return p->direction || !before->terminating;
}

/* True for a point of a legacy flow that trace_processor ignores: it begins a flow whose id is in use, or continues one that
 * has not begun. *open: whether a flow with this id has begun. Chrome's own viewer starts a new flow instead. */
static bool is_ignored(const struct raw_point *p, bool *open) {
  const bool is_out = p->direction == FLOW_OUT, was_open = *open;
  *open = was_open || is_out;
  return p->direction && is_out == was_open;
}

/* Splits points into flows. A flow consists of its points in order of time, up to a point that terminates it. Afterwards its id
 * may be used again; other machines may also use the same id. In the graph each flow has a unique id, and the first flow of an
 * id keeps it. */
static void chain_points(struct perfetto *r) {
  struct fresh_ids fresh = {.last = 0};
  int64_t id = 0;
  bool open = false;
  if (r->n_points) qsort(r->points, r->n_points, sizeof *r->points, finish_by_time);
  for (uint32_t i = 0; i < r->n_points; i++) {
    const struct raw_point *p = &r->points[i];
    bool begins = i == 0 || !goes_on(p - 1, p), last = i + 1 == r->n_points || !goes_on(p, p + 1);
    if (begins) id = i && p[-1].id == p->id ? fresh_id(r, &fresh) : (int64_t)(p->direction ? p->id ^ 1ull << 63 : p->id);
    if (begins) open = false;
    if (r->filed && is_ignored(p, &open)) continue;
    if (p->direction) add_flow_point(r, p, id, role_of(p));
    else if (begins) add_flow_point(r, p, id, last && p->terminating ? TK_FLOW_IN : TK_FLOW_OUT);
    else add_flow_point(r, p, id, last ? TK_FLOW_IN : TK_FLOW_INOUT);
  }
  if (fresh.used.mem) map_free(&fresh.used);
}

static tk_time end_of_trace(const struct tk_trace *t) {
  tk_time end = INT64_MIN;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    bool whole = e->kind == TK_EVENT_SPAN && (e->ts < 0 || e->dur <= INT64_MAX - e->ts);
    tk_time e_end = whole ? e->ts + e->dur : e->ts;
    if (e_end > end) end = e_end;
  }
  return end;
}

/* Converts begin events without an end event on lanes to unfinished spans. This must be done before lanes are merged into their
 * threads; otherwise the end event of another span would close them. */
static void finish_lanes(struct perfetto *r) {
  struct tk_trace *t = r->t;
  tk_time end = 0;
  bool known = false;
  for (uint32_t i = 1; i <= r->n_nodes; i++) {
    struct node *n = &r->nodes[i];
    if (!(n->form & FORM_LANE)) continue;
    if (n->open && !known) end = end_of_trace(t), known = true;
    for (tk_id open = n->open; open;) {
      struct tk_event *e = &t->events[open];
      open = (tk_id)e->dur;
      *e = (struct tk_event){ .ts = e->ts,
                              .dur = seal_dur(e->ts, end),
                              .cls = e->cls,
                              .track = e->track,
                              .args = e->args,
                              .kind = TK_EVENT_SPAN,
                              .flags = (uint8_t)(e->flags | TK_FLAG_PAIRED | TK_FLAG_UNFINISHED) };
    }
    n->open = 0;
  }
}

void perfetto_finish(struct perfetto *r) {
  struct tk_trace *t = r->t;
  perfetto_end_collected(r);
  prune_check(r);
  prune_packets_check(r);
  parts_join_spans(r);
  perfetto_note_damage(r);
  sched_finish(r);
  finish_pending_times(r);
  perfetto_finish_atrace(r);
  finish_lanes(r);
  finish_times(r);
  perfetto_finish_ends(r);
  set_clock(r);
  chain_points(r);
  gpu_flows_finish(r);
  perfetto_finish_tracks(r);
  early_check(r);
  passthrough_clock(r);
  passthrough_readings(r);
  passthrough_descriptors(r);
  passthrough_interned(r);
  perfetto_add_counts(r);
  if (t->n_events + t->n_flow_points == 0) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "no events");
}

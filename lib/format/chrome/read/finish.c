/* finish.c - handles times that could not be placed while the file was read.
 *
 * An event more than 100 days from the other events has lost its clock (GPU profilers write 0 for it): it is flagged, and its time is
 * kept as text. This can only be decided at the end of the file, because the first event may be the one that lost its clock. */
#include <string.h>

#include "finish.h"
#include "format/time_base.h"
#include "reader.h"
#include "record.h"
#include "graph/args.h"

/* Returns the args of an event plus its time, in microseconds as in the file. */
static uint32_t with_ts(struct chrome *r, uint32_t args, i128 ps) {
  struct tk_args it = tk_args_of(r->t, args);
  struct tk_arg arg;
  char text[64];
  args_begin(r->t);
  while (tk_args_next(&it, &arg)) args_copy(r->t, &arg);
  args_str(r->t, KEY_TS, TK_ARG_NUMBER, trace_string(r->t, text, num_put_us(text, ps)));
  return args_end(r->t);
}

/* True if most events are far from the origin. If exactly half of them are, the half with times nearer to zero has lost its
 * clock. */
static bool bulk_is_out_of_range(const struct chrome *r) {
  uint64_t n = 0;
  i128 ps = 0, origin = r->origin_ps;
  for (uint32_t i = 0; i < r->n_pending; i++) {
    if (r->pending[i].kind != PENDING_EVENT) continue;
    n++;
    ps = r->pending[i].ps;
  }
  if (n * 2 != r->t->n_events || n == 0) return n * 2 > r->t->n_events;
  return (ps < 0 ? -ps : ps) > (origin < 0 ? -origin : origin);
}

static void choose_origin(struct chrome *r, const struct pending *far, uint32_t n) {
  tk_time ts;
  uint32_t i = n / 2;
  while (far[i].kind != PENDING_EVENT) i = (i + 1) % n;
  r->has_origin = false;
  chrome_relative(r, far[i].ps, &ts);
}

/* Writes the time of a record back into its text, because the time is too far from the origin. */
static void unplace(struct chrome *r, struct tk_record *rec, i128 ps) {
  struct buf *raw = &r->t->store->raw;
  char text[80] = ",\"ts\":";
  size_t at = raw->len, n = 6 + num_put_us(text + 6, ps), skip = rec->size == 0;
  if (!buf_reserve(raw, rec->size + n)) return;
  buf_append(raw, raw->data + rec->at, rec->size);
  buf_append(raw, text + skip, n - skip);
  rec->at = at;
  rec->size += (uint32_t)(n - skip);
  rec->has_ts = false;
  rec->ts = 0;
}

/* Marks the events near the old origin, `was`, as having lost their clock, after the origin was moved to the majority. Queues
 * all items that are now too far from the origin. */
static void mark_lost(struct chrome *r, i128 was) {
  struct tk_trace *t = r->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    if (t->events[i].flags & TK_FLAG_LOST_CLOCK) continue;
    t->events[i].flags |= TK_FLAG_LOST_CLOCK;
    chrome_add_pending(r, (struct pending){was + t->events[i].ts, i, 0, PENDING_EVENT});
  }
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    i128 ps = was + t->flow_points[i].ts;
    if (t->flow_points[i].bound || t->flow_points[i].ts == PENDING_TS || chrome_relative(r, ps, &t->flow_points[i].ts)) continue;
    chrome_add_pending(r, (struct pending){ps, i, 0, PENDING_FLOW});
  }
  for (tk_id i = 1; i <= t->n_records; i++) {
    struct tk_record *rec = &t->records[i];
    i128 ps = was + rec->ts;
    if (rec->has_ts && !chrome_relative(r, ps, &rec->ts)) unplace(r, rec, ps);
  }
}

static void place_pending(struct chrome *r, const struct pending *f) {
  struct tk_trace *t = r->t;
  struct tk_record *rec = &t->records[f->at];
  tk_time ts;
  if (!chrome_relative(r, f->ps, &ts)) {
    chrome_add_pending(r, *f);
    return;
  }
  switch (f->kind) {
  case PENDING_FLOW: t->flow_points[f->at].ts = ts; return;
  case PENDING_EVENT:
    t->events[f->at].ts = ts;
    t->events[f->at].flags &= (uint8_t)~TK_FLAG_LOST_CLOCK;
    return;
  case PENDING_RECORD:
    rec->ts = ts;
    rec->has_ts = true;
    rec->size -= f->size;
  }
}

/* ---- time 0 ---- */

/* Events at time 0: their number (n) and latest end. Other events: their number (n_others) and earliest time (first). */
struct zeros {
  uint64_t n, n_others;
  tk_time end, first;
};

static bool is_at_zero(const struct chrome *r, const struct tk_event *e) {
  return r->origin_ps + e->ts == 0 && (e->kind == TK_EVENT_SPAN || e->kind == TK_EVENT_INSTANT);
}

static struct zeros find_zeros(const struct chrome *r) {
  const struct tk_trace *t = r->t;
  struct zeros z = {.end = INT64_MIN, .first = INT64_MAX};
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (is_at_zero(r, e)) {
      z.n++;
      if (e->ts + e->dur > z.end) z.end = e->ts + e->dur;
    } else {
      z.n_others++;
      if (e->ts < z.first) z.first = e->ts;
    }
  }
  return z;
}

/* Marks events at time 0 whose clock is lost: GPU profilers write 0 for a time that they do not know. If the file states a time base,
 * an event at time 0 has lost its clock unless the other events start within a second of its end. */
static void lose_zeros(struct chrome *r) {
  static const tk_time SECOND = 1000000000000;
  struct tk_trace *t = r->t;
  if (!time_base_is_stated(t) || trace_meta(t, "tracekit")) return;
  const struct zeros z = find_zeros(r);
  if (z.n == 0 || z.n_others == 0) return;
  if ((i128)z.first - z.end <= SECOND) return;
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK || !is_at_zero(r, e)) continue;
    e->flags |= TK_FLAG_LOST_CLOCK;
    e->args = with_ts(r, e->args, 0);
  }
  static const char LOST[] = "events at time 0, although all others are later: their time is unknown, so time ranges exclude them";
  trace_notes(t, TK_NOTE_FACT, UINT64_MAX, LOST, z.n);
}

/* ---- begin events without a time ---- */

/* Categories of begin events that a producer writes with time 0, because it never sets their time. */
static const char *const UNTIMED[] = {
    /* NCCL's example of a profiler plugin: plugin.cc does not set startTs in events of these types */
    "COLL_API", "P2P_API", "KERNEL_LAUNCH"};

static bool is_untimed_class(const struct tk_trace *t, tk_id cls) {
  const char *category = tk_string(t, t->classes[cls].cat, NULL);
  for (size_t i = 0; i < sizeof UNTIMED / sizeof *UNTIMED; i++)
    if (strcmp(category, UNTIMED[i]) == 0) return true;
  return false;
}

/* Marks begin events of these categories at time 0 as having lost their clock. Their end events then determine where the spans are. */
static void lose_untimed(struct chrome *r) {
  struct tk_trace *t = r->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_BEGIN || !(e->flags & TK_FLAG_ASYNC) || e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (r->origin_ps + e->ts != 0 || !is_untimed_class(t, e->cls)) continue;
    e->flags |= TK_FLAG_LOST_CLOCK;
    e->args = with_ts(r, e->args, 0);
  }
}

static void place_all(struct chrome *r) {
  struct tk_trace *t = r->t;
  struct pending *old = r->pending;
  uint32_t n = r->n_pending;
  i128 was = r->origin_ps;
  bool swap = bulk_is_out_of_range(r);
  if (n == 0 || !r->has_origin) return;
  r->pending = NULL;
  r->n_pending = r->cap_pending = 0;
  if (swap) {
    choose_origin(r, old, n);
    mark_lost(r, was);
  }
  for (uint32_t i = 0; i < n; i++) place_pending(r, &old[i]);
  mem_free(&t->store->mem, old);
  for (uint32_t i = 0; i < r->n_pending; i++) {
    const struct pending *f = &r->pending[i];
    if (f->kind == PENDING_RECORD) continue; /* the text of the record contains the time */
    if (f->kind == PENDING_FLOW) {
      t->flow_points[f->at].ts = 0;
      trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "flow points more than 100 days from the rest: moved to the start of the trace");
      continue;
    }
    t->events[f->at].args = with_ts(r, t->events[f->at].args, f->ps);
    trace_note(t, TK_NOTE_INFO, UINT64_MAX,
               "events more than 100 days from the rest: excluded from time ranges");
  }
}

/* Finds the time of the first event. Returns true if some event may be at time 0. */
static bool find_start(struct chrome *r) {
  tk_time end;
  trace_extent(r->t, &r->start, &end);
  r->n_started = r->t->n_events;
  return r->origin_ps + r->start <= 0 && r->origin_ps + end >= 0;
}

static bool is_below_zero(const struct tk_arg *arg) {
  return (arg->type == TK_ARG_INT || arg->type == TK_ARG_DECIMAL) ? arg->i < 0 : arg->type == TK_ARG_DOUBLE && arg->d < 0;
}

static bool any_has_tdur(const struct tk_trace *t) {
  for (uint32_t i = 1; i <= t->store->n_shapes; i++)
    for (uint32_t k = 0; k < t->store->shapes[i]->n; k++)
      if (t->store->shapes[i]->fields[k].key == KEY_TDUR) return true;
  return false;
}

/* Notes spans whose thread ran for a negative time. The field is kept, because nothing depends on it, and trace_processor keeps it. */
static void note_thread_times(struct tk_trace *t) {
  struct tk_arg arg;
  if (!any_has_tdur(t)) return;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (t->events[i].kind == TK_EVENT_SPAN && args_of_event(t, &t->events[i], KEY_TDUR, &arg) && is_below_zero(&arg))
      trace_note(t, TK_NOTE_FACT, UINT64_MAX, "negative tdur: kept");
}

void chrome_finish(struct chrome *r) {
  place_all(r);
  if (r->has_origin && r->origin_ps != (i128)r->origin_ns * 1000)
    trace_note(r->t, TK_NOTE_FACT, UINT64_MAX, "times beyond 64 bits of nanoseconds: stored relative to one of them");
  note_thread_times(r->t);
  chrome_name_stand_ins(r->t);
  if (!find_start(r)) return;
  lose_zeros(r);
  lose_untimed(r);
  find_start(r);
}

/* meta.c - interprets top-level data: the clock, and properties that confuse viewers. */
#include <math.h>
#include <string.h>

#include "meta.h"
#include "format/time_base.h"
#include "reader.h"

enum { PS_PER_US = 1000000 };

/* Sets the trace's clock from the time base that many producers record. Without a time base, timestamps near 1.6e15 microseconds
 * can only be relative to the epoch. */
static void set_clock(struct chrome *r) {
  static const int64_t SANE = INT64_MAX / 2;
  struct tk_trace *t = r->t;
  int64_t base = 0;
  tk_time start = r->start, end;
  if (r->n_started != t->n_events) trace_extent(t, &start, &end); /* the extent includes the added samples */
  t->store->clock_from = time_base_find(t, (i128)r->origin_ns * 1000 + start, &base);
  t->has_zero = t->store->clock_from != NULL;
  if (base > SANE || base < -SANE || (base && (r->origin_ns > SANE || r->origin_ns < -SANE))) {
    trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "time base out of range: ignored");
    t->has_zero = false;
    base = 0;
  }
  t->zero_ns = base;
  t->origin_ns = r->origin_ns + base;
  if (t->has_zero || time_base_is_date(r->origin_ns)) t->clock = TK_CLOCK_REALTIME;
  const char *caveat = time_base_caveat(t->store->clock_from);
  if (caveat) trace_note(t, TK_NOTE_FACT, UINT64_MAX, caveat);
  if (!t->has_zero) t->store->clock_from = "timestamps are relative to 1970";
}

/* ---- stackFrames ---- */

struct frames {
  struct intern ids;
  uint32_t *parents; /* by frame id: parent; 0 = none */
  bool *defined;
  uint32_t cap_parents, cap_defined;
};

static bool room(struct frames *f, uint32_t id) {
  uint32_t parents = f->cap_parents, defined = f->cap_defined;
  if (!id || !mem_grow(f->ids.mem, (void **)&f->parents, &f->cap_parents, (uint64_t)id + 1, sizeof *f->parents) ||
      !mem_grow(f->ids.mem, (void **)&f->defined, &f->cap_defined, (uint64_t)id + 1, sizeof *f->defined))
    return false;
  memset(f->parents + parents, 0, (size_t)(f->cap_parents - parents) * sizeof *f->parents);
  memset(f->defined + defined, 0, (size_t)(f->cap_defined - defined) * sizeof *f->defined);
  return true;
}

static void read_frames(struct frames *f, const char *text, size_t n) {
  struct json j = {.p = (const uint8_t *)text, .end = (const uint8_t *)text + n, .last = true};
  struct json_string key;
  struct json_value frame, parent;
  for (j.p++; j.p < j.end && *j.p == '"'; j.p += *j.p == ',') {
    if (!json_key(&j, &key) || !json_value(&j, &frame)) return;
    uint32_t id = intern(&f->ids, key.p, key.n);
    if (!room(f, id)) return;
    f->defined[id] = true;
    if (frame.type != JSON_OBJECT || !json_member((const char *)frame.p, (size_t)(frame.end - frame.p), "parent", &parent)) continue;
    bool quoted = parent.type == JSON_STRING;
    uint32_t up = intern(&f->ids, quoted ? parent.str.p : parent.p, quoted ? parent.str.n : (size_t)(parent.end - parent.p));
    if (!room(f, up)) return;
    f->parents[id] = up;
  }
}

/* Counts frames whose chain of parents contains a frame that is not in the table, or a loop. Each chain is followed once: mark[]
 * contains the frame from which a frame was first reached. */
static uint64_t lost_frames(struct frames *f, uint32_t *mark) {
  uint64_t lost = 0;
  for (uint32_t i = 1; i <= f->ids.n; i++) {
    uint32_t at = i;
    if (!f->defined[i]) lost++;
    while (f->defined[at] && f->parents[at] && !mark[at]) {
      mark[at] = i;
      at = f->parents[at];
    }
    if (mark[at] == i && f->parents[at]) lost++;
  }
  return lost;
}

static void check_frames(struct chrome *r) {
  const struct tk_meta *m = trace_meta(r->t, "stackFrames");
  struct mem *mem = &r->t->store->mem;
  struct frames f = {0};
  uint32_t *mark;
  if (!m || *trace_raw(r->t, m->at) != '{') return;
  intern_init(&f.ids, mem);
  read_frames(&f, trace_raw(r->t, m->at), m->size);
  mark = mem_zeros(mem, (uint64_t)f.ids.n + 1, sizeof *mark);
  if (mark && f.ids.n && !mem->failed && lost_frames(&f, mark))
    trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "stackFrames with missing or circular parents: kept unchanged");
  mem_free(mem, mark);
  mem_free(mem, f.parents);
  mem_free(mem, f.defined);
  intern_free(&f.ids);
}

/* ---- */

static bool meta_is(const struct tk_trace *t, const struct tk_meta *m, const char *text) {
  return m->size == strlen(text) && memcmp(trace_raw(t, m->at), text, m->size) == 0;
}

/* Adds a note if jaxlib may have cut the trace. jaxlib writes only the first million spans and ends its files with {}. Nothing else in
 * the file shows that spans are missing. */
static void check_cap(struct tk_trace *t) {
  static const uint64_t MOST_SPANS = 1000000;
  const struct tk_meta *metadata = trace_meta(t, "metadata");
  if (t->n_events != MOST_SPANS || t->counts.by_phase['X'] != MOST_SPANS || t->counts.empty != 1) return;
  if (!metadata || !meta_is(t, metadata, "{\"highres-ticks\":true}")) return;
  t->capped = true;
  trace_note(t, TK_NOTE_INFO, UINT64_MAX, "the file has 1,000,000 spans, the most that JAX writes: later spans may be missing");
}

/* Members of top-level data that are true if a buffer of the producer was full, and the note for this case. */
static const struct {
  const char *key, *member, *note;
} FULL[] = {
    /* viztracer, src/viztracer/tracer.py: the ring buffer keeps the last entries */
    {"viztracer_metadata", "overflow", "the buffer of viztracer was full (--tracer_entries): early events are missing"},
};

static void check_buffers(struct tk_trace *t) {
  struct json_value v;
  for (size_t i = 0; i < sizeof FULL / sizeof *FULL; i++) {
    const struct tk_meta *m = trace_meta(t, FULL[i].key);
    if (!m || !json_member(trace_raw(t, m->at), (size_t)m->size, FULL[i].member, &v) || v.type != JSON_TRUE) continue;
    t->capped = true;
    trace_note(t, TK_NOTE_INFO, UINT64_MAX, FULL[i].note);
  }
}

/* Returns the mean duration of the spans in us. */
static double mean_duration(const struct tk_trace *t) {
  double sum = 0;
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    if (t->events[i].kind != TK_EVENT_SPAN) continue;
    sum += (double)t->events[i].dur / PS_PER_US;
    n++;
  }
  return n ? sum / (double)n : 0;
}

/* Adds a note if the timestamps are dates in another unit. The format requires microseconds, so they are read as such. Hosts that were
 * started half an hour ago have timestamps in us that could be dates in s, but only spans in s are shorter than 1 us on average. */
static void check_unit(const struct chrome *r) {
  static const struct {
    int64_t least, most; /* range of the first timestamp, in us */
    int64_t length;      /* longest trace, in us: a day in the unit */
    double mean;         /* longest mean duration, in us */
    const char *note;
  } UNITS[] = {
      {INT64_C(1300000000), INT64_C(2500000000), 86400, 1,
       "timestamps would be dates if they were in s rather than in us, which the format requires; if so, use rebase --scale 1000000"},
      {INT64_C(1300000000000000000), INT64_C(2500000000000000000), INT64_MAX, HUGE_VAL,
       "timestamps would be dates if they were in ns rather than in us, which the format requires; if so, use rebase --scale 0.001"},
  };
  const struct tk_trace *t = r->t;
  tk_time start, end;
  trace_extent(t, &start, &end);
  const i128 first = (r->origin_ps + start) / PS_PER_US;
  for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
    if (first >= UNITS[i].least && first <= UNITS[i].most && (end - start) / PS_PER_US < UNITS[i].length &&
        mean_duration(t) < UNITS[i].mean)
      trace_note(r->t, TK_NOTE_FACT, UINT64_MAX, UNITS[i].note);
}

void chrome_meta(struct chrome *r) {
  struct tk_trace *t = r->t;
  const struct tk_meta *unit = trace_meta(t, "displayTimeUnit");
  set_clock(r);
  check_frames(r);
  check_cap(t);
  check_buffers(t);
  if (!t->has_zero && t->n_events) check_unit(r);
  if (unit && !meta_is(t, unit, "\"ms\"") && !meta_is(t, unit, "\"ns\""))
    trace_note(t, TK_NOTE_INFO, UINT64_MAX, "displayTimeUnit is neither \"ms\" nor \"ns\"; it does not affect the unit of ts");
  if (trace_meta(t, "systemTraceEvents") || trace_meta(t, "powerTraceAsString"))
    trace_note(t, TK_NOTE_INFO, UINT64_MAX, "embedded system trace (ftrace, BattOr): kept, but its events are not read");
  if (t->n_events + t->n_flow_points == 0 && !t->store->left_points) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "no events");
}

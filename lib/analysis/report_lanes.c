/* report_lanes.c - drawings of a host without devices over time: what it did, and the spans of its threads by nesting depth
 * (report.h). */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum { MOST_THREADS = 8, MOST_LANES = 8 }; /* threads of a host; lanes of a thread */

/* The time range of the report, divided into bins. */
struct bins {
  tk_time start, length, edges[TK_REPORT_BINS + 1];
};

static struct bins bins_of(const struct reporter *p) {
  struct bins b = {.start = p->start, .length = p->end - p->start};
  for (int i = 0; i <= TK_REPORT_BINS; i++) b.edges[i] = b.start + (tk_time)((i128)b.length * i / TK_REPORT_BINS);
  return b;
}

/* Returns the bin that contains `at`, which is in the range. */
static int bin_at(const struct bins *b, tk_time at) {
  int i = (int)((i128)(at - b->start) * TK_REPORT_BINS / b->length);
  while (i > 0 && b->edges[i] > at) i--;
  while (i + 1 < TK_REPORT_BINS && b->edges[i + 1] <= at) i++;
  return i < TK_REPORT_BINS ? i : TK_REPORT_BINS - 1;
}

/* ---- what the host did ---- */

static bool draw_activity(struct reporter *p, struct tk_report_rank *row, uint32_t group, const struct bins *b) {
  row->over_time = mem_zeros(&p->impl->mem, TK_REPORT_BINS, sizeof *row->over_time);
  for (int i = 0; row->over_time && i < TK_REPORT_BINS; i++)
    if (b->edges[i] < b->edges[i + 1]) row->over_time[i] = report_split(p, group, b->edges[i], b->edges[i + 1]);
  return row->over_time != NULL;
}

/* ---- threads ---- */

/* The spans of a thread at one depth. longest: the longest part of a span within each bin; name: text id of this span. */
struct lane {
  tk_time longest[TK_REPORT_BINS], covered[TK_REPORT_BINS];
  uint32_t name[TK_REPORT_BINS];
  bool any;
};

static void lane_add(struct lane *l, const struct bins *b, struct interval part, uint32_t name) {
  const tk_time end = part.start + part.dur;
  for (int i = bin_at(b, part.start); i < TK_REPORT_BINS && b->edges[i] < end; i++) {
    const tk_time from = part.start > b->edges[i] ? part.start : b->edges[i], to = end < b->edges[i + 1] ? end : b->edges[i + 1];
    if (to <= from) continue;
    l->covered[i] += to - from;
    if (to - from > l->longest[i]) {
      l->longest[i] = to - from;
      l->name[i] = name;
    }
    l->any = true;
  }
}

/* Returns the part of a span within the range of the report; dur 0 = it is not drawn. */
static struct interval drawn_part(const struct reporter *p, const struct tk_event *e) {
  const struct window range = {p->start, p->end};
  if (e->kind != TK_EVENT_SPAN || !is_timed(e) || !scope_holds(&p->scope, e)) return (struct interval){0, 0};
  return measure_part(&range, e->ts, e->ts + e->dur);
}

static bool is_drawn(const struct reporter *p, tk_id track) {
  const struct tk_track *k = &p->t->tracks[track];
  return k->kind == TK_TRACK_THREAD && k->count && !(p->match.kinds.of_track[track] & (KIND_DEVICE | KIND_REPEAT));
}

/* Returns the name of a thread; its number if it has no name. */
static const char *thread_name(struct reporter *p, tk_id track) {
  const struct tk_track *k = &p->t->tracks[track];
  char text[40] = "thread ";
  const tk_id name = k->name ? k->name : k->tid.kind == TK_IDENT_STR ? k->tid.str : 0;
  size_t n;
  if (name) {
    const char *known = tk_string(p->t, name, &n);
    return report_keep(p->impl, known, n);
  }
  n = strlen(text);
  n += k->tid.kind == TK_IDENT_INT ? num_put_i64(text + n, k->tid.num) : 0;
  return report_keep(p->impl, text, n);
}

static bool put_lane(struct reporter *p, struct tk_report_rank *row, tk_id track, uint32_t depth, const struct lane *l,
                     const struct bins *b) {
  struct mem *mem = &p->impl->mem;
  struct tk_report_lane *to = &row->lanes[row->n_lanes];
  *to = (struct tk_report_lane){.thread = thread_name(p, track), .depth = depth};
  to->names = mem_zeros(mem, TK_REPORT_BINS, sizeof *to->names);
  to->shares = to->names ? mem_zeros(mem, TK_REPORT_BINS, sizeof *to->shares) : NULL;
  row->n_lanes += to->names != NULL;
  if (!to->shares) return false;
  for (int i = 0; i < TK_REPORT_BINS; i++) {
    const tk_time whole = b->edges[i + 1] - b->edges[i];
    if (!l->name[i]) continue;
    const double share = 1000 * (double)l->covered[i] / (double)whole;
    to->names[i] = (const char *)p->impl->texts.strs[l->name[i]].bytes;
    to->shares[i] = (uint16_t)(share < 1000 ? share + .5 : 1000); /* spans of one depth may overlap */
  }
  return true;
}

/* Adds the lanes of a thread. `lanes`: room for MOST_LANES of them. */
static bool draw_thread(struct reporter *p, struct tk_report_rank *row, tk_id track, struct lane *lanes, const struct bins *b) {
  const struct tk_track *k = &p->t->tracks[track];
  memset(lanes, 0, MOST_LANES * sizeof *lanes);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &p->t->events[i];
    const struct interval part = drawn_part(p, e);
    if (!part.dur) continue;
    if (e->depth >= MOST_LANES) {
      row->deeper_spans++;
      continue;
    }
    const uint32_t name = report_class_name(p, e->cls);
    if (!name) return false;
    lane_add(&lanes[e->depth], b, part, name);
  }
  bool ok = true;
  for (uint32_t d = 0; ok && d < MOST_LANES; d++)
    if (lanes[d].any) ok = put_lane(p, row, track, d, &lanes[d], b);
  return ok;
}

struct busy_thread {
  tk_id track;
  tk_time time; /* sum of the durations of its outermost spans */
};

static int by_time(const void *a, const void *b) {
  const struct busy_thread *x = a, *y = b;
  if (x->time != y->time) return x->time > y->time ? -1 : 1;
  return (x->track > y->track) - (x->track < y->track);
}

static int by_track(const void *a, const void *b) {
  const struct busy_thread *x = a, *y = b;
  return (x->track > y->track) - (x->track < y->track);
}

/* Lists the threads of a group that have spans, busiest first. Returns their number. */
static uint32_t list_threads(const struct reporter *p, uint32_t group, struct busy_thread *v) {
  const struct report_index *x = &p->index;
  uint32_t n = 0;
  for (uint32_t k = x->tracks_at[group]; k < x->tracks_at[group + 1]; k++) {
    const struct tk_track *track = &p->t->tracks[x->tracks[k]];
    struct busy_thread t = {x->tracks[k], 0};
    if (!is_drawn(p, t.track)) continue;
    for (tk_id i = track->first; i < track->first + track->count; i++)
      if (p->t->events[i].depth == 0) t.time += drawn_part(p, &p->t->events[i]).dur;
    if (t.time) v[n++] = t;
  }
  if (n) qsort(v, n, sizeof *v, by_time);
  return n;
}

static bool draw_threads(struct reporter *p, struct tk_report_rank *row, uint32_t group, const struct bins *b) {
  const uint64_t most = p->index.tracks_at[group + 1] - p->index.tracks_at[group];
  struct busy_thread *v = mem_array(p->mem, most + 1, sizeof *v);
  struct lane *lanes = v ? mem_array(p->mem, MOST_LANES, sizeof *lanes) : NULL;
  const uint32_t n = lanes ? list_threads(p, group, v) : 0, drawn = n < MOST_THREADS ? n : MOST_THREADS;
  bool ok = lanes != NULL;
  row->lanes = ok ? mem_zeros(&p->impl->mem, (uint64_t)drawn * MOST_LANES + 1, sizeof *row->lanes) : NULL;
  ok = ok && row->lanes;
  if (drawn) qsort(v, drawn, sizeof *v, by_track);
  for (uint32_t i = 0; ok && i < drawn; i++) ok = draw_thread(p, row, v[i].track, lanes, b);
  row->other_threads = n - drawn;
  mem_free(p->mem, lanes);
  mem_free(p->mem, v);
  return ok;
}

bool report_lanes_add(struct reporter *p, struct tk_report_rank *row, uint32_t group) {
  const struct bins b = bins_of(p);
  if (!p->impl->opt.strips || p->impl->opt.brief || b.length <= 0) return true;
  if (!draw_threads(p, row, group, &b)) return false;
  return !row->n_lanes || draw_activity(p, row, group, &b);
}

void report_lanes_free(struct mem *mem, struct tk_report_rank *row) {
  for (size_t i = 0; i < row->n_lanes; i++) {
    mem_free(mem, row->lanes[i].names);
    mem_free(mem, row->lanes[i].shares);
  }
  mem_free(mem, row->lanes);
  mem_free(mem, row->over_time);
}

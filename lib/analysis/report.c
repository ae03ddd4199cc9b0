/* report.c - see report.h: one row for each device of each rank. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "fold.h"
#include "histogram.h"
#include "base/heap.h"
#include "base/num.h"
#include "base/order.h"
#include "graph/diagnostics.h"
#include "measure.h"
#include "graph/args.h"
#include "op/step_launches.h"

/* ---- spreads ---- */

/* Returns the given percentile of the sorted values v, defined as in top.c. */
static tk_time nth(const tk_time *v, uint64_t n, unsigned percent) { return v[(n * percent + 99) / 100 - (n > 0)]; }

static bool find_spread(struct tk_report_rank *row, struct mem *mem) {
  const uint64_t n = row->n_steps;
  struct tk_report_spread *s = &row->step;
  i128 sum = 0;
  double squares = 0;
  if (n == 0) return true;
  tk_time *v = mem_array(mem, n, sizeof *v);
  if (!v) return false;
  for (uint64_t i = 0; i < n; i++) sum += v[i] = row->steps[i].dur;
  qsort(v, n, sizeof *v, order_int64);
  *s = (struct tk_report_spread){.count = n, .min = v[0], .max = v[n - 1], .p50 = nth(v, n, 50), .p95 = nth(v, n, 95)};
  s->mean = (tk_time)((sum * 2 + n) / (n * 2));
  for (uint64_t i = 0; i < n; i++) squares += ((double)v[i] - (double)s->mean) * ((double)v[i] - (double)s->mean);
  s->deviation = n > 1 ? (tk_time)(sqrt(squares / (double)(n - 1)) + 0.5) : 0;
  const tk_time q1 = nth(v, n, 25), q3 = nth(v, n, 75), most = q3 + (q3 - q1) + (q3 - q1) / 2;
  for (uint64_t i = 0; n >= 4 && i < n; i++) {
    row->steps[i].outlier = row->steps[i].dur > most;
    s->outliers += row->steps[i].outlier;
  }
  mem_free(mem, v);
  return true;
}

/* ---- steps ---- */

static void divide_step(struct reporter *p, struct tk_report_rank *row, struct tk_report_step *step, uint32_t group,
                        const struct step *s) {
  const struct interval gap = report_gap(p, s->start, s->end);
  step->split = report_split(p, group, s->start, s->end);
  step->gap = gap.dur;
  step->gap_at = gap.start - p->zero;
  if (!p->spent.n) return;
  const tk_time first = report_settled(p, group), last = p->spent.v[p->spent.n - 1].end;
  if (first > s->start) row->before_work += (first < s->end ? first : s->end) - s->start;
  if (last < s->end) row->after_work += s->end - (last > s->start ? last : s->start);
}

/* True if one of the steps in the range of the report has a selected number. Steps of a device may have other numbers than those of its
 * host. */
static bool has_asked_step(const struct reporter *p, const struct steps_run *run) {
  for (uint32_t i = 0; i < run->n; i++)
    if (report_holds_step(p, &run->v[i]) && report_asks_for(p, &run->v[i])) return true;
  return false;
}

/* Adds the steps of a row. `track`: a track of the row's device; 0 = no device. Unless the report is brief, divides the time of each
 * step by activity. If steps overlap, the overlap is divided only for the first of them, so that the parts of all steps add up to the
 * time that the steps cover. */
static bool add_steps(struct reporter *p, struct tk_report_rank *row, uint32_t group, tk_id track) {
  const struct window *w = &p->scope.window;
  const struct steps_run chosen = report_index_steps(&p->index, &p->match, group, track);
  const bool by_number = has_asked_step(p, &chosen);
  tk_time covered = INT64_MIN;
  row->steps = mem_array(&p->impl->mem, (uint64_t)chosen.n + 1, sizeof *row->steps);
  if (!row->steps) return false;
  for (uint32_t i = 0; i < chosen.n; i++) {
    struct step s = chosen.v[i];
    if (!report_holds_step(p, &s) || (by_number && !report_asks_for(p, &s))) continue;
    if (s.start < w->start) s.start = w->start;
    if (s.end > w->end) s.end = w->end;
    struct tk_report_step *step = &row->steps[row->n_steps++];
    *step = (struct tk_report_step){.number = s.number, .at = s.start - p->zero, .dur = s.end - s.start, .mfu = -1};
    if (track) step->times = spent_in(&p->spent, s.start, s.end);
    report_collections_of_step(&p->index.hosts[group], &s, step);
    if (s.end <= covered) continue;
    if (s.start < covered) s.start = covered;
    if (!p->impl->opt.brief) divide_step(p, row, step, group, &s);
    covered = s.end;
  }
  return find_spread(row, p->mem);
}

/* ---- queues ---- */

/* Lists the times at which work was launched and at which it started, each list sorted by time. Omits work without a known launch, and
 * work that started before its launch. Returns the length of the lists. */
static uint32_t list_queued(const struct tk_trace *t, const struct work *v, uint32_t n, tk_time *launched, tk_time *started) {
  uint32_t k = 0;
  bool sorted = true;
  for (uint32_t i = 0; i < n; i++) {
    if (!v[i].launch || !v[i].first || t->events[v[i].launch].ts > v[i].start) continue;
    launched[k] = t->events[v[i].launch].ts;
    started[k] = v[i].start;
    sorted = sorted && (k == 0 || (launched[k] >= launched[k - 1] && started[k] >= started[k - 1]));
    k++;
  }
  if (sorted) return k;
  qsort(launched, k, sizeof *launched, order_int64);
  qsort(started, k, sizeof *started, order_int64);
  return k;
}

/* Measures the length of the queue: the work that was launched but has not started. At equal times, starts are processed before
 * launches. `room` has space for two times per piece of work. */
static void measure_queue(const struct tk_trace *t, const struct work *v, uint32_t n, tk_time *room, struct tk_report_stream *s) {
  const tk_time *launched = room, *started = room + n;
  const uint32_t k = list_queued(t, v, n, room, room + n);
  tk_time last = k ? launched[0] : 0;
  int64_t length = 0;
  double area = 0;
  for (uint32_t in = 0, out = 0; out < k;) {
    const bool leaves = in == k || started[out] <= launched[in];
    const tk_time now = leaves ? started[out++] : launched[in++];
    area += (double)length * (double)(now - last);
    last = now;
    length += leaves ? -1 : 1;
    if (length > (int64_t)s->queue_most) s->queue_most = (uint64_t)length;
  }
  if (k && last > launched[0]) s->queue_mean = area / (double)(last - launched[0]);
}

/* Returns the name of a stream: its number, if known. --by stream uses the same names. */
static const char *name_stream(struct reporter *p, const struct work_stream *s) {
  const struct tk_track *k = &p->t->tracks[s->track];
  const struct tk_event *e = &p->t->events[p->works.v[s->first].event];
  const tk_id key = intern_id(&p->t->store->strings, "stream", 6);
  struct tk_arg arg;
  char digits[24];
  int64_t number;
  size_t n;
  if (key && args_of_event(p->t, e, key, &arg) && arg.type == TK_ARG_INT)
    return report_keep(p->impl, digits, num_put_i64(digits, arg.i));
  if (match_stream_in_name(p->t, s->track, &number)) return report_keep(p->impl, digits, num_put_i64(digits, number));
  if (!k->name && k->tid.kind == TK_IDENT_INT) return report_keep(p->impl, digits, num_put_i64(digits, k->tid.num));
  const char *name = tk_string(p->t, k->name ? k->name : k->tid.str, &n);
  return report_keep(p->impl, name, n);
}

static void measure_stream(struct reporter *p, const struct work_stream *stream, tk_time *room, struct tk_report_stream *s) {
  const struct work *v = p->works.v + stream->first;
  tk_time end = INT64_MIN;
  *s = (struct tk_report_stream){.name = name_stream(p, stream)};
  for (uint32_t i = 0; i < stream->n; i++) {
    s->work += v[i].first;
    if (end != INT64_MIN && v[i].start > end) {
      const enum spent_wait wait = spent_wait(end, v[i].start, p->t, v[i].launch);
      *(wait == WAIT_HOST ? &s->idle_host : wait == WAIT_KERNEL ? &s->idle_kernel : &s->idle_other) += v[i].start - end;
    }
    if (v[i].end > end) {
      s->busy += v[i].end - (v[i].start > end ? v[i].start : end);
      end = v[i].end;
    }
  }
  measure_queue(p->t, v, stream->n, room, s);
}

/* ---- launches ---- */

struct delays {
  i128 delay, latency, overhead;
  uint64_t n;
};

static bool measure_launches(struct reporter *p, const struct work_stream *stream, struct tk_report_rank *row, struct delays *d) {
  const struct work *v = p->works.v + stream->first;
  tk_time end = INT64_MIN;
  for (uint32_t i = 0; i < stream->n; i++) {
    if (v[i].first && v[i].launch) {
      const struct tk_event *call = &p->t->events[v[i].launch];
      const tk_time ready = call->ts > end ? call->ts : end, delay = v[i].start - (call->ts + call->dur);
      row->linked++;
      d->delay += delay > 0 ? delay : 0;
      if (p->impl->opt.strips && !histogram_add(&row->delays, &p->impl->mem, delay)) return false;
      if (delay > row->delay_max) row->delay_max = delay;
      d->latency += v[i].start - call->ts;
      d->overhead += v[i].start > ready ? v[i].start - ready : 0;
      d->n++;
    }
    if (v[i].end > end) end = v[i].end;
  }
  return true;
}

static bool add_streams(struct reporter *p, struct tk_report_rank *row, uint32_t which) {
  struct delays d = {0};
  const uint32_t *at = &p->index.streams[p->index.streams_at[which]];
  const uint32_t n = p->index.streams_at[which + 1] - p->index.streams_at[which];
  uint32_t most = 0;
  for (uint32_t i = 0; i < n; i++)
    if (p->works.streams[at[i]].n > most) most = p->works.streams[at[i]].n;
  tk_time *room = mem_array(p->mem, 2 * (uint64_t)most + 1, sizeof *room);
  row->streams = mem_array(&p->impl->mem, (uint64_t)n + 1, sizeof *row->streams);
  bool ok = room && row->streams;
  for (uint32_t i = 0; ok && i < n; i++) {
    measure_stream(p, &p->works.streams[at[i]], room, &row->streams[row->n_streams++]);
    ok = measure_launches(p, &p->works.streams[at[i]], row, &d);
  }
  if (d.n) {
    row->delay_mean = (tk_time)(d.delay / (i128)d.n);
    row->latency_mean = (tk_time)(d.latency / (i128)d.n);
    row->overhead_mean = (tk_time)(d.overhead / (i128)d.n);
  }
  mem_free(p->mem, room);
  return ok;
}

/* ---- strips ---- */

static uint16_t thousandths(tk_time part, tk_time whole) { return (uint16_t)((double)part * 1000 / (double)whole + 0.5); }

static bool draw_strip(struct reporter *p, struct tk_report_rank *row, tk_time start, tk_time end) {
  row->strip = mem_array(&p->impl->mem, (uint64_t)3 * TK_REPORT_BINS, sizeof *row->strip);
  if (!row->strip) return false;
  for (int i = 0; i < TK_REPORT_BINS; i++) {
    const tk_time from = start + (tk_time)((i128)(end - start) * i / TK_REPORT_BINS);
    const tk_time to = start + (tk_time)((i128)(end - start) * (i + 1) / TK_REPORT_BINS);
    const struct tk_device_times d = spent_in(&p->spent, from, to);
    uint16_t *bin = row->strip + 3 * i;
    bin[0] = bin[1] = bin[2] = 0;
    if (to <= from) continue;
    bin[0] = thousandths(d.compute, d.window);
    bin[1] = thousandths(d.exposed_communication, d.window);
    bin[2] = thousandths(d.exposed_copy + d.exposed_fill, d.window);
  }
  return true;
}

/* ---- rows ---- */

static int by_start(const void *p, const void *q) {
  const struct work *a = p, *b = q;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (!a->launch != !b->launch) return !a->launch - !b->launch; /* work with a known launch sorts first, because the launch shows why
                                                                 * the device was idle */
  return (a->event > b->event) - (a->event < b->event);
}

/* Sorts an array that is almost sorted by start. Usually, only elements with equal starts are out of order. Other elements are
 * out of order only if an operation ends after the operation that contains it. */
static void order_rest(struct work *v, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    if (v[i].start > v[i - 1].start) continue;
    if (v[i].start < v[i - 1].start) return qsort(v, n, sizeof *v, by_start);
    const uint32_t first = i - 1;
    while (i < n && v[i].start == v[first].start) i++;
    qsort(v + first, i - first, sizeof *v, by_start);
    i--;
  }
}

/* Returns the heap item for element `at` of a stream; its key is the start of the element. */
static struct heap_item waiting(const struct works *w, uint32_t stream, uint32_t at) {
  return (struct heap_item){w->v[at].start, (uint64_t)at << 32 | stream, 0};
}

/* Collects the work of a row (a device) in p->sorted, sorted by start. Sets *n to the number of elements. Returns false if memory runs
 * out. */
static bool sort_row(struct reporter *p, uint32_t which, uint32_t *n) {
  const struct works *w = &p->works;
  struct heap next = {.mem = p->mem}; /* next element of each stream, earliest first */
  uint32_t made = 0;
  *n = 0;
  for (uint32_t k = p->index.streams_at[which]; k < p->index.streams_at[which + 1]; k++) {
    const uint32_t i = p->index.streams[k];
    if (!w->streams[i].n) continue;
    *n += w->streams[i].n;
    heap_push(&next, waiting(w, i, w->streams[i].first));
  }
  p->sorted = mem_array(p->mem, (uint64_t)*n + 1, sizeof *p->sorted);
  while (p->sorted && !p->mem->failed && next.n) {
    const uint32_t stream = (uint32_t)next.items[0].value, at = (uint32_t)(next.items[0].value >> 32) + 1;
    p->sorted[made++] = w->v[at - 1];
    if (at == w->streams[stream].first + w->streams[stream].n) heap_pop(&next);
    else heap_replace_top(&next, waiting(w, stream, at));
  }
  heap_free(&next);
  if (made == *n && p->sorted) order_rest(p->sorted, *n);
  return p->sorted && !p->mem->failed;
}

static tk_time report_end_of(const struct work *v, uint32_t n) {
  tk_time end = v[0].end;
  for (uint32_t i = 1; i < n; i++)
    if (v[i].end > end) end = v[i].end;
  return end;
}

/* Finds the time range of the report: the selected part of the whole trace. It is the same for all ranks, so that they can be
 * compared. */
static void find_range(struct reporter *p) {
  trace_extent(p->t, &p->start, &p->end);
  p->zero = p->start;
  if (p->scope.window.start > p->start) p->start = p->scope.window.start;
  if (p->scope.window.end < p->end) p->end = p->scope.window.end;
  if (p->end < p->start) p->end = p->start;
}

static struct tk_report_rank *add_row(struct reporter *p, int64_t rank, const char *host, uint32_t group) {
  struct tk_report *r = p->r;
  if (!mem_grow(&p->impl->mem, (void **)&r->ranks, &p->impl->cap_ranks, r->n_ranks + 1, sizeof *r->ranks)) return NULL;
  struct tk_report_rank *row = &r->ranks[r->n_ranks++];
  *row = (struct tk_report_rank){.rank = rank, .host = report_text(p->impl, host), .device = "",
                                 .input = report_text(p->impl, p->place->input), .mfu = -1, .flops_coverage = -1,
                                 .bytes_coverage = -1, .peak_device = "", .incomplete = p->t->truncated || p->t->damaged};
  row->start_ns = num_add(num_add(p->t->origin_ns, p->place->later_ns), p->start / 1000);
  row->run = p->place->label ? report_text(p->impl, p->place->label) : "";
  row->length = p->end - p->start;
  row->rank_given = p->origins && p->origins[p->index.tracks[p->index.tracks_at[group]]].is_given;
  p->index.has_row[group] = true;
  return row;
}

/* True if a report on a host without devices must not be judged because of this event: the event is in the range but not selected, or
 * it is device work outside of the range, so that the host does have a device. */
static bool is_left_out(const struct reporter *p, tk_id event) {
  const struct tk_event *e = &p->t->events[event];
  if (scope_holds(&p->scope, e)) return !match_event(&p->match, event);
  return e->kind == TK_EVENT_SPAN && kinds_of(&p->match.kinds, e) & KIND_DEVICE;
}

/* True if is_left_out is false for all events of a host without devices. */
static bool is_host_whole(const struct reporter *p, uint32_t group) {
  const struct report_index *x = &p->index;
  bool whole = true;
  for (uint32_t k = x->tracks_at[group]; whole && k < x->tracks_at[group + 1]; k++) {
    const struct tk_track *track = &p->t->tracks[x->tracks[k]];
    if (!p->scope.narrowed && (!p->match.root || match_track(&p->match, x->tracks[k]) == YES)) continue;
    for (tk_id i = track->first; whole && i < track->first + track->count; i++) whole = !is_left_out(p, i);
  }
  return whole;
}

static void divide_window(struct reporter *p, struct tk_report_rank *row, uint32_t group, tk_time start, tk_time end) {
  const struct interval gap = report_gap(p, start, end);
  row->split = report_split(p, group, start, end);
  row->gap = gap.dur;
  row->gap_at = gap.start - p->zero;
}

static bool measure_device(struct reporter *p, struct tk_report_rank *row, uint32_t which, uint32_t n) {
  const uint32_t group = p->index.group_of[p->works.rows[which].track];
  if (n) divide_window(p, row, group, p->sorted[0].start, report_end_of(p->sorted, n));
  row->capturing = report_capturing(p, row, group);
  row->idle_after_waits = report_idle_after_waits(p, row, group);
  return add_streams(p, row, which) && (!n || report_gaps_add(p, row, group, n)) &&
         report_flops_begin(p, row, which) && report_count_row(p, n) && report_flops_end(p, row) &&
         (!p->impl->opt.strips || draw_strip(p, row, p->start, p->end));
}

static bool add_device(struct reporter *p, uint32_t which) {
  const struct work_row *w = &p->works.rows[which];
  const uint32_t group = p->index.group_of[w->track];
  struct tk_report_rank *row = add_row(p, w->rank, w->host, group);
  uint32_t n;
  if (!row || !sort_row(p, which, &n)) return false;
  row->device = report_device(p, w);
  row->judged = !p->impl->opt.brief && !p->works.partial[w->process];
  row->unfinished = w->unfinished;
  for (uint32_t i = 0; i < n; i++) row->work += p->sorted[i].first;
  bool ok = !n || spent_find(&p->spent, p->sorted, n, p->t, p->mem);
  if (ok && n) row->times = spent_in(&p->spent, p->sorted[0].start, report_end_of(p->sorted, n));
  ok = ok && (p->impl->opt.brief || report_host(p, row, group)) && add_steps(p, row, group, w->track) &&
       (p->impl->opt.brief || measure_device(p, row, which, n));
  report_see_lag(p, row, group, w->track);
  spent_free(&p->spent);
  mem_free(p->mem, p->sorted);
  p->sorted = NULL;
  return ok;
}

/* Adds rows for ranks whose trace contains no device work. `ranks`: ranks that already have a row, on any host. */
static bool add_hosts(struct reporter *p, struct map *ranks) {
  for (size_t j = p->first; j < p->r->n_ranks; j++)
    if (!map_put(ranks, (uint64_t)p->r->ranks[j].rank, 1)) return false;
  for (tk_id i = 1; i <= p->t->n_tracks; i++) {
    const struct track_origin o = p->origins ? p->origins[i] : (struct track_origin){"", -1, false};
    const uint32_t group = p->index.group_of[i];
    if (p->t->tracks[i].count == 0 || p->index.has_row[group]) continue;
    if ((o.rank >= 0 || !*o.host) && map_get(ranks, (uint64_t)o.rank)) continue;
    struct tk_report_rank *row = add_row(p, o.rank, o.host, group);
    if (row) row->judged = !p->impl->opt.brief && is_host_whole(p, group);
    if (!row || !map_put(ranks, (uint64_t)o.rank, 1)) return false;
    if (!p->impl->opt.brief && !report_host(p, row, group)) return false;
    if (!p->impl->opt.brief) row->split = report_split(p, group, p->start, p->end);
    if (!add_steps(p, row, group, 0) || !report_lanes_add(p, row, group)) return false;
  }
  return true;
}

static bool add_rows(struct reporter *p) {
  const bool brief = p->impl->opt.brief;
  struct map ranks;
  map_init(&ranks, p->mem);
  find_range(p);
  bool ok = works_find(&p->works, &p->match, &p->scope, !brief, p->mem) &&
            (brief || step_launches_link(&p->match.steps, &p->match.kinds, p->origins, p->works.launch_of)) &&
            (brief || work_classes_init(&p->work_classes, &p->match.kinds, p->origins, p->works.launch_of, p->mem)) &&
            report_layers_begin(p) && report_index_make(&p->index, &p->match, &p->works, p->mem);
  ok = ok && (brief || (report_count_calls(p) && report_count_inside(p) && report_captures_find(p) && report_device_ops_begin(p)));
  if (ok && !brief) report_count_graphs(p);
  for (uint32_t i = 0; ok && i < p->works.n_rows; i++) ok = add_device(p, i);
  ok = ok && add_hosts(p, &ranks) && report_count_memory(p) && report_versions(p) && (brief || report_functions_add(p));
  map_free(&ranks);
  return ok;
}

/* Stores the name of the spans that mark steps in r->step_name; NULL if it differs between traces. */
static bool add_step_name(struct reporter *p) {
  struct buf name = {.mem = p->mem};
  size_t n;
  const char *first = steps_name(&p->match.steps, p->t, &n);
  if (!first || p->impl->steps_differ) return true;
  const bool ok = fold_step(&name, first, n);
  const char *kept = ok ? report_keep(p->impl, name.data, name.len) : NULL; /* interned: equal names have one address */
  buf_free(&name);
  p->impl->steps_differ = p->r->step_name && kept != p->r->step_name;
  p->r->step_name = p->impl->steps_differ ? NULL : kept;
  return ok;
}

/* Counts the input of the trace, unless an earlier rank of the same input was counted. Also counts incomplete inputs. */
static void see_input(struct tk_report *r, const struct tk_trace *t, const struct report_place *place) {
  struct tk_report_impl *impl = r->impl;
  const bool is_same_file = r->n_ranks && strcmp(r->ranks[r->n_ranks - 1].input, place->input) == 0;
  if (!r->format) r->format = t->format;
  if (t->store->step_name) impl->step_pattern = report_text(impl, t->store->step_name);
  r->inputs += !is_same_file;
  if (!is_same_file) report_see_shrunk(impl, t);
  impl->truncated += t->truncated && !t->damaged;
  impl->damaged += t->damaged;
  impl->capped += t->capped;
}

bool report_add(struct tk_report *r, struct tk_trace *t, const struct track_origin *origins, const struct report_place *place,
                struct tk_err *err) {
  const struct tk_selection *select = &r->impl->opt.select;
  struct reporter p = {.r = r, .impl = r->impl, .t = t, .mem = &t->store->mem, .origins = origins, .place = place,
                       .scope = SCOPE_ALL, .first = (uint32_t)r->n_ranks};
  see_input(r, t, place);
  bool ok = match_init(&p.match, t, select->where, origins, p.mem, err) && kinds_keep(&p.match.kinds) &&
            window_select(&p.scope, t, &p.match.steps, select, err) && add_step_name(&p) && add_rows(&p) &&
            match_check(&p.match, err);
  r->impl->scope = p.scope;
  r->impl->zero = p.zero;
  if (ok && !p.works.n_rows) report_suspect(&p);
  report_host_free(&p);
  report_spans_free(&p);
  report_flops_free(&p);
  report_index_free(&p.index);
  ok = ok && report_layers_add(&p, err);
  report_layers_end(&p);
  works_free(&p.works);
  work_classes_free(&p.work_classes);
  report_device_ops_end(&p);
  match_free(&p.match);
  mem_free(p.mem, p.time_of);
  mem_free(p.mem, p.counted);
  return ok ? mem_check(&r->impl->mem, err) : mem_refuse(r->impl->mem.failed ? &r->impl->mem : p.mem, err);
}

enum { REPORT_MAPS = 12 };

/* Lists the maps of a report, which are initialised and freed together. */
static void list_maps(struct tk_report_impl *m, struct map *maps[REPORT_MAPS]) {
  struct map *const all[REPORT_MAPS] = {&m->kernel_of, &m->launch_of, &m->collective_of, &m->memory_of, &m->said, &m->op_of,
                                        &m->node_of, &m->layer_of, &m->roof_of, &m->function_of, &m->flame_of,
                                        &m->device_op_of};
  memcpy(maps, all, sizeof all);
}

bool report_open(struct tk_report *r, const struct tk_report_options *opt, struct tk_err *err) {
  struct map *maps[REPORT_MAPS];
  *r = (struct tk_report){.impl = calloc(1, sizeof *r->impl), .notes = diagnostics_new()};
  if (!r->impl || !r->notes) return err_set(err, TK_ELIMIT, "out of memory");
  r->impl->opt = *opt;
  r->impl->mem.limit = opt->load.max_memory;
  intern_init(&r->impl->texts, &r->impl->mem);
  r->impl->folded.mem = &r->impl->mem;
  list_maps(r->impl, maps);
  for (size_t i = 0; i < REPORT_MAPS; i++) map_init(maps[i], &r->impl->mem);
  return thresholds_read(r->impl->limits, opt->thresholds, err) &&
         thresholds_replace(r->impl->limits, opt->limits, opt->n_limits, err);
}

static void say_unknown(struct tk_report *r) {
  bool device = false, host = false, linked = false, steps = false, memory = r->n_memories > 0;
  for (size_t i = 0; i < r->n_ranks; i++) {
    device = device || r->ranks[i].work;
    host = host || !*r->ranks[i].device;
    linked = linked || r->ranks[i].linked;
    steps = steps || r->ranks[i].n_steps;
  }
  if (!device && r->impl->suspect)
    report_unknown(r, r->impl->suspect);
  else if (!device)
    report_unknown(r, "no GPU or TPU activity was found, so there is no busy or idle time, kernel or copy data");
  else if (host)
    report_unknown(r, "no GPU or TPU activity was found in some ranks, so they have no busy or idle time");
  if (device && !linked) report_unknown(r, "no work is linked to its launch, so the causes of idle time and launch delays are unknown");
  if (linked) report_say_unrecorded(r);
  report_say_undecided(r);
  report_say_graphs(r);
  report_say_inside(r);
  report_say_lag(r);
  report_say_messages(r);
  report_say_shrunk(r);
  if (!steps) report_unknown(r, "no training steps are marked");
  if (!memory) report_unknown(r, "allocations were not recorded, so peak memory is unknown");
  if (r->impl->unweighed)
    report_unknown(r, "stack samples in other units are left out: weights are compared in units of time, or else in the first unit");
}

struct rank_place {
  int64_t rank;
  size_t at;
};

static int by_rank(const void *p, const void *q) {
  const struct rank_place *a = p, *b = q;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

/* Sorts rows by rank; rows of the same rank keep their order. */
static bool order_ranks(struct tk_report *r) {
  struct mem *mem = &r->impl->mem;
  struct rank_place *places = mem_array(mem, r->n_ranks + 1, sizeof *places);
  struct tk_report_rank *rows = places ? mem_array(mem, r->n_ranks + 1, sizeof *rows) : NULL;
  for (size_t i = 0; rows && i < r->n_ranks; i++) places[i] = (struct rank_place){r->ranks[i].rank, i};
  if (rows && r->n_ranks) {
    qsort(places, r->n_ranks, sizeof *places, by_rank);
    for (size_t i = 0; i < r->n_ranks; i++) rows[i] = r->ranks[places[i].at];
    memcpy(r->ranks, rows, r->n_ranks * sizeof *rows);
  }
  mem_free(mem, places);
  mem_free(mem, rows);
  return rows != NULL;
}

bool report_close(struct tk_report *r, struct tk_err *err) {
  say_unknown(r);
  if (!order_ranks(r) || !report_runs_name(r)) return mem_refuse(&r->impl->mem, err);
  report_gaps_sort(r);
  report_compilations_sort(r);
  report_held_sort(r);
  const bool ok = report_make_tables(r) && report_spans_make(r) && report_layers_make(r) && report_functions_make(r) &&
                  report_flames_make(r) && report_device_ops_make(r) && findings_make(r) && report_figures_make(r);
  return (ok && mem_check(&r->impl->mem, err)) || mem_refuse(&r->impl->mem, err);
}

static void free_rank(struct mem *mem, struct tk_report_rank *row) {
  mem_free(mem, row->steps);
  mem_free(mem, row->streams);
  mem_free(mem, row->strip);
  mem_free(mem, row->delays);
  report_lanes_free(mem, row);
}

static void report_clear(struct tk_report *r) {
  struct tk_report_impl *m = r->impl;
  struct map *maps[REPORT_MAPS];
  tk_diagnostics_free(r->notes);
  if (!m) return;
  for (size_t i = 0; i < r->n_ranks; i++) free_rank(&m->mem, &r->ranks[i]);
  for (uint32_t i = 0; i < m->n_kernels; i++) mem_free(&m->mem, m->kernels[i].durations);
  for (size_t i = 0; i < r->n_memories; i++) mem_free(&m->mem, r->memories[i].over_time);
  void *const blocks[] = {r->ranks, r->kernels, r->launches, r->collectives, r->meetings, r->memories, r->devices, r->versions,
                          r->unknown, r->findings, r->gaps, r->ops, r->annotations, r->roofs, r->held, r->figures, r->compilations,
                          r->layers, r->functions, r->flames, r->device_ops, m->device_ops, m->flames, m->functions, m->ops, m->nodes,
                          m->kernels, m->launches, m->collectives, m->roofs, m->layers};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) mem_free(&m->mem, blocks[i]);
  list_maps(m, maps);
  for (size_t i = 0; i < REPORT_MAPS; i++) map_free(maps[i]);
  intern_free(&m->texts);
  buf_free(&m->folded);
  free(m);
}

void tk_report_free(struct tk_report *r) {
  if (r) report_clear(r);
  free(r);
}

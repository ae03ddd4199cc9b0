/* report_split.c - divides a step, or the window of a device, by what the device did; divides its idle time by what the host did
 * (report.h). */
#include "report.h"

#include <math.h>
#include <stdio.h>

#include "base/num.h"

void report_idle_sums(const struct reporter *p, const struct host_time *host, tk_time start, tk_time end, struct host_sums *sums) {
  const struct spent *s = &p->spent;
  uint32_t at = host_time_at(host, start);
  tk_time known = start;
  for (uint32_t i = spent_at(s, start); i < s->n && s->v[i].start < end; i++) {
    const struct stretch *v = &s->v[i];
    const tk_time to = v->end < end ? v->end : end;
    if (!v->classes) continue;
    if (v->start > known) host_time_within(host, &at, known, v->start, sums);
    if (to > known) known = to;
  }
  if (end > known) host_time_within(host, &at, known, end, sums);
}

struct tk_report_split report_split(const struct reporter *p, uint32_t group, tk_time start, tk_time end) {
  const struct tk_device_times d = spent_in(&p->spent, start, end);
  struct host_sums h = {{0}};
  report_idle_sums(p, &p->index.hosts[group].time, start, end, &h);
  return (struct tk_report_split){
      .length = d.window, .compute = d.compute, .communication = d.exposed_communication, .copy = d.exposed_copy + d.exposed_fill,
      .input = h.of[HOST_INPUT], .compile = h.of[HOST_COMPILE], .launch = h.of[HOST_LAUNCH],
      .runtime = h.of[HOST_RUNTIME], .sync = h.of[HOST_SYNC],
      .host = h.of[HOST_OP] + h.of[HOST_SYSTEM] + h.of[HOST_PYTHON], .other = h.of[HOST_WAIT] + h.of[HOST_CHECKPOINT] + h.of[HOST_GC],
      .idle = h.of[HOST_NOTHING]};
}

struct interval report_gap(const struct reporter *p, tk_time start, tk_time end) {
  const struct spent *s = &p->spent;
  struct interval longest = {start, 0};
  tk_time idle = start; /* end of the last busy stretch */
  for (uint32_t i = spent_at(s, start); i < s->n && s->v[i].start < end; i++) {
    if (!s->v[i].classes) continue;
    if (s->v[i].start - idle > longest.dur) longest = (struct interval){idle, s->v[i].start - idle};
    idle = s->v[i].end;
  }
  return end - idle > longest.dur ? (struct interval){idle, end - idle} : longest;
}

tk_time report_idle_of(const struct tk_report_split *s) { return s->length - s->compute - s->communication - s->copy; }

static void add_split(struct tk_report_split *sum, const struct tk_report_split *s) {
  sum->length += s->length;
  sum->compute += s->compute;
  sum->communication += s->communication;
  sum->copy += s->copy;
  sum->input += s->input;
  sum->compile += s->compile;
  sum->launch += s->launch;
  sum->runtime += s->runtime;
  sum->sync += s->sync;
  sum->host += s->host;
  sum->other += s->other;
  sum->idle += s->idle;
}

struct tk_report_split report_split_of_row(const struct tk_report_rank *row, bool *steps) {
  struct tk_report_split sum = {0};
  for (size_t i = 0; i < row->n_steps; i++) add_split(&sum, &row->steps[i].split);
  *steps = sum.length && (!*row->device || sum.compute + sum.communication + sum.copy > 0);
  return *steps ? sum : row->split;
}

tk_time report_sum_of_range(const struct reporter *p, const struct tk_report_rank *row, uint32_t group, report_sum *within) {
  const struct spent *s = &p->spent;
  tk_time sum = 0, covered = INT64_MIN;
  bool steps;
  if (!s->n) return 0;
  report_split_of_row(row, &steps);
  if (!steps) return within(p, group, s->v[0].start, s->v[s->n - 1].end);
  for (size_t i = 0; i < row->n_steps; i++) {
    const tk_time start = p->zero + row->steps[i].at, end = start + row->steps[i].dur, from = start > covered ? start : covered;
    if (from < end) sum += within(p, group, from, end);
    if (end > covered) covered = end;
  }
  return sum;
}

/* ---- lag ---- */

void report_see_lag(struct reporter *p, const struct tk_report_rank *row, uint32_t group, tk_id track) {
  const bool follows = report_index_steps(&p->index, &p->match, group, track).source == STEPS_HOST;
  if (!follows || !row->linked || row->step.mean <= 0) return;
  p->impl->lag = fmax(p->impl->lag, (double)row->latency_mean / (double)row->step.mean);
}

void report_say_lag(struct tk_report *r) {
  static const double FAR = .5;
  char text[256];
  if (r->impl->lag < FAR) return;
  snprintf(text, sizeof text, "work ran %s steps after its launch on average, so part of the time within a step is work that earlier "
                              "steps launched", num_fixed(r->impl->lag, 1).s);
  report_unknown(r, report_text(r->impl, text));
}

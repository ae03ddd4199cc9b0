/* report_calls.c - finds launches whose work was not recorded. If the profiler drops activities, or does not record the kernels of
 * graphs, a device seems idle although it is not. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "graph/accelerator.h"
#include "graph/args.h"
#include "op/captured.h"

/* Marks the classes of calls that start device work: "cudaLaunchKernel", "hipGraphLaunch", "cuLaunchKernelEx". */
static void mark_launches(const struct reporter *p, bool *launches) {
  for (tk_id i = 1; i <= p->t->n_classes; i++) {
    const char *name = tk_string(p->t, p->t->classes[i].name, NULL);
    launches[i] = p->match.kinds.of_class[i] & KIND_RUNTIME && strstr(name, "Launch") && !strstr(name, "HostFunc");
  }
}

static bool has_correlation(const struct tk_trace *t, const struct tk_event *e, tk_id key) {
  struct tk_arg arg;
  return args_of_event(t, e, key, &arg) && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) && arg.i > 0;
}

/* For a group: time of the last launch whose work was recorded, and time at which the recorded work ends. */
struct last {
  tk_time launch, end;
};

static void find_last(const struct reporter *p, struct last *last) {
  for (uint32_t i = 0; i < p->index.n_groups; i++) last[i] = (struct last){INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < p->works.n; i++) {
    const struct work *w = &p->works.v[i];
    const struct tk_event *call = &p->t->events[w->launch];
    if (!w->launch) continue;
    struct last *at = &last[p->index.group_of[call->track]];
    if (at->end == INT64_MIN || call->ts > at->launch) at->launch = call->ts;
    if (w->end > at->end) at->end = w->end;
  }
}

/* True for a call between the last launch with recorded work and the end of that work. The call's own work was probably still queued
 * when the recording ended. */
static bool is_trailing(const struct last *last, const struct tk_event *call) {
  return call->ts > last->launch && call->ts < last->end;
}

static bool count_call(struct reporter *p, tk_id event, bool lost, const struct last *last) {
  const struct tk_event *call = &p->t->events[event];
  const uint32_t group = p->index.group_of[call->track];
  struct report_host_sums *host = &p->index.hosts[group];
  struct report_launch *row = report_launch_row(p, event);
  if (!row) return false;
  const bool trails = lost && is_trailing(&last[group], call);
  row->calls++;
  row->unrecorded += lost;
  row->trailing += trails;
  host->launch_calls++;
  host->unrecorded += lost;
  host->trailing += trails;
  if (lost && call->ts < host->lost) host->lost = call->ts;
  return true;
}

/* True for the output of `filter` or `split`, which may have removed the work of a device on purpose. */
static bool is_selection(const struct tk_trace *t) {
  static const char *const COMMANDS[] = {"tracekit filter", "tracekit split", NULL};
  const struct tk_meta *m = trace_meta(t, "tracekit");
  const char *const *command = COMMANDS;
  while (m && *command && !memmem(trace_raw(t, m->at), m->size, *command, strlen(*command))) command++;
  return m && *command;
}

/* True if a trace without device work does not even declare a device: another program may have removed it. Kineto declares a process
 * for every GPU (CuptiActivityProfiler.cpp: handleDeviceInfo), and these remain if all work is lost. Exports of Nsight Systems without
 * work declare their devices only in deviceProperties. */
static bool lacks_device(const struct reporter *p) {
  const struct tk_trace *t = p->t;
  bool declared = trace_meta(t, "deviceProperties") && !trace_meta(t, "schemaVersion");
  for (tk_id i = 1; !declared && i <= t->n_tracks; i++)
    declared = p->match.kinds.roles[i] & KIND_DEVICE || accelerator_of(t, i).family;
  return !declared;
}

bool report_count_calls(struct reporter *p) {
  const struct tk_trace *t = p->t;
  const tk_id key = intern_id(&t->store->strings, "correlation", 11);
  if (!key || p->match.root || p->scope.narrowed || (!p->works.n && (is_selection(t) || lacks_device(p)))) return true;
  bool *recorded = mem_zeros(p->mem, (uint64_t)t->n_events + 1, sizeof *recorded); /* by call: true if its work was recorded */
  bool *launches = mem_array(p->mem, (uint64_t)t->n_classes + 1, sizeof *launches);
  struct last *last = mem_array(p->mem, (uint64_t)p->index.n_groups + 1, sizeof *last);
  bool *captured; /* by call: true if its thread was capturing a stream, so that the call launched nothing, unless its work was
                   * recorded */
  bool ok = captured_calls(&p->match.kinds, p->mem, &captured) && recorded && launches && last;
  if (ok) {
    for (uint32_t i = 0; i < p->works.n; i++) recorded[p->works.v[i].launch] = true;
    find_last(p, last);
    mark_launches(p, launches);
  }
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (captured && captured[i] && !recorded[i]) continue;
    if (e->kind == TK_EVENT_SPAN && launches[e->cls] && has_correlation(t, e, key)) ok = count_call(p, i, !recorded[i], last);
  }
  mem_free(p->mem, captured);
  mem_free(p->mem, last);
  mem_free(p->mem, launches);
  mem_free(p->mem, recorded);
  return ok;
}

uint64_t report_lost_calls(const struct tk_report_rank *row, double limit) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const bool covered = steps && 100 * (double)row->after_work >= limit * (double)s.length;
  return covered ? row->unrecorded : row->unrecorded - row->trailing;
}

enum { MOST_SENTENCES = 5 };

/* Adds a sentence for each name of calls if too large a share of these calls has no recorded work. A share below the threshold is
 * normal, because some work at the end of a recording is always missing. After the first few names, only counts the others. */
void report_say_unrecorded(struct tk_report *r) {
  struct tk_report_impl *impl = r->impl;
  const double fewest = impl->limits[LIMIT_UNRECORDED].warning;
  bool trailing = false; /* true: also count calls after the last launch with recorded work */
  for (size_t i = 0; i < r->n_ranks; i++) {
    const struct tk_report_rank *row = &r->ranks[i];
    trailing = trailing || report_lost_calls(row, fewest) > row->unrecorded - row->trailing;
  }
  uint64_t said = 0;
  char text[256];
  for (uint32_t i = 0; i < impl->n_launches; i++) {
    const struct report_launch *l = &impl->launches[i];
    const uint64_t lost = trailing ? l->unrecorded : l->unrecorded - l->trailing;
    if (lost == 0 || (double)lost * 100 < (double)l->calls * fewest) continue;
    if (++said > MOST_SENTENCES) continue;
    snprintf(text, sizeof text, "%llu of %llu calls of %.100s launched work that was not recorded, so busy time is too low",
             (unsigned long long)lost, (unsigned long long)l->calls, (const char *)impl->texts.strs[l->name].bytes);
    report_unknown(r, report_text(impl, text));
  }
  if (said <= MOST_SENTENCES) return;
  const uint64_t more = said - MOST_SENTENCES;
  snprintf(text, sizeof text, "calls with %llu other name%s also launched work that was not recorded", (unsigned long long)more,
           more > 1 ? "s" : "");
  report_unknown(r, report_text(impl, text));
}

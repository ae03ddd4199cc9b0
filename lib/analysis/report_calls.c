/* report_calls.c - finds launches whose work was not recorded. If the profiler drops activities, or does not record the kernels of
 * graphs, a device seems idle although it is not. */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "graph/accelerator.h"
#include "graph/args.h"
#include "op/captured.h"

static const char NODE[] = "Node@launch"; /* msprof; the connection ids of "Hccl@Launch_Ffts" belong to no task */

/* Marks the classes of calls that start device work: "cudaLaunchKernel", "hipGraphLaunch", "cuLaunchKernelEx", CANN's "Node@launch". */
static void mark_launches(const struct reporter *p, bool *launches) {
  for (tk_id i = 1; i <= p->t->n_classes; i++) {
    const char *name = tk_string(p->t, p->t->classes[i].name, NULL);
    const bool named = strchr(name, '@') ? strcmp(name, NODE) == 0 : strstr(name, "Launch") && !strstr(name, "HostFunc");
    launches[i] = named && p->match.kinds.of_class[i] & KIND_RUNTIME;
  }
}

/* Keys of the ids that a call and its work share. */
enum { CORRELATION, /* Kineto, Nsight Systems */
       CORR_ID,     /* rocprofv3 */
       CONNECTION,  /* msprof */
       KEYS };

/* Returns the id that the event shares with its work or its call, combined with the rank; 0 = none. Sets *key. */
static uint64_t calls_id(const struct reporter *p, const struct tk_event *e, const tk_id *keys, int *key) {
  struct tk_arg arg;
  for (*key = 0; *key < KEYS; ++*key)
    if (keys[*key] && args_of_event(p->t, e, keys[*key], &arg) && (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) && arg.i > 0)
      return arg.u ^ (uint64_t)(p->origins ? p->origins[e->track].rank + 1 : 0) << 44;
  return 0;
}

/* Marks CANN's launches whose connection id is also on an event of a device. These calls are searched separately for two
 * reasons: op/launched.c reports the operator that queued the work as its launch, and a launch may start a task other than a
 * kernel, such as the record of an event. */
static bool mark_connected(const struct reporter *p, const tk_id *keys, const bool *launches, bool *recorded) {
  const struct tk_trace *t = p->t;
  struct map ids;
  int key;
  if (!keys[CONNECTION]) return true;
  map_init(&ids, p->mem);
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const uint64_t id = kinds_of(&p->match.kinds, e) & KIND_DEVICE ? calls_id(p, e, keys, &key) : 0;
    if (id && key == CONNECTION) map_put(&ids, id, 1);
  }
  for (tk_id i = 1; i <= t->n_events; i++) {
    const uint64_t id = launches[t->events[i].cls] ? calls_id(p, &t->events[i], keys, &key) : 0;
    if (id && key == CONNECTION && map_get(&ids, id)) recorded[i] = true;
  }
  map_free(&ids);
  return !p->mem->failed;
}

/* Collects the ids of work whose launch is unknown although a call may have the id, because several calls have the id
 * (op/launched.c). */
static bool find_shared(const struct reporter *p, const tk_id *keys, struct map *ids) {
  int key;
  for (uint32_t i = 0; i < p->works.n; i++) {
    const struct work *w = &p->works.v[i];
    const uint64_t id = w->launch || !w->first ? 0 : calls_id(p, &p->t->events[w->event], keys, &key);
    uint32_t *n = id && key != CONNECTION ? map_put(ids, id, 0) : NULL;
    if (n) ++*n;
  }
  return !p->mem->failed;
}

/* True if the call has the id of work whose launch is unknown. Counts that work the first time. */
static bool is_shared(struct reporter *p, struct map *ids, uint64_t id) {
  uint32_t *n = id ? map_get(ids, id) : NULL;
  if (!n) return false;
  p->impl->undecided += *n;
  *n = 0;
  return true;
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

/* Data for counting the launching calls of a trace. */
struct launching {
  tk_id keys[KEYS];
  bool *recorded; /* by call: true if its work was recorded */
  bool *launches; /* by class */
  bool *captured; /* by call: true if its thread was capturing a stream, so that the call launched nothing, unless its work was
                   * recorded; may be NULL */
  struct last *last;
  struct map shared; /* see find_shared */
};

static bool launching_init(struct reporter *p, struct launching *l) {
  l->recorded = mem_zeros(p->mem, (uint64_t)p->t->n_events + 1, sizeof *l->recorded);
  l->launches = mem_array(p->mem, (uint64_t)p->t->n_classes + 1, sizeof *l->launches);
  l->last = mem_array(p->mem, (uint64_t)p->index.n_groups + 1, sizeof *l->last);
  map_init(&l->shared, p->mem);
  if (!captured_calls(&p->match.kinds, p->mem, &l->captured) || !l->recorded || !l->launches || !l->last) return false;
  for (uint32_t i = 0; i < p->works.n; i++) l->recorded[p->works.v[i].launch] = true;
  find_last(p, l->last);
  mark_launches(p, l->launches);
  return mark_connected(p, l->keys, l->launches, l->recorded) && find_shared(p, l->keys, &l->shared);
}

static void launching_free(struct reporter *p, struct launching *l) {
  map_free(&l->shared);
  mem_free(p->mem, l->captured);
  mem_free(p->mem, l->last);
  mem_free(p->mem, l->launches);
  mem_free(p->mem, l->recorded);
}

static bool count_event(struct reporter *p, struct launching *l, tk_id i) {
  const struct tk_event *e = &p->t->events[i];
  const bool calls = e->kind == TK_EVENT_SPAN && p->match.kinds.of_class[e->cls] & KIND_RUNTIME;
  int key;
  if (!calls || (l->captured && l->captured[i] && !l->recorded[i])) return true;
  const uint64_t id = l->launches[e->cls] || l->shared.n ? calls_id(p, e, l->keys, &key) : 0;
  if (!id || is_shared(p, &l->shared, id) || !l->launches[e->cls]) return true;
  return count_call(p, i, !l->recorded[i], l->last);
}

bool report_count_calls(struct reporter *p) {
  const struct tk_trace *t = p->t;
  struct launching l = {.keys = {[CORRELATION] = trace_text_id(t, "correlation"), [CORR_ID] = trace_text_id(t, "corr_id"),
                                 [CONNECTION] = trace_text_id(t, "connection_id")}};
  if (!(l.keys[CORRELATION] | l.keys[CORR_ID] | l.keys[CONNECTION]) || p->match.root || p->scope.narrowed) return true;
  if (!p->works.n && (is_selection(t) || lacks_device(p))) return true;
  bool ok = launching_init(p, &l);
  for (tk_id i = 1; ok && i <= t->n_events; i++) ok = count_event(p, &l, i);
  launching_free(p, &l);
  return ok;
}

uint64_t report_lost_calls(const struct tk_report_rank *row, double limit) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const bool covered = steps && 100 * (double)row->after_work >= limit * (double)s.length;
  return covered ? row->unrecorded : row->unrecorded - row->trailing;
}

void report_say_undecided(struct tk_report *r) {
  char text[256];
  const unsigned long long n = r->impl->undecided;
  if (!n) return;
  snprintf(text, sizeof text, "kernels and copies whose correlation id belongs to several calls, with no flow that "
                              "identifies the launch: %llu; the launch of this work is unknown", n);
  report_unknown(r, report_text(r->impl, text));
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

/* findings_words.c - the sentences of findings (findings.h). Each contains the figure, the threshold and the place. The advice contains
 * a command or a setting. */
#include "findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/path.h"
#include "fields.h"
#include "work_names.h"

struct words {
  const struct finding_case *c;
  char *text;
  size_t n, len;
};

static void write(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void write(struct words *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int len = vsnprintf(w->text + w->len, w->n - w->len, format, args);
  va_end(args);
  if (len > 0) w->len += (size_t)len < w->n - w->len ? (size_t)len : w->n - w->len - 1;
}

#define FIXED(v) num_fixed(v, 1).s

/* ---- parts of sentences ---- */

/* Writes " of rank 3", or " of x.json" if the rank is unknown and there are other inputs, and then the run: " in before". */
static void put_source(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  const char *leaf = path_leaf(row->input), *input = *leaf ? leaf : row->input;
  if (row->rank >= 0) write(w, " of rank %lld", (long long)row->rank);
  else if (w->c->r->inputs > 1) write(w, " of %.100s", *row->host ? row->host : input);
  if (*row->run) write(w, " in %.100s", row->run);
}

static void put_host(struct words *w) {
  write(w, "the host");
  put_source(w);
}

/* Writes the subject: "GPU 1 of rank 3", "the host of rank 3", "GPU 1", "the host". */
static void put_subject(struct words *w) {
  write(w, "%s", *w->c->row->device ? w->c->row->device : "the host");
  put_source(w);
}

static void put_limit(struct words *w) {
  const struct finding_case *c = w->c;
  const char *unit = c->r->impl->limits[c->limit].unit;
  char number[48];
  tk_print_number(c->threshold, number);
  write(w, " (threshold %s%s%s)", number, *unit == 's' ? " " : "", unit);
}

/* Writes how many other devices, hosts or ranks are beyond the threshold of a warning. */
static void put_others(struct words *w) {
  const struct finding_case *c = w->c;
  const char *unit = c->r->impl->limits[c->limit].unit;
  char number[48];
  const char *thing = c->meeting ? "rank" : c->row && (c->host || !*c->row->device) ? "host" : "device";
  if (!c->others) return;
  tk_print_number(c->r->impl->limits[c->limit].warning, number);
  write(w, "; %llu other %s%s above %s%s%s, too", (unsigned long long)c->others, thing, c->others > 1 ? "s are" : " is", number,
        *unit == 's' ? " " : "", unit);
}

static const char *range_of(const struct words *w) { return w->c->r->impl->scope.narrowed ? "the selected range" : "the trace"; }

static void put_base(struct words *w) {
  bool steps;
  report_split_of_row(w->c->row, &steps);
  write(w, "%s", steps ? "the time of its steps" : *w->c->row->device ? "its active window" : range_of(w));
}

static void put_share(struct words *w, const char *verb) {
  put_subject(w);
  write(w, " %s %s%% of ", verb, FIXED(w->c->figure));
  put_base(w);
  put_limit(w);
}

static void put_duration(struct words *w, tk_time time) {
  char text[48];
  tk_print_duration(time, text);
  write(w, "%s", text);
}

/* Writes the options that select the range: "--time +1200us..+1350us". */
static void put_range(struct words *w, tk_time at, tk_time length) {
  const tk_time us = 1000000;
  const long long from = (long long)(at / us), to = (long long)((at + length + us - 1) / us);
  write(w, "--time +%lldus..+%lldus", from, to);
}

static void put_step(struct words *w, const char *otherwise) {
  if (w->c->step) write(w, "--step %lld", (long long)w->c->step->number);
  else write(w, "%s", otherwise);
}

/* ---- causes of idle time ---- */

static void say_idle(struct words *w) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(w->c->row, &steps);
  const struct finding_cause graph = {w->c->row->capturing, "the host recorded a graph"};
  const struct finding_cause cause = graph.time > report_idle_of(&s) / 2 ? graph : findings_main_cause(&s);
  const uint64_t most = findings_gap_of(w->c->row).most;
  put_share(w, "was idle for");
  if (findings_is_stuck(w->c->row)) write(w, ", unless it ran work that was not recorded");
  if (findings_lacks_host(w->c->row)) write(w, "; the trace does not show why");
  else write(w, "; during %s%% of that time, %s", FIXED(100 * (double)cause.time / (double)report_idle_of(&s)), cause.words);
  if (findings_is_stuck(w->c->row))
    write(w, "; during %s%% of it, the next work had already been launched", FIXED(findings_queued(w->c->row)));
  if (most == 1) write(w, "; one gap is more than half of it");
  if (most > 1) write(w, "; the %llu longest gaps are more than half of it", (unsigned long long)most);
}

static void advise_idle(struct words *w) {
  const struct finding_gap gap = findings_gap_of(w->c->row);
  write(w, gap.in_step ? "the longest gap within a step is " : "the longest gap is ");
  put_duration(w, gap.length);
  write(w, " long");
  if (findings_lacks_host(w->c->row)) return write(w, "; record the host, too: its operators and the calls of the device's runtime");
  write(w, "; tracekit top --kind host ");
  put_range(w, gap.at, gap.length);
  write(w, " lists what the host did in it%s", findings_remedy(w->c->row));
}

/* ---- input, compilation, synchronization ---- */

/* Writes the number of compilations of the host, and the longest of them. */
static void put_compilations(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  const struct tk_report *r = w->c->r;
  size_t i = 0;
  write(w, "; compilations: %llu", (unsigned long long)row->compilations);
  while (i < r->n_compilations && (r->compilations[i].rank != row->rank || r->compilations[i].input != row->input)) i++;
  if (i == r->n_compilations) return;
  const struct tk_report_compilation *longest = &r->compilations[i];
  write(w, row->compilations == 1 ? ", " : ", the longest ");
  put_duration(w, longest->length);
  if (*longest->module) write(w, " (%.80s)", longest->module);
  if (longest->has_step) write(w, " in step %lld", (long long)longest->step);
}

static void say_input(struct words *w) {
  put_share(w, *w->c->row->device ? "was idle while the host loaded input, for" : "loaded input for");
}

static void say_compile(struct words *w) {
  put_share(w, *w->c->row->device ? "was idle while the host compiled, for" : "compiled for");
  put_compilations(w);
}

static void say_compile_time(struct words *w) {
  put_host(w);
  write(w, " compiled for ");
  put_duration(w, w->c->row->compile);
  put_limit(w);
  put_compilations(w);
}

static void say_sync(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  put_share(w, "was idle while the host was in calls that wait for the device, for");
  write(w, "; there are %llu such calls", (unsigned long long)row->syncs);
}

static void say_sync_count(struct words *w) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(w->c->row, &steps);
  put_host(w);
  write(w, " waits for the device %s times per step", FIXED(w->c->figure));
  put_limit(w);
  write(w, "; the device became idle during these calls, and remained so for %s%% of ",
        FIXED(100 * (double)w->c->row->idle_after_waits / (double)s.length));
  put_base(w);
}

static void say_small_kernels(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  write(w, "%s%% of the %llu kernels of ", FIXED(w->c->figure), (unsigned long long)row->kernels);
  put_subject(w);
  write(w, " are shorter than 10 us");
  put_limit(w);
  write(w, ", and at least half of the idle time is spent in operators, Python or launch calls");
}

/* ---- communication ---- */

/* Returns the time spent waiting as a percentage of the time in collectives, or in messages, that were found on several ranks; negative
 * if unknown. */
static double waiting(const struct tk_report *r, bool messages) {
  double wait = 0, core = 0;
  uint64_t members = 0;
  for (size_t i = 0; i < r->n_collectives; i++) {
    if (report_is_message(r->collectives[i].name) != messages) continue;
    wait += field_seconds(r->collectives[i].wait);
    core += field_seconds(r->collectives[i].core);
  }
  for (size_t i = 0; i < r->n_meetings; i++) members += r->meetings[i].met;
  const double transfer = messages ? core : r->met ? core * (double)members / (double)r->met : 0;
  return wait + transfer > 0 ? 100 * wait / (wait + transfer) : -1;
}

static bool has_ranks(const struct tk_report *r) {
  return r->inputs > 1 || (r->n_ranks && r->ranks[0].rank != r->ranks[r->n_ranks - 1].rank);
}

/* True if ranks of a group may be missing from the inputs, so that time after the last known arrival may be waiting, too. Always true
 * if no group size was recorded. */
static bool may_lack_ranks(const struct tk_report *r) {
  const struct tk_report_impl *impl = r->impl;
  int64_t largest = 0;
  for (uint32_t i = 0; i < impl->n_collectives; i++)
    if (impl->collectives[i].met && impl->collectives[i].group_size > largest) largest = impl->collectives[i].group_size;
  return largest == 0 || largest > (int64_t)r->n_meetings;
}

static void say_communication(struct words *w) {
  const double wait = waiting(w->c->r, false);
  put_share(w, "communicated without computing for");
  if (wait >= 0 && may_lack_ranks(w->c->r))
    write(w, "; %s%% of the time in collectives is waiting for the last of these ranks, the rest is transfer or waiting for ranks that "
             "are not among the inputs", FIXED(wait));
  else if (wait >= 0)
    write(w, "; %s%% of the time in collectives is waiting for the last rank, the rest is transfer", FIXED(wait));
  else if (waiting(w->c->r, true) >= 0)
    write(w, "; %s%% of the time in matched sends and receives is waiting for the other rank", FIXED(waiting(w->c->r, true)));
  else if (has_ranks(w->c->r))
    write(w, "; the collectives of these ranks could not be matched, so waiting cannot be told from transfer");
  else write(w, "; this includes waiting for other ranks, which this trace alone cannot tell from transfer");
}

static void advise_communication(struct words *w) {
  const double wait = waiting(w->c->r, false);
  const bool unclear = wait >= 0 && wait < 50 && may_lack_ranks(w->c->r);
  static const char LESS[] = "overlap communication with computation, or send less: larger buckets, compression, fewer collectives";
  if (wait < 0 && !has_ranks(w->c->r)) write(w, "report all ranks of the job together, to tell waiting from transfer");
  else if (unclear) write(w, "if the job has more ranks, report all, to tell waiting from transfer; otherwise %s", LESS);
  else if (wait >= 50) write(w, "balance the work of the ranks; report shows under Stragglers which rank is late");
  else write(w, "%s", LESS);
}

static void say_straggler(struct words *w) {
  const struct tk_report_meeting *m = w->c->meeting;
  const double excess = field_seconds(m->cost) - field_seconds(m->peer_cost), wait = waiting(w->c->r, false);
  char time[48];
  tk_print_total((struct tk_total){(int64_t)excess, (int64_t)(1e12 * (excess - floor(excess)))}, time);
  write(w, "rank %lld delays collectives by %s more than other ranks do, which is %s%% of the active window", (long long)m->rank, time,
      FIXED(w->c->figure));
  put_limit(w);
  write(w, ": it arrived last in %llu of %llu collectives", (unsigned long long)m->last, (unsigned long long)m->met);
  if (wait < 0) return;
  write(w, "; in these collectives, ranks spend more time %s", wait >= 50 ? "waiting than transferring" : "transferring than waiting");
}

static void advise_straggler(struct words *w) { write(w, "%s", findings_compare(w->c)); }

/* ---- other findings ---- */

static void say_kernel(struct words *w) {
  write(w, "kernel '%.100s' takes %s%% of the time of all device work", w->c->kernel->short_name, FIXED(w->c->figure));
  put_limit(w);
}

static void say_occupancy(struct words *w) {
  write(w, "kernel '%.100s', whose occupancy is %s%%, takes ", w->c->kernel->short_name, FIXED(w->c->kernel->occupancy));
  write(w, "%s%% of the time of all device work", FIXED(w->c->figure));
  put_limit(w);
}

static void advise_occupancy(struct words *w) {
  const uint64_t blocks = findings_blocks(w->c->kernel->grid);
  if (blocks && blocks < FINDINGS_FEW_BLOCKS)
    write(w, "its grid has %llu block%s, too few to use the device: more work in a launch helps, whatever registers and shared memory "
             "a block needs", (unsigned long long)blocks, blocks > 1 ? "s" : "");
  else
    write(w, "fewer registers or less shared memory per block let more blocks run at once; more blocks per launch help if there "
             "are few");
}

static void say_function(struct words *w) {
  const struct tk_report_function *f = w->c->function;
  char n[32];
  tk_print_number((double)w->c->r->samples, n);
  write(w, "'%.100s' is the innermost function for %s%% of the weight of %s stack samples", f->name, FIXED(w->c->figure), n);
  put_limit(w);
}

/* Returns the copy or fill that takes the most time; NULL if there is none. Rows are sorted by time. */
static const struct tk_report_kernel *longest_copy(const struct tk_report *r) {
  for (const struct tk_report_kernel *k = r->kernels; k < r->kernels + r->n_kernels; k++)
    if (k->of_sum >= 0 && (strcmp(k->kind, "copy") == 0 || strcmp(k->kind, "fill") == 0)) return k;
  return NULL;
}

static void say_copy(struct words *w) {
  const struct tk_report_kernel *k = longest_copy(w->c->r);
  put_share(w, "only copied or filled memory for");
  if (k) write(w, "; '%.100s' takes the most time of all copies and fills%s", k->name, w->c->r->n_ranks > 1 ? " of all devices" : "");
}

static void advise_copy(struct words *w) {
  const struct tk_report_kernel *k = longest_copy(w->c->r);
  const bool can_hide = w->c->row->times.compute >= w->c->row->times.exposed_copy;
  const char *advice = can_hide ? "copy asynchronously and ahead of use, beside the computation"
                                 : "there is less computation than copying, so overlap cannot hide the copies: keep data on the "
                                   "device, or move less";
  if (k && work_names_traits(k->name) & WORK_DEVICE_COPY)
    advice = "avoid copies within a device, as changes of layout, concatenation and clones make";
  if (k && strcmp(k->kind, "fill") == 0) advice = "allocate without filling what is overwritten anyway (in PyTorch: torch.empty)";
  write(w, "%s", advice);
  write(w, "; tracekit top -e 'kind == memcpy || kind == transfer' lists copies");
}

static void say_pageable(struct words *w) {
  write(w, "copies from or to pageable memory take ");
  put_duration(w, w->c->row->pageable);
  write(w, " on ");
  put_subject(w);
  write(w, ", %s%% of its active window", FIXED(w->c->figure));
  put_limit(w);
}

static void say_gc(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  put_host(w);
  write(w, " collected garbage for %s%% of %s", FIXED(w->c->figure), range_of(w));
  put_limit(w);
  write(w, ": %llu collection%s of at most ", (unsigned long long)row->collections, row->collections > 1 ? "s" : "");
  put_duration(w, row->collection_max);
}

static void say_profiler(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  write(w, "the profiler itself worked for %s%% of %s", FIXED(w->c->figure), range_of(w));
  put_source(w);
  put_limit(w);
  write(w, ": at most ");
  put_duration(w, row->profiler_max);
  write(w, " at once");
}

static void say_recompilations(struct words *w) {
  put_host(w);
  write(w, " ran a function that torch.compile had compiled again %llu times",
        (unsigned long long)w->c->row->recompilations);
  put_limit(w);
}

static void say_modules(struct words *w) {
  put_host(w);
  write(w, " compiled module %.80s again %llu times in its steps", w->c->row->recompiled_module,
        (unsigned long long)w->c->row->module_recompilations);
  put_limit(w);
}

static void say_graphs(struct words *w) {
  put_host(w);
  write(w, " ran %llu functions or parts of functions that torch.compile had compiled separately",
        (unsigned long long)w->c->row->compiled_frames);
  put_limit(w);
  write(w, "; each graph break divides a function");
}

static void say_outlier(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  const bool first = w->c->step == row->steps && !w->c->r->impl->scope.narrowed;
  write(w, "step %lld of ", (long long)(w->c->step ? w->c->step->number : -1));
  put_subject(w);
  write(w, " took ");
  put_duration(w, row->step.max);
  write(w, ", %s times the median", FIXED(w->c->figure));
  put_limit(w);
  if (first) write(w, "; it is the first recorded step, which often includes warm-up");
  else if (row->step.outliers > 1) write(w, "; %llu steps are outliers", (unsigned long long)row->step.outliers);
}

static void say_drift(struct words *w) {
  write(w, "the steps of ");
  put_subject(w);
  write(w, " become slower: the last third takes %s%% longer than the first", FIXED(w->c->figure));
  put_limit(w);
}

static void say_fp32(struct words *w) {
  write(w, "%s%% of the time of compute kernels on ", FIXED(w->c->figure));
  put_subject(w);
  write(w, " is spent in fp32 matrix products and convolutions without tensor cores, by the names of the kernels");
  put_limit(w);
}

static void advise_fp32(struct words *w) { findings_fp32(w->c, w->text, w->n); }

static void say_small_grid(struct words *w) {
  write(w, "%s%% of the time of compute kernels on ", FIXED(w->c->figure));
  put_subject(w);
  write(w, " is spent in kernels with fewer blocks than the device has multiprocessors");
  put_limit(w);
}

static void say_memory(struct words *w) {
  findings_memory(w->c, w->text, w->n);
  w->len = strlen(w->text);
  put_limit(w);
  if (findings_is_early(w->c)) write(w, "; nearly all of it had been allocated before the recording");
}

static void advise_memory(struct words *w) {
  static const char EARLY[] = "the recording does not show what allocated it: inference servers, for example, reserve most of the "
                              "memory in advance; record from the start of the program to see it";
  write(w, "%s", findings_is_early(w->c) ? EARLY : "smaller batches or recomputation of activations lower the peak");
}

static void say_oom(struct words *w) { findings_oom(w->c, w->text, w->n); }

static void say_unrecorded(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  const uint64_t lost = report_lost_calls(row, w->c->r->impl->limits[LIMIT_UNRECORDED].warning);
  write(w, "%llu of %llu launching calls of ", (unsigned long long)lost, (unsigned long long)row->launch_calls);
  put_host(w);
  write(w, " (%s%%) have no recorded work", FIXED(w->c->figure));
  put_limit(w);
  write(w, ", so the device may have been busy when it seems idle; idle time, exposed communication and exposed copies are not judged");
}

static void say_truncated(struct words *w) {
  const uint64_t n = (uint64_t)w->c->figure;
  write(w, "%llu input%s end%s early, so the last events are missing", (unsigned long long)n, n > 1 ? "s" : "", n > 1 ? "" : "s");
  write(w, "; figures that they could change are not judged");
}

static void say_damaged(struct words *w) {
  const uint64_t n = (uint64_t)w->c->figure;
  write(w, "%llu input%s damaged, so events may be missing or wrong", (unsigned long long)n, n > 1 ? "s are" : " is");
  write(w, "; figures that they could change are not judged");
}

static void say_capped(struct words *w) {
  const uint64_t n = (uint64_t)w->c->figure;
  write(w, "%llu input%s contain%s the maximum number of events that the profiler writes, so later events may be missing",
      (unsigned long long)n, n > 1 ? "s" : "", n > 1 ? "" : "s");
}

static void advise_step(struct words *w, const char *before, const char *otherwise, const char *after) {
  write(w, "%s%s", before, w->c->step || *otherwise ? " " : "");
  put_step(w, otherwise);
  write(w, "%s", after);
}

static void advise_input(struct words *w) {
  advise_step(w, "prepare batches ahead of the step, with more workers or prefetching; tracekit top --kind host --by phase", "",
              " shows the share of the loader");
}

/* Writes a glob that matches the name, quoted for a shell. If the name is long, replaces its end by *. */
static void put_glob(struct words *w, const char *name) {
  size_t n = strnlen(name, 100);
  while (n && ((uint8_t)name[n] & 0xc0) == 0x80) n--; /* do not cut a UTF-8 sequence */
  write(w, "'");
  for (size_t i = 0; i < n; i++) write(w, "%c", strchr("*?[]\\'", name[i]) ? '?' : name[i]);
  write(w, "%s'", name[n] ? "*" : "");
}

static void advise_kernel(struct words *w) {
  const enum finding_launchers by = findings_launchers(w->c);
  if (by == LAUNCHED_BY_ANNOTATIONS) return write(w, "tracekit tree --kind annotation --fold shows which annotations launch it");
  if (by == LAUNCHED_BY_UNKNOWN)
    return write(w, "the trace does not show what launches it: record the host's operators, or annotations around the launches, too");
  write(w, "tracekit top --kind kernel --by op --name ");
  put_glob(w, w->c->kernel->name);
  write(w, " shows which operators launch it");
}

/* Returns the row of r->ops, of the given kind, with the most self time (per step if there are steps); NULL if there is none. */
static const struct tk_report_op *most_of(const struct tk_report *r, const char *kind) {
  const struct tk_report_op *most = NULL;
  for (size_t i = 0; i < r->n_ops; i++) {
    const struct tk_report_op *op = &r->ops[i];
    if (strcmp(op->kind, kind) == 0 && (!most || (op->has_steps && op->per_step > most->per_step))) most = op;
  }
  return most;
}

/* Writes a command that shows the spans of the given kind with the most self time. Returns true if the command groups them by step,
 * which needs steps. */
static bool put_top(struct words *w, const char *kind) {
  const struct tk_report_op *op = most_of(w->c->r, kind);
  write(w, !op ? "tracekit top --kind host" : op->has_steps ? "tracekit top --by step --name " : "tracekit top --name ");
  if (op) put_glob(w, op->name);
  return op && op->has_steps;
}

static void advise_compile(struct words *w) {
  write(w, "find what changes between calls, such as shapes; ");
  const bool by_step = put_top(w, "compile");
  write(w, by_step ? " shows the time in each step" : " shows the time");
}

static void advise_sync(struct words *w) {
  write(w, "avoid what needs values on the host in the step, such as .item(), .cpu(), nonzero(), block_until_ready() and prints of "
           "tensors; ");
  const bool by_step = put_top(w, "sync");
  write(w, by_step ? " shows the calls of each step" : " shows the calls");
}

static void advise_outlier(struct words *w) {
  advise_step(w, "tracekit tree", "--kind step", " shows what the step consists of");
}

static void advise_gc(struct words *w) {
  write(w, "freeze or disable the collector during steps (gc.freeze, gc.disable), and collect between them; the longest is at ");
  put_range(w, w->c->row->collection_at, w->c->row->collection_max);
}

static void advise_profiler(struct words *w) {
  write(w, "times around it are not those of a run without the profiler: record fewer activities and shorter windows, after a "
           "warm-up; the longest is at ");
  put_range(w, w->c->row->profiler_at, w->c->row->profiler_max);
}

/* ---- the table ---- */

static const struct {
  void (*say)(struct words *w);
  void (*advise)(struct words *w); /* writes the advice; NULL: the fixed text `advice` */
  const char *advice;
} SAID[N_THRESHOLDS] = {
  [LIMIT_DEVICE_IDLE] = {say_idle, advise_idle, NULL},
  [LIMIT_INPUT] = {say_input, advise_input, NULL},
  [LIMIT_COMPILE] = {say_compile, advise_compile, NULL},
  [LIMIT_COMPILE_TIME] = {say_compile_time, advise_compile, NULL},
  [LIMIT_SYNC] = {say_sync, advise_sync, NULL},
  [LIMIT_SYNC_COUNT] = {say_sync_count, advise_sync, NULL},
  [LIMIT_SMALL_KERNELS] = {say_small_kernels, NULL,
    "fuse kernels or replay graphs; tracekit top --kind kernel --max-dur 10us --sort count --fold lists them"},
  [LIMIT_COMMUNICATION] = {say_communication, advise_communication, NULL},
  [LIMIT_STRAGGLER] = {say_straggler, advise_straggler, NULL},
  [LIMIT_DOMINANT_KERNEL] = {say_kernel, advise_kernel, NULL},
  [LIMIT_COPY] = {say_copy, advise_copy, NULL},
  [LIMIT_PAGEABLE] = {say_pageable, NULL,
    "use pinned memory (in PyTorch: pin_memory=True, non_blocking=True); tracekit top --kind memcpy lists copies"},
  [LIMIT_GC] = {say_gc, advise_gc, NULL},
  [LIMIT_PROFILER] = {say_profiler, advise_profiler, NULL},
  [LIMIT_RECOMPILATIONS] = {say_recompilations, NULL,
    "TORCH_LOGS=recompiles prints the guard that failed; mark changing sizes with torch._dynamo.mark_dynamic or pad them; tracekit top "
    "--name 'Torch-Compiled Region*' lists the regions"},
  [LIMIT_MODULES] = {say_modules, NULL,
    "a jitted function is compiled for each combination of shapes, types and static arguments: keep them constant, or pad to few "
    "sizes; jax.config.update('jax_explain_cache_misses', True) logs the reasons; tracekit report lists the compilations"},
  [LIMIT_GRAPHS] = {say_graphs, NULL,
    "TORCH_LOGS=graph_breaks prints the reasons; tracekit top --name 'Torch-Compiled Region*' lists the regions"},
  [LIMIT_STEP_OUTLIER] = {say_outlier, advise_outlier, NULL},
  [LIMIT_STEP_DRIFT] = {say_drift, NULL,
    "compare early and late steps: tracekit top --by step --kind step; growing memory use is a common cause"},
  [LIMIT_FP32_MATMUL] = {say_fp32, advise_fp32, NULL},
  [LIMIT_SMALL_GRID] = {say_small_grid, NULL, "larger batches, fused operators or concurrent streams use more of the device"},
  [LIMIT_OCCUPANCY] = {say_occupancy, advise_occupancy, NULL},
  [LIMIT_MEMORY] = {say_memory, advise_memory, NULL},
  [LIMIT_OOM] = {say_oom, NULL, FINDINGS_OOM_ADVICE},
  [LIMIT_UNRECORDED] = {say_unrecorded, NULL, "look for errors in the profiler's output, such as lacking permission; "
    "record fewer steps, so that the profiler drops nothing; for graphs, record their nodes (see docs/recording.md)"},
  [LIMIT_TRUNCATED] = {say_truncated, NULL, "record again, and stop the profiler before the program ends"},
  [LIMIT_DAMAGED] = {say_damaged, NULL, "copy the file again, or record again"},
  [LIMIT_FUNCTION] = {say_function, NULL, "tracekit tree shows which functions call it"},
  [LIMIT_CAPPED] = {say_capped, NULL, "record fewer steps, or read the file with all events, such as .xplane.pb"},
};

void findings_say(const struct finding_case *c, char *text, size_t n, char *advice, size_t n_advice) {
  struct words sentence = {.c = c, .text = text, .n = n}, next = {.c = c, .text = advice, .n = n_advice};
  *text = *advice = 0;
  SAID[c->limit].say(&sentence);
  put_others(&sentence);
  if (SAID[c->limit].advise) SAID[c->limit].advise(&next);
  else write(&next, "%s", SAID[c->limit].advice);
}

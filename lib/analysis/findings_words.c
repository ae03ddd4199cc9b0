/* findings_words.c - the sentences of findings (findings.h). Each states the figure, the threshold and the place, and the advice
 * names a command or a setting. */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

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

/* "GPU 1 of rank 3", "the host of rank 3", "GPU 1", "the host". */
static void put_subject(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  write(w, "%s", *row->device ? row->device : "the host");
  if (row->rank >= 0) write(w, " of rank %lld", (long long)row->rank);
}

static void put_host(struct words *w) {
  write(w, "the host");
  if (w->c->row->rank >= 0) write(w, " of rank %lld", (long long)w->c->row->rank);
}

static void put_limit(struct words *w) {
  const struct finding_case *c = w->c;
  size_t n;
  const char *unit = tk_thresholds(&n)[c->limit].unit;
  const bool whole = c->threshold == (double)(int64_t)c->threshold;
  write(w, " (threshold %s%s%s)", num_fixed(c->threshold, whole ? 0 : 1).s, *unit == 's' ? " " : "", unit);
}

static void put_others(struct words *w) {
  const uint64_t n = w->c->others;
  if (n) write(w, "; %llu other%s beyond it, too", (unsigned long long)n, n > 1 ? " devices are" : " device is");
}

static void put_base(struct words *w) {
  bool steps;
  report_split_of_row(w->c->row, &steps);
  write(w, "%s", steps ? "its steps" : *w->c->row->device ? "its active window" : "the trace");
}

static void put_share(struct words *w, const char *verb) {
  put_subject(w);
  write(w, " %s %s%% of ", verb, FIXED(w->c->figure));
  put_base(w);
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

struct cause {
  tk_time time;
  const char *words;
};

static struct cause main_cause(const struct tk_report_split *s) {
  const struct cause causes[] = {
    {s->host, "while the host ran operators or Python"}, {s->launch, "while the host was in calls that launch work"},
    {s->runtime, "while the host was in other calls of the device's runtime, such as allocations"},
    {s->sync, "while the host was in calls that wait for the device"}, {s->input, "while the host loaded input"},
    {s->compile, "while the host compiled"},
    {s->other, "while the host slept, waited for a lock, collected garbage or saved a checkpoint"},
    {s->idle, "while no activity of the host was recorded"}};
  struct cause most = causes[0];
  for (size_t i = 1; i < sizeof causes / sizeof *causes; i++)
    if (causes[i].time > most.time) most = causes[i];
  return most;
}

/* True if the trace contains no activity of the host, as far as the split shows. */
static bool lacks_host(const struct words *w) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(w->c->row, &steps);
  return s.idle > 0 && main_cause(&s).time == s.idle && w->c->row->host_ops + w->c->row->runtime_calls == 0;
}

static bool is_one_gap(const struct tk_report_rank *row) { return 2 * row->gap >= row->times.idle; }

static void say_idle(struct words *w) {
  bool steps;
  const struct tk_report_split s = report_split_of_row(w->c->row, &steps);
  const struct cause cause = main_cause(&s);
  const double idle = (double)(s.length - s.compute - s.communication - s.copy);
  put_share(w, "was idle for");
  put_limit(w);
  if (lacks_host(w)) write(w, "; the trace does not show why");
  else write(w, ", %s%% of that %s", FIXED(100 * (double)cause.time / idle), cause.words);
  if (is_one_gap(w->c->row)) write(w, "; one gap is more than half of it");
  put_others(w);
}

static void advise_idle(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  bool steps;
  const struct tk_report_split s = report_split_of_row(row, &steps);
  const tk_time most = main_cause(&s).time;
  const char *remedy = is_one_gap(row) ? "" : most == s.host || most == s.launch
                         ? "; compiling the model or replaying graphs takes launches off the host"
                         : most == s.idle ? "; recording Python (with_stack=True in PyTorch) shows what runs between operators" : "";
  write(w, "the longest gap is ");
  put_duration(w, row->gap);
  write(w, " long");
  if (lacks_host(w)) return write(w, "; record the host, too: its operators and the calls of the device's runtime");
  write(w, "; tracekit top --kind host ");
  put_range(w, row->gap_at, row->gap);
  write(w, " lists what the host did in it%s", remedy);
}

/* ---- input, compilation, synchronization ---- */

static void say_input(struct words *w) {
  put_share(w, *w->c->row->device ? "was idle and waited for input for" : "loaded input for");
  put_limit(w);
  put_others(w);
}

static void say_compile(struct words *w) {
  put_share(w, *w->c->row->device ? "was idle and waited for a compiler for" : "compiled for");
  put_limit(w);
  write(w, "; compilations of the host: %llu", (unsigned long long)w->c->row->compilations);
  put_others(w);
}

static void say_compile_time(struct words *w) {
  put_host(w);
  write(w, " compiled for ");
  put_duration(w, w->c->row->compile);
  put_limit(w);
  write(w, "; compilations: %llu", (unsigned long long)w->c->row->compilations);
}

static void say_sync(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  put_share(w, "was idle for");
  write(w, " while the host was in calls that wait for the device");
  put_limit(w);
  write(w, "; there are %llu such calls", (unsigned long long)row->syncs);
  put_others(w);
}

static void say_sync_count(struct words *w) {
  put_host(w);
  write(w, " waits for the device %s times per step", FIXED(w->c->figure));
  put_limit(w);
  write(w, ", and the device is often idle");
}

static void say_small_kernels(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  write(w, "%s%% of the %llu kernels of ", FIXED(w->c->figure), (unsigned long long)row->kernels);
  put_subject(w);
  write(w, " are shorter than 10 us");
  put_limit(w);
  write(w, ", and the device is idle while the host prepares the next");
}

/* ---- communication ---- */

/* Returns the share of waiting in the time of the collectives that were found on several ranks; negative = unknown. */
static double waiting(const struct tk_report *r) {
  double wait = 0, core = 0;
  uint64_t members = 0;
  for (size_t i = 0; i < r->n_collectives; i++) {
    wait += (double)r->collectives[i].wait.s + (double)r->collectives[i].wait.ps / 1e12;
    core += (double)r->collectives[i].core.s + (double)r->collectives[i].core.ps / 1e12;
  }
  for (size_t i = 0; i < r->n_meetings; i++) members += r->meetings[i].met;
  const double transfer = r->met ? core * (double)members / (double)r->met : 0;
  return wait + transfer > 0 ? 100 * wait / (wait + transfer) : -1;
}

static void say_communication(struct words *w) {
  const double wait = waiting(w->c->r);
  put_share(w, "communicated without computing for");
  put_limit(w);
  if (wait >= 0) write(w, "; %s%% of the time in collectives is waiting for the last rank, the rest is transfer", FIXED(wait));
  else write(w, "; this includes waiting for other ranks, which this trace alone cannot tell from transfer");
  put_others(w);
}

static void advise_communication(struct words *w) {
  const double wait = waiting(w->c->r);
  if (wait < 0) write(w, "report all ranks of the job together, to tell waiting from transfer");
  else if (wait >= 50) write(w, "balance the work of the ranks; report shows under Stragglers which rank is late");
  else write(w, "overlap communication with computation, or send less: larger buckets, compression, fewer collectives");
}

static void say_straggler(struct words *w) {
  const struct finding_case *c = w->c;
  char cost[48];
  tk_print_total(c->meeting->cost, cost);
  write(w, "rank %lld costs the others %s, %s%% of the active window", (long long)c->meeting->rank, cost, FIXED(c->figure));
  put_limit(w);
  write(w, ": it arrived last in %llu of %llu collectives", (unsigned long long)c->meeting->last, (unsigned long long)c->meeting->met);
  if (waiting(c->r) >= 50) write(w, "; ranks lose more time by waiting than by the transfer");
  else if (waiting(c->r) >= 0) write(w, "; the transfer takes longer than the wait");
}

/* ---- the others ---- */

static void say_kernel(struct words *w) {
  write(w, "kernel '%.100s' takes %s%% of the time of all device work", w->c->kernel->name, FIXED(w->c->figure));
  put_limit(w);
}

static void say_copy(struct words *w) {
  put_share(w, "only copied or filled memory for");
  put_limit(w);
  put_others(w);
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
  write(w, " collected garbage for %s%% of the trace", FIXED(w->c->figure));
  put_limit(w);
  write(w, ": %llu collection%s of at most ", (unsigned long long)row->collections, row->collections > 1 ? "s" : "");
  put_duration(w, row->collection_max);
}

static void say_outlier(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  const bool first = w->c->step == row->steps;
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
  write(w, "%s%% of the time of kernels on ", FIXED(w->c->figure));
  put_subject(w);
  write(w, " is spent in fp32 matrix products without tensor cores, by the names of the kernels");
  put_limit(w);
}

static void say_small_grid(struct words *w) {
  write(w, "%s%% of the time of kernels on ", FIXED(w->c->figure));
  put_subject(w);
  write(w, " is spent in kernels with fewer blocks than the device has multiprocessors");
  put_limit(w);
}

static void say_memory(struct words *w) {
  const struct tk_report_memory *m = w->c->memory;
  char peak[48], all[48];
  tk_print_size((uint64_t)m->peak_allocated, peak);
  tk_print_size((uint64_t)m->capacity, all);
  write(w, "%s", m->allocator);
  if (m->rank >= 0) write(w, " of rank %lld", (long long)m->rank);
  write(w, " allocated %s of %s, %s%% of its memory", peak, all, FIXED(w->c->figure));
  put_limit(w);
}

static void say_unrecorded(struct words *w) {
  const struct tk_report_rank *row = w->c->row;
  write(w, "%llu of %llu launching calls of ", (unsigned long long)row->unrecorded, (unsigned long long)row->launch_calls);
  put_host(w);
  write(w, " (%s%%) have no recorded work", FIXED(w->c->figure));
  put_limit(w);
  write(w, ", so the device may have been busy when it seems idle; idle time is not judged");
}

static void say_truncated(struct words *w) {
  const uint64_t n = (uint64_t)w->c->figure;
  write(w, "%llu input%s end%s early, so the last events are missing", (unsigned long long)n, n > 1 ? "s" : "", n > 1 ? "" : "s");
}

static void say_capped(struct words *w) {
  const uint64_t n = (uint64_t)w->c->figure;
  write(w, "%llu input%s contain%s as many events as the profiler ever writes, so later events may be missing", (unsigned long long)n,
      n > 1 ? "s" : "", n > 1 ? "" : "s");
}

static void advise_step(struct words *w, const char *before, const char *otherwise, const char *after) {
  write(w, "%s", before);
  put_step(w, otherwise);
  write(w, "%s", after);
}

static void advise_input(struct words *w) {
  advise_step(w, "use more workers, prefetch and pinned memory; tracekit top --kind host --by phase ", "",
              " shows the share of the loader");
}

static void advise_compile(struct words *w) {
  advise_step(w, "find what changes between calls, such as shapes; tracekit top --kind host --regex [Cc]ompile ", "",
              " lists what compiled");
}

static void advise_sync(struct words *w) {
  advise_step(w, "avoid .item(), .cpu(), nonzero() and prints of tensors in the step; tracekit top --kind runtime --regex Synchronize ",
              "--sort count", " lists the calls");
}

static void advise_outlier(struct words *w) {
  advise_step(w, "tracekit tree ", "--kind step", " shows what the step consists of");
}

static void advise_gc(struct words *w) {
  write(w, "freeze or disable the collector during steps (gc.freeze, gc.disable), and collect between them; the longest is at ");
  put_range(w, w->c->row->collection_at, w->c->row->collection_max);
}

/* ---- the table ---- */

static const struct {
  void (*say)(struct words *w);
  void (*advise)(struct words *w); /* NULL = the text */
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
  [LIMIT_STRAGGLER] = {say_straggler, NULL, "compare the rank with another: tracekit diff RANK OTHER --kind op"},
  [LIMIT_DOMINANT_KERNEL] = {say_kernel, NULL, "tracekit top --kind kernel --by op shows which operators launch it"},
  [LIMIT_COPY] = {say_copy, NULL, "copy asynchronously on another stream; tracekit top --kind memcpy lists the copies by direction"},
  [LIMIT_PAGEABLE] = {say_pageable, NULL,
    "use pinned memory (pin_memory=True, non_blocking=True); tracekit top --kind memcpy lists copies"},
  [LIMIT_GC] = {say_gc, advise_gc, NULL},
  [LIMIT_STEP_OUTLIER] = {say_outlier, advise_outlier, NULL},
  [LIMIT_STEP_DRIFT] = {say_drift, NULL,
    "compare early and late steps: tracekit top --by step --kind step; memory that grows is a usual cause"},
  [LIMIT_FP32_MATMUL] = {say_fp32, NULL,
    "if the precision allows, use TF32 (torch.set_float32_matmul_precision('high'), from compute capability 8.0) or bf16"},
  [LIMIT_SMALL_GRID] = {say_small_grid, NULL, "larger batches, fused operators or concurrent streams use more of the device"},
  [LIMIT_MEMORY] = {say_memory, NULL, "smaller batches or recomputation of activations lower the peak"},
  [LIMIT_UNRECORDED] = {say_unrecorded, NULL,
    "record fewer steps, so that the profiler drops nothing; for graphs, record their nodes (see docs/recording.md)"},
  [LIMIT_TRUNCATED] = {say_truncated, NULL, "record again, and stop the profiler before the program ends"},
  [LIMIT_CAPPED] = {say_capped, NULL, "record fewer steps, or read the file with all events, such as .xplane.pb"},
};

void findings_say(const struct finding_case *c, char *text, size_t n, char *advice, size_t n_advice) {
  struct words sentence = {.c = c, .text = text, .n = n}, next = {.c = c, .text = advice, .n = n_advice};
  *text = *advice = 0;
  SAID[c->limit].say(&sentence);
  if (SAID[c->limit].advise) SAID[c->limit].advise(&next);
  else write(&next, "%s", SAID[c->limit].advice);
}

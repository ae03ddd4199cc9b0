/* thresholds.c - see thresholds.h. The values for utilization, compilation and single operations are common in guides to profiling: a
 * device that is busy for less than 80% of the time should be examined; for less than 50%, it is a problem. */
#include "thresholds.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "io/in.h"

static const struct tk_threshold DEFAULTS[N_THRESHOLDS] = {
  [LIMIT_DEVICE_IDLE] = {"device-idle", "%", 20, 50,
    "idle time of a device, as a percentage of the time of its steps, or of its active window; judged only if it exceeds the "
    "warning threshold even without the time of the steps before the first recorded work, since earlier work may be missing, and "
    "without the end of the last step if nothing was recorded in it, if these are less than 90% of the time, and even without the "
    "time in which the host recorded CUDA or HIP graphs"},
  [LIMIT_INPUT] = {"input", "%", 10, 25, "time in which the device, or the step of a host without devices, waited for input"},
  [LIMIT_COMPILE] = {"compile", "%", 10, 25, "time in which the device, or the step of a host without devices, waited for a compiler"},
  [LIMIT_COMPILE_TIME] = {"compile-time", "s", 2, 10, "time during which the host compiled"},
  [LIMIT_SYNC] = {"sync", "%", 10, 25, "idle time of a device while the host was in calls that wait for the device"},
  [LIMIT_SYNC_COUNT] = {"sync-count", "", 5, 50,
    "calls per step that wait for the device; judged only if the idle time that begins during such calls, without input and "
    "compilation, is at least 5% of the time of its steps, and the calls last for at least 1% of it"},
  [LIMIT_SMALL_KERNELS] = {"small-kernels", "%", 50, 80,
    "percentage of kernels shorter than 10 us; judged only if device-idle is exceeded, at least half of the idle time is spent in "
    "operators, Python or launch calls, less than half of it in gaps of 30 us or more before work that had already been "
    "launched, and the device ran at least 100 kernels"},
  [LIMIT_COMMUNICATION] = {"exposed-communication", "%", 10, 25, "time of communication without computation"},
  [LIMIT_STRAGGLER] = {"straggler", "%", 2, 10,
    "time by which one rank delays collectives more than the other ranks do, as a percentage of the active window; judged only if it "
    "arrives last at least 3 times and more often than by chance (two standard deviations)"},
  [LIMIT_DOMINANT_KERNEL] = {"dominant-kernel", "%", 50, INFINITY,
    "share of one kernel in the time of all device work; judged only if the kernel runs for at least 5% of the active windows, and "
    "there are at least 10 pieces of work with at least 3 different names; collectives and copies have findings of their own"},
  [LIMIT_COPY] = {"exposed-copy", "%", 5, 15, "time of copies and fills without computation or communication"},
  [LIMIT_PAGEABLE] = {"pageable-copy", "%", 1, 5, "time of copies from or to pageable memory, as a percentage of the window"},
  [LIMIT_GC] = {"garbage-collection", "%", 1, 5, "time of garbage collections, as a percentage of the trace or of the selected range"},
  [LIMIT_STEP_OUTLIER] = {"step-outlier", "x", 1.5, 3, "longest step divided by the median, if it is an outlier"},
  [LIMIT_STEP_DRIFT] = {"step-drift", "%", 10, 30,
    "increase of the mean duration from the first to the last third of the steps; judged only if there are at least 9"},
  [LIMIT_FP32_MATMUL] = {"fp32-matmul", "%", 20, INFINITY,
    "share of the time of compute kernels spent in fp32 matrix products and convolutions without tensor cores, by the names of the "
    "kernels; judged only if these run for at least 5% of the active window"},
  [LIMIT_SMALL_GRID] = {"small-grid", "%", 30, 60,
    "share of the time of compute kernels spent in kernels with less than one block per multiprocessor; judged only if these run "
    "for at least 5% of the active window"},
  [LIMIT_OCCUPANCY] = {"low-occupancy", "%", 20, 50,
    "share of one kernel whose occupancy is below 25% in the time of all device work; matrix products, attention, convolutions and "
    "collectives, whose occupancy is low by design, are not judged; the kernel must run for at least 5% of the active windows, and at "
    "least 10 pieces of work and 3 names are required"},
  [LIMIT_MEMORY] = {"memory", "%", 90, 97, "peak of the allocated memory, as a percentage of the memory of the device"},
  [LIMIT_OOM] = {"out-of-memory", "", 1, 1, "number of allocations that failed because memory was exhausted"},
  [LIMIT_UNRECORDED] = {"unrecorded-launches", "%", 5, 50,
    "launching calls whose work was not recorded; from the warning threshold on, idle time, exposed communication and exposed copies "
    "are not judged; if no work was recorded at all, at least 10 such calls are required"},
  [LIMIT_TRUNCATED] = {"truncated", "", 1, INFINITY, "inputs that end early"},
  [LIMIT_DAMAGED] = {"damaged", "", 1, INFINITY, "inputs that are damaged"},
  [LIMIT_PROFILER] = {"profiler-overhead", "%", 2, 10,
    "time in which the profiler itself worked between the first and the last work of the host's devices, as a percentage of the trace "
    "or of the selected range"},
  [LIMIT_RECOMPILATIONS] = {"recompilations", "", 2, 7, "number of times that torch.compile recompiled a function; PyTorch "
                                                        "gives up after 7"},
  [LIMIT_MODULES] = {"recompiled-module", "", 2, 7, "number of times that XLA recompiled modules of the same name during the steps"},
  [LIMIT_GRAPHS] = {"compiled-graphs", "", 8, INFINITY,
    "functions, and parts of functions between graph breaks, that torch.compile compiled"},
  [LIMIT_FUNCTION] = {"dominant-function", "%", 50, INFINITY,
    "self weight of one function as a share of the weight of all stack samples; judged only if there are at least 100 samples; "
    "frames that are not functions, such as (idle) of V8 and [unknown] of perf, are not judged"},
  [LIMIT_CAPPED] = {"capped", "", 1, INFINITY, "inputs that contain the maximum number of events that their profiler writes"},
};

const struct tk_threshold *tk_thresholds(size_t *n) {
  *n = N_THRESHOLDS;
  return DEFAULTS;
}

/* ---- the file ---- */

struct line {
  const char *file;
  unsigned number;
  char text[256];
};

static bool refuse_line(const struct line *l, struct tk_err *err, const char *problem) {
  return err_set(err, TK_EUSAGE, "%s: line %u: %s", l->file, l->number, problem);
}

static struct tk_threshold *find(struct tk_threshold *limits, const char *id) {
  for (size_t i = 0; i < N_THRESHOLDS; i++)
    if (strcmp(limits[i].id, id) == 0) return &limits[i];
  return NULL;
}

static bool refuse_id(const struct line *l, const char *id, struct tk_err *err) {
  const char *ids[N_THRESHOLDS + 1];
  for (size_t i = 0; i < N_THRESHOLDS; i++) ids[i] = DEFAULTS[i].id;
  ids[N_THRESHOLDS] = NULL;
  const char *near = tk_nearest(id, ids);
  return err_set(err, TK_EUSAGE, "%s: line %u: unknown threshold '%.60s'%s%s%s", l->file, l->number, id, near ? "; did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
}

/* Reads a number with an optional unit, and moves *text past both. */
static bool take_number(const char **text, const char *unit, double *v) {
  const char *p = *text;
  const size_t whole = strspn(p, "0123456789"), point = p[whole] == '.', part = point ? strspn(p + whole + 1, "0123456789") : 0;
  const size_t n = whole + point + part;
  if (!whole || (point && !part) || n > 30) return false;
  *v = num_double(p, n);
  p += n;
  const char *after = p + strspn(p, " \t");
  if (*unit && strncmp(after, unit, strlen(unit)) == 0) p = after + strlen(unit);
  if (*p && *p != ' ' && *p != '\t') return false;
  *text = p + strspn(p, " \t");
  return true;
}

static bool set(const struct line *l, struct tk_threshold *t, const char *value, struct tk_err *err) {
  double warning, bad = INFINITY;
  if (strcmp(value, "off") == 0) {
    t->warning = t->bad = INFINITY;
    return true;
  }
  if (!take_number(&value, t->unit, &warning) || (*value && !take_number(&value, t->unit, &bad)) || *value)
    return refuse_line(l, err, "expected one or two numbers, or off");
  if (bad < warning) return refuse_line(l, err, "the second number is less than the first");
  t->warning = warning;
  t->bad = bad;
  return true;
}

static bool apply(struct line *l, struct tk_threshold *limits, struct tk_err *err) {
  l->text[strcspn(l->text, "#\r")] = 0;
  char *id = l->text + strspn(l->text, " \t"), *equals = strchr(id, '=');
  size_t n = strlen(id);
  while (n && strchr(" \t", id[n - 1])) id[--n] = 0;
  if (!n) return true;
  if (!equals) return refuse_line(l, err, "expected ID = NUMBER");
  const char *value = equals + 1 + strspn(equals + 1, " \t");
  while (equals > id && strchr(" \t", equals[-1])) equals--;
  *equals = 0;
  struct tk_threshold *t = find(limits, id);
  return t ? set(l, t, value, err) : refuse_id(l, id, err);
}

static bool apply_all(const char *file, const struct buf *text, struct tk_threshold *limits, struct tk_err *err) {
  struct line l = {.file = file};
  const char *p = (const char *)text->data, *end = p + text->len;
  if (text->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3; /* byte order mark */
  bool ok = true;
  while (ok && p < end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    const size_t n = (size_t)((newline ? newline : end) - p);
    l.number++;
    if (n >= sizeof l.text) return refuse_line(&l, err, "the line is too long");
    memcpy(l.text, p, n);
    l.text[n] = 0;
    ok = apply(&l, limits, err);
    p += n + 1;
  }
  return ok;
}

bool thresholds_read(struct tk_threshold *limits, const char *file, struct tk_err *err) {
  struct mem mem = {0};
  struct buf text = {.mem = &mem};
  memcpy(limits, DEFAULTS, sizeof DEFAULTS);
  if (!file) return true;
  bool ok = in_read_all(file, &text, err) || err_prefix(err, "%s", file);
  ok = ok && (!text.len || apply_all(file, &text, limits, err));
  buf_free(&text);
  return ok;
}

bool tk_thresholds_read(const char *file, struct tk_threshold *limits, size_t n, struct tk_err *err) {
  struct tk_threshold all[N_THRESHOLDS];
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!thresholds_read(all, file, err)) return false;
  memcpy(limits, all, (n < N_THRESHOLDS ? n : N_THRESHOLDS) * sizeof *limits);
  return true;
}

bool thresholds_replace(struct tk_threshold *limits, const struct tk_threshold *by, size_t n, struct tk_err *err) {
  for (size_t i = 0; i < n; i++) {
    struct tk_threshold *t = find(limits, by[i].id);
    if (!t) return err_set(err, TK_EUSAGE, "unknown threshold '%.60s'", by[i].id);
    if (!(by[i].bad >= by[i].warning)) return err_set(err, TK_EUSAGE, "threshold '%s': the limit for bad is lower than the "
                                                                      "limit for warning", t->id);
    t->warning = by[i].warning;
    t->bad = by[i].bad;
  }
  return true;
}

/* report_profiler.c - measures the profiler's overhead on a host, and recompilations by torch.compile.
 *
 * Kineto and Nsight Systems record overhead of CUPTI as spans of category "overhead"; some kinds are work of the profiler; others (such
 * as "Lazy Function Loading") would also occur without it. PyTorch runs compiled code in a span "Torch-Compiled Region: FRAME/COMPILE",
 * where COMPILE counts the compilations of the frame from 0. Overhead before the first work of the host's devices and after their last
 * work does not count: profilers start and end there, and no work is delayed. */
#include "report.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"

/* Values of kind_of, by the name of the class. The value for a region is REGION + the number of its compilation. */
enum { PLAIN, OVERHEAD, REGION };

struct profiler {
  struct reporter *p;
  struct report_host_sums *sums;
  uint32_t *kind_of;       /* by class: PLAIN, OVERHEAD, or REGION + number */
  uint64_t *frame_of;      /* by class: the frame of a region */
  struct map frames;       /* frames that ran */
  struct window working;   /* from the first to the last work of the host's devices; everything if there is none */
  struct intervals parts;  /* intervals of the overhead */
};

/* Prefixes of the names of overhead that is work of the profiler. */
static const char *const OWN[] = {
    "Activity Buffer Request", "Buffer Flush", "Instrumentation", "Resource", "UVM Activity Init", /* Kineto, overheadKindString */
    "CUPTI ", "CUDA profiling ", /* Nsight Systems: "CUPTI Buffer flush", "CUDA profiling initialization" */
};

static bool is_overhead(const char *name, const char *cat) {
  for (size_t i = 0; strcmp(cat, "overhead") == 0 && i < sizeof OWN / sizeof *OWN; i++)
    if (text_begins(name, OWN[i])) return true;
  return false;
}

static const char *digits(const char *p, uint64_t *v) {
  const char *from = p;
  for (*v = 0; *p >= '0' && *p <= '9' && p - from < 9; p++) *v = *v * 10 + (uint64_t)(*p - '0');
  return p == from ? NULL : p;
}

/* Parses "Torch-Compiled Region: 3/1". */
static bool is_region(const char *name, uint64_t *frame, uint64_t *compilation) {
  static const char BEGIN[] = "Torch-Compiled Region: ";
  if (!text_begins(name, BEGIN)) return false;
  const char *p = digits(name + sizeof BEGIN - 1, frame);
  return p && *p == '/' && digits(p + 1, compilation);
}

/* Classifies the names. Returns true if any is of interest. */
static bool find_kinds(struct profiler *f) {
  const struct tk_trace *t = f->p->t;
  bool any = false;
  for (tk_id i = 0; i <= t->n_classes; i++) {
    const char *name = tk_string(t, t->classes[i].name, NULL);
    uint64_t compilation;
    f->kind_of[i] = is_region(name, &f->frame_of[i], &compilation)                   ? REGION + (uint32_t)compilation
                    : is_overhead(name, tk_string(t, t->classes[i].cat, NULL)) ? OVERHEAD
                                                                               : PLAIN;
    any = any || f->kind_of[i];
  }
  return any;
}

static struct window find_working(const struct reporter *p, uint32_t group) {
  const struct works *w = &p->works;
  struct window found = {INT64_MAX, INT64_MIN};
  for (uint32_t i = 0; i < w->n; i++) {
    if (p->index.group_of[p->t->events[w->v[i].event].track] != group) continue;
    if (w->v[i].start < found.start) found.start = w->v[i].start;
    if (w->v[i].end > found.end) found.end = w->v[i].end;
  }
  return found.start < found.end ? found : (struct window){INT64_MIN, INT64_MAX};
}

static bool see_overhead(struct profiler *f, const struct tk_event *e) {
  const struct interval delays = measure_part(&f->working, e->ts, e->ts + e->dur);
  const struct interval part = measure_part(&f->p->scope.window, delays.start, delays.start + delays.dur);
  struct report_host_sums *s = f->sums;
  if (part.dur > s->profiler_max) {
    s->profiler_max = part.dur;
    s->profiler_at = part.start - f->p->zero;
  }
  return measure_add(&f->parts, part, f->p->mem);
}

static bool see_region(struct profiler *f, const struct tk_event *e) {
  const uint64_t compilation = f->kind_of[e->cls] - REGION;
  uint32_t *slot = map_put(&f->frames, f->frame_of[e->cls] + 1, 0);
  if (!slot) return false;
  f->sums->compiled_frames += !*slot;
  *slot = 1;
  if (compilation > f->sums->recompilations) f->sums->recompilations = compilation;
  return true;
}

static bool see_tracks(struct profiler *f, uint32_t group) {
  const struct report_index *x = &f->p->index;
  const struct tk_trace *t = f->p->t;
  bool ok = true;
  for (uint32_t i = x->tracks_at[group]; ok && i < x->tracks_at[group + 1]; i++) {
    const struct tk_track *k = &t->tracks[x->tracks[i]];
    for (tk_id at = k->first; ok && k->kind == TK_TRACK_THREAD && at < k->first + k->count; at++) {
      const struct tk_event *e = &t->events[at];
      if (!f->kind_of[e->cls] || e->kind != TK_EVENT_SPAN || e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
      if (!scope_holds(&f->p->scope, e)) continue;
      if (f->kind_of[e->cls] == OVERHEAD) ok = see_overhead(f, e);
      else if (!(kinds_of(&f->p->match.kinds, e) & KIND_DEVICE)) ok = see_region(f, e);
    }
  }
  return ok;
}

bool report_profiler(struct reporter *p, struct report_host_sums *sums, uint32_t group) {
  const uint64_t n = (uint64_t)p->t->n_classes + 1;
  struct profiler f = {.p = p, .sums = sums, .kind_of = mem_array(p->mem, n, sizeof *f.kind_of),
                       .frame_of = mem_array(p->mem, n, sizeof *f.frame_of)};
  map_init(&f.frames, p->mem);
  bool ok = f.kind_of && f.frame_of;
  if (ok && find_kinds(&f)) {
    f.working = find_working(p, group);
    ok = see_tracks(&f, group);
    sums->profiler = measure_join(&f.parts, p->mem, &ok);
  }
  map_free(&f.frames);
  mem_free(p->mem, f.frame_of);
  mem_free(p->mem, f.kind_of);
  return ok;
}

/* report_inside.c - finds kernels that ran within another kernel of their stream (report.h).
 *
 * A stream runs its work in turn, except for the kernels of graphs and of programmatic dependent launches. If a kernel contains all
 * that followed it, the end of that kernel was probably recorded wrongly, and the device seems busy for the whole time. Only spans
 * that their category calls kernels count: operations of XLA contain each other. */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "op/launched.h"

/* Marks the classes whose category is that of kernels: "kernel", "Kernel", "kernel_dispatch". */
static bool *kernel_classes(const struct reporter *p) {
  const struct tk_trace *t = p->t;
  bool *kernels = mem_zeros(p->mem, (uint64_t)t->n_classes + 1, sizeof *kernels);
  for (tk_id i = 1; kernels && i <= t->n_classes; i++) {
    const char *cat = tk_string(t, t->classes[i].cat, NULL);
    kernels[i] = strncmp(cat, "kernel", 6) == 0 || strncmp(cat, "Kernel", 6) == 0;
  }
  return kernels;
}

/* Counts the kernels of a track that are contained in an earlier, outermost kernel. */
static void count_track(struct reporter *p, tk_id track, const bool *kernels) {
  const struct tk_trace *t = p->t;
  struct report_inside *to = &p->impl->inside;
  const struct tk_track *k = &t->tracks[track];
  const struct tk_event *outer = NULL;
  bool counted = false; /* the outer kernel contains another */
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (!kernels[e->cls] || !launched_is_work(&p->match.kinds, e) || !e->dur) continue;
    to->all += e->dur;
    if (!outer || e->ts >= outer->ts + outer->dur) {
      outer = e, counted = false;
      continue;
    }
    if (e->ts + e->dur > outer->ts + outer->dur) continue;
    to->n++;
    if (!counted) to->covering += outer->dur;
    counted = true;
    if (to->longest >= outer->dur) continue;
    to->longest = outer->dur;
    to->name = report_class_name(p, outer->cls);
  }
}

bool report_count_inside(struct reporter *p) {
  bool *kernels = kernel_classes(p);
  for (tk_id i = 1; kernels && !p->scope.narrowed && i <= p->t->n_tracks; i++) count_track(p, i, kernels);
  mem_free(p->mem, kernels);
  return kernels != NULL;
}

void report_say_inside(struct tk_report *r) {
  enum { FEWEST_PERCENT = 1 }; /* because rounding to microseconds can also make short kernels contain others */
  const struct report_inside *of = &r->impl->inside;
  char text[480], length[64];
  if (!of->n || of->covering * 100 < of->all * FEWEST_PERCENT) return;
  tk_print_duration(of->longest, length);
  snprintf(text, sizeof text, "%llu kernel%s within another kernel of the same stream, the longest of which is '%.100s' of %s; except "
                              "for graphs and dependent launches, a stream runs its work in turn, so a recorded end is probably wrong, "
                              "and busy time too high",
           (unsigned long long)of->n, of->n > 1 ? "s ran" : " ran", (const char *)r->impl->texts.strs[of->name].bytes, length);
  report_unknown(r, report_text(r->impl, text));
}

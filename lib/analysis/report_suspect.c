/* report_suspect.c - explains why a trace has no device work although it seems to contain a device (report.h). */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "graph/accelerator.h"

/* Categories of device spans whose times were not measured, each with a sentence that explains this. */
static const struct untimed {
  const char *cat, *sentence;
} UNTIMED[] = {
  /* Kineto divides the time of the recording equally among the ranges (CuptiRangeProfiler.cpp) */
  {"cuda_profiler_range", "CUPTI's range profiler recorded counters of kernels, but not when they ran, so there is no busy or "
                          "idle time, kernel or copy data"},
};

/* Returns the sentence for the first such category that is in the trace; NULL if there is none. */
static const char *untimed_of(const struct tk_trace *t) {
  for (size_t i = 0; i < sizeof UNTIMED / sizeof *UNTIMED; i++)
    for (tk_id cls = 1; cls <= t->n_classes; cls++)
      if (strcmp(tk_string(t, t->classes[cls].cat, NULL), UNTIMED[i].cat) == 0) return UNTIMED[i].sentence;
  return NULL;
}

/* Stores a sentence about tables that were not read, because they may contain the device work that is missing. */
static void suspect_unread(struct reporter *p) {
  char text[240];
  snprintf(text, sizeof text, "no GPU or TPU activity was found in the data that was read, but %.80s, which was not read, may "
                              "contain some", tk_string(p->t, p->t->store->unread, NULL));
  p->impl->suspect = report_text(p->impl, text);
}

void report_suspect(struct reporter *p) {
  enum { MOST = 60 };
  struct tk_report_impl *impl = p->impl;
  char text[240];
  if (impl->suspect) return;
  const char *sentence = untimed_of(p->t), *name = sentence ? NULL : accelerator_suspect(p->t);
  if (sentence) impl->suspect = report_text(impl, sentence);
  if (!sentence && !name && p->t->store->unread) suspect_unread(p);
  if (!name) return;
  size_t n = strnlen(name, MOST);
  while (n && name[n] && (name[n] & 0xc0) == 0x80) n--;
  snprintf(text, sizeof text, "'%.*s' looks like a device of an unknown kind: its busy and idle times, kernels and copies are missing",
           (int)n, name);
  impl->suspect = report_text(impl, text);
}

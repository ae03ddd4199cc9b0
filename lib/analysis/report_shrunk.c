/* report_shrunk.c - counts inputs that were written by `shrink`, because the report does not include the removed events. */
#include <stdio.h>

#include "report.h"
#include "source/shrunk.h"

void report_see_shrunk(struct tk_report_impl *impl, const struct tk_trace *t) {
  const struct shrunk_sums sums = shrunk_find(t);
  impl->shrunk += sums.removed || sums.merged || sums.stripped;
  impl->shrunk_events += sums.removed + sums.merged;
}

void report_say_shrunk(struct tk_report *r) {
  const struct tk_report_impl *impl = r->impl;
  const unsigned long long n = impl->shrunk;
  char text[160];
  if (!n) return;
  snprintf(text, sizeof text, "%llu input%s shrunk, so counts and times are incomplete (events removed or merged: %llu)", n,
           n > 1 ? "s were" : " was", (unsigned long long)impl->shrunk_events);
  report_unknown(r, report_text(r->impl, text));
}

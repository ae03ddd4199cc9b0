/* remarks.c - see remarks.h. */
#include "shared/remarks.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "print/tty.h"
#include "print/wrap.h"

const char remarks_marks[] = "spans of the profiler itself are listed last, without self time";

void remarks_partial(const struct remarks_partial *p) {
  char n[64];
  if (p->unit) wrap_note("total and self are in %s", p->unit);
  if (p->unweighed) wrap_note("%s in other units: included in the counts, but not in the sums",
                              tty_counted(p->unweighed, "stack sample", n));
  if (p->unfinished) wrap_note("%s never ended: counted, but without a duration", tty_counted(p->unfinished, "span", n));
  if (p->clipped) wrap_note("%s %s an edge of the range: only the part inside counts", tty_counted(p->clipped, "span", n),
                            p->clipped == 1 ? "crosses" : "cross");
}

void remarks_outside(const struct tk_compare_run *runs, size_t n, const char *const *names) {
  char text[600] = "", count[64], time[64];
  for (size_t i = 0; i < n && strlen(text) < sizeof text - 240; i++) {
    if (!runs[i].outside) continue;
    tk_print_duration((tk_time)runs[i].outside_time, time);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.100s %s (%s)", *text ? ", " : "", names ? names[i] : runs[i].name,
             tty_counted(runs[i].outside, "event", count), time);
  }
  if (*text) wrap_note("outside of all steps and left out: %s; --whole includes them", text);
}

bool remarks_names_steps(const char *name) {
  static const char PYTORCH[] = "ProfilerStep#";
  return name && strncmp(name, PYTORCH, sizeof PYTORCH - 1) != 0;
}

void remarks_steps(const char *name) {
  if (remarks_names_steps(name))
    wrap_note("steps are marked by '%.80s'; --step-name selects other spans", name);
}

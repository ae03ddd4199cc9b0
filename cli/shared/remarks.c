/* remarks.c - see remarks.h. */
#include "shared/remarks.h"

#include <stddef.h>

#include "print/tty.h"
#include "print/wrap.h"

const char remarks_marks[] = "spans that only show that the profiler ran are last and have no self time";

void remarks_partial(const struct remarks_partial *p) {
  char n[64];
  if (p->unit) wrap_note("total and self are in %s", p->unit);
  if (p->unweighed) wrap_note("%s in other units: included in the counts, but not in the sums",
                              tty_counted(p->unweighed, "stack sample", n));
  if (p->unfinished) wrap_note("%s never ended: counted, but without a duration", tty_counted(p->unfinished, "span", n));
  if (p->clipped) wrap_note("%s %s an edge of the range: only the part inside counts", tty_counted(p->clipped, "span", n),
                            p->clipped == 1 ? "crosses" : "cross");
}

void remarks_outside(uint64_t n) {
  char text[64];
  if (n) wrap_note("%s start outside of all steps and are left out (--whole includes them)", tty_counted(n, "event", text));
}

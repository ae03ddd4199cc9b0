/* cut_sched.h - cuts the columns of the scheduler in ftrace bundles. */
#ifndef FORMAT_PERFETTO_WRITE_CUT_SCHED_H
#define FORMAT_PERFETTO_WRITE_CUT_SCHED_H

#include "base/mem.h"
#include "format/pb.h"
#include "format/perfetto/compact.h"

/* The last switch of a CPU before the range. */
struct cut_cpu {
  struct pb_field columns; /* columns of the bundle that contains this switch */
  struct compact_item last;
  uint32_t clock;
  bool is_before; /* `last` is set, and the switch has not been written yet */
  bool is_inside; /* an item of this CPU inside the range was read, so the state at the start of the range is known */
};

enum cut_side { CUT_BEFORE, CUT_INSIDE, CUT_AFTER };
/* The range. `side` returns where a time on the bundle's clock is relative to it. */
struct cut_range {
  enum cut_side (*side)(void *arg, uint64_t time);
  void *arg;
  uint32_t clock;
};

/* Numbers of items of a bundle, and of items out of the range. */
struct cut_counts {
  uint64_t n, gone;
  bool is_changed; /* columns were changed, even if no item was removed */
};

/* Appends the columns to `to`, which contains other fields of the bundle. Leaves out items that are out of the range. */
void cut_sched_append(struct cut_cpu *cpu, const struct pb_field *columns, const struct cut_range *range, struct cut_counts *counts,
                      struct buf *to);

#endif

/* report_args.h - reads the args of device work that tables of a report need, all of them at once for each event. */
#ifndef ANALYSIS_REPORT_ARGS_H
#define ANALYSIS_REPORT_ARGS_H

#include "graph/picks.h"

enum report_arg {
  ARG_BYTES, ARG_MEMCPY_DETAILS, ARG_MEMSET_DETAILS, ARG_BYTES_ACCESSED, ARG_FLOPS,
  ARG_COLLECTIVE, ARG_ELEMENTS_IN, ARG_ELEMENTS_OUT, ARG_DTYPE, ARG_GROUP_SIZE, ARG_FROM_RANK, ARG_TO_RANK,
  ARG_BLOCKS, ARG_OCCUPANCY, ARG_WARPS, ARG_REGISTERS, ARG_SHARED, ARG_GRID, ARG_BLOCK, ARG_KERNEL_DETAILS,
  ARG_SIZE, ARG_DIRECTION, /* MTIA: size and direction of a copy */
  REPORT_ARGS
};

struct report_args {
  const struct tk_trace *t;
  struct picks picks;
  struct tk_arg v[REPORT_ARGS]; /* args of the event that was read last */
  uint32_t known;               /* bit i: the event has v[i] */
};

/* Returns false if memory runs out. */
bool report_args_init(struct report_args *a, const struct tk_trace *t, struct mem *mem);
void report_args_free(struct report_args *a);
/* Reads the args of an event; the functions below are about this event. */
void report_args_read(struct report_args *a, const struct tk_event *e);
/* Stores the number of an arg in *v. Returns false if the event has no such number. */
bool report_args_number(const struct report_args *a, enum report_arg which, double *v);
/* Returns the text of an arg; NULL if the event has none. */
const char *report_args_text(const struct report_args *a, enum report_arg which);

#endif

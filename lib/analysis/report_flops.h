/* report_flops.h - operations and memory traffic of the work of devices, by the operators that launched it. */
#ifndef ANALYSIS_REPORT_FLOPS_H
#define ANALYSIS_REPORT_FLOPS_H

#include "base/map.h"
#include "flops.h"
#include "work.h"

/* An operator that launched work and whose operations or traffic are known. */
struct flops_op {
  struct flops f;
  tk_id event;
  tk_time time;        /* sum of the durations of its kernels */
  uint32_t kernels;
  bool stated;         /* the trace states the operations */
  bool shadowed;       /* contains another operator that counts the same operations */
  bool tf32;           /* a kernel computes in TF32 */
};

/* A row of the table under construction. */
struct report_roof {
  uint32_t name, device;
  enum peak_type type;
  bool stated;
  uint64_t count, kernels;
  i128 time, flops_time, bytes_time;
  double flops, bytes, peak, bandwidth;
};

/* State for one trace, and sums of the current row. */
struct report_flops {
  bool made;
  struct flops_op *ops;
  uint32_t n_ops, cap_ops;
  struct map op_of;              /* launching event -> 1 + operator; several launches have the same operator */
  const struct flops_model **models; /* by class: model of the operator; valid if `looked` */
  bool *looked;                  /* by class: true if its model was looked up */
  struct flops_known *known;     /* cache of results by name and shapes */
  tk_id dims, types, concrete, flops_key;
  struct flops_around *around;   /* open operators of a thread, outermost first */
  uint32_t n_around, cap_around;
  uint32_t *touched;             /* operators of the current row */
  uint32_t n_touched, cap_touched;
  struct device_peaks peaks;     /* peaks of the row's device */
  uint64_t searched;             /* bytes of metadata that were searched for devices */
  double flops, least;           /* least: seconds that the operations take at the peak of their types */
  double bytes;                  /* traffic of operators and of work that states it */
  double slowest, fastest;       /* slowest and fastest of these peaks */
  tk_time compute, flops_time, bytes_time; /* durations of computation, and of its parts with known operations and with known traffic */
  bool no_type, no_peak;         /* true if some operations have an unknown type; a type without a known peak */
};

#endif

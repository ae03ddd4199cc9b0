/* report_flops.h - floating-point operations and memory traffic of device work, by the operators that launched it. */
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
  bool stated;         /* true if the operations are recorded in the trace */
  bool shadowed;       /* true if it contains another operator that counts the same operations */
  bool tf32;           /* true if one of its kernels computes in TF32 */
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
  double flops, least;           /* least: time that the operations take at the peak rates of their types, s */
  double bytes;                  /* traffic of operators, and of work for which it is recorded */
  double slowest, fastest;       /* lowest and highest of these peak rates */
  tk_time compute, flops_time, bytes_time; /* time of all computing work, and of the work with known operations and with known
                                            * traffic */
  bool no_type, no_peak;         /* no_type: some operations have an unknown type; no_peak: some have a type without a known peak */
};

#endif

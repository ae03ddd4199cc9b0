/* thresholds.h - thresholds of findings: the defaults, and a file that changes them.
 *
 * Each line of a file sets the thresholds of one finding: "device-idle = 20 50" for a warning and for a severe finding; the second
 * number is optional. "device-idle = off" disables the finding. Comments begin with #. */
#ifndef ANALYSIS_THRESHOLDS_H
#define ANALYSIS_THRESHOLDS_H

#include "tracekit.h"

/* Thresholds, in the order of the table in thresholds.c. */
enum threshold {
  LIMIT_DEVICE_IDLE, LIMIT_INPUT, LIMIT_COMPILE, LIMIT_COMPILE_TIME, LIMIT_SYNC, LIMIT_SYNC_COUNT, LIMIT_SMALL_KERNELS,
  LIMIT_COMMUNICATION, LIMIT_STRAGGLER, LIMIT_DOMINANT_KERNEL, LIMIT_COPY, LIMIT_PAGEABLE, LIMIT_GC, LIMIT_STEP_OUTLIER,
  LIMIT_STEP_DRIFT, LIMIT_FP32_MATMUL, LIMIT_SMALL_GRID, LIMIT_OCCUPANCY, LIMIT_MEMORY, LIMIT_UNRECORDED, LIMIT_TRUNCATED,
  LIMIT_DAMAGED, LIMIT_CAPPED, LIMIT_PROFILER, LIMIT_RECOMPILATIONS, LIMIT_MODULES, LIMIT_GRAPHS, LIMIT_FUNCTION,
  LIMIT_OOM,
  N_THRESHOLDS
};

/* Copies the defaults to `limits`, which has room for N_THRESHOLDS, and applies the file, unless it is NULL. Returns false if the file
 * cannot be read or is invalid; err contains the file and the line. */
bool thresholds_read(struct tk_threshold *limits, const char *file, struct tk_err *err);

/* Replaces the limits whose ids are in `by`, an array of n. Returns false with err if an id is unknown, or if bad is less than
 * warning. */
bool thresholds_replace(struct tk_threshold *limits, const struct tk_threshold *by, size_t n, struct tk_err *err);

#endif

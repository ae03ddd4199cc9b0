/* thresholds.h - thresholds of findings: the defaults, and a file that changes them.
 *
 * Each line of a file sets one threshold: "device-idle = 20 50", for a warning and a severe finding; the second number may be
 * missing. "device-idle = off" turns the finding off. # begins a comment. */
#ifndef ANALYSIS_THRESHOLDS_H
#define ANALYSIS_THRESHOLDS_H

#include "tracekit.h"

/* Thresholds, in the order of the table in thresholds.c. */
enum threshold {
  LIMIT_DEVICE_IDLE, LIMIT_INPUT, LIMIT_COMPILE, LIMIT_COMPILE_TIME, LIMIT_SYNC, LIMIT_SYNC_COUNT, LIMIT_SMALL_KERNELS,
  LIMIT_COMMUNICATION, LIMIT_STRAGGLER, LIMIT_DOMINANT_KERNEL, LIMIT_COPY, LIMIT_PAGEABLE, LIMIT_GC, LIMIT_STEP_OUTLIER,
  LIMIT_STEP_DRIFT, LIMIT_FP32_MATMUL, LIMIT_SMALL_GRID, LIMIT_OCCUPANCY, LIMIT_MEMORY, LIMIT_UNRECORDED, LIMIT_TRUNCATED,
  LIMIT_DAMAGED, LIMIT_CAPPED, LIMIT_PROFILER, LIMIT_RECOMPILATIONS, LIMIT_MODULES, LIMIT_GRAPHS,
  N_THRESHOLDS
};

/* Copies the defaults to `limits`, which has room for N_THRESHOLDS, and applies the file, unless it is NULL. Returns false with
 * err, which names the file and the line, if it cannot be read or is invalid. */
bool thresholds_read(struct tk_threshold *limits, const char *file, struct tk_err *err);

/* Replaces the limits that have the same id as one of the n in `by`. Returns false with err if an id is unknown, or if bad is
 * less than warning. */
bool thresholds_replace(struct tk_threshold *limits, const struct tk_threshold *by, size_t n, struct tk_err *err);

#endif

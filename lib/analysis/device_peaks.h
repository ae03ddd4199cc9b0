/* device_peaks.h - peak rates of accelerators, by their names in traces.
 *
 * Measured rates are meaningful only relative to the device's peak. All peaks are for dense arithmetic, although many data sheets list
 * figures with structured sparsity, which are twice as high. */
#ifndef ANALYSIS_DEVICE_PEAKS_H
#define ANALYSIS_DEVICE_PEAKS_H

#include <stdbool.h>

/* Types of arithmetic that have separate peaks. */
enum peak_type {
  PEAK_FP64, PEAK_FP32, PEAK_TF32, PEAK_FP16, PEAK_BF16, PEAK_FP8, PEAK_INT8, PEAK_TYPES,
  PEAK_UNKNOWN = PEAK_TYPES
};

/* Peak rates of a device. In every member, 0 means unknown. */
struct device_peaks {
  const char *name;         /* "H100 SXM" */
  double flops[PEAK_TYPES]; /* floating-point operations per second, by type */
  double any;               /* peak that the trace records; if set, it is used for all types instead of flops[] */
  double bandwidth;         /* peak rate of the device's memory, in bytes per second */
};

/* Returns the peaks of the device called `name`, such as "NVIDIA H100 80GB HBM3"; NULL if it is not in the table. */
const struct device_peaks *device_peaks_find(const char *name);
/* Returns the peak for a type of arithmetic; 0 = unknown. */
double device_peaks_of(const struct device_peaks *p, enum peak_type type);
/* Returns the name of a type, such as "bf16"; "" for PEAK_UNKNOWN. */
const char *device_peaks_word(enum peak_type type);

#endif

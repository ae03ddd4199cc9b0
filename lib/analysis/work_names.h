/* work_names.h - properties of kernels and copies that their names imply. */
#ifndef ANALYSIS_WORK_NAMES_H
#define ANALYSIS_WORK_NAMES_H

#include <stdint.h>

enum work_trait {
  WORK_PAGEABLE = 1,    /* copies from or to pageable memory of the host */
  WORK_HOST_COPY = 2,   /* copies between host and device */
  WORK_FP32_MATMUL = 4, /* a matrix product or a convolution in fp32 that does not use tensor cores */
  WORK_TF32 = 8, /* computes in TF32 */
  WORK_DEVICE_COPY = 16, /* copies within a device or between devices */
  WORK_TRAITS_KNOWN = 128
};

/* Returns a set of enum work_trait, always with WORK_TRAITS_KNOWN. */
uint8_t work_names_traits(const char *name);

#endif

/* work_names.c - see work_names.h. */
#include "work_names.h"

#include "base/text.h"

/* True for copies from or to pageable memory, as Kineto names them: "Memcpy HtoD (Pageable -> Device)". */
static bool is_pageable(const char *name) { return strstr(name, "Pageable") || strstr(name, "pageable"); }

/* True for copies between host and device. CUPTI, Kineto and XLA write HtoD; ROCm CopyHostToDevice; TPU and others H2D. */
static bool is_between_host_and_device(const char *name) {
  static const char *const ways[] = {"HtoD", "DtoH", "HostToDevice", "DeviceToHost", "H2D", "D2H", NULL};
  return text_any_holds(name, ways);
}

static bool is_between_devices(const char *name) {
  static const char *const ways[] = {"DtoD", "DeviceToDevice", "D2D", NULL};
  return text_any_holds(name, ways);
}

/* True for matrix products and convolutions in fp32. cuBLAS and CUTLASS name them sgemm: "ampere_sgemm_128x64_nn",
 * "cutlass_80_simt_sgemm_256x128_8x4_nn_align1". Names of cuDNN are "volta_scudnn_128x64_relu_interior_nn_v1",
 * "implicit_convolve_sgemm<...>" and "dgrad_engine<float, ...>". The name of an xmma kernel lists the types of its operands,
 * also for convolutions ("xmma_fprop_implicit_gemm_..."); TF32 appears there as tf32. */
static bool is_fp32_matmul(const char *name) {
  static const char *const parts[] = {"_sgemm_", "simt_sgemm", "gemm_f32f32_f32f32_f32_", "_scudnn_", "convolve_sgemm<",
                                      "dgrad_engine<float", "wgrad_alg0_engine<float", NULL};
  static const char *const others[] = {"tf32", "tensorop", NULL};
  return text_any_holds(name, parts) && !text_any_holds(name, others);
}

/* True if the kernel computes in TF32. CUTLASS: "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4" has fp32 operands and
 * TF32 products. The names of xmma contain the type. */
static bool is_tf32(const char *name) {
  static const char *const parts[] = {"tf32", "TF32", "tensorop_s1688", NULL};
  return text_any_holds(name, parts);
}

uint8_t work_names_traits(const char *name) {
  return (uint8_t)(WORK_TRAITS_KNOWN | (is_pageable(name) ? WORK_PAGEABLE : 0) |
                   (is_between_host_and_device(name) ? WORK_HOST_COPY : 0) | (is_fp32_matmul(name) ? WORK_FP32_MATMUL : 0) |
                   (is_tf32(name) ? WORK_TF32 : 0) | (is_between_devices(name) ? WORK_DEVICE_COPY : 0));
}

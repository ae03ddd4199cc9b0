/* work_names.c - see work_names.h. */
#include "work_names.h"

#include "base/text.h"

/* Traits by parts of names. A name has the trait if it contains one of `parts` and none of `others`. */
static const struct {
  enum work_trait trait;
  const char *parts[9], *others[3];
} TRAITS[] = {
  /* Kineto: "Memcpy HtoD (Pageable -> Device)". */
  {WORK_PAGEABLE, {"Pageable", "pageable"}, {NULL}},
  /* CUPTI, Kineto and XLA write HtoD; ROCm writes CopyHostToDevice; TPUs and others write H2D; MTIA writes the direction in an arg. */
  {WORK_HOST_COPY, {"HtoD", "DtoH", "HostToDevice", "DeviceToHost", "H2D", "D2H", "HOST_TO_DEVICE", "DEVICE_TO_HOST"}, {NULL}},
  {WORK_DEVICE_COPY, {"DtoD", "DeviceToDevice", "D2D", "DEVICE_TO_DEVICE"}, {NULL}},
  /* Matrix products and convolutions in fp32. cuBLAS and CUTLASS call them sgemm: "ampere_sgemm_128x64_nn",
   * "cutlass_80_simt_sgemm_256x128_8x4_nn_align1". Names of cuDNN are "volta_scudnn_128x64_relu_interior_nn_v1",
   * "implicit_convolve_sgemm<...>" and "dgrad_engine<float, ...>". The name of an xmma kernel lists the types of its operands, also for
   * convolutions ("xmma_fprop_implicit_gemm_..."); TF32 is listed as tf32. */
  {WORK_FP32_MATMUL, {"_sgemm_", "simt_sgemm", "gemm_f32f32_f32f32_f32_", "_scudnn_", "convolve_sgemm<", "dgrad_engine<float",
                      "wgrad_alg0_engine<float"}, {"tf32", "tensorop"}},
  /* CUTLASS: "cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4" has fp32 operands and TF32 products. The names of xmma contain
   * the type. */
  {WORK_TF32, {"tf32", "TF32", "tensorop_s1688"}, {NULL}},
};

uint8_t work_names_traits(const char *name) {
  unsigned traits = WORK_TRAITS_KNOWN;
  for (size_t i = 0; i < sizeof TRAITS / sizeof *TRAITS; i++)
    if (text_any_holds(name, TRAITS[i].parts) && !text_any_holds(name, TRAITS[i].others)) traits |= TRAITS[i].trait;
  return (uint8_t)traits;
}

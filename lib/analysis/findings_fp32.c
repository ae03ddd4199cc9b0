/* findings_fp32.c - the advice for matrix products and convolutions in fp32 without tensor cores, which depends on the devices and
 * kernels (findings.h). */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "findings.h"
#include "work_names.h"

/* Tensor cores of a GPU generation: unknown; with TF32, bf16 and fp16; with fp16 only; none. */
enum cores { CORES_UNKNOWN, CORES_TF32, CORES_FP16, CORES_NONE };

/* Words in device names, as the driver reports these. Tensor cores exist since Volta (compute capability 7.0), except in GeForce GTX
 * 16; TF32 and bf16 exist since Ampere (8.0). Source: NVIDIA's table of compute capabilities. */
static const struct generation {
  const char *word;
  enum cores cores;
} GENERATIONS[] = {
  {"V100", CORES_FP16}, {"TITAN V", CORES_FP16}, {"Quadro GV100", CORES_FP16}, {"Tesla T4", CORES_FP16}, {"NVIDIA T4", CORES_FP16},
  {"TITAN RTX", CORES_FP16}, {"RTX 20", CORES_FP16}, {"Quadro RTX", CORES_FP16}, {"compute capability 7.", CORES_FP16},
  {"P100", CORES_NONE}, {"Tesla P4", CORES_NONE}, {"GTX 10", CORES_NONE}, {"GTX 16", CORES_NONE}, {"TITAN X", CORES_NONE},
  {"M60", CORES_NONE}, {"K80", CORES_NONE}, {"compute capability 6.", CORES_NONE}, {"compute capability 5.", CORES_NONE},
  {"A100", CORES_TF32}, {"A800", CORES_TF32}, {"A10", CORES_TF32}, {"A30", CORES_TF32}, {"A40", CORES_TF32}, {"RTX A", CORES_TF32},
  {"RTX 30", CORES_TF32}, {"RTX 40", CORES_TF32}, {"RTX 50", CORES_TF32}, {"NVIDIA L4", CORES_TF32}, {"H100", CORES_TF32},
  {"H200", CORES_TF32}, {"H800", CORES_TF32}, {"H20", CORES_TF32}, {"GH200", CORES_TF32}, {"B200", CORES_TF32}, {"B300", CORES_TF32},
  {"compute capability 8.", CORES_TF32}, {"compute capability 9.", CORES_TF32}, {"compute capability 1", CORES_TF32},
};

static enum cores cores_of(const char *device) {
  for (size_t i = 0; i < sizeof GENERATIONS / sizeof *GENERATIONS; i++)
    if (strstr(device, GENERATIONS[i].word)) return GENERATIONS[i].cores;
  return CORES_UNKNOWN;
}

/* Returns the tensor cores that all devices have in common; unknown if devices differ. */
static enum cores cores_of_all(const struct tk_report *r) {
  const enum cores first = r->n_devices ? cores_of(r->devices[0]) : CORES_UNKNOWN;
  for (size_t i = 1; i < r->n_devices; i++)
    if (cores_of(r->devices[i]) != first) return CORES_UNKNOWN;
  return first;
}

/* Sets *products if fp32 kernels without tensor cores include matrix products, and *convolutions if they include convolutions. */
static void find_classes(const struct tk_report *r, bool *products, bool *convolutions) {
  *products = *convolutions = false;
  for (size_t i = 0; i < r->n_kernels; i++) {
    const struct tk_report_kernel *k = &r->kernels[i];
    if (!(work_names_traits(k->name) & WORK_FP32_MATMUL)) continue;
    const bool convolves = strcmp(k->kernel_class, "conv") == 0;
    *convolutions = *convolutions || convolves;
    *products = *products || !convolves;
  }
}

/* Returns the PyTorch setting that enables TF32, which differs between matrix products and convolutions (docs.pytorch.org, "CUDA
 * semantics"; fp32_precision exists since PyTorch 2.9). */
static const char *tf32_of(bool products, bool convolutions) {
  if (!convolutions) return "torch.set_float32_matmul_precision('high')";
  if (!products) return "torch.backends.cudnn.allow_tf32 = True, or torch.backends.cudnn.conv.fp32_precision = 'tf32'";
  return "torch.set_float32_matmul_precision('high') for matrix products, torch.backends.cudnn.allow_tf32 = True for convolutions";
}

void findings_fp32(const struct finding_case *c, char *text, size_t n) {
  bool products, convolutions;
  find_classes(c->r, &products, &convolutions);
  const char *tf32 = tf32_of(products, convolutions);
  switch (cores_of_all(c->r)) {
  case CORES_NONE:
    snprintf(text, n, "the device has no tensor cores, but fp16 halves the bytes that are moved, if the model tolerates its precision");
    return;
  case CORES_FP16:
    snprintf(text, n, "if the model tolerates lower precision, use fp16 (in PyTorch: torch.autocast): the tensor cores of the device "
                      "support neither TF32 nor bf16");
    return;
  case CORES_TF32:
    snprintf(text, n, "if the model tolerates lower precision, use tensor cores: TF32 (in PyTorch: %s) or bf16", tf32);
    return;
  default:
    snprintf(text, n, "if the model tolerates lower precision, use tensor cores: TF32 (in PyTorch: %s) or bf16 from compute capability "
                      "8.0 on, otherwise fp16", tf32);
  }
}

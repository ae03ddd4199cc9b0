/* device_peaks.c - see device_peaks.h.
 *
 * One row for each device. `pattern` is a part of the device's name, in lower case; with a `$` at its end, the name must end there. The
 * first matching row is used. Names that contain a word of NOT have no row. FP64 and FP32 rates apply to the matrix units, if
 * the device has any, because measured rates of matrix products are compared with them. */
#include "device_peaks.h"

#include <string.h>

#include "base/text.h"

#define T 1e12
#define G 1e9

struct row {
  const char *pattern, *but; /* but: word of other devices whose names contain the pattern; NULL = none */
  struct device_peaks peaks;
};

/* Rates of chips that are used in several devices. */
#define H100_SXM {66.9 * T, 66.9 * T, 494.7 * T, 989.4 * T, 989.4 * T, 1978.9 * T, 1978.9 * T}
#define A100 {19.5 * T, 19.5 * T, 156 * T, 312 * T, 312 * T, 0, 624 * T}

/* Names of GPUs are cudaDeviceProp.name or hipDeviceProp_t.name, as Kineto writes them; names of TPUs are the stat
 * device_type_string of their planes. */
static const struct row ROWS[] = {
  /* Memory bandwidth: NVIDIA H200 data sheet; arithmetic: H100 architecture white paper, table of H100 SXM5 */
  {"nvidia h200", "nvl", {"H200 SXM", H100_SXM, 0, 4800 * G}},
  /* NVIDIA H100 data sheet, column PCIe; its rates with sparsity, halved */
  {"h100 pcie", NULL, {"H100 PCIe",
   {51.2 * T, 51.2 * T, 378 * T, 756 * T, 756 * T, 1513 * T, 1513 * T}, 0, 2039 * G}},
  /* NVIDIA H100 NVL data sheet; its rates with sparsity, halved */
  {"h100 nvl", NULL, {"H100 NVL",
   {60 * T, 60 * T, 417.5 * T, 835.5 * T, 835.5 * T, 1670.5 * T, 1670.5 * T}, 0, 3900 * G}},
  /* NVIDIA H100 architecture white paper, table of H100 SXM5 */
  {"h100 80gb hbm3", NULL, {"H100 SXM", H100_SXM, 0, 3352 * G}},
  /* H800 and H20 are limited H100s without a public data sheet: these rates are from lists of resellers, and FP64 is unknown */
  {"nvidia h800$", NULL, {"H800 SXM",
   {0, 66.9 * T, 494.7 * T, 989.4 * T, 989.4 * T, 1978.9 * T, 1978.9 * T}, 0, 3352 * G}},
  {"nvidia h20$", NULL, {"H20", {0, 44 * T, 74 * T, 148 * T, 148 * T, 296 * T, 296 * T}, 0, 4000 * G}},
  /* NVIDIA GH200 data sheet, 96 GB of HBM3; its GPU is the same as in the H100 SXM5 */
  {"gh200 480gb", NULL, {"GH200", H100_SXM, 0, 4000 * G}},
  /* NVIDIA Blackwell data sheet, HGX B200; its rates with sparsity, halved. FP64 and FP32 are left unknown, because revisions of the
   * data sheet differ */
  {"nvidia b200$", NULL, {"B200", {0, 0, 1100 * T, 2250 * T, 2250 * T, 4500 * T, 4500 * T}, 0, 8000 * G}},
  /* NVIDIA A100 data sheet: 80 GB SXM, 80 GB PCIe, 40 GB. The A800 has slower links and the same chip */
  {"a100-sxm4-80gb", NULL, {"A100 SXM 80GB", A100, 0, 2039 * G}},
  {"a800-sxm4-80gb", NULL, {"A800 SXM 80GB", A100, 0, 2039 * G}},
  {"a800 80gb pcie", NULL, {"A800 PCIe 80GB", A100, 0, 1935 * G}},
  {"a100 80gb pcie", NULL, {"A100 PCIe 80GB", A100, 0, 1935 * G}},
  {"a100-sxm4-40gb", NULL, {"A100 SXM 40GB", A100, 0, 1555 * G}},
  {"a100-pcie-40gb", NULL, {"A100 PCIe 40GB", A100, 0, 1555 * G}},
  /* NVIDIA L40S data sheet */
  {"l40s$", NULL, {"L40S", {0, 91.6 * T, 183 * T, 362.05 * T, 362.05 * T, 733 * T, 733 * T}, 0, 864 * G}},
  /* NVIDIA L4 data sheet; its rates with sparsity, halved */
  {"nvidia l4$", NULL, {"L4", {0, 30.3 * T, 60 * T, 121 * T, 121 * T, 242.5 * T, 242.5 * T}, 0, 300 * G}},
  /* NVIDIA A10 data sheet */
  {"nvidia a10$", NULL, {"A10", {0, 31.2 * T, 62.5 * T, 125 * T, 125 * T, 0, 250 * T}, 0, 600 * G}},
  /* NVIDIA V100 data sheet: SXM2, PCIe */
  {"v100-sxm2", NULL, {"V100 SXM2", {7.8 * T, 15.7 * T, 0, 125 * T, 0, 0, 0}, 0, 900 * G}},
  {"v100-pcie", NULL, {"V100 PCIe", {7 * T, 14 * T, 0, 112 * T, 0, 0, 0}, 0, 900 * G}},
  /* NVIDIA Turing GPU architecture white paper, Tesla T4 */
  {"tesla t4$", NULL, {"T4", {0, 8.1 * T, 0, 65 * T, 0, 0, 130 * T}, 0, 320 * G}},
  /* NVIDIA Ada GPU architecture white paper, GeForce RTX 4090: FP16, BF16 and FP8 with FP32 accumulation */
  {"geforce rtx 4090$", NULL, {"RTX 4090",
   {0, 82.6 * T, 82.6 * T, 165.2 * T, 165.2 * T, 330.3 * T, 660.6 * T}, 0, 1008 * G}},
  /* AMD Instinct MI300X data sheet */
  {"mi300x", NULL, {"MI300X",
   {163.4 * T, 163.4 * T, 653.7 * T, 1307.4 * T, 1307.4 * T, 2614.9 * T, 2614.9 * T}, 0, 5300 * G}},
  /* AMD Instinct MI250X data sheet; each of the two dies of a package is a device, with half of the rates */
  {"mi250x", "mi250x/mi250", {"MI250X (one die)",
   {47.85 * T, 47.85 * T, 0, 191.5 * T, 191.5 * T, 0, 191.5 * T}, 0, 1638.4 * G}},
  /* Google Cloud TPU documentation, "Key chip specifications" of v6e, v5e, v5p and v4 */
  {"tpu v6 lite", NULL, {"TPU v6e", {0, 0, 0, 0, 918 * T, 0, 1836 * T}, 0, 1638 * G}},
  {"tpu v6e", NULL, {"TPU v6e", {0, 0, 0, 0, 918 * T, 0, 1836 * T}, 0, 1638 * G}},
  {"tpu v5 lite", NULL, {"TPU v5e", {0, 0, 0, 0, 197 * T, 0, 393 * T}, 0, 819 * G}},
  {"tpu v5e", NULL, {"TPU v5e", {0, 0, 0, 0, 197 * T, 0, 393 * T}, 0, 819 * G}},
  {"tpu v5p", NULL, {"TPU v5p", {0, 0, 0, 0, 459 * T, 0, 0}, 0, 2765 * G}},
  {"tpu v5$", NULL, {"TPU v5p", {0, 0, 0, 0, 459 * T, 0, 0}, 0, 2765 * G}},
  {"tpu v4$", NULL, {"TPU v4", {0, 0, 0, 0, 275 * T, 0, 275 * T}, 0, 1200 * G}},
};

/* Words in names of devices to which no row applies: a MIG instance has only a fraction of its GPU's peak, and laptops have other
 * chips. */
static const char *const NOT[] = {" mig ", "laptop", "max-q", NULL};

static bool device_fits(const char *name, const struct row *row) {
  const size_t n = strlen(row->pattern), end = row->pattern[n - 1] == '$', len = strlen(name);
  if (row->but && strstr(name, row->but)) return false;
  if (!end) return strstr(name, row->pattern) != NULL;
  return len >= n - 1 && memcmp(name + len - (n - 1), row->pattern, n - 1) == 0;
}

const struct device_peaks *device_peaks_find(const char *name) {
  char text[128];
  const size_t n = strnlen(name, sizeof text);
  if (n == sizeof text) return NULL;
  for (size_t i = 0; i <= n; i++) text[i] = ascii_lower(name[i]);
  if (text_any_holds(text, NOT)) return NULL;
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (device_fits(text, &ROWS[i])) return &ROWS[i].peaks;
  return NULL;
}

double device_peaks_of(const struct device_peaks *p, enum peak_type type) {
  return p->any > 0 ? p->any : type < PEAK_TYPES ? p->flops[type] : 0;
}

const char *device_peaks_word(enum peak_type type) {
  static const char *const words[PEAK_TYPES] = {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
  return type < PEAK_TYPES ? words[type] : "";
}

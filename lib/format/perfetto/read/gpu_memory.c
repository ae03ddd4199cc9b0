/* gpu_memory.c - see gpu_memory.h.
 *
 * Producers state only that a stage is neither compute nor graphics; its name tells copies from fills. */
#include "gpu_memory.h"

#include <string.h>

#include "format/perfetto/fields.h"
#include "format/perfetto/head.h"

/* Names of stages that copy or fill memory; lower case. */
static const struct memory_row {
  const char *name;
  enum gpu_memory memory;
} MEMORY[] = {
  {"memcpy", GPU_COPIES}, {"memset", GPU_FILLS},                 /* PyTorch's Perfetto output: stages Kernel, Memcpy, Memset */
  {"memorytransfer", GPU_COPIES}, {"memoryset", GPU_FILLS},      /* Perfetto's producers for CUPTI and rocprofiler-sdk */
};

/* True if the text begins with the word, in upper or lower case. */
static bool begins(const struct pb_field *text, const char *word) {
  const size_t n = strlen(word);
  if (text->value < n) return false;
  for (size_t i = 0; i < n; i++) {
    const uint8_t c = text->p[i];
    if ((c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c) != (uint8_t)word[i]) return false;
  }
  return true;
}

enum gpu_memory gpu_memory_of(const struct pb_field *specification) {
  const struct pb_field name = pb_find(specification, INTERNED_TEXT);
  const uint64_t category = head_number(specification, GPU_STAGE_CATEGORY, 0);
  if (category == GPU_STAGE_COMPUTE || category == GPU_STAGE_GRAPHICS || !name.p) return GPU_COMPUTES;
  for (size_t i = 0; i < sizeof MEMORY / sizeof *MEMORY; i++)
    if (begins(&name, MEMORY[i].name)) return MEMORY[i].memory;
  return GPU_COMPUTES;
}

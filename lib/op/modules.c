/* modules.c - table of the span names that programs use for calls of modules (modules.h). */
#include "modules.h"

#include <string.h>

#include "base/text.h"

static const struct form {
  const char *begin; /* prefix of the span's name */
  const char *after; /* the module's name starts after this text, or at the start of the span's name if NULL */
  const char *until; /* and ends before this text, or at the end of the span's name if NULL */
} FORMS[] = {
    {"nn.Module: ", NULL, NULL},     /* PyTorch, torch/csrc/autograd/profiler_python.cpp */
    {"{'Module': '", ": '", "'"},    /* hooks of TensorRT-LLM (layerwise_nvtx_marker.py), vLLM and SGLang */
    {"[pl][module]", ": ", NULL},    /* PyTorch Lightning, profilers/pytorch.py: "[pl][module]torch.nn.Linear: layer.0" */
    {"layer:", "layer:", NULL},      /* the convention of NVIDIA's pyprof (apex): "layer:encoder_3" */
};

const char *modules_name(const char *name, size_t *n) {
  const struct form *f = FORMS, *end = FORMS + sizeof FORMS / sizeof *FORMS;
  while (f < end && !text_begins(name, f->begin)) f++;
  if (f == end) return NULL;
  const char *at = f->after ? strstr(name, f->after) : name;
  if (!at) return NULL;
  at += f->after ? strlen(f->after) : 0;
  const char *stop = f->until ? strstr(at, f->until) : NULL;
  *n = stop ? (size_t)(stop - at) : strlen(at);
  return *n ? at : NULL;
}

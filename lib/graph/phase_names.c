/* phase_names.c - tables of names. See phase_names.h.
 *
 * Rows are lower case and match names in any case. */
#include "phase_names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/text.h"

static const char *const PHASE_WORDS[PHASES] = {
    [PHASE_PREFILL] = "prefill",       [PHASE_DECODE] = "decode",         [PHASE_MIXED] = "mixed",
    [PHASE_FORWARD] = "forward",       [PHASE_BACKWARD] = "backward",     [PHASE_OPTIMIZER] = "optimizer",
    [PHASE_DATALOADER] = "dataloader", [PHASE_COMMUNICATION] = "communication", [PHASE_CHECKPOINT] = "checkpoint",
    [PHASE_COMPILE] = "compile"};

const char *phase_word(uint8_t phase) { return phase < PHASES ? PHASE_WORDS[phase] : NULL; }

/* ---- names of programs ---- */

static const struct phase_row {
  const char *glob;
  uint8_t phase;
} PHASE_ROWS[] = {
    /* PyTorch: torch/optim/optimizer.py, torch/utils/data/dataloader.py, torch/utils/data/datapipes/_hook_iterator.py */
    {"optimizer.step#*", PHASE_OPTIMIZER},
    {"optimizer.zero_grad#*", PHASE_OPTIMIZER},
    {"enumerate(dataloader)#*", PHASE_DATALOADER},
    {"enumerate(datapipe)#*", PHASE_DATALOADER},
    /* torch/csrc/autograd/engine.cpp, and frames of torch/_tensor.py and torch/autograd/__init__.py */
    {"autograd::engine::evaluate_function: *", PHASE_BACKWARD},
    {"torch/_tensor.py(*): backward", PHASE_BACKWARD},
    {"torch/autograd/__init__.py(*): backward", PHASE_BACKWARD},
    /* torch/csrc/autograd/profiler_python.cpp: calls of modules */
    {"nn.module: *", PHASE_FORWARD},
    /* torch/nn/parallel/distributed.py, torch/distributed/fsdp/fully_sharded_data_parallel.py and _runtime_utils.py */
    {"distributeddataparallel.forward", PHASE_FORWARD},
    {"fullyshardeddataparallel.*forward*", PHASE_FORWARD},
    {"fullyshardeddataparallel.*backward*", PHASE_BACKWARD},
    /* torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_state.py */
    {"fsdp::*forward*", PHASE_FORWARD},
    {"fsdp::*backward*", PHASE_BACKWARD},
    {"fsdp::all_gather*", PHASE_COMMUNICATION},
    /* torch/csrc/distributed/c10d: ParamCommsUtils.hpp, ProcessGroup*.cpp */
    {"record_param_comms", PHASE_COMMUNICATION},
    {"c10d::*", PHASE_COMMUNICATION},
    {"nccl:*", PHASE_COMMUNICATION},
    {"gloo:*", PHASE_COMMUNICATION},
    /* torch_npu: torch_npu/csrc/distributed/ProcessGroupHCCL.cpp, titles of Work and RECORD_FUNCTION ("HcclAllreduce") */
    {"hccl:*", PHASE_COMMUNICATION},
    {"hcclall*", PHASE_COMMUNICATION},
    {"hcclbroadcast*", PHASE_COMMUNICATION},
    {"hcclreduce*", PHASE_COMMUNICATION},
    {"hcclsend*", PHASE_COMMUNICATION},
    {"hcclrecv*", PHASE_COMMUNICATION},
    /* torch/_inductor/cudagraph_trees.py and compile_fx.py: dynamo_timed also times the recording of CUDA graphs, which runs the model
     * and compiles nothing: PyTorch's own statistics count it as runtime_cudagraphify_time_us. */
    {"cudagraphnode.record*", PHASE_NONE},
    {"cudagraphify*", PHASE_NONE},
    {"cudagraphtreemanager.*", PHASE_NONE},
    /* torch/_dynamo/utils.py: dynamo_timed */
    {"* (dynamo_timed)", PHASE_COMPILE},
    /* Lightning: lightning/pytorch/profilers/profiler.py, with the hooks of strategies and loops */
    {"[[]pl][[]profile]*.training_step", PHASE_FORWARD},
    {"[[]pl][[]profile]*.backward", PHASE_BACKWARD},
    {"[[]pl][[]profile]*.optimizer_*", PHASE_OPTIMIZER},
    {"[[]pl][[]profile]*.train_dataloader_next", PHASE_DATALOADER},
    {"[[]pl][[]profile]*save_checkpoint*", PHASE_CHECKPOINT},
    /* DeepSpeed: deepspeed/runtime/engine.py, under instrument_w_nvtx */
    {"deepspeedengine.forward", PHASE_FORWARD},
    {"deepspeedengine.backward", PHASE_BACKWARD},
    {"deepspeedengine.step", PHASE_OPTIMIZER},
    {"deepspeedengine.allreduce_gradients", PHASE_COMMUNICATION},
    /* Megatron-LM: megatron/training/training.py and megatron/core/optimizer, names of timers and ranges */
    {"optimizer-*", PHASE_OPTIMIZER},
    {"*-grads-sync", PHASE_COMMUNICATION},
    {"*-grads-all-reduce", PHASE_COMMUNICATION},
    {"params-all-gather", PHASE_COMMUNICATION},
    /* SGLang: python/sglang/srt/model_executor/model_runner.py (sgl-project/sglang#23419, #32850) */
    {"step[[]decode*", PHASE_DECODE},
    {"step[[]target_verify*", PHASE_DECODE},
    {"step[[]draft_extend*", PHASE_DECODE},
    {"step[[]extend*", PHASE_PREFILL},
    {"step[[]prefill*", PHASE_PREFILL},
    {"step[[]split_prefill*", PHASE_PREFILL},
    {"step[[]mixed*", PHASE_MIXED},
    /* Python frames of the same file, and of the runner that replays graphs. _forward_raw calls forward_extend for
       ForwardMode.EXTEND and for rarer modes. Only the spans above, which enclose forward_extend, distinguish these modes. */
    {"*sglang/srt/model_executor/model_runner.py(*): forward_extend", PHASE_PREFILL},
    {"*sglang/srt/model_executor/model_runner.py(*): forward_split_prefill", PHASE_PREFILL},
    {"*sglang/srt/model_executor/model_runner.py(*): forward_decode", PHASE_DECODE},
    {"*sglang/srt/model_executor/cuda_graph_runner.py(*): replay", PHASE_DECODE},
    /* vLLM: vllm/v1/worker/gpu_model_runner.py */
    {"gpu_model_runner: forward", PHASE_FORWARD},
    /* TensorFlow: tensorflow/core/framework/dataset.cc and kernels/data/iterator_ops.cc */
    {"iterator::*", PHASE_DATALOADER},
    {"iteratorgetnext*", PHASE_DATALOADER},
};

/* Names of inference steps that contain the number of requests of each kind in the batch, each number before or after a word.
 * The step is prefill if the first number is above 0, and decode if the second is. */
static const struct counted_row {
  const char *begins, *prefill, *decode;
  bool before; /* the number precedes the word */
} COUNTED_ROWS[] = {
    {"execute_", "context_", "generation_", false}, /* vLLM, vllm/v1/worker/gpu_worker.py: annotate_profile */
    {"execute_new_", "new_", "_cached_", false},    /* vLLM 0.11, also gpu_worker.py */
    {"[executor] _forward_step", " ctx reqs", " gen reqs", true}, /* TensorRT-LLM, tensorrt_llm/_torch/pyexecutor */
    {"d[req", "pre", "dec", false},                 /* ATOM: labels of plugin/profiler (ROCm/ATOM#348) */
    {"p[req", "pre", "dec", false},
};

/* Categories of Paddle: paddle/fluid/platform/profiler/chrometracing_logger.cc, StringTracerEventType. The last one belongs to the
 * compiler of PyTorch: torch/_dynamo/utils.py, ChromiumEventLogger. */
static const struct phase_row CATEGORIES[] = {
    {"Dataloader", PHASE_DATALOADER}, {"Forward", PHASE_FORWARD}, {"Backward", PHASE_BACKWARD}, {"Optimization", PHASE_OPTIMIZER},
    {"Communication", PHASE_COMMUNICATION}, {"dynamo_timed", PHASE_COMPILE}};

/* Words that people and small frameworks give to their own ranges, compared without digits, punctuation and case: "## Forward ##",
 * "optimizer.step()", "load_batch 12". */
static const struct phase_row OWN_WORDS[] = {
    {"prefill", PHASE_PREFILL}, {"prefill step", PHASE_PREFILL}, {"prefill forward", PHASE_PREFILL}, {"run prefill", PHASE_PREFILL},
    {"prefill batch", PHASE_PREFILL}, {"prefill jit", PHASE_PREFILL},
    {"decode", PHASE_DECODE}, {"decode step", PHASE_DECODE}, {"decode forward", PHASE_DECODE}, {"run decode", PHASE_DECODE},
    {"decode batch", PHASE_DECODE}, {"decode loop", PHASE_DECODE}, {"decode jit", PHASE_DECODE}, {"generate step", PHASE_DECODE},
    {"forward", PHASE_FORWARD}, {"forward pass", PHASE_FORWARD}, {"forward step", PHASE_FORWARD}, {"fwd", PHASE_FORWARD},
    {"fwd pass", PHASE_FORWARD}, {"fwd step", PHASE_FORWARD}, {"model forward", PHASE_FORWARD}, {"forward compute", PHASE_FORWARD},
    {"train forward", PHASE_FORWARD}, {"model inference", PHASE_FORWARD},
    {"backward", PHASE_BACKWARD}, {"backward pass", PHASE_BACKWARD}, {"backward step", PHASE_BACKWARD}, {"bwd", PHASE_BACKWARD},
    {"bwd pass", PHASE_BACKWARD}, {"bwd step", PHASE_BACKWARD}, {"loss backward", PHASE_BACKWARD}, {"model backward", PHASE_BACKWARD},
    {"backward compute", PHASE_BACKWARD}, {"backprop", PHASE_BACKWARD}, {"backpropagation", PHASE_BACKWARD},
    {"train backward", PHASE_BACKWARD},
    {"optimizer", PHASE_OPTIMIZER}, {"optimizer step", PHASE_OPTIMIZER}, {"optim", PHASE_OPTIMIZER}, {"optim step", PHASE_OPTIMIZER},
    {"opt step", PHASE_OPTIMIZER}, {"optimizer update", PHASE_OPTIMIZER}, {"weight update", PHASE_OPTIMIZER},
    {"update weights", PHASE_OPTIMIZER}, {"parameter update", PHASE_OPTIMIZER}, {"zero grad", PHASE_OPTIMIZER},
    {"optimizer zero grad", PHASE_OPTIMIZER},
    {"dataloader", PHASE_DATALOADER}, {"data loader", PHASE_DATALOADER}, {"dataloading", PHASE_DATALOADER},
    {"data loading", PHASE_DATALOADER}, {"data load", PHASE_DATALOADER}, {"load data", PHASE_DATALOADER},
    {"load batch", PHASE_DATALOADER}, {"get batch", PHASE_DATALOADER}, {"next batch", PHASE_DATALOADER},
    {"fetch batch", PHASE_DATALOADER}, {"batch generator", PHASE_DATALOADER}, {"dataloader next", PHASE_DATALOADER},
    {"communication", PHASE_COMMUNICATION}, {"allreduce", PHASE_COMMUNICATION}, {"all reduce", PHASE_COMMUNICATION},
    {"grad sync", PHASE_COMMUNICATION}, {"gradient sync", PHASE_COMMUNICATION}, {"allgather", PHASE_COMMUNICATION},
    {"all gather", PHASE_COMMUNICATION}, {"reduce scatter", PHASE_COMMUNICATION}, {"all to all", PHASE_COMMUNICATION},
    {"checkpoint", PHASE_CHECKPOINT}, {"save checkpoint", PHASE_CHECKPOINT}, {"checkpointing", PHASE_CHECKPOINT},
    {"checkpoint save", PHASE_CHECKPOINT},
};

enum { N_PHASE_ROWS = sizeof PHASE_ROWS / sizeof *PHASE_ROWS, N_COUNTED = sizeof COUNTED_ROWS / sizeof *COUNTED_ROWS,
       N_CATEGORIES = sizeof CATEGORIES / sizeof *CATEGORIES, N_OWN = sizeof OWN_WORDS / sizeof *OWN_WORDS };
enum { LONGEST_NAME = 256, LONGEST_WORD = 32 };

/* Copies a name in lower case; a name that is too long is cut. */
static void phase_lower(const char *name, char *to) {
  size_t n = 0;
  for (; name[n] && n < LONGEST_NAME - 1; n++) to[n] = ascii_lower(name[n]);
  to[n] = 0;
}

/* True if a number above 0 precedes or follows the word. */
static bool counts_some(const char *name, const char *word, bool before) {
  const char *p = strstr(name, word);
  if (!p) return false;
  if (!before) return strtoul(p + strlen(word), NULL, 10) > 0;
  while (p > name && ascii_digit(p[-1])) p--;
  return strtoul(p, NULL, 10) > 0;
}

static uint8_t by_counts(const char *name) {
  for (int i = 0; i < N_COUNTED; i++) {
    const struct counted_row *row = &COUNTED_ROWS[i];
    if (!text_begins(name, row->begins) || !strstr(name, row->prefill) || !strstr(name, row->decode)) continue;
    const bool prefill = counts_some(name, row->prefill, row->before), decode = counts_some(name, row->decode, row->before);
    return prefill && decode ? PHASE_MIXED : prefill ? PHASE_PREFILL : decode ? PHASE_DECODE : PHASE_NONE;
  }
  return PHASE_NONE;
}

/* Reduces a lower-case name to its words, separated by one space. Returns false if the result is longer than any of
 * OWN_WORDS. */
static bool words_of(const char *name, char *to) {
  size_t n = 0;
  for (; *name; name++) {
    const bool letter = ascii_letter(*name) || *name & 0x80;
    if (letter || (n && to[n - 1] != ' ')) {
      if (n == LONGEST_WORD - 1) return false;
      to[n++] = letter ? *name : ' ';
    }
  }
  if (n && to[n - 1] == ' ') n--;
  to[n] = 0;
  return n > 0;
}

static uint8_t by_words(const char *name) {
  char words[LONGEST_WORD];
  if (!words_of(name, words)) return PHASE_NONE;
  for (int i = 0; i < N_OWN; i++)
    if (strcmp(words, OWN_WORDS[i].glob) == 0) return OWN_WORDS[i].phase;
  return PHASE_NONE;
}

uint8_t phase_of_name(const char *name, const char *cat) {
  char lower[LONGEST_NAME];
  phase_lower(name, lower);
  for (int i = 0; i < N_PHASE_ROWS; i++)
    if (glob_matches(PHASE_ROWS[i].glob, lower)) return PHASE_ROWS[i].phase;
  for (int i = 0; i < N_CATEGORIES; i++)
    if (strcmp(cat, CATEGORIES[i].glob) == 0) return CATEGORIES[i].phase;
  const uint8_t counted = by_counts(lower);
  return counted || strcmp(cat, "python_function") == 0 ? counted : by_words(lower);
}

uint8_t phase_of_program(const char *name) {
  static const char *const BEFORE[] = {"jit_", "pmap_", "pjit_"};
  char lower[LONGEST_NAME];
  phase_lower(name, lower);
  const char *p = lower;
  for (size_t i = 0; i < sizeof BEFORE / sizeof *BEFORE; i++)
    if (text_begins(lower, BEFORE[i])) p = lower + strlen(BEFORE[i]);
  return by_words(p);
}

/* Looks for the scopes that mark derivatives: JAX scopes (jax/_src/interpreters/ad.py), and scopes of TensorFlow's tapes and
 * gradients(). */
uint8_t phase_of_scopes(const char *path) {
  if (strstr(path, "transpose(")) return PHASE_BACKWARD;
  if (text_begins(path, "gradient_tape/") || strstr(path, "/gradient_tape/") || text_begins(path, "gradients/")) return PHASE_BACKWARD;
  return strstr(path, "jvp(") ? PHASE_FORWARD : PHASE_NONE;
}

/* The outer phase wins in three cases: it is a phase of an inference step; the inner one is a forward pass within a backward pass
 * (recomputation); or the inner one is communication. Otherwise the inner phase wins; for example, the step of an optimizer may call a
 * closure that runs the forward and the backward pass. */
uint8_t phase_within(uint8_t outer, uint8_t inner) {
  if (!inner || !outer || outer == PHASE_COMMUNICATION) return inner ? inner : outer;
  if (outer <= PHASE_MIXED || inner == PHASE_COMMUNICATION) return outer;
  return outer == PHASE_BACKWARD && inner == PHASE_FORWARD ? outer : inner;
}

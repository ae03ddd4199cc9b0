/* kind_collective.c - tables of the names of collectives, with the sources of the names. See kind_collective.h.
 *
 * A word counts only in the head of a name, because template arguments and argument types describe what a kernel works on. Short words
 * such as "reduce", "all_gather" or "broadcast" are not listed, because they also occur in the names of kernels that involve only one
 * device. */
#include "kind_collective.h"

#include <string.h>

#include "base/text.h"

/* Words that the head of a collective kernel's name contains. */
static const char *const KERNELS[] = {
    "cclKernel", "cclDevKernel",          /* NCCL, RCCL; mcclKernel of MUSA and MetaX; ecclKernel of Enflame; pcclKernel of T-Head */
    "cclGenericKernel",                   /* RCCL before 2.18 */
    "ncclSym",                            /* NCCL 2.27, src/device/symmetric */
    "mscclKernel", "mscclpp::",           /* MSCCL, MSCCL++ */
    "oneccl_",                            /* oneCCL, src/sycl: oneccl_allreduce_pcie */
    "ep::intranode::", "ep::internode", "deep_ep::elastic", /* DeepEP: deep_ep, at DeepSeek dpsk::ep; ep::layout only counts */
    "moeA2ADispatchKernel", "moeA2ACombineKernel", /* TensorRT-LLM, FlashInfer: moeAlltoAllKernels.cu */
    "EpDispatch", "EpCombine",            /* MORI, src/ops/dispatch_combine */
    "nvshmem",                            /* NVSHMEM, on-stream collectives: nvshmemi_reduce_kernel */
    "userbuffers_fp16_", "userbuffers_bf16_", "userbuffers_rank", "kuserbuffers_", /* Transformer Engine, userbuffers.cu */
    "cross_device_",                      /* vLLM, SGLang, aiter: custom_all_reduce.cuh */
    "quickreduce::", "allreduce_prototype", /* vLLM, SGLang, aiter: quick_all_reduce.cuh */
    "multimem_", "shot_all_reduce",       /* PyTorch, CUDASymmetricMemoryOps.cu; lamport_style_one_shot_all_reduce of TensorRT-LLM */
    "ShotAllReduceKernel",                /* TensorRT-LLM, customAllReduceKernels.cu */
    "shotAllreduce", "shotAllReduce",     /* FlashInfer and TensorRT-LLM, mnnvl: twoshotAllreduceKernel */
    "allreduce_fusion",                   /* FlashInfer, TensorRT-LLM, aiter: allreduce_fusion_kernel_oneshot_lamport */
    NULL};
/* Prefixes of spans that c10d and vendors' profilers create for a collective. */
static const char *const SPANS[] = {
    "nccl:", "rccl:", "xccl:", "hccl:", "cncl:", "mccl:", "eccl:", "ucc:", /* c10d backends: "nccl:all_reduce" */
    "cncl",                                                                /* CNCL */
    "hcom_", "HcclAll", "HcclReduceScatter", "HcclBroadcast",              /* HCCL, msprof */
    NULL};
/* Prefixes of HLO instructions that are collectives, including async halves and fusions. */
static const char *const HLO[] = {"all-reduce",     "all-gather",         "reduce-scatter",       "all-to-all", "ragged-all-to-all",
                                  "collective-permute", "collective-broadcast", NULL};

/* Requests of Horovod's timeline, horovod/common/message.cc. The steps of a request, such as NCCL_ALLREDUCE, are inside of it. */
static const char *const REQUESTS[] = {"ALLREDUCE", "ALLGATHER", "BROADCAST", "ALLTOALL", "REDUCESCATTER", "ADASUM", NULL};

/* Types of MindSpore's communication operators, mindspore/ops/operations/comm_ops.py. */
static const char *const OPERATORS[] = {
    "AllReduce", "AllGather", "ReduceScatter", "AlltoAll", "AlltoAllV", "AllToAll", "AllToAllv", "Broadcast", "Reduce",
    "CollectiveScatter", "CollectiveGather", "NeighborExchange", "NeighborExchangeV2", "Send", "Receive", "MuxSend",
    "MuxReceive", NULL};

const char *kind_collective_head(const char *name, size_t *n) {
  static const char ANONYMOUS[] = "(anonymous namespace)::";
  if (text_begins(name, "void ")) name += 5;
  const char *nested = strstr(name, ANONYMOUS);
  const size_t before = nested ? (size_t)(nested - name) : 0;
  if (nested && before == strcspn(name, "<(")) name = nested + sizeof ANONYMOUS - 1;
  *n = strcspn(name, "<(");
  return name;
}

static void copy_head(const char *name, char *head, size_t size) {
  size_t n;
  const char *from = kind_collective_head(name, &n);
  if (n >= size) n = size - 1;
  memcpy(head, from, n);
  head[n] = 0;
}

bool kind_is_request(const char *name) {
  const char *const *request = REQUESTS;
  while (*request && strcmp(*request, name) != 0) request++;
  return *request != NULL;
}

/* True for the name of an HLO collective; after a dash, only the words in AFTER may follow its opcode. False for passes of
 * XLA's compiler, such as "all-reduce-simplifier". */
static bool is_instruction(const char *name) {
  static const char *const AFTER[] = {"-start", "-done", "-fusion", "-scatter", "-async", "-update", NULL};
  for (const char *const *begin = HLO; *begin; begin++) {
    if (!text_begins(name, *begin)) continue;
    const char *rest = name + strlen(*begin);
    return *rest != '-' || text_any_begins(rest, AFTER);
  }
  return false;
}

/* True for a communication operator of MindSpore: the path of its scope, its type, and its number: "Default/AllReduce-op534". */
static bool is_operator(const char *name) {
  const char *slash = strrchr(name, '/'), *type = slash ? slash + 1 : name;
  const size_t n = strcspn(type, "-");
  if (!text_begins(type + n, "-op") || !ascii_digit(type[n + 3])) return false;
  const char *const *word = OPERATORS;
  while (*word && (strlen(*word) != n || memcmp(*word, type, n) != 0)) word++;
  return *word != NULL;
}

bool kind_collective_of_stream(const char *name) {
  static const char BEGIN[] = "stream_", MIDDLE[] = "_parallel_";
  if (!text_begins(name, BEGIN)) return false;
  const char *stream = name + sizeof BEGIN - 1, *middle = stream + strspn(stream, "0123456789");
  if (middle == stream || !text_begins(middle, MIDDLE)) return false;
  const char *index = middle + sizeof MIDDLE - 1;
  return ascii_digit(*index) && !index[strspn(index, "0123456789")];
}

bool kind_is_collective(const char *name) {
  char head[256];
  if (text_any_begins(name, SPANS) || is_instruction(name + (*name == '%')) || is_operator(name)) return true;
  if (kind_collective_of_stream(name)) return true;
  copy_head(name, head, sizeof head);
  return text_any_holds(head, KERNELS);
}

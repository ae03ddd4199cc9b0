/* kernel_classes.c - see kernel_classes.h.
 *
 * A row consists of a word and the class of names that contain the word; the first row that matches decides. There are three
 * searches: first for FUNCTORS, because the functor of a general kernel determines its class; then for NAMES in the name of the
 * function; then for NAMES in the whole name. Only the beginning of a long name is searched. */
#include "kernel_classes.h"

#include <string.h>

#include "base/text.h"

enum { MOST_SEARCHED = 4096 };

struct row {
  const char *word;
  enum kernel_class class;
};

static const char *const WORDS[KERNEL_CLASSES] = {
    [CLASS_OTHER] = "other",         [CLASS_ATTENTION] = "attention",     [CLASS_MATMUL] = "matmul",
    [CLASS_CONV] = "conv",           [CLASS_NORM] = "norm",               [CLASS_SOFTMAX] = "softmax",
    [CLASS_COPY] = "copy",           [CLASS_ELEMENTWISE] = "elementwise", [CLASS_REDUCTION] = "reduction",
    [CLASS_SORT] = "sort/index",     [CLASS_COLLECTIVE] = "collective",   [CLASS_OPTIMIZER] = "optimizer",
    [CLASS_TRITON] = "triton fused", [CLASS_EMBEDDING] = "embedding"};

const char *kernel_classes_word(enum kernel_class class) { return WORDS[class]; }

#define ATTENTION CLASS_ATTENTION
#define MATMUL CLASS_MATMUL
#define CONV CLASS_CONV
#define NORM CLASS_NORM
#define SOFTMAX CLASS_SOFTMAX
#define ELEMENTWISE CLASS_ELEMENTWISE
#define REDUCTION CLASS_REDUCTION
#define COPY CLASS_COPY
#define COLLECTIVE CLASS_COLLECTIVE
#define OPTIMIZER CLASS_OPTIMIZER
#define EMBEDDING CLASS_EMBEDDING
#define SORT CLASS_SORT
#define TRITON CLASS_TRITON

/* Functors that determine the class of a general kernel. */
static const struct row FUNCTORS[] = {
  {"direct_copy_kernel", COPY}, {"copy_kernel_cuda", COPY}, {"copy_device_to_device", COPY},
  {"elementwise_kernel_with_index", ELEMENTWISE},
  {"AdamFunctor", OPTIMIZER}, {"FusedAdam", OPTIMIZER}, {"FusedSgd", OPTIMIZER}, {"LAMBStage", OPTIMIZER}, {"FlashAttn", ATTENTION},
  {"ImplicitGemmConvolution", CONV}, {"fprop", CONV}, {"|dgrad", CONV}, {"|wgrad", CONV}, {"GemmUniversal", MATMUL},
  {NULL, CLASS_NONE}};

/* Names, in lower case; a word after '|' matches only at the start of a word. Triton's kernels come first, because their names list the
 * operators that they fuse. */
static const struct row NAMES[] = {
  {"triton_", TRITON},
  /* collectives: NCCL, RCCL, Ascend, XLA, NVSHMEM, DeepEP, vLLM and TensorRT-LLM */
  {"nccl", COLLECTIVE}, {"rccl", COLLECTIVE}, {"hccl", COLLECTIVE}, {"hcom_", COLLECTIVE}, {"nvshmem", COLLECTIVE},
  {"all-reduce", COLLECTIVE}, {"all-gather", COLLECTIVE}, {"reduce-scatter", COLLECTIVE}, {"all-to-all", COLLECTIVE},
  {"collective-permute", COLLECTIVE}, {"cross_device_reduce", COLLECTIVE}, {"allreduce", COLLECTIVE}, {"all_reduce", COLLECTIVE},
  {"all_gather", COLLECTIVE}, {"reduce_scatter", COLLECTIVE}, {"multimem_", COLLECTIVE}, {"deep_ep::", COLLECTIVE},
  {"reshape_and_cache", COPY}, /* vLLM: writes to the cache of keys and values, such as reshape_and_cache_flash_kernel */
  {"store_kvcache", COPY},     /* SGLang: writes to the same cache */
  {"upsample_", ELEMENTWISE},  /* PyTorch; must precede "index", which the names of their functors contain */
  {"moe::dev::finalize", SORT}, /* TensorRT-LLM: restores the order of tokens; must precede "cutlass", which the name contains */
  /* attention: SageAttention, FlashAttention, xFormers, cuDNN, TensorRT-LLM, FlashInfer, vLLM, AITER */
  {"sage_fwd", ATTENTION},
  {"flash_", ATTENTION}, {"flashattn", ATTENTION}, {"flash_attn", ATTENTION}, {"fmha", ATTENTION}, {"attention", ATTENTION},
  {"attn_", ATTENTION}, {"_attn", ATTENTION}, {"sdpa", ATTENTION}, {"mha_", ATTENTION}, {"mla_", ATTENTION},
  {"batchprefillwith", ATTENTION}, {"batchdecodewith", ATTENTION},
  /* optimizers: PyTorch's foreach and fused kernels, Apex */
  {"multi_tensor_apply", OPTIMIZER}, {"foreach", OPTIMIZER}, {"adam", OPTIMIZER}, {"_sgd", OPTIMIZER}, {"lamb_", OPTIMIZER},
  {"applymomentum", OPTIMIZER}, /* MindSpore: FusedMulApplyMomentum */
  {"rotary_embedding", ELEMENTWISE}, /* vLLM: rotates queries and keys */
  /* embeddings: PyTorch, FBGEMM */
  {"embedding", EMBEDDING}, {"pooled_embs", EMBEDDING}, {"split_eb_bwd", EMBEDDING},
  {"miopenbatchnorm", NORM},
  /* convolutions: cuDNN, MIOpen, Ascend, XLA */
  {"igemm_fwd_", CONV}, {"igemm_bwd_", CONV}, {"igemm_wrw_", CONV}, {"im2d2col", CONV}, {"im3d2col", CONV},
  {"fprop", CONV}, {"|dgrad", CONV}, {"|wgrad", CONV}, {"scudnn", CONV}, {"hcudnn", CONV}, {"convolve", CONV}, {"convolution", CONV},
  {"winograd", CONV}, {"conv1d", CONV}, {"conv2d", CONV}, {"conv3d", CONV}, {"conv_", CONV}, {"_conv", CONV}, {"im2col", CONV},
  {"col2im", CONV}, {"miopen", CONV}, {"fft1d_", CONV}, {"fft2d_", CONV}, {"implicit_gemm", CONV}, {"computeoffsets", CONV},
  {"computeboffsets", CONV},
  {"nchwtonhwc", COPY}, {"nhwctonchw", COPY},
  /* softmax must precede norm: "norm" is a part of other words */
  {"softmax", SOFTMAX},
  {"vector_norm", REDUCTION},
  {"layer_norm", NORM}, {"layernorm", NORM}, {"rms_norm", NORM}, {"rmsnorm", NORM}, {"group_norm", NORM}, {"groupnorm", NORM},
  {"batch_norm", NORM}, {"batchnorm", NORM}, {"bn_fw", NORM}, {"bn_bw", NORM}, {"rowwisemoments", NORM},
  {"gammabetabackward", NORM},
  {"computefusedparams", NORM}, {"instancenorm", NORM}, {"l2norm", NORM}, {"_norm_", NORM},
  {"fbgemm_gpu::", SORT}, /* permutations and offsets; FBGEMM's matrix products are named after CUTLASS */
  /* matrix products: cuBLAS, CUTLASS, Tensile, TensorRT-LLM, Ascend, XLA, Marlin */
  {"xmma_pooling", REDUCTION}, {"gemm", MATMUL}, {"gemv", MATMUL}, {"nvjet", MATMUL}, {"cijk_", MATMUL}, {"matmul", MATMUL},
  {"matrixmul", MATMUL}, {"xmma", MATMUL}, {"splitkreduce", MATMUL},
  {"bmm_", MATMUL}, {"marlin", MATMUL}, {"cublas", MATMUL}, {"cutlass", MATMUL}, {"dot_kernel", MATMUL}, {"dot.", MATMUL},
  {"fused_moe", MATMUL}, {"einsum", MATMUL}, {"wgmma", MATMUL},
  /* sorts and indices */
  {"radixsort", SORT}, {"sort", SORT}, {"topk", SORT}, {"index", SORT}, {"gather", SORT}, {"scatter", SORT}, {"nonzero", SORT},
  {"unique", SORT}, {"devicescan", SORT}, {"deviceselect", SORT}, {"devicecompact", SORT}, {"cumsum", SORT}, {"_scan", SORT},
  {"bucketize", SORT}, {"permute_", SORT}, {"masked_select", SORT},
  /* copies, changes of layout */
  {"memcpy", COPY}, {"memset", COPY}, {"copy", COPY}, {"catarray", COPY}, {"concat", COPY}, {"transpose", COPY},
  {"transdata", COPY},
  {"tensormove", COPY}, {"_cast", COPY}, {"subtensoropwithcast", COPY}, {"wrapped_convert", COPY}, {"loop_convert", COPY},
  {"cast-op", COPY}, {"fillbuffer", COPY}, {"broadcastto", COPY}, {"broadcast.", COPY},
  /* reductions, and losses, which end in a reduction */
  {"reduce", REDUCTION}, {"nllloss", REDUCTION}, {"nll_loss", REDUCTION}, {"classnllcriterion", REDUCTION}, {"pool", REDUCTION},
  {"max_dim_", REDUCTION}, {"min_dim_", REDUCTION}, {"aten::mean", REDUCTION},
  /* MTIA, whose kernels are named after operators and a type: "fc-dtype_Float", "aten::mul.out-dtype_Float" */
  {"fc-dtype_", MATMUL}, {"aten::cat.", COPY}, {"add-dtype_", ELEMENTWISE}, {"divide-dtype_", ELEMENTWISE},
  {"mul_const-dtype_", ELEMENTWISE}, {"neg-dtype_", ELEMENTWISE}, {"clip-dtype_", ELEMENTWISE}, {"log2-dtype_", ELEMENTWISE},
  {"eq_kernel-dtype_", ELEMENTWISE}, {"aten::mul.", ELEMENTWISE}, {"aten::sub.", ELEMENTWISE}, {"aten::sqrt.", ELEMENTWISE},
  {"aten::where", ELEMENTWISE}, {"aten::gt.", ELEMENTWISE}, {"aten::le.", ELEMENTWISE}, {"aten::nan_to_num", ELEMENTWISE},
  {"bce_with_logits", ELEMENTWISE},
  /* elementwise kernels */
  {"elementwise", ELEMENTWISE}, {"eigenmetakernel", ELEMENTWISE}, {"pointwise", ELEMENTWISE}, {"dropout", ELEMENTWISE},
  {"gelu", ELEMENTWISE},
  {"relu", ELEMENTWISE}, {"silu", ELEMENTWISE}, {"sigmoid", ELEMENTWISE}, {"tanh", ELEMENTWISE}, {"act_and_mul", ELEMENTWISE},
  {"rotary", ELEMENTWISE}, {"_rope", ELEMENTWISE}, {"rope_", ELEMENTWISE}, {"loop_", ELEMENTWISE}, {"wrapped_", ELEMENTWISE},
  {"addaicore", ELEMENTWISE},
  {"mulaicore", ELEMENTWISE}, {"divaicore", ELEMENTWISE}, {"equalaicore", ELEMENTWISE}, {"fillfunctor", ELEMENTWISE},
  {"fillphilox", ELEMENTWISE},
  {"fillscalar", ELEMENTWISE}, {"vectoradd", ELEMENTWISE}, {"scal_kernel", ELEMENTWISE},
  {"convert", COPY}, {NULL, CLASS_NONE}};

/* True if the text contains the word; but not "dgrad" in "biasaddgrad" if the row says "|dgrad", and not "_conv" in "_convert". */
static bool has_part(const char *text, const char *word) {
  const bool is_start = *word == '|', is_conv = strcmp(word, "_conv") == 0;
  word += is_start;
  const char *p = strstr(text, word);
  while (p && ((is_start && p > text && ascii_letter(p[-1])) || (is_conv && text_begins(p, "_convert")))) p = strstr(p + 1, word);
  return p != NULL;
}

static enum kernel_class look_up(const struct row *rows, const char *text) {
  while (rows->word && !has_part(text, rows->word)) rows++;
  return rows->class;
}

/* Copies n bytes in lower case and ends them with a NUL; a NUL among the bytes becomes a space. */
static void lower(char *to, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = text[i] ? ascii_lower(text[i]) : ' ';
  to[n] = 0;
}

/* Returns the length of the part of a lower-case name before its arguments or template arguments. The bracket of "(anonymous
 * namespace)" or "<unnamed>" does not begin arguments. */
static size_t length_of_function(const char *text) {
  const char *p = text + strcspn(text, "<(");
  while (text_begins(p, "(anonymous namespace)") || text_begins(p, "<unnamed>")) p++, p += strcspn(p, "<(");
  return (size_t)(p - text);
}

/* Skips the scopes of an operator, as MindSpore and TensorFlow write them: "Default/conv4-Conv2d/Cast-op25" is a cast. */
static const char *skip_scopes(const char *name, size_t *n) {
  size_t from = *n;
  while (from && name[from - 1] != '/') from--;
  if (from == *n || memchr(name, '(', *n) || memchr(name, '<', *n)) return name;
  *n -= from;
  return name + from;
}

enum kernel_class kernel_classes_of(const char *name, size_t n) {
  char text[MOST_SEARCHED + 1], function[MOST_SEARCHED + 1];
  name = skip_scopes(name, &n);
  const size_t most = n < MOST_SEARCHED ? n : MOST_SEARCHED;
  memcpy(text, name, most);
  text[most] = 0;
  enum kernel_class class = strpbrk(text, "<(") || text_begins(text, "_Z") ? look_up(FUNCTORS, text) : CLASS_NONE;
  if (class) return class;
  lower(text, name, most);
  const size_t len = length_of_function(text);
  memcpy(function, text, len);
  function[len] = 0;
  class = look_up(NAMES, function);
  if (!class && len < most) class = look_up(NAMES, text);
  return class ? class : CLASS_OTHER;
}

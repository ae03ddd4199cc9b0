/* op_classes.c - table of operators. See op_classes.h.
 *
 * Rows are case-insensitive patterns; the first one that matches decides. They are for names that PyTorch's profiler and
 * torch.autograd.profiler.emit_nvtx record, and for names of JAX's primitives and XLA's instructions. */
#include "op_classes.h"

#include <string.h>

#include "base/glob.h"
#include "base/text.h"

enum { LONGEST_NAME = 128 };

static const struct op_row {
  const char *glob;
  enum kernel_class class;
} ROWS[] = {
    /* Names that contain names of other operators but imply no class: torch/csrc/autograd/engine.cpp (which also adds gradients), and
     * Inductor's kernels. */
    {"autograd::engine::*", CLASS_NONE}, {"triton_*", CLASS_NONE},
    /* aten/src/ATen/native/native_functions.yaml; nodes of autograd are named after tools/autograd/derivatives.yaml */
    {"aten::*scaled_dot_product*", CLASS_ATTENTION}, {"aten::_*flash_attention*", CLASS_ATTENTION},
    {"aten::_*efficient_attention*", CLASS_ATTENTION}, {"aten::_cudnn_attention*", CLASS_ATTENTION},
    {"scaleddotproduct*", CLASS_ATTENTION}, {"flex_attention*", CLASS_ATTENTION} /* torch/_higher_order_ops/flex_attention.py */,
    {"aten::*convolution*", CLASS_CONV}, {"aten::conv?d", CLASS_CONV}, {"aten::conv_transpose?d", CLASS_CONV},
    {"aten::*slow_conv*", CLASS_CONV}, {"aten::*conv_depthwise*", CLASS_CONV}, {"*convolutionbackward*", CLASS_CONV},
    {"quantized::conv*", CLASS_CONV},
    {"aten::*layer_norm*", CLASS_NORM}, {"aten::*batch_norm*", CLASS_NORM}, {"aten::*group_norm*", CLASS_NORM},
    {"aten::*instance_norm*", CLASS_NORM}, {"aten::*rms_norm*", CLASS_NORM}, {"*layernormbackward*", CLASS_NORM},
    {"*batchnormbackward*", CLASS_NORM}, {"*groupnormbackward*", CLASS_NORM}, {"*rmsnormbackward*", CLASS_NORM},
    {"aten::embedding*", CLASS_EMBEDDING}, {"aten::_embedding_bag*", CLASS_EMBEDDING}, {"embedding*backward*", CLASS_EMBEDDING},
    {"aten::*softmax*", CLASS_SOFTMAX}, {"*softmaxbackward*", CLASS_SOFTMAX},
    {"aten::mm", CLASS_MATMUL}, {"aten::addmm", CLASS_MATMUL}, {"aten::_addmm_activation", CLASS_MATMUL}, {"aten::bmm", CLASS_MATMUL},
    {"aten::baddbmm", CLASS_MATMUL}, {"aten::mv", CLASS_MATMUL}, {"aten::addmv", CLASS_MATMUL}, {"aten::linear", CLASS_MATMUL},
    {"aten::matmul", CLASS_MATMUL}, {"aten::_scaled_mm*", CLASS_MATMUL}, {"aten::_int_mm", CLASS_MATMUL},
    {"aten::_*grouped_mm*", CLASS_MATMUL}, {"aten::_weight_int*pack_mm*", CLASS_MATMUL},
    {"aten::_fused_adam*", CLASS_OPTIMIZER}, {"aten::_fused_sgd*", CLASS_OPTIMIZER}, {"aten::_fused_adagrad*", CLASS_OPTIMIZER},
    {"optimizer.step#*", CLASS_OPTIMIZER}, /* torch/optim/optimizer.py */
    /* Operators on lists of tensors. Not only optimizers use them, but also gradient clipping and the copies of FSDP, and all of them
     * launch kernels with the same name, multi_tensor_apply_kernel. */
    {"aten::_foreach_copy*", CLASS_COPY}, {"aten::_foreach_clone*", CLASS_COPY}, {"aten::_foreach_zero*", CLASS_COPY},
    {"aten::_foreach_norm*", CLASS_REDUCTION}, {"aten::_foreach_max", CLASS_REDUCTION}, {"aten::_foreach_*", CLASS_ELEMENTWISE},
    /* torch/csrc/distributed/c10d: ParamCommsUtils.hpp, Ops.cpp, ProcessGroup*.cpp, CUDASymmetricMemoryOps.cu */
    {"record_param_comms", CLASS_COLLECTIVE}, {"c10d::*", CLASS_COLLECTIVE}, {"nccl:*", CLASS_COLLECTIVE}, {"hccl:*", CLASS_COLLECTIVE},
    {"symm_mem::*_all_reduce*", CLASS_COLLECTIVE},
    /* Dao-AILab/flash-attention: flash_attn/flash_attn_interface.py, hopper/flash_attn_interface.py; xformers/ops/fmha; ROCm/aiter */
    {"flash_attn::*", CLASS_ATTENTION}, {"flash_attn_3::*", CLASS_ATTENTION}, {"flashattn*", CLASS_ATTENTION},
    {"xformers*::*attention*", CLASS_ATTENTION}, {"xformers_flash*::*", CLASS_ATTENTION}, {"aiter::*mha_*", CLASS_ATTENTION},
    {"aiter::*groupnorm*", CLASS_NORM},
    /* vllm-project/vllm: vllm/attention/layer.py, csrc/torch_bindings.cpp */
    {"vllm::unified_attention*", CLASS_ATTENTION}, {"_vllm_fa?_c::*", CLASS_ATTENTION}, {"_c::*rms_norm*", CLASS_NORM},
    {"_c::*scaled_mm*", CLASS_MATMUL}, {"_c::*gemm*", CLASS_MATMUL}, {"_c_custom_ar::*", CLASS_COLLECTIVE},
    /* openxla/xla: xla/service/gpu/transforms/conv_rewriter.cc, gemm_rewriter.cc; "convolution.3" may be a product on a TPU */
    {"cudnn-conv*", CLASS_CONV}, {"cublas-gemm*", CLASS_MATMUL}, {"cublas-batch-gemm*", CLASS_MATMUL},
    /* jax-ml/jax: jax/_src/lax/convolution.py, lax.py, jax/_src/cudnn; older versions append the parameters in brackets */
    {"conv_general_dilated*", CLASS_CONV}, {"dot_general*", CLASS_MATMUL}, {"ragged_dot*", CLASS_MATMUL},
    {"dot_product_attention*", CLASS_ATTENTION},
    {"te_fused_attn_*", CLASS_ATTENTION}, /* NVIDIA/TransformerEngine: transformer_engine/jax/cpp_extensions/attention.py */
    /* pytorch/FBGEMM: fbgemm_gpu/codegen, lookups of sparse tables */
    {"fbgemm::*embedding*", CLASS_EMBEDDING}, {"splitlookupfunction*", CLASS_EMBEDDING},
    /* Ascend/pytorch: torch_npu/csrc/aten/npu_native_functions.yaml */
    {"npu::npu_*attention*", CLASS_ATTENTION}, {"npu::npu_conv*", CLASS_CONV}, {"npu::npu_*rms_norm*", CLASS_NORM},
    {"npu::npu_*matmul*", CLASS_MATMUL}};

enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

/* Copies a name in lower case, without the numbers that emit_nvtx appends: "aten::conv2d, seq = 7, op_id = 12". */
static void op_lower(const char *name, char *to) {
  size_t n = 0;
  for (; name[n] && n < LONGEST_NAME - 1; n++) {
    if (name[n] == ',' && (text_begins(name + n, ", seq = ") || text_begins(name + n, ", op_id = "))) break;
    to[n] = ascii_lower(name[n]);
  }
  to[n] = 0;
}

enum kernel_class op_classes_of(const char *name) {
  char lower[LONGEST_NAME];
  op_lower(name, lower);
  for (int i = 0; i < N_ROWS; i++)
    if (glob_matches(ROWS[i].glob, lower)) return ROWS[i].class;
  return CLASS_NONE;
}

_Static_assert(KERNEL_CLASSES <= 16, "a set of classes fits into 16 bits");

#define OF(class) (1u << (class))
#define STEPS (OF(CLASS_ELEMENTWISE) | OF(CLASS_REDUCTION) | OF(CLASS_OTHER))

/* Classes of operators that override the class by the kernel's name, in order of precedence. over: the classes by name that are
 * overridden. */
static const struct {
  enum kernel_class class;
  unsigned over;
} DECIDES[] = {
    {CLASS_ATTENTION, STEPS | OF(CLASS_MATMUL) | OF(CLASS_SOFTMAX)},
    {CLASS_CONV, OF(CLASS_MATMUL) | OF(CLASS_OTHER)},
    {CLASS_NORM, STEPS},
    {CLASS_EMBEDDING, STEPS | OF(CLASS_SORT)},
    {CLASS_MATMUL, OF(CLASS_OTHER)},
    {CLASS_SOFTMAX, OF(CLASS_OTHER)},
    {CLASS_COLLECTIVE, OF(CLASS_OTHER)},
    {CLASS_OPTIMIZER, STEPS | OF(CLASS_OPTIMIZER)},
    {CLASS_COPY, OF(CLASS_OPTIMIZER)},
    {CLASS_REDUCTION, OF(CLASS_OPTIMIZER)},
    {CLASS_ELEMENTWISE, OF(CLASS_OPTIMIZER)}};

enum kernel_class op_classes_decide(enum kernel_class named, uint16_t around) {
  for (size_t i = 0; around && i < sizeof DECIDES / sizeof *DECIDES; i++)
    if (around & OF(DECIDES[i].class) && DECIDES[i].over & OF(named)) return DECIDES[i].class;
  return named;
}

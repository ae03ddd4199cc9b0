/* work.c - the work of a layer: PyTorch ops with the profiler's names, and the kernels that they launch. */
#include <string.h>

#include "gen.h"

#define COUNT(a) (uint8_t)(sizeof(a) / sizeof *(a))

static const struct row linear_f[] = {{"aten::linear", 0, 0, 0},      {"aten::t", 1, 0, 0},
                                      {"aten::transpose", 2, 0, 0},   {"aten::as_strided", 3, 0, 0},
                                      {"aten::addmm", 1, K_GEMM, 2}};
static const struct row linear_b[] = {{"autograd::engine::evaluate_function: AddmmBackward0", 0, 0, 0},
                                      {"AddmmBackward0", 1, 0, 0},
                                      {"aten::t", 2, 0, 0},
                                      {"aten::transpose", 3, 0, 0},
                                      {"aten::as_strided", 4, 0, 0},
                                      {"aten::mm", 2, K_GEMM, 2},
                                      {"aten::mm", 2, K_GEMM, 2},
                                      {"aten::sum", 2, K_REDUCE, 0},
                                      {"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 1, 0, 0},
                                      {"torch::autograd::AccumulateGrad", 2, 0, 0},
                                      {"aten::add_", 3, K_ELEMENT, 0}};
static const struct row norm_f[] = {{"aten::layer_norm", 0, 0, 0},     {"aten::native_layer_norm", 1, K_NORM, 1},
                                    {"aten::empty", 2, 0, 0},          {"aten::empty", 2, 0, 0},
                                    {"aten::empty", 2, 0, 0},          {"aten::view", 2, 0, 0}};
static const struct row norm_b[] = {{"autograd::engine::evaluate_function: NativeLayerNormBackward0", 0, 0, 0},
                                    {"NativeLayerNormBackward0", 1, 0, 0},
                                    {"aten::native_layer_norm_backward", 2, K_NORM, 1},
                                    {"aten::empty_like", 3, 0, 0},
                                    {"aten::empty_strided", 4, 0, 0},
                                    {"aten::empty_like", 3, 0, 0}};
static const struct row gelu_f[] = {{"aten::gelu", 0, K_ELEMENT, 1}, {"aten::empty_strided", 1, 0, 0}};
static const struct row gelu_b[] = {{"autograd::engine::evaluate_function: GeluBackward0", 0, 0, 0},
                                    {"GeluBackward0", 1, 0, 0},
                                    {"aten::gelu_backward", 2, K_ELEMENT, 0}};
static const struct row matmul_f[] = {{"aten::matmul", 0, 0, 0},     {"aten::expand", 1, 0, 0},
                                      {"aten::as_strided", 2, 0, 0}, {"aten::reshape", 1, 0, 0},
                                      {"aten::view", 2, 0, 0},       {"aten::bmm", 1, K_GEMM, 2},
                                      {"aten::_unsafe_view", 1, 0, 0}};
static const struct row matmul_b[] = {{"autograd::engine::evaluate_function: BmmBackward0", 0, 0, 0},
                                      {"BmmBackward0", 1, 0, 0},
                                      {"aten::transpose", 2, 0, 0},
                                      {"aten::as_strided", 3, 0, 0},
                                      {"aten::bmm", 2, K_GEMM, 2},
                                      {"aten::bmm", 2, K_GEMM, 2}};
static const struct row softmax_f[] = {{"aten::softmax", 0, 0, 0}, {"aten::_softmax", 1, K_SOFTMAX, 2}};
static const struct row softmax_b[] = {{"autograd::engine::evaluate_function: SoftmaxBackward0", 0, 0, 0},
                                       {"SoftmaxBackward0", 1, 0, 0},
                                       {"aten::_softmax_backward_data", 2, K_SOFTMAX, 1}};
static const struct row add_f[] = {{"aten::add", 0, K_ELEMENT, 0}};
static const struct row add_b[] = {{"autograd::engine::evaluate_function: AddBackward0", 0, 0, 0},
                                   {"AddBackward0", 1, 0, 0}};
static const struct row copy_f[] = {{"aten::to", 0, 0, 0},
                                    {"aten::_to_copy", 1, 0, 0},
                                    {"aten::empty_strided", 2, 0, 0},
                                    {"aten::copy_", 2, K_COPY, 1},
                                    {"aten::copy_", 2, K_COPY, 1}};
static const struct row copy_b[] = {{"autograd::engine::evaluate_function: ToCopyBackward0", 0, 0, 0},
                                    {"ToCopyBackward0", 1, 0, 0},
                                    {"aten::to", 2, 0, 0},
                                    {"aten::_to_copy", 3, 0, 0},
                                    {"aten::copy_", 4, K_COPY, 1}};
static const struct row dropout_f[] = {{"aten::dropout", 0, 0, 0},
                                       {"aten::native_dropout", 1, K_ELEMENT, 2},
                                       {"aten::empty_like", 2, 0, 0},
                                       {"aten::empty_strided", 3, 0, 0}};
static const struct row dropout_b[] = {{"autograd::engine::evaluate_function: NativeDropoutBackward0", 0, 0, 0},
                                       {"NativeDropoutBackward0", 1, 0, 0},
                                       {"aten::native_dropout_backward", 2, K_ELEMENT, 0},
                                       {"aten::zero_", 2, 0, 0},
                                       {"aten::fill_", 3, K_FILL, 0}};
static const struct row optimizer_f[] = {{"Optimizer.step#AdamW.step", 0, 0, 0},
                                         {"aten::_foreach_add_", 1, K_OPTIM, 0},
                                         {"aten::_foreach_mul_", 1, K_OPTIM, 0},
                                         {"aten::_foreach_lerp_", 1, K_OPTIM, 0},
                                         {"aten::_foreach_addcmul_", 1, K_OPTIM, 1},
                                         {"aten::_foreach_sqrt", 1, K_OPTIM, 0},
                                         {"aten::_foreach_addcdiv_", 1, K_OPTIM, 1},
                                         {"aten::zero_", 1, 0, 0},
                                         {"aten::fill_", 2, K_FILL, 0}};

#define GROUP(module, frame, x) {module, frame, x##_f, x##_b, COUNT(x##_f), COUNT(x##_b)}

const struct group groups[] = {
  GROUP("LayerNorm", "torch/nn/modules/normalization.py(217): forward", norm),
  GROUP("Linear", "torch/nn/modules/linear.py(134): forward", linear),
  GROUP("Attention", "model/attention.py(88): scores", matmul),
  GROUP("Softmax", "torch/nn/functional.py(2140): softmax", softmax),
  GROUP("Dropout", "torch/nn/modules/dropout.py(70): forward", dropout),
  GROUP("Attention", "model/attention.py(97): weigh", matmul),
  GROUP("Attention", "model/attention.py(101): cast", copy),
  GROUP("Residual", "model/block.py(41): add", add),
  GROUP("Linear", "torch/nn/modules/linear.py(134): forward", linear),
  GROUP("GELU", "torch/nn/modules/activation.py(734): forward", gelu),
  GROUP("Linear", "torch/nn/modules/linear.py(134): forward", linear),
  GROUP("Residual", "model/block.py(47): add", add),
  {"AdamW", "torch/optim/adamw.py(227): step", optimizer_f, NULL, COUNT(optimizer_f), 0},
};
const unsigned n_groups = COUNT(groups);

/* ---- kernels ---------------------------------------------------------------------------------------------------------- */

static const char *const functors[] = {
  "CUDAFunctor_add<float>",
  "CUDAFunctorOnSelf_add<long>",
  "AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
  "BUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
  "BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >",
  "BinaryFunctor<float, float, float, at::native::binary_internal::DivFunctor<float> >",
  "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#2}::operator()()"
  " const::{lambda(float)#1}",
  "(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)"
  "::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}",
};

static const char *const gemms[] = {
  "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_%dx%d_16x4_%s_align4>(cutlass_80_tensorop_s1688gemm_%dx%d_16x4_%s_align4"
  "::Params)",
  "void cutlass_cudnn_train::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_%dx%d_16x3_%s_align4>(cutlass_tensorop_s1688wgrad"
  "_optimized_tf32_%dx%d_16x3_%s_align4::Params)",
  "sm80_xmma_gemm_f32f32_tf32f32_f32_%dx%d_%s_n_tilesize%dx%dx32_stage3_warpsize2x2x1_tensor16x8x8_execute_kernel_cublas_%s",
};

static const char *const others[K_FAMILIES] = {
  [K_NORM] = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, %d>(int, float, float const*,"
             " float const*, float const*, float*, float*, float*)",
  [K_SOFTMAX] = "void (anonymous namespace)::softmax_warp_forward<float, float, float, %d, false, false>(float*, float const*, int,"
                " int, int, bool const*, int, bool)",
  [K_REDUCE] = "void at::native::reduce_kernel<%d, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::"
               "sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float,"
               " 4> >(at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::"
               "operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4>)",
  [K_OPTIM] = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
              "TensorListMetadata<%d>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus"
              "<float>, float>(at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
              "BinaryOpListAlphaFunctor<float, 2, 2, 0>, std::plus<float>, float)",
};

const char *kernel_name(unsigned family, uint64_t pick, char *text, size_t size) {
  static const char *const order[] = {"nn", "nt", "tn"};
  static const int tile[] = {64, 128, 256};
  int a = tile[pick / 7 % 3], b = tile[pick / 21 % 3];
  const char *functor = functors[pick % (sizeof functors / sizeof *functors)], *t = order[pick / 63 % 3];
  switch (family) {
  case K_GEMM: snprintf(text, size, gemms[pick % 3], a, b, t, a, b, t); break;
  case K_ELEMENT:
    snprintf(text, size, "void at::native::vectorized_elementwise_kernel<4, at::native::%s, at::detail::Array<char*, %d> >(int, "
             "at::native::%s, at::detail::Array<char*, %d>)", functor, 2 + (int)(pick / 63 % 2), functor, 2 + (int)(pick / 63 % 2));
    break;
  case K_COPY: snprintf(text, size, "%s", pick % 4 ? "Memcpy DtoD (Device -> Device)" : "Memcpy HtoD (Pageable -> Device)"); break;
  case K_FILL: snprintf(text, size, "Memset (Device)"); break;
  default: snprintf(text, size, others[family], 1 << pick % 5); break;
  }
  return text;
}

/* test_short_names.c - short names and classes of kernels: names of real libraries, names that collide, and hostile names. */
#include <stdlib.h>

#include "op/kernel_classes.h"
#include "analysis/short_apart.h"
#include "analysis/short_names.h"
#include "help.h"

#define AT "at::native::"

static const struct {
  const char *name, *text, *class;
} NAMES[] = {
  {"void " AT "elementwise_kernel<128, 2, " AT "gpu_kernel_impl<" AT "CUDAFunctorOnSelf_add<float> >(at::TensorIteratorBase&, " AT
   "CUDAFunctorOnSelf_add<float> const&)::{lambda(int)#1}>(int, " AT "gpu_kernel_impl<" AT "CUDAFunctorOnSelf_add<float> >)",
   "elementwise<CUDAFunctorOnSelf_add<float>>", "elementwise"},
  {"void " AT "vectorized_elementwise_kernel<(int)4, " AT "exp_kernel_cuda(at::TensorIteratorBase &)::[lambda() (instance 2)]::"
   "operator ()() const::[lambda(c10::BFloat16) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)",
   "elementwise<exp<BFloat16>>", "elementwise"},
  {"void " AT "reduce_kernel<512, 1, " AT "ReduceOp<float, " AT "func_wrapper_t<float, " AT "sum_functor<float, float, float>::"
   "operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(" AT "ReduceOp<float, 4>)",
   "reduce<sum<float>>", "reduction"},
  {"void " AT "unrolled_elementwise_kernel<" AT "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::"
   "{lambda(float)#1}, at::detail::Array<char*, 2> >(int)", "elementwise<direct_copy<float>>", "copy"},
  {"void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, float>(long)", "multi_tensor<AdamFunctor<float>>",
   "optimizer"},
  {"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*, float const*, int)",
   "softmax_warp_forward<float>", "softmax"},
  {"void <unnamed>::softmax_warp_forward<float, float, float, (int)6, (bool)0, (bool)0>(T2 *, const T1 *, int)",
   "softmax_warp_forward<float>", "softmax"},
  {"void " AT "(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int, float)", "vectorized_layer_norm_kernel<float>",
   "norm"},
  {"all-reduce-start_kernel<float, float>", "all-reduce-start_kernel", "collective"},
  {"gemm_fusion_dot.1_kernel(float*)", "gemm_fusion_dot.1_kernel", "matmul"},
  {"ampere_sgemm_128x32_nt", "gemm 128x32 nt fp32", "matmul"},
  {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x3_tn", "gemm 128x64 tn bf16 relu", "matmul"},
  {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_nn_align4>(Params)",
   "gemm 128x64_16x6 nn cutlass", "matmul"},
  {"void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<cutlass::gemm::kernel::GemmUniversal<"
   "cute::tuple<int, int>, cutlass::gemm::collective::CollectiveMma<MainloopSm90<7, "
   "cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> > >, "
   "cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> >, cutlass::bfloat16_t> > > >(Params)",
   "gemm 128x256x64 bf16 cutlass", "matmul"},
  {"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2> > >(Params)", "FlashAttnFwdSm90",
   "attention"},
  {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "gemm 192x192_64x4_2x1 tnn bias nvjet", "matmul"},
  {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_split_k_kernel__5x_cublas",
   "gemm 128x32x8 tn fp32 splitk xmma", "matmul"},
  {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage5_warpsize2x2x1_g1_tensor16x8x8_kernel",
   "conv fprop 64x128x32 tf32 xmma", "conv"},
  {"volta_scudnn_128x64_relu_interior_nn_v1", "conv 128x64 nn fp32 relu", "conv"},
  {"Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN_LDSB0", "gemm 64x16x16 nt fp32 bias tensile", "matmul"},
  {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x32x256_MI16x16x1_SN", "gemm 64x32x256 tn bf16 bias tensile", "matmul"},
  {"Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_MI16x16x16x1_SN_WGM1.kd", "gemm 256x128x64 nn bf16 tensile", "matmul"},
  {"void f<float, 2>(long*, long) [clone .kd]", "f<float>", "other"},
  {"loop_transpose_fusion.kd", "loop_transpose_fusion", "copy"},
  {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "nccl AllReduce Sum f32 RING LL", "collective"},
  {"ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long)", "nccl Broadcast RING LL Sum int8_t", "collective"},
  {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)64, (bool)0, cutlass::bfloat16_t>, (bool)0>(Flash_fwd_params)",
   "flash_fwd_kernel<128, bf16>", "attention"},
  {"std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, false>(cublasGemvParams<float>)",
   "gemvx::kernel<int>", "matmul"},
  {"fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64", NULL, "attention"},
  {"void cutlass_cudnn_train::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_64x128_16x3_nn_align4>(P)",
   "conv wgrad 64x128_16x3 nn tf32 cutlass", "conv"},
  {"triton_poi_fused_add_mul_0", NULL, "triton fused"},
  {"triton_red_fused__softmax_0", NULL, "triton fused"},
  {"input_reduce_fusion.2", NULL, "reduction"},
  {"gemm_fusion_dot.1", NULL, "matmul"},
  {"fusion.3", NULL, "other"},
  {"Memcpy HtoD (Pageable -> Device)", NULL, "copy"},
  {"my kernel", NULL, "other"},
  {"f(", "f", "other"},
  {"a<b", "a<b>", "other"},
  {"_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_8sequenceIJLi4ELi1EEEEEEEEvDpT1_", "kentry", "attention"},
  {"_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_S5_EEEEvPNS1_15Float8_e4m3fnuzEPS4_if",
   "scaled_act_and_mul_kernel", "elementwise"},
  {"_Z35paged_attention_ll4mi_reduce_kernelIDF16_Li128ELi128ELi512EEvPT_PKfS3_PKS0_PKii", "paged_attention_ll4mi_reduce_kernel",
   "attention"},
  {"_ZN7cutlass6KernelIN3foo4GemmEEEvNT_6ParamsE", "cutlass::Kernel", "matmul"},
  {"_ZN12_GLOBAL__N_13addEPfi.kd", "add", "other"},
  {"_ZL6squarePfDv4_fDF16b", "square", "other"},
  {"_ZNK1a1bIfE3runIZNS_1cEvEUlfE0_EEvT_", "b::run", "other"},
  {"_ZN1aC2Ev", NULL, "other"},         /* a constructor */
  {"_ZN1aplERKS_", NULL, "other"},      /* an operator */
  {"_ZZN1a1fEvE1x", NULL, "other"},     /* a variable of a function */
  {"_ZN1a99fEv", NULL, "other"},        /* a length beyond the end */
  {"_ZN1a1f", NULL, "other"},           /* no end of the path */
  {"_Z1fILi1Ev", NULL, "other"},        /* no end of the arguments */
  {"_Z1fv?", NULL, "other"},            /* text that is left over */
  {"wrapped_convert.kd", "wrapped_convert", "copy"},
  {"loop_convert_fusion", NULL, "copy"},
  {"convert_fusion.2", NULL, "copy"},
  {"loop_add_convert_fusion", NULL, "elementwise"},
  {"input_convert_reduce_fusion", NULL, "reduction"},
  {"kernel_grouped_conv_fwd", NULL, "conv"},
  {"loop_convert_then_conv", NULL, "conv"},
  {"my_conv", NULL, "conv"},
  {"MIOpenBatchNormFwdTrainSpatialMeanVariance", NULL, "norm"},
  {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex0_bt256x256x32", NULL, "conv"},
  {"Im3d2Col", NULL, "conv"},
  {"SubTensorOpWithCastTensor1d", NULL, "copy"},
  {"sage_fwd", NULL, "attention"},
  {"reshape_and_cache_flash_kernel", NULL, "copy"},
};

static void shortens(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    struct short_text to;
    const size_t n = strlen(NAMES[i].name);
    const bool made = short_names_of(NAMES[i].name, n, &to);
    char text[SHORT_NAME_ROOM + 1] = {0};
    memcpy(text, to.text, to.n);
    if (NAMES[i].text && strlen(NAMES[i].text) < n) assert_string_equal(text, NAMES[i].text);
    assert_int_equal(made, NAMES[i].text && strlen(NAMES[i].text) < n);
    assert_string_equal(kernel_classes_word(kernel_classes_of(NAMES[i].name, n)), NAMES[i].class);
  }
}

/* Each row lists the full names in a table, NULL, and the short names that must be printed for them. */
static void stay_apart(void **state) {
  static const char *const TABLES[][8] = {
    {"void f<float, 10, true>(int)", "void f<float, 6, true>(int)", "fusion.1", NULL, "f<float> [10]", "f<float> [6]", "fusion.1"},
    {"ampere_sgemm_64x64_nn", "volta_sgemm_64x64_nn", NULL, "ampere_sgemm_64x64_nn", "volta_sgemm_64x64_nn"},
    {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "nvjet_tst_192x192_64x4_2x1_h_bz_coopB_bias_TNN", NULL,
     "gemm 192x192_64x4_2x1 tnn bias nvjet [v]", "gemm 192x192_64x4_2x1 tnn bias nvjet [h]"},
    {"void f<float>(int)", "void f<float>(long)", NULL, "f<float> [int]", "f<float> [long]"},
    {"void f<float>(int)", "void f<float>(int)", NULL, "void f<float>(int)", "void f<float>(int)"},
    {"void f<float, 1>(int)", "f<float>", NULL, "void f<float, 1>(int)", "f<float>"},
  };
  (void)state;
  for (size_t k = 0; k < sizeof TABLES / sizeof *TABLES; k++) {
    struct mem mem = {0};
    struct intern texts;
    struct short_name v[8];
    size_t n = 0;
    intern_init(&texts, &mem);
    for (; TABLES[k][n]; n++) v[n] = (struct short_name){.name = TABLES[k][n], .name_len = strlen(TABLES[k][n])};
    assert_true(short_apart_names(v, n, &texts, &mem));
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(v[i].text_len, strlen(TABLES[k][n + 1 + i]));
      assert_memory_equal(v[i].text, TABLES[k][n + 1 + i], v[i].text_len);
    }
    intern_free(&texts);
  }
}

/* If names differ only in long parts, short names get numbers instead, and all short names are different. */
static void numbers(void **state) {
  enum { N = 40 };
  static char names[N][400];
  struct mem mem = {0};
  struct intern texts;
  struct short_name v[N];
  (void)state;
  intern_init(&texts, &mem);
  for (size_t i = 0; i < N; i++) {
    memset(names[i], 0, sizeof names[i]);
    strcpy(names[i], "void f<float, ");
    memset(names[i] + strlen(names[i]), (int)('a' + i % 26), 60 + i);
    strcat(names[i], ">(int)");
    v[i] = (struct short_name){.name = names[i], .name_len = strlen(names[i])};
  }
  assert_true(short_apart_names(v, N, &texts, &mem));
  assert_memory_equal(v[0].text, "f<float> #1", v[0].text_len);
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < i; k++) assert_false(v[i].text_len == v[k].text_len && memcmp(v[i].text, v[k].text, v[i].text_len) == 0);
  intern_free(&texts);
}

/* Names of megabytes that repeat one part take little time; a search that begins again at each part would take hours. */
static void reads_hostile_names_once(void **state) {
  static const char *const PARTS[] = {"<", ">", "a<", "(", "lambda(", "C<", "::", "a::", "_", "gemm_", "128x", "x", "a<b,", "{", " ",
                                      "operator", "\x01", "(anonymous namespace)", "<unnamed>", ",", "gpu_kernel_impl<", "C<64>,",
                                      "I", "N1a", "1a", "L", "LPKX", "S_", "T0_", "99999", "Ul", "DT", "E"};
  static const char *const BEGINS[] = {"", "void at::native::elementwise_kernel<", "ampere_gemm_64x64_",
                                       "void cutlass::device_kernel<GemmUniversal<",
                                       "void f(int)::{", "_ZN", "_Z1fI"};
  enum { SIZE = 1 << 20 };
  char *name = malloc(SIZE + 1);
  struct short_text to;
  (void)state;
  assert_non_null(name);
  for (size_t b = 0; b < sizeof BEGINS / sizeof *BEGINS; b++)
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
      const size_t n = strlen(PARTS[i]), first = strlen(BEGINS[b]);
      memcpy(name, BEGINS[b], first);
      for (size_t at = first; at < SIZE; at++) name[at] = PARTS[i][(at - first) % n];
      name[SIZE] = 0;
      short_names_of(name, SIZE, &to);
      assert_true(to.n <= SHORT_NAME_ROOM);
      assert_int_not_equal(kernel_classes_of(name, SIZE), CLASS_NONE);
    }
  free(name);
  assert_false(short_names_of("", 0, &to));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(shortens), cmocka_unit_test(stay_apart), cmocka_unit_test(numbers),
                                     cmocka_unit_test(reads_hostile_names_once)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

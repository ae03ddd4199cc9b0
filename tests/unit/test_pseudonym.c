/* test_pseudonym.c - SipHash matches the published algorithm; paths, hosts and users in names become pseudonyms, other names
 * are unchanged. */
#include "help.h"

#include "op/pseudonym.h"

/* Test vectors of the reference implementation: key 00 01 .. 0f, messages of 0 .. 15 bytes 00 01 .. */
static void siphash_is_the_published_one(void **state) {
  static const struct {
    size_t n;
    uint64_t hash;
  } VECTORS[] = {{0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {7, 0xab0200f58b01d137}, {8, 0x93f5f5799a932462},
                 {15, 0xa129ca6149be45e5}};
  struct siphash_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
  uint8_t message[16];
  (void)state;
  for (uint8_t i = 0; i < 16; i++) message[i] = i;
  for (size_t i = 0; i < sizeof VECTORS / sizeof *VECTORS; i++) assert_true(siphash(key, message, VECTORS[i].n) == VECTORS[i].hash);
}


/* Returns the number of replacements; `text` receives the result. */
static uint64_t scrub(const char *name, char *text) {
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  uint64_t found = 0;
  struct words words;
  const struct pseudonyms who = {{{1, 2}}, &words};
  words_init(&words, &mem);
  words_add(&words, "gpu-node-7", 10, "host");
  words_add(&words, "gpu-node-71.rack 2", 18, "host");
  words_add(&words, "alice", 5, "user");
  words_add(&words, "ab", 2, "user");
  assert_true(pseudonym_scrub(&who, &b, name, strlen(name), &found));
  memcpy(text, b.data ? (const char *)b.data : "", b.len);
  text[b.len] = 0;
  buf_free(&b);
  words_free(&words);
  return found;
}

static void names_stay(void **state) {
  static const char *const NAMES[] = {
      "", "aten::mm", "/device:TPU:0", "/host:CPU", "jit(train_step)/jit(main)/dot_general",
      "void at::native::vectorized_elementwise_kernel<4, float>(int)", "Memcpy HtoD (Pinned -> Device)",
      "model/layer_3/attention", "autograd::engine::evaluate_function: MmBackward0", "malice and abacus", "torch.nn.Linear",
      "3/4 of it", "fused_computation.12",
      "%fusion.123 = f32[8,128]{1,0} fusion(p.1, p.2), kind=kLoop, calls=fused_computation.12",
      "jit__train_step(1234567890123456789)", "XlaModule:#hlo_module=jit_step,program_id=12#", "custom-call.3.1.2.4",
      "all-reduce-start.1", "c10::add", "c10d::allreduce_", "std::array<char*, 2ul>", "fade::bad<c10::BFloat16>", "a::b::c",
      "cudnn v8.9.2.26", "version 8.9.2.26", "libcudnn.so.8.9.2.26", "torch 2.1.0", "12:30:45", "1:22:333:44:55:66", "num_tokens=4096",
      "max_token=5", "tokens: 128", "token_ids", "tokenizer=fast", "auth=none", "foo@plt", "memcpy@GLIBC_2.14",
      "memcpy@@GLIBC_2.2.5", "@jit", "a@b", "self.net", "torch.utils.data.io", "tensorflow.python.lib.io", "threading.local",
      "nn.Module.com_", "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<at::native::(anonymous"
      " namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(OpaqueType<2u>*, CatArrInputTensorMetadata)",
      "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
      "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8",
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_64x3_nn",
      "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB1_APM1_ABV0_ACED0_AF0EM8_AF1EM1_AMAS3_ASE_ASGT",
      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
      "ncclKernel_AllReduce_RING_LL_Sum_int8_t(ncclWorkElem)",
      "_attn_fwd_0d1d2d34d5d6de7de8de9c10de11de12de13c14de15de16de17c18de19de20c21c22de23de24c",
      "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_2", "hf_attention_forward_implementation_v2",
      "FusedSDPFP16KernelTMAWS64x128", "HMMA16816F32BF16BF16TN128x64", "MultiHeadAttentionV2Backward0",
      "model/TransformerBlock12/MultiHeadAttention0/DotProductAttentionImplementation", "sk-learn-some-long-module-name-here",
      "gpu_memcpy_async", "Torch-Compiled Region: 0/0", "aten::_scaled_dot_product_flash_attention_backward",
      "nccl:_all_gather_base", "ProfilerStep#12", "All2All_Pooled_ReqBackward", "AscendCL@MaxPoolGradWithArgmaxV1_Tiling",
      "com.google.build.IncludeModule$Manager@53d0f86b.executionPhaseStarting"};
  char text[256];
  (void)state;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    if (scrub(NAMES[i], text) != 0) fail_msg("%s -> %s", NAMES[i], text);
    assert_string_equal(text, NAMES[i]);
  }
}

static void secrets_go(void **state) {
  static const struct {
    const char *name, *before, *kind, *after;
  } CASES[] = {{"/home/alice/project/train.py(33): main", "", "path-", "(33): main"},
               {"src/model.py(3): f", "", "path-", "(3): f"},
               {"open C:\\work\\secret\\x now", "open ", "path-", " now"},
               {"~/data/run.json", "", "path-", ""},
               {"see /usr/lib/x/y.", "see ", "path-", "."},
               {"<built-in of /opt/x/y/z.so>", "<built-in of ", "path-", ">"},
               {"rank 3 - gpu-node-7 - python", "rank 3 - ", "host-", " - python"},
               {"job of alice", "job of ", "user-", ""},
               {"on gpu-node-71.rack 2.", "on ", "host-", "."},
               {"GET https://user:password@h.example/p?token=secret now", "GET https://", "url-", " now"},
               {"(s3://bucket/key)", "(s3://", "url-", ")"},
               {"API_TOKEN=abc123", "API_TOKEN=", "secret-", ""},
               {"{\"password\": \"1234\"}", "{\"password\": \"", "secret-", "\"}"},
               {"run --hf-token abcd1234 x", "run --hf-token ", "secret-", " x"},
               {"Authorization: Bearer abc.def.ghi", "Authorization: Bearer ", "secret-", ""},
               {"Authorization: Basic dXNlcjpwdw==", "Authorization: Basic ", "secret-", ""},
               {"x ghp_0123456789abcdefABCDEF0123456789abcd", "x ", "secret-", ""},
               {"AKIAIOSFODNN7EXAMPLE", "", "secret-", ""},
               {"hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", "", "secret-", ""},
               {"sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2", "", "secret-", ""},
               {"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl!", "jwt ", "secret-", "!"},
               {"wJ4lrXUtnF3mI/K7MdEnG9bPxRfiCYq2zT8vLkAo", "", "secret-", ""},
               {"key 5f4dcc3b5aa765d61d8327deb882cf99", "key ", "secret-", ""},
               {"GPU-550e8400-e29b-41d4-a716-446655440000", "GPU-", "secret-", ""},
               {"-----BEGIN RSA PRIVATE KEY----- MII -----END RSA PRIVATE KEY----- .", "", "secret-", " ."},
               {"mail bob.b@corp.example.com now", "mail ", "email-", " now"},
               {"peer 10.20.30.40:1234", "peer ", "address-", ":1234"},
               {"[fe80::1ff:fe23:4567:890a]:80", "[", "address-", "]:80"},
               {"2001:db8::8a2e:370:7334", "", "address-", ""},
               {"mac 00:1b:44:11:3a:b7", "mac ", "address-", ""},
               {"at node17.example.com:22", "at ", "host-", ":22"},
               {"worker-0.pool.svc.cluster.local", "", "host-", ""},
               {"ip-10-0-1-17.ec2.internal", "", "host-", ""},
               {"ip-10-0-1-17", "", "host-", ""}};
  char text[256];
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    if (scrub(CASES[i].name, text) != 1) fail_msg("%s -> %s", CASES[i].name, text);
    size_t before = strlen(CASES[i].before), kind = strlen(CASES[i].kind);
    assert_memory_equal(text, CASES[i].before, before);
    assert_memory_equal(text + before, CASES[i].kind, kind);
    assert_int_equal(strspn(text + before + kind, "0123456789abcdef"), 16);
    assert_string_equal(text + before + kind + 16, CASES[i].after);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(siphash_is_the_published_one), cmocka_unit_test(names_stay),
                                     cmocka_unit_test(secrets_go)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

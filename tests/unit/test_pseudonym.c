/* test_pseudonym.c - SipHash is the published one; paths, hosts and users in names become pseudonyms, other names stay. */
#include "help.h"

#include "op/pseudonym.h"

/* The vectors of the paper's reference: key 00 01 .. 0f, messages of 0 .. 15 bytes 00 01 .. */
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

static const struct secret_word WORDS[] = {{"gpu-node-7", "host"}, {"alice", "user"}, {"ab", "user"}};
static const struct pseudonyms WHO = {{{1, 2}}, WORDS, 3};

/* How many were found; what is left in `text`. */
static uint64_t scrub(const char *name, char *text) {
  struct mem mem = {0};
  struct buf b = {.mem = &mem};
  uint64_t found = 0;
  assert_true(pseudonym_scrub(&WHO, &b, name, strlen(name), &found));
  memcpy(text, b.data ? (const char *)b.data : "", b.len);
  text[b.len] = 0;
  buf_free(&b);
  return found;
}

static void names_stay(void **state) {
  static const char *const NAMES[] = {"",
                                      "aten::mm",
                                      "/device:TPU:0",
                                      "/host:CPU",
                                      "jit(train_step)/jit(main)/dot_general",
                                      "void at::native::vectorized_elementwise_kernel<4, float>(int)",
                                      "Memcpy HtoD (Pinned -> Device)",
                                      "model/layer_3/attention",
                                      "autograd::engine::evaluate_function: MmBackward0",
                                      "malice and abacus",
                                      "torch.nn.Linear",
                                      "3/4 of it"};
  char text[256];
  (void)state;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    assert_int_equal(scrub(NAMES[i], text), 0);
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
               {"job of alice", "job of ", "user-", ""}};
  char text[256];
  (void)state;
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    assert_int_equal(scrub(CASES[i].name, text), 1);
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

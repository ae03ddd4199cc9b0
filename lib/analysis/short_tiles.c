/* short_tiles.c - see short_tiles.h: matrix products and convolutions of cuBLAS, cuDNN, CUTLASS, Tensile and others.
 *
 * Their names are words between underscores: "ampere_bf16_s16816gemm_bf16_128x64_ldg8_relu_f2f_stages_64x3_tn". The short name contains
 * the properties of the product that the words describe: "gemm 128x64 tn bf16 relu". */
#include "short_tiles.h"

#include <string.h>

#include "base/text.h"

enum { WORD_ROOM = 24 };

struct tiles {
  const char *what;                    /* "gemm" or "conv" */
  const char *way;                     /* direction of a convolution; NULL = none */
  struct short_span tile, layout;      /* empty = not in the name */
  const char *type, *library;          /* NULL = not in the name */
  bool split, bias, relu;
  struct short_span sliced;
};

/* Takes the next word, which ends before an underscore. */
static bool next_word(struct short_span *rest, struct short_span *word) {
  if (rest->p >= rest->end) return false;
  const char *p = memchr(rest->p, '_', (size_t)(rest->end - rest->p));
  *word = (struct short_span){rest->p, p ? p : rest->end};
  rest->p = p ? p + 1 : rest->end;
  return true;
}

/* Returns how many numbers a tile such as 128x64 or 64x16x16 has; 0 if the word is not a tile. */
static unsigned sides(struct short_span w) {
  unsigned n = 0;
  for (const char *p = w.p; p < w.end;) {
    const char *digits = p;
    while (p < w.end && ascii_digit(*p)) p++;
    if (p == digits || (p < w.end && *p != 'x') || p + 1 == w.end) return 0;
    n++;
    p += p < w.end;
  }
  return n;
}

/* True for the order of the operands: nn, nt, TNN. */
static bool is_layout(struct short_span w) {
  const size_t n = (size_t)(w.end - w.p);
  if (n < 2 || n > 4) return false;
  for (const char *p = w.p; p < w.end; p++)
    if (!strchr("ntNT", *p)) return false;
  return true;
}

/* Words in names, and the types that they imply. In BLAS, the first letter is the type: sgemm. */
static const struct {
  const char *word, *type;
  bool whole; /* true: the word must match as a whole, false: its beginning */
} TYPES[] = {
  {"bf16", "bf16", false},   {"fp16", "fp16", true},   {"f16", "fp16", false},   {"h16816gemm", "fp16", true},
  {"tf32", "tf32", false},
  {"fp32", "fp32", true},    {"f32f32", "fp32", true},
  {"sgemm", "fp32", true},  {"hgemm", "fp16", true},      {"dgemm", "fp64", true},
  {"cgemm", "complex64", true}, {"gcgemm", "complex64", true}, {"zgemm", "complex128", true}, {"igemm", "int8", true},
  {"e4m3", "e4m3", false},   {"e5m2", "e5m2", false},  {"E4m3", "e4m3", false},  {"E2m1", "e2m1", false},
  {"Bfloat16", "bf16", false},
  {"scudnn", "fp32", true},  {"hcudnn", "fp16", true},
  {"i8", "int8", false},    {"s8", "int8", true},         {"fp64", "fp64", true},
};

static const char *type_in(struct short_span w) {
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (TYPES[i].whole ? short_is(w, TYPES[i].word) : short_begins(w, TYPES[i].word)) return TYPES[i].type;
  return NULL;
}

static void see_word(struct tiles *t, struct short_span w) {
  static const char *const WAYS[] = {"fprop", "dgrad", "wgrad"};
  const struct short_span size = {w.p + (short_begins(w, "tilesize") ? 8 : 0), w.end};
  if (t->tile.p == t->tile.end && sides(size) >= 2) t->tile = size;
  else if (t->tile.p < t->tile.end && t->tile.end + 1 == w.p && sides(w) == 2) t->tile.end = w.end; /* a word such as 32x3:
                                                                                                       depth and stages of the
                                                                                                       tile */
  if (is_layout(w)) t->layout = w;
  if (!t->type) t->type = type_in(w);
  for (size_t i = 0; i < sizeof WAYS / sizeof *WAYS; i++)
    if (short_has(w, WAYS[i])) t->what = "conv", t->way = WAYS[i];
  if (short_has(w, "cudnn") && w.end - w.p == 6) t->what = "conv";
  t->split = t->split || short_is(w, "splitK") || short_is(w, "splitk") || short_is(w, "split");
  t->bias = t->bias || short_is(w, "bias");
  t->relu = t->relu || short_is(w, "relu");
  if (short_begins(w, "sliced") && w.end - w.p < WORD_ROOM) t->sliced = w;
}

static void put_word(struct short_text *to, struct short_span w) {
  if (w.p == w.end || w.end - w.p > WORD_ROOM) return;
  short_put_text(to, " ");
  for (const char *p = w.p; p < w.end; p++) {
    const char c = ascii_lower(*p);
    short_put(to, &c, 1);
  }
}

static void put_text(struct short_text *to, const char *text) {
  if (text) put_word(to, (struct short_span){text, text + strlen(text)});
}

static bool put_tiles(struct short_text *to, const struct tiles *t) {
  short_put_text(to, t->what);
  put_text(to, t->way);
  put_word(to, t->tile);
  put_word(to, t->layout);
  put_text(to, t->type);
  put_word(to, t->sliced);
  if (t->split) put_text(to, "splitk");
  if (t->bias) put_text(to, "bias");
  if (t->relu) put_text(to, "relu");
  put_text(to, t->library);
  return true;
}

/* Names of these libraries begin with a string of BEGINS and contain a string of HOLDS. */
static const char *const BEGINS[] = {"volta_", "turing_", "ampere_", "maxwell_", "pascal_", "hopper_", "ada_", "blackwell_", "cutlass_",
                                     "cutlass3x_", "cudnn_ampere_", "cudnn_volta_", "cudnn_infer_ampere_", "cudnn_infer_volta_",
                                     "sm70_xmma", "sm75_xmma", "sm80_xmma", "sm86_xmma", "sm89_xmma", "sm90_xmma", "sm100_xmma",
                                     "nvjet_", "bmm_", "gemm_"};
static const char *const HOLDS[] = {"gemm", "cudnn_", "xmma_", "nvjet_", "bmm_", "fprop", "dgrad", "wgrad"};

static bool is_family(struct short_span name) {
  size_t i = 0, k = 0;
  while (i < sizeof BEGINS / sizeof *BEGINS && !short_begins(name, BEGINS[i])) i++;
  while (k < sizeof HOLDS / sizeof *HOLDS && !short_has(name, HOLDS[k])) k++;
  return i < sizeof BEGINS / sizeof *BEGINS && k < sizeof HOLDS / sizeof *HOLDS;
}

/* ---- Tensile ---- */

/* Returns the type for a type letter in the name of a Tensile kernel: https://github.com/ROCm/Tensile, Tensile/DataType.py. */
static const char *tensile_type(struct short_span w) {
  static const struct {
    const char *word, *type;
  } ROWS[] = {{"I8", "int8"}, {"F8", "fp8"}, {"B8", "bf8"}, {"S", "fp32"}, {"D", "fp64"}, {"H", "fp16"}, {"B", "bf16"},
              {"C", "complex64"}, {"Z", "complex128"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
    if (short_begins(w, ROWS[i].word)) return ROWS[i].type;
  return NULL;
}

/* Writes the short name of a Tensile kernel. "Cijk_Ailk_Bljk_HHS_BH_MT128x64x16_..." means C[i,j,k] = sum of A * B over l; Ailk means A
 * is not transposed, Alik means it is. */
static bool put_tensile(struct short_span name, struct short_text *to) {
  struct short_span rest = name, first, a, b, types, w;
  if (!next_word(&rest, &first) || !next_word(&rest, &a) || !next_word(&rest, &b) || !next_word(&rest, &types)) return false;
  if (a.end - a.p != 4 || b.end - b.p != 4 || *a.p != 'A' || *b.p != 'B') return false;
  const char layout[] = {short_begins(a, "Ail") ? 'n' : 't', short_begins(b, "Blj") ? 'n' : 't', 0};
  struct tiles t = {.what = "gemm", .type = tensile_type(types), .library = "tensile", .layout = {layout, layout + 2}};
  while (next_word(&rest, &w)) {
    const struct short_span size = {w.p + 2, w.end};
    if (short_begins(w, "MT") && sides(size) >= 2) t.tile = size;
    t.bias = t.bias || short_is(w, "Bias");
  }
  return put_tiles(to, &t);
}

/* ---- entry points ---- */

bool short_tiles(struct short_span name, struct short_text *to) {
  struct short_span rest = name, w;
  struct tiles t = {.what = "gemm"};
  for (const char *p = name.p; p < name.end; p++)
    if (!ascii_letter(*p) && !ascii_digit(*p) && *p != '_') return false; /* a template: the tile is in its arguments */
  if (short_begins(name, "Cijk_")) return put_tensile(name, to);
  if (!is_family(name)) return false;
  t.library = short_begins(name, "nvjet_") ? "nvjet" : short_has(name, "xmma") ? "xmma" : NULL;
  if (short_begins(name, "cutlass")) t.library = "cutlass";
  while (next_word(&rest, &w)) see_word(&t, w);
  return t.tile.p < t.tile.end && put_tiles(to, &t);
}

/* Finds the sides of a tile, such as "C<128>, C<256>, C<64>". Returns their number. Skips the sides of a cluster, which precede them
 * and have only one digit. */
static unsigned take_sides(struct short_span s, struct short_span *side) {
  unsigned n = 0;
  for (const char *p = s.p; n < 3 && (p = memmem(p, (size_t)(s.end - p), "C<", 2));) {
    p += 2;
    if (s.end - p > 5 && memcmp(p, "(int)", 5) == 0) p += 5;
    struct short_span digits = {p, p};
    while (digits.end < s.end && ascii_digit(*digits.end)) digits.end++;
    const size_t len = (size_t)(digits.end - digits.p);
    if (len >= 2 && len <= 4) side[n++] = digits;
    else n = 0;
  }
  return n;
}

bool short_tiles_of_shape(struct short_span args, struct short_text *to) {
  struct short_span side[3];
  const unsigned n = take_sides(args, side);
  if (n < 2) return false;
  short_put_text(to, "gemm ");
  for (unsigned i = 0; i < n; i++) {
    if (i) short_put_text(to, "x");
    short_put(to, side[i].p, (size_t)(side[i].end - side[i].p));
  }
  put_text(to, short_has(args, "float_e4m3") ? "e4m3" : short_has(args, "bfloat16") ? "bf16" : short_has(args, "half_t") ? "fp16"
               : short_has(args, "tfloat32") ? "tf32" : NULL);
  put_text(to, "cutlass");
  return true;
}

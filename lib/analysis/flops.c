/* flops.c - see flops.h.
 *
 * The table has one row for each operator. Positions of arguments are from PyTorch's native_functions.yaml. All arithmetic is in
 * doubles, because products of dimensions can exceed the range of integers; results above MOST are treated as unknown. */
#include "flops.h"

#include <math.h>
#include <string.h>

/* Order of the dimensions of queries, keys and values: batch, heads, length, size; or batch, length, heads, size. */
enum layout { BHLD, BLHD };

/* Formula for the operations and memory traffic of an operator. Numbers are positions of arguments, from 1; 0 = no such argument. */
struct flops_model {
  const char *name;
  bool (*of)(const struct flops_model *m, const struct op_inputs *in, struct flops *f);
  uint8_t a, b, c; /* product: factors and summand; convolution: input, weight and gradient of the output; attention: queries, keys and
                    * values */
  uint8_t stride, padding, dilation, transposed, output_padding, groups;
  uint8_t gradients;     /* argument with flags for the requested gradients */
  uint8_t causal, mask;  /* causal: argument with a truth value; mask: argument with a number, 0 = not causal */
  uint8_t lengths, window; /* lengths: argument with the lengths of packed sequences */
  enum layout layout;
  bool backward;
  uint8_t tensors, unread; /* elementwise: number of tensors; unread: number of leading tensors that are only written */
  bool in_place, tests;  /* in_place: writes its first tensor; tests: its result is boolean */
};

static const double MOST = 1e30;

static const struct op_tensor *tensor(const struct op_inputs *in, unsigned position) {
  return position && position <= in->n && in->in[position - 1].is ? &in->in[position - 1] : NULL;
}

static double bytes_of(const struct op_tensor *t) { return op_inputs_elements(t) * t->size; }

/* Stores the results. Returns false if they are too large. */
static bool keep(struct flops *f, double flops, double bytes, enum peak_type type) {
  *f = (struct flops){flops, bytes, true, true, type};
  return flops < MOST && bytes < MOST;
}

/* ---- matrix products ---- */

/* Models a product: (batch, m, k) times (batch, k, n), (m, k) times (k, n), or a matrix times a vector. */
static bool product(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  const struct op_tensor *a = tensor(in, m->a), *b = tensor(in, m->b), *c = tensor(in, m->c);
  if (!a || !b || (m->c && !c) || a->rank < 2 || a->rank > 3) return false;
  if (b->rank != a->rank && (a->rank != 2 || b->rank != 1)) return false;
  const double batch = a->rank == 3 ? a->dims[0] : 1, rows = a->dims[a->rank - 2], inner = a->dims[a->rank - 1];
  const double columns = b->rank == 1 ? 1 : b->dims[b->rank - 1];
  if (b->dims[b->rank == 1 ? 0 : b->rank - 2] != inner || (a->rank == 3 && b->dims[0] != batch)) return false;
  const double out = batch * rows * columns, bytes = bytes_of(a) + bytes_of(b) + (c ? bytes_of(c) : 0) + out * a->size;
  return keep(f, 2 * out * inner + (c ? out : 0), bytes, a->type);
}

/* Models a product of fp8 matrices. The type of the output is not recorded; two bytes per element are assumed. */
static bool scaled_product(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  if (!product(m, in, f)) return false;
  const struct op_tensor *a = tensor(in, m->a), *b = tensor(in, m->b);
  if (a->rank != 2 || b->rank != 2) return false;
  f->bytes += a->dims[0] * b->dims[1] * (2.0 - a->size);
  return true;
}

/* Models a linear layer: (..., k) times the transpose of (n, k). */
static bool linear(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  const struct op_tensor *a = tensor(in, m->a), *b = tensor(in, m->b), *c = tensor(in, m->c);
  if (!a || !b || a->rank < 1 || b->rank != 2 || b->dims[1] != a->dims[a->rank - 1]) return false;
  double out = b->dims[0];
  for (unsigned i = 0; i + 1 < a->rank; i++) out *= a->dims[i];
  if (c && c->rank != 1) return false;
  const double bytes = bytes_of(a) + bytes_of(b) + (c ? bytes_of(c) : 0) + out * a->size;
  return keep(f, 2 * out * b->dims[1] + (c ? out : 0), bytes, a->type);
}

/* ---- convolutions ---- */

/* Reads a list of n numbers. If the operator has no such argument, sets all numbers to `otherwise`. */
static bool list_or(const struct op_inputs *in, unsigned position, unsigned n, double otherwise, double *v) {
  for (unsigned i = 0; i < n; i++) v[i] = otherwise;
  return !position || op_inputs_list(in, position - 1, n, v);
}

/* Returns the number of elements of one output channel, that is, the product of its spatial dimensions; negative if it is
 * unknown. */
static double space_of_output(const struct flops_model *m, const struct op_inputs *in, bool transposed) {
  const struct op_tensor *x = tensor(in, m->a), *w = tensor(in, m->b);
  const unsigned n = x->rank - 2;
  double stride[OP_RANK], padding[OP_RANK], dilation[OP_RANK], more[OP_RANK], space = 1;
  if (!list_or(in, m->stride, n, 1, stride) || !list_or(in, m->padding, n, 0, padding) ||
      !list_or(in, m->dilation, n, 1, dilation) || !list_or(in, m->output_padding, n, 0, more))
    return -1;
  for (unsigned i = 0; i < n; i++) {
    const double reach = dilation[i] * (w->dims[2 + i] - 1) + 1, length = x->dims[2 + i];
    if (stride[i] < 1 || dilation[i] < 1 || padding[i] < 0 || w->dims[2 + i] < 1) return -1;
    const double steps = (length + 2 * padding[i] - reach) / stride[i];
    if (!transposed && steps < 0) return -1;
    const double out = transposed ? (length - 1) * stride[i] - 2 * padding[i] + reach + more[i] : floor(steps) + 1;
    if (out < 0) return -1;
    space *= out;
  }
  return space;
}

struct convolution {
  const struct op_tensor *x, *w;
  double each;       /* operations of one pass */
  double out;        /* elements of the output */
};

/* Finds the shape of a convolution. `out`: gradient of the output, which has its shape; NULL if the shape must be computed
 * from the arguments. Returns false if the shape is unknown. */
static bool convolution_shape(const struct flops_model *m, const struct op_inputs *in, const struct op_tensor *out,
                              struct convolution *v) {
  bool transposed = false;
  double groups = 1;
  v->x = tensor(in, m->a);
  v->w = tensor(in, m->b);
  if (!v->x || !v->w || v->x->rank < 3 || v->x->rank != v->w->rank || (out && out->rank != v->x->rank)) return false;
  if (m->transposed && !op_inputs_truth(in, m->transposed - 1, &transposed)) return false;
  if (m->groups && (!op_inputs_number(in, m->groups - 1, &groups) || groups < 1)) return false;
  const double *x = v->x->dims, *w = v->w->dims, channels = transposed ? w[1] * groups : w[0];
  if (m->groups && x[1] != (transposed ? w[0] : w[1] * groups)) return false;
  if (out && (out->dims[0] != x[0] || out->dims[1] != channels)) return false;
  double space = out ? 1 : space_of_output(m, in, transposed), in_space = 1;
  for (unsigned i = 2; i < v->x->rank; i++) in_space *= x[i];
  for (unsigned i = 2; out && i < out->rank; i++) space *= out->dims[i];
  if (space < 0) return false;
  v->out = x[0] * channels * space;
  v->each = 2 * x[0] * (transposed ? in_space : space) * op_inputs_elements(v->w);
  return true;
}

static bool convolution(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  struct convolution v;
  if (!convolution_shape(m, in, NULL, &v)) return false;
  return keep(f, v.each, bytes_of(v.x) + bytes_of(v.w) + v.out * v.x->size, v.x->type);
}

/* Models the backward pass: each gradient takes as many operations as the convolution, reads two tensors and writes one. */
static bool convolution_backward(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  const struct op_tensor *out = tensor(in, m->c);
  struct convolution v;
  if (!out || !convolution_shape(m, in, out, &v)) return false;
  const char *wanted = in->concrete[m->gradients - 1];
  const size_t n = in->concrete_len[m->gradients - 1];
  const char *second = wanted ? memchr(wanted, ',', n) : NULL;
  if (!second || *wanted != '[') return false;
  const bool input = memmem(wanted, (size_t)(second - wanted), "True", 4);
  const char *third = memchr(second + 1, ',', n - (size_t)(second + 1 - wanted));
  const bool weight = memmem(second, (size_t)((third ? third : wanted + n) - second), "True", 4);
  const double count = (double)input + (double)weight;
  return keep(f, count * v.each, count * (bytes_of(v.x) + bytes_of(v.w) + bytes_of(out)), v.x->type) && count > 0;
}

/* ---- attention ---- */

struct attention {
  double batch, heads, length, keys, size, value_size;
  bool causal;
};

/* True if the argument, a size of a window, is missing or negative, so that the window is unlimited. */
static bool is_unlimited(const struct op_inputs *in, unsigned position) {
  double v;
  return !position || op_inputs_is_none(in, position - 1) || (op_inputs_number(in, position - 1, &v) && v < 0);
}

static bool is_causal(const struct flops_model *m, const struct op_inputs *in, bool *causal) {
  double number = 0;
  if (m->causal) return op_inputs_truth(in, m->causal - 1, causal);
  if (!op_inputs_number(in, m->mask - 1, &number)) return false;
  *causal = number != 0;
  return true;
}

static bool attention_shape(const struct flops_model *m, const struct op_inputs *in, struct attention *v) {
  const struct op_tensor *q = tensor(in, m->a), *k = tensor(in, m->b), *w = tensor(in, m->c);
  const unsigned heads = m->layout == BHLD ? 1 : 2, length = m->layout == BHLD ? 2 : 1;
  if (!q || !k || !w || q->rank != 4 || k->rank != 4 || w->rank != 4) return false;
  const double *a = q->dims, *b = k->dims, *c = w->dims;
  if (a[0] != b[0] || a[0] != c[0] || a[3] != b[3] || b[length] != c[length] || b[heads] != c[heads]) return false;
  *v = (struct attention){a[0], a[heads], a[length], b[length], a[3], c[3], false};
  const struct op_tensor *lengths = tensor(in, m->lengths); /* an undefined tensor is empty */
  if ((lengths && op_inputs_elements(lengths) > 1) || !is_unlimited(in, m->window)) return false;
  return is_causal(m, in, &v->causal) && (!v->causal || v->length == v->keys);
}

/* Models attention: two matrix products, or five in the backward pass, which computes the scores again. A causal mask halves the
 * operations. */
static bool attention(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  const struct op_tensor *q = tensor(in, m->a), *k = tensor(in, m->b), *w = tensor(in, m->c);
  struct attention v;
  if (!attention_shape(m, in, &v)) return false;
  const double scores = 2 * v.batch * v.heads * v.length * v.keys;
  const double flops = scores * (m->backward ? 3 * v.size + 2 * v.value_size : v.size + v.value_size);
  const double out = v.batch * v.heads * v.length * v.value_size * q->size;
  const double inputs = bytes_of(q) + bytes_of(k) + bytes_of(w);
  return keep(f, v.causal ? flops / 2 : flops, (m->backward ? 2 * inputs : inputs) + out, q->type);
}

/* ---- elementwise ---- */

/* Extends the shape `to` to the common shape of `to` and `t` after broadcasting. Returns false if there is none. */
static bool broadcast(struct op_tensor *to, const struct op_tensor *t) {
  while (to->rank < t->rank) {
    memmove(to->dims + 1, to->dims, to->rank++ * sizeof *to->dims);
    to->dims[0] = 1;
  }
  for (unsigned i = 0; i < t->rank; i++) {
    double *d = &to->dims[to->rank - t->rank + i];
    if (*d != t->dims[i] && *d != 1 && t->dims[i] != 1) return false;
    if (*d == 1) *d = t->dims[i];
  }
  return true;
}

/* Models the memory traffic of an elementwise operator: it reads each tensor and writes one, whose type is the widest type of the
 * tensors with dimensions. Its operations are not counted. */
static bool each(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  struct op_tensor out = {.rank = 0};
  double bytes = 0;
  unsigned scalar = 0;
  if (!tensor(in, 1) && (m->tensors == 1 || m->in_place || !tensor(in, 2))) return false;
  for (unsigned i = 1; i <= m->tensors; i++) {
    const struct op_tensor *t = tensor(in, i);
    if (!t) continue; /* the argument is a number, not a tensor */
    if (!broadcast(&out, t)) return false;
    if (i > m->unread) bytes += bytes_of(t);
    if (t->rank && t->size > out.size) out.size = t->size;
    if (!t->rank && t->size > scalar) scalar = t->size;
  }
  if (!out.size) out.size = scalar;
  if (m->tests) out.size = 1;
  bytes += m->in_place ? bytes_of(tensor(in, 1)) : bytes_of(&out);
  *f = (struct flops){.bytes = bytes, .has_bytes = true, .type = tensor(in, 1) ? tensor(in, 1)->type : PEAK_UNKNOWN};
  return bytes < MOST;
}

/* ---- the table ---- */

#define FACTORS(name_, a_, b_, c_) {.name = name_, .of = product, .a = a_, .b = b_, .c = c_}
#define CONVOLUTION(name_, ...) {.name = name_, .of = convolution, .a = 1, .b = 2, __VA_ARGS__}
#define FORWARD(name_, ...) {.name = name_, .of = attention, .a = 1, .b = 2, .c = 3, __VA_ARGS__}
#define BACKWARD(name_, ...) {.name = name_, .of = attention, .a = 2, .b = 3, .c = 4, .backward = true, __VA_ARGS__}
#define EACH(name_, ...) {.name = name_, .of = each, __VA_ARGS__}
#define UNARY(name) EACH(name, .tensors = 1), EACH(name "_", .tensors = 1, .in_place = true)
#define BINARY(name) EACH(name, .tensors = 2), EACH(name "_", .tensors = 2, .in_place = true)
#define TERNARY(name) EACH(name, .tensors = 3), EACH(name "_", .tensors = 3, .in_place = true)
#define BINARY_ONLY(name) EACH(name, .tensors = 2)
#define TEST(name) EACH(name, .tensors = 2, .tests = true)

static const struct flops_model MODELS[] = {
  FACTORS("aten::mm", 1, 2, 0), FACTORS("aten::addmm", 2, 3, 1), FACTORS("aten::addmm_", 2, 3, 1),
  FACTORS("aten::_addmm_activation", 2, 3, 1), FACTORS("aten::bmm", 1, 2, 0), FACTORS("aten::baddbmm", 2, 3, 1),
  FACTORS("aten::baddbmm_", 2, 3, 1), FACTORS("aten::mv", 1, 2, 0), FACTORS("aten::addmv", 2, 3, 1),
  FACTORS("aten::addmv_", 2, 3, 1),
  {.name = "aten::_scaled_mm", .of = scaled_product, .a = 1, .b = 2},
  {.name = "aten::linear", .of = linear, .a = 1, .b = 2, .c = 3},

  CONVOLUTION("aten::convolution", .stride = 4, .padding = 5, .dilation = 6, .transposed = 7, .output_padding = 8, .groups = 9),
  CONVOLUTION("aten::_convolution", .stride = 4, .padding = 5, .dilation = 6, .transposed = 7, .output_padding = 8,
              .groups = 9),
  CONVOLUTION("aten::convolution_overrideable", .stride = 4, .padding = 5, .dilation = 6, .transposed = 7, .output_padding = 8,
              .groups = 9),
  CONVOLUTION("aten::cudnn_convolution", .padding = 3, .stride = 4, .dilation = 5, .groups = 6),
  CONVOLUTION("aten::miopen_convolution", .padding = 4, .stride = 5, .dilation = 6, .groups = 7),
  CONVOLUTION("aten::miopen_depthwise_convolution", .padding = 4, .stride = 5, .dilation = 6, .groups = 7),
  CONVOLUTION("aten::_conv_depthwise2d", .stride = 5, .padding = 6, .dilation = 7),
  {.name = "aten::convolution_backward", .of = convolution_backward, .a = 2, .b = 3, .c = 1, .stride = 5, .padding = 6,
   .dilation = 7, .transposed = 8, .output_padding = 9, .groups = 10, .gradients = 11},

  FORWARD("aten::_scaled_dot_product_flash_attention", .causal = 5),
  FORWARD("aten::_scaled_dot_product_efficient_attention", .causal = 7),
  FORWARD("aten::_scaled_dot_product_cudnn_attention", .causal = 7),
  FORWARD("aten::_flash_attention_forward", .layout = BLHD, .causal = 9, .lengths = 4, .window = 12),
  FORWARD("aten::_efficient_attention_forward", .layout = BLHD, .mask = 10, .lengths = 5, .window = 14),
  FORWARD("flash_attn::_flash_attn_forward", .layout = BLHD, .causal = 6, .window = 7),
  BACKWARD("aten::_scaled_dot_product_flash_attention_backward", .causal = 12, .lengths = 7),
  BACKWARD("aten::_scaled_dot_product_efficient_attention_backward", .causal = 12),
  BACKWARD("aten::_scaled_dot_product_cudnn_attention_backward", .causal = 15, .lengths = 10),
  BACKWARD("aten::_flash_attention_backward", .layout = BLHD, .causal = 12, .lengths = 7, .window = 16),
  BACKWARD("aten::_efficient_attention_backward", .layout = BLHD, .mask = 15, .lengths = 7, .window = 19),

  UNARY("aten::abs"), UNARY("aten::neg"), UNARY("aten::exp"), UNARY("aten::log"), UNARY("aten::log2"), UNARY("aten::log1p"),
  UNARY("aten::sqrt"), UNARY("aten::rsqrt"), UNARY("aten::reciprocal"), UNARY("aten::sin"), UNARY("aten::cos"),
  UNARY("aten::tanh"),
  UNARY("aten::sigmoid"), UNARY("aten::relu"), UNARY("aten::silu"), UNARY("aten::gelu"), UNARY("aten::elu"),
  UNARY("aten::leaky_relu"),
  UNARY("aten::hardtanh"), UNARY("aten::clamp"), UNARY("aten::clamp_min"), UNARY("aten::clamp_max"), UNARY("aten::nan_to_num"),
  UNARY("aten::erf"), UNARY("aten::floor"), UNARY("aten::ceil"), UNARY("aten::round"),
  EACH("aten::_softmax", .tensors = 1), EACH("aten::_log_softmax", .tensors = 1), EACH("aten::native_layer_norm", .tensors = 1),
  EACH("aten::logical_not", .tensors = 1, .tests = true),
  EACH("aten::fill_", .tensors = 1, .unread = 1, .in_place = true),
  EACH("aten::zero_", .tensors = 1, .unread = 1, .in_place = true),
  EACH("aten::copy_", .tensors = 2, .unread = 1, .in_place = true),
  BINARY("aten::add"), BINARY("aten::sub"), BINARY("aten::mul"), BINARY("aten::div"), BINARY("aten::pow"),
  BINARY("aten::masked_fill"),
  BINARY_ONLY("aten::rsub"), BINARY_ONLY("aten::maximum"), BINARY_ONLY("aten::minimum"), BINARY_ONLY("aten::gelu_backward"),
  BINARY_ONLY("aten::silu_backward"), BINARY_ONLY("aten::sigmoid_backward"), BINARY_ONLY("aten::tanh_backward"),
  BINARY_ONLY("aten::threshold_backward"), BINARY_ONLY("aten::_softmax_backward_data"),
  BINARY_ONLY("aten::_log_softmax_backward_data"),
  TERNARY("aten::addcmul"), TERNARY("aten::addcdiv"), EACH("aten::where", .tensors = 3),
  TEST("aten::eq"), TEST("aten::ne"), TEST("aten::lt"), TEST("aten::le"), TEST("aten::gt"), TEST("aten::ge"),
  TEST("aten::logical_and"), TEST("aten::logical_or")};

const struct flops_model *flops_find(const char *name) {
  for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++)
    if (strcmp(MODELS[i].name, name) == 0) return &MODELS[i];
  return NULL;
}

bool flops_is_counted(const struct flops_model *m) { return m->of != each; }

bool flops_of(const struct flops_model *m, const struct op_inputs *in, struct flops *f) {
  *f = (struct flops){.type = PEAK_UNKNOWN};
  if (!m->of(m, in, f)) return false;
  f->has_bytes = f->has_bytes && in->has_types;
  return f->has_flops || f->has_bytes;
}

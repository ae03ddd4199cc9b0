/* short_names.c - see short_names.h.
 *
 * The name of a C++ template consists of a return type, a path of names with arguments in <...>, parameters in (...), and, for lambdas,
 * a tail: "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<CUDAFunctor_add<float>>(...)::{lambda(int)#1}>". Its
 * short name contains the function and the functor that it applies: "elementwise<CUDAFunctor_add<float>>". WRAPPERS lists templates
 * around functors. Any closing bracket closes any opening one, and an unclosed bracket extends to the end. */
#include "short_names.h"

#include <string.h>

#include "base/text.h"
#include "short_mangled.h"
#include "short_tiles.h"

static bool short_ends(struct short_span s, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(s.end - s.p) >= n && memcmp(s.end - n, word, n) == 0;
}

static struct short_span trimmed(struct short_span s) {
  while (s.p < s.end && *s.p == ' ') s.p++;
  while (s.p < s.end && s.end[-1] == ' ') s.end--;
  return s;
}

/* ---- C++ ---- */

static int turn(const char *p, const char *begin) {
  if (strchr("<([{", *p)) return *p ? 1 : 0;
  if (*p == '>' && p > begin && p[-1] == '-') return 0;
  return *p && strchr(">)]}", *p) ? -1 : 0;
}

/* Returns the position after the bracket that closes the bracket at s.p; s.end if it is not closed. */
static const char *behind_bracket(struct short_span s) {
  size_t depth = 0;
  for (const char *p = s.p; p < s.end; p++) {
    const int by = turn(p, s.p);
    if (by > 0) depth++;
    if (by < 0 && --depth == 0) return p + 1;
  }
  return s.end;
}

/* True for brackets that are names: "(anonymous namespace)", "<unnamed>". */
static bool is_unnamed(struct short_span s) {
  return short_begins(s, "(anonymous namespace)") || short_begins(s, "<unnamed>") || short_begins(s, "{anonymous}");
}

/* The parts of a function or class; each may be empty. */
struct entity {
  struct short_span outer, base, args, tail; /* outer: the name before the base; tail: everything after the base and its arguments */
};

/* Returns the name without its return type: the text after the last space that is outside of brackets and before the parameters. */
static struct short_span without_return_type(struct short_span s) {
  struct short_span rest = s;
  for (const char *p = s.p; p < s.end;) {
    const struct short_span at = {p, s.end};
    if (*p == '(' && !is_unnamed(at)) break;
    if (*p == ' ' && !short_ends((struct short_span){s.p, p}, "operator")) rest.p = p + 1;
    p = turn(p, s.p) > 0 ? behind_bracket(at) : p + 1;
  }
  return rest.p < rest.end ? rest : s;
}

static const char *end_of_word(struct short_span s) {
  const char *p = s.p;
  while (p < s.end && (ascii_letter(*p) || ascii_digit(*p) || *p == '_' || *p == '~' || *p == '$' || (*p & 0x80))) p++;
  return p;
}

/* Divides a name into its parts. The base is the first function of the path; if there is none, the last name. */
static struct entity entity_of(struct short_span whole) {
  struct short_span s = without_return_type(trimmed(whole));
  struct entity e = {{s.p, s.p}, {s.p, s.p}, {s.p, s.p}, {s.end, s.end}};
  while (s.p < s.end) {
    const struct short_span word = {s.p, end_of_word(s)};
    if (is_unnamed(s)) {
      s.p = behind_bracket(s);
    } else if (short_is(word, "operator") || word.p == word.end) {
      e.tail.p = s.p;
      return e;
    } else {
      e.outer = e.base;
      e.base = word;
      s.p = word.end;
      e.args = (struct short_span){s.p, s.p};
      if (s.p < s.end && *s.p == '<') e.args = (struct short_span){s.p + 1, behind_bracket(s)};
      if (e.args.end > e.args.p) s.p = e.args.end, e.args.end -= e.args.end[-1] == '>';
    }
    e.tail.p = s.p;
    if (s.end - s.p < 2 || s.p[0] != ':' || s.p[1] != ':') return e;
    s.p += 2;
  }
  return e;
}

/* Takes the next argument from the list. Returns false at the end. */
static bool next_argument(struct short_span *list, struct short_span *arg) {
  if (list->p >= list->end) return false;
  const char *p = list->p;
  while (p < list->end && *p != ',') p = turn(p, list->p) > 0 ? behind_bracket((struct short_span){p, list->end}) : p + 1;
  *arg = trimmed((struct short_span){list->p, p});
  list->p = p < list->end ? p + 1 : p;
  return true;
}

/* True for arguments that are values: 4, (int)4, true, -2, 0u. */
static bool is_value(struct short_span s) {
  return s.p == s.end || ascii_digit(*s.p) || *s.p == '-' || *s.p == '(' || short_is(s, "true") || short_is(s, "false");
}

/* ---- functors ---- */

enum which { FIRST_TYPE, SECOND_TYPE, LAST_TYPE };

/* Templates around a functor. `which`: the argument that is the functor. */
static const struct {
  const char *name;
  enum which which;
} WRAPPERS[] = {
  {"gpu_kernel_impl", FIRST_TYPE},   {"gpu_kernel_impl_nocast", FIRST_TYPE}, {"gpu_index_kernel", FIRST_TYPE},
  {"ReduceOp", SECOND_TYPE},         {"func_wrapper_t", LAST_TYPE},          {"BinaryFunctor", LAST_TYPE},
  {"AUnaryFunctor", LAST_TYPE},      {"BUnaryFunctor", LAST_TYPE},           {"UnaryFunctor", LAST_TYPE},
  {"gpu_kernel_with_index", FIRST_TYPE},
};

/* Returns the first, second or last argument that is a type, as `which` selects; an empty span if there is none. */
static struct short_span type_argument(struct short_span list, enum which which) {
  struct short_span arg, found = {list.p, list.p};
  for (unsigned n = 0; next_argument(&list, &arg);) {
    if (is_value(arg)) continue;
    found = arg;
    if (which != LAST_TYPE && n++ == (unsigned)which) return found;
  }
  return which == LAST_TYPE ? found : (struct short_span){list.p, list.p};
}

/* Returns the type of the first parameter of the last lambda in the tail; an empty span if there is none. */
static struct short_span lambda_type(struct short_span tail) {
  struct short_span found = {tail.end, tail.end}, arg;
  static const char WORD[] = "lambda(";
  for (const char *at = tail.p; (at = memmem(at, (size_t)(tail.end - at), WORD, sizeof WORD - 1));) {
    at += sizeof WORD - 1;
    found = (struct short_span){at, at};
  }
  while (found.end < tail.end && *found.end != ')') found.end++;
  return next_argument(&found, &arg) ? arg : (struct short_span){tail.end, tail.end};
}

/* Writes the name of a type without its scope and arguments: "BFloat16". */
static void put_type(struct short_text *to, struct short_span type) {
  const struct entity e = entity_of(type);
  if (short_begins(type, "unsigned ") || short_begins(type, "long long")) short_put(to, type.p, (size_t)(type.end - type.p));
  else short_put(to, e.base.p, (size_t)(e.base.end - e.base.p));
}

static void put_in_angles(struct short_text *to, struct short_span type) {
  if (type.p == type.end) return;
  short_put_text(to, "<");
  put_type(to, type);
  short_put_text(to, ">");
}

/* Writes a name without a suffix that is common among kernels: "exp_kernel_cuda" becomes "exp". */
static void put_stem(struct short_text *to, struct short_span name) {
  static const char *const ENDS[] = {"_kernel_cuda", "_cuda_kernel", "_kernel_impl", "_kernel", "_functor", "CUDAKernelImpl",
                                     "_cuda_out", "_cuda"};
  for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++) {
    if (!short_ends(name, ENDS[i]) || short_is(name, ENDS[i])) continue;
    name.end -= strlen(ENDS[i]);
    break;
  }
  short_put(to, name.p, (size_t)(name.end - name.p));
}

/* Writes a functor: its class and the type on which it computes. For a lambda, the function that contains the lambda replaces the
 * class. */
static void put_functor(struct short_text *to, struct short_span functor) {
  struct entity e = entity_of(functor);
  for (size_t i = 0, depth = 0; i < sizeof WRAPPERS / sizeof *WRAPPERS && depth < 6; i++) {
    if (!short_is(e.base, WRAPPERS[i].name)) continue;
    const struct short_span inner = type_argument(e.args, WRAPPERS[i].which);
    if (inner.p == inner.end) continue;
    e = entity_of(inner);
    depth++;
    i = SIZE_MAX; /* from the first row */
  }
  const struct short_span lambda = lambda_type(e.tail), type = type_argument(e.args, FIRST_TYPE);
  put_stem(to, e.base);
  put_in_angles(to, lambda.p < lambda.end ? lambda : type);
}

/* ---- kernels ---- */

/* Kernels that apply a functor, and the word for them. */
static const struct {
  const char *name, *label;
} APPLIERS[] = {
  {"elementwise_kernel", "elementwise"},
  {"vectorized_elementwise_kernel", "elementwise"},
  {"unrolled_elementwise_kernel", "elementwise"},
  {"vectorized_templated_elementwise_kernel", "elementwise"},
  {"elementwise_kernel_manual_unroll", "elementwise"},
  {"elementwise_kernel_with_index", "elementwise"},
  {"unrolled_elementwise_kernel_for_multi_outputs", "elementwise"},
  {"distribution_elementwise_grid_stride_kernel", "random"},
  {"index_elementwise_kernel", "index"},
  {"_scatter_gather_elementwise_kernel", "scatter_gather"},
  {"multi_tensor_apply_kernel", "multi_tensor"},
  {"reduce_kernel", "reduce"},
  {"reduce_1Block_kernel", "reduce"},
};

/* True if a template argument is a list of pointers. In some kernels, such an argument precedes the functor. */
static bool is_list(struct short_span s) {
  const struct entity e = entity_of(s);
  return short_begins(e.base, "TensorListMetadata") || short_begins(e.base, "TensorListScalarListMetadata") ||
         short_begins(e.base, "FusedOptimizerTensorListMetadata") || short_is(e.base, "Array") || short_is(e.base, "array");
}

/* True if a template argument is a number type. In some kernels, such an argument precedes the functor. */
static bool is_number_type(struct short_span s) {
  static const char *const WORDS[] = {"int", "long", "float", "double", "bool", "unsigned int", "unsigned long", "c10::Half",
                                      "c10::BFloat16", "short", "unsigned char", "signed char", "T2", "T3"};
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
    if (short_is(s, WORDS[i])) return true;
  return false;
}

static bool put_applier(struct short_text *to, const struct entity *e) {
  struct short_span list = e->args, arg;
  size_t i = 0;
  while (i < sizeof APPLIERS / sizeof *APPLIERS && !short_is(e->base, APPLIERS[i].name)) i++;
  if (i == sizeof APPLIERS / sizeof *APPLIERS) return false;
  while (next_argument(&list, &arg)) {
    if (is_value(arg) || is_number_type(arg) || is_list(arg)) continue;
    short_put_text(to, APPLIERS[i].label);
    short_put_text(to, "<");
    put_functor(to, arg);
    short_put_text(to, ">");
    return true;
  }
  return false;
}

/* Writes the short name of a flash attention kernel, such as "flash_fwd_kernel<Flash_fwd_kernel_traits<128, ..., cutlass::bfloat16_t,
 * ...>, ...>". */
static bool put_flash(struct short_text *to, const struct entity *e) {
  struct short_span list = e->args, traits, dim;
  if (!short_begins(e->base, "flash_") || !next_argument(&list, &traits)) return false;
  list = entity_of(traits).args;
  if (!next_argument(&list, &dim)) return false;
  if (short_begins(dim, "(int)")) dim.p += 5;
  short_put(to, e->base.p, (size_t)(e->base.end - e->base.p));
  short_put_text(to, "<");
  short_put(to, dim.p, (size_t)(dim.end - dim.p));
  if (short_has(traits, "bfloat16_t")) short_put_text(to, ", bf16");
  else if (short_has(traits, "half_t")) short_put_text(to, ", fp16");
  short_put_text(to, ">");
  return true;
}

/* Writes the short name of a CUTLASS kernel. All of them are instances of a template, whose argument describes the kernel. */
static bool put_cutlass(struct short_text *to, const struct entity *e) {
  struct short_span list = e->args, arg;
  if (!short_is(e->base, "Kernel") && !short_is(e->base, "Kernel2") && !short_is(e->base, "device_kernel")) return false;
  if (!next_argument(&list, &arg) || is_value(arg)) return false;
  if (short_begins(arg, "cutlass_")) return short_tiles(arg, to);
  const struct entity inner = entity_of(arg);
  const bool enabler = short_begins(inner.base, "enable_");
  const struct short_span what = enabler ? type_argument(inner.args, FIRST_TYPE) : arg;
  const struct entity kernel = entity_of(what);
  if (short_is(kernel.base, "GemmUniversal") || short_is(kernel.base, "GemmUniversalAdapter")) return short_tiles_of_shape(what, to);
  if (kernel.base.p == kernel.base.end) return false;
  short_put(to, kernel.base.p, (size_t)(kernel.base.end - kernel.base.p));
  return true;
}

static bool is_common_word(struct short_span s) {
  return short_is(s, "kernel") || short_is(s, "Kernel") || short_is(s, "run") || short_is(s, "globalKernel");
}

/* Writes the short name of an XLA kernel: "all-reduce-start_kernel<float, float>", "gemm_fusion_dot.1_kernel<float>". These are not C++
 * names, so only the brackets and their contents are removed. */
static bool put_xla(struct short_text *to, const struct entity *e) {
  const char *end = e->base.end;
  if (end == e->tail.end || (*end != '-' && *end != '.')) return false;
  while (end < e->tail.end && *end != '<' && *end != '(') end++;
  short_put(to, e->base.p, (size_t)(end - e->base.p));
  return true;
}

static bool put_function(struct short_text *to, const struct entity *e) {
  if (is_common_word(e->base) && e->outer.p < e->outer.end) {
    short_put(to, e->outer.p, (size_t)(e->outer.end - e->outer.p));
    short_put_text(to, "::");
  }
  short_put(to, e->base.p, (size_t)(e->base.end - e->base.p));
  put_in_angles(to, type_argument(e->args, FIRST_TYPE));
  return true;
}

/* True for names with parameters or template arguments. False for sentences such as "Stream wait (2)". */
static bool is_template(struct short_span s) {
  const char *angle = memchr(s.p, '<', (size_t)(s.end - s.p)), *round = memchr(s.p, '(', (size_t)(s.end - s.p));
  const struct short_span rest = without_return_type(s), type = {s.p, rest.p};
  if (!angle && !round) return false;
  return rest.p == s.p || short_begins(type, "void") || short_has(type, "::");
}

/* True for underscores between words, but not for the one in "int8_t". */
static bool is_separator(struct short_span s) {
  return *s.p == '_' && !(short_begins(s, "_t") && (s.end - s.p == 2 || s.p[2] == '(' || s.p[2] == '_'));
}

/* Writes the short name of a collective's kernel: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
 * becomes "nccl AllReduce Sum f32 RING LL". */
static bool put_collective(struct short_text *to, struct short_span s) {
  static const char *const BEGINS[] = {"ncclDevKernel_", "ncclKernel_", "rcclDevKernel_", "rcclKernel_"};
  size_t i = 0;
  while (i < sizeof BEGINS / sizeof *BEGINS && !short_begins(s, BEGINS[i])) i++;
  if (i == sizeof BEGINS / sizeof *BEGINS) return false;
  short_put(to, BEGINS[i], 4);
  short_put_text(to, " ");
  for (const char *p = s.p + strlen(BEGINS[i]); p < s.end && *p != '(' && !to->cut; p++)
    short_put(to, is_separator((struct short_span){p, s.end}) ? " " : p, 1);
  return true;
}

/* Writes the name of the function in a mangled C++ name. */
static bool put_mangled(struct short_text *to, struct short_span s) {
  struct entity e = {.args = {s.end, s.end}};
  return short_mangled(s, &e.outer, &e.base) && put_function(to, &e);
}

/* Returns the name without the suffix that marks a kernel descriptor in ROCm's code objects. */
static struct short_span without_descriptor(struct short_span s) {
  static const char *const ENDS[] = {" [clone .kd]", ".kd"};
  for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
    if (short_ends(s, ENDS[i])) return (struct short_span){s.p, s.end - strlen(ENDS[i])};
  return s;
}

bool short_names_of(const char *name, size_t n, struct short_text *to) {
  const struct short_span s = without_descriptor((struct short_span){name, name + n});
  *to = (struct short_text){.n = 0};
  if (n == 0) return false;
  bool made = put_collective(to, s) || short_tiles(s, to) || put_mangled(to, s);
  if (!made && is_template(s)) {
    const struct entity e = entity_of(s);
    made = e.base.p < e.base.end && (put_xla(to, &e) || put_applier(to, &e) || put_flash(to, &e) || put_cutlass(to, &e) ||
                                     put_function(to, &e));
  }
  if (!made) {
    *to = (struct short_text){.n = 0};
    short_put(to, s.p, (size_t)(s.end - s.p));
  }
  if (to->cut || to->n >= n || to->n == 0) to->n = 0;
  return to->n > 0;
}

/* op_inputs.c - see op_inputs.h. The texts come from a trace, so their syntax is checked. */
#include "op_inputs.h"

#include <string.h>

#include "base/text.h"
#include "format/json.h"

/* Types as PyTorch names them: caffe2::TypeMeta::name, c10 scalar types. int8 is the only integer type with a peak. */
static const struct {
  const char *name;
  unsigned size;
  enum peak_type type;
} TYPES[] = {
  {"float", 4, PEAK_FP32}, {"c10::BFloat16", 2, PEAK_BF16}, {"c10::Half", 2, PEAK_FP16}, {"double", 8, PEAK_FP64},
  {"c10::Float8_e4m3fn", 1, PEAK_FP8}, {"c10::Float8_e5m2", 1, PEAK_FP8}, {"c10::Float8_e4m3fnuz", 1, PEAK_FP8},
  {"c10::Float8_e5m2fnuz", 1, PEAK_FP8}, {"signed char", 1, PEAK_INT8}, {"unsigned char", 1, PEAK_INT8},
  {"bool", 1, PEAK_UNKNOWN}, {"int", 4, PEAK_UNKNOWN}, {"long int", 8, PEAK_UNKNOWN}, {"long", 8, PEAK_UNKNOWN},
  {"short int", 2, PEAK_UNKNOWN}, {"short", 2, PEAK_UNKNOWN}};

static struct json list_at(const char *text, size_t n) {
  struct json j = {.p = (const uint8_t *)text + 1, .last = true};
  j.end = (const uint8_t *)text + n;
  return j;
}

static bool is_list(const char *text, size_t n) { return n >= 2 && text[0] == '[' && text[n - 1] == ']'; }

/* Scans the next element of a list. Returns false at the end of the list, and also on a syntax error; *bad is then set. */
static bool next_element(struct json *j, struct json_value *v, bool *first, bool *bad) {
  *bad = !json_blank(j);
  if (*bad) return false;
  if (*j->p == ']') return false;
  *bad = (!*first && (*j->p++ != ',' || !json_blank(j))) || !json_value(j, v);
  *first = false;
  return !*bad;
}

/* Reads the dimensions of one input. A list of tensors is not treated as a tensor. */
static bool read_dims(const struct json_value *list, struct op_tensor *t) {
  struct json j = list_at((const char *)list->p, (size_t)(list->end - list->p));
  struct json_value v;
  bool first = true, bad = false;
  t->is = true;
  while (next_element(&j, &v, &first, &bad)) {
    if (v.type == JSON_ARRAY) t->is = false;
    if (v.type == JSON_ARRAY || !t->is) continue;
    if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || (uint64_t)v.num.mant >= JSON_SAFE_INT) return false;
    if (t->rank == OP_RANK) return false;
    t->dims[t->rank++] = (double)v.num.mant;
  }
  return !bad;
}

static bool read_all_dims(struct op_inputs *in, const char *text, size_t n) {
  struct json j = list_at(text, n);
  struct json_value v;
  bool first = true, bad = false;
  while (next_element(&j, &v, &first, &bad)) {
    if (in->n == OP_INPUTS) return true; /* no model needs more inputs */
    struct op_tensor *t = &in->in[in->n++];
    *t = (struct op_tensor){.type = PEAK_UNKNOWN};
    if (v.type == JSON_ARRAY && !read_dims(&v, t)) return false;
  }
  return !bad;
}

static void set_type(struct op_tensor *t, const char *name, size_t n) {
  bool known = false;
  for (size_t i = 0; !known && i < sizeof TYPES / sizeof *TYPES; i++) {
    if (strlen(TYPES[i].name) != n || memcmp(TYPES[i].name, name, n) != 0) continue;
    t->size = TYPES[i].size;
    t->type = TYPES[i].type;
    known = true;
  }
  t->is = t->is && known;
}

static bool read_types(struct op_inputs *in, const char *text, size_t n) {
  struct json j = list_at(text, n);
  struct json_value v;
  bool first = true, bad = false;
  unsigned at = 0;
  while (at < in->n && next_element(&j, &v, &first, &bad)) {
    const bool is = v.type == JSON_STRING && v.end - v.p >= 2;
    set_type(&in->in[at++], is ? (const char *)v.p + 1 : "", is ? (size_t)(v.end - v.p) - 2 : 0);
  }
  return !bad && at == in->n;
}

/* Used if types were not recorded: treats only inputs with dimensions as tensors, because any other input can be a number or a tensor
 * of rank 0. */
static void guess_tensors(struct op_inputs *in) {
  for (unsigned i = 0; i < in->n; i++) in->in[i].is = in->in[i].is && in->in[i].rank > 0;
}

static void read_concrete(struct op_inputs *in, const char *text, size_t n) {
  struct json j = list_at(text, n);
  struct json_value v;
  bool first = true, bad = false;
  for (unsigned at = 0; at < OP_INPUTS && next_element(&j, &v, &first, &bad); at++) {
    const size_t quotes = v.type == JSON_STRING ? 1 : 0;
    if ((size_t)(v.end - v.p) < 2 * quotes) return;
    in->concrete[at] = (const char *)v.p + quotes;
    in->concrete_len[at] = (size_t)(v.end - v.p) - 2 * quotes;
  }
}

bool op_inputs_read(struct op_inputs *in, const struct op_texts *texts) {
  in->n = 0;
  memset(in->concrete, 0, sizeof in->concrete);
  memset(in->concrete_len, 0, sizeof in->concrete_len);
  in->has_types = texts->n_types > 0;
  if (!is_list(texts->dims, texts->n_dims) || !read_all_dims(in, texts->dims, texts->n_dims)) return false;
  if (!in->has_types) guess_tensors(in);
  else if (!is_list(texts->types, texts->n_types) || !read_types(in, texts->types, texts->n_types)) return false;
  if (is_list(texts->concrete, texts->n_concrete)) read_concrete(in, texts->concrete, texts->n_concrete);
  return true;
}

double op_inputs_elements(const struct op_tensor *t) {
  double n = 1;
  for (unsigned i = 0; i < t->rank; i++) n *= t->dims[i];
  return n;
}

/* ---- printed values ---- */

static bool is_printed(const struct op_inputs *in, unsigned at, const char *word) {
  const size_t n = strlen(word);
  return at < OP_INPUTS && in->concrete[at] && in->concrete_len[at] == n && ascii_equal(in->concrete[at], word, n);
}

bool op_inputs_is_none(const struct op_inputs *in, unsigned at) {
  return at >= OP_INPUTS || !in->concrete_len[at] || is_printed(in, at, "none") || is_printed(in, at, "null");
}

bool op_inputs_truth(const struct op_inputs *in, unsigned at, bool *v) {
  *v = is_printed(in, at, "true");
  return *v || is_printed(in, at, "false");
}

/* Reads an integer at *p, and moves *p past it. The text ends at `end`. Returns false if there is none, or if it is too large. */
static bool read_whole(const char **p, const char *end, double *v) {
  const bool negative = *p < end && **p == '-';
  const char *at = *p + negative;
  double n = 0;
  if (at >= end || !ascii_digit(*at)) return false;
  for (; at < end && ascii_digit(*at); at++) n = n * 10 + (*at - '0');
  if (n >= (double)JSON_SAFE_INT) return false;
  *v = negative ? -n : n;
  *p = at;
  return true;
}

bool op_inputs_number(const struct op_inputs *in, unsigned at, double *v) {
  if (op_inputs_is_none(in, at)) return false;
  const char *p = in->concrete[at], *end = p + in->concrete_len[at];
  return read_whole(&p, end, v) && p == end;
}

bool op_inputs_list(const struct op_inputs *in, unsigned at, unsigned n, double *v) {
  if (op_inputs_is_none(in, at) || n == 0) return false;
  const char *p = in->concrete[at], *end = p + in->concrete_len[at];
  const bool listed = *p == '[';
  unsigned k = 0;
  p += listed;
  do {
    while (p < end && (*p == ' ' || *p == ',')) p++;
    if (k == n || !read_whole(&p, end, &v[k++])) return false;
  } while (listed && p < end && *p != ']');
  if (listed ? p + 1 != end : p != end) return false;
  for (unsigned i = k; k == 1 && i < n; i++) v[i] = v[0];
  return k == 1 || k == n;
}

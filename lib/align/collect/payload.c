/* payload.c - computes the sizes of types and of the inputs of calls (payload.h). */
#include "payload.h"

#include <string.h>

#include "base/text.h"
#include "format/json.h"

/* True if `type` equals `name`, ignoring case; `name` is in lower case. */
static bool is_called(const char *type, const char *name) {
  for (; *name; name++, type++)
    if ((*type >= 'A' && *type <= 'Z' ? *type + ('a' - 'A') : *type) != *name) return false;
  return *type == 0;
}

int64_t payload_element(const char *type) {
  static const struct {
    const char *name;
    int64_t size;
  } TYPES[] = {{"byte", 1},   {"char", 1},          {"bool", 1},   {"unsigned char", 1}, {"signed char", 1}, {"half", 2},
               {"bfloat16", 2}, {"short", 2},       {"short int", 2}, {"uint16", 2},     {"int", 4},         {"float", 4},
               {"uint32", 4}, {"long", 8},          {"long int", 8}, {"double", 8},      {"uint64", 8},      {"complexfloat", 8},
               /* HCCL, HcclDataType */
               {"int8", 1},   {"uint8", 1},         {"int16", 2},  {"fp16", 2},          {"bfp16", 2},       {"bf16", 2},
               {"int32", 4},  {"fp32", 4},          {"int64", 8},  {"fp64", 8}};
  if (text_begins(type, "c10::")) type += 5;
  if (text_begins(type, "Float8")) return 1;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
    if (is_called(type, TYPES[i].name)) return TYPES[i].size;
  return 0;
}

/* Reads the next value of a list; returns false at its end. */
static bool next(struct json *list, struct json_value *v) {
  if (!json_blank(list)) return false;
  list->p += *list->p == ',';
  return json_blank(list) && *list->p != ']' && json_value(list, v);
}

static struct json list_of(const struct json_value *v) { return (struct json){.p = v->p + 1, .end = v->end, .last = true}; }

/* Returns the number of elements of a shape such as [394241] or [8, 16]; -1 if the value is not a shape. */
static int64_t elements(const struct json_value *shape) {
  struct json list = list_of(shape);
  struct json_value v;
  int64_t n = 1;
  bool any = false;
  while (next(&list, &v)) {
    if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0 || __builtin_mul_overflow(n, v.num.mant, &n)) return -1;
    any = true;
  }
  return any ? n : -1;
}

static bool payload_text_of(const struct tk_trace *t, const struct tk_event *call, const char *key, struct json_value *list) {
  struct tk_arg arg;
  size_t n;
  if (!tk_args_find(t, call->args, key, &arg) || (arg.type != TK_ARG_JSON && arg.type != TK_ARG_STR)) return false;
  list->p = (const uint8_t *)tk_string(t, arg.s, &n);
  list->end = list->p + n;
  return n > 1 && *list->p == '[';
}

/* True if the collective moves as many bytes as its input has. A gather does not, because its output is the input times the
 * number of ranks, nor does an all-to-all, in which part of the input stays local. */
static bool moves_its_inputs(const char *name) {
  static const char *const KINDS[] = {"all_reduce", "allreduce", "reduce_scatter", "broadcast", "reduce", "send", "recv",
                                      NULL};
  return text_begins(name, "nccl:") && !strstr(name, "gather") && text_any_begins(name + 5 + strspn(name + 5, "_"), KINDS);
}

int64_t payload_of_call(const struct tk_trace *t, const struct tk_event *call) {
  struct json_value dims, types, shape, type;
  char name[32];
  int64_t sum = 0, n, bytes;
  if (!moves_its_inputs(tk_string(t, t->classes[call->cls].name, NULL))) return -1;
  if (!payload_text_of(t, call, "Input Dims", &dims) || !payload_text_of(t, call, "Input type", &types)) return -1;
  struct json shapes = list_of(&dims), names = list_of(&types);
  while (next(&shapes, &shape)) {
    if (!next(&names, &type) || type.type != JSON_STRING || type.str.n >= sizeof name) return -1;
    if (shape.type != JSON_ARRAY || (n = elements(&shape)) < 0) continue; /* not a shape but a scalar parameter */
    memcpy(name, type.str.p, type.str.n);
    name[type.str.n] = 0;
    if (__builtin_mul_overflow(n, payload_element(name), &bytes) || __builtin_add_overflow(sum, bytes, &sum)) return -1;
  }
  return sum > 0 ? sum : -1;
}

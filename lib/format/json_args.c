#include "json_args.h"

#include "io/in.h"
#include "graph/args.h"

/* ---- out ---- */

static bool json_put_value(struct buf *b, const struct tk_trace *t, const struct tk_arg *a) {
  char text[96];
  switch (a->type) {
  case TK_ARG_NULL: return buf_text(b, "null");
  case TK_ARG_FALSE: return buf_text(b, "false");
  case TK_ARG_TRUE: return buf_text(b, "true");
  case TK_ARG_INT: return buf_append(b, text, num_put_i64(text, a->i));
  case TK_ARG_UINT:
  case TK_ARG_POINTER: return buf_append(b, text, num_put_u64(text, a->u));
  case TK_ARG_DECIMAL: return buf_append(b, text, num_put_decimal(text, a->i, a->exp));
  case TK_ARG_DOUBLE:
    return a->d - a->d == 0 ? buf_append(b, text, num_put_double(text, a->d)) : buf_text(b, "null");
  case TK_ARG_NUMBER:
  case TK_ARG_JSON: return buf_append(b, trace_str(t, a->s)->bytes, trace_str(t, a->s)->len);
  default: return json_quote_id(b, t, a->s);
  }
}

bool json_put_args(struct buf *b, const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  bool ok = buf_text(b, "{");
  for (const char *comma = ""; ok && tk_args_next(&it, &arg); comma = ",")
    ok = buf_text(b, comma) && json_quote_id(b, t, arg.key) && buf_text(b, ":") && json_put_value(b, t, &arg);
  return ok && buf_text(b, "}");
}

/* ---- in ---- */

static tk_id json_text_of(struct tk_trace *t, struct json *j, const struct json_string *s) {
  size_t n;
  const uint8_t *p = json_string_text(j, s, &n);
  return trace_string(t, p, n);
}

struct tk_arg json_number_arg(struct tk_trace *t, const struct json_value *v) {
  static const enum tk_arg_type types[] = {[NUM_INT] = TK_ARG_INT, [NUM_UINT] = TK_ARG_UINT, [NUM_DEC] = TK_ARG_DECIMAL};
  if (v->num.kind == NUM_NONE || v->num.kind == NUM_BIG)
    return (struct tk_arg){.type = TK_ARG_NUMBER, .s = trace_string(t, v->p, (size_t)(v->end - v->p))};
  return (struct tk_arg){.type = types[v->num.kind], .exp = v->num.exp, .i = v->num.mant};
}

void json_take_value(struct tk_trace *t, struct json *j, tk_id key, const struct json_value *v) {
  struct tk_arg number;
  switch (v->type) {
  case JSON_NULL: args_flag(t, key, TK_ARG_NULL); return;
  case JSON_FALSE: args_flag(t, key, TK_ARG_FALSE); return;
  case JSON_TRUE: args_flag(t, key, TK_ARG_TRUE); return;
  case JSON_NUMBER:
    number = json_number_arg(t, v);
    number.key = key;
    args_copy(t, &number);
    return;
  case JSON_STRING: args_str(t, key, TK_ARG_STR, json_text_of(t, j, &v->str)); return;
  default: args_str(t, key, TK_ARG_JSON, trace_string(t, v->p, (size_t)(v->end - v->p)));
  }
}

/* Converts the members of an object that json_copy wrote to packed args. */
static uint32_t members(struct tk_trace *t, struct json *j) {
  struct json_string key;
  struct json_value v;
  args_begin(t);
  for (j->p++; j->p < j->end && *j->p == '"'; j->p += j->p < j->end && *j->p == ',') {
    if (!json_key(j, &key)) break;
    tk_id id = json_text_of(t, j, &key);
    if (!json_value(j, &v)) break;
    json_take_value(t, j, id, &v);
  }
  return args_end(t);
}

uint32_t json_take_args(struct tk_trace *t, const void *text, size_t n) {
  static const uint8_t pad[IN_PAD];
  struct mem *mem = &t->store->mem;
  struct buf raw = {.mem = mem}, strict = {.mem = mem};
  uint32_t args = 0;
  if (buf_append(&raw, text, n) && buf_append(&raw, pad, sizeof pad)) {
    struct json j = {.p = raw.data, .end = raw.data + n, .last = true, .scratch = {.mem = mem}};
    bool ok = json_blank(&j) && *j.p == '{' && json_copy(&j, &strict) && buf_append(&strict, pad, sizeof pad);
    buf_free(&j.scratch);
    struct arg_builder outer = args_set_aside(t);
    if (ok) {
      j = (struct json){.p = strict.data, .end = strict.data + strict.len - sizeof pad, .last = true, .scratch = {.mem = mem}};
      args = members(t, &j);
      buf_free(&j.scratch);
    }
    args_take_up(t, outer);
  }
  buf_free(&raw);
  buf_free(&strict);
  return args;
}

/* torch_range.c - see torch_range.h. */
#include "torch_range.h"

#include <string.h>

#include "base/num.h"
#include "graph/args.h"

/* A name, of which [p, end) is not parsed yet. */
struct rest {
  const char *start, *p, *end;
};

static bool take_key(struct rest *s, const char *key) {
  const size_t n = strlen(key);
  if ((size_t)(s->end - s->p) < n || memcmp(s->p, key, n) != 0) return false;
  s->p += n;
  return true;
}

static bool number_after(struct rest *s, const char *key, int64_t *value) {
  const uint8_t *end;
  if (!take_key(s, key)) return true;
  const struct num n = num_scan((const uint8_t *)s->p, &end);
  s->p = (const char *)end;
  *value = n.mant;
  return n.kind == NUM_INT && n.mant >= 0;
}

/* Parses a list in brackets (numbers, nested brackets, commas and blanks) if the key comes next. *at and *n: its position in the
 * name and its length. Returns false if the list is invalid. */
static bool list_after(struct rest *s, const char *key, uint32_t *at, uint32_t *n) {
  if (!take_key(s, key)) return true;
  const char *p = s->p;
  int depth = 0;
  for (; p < s->end && strchr("[]()0123456789-, ", *p); p++) {
    depth += (*p == '[') - (*p == ']');
    if (depth == 0) break;
  }
  if (p == s->end || *p != ']') return false;
  *at = (uint32_t)(s->p - s->start);
  *n = (uint32_t)(p + 1 - s->p);
  s->p = p + 1;
  return true;
}

/* Parses the optional parts after an operator's name, which have a fixed order. True if all of the rest is valid. */
static bool take_parts(struct rest s, struct torch_range *r) {
  const tk_id text = r->text;
  *r = (struct torch_range){.text = text, .seq = -1, .op = -1};
  return number_after(&s, ", seq = ", &r->seq) && number_after(&s, ", op_id = ", &r->op) &&
    list_after(&s, ", sizes = ", &r->sizes.at, &r->sizes.n) && list_after(&s, ", input_op_ids = ", &r->inputs.at, &r->inputs.n) &&
    s.p == s.end;
}

tk_id torch_range_class(struct tk_trace *t, tk_id text, tk_id category, struct torch_range *r) {
  size_t n;
  const char *name = tk_string(t, text, &n);
  *r = (struct torch_range){.text = text};
  for (const char *comma = name; (comma = memchr(comma, ',', (size_t)(name + n - comma))) != NULL; comma++)
    if (comma > name && take_parts((struct rest){name, comma, name + n}, r))
      return trace_class(t, trace_string(t, name, (size_t)(comma - name)), trace_text(t, "cpu_op"));
  *r = (struct torch_range){.text = 0};
  return trace_class(t, text, category);
}

void torch_range_args(struct tk_trace *t, const struct torch_range *r) {
  if (!r->text) return;
  if (r->seq >= 0) args_int(t, trace_text(t, "Sequence number"), r->seq);
  if (r->op >= 0) args_int(t, trace_text(t, "op_id"), r->op);
  if (r->sizes.n) {
    const tk_id sizes = trace_string(t, tk_string(t, r->text, NULL) + r->sizes.at, r->sizes.n);
    args_str(t, trace_text(t, "Input Dims"), TK_ARG_JSON, sizes);
  }
  if (r->inputs.n) {
    const tk_id inputs = trace_string(t, tk_string(t, r->text, NULL) + r->inputs.at, r->inputs.n);
    args_str(t, trace_text(t, "input_op_ids"), TK_ARG_STR, inputs);
  }
}

/* stacks.c - see stacks.h. Each distinct stack is printed once. */
#include "stacks.h"

#include <string.h>

#include "base/num.h"
#include "format/json.h"
#include "format/torch_allocators.h"

enum { STACK_BYTES = 1 << 15 };

void stacks_init(struct stacks *x, const struct snapshot *s) {
  *x = (struct stacks){.s = s, .text = {.mem = s->pickle.mem}};
  map_init(&x->names, s->pickle.mem);
  map_init(&x->texts, s->pickle.mem);
}

void stacks_free(struct stacks *x) {
  map_free(&x->names);
  map_free(&x->texts);
  buf_free(&x->text);
}

/* ---- frames ---- */

static const struct intern_str *text_of(const struct stacks *x, uint32_t id) { return &x->s->pickle.texts.strs[id]; }

static bool is_python(const struct stacks *x, const struct snapshot_frame *f) {
  const struct intern_str *file = text_of(x, f->file);
  return f->file && file->len > 3 && memcmp(file->bytes + file->len - 3, ".py", 3) == 0;
}

static size_t leaf_of(const struct intern_str *path) {
  size_t at = path->len;
  while (at > 0 && path->bytes[at - 1] != '/' && path->bytes[at - 1] != '\\') at--;
  return at;
}

static bool begins(const struct intern_str *text, size_t at, const char *word) {
  const size_t n = strlen(word);
  return text->len - at >= n && memcmp(text->bytes + at, word, n) == 0;
}

/* Returns the length of a function's name without the parameters and template arguments of C++. */
static size_t bare_length(const struct intern_str *name) {
  static const char UNNAMED[] = "(anonymous namespace)";
  for (size_t i = 0; i < name->len; i++) {
    if (begins(name, i, UNNAMED)) i += sizeof UNNAMED - 2;
    else if (i && (name->bytes[i] == '(' || name->bytes[i] == '<')) return i;
  }
  return name->len;
}

/* Appends "function (file:line)". `whole`: with the whole path of the file instead of its last part. */
static void print_frame(const struct stacks *x, const struct snapshot_frame *f, bool whole, struct buf *to) {
  const struct intern_str *name = text_of(x, f->name), *file = text_of(x, f->file);
  const size_t from = whole ? 0 : leaf_of(file);
  char line[24];
  if (f->name) intern_repaired(to, name->bytes, is_python(x, f) ? name->len : bare_length(name));
  if (!f->file || (file->len == 2 && memcmp(file->bytes, "??", 2) == 0)) return;
  buf_text(to, f->name ? " (" : "(");
  intern_repaired(to, file->bytes + from, file->len - from);
  buf_text(to, ":");
  buf_append(to, line, num_put_i64(line, f->line));
  buf_text(to, ")");
}

/* ---- stacks ---- */

struct walk {
  struct stacks *x;
  const struct snapshot_frame *found; /* the first Python frame */
  const struct snapshot_frame *op;    /* the first frame that is a PyTorch operator, if possible one that does not only allocate */
  const struct snapshot_frame *node;  /* the first frame that is a node of autograd, unless such an operator is further inside */
  bool is_done; /* op is an operator that does not only allocate, or node is known */
  bool python; /* print only Python frames */
  struct buf frame;
};

static const char OP[] = "at::_ops::"; /* at::_ops::mul_Tensor::call: the operator mul_Tensor, before its dispatch to a device */
/* torch::autograd::AccumulateGrad::apply, torch::autograd::generated::MulBackward0::apply: nodes of a backward pass */
static const char NODE[] = "torch::autograd::", APPLY[] = "::apply";

/* Returns the name of the operator that the frame calls, of length *n; NULL if it calls none. */
static const char *op_of(const struct stacks *x, const struct snapshot_frame *f, size_t *n) {
  const struct intern_str *name = text_of(x, f->name);
  if (!f->name || !begins(name, 0, OP)) return NULL;
  for (*n = 0; sizeof OP - 1 + *n < name->len && name->bytes[sizeof OP - 1 + *n] != ':';) ++*n;
  return (const char *)name->bytes + sizeof OP - 1;
}

/* Returns the name of the node of autograd that the frame runs, of length *n; NULL if it runs none. */
static const char *node_of(const struct stacks *x, const struct snapshot_frame *f, size_t *n) {
  const struct intern_str *name = text_of(x, f->name);
  const size_t end = f->name ? bare_length(name) : 0, m = sizeof APPLY - 1;
  if (end < m || !begins(name, 0, NODE) || memcmp(name->bytes + end - m, APPLY, m) != 0) return NULL;
  size_t from = end - m;
  while (from && name->bytes[from - 1] != ':') from--;
  *n = end - m - from;
  return *n ? (const char *)name->bytes + from : NULL;
}

static void find_names(void *arg, int64_t frame) {
  struct walk *w = arg;
  const struct snapshot_frame *f = snapshot_frame(w->x->s, frame);
  size_t n = 0;
  if (!w->found && is_python(w->x, f)) w->found = f;
  if (w->is_done) return;
  const char *op = op_of(w->x, f, &n);
  const bool works = op && !torch_only_allocates(op, n);
  if (op && (works || !w->op)) w->op = f;
  if (!op && node_of(w->x, f, &n)) w->node = f;
  w->is_done = works || w->node;
}

/* Appends the operator as "aten::mul_Tensor", which is close to the name that PyTorch's profiler gives it, or the node. */
static void print_op(const struct walk *w, struct buf *to) {
  size_t n;
  const char *name = w->node ? node_of(w->x, w->node, &n) : op_of(w->x, w->op, &n);
  if (!w->node) buf_text(to, "aten::");
  intern_repaired(to, (const uint8_t *)name, n);
}

static void put_frame(void *arg, int64_t frame) {
  struct walk *w = arg;
  struct buf *out = &w->x->text;
  const struct snapshot_frame *f = snapshot_frame(w->x->s, frame);
  if (out->len > STACK_BYTES || (w->python && !is_python(w->x, f))) return;
  w->frame.len = 0;
  print_frame(w->x, f, true, &w->frame);
  buf_text(out, out->len > 1 ? "," : "");
  json_quote(out, (const char *)w->frame.data, w->frame.len);
}

static struct walk walk_of(struct stacks *x, uint32_t stack) {
  const struct pickle_value list = snapshot_list(stack);
  struct walk w = {.x = x, .frame = {.mem = x->s->pickle.mem}};
  snapshot_each(x->s, &list, SNAPSHOT_FRAME, find_names, &w);
  return w;
}

tk_id stacks_name(struct stacks *x, uint32_t stack) {
  uint32_t *known = map_put(&x->names, stack, UINT32_MAX);
  if (!stack || !known || *known != UINT32_MAX) return stack && known ? *known : 0;
  const struct walk w = walk_of(x, stack);
  x->text.len = 0;
  if (w.found) print_frame(x, w.found, false, &x->text);
  else if (w.op || w.node) print_op(&w, &x->text);
  return *known = w.found || w.op || w.node ? trace_string(x->s->t, x->text.data, x->text.len) : 0;
}

tk_id stacks_text(struct stacks *x, uint32_t stack) {
  uint32_t *known = map_put(&x->texts, stack, UINT32_MAX);
  if (!stack || !known || *known != UINT32_MAX) return stack && known ? *known : 0;
  const struct pickle_value list = snapshot_list(stack);
  struct walk w = walk_of(x, stack);
  w.python = w.found != NULL;
  x->text.len = 0;
  buf_text(&x->text, "[");
  snapshot_each(x->s, &list, SNAPSHOT_FRAME, put_frame, &w);
  if (x->text.len > STACK_BYTES)
    trace_note(x->s->t, TK_NOTE_INFO, UINT64_MAX, "stacks longer than 32 KiB: the outer frames are left out");
  const bool any = x->text.len > 1;
  buf_text(&x->text, "]");
  buf_free(&w.frame);
  return *known = any ? trace_string(x->s->t, x->text.data, x->text.len) : 0;
}

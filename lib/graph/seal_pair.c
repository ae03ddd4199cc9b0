/* seal_pair.c - turns a begin event and its end event into one span, for both ways of pairing: by a thread's stack (seal_sweep.c) and
 * by identity (seal_async.c). */
#include <string.h>

#include "seal.h"
#include "args.h"

static tk_id end_key(struct tk_trace *t, tk_id own, struct buf *key) {
  size_t n;
  const char *text = tk_string(t, own, &n);
  key->len = 0;
  buf_text(key, "json.end.");
  buf_append(key, text, n);
  return trace_string(t, key->data, key->len);
}

/* Appends the args of E to the args of B, under "json.end."; most end events have none. */
static void end_args(struct tk_trace *t, struct tk_event *begin, const struct tk_event *end) {
  const struct tk_class *b = &t->classes[begin->cls], *e = &t->classes[end->cls];
  bool same = e->name == b->name && e->cat == b->cat;
  struct tk_args it;
  struct tk_arg arg;
  struct buf key = {.mem = &t->store->mem};
  if (same) begin->flags |= TK_FLAG_END_NAMED;
  if (end->args == 0 && (same || (e->name == 0 && e->cat == 0))) return;
  args_begin(t);
  for (it = tk_args_of(t, begin->args); tk_args_next(&it, &arg);) args_copy(t, &arg);
  if (!same && e->name) args_str(t, KEY_END_NAME, TK_ARG_STR, e->name);
  if (!same && e->cat) args_str(t, KEY_END_CAT, TK_ARG_STR, e->cat);
  for (it = tk_args_of(t, end->args); tk_args_next(&it, &arg);) {
    arg.key = end_key(t, arg.key, &key);
    args_copy(t, &arg);
  }
  begin->args = args_end(t);
  buf_free(&key);
}

tk_time seal_dur(tk_time ts, tk_time end) {
  if (end <= ts) return 0;
  return ts < 0 && end > INT64_MAX + ts ? INT64_MAX : end - ts;
}

void seal_close(struct tk_trace *t, struct tk_event *begin, const struct tk_event *end) {
  begin->kind = TK_EVENT_SPAN;
  begin->flags |= TK_FLAG_PAIRED;
  begin->dur = seal_is_timed(begin) ? seal_dur(begin->ts, end->ts) : 0;
  end_args(t, begin, end);
}

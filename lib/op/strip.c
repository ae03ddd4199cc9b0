#include "strip.h"
#include "graph/args.h"

#include <string.h>

bool strip_is_bare(const struct tk_trace *t, const struct tk_arg *arg) {
  return arg->key == KEY_ARGS && arg->type == TK_ARG_JSON && strcmp(tk_string(t, arg->s, NULL), "{}") == 0;
}

uint32_t strip_args(struct tk_trace *t, uint32_t args, const uint8_t *goes) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  bool any = false;
  for (uint32_t i = 0; it.shape && i < it.shape->n; i++) any |= goes[it.shape->fields[i].key];
  if (!any) return args;
  trace_mark_dropped(t);
  args_begin(t);
  while (tk_args_next(&it, &arg))
    if (!goes[arg.key]) args_copy(t, &arg);
  return args_end(t);
}

/* shrink.h - what shrinking a trace to a file shares with shrinking a rank to its share of one. */
#ifndef COMMAND_SHRINK_H
#define COMMAND_SHRINK_H

#include "op/shrink.h"

/* Weighs a trace where no file is written of it alone. */
struct shrink_scale {
  /* Bytes that the trace, or what is left of it, would have, with this account of what went (NULL = none). */
  bool (*weigh)(void *arg, const struct tk_trace *t, const char *account, uint64_t *weight, struct tk_err *err);
  /* The account as it will be written, in b; NULL when memory runs out. */
  const char *(*account)(void *arg, struct buf *b, const struct shrunk *gone);
  void *arg;
};

/* Shrinks the trace in place until it weighs at most opt->bytes; *gone, which is new, is what went.  True if it fits as it is, of which
 * the account is empty. */
bool shrink_to_fit(struct tk_trace *t, const struct shrink_scale *scale, const struct tk_shrink_options *opt, struct shrunk *gone,
                   struct tk_err *err);

#endif

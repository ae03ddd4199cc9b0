/* shrink.h - shrinks a trace; shared by the command that writes a file and by merges, which shrink each rank to its share. */
#ifndef SHRINK_SHRINK_H
#define SHRINK_SHRINK_H

#include "op/shrink.h"

/* Measures the size of a trace that is not written to a separate file. */
struct shrink_scale {
  /* Sets *weight to the size in bytes of the trace as it is now. `account`: account of dropped events that the trace will
   * contain, or NULL. */
  bool (*weigh)(void *arg, const struct tk_trace *t, const char *account, uint64_t *weight, struct tk_err *err);
  /* Prints the account to b in its final form. Returns NULL if memory runs out. */
  const char *(*account)(void *arg, struct buf *b, const struct shrunk *gone);
  void *arg;
};

/* Shrinks the trace in place until it weighs at most opt->bytes. *gone, which need not be initialised, receives what was
 * dropped; its account is empty if the trace fits unchanged. On failure returns false with err set. */
bool shrink_to_fit(struct tk_trace *t, const struct shrink_scale *scale, const struct tk_shrink_options *opt, struct shrunk *gone,
                   struct tk_err *err);

#endif

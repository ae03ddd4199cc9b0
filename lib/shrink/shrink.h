/* shrink.h - shared code of shrinking a trace to a file and shrinking a rank to its share of a file. */
#ifndef SHRINK_SHRINK_H
#define SHRINK_SHRINK_H

#include "op/shrink.h"

/* Weighs a trace that is not written to a file of its own. */
struct shrink_scale {
  /* Returns in *weight the bytes of the trace, or of what is left of it, with this account of what was dropped (or NULL). */
  bool (*weigh)(void *arg, const struct tk_trace *t, const char *account, uint64_t *weight, struct tk_err *err);
  /* Prints the account into b, as it will be written. NULL if memory runs out. */
  const char *(*account)(void *arg, struct buf *b, const struct shrunk *gone);
  void *arg;
};

/* Shrinks the trace in place until it weighs at most opt->bytes. *gone, which need not be initialised, receives what was
 * dropped; its account is empty if the trace fits unchanged. On failure returns false with err set. */
bool shrink_to_fit(struct tk_trace *t, const struct shrink_scale *scale, const struct tk_shrink_options *opt, struct shrunk *gone,
                   struct tk_err *err);

#endif

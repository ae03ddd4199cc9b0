/* nothing.h - why a filter keeps nothing. */
#ifndef OP_NOTHING_H
#define OP_NOTHING_H

#include "match.h"
#include "window.h"

struct nothing {
  const struct tk_trace *t;
  const struct match *match; /* of all tests */
  const struct scope *scope;
  const char *const *where; /* the tests, one by one; NULL = none */
};

/* Sets TK_ENOTHING, with the first reason that can be found: the range of time, a test that nothing passes, or that no event passes
 * all.  Returns false. */
bool nothing_say(const struct nothing *n, struct tk_err *err);

#endif

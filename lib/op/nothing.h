/* nothing.h - finds why a filter keeps nothing. */
#ifndef OP_NOTHING_H
#define OP_NOTHING_H

#include "match.h"
#include "window.h"

struct nothing {
  const struct tk_trace *t;
  const struct match *match; /* all tests together */
  const struct scope *scope;
  const char *const *where; /* the tests one by one; NULL = none */
};

/* Sets TK_ENOTHING with the first reason found: the time range, a test that no event passes, or that no event passes all tests.
 * Always returns false. */
bool nothing_say(const struct nothing *n, struct tk_err *err);

#endif

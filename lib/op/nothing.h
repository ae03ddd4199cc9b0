/* nothing.h - finds out why a filter keeps nothing. */
#ifndef OP_NOTHING_H
#define OP_NOTHING_H

#include "match.h"
#include "window.h"

struct nothing {
  const struct tk_trace *t;
  const struct match *match; /* all tests, combined into one expression */
  const struct scope *scope;
  const char *const *where; /* the expressions of the tests, one by one; NULL = none */
};

/* Sets the error TK_ENOTHING with the first reason that applies: the time range is wrong, no event passes a certain test, or no
 * event matches all tests. Always returns false. */
bool nothing_say(const struct nothing *n, struct tk_err *err);

#endif

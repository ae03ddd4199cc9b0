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

/* Sets err to TK_ENOTHING and the first reason that applies: no event in the time range, no event that matches one of the tests, or no
 * event that matches all of them. Always returns false. */
bool nothing_say(const struct nothing *n, struct tk_err *err);

#endif

/* regexp.h - does a text match a regular expression, within bounds?
 *
 * PCRE2, because POSIX regexec(3) can be bounded neither in time nor in memory, and names come out of files that anybody wrote.  The
 * steps on a text are bounded by its length, memory counts against a `struct mem`, and a text on which an expression gives up is a
 * fault that the caller asks for, never "no match". */
#ifndef BASE_REGEXP_H
#define BASE_REGEXP_H

#include "base/mem.h"

struct regexp;

/* A Perl-compatible expression, which matches anywhere in a text; "." matches a line break, "$" the very end, and characters are those
 * of UTF-8.  NULL: *why (of `size` bytes) says what is wrong with it.  `text` stays the caller's. */
struct regexp *regexp_new(const char *text, struct mem *mem, char *why, size_t size);
void regexp_free(struct regexp *r);

bool regexp_matches(struct regexp *r, const char *text);
/* False with TK_ELIMIT if there was a text on which it gave up; r may be NULL. */
bool regexp_check(const struct regexp *r, struct tk_err *err);

#endif

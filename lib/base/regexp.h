/* regexp.h - matches regular expressions within bounds.
 *
 * PCRE2, because POSIX regexec(3) can be bounded neither in time nor in memory, and names come from untrusted files. Steps are
 * limited by the length of the text and memory counts against a `struct mem`. A text that exceeds a limit is an error that the
 * caller checks for, never "no match". */
#ifndef BASE_REGEXP_H
#define BASE_REGEXP_H

#include "base/mem.h"

struct regexp;

/* Compiles a Perl-compatible expression that matches anywhere in a text; "." matches a line break, "$" only the very end, and
 * characters are UTF-8. Returns NULL with the reason in *why (of `size` bytes) if it is invalid. `text` remains the caller's.
 */
struct regexp *regexp_new(const char *text, struct mem *mem, char *why, size_t size);
void regexp_free(struct regexp *r);

bool regexp_matches(struct regexp *r, const char *text);
/* Returns false with TK_ELIMIT if a text exceeded a limit; r may be NULL. */
bool regexp_check(const struct regexp *r, struct tk_err *err);

#endif

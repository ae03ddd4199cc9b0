/* regexp.h - matches regular expressions, with limits for time and memory.
 *
 * Uses PCRE2, because names come from untrusted files, and POSIX regexec(3) can limit neither time nor memory. The limit for
 * steps depends on the length of the text, and memory counts against a `struct mem`. If a text exceeds a limit, this is not "no
 * match" but an error, for which the caller checks. */
#ifndef BASE_REGEXP_H
#define BASE_REGEXP_H

#include "base/mem.h"

struct regexp;

/* Compiles a Perl-compatible expression that matches anywhere in a text; "." matches a line break, "$" only the very end, and
 * characters are UTF-8. Returns NULL with the reason in *why (of `size` bytes) if it is invalid. `text` is not copied and must
 * outlive the result.
 */
struct regexp *regexp_new(const char *text, struct mem *mem, char *why, size_t size);
void regexp_free(struct regexp *r);

bool regexp_matches(struct regexp *r, const char *text);
/* Returns false with TK_ELIMIT if a limit was exceeded for some text; r may be NULL. */
bool regexp_check(const struct regexp *r, struct tk_err *err);

#endif

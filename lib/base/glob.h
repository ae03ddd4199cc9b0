/* glob.h - patterns as the shell has them, for a whole text: "*", "?", "[a-z]", "[!a-z]" and "[^a-z]", "[[:digit:]]", a backslash
 * before what stands for itself.  A bracket that is not closed stands for itself; "*" and "?" match a slash and a dot as well.
 *
 * Our own, because names come out of files that anybody wrote: fnmatch(3) tries every star at every place, and a star here never
 * moves again once the next one is reached, so a text costs no more than its length times the pattern's.  (PCRE2's conversion of globs,
 * 10.42, puts a stray letter into "[!...]".) */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Both in UTF-8; a byte that is no UTF-8 is a character of its own. */
bool glob_matches(const char *glob, const char *text);

#endif

/* glob.h - shell patterns that match a whole text: "*", "?", "[a-z]", "[!a-z]" and "[^a-z]", "[[:digit:]]", and a backslash
 * that escapes the next character. An unclosed bracket is literal. "*" and "?" also match a slash and a dot.
 *
 * fnmatch(3) is not used, because names come from untrusted files and fnmatch tries every star at every position. Here the
 * match of a star is final once the next star is reached, so the cost is at most the length of the text times that of the
 * pattern. (PCRE2 10.42 could convert globs, but inserts a wrong letter for "[!...]".) */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* True if the pattern matches the text. Both are UTF-8; a byte that is not valid UTF-8 counts as a character. */
bool glob_matches(const char *glob, const char *text);

#endif

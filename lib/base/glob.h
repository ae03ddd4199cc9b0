/* glob.h - shell patterns that match a whole text: "*", "?", "[a-z]", "[!a-z]" and "[^a-z]", "[[:digit:]]", and a backslash
 * that escapes the next character. An unclosed bracket is literal. "*" and "?" also match a slash and a dot.
 *
 * Not fnmatch(3), because names come from untrusted files and fnmatch tries every star at every position. Here a star never
 * moves again once the next one is reached, so the cost is at most the length of the text times that of the pattern. (PCRE2's
 * conversion of globs, 10.42, inserts a stray letter into "[!...]".) */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>

/* Both are UTF-8; a byte that is not valid UTF-8 is a character of its own. */
bool glob_matches(const char *glob, const char *text);

#endif

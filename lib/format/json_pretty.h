/* json_pretty.h - compact JSON on its way out, with blanks for people. */
#ifndef FORMAT_JSON_PRETTY_H
#define FORMAT_JSON_PRETTY_H

#include "io/out.h"

/* Zero to begin. */
struct json_pretty {
  unsigned depth;
  bool in_string, escaped, opened;
};

/* Writes n bytes of compact JSON to `to`: members of the outermost object and elements one level below get lines of their own,
 * what is deeper stays on its line.  Any pieces of a document may come one after the other. */
void json_pretty(struct json_pretty *p, const uint8_t *text, size_t n, struct out *to);

#endif

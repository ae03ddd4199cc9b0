/* json_pretty.h - indents compact JSON on output. */
#ifndef FORMAT_JSON_PRETTY_H
#define FORMAT_JSON_PRETTY_H

#include "io/out.h"

/* State of the output. Must be zeroed before use. */
struct json_pretty {
  unsigned depth;
  bool in_string, escaped, opened;
};

/* Writes n bytes of compact JSON to `to`. Members of the outermost object, and elements one level below, are on separate lines;
 * deeper levels stay on one line. A document may be passed in any number of pieces. */
void json_pretty(struct json_pretty *p, const uint8_t *text, size_t n, struct out *to);

#endif

/* cut.h - shortens an answer until it fits, long lists first, and reports what was left out. */
#ifndef CLI_MCP_CUT_H
#define CLI_MCP_CUT_H

#include "value.h"

struct cut {
  size_t limit, offset, bytes; /* rows of a list, rows to skip, bytes of the answer */
  const char *paged;           /* key of the lists in which `offset` rows are skipped; NULL = none */
};

/* Returns the answer on one line, at most c->bytes long, to be freed; NULL if it cannot be made that short, or memory ran out.
 * notes: what was left out, as a JSON array, to be freed. */
char *cut_answer(const struct value *v, const struct cut *c, char **notes);

#endif

/* chains.h - reads call chains, which other tables refer to by id. */
#ifndef FORMAT_NSYS_READ_CHAINS_H
#define FORMAT_NSYS_READ_CHAINS_H

#include "reader.h"

enum { CHAIN_MOST = 1 << 12 }; /* maximum number of frames in a chain; the outermost frames beyond it are left out */

/* A frame of a chain. Names of unresolved functions are their addresses. */
struct chain_row {
  int64_t id;
  uint32_t depth;       /* 0 = innermost */
  tk_id symbol, module; /* strings */
};

/* Calls `take` for each chain of a table, innermost frame first. Returns false with an error on failure. */
typedef void chains_take(struct nsys *r, const struct chain_row *v, uint32_t n, void *arg);
bool chains_each(struct nsys *r, const char *table, chains_take *take, void *arg);

/* Reads the chains of calls of the operating system and of CUDA as texts: a JSON array of frames, innermost first. */
bool chains_read_texts(struct nsys *r);
/* Returns the text of the chain to which an event of a table refers; 0 if there is none. */
tk_id chains_text(const struct nsys *r, const char *table, int64_t id);

#endif

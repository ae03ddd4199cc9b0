/* short_apart.h - short names that stay distinguishable within a table. */
#ifndef ANALYSIS_SHORT_APART_H
#define ANALYSIS_SHORT_APART_H

#include <stdbool.h>

#include "base/intern.h"

/* A name of a table, and its short name; `text` equals `name` if there is no short name. */
struct short_name {
  const char *name, *text;
  size_t name_len, text_len;
};
/* Finds the short names of n different names. Names that would have the same short name get a distinguishing suffix, or keep the full
 * name. The short names are stored in *texts. Returns false if memory runs out. */
bool short_apart_names(struct short_name *v, size_t n, struct intern *texts, struct mem *mem);

#endif

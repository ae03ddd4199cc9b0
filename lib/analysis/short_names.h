/* short_names.h - names of kernels that people can read.
 *
 *     short_names.c   templates of C++ and the other families of names
 *     short_tiles.c   matrix products and convolutions, whose names list a tile, a layout and types
 *     short_apart.c   short names that stay distinguishable within a table
 *
 * Every name is read a constant number of times, whatever it contains. */
#ifndef ANALYSIS_SHORT_NAMES_H
#define ANALYSIS_SHORT_NAMES_H

#include <stdbool.h>

#include "base/intern.h"

enum { SHORT_NAME_ROOM = 160 };

/* A text that is cut when it is full. */
struct short_text {
  char text[SHORT_NAME_ROOM];
  size_t n;
  bool cut;
};

/* Part of a name. */
struct short_span {
  const char *p, *end;
};

/* Writes the short name of a kernel. Returns false if the name is short enough as it is; *to is then empty. */
bool short_names_of(const char *name, size_t n, struct short_text *to);

/* A name of a table, and its short name: text == name if there is none. */
struct short_name {
  const char *name, *text;
  size_t name_len, text_len;
};
/* Finds the short names of n different names. Names that would share a short name get what distinguishes them, or keep the full
 * name. Texts are kept in *texts. Returns false if memory runs out. */
bool short_names_apart(struct short_name *v, size_t n, struct intern *texts, struct mem *mem);

/* ---- for the parts ---- */

void short_put(struct short_text *to, const char *p, size_t n);
void short_put_text(struct short_text *to, const char *text);
bool short_has(struct short_span s, const char *word);
bool short_begins(struct short_span s, const char *word);
bool short_is(struct short_span s, const char *word);
/* short_tiles.c: writes the short name of a matrix product or convolution. Returns false if the name is of another kind. */
bool short_tiles(struct short_span name, struct short_text *to);
/* Writes the tile and the type of a kernel that CUTLASS 3 generates, from its template arguments. */
bool short_tiles_of_shape(struct short_span args, struct short_text *to);

#endif

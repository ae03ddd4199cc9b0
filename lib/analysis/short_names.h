/* short_names.h - short, readable names of kernels. Every name is read a constant number of times, whatever it contains.
 *
 *     short_names.c   templates of C++ and the other families of names
 *     short_mangled.c   mangled names of C++
 *     short_tiles.c   matrix products and convolutions, whose names list a tile, a layout and types
 *     short_apart.c   short names that stay distinguishable within a table
 *     short_text.c    texts */
#ifndef ANALYSIS_SHORT_NAMES_H
#define ANALYSIS_SHORT_NAMES_H

#include "short_text.h"

/* Writes the short name of a kernel. Returns false, with *to empty, if no shorter name is known. */
bool short_names_of(const char *name, size_t n, struct short_text *to);

#endif

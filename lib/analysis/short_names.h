/* short_names.h - short, readable names of kernels. The time is linear in the length of the name.
 *
 *     short_names.c     C++ templates, and other families of names
 *     short_mangled.c   mangled C++ names
 *     short_tiles.c     matrix products and convolutions, whose names list a tile, a layout and types
 *     short_apart.c     short names that stay distinguishable within a table
 *     short_text.c      texts */
#ifndef ANALYSIS_SHORT_NAMES_H
#define ANALYSIS_SHORT_NAMES_H

#include "short_text.h"

/* Writes the short name of a kernel. Returns false, with *to empty, if no shorter name is known. */
bool short_names_of(const char *name, size_t n, struct short_text *to);

#endif

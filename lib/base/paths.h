/* paths.h - tells the paths of several inputs apart by their shortest endings. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include "mem.h"

/* Returns how many folders must precede the last part of n paths to make all of them different; see path_end. Returns 0 if even the
 * largest number tried is not enough. `name` returns the path with a number. */
unsigned paths_folders(const char *(*name)(const void *arg, size_t i), const void *arg, size_t n, struct mem *mem);

#endif

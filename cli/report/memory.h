/* memory.h - texts about memory that the text report and the page share. */
#ifndef CLI_REPORT_MEMORY_H
#define CLI_REPORT_MEMORY_H

#include "tracekit.h"

#include <stddef.h>

/* Writes "rank 3, GPU 0", or the allocator alone if the rank is unknown; returns `text`. */
const char *memory_name(int64_t rank, const char *allocator, char *text, size_t n);
/* Returns the index of row i of report.held among the rows of its allocator, from 0. `before`: result for row i - 1. */
size_t memory_place(const struct tk_report *r, size_t i, size_t before);

/* The n rows of report.held that belong to one allocator; the first `shown` of these are shown. */
struct memory_part {
  const struct tk_report_held *rows;
  size_t n, shown;
};
/* Returns the *n allocators, in order of ranks and, within a rank, of peaks, largest first; the caller frees the array. At most `top`
 * rows of an allocator are shown; small rows are not, once larger ones are most of the bytes, and allocators that are small beside
 * another one of their rank are only summed up. NULL if memory runs out. */
struct memory_part *memory_parts(const struct tk_report *r, size_t top, size_t *n);

#endif

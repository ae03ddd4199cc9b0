/* memory.h - texts about memory that the text report and the page share. */
#ifndef CLI_REPORT_MEMORY_H
#define CLI_REPORT_MEMORY_H

#include "tracekit.h"

#include <stddef.h>

/* Writes "rank 3, GPU 0", or the allocator alone if the rank is unknown; returns `text`. */
const char *memory_name(int64_t rank, const char *allocator, char *text, size_t n);
/* Returns the index of row i of report.held among the rows of its allocator, from 0. `before`: result for row i - 1. */
size_t memory_place(const struct tk_report *r, size_t i, size_t before);

#endif

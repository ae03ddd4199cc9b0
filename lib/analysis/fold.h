/* fold.h - merges names that differ only in numbers or template arguments: "fusion.123" and "fusion.7" become "fusion.*", "void
 * add<float, 4>(float*)" becomes "void add<*>(float*)".
 *
 * The folded name is a glob that matches the original names, and works as an argument of --name. */
#ifndef ANALYSIS_FOLD_H
#define ANALYSIS_FOLD_H

#include "base/mem.h"

/* Replaces the contents of `out` with the folded form of [p, p + n).  False if memory runs out. */
bool fold_name(struct buf *out, const char *p, size_t n);

#endif

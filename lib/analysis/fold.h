/* fold.h - one name for names that differ only in numbers or in the arguments of templates: "fusion.123" and "fusion.7" are
 * "fusion.*", "void add<float, 4>(float*)" is "void add<*>(float*)".
 *
 * The folded name is a glob that the names match, so that it can be given to --name. */
#ifndef ANALYSIS_FOLD_H
#define ANALYSIS_FOLD_H

#include "base/mem.h"

/* Writes the folded name of text [p, p + n) to `out`, which is emptied first.  False when memory runs out. */
bool fold_name(struct buf *out, const char *p, size_t n);

#endif

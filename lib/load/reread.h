/* reread.h - reads a written file again, in builds that verify their own output. */
#ifndef LOAD_REREAD_H
#define LOAD_REREAD_H

#include "format/format.h"

/* Returns false with an error if the file cannot be read without a repair, breaks an invariant, or has another number of events than
 * *done. `is_cut`: it contains a trace that was cut in time. In ordinary builds, returns true at once. */
bool reread_agrees(const char *path, const struct format *f, bool is_cut, const struct tk_saved *done, struct tk_err *err);

#endif

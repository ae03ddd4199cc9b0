/* inspect.h - describes an XSpace: its planes and lines, and the number of bytes by kind of content. */
#ifndef FORMAT_XPLANE_READ_INSPECT_H
#define FORMAT_XPLANE_READ_INSPECT_H

#include "format/xplane/xplane.h"

/* Describes the file for `info`; keep: memory of the result. */
void xplane_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);

#endif

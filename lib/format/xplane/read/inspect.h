/* inspect.h - composition of an XSpace: planes, lines, and the number of bytes by kind of content. */
#ifndef FORMAT_XPLANE_READ_INSPECT_H
#define FORMAT_XPLANE_READ_INSPECT_H

#include "format/xplane/xplane.h"

/* Reports the composition of the file, for `info`. */
void xplane_inspect(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);

#endif

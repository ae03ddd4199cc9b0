/* provenance.h - account of a shrink, for the file that it writes. */
#ifndef SHRINK_PROVENANCE_H
#define SHRINK_PROVENANCE_H

#include "op/shrink.h"

/* Returns JSON members in b, including the accounts of earlier shrinks of the same trace. NULL if memory runs out. */
const char *shrink_provenance(struct buf *b, const struct tk_trace *t, const struct shrunk *done);

#endif

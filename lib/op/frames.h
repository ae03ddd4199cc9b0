/* frames.h - the table of stack frames that Chrome's events name by "sf" (top-level key "stackFrames"). */
#ifndef OP_FRAMES_H
#define OP_FRAMES_H

#include "graph/trace.h"

/* Frames that no event of the trace leads to any more go.  False when memory runs out. */
bool frames_prune(struct tk_trace *t, struct tk_err *err);

#endif

/* frames.h - table of stack frames in Chrome traces: the top-level key "stackFrames", to which events refer by "sf". */
#ifndef OP_FRAMES_H
#define OP_FRAMES_H

#include "graph/trace.h"

/* Removes frames that no event needs. Returns false if memory runs out. */
bool frames_prune(struct tk_trace *t, struct tk_err *err);

#endif

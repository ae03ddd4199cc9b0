/* frames.h - table of stack frames to which Chrome events refer by "sf" (top-level key "stackFrames"). */
#ifndef OP_FRAMES_H
#define OP_FRAMES_H

#include "graph/trace.h"

/* Removes frames to which no event refers. Returns false if memory runs out. */
bool frames_prune(struct tk_trace *t, struct tk_err *err);

#endif

/* beside.h - processes and threads of a trace that is appended to another recording of the same rank. */
#ifndef LOAD_BESIDE_H
#define LOAD_BESIDE_H

#include "graph/trace.h"

/* Renames and renumbers tracks of `other` so that it can be appended to `main`, and returns by track the track of `main` that it
 * becomes (struct join_ids, `onto`); the caller frees it. NULL when memory runs out.
 *
 *     process, same pid in both     one process, unless one of both formats makes up pids, or a device has the number
 *     its thread, same tid in both  another row of the process, called "main [nsys]": calls of two recorders need not nest
 *     any other process             a process of its own, with another pid if `main` uses its pid */
tk_id *beside_tracks(const struct tk_trace *main, struct tk_trace *other, struct mem *mem);

/* True if the trace contains a process that ran on the host and has the same pid in the other trace. */
bool beside_share_process(const struct tk_trace *a, const struct tk_trace *b, struct mem *mem, bool *share);

#endif

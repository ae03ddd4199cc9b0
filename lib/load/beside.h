/* beside.h - places the processes and threads of a trace that is appended to another recording of the same rank. */
#ifndef LOAD_BESIDE_H
#define LOAD_BESIDE_H

#include "graph/trace.h"

/* Renames and renumbers tracks of `other` so that it can be appended to `main`. Returns, for each track of `other`, the track of `main`
 * that receives its contents, or 0 (struct join_ids, `onto`); the caller frees the array. NULL when memory runs out.
 *
 *     process with the same pid in both     one process, unless a format invents pids or the pid is the number of a device
 *     its thread with the same tid in both  a second row of the process, called "main [nsys]": calls of two recorders need not nest
 *     any other process                     a separate process; gets another pid if `main` uses its pid */
tk_id *beside_tracks(const struct tk_trace *main, struct tk_trace *other, struct mem *mem);

/* Sets *share if any process that ran on the host has the same pid in both traces. Returns false when memory runs out. */
bool beside_share_process(const struct tk_trace *a, const struct tk_trace *b, struct mem *mem, bool *share);

#endif

/* provenance.h - finds the ranks that tracekit recorded at the end of a file, without reading the trace.
 *
 *     {"version":"0.1.0","command":"tracekit convert","rank":3}
 *     {"version":"0.1.0","command":"tracekit merge",..,"ranks":[{"rank":0,"host":"a",..},..]}
 *
 * Every format stores this object as text, behind the events. */
#ifndef SOURCE_PROVENANCE_H
#define SOURCE_PROVENANCE_H

#include "base/mem.h"
#include "io/in.h"

struct provenance {
  int64_t rank;     /* rank of a file with one rank; -1 = unknown */
  struct buf ranks; /* ranks of a merged file, as text such as "0-2, 7"; empty = unknown. The caller sets `mem` and frees the text */
};

/* Reads the end of a file, or a whole input that is small. Finds nothing in other inputs, such as large compressed files. */
void provenance_find(struct in *in, struct provenance *p);

/* Sorts v[0, n) and appends the ranks as ranges: "0-2, 7". */
void provenance_put_ranks(int64_t *v, size_t n, struct buf *text);

#endif

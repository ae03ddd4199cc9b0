/* work.h - what accelerators did: kernels, copies and fills, by device, with what launched each. */
#ifndef ANALYSIS_WORK_H
#define ANALYSIS_WORK_H

#include "op/match.h"
#include "op/window.h"

enum work_class { WORK_COMPUTE = 1, WORK_COMMUNICATION = 2, WORK_COPY = 4, WORK_FILL = 8 };

/* A piece of work, or of an operation of XLA that holds others the part between them. */
struct work {
  tk_time start, end;
  tk_id event, launch; /* launch: host event, 0 = not known */
  uint8_t class;
  bool first;          /* of its event: the others are further parts */
};

/* One queue of a device: work in the order of starts. */
struct work_stream {
  tk_id track;
  uint32_t row, first, n;
};

/* A device: a process of a rank that holds work. */
struct work_row {
  tk_id process;
  tk_id track;   /* the one that says rank and host */
  int64_t rank;
  const char *host;
  uint64_t unfinished;
};

struct works {
  struct mem *mem;
  struct work *v; /* by stream */
  uint32_t n, cap;
  struct work_stream *streams;
  uint32_t n_streams, cap_streams;
  struct work_row *rows;
  uint32_t n_rows, cap_rows;
  uint32_t *row_of; /* by process track: row + 1 */
  tk_id *launch_of; /* by event; NULL = not asked for */
};

/* Those that the match and the scope select, cut at the scope's edges; `launches`: with what launched them.  False when memory runs
 * out. */
bool works_find(struct works *w, const struct match *m, const struct scope *scope, bool launches, struct mem *mem);
void works_free(struct works *w);

#endif

/* work.h - device work (kernels, copies and fills) by device, with the launch of each. */
#ifndef ANALYSIS_WORK_H
#define ANALYSIS_WORK_H

#include "op/match.h"
#include "op/window.h"

enum work_class { WORK_COMPUTE = 1, WORK_COMMUNICATION = 2, WORK_COPY = 4, WORK_FILL = 8 };

/* A piece of work. An XLA operation that contains other operations becomes several pieces: the gaps between these other
 * operations. */
struct work {
  tk_time start, end;
  tk_id event, launch; /* launch: host event, 0 = unknown */
  uint8_t class;
  bool first;          /* true for the first part of an event; the event may have more parts */
  bool beside;         /* true if it is on an asynchronous line of a TPU, in parallel to the operations, which can wait for it */
};

/* One queue of a device, with its work sorted by start. */
struct work_stream {
  tk_id track;
  uint32_t row, first, n;
};

/* A device: a process with device work, or a host thread that shows the work of a device. */
struct work_row {
  tk_id process;
  tk_id track;   /* a track of the device, which determines rank and host */
  int64_t rank;
  const char *host;
  uint64_t unfinished;
};

struct works {
  struct mem *mem;
  struct work *v; /* all work, sorted by stream */
  uint32_t n, cap;
  struct work_stream *streams;
  uint32_t n_streams, cap_streams;
  struct work_row *rows;
  uint32_t n_rows, cap_rows;
  uint32_t *row_of; /* by track that represents a device: 1 + row */
  bool *partial;    /* by track that represents a device: true if the match excludes work of the device that is in the scope */
  tk_id *launch_of; /* by event: the call that launched it; NULL = not requested */
};

/* Finds the work that the match and the scope select, and clips it to the scope. `launches`: true to find the launches, too. Returns
 * false if memory runs out. */
bool works_find(struct works *w, const struct match *m, const struct scope *scope, bool launches, struct mem *mem);
void works_free(struct works *w);

#endif

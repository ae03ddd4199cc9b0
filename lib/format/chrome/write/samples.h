/* samples.h - writes the stack samples of a track as CPU profiles of V8, one for each unit and category, which DevTools, catapult and
 * trace_processor read. */
#ifndef FORMAT_CHROME_WRITE_SAMPLES_H
#define FORMAT_CHROME_WRITE_SAMPLES_H

#include "base/keyed.h"
#include "print.h"

struct samples_out {
  const struct tk_trace *t;
  const struct printer *printer;
  struct out *out;
  struct mem *mem;
  void *arg; /* passed to `begin` and `end` */
  void (*begin)(void *arg, tk_id event);                               /* called before each element of the events array */
  void (*end)(void *arg, const struct keyed *samples, uint32_t n); /* called after each element, with its samples */
  bool with_recorded; /* also write samples that are in records */
  uint64_t next_id, step; /* ids of profiles */
  uint32_t *node_of;  /* node_of[stack]: id of the stack's node in profile profile_of[stack] */
  uint32_t *profile_of;
  uint32_t profile, n_nodes;
  struct buf nodes, samples, deltas, weights, parts, args, path;
};

/* samples_begin prepares a graph, samples_write writes the samples of a track. Both return false when memory runs out. */
bool samples_begin(struct samples_out *w);
bool samples_write(struct samples_out *w, tk_id track);
void samples_end(struct samples_out *w);

#endif

/* fragment.h - events that are read apart from those before them, and then join their trace.
 *
 * A fragment is an unsealed trace that begins with the strings, classes, tracks and shapes of another one, under the same ids.  What
 * it reads mostly holds no others: such events are copied as they are.  Ids that the fragment gave out itself are translated, and args
 * that hold some are packed anew, which the fragment has a list of.
 *
 *     trace      s1 s2 s3                                  s1 s2 s3 s4 s5
 *     fragment   s1 s2 s3 | t4 t5 t6      joins            s1 s2 s3 s4 s5 s6      t4 = s5, t5 = s4, t6 = s6
 *
 * Fragments that join in the order in which they stand in the file give the same trace, id by id, as reading them one after the
 * other: whatever is new comes in the order in which it is met. */
#ifndef GRAPH_FRAGMENT_H
#define GRAPH_FRAGMENT_H

#include "trace.h"

/* Ids up to `known` are the same in both; the n after them are now[]. */
struct fragment_ids {
  uint32_t known, n, cap;
  uint32_t *now;
};

struct fragment {
  struct tk_trace *t; /* memory of its own */
  struct fragment_ids strings, classes, tracks, shapes;
};

bool fragment_init(struct fragment *f, uint64_t max_memory);
void fragment_free(struct fragment *f);

/* Empties it, and gives it what `of` has by now, which must outlive what is read and may go on growing.  False when memory runs out. */
bool fragment_begin(struct fragment *f, const struct tk_trace *of);

/* What it was given the last time is outgrown so far that it is worth to begin again. */
bool fragment_is_outgrown(const struct fragment *f, const struct tk_trace *of);

/* Bytes that beginning copies. */
uint64_t fragment_cost(const struct tk_trace *of);

/* Its events, flow points, notes and counts go to the end of `to`, the trace that it began with, and it is empty again; event i of it
 * becomes event to->n_events + i, flow points likewise.  False, and nothing has joined: it met a track whose ids are spelled another
 * way in `to` than the fragment met them first, or memory has run out. */
bool fragment_join(struct fragment *f, struct tk_trace *to);

#endif

/* fragment.h - part of a trace that is read independently of the preceding events and then joins them.
 *
 * A fragment is an unsealed trace that starts with the strings, classes, tracks and shapes of another trace, under the same
 * ids. Most events that it reads use only these ids and are copied unchanged. Ids that the fragment assigned itself are
 * translated, and args that contain such ids are repacked; the fragment keeps a list of them.
 *
 *     trace      s1 s2 s3                                  s1 s2 s3 s4 s5
 *     fragment   s1 s2 s3 | t4 t5 t6      joins            s1 s2 s3 s4 s5 s6      t4 = s5, t5 = s4, t6 = s6
 *
 * Fragments that join in the order of the file give the same trace, id by id, as sequential reading, because new items arrive
 * in the order in which they occur. */
#ifndef GRAPH_FRAGMENT_H
#define GRAPH_FRAGMENT_H

#include "trace.h"

/* Ids up to `known` are equal in the fragment and in the trace; the next n ids of the fragment map to now[]. */
struct fragment_ids {
  uint32_t known, n, cap;
  uint32_t *now;
};

/* Positions in the trace of the events, flow points and args of a joined fragment. */
struct fragment_place {
  struct tk_event *events;
  struct tk_flow_point *points;
  uint8_t *pool;
  uint32_t args; /* displacement of the args before the first foreign record */
  tk_id before;  /* number of the trace's events before the fragment's first event */
};

struct fragment {
  struct tk_trace *t; /* has its own memory */
  struct fragment_ids strings, classes, tracks, shapes;
  struct fragment_place place;
};

/* Initialises a fragment. `whole`: memory of the trace that the fragment will join; both have the same limit of resident
 * memory. Returns false when memory runs out. */
bool fragment_init(struct fragment *f, const struct mem *whole, uint64_t max_memory);
void fragment_free(struct fragment *f);

/* Empties the fragment and copies the current ids of `of`, which may keep growing and must outlive the events that the fragment
 * reads. Returns false when memory runs out. */
bool fragment_begin(struct fragment *f, const struct tk_trace *of);

/* True if `of` has grown so much since fragment_begin that a new fragment_begin is cheaper than translating ids. */
bool fragment_is_outgrown(const struct fragment *f, const struct tk_trace *of);

/* Returns the number of bytes that fragment_begin copies. */
uint64_t fragment_cost(const struct tk_trace *of);

/* True if fragment_join would not move the arrays of `to`. */
bool fragment_fits(const struct fragment *f, const struct tk_trace *to);
/* Appends the fragment's events, flow points, notes and counts to `to`, the trace it began with, but leaves the places of its
 * events, flow points and args to be filled by fragment_place. Event i becomes event to->n_events + i, and flow points are
 * renumbered in the same way. Returns false without any change if the fragment met a track whose ids are spelled differently in
 * `to`, or when memory runs out. */
bool fragment_join(struct fragment *f, struct tk_trace *to);
/* Fills the places of the fragment and empties it. May be called on any thread, before any array of the trace moves. */
void fragment_place(struct fragment *f);

#endif

/* seal.h - turns what a reader added into a graph that keeps its invariants (stated in check.c). */
#ifndef GRAPH_SEAL_H
#define GRAPH_SEAL_H

#include "trace.h"

/* Matches begin and end events, sorts by track, computes depth and binds flow points, with up to `threads` threads. Returns
 * false when memory runs out. */
bool seal(struct tk_trace *t, unsigned threads, struct tk_err *err);

/* The steps, each in its own file. */
bool seal_async(struct tk_trace *t, tk_time trace_end);  /* seal_async.c: pairs b/e by identity */

/* seal_flow.c: sorts points and binds them. If none is bound yet, another thread sorts while the tracks are sealed. */
struct flow_sealer {
  struct tk_trace *t;
  struct mem mem;    /* for sorting: the trace's own memory belongs to the thread that seals the tracks */
  struct jobs *jobs; /* NULL = no second thread */
  bool ok, ordered;
  uint64_t n_backward; /* number of flows that end before they start */
  tk_time worst;       /* largest such difference */
};
void seal_flows_begin(struct flow_sealer *s, struct tk_trace *t, unsigned threads);
bool seal_flows_go_on(struct flow_sealer *s); /* call after the events are sorted */
bool seal_flows(struct flow_sealer *s);       /* call after the tracks are sealed */
void seal_flows_end(struct flow_sealer *s);

/* seal_ties.c: events first .. first+n-1 of a thread have one time and are about to be reordered: in_file[i] is the index of
 * the one that becomes the i-th. */
bool seal_keep_tie(struct tk_trace *t, tk_id first, const uint32_t *in_file, uint32_t n);

/* seal_ends.c. Marks of an end, in its depth: its begin has the same time; no begin is open for it. */
enum { SEAL_BRIEF = 1, SEAL_STRAY = 2 };
/* Returns the position + 1 in the stack, which has n positions of `events`, of the begin that the end closes; 0 if it closes none. */
uint32_t seal_find_begin(const struct tk_trace *t, const struct tk_event *events, const uint32_t *stack, uint32_t n,
                         const struct tk_event *end);
/* Marks the ends of a thread that is in file order, so that brief ones are not sorted before their begin, and closes begins whose end
 * came just before them. `stack` has room for all its events. */
void seal_mark_ends(struct tk_trace *t, const struct tk_track *k, uint32_t *stack);

/* seal_frames.c: shortens Python frames of a sealed thread that outlast their caller; returns their number. */
uint32_t seal_cut_frames(struct tk_trace *t, const struct tk_track *k);

/* Sorts flow points by time again after their times changed. */
bool seal_order_flows(struct tk_trace *t);

/* Events without a clock are at the start of their track, whatever their ts. */
static inline bool seal_is_timed(const struct tk_event *e) { return !(e->flags & TK_LOST_CLOCK); }

/* Returns the duration from ts to end, saturated to tk_time. */
tk_time seal_dur(tk_time ts, tk_time end);

/* Turns a begin event into the span that `end` closes, keeping the fields of the end event. */
void seal_close(struct tk_trace *t, struct tk_event *begin, const struct tk_event *end);

#define SEAL_UNFINISHED "spans that never end: extended to the end of the trace"

/* A deleted event: seal has consumed it, or a reader found that it repeats another. Its track does not count it. */
enum { KIND_DEAD = 255 };

#endif

/* seal.h - from what a reader added to a graph that keeps its invariants (stated in check.c). */
#ifndef GRAPH_SEAL_H
#define GRAPH_SEAL_H

#include "trace.h"

/* Matches begin and end events, sorts by track, counts depth, binds flow points, by up to `threads` threads.  False when memory runs
 * out. */
bool seal(struct tk_trace *t, unsigned threads, struct tk_err *err);

/* The steps, each in its own file. */
bool seal_async(struct tk_trace *t, tk_time trace_end);  /* seal_async.c: pairs b/e by identity */

/* seal_flow.c: sorts points and binds them.  Where none is bound yet, another thread sorts while the tracks are sealed. */
struct flow_sealer {
  struct tk_trace *t;
  struct mem mem;    /* of sorting: the trace's own is for the thread that seals the tracks */
  struct jobs *jobs; /* NULL = no other thread */
  bool ok, ordered;
  uint64_t n_backward; /* flows that end before they begin */
  tk_time worst;       /* by how much */
};
void seal_flows_begin(struct flow_sealer *s, struct tk_trace *t, unsigned threads);
bool seal_flows_go_on(struct flow_sealer *s); /* once the events are in order */
bool seal_flows(struct flow_sealer *s);       /* once the tracks are sealed */
void seal_flows_end(struct flow_sealer *s);

/* seal_ties.c: events first .. first+n-1 of a thread are of one time and about to be reordered: in_file[i] is which of them becomes the
 * i-th. */
bool seal_keep_tie(struct tk_trace *t, tk_id first, const uint32_t *in_file, uint32_t n);

/* Flow points whose times have changed into time order again. */
bool seal_order_flows(struct tk_trace *t);

/* An event that has lost its clock stands at its track's start, whatever its ts says. */
static inline bool seal_is_timed(const struct tk_event *e) { return !(e->flags & TK_LOST_CLOCK); }

/* From ts to end, cut where tk_time ends. */
tk_time seal_dur(tk_time ts, tk_time end);

/* Turns a begin event into the span that its end closes, keeping what the end says of its own. */
void seal_close(struct tk_trace *t, struct tk_event *begin, const struct tk_event *end);

#define SEAL_UNFINISHED "spans that never end: taken to last until the end of the trace"

/* An event that is none: seal has consumed it, or a reader found that it only repeats another.  Its track does not count it. */
enum { KIND_DEAD = 255 };

#endif

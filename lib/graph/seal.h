/* seal.h - turns the events that a reader added into a graph with the invariants that check.c lists. */
#ifndef GRAPH_SEAL_H
#define GRAPH_SEAL_H

#include "seal_jobs.h"
#include "trace.h"

/* Matches begin and end events, sorts by track, computes depth and binds flow points, with up to `threads` threads. Returns
 * false with err when memory runs out. */
bool seal(struct tk_trace *t, unsigned threads, struct tk_err *err);

/* The steps of seal, each in the file that its comment names. */
bool seal_async(struct tk_trace *t, tk_time trace_end);  /* seal_async.c: pairs async begin and end events by identity */

/* seal_flow.c: sorts and binds flow points. If no point is bound yet, another thread sorts them while the tracks are sealed. */
struct flow_sealer {
  struct seal_job job;
  struct tk_trace *t;
  const struct seal_threads *threads;
  struct mem mem; /* separate account for sorting, because other threads use the trace's account meanwhile */
  bool apart;     /* the steps run as jobs on other threads */
  bool ok, ordered;
  uint64_t n_backward; /* number of flows whose end precedes their start */
  tk_time worst;       /* longest time by which an end precedes its start */
};
/* `bound`: some point is a field of an event and takes the event's final time. */
void seal_flows_begin(struct flow_sealer *s, struct tk_trace *t, const struct seal_threads *threads, bool bound);
void seal_flows_go_on(struct flow_sealer *s); /* to be called after the events are sorted */
bool seal_flows(struct flow_sealer *s);       /* to be called after the tracks are sealed */

/* Ties of a range of tracks, in the form of struct tk_store. */
struct seal_tie_list {
  struct mem *mem;
  struct trace_tie *ties;
  uint32_t *tied;
  uint32_t n_ties, cap_ties, n_tied, cap_tied;
};

/* seal_ties.c: stores the file order of events e[0 .. n-1] of a thread, which have the same time and are about to be reordered; e[0] is
 * event `first`. in_file[i] is the index, before reordering, of the event that becomes the i-th. */
bool seal_keep_tie(struct seal_tie_list *list, const struct tk_event *e, tk_id first, const uint32_t *in_file, uint32_t n);
/* Moves the ties of a list, whose tracks follow those of earlier lists, to the trace. Returns false when memory runs out. */
bool seal_add_ties(struct tk_trace *t, struct seal_tie_list *list);

/* seal_ends.c: marks of an end event, stored in its depth. BRIEF: its begin has the same time. STRAY: no begin is open for
 * it. */
enum { SEAL_BRIEF = 1, SEAL_STRAY = 2 };
/* True if `end` may close `begin`: the name and the category of the end, unless they are empty, must equal those of the
 * begin, as in trace_processor. */
bool seal_is_end_of(const struct tk_trace *t, const struct tk_event *begin, const struct tk_event *end);
/* Searches the top of a stack of n open events, stored as indices into `events`, for the begin that `end` closes. Returns 1 + the
 * index of the begin on the stack; 0 if none matches. */
uint32_t seal_find_begin(const struct tk_trace *t, const struct tk_event *events, const uint32_t *stack, uint32_t n,
                         const struct tk_event *end);
/* Marks the end events of a thread whose events are in file order, so that an end event with the time of its begin event is not sorted
 * before it. Closes begin events whose end event came just before them. `stack` has room for all events of the thread. */
void seal_mark_ends(struct tk_trace *t, const struct tk_track *k, uint32_t *stack);

/* seal_frames.c: shortens the Python frames of a sealed thread that outlast their caller; returns the number of such frames. */
uint32_t seal_cut_frames(struct tk_trace *t, const struct tk_track *k);

/* Sorts flow points by time again, after their times have changed. */
bool seal_order_flows(struct tk_trace *t);

/* False for events without a clock: they are at the start of their track, whatever their ts. */
static inline bool seal_is_timed(const struct tk_event *e) { return !(e->flags & TK_FLAG_LOST_CLOCK); }

static inline tk_time seal_end_of(const struct tk_event *e) { return e->ts + e->dur; }

/* Returns the duration from ts to end, saturated to tk_time. */
tk_time seal_dur(tk_time ts, tk_time end);

/* Turns a begin event into the span that `end` closes. The span also receives the fields of the end event. */
void seal_close(struct tk_trace *t, struct tk_event *begin, const struct tk_event *end);

#define SEAL_CUT "begin events whose end is missing: ended with the span around them"
#define SEAL_LATE "begin events whose end event comes after the end of the span around them: ended with that span"
#define SEAL_EARLY "ends just before their begins at the same time: spans of length 0"
#define SEAL_UNFINISHED "spans that never end: extended to the end of the trace"

/* Kind of a deleted event: either seal has consumed it, or a reader found that it repeats another event. Tracks do not count
 * deleted events. */
enum { KIND_DEAD = 255 };

#endif

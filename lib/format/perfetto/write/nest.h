/* nest.h - order of the packets of nested spans: a parent begins before its children, and a span ends before a later event.
 *
 * The same walk writes the packets and, without writing them, finds where the output of a track may be cut (segments.c). */
#ifndef FORMAT_PERFETTO_WRITE_NEST_H
#define FORMAT_PERFETTO_WRITE_NEST_H

#include "writer.h"

/* Flags of events that cannot be on their track's stack. */
enum { NEST_ASIDE = TK_FLAG_OVERLAPS | TK_FLAG_LOST_CLOCK };

/* A walk over the events of a track on one lane. */
struct nest {
  struct event_writer *w;
  struct open_spans *stack;
  uint32_t depth;      /* events at this depth are outermost */
  tk_id root;          /* event for which the lane was created; 0 = none */
  uint32_t skip_below; /* events deeper than this belong to an event that is left out; UINT32_MAX = none */
  bool quiet;          /* true to write nothing */
};

/* NEST_DEEP: the event needs another lane although its flags do not say so. It is too deep, or ends later than its parent. */
enum nest_result { NEST_DONE, NEST_DEEP };

/* Takes the next event: ends the spans before it, then writes it. Leaves out samples and events that need another lane, and all events
 * nested in the latter. */
enum nest_result nest_event(struct nest *n, tk_id id);

#endif

/* lanes.h - arranges spans of OpenTelemetry in rows, so that a span is inside its parent.
 *
 *     parent   |------------------------|         lane 1
 *     child       |----|    |-----|               lane 1: the parent is the innermost span there
 *     child          |-----------|                lane 2, with a flow from the parent: it overlaps its sibling
 *
 * The lanes of a process are threads, because spans of a thread nest. OpenTelemetry itself states no rows: spans of concurrent requests
 * and of asynchronous calls overlap. */
#ifndef FORMAT_OTLP_LANES_H
#define FORMAT_OTLP_LANES_H

#include "graph/trace.h"

enum { OTLP_ROOT = UINT32_MAX };

struct otlp_span {
  struct tk_event e; /* on the track of its process */
  tk_id event;       /* set by otlp_arrange: its event in the graph; 0 when memory runs out */
  uint32_t parent; /* index of its parent; OTLP_ROOT = none, or none in the file */
  uint32_t depth;  /* set by otlp_arrange: number of ancestors */
  bool is_apart;   /* set by otlp_arrange: it is not inside its parent */
};

/* Adds the spans to the graph, on lanes, each before those that it contains, and a flow from the parent of each span that is not inside
 * it. Adds nothing when memory runs out. */
void otlp_arrange(struct tk_trace *t, struct otlp_span *spans, uint32_t n);

#endif

/* tree_nodes.h - nodes of a call tree while tree.c builds it. */
#ifndef ANALYSIS_TREE_NODES_H
#define ANALYSIS_TREE_NODES_H

#include "base/int128.h"
#include "graph/step_names.h"
#include "graph/within.h"
#include "group.h"
#include "measure.h"
#include "self.h"
#include "weights.h"
#include "work.h"

/* A node of the tree: a path of names. Node 0 is the root and is not reported. */
struct node {
  uint32_t parent, group, depth;
  uint32_t child, sibling; /* first child, next sibling; 0 = none */
  bool stepless;      /* if rows are grouped by step: true in the part of the tree for spans that begin outside of all steps */
  bool kernels, others; /* kernels: has a kernel; others: has any other span or a stack sample */
  bool is_by, is_sum; /* is_by: the group is one of tree->by; is_sum: has no spans of its own, and its times are the sums over its
                       * children */
  uint64_t count, unfinished, clipped, launched;
  uint64_t marks;          /* spans that only show that a profiler was active */
  uint64_t timed;          /* spans with a known duration */
  i128 total, self;
  i128 weight;      /* weight of the stack samples in this node and, after summing up, below it */
  uint64_t samples; /* number of these samples */
  tk_time device;
  tk_time start; /* earliest start of the spans in this node and below; INT64_MAX = unknown */
  uint32_t order, last; /* order: index in the report; last: index of its last descendant */
};

struct tree_work {
  uint32_t node;
  struct interval when;
};

enum tree_layers { TREE_SPANS, TREE_SCOPES, TREE_MODULES, TREE_ANNOTATIONS };

/* Place of the launch of work: unknown; inside a node; inside a step, but outside of all nodes; outside of all steps. */
enum tree_place { PLACE_UNKNOWN, PLACE_NODE, PLACE_OUTSIDE, PLACE_STEPLESS };

struct tree {
  struct tk_trace *t;
  const struct tk_tree_options *opt;
  struct tk_tree_report *report;
  struct mem *mem;
  struct match match;          /* a copy; the caller frees it */
  const struct works *found;   /* with launches; NULL without layers */
  struct groups *names, *by;
  struct scope scope;
  struct selves selves;
  struct node *nodes;
  uint32_t n, cap;
  struct map children;  /* parent and group -> node */
  uint32_t *node_of;    /* by event: node of the event itself; 0 = none */
  uint32_t *around;     /* by event: its own node; if it has none, the node of the innermost selected span around it */
  struct within within;
  struct tree_work *works;
  uint32_t n_works, cap_works;
  uint8_t *place_of;    /* by event, of device work: enum tree_place */
  tk_id path;           /* key of the arg that contains the path */
  struct step_names begins; /* if layers are shown: spans that begin steps ("every:PATTERN") but are not steps themselves */
  enum tree_layers layers; /* kind of layers, if the option `layers` is set */
  struct weight_unit unit;
  struct map node_of_stack; /* outermost node and stack -> node */
  tk_id *stack_path;
  uint32_t cap_stack_path;
  bool *is_mark;        /* by class: true if its spans only show that a profiler was active */
  uint8_t *is_per;      /* by class: 1 = its name matches --per, 2 = it does not, 0 = not computed yet */
};

/* True if all spans of the node are marks of a profiler. Such a node has no self time and is left out of all sums. */
static inline bool tree_nodes_is_mark(const struct node *n) { return n->marks && n->marks == n->count; }
/* Returns the node of a group below the node `parent`, adding it if necessary; 0 if memory runs out. `is_by`: true if the group is one
 * of tree->by, false if it is one of tree->names. */
uint32_t tree_nodes_child(struct tree *tree, uint32_t parent, uint32_t group, bool is_by);

/* True if only events in steps count, and the event begins outside of all steps; the report then counts it as left out. */
bool tree_nodes_stepless(struct tree *tree, const struct tk_event *e);
/* Adds a piece of device work to a node. Returns false if memory runs out. */
bool tree_nodes_work(struct tree *tree, uint32_t node, struct interval when);
/* Updates the earliest start in the node of a span and in all nodes above. */
void tree_nodes_start(struct tree *tree, const struct tk_event *e, uint32_t node);

#endif

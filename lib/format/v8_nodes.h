/* v8_nodes.h - call trees of V8: the nodes of a CPU profile, each of which is a stack.
 *
 *     {"id":2,"parent":1,"callFrame":{"functionName":..,"url":..,"lineNumber":0,"columnNumber":0},"hitCount":0,"children":[3]}
 *
 * The parent of a node is either named by its member `parent`, or lists the node in `children`. Lines and columns count from 0. The
 * node (root) is not a function, and is left out of the stacks. CPU profiles and the events of Chrome JSON contain such nodes, the
 * latter piece by piece. */
#ifndef FORMAT_V8_NODES_H
#define FORMAT_V8_NODES_H

#include "graph/trace.h"
#include "json_walk.h"

struct v8_node {
  int64_t id;
  tk_id frame;     /* 0 = the root */
  uint32_t parent; /* index + 1; 0 = none */
  tk_id stack;
  bool has_stack;
  int64_t hits;
};

struct v8_nodes {
  struct tk_trace *t;
  struct mem *mem;
  struct map index; /* id -> index of the node */
  struct v8_node *nodes;
  uint32_t n, cap;
  struct map wanted; /* id of a child that is still unknown -> index + 1 of the node that lists it */
  struct v8_link {
    uint32_t node; /* index of the node */
    int64_t parent; /* id of its parent */
  } *links; /* links of the array that is being read */
  uint32_t n_links, cap_links;
  uint32_t *path;
  uint32_t cap_path;
  uint32_t mapping; /* mapping of the frames of a trace that is loaded for queries; 0 = frames have none (graph/stack.h) */
};

void v8_nodes_init(struct v8_nodes *v, struct tk_trace *t);
void v8_nodes_free(struct v8_nodes *v);

/* Reads an array of nodes, which may be absent. With a mapping, nodes are read as trace_processor does: the root is a frame, frames
 * have a name and a file only, and all nodes have a stack. `exact`: tracekit wrote the nodes, so the name of a frame may be unknown,
 * and only a node without a parent is the root. `text`: start of the input, for the offsets of notes; NULL = unknown. */
void v8_nodes_read(struct v8_nodes *v, struct json_walk *w, const struct json_value *nodes, bool exact, const uint8_t *text);

/* Finds the stack of a node. Returns false if there is no such node. */
bool v8_nodes_stack(struct v8_nodes *v, const struct json_value *id, tk_id *stack);
/* Returns the stack of the node at this index. */
tk_id v8_nodes_stack_at(struct v8_nodes *v, uint32_t at);

#endif

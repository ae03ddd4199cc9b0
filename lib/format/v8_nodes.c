/* v8_nodes.c - see v8_nodes.h. Parents are looked up after each array, because a node may precede its parent. */
#include "v8_nodes.h"

#include <string.h>

#include "graph/stack.h"

void v8_nodes_init(struct v8_nodes *v, struct tk_trace *t) {
  *v = (struct v8_nodes){.t = t, .mem = &t->store->mem};
  map_init(&v->index, v->mem);
  map_init(&v->wanted, v->mem);
}

void v8_nodes_free(struct v8_nodes *v) {
  map_free(&v->index);
  map_free(&v->wanted);
  mem_free(v->mem, v->nodes);
  mem_free(v->mem, v->links);
  mem_free(v->mem, v->path);
}

/* ---- frames ---- */

static tk_id v8_text(struct v8_nodes *v, struct json_walk *w, const struct json_value *value) {
  size_t n = 0;
  if (!value->p || value->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &value->str, &n);
  return trace_string(v->t, text, n);
}

/* Returns a line or column, counted from 1; 0 = unknown. In the file, numbers count from 0, and -1 means unknown. */
static uint32_t position_of(const struct json_value *v) {
  int64_t number;
  return json_walk_whole(v, &number) && number >= 0 && number < UINT32_MAX ? (uint32_t)number + 1 : 0;
}

static tk_id filed_frame(struct v8_nodes *v, tk_id name, tk_id file) {
  const struct tk_frame f = {.name = name ? name : KEY_EMPTY, .file = file == KEY_EMPTY ? 0 : file};
  return stack_frame_at(v->t, &f, &(struct stack_site){.mapping = v->mapping, .has_symbol = true});
}

static tk_id frame_of(struct v8_nodes *v, struct json_walk *w, const struct json_value *call, bool exact) {
  struct json_value name, url, line, column, module, nameless;
  const struct json_place members[] = {{"functionName", &name}, {"url", &url}, {"lineNumber", &line}, {"columnNumber", &column},
                                       {"module", &module}, {"nameless", &nameless}, {NULL, NULL}};
  json_walk_object(w, call, members);
  struct tk_frame f = {.name = v8_text(v, w, &name)};
  f.file = v8_text(v, w, &url);
  if (v->mapping) return filed_frame(v, f.name, f.file);
  f.line = position_of(&line);
  f.column = position_of(&column);
  if (exact) {
    f.module = v8_text(v, w, &module);
    if (nameless.p) f.name = 0;
    return stack_frame(v->t, &f);
  }
  if (f.file == KEY_EMPTY) f.file = 0;
  if (f.name && !f.file && strcmp(tk_string(v->t, f.name, NULL), "(root)") == 0) return 0;
  if (!f.name || f.name == KEY_EMPTY) f.name = trace_text(v->t, "(anonymous)");
  return stack_frame(v->t, &f);
}

/* ---- nodes ---- */

static void add_child(struct v8_nodes *v, int64_t id) {
  const uint32_t *found = map_get(&v->index, (uint64_t)id);
  if (!found || *found >= v->n) map_put(&v->wanted, (uint64_t)id, v->n);
  else if (!v->nodes[*found].parent) v->nodes[*found].parent = v->n;
}

/* Adds the children of the last node. */
static void add_children(struct v8_nodes *v, struct json_walk *w, const struct json_value *children) {
  struct json_walk in = json_walk_into(w, children);
  struct json_value child;
  int64_t number;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &child))
      if (json_walk_whole(&child, &number)) add_child(v, number);
  json_walk_free(&in);
}

static void add_link(struct v8_nodes *v, uint32_t node, int64_t parent) {
  if (!mem_grow(v->mem, (void **)&v->links, &v->cap_links, (uint64_t)v->n_links + 1, sizeof *v->links)) return;
  v->links[v->n_links++] = (struct v8_link){node, parent};
}

/* Adds a node. Returns false if it has no unique id. */
static bool add_node(struct v8_nodes *v, struct json_walk *w, const struct json_value *value, bool exact) {
  struct json_value id, call, hits, children, parent;
  const struct json_place members[] = {{"id", &id}, {"callFrame", &call}, {"hitCount", &hits}, {"children", &children},
                                       {"parent", &parent}, {NULL, NULL}};
  struct v8_node node = {.hits = 0};
  int64_t number;
  json_walk_object(w, value, members);
  uint32_t *slot = json_walk_whole(&id, &node.id) ? map_put(&v->index, (uint64_t)node.id, v->n) : NULL;
  if (!slot || *slot != v->n) return false;
  if (!mem_grow(v->mem, (void **)&v->nodes, &v->cap, (uint64_t)v->n + 1, sizeof *v->nodes)) return true;
  const bool has_parent = json_walk_whole(&parent, &number);
  node.frame = exact && !has_parent && !v->mapping ? 0 : frame_of(v, w, &call, exact);
  json_walk_whole(&hits, &node.hits);
  const uint32_t *wanted = map_get(&v->wanted, (uint64_t)node.id);
  if (wanted) node.parent = *wanted;
  if (has_parent) add_link(v, v->n, number);
  v->nodes[v->n++] = node;
  if (children.p) add_children(v, w, &children);
  return true;
}

/* Sets the parents of those nodes in the array that name their parent by id. */
static void link_nodes(struct v8_nodes *v) {
  for (uint32_t i = 0; i < v->n_links; i++) {
    const uint32_t *found = map_get(&v->index, (uint64_t)v->links[i].parent);
    if (found && *found < v->n) v->nodes[v->links[i].node].parent = *found + 1;
  }
  v->n_links = 0;
}

void v8_nodes_read(struct v8_nodes *v, struct json_walk *w, const struct json_value *nodes, bool exact, const uint8_t *text) {
  const uint32_t known = v->n;
  if (!nodes->p) return;
  struct json_walk in = json_walk_into(w, nodes);
  struct json_value node;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &node))
      if (!add_node(v, &in, &node, exact))
        trace_note(v->t, TK_NOTE_REPAIR, text ? (uint64_t)(node.p - text) : UINT64_MAX,
                   "call frame without a unique id: skipped");
  json_walk_free(&in);
  link_nodes(v);
  for (uint32_t i = v->mapping ? known : v->n; i < v->n; i++) v8_nodes_stack_at(v, i);
}

/* ---- stacks ---- */

/* Computes the stacks of the node and its ancestors, outermost first. A loop of parents, which no valid profile has, ends at
 * the node that closes it. */
tk_id v8_nodes_stack_at(struct v8_nodes *v, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = at + 1; i && !v->nodes[i - 1].has_stack; i = v->nodes[i - 1].parent) {
    if (!mem_grow(v->mem, (void **)&v->path, &v->cap_path, (uint64_t)n + 1, sizeof *v->path)) return 0;
    v->path[n++] = i - 1;
    v->nodes[i - 1].has_stack = true;
  }
  while (n-- > 0) {
    struct v8_node *node = &v->nodes[v->path[n]];
    const tk_id outer = node->parent ? v->nodes[node->parent - 1].stack : 0;
    node->stack = node->frame ? stack_push(v->t, outer, node->frame) : outer;
  }
  return v->nodes[at].stack;
}

bool v8_nodes_stack(struct v8_nodes *v, const struct json_value *id, tk_id *stack) {
  int64_t number;
  const uint32_t *node = json_walk_whole(id, &number) ? map_get(&v->index, (uint64_t)number) : NULL;
  if (!node || *node >= v->n) return false;
  *stack = v8_nodes_stack_at(v, *node);
  return true;
}

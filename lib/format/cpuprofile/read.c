/* read.c - reads CPU profiles of V8, which Node (--cpu-prof), Deno and Chrome's DevTools write (.cpuprofile): the type Profile of the
 * DevTools protocol, domain Profiler.
 *
 *     {"nodes":[{"id":1,"callFrame":{"functionName":..,"url":..,"lineNumber":0,"columnNumber":0},"hitCount":0,"children":[2]}],
 *      "startTime":..,"endTime":..,"samples":[2,..],"timeDeltas":[100,..]}
 *
 * A node is a stack: a frame under the node that lists it as a child (or that its `parent` names). Sample i is at startTime plus the
 * deltas 0 to i, in microseconds of a monotonic clock, and its weight is the time until the next sample, or until endTime. Lines and
 * columns count from 0. The node (root) is no function and is left out of the stacks. Profiles of old versions have no samples; the
 * hit counts of their nodes are the weights then. */
#include "read.h"

#include <string.h>

#include "format/json_walk.h"
#include "graph/stack.h"

enum { PS_PER_US = 1000000 };

unsigned cpuprofile_bid(const uint8_t *p, size_t n) {
  static const char *const KEYS[] = {"\"callFrame\"", "\"functionName\"", "\"scriptId\""};
  unsigned found = 0;
  size_t i = 0;
  while (i < n && json_is_space(p[i])) i++;
  if (i == n || p[i] != '{' || !memmem(p, n, "\"nodes\"", 7)) return 0;
  if (memmem(p, n, "\"ph\"", 4) || memmem(p, n, "\"traceEvents\"", 13)) return 0;
  for (size_t k = 0; k < sizeof KEYS / sizeof KEYS[0]; k++) found += memmem(p, n, KEYS[k], strlen(KEYS[k])) != NULL;
  return found == 3 ? 250 : 0;
}

struct node {
  int64_t id;
  tk_id frame;     /* 0 = the root */
  uint32_t parent; /* index + 1; 0 = none */
  tk_id stack;
  bool has_stack;
  int64_t hits;
};

struct cpuprofile {
  struct tk_trace *t;
  struct mem *mem;
  const uint8_t *text;
  struct map index; /* id -> index of the node */
  struct node *nodes;
  uint32_t n, cap;
  struct link {
    int64_t id;
    uint32_t parent;
  } *links; /* children by id, as the nodes list them */
  uint32_t n_links, cap_links;
  uint32_t *path;
  uint32_t cap_path;
  int64_t start, end;
  bool has_start, has_end;
};

static tk_id string_of(struct cpuprofile *c, struct json_walk *w, const struct json_value *v) {
  size_t n = 0;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return n ? trace_string(c->t, text, n) : 0;
}

/* Numbers in the file count from 0, and -1 means unknown. */
static uint32_t position_of(const struct json_value *v) {
  int64_t number;
  return json_walk_whole(v, &number) && number >= 0 && number < INT32_MAX ? (uint32_t)number + 1 : 0;
}

/* ---- nodes ---- */

static tk_id frame_of(struct cpuprofile *c, struct json_walk *w, const struct json_value *call) {
  struct json_value name = {.p = NULL}, url = {.p = NULL}, line = {.p = NULL}, column = {.p = NULL};
  const struct json_place members[] = {{"functionName", &name}, {"url", &url}, {"lineNumber", &line}, {"columnNumber", &column},
                                       {NULL, NULL}};
  if (call->p) json_walk_members(json_walk_into(w, call), members);
  struct tk_frame f = {.name = string_of(c, w, &name)};
  f.file = string_of(c, w, &url);
  f.line = position_of(&line);
  f.column = position_of(&column);
  if (f.name && !f.file && strcmp(tk_string(c->t, f.name, NULL), "(root)") == 0) return 0;
  if (!f.name) f.name = trace_text(c->t, "(anonymous)");
  return stack_frame(c->t, &f);
}

static void add_link(struct cpuprofile *c, int64_t id, uint32_t parent) {
  if (!mem_grow(c->mem, (void **)&c->links, &c->cap_links, (uint64_t)c->n_links + 1, sizeof *c->links)) return;
  c->links[c->n_links++] = (struct link){id, parent};
}

static void add_node(struct cpuprofile *c, struct json_walk *w, const struct json_value *v) {
  struct json_value id = {.p = NULL}, call = {.p = NULL}, hits = {.p = NULL}, children = {.p = NULL}, parent = {.p = NULL}, child;
  const struct json_place members[] = {{"id", &id}, {"callFrame", &call}, {"hitCount", &hits}, {"children", &children},
                                       {"parent", &parent}, {NULL, NULL}};
  struct node node = {.hits = 0};
  int64_t number;
  json_walk_members(json_walk_into(w, v), members);
  uint32_t *slot = json_walk_whole(&id, &node.id) ? map_put(&c->index, (uint64_t)node.id, c->n) : NULL;
  if (!slot || *slot != c->n) {
    trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(v->p - c->text), "call frame without an id of its own: skipped");
    return;
  }
  if (!mem_grow(c->mem, (void **)&c->nodes, &c->cap, (uint64_t)c->n + 1, sizeof *c->nodes)) return;
  node.frame = frame_of(c, w, &call);
  json_walk_whole(&hits, &node.hits);
  c->nodes[c->n++] = node;
  if (json_walk_whole(&parent, &number)) add_link(c, node.id, UINT32_MAX), add_link(c, number, c->n);
  struct json_walk in = json_walk_into(w, &children);
  if (children.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &child))
      if (json_walk_whole(&child, &number)) add_link(c, number, c->n);
  json_walk_free(&in);
}

/* Sets the parents. A link with the parent UINT32_MAX is followed by the id of the node's parent and the node. */
static void link_nodes(struct cpuprofile *c) {
  for (uint32_t i = 0; i < c->n_links; i++) {
    const struct link *l = &c->links[i];
    const bool upwards = l->parent == UINT32_MAX;
    if (upwards) l = &c->links[++i];
    const uint32_t *found = map_get(&c->index, (uint64_t)l->id);
    if (!found || *found >= c->n) continue;
    if (upwards) c->nodes[l->parent - 1].parent = *found + 1;
    else if (!c->nodes[*found].parent) c->nodes[*found].parent = l->parent;
  }
}

/* Returns the stack of a node. Loops of parents, which no profile has, end at the node that closes them. */
static tk_id stack_of(struct cpuprofile *c, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = at + 1; i && !c->nodes[i - 1].has_stack; i = c->nodes[i - 1].parent) {
    if (!mem_grow(c->mem, (void **)&c->path, &c->cap_path, (uint64_t)n + 1, sizeof *c->path)) return 0;
    c->path[n++] = i - 1;
    c->nodes[i - 1].has_stack = true;
  }
  while (n-- > 0) {
    struct node *node = &c->nodes[c->path[n]];
    const tk_id outer = node->parent ? c->nodes[node->parent - 1].stack : 0;
    node->stack = node->frame ? stack_push(c->t, outer, node->frame) : outer;
  }
  return c->nodes[at].stack;
}

static void read_nodes(struct cpuprofile *c, struct json_walk *w, const struct json_value *nodes) {
  struct json_walk in = json_walk_into(w, nodes);
  struct json_value v;
  if (nodes->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) add_node(c, &in, &v);
  json_walk_free(&in);
  link_nodes(c);
}

/* ---- samples ---- */

struct samples {
  struct tk_sample sample;
  int64_t us;     /* time of the next sample, relative to the first */
  bool has_last;  /* `sample` waits for the time of the next sample */
  uint64_t n_back;
};

static void flush_sample(struct cpuprofile *c, struct samples *x, int64_t until) {
  if (!x->has_last) return;
  const int64_t us = num_sub(until, x->sample.ts / PS_PER_US);
  x->sample.weight = us > 0 ? us : 0;
  x->n_back += us < 0;
  stack_add(c->t, &x->sample);
}

/* Times within 53 days of the first one. */
static int64_t near(int64_t us) {
  static const int64_t MOST = INT64_MAX / PS_PER_US / 2;
  return us > MOST ? MOST : us < -MOST ? -MOST : us;
}

static void read_samples(struct cpuprofile *c, struct json_walk *w, const struct json_value *ids, const struct json_value *deltas) {
  struct json_walk in = json_walk_into(w, ids), steps = json_walk_into(w, deltas);
  struct samples x = {.sample = {.unit = trace_text(c->t, "us"), .track = trace_track(c->t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0)}};
  struct json_value v, step;
  int64_t id, delta;
  bool more = json_walk_enter(&in, '['), has_steps = deltas->p && json_walk_enter(&steps, '[');
  while (more && json_walk_more(&in) && json_walk_value(&in, &v)) {
    c->t->counts.read++;
    has_steps = has_steps && json_walk_more(&steps) && json_walk_value(&steps, &step);
    if (has_steps && json_walk_whole(&step, &delta)) x.us = near(num_add(x.us, delta));
    else trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(v.p - c->text), "sample without a time: using the time of the one before");
    flush_sample(c, &x, x.us);
    const uint32_t *node = json_walk_whole(&v, &id) ? map_get(&c->index, (uint64_t)id) : NULL;
    x.has_last = node && *node < c->n;
    if (!x.has_last) {
      trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(v.p - c->text), "sample of an unknown call frame: dropped");
      c->t->counts.dropped++;
      continue;
    }
    x.sample.ts = x.us * PS_PER_US;
    x.sample.stack = stack_of(c, *node);
  }
  flush_sample(c, &x, c->has_end && c->has_start ? near(num_sub(c->end, c->start)) : x.us);
  if (x.n_back) trace_notes(c->t, TK_NOTE_FACT, UINT64_MAX, "samples later than the next one: their weight is 0", x.n_back);
  json_walk_free(&in);
  json_walk_free(&steps);
}

static void count_hits(struct cpuprofile *c) {
  struct tk_sample s = {.unit = trace_text(c->t, "samples"), .track = trace_track(c->t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0)};
  trace_note(c->t, TK_NOTE_INFO, UINT64_MAX, "no samples, only hit counts: all are at time 0");
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->nodes[i].hits <= 0) continue;
    s.stack = stack_of(c, i);
    s.weight = c->nodes[i].hits;
    stack_add(c->t, &s);
    c->t->counts.read++;
  }
}

static void read_document(struct cpuprofile *c, size_t n) {
  struct json_walk w = json_walk_over(c->text, c->text + n, c->mem);
  struct json_value nodes = {.p = NULL}, samples = {.p = NULL}, deltas = {.p = NULL}, start = {.p = NULL}, end = {.p = NULL}, v;
  const struct json_place members[] = {{"nodes", &nodes}, {"samples", &samples}, {"timeDeltas", &deltas}, {"startTime", &start},
                                   {"endTime", &end}};
  struct json_string key;
  if (json_walk_enter(&w, '{'))
    while (json_walk_key(&w, &key)) {
      struct json_value *to = &v;
      for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (json_is(&w.j, &key, members[i].key)) to = members[i].to;
      if (!json_walk_value(&w, to)) break;
    }
  if (w.j.status != JSON_OK || w.cut || w.j.p >= w.j.end || *w.j.p != '}') {
    trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - c->text), "the JSON is damaged or cut here: what precedes was read");
    c->t->truncated = true;
  }
  c->has_start = json_walk_whole(&start, &c->start);
  c->has_end = json_walk_whole(&end, &c->end);
  if (c->has_start && c->start > -INT64_MAX / 1000 && c->start < INT64_MAX / 1000) c->t->origin_ns = c->start * 1000;
  read_nodes(c, &w, &nodes);
  if (samples.p) read_samples(c, &w, &samples, &deltas);
  else count_hits(c);
  json_walk_free(&w);
}

bool cpuprofile_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct buf text = {.mem = mem};
  struct cpuprofile c = {.t = t, .mem = mem};
  size_t n;
  (void)opt;
  map_init(&c.index, mem);
  const bool ok = json_walk_load(in, &text, &n, err);
  c.text = text.data;
  if (ok) read_document(&c, n);
  t->counts.bytes = in_offset(in);
  map_free(&c.index);
  mem_free(mem, c.nodes);
  mem_free(mem, c.links);
  mem_free(mem, c.path);
  buf_free(&text);
  return ok && mem_check(mem, err);
}

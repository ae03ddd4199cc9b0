/* read.c - reads CPU profiles of V8, which Node (--cpu-prof), Deno and Chrome's DevTools write (.cpuprofile): the type Profile of the
 * DevTools protocol, domain Profiler.
 *
 *     {"nodes":[{"id":1,"callFrame":{"functionName":..,"url":..,"lineNumber":0,"columnNumber":0},"hitCount":0,"children":[2]}],
 *      "startTime":..,"endTime":..,"samples":[2,..],"timeDeltas":[100,..]}
 *
 * A node is a stack (format/v8_nodes.h). Sample i is at startTime plus the deltas 0 to i, in microseconds of a monotonic clock, and its
 * weight is the time until the next sample, or until endTime. Profiles of old versions have no samples; the hit counts of their nodes
 * are the weights then. */
#include "read.h"

#include <stdlib.h>
#include <string.h>

#include "format/json_walk.h"
#include "format/v8_nodes.h"
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

struct cpuprofile {
  struct tk_trace *t;
  struct mem *mem;
  const uint8_t *text;
  struct v8_nodes nodes;
  int64_t start, end;
  bool has_start, has_end;
};

/* ---- samples ---- */

/* A sample whose weight follows from the time of the next one. us: time relative to the first sample; order: position in the file. */
struct held {
  int64_t us;
  tk_id stack;
  uint32_t order;
  bool known; /* false: the call frame is unknown, so the sample only ends the one before it */
};

struct samples {
  struct held *v;
  uint32_t n, cap;
  bool unordered; /* true if a sample is earlier than the one before it */
};

static int by_time(const void *p, const void *q) {
  const struct held *a = p, *b = q;
  if (a->us != b->us) return a->us < b->us ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Adds the samples, of which the last lasts until `end`. V8 may record a sample late, so that its delta is negative; DevTools sorts the
 * samples by time (CPUProfileDataModel.ts, sortSamples). */
static void add_samples(struct cpuprofile *c, struct samples *x, int64_t end) {
  struct tk_sample s = {.unit = trace_text(c->t, "us"), .track = trace_track(c->t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0)};
  uint64_t n_late = 0, n_back = 0;
  if (x->unordered) qsort(x->v, x->n, sizeof *x->v, by_time);
  for (uint32_t i = 0; i < x->n; i++) {
    const struct held *at = &x->v[i];
    const int64_t us = num_sub(i + 1 < x->n ? at[1].us : end, at->us);
    n_late += i && at->order < at[-1].order;
    if (!at->known) continue;
    n_back += us < 0;
    s.ts = at->us * PS_PER_US;
    s.stack = at->stack;
    s.weight = us > 0 ? us : 0;
    stack_add(c->t, &s);
  }
  if (n_late) trace_notes(c->t, TK_NOTE_FACT, UINT64_MAX, "samples after a sample with a later time: sorted by time", n_late);
  if (n_back) trace_notes(c->t, TK_NOTE_FACT, UINT64_MAX, "samples after the end of the profile: weight set to 0", n_back);
}

/* Limits a time to the range of 53 days around the first sample. */
static int64_t near(int64_t us) {
  static const int64_t MOST = INT64_MAX / PS_PER_US / 2;
  return us > MOST ? MOST : us < -MOST ? -MOST : us;
}

/* Holds a sample until the times of all samples are known. Returns false if memory runs out. */
static bool hold(struct cpuprofile *c, struct samples *x, int64_t us, const struct json_value *node) {
  if (!mem_grow(c->mem, (void **)&x->v, &x->cap, (uint64_t)x->n + 1, sizeof *x->v)) return false;
  struct held *at = &x->v[x->n];
  *at = (struct held){.us = us, .order = x->n};
  x->unordered = x->unordered || (x->n && us < at[-1].us);
  x->n++;
  at->known = v8_nodes_stack(&c->nodes, node, &at->stack);
  if (at->known) return true;
  trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(node->p - c->text), "sample of an unknown call frame: dropped");
  c->t->counts.dropped++;
  return true;
}

static void read_samples(struct cpuprofile *c, struct json_walk *w, const struct json_value *ids, const struct json_value *deltas) {
  struct json_walk in = json_walk_into(w, ids), steps = json_walk_into(w, deltas);
  struct samples x = {.n = 0};
  struct json_value v, step;
  int64_t delta, us = 0;
  bool more = json_walk_enter(&in, '['), has_steps = deltas->p && json_walk_enter(&steps, '[');
  while (more && json_walk_more(&in) && json_walk_value(&in, &v)) {
    c->t->counts.read++;
    has_steps = has_steps && json_walk_more(&steps) && json_walk_value(&steps, &step);
    if (has_steps && json_walk_whole(&step, &delta)) us = near(num_add(us, delta));
    else trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(v.p - c->text), "sample without a time: using the time of the previous sample");
    if (!hold(c, &x, us, &v)) break;
  }
  const int64_t last = x.n ? x.v[x.n - 1].us : 0;
  add_samples(c, &x, c->has_end && c->has_start ? near(num_sub(c->end, c->start)) : last);
  mem_free(c->mem, x.v);
  json_walk_free(&in);
  json_walk_free(&steps);
}

static void count_hits(struct cpuprofile *c) {
  struct tk_sample s = {.unit = trace_text(c->t, "samples"), .track = trace_track(c->t, TK_TRACK_THREAD, ident_int(1), ident_int(1),
      0)};
  trace_note(c->t, TK_NOTE_INFO, UINT64_MAX, "the profile has hit counts instead of samples: all are placed at time 0");
  for (uint32_t i = 0; i < c->nodes.n; i++) {
    if (c->nodes.nodes[i].hits <= 0) continue;
    s.stack = v8_nodes_stack_at(&c->nodes, i);
    s.weight = c->nodes.nodes[i].hits;
    stack_add(c->t, &s);
    c->t->counts.read++;
  }
}

static void read_document(struct cpuprofile *c, size_t n) {
  struct json_walk w = json_walk_over(c->text, c->text + n, c->mem);
  struct json_value nodes, samples, deltas, start, end;
  const struct json_place members[] = {{"nodes", &nodes}, {"samples", &samples}, {"timeDeltas", &deltas}, {"startTime", &start},
                                       {"endTime", &end}, {NULL, NULL}};
  json_walk_members(&w, members);
  if (w.j.status != JSON_OK || w.cut || w.j.p >= w.j.end || *w.j.p != '}') {
    trace_note(c->t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - c->text), "the JSON is truncated or damaged here: the part before was read");
    c->t->truncated = true;
  }
  c->has_start = json_walk_whole(&start, &c->start);
  c->has_end = json_walk_whole(&end, &c->end);
  if (c->has_start && c->start > -INT64_MAX / 1000 && c->start < INT64_MAX / 1000) c->t->origin_ns = c->start * 1000;
  v8_nodes_read(&c->nodes, &w, &nodes, false, c->text);
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
  v8_nodes_init(&c.nodes, t);
  const bool ok = json_walk_load(in, &text, &n, err);
  c.text = text.data;
  if (ok) read_document(&c, n);
  t->counts.bytes = in_offset(in);
  v8_nodes_free(&c.nodes);
  buf_free(&text);
  return ok && mem_check(mem, err);
}

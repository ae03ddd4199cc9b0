/* samples.c - see samples.h. Samples occur in these forms:
 *
 *     {"ph":"P","name":"Profile","id":"0x1",..,"args":{"data":{"startTime":1000}}}                        CPU profiles of V8
 *     {"ph":"P","name":"ProfileChunk","id":"0x1",..,"args":{"data":{"cpuProfile":{"nodes":[..],"samples":[2,2]},"timeDeltas":[0,9]}}}
 *     {"ph":"I","name":"CpuProfile",..,"args":{"data":{"cpuProfile":{"startTime":1000,"nodes":[..],..}}}}   Chrome up to 57
 *     {"ph":"P","name":"cycles","ts":1000,"pid":1,"tid":1,"sf":"7"}                                       sample events
 *     "samples":[{"cpu":0,"tid":1,"ts":1000,"name":"cycles","sf":"7","weight":1}]                         global samples
 *
 * DevTools, catapult and trace_processor read CPU profiles, so our writer (write/samples.c) uses this form, with members "tracekit" for
 * properties that V8 does not have. The graph contains everything in the events of our writer. Events of other producers contain more
 * (scripts, lines, reasons), so they are also kept as records, which are written back unless an operation has changed the trace.
 *
 * Samples belong to the thread of the Profile event; its chunks may come from another thread. V8 does not weigh samples; the weight is
 * the time until the next sample, or until endTime, as in a CPU profile. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include "format/json_args.h"
#include "format/json_walk.h"
#include "format/v8_nodes.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "lanes.h"
#include "reader.h"
#include "stack_frames.h"

enum { PS_PER_US = 1000000 };

/* A CPU profile: all events of a process that have the same id. */
struct v8_profile {
  tk_id process;
  tk_id track;  /* 0 = no sample yet */
  struct tk_ident pid, tid;
  tk_id record; /* record of the profile's Profile event */
  tk_id unit, cat;
  bool own;     /* written by tracekit */
  bool broken;  /* true if one of its events must be kept as a record */
  int64_t us;   /* time of the last sample */
  struct v8_nodes nodes;
  struct v8_pending *pending; /* samples of other programs; their weights follow from the times of the next samples */
  uint32_t n_pending, cap_pending;
  bool unordered; /* true if a pending sample is earlier than the one before it */
};

struct v8_pending {
  int64_t us, until; /* until: end of the profile, if it follows this sample; INT64_MIN = it does not */
  tk_id track, stack;
  uint32_t order; /* position in the file */
  bool known;     /* false: the call frame is unknown, so the sample only ends the one before it */
};

/* Members of an event with samples. */
struct sample_event {
  struct json_value name, id, cat, tid, ts, sf, stack, weight, args, cpu;
};

struct sampler {
  struct chrome *r;
  struct tk_trace *t;
  struct mem *mem;
  struct buf text;
  struct map index; /* hash of process and id -> index in `profiles` */
  struct v8_profile *profiles;
  uint32_t n, cap;
  struct stack_frames frames;
  uint8_t *keep; /* by record: 0 = remove the record, because the graph has its whole content */
  uint64_t n_back, n_late, n_far, n_unknown, n_orphans;
};

/* ---- values ---- */

static tk_id sampler_string(struct sampler *s, struct json_walk *w, const struct json_value *v) {
  size_t n;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return trace_string(s->t, text, n);
}

static bool sampler_is(struct json_walk *w, const struct json_value *v, const char *text) {
  return v->p && v->type == JSON_STRING && json_is(&w->j, &v->str, text);
}

static struct tk_ident ident_of_value(struct sampler *s, struct json_walk *w, const struct json_value *v) {
  int64_t number;
  if (!v->p) return ident_none();
  if (v->type == JSON_STRING) return chrome_ident(s->r, sampler_string(s, w, v));
  return json_walk_whole(v, &number) ? ident_int(number) : ident_none();
}

static bool weight_of(const struct json_value *v, struct tk_sample *sample) {
  sample->weight = 1;
  sample->exp = 0;
  if (!v->p || v->type != JSON_NUMBER || (v->num.kind != NUM_INT && v->num.kind != NUM_DEC)) return false;
  sample->weight = v->num.mant;
  sample->exp = v->num.kind == NUM_DEC ? v->num.exp : 0;
  return true;
}

/* Adds a sample at an absolute time; false if the time is out of range. `kept`: the record that contains the sample is not removed. */
static bool add_stack_sample(struct sampler *s, struct tk_sample *sample, i128 ps, uint32_t args, bool kept) {
  if (!chrome_relative(s->r, ps, &sample->ts)) {
    s->n_far++;
    return false;
  }
  const tk_id n = s->t->n_events;
  if (args) stack_add_with(s->t, sample, args);
  else stack_add(s->t, sample);
  if (kept && s->t->n_events > n) s->t->events[s->t->n_events].flags |= TK_FLAG_IN_RECORD;
  return true;
}

/* ---- CPU profiles ---- */

/* True if the trace is loaded as other programs see it. trace_processor reads only CPU profiles, and puts samples on the thread of the
 * chunk. */
static bool is_as_filed(const struct sampler *s) { return s->t->store->without & TK_WITHOUT_RESTORING; }

static struct v8_profile *profile_of(struct sampler *s, tk_id process, const struct json_value *id, bool add) {
  const uint64_t key = id->p ? hash_pair(process, hash_bytes(id->p, (size_t)(id->end - id->p))) : 0;
  if (!id->p) return NULL;
  const uint32_t *found = add ? map_put(&s->index, key, s->n) : map_get(&s->index, key);
  if (!found || *found < s->n) return found ? &s->profiles[*found] : NULL;
  if (!mem_grow(s->mem, (void **)&s->profiles, &s->cap, (uint64_t)s->n + 1, sizeof *s->profiles)) return NULL;
  struct v8_profile *p = &s->profiles[s->n++];
  *p = (struct v8_profile){.process = process};
  v8_nodes_init(&p->nodes, s->t);
  return p;
}

static void hold_sample(struct sampler *s, struct v8_profile *p, bool known, tk_id stack) {
  if (!mem_grow(s->mem, (void **)&p->pending, &p->cap_pending, (uint64_t)p->n_pending + 1, sizeof *p->pending)) return;
  const uint32_t n = p->n_pending++;
  p->pending[n] = (struct v8_pending){p->us, INT64_MIN, p->track, known ? stack : 0, n, known};
  if (n && p->us < p->pending[n - 1].us) p->unordered = true;
}

static int by_time(const void *p, const void *q) {
  const struct v8_pending *a = p, *b = q;
  if (a->us != b->us) return a->us < b->us ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Adds the pending samples. V8 may record a sample late, so that its delta is negative; DevTools sorts the samples by time
 * (CPUProfileDataModel.ts, sortSamples). trace_processor neither sorts nor weighs samples. */
static void flush_samples(struct sampler *s, struct v8_profile *p) {
  const bool sorts = p->unordered && !is_as_filed(s);
  const int64_t end = p->n_pending ? p->pending[p->n_pending - 1].until : INT64_MIN;
  if (sorts) {
    for (uint32_t i = 0; i < p->n_pending; i++) p->pending[i].until = INT64_MIN;
    qsort(p->pending, p->n_pending, sizeof *p->pending, by_time);
    p->pending[p->n_pending - 1].until = end;
  }
  for (uint32_t i = 0; i < p->n_pending; i++) {
    const struct v8_pending *at = &p->pending[i];
    const int64_t next = i + 1 < p->n_pending ? at[1].us : at->us, until = at->until != INT64_MIN ? at->until : next;
    const int64_t us = num_sub(until, at->us);
    struct tk_sample sample = {.track = at->track, .stack = at->stack, .cat = p->cat, .unit = p->unit, .weight = us > 0 ? us : 0};
    if (!at->known) continue;
    s->n_back += us < 0;
    s->n_late += sorts && i && at->order < at[-1].order;
    add_stack_sample(s, &sample, (i128)at->us * PS_PER_US, 0, true);
  }
  mem_free(s->mem, p->pending);
  p->pending = NULL;
  p->n_pending = p->cap_pending = 0;
}

/* Reads a Profile event; returns NULL if it does not start a profile. */
static struct v8_profile *begin_profile(struct sampler *s, struct json_walk *w, const struct tk_record *rec,
                                        const struct sample_event *e, const struct json_value *data) {
  struct json_value start, ours, unit, cat;
  const struct json_place members[] = {{"startTime", &start}, {"tracekit", &ours}, {NULL, NULL}};
  const struct json_place own[] = {{"unit", &unit}, {"cat", &cat}, {NULL, NULL}};
  int64_t us;
  json_walk_object(w, data, members);
  if (!json_walk_whole(&start, &us)) return NULL;
  struct v8_profile *p = profile_of(s, rec->track, &e->id, true);
  if (!p) return NULL;
  if (p->record) p->broken = true; /* a second Profile event with the same id; viewers continue from there */
  if (is_as_filed(s) && !p->nodes.mapping)
    p->nodes.mapping = stack_add_mapping(s->t, &(struct stack_mapping){.end = UINT64_MAX});
  p->track = 0;
  p->pid = rec->track ? s->t->tracks[rec->track].pid : ident_none();
  p->tid = ident_of_value(s, w, &e->tid);
  p->us = us;
  p->unit = trace_text(s->t, "us");
  p->record = (tk_id)(rec - s->t->records);
  if (ours.p && ours.type == JSON_OBJECT) {
    json_walk_object(w, &ours, own);
    p->own = unit.p != NULL;
    if (unit.p && unit.type == JSON_STRING && unit.str.n) p->unit = sampler_string(s, w, &unit);
    p->cat = sampler_string(s, w, &cat);
  }
  return p;
}

/* Arrays of a chunk that have an element for each sample. */
enum v8_array { V8_DELTAS, V8_WEIGHTS, V8_PARTS, V8_ARGS, V8_ARRAYS };
struct v8_chunk {
  struct json_value nodes, samples, end, v[V8_ARRAYS];
  struct json_walk in[V8_ARRAYS];
  bool has[V8_ARRAYS];
};

static void find_arrays(struct json_walk *w, const struct json_value *data, struct v8_chunk *c) {
  struct json_value profile, ours, inner_end, inner_deltas;
  const struct json_place members[] = {{"cpuProfile", &profile}, {"timeDeltas", &c->v[V8_DELTAS]}, {"endTime", &c->end},
                                       {"tracekit", &ours}, {NULL, NULL}};
  const struct json_place inner[] = {{"nodes", &c->nodes}, {"samples", &c->samples}, {"endTime", &inner_end},
                                     {"timeDeltas", &inner_deltas}, {NULL, NULL}};
  const struct json_place own[] = {{"weights", &c->v[V8_WEIGHTS]}, {"ps", &c->v[V8_PARTS]}, {"args", &c->v[V8_ARGS]}, {NULL, NULL}};
  json_walk_object(w, data, members);
  json_walk_object(w, &profile, inner);
  json_walk_object(w, &ours, own);
  if (!c->end.p) c->end = inner_end;
  if (!c->v[V8_DELTAS].p) c->v[V8_DELTAS] = inner_deltas;
}

/* Moves to the next element of each array. The text of an absent element is empty. */
static void next_elements(struct v8_chunk *c) {
  for (int i = 0; i < V8_ARRAYS; i++) {
    c->has[i] = c->has[i] && json_walk_more(&c->in[i]) && json_walk_value(&c->in[i], &c->v[i]);
    if (!c->has[i]) c->v[i].p = NULL;
  }
}

/* Adds a sample with the weight and args that our writer stored. */
static bool add_own(struct sampler *s, const struct v8_profile *p, struct v8_chunk *c, tk_id stack) {
  struct tk_sample sample = {.track = p->track, .stack = stack, .cat = p->cat, .unit = p->unit};
  const struct json_value *args = &c->v[V8_ARGS];
  int64_t part = 0;
  uint32_t packed = 0;
  bool ok = !c->v[V8_WEIGHTS].p || weight_of(&c->v[V8_WEIGHTS], &sample);
  if (!c->v[V8_WEIGHTS].p) sample.weight = 1;
  if (c->v[V8_PARTS].p && !is_as_filed(s)) ok = json_walk_whole(&c->v[V8_PARTS], &part) && part >= 0 && part < PS_PER_US && ok;
  if (args->p && args->type == JSON_OBJECT) packed = json_take_args(s->t, args->p, (size_t)(args->end - args->p));
  return add_stack_sample(s, &sample, (i128)p->us * PS_PER_US + part, packed, false) && ok;
}

/* Reads a sample. Returns false if the graph does not contain everything in it. */
static bool read_sample(struct sampler *s, struct v8_profile *p, struct v8_chunk *c, const struct json_value *node) {
  int64_t delta;
  tk_id stack;
  next_elements(c);
  const bool timed = json_walk_whole(&c->v[V8_DELTAS], &delta), known = v8_nodes_stack(&p->nodes, node, &stack);
  if (timed) p->us = num_add(p->us, delta);
  if (!known) s->n_unknown++;
  if (!p->track) p->track = chrome_find_thread(s->r, p->pid, p->tid);
  if (p->own) return known && add_own(s, p, c, stack) && timed;
  hold_sample(s, p, known, stack);
  return false;
}

/* Reads a ProfileChunk event. Returns false if the event must also be kept as a record. */
static bool read_chunk(struct sampler *s, struct json_walk *w, struct v8_profile *p, const struct json_value *data) {
  struct v8_chunk c = {.nodes = {.p = NULL}};
  struct json_value node;
  int64_t end;
  find_arrays(w, data, &c);
  v8_nodes_read(&p->nodes, w, &c.nodes, p->own, NULL);
  for (int i = 0; i < V8_ARRAYS; i++) {
    c.in[i] = json_walk_into(w, &c.v[i]);
    c.has[i] = c.v[i].p && json_walk_enter(&c.in[i], '[');
  }
  struct json_walk in = json_walk_into(w, &c.samples);
  bool whole = p->own, more = c.samples.p && json_walk_enter(&in, '[');
  while (more && json_walk_more(&in) && json_walk_value(&in, &node)) whole = read_sample(s, p, &c, &node) && whole;
  whole = whole && in.j.status == JSON_OK && !in.cut;
  if (json_walk_whole(&c.end, &end)) whole = false;
  if (json_walk_whole(&c.end, &end) && p->n_pending) p->pending[p->n_pending - 1].until = end;
  for (int i = 0; i < V8_ARRAYS; i++) json_walk_free(&c.in[i]);
  json_walk_free(&in);
  return whole;
}

/* Reads a CpuProfile event, which contains a whole profile. Returns true if it has samples. */
static bool read_whole(struct sampler *s, struct json_walk *w, const struct tk_record *rec, const struct sample_event *e) {
  struct v8_profile p = {.process = rec->track, .pid = rec->track ? s->t->tracks[rec->track].pid : ident_none()};
  struct json_value data, profile, start;
  const struct json_place members[] = {{"data", &data}, {NULL, NULL}}, inside[] = {{"cpuProfile", &profile}, {NULL, NULL}};
  const struct json_place starts[] = {{"startTime", &start}, {NULL, NULL}};
  const uint64_t before = s->t->n_events;
  json_walk_object(w, &e->args, members);
  json_walk_object(w, &data, inside);
  json_walk_object(w, &profile, starts);
  if (is_as_filed(s) || !json_walk_whole(&start, &p.us)) return false;
  v8_nodes_init(&p.nodes, s->t);
  p.tid = ident_of_value(s, w, &e->tid);
  p.unit = trace_text(s->t, "us");
  read_chunk(s, w, &p, &data);
  flush_samples(s, &p);
  v8_nodes_free(&p.nodes);
  return s->t->n_events > before;
}

/* Returns true if the event must be kept as a record; *sampled: true if it has samples. */
static bool read_v8(struct sampler *s, struct json_walk *w, const struct tk_record *rec, const struct sample_event *e, bool *sampled) {
  struct json_value data;
  const struct json_place members[] = {{"data", &data}, {NULL, NULL}};
  json_walk_object(w, &e->args, members);
  struct v8_profile *p;
  if (sampler_is(w, &e->name, "Profile")) {
    p = begin_profile(s, w, rec, e, &data);
    *sampled = p != NULL;
    return !p || !p->own;
  }
  p = profile_of(s, rec->track, &e->id, false);
  if (!p) s->n_orphans++;
  if (!p) return true;
  if (is_as_filed(s)) {
    p->track = 0;
    p->tid = ident_of_value(s, w, &e->tid);
  }
  *sampled = true;
  const tk_id before = s->t->n_events;
  const bool stays = !read_chunk(s, w, p, &data);
  p->broken |= stays;
  for (tk_id i = before + 1; stays && i <= s->t->n_events; i++) s->t->events[i].flags |= TK_FLAG_IN_RECORD;
  return stays;
}

/* ---- sample events ---- */

/* Returns the stack for an array of function names, innermost first. */
static tk_id stack_of_names(struct sampler *s, struct json_walk *w, const struct json_value *names) {
  struct json_walk in = json_walk_into(w, names);
  struct buf frames = {.mem = s->mem};
  struct json_value v;
  tk_id stack = 0;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) {
      const bool is_text = v.type == JSON_STRING;
      const struct tk_frame f = {.name = is_text ? sampler_string(s, &in, &v) : trace_string(s->t, v.p, (size_t)(v.end - v.p))};
      const tk_id frame = stack_frame(s->t, &f);
      if (!buf_append(&frames, &frame, sizeof frame)) break;
    }
  const tk_id *list = (const tk_id *)(const void *)frames.data;
  for (size_t i = frames.len / sizeof *list; i-- > 0;) stack = stack_push(s->t, stack, list[i]);
  buf_free(&frames);
  json_walk_free(&in);
  return stack;
}

/* Returns the stack of a sample event. Without a known stack, it is one frame with the event's name. */
static tk_id stack_of_event(struct sampler *s, struct json_walk *w, const struct sample_event *e) {
  const tk_id stack = e->sf.p ? stack_frames_find(&s->frames, w, &e->sf) : e->stack.p ? stack_of_names(s, w, &e->stack) : 0;
  const struct tk_frame f = {.name = sampler_string(s, w, &e->name)};
  if (e->sf.p && !stack)
    trace_note(s->t, TK_NOTE_FACT, UINT64_MAX, "samples whose frame (sf) is not in stackFrames: without their stack");
  return stack || !f.name ? stack : stack_push(s->t, 0, stack_frame(s->t, &f));
}

/* Returns the args of a sample event, with args added for its name, CPU and weight. */
static uint32_t args_of_sample(struct sampler *s, struct json_walk *w, const struct sample_event *e, const struct tk_sample *sample) {
  const bool has = e->args.p && e->args.type == JSON_OBJECT;
  const uint32_t own = has ? json_take_args(s->t, e->args.p, (size_t)(e->args.end - e->args.p)) : 0;
  struct tk_args it = tk_args_of(s->t, own);
  struct tk_arg arg;
  int64_t cpu;
  args_begin(s->t);
  while (tk_args_next(&it, &arg)) args_copy(s->t, &arg);
  if (e->name.p && e->name.type == JSON_STRING) args_str(s->t, KEY_NAME_FIELD, TK_ARG_STR, sampler_string(s, w, &e->name));
  if (json_walk_whole(&e->cpu, &cpu)) args_int(s->t, trace_text(s->t, "json.cpu"), cpu);
  return stack_weight_args(s->t, sample->weight, sample->exp, true);
}

static bool add_event_sample(struct sampler *s, struct json_walk *w, const struct sample_event *e, tk_id track, i128 ps) {
  struct tk_sample sample = {.track = track, .unit = trace_text(s->t, "samples"), .cat = sampler_string(s, w, &e->cat)};
  weight_of(&e->weight, &sample);
  sample.stack = stack_of_event(s, w, e);
  return add_stack_sample(s, &sample, ps, args_of_sample(s, w, e, &sample), true);
}

/* ---- records ---- */

static void find_members(const struct json_walk *w, const struct json_value *v, struct sample_event *e) {
  const struct json_place members[] = {{"name", &e->name}, {"id", &e->id}, {"cat", &e->cat}, {"tid", &e->tid}, {"ts", &e->ts},
                                       {"sf", &e->sf}, {"stack", &e->stack}, {"weight", &e->weight}, {"args", &e->args},
                                       {"cpu", &e->cpu}, {NULL, NULL}};
  json_walk_object(w, v, members);
}

/* Copies `before`, the text and `after` to a buffer padded with zeros, and returns a JSON walk over the copy. */
static struct json_walk walk_copy(struct sampler *s, const char *before, const void *text, size_t n, const char *after) {
  static const uint8_t pad[IN_PAD];
  s->text.len = 0;
  const bool ok = buf_text(&s->text, before) && buf_append(&s->text, text, n) && buf_text(&s->text, after) &&
                  buf_append(&s->text, pad, sizeof pad);
  return ok ? json_walk_over(s->text.data, s->text.data + s->text.len - sizeof pad, s->mem) : json_walk_over(pad, pad, s->mem);
}

/* Reads the time in a value: a number of microseconds that may be quoted. */
static bool time_of_value(const struct json_value *ts, i128 *ps) {
  const bool is_text = ts->p && ts->type == JSON_STRING;
  const uint8_t *p = is_text ? ts->str.p : ts->p, *end = is_text ? ts->str.p + ts->str.n : ts->end;
  return ts->p && num_scaled(p, end, 6, ps);
}

/* Finds the time of a record. It is in the record's text if no event before the record set the origin of the trace. */
static bool time_of_record(const struct sampler *s, const struct tk_record *rec, const struct json_value *ts, i128 *ps) {
  if (!rec->has_ts) return time_of_value(ts, ps);
  *ps = s->r->origin_ps + rec->ts;
  return true;
}

static void read_record(struct sampler *s, struct tk_record *rec) {
  struct sample_event e = {.name = {.p = NULL}};
  struct json_walk w = walk_copy(s, "{", trace_raw(s->t, rec->at), rec->size, "}");
  bool stays = true, sampled = false;
  i128 ps;
  find_members(&w, &(struct json_value){.p = w.j.p, .end = w.j.end}, &e);
  if (rec->phase != 'P') {
    sampled = read_whole(s, &w, rec, &e);
  } else if (sampler_is(&w, &e.name, "Profile") || sampler_is(&w, &e.name, "ProfileChunk")) {
    stays = read_v8(s, &w, rec, &e, &sampled);
  } else if (time_of_record(s, rec, &e.ts, &ps) && !is_as_filed(s) && !sampler_is(&w, &e.name, "V8Sample")) {
    const struct tk_ident pid = rec->track ? s->t->tracks[rec->track].pid : ident_none();
    sampled = add_event_sample(s, &w, &e, chrome_find_thread(s->r, pid, ident_of_value(s, &w, &e.tid)), ps);
  }
  rec->sampled = stays && sampled;
  s->keep[rec - s->t->records] = stays;
  json_walk_free(&w);
}

/* Removes the records whose whole content is in the graph. */
static void drop_records(struct sampler *s) {
  struct tk_trace *t = s->t;
  tk_id n = 0;
  if (is_as_filed(s)) return;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->profiles[i].broken) s->keep[s->profiles[i].record] = t->records[s->profiles[i].record].sampled = true;
  for (tk_id i = 1; i <= t->n_records; i++)
    if (s->keep[i]) t->records[++n] = t->records[i];
  t->n_records = n;
}

/* ---- global samples ---- */

/* Returns the last thread with this tid in any process, as catapult does. If there is none, adds a thread to a process whose pid equals
 * the tid. */
static tk_id thread_of_tid(struct sampler *s, struct tk_ident tid) {
  for (tk_id i = s->t->n_tracks; i > 0; i--)
    if (s->t->tracks[i].kind == TK_TRACK_THREAD && trace_ident_equal(s->t->tracks[i].tid, tid)) return i;
  return chrome_find_thread(s->r, tid, tid);
}

static void add_global(struct sampler *s, struct json_walk *w, const struct json_value *v, struct map *threads) {
  struct sample_event e = {.name = {.p = NULL}};
  i128 ps;
  find_members(w, v, &e);
  if (!time_of_value(&e.ts, &ps)) {
    s->n_unknown++;
    return;
  }
  const struct tk_ident tid = ident_of_value(s, w, &e.tid);
  uint32_t *track = map_put(threads, hash_pair((uint64_t)tid.num, (uint64_t)tid.kind << 32 | tid.str), 0);
  if (track && !*track) *track = thread_of_tid(s, tid);
  if (track && *track) add_event_sample(s, w, &e, *track, ps);
}

static void read_globals(struct sampler *s) {
  const struct tk_meta *m = trace_meta(s->t, "samples");
  struct json_value v;
  struct map threads;
  if (!m || m->origin || is_as_filed(s)) return;
  map_init(&threads, s->mem);
  struct json_walk w = walk_copy(s, "", trace_raw(s->t, m->at), (size_t)m->size, "");
  if (json_walk_enter(&w, '['))
    while (json_walk_more(&w) && json_walk_value(&w, &v))
      if (v.type == JSON_OBJECT) add_global(s, &w, &v, &threads);
  json_walk_free(&w);
  map_free(&threads);
}

/* ---- */

static void finish_profiles(struct sampler *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    flush_samples(s, &s->profiles[i]);
    v8_nodes_free(&s->profiles[i].nodes);
  }
}

static void note_samples(struct sampler *s) {
  struct tk_trace *t = s->t;
  if (s->n_back) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples after the end of the profile: weight set to 0", s->n_back);
  if (s->n_late) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples after a sample with a later time: sorted by time", s->n_late);
  if (s->n_far) trace_notes(t, TK_NOTE_REPAIR, UINT64_MAX, "samples more than 100 days from the rest: kept, but not "
                                                           "interpreted", s->n_far);
  if (s->n_unknown)
    trace_notes(t, TK_NOTE_REPAIR, UINT64_MAX, "samples without a time or a known call frame: kept, but not interpreted", s->n_unknown);
  if (s->n_orphans) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples (ProfileChunk) without a Profile event: kept, but not "
                                                             "interpreted", s->n_orphans);
}

/* Reads the records. Chrome writes the events of each thread together, so a Profile event may follow its chunks. Therefore, Profile
 * events are read first. trace_processor reads all of them in the order of the file. */
static void read_records(struct sampler *s) {
  static const char PROFILE[] = "\"name\":\"Profile\"";
  for (int first = !is_as_filed(s); first >= 0; first--)
    for (tk_id i = 1; i <= s->t->n_records; i++) {
      struct tk_record *rec = &s->t->records[i];
      if (rec->phase != 'P' && !(rec->phase == 'I' && first == 0)) continue;
      const bool is_profile = memmem(trace_raw(s->t, rec->at), rec->size, PROFILE, sizeof PROFILE - 1) != NULL;
      if (is_as_filed(s) || is_profile == (first == 1)) read_record(s, rec);
    }
}

/* True if there is a record of an instant, which is a CpuProfile event. */
static bool has_whole(const struct tk_trace *t) {
  tk_id i = t->counts.by_phase['I'] ? 1 : t->n_records + 1;
  while (i <= t->n_records && t->records[i].phase != 'I') i++;
  return i <= t->n_records;
}

void chrome_samples(struct chrome *r) {
  struct tk_trace *t = r->t;
  struct sampler s = {.r = r, .t = t, .mem = &t->store->mem, .text = {.mem = &t->store->mem}};
  if (!t->counts.by_phase['P'] && !has_whole(t) && !trace_meta(t, "samples")) return;
  map_init(&s.index, s.mem);
  stack_frames_init(&s.frames, t);
  s.keep = mem_array(s.mem, (uint64_t)t->n_records + 1, 1);
  if (s.keep) {
    memset(s.keep, 1, (size_t)t->n_records + 1);
    read_records(&s);
    finish_profiles(&s);
    read_globals(&s);
    drop_records(&s);
    note_samples(&s);
  }
  mem_free(s.mem, s.keep);
  mem_free(s.mem, s.profiles);
  map_free(&s.index);
  stack_frames_free(&s.frames);
  buf_free(&s.text);
}

/* samples.c - see samples.h.
 *
 *     {"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","name":"Profile","pid":1,"tid":1,"ts":1000,"id":"0x10000000000",
 *      "args":{"data":{"startTime":1000,"tracekit":{"unit":"us"}}}}
 *     {"ph":"P",..,"name":"ProfileChunk",..,"args":{"data":{"cpuProfile":{"nodes":[..],"samples":[2,3]},"timeDeltas":[0,99],
 *      "tracekit":{"weights":[99,1],"ps":[0,500000]}}}}
 *
 * Times of V8 are whole microseconds. The members "tracekit", which viewers skip, contain the rest: the unit and the category,
 * weights other than 1, picoseconds beyond the microsecond, and the args of samples. A frame's module is a member of its
 * callFrame, and so is "nameless" of a frame whose name is unknown. */
#include "samples.h"

#include <string.h>

#include "format/json_args.h"
#include "format/json_put.h"
#include "graph/args.h"
#include "graph/stack.h"

enum { PS_PER_US = 1000000, SAMPLES_OF_CHUNK = 1024, ROOT = 1 };
/* First id of a profile. V8 counts from 1 and never reaches it. */
static const uint64_t FIRST_ID = UINT64_C(1) << 40;

bool samples_begin(struct samples_out *w) {
  struct buf *const bufs[] = {&w->nodes, &w->samples, &w->deltas, &w->weights, &w->parts, &w->args, &w->path};
  const uint64_t n = (uint64_t)w->t->n_stacks + 1;
  for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) *bufs[i] = (struct buf){.mem = w->mem};
  w->node_of = mem_array(w->mem, n, sizeof *w->node_of);
  w->profile_of = mem_zeros(w->mem, n, sizeof *w->profile_of);
  return w->node_of && w->profile_of;
}

void samples_end(struct samples_out *w) {
  struct buf *const bufs[] = {&w->nodes, &w->samples, &w->deltas, &w->weights, &w->parts, &w->args, &w->path};
  for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) buf_free(bufs[i]);
  mem_free(w->mem, w->node_of);
  mem_free(w->mem, w->profile_of);
}

/* ---- nodes ---- */

static void put_id_text(struct buf *b, const struct tk_trace *t, const char *before, tk_id id) {
  if (id && buf_text(b, before)) json_quote_id(b, t, id);
}

static void put_frame(struct buf *b, const struct tk_trace *t, const struct tk_frame *f) {
  buf_text(b, "{\"callFrame\":{\"scriptId\":0");
  put_id_text(b, t, ",\"functionName\":", f->name ? f->name : KEY_EMPTY); /* trace_processor aborts without it */
  if (!f->name) buf_text(b, ",\"nameless\":true");
  put_id_text(b, t, ",\"url\":", f->file);
  put_id_text(b, t, ",\"module\":", f->module);
  if (f->line) json_put_uint(b, ",\"lineNumber\":", f->line - 1);
  if (f->column) json_put_uint(b, ",\"columnNumber\":", f->column - 1);
}

static void put_node(struct samples_out *w, tk_id stack) {
  const struct tk_stack *s = &w->t->stacks[stack];
  w->profile_of[stack] = w->profile;
  w->node_of[stack] = ++w->n_nodes;
  if (w->nodes.len) buf_text(&w->nodes, ",");
  put_frame(&w->nodes, w->t, &w->t->frames[s->frame]);
  json_put_uint(&w->nodes, "},\"id\":", w->n_nodes);
  json_put_uint(&w->nodes, ",\"parent\":", s->parent ? w->node_of[s->parent] : ROOT);
  buf_text(&w->nodes, "}");
}

/* Returns the number of the node of a stack. Adds the node and its callers if the profile does not have them yet. */
static uint32_t node_of_stack(struct samples_out *w, tk_id stack) {
  if (!w->n_nodes) buf_text(&w->nodes, "{\"callFrame\":{\"scriptId\":0,\"functionName\":\"(root)\"},\"id\":1}"), w->n_nodes = ROOT;
  if (!stack) return ROOT;
  w->path.len = 0;
  for (tk_id s = stack; s && w->profile_of[s] != w->profile; s = w->t->stacks[s].parent)
    if (!buf_append(&w->path, &s, sizeof s)) return ROOT;
  const tk_id *path = (const tk_id *)(const void *)w->path.data;
  for (size_t i = w->path.len / sizeof *path; i-- > 0;) put_node(w, path[i]);
  return w->node_of[stack];
}

/* ---- chunks ---- */

/* Samples of a track that have the same unit and category. They become one profile. */
struct sample_group {
  tk_id track;
  const struct keyed *v; /* indices of events */
  uint32_t n;
  uint64_t id;
  i128 us; /* time of the last sample that was written */
};

static i128 written_ps(const struct samples_out *w, const struct tk_event *e) { return (i128)w->printer->base_ns * 1000 + e->ts; }

static i128 floor_us(i128 ps) { return ps >= 0 ? ps / PS_PER_US : -((PS_PER_US - 1 - ps) / PS_PER_US); }

static bool has_more_args(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg weight;
  return it.shape && it.shape->n > (tk_args_find(t, e->args, "tracekit.weight", &weight) ? 1 : 0);
}

static void put_weight(struct buf *b, const char *before, int64_t number, int exp) {
  char text[96];
  while (exp < 0 && number % 10 == 0 && number) number /= 10, exp++;
  buf_text(b, before);
  buf_append(b, text, exp ? num_put_decimal(text, number, exp) : num_put_i64(text, number));
}

/* Members that the object "tracekit" of a chunk must contain, because V8's format cannot represent them. */
struct chunk_needs {
  bool weights, parts, args;
};

static void add_to_chunk(struct samples_out *w, struct sample_group *g, uint32_t i, struct chunk_needs *needs) {
  const struct tk_event *e = &w->t->events[g->v[i].index];
  const char *comma = w->samples.len ? "," : "";
  const i128 ps = written_ps(w, e), us = floor_us(ps);
  int32_t exp;
  const int64_t weight = tk_sample_weight(w->t, e, &exp);
  const bool more = has_more_args(w->t, e);
  json_put_uint(&w->samples, comma, node_of_stack(w, w->t->classes[e->cls].stack));
  json_put_int(&w->deltas, comma, (int64_t)(us - g->us));
  json_put_int(&w->parts, comma, (int64_t)(ps - us * PS_PER_US));
  put_weight(&w->weights, comma, weight, exp);
  buf_text(&w->args, comma);
  if (more) json_put_args(&w->args, w->t, e->args);
  else buf_text(&w->args, "0");
  g->us = us;
  needs->weights |= weight != 1 || exp;
  needs->parts |= ps != us * PS_PER_US;
  needs->args |= more;
}

static void put_raw(struct samples_out *w, const char *text) { out_write(w->out, text, strlen(text)); }

static void put_buf(struct samples_out *w, const char *before, const struct buf *b, const char *after) {
  put_raw(w, before);
  if (b->len) out_write(w->out, b->data, b->len);
  put_raw(w, after);
}

/* Writes an element of the events array, up to its data. */
static void put_head(struct samples_out *w, const struct sample_group *g, const char *name, i128 us, tk_id event) {
  const struct fragment f = w->printer->tracks[g->track];
  struct buf b = {.mem = w->mem};
  char id[32] = "";
  w->begin(w->arg, event);
  buf_text(&b, "{\"ph\":\"P\",\"cat\":\"disabled-by-default-v8.cpu_profiler\",\"name\":\"");
  buf_text(&b, name);
  buf_text(&b, "\"");
  buf_append(&b, w->printer->text.data + f.at, f.n);
  json_put_int(&b, ",\"ts\":", (int64_t)us);
  size_t n = sizeof id;
  for (uint64_t v = g->id; v; v >>= 4) id[--n] = "0123456789abcdef"[v & 15];
  buf_text(&b, ",\"id\":\"0x");
  buf_append(&b, id + n, sizeof id - n);
  buf_text(&b, "\",\"args\":{\"data\":{");
  put_buf(w, "", &b, "");
  buf_free(&b);
}

static void put_needs(struct samples_out *w, const struct chunk_needs *needs) {
  if (!needs->weights && !needs->parts && !needs->args) return;
  const char *before = ",\"tracekit\":{";
  if (needs->weights) put_raw(w, before), put_buf(w, "\"weights\":[", &w->weights, "]"), before = ",";
  if (needs->parts) put_raw(w, before), put_buf(w, "\"ps\":[", &w->parts, "]"), before = ",";
  if (needs->args) put_raw(w, before), put_buf(w, "\"args\":[", &w->args, "]");
  put_raw(w, "}");
}

static void put_chunk(struct samples_out *w, struct sample_group *g, uint32_t from, uint32_t n) {
  const i128 us = floor_us(written_ps(w, &w->t->events[g->v[from].index]));
  struct chunk_needs needs = {.weights = false};
  w->nodes.len = w->samples.len = w->deltas.len = w->weights.len = w->parts.len = w->args.len = 0;
  for (uint32_t i = 0; i < n; i++) add_to_chunk(w, g, from + i, &needs);
  put_head(w, g, "ProfileChunk", us, g->v[from].index);
  put_buf(w, "\"cpuProfile\":{\"nodes\":[", &w->nodes, "]");
  put_buf(w, ",\"samples\":[", &w->samples, "]}");
  put_buf(w, ",\"timeDeltas\":[", &w->deltas, "]");
  put_needs(w, &needs);
  put_raw(w, "}}}");
  w->end(w->arg, g->v + from, n);
}

/* ---- profiles ---- */

static void put_profile(struct samples_out *w, struct sample_group *g) {
  const struct tk_event *first = &w->t->events[g->v[0].index];
  const struct tk_class *c = &w->t->classes[first->cls];
  struct buf b = {.mem = w->mem};
  g->us = floor_us(written_ps(w, first));
  g->id = FIRST_ID + w->next_id;
  w->next_id += w->step;
  w->profile++;
  w->n_nodes = 0;
  put_head(w, g, "Profile", g->us, g->v[0].index);
  json_put_int(&b, "\"startTime\":", (int64_t)g->us);
  put_id_text(&b, w->t, ",\"tracekit\":{\"unit\":", c->unit);
  put_id_text(&b, w->t, ",\"cat\":", c->cat);
  put_buf(w, "", &b, "}}}}");
  buf_free(&b);
  w->end(w->arg, g->v, 1);
  for (uint32_t i = 0; i < g->n; i += SAMPLES_OF_CHUNK)
    put_chunk(w, g, i, g->n - i < SAMPLES_OF_CHUNK ? g->n - i : SAMPLES_OF_CHUNK);
}

/* Collects the samples of a track. The key of a sample is the index of its group (unit and category) in order of first
 * appearance. Returns the number of samples. */
static uint32_t by_group(const struct samples_out *w, const struct tk_track *k, struct keyed *v, struct map *groups) {
  uint32_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &w->t->events[i];
    const struct tk_class *c = &w->t->classes[e->cls];
    if (e->kind != TK_EVENT_SAMPLE || (e->flags & TK_FLAG_IN_RECORD && !w->with_recorded)) continue;
    const uint32_t *order = map_put(groups, (uint64_t)c->unit << 32 | c->cat, groups->n);
    if (order) v[n++] = (struct keyed){*order, i};
  }
  return n;
}

bool samples_write(struct samples_out *w, tk_id track) {
  const struct tk_track *k = &w->t->tracks[track];
  struct keyed *v = mem_array(w->mem, (uint64_t)k->count + 1, sizeof *v), *spare = mem_array(w->mem, (uint64_t)k->count + 1, sizeof *v);
  struct map groups;
  map_init(&groups, w->mem);
  const uint32_t n = v && spare ? by_group(w, k, v, &groups) : 0;
  const struct keyed *sorted = n ? keyed_sort(v, spare, n) : v;
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].key == sorted[i].key;) end++;
    put_profile(w, &(struct sample_group){.track = track, .v = sorted + i, .n = end - i});
  }
  map_free(&groups);
  mem_free(w->mem, v);
  mem_free(w->mem, spare);
  return !w->mem->failed;
}

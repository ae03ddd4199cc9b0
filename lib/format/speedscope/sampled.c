/* sampled.c - see sampled.h.
 *
 *     {"type":"sampled","name":..,"unit":"nanoseconds","startValue":0,"endValue":5,"samples":[[0,1],..],"weights":[5,..]}
 *
 * The viewer places a sample where the weights before it end. Other times of samples, units that the format lacks, and the
 * modules of frames are lost. */
#include "sampled.h"

#include <stdio.h>
#include <string.h>

#include "base/keyed.h"
#include "format/json.h"
#include "graph/stack.h"

/* ---- frames ---- */

static bool put_frame(struct buf *b, const struct tk_trace *t, const struct tk_frame *f) {
  const char *name, *file;
  char place[64] = "";
  size_t n, m;
  name = tk_string(t, f->name, &n);
  file = tk_string(t, f->file, &m);
  if (f->line) snprintf(place, sizeof place, ",\"line\":%u", f->line);
  if (f->column) snprintf(place + strlen(place), sizeof place - strlen(place), ",\"col\":%u", f->column);
  return buf_text(b, "{\"name\":") && json_quote(b, name, n) && (!f->file || (buf_text(b, ",\"file\":") && json_quote(b, file, m))) &&
         buf_text(b, place) && buf_text(b, "}");
}

bool sampled_begin(struct sampled *w, const struct tk_trace *t) {
  static const uint8_t mark = SAMPLED_FRAME;
  struct buf b = {.mem = w->mem};
  w->frame_of = mem_array(w->mem, (uint64_t)t->n_frames + 1, sizeof *w->frame_of);
  bool ok = w->frame_of != NULL;
  for (tk_id i = 1; ok && i <= t->n_frames; i++) {
    b.len = 0;
    ok = buf_append(&b, &mark, 1) && put_frame(&b, t, &t->frames[i]);
    w->frame_of[i] = ok ? intern(w->frames, b.data, b.len) : 0;
  }
  buf_free(&b);
  return ok;
}

void sampled_end(struct sampled *w) {
  mem_free(w->mem, w->frame_of);
  w->frame_of = NULL;
}

/* ---- values ---- */

static void sampled_put(struct sampled *w, const char *text) { out_write(w->out, text, strlen(text)); }

static void put_number(struct sampled *w, int64_t mant, int exp) {
  char text[96];
  while (exp < 0 && mant % 10 == 0 && mant) mant /= 10, exp++;
  if (mant == 0) exp = 0;
  out_write(w->out, text, exp ? num_put_decimal(text, mant, exp) : num_put_i64(text, mant));
}

/* Returns the name of a unit in the format; NULL if the format does not have the unit. */
static const char *name_of_unit(const struct tk_trace *t, tk_id unit) {
  static const char *const UNITS[][2] = {{"ns", "nanoseconds"}, {"us", "microseconds"}, {"ms", "milliseconds"},
                                         {"s", "seconds"},      {"bytes", "bytes"},     {"samples", "none"}};
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (strcmp(tk_string(t, unit, NULL), UNITS[i][0]) == 0) return UNITS[i][1];
  return NULL;
}

/* ---- profiles ---- */

static bool put_stack(struct sampled *w, const struct tk_trace *t, tk_id stack, struct buf *path) {
  char number[24];
  path->len = 0;
  for (; stack; stack = t->stacks[stack].parent)
    if (!buf_append(path, &t->stacks[stack].frame, sizeof(tk_id))) return false;
  const tk_id *frames = (const tk_id *)(const void *)path->data;
  sampled_put(w, "[");
  for (size_t i = path->len / sizeof *frames; i-- > 0;) {
    const size_t n = num_put_u64(number, w->frame_of[frames[i]] - 1);
    out_write(w->out, number, n);
    if (i) sampled_put(w, ",");
  }
  sampled_put(w, "]");
  return true;
}

/* A profile: samples of one unit. */
struct profile {
  const struct tk_trace *t;
  const struct keyed *samples; /* indices of events */
  uint32_t n;
  const char *unit;
  bool is_time;
  int exp;         /* the unit is 10^exp seconds */
  tk_time start;   /* relative to the base of the written times */
  tk_time end;     /* start plus the sum of the weights, or `start` if they are not times */
};

static tk_time written_at(const struct sampled *w, const struct tk_trace *t, tk_time ts) {
  const i128 at = ((i128)t->origin_ns - w->base_ns) * 1000 + ts;
  return at > INT64_MAX ? INT64_MAX : at < INT64_MIN ? INT64_MIN : (tk_time)at;
}

static bool has_module(const struct tk_trace *t, tk_id stack) {
  for (; stack; stack = t->stacks[stack].parent)
    if (t->frames[t->stacks[stack].frame].module) return true;
  return false;
}

/* Returns the number of samples that the file can store only in part, and sets p->end. */
static uint64_t survey(const struct sampled *w, struct profile *p) {
  uint64_t lost = 0;
  tk_time at = p->start;
  for (uint32_t i = 0; i < p->n; i++) {
    const struct tk_event *e = &p->t->events[p->samples[i].index];
    const i128 next = (i128)at + (p->is_time ? stack_amount(p->t, e) : 0);
    const tk_time here = written_at(w, p->t, e->ts);
    lost += p->unit == NULL || here != (p->is_time ? at : 0) || has_module(p->t, p->t->classes[e->cls].stack);
    at = next > INT64_MAX ? INT64_MAX : next < at ? at : (tk_time)next;
  }
  p->end = at;
  return lost;
}

static bool put_samples(struct sampled *w, const struct profile *p) {
  struct buf path = {.mem = w->mem};
  bool ok = true;
  for (uint32_t i = 0; ok && i < p->n; i++) {
    if (i) sampled_put(w, ",");
    ok = put_stack(w, p->t, p->t->classes[p->t->events[p->samples[i].index].cls].stack, &path);
  }
  buf_free(&path);
  return ok;
}

static bool put_profile(struct sampled *w, struct profile *p) {
  int32_t exp;
  sink_lose(w->sink, TK_LOSS_SAMPLE_PARTS, survey(w, p));
  sampled_put(w, *w->any_profile ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":");
  *w->any_profile = true;
  out_write(w->out, w->title->data, w->title->len);
  sampled_put(w, ",\"unit\":\"");
  sampled_put(w, p->unit ? p->unit : "none");
  sampled_put(w, "\",\"startValue\":");
  put_number(w, p->is_time ? p->start : 0, -12 - p->exp);
  sampled_put(w, ",\"endValue\":");
  put_number(w, p->is_time ? p->end : 0, -12 - p->exp);
  sampled_put(w, ",\n\"samples\":[");
  const bool ok = put_samples(w, p);
  sampled_put(w, "],\n\"weights\":[");
  for (uint32_t i = 0; ok && i < p->n; i++) {
    const int64_t weight = tk_sample_weight(p->t, &p->t->events[p->samples[i].index], &exp);
    if (i) sampled_put(w, ",");
    put_number(w, weight, exp);
  }
  sampled_put(w, "]}");
  w->sink->saved.events += p->n;
  w->sink->saved.records += p->n;
  return ok;
}

static bool put_unit(struct sampled *w, const struct tk_trace *t, const struct keyed *samples, uint32_t n) {
  const struct tk_event *first = &t->events[samples[0].index];
  const tk_id unit = t->classes[first->cls].unit;
  struct profile p = {.t = t, .samples = samples, .n = n, .unit = name_of_unit(t, unit)};
  p.is_time = stack_unit_is_time(t, unit, &p.exp);
  if (p.is_time) p.start = written_at(w, t, first->ts);
  return put_profile(w, &p);
}

/* Collects the samples of a track, each with the index of its unit in order of first appearance. Returns their number. */
static uint32_t by_unit(const struct tk_trace *t, const struct tk_track *k, struct keyed *v, struct map *units) {
  uint32_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    if (t->events[i].kind != TK_EVENT_SAMPLE) continue;
    const uint32_t *order = map_put(units, t->classes[t->events[i].cls].unit, units->n);
    if (order) v[n++] = (struct keyed){*order, i};
  }
  return n;
}

bool sampled_write(struct sampled *w, const struct tk_trace *t, const struct tk_track *k) {
  struct keyed *v = mem_array(w->mem, (uint64_t)k->count + 1, sizeof *v), *spare = mem_array(w->mem, (uint64_t)k->count + 1, sizeof *v);
  struct map units;
  map_init(&units, w->mem);
  bool ok = v && spare;
  const uint32_t n = ok ? by_unit(t, k, v, &units) : 0;
  const struct keyed *sorted = n ? keyed_sort(v, spare, n) : v;
  for (uint32_t i = 0, end; ok && i < n; i = end) {
    for (end = i + 1; end < n && sorted[end].key == sorted[i].key;) end++;
    ok = put_unit(w, t, sorted + i, end - i);
  }
  map_free(&units);
  mem_free(w->mem, v);
  mem_free(w->mem, spare);
  return ok;
}

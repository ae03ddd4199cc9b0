/* read.c - reads files of speedscope (its src/lib/file-format-spec.ts): frames, and a profile for each thread.
 *
 *     {"shared":{"frames":[{"name":..,"file":..,"line":..,"col":..}]},"profiles":[
 *      {"type":"evented","unit":..,"events":[{"type":"O","frame":0,"at":1},..]},
 *      {"type":"sampled","unit":..,"startValue":0,"samples":[[0,1]],"weights":[2]}]}
 *
 * A profile becomes a thread. Evented profiles in a unit of time become spans. Sampled profiles become stack samples; in a unit of
 * time, a sample starts where the weights before it end, as in the viewer. Evented profiles in other units have amounts rather than
 * times: each stretch between two events is a sample of the open stack with the length of the stretch as its weight. Profiles may
 * precede the frames, so the file is read as a whole. */
#include "read.h"

#include <string.h>

#include "format/json_walk.h"
#include "graph/args.h"
#include "graph/stack.h"

enum { FRAMES_MOST = 1 << 16 }; /* maximum number of frames of a stack */

static const char SCHEMA[] = "\"https://www.speedscope.app/file-format-schema.json\"";

/* True if the key "$schema" has the value that speedscope writes; other formats may contain the address as text. */
static bool states_schema(const uint8_t *p, size_t n) {
  static const char KEY[] = "\"$schema\"";
  const uint8_t *key = memmem(p, n, KEY, sizeof KEY - 1), *end = p + n;
  if (!key || memmem(p, (size_t)(key - p), "\"traceEvents\"", 13)) return false;
  const uint8_t *value = key + sizeof KEY - 1;
  while (value < end && (json_is_space(*value) || *value == ':')) value++;
  return (size_t)(end - value) >= sizeof SCHEMA - 1 && memcmp(value, SCHEMA, sizeof SCHEMA - 1) == 0;
}

unsigned speedscope_bid(const uint8_t *p, size_t n) {
  size_t i = 0;
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) i = 3;
  while (i < n && json_is_space(p[i])) i++;
  if (i == n || p[i] != '{') return 0;
  if (states_schema(p, n)) return 8 * (sizeof SCHEMA - 1);
  if (memmem(p, n, "\"traceEvents\"", 13) || memmem(p, n, "\"ph\"", 4)) return 0;
  const bool profiles = memmem(p, n, "\"profiles\"", 10) != NULL, shared = memmem(p, n, "\"shared\"", 8) != NULL;
  const bool frames = memmem(p, n, "\"frames\"", 8) != NULL, start = memmem(p, n, "\"startValue\"", 12) != NULL;
  return (shared && frames) || (profiles && start) ? 200 : 0;
}

struct speedscope {
  struct tk_trace *t;
  const uint8_t *text;
  struct mem *mem;
  struct frame_id {
    tk_id frame, cls;
  } *frames;
  uint32_t n_frames, cap_frames;
  struct open_frame {
    uint32_t index;
    tk_id stack;
  } *open; /* the open stack of an evented profile */
  uint32_t cap_open;
  bool has_time; /* a time was read, so the origin is decided */
};

/* The members of a profile. */
struct profile {
  struct json_value type, name, unit, start, events, samples, weights;
  tk_id track, unit_id;
  int exp; /* the unit is 10^exp seconds; valid if is_time */
  bool is_time;
};

static tk_id string_of(struct speedscope *s, struct json_walk *w, const struct json_value *v) {
  size_t n;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return trace_string(s->t, text, n);
}

static void bad(struct speedscope *s, const uint8_t *at, const char *what) {
  trace_note(s->t, TK_NOTE_REPAIR, (uint64_t)(at - s->text), what);
}

/* ---- frames ---- */

static uint32_t number_of(const struct json_value *v) {
  int64_t number = 0;
  if (!v->p || v->type != JSON_NUMBER || !json_whole((const char *)v->p, (size_t)(v->end - v->p), &number)) return 0;
  return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void add_frame(struct speedscope *s, struct json_walk *w, const struct json_value *v) {
  struct json_value name, file, line, col;
  const struct json_place members[] = {{"name", &name}, {"file", &file}, {"line", &line}, {"col", &col}, {NULL, NULL}};
  json_walk_object(w, v, members);
  struct tk_frame f = {.name = string_of(s, w, &name)};
  f.file = string_of(s, w, &file);
  f.line = number_of(&line);
  f.column = number_of(&col);
  if (!mem_grow(s->mem, (void **)&s->frames, &s->cap_frames, (uint64_t)s->n_frames + 1, sizeof *s->frames)) return;
  s->frames[s->n_frames++] = (struct frame_id){stack_frame(s->t, &f), 0};
}

static void add_frames(struct speedscope *s, struct json_walk *w, const struct json_value *shared) {
  struct json_value frames, v;
  const struct json_place members[] = {{"frames", &frames}, {NULL, NULL}};
  json_walk_object(w, shared, members);
  if (!frames.p) return;
  struct json_walk in = json_walk_into(w, &frames);
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) add_frame(s, &in, &v);
  json_walk_free(&in);
}

/* Reads the index of a frame. Returns false if there is no such frame. */
static bool frame_index(const struct speedscope *s, const struct json_value *v, uint32_t *index) {
  int64_t number;
  if (!v->p || v->type != JSON_NUMBER || !json_whole((const char *)v->p, (size_t)(v->end - v->p), &number)) return false;
  if (number < 0 || number >= s->n_frames) return false;
  *index = (uint32_t)number;
  return true;
}

/* ---- values ---- */

static const i128 MOST_PS = (i128)1 << 62;

static bool in_range(i128 exact, tk_time *ps) {
  if (exact > MOST_PS || exact < -MOST_PS) return false;
  *ps = (tk_time)exact;
  return true;
}

/* Converts a length in a unit of time to picoseconds. */
static bool length_in_ps(const struct profile *p, const struct json_value *v, tk_time *ps) {
  i128 exact;
  return v->p && v->type == JSON_NUMBER && num_scaled(v->p, v->end, p->exp + 12, &exact) && in_range(exact, ps);
}

/* Converts a time in a unit of time to a time of the trace. The first time becomes the origin if tk_time cannot represent it, for
 * example if times are relative to 1970 or to the start of a host that has run for 54 days. */
static bool time_in_ps(struct speedscope *s, const struct profile *p, const struct json_value *v, tk_time *ps) {
  i128 exact;
  if (!v->p || v->type != JSON_NUMBER || !num_scaled(v->p, v->end, p->exp + 12, &exact)) return false;
  const i128 ns = exact / 1000;
  if (!s->has_time && !in_range(exact, ps) && ns <= INT64_MAX && ns >= -INT64_MAX) s->t->origin_ns = (int64_t)ns;
  s->has_time = true;
  return in_range(exact - (i128)s->t->origin_ns * 1000, ps);
}

/* Reads a number as mantissa and exponent. */
static bool amount_of(const struct json_value *v, struct tk_sample *sample) {
  if (!v->p || v->type != JSON_NUMBER || (v->num.kind != NUM_INT && v->num.kind != NUM_DEC)) return false;
  sample->weight = v->num.mant;
  sample->exp = v->num.kind == NUM_DEC ? v->num.exp : 0;
  return true;
}

/* ---- sampled profiles ---- */

static bool stack_of(struct speedscope *s, struct json_walk *w, const struct json_value *v, tk_id *stack) {
  struct json_walk in = json_walk_into(w, v);
  struct json_value frame;
  uint32_t index, n = 0;
  bool ok = json_walk_enter(&in, '[');
  *stack = 0;
  while (ok && json_walk_more(&in)) {
    ok = json_walk_value(&in, &frame) && frame_index(s, &frame, &index) && n++ < FRAMES_MOST;
    if (ok) *stack = stack_push(s->t, *stack, s->frames[index].frame);
  }
  ok = ok && in.j.status == JSON_OK;
  json_walk_free(&in);
  return ok;
}

/* Advances *ts, the time of the next sample, by the weight of this sample. */
static void advance(const struct profile *p, const struct json_value *weight, tk_time *ts) {
  tk_time ps;
  if (p->is_time && weight->p && length_in_ps(p, weight, &ps) && ps > 0) *ts = num_add(*ts, ps);
}

static void read_sampled(struct speedscope *s, struct json_walk *w, const struct profile *p) {
  struct json_walk stacks = json_walk_into(w, &p->samples), weights = json_walk_into(w, &p->weights);
  struct tk_sample sample = {.track = p->track, .unit = p->unit_id};
  struct json_value stack, weight = {.p = NULL};
  if (p->is_time && p->start.p) time_in_ps(s, p, &p->start, &sample.ts);
  bool more = json_walk_enter(&stacks, '['), has_weights = p->weights.p && json_walk_enter(&weights, '[');
  while (more && json_walk_more(&stacks) && json_walk_value(&stacks, &stack)) {
    has_weights = has_weights && json_walk_more(&weights) && json_walk_value(&weights, &weight);
    sample.weight = 1;
    sample.exp = 0;
    if (!has_weights) bad(s, stack.p, "sample without a weight: using 1");
    else if (!amount_of(&weight, &sample)) bad(s, weight.p, "weight that is not a number: using 1");
    s->t->counts.read++;
    if (stack_of(s, &stacks, &stack, &sample.stack)) stack_add(s->t, &sample);
    else bad(s, stack.p, "sample with an invalid stack: dropped"), s->t->counts.dropped++;
    if (has_weights) advance(p, &weight, &sample.ts);
  }
  json_walk_free(&stacks);
  json_walk_free(&weights);
}

/* ---- evented profiles ---- */

static tk_id class_of(struct speedscope *s, uint32_t index) {
  struct frame_id *f = &s->frames[index];
  const struct tk_frame *frame = &s->t->frames[f->frame];
  if (f->cls) return f->cls;
  if (!frame->file && !frame->line) return f->cls = trace_class(s->t, frame->name, 0);
  args_begin(s->t);
  if (frame->file) args_str(s->t, trace_text(s->t, "file"), TK_ARG_STR, frame->file);
  if (frame->line) args_int(s->t, trace_text(s->t, "line"), frame->line);
  if (frame->column) args_int(s->t, trace_text(s->t, "col"), frame->column);
  const struct tk_class cls = {.name = frame->name, .args = args_end(s->t)};
  *trace_add_class(s->t) = cls;
  return f->cls = s->t->n_classes;
}

static void add_span_end(struct speedscope *s, const struct profile *p, uint32_t index, tk_time ts, bool open) {
  const struct tk_event e = {.ts = ts, .cls = class_of(s, index), .track = p->track, .kind = open ? TK_EVENT_BEGIN : TK_EVENT_END};
  *trace_add_event(s->t) = e;
}

/* State of an evented profile. */
struct stretch {
  uint32_t n;         /* number of open frames, if the unit is not a time */
  struct json_value at; /* value of the last event */
};

/* True if the event's value is less than the value of the event before it, which the format does not allow. */
static bool goes_back(const struct stretch *x, const struct json_value *at) {
  i128 a, b;
  return x->at.p && num_scaled(x->at.p, x->at.end, 12, &a) && num_scaled(at->p, at->end, 12, &b) && b < a;
}

/* Subtracts two values exactly, as far as 64 bits and nine decimals go. */
static bool difference(const struct json_value *from, const struct json_value *to, int64_t *nano) {
  i128 a, b;
  if (!num_scaled(from->p, from->end, 9, &a) || !num_scaled(to->p, to->end, 9, &b)) return false;
  if (b - a > INT64_MAX || b - a < 0) return false;
  *nano = (int64_t)(b - a);
  return true;
}

/* Adds the stretch up to the event at `at` as a sample, if anything is open in it. */
static void add_stretch(struct speedscope *s, const struct profile *p, const struct stretch *x, const struct json_value *at) {
  struct tk_sample sample = {.track = p->track, .unit = p->unit_id, .exp = -9};
  int64_t nano;
  if (!x->n || !x->at.p || !difference(&x->at, at, &nano) || nano == 0) return;
  sample.stack = s->open[x->n - 1].stack;
  sample.weight = nano;
  while (sample.exp < 0 && sample.weight % 10 == 0) sample.weight /= 10, sample.exp++;
  stack_add(s->t, &sample);
}

static void close_stretch(struct speedscope *s, struct stretch *x, uint32_t index, bool open, const uint8_t *at) {
  if (open && x->n < FRAMES_MOST && mem_grow(s->mem, (void **)&s->open, &s->cap_open, (uint64_t)x->n + 1, sizeof *s->open))
    s->open[x->n] = (struct open_frame){index, stack_push(s->t, x->n ? s->open[x->n - 1].stack : 0, s->frames[index].frame)}, x->n++;
  else if (!open && x->n && s->open[x->n - 1].index == index) x->n--;
  else bad(s, at, "event that does not fit the open frames: ignored");
}

static void read_event(struct speedscope *s, struct json_walk *w, const struct profile *p, const struct json_value *v,
                       struct stretch *x) {
  struct json_value type, frame, at;
  const struct json_place members[] = {{"type", &type}, {"frame", &frame}, {"at", &at}, {NULL, NULL}};
  uint32_t index;
  tk_time ts = 0;
  json_walk_object(w, v, members);
  const bool open = type.p && type.type == JSON_STRING && json_is(&w->j, &type.str, "O");
  const bool close = type.p && type.type == JSON_STRING && json_is(&w->j, &type.str, "C");
  s->t->counts.read++;
  const bool has_place = at.p && at.type == JSON_NUMBER && (!p->is_time || time_in_ps(s, p, &at, &ts));
  if ((!open && !close) || !frame_index(s, &frame, &index) || !has_place) {
    bad(s, v->p, "invalid event: dropped");
    s->t->counts.dropped++;
    return;
  }
  if (goes_back(x, &at)) bad(s, v->p, "event with a smaller value than the event before it, which speedscope refuses: kept as it is");
  if (p->is_time) {
    add_span_end(s, p, index, ts, open);
  } else {
    add_stretch(s, p, x, &at);
    close_stretch(s, x, index, open, v->p);
  }
  x->at = at;
}

static void read_evented(struct speedscope *s, struct json_walk *w, const struct profile *p) {
  struct json_walk in = json_walk_into(w, &p->events);
  struct stretch x = {.n = 0};
  struct json_value v;
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) read_event(s, &in, p, &v, &x);
  json_walk_free(&in);
}

/* ---- profiles ---- */

static void find_unit(struct speedscope *s, struct json_walk *w, struct profile *p) {
  static const struct {
    const char *word, *unit;
  } UNITS[] = {{"nanoseconds", "ns"}, {"microseconds", "us"}, {"milliseconds", "ms"}, {"seconds", "s"}, {"bytes", "bytes"}};
  const bool named = p->unit.p && p->unit.type == JSON_STRING;
  p->unit_id = trace_text(s->t, "samples");
  for (size_t i = 0; named && i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (json_is(&w->j, &p->unit.str, UNITS[i].word)) p->unit_id = trace_text(s->t, UNITS[i].unit);
  p->is_time = stack_unit_is_time(s->t, p->unit_id, &p->exp);
}

static void read_profile(struct speedscope *s, struct json_walk *w, const struct json_value *v, uint32_t number) {
  struct profile p = {.exp = 0};
  const struct json_place members[] = {{"type", &p.type}, {"name", &p.name}, {"unit", &p.unit}, {"startValue", &p.start},
                                   {"events", &p.events}, {"samples", &p.samples}, {"weights", &p.weights}, {NULL, NULL}};
  json_walk_object(w, v, members);
  find_unit(s, w, &p);
  p.track = trace_track(s->t, TK_TRACK_THREAD, ident_int(1), ident_int(number), 0);
  s->t->tracks[p.track].name = string_of(s, w, &p.name);
  s->t->tracks[p.track].renamed = true; /* no record contains the name, so writers must write it */
  if (!p.is_time) trace_note(s->t, TK_NOTE_INFO, UINT64_MAX, "profiles in a unit other than time: their samples are placed at time 0");
  if (p.events.p) read_evented(s, w, &p);
  else if (p.samples.p) read_sampled(s, w, &p);
  else bad(s, v->p, "profile without events and samples: skipped");
}

static void read_document(struct speedscope *s, const uint8_t *p, size_t n) {
  struct json_walk w = json_walk_over(p, p + n, s->mem);
  struct json_value shared = {.p = NULL}, profiles = {.p = NULL}, v;
  struct json_string key;
  uint32_t number = 0;
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) w.j.p += 3;
  if (json_walk_enter(&w, '{'))
    while (json_walk_key(&w, &key)) {
      struct json_value *to = json_is(&w.j, &key, "shared") ? &shared : json_is(&w.j, &key, "profiles") ? &profiles : &v;
      if (!json_walk_value(&w, to)) break;
    }
  if (w.j.status != JSON_OK || w.cut || w.j.p >= w.j.end || *w.j.p != '}') {
    trace_note(s->t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - p), "the JSON is truncated or damaged here: the part before was read");
    s->t->truncated = true;
  }
  add_frames(s, &w, &shared);
  struct json_walk in = json_walk_into(&w, &profiles);
  if (profiles.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) read_profile(s, &in, &v, ++number);
  json_walk_free(&in);
  json_walk_free(&w);
}

bool speedscope_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct buf text = {.mem = mem};
  struct speedscope s = {.t = t, .mem = mem};
  size_t n;
  (void)opt;
  bool ok = json_walk_load(in, &text, &n, err);
  s.text = text.data;
  if (ok) read_document(&s, text.data, n);
  t->counts.bytes = in_offset(in);
  mem_free(mem, s.frames);
  mem_free(mem, s.open);
  buf_free(&text);
  return ok && mem_check(mem, err);
}

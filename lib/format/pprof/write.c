/* write.c - writes profiles of pprof (proto/profile.proto): a Sample for each stack sample, and for each span.
 *
 * All samples of a profile have a value for each sample type. A type is the category and the unit of stack samples; a trace that was
 * read from a profile has values of further types in args (PPROF_TYPES). Spans have the type
 * `self`, whose value is their self time in nanoseconds, and the names of the spans around them as a stack. The types are known only at
 * the end, but must precede the samples, because readers recognise the format by them. So samples are kept in memory until the end.
 * Process and thread are labels, and so are args. The format has no times of samples: a sample loses nothing only if its time is the
 * start of the profile. */
#include "write.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "format/json_walk.h"
#include "format/pb_out.h"
#include "pprof.h"
#include "graph/args.h"
#include "graph/stack.h"

enum profile_field {
  PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
  PROFILE_TIME_NANOS = 9, PROFILE_DURATION = 10, PROFILE_COMMENT = 13, PROFILE_DEFAULT_TYPE = 14
};

enum { TYPES_MOST = 256 };

struct pprof_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  struct intern strings, frames, functions, mappings; /* frames: frame_key; functions: function_key; mappings: string id */
  struct value_type {
    uint32_t type, unit; /* ids in `strings` */
  } types[TYPES_MOST];
  uint32_t n_types;
  uint32_t default_type; /* 1 + index of the type of the first sample; 0 = no sample yet */
  struct map valued;     /* arg of the current trace -> 1 + index of the type whose values it contains (PPROF_TYPES) */
  struct buf values;     /* values of the sample that is being built, each a struct value */
  struct buf samples;    /* for each sample: a struct kept, its values, then the other fields of the Sample */
  struct buf body, part; /* the Sample that is being built, and a part of it */
  struct buf labels;     /* labels of the current track */
  uint32_t *string_of;   /* string_of[string id of the trace] = index in the file's string table + 1; 0 = not added yet */
  int64_t start_ns;
  bool has_start;
  tk_time last; /* end of the last event, relative to start_ns */
};

/* A sample that is kept in memory. */
struct kept {
  uint32_t n_values, n; /* n: bytes of the other fields */
};
struct value {
  uint32_t type;
  int64_t value;
};

/* Keys under which frames and functions are interned; members are numbers in `functions`, `mappings` and `strings`. */
struct frame_key {
  uint32_t function, mapping, line, column;
};
struct function_key {
  uint32_t name, file;
};

/* ---- tables ---- */

static uint32_t string_bytes(struct pprof_sink *s, const void *p, size_t n) { return n ? intern(&s->strings, p, n) : 0; }
static uint32_t string_text(struct pprof_sink *s, const char *text) { return string_bytes(s, text, strlen(text)); }

static uint32_t string_id(struct pprof_sink *s, const struct tk_trace *t, tk_id id) {
  size_t n;
  if (!id) return 0;
  if (!s->string_of[id]) {
    const char *text = tk_string(t, id, &n);
    s->string_of[id] = string_bytes(s, text, n) + 1;
  }
  return s->string_of[id] - 1;
}

/* Returns the id of the location of a frame; equal frames share one. */
static uint32_t location_of(struct pprof_sink *s, const struct tk_trace *t, const struct tk_frame *f) {
  const struct function_key function = {string_id(s, t, f->name), string_id(s, t, f->file)};
  const uint32_t module = string_id(s, t, f->module);
  const struct frame_key key = {intern(&s->functions, &function, sizeof function),
                                module ? intern(&s->mappings, &module, sizeof module) : 0, f->line, f->column};
  return intern(&s->frames, &key, sizeof key);
}

/* Returns the index of a sample type; TYPES_MOST if there are too many. */
static uint32_t pprof_type(struct pprof_sink *s, uint32_t type, uint32_t unit) {
  uint32_t i = 0;
  while (i < s->n_types && (s->types[i].type != type || s->types[i].unit != unit)) i++;
  if (i == s->n_types && i < TYPES_MOST) s->types[s->n_types++] = (struct value_type){type, unit};
  return i;
}

/* ---- labels ---- */

static void put_label(struct buf *to, struct buf *part, uint32_t key, uint32_t text, int64_t number) {
  part->len = 0;
  pb_u64(part, 1, key);
  if (text) pb_u64(part, 2, text);
  else pb_i64(part, 3, number);
  pb_message(to, 3, part);
}

static void put_value(struct pprof_sink *s, uint32_t type, int64_t number) {
  const struct value value = {type, number};
  buf_append(&s->values, &value, sizeof value);
}

static void put_args(struct pprof_sink *s, const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg a;
  while (tk_args_next(&it, &a)) {
    if (a.key == KEY_WEIGHT) continue;
    const uint32_t *type = a.type == TK_ARG_INT ? map_get(&s->valued, a.key) : NULL;
    if (type) {
      put_value(s, *type - 1, a.i);
      continue;
    }
    const bool reserved = key_is_reserved(tk_string(t, a.key, NULL)), text = a.type == TK_ARG_STR && string_id(s, t, a.s);
    if (reserved || (!text && a.type != TK_ARG_INT)) sink_lose(&s->sink, TK_LOSS_ARGS, 1);
    else put_label(&s->body, &s->part, string_id(s, t, a.key), text ? string_id(s, t, a.s) : 0, text ? 0 : a.i);
  }
}

static void label_ident(struct pprof_sink *s, const struct tk_trace *t, const char *key, struct tk_ident id) {
  if (id.kind == TK_IDENT_INT || id.kind == TK_IDENT_QUOTED) put_label(&s->labels, &s->part, string_text(s, key), 0, id.num);
  if (id.kind == TK_IDENT_STR) put_label(&s->labels, &s->part, string_text(s, key), string_id(s, t, id.str), 0);
}

static void label_name(struct pprof_sink *s, const struct tk_trace *t, const char *key, tk_id name) {
  if (string_id(s, t, name)) put_label(&s->labels, &s->part, string_text(s, key), string_id(s, t, name), 0);
}

/* Builds the labels of a track, unless the track stands for a profile without threads. */
static void label_track(struct pprof_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  const struct tk_track *process = k->parent ? &t->tracks[k->parent] : k;
  s->labels.len = 0;
  if (!k->name && !process->name && t->n_tracks <= 2) return;
  label_name(s, t, "process", process->name);
  label_ident(s, t, "pid", process->pid);
  if (k->kind == TK_TRACK_PROCESS) return;
  label_name(s, t, "thread", k->name);
  label_ident(s, t, "tid", k->tid);
}

/* ---- samples ---- */

static int64_t pprof_time(const struct pprof_sink *s, const struct tk_trace *t, tk_time ts) {
  const i128 at = ((i128)t->origin_ns - s->start_ns) * 1000 + ts;
  return at > INT64_MAX ? INT64_MAX : at < INT64_MIN ? INT64_MIN : (tk_time)at;
}

/* Keeps the sample whose locations are in `part`. */
static void keep(struct pprof_sink *s, const struct tk_trace *t, const struct tk_event *e, uint32_t type, int64_t value) {
  s->body.len = s->values.len = 0;
  pb_message(&s->body, 1, &s->part);
  buf_append(&s->body, s->labels.data, s->labels.len);
  put_value(s, type, value);
  put_args(s, t, t->classes[e->cls].args);
  put_args(s, t, e->args);
  const struct kept head = {(uint32_t)(s->values.len / sizeof(struct value)), (uint32_t)s->body.len};
  if (type == TYPES_MOST) sink_lose(&s->sink, e->kind == TK_EVENT_SAMPLE ? TK_LOSS_SAMPLES : TK_LOSS_SPANS, 1);
  if (type == TYPES_MOST || !buf_append(&s->samples, &head, sizeof head) || !buf_append(&s->samples, s->values.data, s->values.len) ||
      !buf_append(&s->samples, s->body.data, s->body.len))
    return;
  if (!s->default_type) s->default_type = type + 1;
  s->sink.saved.events++;
  s->sink.saved.records++;
}

static void put_location(struct buf *to, uint32_t location) {
  uint8_t *p = buf_reserve(to, 16);
  if (p) to->len = (size_t)(varint_put(p, location) - to->data);
}

static const char *name_of_unit(const char *unit) {
  static const char *const UNITS[][2] = {{"ns", "nanoseconds"}, {"us", "microseconds"}, {"ms", "milliseconds"}, {"s", "seconds"}};
  for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
    if (strcmp(unit, UNITS[i][0]) == 0) return UNITS[i][1];
  return unit;
}

/* Returns the value of a sample in its unit, or in nanoseconds if it is a fraction of a larger unit of time. *whole: true if
 * the value is exact. */
static int64_t value_of(const struct tk_trace *t, const struct tk_event *e, bool *is_ns, bool *whole) {
  int unit;
  int32_t exp;
  i128 v;
  const int64_t number = tk_sample_weight(t, e, &exp);
  const bool is_time = stack_unit_is_time(t, t->classes[e->cls].unit, &unit);
  *is_ns = exp < 0 && is_time;
  *whole = true;
  if (exp >= 0 && num_scale(number, exp, &v) && v <= INT64_MAX && v >= INT64_MIN) return (int64_t)v;
  const i128 thousandth = stack_amount(t, e), value = thousandth / 1000;
  *whole = exp < 0 && value * 1000 == thousandth;
  return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static void take_sample(struct pprof_sink *s, const struct tk_trace *t, const struct tk_event *e) {
  const struct tk_class *c = &t->classes[e->cls];
  bool is_ns, whole;
  const int64_t value = value_of(t, e, &is_ns, &whole);
  const char *unit = is_ns ? "nanoseconds" : name_of_unit(tk_string(t, c->unit, NULL));
  const uint32_t type = pprof_type(s, c->cat ? string_id(s, t, c->cat) : string_text(s, "samples"), string_text(s, unit));
  const tk_time at = pprof_time(s, t, e->ts);
  s->part.len = 0;
  for (tk_id i = c->stack; i; i = t->stacks[i].parent) put_location(&s->part, location_of(s, t, &t->frames[t->stacks[i].frame]));
  if (at > s->last) s->last = at;
  if (at || !whole) sink_lose(&s->sink, TK_LOSS_SAMPLE_PARTS, 1);
  keep(s, t, e, type, value);
}

/* ---- spans ---- */

/* The open spans of a track, by depth. */
struct pprof_open {
  uint32_t location;
  tk_time end, self;
  tk_id event;
};

static void keep_span(struct pprof_sink *s, const struct tk_trace *t, const struct pprof_open *open, uint32_t depth) {
  const struct tk_event *e = &t->events[open[depth].event];
  const tk_time at = pprof_time(s, t, e->ts), ns = open[depth].self > 0 ? (open[depth].self + 500) / 1000 : 0;
  s->part.len = 0;
  for (uint32_t i = depth + 1; i-- > 0;) put_location(&s->part, open[i].location);
  if (at + e->dur > s->last) s->last = at + e->dur;
  if (t->classes[e->cls].cat) sink_lose(&s->sink, TK_LOSS_CATEGORIES, 1);
  sink_lose(&s->sink, TK_LOSS_SAMPLE_PARTS, 1);
  keep(s, t, e, pprof_type(s, string_text(s, "self"), string_text(s, "nanoseconds")), ns);
}

/* Closes the open spans deeper than `depth`, and keeps each as a sample. */
static void close_spans(struct pprof_sink *s, const struct tk_trace *t, struct pprof_open *open, uint32_t *n, uint32_t depth) {
  while (*n > depth) keep_span(s, t, open, --*n);
}

static void open_span(struct pprof_sink *s, const struct tk_trace *t, struct pprof_open *open, uint32_t n, tk_id event) {
  const struct tk_event *e = &t->events[event];
  const struct tk_frame f = {.name = t->classes[e->cls].name};
  const tk_time dur = e->flags & TK_FLAG_UNFINISHED ? 0 : e->dur;
  if (n) {
    const tk_time end = open[n - 1].end < e->ts + dur ? open[n - 1].end : e->ts + dur;
    open[n - 1].self -= end > e->ts ? end - e->ts : 0;
  }
  open[n] = (struct pprof_open){location_of(s, t, &f), e->ts + dur, dur, event};
}

static bool write_track(struct pprof_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  struct pprof_open *open = mem_array(&s->mem, UINT16_MAX + 2, sizeof *open);
  uint32_t n = 0;
  label_track(s, t, k);
  for (tk_id i = k->first; open && i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_SAMPLE) take_sample(s, t, e);
    if (e->kind != TK_EVENT_SPAN) continue;
    const bool nests = k->kind == TK_TRACK_THREAD && !(e->flags & TK_FLAG_LOST_CLOCK);
    close_spans(s, t, open, &n, nests ? e->depth : 0);
    open_span(s, t, open, n++, i);
  }
  if (open) close_spans(s, t, open, &n, 0);
  mem_free(&s->mem, open);
  return !s->mem.failed;
}

/* ---- the sink ---- */

static bool pprof_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  (void)sink;
  (void)first;
  (void)err;
  return true;
}

/* Finds the time of the first event, at which the profile starts. */
static void find_start(struct pprof_sink *s, const struct tk_trace *t) {
  int64_t ps = INT64_MAX;
  for (tk_id i = 1; i <= t->n_events; i++)
    if ((t->events[i].kind == TK_EVENT_SAMPLE || t->events[i].kind == TK_EVENT_SPAN) && t->events[i].ts < ps) ps = t->events[i].ts;
  if (ps == INT64_MAX || s->has_start) return;
  s->start_ns = num_add(t->origin_ns, ps / 1000 - (ps % 1000 < 0));
  s->has_start = true;
}

/* Lists the types of the profile that the trace was read from, in their order, and the args that contain values. */
static void take_types(struct pprof_sink *s, const struct tk_trace *t) {
  const struct tk_meta *m = trace_meta(t, PPROF_TYPES);
  const uint8_t *p = m ? (const uint8_t *)trace_raw(t, m->at) : NULL;
  struct json_walk w;
  struct json_value pair, text;
  map_free(&s->valued);
  map_init(&s->valued, &s->mem);
  if (!m) return;
  w = json_walk_over(p, p + m->size, &s->mem);
  for (json_walk_enter(&w, '['); json_walk_more(&w) && json_walk_value(&w, &pair);) {
    struct json_walk inside = json_walk_into(&w, &pair);
    uint32_t texts[2] = {0}, n = 0;
    tk_id key = 0;
    for (json_walk_enter(&inside, '['); n < 2 && json_walk_more(&inside) && json_walk_value(&inside, &text); n++) {
      size_t len;
      const uint8_t *bytes = text.type == JSON_STRING ? json_string_text(&inside.j, &text.str, &len) : NULL;
      if (!bytes) break;
      texts[n] = string_bytes(s, bytes, len);
      if (!n) key = intern_id(&t->store->strings, bytes, len);
    }
    const uint32_t type = pprof_type(s, texts[0], n == 2 && texts[1] ? texts[1] : string_text(s, "count"));
    if (key && type < TYPES_MOST) map_put(&s->valued, key, type + 1);
    json_walk_free(&inside);
  }
  json_walk_free(&w);
}

static bool pprof_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct pprof_sink *s = (struct pprof_sink *)sink;
  struct tk_progress *p = &s->opt.progress;
  uint64_t done = 0;
  if (!stack_fits_lists(t, true, err) || !stack_fits_spans(t, err)) return false;
  sink_limit(&s->mem, t);
  find_start(s, t);
  s->string_of = mem_zeros(&s->mem, (uint64_t)t->store->strings.n + 1, sizeof *s->string_of);
  if (!s->string_of) return mem_refuse(&s->mem, err);
  take_types(s, t);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (!write_track(s, t, &t->tracks[i])) return mem_refuse(&s->mem, err);
    done += t->tracks[i].count;
    if (p->tick && !p->tick(p->arg, done, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
  }
  mem_free(&s->mem, s->string_of);
  s->string_of = NULL;
  return mem_check(&s->mem, err);
}

static void flush(struct pprof_sink *s, uint32_t field) {
  s->part.len = 0;
  pb_message(&s->part, field, &s->body);
  out_write(s->out, s->part.data, s->part.len);
  s->body.len = 0;
}

static void write_types(struct pprof_sink *s) {
  if (!s->n_types) pprof_type(s, string_text(s, "samples"), string_text(s, "count"));
  for (uint32_t i = 0; i < s->n_types; i++) {
    s->body.len = 0;
    pb_u64(&s->body, 1, s->types[i].type);
    pb_u64(&s->body, 2, s->types[i].unit);
    flush(s, PROFILE_SAMPLE_TYPE);
  }
}

/* Writes the values of a sample, one for each type: those at `at`, and 0 of other types. */
static void put_values(struct pprof_sink *s, const uint8_t *at, uint32_t n) {
  int64_t all[TYPES_MOST] = {0};
  struct value value;
  for (uint32_t i = 0; i < n; i++) {
    memcpy(&value, at + i * sizeof value, sizeof value);
    all[value.type] = value.value;
  }
  s->part.len = 0;
  for (uint32_t i = 0; i < s->n_types; i++) {
    uint8_t *p = buf_reserve(&s->part, 16);
    if (p) s->part.len = (size_t)(varint_put(p, (uint64_t)all[i]) - s->part.data);
  }
}

static void write_samples(struct pprof_sink *s) {
  struct kept head;
  for (size_t at = 0; at < s->samples.len && !s->mem.failed; at += head.n) {
    memcpy(&head, s->samples.data + at, sizeof head);
    at += sizeof head;
    put_values(s, s->samples.data + at, head.n_values);
    at += head.n_values * sizeof(struct value);
    s->body.len = 0;
    buf_append(&s->body, s->samples.data + at, head.n);
    pb_message(&s->body, 2, &s->part);
    flush(s, PROFILE_SAMPLE);
  }
}

static void write_tables(struct pprof_sink *s) {
  struct buf line = {.mem = &s->mem};
  for (uint32_t i = 1; i <= s->mappings.n; i++) {
    uint32_t module;
    memcpy(&module, s->mappings.strs[i].bytes, sizeof module);
    pb_u64(&s->body, 1, i);
    pb_u64(&s->body, 5, module);
    pb_u64(&s->body, 7, 1); /* has_functions: nothing is left to symbolize */
    flush(s, PROFILE_MAPPING);
  }
  for (uint32_t i = 1; i <= s->frames.n; i++) {
    struct frame_key key;
    memcpy(&key, s->frames.strs[i].bytes, sizeof key);
    line.len = 0;
    pb_u64(&line, 1, key.function);
    if (key.line) pb_u64(&line, 2, key.line);
    if (key.column) pb_u64(&line, 3, key.column);
    pb_u64(&s->body, 1, i);
    if (key.mapping) pb_u64(&s->body, 2, key.mapping);
    pb_message(&s->body, 4, &line);
    flush(s, PROFILE_LOCATION);
  }
  for (uint32_t i = 1; i <= s->functions.n; i++) {
    struct function_key key;
    memcpy(&key, s->functions.strs[i].bytes, sizeof key);
    pb_u64(&s->body, 1, i);
    pb_u64(&s->body, 2, key.name);
    pb_u64(&s->body, 3, key.name);
    if (key.file) pb_u64(&s->body, 4, key.file);
    flush(s, PROFILE_FUNCTION);
  }
  buf_free(&line);
}

static void write_strings(struct pprof_sink *s) {
  s->body.len = 0;
  flush(s, PROFILE_STRING); /* index 0 */
  for (uint32_t i = 1; i <= s->strings.n; i++) {
    buf_append(&s->body, s->strings.strs[i].bytes, s->strings.strs[i].len);
    flush(s, PROFILE_STRING);
  }
}

static bool pprof_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct pprof_sink *s = (struct pprof_sink *)sink;
  const uint32_t comment = provenance ? string_text(s, provenance) : 0;
  write_types(s);
  write_samples(s);
  s->body.len = 0;
  write_tables(s);
  write_strings(s);
  s->body.len = 0;
  if (first->clock == TK_CLOCK_REALTIME) pb_i64(&s->body, PROFILE_TIME_NANOS, s->start_ns);
  pb_i64(&s->body, PROFILE_DURATION, s->last / 1000);
  if (comment) pb_u64(&s->body, PROFILE_COMMENT, comment);
  if (s->n_types > 1) pb_u64(&s->body, PROFILE_DEFAULT_TYPE, s->types[s->default_type ? s->default_type - 1 : 0].type);
  out_write(s->out, s->body.data, s->body.len);
  return mem_check(&s->mem, err);
}

static void pprof_free(struct sink *sink) {
  struct pprof_sink *s = (struct pprof_sink *)sink;
  struct mem mem;
  struct intern *const tables[] = {&s->strings, &s->frames, &s->functions, &s->mappings};
  struct buf *const bufs[] = {&s->samples, &s->values, &s->body, &s->part, &s->labels};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) intern_free(tables[i]);
  for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) buf_free(bufs[i]);
  mem_free(&s->mem, s->string_of);
  map_free(&s->valued);
  mem = s->mem;
  mem_free(&mem, s);
}

struct sink *pprof_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct pprof_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct pprof_sink){.out = out, .opt = *opt, .mem = mem};
  struct intern *const tables[] = {&s->strings, &s->frames, &s->functions, &s->mappings};
  struct buf *const bufs[] = {&s->samples, &s->values, &s->body, &s->part, &s->labels};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) intern_init(tables[i], &s->mem);
  for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++) *bufs[i] = (struct buf){.mem = &s->mem};
  map_init(&s->valued, &s->mem);
  s->sink.open = pprof_open;
  s->sink.write = pprof_write;
  s->sink.close = pprof_close;
  s->sink.free = pprof_free;
  return &s->sink;
}

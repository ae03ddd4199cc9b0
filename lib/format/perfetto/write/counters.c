/* counters.c - writes counter samples. Each series of a counter has a track, which is described before the first sample.
 *
 * A Perfetto counter has one series. Counters of other formats are named as in trace_processor's JSON importer: "counter series",
 * "counter id: ID series". The private fields of the track store the parts of the name. As in that importer, a string that contains a
 * number counts as a number.
 *
 * Private fields of the samples make it possible to rebuild their event. Samples after the first are marked as joined to it. Each
 * sample contains the args before its series that are not series themselves (a null, the tid of another thread); the last sample also
 * contains the args after its series. If the number that a reader recovers would differ (a double with 20 digits), the private fields
 * also contain the arg. An event without any series becomes a private packet on a track whose description is also private: viewers
 * ignore both. */
#include <string.h>

#include "counters.h"
#include "writer.h"
#include "plain.h"
#include "passthrough.h"
#include "event.h"
#include "thread_times.h"
#include "descriptors.h"
#include "gpu_counters.h"

struct series {
  tk_id key;
  bool text, has_id; /* text: the values are strings; has_id: the counter has an id */
  struct tk_arg id;
};

/* Track of a series, and the properties of its samples that a reader knows from the track. */
struct series_track {
  uint64_t uuid;
  bool text, number_id;
};

/* Parses a number by the rules of strtod: "+1", ".5", "2." and "007" are numbers. */
static bool number_in(const struct intern_str *s, struct tk_arg *value) {
  char text[64] = {0};
  const uint8_t *p = s->bytes, *end = p + s->len, *stop;
  size_t n = 0;
  if (s->len == 0 || s->len > sizeof text - 4) return false;
  if (*p == '+' || *p == '-') {
    if (*p == '-') text[n++] = '-';
    p++;
  }
  bool digits = p < end && *p >= '0' && *p <= '9';
  while (p + 1 < end && *p == '0' && p[1] >= '0' && p[1] <= '9') p++;
  if (!digits) text[n++] = '0';
  for (; p < end; p++) {
    text[n++] = (char)*p;
    digits = digits || (*p >= '0' && *p <= '9');
    if (*p == '.' && (p + 1 == end || p[1] < '0' || p[1] > '9')) text[n++] = '0';
  }
  struct num v = num_scan((const uint8_t *)text, &stop);
  if (!digits || stop != (const uint8_t *)text + n) return false;
  if (v.kind == NUM_INT) *value = (struct tk_arg){.type = TK_ARG_INT, .i = v.mant};
  else if (v.kind == NUM_DEC) *value = (struct tk_arg){.type = TK_ARG_DECIMAL, .i = v.mant, .exp = v.exp};
  else return false;
  return true;
}

/* True if the arg is a series rather than a field of the event; sets *value to its number. */
static bool series_value(const struct perfetto_sink *s, const struct tk_arg *arg, struct tk_arg *value) {
  const struct intern_str *key = trace_str(s->t, arg->key);
  bool field = arg->key < KEY_COUNT && arg->key != KEY_COUNTER_VALUE && arg->key != KEY_EMPTY;
  *value = *arg;
  if (field || (key->len >= 5 && memcmp(key->bytes, "json.", 5) == 0) || arg->key == s->w.begin_keys.interned) return false;
  if (arg->type == TK_ARG_STR) return number_in(trace_str(s->t, arg->s), value);
  if (arg->type == TK_ARG_NUMBER) {
    const struct intern_str *text = trace_str(s->t, arg->s);
    *value = (struct tk_arg){.type = TK_ARG_DOUBLE, .d = num_double((const char *)text->bytes, text->len)};
    return true;
  }
  return arg->type == TK_ARG_INT || arg->type == TK_ARG_UINT || arg->type == TK_ARG_DECIMAL || arg->type == TK_ARG_DOUBLE;
}

static void append_text(struct perfetto_sink *s, tk_id text) {
  const struct intern_str *p = trace_str(s->t, text);
  buf_append(&s->text, p->bytes, p->len);
}

/* Returns the uuid of the track below which a counter track of a Perfetto input is shown. */
static uint64_t counters_parent(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const struct kept_track kept = passthrough_track(s, track);
  if (kept.has_parent) return kept.parent;
  if (kept.parent_track && s->uuids[kept.parent_track]) return s->uuids[kept.parent_track];
  return k->tid.kind == TK_IDENT_INT ? descriptor_thread_uuid(s, k->parent, k->tid.num) : s->uuids[k->parent];
}

/* Describes the track of a series. The thread on which the counter was sampled is in private fields. */
static uint64_t describe_series(struct perfetto_sink *s, tk_id track, const struct tk_event *e, const struct series *of) {
  const struct tk_track *k = &s->t->tracks[track];
  struct child c = {.parent = s->uuids[k->parent], .counter = true, .track = track, .has_rank = k->has_sort, .rank = k->sort_index};
  char number[24];
  s->text.len = 0;
  append_text(s, of->has_id ? s->t->classes[e->cls].name : k->name);
  if (k->renamed) {
    if (of->key != KEY_COUNTER_VALUE) c.unit = tk_string(s->t, of->key, NULL);
    c.parent = counters_parent(s, track);
  } else {
    c.form = FORM_SERIES | (of->text ? FORM_TEXT : 0);
    c.series = of->key;
    c.tid = k->tid;
    if (of->has_id) {
      const bool is_text = of->id.type == TK_ARG_STR;
      c.id = is_text ? tk_string(s->t, of->id.s, &c.n_id) : number;
      if (!is_text) c.n_id = num_put_i64(number, of->id.i), c.form |= FORM_NUMBER_ID;
      buf_text(&s->text, " id: ");
      buf_append(&s->text, c.id, c.n_id);
    }
    buf_text(&s->text, " ");
    append_text(s, of->key);
  }
  c.name = (const char *)s->text.data;
  c.n = s->text.len;
  return descriptor_child(s, &c);
}

/* Returns the key of a series. If samples of a counter have different ids, each id is a separate series. */
static uint64_t identity_of(const struct series *series) {
  uint64_t of_id = series->id.type == TK_ARG_STR ? (uint64_t)series->id.s << 1 | 1 : (uint64_t)series->id.i << 1;
  return series->has_id ? hash_pair(series->key, of_id) | 1 : (uint64_t)series->key << 1;
}

/* Returns the index of the uuid in counter_uuids. */
static uint32_t add_uuid(struct perfetto_sink *s, uint64_t uuid) {
  if (!mem_grow(&s->mem, (void **)&s->counter_uuids, &s->cap_counter_uuids, (uint64_t)s->n_counter_uuids + 1, sizeof uuid)) return 0;
  s->counter_uuids[s->n_counter_uuids] = uuid;
  return s->n_counter_uuids++;
}

static uint64_t uuid_at(const struct perfetto_sink *s, uint32_t i) { return i < s->n_counter_uuids ? s->counter_uuids[i] : 0; }

/* Returns the track of a series; describes the track if this is the first sample. */
static struct series_track track_of_series(struct perfetto_sink *s, tk_id track, const struct tk_event *e,
                                           const struct series *series) {
  enum { TEXT = 1, NUMBER_ID = 2, BITS = 2 };
  const struct tk_track *k = &s->t->tracks[track];
  struct kept_track kept = passthrough_track(s, track);
  if (kept.has_uuid) return (struct series_track){.uuid = kept.uuid};
  uint64_t of = k->renamed ? (uint64_t)track << 32 | 1u << 31 : (uint64_t)k->parent << 32 | k->name;
  uint32_t *slot = map_put(&s->series, hash_pair(of, identity_of(series)), UINT32_MAX);
  if (!slot) return (struct series_track){0};
  if (*slot == UINT32_MAX) {
    uint32_t bits = (series->text ? TEXT : 0) | (series->has_id && series->id.type != TK_ARG_STR ? NUMBER_ID : 0);
    *slot = add_uuid(s, describe_series(s, track, e, series)) << BITS | (k->renamed ? 0 : bits);
  }
  return (struct series_track){uuid_at(s, *slot >> BITS), *slot & TEXT, *slot & NUMBER_ID};
}

/* Returns the uuid of the track for events without samples, which viewers ignore. */
static uint64_t lone_uuid(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct child c = {.parent = s->uuids[k->parent], .counter = true, .lone = true, .tid = k->tid, .form = FORM_COUNTER};
  uint32_t *slot = map_put(&s->lone_counters, track, UINT32_MAX);
  if (!slot) return 0;
  c.name = tk_string(s->t, k->name, &c.n);
  if (*slot == UINT32_MAX) *slot = add_uuid(s, descriptor_child(s, &c));
  return uuid_at(s, *slot);
}

/* ---- samples ---- */

/* True if a reader recovers exactly this arg from the sample. */
static bool says_all(const struct perfetto_sink *s, const struct tk_arg *arg, const struct tk_arg *value, bool as_text) {
  const struct intern_str *text = arg->type == TK_ARG_STR ? trace_str(s->t, arg->s) : NULL;
  char number[40];
  double d;
  if (as_text != (text != NULL)) return false;
  if (!event_decimal_is_double(value, &d)) return arg->type == TK_ARG_INT || arg->type == TK_ARG_DOUBLE;
  if (!text) return true;
  size_t n = value->type == TK_ARG_INT ? num_put_i64(number, value->i) : num_put_double(number, d);
  return n == text->len && memcmp(number, text->bytes, n) == 0;
}

/* True if the track or the packet already contains the arg's value. */
static bool is_said(const struct perfetto_sink *s, const struct tk_arg *arg, const struct series_track *of) {
  if (event_is_counter_field(&s->w, arg)) return true;
  return arg->key == KEY_ID && (arg->type == TK_ARG_STR ? !of->number_id : arg->type == TK_ARG_INT && of->number_id);
}

/* Restores a value that is not finite, which JSON stores as text. */
static void restore_value(const struct perfetto_sink *s, struct tk_arg *arg) {
  const struct intern_str *text = arg->type == TK_ARG_STR ? trace_str(s->t, arg->s) : NULL;
  double d;
  if (text && nested_odd_double(text->bytes, text->len, &d)) arg->type = TK_ARG_DOUBLE, arg->d = d;
}

/* `native`: true for a counter of Perfetto, which has no values that are text. */
static void collect_args(struct perfetto_sink *s, uint32_t args, bool native) {
  struct tk_arg arg;
  for (struct tk_args it = tk_args_of(s->t, args); tk_args_next(&it, &arg);) {
    if (native) restore_value(s, &arg);
    if (mem_grow(&s->mem, (void **)&s->args, &s->cap_args, (uint64_t)s->n_args + 1, sizeof arg)) s->args[s->n_args++] = arg;
  }
}

/* Writes args first .. end-1, except `own` and args whose value the track or the packet contains. */
static void rest_of(struct perfetto_sink *s, uint32_t first, uint32_t end, uint32_t own, const struct series_track *of) {
  for (uint32_t i = first; i < end; i++)
    if (i != own && !is_said(s, &s->args[i], of)) event_rest(&s->w, &s->args[i]);
}

/* Writes a sample with args first .. end-1 of the event; `own` is the series. */
static void write_sample(struct perfetto_sink *s, tk_id track, tk_id event, uint32_t first, uint32_t own, uint32_t end) {
  const struct tk_event *e = &s->t->events[event];
  const struct tk_arg *arg = &s->args[own];
  struct series series = {.key = arg->key, .text = arg->type == TK_ARG_STR};
  struct tk_arg value;
  series.has_id = tk_args_find(s->t, e->args, "json.id", &series.id);
  series_value(s, arg, &value);
  struct series_track of = track_of_series(s, track, e, &series);
  bool all = says_all(s, arg, &value, of.text);
  for (uint32_t i = own + 1; i < end; i++) all = all && is_said(s, &s->args[i], &of);
  writer_track(&s->w, of.uuid);
  event_begin_rest(&s->w);
  rest_of(s, first, end, all ? own : UINT32_MAX, &of);
  gpu_counters_sample(s, of.uuid, arg->key, &value);
  event_counter(&s->w, event, &value, first > 0);
  s->w.counter.len = 0;
}

static void write_event(struct perfetto_sink *s, tk_id track, tk_id event) {
  const struct tk_event *e = &s->t->events[event];
  uint32_t first = 0, last = UINT32_MAX;
  struct tk_arg value;
  s->n_args = 0;
  plain_begin(&s->w, (tk_id)(e - s->t->events), false);
  collect_args(s, s->t->classes[e->cls].args, s->t->tracks[track].renamed);
  uint32_t own = s->n_args;
  collect_args(s, e->args, s->t->tracks[track].renamed);
  for (uint32_t i = own; i < s->n_args; i++)
    if (series_value(s, &s->args[i], &value)) last = i;
  if (last == UINT32_MAX) {
    writer_track(&s->w, lone_uuid(s, track));
    event_lone_counter(&s->w, event);
    return;
  }
  for (uint32_t i = own; i <= last; i++) {
    if (!series_value(s, &s->args[i], &value)) continue;
    write_sample(s, track, event, first, i, i == last ? s->n_args : i + 1);
    first = i + 1;
  }
}

uint64_t counters_uuid(struct perfetto_sink *s, tk_id track) {
  const struct tk_event *e = &s->t->events[s->t->tracks[track].first];
  struct tk_args args = tk_args_of(s->t, e->args);
  struct tk_arg arg = {.key = KEY_COUNTER_VALUE};
  tk_args_next(&args, &arg);
  const struct series series = {.key = arg.key};
  return track_of_series(s, track, e, &series).uuid;
}

void counters_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  gpu_counters_begin(s, track);
  for (tk_id i = k->first; i < k->first + k->count; i++)
    if (!thread_times_has(&s->w, i)) write_event(s, track, i);
  gpu_counters_end(s);
}

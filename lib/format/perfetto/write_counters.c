/* write_counters.c - counter samples: a track for each series of a counter, made when its first sample comes.
 *
 * A counter of Perfetto has one series.  Those of other formats are named as trace_processor's JSON importer names them: "counter
 * series", "counter id: ID series"; what was what stands in the private fields of the track.  A number in a string counts, as
 * it does there. */
#include <string.h>

#include "writer.h"

struct series {
  tk_id key;
  bool text, has_id; /* its values are strings; the counter has an id */
  struct tk_arg id;
};

/* As strtod has it: "+1", ".5", "2." and "007" are numbers. */
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

/* Is it a series, and not a field of the event?  Then *value is its number. */
static bool series_value(const struct perfetto_sink *s, const struct tk_arg *arg, struct tk_arg *value) {
  const struct intern_str *key = trace_str(s->t, arg->key);
  bool field = arg->key < KEY_COUNT && arg->key != KEY_COUNTER_VALUE && arg->key != KEY_EMPTY;
  *value = *arg;
  if (field || (key->len >= 5 && memcmp(key->bytes, "json.", 5) == 0)) return false;
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

static uint64_t describe_series(struct perfetto_sink *s, tk_id track, const struct tk_event *e, const struct series *of) {
  const struct tk_track *k = &s->t->tracks[track];
  struct child c = {.parent = s->uuids[k->parent], .counter = true, .track = track, .has_rank = k->has_sort, .rank = k->sort_index};
  char number[24];
  s->text.len = 0;
  append_text(s, of->has_id ? s->t->classes[e->cls].name : k->name);
  if (k->renamed) {
    if (of->key != KEY_COUNTER_VALUE) c.unit = tk_string(s->t, of->key, NULL);
    if (k->tid.kind == TK_IDENT_INT) c.parent = describe_thread_uuid(s, k->parent, k->tid.num);
  } else {
    c.form = FORM_SERIES | (of->text ? FORM_TEXT : 0);
    c.tid = ident_str(of->key);
    if (of->has_id && of->id.type == TK_ARG_STR) {
      c.id = tk_string(s->t, of->id.s, &c.n_id);
    } else if (of->has_id) {
      c.id = number;
      c.n_id = num_put_i64(number, of->id.i);
      c.form |= FORM_NUMBER_ID;
    }
    if (of->has_id) buf_append(&s->text, " id: ", 5);
    buf_append(&s->text, c.id, c.n_id);
    buf_append(&s->text, " ", 1);
    append_text(s, of->key);
  }
  c.name = (const char *)s->text.data;
  c.n = s->text.len;
  return describe_child(s, &c);
}

static uint64_t series_uuid(struct perfetto_sink *s, tk_id track, const struct tk_event *e, const struct series *series) {
  const struct tk_track *k = &s->t->tracks[track];
  uint64_t of = k->renamed ? (uint64_t)track << 32 | 1u << 31 : (uint64_t)k->parent << 32 | k->name;
  uint32_t *slot = map_put(&s->series, of * 0x9e3779b97f4a7c15u ^ series->key, UINT32_MAX);
  if (!slot) return 0;
  if (*slot == UINT32_MAX) *slot = (uint32_t)(describe_series(s, track, e, series) - s->first_series);
  return s->first_series + *slot;
}

/* The samples that an event's args are; what of the event no track of a counter has a place for is lost. */
static void write_samples(struct perfetto_sink *s, tk_id track, tk_id event) {
  const struct tk_event *e = &s->t->events[event];
  const struct tk_class *c = &s->t->classes[e->cls];
  struct tk_arg arg, value;
  struct series series = {.has_id = e->args && tk_args_find(s->t, e->args, "json.id", &series.id)};
  uint64_t written = 0, lost = c->cat != 0; /* a counter has no category */
  for (struct tk_args it = tk_args_of(s->t, c->args); tk_args_next(&it, &arg);) lost++;
  for (struct tk_args it = tk_args_of(s->t, e->args); tk_args_next(&it, &arg);) {
    if (!series_value(s, &arg, &value)) {
      lost += arg.key != KEY_ID;
      continue;
    }
    series.key = arg.key;
    series.text = arg.type == TK_ARG_STR;
    writer_track(&s->w, series_uuid(s, track, e, &series));
    writer_counter(&s->w, event, &value);
    written++;
  }
  sink_lose(&s->sink, written ? TK_LOSS_ARGS : TK_LOSS_COUNTERS, written ? lost : 1);
}

void counters_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  for (tk_id i = k->first; i < k->first + k->count; i++) write_samples(s, track, i);
}

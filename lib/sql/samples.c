/* samples.c - counters and flows as rows: one for each series of a counter sample, and one for each arrow of a flow.
 *
 * In JSON, and in a Perfetto file converted from JSON, the name of a series consists of the counter's name and the key, as in
 * "memory bytes". In other formats, a counter has one series with the counter's name. */
#include <string.h>

#include "samples.h"
#include "bind.h"
#include "graph/args.h"
#include "graph/chain.h"
#include "sql.h"

/* ---- counters ---- */

/* True if the whole text is a number in C syntax, such as "+1.5", ".5", "5." and "1e3", but not "1e". */
static bool is_number(const char *p) {
  p += *p == '+' || *p == '-';
  const size_t whole = strspn(p, "0123456789");
  p += whole;
  const size_t part = *p == '.' ? strspn(p + 1, "0123456789") : 0;
  if (*p == '.') p += 1 + part;
  if (whole + part == 0) return false;
  if (*p != 'e' && *p != 'E') return !*p;
  p += 1 + (p[1] == '+' || p[1] == '-');
  const size_t exponent = strspn(p, "0123456789");
  return exponent > 0 && !p[exponent];
}

static bool value_of(const struct tk_sql *s, const struct tk_arg *a, double *v) {
  size_t n;
  const char *text;
  switch (a->type) {
  case TK_ARG_INT:
    *v = (double)a->i;
    return true;
  case TK_ARG_UINT:
    *v = (double)a->u;
    return true;
  case TK_ARG_DECIMAL:
    *v = num_nearest(a->i, a->exp);
    return true;
  case TK_ARG_DOUBLE:
    *v = a->d;
    return true;
  case TK_ARG_STR: case TK_ARG_NUMBER: case TK_ARG_REF:
    text = tk_string(s->t, a->s, &n);
    if (!is_number(text)) return false;
    if (*text == '+') text++, n--;
    *v = num_double(text, n);
    return true;
  default: return false;
  }
}

static bool is_series(const struct tk_sql *s, const struct tk_arg *a) {
  return a->key == KEY_COUNTER_VALUE || !key_is_reserved(tk_string(s->t, a->key, NULL));
}

/* Returns the id of "NAME KEY" in s->texts. */
static tk_id name_of_series(struct tk_sql *s, tk_id name, tk_id key) {
  const struct intern_str *a = trace_str(s->t, name), *b = trace_str(s->t, key);
  struct buf text = {.mem = &s->mem};
  buf_append(&text, a->bytes, a->len);
  buf_append(&text, " ", 1);
  buf_append(&text, b->bytes, b->len);
  tk_id id = intern(&s->texts, text.data, text.len);
  buf_free(&text);
  return id;
}

/* Returns the name of a counter as in trace_processor: with the counter's id if the id is text, otherwise without the id. */
static tk_id name_of_counter(struct tk_sql *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const struct tk_event *e = &s->t->events[k->first];
  const tk_id name = s->t->classes[e->cls].name;
  struct tk_arg id = {.type = TK_ARG_NULL};
  if (!k->count || name == k->name || !args_of_event(s->t, e, KEY_ID, &id)) return k->name;
  if (id.type != TK_ARG_STR) return name;
  const struct intern_str *a = trace_str(s->t, name), *b = trace_str(s->t, id.s);
  struct buf text = {.mem = &s->mem};
  buf_append(&text, a->bytes, a->len);
  buf_text(&text, " id: ");
  buf_append(&text, b->bytes, b->len);
  const tk_id made = trace_string(s->t, text.data, text.len);
  buf_free(&text);
  return made ? made : k->name;
}

static uint32_t series_of(struct tk_sql *s, struct map *seen, tk_id track, tk_id key) {
  uint32_t *number = map_put(seen, (uint64_t)track << 32 | key, s->n_counter_tracks);
  if (!number || *number < s->n_counter_tracks) return number ? *number : 0;
  if (!mem_grow(&s->mem, (void **)&s->counter_tracks, &s->cap_counter_tracks, (uint64_t)s->n_counter_tracks + 1,
                sizeof *s->counter_tracks))
    return 0;
  const tk_id name = s->times.exact ? s->t->tracks[track].name : name_of_counter(s, track);
  const struct intern_str *own = trace_str(s->t, name);
  const bool is_plain = s->times.exact && !s->t->tracks[track].by_series;
  const tk_id text = is_plain ? intern(&s->texts, own->len ? (const char *)own->bytes : "", own->len)
                              : name_of_series(s, name, key);
  s->counter_tracks[s->n_counter_tracks++] = (struct counter_track){.track = track, .key = key, .name = text};
  return *number;
}

static void add_samples(struct tk_sql *s, struct map *seen, tk_id event) {
  const struct tk_event *e = &s->t->events[event];
  struct tk_args it = tk_args_of(s->t, e->args);
  struct tk_arg a;
  struct counter_row row = {.event = event};
  while (tk_args_next(&it, &a)) {
    if (!is_series(s, &a) || !value_of(s, &a, &row.value)) continue;
    row.track = series_of(s, seen, e->track, a.key);
    if (!mem_grow(&s->mem, (void **)&s->counters, &s->cap_counters, (uint64_t)s->n_counters + 1, sizeof *s->counters)) return;
    s->counters[s->n_counters++] = row;
  }
}

bool sql_counters(struct tk_sql *s) {
  struct map seen;
  if (s->has_counters) return true;
  map_init(&seen, &s->mem);
  for (tk_id k = 1; k <= s->t->n_tracks && !s->mem.failed; k++) {
    const struct tk_track *track = &s->t->tracks[k];
    for (tk_id i = track->first; track->kind == TK_TRACK_COUNTERS && i < track->first + track->count && !s->mem.failed; i++)
      if (s->t->events[i].kind == TK_EVENT_COUNTER) add_samples(s, &seen, i);
  }
  map_free(&seen);
  return s->has_counters = !s->mem.failed;
}

/* ---- flows ---- */

/* True if later arrows start at this point: it is a start or a step. trace_processor ignores a second start of JSON flows, and
 * a step without a start. */
static bool becomes_source(const struct tk_sql *s, const struct tk_flow_point *f, tk_id last) {
  const bool step = f->role == TK_FLOW_STEP || f->role == TK_FLOW_INOUT;
  if (s->times.exact) return flow_starts(f) || step;
  return flow_starts(f) ? !last : step && last;
}

struct arrows {
  struct chains open;  /* the point from which the next arrow of a flow starts */
  struct map numbers;  /* flow -> number */
  const tk_id *slices; /* by point */
};

/* Adds the arrow that ends at this point, and updates the point from which the next arrow starts. A step ends one arrow and starts the
 * next. */
static void follow(struct tk_sql *s, struct arrows *a, tk_id point) {
  const struct tk_flow_point *f = &s->t->flow_points[point];
  const uint64_t flow = hash_pair(hash_pair((uint64_t)f->id, f->id_kind == TK_FLOW_ID_STR), f->cls);
  const uint32_t *number = f->role < TK_FLOW_OUT ? map_put(&a->numbers, flow, a->numbers.n) : NULL;
  if (!a->slices[point]) return;
  tk_id *last = chains_of(&a->open, f);
  if (!flow_starts(f)) {
    if (!*last || !mem_grow(&s->mem, (void **)&s->flows, &s->cap_flows, (uint64_t)s->n_flows + 1, sizeof *s->flows)) return;
    struct flow_row row = {.out = a->slices[*last], .in = a->slices[point], .point = point, .number = number ? *number : 0};
    if (s->times.exact && s->t->events[row.in].ts < s->t->events[row.out].ts)
      row = (struct flow_row){row.in, row.out, point, row.number}; /* Perfetto's arrows lead forward in time */
    s->flows[s->n_flows++] = row;
  }
  if (becomes_source(s, f, *last)) *last = point;
}

bool sql_flows(struct tk_sql *s) {
  struct arrows a;
  if (s->has_flows) return true;
  tk_id *slices = bind_points(s);
  const bool ok = slices && chains_init(&a.open, s->t, &s->mem);
  if (ok) {
    a.slices = slices;
    map_init(&a.numbers, &s->mem);
    for (tk_id i = 1; i <= s->t->n_flow_points && !s->mem.failed; i++) follow(s, &a, i);
    map_free(&a.numbers);
    chains_free(&a.open);
  }
  mem_free(&s->mem, slices);
  return s->has_flows = ok && !s->mem.failed;
}

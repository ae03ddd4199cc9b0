/* write_event.c - events and stats as bytes, and the maps that name them.
 *
 * A plane that was read as XPlane keeps its maps as they were; what its events use beyond that is added behind, under new ids.
 * Types that an XStat does not have (decimals, JSON, booleans) are the nearest that it has, and the description of the stat's
 * metadata says which: xprof shows the value, and reading it back gives the arg that it was. */
#include <string.h>

#include "format/json.h"
#include "writer.h"

/* ---- names ---- */

static const struct {
  uint8_t field;
  const char *description; /* "" = the XStat says it all */
} TYPES[TK_ARG_TYPES] = {
    [TK_ARG_NULL] = {0, ""},
    [TK_ARG_FALSE] = {XSTAT_INT64, XPLANE_OWN_TYPE "bool"},
    [TK_ARG_TRUE] = {XSTAT_INT64, XPLANE_OWN_TYPE "bool"},
    [TK_ARG_INT] = {XSTAT_INT64, ""},
    [TK_ARG_UINT] = {XSTAT_UINT64, ""},
    [TK_ARG_DECIMAL] = {XSTAT_DOUBLE, XPLANE_OWN_TYPE XPLANE_OWN_DECIMAL}, /* and the exponent */
    [TK_ARG_DOUBLE] = {XSTAT_DOUBLE, ""},
    [TK_ARG_STR] = {XSTAT_STR, ""},
    [TK_ARG_NUMBER] = {XSTAT_STR, XPLANE_OWN_TYPE "number"},
    [TK_ARG_JSON] = {XSTAT_STR, XPLANE_OWN_TYPE "json"},
    [TK_ARG_BYTES] = {XSTAT_BYTES, ""},
    [TK_ARG_REF] = {XSTAT_REF, ""},
    [TK_ARG_POINTER] = {XSTAT_UINT64, XPLANE_OWN_TYPE "pointer"},
};

/* Does a double hold the decimal? */
static bool is_exact(const struct tk_arg *a) {
  return a->exp >= -XPLANE_MAX_EXP && a->exp <= XPLANE_MAX_EXP && a->i < XPLANE_MAX_MANT && a->i > -XPLANE_MAX_MANT;
}

/* Stat metadata is by name and description: args of one family share it. */
static unsigned family(const struct tk_arg *a) {
  if (a->type == TK_ARG_DECIMAL) return is_exact(a) ? (unsigned)(XPLANE_DECIMAL + a->exp) : TK_ARG_NUMBER;
  if (!*TYPES[a->type].description) return 0;
  return a->type == TK_ARG_FALSE ? TK_ARG_TRUE : a->type;
}

static const char *description_of(unsigned types, char room[40]) {
  size_t n;
  if (types < TK_ARG_TYPES) return types ? TYPES[types].description : "";
  n = strlen(TYPES[TK_ARG_DECIMAL].description);
  memcpy(room, TYPES[TK_ARG_DECIMAL].description, n);
  n += num_put_i64(room + n, (int64_t)types - XPLANE_DECIMAL);
  room[n] = 0;
  return room;
}

enum { OWN_FLOW = 255 }; /* of descriptions: the stat "flow" that is for xprof alone */

static unsigned family_of(const struct pb_field *description) {
  char room[40];
  size_t n = strlen(XPLANE_OWN_FLOW);
  if (description->value == n && memcmp(description->p, XPLANE_OWN_FLOW, n) == 0) return OWN_FLOW;
  for (unsigned i = 1; i <= XPLANE_DECIMAL + XPLANE_MAX_EXP; i++) {
    if (i >= TK_ARG_TYPES && i < XPLANE_DECIMAL - XPLANE_MAX_EXP) continue;
    const char *text = i == TK_ARG_FALSE || i == TK_ARG_DECIMAL ? "" : description_of(i, room);
    if (*text && strlen(text) == description->value && memcmp(text, description->p, (size_t)description->value) == 0) return i;
  }
  return 0;
}

static tk_id find_text(const struct tk_trace *t, const void *p, size_t n) {
  return intern_find(&t->store->strings, p, n, (uint32_t)hash_bytes(p, n));
}

static void map_entry(struct buf *b, uint32_t number, int64_t key, const struct buf *value) {
  struct buf entry = {.mem = b->mem};
  pb_i64(&entry, MAP_KEY, key);
  pb_message(&entry, MAP_VALUE, value);
  pb_message(b, number, &entry);
  buf_free(&entry);
}

static int64_t new_stat(struct xplane_encoder *e, const void *name, size_t n, const char *description) {
  struct buf b = {.mem = e->mem};
  int64_t id = e->next_stat++;
  pb_i64(&b, XSTAT_METADATA_KEY, id);
  if (n) pb_bytes(&b, XSTAT_METADATA_NAME, name, n);
  if (*description) pb_bytes(&b, XSTAT_METADATA_DESCRIPTION, description, strlen(description));
  map_entry(&e->new_stats, XPLANE_STAT_METADATA, id, &b);
  buf_free(&b);
  return id;
}

/* The name that a key stands for. */
static tk_id stat_name(const struct xplane_encoder *e, tk_id key) {
  size_t n, own = strlen(XPLANE_EARLIER);
  const char *text = tk_string(e->g->t, key, &n);
  tk_id name;
  if (n <= own || *text != 'x' || memcmp(text, XPLANE_EARLIER, own) != 0) return key;
  name = find_text(e->g->t, text + own, n - own);
  return name ? name : key;
}

/* Stat metadata ids are kept in 32 bits here: those of a file that are larger count as unknown. */
static int64_t stat_id(struct xplane_encoder *e, tk_id name, unsigned types) {
  uint32_t *slot = map_put(&e->stats, (uint64_t)name << 8 | types, 0);
  size_t n;
  const char *text;
  if (!slot) return 0;
  if (*slot) return *slot;
  text = tk_string(e->g->t, name, &n);
  char room[40];
  int64_t id = new_stat(e, text, n, description_of(types, room));
  slot = map_get(&e->stats, (uint64_t)name << 8 | types);
  return *slot = (uint32_t)id;
}

/* A ref to nothing is 0, unless the plane names something "". */
static int64_t ref_id(struct xplane_encoder *e, tk_id text) {
  const uint32_t *known = text == KEY_EMPTY ? map_get(&e->stats, (uint64_t)text << 8) : NULL;
  if (text == KEY_EMPTY) return known ? *known : 0;
  return stat_id(e, text, 0);
}

/* What the plane's own maps name already. */
static void learn_stat(struct xplane_encoder *e, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v = pb_over("", 0);
  struct pb_field f, name = {.p = (const uint8_t *)""}, description = {.p = (const uint8_t *)""};
  int64_t id = 0;
  unsigned types = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(MAP_KEY, PB_VARINT)) id = (int64_t)f.value;
    if (pb_field_key(&f) == PB_KEY(MAP_VALUE, PB_BYTES)) v = pb_inside(&f);
  }
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_DESCRIPTION, PB_BYTES)) description = f;
  }
  if (description.value) types = family_of(&description);
  if (id >= e->next_stat && id < INT64_MAX) e->next_stat = id + 1;
  tk_id text = find_text(e->g->t, name.p, (size_t)name.value);
  if (text && id > 0 && id < UINT32_MAX) map_put(&e->stats, (uint64_t)text << 8 | types, (uint32_t)id);
}

/* Event metadata stays what its class is as long as both bear one name. */
static void learn_class(struct xplane_encoder *e, const struct map *by_id, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v = pb_over("", 0);
  struct pb_field f, name = {.p = (const uint8_t *)""}, display = {.p = (const uint8_t *)""};
  int64_t id = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(MAP_KEY, PB_VARINT)) id = (int64_t)f.value;
    if (pb_field_key(&f) == PB_KEY(MAP_VALUE, PB_BYTES)) v = pb_inside(&f);
  }
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) name = f;
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_DISPLAY_NAME, PB_BYTES)) display = f;
  }
  if (id >= e->next_class && id < INT64_MAX) e->next_class = id + 1;
  uint32_t *cls = map_get(by_id, (uint64_t)id);
  if (display.value) name = display;
  if (!cls) return;
  const struct intern_str *s = trace_str(e->g->t, e->g->t->classes[*cls].name);
  bool same = utf8_valid(name.p, (size_t)name.value) ? s->len == name.value && memcmp(s->bytes, name.p, s->len) == 0 : true;
  if (same && id > 0 && id < UINT32_MAX) map_put(&e->classes, *cls, (uint32_t)id);
}

static void learn_maps(struct xplane_encoder *e) {
  const struct xplane_graph *g = e->g;
  struct pb c = pb_over(trace_raw(g->t, e->was->at), (size_t)e->was->size);
  struct pb_field f;
  struct map by_id;
  map_init(&by_id, e->mem);
  for (tk_id i = 1; i < g->n_classes && i <= g->t->n_classes; i++) {
    if (g->classes[i].process != e->process) continue;
    if (!g->classes[i].derived) map_put(&by_id, (uint64_t)g->classes[i].id, i);
    if (g->classes[i].id >= e->next_class && g->classes[i].id < INT64_MAX) e->next_class = g->classes[i].id + 1;
  }
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(XPLANE_STAT_METADATA, PB_BYTES)) learn_stat(e, &f);
    if (pb_field_key(&f) == PB_KEY(XPLANE_EVENT_METADATA, PB_BYTES)) learn_class(e, &by_id, &f);
  }
  for (tk_id i = 1; i < g->n_classes && i <= g->t->n_classes; i++) /* a step's name stands in an arg of its event */
    if (g->classes[i].process == e->process && g->classes[i].derived && g->classes[i].id > 0 && g->classes[i].id < UINT32_MAX)
      map_put(&e->classes, i, (uint32_t)g->classes[i].id);
  map_free(&by_id);
}

void xplane_encoder_init(struct xplane_encoder *e, const struct xplane_graph *g, tk_id process, const struct xplane_plane *was,
                         struct mem *mem) {
  *e = (struct xplane_encoder){.mem = mem, .g = g, .process = process, .was = was, .next_class = 1, .next_stat = 1};
  e->new_classes.mem = e->new_stats.mem = e->event.mem = e->stat.mem = e->inner.mem = e->lines.mem = mem;
  map_init(&e->classes, mem);
  map_init(&e->stats, mem);
  e->key_flow = find_text(g->t, "flow", 4);
  e->key_long_name = find_text(g->t, "long_name", 9);
  if (was) learn_maps(e);
}

void xplane_encoder_free(struct xplane_encoder *e) {
  map_free(&e->classes);
  map_free(&e->stats);
  buf_free(&e->new_classes);
  buf_free(&e->new_stats);
  buf_free(&e->event);
  buf_free(&e->stat);
  buf_free(&e->inner);
  buf_free(&e->lines);
  mem_free(e->mem, e->counters);
}

/* ---- stats ---- */

static uint64_t bits_of(double d) {
  union {
    double d;
    uint64_t u;
  } v = {d};
  return v.u;
}

/* The stat's field `number` in b. */
static void add_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const struct tk_arg *a) {
  struct buf *s = &e->stat;
  const struct intern_str *text = trace_str(e->g->t, a->type >= TK_ARG_STR && a->type <= TK_ARG_REF ? a->s : 0);
  int64_t ref = a->type == TK_ARG_REF ? ref_id(e, a->s) : 0;
  char digits[96];
  s->len = 0;
  pb_i64(s, XSTAT_METADATA_ID, stat_id(e, stat_name(e, a->key), family(a)));
  switch (TYPES[a->type].field) {
    case XSTAT_DOUBLE:
      if (a->type == TK_ARG_DOUBLE) pb_fixed64(s, XSTAT_DOUBLE, bits_of(a->d));
      else if (is_exact(a)) pb_fixed64(s, XSTAT_DOUBLE, bits_of(xplane_decimal(a->i, a->exp)));
      else pb_bytes(s, XSTAT_STR, digits, num_put_decimal(digits, a->i, a->exp));
      break;
    case XSTAT_UINT64: pb_u64(s, XSTAT_UINT64, a->u); break;
    case XSTAT_INT64: pb_i64(s, XSTAT_INT64, a->type == TK_ARG_INT ? a->i : a->type == TK_ARG_TRUE); break;
    case XSTAT_REF: pb_i64(s, XSTAT_REF, ref); break;
    case XSTAT_STR:
    case XSTAT_BYTES: pb_bytes(s, TYPES[a->type].field, text->bytes, text->len); break;
    default: break;
  }
  pb_message(b, number, s);
}

static int64_t own_stat_id(struct xplane_encoder *e, const char *name, const char *description) {
  tk_id text = find_text(e->g->t, name, strlen(name));
  unsigned types = *description ? OWN_FLOW : 0;
  uint64_t key = text ? (uint64_t)text << 8 | types : (hash_bytes(name, strlen(name)) << 8 | types | (uint64_t)1 << 63);
  uint32_t *slot = map_get(&e->stats, key);
  int64_t id;
  if (slot) return *slot;
  id = new_stat(e, name, strlen(name), description);
  map_put(&e->stats, key, (uint32_t)id);
  return id;
}

void xplane_add_own_stat(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, const void *text,
                         size_t n) {
  int64_t id = own_stat_id(e, name, "");
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_bytes(&e->stat, XSTAT_STR, text, n);
  pb_message(b, number, &e->stat);
}

void xplane_add_own_int(struct xplane_encoder *e, struct buf *b, uint32_t number, const char *name, int64_t v) {
  int64_t id = own_stat_id(e, name, "");
  e->stat.len = 0;
  pb_i64(&e->stat, XSTAT_METADATA_ID, id);
  pb_i64(&e->stat, XSTAT_INT64, v);
  pb_message(b, number, &e->stat);
}

/* ---- event metadata ---- */

/* A class that was given a long name by its display name gives it back. */
static tk_id long_name_of(const struct xplane_encoder *e, const struct tk_class *c) {
  struct tk_args it = tk_args_of(e->g->t, c->args);
  struct tk_arg arg;
  return tk_args_next(&it, &arg) && arg.key == e->key_long_name && arg.type == TK_ARG_STR ? arg.s : 0;
}

static int64_t new_class(struct xplane_encoder *e, const struct tk_class *c) {
  const struct tk_trace *t = e->g->t;
  tk_id long_name = long_name_of(e, c);
  const struct intern_str *name = long_name ? trace_str(t, long_name) : NULL, *shown = c->name ? trace_str(t, c->name) : NULL;
  struct buf b = {.mem = e->mem};
  struct tk_args it = tk_args_of(t, c->args);
  struct tk_arg arg;
  int64_t id = e->next_class++;
  if (!name) name = shown;
  pb_i64(&b, XEVENT_METADATA_KEY, id);
  if (name && name->len) pb_bytes(&b, XEVENT_METADATA_NAME, name->bytes, name->len);
  if (long_name && shown && shown->len) pb_bytes(&b, XEVENT_METADATA_DISPLAY_NAME, shown->bytes, shown->len);
  if (c->cat)
    xplane_add_own_stat(e, &b, XEVENT_METADATA_STATS, XPLANE_OWN_CAT, trace_str(t, c->cat)->bytes, trace_str(t, c->cat)->len);
  for (bool first = true; tk_args_next(&it, &arg); first = false)
    if (!first || !long_name) add_stat(e, &b, XEVENT_METADATA_STATS, &arg);
  map_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  buf_free(&b);
  return id;
}

static int64_t class_id(struct xplane_encoder *e, tk_id cls) {
  uint32_t *slot = map_get(&e->classes, cls);
  const struct xplane_graph *g = e->g;
  int64_t id;
  if (slot) return *slot;
  /* Metadata that the file did not have, or ids that do not fit: as they were, if nothing else bears the number. */
  if (cls < g->n_classes && g->classes[cls].process == e->process && g->classes[cls].process && !g->t->classes[cls].args) {
    const char *name = tk_string(g->t, g->t->classes[cls].name, NULL);
    char number[24] = "#";
    number[1 + num_put_i64(number + 1, g->classes[cls].id)] = 0;
    if (strcmp(name, number) == 0) return g->classes[cls].id;
  }
  id = new_class(e, &g->t->classes[cls]);
  map_put(&e->classes, cls, (uint32_t)id);
  return id;
}

/* ---- events ---- */

/* What XEvent says by itself, taken from args that hold it. */
struct fields {
  bool has_occurrences, has_offset, has_duration, has_flow;
  int64_t occurrences, offset, duration;
};

static bool is_field(const struct xplane_encoder *e, const struct tk_event *ev, const struct tk_arg *a, struct fields *f) {
  if (a->key == e->key_flow && a->type == TK_ARG_UINT) f->has_flow = true;
  if (a->type != TK_ARG_INT || !e->was) return false;
  if (a->key == KEY_XPLANE_OCCURRENCES) return f->occurrences = a->i, f->has_occurrences = true;
  if (a->key == KEY_XPLANE_OFFSET) return f->offset = a->i, f->has_offset = true;
  if (a->key == KEY_REPAIRED_DUR && ev->flags & TK_REPAIRED) return f->duration = a->i, f->has_duration = true;
  return false;
}

static int64_t clamp(i128 v) { return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v; }

/* Kind and flags that an XEvent cannot say; 0 for a plain span. */
static int64_t bits_for(const struct xplane_out_line *line, const struct tk_event *ev, const struct fields *f) {
  unsigned kind = ev->kind, flags = ev->flags & ~(unsigned)TK_OVERLAPS;
  if (line->kind == XLINE_COUNTERS) kind = 0;
  if (f->has_offset) flags &= ~(unsigned)TK_LOST_CLOCK;
  if (f->has_duration) flags &= ~(unsigned)TK_REPAIRED;
  return (int64_t)(kind | flags << 8);
}

/* The metadata of this name that the plane has already, or 0. */
static int64_t known_class(const struct xplane_encoder *e, const struct buf *name) {
  const struct xplane_graph *g = e->g;
  tk_id text = find_text(g->t, name->data, name->len);
  for (tk_id i = 1; text && i < g->n_classes && i <= g->t->n_classes; i++)
    if (g->classes[i].process == e->process && g->t->classes[i].name == text && map_get(&e->classes, i))
      return *map_get(&e->classes, i);
  return 0;
}

/* The metadata of one series of a counter: "<counter> <series>". */
static int64_t series_class_id(struct xplane_encoder *e, tk_id cls, tk_id series) {
  const struct tk_trace *t = e->g->t;
  const struct intern_str *name = trace_str(t, t->classes[cls].name), *key = trace_str(t, series);
  uint32_t *slot = map_put(&e->classes, (uint64_t)series << 32 | cls, 0);
  if (!slot) return 0;
  if (*slot) return *slot;
  struct buf b = {.mem = e->mem}, text = {.mem = e->mem};
  buf_append(&text, name->bytes, name->len);
  buf_text(&text, " ");
  buf_append(&text, key->bytes, key->len);
  int64_t id = known_class(e, &text);
  if (!id) {
    id = e->next_class++;
    pb_i64(&b, XEVENT_METADATA_KEY, id);
    pb_bytes(&b, XEVENT_METADATA_NAME, text.data, text.len);
    pb_bytes(&b, XEVENT_METADATA_METADATA, XPLANE_OWN_SERIES, strlen(XPLANE_OWN_SERIES));
    map_entry(&e->new_classes, XPLANE_EVENT_METADATA, id, &b);
  }
  *slot = (uint32_t)id;
  buf_free(&text);
  buf_free(&b);
  return id;
}

/* One series of a counter sample alone. */
static void encode_series(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event event) {
  const struct tk_event *ev = &e->g->t->events[event.id];
  struct tk_args it = tk_args_of(e->g->t, ev->args);
  struct tk_arg arg;
  uint32_t nth = 0;
  e->event.len = 0;
  while (tk_args_next(&it, &arg) && (nth += xplane_is_number(arg.type)) < event.series) {}
  pb_i64(&e->event, XEVENT_METADATA_ID, series_class_id(e, ev->cls, arg.key));
  pb_i64(&e->event, XEVENT_OFFSET_PS, clamp((i128)ev->ts - line->zero_ps));
  add_stat(e, &e->event, XEVENT_STATS, &arg);
}

void xplane_encode_event(struct xplane_encoder *e, const struct xplane_out_line *line, struct xplane_out_event which) {
  const struct tk_trace *t = e->g->t;
  tk_id event = which.id;
  const struct tk_event *ev = &t->events[event];
  if (which.series) {
    encode_series(e, line, which);
    return;
  }
  struct tk_args it = tk_args_of(t, ev->args);
  struct fields f = {0};
  struct tk_arg arg;
  struct buf *b = &e->event, *stats = &e->inner;
  stats->len = b->len = 0;
  while (tk_args_next(&it, &arg)) {
    size_t before = stats->len;
    if (!is_field(e, ev, &arg, &f)) add_stat(e, stats, XEVENT_STATS, &arg);
    if (e->meter) e->meter->add(e->meter->arg, SINK_ARG, arg.key, stats->len - before);
  }
  int64_t offset = f.has_offset ? f.offset : clamp((i128)ev->ts - line->zero_ps),
          duration = f.has_duration ? f.duration : ev->dur;
  int64_t bits = bits_for(line, ev, &f), id = class_id(e, ev->cls);
  if (id) pb_i64(b, XEVENT_METADATA_ID, id);
  if (f.has_occurrences) pb_i64(b, XEVENT_NUM_OCCURRENCES, f.occurrences);
  else pb_i64(b, XEVENT_OFFSET_PS, offset); /* of a oneof: writers state it even if it is 0 */
  if (duration) pb_i64(b, XEVENT_DURATION_PS, duration);
  if (stats->len) buf_append(b, stats->data, stats->len);
  if (e->g->flows && e->g->flows[event] && !f.has_flow) {
    uint64_t value = e->g->flows[event];
    int64_t flow = own_stat_id(e, "flow", value & XPLANE_FLOW_TOLD ? XPLANE_OWN_FLOW : "");
    e->stat.len = 0;
    pb_i64(&e->stat, XSTAT_METADATA_ID, flow);
    pb_u64(&e->stat, XSTAT_UINT64, value & ~XPLANE_FLOW_TOLD);
    pb_message(b, XEVENT_STATS, &e->stat);
  }
  if (bits) xplane_add_own_int(e, b, XEVENT_STATS, XPLANE_OWN_BITS, bits);
}

/* carried.c - writes the block with which other formats preserve parents and properties of Perfetto tracks (format/carry.h).
 *
 * The same rules as in passthrough.c decide what is still valid after an operation. Packets are not embedded, because an operation on
 * the other format could not keep them consistent with its events. Each packet counts as lost. In the other format, counters with equal
 * names in one process are a single counter, so each counter after the first also counts as lost. */
#include "carried.h"

#include "extension.h"
#include "format/pb_out.h"
#include "format/perfetto/carried.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/passthrough.h"
#include "writer.h"

struct carrier {
  struct sink sink;
  struct out *out;
  struct mem mem;
  const struct tk_trace *t;
  bool is_whole;       /* the tracks keep their uuids and descriptors */
  struct map entries;  /* track -> 1 + offset of its entry in perfetto.tracks */
  struct map counters; /* process and name of counters that were written */
  struct map interned; /* numbers of the interned data that events use, if events were dropped */
  const struct tk_meta *tracks;
  struct buf graph, track, ident, types;
  bool has_types;      /* the other format keeps the types of numbers */
};

/* ---- tracks ---- */

static void find_entries(struct carrier *c) {
  struct pb_field entry, f;
  c->tracks = passthrough_find(c->t, PASSTHROUGH_TRACKS);
  map_init(&c->entries, &c->mem);
  if (!c->tracks) return;
  struct pb in = pb_over(trace_raw(c->t, c->tracks->at), (size_t)c->tracks->size);
  for (const uint8_t *start = in.p, *from = in.p; pb_next(&in, &entry); from = in.p) {
    struct pb fields = pb_inside(&entry);
    if (pb_next(&fields, &f) && f.number == PASSTHROUGH_TRACK) map_put(&c->entries, f.value, 1 + (uint32_t)(from - start));
  }
}

static bool carried_entry(const struct carrier *c, tk_id track, struct pb_field *entry) {
  const uint32_t *at = map_get(&c->entries, track);
  if (!at) return false;
  struct pb in = pb_over(trace_raw(c->t, c->tracks->at + *at - 1), (size_t)c->tracks->size - (*at - 1));
  return pb_next(&in, entry);
}

/* Appends the fields of an entry that are still valid. The original pid is omitted, because the machine is also lost. The parent of a
 * counter counts as lost unless its uuid stays. */
static void put_entry(struct carrier *c, const struct pb_field *entry) {
  struct pb in = pb_inside(entry);
  struct pb_field f;
  bool has_parent = false, loses_parent = false;
  c->ident.len = 0;
  while (pb_next(&in, &f)) {
    has_parent = has_parent || (f.number == PASSTHROUGH_PARENT && c->is_whole);
    loses_parent = loses_parent || f.number == PASSTHROUGH_PARENT_TRACK;
    const bool is_field = f.number == PASSTHROUGH_FIELDS || f.number == PASSTHROUGH_INNER_FIELDS || f.number == PASSTHROUGH_LEGACY;
    const bool is_uuid = f.number == PASSTHROUGH_UUID || f.number == PASSTHROUGH_PARENT;
    if (is_field || (is_uuid && c->is_whole)) pb_field(&c->ident, &f);
  }
  sink_lose(&c->sink, TK_LOSS_PASSTHROUGH, loses_parent && !has_parent);
  if (c->ident.len) pb_message(&c->track, CARRIED_ENTRY, &c->ident);
}

static void put_text(struct carrier *c, struct buf *b, uint32_t field, tk_id text) {
  const struct intern_str *s = trace_str(c->t, text);
  if (text) pb_bytes(b, field, s->bytes, s->len);
}

static void put_ident(struct carrier *c, uint32_t field, struct tk_ident i) {
  c->ident.len = 0;
  pb_u64(&c->ident, IDENT_KIND, i.kind);
  if (i.kind == TK_IDENT_STR) put_text(c, &c->ident, IDENT_TEXT, i.str);
  else pb_i64(&c->ident, IDENT_NUM, i.num);
  pb_message(&c->track, field, &c->ident);
}

/* Returns true for the first counter with this name in its process. */
static bool is_only_counter(struct carrier *c, const struct tk_track *k) {
  uint32_t *seen = map_put(&c->counters, (uint64_t)k->parent << 32 | k->name, 0);
  return seen && ++*seen == 1;
}

static void put_track(struct carrier *c, tk_id track) {
  const struct tk_track *k = &c->t->tracks[track];
  struct pb_field entry;
  const bool has_entry = carried_entry(c, track, &entry), is_counter = k->kind == TK_TRACK_COUNTERS && k->renamed && !k->by_series;
  if (k->hidden || !(is_counter || (!k->in_packets && (has_entry || track_is_named(k))))) return;
  if (is_counter && !is_only_counter(c, k)) {
    sink_lose(&c->sink, TK_LOSS_PASSTHROUGH, 1);
    return;
  }
  c->track.len = 0;
  pb_u64(&c->track, CARRIED_KIND, k->kind);
  put_ident(c, CARRIED_PID, k->pid);
  put_ident(c, CARRIED_TID, k->tid);
  put_text(c, &c->track, CARRIED_NAME, k->name);
  if (track_is_named(k)) pb_i64(&c->track, CARRIED_CODE, k->tid.num);
  if (k->count == 0) pb_u64(&c->track, CARRIED_EMPTY, 1);
  if (k->has_sort) pb_i64(&c->track, CARRIED_SORT, k->sort_index);
  if (has_entry) put_entry(c, &entry);
  pb_message(&c->graph, GRAPH_TRACK, &c->track);
}

/* ---- types of numbers ---- */

/* Bits for the types of numbers that the args with one key have. HAS_FIELDS: the args are bytes, namely fields of the event. */
enum { HAS_INT = 1, HAS_UINT = 2, HAS_DOUBLE = 4, HAS_POINTER = 8, HAS_FIELDS = 16 };

static uint32_t bit_of(unsigned type) {
  switch (type) {
  case TK_ARG_INT: return HAS_INT;
  case TK_ARG_UINT: return HAS_UINT;
  case TK_ARG_DOUBLE: return HAS_DOUBLE;
  case TK_ARG_POINTER: return HAS_POINTER;
  default: return 0;
  }
}

/* Returns the type to restore; 0 = none, VALUE_IMPLIED = several types that the other format does not distinguish. `bits`: types
 * in the graph. `known`: type that an earlier conversion recorded for integers of this key; 0 = none. */
static uint8_t type_to_restore(const struct carrier *c, uint32_t bits, uint8_t known) {
  const uint32_t integers = bits & (HAS_INT | HAS_UINT);
  if (known == VALUE_BYTES || (bits & HAS_FIELDS && !c->has_types)) return VALUE_BYTES;
  if (known && integers) return bits == integers ? known : VALUE_IMPLIED;
  if (c->has_types) bits = bits & HAS_POINTER ? bits & ~(uint32_t)HAS_DOUBLE : 0;
  switch (bits) {
  case 0:
  case HAS_INT: return 0;
  case HAS_UINT: return VALUE_UINT;
  case HAS_DOUBLE: return VALUE_DOUBLE;
  case HAS_POINTER: return VALUE_POINTER;
  default: return VALUE_IMPLIED;
  }
}

/* Returns the type of a field of a shape as a bit. `fields_of_end`: key of the fields of the end event, or 0. */
static uint32_t bit_of_field(const struct shape_field *f, tk_id fields_of_end) {
  const bool is_fields = f->key == KEY_PERFETTO_FIELDS || (f->key && f->key == fields_of_end);
  return is_fields && f->type == TK_ARG_BYTES ? HAS_FIELDS : bit_of(f->type);
}

static bool may_have_type(tk_id key) { return key >= KEY_COUNT || key == KEY_PERFETTO_CORRELATION || key == KEY_PERFETTO_FIELDS; }

/* Writes the type of a key's numbers. If they have several types, the key counts as lost. */
static void put_key_type(struct carrier *c, tk_id key, uint32_t bits, uint8_t known) {
  const uint8_t type = type_to_restore(c, bits, known);
  sink_lose(&c->sink, TK_LOSS_PASSTHROUGH, type == VALUE_IMPLIED);
  if (!type || type == VALUE_IMPLIED) return;
  c->ident.len = 0;
  put_text(c, &c->ident, KEY_TYPE_KEY, key);
  pb_u64(&c->ident, KEY_TYPE_TYPE, type);
  pb_message(&c->types, 1, &c->ident);
}

static void mark_shape(const struct tk_trace *t, uint8_t *marks, uint32_t args) {
  const struct tk_arg_shape *shape = tk_args_of(t, args).shape;
  if (shape) marks[shape->id] = 1;
}

/* Marks the shapes of args that are not only values of counters, whose types a Perfetto counter does not distinguish. */
static uint8_t *mark_shapes(struct carrier *c) {
  const struct tk_trace *t = c->t;
  uint8_t *marks = mem_zeros(&c->mem, (uint64_t)t->store->n_shapes + 1, 1);
  for (tk_id i = 1; marks && i <= t->n_classes; i++) mark_shape(t, marks, t->classes[i].args);
  for (tk_id i = 1; marks && i <= t->n_flow_points; i++) mark_shape(t, marks, t->flow_points[i].args);
  for (tk_id i = 1; marks && i <= t->n_events; i++)
    if (t->events[i].kind != TK_EVENT_COUNTER || !t->tracks[t->events[i].track].renamed) mark_shape(t, marks, t->events[i].args);
  return marks;
}

/* `numbers`: false to write only which args are fields of events. */
static void put_types(struct carrier *c, bool numbers) {
  const struct tk_trace *t = c->t;
  const uint32_t n = t->store->strings.n;
  const tk_id of_end = trace_text_id(t, END_ARG "perfetto.fields");
  uint8_t *bits = mem_zeros(&c->mem, (uint64_t)n + 1, 1), *known = passthrough_key_types(t, &c->mem), *marks = mark_shapes(c);
  c->types.len = 0;
  for (uint32_t i = 1; bits && marks && i <= t->store->n_shapes; i++) {
    const struct tk_arg_shape *shape = t->store->shapes[i];
    const uint32_t mask = marks[i] ? UINT32_MAX : HAS_FIELDS;
    for (uint32_t k = 0; k < shape->n; k++) bits[shape->fields[k].key] |= (uint8_t)(bit_of_field(&shape->fields[k], of_end) & mask);
  }
  for (tk_id i = 1; bits && i <= n && !numbers; i++) bits[i] &= HAS_FIELDS;
  for (tk_id i = 1; bits && i <= n; i++)
    if (may_have_type(i) && (bits[i] || (known && known[i] == VALUE_BYTES))) put_key_type(c, i, bits[i], known ? known[i] : 0);
  mem_free(&c->mem, bits);
  mem_free(&c->mem, known);
  mem_free(&c->mem, marks);
  c->track.len = 0;
  if (!c->types.len) return;
  pb_bytes(&c->track, CARRIED_KEY, PASSTHROUGH_KEY_TYPES, strlen(PASSTHROUGH_KEY_TYPES));
  pb_message(&c->track, CARRIED_BYTES, &c->types);
  pb_message(&c->graph, GRAPH_META, &c->track);
}

/* ---- metas ---- */

static void put_meta(struct carrier *c, const struct tk_meta *m, const char *key) {
  c->track.len = 0;
  pb_bytes(&c->track, CARRIED_KEY, key, strlen(key));
  if (m->after) pb_u64(&c->track, CARRIED_AFTER, 1);
  pb_bytes(&c->track, CARRIED_BYTES, trace_raw(c->t, m->at), (size_t)m->size);
  pb_message(&c->graph, GRAPH_META, &c->track);
}

static uint64_t n_packets(const struct carrier *c, const struct tk_meta *m) {
  struct pb in = pb_over(trace_raw(c->t, m->at), (size_t)m->size);
  struct pb_field packet;
  uint64_t n = 0;
  while (pb_next(&in, &packet)) n += !passthrough_is_clocks(&packet) && !passthrough_is_read(&packet);
  return n;
}

/* Finds the interned data to which fields of events refer. */
static void find_interned(struct carrier *c) {
  const struct tk_trace *t = c->t;
  const tk_id begin = trace_text_id(t, ARG_INTERNED), end = trace_text_id(t, END_ARG ARG_INTERNED);
  struct tk_arg arg;
  map_init(&c->interned, &c->mem);
  for (tk_id i = 1; (begin || end) && i <= t->n_events; i++) {
    struct tk_args it = tk_args_of(t, t->events[i].args);
    while (tk_args_next(&it, &arg))
      if (arg.key && (arg.key == begin || arg.key == end) && arg.type == TK_ARG_INT) map_put(&c->interned, (uint64_t)arg.i, 1);
  }
}

/* Writes interned data. If only dropped events used it, writes no more than its number, because numbers have no gaps. */
static void put_interned(struct carrier *c, const struct tk_meta *m) {
  struct pb in = pb_over(trace_raw(c->t, m->at), (size_t)m->size);
  struct pb_field f;
  uint64_t number = 0;
  while (pb_next(&in, &f))
    if (pb_field_key(&f) == PB_KEY(INTERNED_NUMBER, PB_VARINT)) number = f.value;
  if (!(c->t->edits & TK_EDIT_DROPPED) || map_get(&c->interned, number)) {
    put_meta(c, m, PASSTHROUGH_INTERNED);
    return;
  }
  c->ident.len = c->track.len = 0;
  pb_u64(&c->ident, INTERNED_NUMBER, number);
  pb_bytes(&c->track, CARRIED_KEY, PASSTHROUGH_INTERNED, strlen(PASSTHROUGH_INTERNED));
  pb_message(&c->track, CARRIED_BYTES, &c->ident);
  pb_message(&c->graph, GRAPH_META, &c->track);
}

static void put_metas(struct carrier *c, bool first) {
  const struct tk_trace *t = c->t;
  const bool is_cut = trace_cut_of(t) != NULL, has_all = first && (!(t->edits & TK_EDIT_DROPPED) || is_cut);
  const bool has_tracks = c->graph.len != 0; /* tracekit's own descriptors need not be kept */
  const bool has_extensions = first && (has_all || extension_in_use(t, &c->mem));
  if (first && t->edits & TK_EDIT_DROPPED && passthrough_find(t, PASSTHROUGH_INTERNED)) find_interned(c);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (passthrough_is(t, m, PASSTHROUGH_PACKETS)) sink_lose(&c->sink, TK_LOSS_PASSTHROUGH, n_packets(c, m));
    if (passthrough_is(t, m, PASSTHROUGH_DESCRIPTORS) && has_tracks && c->is_whole) put_meta(c, m, PASSTHROUGH_DESCRIPTORS);
    if (passthrough_is(t, m, PASSTHROUGH_EXTENSIONS) && has_extensions) put_meta(c, m, PASSTHROUGH_EXTENSIONS);
    if (!passthrough_is(t, m, PASSTHROUGH_INTERNED)) continue;
    if (first) put_interned(c, m);
    else sink_lose(&c->sink, TK_LOSS_PASSTHROUGH, 1);
  }
}

/* ---- the sink ---- */

static bool carrier_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  (void)sink, (void)first, (void)err;
  return true;
}

/* True if a track belongs to a machine, which the other format loses. Tracks of different machines may have equal uuids. */
static bool has_machines(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].machine) return true;
  return false;
}

static bool carrier_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct carrier *c = (struct carrier *)sink;
  const bool first = sink->ordinal == 0;
  c->t = t;
  c->graph.len = 0;
  c->is_whole = first && (!t->edits || trace_cut_of(t)) && !has_machines(t);
  sink_limit(&c->mem, t);
  find_entries(c);
  map_init(&c->counters, &c->mem);
  if (c->tracks || was_perfetto(t)) {
    for (tk_id i = 1; i <= t->n_tracks; i++) put_track(c, i);
    put_types(c, c->graph.len != 0); /* without tracks, tracekit converted the file from a format with other number types */
  }
  put_metas(c, first);
  map_free(&c->entries);
  map_free(&c->counters);
  map_free(&c->interned);
  c->track.len = 0;
  if (c->graph.len) pb_message(&c->track, CARRIED_GRAPH, &c->graph);
  out_write(c->out, c->track.data, c->track.len);
  return mem_check(&c->mem, err);
}

static bool carrier_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  (void)sink, (void)first, (void)provenance, (void)err;
  return true;
}

static bool carrier_take(struct sink *sink, const struct sink_piece *part, struct tk_err *err) {
  (void)sink, (void)part, (void)err;
  return true;
}

static void carrier_free(struct sink *sink) {
  struct carrier *c = (struct carrier *)sink;
  struct mem mem = {0};
  buf_free(&c->graph);
  buf_free(&c->track);
  buf_free(&c->ident);
  buf_free(&c->types);
  mem_free(&mem, c);
}

struct sink *perfetto_carrier(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct carrier *c = mem_alloc(&mem, sizeof *c);
  if (!c) return NULL;
  *c = (struct carrier){.out = out, .has_types = opt->has_types};
  c->types.mem = c->graph.mem = c->track.mem = c->ident.mem = &c->mem;
  /* `leave` and `take` have nothing to do, because a graph's part of the block does not depend on the parts of other graphs. */
  c->sink = (struct sink){.open = carrier_open, .write = carrier_write, .close = carrier_close, .free = carrier_free,
                          .leave = sink_leave_nothing, .take = carrier_take};
  return &c->sink;
}

/* trace.c - the arrays of the graph, and the hash tables that assign ids. */
#include "trace.h"
#include "args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Allocates slot 0 of every array, so that code can write to it after a failed allocation. */
static bool first_slots(struct tk_trace *t) {
  struct tk_store *s = t->store;
  struct mem *m = &s->mem;
  bool ok = mem_grow(m, (void **)&t->events, &s->cap_events, 1, sizeof *t->events) &&
            mem_grow(m, (void **)&t->classes, &s->cap_classes, 1, sizeof *t->classes) &&
            mem_grow(m, (void **)&t->tracks, &s->cap_tracks, 1, sizeof *t->tracks) &&
            mem_grow(m, (void **)&t->flow_points, &s->cap_flow_points, 1, sizeof *t->flow_points) &&
            mem_grow(m, (void **)&t->records, &s->cap_records, 1, sizeof *t->records) &&
            mem_grow(m, (void **)&t->metas, &s->cap_metas, 1, sizeof *t->metas) &&
            mem_grow(m, (void **)&t->notes, &s->cap_notes, 1, sizeof *t->notes) && buf_append(&s->pool, "", 1);
  if (!ok) return false;
  t->events[0] = (struct tk_event){0};
  t->classes[0] = (struct tk_class){0};
  t->tracks[0] = (struct tk_track){0};
  t->flow_points[0] = (struct tk_flow_point){0};
  t->records[0] = (struct tk_record){0};
  t->metas[0] = (struct tk_meta){0};
  t->notes[0] = (struct tk_note){0};
  return true;
}

static void well_known_strings(struct tk_trace *t) {
#define X(name, text) trace_text(t, text);
  KEYS(X)
#undef X
}

struct tk_trace *trace_new(uint64_t max_memory) {
  struct tk_trace *t = calloc(1, sizeof *t);
  struct tk_store *s = calloc(1, sizeof *s);
  if (!t || !s) {
    free(t);
    free(s);
    return NULL;
  }
  t->store = s;
  t->source = t->format = t->host = t->run = "";
  s->mem.limit = s->mem.whole = max_memory;
  s->known_strings = s->known_shapes = UINT32_MAX;
  intern_init(&s->strings, &s->mem);
  map_init(&s->class_index, &s->mem);
  map_init(&s->track_index, &s->mem);
  map_init(&s->shape_index, &s->mem);
  map_init(&s->frame_index, &s->mem);
  map_init(&s->stack_index, &s->mem);
  map_init(&s->sample_index, &s->mem);
  map_init(&s->owners, &s->mem);
  map_init(&s->owner_ranks, &s->mem);
  s->pool.mem = s->raw.mem = s->builder.payload.mem = &s->mem;
  if (first_slots(t)) well_known_strings(t);
  if (!s->mem.failed) return t;
  tk_free(t);
  return NULL;
}

void tk_free(struct tk_trace *t) {
  struct tk_store *s;
  if (!t) return;
  s = t->store;
  mem_free(&s->mem, t->events);
  mem_free(&s->mem, t->classes);
  mem_free(&s->mem, t->tracks);
  mem_free(&s->mem, t->flow_points);
  mem_free(&s->mem, t->records);
  mem_free(&s->mem, t->metas);
  mem_free(&s->mem, t->notes);
  intern_free(&s->strings);
  map_free(&s->class_index);
  map_free(&s->track_index);
  map_free(&s->owners);
  map_free(&s->owner_ranks);
  args_free(s);
  mem_free(&s->mem, t->frames);
  mem_free(&s->mem, t->stacks);
  mem_free(&s->mem, s->sites);
  mem_free(&s->mem, s->mappings);
  map_free(&s->frame_index);
  map_free(&s->stack_index);
  map_free(&s->sample_index);
  buf_free(&s->raw);
  mem_free(&s->mem, s->ties);
  mem_free(&s->mem, s->tied);
  mem_free(&s->mem, s->foreign);
  mem_free(&s->mem, s->cuts);
  mem_free(&s->mem, s->warp);
  free(s->source);
  free(s->mistake);
  free(s);
  free(t);
}

static unsigned hard_edits(const struct tk_trace *t, unsigned edits) {
  return edits & ~(unsigned)(TK_EDIT_MOVED | TK_EDIT_NAMED | (t->store->warp ? TK_EDIT_STRETCHED : 0));
}

unsigned trace_hard_edits(const struct tk_trace *t) { return hard_edits(t, t->edits); }

void trace_mark_unread(struct tk_trace *t, const char *table) {
  if (!t->store->unread) t->store->unread = trace_text(t, table);
}

void trace_mark_cut(struct tk_trace *t, unsigned edits_before, tk_id cut_before, struct trace_cut range) {
  struct tk_store *s = t->store;
  t->edits |= TK_EDIT_DROPPED;
  t->cut = 0;
  if (hard_edits(t, edits_before) && !cut_before) return;
  if (!mem_grow(&s->mem, (void **)&s->cuts, &s->cap_cuts, (uint64_t)s->n_cuts + 2, sizeof *s->cuts)) return;
  if (cut_before && s->cuts[cut_before].start > range.start) range.start = s->cuts[cut_before].start;
  if (cut_before && s->cuts[cut_before].end < range.end) range.end = s->cuts[cut_before].end;
  s->cuts[t->cut = ++s->n_cuts] = range;
}

const struct trace_cut *trace_cut_of(const struct tk_trace *t) {
  return trace_hard_edits(t) == TK_EDIT_DROPPED && t->cut ? &t->store->cuts[t->cut] : NULL;
}

static void warp_cut(struct trace_cut *cut, const struct warp *s) {
  if (cut->start != INT64_MIN) cut->start = warp_time(s, cut->start);
  if (cut->end != INT64_MAX) cut->end = warp_time(s, cut->end);
}

void trace_mark_stretched(struct tk_trace *t, const struct warp *warp) {
  struct tk_store *s = t->store;
  const bool is_first = !(t->edits & TK_EDIT_STRETCHED);
  mem_free(&s->mem, s->warp);
  s->warp = is_first && warp ? mem_alloc(&s->mem, sizeof *warp) : NULL;
  if (s->warp) *s->warp = *warp;
  for (tk_id i = 1; s->warp && i <= s->n_cuts; i++) warp_cut(&s->cuts[i], warp);
  t->edits |= TK_EDIT_MOVED | TK_EDIT_STRETCHED;
}

const struct warp *trace_warp_of(const struct tk_trace *t) { return t->edits & TK_EDIT_STRETCHED ? t->store->warp : NULL; }

bool trace_is_sealed(const struct tk_trace *t, struct tk_err *err) {
  if (t && t->sealed) return true;
  if (err) err_clear(err);
  return err_set(err, TK_EUSAGE, t ? "the trace is not sealed" : "no trace given");
}

tk_id trace_string(struct tk_trace *t, const void *p, size_t n) { return intern(&t->store->strings, p, n); }
tk_id trace_text(struct tk_trace *t, const char *text) { return trace_string(t, text, strlen(text)); }

/* Writes an id, which may be any JSON value, as text. */
static size_t put_id(char *text, const struct tk_arg *id) {
  switch (id->type) {
  case TK_ARG_INT: return num_put_i64(text, id->i);
  case TK_ARG_UINT:
  case TK_ARG_POINTER: return num_put_u64(text, id->u);
  case TK_ARG_DECIMAL: return num_put_decimal(text, id->i, id->exp);
  case TK_ARG_DOUBLE: return num_put_double(text, id->d);
  case TK_ARG_TRUE:
    memcpy(text, "true", 4);
    return 4;
  case TK_ARG_FALSE:
    memcpy(text, "false", 5);
    return 5;
  default:
    memcpy(text, "null", 4);
    return 4;
  }
}

tk_id trace_counter_name(struct tk_trace *t, tk_id name, const struct tk_arg *id) {
  struct buf b = {.mem = &t->store->mem};
  const struct intern_str *s = trace_str(t, name);
  char number[96];
  buf_append(&b, s->bytes, s->len);
  buf_append(&b, "[", 1);
  s = id->type >= TK_ARG_STR && id->type <= TK_ARG_REF ? trace_str(t, id->s) : NULL;
  if (s) buf_append(&b, s->bytes, s->len);
  else buf_append(&b, number, put_id(number, id));
  tk_id made = buf_append(&b, "]", 1) ? trace_string(t, b.data, b.len) : 0;
  buf_free(&b);
  return made;
}

const char *tk_string(const struct tk_trace *t, tk_id id, size_t *len) {
  const struct intern *in = &t->store->strings;
  if (id == 0 || id > in->n) {
    if (len) *len = 0;
    return "";
  }
  if (len) *len = in->strs[id].len;
  return (const char *)in->strs[id].bytes;
}

tk_id trace_class(struct tk_trace *t, tk_id name, tk_id cat) {
  struct tk_store *s = t->store;
  uint32_t *slot = map_put(&s->class_index, (uint64_t)name << 32 | cat, 0);
  if (!slot) return 0;
  if (*slot) return *slot;
  if (!mem_grow(&s->mem, (void **)&t->classes, &s->cap_classes, (uint64_t)t->n_classes + 2, sizeof *t->classes)) return 0;
  t->classes[++t->n_classes] = (struct tk_class){.name = name, .cat = cat};
  return *slot = t->n_classes;
}

bool trace_ident_equal(struct tk_ident a, struct tk_ident b) {
  bool a_num = a.kind == TK_IDENT_INT || a.kind == TK_IDENT_QUOTED, b_num = b.kind == TK_IDENT_INT || b.kind == TK_IDENT_QUOTED;
  if (a_num || b_num) return a_num && b_num && a.num == b.num;
  return a.kind == b.kind && a.str == b.str;
}

static uint64_t ident_hash(struct tk_ident a) {
  if (a.kind == TK_IDENT_INT || a.kind == TK_IDENT_QUOTED) return hash_number((uint64_t)a.num);
  return hash_pair(a.str, a.kind);
}

/* Returns the track with this identity; 0 = none. *h receives the key of the track in the index: the key found, or the key to
 * insert. */
static tk_id find(const struct tk_trace *t, const struct tk_track *want, uint64_t *h) {
  const uint64_t place = want->kind == TK_TRACK_COUNTERS ? (uint64_t)want->name * 0x9e3779b1u : ident_hash(want->tid);
  const uint32_t *slot;
  for (*h = ident_hash(want->pid) * 31 + place * 17 + want->kind; (slot = map_get(&t->store->track_index, *h)) && *slot; ++*h) {
    const struct tk_track *k = &t->tracks[*slot];
    bool same_place = want->kind == TK_TRACK_COUNTERS ? k->name == want->name : trace_ident_equal(k->tid, want->tid);
    if (k->kind == want->kind && same_place && trace_ident_equal(k->pid, want->pid)) return *slot;
  }
  return 0;
}

tk_id trace_find(const struct tk_trace *t, const struct tk_track *want) {
  uint64_t h;
  return find(t, want, &h);
}

tk_id trace_find_or_add(struct tk_trace *t, const struct tk_track *want) {
  struct tk_store *s = t->store;
  uint64_t h;
  const tk_id found = find(t, want, &h);
  uint32_t *slot = found ? NULL : map_put(&s->track_index, h, 0);
  if (!slot) return found;
  if (!mem_grow(&s->mem, (void **)&t->tracks, &s->cap_tracks, (uint64_t)t->n_tracks + 2, sizeof *t->tracks)) return 0;
  t->tracks[++t->n_tracks] = *want;
  return *slot = t->n_tracks;
}

tk_id trace_process(struct tk_trace *t, struct tk_ident pid) {
  struct tk_track want = {.kind = TK_TRACK_PROCESS, .pid = pid};
  return trace_find_or_add(t, &want);
}

void trace_own(struct tk_trace *t, tk_id track, uint32_t process) {
  uint32_t *owner = map_put(&t->store->owners, track, process);
  if (owner) *owner = process;
}

int64_t trace_owner(const struct tk_trace *t, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  const uint32_t *own = map_get(&t->store->owners, track);
  if (!own && k->kind != TK_TRACK_PROCESS && k->parent) {
    own = map_get(&t->store->owners, k->parent);
    k = &t->tracks[k->parent];
  }
  return own ? *own : k->pid.kind == TK_IDENT_INT ? k->pid.num : -1;
}

void trace_number_owner(struct tk_trace *t, int64_t owner, int64_t rank) {
  if (rank >= 0 && rank < UINT32_MAX) map_put(&t->store->owner_ranks, (uint64_t)owner, (uint32_t)rank + 1);
}

int64_t trace_owner_rank(const struct tk_trace *t, int64_t owner) {
  const uint32_t *rank = map_get(&t->store->owner_ranks, (uint64_t)owner);
  return rank ? (int64_t)*rank - 1 : -1;
}

bool trace_has_thread(const struct tk_trace *t, struct tk_ident pid, struct tk_ident tid) {
  return trace_find(t, &(struct tk_track){.kind = TK_TRACK_THREAD, .pid = pid, .tid = tid}) != 0;
}

tk_id trace_track(struct tk_trace *t, enum tk_track_kind kind, struct tk_ident pid, struct tk_ident tid, tk_id name) {
  struct tk_track want = {.kind = (uint8_t)kind, .pid = pid, .tid = tid, .name = name};
  want.parent = trace_process(t, pid);
  return trace_find_or_add(t, &want);
}

/* Defines the function that adds an element to an array. It returns the next element, set to zero, or the dummy if memory runs
 * out. */
#define ADDER(function, type, array, count, capacity)                                                                         \
  struct type *function(struct tk_trace *t) {                                                                                 \
    struct tk_store *s = t->store;                                                                                            \
    if (t->count + 1 >= s->capacity &&                                                                                        \
        !mem_grow(&s->mem, (void **)&t->array, &s->capacity, (uint64_t)t->count + 2, sizeof *t->array))                       \
      return &t->array[0];                                                                                                    \
    t->array[++t->count] = (struct type){0};                                                                                  \
    return &t->array[t->count];                                                                                               \
  }
ADDER(trace_add_class, tk_class, classes, n_classes, cap_classes)
ADDER(trace_add_track, tk_track, tracks, n_tracks, cap_tracks)
ADDER(trace_add_event, tk_event, events, n_events, cap_events)
static ADDER(add_flow_point, tk_flow_point, flow_points, n_flow_points, cap_flow_points)
ADDER(trace_add_record, tk_record, records, n_records, cap_records)
ADDER(trace_add_meta, tk_meta, metas, n_metas, cap_metas)
static ADDER(add_note, tk_note, notes, n_notes, cap_notes)

struct tk_flow_point *trace_add_flow_point(struct tk_trace *t) {
  if (!(t->store->without & TK_WITHOUT_FLOWS)) return add_flow_point(t);
  t->store->left_points = true;
  return &t->flow_points[0];
}

enum { MAX_NOTES = 256 };

/* Looks for an equal note among the last notes only: notes of one source are consecutive, so the cost does not grow with the number of
 * sources. */
void trace_note_of(struct tk_trace *t, const char *source, const struct tk_note *like, const char *text) {
  const tk_id of = source && *source ? trace_text(t, source) : 0;
  tk_id n = 0, id;
  for (tk_id i = t->n_notes; i > 0 && (!of || t->notes[i].source == of); i--) n++;
  id = trace_text(t, n < MAX_NOTES ? text : "other repairs (not listed)");
  for (tk_id i = t->n_notes - n + 1; i <= t->n_notes; i++) {
    struct tk_note *note = &t->notes[i];
    if (note->text != id || note->kind != like->kind || note->source != of) continue;
    note->count += like->count;
    if (like->offset < note->offset) note->offset = like->offset;
    return;
  }
  *add_note(t) = (struct tk_note){like->kind, id, like->count, like->offset, of};
}

void trace_notes(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text, uint64_t count) {
  trace_note_of(t, NULL, &(struct tk_note){.kind = kind, .count = count, .offset = offset}, text);
}

void trace_note(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text) {
  trace_notes(t, kind, offset, text, 1);
}

void trace_copy_notes(struct tk_trace *to, const struct tk_trace *from, const char *source) {
  for (tk_id i = 1; from && i <= from->n_notes; i++) {
    const struct tk_note *n = &from->notes[i];
    trace_note_of(to, n->source ? tk_string(from, n->source, NULL) : source, n, tk_string(from, n->text, NULL));
  }
}

const struct tk_meta *trace_meta(const struct tk_trace *t, const char *key) {
  for (tk_id i = t->n_metas; i > 0; i--)
    if (strcmp(tk_string(t, t->metas[i].key, NULL), key) == 0) return &t->metas[i];
  return NULL;
}

void trace_extent(const struct tk_trace *t, tk_time *start, tk_time *end) {
  *start = INT64_MAX;
  *end = INT64_MIN;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (e->ts < *start) *start = e->ts;
    if (e->ts + e->dur > *end) *end = e->ts + e->dur;
  }
  if (*start > *end) *start = *end = 0;
}

tk_id trace_first_from(const struct tk_trace *t, const struct tk_track *k, tk_time at) {
  tk_id lo = k->first, hi = k->first + k->count;
  while (lo < hi) {
    const tk_id mid = lo + (hi - lo) / 2;
    if (t->events[mid].ts < at) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

const char *tk_clock_source(const struct tk_trace *t) { return t && t->clock != TK_CLOCK_UNKNOWN ? t->store->clock_from : NULL; }

/* copy.c - copies a whole trace (tk_copy), so that an operation can return a new trace and leave the old one as it is.
 *
 * Ids stay the same, so arrays are copied as bytes. Only pointers change: to the bytes of strings, to shapes of args and to the
 * texts that describe the source. */
#include "copy.h"

#include <string.h>

#include "stack.h"

bool copy_array(struct mem *mem, void **to, uint32_t *cap, const void *from, uint32_t n, size_t elem) {
  if (!mem_grow(mem, to, cap, (uint64_t)n + 1, elem)) return false;
  memcpy(*to, from, ((size_t)n + 1) * elem);
  return true;
}

bool copy_slots(struct mem *mem, void **to, uint32_t *to_mask, const void *from, uint32_t mask, size_t elem) {
  const size_t size = ((size_t)mask + 1) * elem;
  if (!from) {
    mem_free(mem, *to);
    *to = NULL;
    *to_mask = mask;
    return true;
  }
  if (*to_mask != mask || !*to) {
    void *slots = mem_resize(mem, *to, size);
    if (!slots) return false;
    *to = slots;
    *to_mask = mask;
  }
  memcpy(*to, from, size);
  return true;
}

bool copy_map(struct map *to, const struct map *from) {
  to->n = from->n;
  return copy_slots(to->mem, (void **)&to->slots, &to->mask, from->slots, from->mask, sizeof *from->slots);
}

/* Moves all strings into one block of the copy. */
static bool copy_bytes(struct intern *to) {
  size_t size = 0;
  for (uint32_t id = 1; id <= to->n; id++) size += (size_t)to->strs[id].len + 1;
  uint8_t *p = arena_bytes(&to->arena, size);
  for (uint32_t id = 1; p && id <= to->n; id++) {
    struct intern_str *s = &to->strs[id];
    s->bytes = memcpy(p, s->bytes, (size_t)s->len + 1);
    p += s->len + 1;
  }
  return p != NULL;
}

static bool copy_strings(struct intern *to, const struct intern *from) {
  arena_free(&to->arena);
  to->n = 0;
  if (!copy_array(to->mem, (void **)&to->strs, &to->cap, from->strs, from->n, sizeof *from->strs)) return false;
  if (!copy_slots(to->mem, (void **)&to->slots, &to->mask, from->slots, from->mask, sizeof *from->slots)) return false;
  to->n = from->n;
  return copy_bytes(to);
}

static struct tk_arg_shape *copy_shape(struct arena *a, const struct tk_arg_shape *from) {
  struct tk_arg_shape *to = arena_alloc(a, sizeof *to);
  struct shape_field *fields = to ? arena_alloc(a, from->n * sizeof *fields) : NULL;
  if (!fields) return NULL;
  memcpy(fields, from->fields, from->n * sizeof *fields);
  *to = (struct tk_arg_shape){from->id, from->n, fields};
  return to;
}

static bool copy_shapes(struct tk_store *to, const struct tk_store *from) {
  if (!from->n_shapes) return true;
  if (!mem_grow(&to->mem, (void **)&to->shapes, &to->cap_shapes, (uint64_t)from->n_shapes + 1, sizeof *to->shapes)) return false;
  to->shapes[0] = NULL;
  for (uint32_t i = 1; i <= from->n_shapes; i++)
    if (!(to->shapes[i] = copy_shape(&to->strings.arena, from->shapes[i]))) return false;
  to->n_shapes = from->n_shapes;
  return true;
}

static bool copy_buf(struct buf *to, const struct buf *from) {
  to->len = 0;
  return buf_append(to, from->data, from->len);
}

static bool copy_ties(struct tk_store *to, const struct tk_store *from) {
  struct mem *m = &to->mem;
  if (from->n_ties && !mem_grow(m, (void **)&to->ties, &to->cap_ties, from->n_ties, sizeof *to->ties)) return false;
  if (from->n_tied && !mem_grow(m, (void **)&to->tied, &to->cap_tied, from->n_tied, sizeof *to->tied)) return false;
  if (from->n_ties) memcpy(to->ties, from->ties, from->n_ties * sizeof *to->ties);
  if (from->n_tied) memcpy(to->tied, from->tied, from->n_tied * sizeof *to->tied);
  to->n_ties = from->n_ties;
  to->n_tied = from->n_tied;
  return true;
}

static bool copy_warp(struct tk_store *to, const struct tk_store *from) {
  if (!from->warp) return true;
  to->warp = mem_alloc(&to->mem, sizeof *to->warp);
  if (to->warp) *to->warp = *from->warp;
  return to->warp != NULL;
}

static bool copy_cuts(struct tk_store *to, const struct tk_store *from) {
  if (!from->n_cuts) return true;
  to->n_cuts = from->n_cuts;
  return copy_array(&to->mem, (void **)&to->cuts, &to->cap_cuts, from->cuts, from->n_cuts, sizeof *to->cuts);
}

/* Copies a string, or NULL. */
static const char *copy_text(struct tk_store *s, const char *text) {
  if (!text) return NULL;
  const char *copy = arena_text(&s->strings.arena, text, strlen(text));
  return copy ? copy : "";
}

static void copy_files(struct tk_trace *to, const struct tk_trace *from) {
  size_t n = 0;
  if (!from->files) return;
  while (from->files[n]) n++;
  const char **files = arena_alloc(&to->store->strings.arena, (n + 1) * sizeof *files);
  if (!files) return;
  for (size_t i = 0; i < n; i++) files[i] = copy_text(to->store, from->files[i]);
  files[n] = NULL;
  to->files = files;
}

/* Copies the texts that describe the source of the trace. */
static void copy_origin(struct tk_trace *to, const struct tk_trace *from) {
  struct tk_store *s = to->store;
  const struct tk_store *f = from->store;
  to->source = copy_text(s, from->source);
  to->host = copy_text(s, from->host);
  to->run = copy_text(s, from->run);
  to->format = from->format;
  copy_files(to, from);
  s->step_name = copy_text(s, f->step_name);
  s->rank = f->rank;
  s->clock_from = copy_text(s, f->clock_from);
  s->rank_from = copy_text(s, f->rank_from);
  s->rank_note = copy_text(s, f->rank_note);
}

static bool copy_store(struct tk_store *to, const struct tk_store *from) {
  to->has_bytes = from->has_bytes;
  to->broken = from->broken;
  to->without = from->without;
  to->left_points = from->left_points;
  to->duplicates = from->duplicates;
  return copy_strings(&to->strings, &from->strings) && copy_shapes(to, from) && copy_map(&to->shape_index, &from->shape_index) &&
         copy_map(&to->class_index, &from->class_index) && copy_map(&to->track_index, &from->track_index) &&
         copy_map(&to->owners, &from->owners) && copy_map(&to->owner_ranks, &from->owner_ranks) &&
         copy_buf(&to->pool, &from->pool) && copy_buf(&to->raw, &from->raw) && copy_ties(to, from) &&
         copy_cuts(to, from) && copy_warp(to, from);
}

static bool copy_sites(struct tk_store *to, const struct tk_store *from) {
  to->n_sites = from->n_sites;
  to->n_mappings = from->n_mappings;
  return (!from->n_sites || copy_array(&to->mem, (void **)&to->sites, &to->cap_sites, from->sites, from->n_sites - 1,
                                       sizeof *to->sites)) &&
         (!from->n_mappings || copy_array(&to->mem, (void **)&to->mappings, &to->cap_mappings, from->mappings, from->n_mappings - 1,
                                          sizeof *to->mappings));
}

/* Copies the tables for stack samples. A trace without samples has no such tables, not even their dummies. */
static bool copy_stacks(struct tk_trace *to, const struct tk_trace *from) {
  struct tk_store *s = to->store;
  struct mem *m = &s->mem;
  if (!from->frames || !from->stacks) return true;
  to->n_frames = from->n_frames;
  to->n_stacks = from->n_stacks;
  s->n_sample_classes = from->store->n_sample_classes;
  return copy_array(m, (void **)&to->frames, &s->cap_frames, from->frames, from->n_frames, sizeof *to->frames) &&
         copy_array(m, (void **)&to->stacks, &s->cap_stacks, from->stacks, from->n_stacks, sizeof *to->stacks) &&
         copy_map(&s->frame_index, &from->store->frame_index) && copy_map(&s->stack_index, &from->store->stack_index) &&
         copy_map(&s->sample_index, &from->store->sample_index) && copy_sites(s, from->store);
}

#define COPY(array)                                                                                                              \
  (to->n_##array = from->n_##array,                                                                                              \
   copy_array(m, (void **)&to->array, &to->store->cap_##array, from->array, from->n_##array, sizeof *to->array))
static bool copy_arrays(struct tk_trace *to, const struct tk_trace *from) {
  struct mem *m = &to->store->mem;
  return COPY(events) && COPY(classes) && COPY(tracks) && COPY(flow_points) && COPY(records) && COPY(metas) && COPY(notes) &&
         copy_stacks(to, from);
}

static void copy_state(struct tk_trace *to, const struct tk_trace *from) {
  to->origin_ns = from->origin_ns;
  to->zero_ns = from->zero_ns;
  to->clock = from->clock;
  to->sealed = from->sealed;
  to->has_zero = from->has_zero;
  to->edits = from->edits;
  to->truncated = from->truncated;
  to->damaged = from->damaged;
  to->capped = from->capped;
  to->cut = from->cut;
  to->counts = from->counts;
}

struct tk_trace *tk_copy(const struct tk_trace *from, struct tk_err *err) {
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(from, err)) return NULL;
  struct tk_trace *to = trace_new(from->store->mem.limit);
  if (!to) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  to->store->mem.whole = from->store->mem.whole;
  to->store->mem.process = from->store->mem.process;
  bool ok = copy_store(to->store, from->store) && copy_arrays(to, from);
  if (ok) copy_state(to, from);
  if (ok) copy_origin(to, from);
  ok = ok && !to->store->mem.failed;
  if (!ok) mem_refuse(&to->store->mem, err);
  if (ok) return to;
  tk_free(to);
  return NULL;
}

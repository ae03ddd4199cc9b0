/* filed_stacks.c - see filed_stacks.h.
 *
 * trace_processor adds a row for a frame, mapping or call site when a sample first refers to it. Frames with the same name are
 * distinct if their mappings or addresses differ. A mapping with a range of addresses belongs to one process; mappings without
 * a range are merged if their fields are equal. So interned data is kept here, as ids that refer to each other, until a sample
 * needs it. */
#include "filed_stacks.h"

#include "graph/stack.h"
#include "sequence.h"

void filed_stacks_init(struct perfetto *r) {
  struct filed_stacks *s = &r->filed_stacks;
  struct mem *mem = &r->t->store->mem;
  s->ids = (struct buf){.mem = mem};
  map_init(&s->processes, mem);
  map_init(&s->stacks, mem);
  map_init(&s->of_process, mem);
  map_init(&s->frame_rows, mem);
  intern_init(&s->shared, mem);
}

void filed_stacks_free(struct perfetto *r) {
  struct filed_stacks *s = &r->filed_stacks;
  struct mem *mem = &r->t->store->mem;
  buf_free(&s->ids);
  map_free(&s->processes);
  map_free(&s->stacks);
  map_free(&s->of_process);
  map_free(&s->frame_rows);
  intern_free(&s->shared);
  mem_free(mem, s->mappings);
  mem_free(mem, s->frames);
  mem_free(mem, s->mapping_of);
}

/* ---- interned data ---- */

/* Appends an id to the list that is being read. */
static void add_id(struct filed_stacks *s, uint64_t id) { buf_append(&s->ids, &id, sizeof id); }

/* Returns the index that the next id in the list will get. */
static uint32_t next_id(const struct filed_stacks *s) { return (uint32_t)(s->ids.len / sizeof(uint64_t)); }

static uint64_t id_at(const struct filed_stacks *s, uint32_t i) { return ((const uint64_t *)(const void *)s->ids.data)[i]; }

/* Defines a build id as hexadecimal digits. A value of 33 bytes already consists of digits: Chrome once wrote them as text. */
static void filed_build_id(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  enum { OF_CHROME = 33 };
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) != PB_KEY(INTERNED_TEXT, PB_BYTES)) continue;
    r->copy.len = 0;
    if (g.value == OF_CHROME) buf_append(&r->copy, g.p, OF_CHROME);
    for (uint64_t i = 0; g.value != OF_CHROME && i < g.value; i++) {
      const char digits[] = {"0123456789abcdef"[g.p[i] >> 4], "0123456789abcdef"[g.p[i] & 15]};
      buf_append(&r->copy, digits, sizeof digits);
    }
    sequence_define(r, q, IID_BUILD_ID, iid, r->copy.len ? trace_string(r->t, r->copy.data, r->copy.len) : KEY_EMPTY);
  }
}

static void filed_mapping(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  struct filed_mapping m = {.path = next_id(s)};
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(MAPPING_BUILD_ID, PB_VARINT): m.build_id = g.value; break;
    case PB_KEY(MAPPING_START_OFFSET, PB_VARINT): m.m.start_offset = g.value; break;
    case PB_KEY(MAPPING_START, PB_VARINT): m.m.start = g.value; break;
    case PB_KEY(MAPPING_END, PB_VARINT): m.m.end = g.value; break;
    case PB_KEY(MAPPING_LOAD_BIAS, PB_VARINT): m.m.load_bias = g.value; break;
    case PB_KEY(MAPPING_EXACT_OFFSET, PB_VARINT): m.m.exact_offset = g.value; break;
    case PB_KEY(MAPPING_PATH_IIDS, PB_VARINT): add_id(s, g.value); break;
    default: break;
    }
  }
  m.path_end = next_id(s);
  if (!mem_grow(&r->t->store->mem, (void **)&s->mappings, &s->cap_mappings, (uint64_t)s->n_mappings + 1, sizeof *s->mappings)) return;
  s->mappings[s->n_mappings++] = m;
  sequence_define(r, q, IID_MAPPING, iid, s->n_mappings);
}

static void filed_frame(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  struct filed_frame frame = {.name = 0};
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(FRAME_FUNCTION_IID, PB_VARINT): frame.name = g.value; break;
    case PB_KEY(FRAME_MAPPING_IID, PB_VARINT): frame.mapping = g.value; break;
    case PB_KEY(FRAME_ADDRESS, PB_VARINT): frame.address = g.value; break;
    case PB_KEY(FRAME_SOURCE_PATH_IID, PB_VARINT): frame.file = g.value; break;
    case PB_KEY(FRAME_LINE, PB_VARINT): frame.line = (uint32_t)g.value; break;
    default: break;
    }
  }
  if (!mem_grow(&r->t->store->mem, (void **)&s->frames, &s->cap_frames, (uint64_t)s->n_frames + 1, sizeof *s->frames)) return;
  s->frames[s->n_frames++] = frame;
  sequence_define(r, q, IID_FRAME, iid, s->n_frames);
}

/* Stores a callstack: the number of its frames, then the iids of the frames. */
static void filed_callstack(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  struct pb c = pb_inside(f);
  struct pb_field g;
  const uint32_t at = next_id(s);
  add_id(s, 0);
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(CALLSTACK_FRAME_IDS, PB_VARINT)) add_id(s, g.value);
  if (r->t->store->mem.failed) return;
  ((uint64_t *)(void *)s->ids.data)[at] = next_id(s) - at - 1;
  sequence_define(r, q, IID_STACK, iid, at + 1);
}

void filed_stacks_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f), d;
  struct pb_field g, h;
  while (pb_next(&c, &g)) {
    uint64_t iid = 0;
    if (g.wire != PB_BYTES) continue;
    for (d = pb_inside(&g); pb_next(&d, &h);)
      if (pb_field_key(&h) == PB_KEY(INTERNED_IID, PB_VARINT)) iid = h.value;
    switch (iid ? g.number : 0) {
    case INTERNED_BUILD_IDS: filed_build_id(r, q, &g, iid); break;
    case INTERNED_MAPPINGS: filed_mapping(r, q, &g, iid); break;
    case INTERNED_FRAMES: filed_frame(r, q, &g, iid); break;
    case INTERNED_CALLSTACKS: filed_callstack(r, q, &g, iid); break;
    default: break;
    }
  }
}

/* ---- stacks of samples ---- */

static uint32_t filed_process(struct filed_stacks *s, uint64_t process) {
  const uint32_t *n = map_put(&s->processes, process, s->processes.n);
  return n ? *n : 0;
}

/* Returns the path as trace_processor prints it: each part after a slash, and one slash at the start. */
static tk_id filed_path(struct perfetto *r, const struct sequence *q, const struct filed_mapping *m) {
  size_t n;
  r->copy.len = 0;
  for (uint32_t i = m->path; i < m->path_end; i++) {
    const tk_id part = sequence_find(q, IID_PATH, id_at(&r->filed_stacks, i));
    if (!part) break;
    const char *text = tk_string(r->t, part, &n);
    if (i > m->path || *text != '/') buf_append(&r->copy, "/", 1);
    buf_append(&r->copy, text, n);
  }
  return r->copy.len ? trace_string(r->t, r->copy.data, r->copy.len) : 0;
}

/* Returns the graph's mapping for an iid and a process; 0 if a part of the mapping was never interned. */
static uint32_t find_mapping(struct perfetto *r, struct sequence *q, uint32_t process, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  const tk_id at = sequence_find(q, IID_MAPPING, iid);
  if (!at) return 0;
  const struct filed_mapping *m = &s->mappings[at - 1];
  const bool is_own = m->m.start < m->m.end;
  uint32_t *slot = map_put(&s->of_process, (uint64_t)(is_own ? process + 1 : 0) << 32 | at, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  struct stack_mapping made = m->m;
  made.build_id = m->build_id ? sequence_find(q, IID_BUILD_ID, m->build_id) : 0;
  if (m->build_id && !made.build_id) return 0;
  if (made.build_id == KEY_EMPTY) made.build_id = 0;
  made.name = filed_path(r, q, m);
  if (is_own) return *slot = stack_add_mapping(r->t, &made);
  const uint32_t known = s->shared.n, number = intern(&s->shared, &made, sizeof made);
  if (!mem_grow(&r->t->store->mem, (void **)&s->mapping_of, &s->cap_mapping_of, (uint64_t)number + 1, sizeof *s->mapping_of)) return 0;
  if (number > known) s->mapping_of[number] = stack_add_mapping(r->t, &made);
  return *slot = s->mapping_of[number];
}

/* Returns the graph's frame for an iid and a process; 0 if a part of it was never interned. Frames with the same mapping, address and
 * name become one frame; the first of them determines the file and line. */
static tk_id find_frame(struct perfetto *r, struct sequence *q, uint32_t process, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  const tk_id at = sequence_find(q, IID_FRAME, iid);
  if (!at) return 0;
  const struct filed_frame *f = &s->frames[at - 1];
  struct tk_frame frame = {.name = f->name ? sequence_find(q, IID_FUNCTION, f->name) : 0, .line = f->line};
  const struct stack_site site = {f->address, find_mapping(r, q, process, f->mapping), f->file || f->line};
  if (!site.mapping || (f->name && !frame.name)) return 0;
  if (f->file) frame.file = sequence_find(q, IID_SOURCE, f->file);
  uint32_t *slot = map_put(&s->frame_rows, hash_pair((uint64_t)site.mapping << 32 | frame.name, site.address), 0);
  if (!slot) return 0;
  return *slot ? *slot : (*slot = stack_frame_at(r->t, &frame, &site));
}

tk_id filed_stacks_find(struct perfetto *r, struct sequence *q, uint64_t process, uint64_t iid) {
  struct filed_stacks *s = &r->filed_stacks;
  const tk_id at = sequence_find(q, IID_STACK, iid);
  const uint32_t number = filed_process(s, process);
  uint32_t *known = at ? map_put(&s->stacks, (uint64_t)number << 32 | at, 0) : NULL;
  if (!known || *known) return known ? *known : 0;
  const uint64_t n = id_at(s, at - 1);
  tk_id stack = 0;
  for (uint32_t i = 0; i < n; i++) {
    const tk_id frame = find_frame(r, q, number, id_at(s, at + i));
    if (!frame) return 0;
    stack = stack_push(r->t, stack, frame);
  }
  return *known = stack;
}

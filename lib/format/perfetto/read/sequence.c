/* sequence.c - state of a sequence of packets: interned text and defaults, until it is cleared.
 *
 * InternedData: ids are valid within a sequence and a field, and are defined in the packet that uses them or in an earlier one.
 * A second definition is ignored, as in trace_processor. Clearing frees the memory, so that repeated definitions do not add
 * up. */
#include <stdio.h>
#include <string.h>

#include "format/pb_out.h"
#include "format/perfetto/head.h"
#include "gpu_memory.h"
#include "sequence.h"
#include "reader.h"

struct sequence *perfetto_sequence(struct perfetto *r, uint32_t machine, uint64_t id) {
  struct mem *mem = &r->t->store->mem;
  uint64_t key = (uint64_t)machine << 32 | (uint32_t)id;
  uint32_t *slot;
  if (r->last_sequence && r->last_sequence_key == key) return &r->sequences[r->last_sequence];
  slot = map_put(&r->sequence_index, key, 0);
  if (!slot) return NULL;
  if (!*slot) {
    if (!mem_grow(mem, (void **)&r->sequences, &r->cap_sequences, (uint64_t)r->n_sequences + 2, sizeof *r->sequences)) return NULL;
    r->sequences[*slot = ++r->n_sequences] = (struct sequence){.key = key};
    if (machine) perfetto_machine_of(r, machine);
  }
  r->last_sequence_key = key;
  r->last_sequence = *slot;
  return &r->sequences[*slot];
}

/* Starts a new generation of interned data. Discards the current one if no event refers to it. */
static void clear_generation(struct perfetto *r, struct sequence *q) {
  struct generation *g = &r->generations[q->generation];
  if (!q->generation) return;
  if (g->number) q->generation = 0;
  else buf_free(&g->bytes);
}

void sequence_clear(struct perfetto *r, struct sequence *q) {
  struct mem *mem = &r->t->store->mem;
  clear_generation(r, q);
  for (int i = 0; i < IID_KINDS; i++) {
    struct iid_table *t = &q->tables[i];
    mem_free(mem, t->ids);
    if (t->sparse.mem) map_free(&t->sparse);
    *t = (struct iid_table){0};
  }
  buf_free(&q->kernels);
  q->has_track = false;
  if (q->point_classes.mem) map_free(&q->point_classes);
  q->point_classes = (struct map){0};
  q->default_clock = 0;
  q->extra.n = q->extra_double.n = 0;
  q->valid = true;
  q->n_clearings++;
}

static void add_uuid(struct uuid_list *l, uint64_t uuid) {
  if (l->n < EXTRA_COUNTERS) l->uuid[l->n++] = uuid;
}

static void event_defaults(struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(EVENT_DEFAULTS_TRACK_UUID, PB_VARINT)) q->has_track = true, q->default_track = g.value;
    else if (pb_field_key(&g) == PB_KEY(EVENT_DEFAULTS_EXTRA_UUIDS, PB_VARINT)) add_uuid(&q->extra, g.value);
    else if (pb_field_key(&g) == PB_KEY(EVENT_DEFAULTS_EXTRA_DOUBLE_UUIDS, PB_VARINT)) add_uuid(&q->extra_double, g.value);
  }
}

/* Replaces all defaults of the sequence with the new ones. */
void sequence_defaults(struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  q->has_track = false;
  q->default_clock = 0;
  q->extra.n = q->extra_double.n = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(DEFAULTS_TIMESTAMP_CLOCK_ID, PB_VARINT)) q->default_clock = (uint32_t)g.value;
    else if (pb_field_key(&g) == PB_KEY(DEFAULTS_TRACK_EVENT, PB_BYTES)) event_defaults(q, &g);
  }
}

/* ---- interned text ---- */

static tk_id find_iid(const struct iid_table *t, uint64_t iid) {
  uint32_t *slot;
  if (iid < t->cap) return t->ids[iid];
  slot = t->sparse.mem ? map_get(&t->sparse, iid) : NULL;
  return slot ? *slot : 0;
}

static void define_iid(struct perfetto *r, struct iid_table *t, uint64_t iid, tk_id text) {
  struct mem *mem = &r->t->store->mem;
  uint32_t old = t->cap, *slot;
  if (find_iid(t, iid)) return;
  if (iid >= t->cap && iid < (uint64_t)t->n * 4 + 256) {
    if (!mem_grow(mem, (void **)&t->ids, &t->cap, iid + 1, sizeof *t->ids)) return;
    memset(t->ids + old, 0, (size_t)(t->cap - old) * sizeof *t->ids);
    for (uint64_t i = old; t->sparse.mem && i < t->cap; i++)
      if ((slot = map_get(&t->sparse, i)) != NULL) t->ids[i] = *slot;
  }
  t->n++;
  if (iid < t->cap) {
    t->ids[iid] = text;
    return;
  }
  if (!t->sparse.mem) map_init(&t->sparse, mem);
  map_put(&t->sparse, iid, text);
}

/* Defines the text of an id. The id 0 is not stored: Perfetto's profilers define it as the empty text
 * (WriteFixedInterningsPacket in src/profiling/common), and no other text can have it. */
static void intern_entry(struct perfetto *r, struct iid_table *t, const struct pb_field *f, bool is_key) {
  struct pb c = pb_inside(f);
  struct pb_field g, text = {.p = (const uint8_t *)""};
  uint64_t iid = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(INTERNED_IID, PB_VARINT)) iid = g.value;
    else if (pb_field_key(&g) == PB_KEY(INTERNED_TEXT, PB_BYTES)) text = g;
  }
  if (c.fault) perfetto_damage(r, "damaged interned data, read as far as possible");
  else if (iid == 0 && text.value) perfetto_note(r, TK_NOTE_REPAIR, "interned data with the invalid id 0: skipped");
  if (iid == 0 || (c.fault && text.number == 0)) return;
  const tk_id id = perfetto_field_text(r, &text);
  define_iid(r, t, iid, is_key ? perfetto_key(r, id) : id);
}

/* Keeps a kernel for later stages (gpu_args.c). */
static void intern_kernel(struct perfetto *r, struct sequence *q, const struct pb_field *entry) {
  const uint64_t iid = head_number(entry, INTERNED_IID, 0);
  const size_t at = q->kernels.len;
  if (!iid || at >= UINT32_MAX || find_iid(&q->tables[IID_KERNEL], iid)) return;
  q->kernels.mem = &r->t->store->mem;
  pb_bytes(&q->kernels, 1, entry->p, (size_t)entry->value);
  define_iid(r, &q->tables[IID_KERNEL], iid, (tk_id)at + 1);
}

/* Keeps whether a stage is a copy or a fill. Producers intern queues in the same way, and these are neither. */
static void intern_stage(struct perfetto *r, struct sequence *q, const struct pb_field *entry) {
  const enum gpu_memory memory = gpu_memory_of(entry);
  const uint64_t iid = head_number(entry, INTERNED_IID, 0);
  if (iid && memory) define_iid(r, &q->tables[IID_STAGE], iid, (tk_id)memory);
}

/* Keeps the process of a graphics context. */
static void intern_context(struct perfetto *r, struct sequence *q, const struct pb_field *entry) {
  const uint64_t iid = head_number(entry, INTERNED_IID, 0), pid = head_number(entry, GPU_CONTEXT_PID, 0);
  if (iid && pid && pid <= INT32_MAX) define_iid(r, &q->tables[IID_CONTEXT], iid, (tk_id)pid + 1);
}

static void keep_interned(struct perfetto *r, struct sequence *q, const uint8_t *p, size_t n) {
  struct mem *mem = &r->t->store->mem;
  if (!q->generation) {
    if (!mem_grow(mem, (void **)&r->generations, &r->cap_generations, (uint64_t)r->n_generations + 2, sizeof *r->generations)) return;
    q->generation = ++r->n_generations;
    r->generations[q->generation] = (struct generation){.bytes = {.mem = mem}};
  }
  buf_append(&r->generations[q->generation].bytes, p, n);
}

uint32_t sequence_interned(struct perfetto *r, const struct sequence *q) {
  struct generation *g = &r->generations[q->generation];
  if (!q->generation || !g->bytes.len) return 0;
  if (!g->number) g->number = ++r->n_used_generations;
  return g->number;
}

void sequence_define(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid, tk_id value) {
  if (iid && value) define_iid(r, &q->tables[kind], iid, value);
}

/* True for an entry that our writer wrote for a GpuRenderStageEvent. No other event refers to it. */
static bool is_own(const struct pb_field *entry) {
  struct pb c = pb_inside(entry);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number == GPU_STAGE_TRACEKIT) return true;
  return false;
}

/* Fields of InternedData that are texts. `is_key`: keys of args. `stays`: packets that are not modelled may refer to it. */
static const struct interned_text {
  uint32_t field;
  enum iid_kind kind;
  bool is_key, stays;
} TEXTS[] = {
  {INTERNED_CATEGORIES, IID_CATEGORY, false, false},
  {INTERNED_NAMES, IID_NAME, false, false},
  {INTERNED_ANNOTATION_NAMES, IID_KEY, true, false},
  {INTERNED_FUNCTIONS, IID_FUNCTION, false, true},
  {INTERNED_MAPPING_PATHS, IID_PATH, false, true},
  {INTERNED_SOURCE_PATHS, IID_SOURCE, false, true},
  {INTERNED_GPU_SPECIFICATIONS, IID_GPU, false, true},
  {INTERNED_ANNOTATION_STRINGS, IID_VALUE, false, false},
  {INTERNED_CORRELATION_IDS, IID_CORRELATION, false, false},
  {INTERNED_COMPUTE_ARGS, IID_COMPUTE_ARG, true, true},
};

static const struct interned_text *interned_text_of(const struct pb_field *entry) {
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
    if (pb_field_key(entry) == PB_KEY(TEXTS[i].field, PB_BYTES)) return &TEXTS[i];
  return NULL;
}

/* True if packets that are not modelled may refer to the entry. */
static bool entry_stays(const struct interned_text *text, const struct pb_field *entry) {
  const bool is_of_stage = entry->number == INTERNED_GPU_SPECIFICATIONS || entry->number == INTERNED_GRAPHICS_CONTEXTS;
  return (!text || text->stays) && !(is_of_stage && entry->wire == PB_BYTES && is_own(entry));
}

/* Returns INTERNED_HAS_* for a field that samples_intern or gpu_counters_intern must read; otherwise 0. */
static unsigned later_of(const struct perfetto *r, uint32_t number) {
  switch (number) {
  case INTERNED_GPU_COUNTERS: return INTERNED_HAS_COUNTERS;
  case INTERNED_MAPPINGS:
  case INTERNED_FRAMES:
  case INTERNED_CALLSTACKS: return INTERNED_HAS_STACKS;
  case INTERNED_BUILD_IDS: return r->filed ? INTERNED_HAS_STACKS : 0;
  default: return 0;
  }
}

unsigned sequence_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  unsigned later = 0;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    const struct interned_text *text = interned_text_of(&g);
    if (text) intern_entry(r, &q->tables[text->kind], &g, text->is_key);
    if (pb_field_key(&g) == PB_KEY(INTERNED_KERNELS, PB_BYTES)) intern_kernel(r, q, &g);
    if (pb_field_key(&g) == PB_KEY(INTERNED_GPU_SPECIFICATIONS, PB_BYTES)) intern_stage(r, q, &g);
    if (pb_field_key(&g) == PB_KEY(INTERNED_GRAPHICS_CONTEXTS, PB_BYTES) && !is_own(&g)) intern_context(r, q, &g);
    if (entry_stays(text, &g)) keep_interned(r, q, from, (size_t)(c.p - from));
    later |= later_of(r, g.number);
  }
  if (c.fault) perfetto_damage(r, "damaged interned data, read as far as possible");
  return later;
}

tk_id sequence_find(const struct sequence *q, enum iid_kind kind, uint64_t iid) { return find_iid(&q->tables[kind], iid); }

tk_id sequence_text(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid) {
  char text[40];
  tk_id id = find_iid(&q->tables[kind], iid);
  if (id) return id;
  perfetto_note(r, TK_NOTE_REPAIR, "ids of texts that were never interned, so the texts are unknown: the ids are shown instead");
  return trace_string(r->t, text, (size_t)snprintf(text, sizeof text, "[iid %llu]", (unsigned long long)iid));
}

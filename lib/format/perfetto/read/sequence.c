/* sequence.c - state of a sequence of packets: interned text and defaults, until it is cleared.
 *
 * InternedData: ids are valid within a sequence and a field, and are defined in the packet that uses them or in an earlier one.
 * A second definition is ignored, as in trace_processor. Clearing frees the memory, so that repeated definitions do not add
 * up. */
#include <stdio.h>
#include <string.h>

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

/* Discards interned data to which no event refers. */
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

/* Replaces all defaults of the sequence by the new ones. */
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

static void intern_entry(struct perfetto *r, struct iid_table *t, const struct pb_field *f, bool is_key) {
  struct pb c = pb_inside(f);
  struct pb_field g, text = {.p = (const uint8_t *)""};
  uint64_t iid = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) == PB_KEY(INTERNED_IID, PB_VARINT)) iid = g.value;
    else if (pb_field_key(&g) == PB_KEY(INTERNED_TEXT, PB_BYTES)) text = g;
  }
  if (c.fault) perfetto_damage(r, "damaged interned data, read as far as possible");
  else if (iid == 0) perfetto_note(r, TK_NOTE_REPAIR, "interned data with the invalid id 0: skipped");
  if (iid == 0 || (c.fault && text.number == 0)) return;
  const tk_id id = perfetto_field_text(r, &text);
  define_iid(r, t, iid, is_key ? perfetto_key(r, id) : id);
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

unsigned sequence_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  bool has_counters = false, has_stacks = false;
  for (const uint8_t *from = c.p; pb_next(&c, &g); from = c.p) {
    switch (pb_field_key(&g)) {
    case PB_KEY(INTERNED_CATEGORIES, PB_BYTES): intern_entry(r, &q->tables[IID_CATEGORY], &g, false); break;
    case PB_KEY(INTERNED_NAMES, PB_BYTES): intern_entry(r, &q->tables[IID_NAME], &g, false); break;
    case PB_KEY(INTERNED_ANNOTATION_NAMES, PB_BYTES): intern_entry(r, &q->tables[IID_KEY], &g, true); break;
    case PB_KEY(INTERNED_ANNOTATION_STRINGS, PB_BYTES): intern_entry(r, &q->tables[IID_VALUE], &g, false); break;
    case PB_KEY(INTERNED_CORRELATION_IDS, PB_BYTES): intern_entry(r, &q->tables[IID_CORRELATION], &g, false); break;
    case PB_KEY(INTERNED_GPU_SPECIFICATIONS, PB_BYTES):
      intern_entry(r, &q->tables[IID_GPU], &g, false);
      if (!is_own(&g)) keep_interned(r, q, from, (size_t)(c.p - from));
      break;
    case PB_KEY(INTERNED_FUNCTIONS, PB_BYTES):
      intern_entry(r, &q->tables[IID_FUNCTION], &g, false);
      keep_interned(r, q, from, (size_t)(c.p - from));
      break;
    case PB_KEY(INTERNED_MAPPING_PATHS, PB_BYTES):
      intern_entry(r, &q->tables[IID_PATH], &g, false);
      keep_interned(r, q, from, (size_t)(c.p - from));
      break;
    case PB_KEY(INTERNED_SOURCE_PATHS, PB_BYTES):
      intern_entry(r, &q->tables[IID_SOURCE], &g, false);
      keep_interned(r, q, from, (size_t)(c.p - from));
      break;
    case PB_KEY(INTERNED_GRAPHICS_CONTEXTS, PB_BYTES):
      if (!is_own(&g)) keep_interned(r, q, from, (size_t)(c.p - from));
      break;
    default:
      has_stacks = has_stacks || g.number == INTERNED_MAPPINGS || g.number == INTERNED_FRAMES || g.number == INTERNED_CALLSTACKS ||
                   (r->filed && g.number == INTERNED_BUILD_IDS);
      has_counters = has_counters || g.number == INTERNED_GPU_COUNTERS;
      keep_interned(r, q, from, (size_t)(c.p - from));
    }
  }
  if (c.fault) perfetto_damage(r, "damaged interned data, read as far as possible");
  return (has_counters ? INTERNED_HAS_COUNTERS : 0) | (has_stacks ? INTERNED_HAS_STACKS : 0);
}

tk_id sequence_find(const struct sequence *q, enum iid_kind kind, uint64_t iid) { return find_iid(&q->tables[kind], iid); }

tk_id sequence_text(struct perfetto *r, struct sequence *q, enum iid_kind kind, uint64_t iid) {
  char text[40];
  tk_id id = find_iid(&q->tables[kind], iid);
  if (id) return id;
  perfetto_note(r, TK_NOTE_REPAIR, "ids of texts that were never interned, so the texts are unknown: the ids are shown instead");
  return trace_string(r->t, text, (size_t)snprintf(text, sizeof text, "[iid %llu]", (unsigned long long)iid));
}

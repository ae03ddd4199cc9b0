/* adopt.c - restores properties of Perfetto tracks from the block that another format embedded (write/carried.c).
 *
 * Other software may have changed the file in between. Tracks of the block that were removed from the file are ignored. If any track
 * with a uuid was removed or renamed, no track keeps its uuid: all tracks get new descriptors with their original properties. */
#include "adopt.h"

#include <string.h>

#include "base/utf8.h"
#include "format/carry.h"
#include "format/pb_out.h"
#include "format/perfetto/carried.h"
#include "format/perfetto/fields.h"
#include "format/perfetto/passthrough.h"

struct adopter {
  struct tk_trace *t;
  struct map places;   /* hash of the identity of a track -> track; collisions continue at hash + 1 */
  struct buf entries;  /* new contents of the meta perfetto.tracks */
  struct buf metas;    /* metas to add: fields of GRAPH_META */
  bool is_whole;       /* all tracks with uuids were found unchanged */
};

/* A track as the block describes it. */
struct described {
  struct tk_track track;
  struct pb_field entry; /* p is NULL if there is no entry */
  int64_t code;
  bool is_empty;
};

/* ---- finding tracks ---- */

static uint64_t ident_hash(struct tk_ident i) {
  const bool is_number = i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED;
  return is_number ? hash_pair((uint64_t)i.num, TK_IDENT_INT) : hash_pair(i.str, i.kind);
}

static uint64_t identity_hash(const struct tk_track *k) {
  const uint64_t own = k->kind == TK_TRACK_COUNTERS ? k->name : k->kind == TK_TRACK_PROCESS ? 0 : ident_hash(k->tid);
  return hash_pair(hash_pair(ident_hash(k->pid), own), k->kind);
}

static bool is_same(const struct tk_track *a, const struct tk_track *b) {
  if (a->kind != b->kind || !trace_ident_equal(a->pid, b->pid)) return false;
  if (a->kind == TK_TRACK_COUNTERS) return a->name == b->name;
  return a->kind == TK_TRACK_PROCESS || trace_ident_equal(a->tid, b->tid);
}

/* Returns the slot of the track in the map, which contains 0 if there is no such track; NULL when memory runs out. */
static uint32_t *slot_of(struct adopter *a, const struct tk_track *k) {
  for (uint64_t at = identity_hash(k);; at++) {
    uint32_t *slot = map_put(&a->places, at, 0);
    if (!slot || !*slot || is_same(&a->t->tracks[*slot], k)) return slot;
  }
}

static void know_tracks(struct adopter *a) {
  for (tk_id i = 1; i <= a->t->n_tracks; i++) {
    uint32_t *slot = slot_of(a, &a->t->tracks[i]);
    if (slot && !*slot) *slot = i;
  }
}

/* Adds a track without events, which the other format omitted. */
static tk_id add_track(struct adopter *a, const struct tk_track *like) {
  const struct tk_track process = {.kind = TK_TRACK_PROCESS, .pid = like->pid};
  const uint32_t *parent = like->kind == TK_TRACK_PROCESS ? NULL : slot_of(a, &process);
  if (like->kind != TK_TRACK_PROCESS && !(parent && *parent)) return 0;
  const tk_id up = parent ? *parent : 0;
  struct tk_track *k = trace_add_track(a->t);
  if (k == &a->t->tracks[0]) return 0;
  *k = *like;
  k->parent = up;
  k->first = a->t->n_events + 1;
  uint32_t *slot = slot_of(a, k);
  if (slot) *slot = a->t->n_tracks;
  return a->t->n_tracks;
}

/* ---- reading a track ---- */

static tk_id adopt_text(struct adopter *a, const struct pb_field *f) {
  const bool is_valid = a->t->store->has_bytes || utf8_valid(f->p, (size_t)f->value);
  return is_valid && f->value ? trace_string(a->t, f->p, (size_t)f->value) : 0;
}

static struct tk_ident read_ident(struct adopter *a, const struct pb_field *f) {
  struct tk_ident i = {.kind = TK_IDENT_NONE};
  struct pb_field g;
  for (struct pb in = pb_inside(f); pb_next(&in, &g);) {
    if (pb_field_key(&g) == PB_KEY(IDENT_KIND, PB_VARINT)) i.kind = (uint8_t)g.value;
    if (pb_field_key(&g) == PB_KEY(IDENT_NUM, PB_VARINT)) i.num = (int64_t)g.value;
    if (pb_field_key(&g) == PB_KEY(IDENT_TEXT, PB_BYTES)) i.str = adopt_text(a, &g);
  }
  if (i.kind == TK_IDENT_STR) return ident_str(i.str);
  return i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED ? (struct tk_ident){i.num, 0, i.kind} : ident_none();
}

static bool is_message(const struct pb_field *f) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  while (pb_next(&in, &g)) {}
  return f->wire == PB_BYTES && !in.fault;
}

/* True if the fields of the entry, which are copied to a descriptor, are not damaged. */
static bool is_sound_entry(const struct described *d) {
  struct pb in = d->entry.p ? pb_inside(&d->entry) : pb_over("", 0);
  struct pb_field f;
  while (pb_next(&in, &f))
    if ((f.number == PASSTHROUGH_FIELDS || f.number == PASSTHROUGH_INNER_FIELDS) && !is_message(&f)) return false;
  return !in.fault;
}

static bool read_track(struct adopter *a, const struct pb_field *f, struct described *d) {
  struct pb in = pb_inside(f);
  struct pb_field g;
  *d = (struct described){.track = {.renamed = true}};
  while (pb_next(&in, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(CARRIED_KIND, PB_VARINT): d->track.kind = g.value <= TK_TRACK_ASYNCS ? (uint8_t)g.value : TK_TRACK_ROOT; break;
    case PB_KEY(CARRIED_PID, PB_BYTES): d->track.pid = read_ident(a, &g); break;
    case PB_KEY(CARRIED_TID, PB_BYTES): d->track.tid = read_ident(a, &g); break;
    case PB_KEY(CARRIED_NAME, PB_BYTES): d->track.name = adopt_text(a, &g); break;
    case PB_KEY(CARRIED_CODE, PB_VARINT): d->code = (int64_t)g.value; break;
    case PB_KEY(CARRIED_ENTRY, PB_BYTES): d->entry = g; break;
    case PB_KEY(CARRIED_EMPTY, PB_VARINT): d->is_empty = g.value != 0; break;
    case PB_KEY(CARRIED_SORT, PB_VARINT):
      d->track.has_sort = true;
      d->track.sort_index = (int64_t)g.value;
      break;
    default: break;
    }
  }
  const bool is_nameless = d->track.kind == TK_TRACK_COUNTERS && !d->track.name;
  return !in.fault && d->track.kind != TK_TRACK_ROOT && !is_nameless && is_sound_entry(d);
}

/* ---- restoring it ---- */

static bool has_uuid(const struct described *d) {
  struct pb_field f;
  for (struct pb in = d->entry.p ? pb_inside(&d->entry) : pb_over("", 0); pb_next(&in, &f);)
    if (f.number == PASSTHROUGH_UUID) return true;
  return false;
}

static void restore(struct adopter *a, tk_id id, const struct described *d) {
  struct tk_track *k = &a->t->tracks[id];
  if (d->code && k->tid.kind == TK_IDENT_STR) k->tid.num = d->code;
  if (k->kind == TK_TRACK_COUNTERS) k->tid = d->track.tid;
  if (k->kind == TK_TRACK_COUNTERS || !k->has_sort) k->has_sort = d->track.has_sort, k->sort_index = d->track.sort_index;
  k->renamed = true; /* the records of the other format only repeat the names */
}

static void adopt_track(struct adopter *a, const struct pb_field *f) {
  struct described d;
  if (!read_track(a, f, &d)) return;
  uint32_t *slot = slot_of(a, &d.track);
  const tk_id id = slot && *slot ? *slot : d.is_empty ? add_track(a, &d.track) : 0;
  const bool is_same_name = id && a->t->tracks[id].name == d.track.name;
  a->is_whole = a->is_whole && (is_same_name || !has_uuid(&d));
  if (!is_same_name) return;
  restore(a, id, &d);
  if (!d.entry.p) return;
  struct buf entry = {.mem = &a->t->store->mem};
  pb_u64(&entry, PASSTHROUGH_TRACK, id);
  buf_append(&entry, d.entry.p, (size_t)d.entry.value);
  pb_message(&a->entries, 1, &entry);
  buf_free(&entry);
}

/* Removes the uuids of tracks and of their parents from the entries. */
static void drop_uuids(struct adopter *a) {
  struct buf all = {.mem = &a->t->store->mem}, one = {.mem = &a->t->store->mem};
  struct pb in = pb_over(a->entries.data, a->entries.len);
  struct pb_field entry, f;
  while (pb_next(&in, &entry)) {
    one.len = 0;
    for (struct pb fields = pb_inside(&entry); pb_next(&fields, &f);)
      if (f.number != PASSTHROUGH_UUID && f.number != PASSTHROUGH_PARENT) pb_field(&one, &f);
    pb_message(&all, 1, &one);
  }
  buf_free(&one);
  buf_free(&a->entries);
  a->entries = all;
}

/* ---- the block ---- */

static void add_meta(struct adopter *a, const char *key, const void *p, size_t n, bool after) {
  struct tk_trace *t = a->t;
  struct buf *raw = &t->store->raw;
  const struct tk_meta m = {.key = trace_text(t, key), .at = raw->len, .size = n, .after = after, .origin = PERFETTO_FORMAT};
  if (!buf_append(raw, p, n)) return;
  trace_end_raw(t);
  *trace_add_meta(t) = m;
}

/* A meta as the block describes it. */
struct described_meta {
  const char *key; /* NULL: unknown */
  struct pb_field bytes;
  bool after;
};

static struct described_meta read_meta(const struct pb_field *f) {
  static const char *const KEYS[] = {PASSTHROUGH_DESCRIPTORS, PASSTHROUGH_EXTENSIONS, PASSTHROUGH_INTERNED, PASSTHROUGH_KEY_TYPES};
  struct described_meta m = {.key = NULL};
  struct pb_field g, key = {0};
  for (struct pb in = pb_inside(f); pb_next(&in, &g);) {
    if (pb_field_key(&g) == PB_KEY(CARRIED_KEY, PB_BYTES)) key = g;
    if (pb_field_key(&g) == PB_KEY(CARRIED_AFTER, PB_VARINT)) m.after = g.value != 0;
    if (pb_field_key(&g) == PB_KEY(CARRIED_BYTES, PB_BYTES)) m.bytes = g;
  }
  for (size_t i = 0; m.bytes.p && i < sizeof KEYS / sizeof *KEYS; i++)
    if (key.value == strlen(KEYS[i]) && memcmp(key.p, KEYS[i], (size_t)key.value) == 0) m.key = KEYS[i];
  return m;
}

static bool is_descriptor(const struct pb_field *packet) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  bool found = false;
  while (pb_next(&in, &f)) {
    if (f.number != PACKET_TRACK_DESCRIPTOR && f.number != PACKET_EXTENSION_DESCRIPTOR) continue;
    found = is_message(&f);
    if (!found) return false;
  }
  return found && !in.fault;
}

/* True unless the meta is that of descriptors and contains a damaged packet or a packet without a descriptor. */
static bool is_sound(const struct described_meta *m) {
  if (!m->key || strcmp(m->key, PASSTHROUGH_DESCRIPTORS) != 0) return true; /* only descriptors consist of packets */
  struct pb in = pb_inside(&m->bytes);
  struct pb_field packet;
  while (pb_next(&in, &packet))
    if (pb_field_key(&packet) != PB_KEY(TRACE_PACKET, PB_BYTES) || !is_descriptor(&packet)) return false;
  return !in.fault;
}

static bool metas_are_sound(const struct adopter *a) {
  struct pb_field f;
  for (struct pb in = pb_over(a->metas.data, a->metas.len); pb_next(&in, &f);) {
    const struct described_meta m = read_meta(&f);
    if (!is_sound(&m)) return false;
  }
  return true;
}

/* True if the data of the meta is not damaged. Damaged data would damage the output, because the writer copies it unchanged. */
static bool is_sound_data(const struct described_meta *m) {
  struct pb in = pb_inside(&m->bytes);
  struct pb_field f;
  while (pb_next(&in, &f))
    if (strcmp(m->key, PASSTHROUGH_INTERNED) == 0 && f.number == INTERNED_DATA && !is_message(&f)) return false;
  return !in.fault;
}

/* Adds the metas that the block contains. Descriptors are only added if all tracks with uuids were found unchanged. */
static void adopt_metas(struct adopter *a) {
  struct pb_field f;
  for (struct pb in = pb_over(a->metas.data, a->metas.len); pb_next(&in, &f);) {
    const struct described_meta m = read_meta(&f);
    const bool is_of_tracks = m.key && strcmp(m.key, PASSTHROUGH_DESCRIPTORS) == 0;
    const bool is_valid = m.key && (is_of_tracks ? a->is_whole : is_sound_data(&m));
    if (is_valid) add_meta(a, m.key, m.bytes.p, (size_t)m.bytes.value, m.after);
  }
}

static bool adopt_graph(struct adopter *a, struct pb in) {
  struct pb_field f;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) == PB_KEY(GRAPH_TRACK, PB_BYTES)) adopt_track(a, &f);
    else if (pb_field_key(&f) == PB_KEY(GRAPH_META, PB_BYTES)) pb_field(&a->metas, &f);
  }
  return !in.fault;
}

static bool adopt_blocks(struct adopter *a) {
  const struct tk_trace *t = a->t;
  bool ok = true;
  struct pb_field f;
  for (tk_id i = 1; ok && i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    if (!carry_is_block(t, m) || strcmp(m->origin, PERFETTO_FORMAT) != 0) continue;
    struct pb in = pb_over(trace_raw(t, m->at), (size_t)m->size);
    while (ok && pb_next(&in, &f)) ok = pb_field_key(&f) == PB_KEY(CARRIED_GRAPH, PB_BYTES) && adopt_graph(a, pb_inside(&f));
    ok = ok && !in.fault;
  }
  return ok;
}

bool perfetto_adopt(struct tk_trace *t) {
  struct mem *mem = &t->store->mem;
  struct adopter a = {.t = t, .entries = {.mem = mem}, .metas = {.mem = mem}, .is_whole = true};
  if (t->store->without & TK_WITHOUT_RESTORING) return true;
  map_init(&a.places, mem);
  know_tracks(&a);
  const bool ok = adopt_blocks(&a);
  a.is_whole = a.is_whole && metas_are_sound(&a);
  if (!a.is_whole) drop_uuids(&a);
  if (a.entries.len) add_meta(&a, PASSTHROUGH_TRACKS, a.entries.data, a.entries.len, false);
  adopt_metas(&a);
  map_free(&a.places);
  buf_free(&a.entries);
  buf_free(&a.metas);
  return ok;
}

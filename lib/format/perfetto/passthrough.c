/* passthrough.c - finds the passthrough data of a graph that was read from a Perfetto file. */
#include "passthrough.h"

#include "fields.h"

#include <string.h>

#include "perfetto.h"
#include "schema.h"
#include "timeline.h"

bool passthrough_is(const struct tk_trace *t, const struct tk_meta *m, const char *key) {
  return m->origin && strcmp(m->origin, PERFETTO_FORMAT) == 0 && strcmp(tk_string(t, m->key, NULL), key) == 0;
}

const struct tk_meta *passthrough_find(const struct tk_trace *t, const char *key) {
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (passthrough_is(t, &t->metas[i], key)) return &t->metas[i];
  return NULL;
}

const char *perfetto_unit(uint64_t unit) {
  static const char *const NAMES[] = {NULL, "ns", "count", "bytes"};
  return unit < sizeof NAMES / sizeof *NAMES ? NAMES[unit] : NULL;
}

bool perfetto_machine(const struct tk_trace *t, uint32_t at, struct format_machine *m) {
  const struct tk_meta *all = passthrough_find(t, PASSTHROUGH_MACHINES);
  if (!all || all->size / sizeof *m <= at) return false;
  memcpy(m, trace_raw(t, all->at) + at * sizeof *m, sizeof *m);
  return true;
}

bool perfetto_track(const struct tk_trace *t, tk_id at, struct format_track *track) {
  const struct tk_meta *all = passthrough_find(t, PASSTHROUGH_FILED);
  if (!all || all->size / sizeof *track <= at) return false;
  memcpy(track, trace_raw(t, all->at) + at * sizeof *track, sizeof *track);
  return true;
}

bool passthrough_readings_of(const struct tk_trace *t, struct clock_readings *head) {
  const struct tk_meta *m = passthrough_find(t, PASSTHROUGH_READINGS);
  if (!m || m->size < sizeof *head) return false;
  memcpy(head, trace_raw(t, m->at), sizeof *head);
  return true;
}

bool passthrough_is_valid(const struct tk_trace *t) { return !trace_hard_edits(t) || trace_cut_of(t); }

static void read_key_type(const struct tk_trace *t, const struct pb_field *entry, uint8_t *types) {
  struct pb in = pb_inside(entry);
  struct pb_field f, key = {0};
  uint64_t type = 0;
  while (pb_next(&in, &f)) {
    if (pb_field_key(&f) == PB_KEY(KEY_TYPE_KEY, PB_BYTES)) key = f;
    if (pb_field_key(&f) == PB_KEY(KEY_TYPE_TYPE, PB_VARINT)) type = f.value;
  }
  const tk_id id = key.p ? intern_id(&t->store->strings, key.p, (size_t)key.value) : 0;
  if (id) types[id] = (uint8_t)type;
}

uint8_t *passthrough_key_types(const struct tk_trace *t, struct mem *mem) {
  uint8_t *types = NULL;
  struct pb_field entry;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    const size_t n = (size_t)t->store->strings.n + 1;
    if (!passthrough_is(t, m, PASSTHROUGH_KEY_TYPES)) continue;
    if (!types) types = mem_zeros(mem, n, 1);
    if (!types) return NULL;
    for (struct pb in = pb_over(trace_raw(t, m->at), (size_t)m->size); pb_next(&in, &entry);) read_key_type(t, &entry, types);
  }
  return types;
}

bool passthrough_is_clocks(const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    switch (f.number) {
    case PACKET_CLOCK_SNAPSHOT:
    case PACKET_REMOTE_CLOCK_SYNC:
    case PACKET_TIMESTAMP:
    case PACKET_TIMESTAMP_CLOCK_ID:
    case PACKET_SEQUENCE_ID:
    case PACKET_SEQUENCE_FLAGS:
    case PACKET_STATE_CLEARED:
    case PACKET_PREVIOUS_DROPPED:
    case PACKET_MACHINE_ID:
    case PACKET_TRUSTED_UID:
    case PACKET_TRUSTED_PID:
    case PACKET_FIRST_ON_SEQUENCE: break;
    default: return false;
    }
  }
  return !c.fault;
}

bool passthrough_is_read(const struct pb_field *packet) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.wire == PB_BYTES && timeline_is(&f)) return true;
  return false;
}

/* True if the descriptor of a track has properties that the graph does not represent: a description, an order of children. */
static bool has_properties(const struct pb_field *entry) {
  struct pb c = pb_inside(entry);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number == PASSTHROUGH_FIELDS || f.number == PASSTHROUGH_INNER_FIELDS) return true;
  return false;
}

void passthrough_schema(const struct tk_trace *t, struct schema *s) {
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (passthrough_is(t, &t->metas[i], PASSTHROUGH_EXTENSIONS))
      schema_read(s, (const uint8_t *)trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
}

uint64_t passthrough_without_times(const struct pb_field *fields, struct buf *to) {
  struct pb in = pb_inside(fields);
  struct pb_field f;
  uint64_t n = 0;
  for (const uint8_t *from = in.p; pb_next(&in, &f); from = in.p) {
    if (f.number == PROCESS_START) n++;
    else buf_append(to, from, (size_t)(in.p - from));
  }
  return n;
}

/* Counts tracks that lose their parent or other properties in other formats. */
static uint64_t n_poorer_tracks(const struct tk_trace *t) {
  const struct tk_meta *all = passthrough_find(t, PASSTHROUGH_TRACKS);
  uint64_t n = 0;
  struct pb c = all ? pb_over(trace_raw(t, all->at), (size_t)all->size) : pb_over("", 0);
  struct pb_field entry;
  while (pb_next(&c, &entry)) n += has_properties(&entry);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    n += was_perfetto(t) && k->kind == TK_TRACK_THREAD && k->tid.kind == TK_IDENT_STR && k->tid.num % NAMED_CODES == NAMED_OF_TRACK;
  }
  return n;
}

uint64_t perfetto_n_passthrough(const struct tk_trace *t) {
  struct pb_field packet;
  uint64_t n = n_poorer_tracks(t);
  for (tk_id i = 1; i <= t->n_metas; i++) {
    n += passthrough_is(t, &t->metas[i], PASSTHROUGH_INTERNED);
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    struct pb c = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    while (pb_next(&c, &packet)) n += !passthrough_is_clocks(&packet) && !passthrough_is_read(&packet);
  }
  return n;
}

/* Subjects of a trace's packets: the operating system, GPU work, and everything else except clocks. */
struct subjects {
  bool system, gpu, any;
};

static void add_subjects(const struct pb_field *packet, struct subjects *s) {
  struct pb c = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    s->system = s->system || f.number == PACKET_FTRACE || f.number == PACKET_PROCESS_TREE;
    s->gpu = s->gpu || f.number == PACKET_GPU_RENDER_STAGE || f.number == PACKET_GPU_ANNOTATION;
  }
  s->any = s->any || !passthrough_is_clocks(packet);
}

/* A trace with GPU work but no data of the system is assumed to be one rank of a program. A merge keeps its pids, but adds the rank to
 * its process names. */
enum format_ids perfetto_keeps_ids(const struct tk_trace *t) {
  struct subjects s = {.any = false};
  struct pb_field packet;
  if (!was_perfetto(t) || !passthrough_is_valid(t)) return FORMAT_IDS_FREE;
  for (tk_id i = 1; i <= t->n_metas && !s.system; i++) {
    if (!passthrough_is(t, &t->metas[i], PASSTHROUGH_PACKETS)) continue;
    struct pb c = pb_over(trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    while (pb_next(&c, &packet)) add_subjects(&packet, &s);
  }
  if (!s.system && !s.any) return FORMAT_IDS_FREE;
  return s.system || !s.gpu ? FORMAT_IDS_ALL : FORMAT_IDS_NUMBERS;
}

struct sink_start perfetto_start(const struct tk_trace *first) {
  const struct tk_meta *clock = passthrough_find(first, PASSTHROUGH_CLOCK);
  const uint8_t *end;
  if (!clock) return (struct sink_start){0};
  return (struct sink_start){num_scan((const uint8_t *)trace_raw(first, clock->at), &end).mant, true};
}

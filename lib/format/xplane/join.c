/* join.c - joins the passthrough data of several hosts into that of a single file.
 *
 * The side tables contain times, and ids of tracks, classes and strings; all of these change. Hosts are distinguished in the same way
 * as when the writer writes several graphs to one file: the name of a plane contains its rank, planes of one kind have different ids,
 * and a private stat contains the number of the host to which contexts belong (read/flow.c). Fields of the space of later hosts follow
 * those of the first host. */
#include <string.h>

#include "fields.h"
#include "format/pb_out.h"
#include "join.h"
#include "passthrough.h"
#include "plane_ids.h"

/* Tables of the joined graph so far. */
struct joined {
  struct buf planes, lines, classes, space;
  struct xplane_plane_ids taken;
  struct xplane_clock clock;
  uint32_t segment; /* segment of the last plane */
  bool renamed;     /* true if some classes have been renamed since their planes were embedded */
};

struct plane_joiner {
  struct tk_trace *to;
  const struct tk_trace *from;
  const struct join_ids *ids;
  struct joined *joined;
  int64_t moved_ns; /* by how much timestamps of lines have moved */
  uint32_t first_line, segment;
};

/* ---- planes ---- */

/* Returns the name for the plane in a file with all hosts. */
static tk_id joined_name(const struct plane_joiner *j, const struct xplane_plane *p) {
  struct buf text = {.mem = &j->to->store->mem};
  xplane_print_plane_name(j->from, j->ids->ordinal, p, &text);
  tk_id name = trace_string(j->to, text.data, text.len);
  buf_free(&text);
  return name;
}

/* Returns the id for the plane; if there are several hosts, one of the ids reserved for this host. */
static int64_t joined_id(const struct plane_joiner *j, const struct xplane_plane *p) {
  const enum xplane_kind kind = xplane_plane_kind(tk_string(j->to, p->name, NULL));
  if (j->ids->graphs > 1) return xplane_some_id(&j->joined->taken, kind, xplane_least_id(&j->joined->taken, kind));
  xplane_take_id(&j->joined->taken, kind, p->id);
  return p->id;
}

static int64_t last_stat_id(struct pb plane) {
  struct pb_field entry, f;
  int64_t last = 0;
  while (pb_next(&plane, &entry)) {
    if (pb_field_key(&entry) != PB_KEY(XPLANE_STAT_METADATA, PB_BYTES)) continue;
    for (struct pb c = pb_inside(&entry); pb_next(&c, &f);) {
      if (pb_field_key(&f) != PB_KEY(MAP_KEY, PB_VARINT)) continue;
      if ((int64_t)f.value > last && (int64_t)f.value < INT64_MAX) last = (int64_t)f.value;
    }
  }
  return last;
}

/* Appends a stat with the number of the plane's host. */
static void add_host(const struct plane_joiner *j, struct pb plane, struct buf *to) {
  struct mem *mem = to->mem;
  struct buf metadata = {.mem = mem}, entry = {.mem = mem}, stat = {.mem = mem};
  int64_t id = last_stat_id(plane) + 1;
  pb_i64(&metadata, XSTAT_METADATA_KEY, id);
  pb_bytes(&metadata, XSTAT_METADATA_NAME, XPLANE_PRIVATE_HOST, strlen(XPLANE_PRIVATE_HOST));
  pb_i64(&entry, MAP_KEY, id);
  pb_message(&entry, MAP_VALUE, &metadata);
  pb_message(to, XPLANE_STAT_METADATA, &entry);
  pb_i64(&stat, XSTAT_METADATA_ID, id);
  pb_i64(&stat, XSTAT_INT64, j->ids->ordinal);
  pb_message(to, XPLANE_STATS, &stat);
  buf_free(&metadata);
  buf_free(&entry);
  buf_free(&stat);
}

/* Copies raw text of `from`. (A pointer would become invalid when text is added.) */
static uint64_t join_text(const struct plane_joiner *j, uint64_t at, uint32_t size) {
  struct buf *raw = &j->to->store->raw;
  const uint64_t joined = raw->len;
  buf_append(raw, trace_raw(j->from, at), size);
  trace_end_raw(j->to);
  return joined;
}

static void join_plane(struct plane_joiner *j, struct xplane_plane p) {
  struct buf *raw = &j->to->store->raw;
  struct pb fields = pb_over(trace_raw(j->from, p.at), (size_t)p.size);
  uint64_t at = raw->len;
  p.name = joined_name(j, &p);
  p.process = j->ids->tracks[p.process];
  p.shown = p.process ? j->to->tracks[p.process].name : j->ids->strings[p.shown];
  p.id = joined_id(j, &p);
  p.first_line += j->first_line;
  if (j->ids->ordinal) p.segment = j->segment;
  j->joined->segment = p.segment;
  buf_append(raw, trace_raw(j->from, p.at), (size_t)p.size);
  if (j->ids->ordinal && p.process) add_host(j, fields, raw);
  p.at = at;
  p.size = raw->len - at;
  trace_end_raw(j->to);
  p.types_at = join_text(j, p.types_at, p.types_size);
  p.tracks_at = join_text(j, p.tracks_at, p.tracks_size);
  buf_append(&j->joined->planes, &p, sizeof p);
}

/* True for planes with file-wide data, which later hosts do not repeat. */
static bool is_stated(const struct plane_joiner *j, const struct xplane_plane *p) {
  const char *name = tk_string(j->from, p->name, NULL);
  return j->ids->ordinal && (strcmp(name, XPLANE_PRIVATE_PLANE) == 0 || strcmp(name, XPLANE_TASK) == 0);
}

static void join_planes(struct plane_joiner *j) {
  uint32_t n;
  const struct xplane_plane *planes = xplane_table(j->from, XPLANE_META_PLANES, sizeof *planes, &n);
  for (uint32_t i = 0; i < n; i++) {
    struct xplane_plane p;
    memcpy(&p, (const uint8_t *)planes + i * sizeof p, sizeof p);
    if (!is_stated(j, &p)) join_plane(j, p);
  }
}

/* ---- lines, classes ---- */

static void join_lines(struct plane_joiner *j) {
  uint32_t n;
  const struct xplane_line *lines = xplane_table(j->from, XPLANE_META_LINES, sizeof *lines, &n);
  for (uint32_t i = 0; i < n; i++) {
    struct xplane_line l;
    memcpy(&l, (const uint8_t *)lines + i * sizeof l, sizeof l);
    l.track = j->ids->tracks[l.track];
    l.process = j->ids->tracks[l.process];
    l.name = j->ids->strings[l.name];
    l.display_name = j->ids->strings[l.display_name];
    l.shown = j->ids->strings[l.shown];
    l.timestamp_ns += j->moved_ns;
    l.zero_ps += j->ids->shift;
    if (l.fields_size) l.fields_at = join_text(j, l.fields_at, l.fields_size);
    buf_append(&j->joined->lines, &l, sizeof l);
  }
}

/* Adds the appended graph's table of classes. Element i of the joined table is for class i, and is empty if the class has no
 * event metadata. */
static void join_classes(struct plane_joiner *j) {
  struct buf *to = &j->joined->classes;
  const size_t before = to->len / sizeof(struct xplane_class);
  uint32_t n;
  const struct xplane_class *classes = xplane_table(j->from, XPLANE_META_CLASSES, sizeof *classes, &n);
  struct xplane_class c = {0};
  for (size_t i = before; i <= j->to->n_classes; i++) buf_append(to, &c, sizeof c);
  for (tk_id i = 1; i < n && i <= j->from->n_classes && !j->to->store->mem.failed; i++) {
    const tk_id joined = j->ids->classes[i];
    memcpy(&c, (const uint8_t *)classes + i * sizeof c, sizeof c);
    c.process = j->ids->tracks[c.process];
    if (joined >= before) memcpy(to->data + joined * sizeof c, &c, sizeof c);
  }
}

/* ---- all graphs ---- */

/* Begins with the clock of the first host. If graphs of other formats come first, times are relative to the zero of the trace,
 * and the first host's top-level keys are also written. */
static struct joined *begin(const struct plane_joiner *j, const struct xplane_clock *was) {
  struct mem *mem = &j->to->store->mem;
  struct joined *joined = mem_alloc(mem, sizeof *joined);
  const bool first = j->ids->ordinal == 0;
  if (!joined) return NULL;
  *joined = (struct joined){.planes = {.mem = mem}, .lines = {.mem = mem}, .classes = {.mem = mem}, .space = {.mem = mem}};
  xplane_ids_init(&joined->taken, mem);
  joined->clock = (struct xplane_clock){.origin_ns = j->to->origin_ns, .base_ns = first ? was->base_ns : j->to->zero_ns};
  joined->clock.zero_ns = first ? was->zero_ns : j->to->zero_ns;
  joined->clock.converted = first && !was->converted ? XPLANE_NATIVE : XPLANE_CONVERTED_PARTLY;
  return joined;
}

static void join_space(struct plane_joiner *j) {
  const struct xplane_bytes fields = xplane_passthrough(j->from, XPLANE_META_SPACE);
  if (j->ids->ordinal == 0) buf_append(&j->joined->space, fields.p, fields.n);
  else xplane_add_space(&j->joined->space, j->joined->segment, fields);
}

void xplane_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state) {
  struct plane_joiner j = {.to = to, .from = from, .ids = ids, .joined = *state};
  struct xplane_clock was;
  if (!xplane_passthrough(from, XPLANE_META_PLANES).p || !xplane_clock_of(from, &was)) return;
  if (!j.joined) j.joined = *state = begin(&j, &was);
  if (!j.joined) return;
  j.moved_ns = (int64_t)((i128)from->origin_ns - was.origin_ns + was.base_ns - j.joined->clock.base_ns);
  j.first_line = (uint32_t)(j.joined->lines.len / sizeof(struct xplane_line));
  j.segment = j.joined->segment;
  j.joined->renamed = j.joined->renamed || (was.names && was.names != xplane_hash_names(from));
  if (ids->graphs > 1)
    xplane_ids_turn(&j.joined->taken, (struct xplane_turn){ids->ordinal, ids->graphs, ids->first_row, ids->rows}, &to->store->mem);
  join_space(&j);
  join_planes(&j);
  join_lines(&j);
  join_classes(&j);
}

static void add_tables(struct tk_trace *t, struct joined *joined) {
  if (!joined->renamed) joined->clock.names = xplane_hash_names(t);
  xplane_add_meta(t, XPLANE_META_SPACE, joined->space.data, joined->space.len, true);
  xplane_add_meta(t, XPLANE_META_CLOCK, &joined->clock, sizeof joined->clock, true);
  xplane_add_meta(t, XPLANE_META_PLANES, joined->planes.data, joined->planes.len, true);
  xplane_add_meta(t, XPLANE_META_LINES, joined->lines.data, joined->lines.len, true);
  xplane_add_meta(t, XPLANE_META_CLASSES, joined->classes.data, joined->classes.len, true);
}

void xplane_join_finish(struct tk_trace *t, void *state) {
  struct joined *joined = state;
  add_tables(t, joined);
  xplane_ids_free(&joined->taken);
  buf_free(&joined->planes);
  buf_free(&joined->lines);
  buf_free(&joined->classes);
  buf_free(&joined->space);
  mem_free(&t->store->mem, joined);
}

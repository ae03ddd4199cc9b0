/* join.c - passthrough of several hosts in one graph, as several hosts stand in one file.
 *
 * The side tables are about tracks, classes and strings of their graph, which have other ids now, and about times.  Each host
 * adds a chunk of every table; when all have joined the chunks of a table become one.  What tells hosts apart in one file is what
 * the writer does for graphs that come one after the other: planes bear the name of their rank, those of one kind have ids of their
 * own, and a stat of ours says which host contexts are of (read_flow.c).  The fields of the XSpace itself are those of the first
 * host. */
#include <string.h>

#include "fields.h"
#include "format/pb_out.h"
#include "join.h"
#include "passthrough.h"

struct plane_joiner {
  struct tk_trace *to;
  const struct tk_trace *from;
  const struct join_ids *ids;
  struct xplane_clock clock; /* of the joined graph */
  int64_t moved_ns;          /* of timestamps of lines */
  uint32_t first_line, segment;
};

/* The i-th chunk of a table, NULL behind the last. */
static const struct tk_meta *chunk(const struct tk_trace *t, const char *key, size_t i) {
  for (tk_id m = 1; m <= t->n_metas; m++)
    if (t->metas[m].origin && strcmp(tk_string(t, t->metas[m].key, NULL), key) == 0 && i-- == 0) return &t->metas[m];
  return NULL;
}

static uint32_t count_elements(const struct tk_trace *t, const char *key, size_t size) {
  const struct tk_meta *m;
  uint64_t bytes = 0;
  for (size_t i = 0; (m = chunk(t, key, i)) != NULL; i++) bytes += m->size;
  return (uint32_t)(bytes / size);
}

static void add_chunk(struct tk_trace *t, const char *key, const struct buf *b) { xplane_add_meta(t, key, b->data, b->len, true); }

/* ---- planes ---- */

/* What a file of all hosts would call the plane. */
static tk_id joined_name(const struct plane_joiner *j, const struct xplane_plane *p) {
  struct buf text = {.mem = &j->to->store->mem};
  xplane_print_plane_name(j->from, j->ids->ordinal, p, &text);
  tk_id name = trace_string(j->to, text.data, text.len);
  buf_free(&text);
  return name;
}

static bool is_id_taken(const struct tk_trace *t, const struct buf *planes, unsigned kind, int64_t id) {
  const struct tk_meta *m;
  struct xplane_plane p;
  for (size_t i = 0; i + sizeof p <= planes->len; i += sizeof p) {
    memcpy(&p, planes->data + i, sizeof p);
    if (p.id == id && xplane_plane_kind(tk_string(t, p.name, NULL)) == kind) return true;
  }
  for (size_t i = 0; (m = chunk(t, XPLANE_META_PLANES, i)) != NULL; i++)
    for (uint64_t at = 0; at + sizeof p <= m->size; at += sizeof p) {
      memcpy(&p, trace_raw(t, m->at + at), sizeof p);
      if (p.id == id && xplane_plane_kind(tk_string(t, p.name, NULL)) == kind) return true;
    }
  return false;
}

/* Of later hosts: an id that no plane of its kind has. */
static int64_t joined_id(const struct plane_joiner *j, const struct buf *planes, const struct xplane_plane *p) {
  unsigned kind = xplane_plane_kind(tk_string(j->to, p->name, NULL));
  int64_t id = p->id;
  if (!j->ids->ordinal || !is_id_taken(j->to, planes, kind, id)) return id;
  for (id = 0; is_id_taken(j->to, planes, kind, id);) id++;
  return id;
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

/* The stat that says which host the plane is of, unless it has been said. */
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

/* The raw text moves when some is added to it. */
static uint64_t join_text(const struct plane_joiner *j, uint64_t at, uint32_t size) {
  struct buf *raw = &j->to->store->raw;
  const uint64_t joined = raw->len;
  buf_append(raw, trace_raw(j->from, at), size);
  trace_end_raw(j->to);
  return joined;
}

static void join_plane(struct plane_joiner *j, struct xplane_plane p, struct buf *planes) {
  struct buf *raw = &j->to->store->raw;
  struct pb fields = pb_over(trace_raw(j->from, p.at), (size_t)p.size);
  uint64_t at = raw->len;
  p.name = joined_name(j, &p);
  p.process = j->ids->tracks[p.process];
  p.shown = p.process ? j->to->tracks[p.process].name : j->ids->strings[p.shown];
  p.id = joined_id(j, planes, &p);
  p.first_line += j->first_line;
  if (j->ids->ordinal) p.segment = j->segment;
  buf_append(raw, trace_raw(j->from, p.at), (size_t)p.size);
  if (j->ids->ordinal && p.process) add_host(j, fields, raw);
  p.at = at;
  p.size = raw->len - at;
  trace_end_raw(j->to);
  p.types_at = join_text(j, p.types_at, p.types_size);
  p.tracks_at = join_text(j, p.tracks_at, p.tracks_size);
  buf_append(planes, &p, sizeof p);
}

/* What a file as a whole states once is not stated again by later hosts. */
static bool is_stated(const struct plane_joiner *j, const struct xplane_plane *p) {
  const char *name = tk_string(j->from, p->name, NULL);
  return j->ids->ordinal && (strcmp(name, XPLANE_PRIVATE_PLANE) == 0 || strcmp(name, XPLANE_TASK) == 0);
}

static void join_planes(struct plane_joiner *j, const struct tk_meta *m) {
  struct buf planes = {.mem = &j->to->store->mem};
  struct xplane_plane p;
  for (uint64_t at = 0; at + sizeof p <= m->size; at += sizeof p) {
    memcpy(&p, trace_raw(j->from, m->at + at), sizeof p);
    if (!is_stated(j, &p)) join_plane(j, p, &planes);
  }
  add_chunk(j->to, XPLANE_META_PLANES, &planes);
  buf_free(&planes);
}

/* ---- lines, classes ---- */

static void join_lines(struct plane_joiner *j, const struct tk_meta *m) {
  struct buf lines = {.mem = &j->to->store->mem};
  struct xplane_line l;
  for (uint64_t at = 0; m && at + sizeof l <= m->size; at += sizeof l) {
    memcpy(&l, trace_raw(j->from, m->at + at), sizeof l);
    l.track = j->ids->tracks[l.track];
    l.process = j->ids->tracks[l.process];
    l.name = j->ids->strings[l.name];
    l.display_name = j->ids->strings[l.display_name];
    l.shown = j->ids->strings[l.shown];
    l.timestamp_ns += j->moved_ns;
    l.zero_ps += j->ids->shift;
    buf_append(&lines, &l, sizeof l);
  }
  add_chunk(j->to, XPLANE_META_LINES, &lines);
  buf_free(&lines);
}

/* Element i of the table is of class i: what has joined since the last chunk, and is of no event metadata, has an empty one. */
static void join_classes(struct plane_joiner *j, const struct tk_meta *m) {
  uint32_t before = count_elements(j->to, XPLANE_META_CLASSES, sizeof(struct xplane_class));
  uint64_t n = m ? m->size / sizeof(struct xplane_class) : 0;
  struct buf classes = {.mem = &j->to->store->mem};
  struct xplane_class c, none = {0};
  for (uint32_t i = before; i <= j->to->n_classes; i++) buf_append(&classes, &none, sizeof none);
  for (tk_id i = 1; i < n && i <= j->from->n_classes && !j->to->store->mem.failed; i++) {
    tk_id joined = j->ids->classes[i];
    memcpy(&c, trace_raw(j->from, m->at + i * sizeof c), sizeof c);
    c.process = j->ids->tracks[c.process];
    if (joined >= before) memcpy(classes.data + (size_t)(joined - before) * sizeof c, &c, sizeof c);
  }
  add_chunk(j->to, XPLANE_META_CLASSES, &classes);
  buf_free(&classes);
}

/* ---- all ---- */

static bool read_clock(const struct tk_trace *t, struct xplane_clock *clock) {
  const struct tk_meta *m = chunk(t, XPLANE_META_CLOCK, 0);
  if (!m || m->size != sizeof *clock) return false;
  memcpy(clock, trace_raw(t, m->at), sizeof *clock);
  return true;
}

/* The first host's; behind graphs of other formats times count from the zero of the trace, and its top-level keys are written too. */
static void begin_clock(struct plane_joiner *j, const struct xplane_clock *was) {
  const struct tk_meta *space = chunk(j->from, XPLANE_META_SPACE, 0);
  bool first = j->ids->ordinal == 0;
  j->clock = (struct xplane_clock){.origin_ns = j->to->origin_ns, .base_ns = first ? was->base_ns : j->to->zero_ns};
  j->clock.zero_ns = first ? was->zero_ns : j->to->zero_ns;
  j->clock.converted = first && !was->converted ? XPLANE_NATIVE : XPLANE_CONVERTED_PARTLY;
  xplane_add_meta(j->to, XPLANE_META_CLOCK, &j->clock, sizeof j->clock, true);
  if (first && space) xplane_add_meta(j->to, XPLANE_META_SPACE, trace_raw(j->from, space->at), (size_t)space->size, true);
}

void xplane_join(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids) {
  struct plane_joiner j = {.to = to, .from = from, .ids = ids};
  const struct tk_meta *planes = chunk(from, XPLANE_META_PLANES, 0), *last;
  struct xplane_clock was;
  if (!planes || !read_clock(from, &was)) return;
  if (!read_clock(to, &j.clock)) begin_clock(&j, &was);
  j.moved_ns = (int64_t)((i128)from->origin_ns - was.origin_ns + was.base_ns - j.clock.base_ns);
  j.first_line = count_elements(to, XPLANE_META_LINES, sizeof(struct xplane_line));
  for (size_t i = 0; (last = chunk(to, XPLANE_META_PLANES, i)) != NULL; i++)
    if (last->size >= sizeof(struct xplane_plane)) {
      struct xplane_plane p;
      memcpy(&p, trace_raw(to, last->at + last->size - sizeof p), sizeof p);
      j.segment = p.segment;
    }
  join_planes(&j, planes);
  join_lines(&j, chunk(from, XPLANE_META_LINES, 0));
  join_classes(&j, chunk(from, XPLANE_META_CLASSES, 0));
}

/* The chunks of a table as one. */
static void unite(struct tk_trace *t, const char *key) {
  struct buf all = {.mem = &t->store->mem};
  const struct tk_meta *m;
  tk_id n = 0;
  if (!chunk(t, key, 1)) return;
  for (size_t i = 0; (m = chunk(t, key, i)) != NULL; i++) buf_append(&all, trace_raw(t, m->at), (size_t)m->size);
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (!t->metas[i].origin || strcmp(tk_string(t, t->metas[i].key, NULL), key) != 0) t->metas[++n] = t->metas[i];
  t->n_metas = n;
  add_chunk(t, key, &all);
  buf_free(&all);
}

void xplane_join_finish(struct tk_trace *t) {
  unite(t, XPLANE_META_PLANES);
  unite(t, XPLANE_META_LINES);
  unite(t, XPLANE_META_CLASSES);
}

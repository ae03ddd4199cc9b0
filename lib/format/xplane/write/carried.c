/* carried.c - writes the event-free XSpace that other formats embed.
 *
 * It contains the same planes as any output file, with their passthrough data (pruned if an operation changed the graph) and
 * their lines, but without events. Properties of planes that the other format may lose are in the plane "/tracekit:metadata":
 *
 *     tracekit.base_ns              base of the lines' times
 *     tracekit.tracks.<i>           the process and threads of the graph that plane i of the file and its lines represent
 *     tracekit.types.<i>            {"3":[7,9],..}: XStat fields that events use for the stats with these ids
 *     tracekit.zero_ns, .shown      results of reading the XSpace: the zero, and a hash of the top-level data
 *
 * read/adopt.c reads it back. */
#include <stdlib.h>
#include <string.h>

#include "carried.h"
#include "writer.h"
#include "private.h"
#include "lines.h"
#include "graph/args.h"

/* ---- types of stats ---- */


/* Ids of those stats of the plane that events have, by XStat field. */
struct typed {
  struct xplane_encoder *e;
  struct map seen; /* hash of id and field */
  struct buf ids[XSTAT_COMPRESSED_STR + 1]; /* arrays of int64_t */
};

static uint64_t seen_key(int64_t id, unsigned field) { return hash_pair((uint64_t)id, field); }

static void add_typed(struct typed *typed, int64_t id, unsigned field) {
  uint32_t *slot = map_put(&typed->seen, seen_key(id, field), 0);
  if (!slot || *slot) return;
  *slot = 1;
  typed->ids[field].mem = typed->e->mem;
  buf_append(&typed->ids[field], &id, sizeof id);
}

/* Adds a type from the block of an embedded plane, if an event still has the stat. */
static void add_carried(void *arg, int64_t id, unsigned field) {
  struct typed *typed = arg;
  if (map_get(&typed->seen, seen_key(id, 0))) add_typed(typed, id, field);
}

static void add_fields(struct typed *typed, const struct tk_arg_shape *shape) {
  for (uint32_t i = 0; i < shape->n; i++) {
    const unsigned field = xplane_field_of(shape->fields[i].type);
    int64_t id = xplane_known_stat(typed->e, shape->fields[i].key);
    if (id >= typed->e->first_new_stat && id < typed->e->next_stat) id = 0; /* this arg was added by an operation */
    if (id && typed->e->was->adopted) map_put(&typed->seen, seen_key(id, 0), 1);
    else if (id && field) add_typed(typed, id, field == XSTAT_BYTES ? xplane_bytes_field(typed->e, id) : field);
  }
}

static int by_id(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static void put_typed(struct typed *typed, struct buf *text) {
  char number[24];
  for (unsigned i = 1; i <= XSTAT_COMPRESSED_STR; i++) {
    const char key[] = {text->len ? ',' : '{', '"', (char)('0' + i), '"', ':', '[', 0};
    int64_t *ids = (int64_t *)(void *)typed->ids[i].data;
    const size_t n = typed->ids[i].len / sizeof *ids;
    if (n == 0) continue;
    qsort(ids, n, sizeof *ids, by_id);
    buf_text(text, key);
    for (size_t k = 0; k < n; k++) {
      if (k) buf_text(text, ",");
      buf_append(text, number, num_put_i64(number, ids[k]));
    }
    buf_text(text, "]");
    buf_free(&typed->ids[i]);
  }
  if (text->len) buf_text(text, "}");
}

/* Adds the arg shapes of the track's events, except for shapes that were visited before. */
static void add_shapes(struct typed *typed, tk_id track, uint32_t mark) {
  const struct tk_trace *t = typed->e->g->t;
  const struct tk_track *k = &t->tracks[track];
  uint32_t *seen = typed->e->g->marks->shapes;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const uint32_t shape = t->events[i].args ? args_shape_of(t, t->events[i].args) : 0;
    if (!shape || seen[shape] == mark) continue;
    seen[shape] = mark;
    add_fields(typed, t->store->shapes[shape]);
  }
}

static void put_types(struct xplane_encoder *e, struct buf *text) {
  struct typed typed = {.e = e};
  const uint32_t mark = ++e->g->marks->number;
  uint32_t n;
  const uint32_t *tracks = by_process(&e->g->tracks, e->process, &n);
  map_init(&typed.seen, e->mem);
  add_shapes(&typed, e->process, mark);
  for (uint32_t i = 0; i < n; i++) add_shapes(&typed, tracks[i], mark);
  if (e->was->adopted) xplane_each_type(e->g->t, e->was, add_carried, &typed);
  put_typed(&typed, text);
  map_free(&typed.seen);
}

/* ---- stats of the plane "/tracekit:metadata" ---- */

static void put_carried(struct xplane_sink *s, const char *name, size_t n, uint32_t field, const void *text, uint64_t value) {
  struct buf metadata = {.mem = &s->mem}, stat = {.mem = &s->mem};
  const int64_t id = ++s->next_carried;
  pb_i64(&metadata, XSTAT_METADATA_KEY, id);
  pb_bytes(&metadata, XSTAT_METADATA_NAME, name, n);
  xplane_put_entry(&s->carried_names, XPLANE_STAT_METADATA, id, &metadata);
  pb_i64(&stat, XSTAT_METADATA_ID, id);
  if (text) pb_bytes(&stat, field, text, (size_t)value);
  else pb_u64(&stat, field, value);
  pb_message(&s->carried_stats, XPLANE_STATS, &stat);
  buf_free(&metadata);
  buf_free(&stat);
}

static const char *const BLOCKS[] = {XPLANE_CARRIED_TRACKS, XPLANE_CARRIED_TYPES};

static void put_of_plane(struct xplane_sink *s, unsigned block, uint32_t plane, const void *text, size_t n) {
  char name[64];
  size_t prefix_size = strlen(BLOCKS[block]);
  memcpy(name, BLOCKS[block], prefix_size);
  if (n) put_carried(s, name, prefix_size + num_put_u64(name + prefix_size, plane), XSTAT_STR, text, n);
}

/* Stores a block for a plane of the current graph: 1 + its kind, the number of the plane, and its text. */
static void keep_block(struct xplane_sink *s, unsigned block, const struct buf *text) {
  struct buf one = {.mem = &s->mem};
  if (!text->len || s->sink.graphs < 2) return;
  pb_u64(&one, 1, block + 1);
  pb_u64(&one, 2, s->planes);
  pb_message(&one, 3, text);
  pb_message(&s->carried, 1, &one);
  buf_free(&one);
}

bool xplane_take_carried(struct xplane_sink *s, struct pb blocks) {
  struct pb_field one, f;
  while (pb_next(&blocks, &one)) {
    struct pb in = pb_inside(&one);
    struct pb_field text = {.p = NULL};
    uint64_t block = 0, plane = 0;
    while (pb_next(&in, &f)) {
      if (f.number == 1) block = f.value;
      else if (f.number == 2) plane = f.value;
      else if (f.wire == PB_BYTES) text = f;
    }
    if (block < 1 || block > sizeof BLOCKS / sizeof *BLOCKS || !text.p) return false;
    put_of_plane(s, (unsigned)block - 1, s->planes + (uint32_t)plane, text.p, (size_t)text.value);
  }
  return !blocks.fault;
}

void xplane_carry_plane(struct xplane_sink *s, struct xplane_encoder *e) {
  struct buf text = {.mem = &s->mem};
  if (xplane_put_tracks(e, &text)) put_of_plane(s, 0, s->planes, text.data, text.len), keep_block(s, 0, &text);
  text.len = 0;
  put_types(e, &text);
  put_of_plane(s, 1, s->planes, text.data, text.len);
  keep_block(s, 1, &text);
  buf_free(&text);
}

bool xplane_end_carried(struct xplane_sink *s, const struct tk_trace *first) {
  struct xplane_clock clock = {.zero_ns = first->zero_ns};
  if (!xplane_clock_of(first, &clock) || !s->pristine || first->edits & ~(TK_EDIT_MOVED | TK_EDIT_STRETCHED)) clock.shown = 0;
  if (s->planes == 0 && s->space.len == 0) return false;
  put_carried(s, XPLANE_PRIVATE_BASE, strlen(XPLANE_PRIVATE_BASE), XSTAT_INT64, NULL, (uint64_t)s->base_ns);
  put_carried(s, XPLANE_PRIVATE_ZERO, strlen(XPLANE_PRIVATE_ZERO), XSTAT_INT64, NULL, (uint64_t)clock.zero_ns);
  if (clock.shown) put_carried(s, XPLANE_CARRIED_SHOWN, strlen(XPLANE_CARRIED_SHOWN), XSTAT_UINT64, NULL, clock.shown);
  return true;
}

/* ---- comparison with the original ---- */

/* True if the process and its threads are exactly those that were embedded. */
static bool is_same_tracks(const struct xplane_graph *g, const struct xplane_plane *plane, struct mem *mem) {
  struct xplane_encoder e = {.mem = mem, .g = g, .process = plane->process, .was = plane, .lines = {.mem = mem}};
  struct buf text = {.mem = mem};
  bool same = xplane_choose_lines(&e) && xplane_put_tracks(&e, &text) && text.len == plane->tracks_size &&
              memcmp(text.data, trace_raw(g->t, plane->tracks_at), text.len) == 0;
  buf_free(&text);
  buf_free(&e.lines);
  mem_free(mem, e.counters);
  return same;
}

static uint32_t count_processes(const struct tk_trace *t) {
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) n += t->tracks[i].kind == TK_TRACK_PROCESS;
  return n;
}

bool xplane_is_pristine(const struct xplane_graph *g, struct mem *mem) {
  const struct tk_trace *t = g->t;
  struct xplane_clock clock;
  uint32_t n = 0;
  const bool is_changed = t->edits & ~(TK_EDIT_MOVED | TK_EDIT_STRETCHED);
  if (is_changed || !xplane_clock_of(t, &clock) || !clock.shown || clock.zero_ns != t->zero_ns) return false;
  if (clock.shown != xplane_hash_shown(t)) return false;
  for (tk_id i = 1; i <= t->n_records; i++)
    if (t->records[i].kind == TK_RECORD_OTHER) return false;
  for (uint32_t i = 0; i < g->n_planes; i++) n += g->planes[i].process != 0;
  bool same = n == count_processes(t);
  for (uint32_t i = 0; same && i < g->n_planes; i++)
    same = !g->planes[i].process || is_same_tracks(g, &g->planes[i], mem);
  return same;
}

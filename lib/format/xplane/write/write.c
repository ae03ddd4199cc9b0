/* write.c - writes graphs to an XSpace file.
 *
 * Times are relative to the file's zero, because xprof loses negative times and times beyond 106 days. If the clock is real, a
 * plane "Task Environment" contains the zero. The plane "/tracekit:metadata" contains file-wide data: top-level data of other
 * formats, and tracekit's provenance. */
#include <string.h>

#include "write.h"
#include "base/base64.h"
#include "format/json.h"
#include "format/xplane/kineto.h"
#include "writer.h"
#include "private.h"
#include "plane.h"
#include "passthrough.h"
#include "kineto.h"
#include "flow.h"
#include "derived.h"
#include "carried.h"
#include "format/xplane/xplane.h"

/* ---- the graph as it was read ---- */

/* Copies a side table, which is not aligned. */
static void *aligned_table(struct mem *mem, const struct tk_trace *t, const char *key, size_t elem, uint32_t *n) {
  const void *p = xplane_table(t, key, elem, n);
  void *q = p ? mem_array(mem, *n, elem) : NULL;
  if (q) return memcpy(q, p, *n * elem);
  *n = 0;
  return NULL;
}

static void take_tables(struct xplane_sink *s, struct xplane_graph *g) {
  g->planes = aligned_table(&s->mem, g->t, XPLANE_META_PLANES, sizeof *g->planes, &g->n_planes);
  g->lines = aligned_table(&s->mem, g->t, XPLANE_META_LINES, sizeof *g->lines, &g->n_lines);
  g->classes = aligned_table(&s->mem, g->t, XPLANE_META_CLASSES, sizeof *g->classes, &g->n_classes);
}

static void find_origins(struct xplane_sink *s, struct xplane_graph *g) {
  const size_t n = (size_t)g->t->n_tracks + 1;
  g->planes_of = g->n_planes ? mem_array(&s->mem, n, 1) : NULL;
  if (!g->planes_of) return;
  memset(g->planes_of, XPLANE_NEW, n);
  for (uint32_t i = 0; i < g->n_planes; i++)
    if (g->planes[i].process && g->planes[i].process < n)
      g->planes_of[g->planes[i].process] = g->planes[i].adopted ? XPLANE_ADOPTED : XPLANE_READ;
}

static tk_id process_of(const struct tk_trace *t, tk_id track) { return track <= t->n_tracks ? xplane_process(t, track) : 0; }

static tk_id parent_of(const void *arg, uint32_t i) { return ((const struct xplane_graph *)arg)->t->tracks[i].parent; }
static tk_id process_of_line(const void *arg, uint32_t i) {
  const struct xplane_graph *g = arg;
  return process_of(g->t, g->lines[i - 1].process);
}
static tk_id process_of_class(const void *arg, uint32_t i) {
  const struct xplane_graph *g = arg;
  return process_of(g->t, g->classes[i].process);
}
static tk_id process_of_record(const void *arg, uint32_t i) {
  const struct xplane_graph *g = arg;
  return xplane_process_of_record(g, &g->t->records[i]);
}
static tk_id process_of_point(const void *arg, uint32_t i) {
  const struct xplane_graph *g = arg;
  return xplane_process(g->t, tk_flow_point_track(g->t, &g->t->flow_points[i]));
}

static tk_id first_private(const struct xplane_graph *g) {
  tk_id i = 1;
  while (i <= g->t->n_tracks && !(g->t->tracks[i].kind == TK_TRACK_PROCESS && xplane_is_private(g, i))) i++;
  return i <= g->t->n_tracks ? i : 0;
}

static bool make_marks(struct xplane_sink *s, struct xplane_graph *g) {
  const size_t tracks = (size_t)g->t->n_tracks + 1, shapes = (size_t)g->t->store->n_shapes + 1;
  g->marks = mem_alloc(&s->mem, sizeof *g->marks);
  if (!g->marks) return false;
  *g->marks = (struct xplane_marks){0, mem_zeros(&s->mem, tracks, sizeof(uint32_t)), mem_zeros(&s->mem, shapes, sizeof(uint32_t))};
  if (!g->marks->tracks || !g->marks->shapes) return false;
  return true;
}

/* Groups elements by process, so that writing a process does not examine the elements of other processes. */
static bool group(struct xplane_sink *s, struct xplane_graph *g) {
  const struct tk_trace *t = g->t;
  const uint32_t classes = g->n_classes ? g->n_classes - 1 : 0;
  g->home = first_private(g);
  return by_process_init(&g->tracks, t, t->n_tracks, parent_of, g, &s->mem) &&
         by_process_init(&g->was, t, g->n_lines, process_of_line, g, &s->mem) &&
         by_process_init(&g->of_classes, t, classes < t->n_classes ? classes : t->n_classes, process_of_class, g, &s->mem) &&
         by_process_init(&g->records, t, t->n_records, process_of_record, g, &s->mem) &&
         by_process_init(&g->points, t, t->n_flow_points, process_of_point, g, &s->mem) && make_marks(s, g);
}

/* Finds the keys of args that contain overridden stats of metadata. */
static void find_overruled(struct xplane_sink *s, struct xplane_graph *g) {
  const size_t prefix = strlen(XPLANE_OF_METADATA);
  map_init(&g->overruled, &s->mem);
  map_init(&g->overruling, &s->mem);
  for (tk_id i = 1; i <= g->t->store->strings.n; i++) {
    const struct intern_str *text = trace_str(g->t, i);
    if (text->len <= prefix || *text->bytes != 'x' || memcmp(text->bytes, XPLANE_OF_METADATA, prefix) != 0) continue;
    const tk_id key = xplane_find_text(g->t, text->bytes + prefix, text->len - prefix);
    if (!key) continue;
    map_put(&g->overruled, key, i);
    map_put(&g->overruling, i, key);
  }
}

/* Prepares a graph whose planes another format embedded, so that args of events can be found by key. */
static void begin_adopted(struct xplane_sink *s, struct xplane_graph *g) {
  const size_t n = (size_t)g->t->store->strings.n + 1;
  for (uint32_t i = 0; i < g->n_planes; i++) g->adopted = g->adopted || g->planes[i].adopted;
  g->found = g->adopted ? mem_zeros(&s->mem, n, sizeof *g->found) : NULL;
  if (g->adopted && g->ordinal == 0 && xplane_is_pristine(g, &s->mem)) g->converted = false;
}

static void begin_graph(struct xplane_sink *s, struct xplane_graph *g, const struct tk_trace *t) {
  struct xplane_clock was;
  *g = (struct xplane_graph){.t = t, .base_ns = s->base_ns, .ordinal = s->sink.ordinal};
  const bool is_xplane = xplane_clock_of(t, &was) && was.converted != XPLANE_CONVERTED;
  if (is_xplane) {
    take_tables(s, g);
    g->converted = was.converted != XPLANE_NATIVE;
    g->carried = s->carrier;
    g->restarted = s->opt.timeline && was.base_ns != s->base_ns;
    g->moved_ns = (int64_t)((i128)t->origin_ns - was.origin_ns + was.base_ns - s->base_ns);
    find_origins(s, g);
  }
  if (!group(s, g)) return;
  xplane_find_derived(g, &s->mem);
  if (is_xplane) begin_adopted(s, g);
  if (is_xplane && g->ordinal == 0) s->pristine = !g->converted;
  find_overruled(s, g);
  if (!s->carrier && !s->opt.several && !g->planes) xplane_find_kineto(g, &s->mem);
  if (!s->carrier) s->next_flow = xplane_link_events(g, s->next_flow, sink_step(&s->sink), &s->mem);
  s->edited = s->edited || t->edits;
  xplane_prune_init(g, s->opt.no_passthrough && g->planes, &s->mem);
}

static void end_graph(struct xplane_sink *s, struct xplane_graph *g) {
  struct by_process *const groups[] = {&g->tracks, &g->was, &g->of_classes, &g->records, &g->points};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) by_process_free(groups[i], &s->mem);
  if (g->marks) mem_free(&s->mem, g->marks->tracks);
  if (g->marks) mem_free(&s->mem, g->marks->shapes);
  mem_free(&s->mem, g->marks);
  xplane_prune_free(g);
  kineto_free(g->kineto);
  mem_free(&s->mem, g->planes_of);
  mem_free(&s->mem, g->rows);
  mem_free(&s->mem, g->flows);
  mem_free(&s->mem, g->found);
  mem_free(&s->mem, g->derived);
  map_free(&g->overruled);
  map_free(&g->overruling);
  mem_free(&s->mem, (void *)(uintptr_t)g->planes);
  mem_free(&s->mem, (void *)(uintptr_t)g->lines);
  mem_free(&s->mem, (void *)(uintptr_t)g->classes);
}

/* ---- planes ---- */

/* True for planes with file-wide data, which are written only once. */
static bool is_stated_once(const struct xplane_graph *g, const struct xplane_plane *p) {
  const char *name = tk_string(g->t, p->name, NULL);
  if (strcmp(name, XPLANE_PRIVATE_PLANE) == 0) return true;
  return g->ordinal && strcmp(name, XPLANE_TASK) == 0;
}

/* Ends a segment: if the input consisted of files joined by cat, the fields of each file are written after its planes. */
static bool end_segment(struct xplane_sink *s, struct tk_err *err) {
  struct pb c = pb_over(s->space.data ? s->space.data : (const uint8_t *)"", s->space.len);
  struct pb_field f;
  const uint8_t *from = c.p;
  uint64_t segment = 0;
  for (; pb_next(&c, &f); from = c.p) {
    if (f.number == XPLANE_SEGMENT) segment = f.value;
    if (f.number == XPLANE_SEGMENT || segment != s->segment) continue;
    if ((s->edited || s->opt.no_passthrough) && f.number > XSPACE_HOSTNAMES) { /* these may refer to data that an operation
                                                                                * changed */
      sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, !s->opt.no_passthrough);
      continue;
    }
    if (!xplane_grow(s, (uint64_t)(c.p - from), err)) return false;
    out_write(s->out, from, (size_t)(c.p - from));
  }
  s->segment++;
  return true;
}

static void add_space(struct xplane_sink *s, struct xplane_bytes fields) {
  buf_append(&s->added, fields.p, fields.n);
  xplane_add_space(&s->space, s->segment, fields);
}

static bool write_planes(struct xplane_sink *s, struct xplane_graph *g, struct tk_err *err) {
  const struct tk_trace *t = g->t;
  if (g->ordinal && g->planes) add_space(s, xplane_passthrough(t, XPLANE_META_SPACE));
  bool ok = true;
  for (uint32_t i = 0; i < g->n_planes && ok; i++) {
    while (ok && g->ordinal == 0 && s->segment < g->planes[i].segment) ok = end_segment(s, err);
    if (!ok || is_stated_once(g, &g->planes[i])) continue;
    ok = xplane_write_known(s, g, &g->planes[i], err);
  }
  ok = ok && (g->carried || xplane_order_rows(s, g));
  for (tk_id k = 1; !g->carried && k <= t->n_tracks && ok; k++)
    if (t->tracks[k].kind == TK_TRACK_PROCESS && !t->tracks[k].hidden && xplane_origin_of(g, k) == XPLANE_NEW)
      ok = xplane_write_new(s, g, k, err);
  return ok;
}

/* ---- the sink ---- */

/* Returns the base of the file's times. xprof loses times below zero, and prints other times as doubles, which are exact to the
 * picosecond up to 2^53 ps (2.5 hours). So if the first event is more than ten minutes from the source's own zero, times are relative
 * to that event, and a private stat contains the zero. The base depends only on the first event, because a merge knows its start, but
 * not yet the length of its inputs. */
static int64_t choose_base(const struct tk_trace *t) {
  static const i128 NEAR_NS = (i128)600 * 1000000000;
  struct xplane_clock was;
  tk_time start, end;
  if (xplane_clock_of(t, &was) && was.converted != XPLANE_CONVERTED) return was.base_ns;
  if (!t->n_events && !t->origin_ns) return t->zero_ns;
  trace_extent(t, &start, &end); /* in a merge, the origin is the start */
  i128 first = t->origin_ns + xplane_floor_ns(start), later = first - t->zero_ns;
  return later >= 0 && later < NEAR_NS ? t->zero_ns : (int64_t)first;
}

struct sink_start xplane_start(const struct tk_trace *first) {
  struct xplane_clock was;
  if (!xplane_clock_of(first, &was) || was.converted == XPLANE_CONVERTED) return (struct sink_start){0};
  return (struct sink_start){was.base_ns, true};
}

static bool xplane_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct xplane_bytes fields = xplane_passthrough(first, XPLANE_META_SPACE);
  s->base_ns = s->opt.start.known ? s->opt.start.of_first : choose_base(s->opt.timeline ? s->opt.timeline : first);
  buf_append(&s->space, fields.p, fields.n);
  return mem_check(&s->mem, err) && carry_open(s->opt.carry, first, err);
}

/* If several graphs are written, reserves ids for this graph that do not depend on how many ids the other graphs need. */
static void begin_ids(struct xplane_sink *s) {
  s->added.len = s->carried.len = 0;
  if (s->sink.graphs < 2) return;
  const struct sink *sink = &s->sink;
  xplane_ids_turn(&s->ids, (struct xplane_turn){sink->ordinal, sink->graphs, sink->first_row, sink->rows}, &s->mem);
  s->next_flow = 1 + (int64_t)s->sink.ordinal;
  if (!s->carrier) out_break(s->out);
}

static bool xplane_sink_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct xplane_graph g;
  bool ok;
  s->pace = (struct xplane_pace){.progress = s->opt.progress, .total = t->n_events};
  sink_limit(&s->mem, t);
  begin_ids(s);
  begin_graph(s, &g, t);
  if (s->carrier) {
    ok = mem_check(&s->mem, err) && (!g.planes || write_planes(s, &g, err));
    end_graph(s, &g);
    return ok || mem_refuse(&s->mem, err);
  }
  for (uint32_t i = 0; i < g.n_planes; i++)
    if (!is_stated_once(&g, &g.planes[i]) && strcmp(tk_string(t, g.planes[i].name, NULL), XPLANE_TASK) == 0) s->has_start = true;
  ok = mem_check(&s->mem, err) && write_planes(s, &g, err);
  xplane_count_flow_points(&s->sink, &g);
  xplane_count_records(&s->sink, &g);
  uint64_t written = t->n_events;
  for (tk_id i = 1; i <= t->n_tracks; i++) written -= xplane_is_derived(&g, i) ? t->tracks[i].count : 0;
  s->sink.saved.events += written;
  s->sink.saved.records += written;
  end_graph(s, &g);
  if (s->sink.graphs > 1) out_break(s->out);
  ok = ok && carry_write(s->opt.carry, sink, t, err);
  return ok || mem_refuse(&s->mem, err);
}

/* A plane that only has stats. */
struct stats_plane {
  struct xplane_graph g;
  struct xplane_encoder e;
  struct buf stats;
};

static void stats_plane_begin(struct stats_plane *p, struct xplane_sink *s, const struct tk_trace *t) {
  *p = (struct stats_plane){.g = {.t = t}, .stats = {.mem = &s->mem}};
  xplane_encoder_init(&p->e, &p->g, 0, NULL, &s->mem);
}

static bool stats_plane_end(struct stats_plane *p, struct xplane_sink *s, const char *name, struct tk_err *err) {
  bool ok = xplane_write_stats(s, &p->e, name, &p->stats, err);
  buf_free(&p->stats);
  xplane_encoder_free(&p->e);
  return ok;
}

/* Writes the base of the file's times for xprof, if it is an absolute time. (put_zero always writes it for our reader.) */
static bool write_clock(struct xplane_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct stats_plane p;
  stats_plane_begin(&p, s, first);
  if (!s->has_start && first->clock == TK_CLOCK_REALTIME && s->base_ns > 0)
    xplane_add_private_int(&p.e, &p.stats, XPLANE_STATS, XPLANE_START, s->base_ns);
  return stats_plane_end(&p, s, XPLANE_TASK, err);
}

static void put_metas(struct stats_plane *p, const struct tk_trace *t) {
  struct buf key = {.mem = p->e.mem};
  for (tk_id i = 1; i <= t->n_metas; i++) {
    size_t n;
    const char *name = tk_string(t, t->metas[i].key, &n);
    if (t->metas[i].origin || strcmp(name, "tracekit") == 0) continue;
    key.len = 0;
    buf_append(&key, XPLANE_PRIVATE_META, strlen(XPLANE_PRIVATE_META));
    if (t->metas[i].after) buf_append(&key, "after.", 6);
    buf_append(&key, name, n);
    if (buf_append(&key, "", 1))
      xplane_add_private_stat(&p->e, &p->stats, XPLANE_STATS, (const char *)key.data, trace_raw(t, t->metas[i].at),
                          t->metas[i].size);
  }
  buf_free(&key);
}

/* Writes the blocks of other formats (format/carry.h) in the form in which JSON stores them, as top-level data. */
static bool put_blocks(struct stats_plane *p, struct xplane_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct buf key = {.mem = p->e.mem}, text = {.mem = p->e.mem};
  const uint8_t *bytes;
  const char *name;
  size_t n;
  bool ok = carry_close(s->opt.carry, first, &s->sink.saved, err);
  for (unsigned i = 0; ok && (bytes = carry_take(s->opt.carry, i, &name, &n)) != NULL; i++) {
    if (n == 0) continue;
    key.len = text.len = 0;
    buf_text(&key, XPLANE_PRIVATE_META "after.");
    buf_append(&key, name, strlen(name) + 1);
    buf_text(&text, "\"");
    base64_append(&text, bytes, n);
    if (!buf_text(&text, "\"")) continue;
    xplane_add_private_stat(&p->e, &p->stats, XPLANE_STATS, (const char *)key.data, (const char *)text.data, text.len);
  }
  buf_free(&key);
  buf_free(&text);
  return ok;
}

static void put_zero(struct stats_plane *p, const struct xplane_sink *s, const struct tk_trace *first) {
  xplane_add_private_int(&p->e, &p->stats, XPLANE_STATS, XPLANE_PRIVATE_ZERO, first->zero_ns);
  xplane_add_private_int(&p->e, &p->stats, XPLANE_STATS, XPLANE_PRIVATE_BASE, s->base_ns);
}

/* Writes a plane if the file has none, because an empty file is not a trace. */
static bool write_something(struct xplane_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct stats_plane p;
  if (s->written) return true;
  stats_plane_begin(&p, s, first);
  put_zero(&p, s, first);
  return stats_plane_end(&p, s, XPLANE_PRIVATE_PLANE, err);
}

static bool write_private(struct xplane_sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct stats_plane p;
  struct xplane_clock was;
  stats_plane_begin(&p, s, first);
  if (!xplane_clock_of(first, &was) || (was.converted && !s->pristine)) {
    put_zero(&p, s, first);
    put_metas(&p, first);
  }
  const bool ok = put_blocks(&p, s, first, err);
  if (provenance) xplane_add_private_stat(&p.e, &p.stats, XPLANE_STATS, "tracekit", provenance, strlen(provenance));
  return ok & stats_plane_end(&p, s, XPLANE_PRIVATE_PLANE, err);
}

static void put_host_name(struct xplane_sink *s, const struct json_value *host) {
  struct json j = {.p = host->p, .end = host->end, .last = true, .scratch = {.mem = &s->mem}};
  size_t n = 0;
  const uint8_t *name = host->type == JSON_STRING ? json_string_text(&j, &host->str, &n) : NULL;
  if (name && n && !xplane_is_named(&s->space, name, n)) {
    pb_u64(&s->space, XPLANE_SEGMENT, s->segment);
    pb_bytes(&s->space, XSPACE_HOSTNAMES, name, n);
  }
  buf_free(&j.scratch);
}

/* Adds the host names, which xprof reads from the XSpace: the host of the trace, and the hosts of merged ranks. */
static void put_host_names(struct xplane_sink *s, const struct tk_trace *first, const char *provenance) {
  const struct tk_meta *m = trace_meta(first, "host_name");
  struct json_value ranks, v, host;
  struct json j = {.p = m ? (const uint8_t *)trace_raw(first, m->at) : NULL, .last = true};
  if (m) j.end = j.p + m->size;
  if (m && !m->origin && !s->space.len && json_value(&j, &v)) put_host_name(s, &v);
  if (s->opt.host && !s->space.len) {
    pb_u64(&s->space, XPLANE_SEGMENT, s->segment);
    pb_bytes(&s->space, XSPACE_HOSTNAMES, s->opt.host, strlen(s->opt.host));
  }
  if (!provenance || !json_member(provenance, strlen(provenance), "ranks", &ranks) || ranks.type != JSON_ARRAY) return;
  j = (struct json){.p = ranks.p + 1, .end = ranks.end, .last = true};
  while (json_blank(&j) && *j.p == '{' && json_value(&j, &v)) {
    if (json_member((const char *)v.p, (size_t)(v.end - v.p), "host", &host)) put_host_name(s, &host);
    if (!json_blank(&j) || *j.p++ != ',') break;
  }
}

static bool write_carried(struct xplane_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct xplane_encoder e = {.mem = &s->mem};
  if (!xplane_end_carried(s, first)) return true;
  e.new_stats = s->carried_names;
  return xplane_write_stats(s, &e, XPLANE_PRIVATE_PLANE, &s->carried_stats, err) && end_segment(s, err);
}

static bool xplane_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  if (s->carrier) return write_carried(s, first, err) && mem_check(&s->mem, err);
  if (!write_clock(s, first, err) || !write_private(s, first, provenance, err)) return false;
  put_host_names(s, first, provenance);
  return end_segment(s, err) && write_something(s, first, err) && mem_check(&s->mem, err);
}

/* ---- parts ---- */

enum { PART_FLAGS = 1, PART_SEGMENT, PART_SPACE, PART_PLANES, PART_CARRIED };
enum { HAS_START = 1, EDITED = 2, PRISTINE = 4 };

static void xplane_leave(struct sink *sink, struct buf *state) {
  const struct xplane_sink *s = (const struct xplane_sink *)sink;
  pb_u64(state, PART_FLAGS, (s->has_start ? HAS_START : 0) | (s->edited ? EDITED : 0) | (s->pristine ? PRISTINE : 0));
  pb_u64(state, PART_SEGMENT, s->segment);
  pb_message(state, PART_SPACE, &s->added);
  pb_u64(state, PART_PLANES, s->planes);
  pb_message(state, PART_CARRIED, &s->carried);
}

static bool xplane_take(struct sink *sink, const struct sink_piece *part, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct pb c = pb_over(part->state, part->n_state);
  struct pb_field f;
  uint64_t planes = 0;
  if (!s->carrier) out_break(s->out);
  while (pb_next(&c, &f)) {
    if (f.number == PART_FLAGS) {
      s->has_start = s->has_start || f.value & HAS_START;
      s->edited = s->edited || f.value & EDITED;
      s->pristine = s->pristine || f.value & PRISTINE;
    } else if (f.number == PART_SEGMENT && sink->ordinal == 0) {
      s->segment = (uint32_t)f.value;
    } else if (pb_field_key(&f) == PB_KEY(PART_SPACE, PB_BYTES) && f.value) {
      add_space(s, (struct xplane_bytes){f.p, (size_t)f.value});
    } else if (f.number == PART_PLANES) {
      planes = f.value;
    } else if (f.number == PART_CARRIED && !xplane_take_carried(s, pb_inside(&f))) {
      return err_set(err, TK_EFORMAT, "the part was written by another version of tracekit");
    }
  }
  s->planes += (uint32_t)planes;
  return xplane_grow(s, part->raw, err) && mem_check(&s->mem, err);
}

static void xplane_free(struct sink *sink) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct mem mem;
  xplane_ids_free(&s->ids);
  buf_free(&s->space);
  buf_free(&s->carried_names);
  buf_free(&s->carried_stats);
  buf_free(&s->carried);
  buf_free(&s->added);
  mem = s->mem;
  mem_free(&mem, s);
}

struct sink *xplane_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct xplane_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct xplane_sink){.out = out, .opt = *opt, .mem = mem, .next_flow = 1};
  s->space.mem = s->carried_names.mem = s->carried_stats.mem = s->carried.mem = s->added.mem = &s->mem;
  xplane_ids_init(&s->ids, &s->mem);
  s->sink.open = xplane_open;
  s->sink.write = xplane_sink_write;
  s->sink.close = xplane_close;
  s->sink.free = xplane_free;
  s->sink.leave = xplane_leave;
  s->sink.take = xplane_take;
  return &s->sink;
}

struct sink *xplane_carrier(struct out *out, const struct sink_options *opt) {
  struct sink *sink = xplane_writer(out, opt);
  if (sink) ((struct xplane_sink *)sink)->carrier = true;
  return sink;
}

/* write.c - graphs -> XSpace.
 *
 * What was read as XPlane is written as it was: planes, metadata and stats as they stood on the wire, in their order, around
 * lines that are encoded anew.  Processes of other formats become planes that xprof shows: "/device:CUSTOM:<name> <pid>" with
 * ids from 0, and beyond 199 of them, for which xprof has no process ids, "/host:CPU [<name> <pid>]".  Times count from the
 * file's zero, which a plane "Task Environment" states where the clock is real: xprof loses negative times and those beyond 106
 * days.  The plane "/tracekit:metadata" holds what is of no plane: top-level data of other formats, and what tracekit says of the file. */
#include <stdio.h>
#include <string.h>

#include "writer.h"

static const uint64_t MOST = INT32_MAX; /* bytes that protobuf takes in one message */
enum { CUSTOM_IDS = 199 };

struct xplane_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  uint64_t written;
  int64_t base_ns;
  uint32_t graphs;
  int64_t next_custom, next_flow;
  struct map ids;   /* hash of (kind of plane, id) taken */
  struct buf space; /* the first graph's fields that are no planes, by segment */
  uint32_t segment; /* whose fields are to be written */
  bool has_start;   /* a plane "Task Environment" has been written */
};

/* ---- the graph as it was read ---- */

/* A side table, if its size fits. */
static const void *table(const struct tk_trace *t, const char *key, size_t elem, uint32_t *n) {
  const struct tk_meta *m = trace_meta(t, key);
  *n = 0;
  if (!m || !m->origin || m->size % elem || m->size == 0) return NULL;
  *n = (uint32_t)(m->size / elem);
  return trace_raw(t, m->at);
}

static bool clock_of(const struct tk_trace *t, struct xplane_clock *clock) {
  uint32_t n;
  const void *p = table(t, XPLANE_META_CLOCK, sizeof *clock, &n);
  if (p) memcpy(clock, p, sizeof *clock);
  return p != NULL;
}

/* Copied out, since raw text has no alignment. */
static void *aligned(struct mem *mem, const void *p, size_t n) {
  void *q = p ? mem_alloc(mem, n) : NULL;
  return q ? memcpy(q, p, n) : NULL;
}

/* XFlow: id and direction of the first point of each event. */
static uint64_t *flow_stats(struct xplane_sink *s, const struct tk_trace *t) {
  static const uint8_t directions[] = {
      [TK_FLOW_START] = 2, [TK_FLOW_STEP] = 3, [TK_FLOW_END] = 1, [TK_FLOW_OUT] = 2, [TK_FLOW_IN] = 1, [TK_FLOW_INOUT] = 3};
  uint64_t *flows = mem_array(&s->mem, (uint64_t)t->n_events + 1, sizeof *flows);
  struct map ids;
  if (!flows) return NULL;
  memset(flows, 0, ((size_t)t->n_events + 1) * sizeof *flows);
  map_init(&ids, &s->mem);
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    uint32_t *id;
    if (!f->bound) continue;
    id = map_put(&ids, ((uint64_t)f->id << 1 | f->id_is_str) * 0x9e3779b97f4a7c15u + f->cls, 0);
    if (!id) break;
    if (!*id) *id = (uint32_t)s->next_flow++;
    uint64_t *at = &flows[f->at], value = (uint64_t)*id << 2 | directions[f->role];
    if (f->role < TK_FLOW_OUT) value |= XPLANE_FLOW_TOLD;
    if (!*at) *at = value;
    else if ((*at & ~XPLANE_FLOW_TOLD) >> 2 == *id) *at |= value;
    s->sink.saved.flow_points++;
  }
  map_free(&ids);
  return flows;
}

static void begin_graph(struct xplane_sink *s, struct xplane_graph *g, const struct tk_trace *t) {
  const void *planes, *lines, *classes;
  struct xplane_clock was;
  *g = (struct xplane_graph){.t = t, .base_ns = s->base_ns, .ordinal = s->graphs++};
  planes = table(t, XPLANE_META_PLANES, sizeof *g->planes, &g->n_planes);
  lines = table(t, XPLANE_META_LINES, sizeof *g->lines, &g->n_lines);
  classes = table(t, XPLANE_META_CLASSES, sizeof *g->classes, &g->n_classes);
  g->planes = aligned(&s->mem, planes, (size_t)g->n_planes * sizeof *g->planes);
  g->lines = aligned(&s->mem, lines, (size_t)g->n_lines * sizeof *g->lines);
  g->classes = aligned(&s->mem, classes, (size_t)g->n_classes * sizeof *g->classes);
  if (clock_of(t, &was)) {
    g->own = was.own != 0;
    g->moved_ns = (int64_t)((i128)t->origin_ns - was.origin_ns + was.base_ns - s->base_ns);
  }
  if ((!planes || g->own) && t->n_flow_points) g->flows = flow_stats(s, t);
  else s->sink.saved.flow_points += t->n_flow_points; /* the stats that say them are args */
}

static void end_graph(struct xplane_sink *s, struct xplane_graph *g) {
  mem_free(&s->mem, g->flows);
  mem_free(&s->mem, (void *)(uintptr_t)g->planes);
  mem_free(&s->mem, (void *)(uintptr_t)g->lines);
  mem_free(&s->mem, (void *)(uintptr_t)g->classes);
}

/* ---- names and ids of planes ---- */

static bool starts_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

unsigned xplane_plane_kind(const char *name) {
  static const char *const prefixes[] = {"/device:GPU:", "/device:TPU:", "/device:CUSTOM:", "/host:CPU"};
  for (unsigned i = 0; i < 4; i++)
    if (starts_with(name, prefixes[i])) return i < 2 ? 1 : i;
  return 0;
}

static bool take_id(struct xplane_sink *s, unsigned kind, int64_t id) {
  uint32_t *slot = map_put(&s->ids, (uint64_t)id << 2 | kind, 0);
  if (!slot || *slot) return false;
  *slot = 1;
  return true;
}

/* A plane of a later graph must not fall together with one of an earlier: its id moves up if it is taken. */
static int64_t plane_id(struct xplane_sink *s, const struct xplane_graph *g, const char *name, int64_t id) {
  unsigned kind = xplane_plane_kind(name);
  if (take_id(s, kind, id) || g->ordinal == 0) return id;
  for (id = 0; !take_id(s, kind, id);) id++;
  return id;
}

/* "/device:TPU:0", or of a process that an operation named anew "/device:TPU:0 [rank 1 - hostB]": xprof knows planes by how
 * their names begin. */
void xplane_print_plane_name(const struct tk_trace *t, uint32_t ordinal, const struct xplane_plane *p, struct buf *b) {
  size_t n, m;
  const char *was = tk_string(t, p->name, &n), *now = was;
  char host[32] = "";
  m = n;
  buf_append(b, was, n);
  if (p->process && !t->tracks[p->process].hidden) now = tk_string(t, t->tracks[p->process].name, &m);
  if (!p->process || t->tracks[p->process].hidden || t->tracks[p->process].name == p->shown) {
    if (ordinal) buf_append(b, host, (size_t)snprintf(host, sizeof host, " [host%u]", ordinal));
    return;
  }
  if (m > n + 3 && memcmp(now + m - n, was, n) == 0 && memcmp(now + m - n - 3, " - ", 3) == 0) m -= n + 3;
  buf_append(b, " [", 2);
  buf_append(b, now, m);
  buf_append(b, "]", 1);
}

static void put_ident(const struct tk_trace *t, struct buf *b, struct tk_ident i) {
  char number[24];
  size_t n;
  const char *text = tk_string(t, i.str, &n);
  if (i.kind == TK_IDENT_STR) buf_append(b, text, n);
  else if (i.kind != TK_IDENT_NONE) buf_append(b, number, num_put_i64(number, i.num));
}

static bool custom(const struct xplane_sink *s) { return s->next_custom < CUSTOM_IDS; }

static void name_new(const struct xplane_sink *s, const struct tk_trace *t, const struct tk_track *k, struct buf *b) {
  size_t n, m;
  const char *name = tk_string(t, k->name, &n), *labels = tk_string(t, k->labels, &m);
  if (starts_with(name, "/host:CPU") || starts_with(name, "/device:")) { /* XPlane's own, by way of JSON */
    buf_append(b, name, n);
    return;
  }
  buf_append(b, custom(s) ? "/device:CUSTOM:" : "/host:CPU [", custom(s) ? strlen("/device:CUSTOM:") : strlen("/host:CPU ["));
  if (n) buf_append(b, name, n);
  if (n) buf_append(b, " ", 1);
  put_ident(t, b, k->pid);
  if (m) buf_append(b, " (", 2), buf_append(b, labels, m), buf_append(b, ")", 1);
  if (!custom(s)) buf_append(b, "]", 1);
}

/* ---- planes ---- */

static bool grow(struct xplane_sink *s, uint64_t n, struct tk_err *err) {
  s->written += n;
  return s->written <= MOST ||
         err_set(err, TK_ELIMIT, "more than 2 GiB: protobuf cannot read such an XSpace; write one file per host");
}

/* Head, lines and the rest are one plane. */
static bool put_plane(struct xplane_sink *s, struct xplane_encoder *e, const struct buf *head, const struct buf *rest,
                      struct tk_err *err) {
  uint64_t size = head->len + (e ? xplane_lines_size(e) : 0) + rest->len;
  uint8_t *q;
  if (!mem_check(&s->mem, err) || !grow(s, size + 12, err)) return false;
  q = out_reserve(s->out, 16);
  s->out->next = varint_put(pb_key(q, XSPACE_PLANES, PB_BYTES), size);
  out_write(s->out, head->data, head->len);
  if (e && s->opt.meter.add) e->meter = &s->opt.meter; /* not while sizes were measured */
  if (e) xplane_put_lines(e, s->out);
  if (rest->len) out_write(s->out, rest->data, rest->len);
  return mem_check(&s->mem, err);
}

static void put_head(struct buf *b, int64_t id, const struct buf *name) {
  if (id) pb_i64(b, XPLANE_ID, id);
  if (name->len) pb_message(b, XPLANE_NAME, name);
}

/* Is the stat one of those that are told anew? */
static bool is_told(const struct xplane_names *names, const struct pb_field *f) {
  static const char *const told[] = {XPLANE_OWN_TRACKS, XPLANE_OWN_FLOWS, XPLANE_OWN_RECORDS};
  struct pb c = pb_inside(f);
  struct xstat s;
  bool odd = false;
  const struct xplane_name *name = xplane_stat(&c, &s, &odd) ? xplane_name_of(names, s.id) : NULL;
  for (size_t i = 0; name && i < sizeof told / sizeof told[0]; i++)
    if (strlen(told[i]) == name->n && memcmp(told[i], name->p, name->n) == 0) return true;
  return false;
}

/* A plane's fields as they were, but for id, name and lines, and what we tell of tracks. */
static void put_raw(struct buf *b, const struct xplane_graph *g, const struct xplane_plane *p) {
  struct pb c = pb_over(trace_raw(g->t, p->at), (size_t)p->size);
  struct xplane_names names;
  struct pb_field f;
  const uint8_t *from = c.p;
  xplane_names_of(&names, c, b->mem);
  for (; pb_next(&c, &f); from = c.p) {
    if (f.number == XPLANE_ID || f.number == XPLANE_NAME) continue;
    if (g->own && pb_field_key(&f) == PB_KEY(XPLANE_STATS, PB_BYTES) && is_told(&names, &f)) continue;
    buf_append(b, from, (size_t)(c.p - from));
  }
  xplane_names_free(&names);
}

/* What a plane and its lines cannot say of its tracks. */
static void tell(struct xplane_encoder *e, struct buf *own) {
  struct buf text = {.mem = e->mem};
  if (xplane_tell_tracks(e, &text)) xplane_add_own_stat(e, own, XPLANE_STATS, XPLANE_OWN_TRACKS, text.data, text.len);
  text.len = 0;
  if (xplane_tell_flows(e, &text)) xplane_add_own_stat(e, own, XPLANE_STATS, XPLANE_OWN_FLOWS, text.data, text.len);
  text.len = 0;
  if (xplane_tell_records(e, &text)) xplane_add_own_stat(e, own, XPLANE_STATS, XPLANE_OWN_RECORDS, text.data, text.len);
  buf_free(&text);
}

/* The pieces of a plane on its way out. */
struct pieces {
  struct buf name, head, rest, own;
};

static struct pieces no_pieces(struct mem *mem) { return (struct pieces){{.mem = mem}, {.mem = mem}, {.mem = mem}, {.mem = mem}}; }

/* A NUL behind the name, which is not of it. */
static const char *text_of(struct buf *name) {
  if (!buf_append(name, "", 1)) return "";
  name->len--;
  return (const char *)name->data;
}

/* What the lines have added to the plane's maps stands behind them, then what tracekit says of the file; `e` is NULL if there are no lines. */
static bool end_plane(struct xplane_sink *s, struct xplane_encoder *e, struct pieces *p, bool laid_out, struct tk_err *err) {
  const struct buf *more[] = {e ? &e->new_classes : NULL, e ? &e->new_stats : NULL, &p->own};
  bool ok = laid_out;
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (more[i] && more[i]->len) buf_append(&p->rest, more[i]->data, more[i]->len);
  ok = ok && put_plane(s, e, &p->head, &p->rest, err);
  buf_free(&p->name);
  buf_free(&p->head);
  buf_free(&p->rest);
  buf_free(&p->own);
  return ok || mem_refuse(&s->mem, err);
}

static bool write_known(struct xplane_sink *s, const struct xplane_graph *g, const struct xplane_plane *plane, struct tk_err *err) {
  struct pieces p = no_pieces(&s->mem);
  bool lines = plane->process && plane->process <= g->t->n_tracks && !g->t->tracks[plane->process].hidden, ok;
  struct xplane_encoder e;
  xplane_print_plane_name(g->t, g->ordinal, plane, &p.name);
  put_head(&p.head, plane_id(s, g, text_of(&p.name), plane->id), &p.name);
  xplane_encoder_init(&e, g, plane->process, plane, &s->mem);
  ok = !lines || xplane_lay_out(&e);
  put_raw(&p.rest, g, plane);
  if (lines && g->own) tell(&e, &p.own);
  if (lines && g->ordinal) xplane_add_own_int(&e, &p.own, XPLANE_STATS, XPLANE_OWN_HOST, g->ordinal);
  ok = end_plane(s, lines ? &e : NULL, &p, ok, err);
  xplane_encoder_free(&e);
  return ok;
}

static bool write_new(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct tk_err *err) {
  struct pieces p = no_pieces(&s->mem);
  struct xplane_encoder e;
  bool ok;
  name_new(s, g->t, &g->t->tracks[process], &p.name);
  unsigned kind = xplane_plane_kind(text_of(&p.name));
  int64_t id = kind == 2 ? s->next_custom++ : 0;
  while (!take_id(s, kind, id)) id++;
  put_head(&p.head, id, &p.name);
  xplane_encoder_init(&e, g, process, NULL, &s->mem);
  ok = xplane_lay_out(&e);
  tell(&e, &p.own);
  ok = end_plane(s, &e, &p, ok, err);
  xplane_encoder_free(&e);
  return ok;
}

/* Facts that the file as a whole states once. */
static bool is_stated_once(const struct xplane_graph *g, const struct xplane_plane *p) {
  const char *name = tk_string(g->t, p->name, NULL);
  if (strcmp(name, XPLANE_OWN_PLANE) == 0) return true;
  return g->ordinal && strcmp(name, XPLANE_TASK) == 0;
}

/* Files joined by cat: the fields of each stand behind its planes. */
static bool end_segment(struct xplane_sink *s, struct tk_err *err) {
  struct pb c = pb_over(s->space.data ? s->space.data : (const uint8_t *)"", s->space.len);
  struct pb_field f;
  const uint8_t *from = c.p;
  uint64_t segment = 0;
  for (; pb_next(&c, &f); from = c.p) {
    if (f.number == XPLANE_SEGMENT) segment = f.value;
    else if (segment == s->segment && !grow(s, (uint64_t)(c.p - from), err)) return false;
    else if (segment == s->segment) out_write(s->out, from, (size_t)(c.p - from));
  }
  s->segment++;
  return true;
}

static bool write_planes(struct xplane_sink *s, const struct xplane_graph *g, struct tk_err *err) {
  const struct tk_trace *t = g->t;
  struct map known;
  bool ok = true;
  map_init(&known, &s->mem);
  for (uint32_t i = 0; i < g->n_planes && ok; i++) {
    while (ok && g->ordinal == 0 && s->segment < g->planes[i].segment) ok = end_segment(s, err);
    if (!ok || is_stated_once(g, &g->planes[i])) continue;
    if (g->planes[i].process) map_put(&known, g->planes[i].process, 1);
    ok = write_known(s, g, &g->planes[i], err);
  }
  for (tk_id k = 1; k <= t->n_tracks && ok; k++)
    if (t->tracks[k].kind == TK_PROCESS && !t->tracks[k].hidden && !map_get(&known, k)) ok = write_new(s, g, k, err);
  map_free(&known);
  return ok;
}

/* ---- the sink ---- */

/* xprof loses times below zero and prints the others as doubles, which are exact to the picosecond up to 2^53 ps: 2.5 hours.
 * Where the source's own zero is too far, times count from the first event, and a stat of ours keeps that zero. */
static int64_t choose_base(const struct tk_trace *t) {
  static const i128 EXACT_PS = (i128)1 << 53;
  struct xplane_clock was;
  i128 first = INT64_MAX, last = INT64_MIN, zero = ((i128)t->zero_ns - t->origin_ns) * 1000;
  if (clock_of(t, &was)) return was.base_ns;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->flags & TK_LOST_CLOCK) continue;
    if (e->ts < first) first = e->ts;
    if (e->ts + e->dur > last) last = e->ts + e->dur;
  }
  if (first > last || (first >= zero && last - zero < EXACT_PS)) return t->zero_ns;
  return t->origin_ns + (int64_t)(first >= 0 ? first / 1000 : -((-first + 999) / 1000));
}

static bool xplane_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  const struct tk_meta *m = trace_meta(first, XPLANE_META_SPACE);
  s->base_ns = choose_base(first);
  if (m && m->origin) buf_append(&s->space, trace_raw(first, m->at), m->size);
  return mem_check(&s->mem, err);
}

static bool xplane_sink_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct xplane_graph g;
  bool ok;
  begin_graph(s, &g, t);
  for (uint32_t i = 0; i < g.n_planes; i++)
    if (g.planes && strcmp(tk_string(t, g.planes[i].name, NULL), XPLANE_TASK) == 0) s->has_start = true;
  ok = mem_check(&s->mem, err) && write_planes(s, &g, err);
  s->sink.saved.events += t->n_events;
  s->sink.saved.records += t->n_events;
  end_graph(s, &g);
  return ok;
}

/* A plane of stats alone. */
struct extra_plane {
  struct xplane_sink *s;
  struct xplane_graph g;
  struct xplane_encoder e;
  struct buf stats;
};

static void extra_plane_begin(struct extra_plane *f, struct xplane_sink *s, const struct tk_trace *t) {
  *f = (struct extra_plane){.s = s, .g = {.t = t}, .stats = {.mem = &s->mem}};
  xplane_encoder_init(&f->e, &f->g, 0, NULL, &s->mem);
}

static bool extra_plane_end(struct extra_plane *f, const char *plane, struct tk_err *err) {
  struct buf name = {.mem = &f->s->mem}, head = {.mem = &f->s->mem};
  bool ok = true;
  if (f->stats.len) {
    buf_append(&name, plane, strlen(plane));
    put_head(&head, 0, &name);
    if (f->e.new_stats.len) buf_append(&f->e.new_classes, f->e.new_stats.data, f->e.new_stats.len);
    buf_append(&f->e.new_classes, f->stats.data, f->stats.len);
    ok = put_plane(f->s, NULL, &head, &f->e.new_classes, err);
  }
  buf_free(&name);
  buf_free(&head);
  buf_free(&f->stats);
  xplane_encoder_free(&f->e);
  return ok;
}

/* What the file's times count from: for xprof where it is a real time, for ourselves whatever it is. */
static bool put_clock(struct xplane_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct extra_plane f;
  extra_plane_begin(&f, s, first);
  if (!s->has_start && first->clock == TK_CLOCK_REALTIME && s->base_ns > 0)
    xplane_add_own_int(&f.e, &f.stats, XPLANE_STATS, XPLANE_START, s->base_ns);
  return extra_plane_end(&f, XPLANE_TASK, err);
}

static void put_metas(struct extra_plane *f, const struct tk_trace *t) {
  struct buf key = {.mem = f->e.mem};
  for (tk_id i = 1; i <= t->n_metas; i++) {
    size_t n;
    const char *name = tk_string(t, t->metas[i].key, &n);
    if (t->metas[i].origin || strcmp(name, "tracekit") == 0) continue;
    key.len = 0;
    buf_append(&key, XPLANE_OWN_META, strlen(XPLANE_OWN_META));
    if (t->metas[i].after) buf_append(&key, "after.", 6);
    buf_append(&key, name, n);
    if (buf_append(&key, "", 1))
      xplane_add_own_stat(&f->e, &f->stats, XPLANE_STATS, (const char *)key.data, trace_raw(t, t->metas[i].at),
                          t->metas[i].size);
  }
  buf_free(&key);
}

static bool put_own(struct xplane_sink *s, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct extra_plane f;
  struct xplane_clock was;
  extra_plane_begin(&f, s, first);
  if (!clock_of(first, &was) || was.own) {
    xplane_add_own_int(&f.e, &f.stats, XPLANE_STATS, XPLANE_OWN_ZERO, first->zero_ns);
    xplane_add_own_int(&f.e, &f.stats, XPLANE_STATS, XPLANE_OWN_BASE, s->base_ns);
    put_metas(&f, first);
  }
  if (provenance) xplane_add_own_stat(&f.e, &f.stats, XPLANE_STATS, "tracekit", provenance, strlen(provenance));
  return extra_plane_end(&f, XPLANE_OWN_PLANE, err);
}

/* xprof asks an XSpace for its host. */
static void put_host(struct xplane_sink *s, const struct tk_trace *first) {
  const struct tk_meta *m = trace_meta(first, "host_name");
  const char *text = m ? trace_raw(first, m->at) : NULL;
  if (s->space.len || !m || m->origin || m->size < 3 || *text != '"' || memchr(text, '\\', m->size)) return;
  pb_u64(&s->space, XPLANE_SEGMENT, s->segment);
  pb_bytes(&s->space, XSPACE_HOSTNAMES, text + 1, m->size - 2);
}

static bool xplane_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  if (!put_clock(s, first, err) || !put_own(s, first, provenance, err)) return false;
  put_host(s, first);
  return end_segment(s, err) && mem_check(&s->mem, err);
}

static void xplane_free(struct sink *sink) {
  struct xplane_sink *s = (struct xplane_sink *)sink;
  struct mem mem;
  map_free(&s->ids);
  buf_free(&s->space);
  mem = s->mem;
  mem_free(&mem, s);
}

struct sink *xplane_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct xplane_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct xplane_sink){.out = out, .opt = *opt, .mem = mem, .next_flow = 1};
  s->space.mem = &s->mem;
  map_init(&s->ids, &s->mem);
  s->sink.open = xplane_open;
  s->sink.write = xplane_sink_write;
  s->sink.close = xplane_close;
  s->sink.free = xplane_free;
  return &s->sink;
}

/* plane.c - writes one plane.
 *
 * A plane that was read from XPlane is written with its original metadata and stats, in their original order; only its lines
 * are encoded again. Processes from other formats become planes that xprof shows: "/device:CUSTOM:<name> <pid>" with ids from
 * 0, assigned by sort index, because xprof orders planes by id. After 199 of them, for which xprof has no process ids, they
 * become "/host:CPU [<name> <pid>]". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plane.h"
#include "format/xplane/kineto.h"
#include "writer.h"
#include "private.h"
#include "passthrough.h"
#include "lines.h"
#include "kineto.h"
#include "flow.h"
#include "carried.h"
#include "adopted.h"

static const uint64_t MOST = INT32_MAX; /* maximum number of bytes of a message that protobuf accepts */

/* ---- names and ids of planes ---- */

/* Returns an id that no plane of another graph has, because each of several graphs has its own range of ids. */
static int64_t plane_id(struct xplane_sink *s, const char *name, int64_t id) {
  const enum xplane_kind kind = xplane_plane_kind(name);
  if (s->sink.graphs > 1) return xplane_some_id(&s->ids, kind, xplane_least_id(&s->ids, kind));
  xplane_take_id(&s->ids, kind, id);
  return id;
}

static void put_ident(const struct tk_trace *t, struct buf *b, struct tk_ident i) {
  char number[24];
  size_t n;
  const char *text = tk_string(t, i.str, &n);
  if (i.kind == TK_IDENT_STR) buf_append(b, text, n);
  else if (i.kind != TK_IDENT_NONE) buf_append(b, number, num_put_i64(number, i.num));
}

/* True for a process of PyTorch that xprof analyses; such planes get no row id. */
static bool is_made(const struct xplane_graph *g, tk_id process) {
  return g->kineto && g->kineto->roles[process] != KINETO_OTHER;
}

struct row {
  int64_t sort;
  tk_id process;
};

static int by_sort(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  if (x->sort != y->sort) return x->sort < y->sort ? -1 : 1;
  return x->process < y->process ? -1 : x->process > y->process;
}

bool xplane_order_rows(struct xplane_sink *s, struct xplane_graph *g) {
  const struct tk_trace *t = g->t;
  struct row *rows = mem_array(&s->mem, (uint64_t)t->n_tracks + 1, sizeof *rows);
  g->rows = mem_zeros(&s->mem, (uint64_t)t->n_tracks + 1, sizeof *g->rows);
  if (!rows || !g->rows) {
    mem_free(&s->mem, rows);
    return false;
  }
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || k->hidden || xplane_origin_of(g, i) != XPLANE_NEW || is_made(g, i)) continue;
    if (!xplane_is_native(tk_string(t, k->name, NULL)))
      rows[n++] = (struct row){k->has_sort ? k->sort_index : INT64_MAX, i};
  }
  if (n) qsort(rows, n, sizeof *rows, by_sort);
  for (uint32_t i = 0; i < n; i++) {
    const int64_t id = xplane_least_id(&s->ids, XPLANE_CUSTOM);
    if (id < XPLANE_ROWS) xplane_take_id(&s->ids, XPLANE_CUSTOM, id);
    g->rows[rows[i].process] = (uint32_t)id;
  }
  mem_free(&s->mem, rows);
  return true;
}

static void name_new(const struct tk_trace *t, const struct tk_track *k, bool custom, struct buf *b) {
  size_t n, m;
  const char *name = tk_string(t, k->name, &n), *labels = tk_string(t, k->labels, &m);
  if (xplane_is_native(name)) {
    buf_append(b, name, n);
    return;
  }
  buf_append(b, custom ? "/device:CUSTOM:" : "/host:CPU [", custom ? strlen("/device:CUSTOM:") : strlen("/host:CPU ["));
  if (n) buf_append(b, name, n);
  if (n) buf_append(b, " ", 1);
  put_ident(t, b, k->pid);
  if (m) buf_append(b, " (", 2), buf_append(b, labels, m), buf_append(b, ")", 1);
  if (!custom) buf_append(b, "]", 1);
}

/* ---- planes ---- */

bool xplane_grow(struct xplane_sink *s, uint64_t n, struct tk_err *err) {
  s->written += n;
  return s->written <= MOST ||
         err_set(err, TK_ELIMIT, "more than 2 GiB: protobuf cannot read such an XSpace; write one file per host");
}

/* Writes head, lines and rest as one plane. */
static bool put_plane(struct xplane_sink *s, struct xplane_encoder *e, const struct buf *head, const struct buf *rest,
                      struct tk_err *err) {
  uint64_t size = head->len + xplane_lines_size(e) + rest->len;
  uint8_t *q;
  if (!mem_check(&s->mem, err) || !xplane_grow(s, size + 12, err)) return false;
  s->planes++;
  q = out_reserve(s->out, 16);
  s->out->next = varint_put(pb_key(q, XSPACE_PLANES, PB_BYTES), size);
  out_write(s->out, head->data, head->len);
  if (s->opt.meter.add) e->meter = &s->opt.meter; /* not set while sizes were measured */
  if (!xplane_put_lines(e, s->out)) return false;
  if (rest->len) out_write(s->out, rest->data, rest->len);
  return mem_check(&s->mem, err);
}

static void put_head(struct buf *b, int64_t id, const struct buf *name) {
  if (id) pb_i64(b, XPLANE_ID, id);
  if (name->len) pb_message(b, XPLANE_NAME, name);
}

/* Appends properties that a plane and its lines cannot represent. */
static void put_private(struct xplane_encoder *e, struct buf *plane) {
  static const struct {
    const char *stat;
    bool (*put)(struct xplane_encoder *e, struct buf *text);
  } STATS[] = {{XPLANE_PRIVATE_TRACKS, xplane_put_tracks},
               {XPLANE_PRIVATE_FLOWS, xplane_put_flow_points},
               {XPLANE_PRIVATE_RECORDS, xplane_put_records}};
  struct buf text = {.mem = e->mem};
  for (size_t i = 0; i < sizeof STATS / sizeof *STATS; i++, text.len = 0)
    if (STATS[i].put(e, &text)) xplane_add_private_stat(e, plane, XPLANE_STATS, STATS[i].stat, text.data, text.len);
  buf_free(&text);
}

/* The parts of a plane that is being written. */
struct pieces {
  struct buf name, head, rest, private;
  bool skipped;
};

static struct pieces no_pieces(struct mem *mem) {
  return (struct pieces){{.mem = mem}, {.mem = mem}, {.mem = mem}, {.mem = mem}, false};
}

/* Appends a NUL to the name without changing its length. */
static const char *terminated(struct buf *name) {
  if (!buf_append(name, "", 1)) return "";
  name->len--;
  return (const char *)name->data;
}

/* Writes the plane. Entries that the lines added to the plane's maps are after the original ones, followed by private stats. */
static bool end_plane(struct xplane_sink *s, struct xplane_encoder *e, struct pieces *p, bool measured, struct tk_err *err) {
  const struct buf *more[] = {&e->new_classes, &e->new_stats, &p->private};
  bool ok = measured;
  for (size_t i = 0; i < sizeof more / sizeof *more; i++)
    if (more[i]->len) buf_append(&p->rest, more[i]->data, more[i]->len);
  ok = ok && (p->skipped || put_plane(s, e, &p->head, &p->rest, err));
  buf_free(&p->name);
  buf_free(&p->head);
  buf_free(&p->rest);
  buf_free(&p->private);
  if (s->pace.stopped) return err_set(err, TK_EINTERRUPTED, "interrupted");
  return ok || mem_refuse(&s->mem, err);
}

bool xplane_write_known(struct xplane_sink *s, const struct xplane_graph *g, const struct xplane_plane *plane,
                        struct tk_err *err) {
  struct pieces p = no_pieces(&s->mem);
  bool lines = plane->process && plane->process <= g->t->n_tracks && !g->t->tracks[plane->process].hidden, ok;
  struct xplane_encoder e;
  if (!lines && plane->lines && g->pruned) return true; /* all events of the plane were dropped */
  xplane_print_plane_name(g->t, g->ordinal, plane, &p.name);
  put_head(&p.head, plane_id(s, terminated(&p.name), plane->id), &p.name);
  xplane_encoder_init(&e, g, plane->process, plane, &s->mem);
  e.pace = &s->pace;
  if (plane->adopted && plane->process && (!g->carried || g->pruned)) e.adopted = xplane_adopted_new(&e);
  ok = !lines || xplane_measure_lines(&e);
  if (lines && g->carried) xplane_carry_plane(s, &e);
  else if (lines && g->converted) put_private(&e, &p.private);
  xplane_put_passthrough(&e, &p.rest);
  sink_lose(&s->sink, TK_LOSS_PASSTHROUGH, e.lost);
  if (lines && g->ordinal) xplane_add_private_int(&e, &p.private, XPLANE_STATS, XPLANE_PRIVATE_HOST, g->ordinal);
  if (g->pruned && !lines && p.rest.len + e.new_classes.len == 0) p.skipped = true; /* nothing is left except the name */
  ok = end_plane(s, &e, &p, ok, err);
  xplane_adopted_free(e.adopted);
  xplane_encoder_free(&e);
  return ok;
}

/* Prints the name by which xprof recognises the plane of a PyTorch process, and returns the plane's id. */
static int64_t name_made(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct buf *b) {
  const int64_t device = xplane_made_device(g, process);
  char number[24];
  if (device < 0) {
    buf_text(b, "/host:CPU");
    return xplane_some_id(&s->ids, XPLANE_HOST, 0);
  }
  const int64_t id = xplane_some_id(&s->ids, XPLANE_DEVICE, device);
  buf_text(b, "/device:GPU:");
  buf_append(b, number, num_put_i64(number, id));
  return id;
}

static int64_t name_row(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct buf *b) {
  const struct tk_track *k = &g->t->tracks[process];
  const bool custom = g->rows[process] < XPLANE_ROWS;
  name_new(g->t, k, custom, b);
  const enum xplane_kind kind = xplane_plane_kind(terminated(b));
  const bool has_row = custom && !xplane_is_native(tk_string(g->t, k->name, NULL));
  return has_row ? g->rows[process] : xplane_some_id(&s->ids, kind, xplane_least_id(&s->ids, kind));
}

bool xplane_write_new(struct xplane_sink *s, const struct xplane_graph *g, tk_id process, struct tk_err *err) {
  struct pieces p = no_pieces(&s->mem);
  struct xplane_encoder e;
  bool ok;
  const int64_t id = is_made(g, process) ? name_made(s, g, process, &p.name) : name_row(s, g, process, &p.name);
  put_head(&p.head, id, &p.name);
  xplane_encoder_init(&e, g, process, NULL, &s->mem);
  e.pace = &s->pace;
  ok = xplane_measure_lines(&e);
  xplane_put_made_plane(&e, &p.private);
  put_private(&e, &p.private);
  ok = end_plane(s, &e, &p, ok, err);
  xplane_encoder_free(&e);
  return ok;
}

bool xplane_write_stats(struct xplane_sink *s, struct xplane_encoder *e, const char *name, const struct buf *stats,
                        struct tk_err *err) {
  struct pieces p = no_pieces(&s->mem);
  if (stats->len == 0) return true;
  buf_text(&p.name, name);
  put_head(&p.head, 0, &p.name);
  buf_append(&p.private, stats->data, stats->len);
  return end_plane(s, e, &p, true, err);
}

/* write_private.c - what a plane and its lines cannot say of tracks, records and flow points: private stats of the plane, as JSON. */
#include <string.h>

#include "format/json_args.h"
#include "writer.h"

static void put_member_string(struct xplane_encoder *e, struct buf *b, const char *key, tk_id text) {
  if (!text) return;
  buf_text(b, key);
  json_quote(b, trace_str(e->g->t, text)->bytes, trace_str(e->g->t, text)->len);
}

static void put_member_number(struct buf *b, const char *key, int64_t v) {
  char text[24];
  buf_text(b, key);
  buf_append(b, text, num_put_i64(text, v));
}

static void put_member_ident(struct xplane_encoder *e, struct buf *b, const char *key, struct tk_ident i) {
  if (i.kind == TK_IDENT_STR) put_member_string(e, b, key, i.str);
  else if (i.kind != TK_IDENT_NONE) put_member_number(b, key, i.num);
  if (i.kind == TK_IDENT_QUOTED) buf_text(b, ",\"quoted\":true");
}

static void put_private_line(struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line, uint32_t ordinal) {
  static const char *const kinds[] = {"thread", "async", "process", "counters"};
  const struct tk_track *k = &e->g->t->tracks[line->track];
  put_member_number(b, "{\"line\":", ordinal);
  buf_text(b, ",\"kind\":\"");
  buf_text(b, kinds[line->kind]);
  buf_text(b, "\"");
  put_member_ident(e, b, ",\"tid\":", k->tid);
  put_member_string(e, b, ",\"name\":", line->kind == XLINE_COUNTERS ? 0 : k->name);
  if (k->has_sort) put_member_number(b, ",\"sort\":", k->sort_index);
  buf_text(b, "}");
}

/* The thread that a counter was sampled on. */
static void put_private_counters(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = ",\"counters\":[";
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_COUNTERS || k->parent != e->process || k->tid.kind == TK_IDENT_NONE || !k->name) continue;
    buf_text(b, sep);
    put_member_string(e, b, "{\"name\":", k->name);
    put_member_ident(e, b, ",\"tid\":", k->tid);
    buf_text(b, "}");
    sep = ",";
  }
  if (*sep == ',' && !sep[1]) buf_text(b, "]");
}

static bool put_tracks(struct xplane_encoder *e, struct buf *b) {
  const struct tk_track *process = &e->g->t->tracks[e->process];
  uint32_t n;
  const struct xplane_out_line *lines = xplane_out_lines(e, &n);
  bool any = false;
  if (e->was && !e->g->converted) return false; /* read as XPlane: its planes and lines say it all */
  buf_text(b, "{\"process\":true");
  put_member_ident(e, b, ",\"pid\":", process->pid);
  put_member_string(e, b, ",\"name\":", process->name);
  put_member_string(e, b, ",\"labels\":", process->labels);
  if (process->has_sort) put_member_number(b, ",\"sort\":", process->sort_index);
  buf_text(b, ",\"lines\":[");
  for (uint32_t i = 0; i < n; i++) {
    if (any) buf_text(b, ",");
    any = true;
    put_private_line(e, b, &lines[i], i + 1);
  }
  buf_text(b, "]");
  put_private_counters(e, b);
  buf_text(b, "}");
  return true;
}

/* Metadata and what else has no time or no meaning here: {"tid":..,"kind":..,"strong":..,"ph":"M","ts":ps,"raw":{members}}. */
static void put_private_record(struct xplane_encoder *e, struct buf *b, const struct tk_record *r) {
  const struct tk_trace *t = e->g->t;
  const struct tk_track *k = &t->tracks[r->track];
  put_member_number(b, "{\"kind\":", r->kind);
  if (k->kind != TK_PROCESS) {
    buf_text(b, ",\"thread\":true");
    put_member_ident(e, b, ",\"tid\":", k->tid);
  }
  if (r->strong) buf_text(b, ",\"strong\":true");
  if (r->phase > 0x20 && r->phase < 0x7f && r->phase != '"' && r->phase != '\\') {
    buf_text(b, ",\"ph\":\"");
    buf_append(b, &r->phase, 1);
    buf_text(b, "\"");
  }
  i128 ts = r->ts + ((i128)t->origin_ns - e->g->base_ns) * 1000; /* as all times of the file */
  if (r->has_ts && ts < INT64_MAX && ts > INT64_MIN) put_member_number(b, ",\"ts\":", (int64_t)ts);
  buf_text(b, ",\"raw\":{");
  buf_append(b, trace_raw(t, r->at), r->size);
  buf_text(b, "}}");
}

static bool put_records(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = "[";
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    tk_id process = !r->track ? 0 : t->tracks[r->track].kind == TK_PROCESS ? r->track : t->tracks[r->track].parent;
    if (process != e->process) continue;
    if (r->kind != TK_REC_OTHER && t->tracks[r->track].renamed) continue; /* overruled by what the track is called */
    buf_text(b, sep);
    put_private_record(e, b, r);
    sep = ",";
  }
  if (*sep == '[') return false;
  buf_text(b, "]");
  return true;
}

static void put_private_flow_point(struct xplane_encoder *e, struct buf *b, const struct tk_flow_point *f, const struct tk_track *k) {
  const struct tk_trace *t = e->g->t;
  i128 ts = f->ts + ((i128)t->origin_ns - e->g->base_ns) * 1000;
  put_member_number(b, "{\"role\":", f->role);
  put_member_number(b, ",\"ts\":", (int64_t)ts);
  put_member_ident(e, b, ",\"tid\":", k->tid);
  put_member_string(e, b, ",\"name\":", t->classes[f->cls].name);
  put_member_string(e, b, ",\"cat\":", t->classes[f->cls].cat);
  if (f->id_is_str) put_member_string(e, b, ",\"id\":", (tk_id)f->id);
  else put_member_number(b, ",\"id\":", f->id);
  if (f->enclosing) buf_text(b, ",\"enclosing\":true");
  if (f->args) {
    buf_text(b, ",\"args\":");
    json_put_args(b, t, f->args);
  }
  buf_text(b, "}");
}

/* Is the point one that private stats of its process state? */
static bool is_stated(const struct tk_trace *t, const struct tk_flow_point *f, tk_id process) {
  const struct tk_track *k = &t->tracks[tk_flow_point_track(t, f)];
  return f->role < TK_FLOW_OUT && k->kind == TK_THREAD && k->parent == process;
}

static bool put_flow_points(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = "[";
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (!is_stated(t, f, e->process)) continue;
    buf_text(b, sep);
    put_private_flow_point(e, b, f, &t->tracks[tk_flow_point_track(t, f)]);
    sep = ",";
  }
  if (*sep == '[') return false;
  buf_text(b, "]");
  return true;
}

void xplane_put_private(struct xplane_encoder *e, struct buf *plane) {
  struct buf text = {.mem = e->mem};
  if (put_tracks(e, &text)) xplane_add_private_stat(e, plane, XPLANE_STATS, XPLANE_PRIVATE_TRACKS, text.data, text.len);
  text.len = 0;
  if (put_flow_points(e, &text)) xplane_add_private_stat(e, plane, XPLANE_STATS, XPLANE_PRIVATE_FLOWS, text.data, text.len);
  text.len = 0;
  if (put_records(e, &text)) xplane_add_private_stat(e, plane, XPLANE_STATS, XPLANE_PRIVATE_RECORDS, text.data, text.len);
  buf_free(&text);
}

/* ---- losses ---- */

static tk_id process_of(const struct tk_trace *t, tk_id track) {
  return !track || t->tracks[track].kind == TK_PROCESS ? track : t->tracks[track].parent;
}

bool xplane_is_private(const struct xplane_graph *g, tk_id process) {
  for (uint32_t i = 0; i < g->n_planes && !g->converted; i++)
    if (g->planes[i].process == process) return false;
  return process && !g->t->tracks[process].hidden;
}

/* Do the args of an event that was read as XPlane link it?  They say its flow points. */
static bool has_link(const struct tk_trace *t, uint32_t args) {
  static const char *const LINKS[] = {"flow", "_p", "_c", "correlation_id"};
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg))
    for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
      if (strcmp(tk_string(t, arg.key, NULL), LINKS[i]) == 0) return true;
  return false;
}

static bool is_lost_point(const struct xplane_graph *g, const struct tk_flow_point *f) {
  const struct tk_trace *t = g->t;
  tk_id process = process_of(t, tk_flow_point_track(t, f));
  if (!xplane_is_private(g, process)) return !f->bound || (t->edits & TK_EDIT_DROPPED && !has_link(t, t->events[f->at].args));
  return !is_stated(t, f, process) && !(f->bound && g->flows && g->flows[f->at]);
}

void xplane_count_losses(struct sink *sink, const struct xplane_graph *g) {
  const struct tk_trace *t = g->t;
  uint64_t points = g->lost_points;
  for (tk_id i = 1; i <= t->n_flow_points; i++) points += is_lost_point(g, &t->flow_points[i]);
  for (tk_id i = 1; i <= t->n_records; i++)
    sink_lose(sink, TK_LOSS_RECORDS, t->records[i].kind == TK_REC_OTHER && !xplane_is_private(g, process_of(t, t->records[i].track)));
  sink_lose(sink, TK_LOSS_FLOW_POINTS, points);
  sink->saved.flow_points += t->n_flow_points - points;
}

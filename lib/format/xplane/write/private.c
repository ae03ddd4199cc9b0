/* private.c - writes properties of tracks, records and flow points that a plane and its lines cannot represent, as private
 * stats that contain JSON. */
#include <string.h>

#include "private.h"
#include "format/json_args.h"
#include "graph/stack.h"
#include "writer.h"

void xplane_member_string(struct xplane_encoder *e, struct buf *b, const char *key, tk_id text) {
  if (!text) return;
  buf_text(b, key);
  json_quote(b, trace_str(e->g->t, text)->bytes, trace_str(e->g->t, text)->len);
}

void xplane_member_number(struct buf *b, const char *key, int64_t v) {
  char text[24];
  buf_text(b, key);
  buf_append(b, text, num_put_i64(text, v));
}

void xplane_member_ident(struct xplane_encoder *e, struct buf *b, const char *key, struct tk_ident i) {
  if (i.kind == TK_IDENT_STR) xplane_member_string(e, b, key, i.str);
  else if (i.kind != TK_IDENT_NONE) xplane_member_number(b, key, i.num);
  if (i.kind == TK_IDENT_QUOTED) buf_text(b, ",\"quoted\":true");
}

/* Appends the time to which offsets in the line are relative, unless it is the line's timestamp. It differs if the line was
 * moved from another clock to the clock of the other lines. */
static void put_zero(const struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line) {
  const i128 zero = (i128)e->g->t->origin_ns * 1000 + line->zero_ps, ns = xplane_floor_ns(zero);
  if (zero == ((i128)line->timestamp_ns + e->g->base_ns) * 1000 || ns > INT64_MAX || ns < INT64_MIN) return;
  xplane_member_number(b, ",\"zero_ns\":", (int64_t)ns);
  xplane_member_number(b, ",\"zero_ps\":", (int64_t)(zero - ns * 1000));
}

static void put_private_line(struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line, uint32_t ordinal) {
  static const char *const kinds[] = {"thread", "async", "process", "counters"};
  const struct tk_track *k = &e->g->t->tracks[line->track];
  xplane_member_number(b, "{\"line\":", ordinal);
  buf_text(b, ",\"kind\":\"");
  buf_text(b, kinds[line->kind]);
  buf_text(b, "\"");
  xplane_member_ident(e, b, ",\"tid\":", k->tid);
  const bool is_thread = k->kind == TK_TRACK_THREAD && !k->hidden; /* the counters' line is a thread in XPlane */
  if (line->kind != XLINE_COUNTERS || is_thread) xplane_member_string(e, b, ",\"name\":", k->name);
  if (line->kind == XLINE_COUNTERS && is_thread) buf_text(b, ",\"is_thread\":true");
  if (k->has_sort) xplane_member_number(b, ",\"sort\":", k->sort_index);
  if (k->no_lanes && line->kind == XLINE_THREAD) buf_text(b, ",\"no_lanes\":true");
  if (e->g->carried || (e->was && e->was->adopted)) put_zero(e, b, line);
  buf_text(b, "}");
}

/* Appends the threads on which counters were sampled. */
static void put_private_counters(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = ",\"counters\":[";
  uint32_t n;
  const uint32_t *tracks = by_process(&e->g->tracks, e->process, &n);
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_track *k = &t->tracks[tracks[i]];
    if (k->kind != TK_TRACK_COUNTERS || k->tid.kind == TK_IDENT_NONE || !k->name) continue;
    buf_text(b, sep);
    xplane_member_string(e, b, "{\"name\":", k->name);
    xplane_member_ident(e, b, ",\"tid\":", k->tid);
    buf_text(b, "}");
    sep = ",";
  }
  if (*sep == ',' && !sep[1]) buf_text(b, "]");
}

bool xplane_put_tracks(struct xplane_encoder *e, struct buf *b) {
  const struct tk_track *process = &e->g->t->tracks[e->process];
  uint32_t n;
  const struct xplane_out_line *lines = xplane_out_lines(e, &n);
  bool any = false;
  if (e->was && !e->g->converted && !e->g->carried) return false; /* not needed if the plane was read from XPlane */
  buf_text(b, "{\"process\":true");
  xplane_member_ident(e, b, ",\"pid\":", process->pid);
  xplane_member_string(e, b, ",\"name\":", process->name);
  xplane_member_string(e, b, ",\"labels\":", process->labels);
  if (process->has_sort) xplane_member_number(b, ",\"sort\":", process->sort_index);
  buf_text(b, ",\"lines\":[");
  for (uint32_t i = 0; i < n; i++) {
    if (lines[i].kind == XLINE_STEPS) continue;
    if (any) buf_text(b, ",");
    any = true;
    put_private_line(e, b, &lines[i], i + 1);
  }
  buf_text(b, "]");
  put_private_counters(e, b);
  buf_text(b, "}");
  return true;
}

/* Appends a record, such as metadata, that has no time or no meaning here:
 * {"tid":..,"kind":..,"strong":..,"ph":"M","ts":ps,"raw":{members}}. */
static void put_private_record(struct xplane_encoder *e, struct buf *b, const struct tk_record *r) {
  const struct tk_trace *t = e->g->t;
  const struct tk_track *k = &t->tracks[r->track];
  xplane_member_number(b, "{\"kind\":", r->kind);
  if (!r->track) buf_text(b, ",\"apart\":true"); /* the record does not belong to a process */
  else if (k->kind != TK_TRACK_PROCESS) {
    buf_text(b, ",\"thread\":true");
    xplane_member_ident(e, b, ",\"tid\":", k->tid);
  }
  if (r->strong) buf_text(b, ",\"strong\":true");
  if (r->phase > 0x20 && r->phase < 0x7f && r->phase != '"' && r->phase != '\\') {
    buf_text(b, ",\"ph\":\"");
    buf_append(b, &r->phase, 1);
    buf_text(b, "\"");
  }
  i128 ts = r->ts + ((i128)t->origin_ns - e->g->base_ns) * 1000; /* on the same base as all times in the file */
  if (r->has_ts && ts < INT64_MAX && ts > INT64_MIN) xplane_member_number(b, ",\"ts\":", (int64_t)ts);
  buf_text(b, ",\"raw\":{");
  buf_append(b, trace_raw(t, r->at), r->size);
  buf_text(b, "}}");
}

bool xplane_put_records(struct xplane_encoder *e, struct buf *b) {
  const struct tk_trace *t = e->g->t;
  const char *sep = "[";
  uint32_t n;
  const uint32_t *records = by_process(&e->g->records, e->process, &n);
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_record *r = &t->records[records[i]];
    if (r->derived || stack_outdates(t, r)) continue;
    if (r->kind != TK_RECORD_OTHER && t->tracks[r->track].renamed) continue; /* the name of the track replaces the record */
    buf_text(b, sep);
    put_private_record(e, b, r);
    sep = ",";
  }
  if (*sep == '[') return false;
  buf_text(b, "]");
  return true;
}

void xplane_count_records(struct sink *sink, const struct xplane_graph *g) {
  if (g->t->edits) sink_lose(sink, TK_LOSS_RECORDS, stack_sampled_records(g->t));
  for (tk_id i = 1; i <= g->t->n_records; i++) {
    const struct tk_record *r = &g->t->records[i];
    sink_lose(sink, TK_LOSS_RECORDS, r->kind == TK_RECORD_OTHER && !xplane_is_private(g, xplane_process_of_record(g, r)));
  }
}

/* metas.c - converts the top-level data of an XSpace: plane stats, hostnames, errors, and passthrough data.
 *
 * The top-level key "xspace" contains the data that other formats can represent, under the names of the schema. Errors and warnings
 * also become notes, and the host name is stored in the same way as in Kineto's JSON. */
#include <string.h>

#include "metas.h"
#include "format/time_base.h"
#include "format/json.h"
#include "format/json_put.h"
#include "format/pb_unpack.h"
#include "reader.h"
#include "xplane.pb-c.h"

/* Appends text from the file as a JSON string; repairs invalid UTF-8. */
static void metas_put_text(struct xplane_reader *r, struct buf *b, const uint8_t *p, size_t n) {
  const struct intern_str *s = trace_str(r->t, xplane_text(r, p, n));
  json_quote(b, s->bytes, s->len);
}

static void put_stat(struct xplane_reader *r, struct buf *b, const struct xplane_names *names, const struct xstat *s) {
  const struct xplane_name *ref = s->field == XSTAT_REF ? xplane_name_of(names, (int64_t)s->value) : NULL;
  double d = pb_as_double(s->value);
  char text[40];
  switch (s->field) {
    case XSTAT_UINT64: buf_append(b, text, num_put_u64(text, s->value)); return;
    case XSTAT_INT64: json_put_int(b, "", (int64_t)s->value); return;
    case XSTAT_STR: metas_put_text(r, b, s->p, (size_t)s->value); return;
    case XSTAT_REF: metas_put_text(r, b, ref ? ref->text.p : (const uint8_t *)"", ref ? ref->text.n : 0); return;
    case XSTAT_DOUBLE:
      if (d - d == 0) buf_append(b, text, num_put_double(text, d));
      else buf_text(b, d != d ? "\"NaN\"" : d > 0 ? "\"Infinity\"" : "\"-Infinity\"");
      return;
    case XSTAT_BYTES:
    case XSTAT_COMPRESSED_STR:
      buf_text(b, "\"<");
      json_put_int(b, "", (int64_t)s->value);
      buf_text(b, " bytes>\"");
      return;
    default: buf_text(b, "null");
  }
}

/* Appends "stats":{name:value,...}; of several stats with the same id, the last one is used, as for events. */
static void put_stats(struct xplane_reader *r, struct buf *b, struct pb plane) {
  struct xplane_names names;
  struct mem *mem = &r->t->store->mem;
  struct map last; /* stat metadata id -> index of the last stat with this id, plus 1 */
  struct pb c = plane, inner;
  struct pb_field f;
  struct xstat s;
  bool odd = false, any = false;
  uint32_t n = 0, *at;
  xplane_names_of(&names, plane, mem);
  map_init(&last, mem);
  for (; pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_STATS, PB_BYTES)) continue;
    inner = pb_inside(&f);
    n++;
    if (xplane_stat(&inner, &s, &odd) && (at = map_put(&last, (uint64_t)s.id, 0)) != NULL) *at = n;
  }
  buf_text(b, ",\"stats\":{");
  for (c = plane, n = 0; pb_next(&c, &f);) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_STATS, PB_BYTES)) continue;
    inner = pb_inside(&f);
    n++;
    if (!xplane_stat(&inner, &s, &odd) || (at = map_get(&last, (uint64_t)s.id)) == NULL || *at != n) continue;
    const struct xplane_name *name = xplane_name_of(&names, s.id);
    if (any) buf_text(b, ",");
    any = true;
    if (name) metas_put_text(r, b, name->text.p, name->text.n);
    else buf_text(b, "\"#"), json_put_int(b, "", s.id), buf_text(b, "\"");
    buf_text(b, ":");
    put_stat(r, b, &names, &s);
  }
  buf_text(b, "}");
  map_free(&last);
  xplane_names_free(&names);
}

static void put_plane(struct xplane_reader *r, struct buf *b, const struct xplane_plane *plane) {
  struct tk_trace *t = r->t;
  struct pb c = xplane_fields(t, plane);
  struct pb_field f;
  const struct intern_str *name = plane->name ? trace_str(t, plane->name) : NULL;
  int64_t metadata = 0;
  buf_text(b, "{\"name\":");
  json_quote(b, name ? name->bytes : (const uint8_t *)"", name ? name->len : 0);
  buf_text(b, ",\"id\":");
  json_put_int(b, "", plane->id);
  if (plane->process && t->tracks[plane->process].pid.kind == TK_IDENT_INT) {
    buf_text(b, ",\"pid\":");
    json_put_int(b, "", t->tracks[plane->process].pid.num);
  }
  buf_text(b, ",\"lines\":");
  json_put_int(b, "", plane->lines);
  while (pb_next(&c, &f)) metadata += f.number == XPLANE_EVENT_METADATA;
  buf_text(b, ",\"event_metadata\":");
  json_put_int(b, "", metadata);
  put_stats(r, b, xplane_fields(t, plane));
  buf_text(b, "}");
}

/* Appends "key":[texts], or nothing if there are none. */
static void put_list(struct xplane_reader *r, struct buf *b, const char *key, size_t n, const ProtobufCBinaryData *texts) {
  for (size_t i = 0; i < n; i++) {
    buf_text(b, i ? "," : key);
    metas_put_text(r, b, texts[i].data, texts[i].len);
  }
  if (n) buf_text(b, "],\n");
}

static void note_complaint(struct xplane_reader *r, const char *who, const ProtobufCBinaryData *text) {
  struct buf b = {.mem = &r->t->store->mem};
  const struct intern_str *s = trace_str(r->t, xplane_text(r, text->data, text->len));
  buf_text(&b, who);
  buf_text(&b, (const char *)s->bytes);
  if (buf_append(&b, "", 1)) trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, (const char *)b.data);
  buf_free(&b);
}

/* Adds the profiler's own errors and warnings as notes, so that users see them. */
static void note_complaints(struct xplane_reader *r, const Xplane__XSpace *space) {
  for (size_t i = 0; i < space->n_errors; i++) note_complaint(r, "the profiler reported an error: ", &space->errors[i]);
  for (size_t i = 0; i < space->n_warnings; i++) note_complaint(r, "the profiler reported a warning:", &space->warnings[i]);
}

static void add_host_name(struct xplane_reader *r, const Xplane__XSpace *space) {
  struct buf b = {.mem = &r->t->store->mem};
  if (space->n_hostnames == 0) return;
  metas_put_text(r, &b, space->hostnames[0].data, space->hostnames[0].len);
  xplane_add_meta(r->t, "host_name", b.data, b.len, false);
  buf_free(&b);
}

static void add_statements(struct xplane_reader *r, const Xplane__XSpace *space) {
  struct buf b = {.mem = &r->t->store->mem};
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  buf_text(&b, "{");
  put_list(r, &b, "\"hostnames\":[", space->n_hostnames, space->hostnames);
  put_list(r, &b, "\"errors\":[", space->n_errors, space->errors);
  put_list(r, &b, "\"warnings\":[", space->n_warnings, space->warnings);
  buf_text(&b, "\"planes\":[\n");
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_text(&b, ",\n");
    put_plane(r, &b, &planes[i]);
  }
  buf_text(&b, "]}");
  xplane_add_meta(r->t, "xspace", b.data, b.len, false);
  buf_free(&b);
}

/* Adds data that other formats can represent. Not used for a file that tracekit converted from another format, because such a
 * file contains its original top-level data. */
static void add_shown(struct xplane_reader *r, const Xplane__XSpace *space) {
  static const char NS[] = "\"ns\"", METADATA[] = "{\"highres-ticks\":true}";
  struct tk_trace *t = r->t;
  char zero[24];
  xplane_add_meta(t, "displayTimeUnit", NS, strlen(NS), false);
  xplane_add_meta(t, "metadata", METADATA, strlen(METADATA), false);
  if (t->has_zero && !time_base_is_stated(t)) xplane_add_meta(t, "baseTimeNanoseconds", zero, num_put_i64(zero, t->zero_ns), false);
  add_host_name(r, space);
  add_statements(r, space);
}

/* Returns whether tracekit converted the file from another format, wholly or partly. Each plane that it converted has private
 * stats that describe the plane's tracks. */
static enum xplane_converted how_converted(const struct xplane_reader *r) {
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  struct xstat s;
  if (!r->converted) return XPLANE_NATIVE;
  for (uint32_t i = 0; i < n; i++)
    if (planes[i].process && !xplane_plane_stat(r->t, &planes[i], XPLANE_PRIVATE_TRACKS, &s)) return XPLANE_CONVERTED_PARTLY;
  return XPLANE_CONVERTED;
}

/* Stores the unknown fields of lines. Must be called last, because the fields of a plane must be contiguous in the raw text. */
static void keep_line_fields(struct xplane_reader *r) {
  struct buf *raw = &r->t->store->raw;
  const uint64_t base = raw->len;
  uint32_t n;
  struct xplane_line *lines = xplane_lines(r, &n);
  if (r->line_fields.len == 0 || !buf_append(raw, r->line_fields.data, r->line_fields.len)) return;
  trace_end_raw(r->t);
  for (uint32_t i = 0; i < n; i++)
    if (lines[i].fields_size) lines[i].fields_at += base;
}

void xplane_add_metas(struct xplane_reader *r) {
  static const Xplane__XSpace NOTHING = XPLANE__XSPACE__INIT;
  struct tk_trace *t = r->t;
  struct xplane_clock clock = {.origin_ns = t->origin_ns, .base_ns = r->base_ns, .converted = how_converted(r), .zero_ns = t->zero_ns};
  const struct pb fields = pb_over(r->space.data ? r->space.data : (const uint8_t *)"", r->space.len);
  Xplane__XSpace *space = pb_unpack(&xplane__xspace__descriptor, fields, &t->store->mem);
  const Xplane__XSpace *said = space ? space : &NOTHING;
  if (!r->converted) add_shown(r, said);
  if (!r->converted) clock.shown = xplane_hash_shown(t);
  note_complaints(r, said);
  pb_unpack_free(space, &t->store->mem);
  keep_line_fields(r);
  xplane_add_meta(t, XPLANE_META_SPACE, r->space.data, r->space.len, true);
  xplane_add_meta(t, XPLANE_META_CLOCK, &clock, sizeof clock, true);
  xplane_add_meta(t, XPLANE_META_PLANES, r->planes.data, r->planes.len, true);
  xplane_add_meta(t, XPLANE_META_LINES, r->lines.data, r->lines.len, true);
  xplane_add_meta(t, XPLANE_META_CLASSES, r->classes.data, r->classes.len, true);
}

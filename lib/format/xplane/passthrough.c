/* passthrough.c - what an XSpace holds besides events: plane stats, hostnames, errors, modules.
 *
 * All of it stays as it is on the wire, for the way back to XPlane.  What other formats can show becomes the top-level key
 * "xplane", in the words of the schema; errors and warnings are notes as well, and the host's name stands where Kineto has it.
 */
#include <string.h>

#include "format/json.h"
#include "xplane.h"

/* ---- names of stats ---- */

static void one_name(struct xplane_names *names, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v = pb_over("", 0);
  struct pb_field f;
  struct xplane_name name = {0};
  uint32_t *at;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) == PB_KEY(MAP_KEY, PB_VARINT)) name.id = (int64_t)f.value;
    if (pb_field_key(&f) == PB_KEY(MAP_VALUE, PB_BYTES)) v = pb_inside(&f);
  }
  while (pb_next(&v, &f))
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_NAME, PB_BYTES)) name.p = f.p, name.n = (size_t)f.value;
  if (!buf_append(&names->names, &name, sizeof name)) return;
  at = map_put(&names->index, (uint64_t)name.id, 0);
  if (at) *at = (uint32_t)(names->names.len / sizeof name);
}

void xplane_names_of(struct xplane_names *names, struct pb plane, struct mem *mem) {
  struct pb_field f;
  *names = (struct xplane_names){.names = {.mem = mem}};
  map_init(&names->index, mem);
  while (pb_next(&plane, &f))
    if (pb_field_key(&f) == PB_KEY(XPLANE_STAT_METADATA, PB_BYTES)) one_name(names, &f);
}

void xplane_names_free(struct xplane_names *names) {
  map_free(&names->index);
  buf_free(&names->names);
}

const struct xplane_name *xplane_name_of(const struct xplane_names *names, int64_t id) {
  uint32_t *at = map_get(&names->index, (uint64_t)id);
  return at && *at ? (const struct xplane_name *)(const void *)names->names.data + *at - 1 : NULL;
}

static struct pb fields_of(const struct tk_trace *t, const struct xplane_plane *p) {
  return pb_over(trace_raw(t, p->at), (size_t)p->size);
}

static bool name_is(const struct xplane_name *name, const char *text) {
  return name && name->n == strlen(text) && memcmp(name->p, text, name->n) == 0;
}

bool xplane_plane_stat(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, struct xstat *out) {
  struct mem mem = {0};
  struct xplane_names names;
  struct pb c = fields_of(t, p), inner;
  struct pb_field f;
  struct xstat s;
  bool found = false, odd = false;
  xplane_names_of(&names, c, &mem);
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_STATS, PB_BYTES)) continue;
    inner = pb_inside(&f);
    if (!xplane_stat(&inner, &s, &odd) || !name_is(xplane_name_of(&names, s.id), stat)) continue;
    *out = s;
    found = true;
  }
  xplane_names_free(&names);
  return found;
}

bool xplane_plane_int(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, int64_t *value) {
  struct xstat s;
  if (!xplane_plane_stat(t, p, stat, &s) || (s.field != XSTAT_INT64 && s.field != XSTAT_UINT64)) return false;
  *value = (int64_t)s.value;
  return true;
}

/* ---- metas ---- */

void xplane_add_meta(struct tk_trace *t, const char *key, const void *p, size_t n, bool passthrough) {
  struct buf *raw = &t->store->raw;
  struct tk_meta m = {.key = trace_text(t, key), .at = raw->len, .size = n, .origin = passthrough ? XPLANE_FORMAT : NULL};
  if (n && !buf_append(raw, p, n)) return;
  *trace_add_meta(t) = m;
  trace_end_raw(t);
}

/* Text of the file as a JSON string, repaired where it is not UTF-8. */
static void put_text(struct xplane_reader *r, struct buf *b, const uint8_t *p, size_t n) {
  const struct intern_str *s = trace_str(r->t, xplane_text(r, p, n));
  json_quote(b, s->bytes, s->len);
}

static void put_number(struct buf *b, int64_t v) {
  char text[24];
  buf_append(b, text, num_put_i64(text, v));
}

static void put_stat(struct xplane_reader *r, struct buf *b, const struct xplane_names *names, const struct xstat *s) {
  const struct xplane_name *ref = s->field == XSTAT_REF ? xplane_name_of(names, (int64_t)s->value) : NULL;
  double d = pb_as_double(s->value);
  char text[40];
  switch (s->field) {
    case XSTAT_UINT64: buf_append(b, text, num_put_u64(text, s->value)); return;
    case XSTAT_INT64: put_number(b, (int64_t)s->value); return;
    case XSTAT_STR: put_text(r, b, s->p, (size_t)s->value); return;
    case XSTAT_REF: put_text(r, b, ref ? ref->p : (const uint8_t *)"", ref ? ref->n : 0); return;
    case XSTAT_DOUBLE:
      if (d - d == 0) buf_append(b, text, num_put_double(text, d));
      else buf_text(b, d != d ? "\"NaN\"" : d > 0 ? "\"Infinity\"" : "\"-Infinity\"");
      return;
    case XSTAT_BYTES:
    case XSTAT_COMPRESSED_STR:
      buf_text(b, "\"<");
      put_number(b, (int64_t)s->value);
      buf_text(b, " bytes>\"");
      return;
    default: buf_text(b, "null");
  }
}

/* "stats":{name:value,...}; of a name given twice the last counts, as everywhere. */
static void put_stats(struct xplane_reader *r, struct buf *b, struct pb plane) {
  struct xplane_names names;
  struct mem *mem = &r->t->store->mem;
  struct map last; /* stat metadata id -> its last stat, from 1 */
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
    if (name) put_text(r, b, name->p, name->n);
    else buf_text(b, "\"#"), put_number(b, s.id), buf_text(b, "\"");
    buf_text(b, ":");
    put_stat(r, b, &names, &s);
  }
  buf_text(b, "}");
  map_free(&last);
  xplane_names_free(&names);
}

static void put_plane(struct xplane_reader *r, struct buf *b, const struct xplane_plane *plane) {
  struct tk_trace *t = r->t;
  struct pb c = fields_of(t, plane);
  struct pb_field f;
  const struct intern_str *name = plane->name ? trace_str(t, plane->name) : NULL;
  int64_t metadata = 0;
  buf_text(b, "{\"name\":");
  json_quote(b, name ? name->bytes : (const uint8_t *)"", name ? name->len : 0);
  buf_text(b, ",\"id\":");
  put_number(b, plane->id);
  if (plane->process && t->tracks[plane->process].pid.kind == TK_IDENT_INT) {
    buf_text(b, ",\"pid\":");
    put_number(b, t->tracks[plane->process].pid.num);
  }
  buf_text(b, ",\"lines\":");
  put_number(b, plane->lines);
  while (pb_next(&c, &f)) metadata += f.number == XPLANE_EVENT_METADATA;
  buf_text(b, ",\"event_metadata\":");
  put_number(b, metadata);
  put_stats(r, b, fields_of(t, plane));
  buf_text(b, "}");
}

static struct pb space_of(const struct xplane_reader *r) {
  return pb_over(r->space.data ? r->space.data : (const uint8_t *)"", r->space.len);
}

static void put_list(struct xplane_reader *r, struct buf *b, const char *key, uint32_t number) {
  struct pb c = space_of(r);
  struct pb_field f;
  bool any = false;
  while (pb_next(&c, &f)) {
    if (f.number != number || f.wire != PB_BYTES) continue;
    buf_text(b, any ? "," : key);
    any = true;
    put_text(r, b, f.p, (size_t)f.value);
  }
  if (any) buf_text(b, "],\n");
}

/* The profiler's own complaints must reach the user. */
static void note_complaints(struct xplane_reader *r) {
  struct pb c = space_of(r);
  struct pb_field f;
  struct buf b = {.mem = &r->t->store->mem};
  while (pb_next(&c, &f)) {
    const struct intern_str *s;
    if (f.wire != PB_BYTES || (f.number != XSPACE_ERRORS && f.number != XSPACE_WARNINGS)) continue;
    s = trace_str(r->t, xplane_text(r, f.p, (size_t)f.value));
    b.len = 0;
    buf_text(&b, f.number == XSPACE_ERRORS ? "the profiler reported an error: " : "the profiler warned: ");
    buf_append(&b, s->bytes, strlen((const char *)s->bytes));
    if (buf_append(&b, "", 1)) trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, (const char *)b.data);
  }
  buf_free(&b);
}

static void keep_host(struct xplane_reader *r) {
  struct pb c = space_of(r);
  struct pb_field f;
  struct buf b = {.mem = &r->t->store->mem};
  while (pb_next(&c, &f)) {
    if (f.number != XSPACE_HOSTNAMES || f.wire != PB_BYTES) continue;
    put_text(r, &b, f.p, (size_t)f.value);
    xplane_add_meta(r->t, "host_name", b.data, b.len, false);
    break;
  }
  buf_free(&b);
}

static void add_statements(struct xplane_reader *r) {
  struct buf b = {.mem = &r->t->store->mem};
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  buf_text(&b, "{");
  put_list(r, &b, "\"hostnames\":[", XSPACE_HOSTNAMES);
  put_list(r, &b, "\"errors\":[", XSPACE_ERRORS);
  put_list(r, &b, "\"warnings\":[", XSPACE_WARNINGS);
  buf_text(&b, "\"planes\":[\n");
  for (uint32_t i = 0; i < n; i++) {
    if (i) buf_text(&b, ",\n");
    put_plane(r, &b, &planes[i]);
  }
  buf_text(&b, "]}");
  xplane_add_meta(r->t, "xplane", b.data, b.len, false);
  buf_free(&b);
}

void xplane_keep_metas(struct xplane_reader *r) {
  struct tk_trace *t = r->t;
  static const char NS[] = "\"ns\"", METADATA[] = "{\"highres-ticks\":true}";
  const struct xplane_clock clock = {t->origin_ns, r->base_ns, r->own};
  char zero[24];
  if (!r->own) {
    xplane_add_meta(t, "displayTimeUnit", NS, strlen(NS), false);
    xplane_add_meta(t, "metadata", METADATA, strlen(METADATA), false);
    if (t->has_zero) xplane_add_meta(t, "baseTimeNanoseconds", zero, num_put_i64(zero, t->zero_ns), false);
    keep_host(r);
    add_statements(r);
  }
  note_complaints(r);
  xplane_add_meta(t, XPLANE_META_SPACE, r->space.data, r->space.len, true);
  xplane_add_meta(t, XPLANE_META_CLOCK, &clock, sizeof clock, true);
  xplane_add_meta(t, XPLANE_META_PLANES, r->planes.data, r->planes.len, true);
  xplane_add_meta(t, XPLANE_META_LINES, r->lines.data, r->lines.len, true);
  xplane_add_meta(t, XPLANE_META_CLASSES, r->classes.data, r->classes.len, true);
}

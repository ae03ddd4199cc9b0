/* passthrough.c - see passthrough.h. */
#include "passthrough.h"

#include <stdio.h>
#include <string.h>

#include "format/pb_out.h"

uint64_t xplane_hash_names(const struct tk_trace *t) {
  uint64_t hash = t->n_classes;
  for (tk_id i = 1; i <= t->n_classes; i++) hash = (hash ^ trace_str(t, t->classes[i].name)->hash) * 0x9e3779b97f4a7c15u;
  return hash;
}

/* Hashes JSON text, ignoring line breaks between values. */
static uint64_t hash_json(uint64_t hash, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (text[i] != '\n') hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3u;
  return hash;
}

/* Hashes the top-level data. The order does not matter, because formats store top-level data in different orders. */
uint64_t xplane_hash_shown(const struct tk_trace *t) {
  uint64_t hash = 1;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    size_t n;
    const char *key = tk_string(t, m->key, &n);
    if (!m->origin && strcmp(key, "tracekit") != 0)
      hash += hash_json(hash_bytes(key, n), trace_raw(t, m->at), (size_t)m->size) * 0x9e3779b97f4a7c15u;
  }
  return hash ? hash : 1;
}

struct xplane_bytes xplane_passthrough(const struct tk_trace *t, const char *key) {
  const struct tk_meta *m = trace_meta(t, key);
  if (!m || !m->origin || strcmp(m->origin, XPLANE_FORMAT) != 0) return (struct xplane_bytes){0};
  return (struct xplane_bytes){(const uint8_t *)trace_raw(t, m->at), (size_t)m->size};
}

const void *xplane_table(const struct tk_trace *t, const char *key, size_t elem, uint32_t *n) {
  struct xplane_bytes b = xplane_passthrough(t, key);
  *n = b.n % elem ? 0 : (uint32_t)(b.n / elem);
  return *n ? b.p : NULL;
}

bool xplane_clock_of(const struct tk_trace *t, struct xplane_clock *clock) {
  uint32_t n;
  const void *p = xplane_table(t, XPLANE_META_CLOCK, sizeof *clock, &n);
  if (p) memcpy(clock, p, sizeof *clock);
  return p != NULL;
}

bool xplane_plane_stat(const struct tk_trace *t, const struct xplane_plane *p, const char *stat, struct xstat *out) {
  struct xplane_names names;
  struct pb c = xplane_fields(t, p), inner;
  struct pb_field f;
  struct xstat s;
  bool found = false, odd = false;
  xplane_names_of(&names, c, &t->store->mem);
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(XPLANE_STATS, PB_BYTES)) continue;
    inner = pb_inside(&f);
    if (!xplane_stat(&inner, &s, &odd) || !xplane_name_is(xplane_name_of(&names, s.id), stat)) continue;
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

/* ---- the space ---- */

bool xplane_is_named(const struct buf *space, const void *name, size_t n) {
  struct pb c = pb_over(space->data ? space->data : (const uint8_t *)"", space->len);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(XSPACE_HOSTNAMES, PB_BYTES) && f.value == n && memcmp(f.p, name, n) == 0) return true;
  return false;
}

void xplane_add_space(struct buf *space, uint32_t segment, struct xplane_bytes fields) {
  struct pb c = pb_over(fields.p, fields.n);
  struct pb_field f;
  if (fields.n) pb_u64(space, XPLANE_SEGMENT, segment);
  while (pb_next(&c, &f)) {
    const bool host = pb_field_key(&f) == PB_KEY(XSPACE_HOSTNAMES, PB_BYTES);
    if (f.number != XPLANE_SEGMENT && !(host && xplane_is_named(space, f.p, (size_t)f.value))) pb_field(space, &f);
  }
}

/* ---- types ---- */

void xplane_each_type(const struct tk_trace *t, const struct xplane_plane *plane,
                      void (*each)(void *arg, int64_t id, unsigned field), void *arg) {
  const uint8_t *p = (const uint8_t *)trace_raw(t, plane->types_at), *end = p + plane->types_size;
  unsigned field = 0;
  while (p < end) {
    const bool negative = *p == '-';
    uint64_t id = 0;
    p += negative;
    if (p == end) return;
    if (*p == '"' && end - p > 2 && p[1] >= '1' && p[1] <= '8' && p[2] == '"') field = (unsigned)p[1] - '0', p += 3;
    else if (*p < '0' || *p > '9') p++;
    else {
      while (p < end && *p >= '0' && *p <= '9') id = id * 10 + (uint64_t)(*p++ - '0');
      if (field) each(arg, (int64_t)(negative ? 0 - id : id), field);
    }
  }
}

/* ---- planes ---- */

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

void xplane_add_meta(struct tk_trace *t, const char *key, const void *p, size_t n, bool passthrough) {
  struct buf *raw = &t->store->raw;
  struct tk_meta m = {.key = trace_text(t, key), .at = raw->len, .size = n, .origin = passthrough ? XPLANE_FORMAT : NULL};
  if (n && !buf_append(raw, p, n)) return;
  *trace_add_meta(t) = m;
  trace_end_raw(t);
}

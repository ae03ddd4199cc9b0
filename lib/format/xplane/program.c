/* program.c - see program.h. */
#include "program.h"

#include <string.h>

#include "passthrough.h"

/* Splits a name such as "jit_step(5)" into module (jit_step) and number (5). Without a number at the end, the whole name is the
 * module. */
static void split_name(struct xplane_program *p) {
  const struct xplane_bytes name = p->name;
  size_t at = name.n;
  p->module = name;
  if (at == 0 || name.p[--at] != ')') return;
  size_t end = at;
  while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') at--;
  if (at == end || at == 0 || name.p[at - 1] != '(') return;
  p->module.n = at - 1;
  for (p->id = 0; at < end; at++) p->id = p->id * 10 + (uint64_t)(name.p[at] - '0');
}

bool xplane_program_of(struct xplane_program *p, const struct xplane_names *names, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v, stat;
  struct pb_field f;
  struct xstat s;
  bool odd = false, found = false;
  int64_t key;
  xplane_entry(&c, &key, &v);
  *p = (struct xplane_program){.id = (uint64_t)key, .hlo = pb_over("", 0)};
  while (pb_next(&v, &f)) {
    if (pb_field_key(&f) == PB_KEY(XEVENT_METADATA_NAME, PB_BYTES)) p->name = xplane_bytes_of(&f);
    if (pb_field_key(&f) != PB_KEY(XEVENT_METADATA_STATS, PB_BYTES)) continue;
    stat = pb_inside(&f);
    if (!xplane_stat(&stat, &s, &odd)) continue;
    const struct xplane_name *name = xplane_name_of(names, s.id);
    if ((s.field == XSTAT_UINT64 || s.field == XSTAT_INT64) && xplane_name_is(name, "program_id")) p->id = s.value;
    if (s.field != XSTAT_BYTES || (!xplane_name_is(name, "Hlo Proto") && !xplane_name_is(name, "hlo_proto"))) continue;
    p->hlo = pb_over(s.p, (size_t)s.value);
    found = true;
  }
  split_name(p);
  return found;
}

/* True if the message contains a stat whose value is bytes; number: the field of the stats. */
static bool has_bytes(struct pb c, uint32_t number) {
  struct pb_field f;
  struct xstat s;
  bool odd = false;
  while (pb_next(&c, &f)) {
    struct pb stat = pb_inside(&f);
    if (f.number == number && xplane_stat(&stat, &s, &odd) && (s.field == XSTAT_BYTES || s.field == XSTAT_COMPRESSED_STR)) return true;
  }
  return false;
}

/* True for a field that only XPlane understands: a program, or other bytes that are not an arg of an event. */
static bool is_block(const struct xplane_plane *plane, const struct xplane_names *names, const struct pb_field *f) {
  struct xplane_program program;
  struct pb c = pb_inside(f), metadata;
  struct xstat s;
  bool odd = false;
  int64_t id;
  switch (f->number) {
    case XPLANE_ID:
    case XPLANE_NAME:
    case XPLANE_LINES:
    case XPLANE_STAT_METADATA: return false;
    case XPLANE_STATS: return xplane_stat(&c, &s, &odd) && (s.field == XSTAT_BYTES || s.field == XSTAT_COMPRESSED_STR);
    case XPLANE_EVENT_METADATA:
      if (xplane_program_of(&program, names, f)) return true;
      xplane_entry(&c, &id, &metadata);
      return !plane->lines && has_bytes(metadata, XEVENT_METADATA_STATS);
    default: return true; /* a field that is in no known schema */
  }
}

uint64_t xplane_n_passthrough(const struct tk_trace *t) {
  uint32_t n_planes;
  const uint8_t *planes = xplane_table(t, XPLANE_META_PLANES, sizeof(struct xplane_plane), &n_planes);
  const struct xplane_bytes space = xplane_passthrough(t, XPLANE_META_SPACE);
  struct mem mem = {0};
  struct pb_field f;
  uint64_t n = 0;
  for (uint32_t i = 0; i < n_planes; i++) {
    struct xplane_plane plane;
    struct xplane_names names;
    memcpy(&plane, planes + i * sizeof plane, sizeof plane);
    struct pb c = xplane_fields(t, &plane);
    if (strcmp(tk_string(t, plane.name, NULL), XPLANE_PRIVATE_PLANE) == 0) continue;
    xplane_names_of(&names, c, &mem);
    while (pb_next(&c, &f)) n += is_block(&plane, &names, &f);
    xplane_names_free(&names);
  }
  for (struct pb c = pb_over(space.p, space.n); pb_next(&c, &f);) n += f.number > XSPACE_HOSTNAMES && f.number != XPLANE_SEGMENT;
  return n;
}

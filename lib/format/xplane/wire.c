/* wire.c - see wire.h. */
#include "wire.h"

#include <string.h>

bool xplane_bytes_are(struct xplane_bytes bytes, const char *text) {
  return bytes.n == strlen(text) && memcmp(bytes.p, text, bytes.n) == 0;
}

bool xplane_stat(struct pb *c, struct xstat *s, bool *odd) {
  struct pb_field f;
  *s = (struct xstat){0};
  while (pb_next(c, &f)) {
    switch (pb_field_key(&f)) {
      case PB_KEY(XSTAT_METADATA_ID, PB_VARINT): s->id = (int64_t)f.value; break;
      case PB_KEY(XSTAT_DOUBLE, PB_FIXED64):
      case PB_KEY(XSTAT_UINT64, PB_VARINT):
      case PB_KEY(XSTAT_INT64, PB_VARINT):
      case PB_KEY(XSTAT_REF, PB_VARINT):
      case PB_KEY(XSTAT_STR, PB_BYTES):
      case PB_KEY(XSTAT_BYTES, PB_BYTES):
      case PB_KEY(XSTAT_COMPRESSED_STR, PB_BYTES):
        s->field = (uint8_t)f.number; /* members of a oneof: the last one in the file counts */
        s->value = f.value;
        s->p = f.wire == PB_BYTES ? f.p : NULL;
        break;
      default:
        *odd = *odd || f.number <= XSTAT_COMPRESSED_STR;
        s->more = s->more || f.number > XSTAT_COMPRESSED_STR;
    }
  }
  return !c->fault;
}

bool xplane_entry(struct pb *c, int64_t *key, struct pb *value) {
  struct pb_field f;
  *key = 0;
  *value = pb_over("", 0);
  while (pb_next(c, &f)) {
    if (pb_field_key(&f) == PB_KEY(MAP_KEY, PB_VARINT)) *key = (int64_t)f.value;
    if (pb_field_key(&f) == PB_KEY(MAP_VALUE, PB_BYTES)) *value = pb_inside(&f);
  }
  return !c->fault;
}

static void add_name(struct xplane_names *names, const struct pb_field *entry) {
  struct pb c = pb_inside(entry), v;
  struct pb_field f;
  struct xplane_name name = {0};
  uint32_t *at;
  xplane_entry(&c, &name.id, &v);
  while (pb_next(&v, &f))
    if (pb_field_key(&f) == PB_KEY(XSTAT_METADATA_NAME, PB_BYTES)) name.text = xplane_bytes_of(&f);
  if (!buf_append(&names->names, &name, sizeof name)) return;
  at = map_put(&names->index, (uint64_t)name.id, 0);
  if (at) *at = (uint32_t)(names->names.len / sizeof name);
}

void xplane_names_of(struct xplane_names *names, struct pb plane, struct mem *mem) {
  struct pb_field f;
  *names = (struct xplane_names){.names = {.mem = mem}};
  map_init(&names->index, mem);
  while (pb_next(&plane, &f))
    if (pb_field_key(&f) == PB_KEY(XPLANE_STAT_METADATA, PB_BYTES)) add_name(names, &f);
}

void xplane_names_free(struct xplane_names *names) {
  map_free(&names->index);
  buf_free(&names->names);
}

const struct xplane_name *xplane_name_of(const struct xplane_names *names, int64_t id) {
  uint32_t *at = map_get(&names->index, (uint64_t)id);
  return at && *at ? (const struct xplane_name *)(const void *)names->names.data + *at - 1 : NULL;
}

/* wire.h - cursors over small messages of an XSpace that both the reader and the writer use: a stat, an entry of a plane's map,
 * and the names that a plane's maps give to its stats. */
#ifndef FORMAT_XPLANE_WIRE_H
#define FORMAT_XPLANE_WIRE_H

#include "base/map.h"
#include "fields.h"
#include "format/pb.h"

/* Bytes of the file: not NUL-terminated, and possibly invalid UTF-8. */
struct xplane_bytes {
  const uint8_t *p;
  size_t n;
};
static inline struct xplane_bytes xplane_bytes_of(const struct pb_field *f) {
  return (struct xplane_bytes){f->p, (size_t)f->value};
}
bool xplane_bytes_are(struct xplane_bytes bytes, const char *text);

struct xstat {
  int64_t id;
  uint8_t field;  /* field with the value (XSTAT_DOUBLE ...); 0 = no value */
  bool more;      /* true if it has unknown fields */
  uint64_t value; /* the number, or the length of text or bytes */
  const uint8_t *p;
};

/* Decodes a stat; returns false if the message is damaged (c->fault). *odd: whether a field had the wrong wire type. */
bool xplane_stat(struct pb *c, struct xstat *s, bool *odd);

/* Decodes an entry of a map: its key, and the message that is its value (empty if missing). Returns false if it is damaged
 * (c->fault). */
bool xplane_entry(struct pb *c, int64_t *key, struct pb *value);

/* Names of a plane's stats, by id. They point into the plane's bytes. */
struct xplane_name {
  int64_t id;
  struct xplane_bytes text;
};
struct xplane_names {
  struct map index; /* stat metadata id -> 1 + index in `names` */
  struct buf names; /* array of struct xplane_name */
};
void xplane_names_of(struct xplane_names *names, struct pb plane, struct mem *mem);
void xplane_names_free(struct xplane_names *names);
/* Returns the name of the stat with this id; NULL if it has none. */
const struct xplane_name *xplane_name_of(const struct xplane_names *names, int64_t id);
static inline bool xplane_name_is(const struct xplane_name *name, const char *text) {
  return name && xplane_bytes_are(name->text, text);
}

#endif

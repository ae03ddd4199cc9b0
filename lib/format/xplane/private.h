/* private.h - reads the JSON of our private stats: members of objects as strings, numbers and identities of the graph.
 *
 * A file may contain anything: values that differ from what we write are treated as missing. */
#ifndef FORMAT_XPLANE_PRIVATE_H
#define FORMAT_XPLANE_PRIVATE_H

#include "format/json.h"
#include "graph/trace.h"

/* Text of an object for json_member; it must be followed by readable bytes. */
struct xplane_object {
  struct tk_trace *t;
  const char *p;
  size_t n;
  void *arg; /* for the caller */
};

/* Copies text that is strict compact JSON to out, followed by zeros; returns false for other text. */
bool xplane_strict_json(const void *p, size_t n, struct buf *out);

/* Return 0 or false if there is no such member or it has another type. */
tk_id xplane_object_text(const struct xplane_object *o, const char *key);
bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value);
/* Returns TK_IDENT_NONE if there is no such member. */
struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key);
/* Calls `visit` for each object in an array member; `arg` is passed on. */
void xplane_each_object(const struct xplane_object *o, const char *key, void (*visit)(const struct xplane_object *o));

#endif

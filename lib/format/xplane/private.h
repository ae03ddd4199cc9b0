/* private.h - reads the JSON of our private stats: converts members of objects to strings, numbers and identities.
 *
 * Files are not trusted: values in a form that our writer does not use are treated as missing. */
#ifndef FORMAT_XPLANE_PRIVATE_H
#define FORMAT_XPLANE_PRIVATE_H

#include "format/json.h"
#include "graph/trace.h"

/* Text of an object, for json_member. Readable bytes must follow the text. */
struct xplane_object {
  struct tk_trace *t;
  const char *p;
  size_t n;
  void *arg; /* argument for the function that is called */
};

/* Copies text to `out`, followed by zeros, if it is compact, strict JSON; otherwise returns false. */
bool xplane_strict_json(const void *p, size_t n, struct buf *out);

/* Return 0 or false if there is no such member or it has another type. */
tk_id xplane_object_text(const struct xplane_object *o, const char *key);
bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value);
/* Returns TK_IDENT_NONE if there is no such member. */
struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key);
/* Calls `visit` for each object in an array member; `arg` is passed on. */
void xplane_each_object(const struct xplane_object *o, const char *key, void (*visit)(const struct xplane_object *o));

#endif

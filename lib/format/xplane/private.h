/* private.h - the JSON of our own stats: members of objects as strings, numbers and identities of the graph.
 *
 * A file may claim anything: what is not as we write it is not there. */
#ifndef FORMAT_XPLANE_PRIVATE_H
#define FORMAT_XPLANE_PRIVATE_H

#include "format/json.h"
#include "graph/trace.h"

/* The text of an object that json_member can read: bytes that can be read follow it. */
struct xplane_object {
  struct tk_trace *t;
  const char *p;
  size_t n;
  void *arg; /* of whoever reads it */
};

/* Text that is strict compact JSON goes into out, followed by zeros; false if it is anything else. */
bool xplane_strict_json(const void *p, size_t n, struct buf *out);

/* 0: there is no such member, or it is of another type. */
tk_id xplane_object_text(const struct xplane_object *o, const char *key);
bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value);
/* None if there is none. */
struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key);
/* Calls `visit` for each object of the array that the member is; `arg` goes along. */
void xplane_each_object(const struct xplane_object *o, const char *key, void (*visit)(const struct xplane_object *o));

#endif

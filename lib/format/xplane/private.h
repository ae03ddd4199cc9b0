/* private.h - reads the JSON of our private stats: converts members of objects to strings, numbers and identities.
 *
 * Files are not trusted: values in other forms than those of our writer are treated as missing. */
#ifndef FORMAT_XPLANE_PRIVATE_H
#define FORMAT_XPLANE_PRIVATE_H

#include "format/json.h"
#include "graph/trace.h"

enum { XPLANE_MEMBERS = 16 }; /* capacity of the index; nearly all objects of our writer have fewer members */

/* Index of an object, which is scanned once, so that its members can be found without scanning the text again. */
struct xplane_object {
  struct tk_trace *t;
  void *arg; /* argument for the function that is called */
  const uint8_t *p;
  size_t n; /* from the opening to the closing brace */
  uint32_t n_members;
  struct json_string keys[XPLANE_MEMBERS];
  struct json_value values[XPLANE_MEMBERS];
};

/* Copies text to `out`, followed by zeros, if it is compact, strict JSON; otherwise returns false. */
bool xplane_strict_json(const void *p, size_t n, struct buf *out);

/* Scans the object at p[0, n), or up to its closing brace if more follows. The text must come from xplane_strict_json. */
void xplane_object_scan(struct xplane_object *o, struct tk_trace *t, const uint8_t *p, size_t n, void *arg);

/* Find a member of an object. Return 0 or false if there is no such member or it has another type. */
bool xplane_object_member(const struct xplane_object *o, const char *key, struct json_value *v);
tk_id xplane_object_text(const struct xplane_object *o, const char *key);
bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value);
/* Returns the identity in a member; an identity of the kind TK_IDENT_NONE if there is no such member. */
struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key);
/* Calls `visit` for each object of an array in strict JSON, and passes `arg` on. */
void xplane_each_object(struct tk_trace *t, const struct json_value *list, void *arg, void (*visit)(const struct xplane_object *o));

#endif

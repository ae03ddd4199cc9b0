/* json_walk.h - walks through a JSON document that is in memory as a whole, for formats whose parts refer to each other.
 *
 *     for (json_walk_enter(&w, '{'); json_walk_key(&w, &key);) { json_walk_value(&w, &v); ... }
 *     for (json_walk_enter(&w, '['); json_walk_more(&w);) { json_walk_value(&w, &v); ... }
 *
 * json_walk_value only skips an array or object; json_walk_into then returns a walk inside it. */
#ifndef FORMAT_JSON_WALK_H
#define FORMAT_JSON_WALK_H

#include "io/in.h"
#include "json.h"

struct json_walk {
  struct json j;
  bool first;
  bool cut; /* true if an array or object is damaged, or the input ends in it */
};

/* Appends the rest of the input and IN_PAD zeros to `text`; *n is its length without them. Returns false with err set on failure. */
bool json_walk_load(struct in *in, struct buf *text, size_t *n, struct tk_err *err);
struct json_walk json_walk_over(const uint8_t *p, const uint8_t *end, struct mem *mem);
/* Returns a walk inside an array or object that json_walk_value has read. */
struct json_walk json_walk_into(const struct json_walk *w, const struct json_value *v);

/* Moves past the bracket `open`; false if something else is there. */
bool json_walk_enter(struct json_walk *w, char open);
/* Move to the next element, or past the key of the next member; false at the end or at damage (w->j.status). */
bool json_walk_more(struct json_walk *w);
bool json_walk_key(struct json_walk *w, struct json_string *key);
bool json_walk_value(struct json_walk *w, struct json_value *v);
/* Stores the values of an object's members in the variables that `places` lists by key; a NULL key ends the list. Variables of
 * absent members are cleared, and other members are skipped. Stops at the closing brace, or at damage. */
struct json_place {
  const char *key;
  struct json_value *to;
};
void json_walk_members(struct json_walk *w, const struct json_place *places);
/* Same as json_walk_members, for an object that json_walk_value has read. Clears all variables if the value is absent or not an
 * object. */
void json_walk_object(const struct json_walk *w, const struct json_value *object, const struct json_place *places);
/* Reads a value as an integer; false if it is absent or not a number. */
bool json_walk_whole(const struct json_value *v, int64_t *number);
void json_walk_free(struct json_walk *w);

#endif

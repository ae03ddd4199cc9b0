/* json_walk.c - see json_walk.h. */
#include "json_walk.h"

#include "base/err.h"

bool json_walk_load(struct in *in, struct buf *text, size_t *n, struct tk_err *err) {
  static const uint8_t pad[IN_PAD];
  size_t avail;
  for (;;) {
    const uint8_t *p = in_ahead(in, 1 << 16, &avail, err);
    if (!p) return false;
    if (!avail) break;
    if (!buf_append(text, p, avail)) return mem_refuse(text->mem, err);
    in_consume(in, avail);
  }
  *n = text->len;
  return buf_append(text, pad, sizeof pad) || mem_refuse(text->mem, err);
}

struct json_walk json_walk_over(const uint8_t *p, const uint8_t *end, struct mem *mem) {
  return (struct json_walk){.j = {.p = p, .end = end, .last = true, .scratch = {.mem = mem}}};
}

struct json_walk json_walk_into(const struct json_walk *w, const struct json_value *v) {
  return json_walk_over(v->p, v->end ? v->end : v->p, w->j.scratch.mem);
}

bool json_walk_enter(struct json_walk *w, char open) {
  w->first = true;
  if (w->j.p >= w->j.end || !json_blank(&w->j) || *w->j.p != (uint8_t)open) return false;
  w->j.p++;
  return true;
}

bool json_walk_more(struct json_walk *w) {
  if (w->j.status != JSON_OK || !json_blank(&w->j) || *w->j.p == ']' || *w->j.p == '}') return false;
  if (!w->first) {
    if (*w->j.p != ',') return json_bad(&w->j, w->j.p, "expected a comma");
    w->j.p++;
    if (!json_blank(&w->j) || *w->j.p == ']' || *w->j.p == '}') return false;
  }
  w->first = false;
  return true;
}

bool json_walk_key(struct json_walk *w, struct json_string *key) {
  return json_walk_more(w) && json_key(&w->j, key) && json_blank(&w->j);
}

bool json_walk_value(struct json_walk *w, struct json_value *v) {
  if (!json_blank(&w->j)) return false;
  const uint8_t *p = w->j.p;
  *v = (struct json_value){.type = JSON_NULL, .p = p, .end = p};
  if (json_value(&w->j, v)) return true;
  if (*p != '{' && *p != '[') return false;
  w->cut = true; /* the members before the damage can still be used */
  v->type = *p == '{' ? JSON_OBJECT : JSON_ARRAY;
  v->p = p;
  v->end = w->j.end;
  return true;
}

static void clear_places(const struct json_place *places) {
  for (const struct json_place *m = places; m->key; m++) *m->to = (struct json_value){.p = NULL};
}

void json_walk_members(struct json_walk *w, const struct json_place *places) {
  struct json_string key;
  struct json_value other;
  clear_places(places);
  if (!json_walk_enter(w, '{')) return;
  while (json_walk_key(w, &key)) {
    const struct json_place *m = places;
    while (m->key && !json_is(&w->j, &key, m->key)) m++;
    if (!json_walk_value(w, m->key ? m->to : &other)) break;
  }
}

void json_walk_object(const struct json_walk *w, const struct json_value *object, const struct json_place *places) {
  if (!object->p) {
    clear_places(places);
    return;
  }
  struct json_walk in = json_walk_into(w, object);
  json_walk_members(&in, places);
  json_walk_free(&in);
}

bool json_walk_whole(const struct json_value *v, int64_t *number) {
  return v->p && v->type == JSON_NUMBER && json_whole((const char *)v->p, (size_t)(v->end - v->p), number);
}

void json_walk_free(struct json_walk *w) { buf_free(&w->j.scratch); }

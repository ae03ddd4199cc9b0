/* private.c - see private.h. */
#include "private.h"

#include <string.h>

enum { PAD = 64 };

bool xplane_strict_json(const void *p, size_t n, struct buf *out) {
  struct buf copy = {.mem = out->mem};
  struct json j;
  bool ok;
  static const uint8_t pad[PAD] = {' '}; /* a space, which ends a number at the end of the text */
  out->len = 0;
  if (!buf_append(out, p, n) || !buf_append(out, pad, PAD)) return false;
  out->len = n;
  j = (struct json){.p = out->data, .end = out->data + n + 1, .last = true, .scratch = {.mem = out->mem}};
  ok = n && json_copy(&j, &copy) && j.p == out->data + n && j.n_fixes == 0 && copy.len == n &&
       memcmp(copy.data, out->data, n) == 0;
  buf_free(&copy);
  buf_free(&j.scratch);
  return ok;
}

static tk_id private_text_of(struct tk_trace *t, const struct json_value *v) {
  struct json j = {.p = v->p, .end = v->end, .last = true, .scratch = {.mem = &t->store->mem}};
  size_t n;
  const uint8_t *text = json_string_text(&j, &v->str, &n);
  tk_id id = n ? trace_string(t, text, n) : KEY_EMPTY;
  buf_free(&j.scratch);
  return id;
}

void xplane_object_scan(struct xplane_object *o, struct tk_trace *t, const uint8_t *p, size_t n, void *arg) {
  struct json j = {.p = p, .end = p + n, .last = true, .scratch = {.mem = &t->store->mem}};
  struct json_string key;
  struct json_value v;
  o->t = t;
  o->arg = arg;
  o->p = p;
  o->n_members = 0;
  for (j.p += n && *p == '{'; j.p < j.end && *j.p == '"'; j.p += *j.p == ',') {
    if (!json_key(&j, &key) || !json_value(&j, &v)) break;
    if (o->n_members == XPLANE_MEMBERS) continue;
    o->keys[o->n_members] = key;
    o->values[o->n_members++] = v;
  }
  o->n = (size_t)(j.p - p) + (j.p < j.end && *j.p == '}');
  buf_free(&j.scratch);
}

bool xplane_object_member(const struct xplane_object *o, const char *key, struct json_value *v) {
  const size_t n = strlen(key);
  for (uint32_t i = 0; i < o->n_members; i++) {
    if (o->keys[i].n != n || memcmp(o->keys[i].p, key, n) != 0) continue;
    *v = o->values[i];
    return true;
  }
  return o->n_members == XPLANE_MEMBERS && json_member((const char *)o->p, o->n, key, v);
}

tk_id xplane_object_text(const struct xplane_object *o, const char *key) {
  struct json_value v;
  return xplane_object_member(o, key, &v) && v.type == JSON_STRING ? private_text_of(o->t, &v) : 0;
}

bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value) {
  struct json_value v;
  if (!xplane_object_member(o, key, &v) || v.type != JSON_NUMBER || v.num.kind != NUM_INT) return false;
  *value = v.num.mant;
  return true;
}

struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key) {
  struct json_value v;
  struct tk_ident i = ident_none();
  if (!xplane_object_member(o, key, &v)) return i;
  if (v.type == JSON_STRING) return ident_str(private_text_of(o->t, &v));
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT) return i;
  i = ident_int(v.num.mant);
  if (xplane_object_member(o, "quoted", &v) && v.type == JSON_TRUE) i.kind = TK_IDENT_QUOTED;
  return i;
}

void xplane_each_object(struct tk_trace *t, const struct json_value *list, void *arg, void (*visit)(const struct xplane_object *o)) {
  struct xplane_object o;
  const uint8_t *p = list->p + 1;
  if (list->type != JSON_ARRAY) return;
  for (; p < list->end && *p == '{'; p += *p == ',') {
    xplane_object_scan(&o, t, p, (size_t)(list->end - p), arg);
    visit(&o);
    p += o.n;
  }
}

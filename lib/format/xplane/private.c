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

tk_id xplane_object_text(const struct xplane_object *o, const char *key) {
  struct json_value v;
  return json_member(o->p, o->n, key, &v) && v.type == JSON_STRING ? private_text_of(o->t, &v) : 0;
}

bool xplane_object_int(const struct xplane_object *o, const char *key, int64_t *value) {
  struct json_value v;
  if (!json_member(o->p, o->n, key, &v) || v.type != JSON_NUMBER || v.num.kind != NUM_INT) return false;
  *value = v.num.mant;
  return true;
}

struct tk_ident xplane_object_ident(const struct xplane_object *o, const char *key) {
  struct json_value v;
  struct tk_ident i = ident_none();
  if (!json_member(o->p, o->n, key, &v)) return i;
  if (v.type == JSON_STRING) return ident_str(private_text_of(o->t, &v));
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT) return i;
  i = ident_int(v.num.mant);
  if (json_member(o->p, o->n, "quoted", &v) && v.type == JSON_TRUE) i.kind = TK_IDENT_QUOTED;
  return i;
}

void xplane_each_object(const struct xplane_object *o, const char *key, void (*visit)(const struct xplane_object *o)) {
  struct json_value list, v;
  struct json j = {.last = true};
  if (!json_member(o->p, o->n, key, &list) || list.type != JSON_ARRAY) return;
  j.p = list.p;
  j.end = list.end;
  for (j.p++; j.p < j.end && *j.p == '{'; j.p += *j.p == ',') {
    struct xplane_object one = {o->t, (const char *)j.p, 0, o->arg};
    if (!json_value(&j, &v)) return;
    one.n = (size_t)(v.end - v.p);
    visit(&one);
  }
}

/* frames.c - removes stack frames that are no longer used because events were removed. A frame is kept if an event or a kept
 * frame refers to it. */
#include "frames.h"

#include <string.h>

#include "format/json.h"

struct frame {
  uint64_t at, size; /* offset and size of its member ("12":{...}) in the text */
  uint32_t parent;   /* id of the parent frame; 0 = none */
  bool stays;
};

struct frames {
  struct tk_trace *t;
  struct intern ids; /* texts of ids, without quotes */
  struct buf list;   /* array of struct frame, by id - 1; size 0 = referenced, but not defined */
};

static struct frame *frame_of(struct frames *f, const void *id, size_t n) {
  static const struct frame none = {0};
  uint32_t at = intern(&f->ids, id, n);
  while (at && f->list.len / sizeof none < at)
    if (!buf_append(&f->list, &none, sizeof none)) return NULL;
  return at ? (struct frame *)(void *)f->list.data + at - 1 : NULL;
}

/* Returns the id of the parent frame. Ids may be strings or numbers and are compared as text. */
static uint32_t parent_of(struct frames *f, const struct json_value *frame) {
  struct json_value v;
  if (frame->type != JSON_OBJECT || !json_member((const char *)frame->p, (size_t)(frame->end - frame->p), "parent", &v))
    return 0;
  if (v.type != JSON_STRING) return intern(&f->ids, v.p, (size_t)(v.end - v.p));
  struct json j = {.last = true, .scratch = {.mem = &f->t->store->mem}};
  size_t n;
  const uint8_t *text = json_string_text(&j, &v.str, &n);
  uint32_t id = intern(&f->ids, text, n);
  buf_free(&j.scratch);
  return id;
}

static bool read_table(struct frames *f, const struct tk_meta *m) {
  const uint8_t *text = (const uint8_t *)trace_raw(f->t, m->at);
  struct json j = {.p = text + 1, .end = text + m->size, .last = true, .scratch = {.mem = &f->t->store->mem}};
  struct json_string key;
  struct json_value v;
  bool ok = true;
  while (ok && json_blank(&j) && *j.p == '"') {
    const uint8_t *from = j.p;
    ok = json_key(&j, &key) && json_value(&j, &v);
    uint32_t parent = ok ? parent_of(f, &v) : 0;
    size_t n;
    const uint8_t *id = ok ? json_string_text(&j, &key, &n) : NULL;
    struct frame *frame = id ? frame_of(f, id, n) : NULL;
    if (!frame) ok = false;
    else *frame = (struct frame){.at = m->at + (uint64_t)(from - text), .size = (uint64_t)(v.end - from), .parent = parent};
    if (!ok || !json_blank(&j) || *j.p++ != ',') break;
  }
  buf_free(&j.scratch);
  return ok;
}

/* Marks the frame and its ancestors. */
static void mark_frame(struct frames *f, const void *id, size_t n) {
  uint32_t at = intern_id(&f->ids, id, n), last = (uint32_t)(f->list.len / sizeof(struct frame));
  struct frame *list = (struct frame *)(void *)f->list.data;
  for (; at && at <= last && !list[at - 1].stays; at = list[at - 1].parent) list[at - 1].stays = true;
}

/* True for "json.sf" (frame at an event's start) and "json.esf" (at its end). */
static bool names_frame(const struct tk_trace *t, tk_id key) {
  size_t n;
  const char *text = tk_string(t, key, &n);
  bool frame = (n > 3 && strcmp(text + n - 3, ".sf") == 0) || (n > 4 && strcmp(text + n - 4, ".esf") == 0);
  return frame && key_is_reserved(text);
}

static void mark_args(struct frames *f, uint32_t args) {
  struct tk_args it = tk_args_of(f->t, args);
  struct tk_arg arg;
  char number[24];
  size_t n;
  while (tk_args_next(&it, &arg)) {
    if (!names_frame(f->t, arg.key)) continue;
    const char *text = number;
    if (arg.type == TK_ARG_STR || arg.type == TK_ARG_NUMBER) text = tk_string(f->t, arg.s, &n);
    else if (arg.type == TK_ARG_UINT) n = num_put_u64(number, arg.u);
    else if (arg.type == TK_ARG_INT) n = num_put_i64(number, arg.i);
    else continue;
    mark_frame(f, text, n);
  }
}

/* Replaces the text of the meta by the frames that stay. */
static bool write_table(struct frames *f, struct tk_meta *m) {
  const struct frame *list = (const struct frame *)(const void *)f->list.data;
  struct buf text = {.mem = &f->t->store->mem};
  bool ok = buf_text(&text, "{");
  for (size_t i = 0; ok && i < f->list.len / sizeof *list; i++) {
    if (!list[i].stays || !list[i].size) continue;
    if (text.len > 1) ok = buf_text(&text, ",");
    ok = ok && buf_append(&text, trace_raw(f->t, list[i].at), list[i].size);
  }
  ok = ok && buf_text(&text, "}");
  if (ok) {
    m->at = f->t->store->raw.len;
    m->size = text.len;
    ok = buf_append(&f->t->store->raw, text.data, text.len);
    trace_end_raw(f->t);
  }
  buf_free(&text);
  return ok;
}

bool frames_prune(struct tk_trace *t, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct frames f = {.t = t, .list = {.mem = mem}};
  struct tk_meta *m = (struct tk_meta *)(uintptr_t)trace_meta(t, "stackFrames");
  if (!m || m->origin || m->size < 2 || *trace_raw(t, m->at) != '{') return true;
  intern_init(&f.ids, mem);
  bool ok = read_table(&f, m);
  for (tk_id i = 1; ok && i <= t->n_events; i++) mark_args(&f, t->events[i].args);
  for (tk_id i = 1; ok && i <= t->n_flow_points; i++) mark_args(&f, t->flow_points[i].args);
  if (ok) ok = write_table(&f, m);
  intern_free(&f.ids);
  buf_free(&f.list);
  return ok || mem_refuse(mem, err);
}

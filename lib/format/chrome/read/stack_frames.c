/* stack_frames.c - see stack_frames.h. The dictionary is read when the first sample needs it. */
#include "stack_frames.h"

#include <string.h>

#include "graph/stack.h"

void stack_frames_init(struct stack_frames *f, struct tk_trace *t) {
  *f = (struct stack_frames){.t = t};
  intern_init(&f->ids, &t->store->mem);
}

void stack_frames_free(struct stack_frames *f) {
  struct mem *mem = &f->t->store->mem;
  intern_free(&f->ids);
  mem_free(mem, f->list);
  mem_free(mem, f->path);
}

/* Returns the number of a frame id, which is an index in f->list; 0 if memory runs out. */
static uint32_t number_of_id(struct stack_frames *f, struct json_walk *w, const struct json_value *id) {
  const uint32_t was = f->cap;
  size_t n = (size_t)(id->end - id->p);
  const uint8_t *text = id->type == JSON_STRING ? json_string_text(&w->j, &id->str, &n) : id->p;
  const uint32_t number = intern(&f->ids, text, n);
  if (!number || !mem_grow(&f->t->store->mem, (void **)&f->list, &f->cap, (uint64_t)number + 1, sizeof *f->list)) return 0;
  memset(f->list + was, 0, (size_t)(f->cap - was) * sizeof *f->list);
  return number;
}

static tk_id text_of_value(struct stack_frames *f, struct json_walk *w, const struct json_value *v) {
  size_t n;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return trace_string(f->t, text, n);
}

static void add_entry(struct stack_frames *f, struct json_walk *w, uint32_t number, const struct json_value *v) {
  struct json_value name, category, parent;
  const struct json_place members[] = {{"name", &name}, {"category", &category}, {"parent", &parent}, {NULL, NULL}};
  json_walk_object(w, v, members);
  const struct tk_frame frame = {.name = text_of_value(f, w, &name), .module = text_of_value(f, w, &category)};
  const uint32_t up = parent.p && parent.type != JSON_NULL ? number_of_id(f, w, &parent) : 0;
  f->list[number].frame = stack_frame(f->t, &frame);
  f->list[number].parent = up;
}

/* Adds the entries of an object, whose keys are the ids. */
static void add_members(struct stack_frames *f, struct json_walk *w) {
  struct json_string key;
  struct json_value v;
  while (json_walk_key(w, &key)) {
    const struct json_value id = {.type = JSON_STRING, .p = key.p, .end = key.p + key.n, .str = key};
    const uint32_t number = number_of_id(f, w, &id);
    if (!json_walk_value(w, &v) || !number) return;
    if (v.type == JSON_OBJECT) add_entry(f, w, number, &v);
  }
}

/* Adds the entries of an array, each of which contains its id. */
static void add_elements(struct stack_frames *f, struct json_walk *w) {
  struct json_value v, id;
  const struct json_place members[] = {{"id", &id}, {NULL, NULL}};
  while (json_walk_more(w) && json_walk_value(w, &v)) {
    json_walk_object(w, &v, members);
    const uint32_t number = id.p ? number_of_id(f, w, &id) : 0;
    if (number) add_entry(f, w, number, &v);
  }
}

static void read_dictionary(struct stack_frames *f) {
  static const uint8_t pad[IN_PAD];
  struct mem *mem = &f->t->store->mem;
  const struct tk_meta *m = trace_meta(f->t, "stackFrames");
  struct buf text = {.mem = mem};
  f->read = true;
  if (!m || !buf_append(&text, trace_raw(f->t, m->at), m->size) || !buf_append(&text, pad, sizeof pad)) return;
  struct json_walk w = json_walk_over(text.data, text.data + m->size, mem);
  if (json_walk_enter(&w, '{')) add_members(f, &w);
  else if (json_walk_enter(&w, '[')) add_elements(f, &w);
  json_walk_free(&w);
  buf_free(&text);
}

/* Returns the stack of an entry, and builds the stacks of its parents. A circular chain of parents ends at the frame that
 * closes it. */
static tk_id stack_of_entry(struct stack_frames *f, uint32_t at) {
  uint32_t n = 0;
  for (uint32_t i = at; i && f->list[i].frame && !f->list[i].has_stack; i = f->list[i].parent) {
    if (!mem_grow(&f->t->store->mem, (void **)&f->path, &f->cap_path, (uint64_t)n + 1, sizeof *f->path)) return 0;
    f->path[n++] = i;
    f->list[i].has_stack = true;
  }
  while (n-- > 0) {
    struct stack_entry *e = &f->list[f->path[n]];
    e->stack = stack_push(f->t, e->parent ? f->list[e->parent].stack : 0, e->frame);
  }
  return f->list[at].stack;
}

tk_id stack_frames_find(struct stack_frames *f, struct json_walk *w, const struct json_value *id) {
  if (!f->read) read_dictionary(f);
  const uint32_t number = id->p ? number_of_id(f, w, id) : 0;
  return number && f->list[number].frame ? stack_of_entry(f, number) : 0;
}

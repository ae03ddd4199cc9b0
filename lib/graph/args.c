/* args.c - args as shapes: an interned list of (key, type), and one packed record of values per event.
 *
 *     pool:  ... | varint shape id | value | value | ...      NULL, TRUE, FALSE: nothing      INT: zigzag varint
 *                ^ event.args                                  UINT, POINTER: varint          DOUBLE: 8 bytes, little endian
 *                                                              DECIMAL: zigzag varint mantissa, zigzag byte exponent
 *                                                              STR, NUMBER, JSON, BYTES, REF: varint string id
 *
 * Kineto's kernels have about 20 args; as 16-byte structs these would make the graph as large as the JSON. Packed, they take 9
 * to 12 bytes per event on real GPU traces, with 13 to 18 shapes. */
#include <string.h>

#include "args.h"
#include "trace.h"

/* ---- reading ---- */

struct tk_args tk_args_of(const struct tk_trace *t, uint32_t args) {
  struct tk_args it = {.trace = t};
  uint64_t shape;
  if (args == 0 || args >= t->store->pool.len) return it;
  it.next = varint_get(t->store->pool.data + args, &shape);
  it.shape = t->store->shapes[shape];
  return it;
}

bool tk_args_next(struct tk_args *it, struct tk_arg *arg) {
  if (!it->shape || it->i >= it->shape->n) return false;
  const struct shape_field *f = &it->shape->fields[it->i++];
  uint64_t v;
  arg->key = f->key;
  arg->type = f->type;
  arg->exp = 0;
  arg->u = 0;
  switch (f->type) {
  case TK_ARG_NULL:
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: return true;
  case TK_ARG_DOUBLE:
    memcpy(&arg->d, it->next, 8);
    it->next += 8;
    return true;
  case TK_ARG_INT:
  case TK_ARG_DECIMAL:
    it->next = varint_get(it->next, &v);
    arg->i = unzigzag(v);
    if (f->type == TK_ARG_DECIMAL) arg->exp = (int32_t)unzigzag(*it->next++);
    return true;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: it->next = varint_get(it->next, &arg->u); return true;
  default:
    it->next = varint_get(it->next, &v);
    arg->s = (tk_id)v;
    return true;
  }
}

/* Looks for the key in the shape before it reads values, because most lookups are for keys that the event lacks. */
bool tk_args_find(const struct tk_trace *t, uint32_t args, const char *key, struct tk_arg *arg) {
  struct tk_args it = tk_args_of(t, args);
  const tk_id id = it.shape ? trace_text_id(t, key) : 0;
  uint32_t at = 0;
  if (!id) return false;
  while (at < it.shape->n && it.shape->fields[at].key != id) at++;
  if (at == it.shape->n) return false;
  do tk_args_next(&it, arg);
  while (arg->key != id);
  return true;
}

uint32_t args_shape_of(const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  return it.shape ? it.shape->id : 0;
}

bool args_decide(const struct tk_trace *t, uint32_t shape) {
  static const char *const KEYS_READ[] = {"Python id", "Python parent id", /* seal_frames, then steps and kind_xla */
                                          "correlationId", "fullname", "op_full_name", /* accelerator_spans */
                                          "step_num", "hlo_op", "is_eager", "correlation_id", "memcpy_details", "memset_details",
                                          "avg ms"}; /* kind_summary */
  const struct tk_arg_shape *s = shape ? t->store->shapes[shape] : NULL;
  for (uint32_t i = 0; s && i < s->n; i++)
    for (size_t k = 0; k < sizeof KEYS_READ / sizeof *KEYS_READ; k++)
      if (strcmp((const char *)trace_str(t, s->fields[i].key)->bytes, KEYS_READ[k]) == 0) return true;
  return false;
}

/* ---- building ---- */

void args_begin(struct tk_trace *t) {
  struct arg_builder *b = &t->store->builder;
  b->n = 0;
  b->payload.len = 0;
  b->duplicates = false;
  b->serial++;
}

static void see_key(struct tk_store *s, tk_id key) {
  struct arg_builder *b = &s->builder;
  if (key >= b->n_stamps) {
    uint32_t old = b->n_stamps;
    if (!mem_grow(&s->mem, (void **)&b->stamps, &b->n_stamps, (uint64_t)key + 1, sizeof *b->stamps)) return;
    memset(b->stamps + old, 0, (size_t)(b->n_stamps - old) * sizeof *b->stamps);
  }
  if (b->stamps[key] == b->serial) b->duplicates = true;
  b->stamps[key] = b->serial;
}

void args_copy(struct tk_trace *t, const struct tk_arg *a) {
  struct tk_store *s = t->store;
  struct arg_builder *b = &s->builder;
  uint8_t *p = buf_reserve(&b->payload, 16);
  if (!p || !mem_grow(&s->mem, (void **)&b->fields, &b->cap, (uint64_t)b->n + 1, sizeof *b->fields)) return;
  see_key(s, a->key);
  if (a->key >= b->n_stamps) return; /* the array could not grow: out of memory */
  b->fields[b->n++] = (struct shape_field){a->key, (uint8_t)a->type};
  switch (a->type) {
  case TK_ARG_NULL:
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: return;
  case TK_ARG_INT: p = varint_put(p, zigzag(a->i)); break;
  case TK_ARG_DECIMAL:
    p = varint_put(p, zigzag(a->i));
    *p++ = (uint8_t)zigzag(a->exp);
    break;
  case TK_ARG_DOUBLE:
    memcpy(p, &a->d, 8);
    p += 8;
    break;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: p = varint_put(p, a->u); break;
  default:
    args_see_string(s, a->s);
    p = varint_put(p, a->s);
  }
  b->payload.len = (size_t)(p - b->payload.data);
}

void args_flag(struct tk_trace *t, tk_id key, enum tk_arg_type type) { args_copy(t, &(struct tk_arg){.key = key, .type = type}); }

void args_int(struct tk_trace *t, tk_id key, int64_t v) { args_copy(t, &(struct tk_arg){.key = key, .type = TK_ARG_INT, .i = v}); }

void args_uint(struct tk_trace *t, tk_id key, enum tk_arg_type type, uint64_t v) {
  args_copy(t, &(struct tk_arg){.key = key, .type = type, .u = v});
}

void args_decimal(struct tk_trace *t, tk_id key, int64_t mant, int exp) {
  args_copy(t, &(struct tk_arg){.key = key, .type = TK_ARG_DECIMAL, .exp = exp, .i = mant});
}

void args_double(struct tk_trace *t, tk_id key, double v) {
  args_copy(t, &(struct tk_arg){.key = key, .type = TK_ARG_DOUBLE, .d = v});
}

void args_str(struct tk_trace *t, tk_id key, enum tk_arg_type type, tk_id s) {
  args_copy(t, &(struct tk_arg){.key = key, .type = type, .s = s});
}

bool args_hold(const struct tk_trace *t, tk_id key) {
  const struct arg_builder *b = &t->store->builder;
  return key < b->n_stamps && b->stamps[key] == b->serial;
}

bool args_rename(struct tk_trace *t, tk_id key, tk_id to) {
  struct tk_store *s = t->store;
  struct arg_builder *b = &s->builder;
  if (!args_hold(t, key)) return false;
  see_key(s, to);
  if (to >= b->n_stamps) return false;
  b->stamps[key] = b->serial - 1;
  for (uint32_t i = 0; i < b->n; i++)
    if (b->fields[i].key == key) b->fields[i].key = to;
  return true;
}

void args_keep(struct tk_trace *t, bool (*keep)(const struct tk_trace *t, const struct tk_arg *arg)) {
  struct arg_builder *b = &t->store->builder;
  struct tk_arg_shape shape = {.n = b->n, .fields = b->fields};
  struct tk_args it = {.trace = t, .next = b->payload.data, .shape = &shape};
  struct tk_arg arg;
  size_t len = 0;
  b->n = 0;
  for (const uint8_t *from = it.next; tk_args_next(&it, &arg); from = it.next) {
    if (!keep(t, &arg)) continue;
    b->fields[b->n++] = b->fields[it.i - 1];
    memmove(b->payload.data + len, from, (size_t)(it.next - from));
    len += (size_t)(it.next - from);
  }
  b->payload.len = len;
}

static bool args_has_key(const struct tk_trace *t, const struct tk_arg *arg) {
  (void)t;
  return arg->key != 0;
}

/* Keeps only the last value of a repeated key and drops the others. Takes linear time, because malicious input may repeat a key
 * 100,000 times. */
static void drop_duplicates(struct tk_trace *t) {
  struct arg_builder *b = &t->store->builder;
  b->serial++;
  for (uint32_t i = b->n; i-- > 0;) {
    uint32_t *stamp = &b->stamps[b->fields[i].key];
    if (*stamp == b->serial) b->fields[i].key = 0;
    *stamp = b->serial;
  }
  args_keep(t, args_has_key);
}

static bool same_shape(const struct tk_arg_shape *s, const struct arg_builder *b) {
  if (s->n != b->n) return false;
  for (uint32_t i = 0; i < b->n; i++)
    if (s->fields[i].key != b->fields[i].key || s->fields[i].type != b->fields[i].type) return false;
  return true;
}

static uint32_t intern_shape(struct tk_store *s) {
  struct arg_builder *b = &s->builder;
  struct tk_arg_shape *shape;
  uint64_t h = b->n;
  uint32_t *slot;
  for (uint32_t i = 0; i < b->n; i++) h = hash_pair(h, (uint64_t)b->fields[i].key << 8 | b->fields[i].type);
  for (;; h++) {
    slot = map_put(&s->shape_index, h, 0);
    if (!slot) return 0;
    if (*slot == 0) break;
    if (same_shape(s->shapes[*slot], b)) return *slot;
  }
  size_t size = (size_t)b->n * sizeof *shape->fields;
  if (!mem_grow(&s->mem, (void **)&s->shapes, &s->cap_shapes, (uint64_t)s->n_shapes + 2, sizeof(void *))) return 0;
  shape = arena_alloc(&s->strings.arena, sizeof *shape + size);
  if (!shape) return 0;
  *shape = (struct tk_arg_shape){.id = ++s->n_shapes, .n = b->n, .fields = (void *)(shape + 1)};
  memcpy(shape->fields, b->fields, size);
  s->shapes[0] = NULL;
  s->shapes[shape->id] = shape;
  return *slot = shape->id;
}

struct shape_field *args_fields(struct tk_trace *t, uint32_t n) {
  struct arg_builder *b = &t->store->builder;
  args_begin(t);
  if (!mem_grow(&t->store->mem, (void **)&b->fields, &b->cap, n, sizeof *b->fields)) return NULL;
  b->n = n;
  return b->fields;
}

uint32_t args_shape(struct tk_trace *t) { return intern_shape(t->store); }

/* Remembers that the arg record at `at` contains ids which the fragment itself assigned (fragment.h). */
static void note_foreign(struct tk_store *s, size_t at) {
  s->has_foreign = false;
  if (!mem_grow(&s->mem, (void **)&s->foreign, &s->cap_foreign, (uint64_t)s->n_foreign + 1, sizeof *s->foreign)) return;
  s->foreign[s->n_foreign++] = (struct foreign_args){.at = (uint32_t)at};
}

uint32_t args_packed(struct tk_trace *t, uint32_t shape, const uint8_t *payload, size_t n) {
  struct tk_store *s = t->store;
  uint8_t *p = buf_reserve(&s->pool, n + 16);
  size_t at = s->pool.len;
  if (!p) return 0;
  if (at + n + 16 > UINT32_MAX) {
    s->mem.failed = true;
    return 0;
  }
  p = varint_put(p, shape);
  if (n) memcpy(p, payload, n);
  s->pool.len = (size_t)(p + n - s->pool.data);
  if (s->has_foreign || shape > s->known_shapes) note_foreign(s, at);
  return (uint32_t)at;
}

uint32_t args_end(struct tk_trace *t) {
  struct arg_builder *b = &t->store->builder;
  uint32_t shape;
  if (b->n == 0) return 0;
  if (b->duplicates) drop_duplicates(t);
  shape = intern_shape(t->store);
  return shape ? args_packed(t, shape, b->payload.data, b->payload.len) : 0;
}

static void free_builder(struct tk_store *s) {
  struct arg_builder *b = &s->builder;
  mem_free(&s->mem, b->fields);
  mem_free(&s->mem, b->stamps);
  buf_free(&b->payload);
}

struct arg_builder args_set_aside(struct tk_trace *t) {
  struct arg_builder was = t->store->builder;
  t->store->builder = (struct arg_builder){.payload.mem = &t->store->mem};
  return was;
}

void args_take_up(struct tk_trace *t, struct arg_builder was) {
  free_builder(t->store);
  t->store->builder = was;
}

void args_free(struct tk_store *s) {
  mem_free(&s->mem, s->shapes);
  free_builder(s);
  buf_free(&s->pool);
  map_free(&s->shape_index);
}

/* Returns the position after a value, without decoding the value. */
static const uint8_t *after_value(const uint8_t *p, uint8_t type) {
  if (type == TK_ARG_NULL || type == TK_ARG_FALSE || type == TK_ARG_TRUE) return p;
  if (type == TK_ARG_DOUBLE) return p + 8;
  while (*p++ & 0x80) {}
  return p + (type == TK_ARG_DECIMAL);
}

void args_skip_to(struct tk_args *it, uint32_t field) {
  for (; it->i < field; it->i++) it->next = after_value(it->next, it->shape->fields[it->i].type);
}

static bool find_arg(const struct tk_trace *t, tk_id key, uint32_t args, struct tk_arg *arg) {
  struct tk_args it = tk_args_of(t, args);
  const uint32_t n = it.shape && key ? it.shape->n : 0;
  uint32_t at = 0;
  while (at < n && it.shape->fields[at].key != key) at++;
  if (at == n) return false;
  args_skip_to(&it, at);
  return tk_args_next(&it, arg);
}

bool args_of_event(const struct tk_trace *t, const struct tk_event *e, tk_id key, struct tk_arg *arg) {
  return find_arg(t, key, e->args, arg) || find_arg(t, key, t->classes[e->cls].args, arg);
}

/* pickle.c - see pickle.h. */
#include "pickle.h"

#include <string.h>

#include "base/err.h"

enum { TEXT_MOST = 1 << 24, TICK = 1 << 16, REPLACED = UINT32_MAX };

/* A list, tuple or dict: items[at, at + n) of the pickle. If cap == REPLACED, the caller has replaced it with an object: `at` is
 * the object's number and `n` its kind. */
struct pickle_container {
  uint32_t at, n, cap;
};

enum opcode {
  OP_MARK = '(', OP_STOP = '.', OP_POP = '0', OP_POP_MARK = '1', OP_DUP = '2',
  OP_NONE = 'N', OP_NEWTRUE = 0x88, OP_NEWFALSE = 0x89,
  OP_BININT = 'J', OP_BININT1 = 'K', OP_BININT2 = 'M', OP_LONG1 = 0x8a, OP_LONG4 = 0x8b, OP_BINFLOAT = 'G',
  OP_SHORT_BINSTRING = 'U', OP_BINSTRING = 'T', OP_BINUNICODE = 'X', OP_SHORT_BINUNICODE = 0x8c, OP_BINUNICODE8 = 0x8d,
  OP_SHORT_BINBYTES = 'C', OP_BINBYTES = 'B', OP_BINBYTES8 = 0x8e, OP_BYTEARRAY8 = 0x96,
  OP_EMPTY_LIST = ']', OP_APPEND = 'a', OP_APPENDS = 'e', OP_EMPTY_DICT = '}', OP_SETITEM = 's', OP_SETITEMS = 'u',
  OP_EMPTY_TUPLE = ')', OP_TUPLE = 't', OP_TUPLE1 = 0x85, OP_TUPLE2 = 0x86, OP_TUPLE3 = 0x87,
  OP_BINGET = 'h', OP_LONG_BINGET = 'j', OP_BINPUT = 'q', OP_LONG_BINPUT = 'r', OP_MEMOIZE = 0x94,
  OP_PROTO = 0x80, OP_FRAME = 0x95
};

void pickle_init(struct pickle *p) { intern_init(&p->texts, p->mem); }

void pickle_free(struct pickle *p) {
  intern_free(&p->texts);
  mem_free(p->mem, p->stack);
  mem_free(p->mem, p->memo);
  mem_free(p->mem, p->items);
  mem_free(p->mem, p->containers);
}

/* ---- bytes ---- */

/* Consumes and returns the next n bytes, which are valid until the next call. Returns NULL at the end of the input, or with err
 * set. */
static const uint8_t *take_bytes(struct pickle *p, size_t n) {
  size_t avail;
  const uint8_t *bytes = in_ahead(p->in, n ? n : 1, &avail, p->err);
  if (!bytes || avail < n) {
    p->truncated = bytes != NULL;
    return NULL;
  }
  in_consume(p->in, n);
  return bytes;
}

/* Reads a little-endian number of n bytes, at most 8. */
static bool take_number(struct pickle *p, size_t n, uint64_t *v) {
  const uint8_t *bytes = take_bytes(p, n);
  *v = 0;
  for (size_t i = 0; bytes && i < n; i++) *v |= (uint64_t)bytes[i] << 8 * i;
  return bytes != NULL;
}

static bool pickle_refuse(struct pickle *p, const char *why) {
  const uint64_t at = in_offset(p->in);
  return err_at(p->err, TK_ECORRUPT, at, "damaged pickle: %s at byte %llu", why, (unsigned long long)at);
}

/* ---- the stack ---- */

static bool push(struct pickle *p, struct pickle_value v) {
  if (!mem_grow(p->mem, (void **)&p->stack, &p->cap_stack, (uint64_t)p->n_stack + 1, sizeof *p->stack))
    return mem_refuse(p->mem, p->err);
  p->stack[p->n_stack++] = v;
  return true;
}

static bool push_int(struct pickle *p, enum pickle_type type, int64_t i) {
  return push(p, (struct pickle_value){.i = i, .type = (uint8_t)type});
}

/* Returns the stack index of the innermost mark; UINT32_MAX if there is none. */
static uint32_t find_mark(const struct pickle *p) {
  uint32_t i = p->n_stack;
  while (i > 0 && p->stack[i - 1].type != PICKLE_MARK) i--;
  return i ? i - 1 : UINT32_MAX;
}

/* ---- containers ---- */

static bool push_container(struct pickle *p, enum pickle_type type) {
  if (!mem_grow(p->mem, (void **)&p->containers, &p->cap_containers, (uint64_t)p->n_containers + 1, sizeof *p->containers))
    return mem_refuse(p->mem, p->err);
  p->containers[p->n_containers] = (struct pickle_container){0};
  return push_int(p, type, p->n_containers++);
}

/* Makes room for another item. Items that cannot grow in place are moved to the end of the array of all items, with twice the
 * capacity. */
static bool container_room(struct pickle *p, struct pickle_container *c) {
  const uint32_t room = c->cap < 4 ? 4 : c->cap * 2;
  if (c->n < c->cap) return true;
  const bool is_last = c->cap && c->at + c->cap == p->n_items;
  const uint64_t need = (uint64_t)p->n_items + room - (is_last ? c->cap : 0);
  if (c->cap > UINT32_MAX / 4 || !mem_grow(p->mem, (void **)&p->items, &p->cap_items, need, sizeof *p->items))
    return mem_refuse(p->mem, p->err);
  if (!is_last && c->n) memcpy(p->items + p->n_items, p->items + c->at, c->n * sizeof *p->items);
  if (!is_last) c->at = p->n_items;
  c->cap = room;
  p->n_items = (uint32_t)need;
  return true;
}

/* Merges v into the last item if the objects of v follow those of the item. Returns true if it was merged. */
static bool merge_objects(struct pickle_value *last, const struct pickle_value *v) {
  if (last->type != PICKLE_OBJECT || v->type != PICKLE_OBJECT || last->kind != v->kind) return false;
  if (last->i + last->n != v->i || last->n > UINT32_MAX - v->n) return false;
  last->n += v->n;
  return true;
}

static bool append(struct pickle *p, struct pickle_value *to, const struct pickle_value *v) {
  struct pickle_container *c = &p->containers[to->i];
  if (c->cap == REPLACED) return pickle_refuse(p, "an object that changes after its end");
  if (to->type == PICKLE_LIST && c->n && merge_objects(&p->items[c->at + c->n - 1], v)) return true;
  if (!container_room(p, c)) return false;
  p->items[c->at + c->n++] = *v;
  return true;
}

/* Appends the values from stack index `from` on to the list or dict at index `container`, which becomes the top of the
 * stack. */
static bool append_all(struct pickle *p, uint32_t container, uint32_t from, enum pickle_type type) {
  if (container >= p->n_stack || p->stack[container].type != type) return pickle_refuse(p, "items without a list or dict");
  for (uint32_t i = from; i < p->n_stack; i++)
    if (!append(p, &p->stack[container], &p->stack[i])) return false;
  p->n_stack = container + 1;
  return true;
}

/* Adds items to a dict. If the dict is still empty, the caller may replace it with an object instead. */
static bool set_items(struct pickle *p, uint32_t dict, uint32_t from) {
  struct pickle_value object;
  const bool is_dict = dict < p->n_stack && p->stack[dict].type == PICKLE_DICT;
  if (!is_dict || (p->n_stack - from) % 2) return pickle_refuse(p, "items without a dict");
  struct pickle_container *c = &p->containers[p->stack[dict].i];
  if (c->n || c->cap == REPLACED || !p->take(p->arg, p->stack + from, p->n_stack - from, &object))
    return append_all(p, dict, from, PICKLE_DICT);
  *c = (struct pickle_container){.at = (uint32_t)object.i, .n = object.kind, .cap = REPLACED};
  p->stack[dict] = object;
  p->n_stack = dict + 1;
  return true;
}

static bool make_tuple(struct pickle *p, uint32_t n) {
  if (n > p->n_stack) return pickle_refuse(p, "a tuple without items");
  const uint32_t from = p->n_stack - n;
  if (!push_container(p, PICKLE_LIST)) return false;
  struct pickle_value tuple = p->stack[--p->n_stack];
  for (uint32_t i = from; i < p->n_stack; i++)
    if (!append(p, &tuple, &p->stack[i])) return false;
  p->n_stack = from;
  return push(p, tuple);
}

/* ---- the memo ---- */

static bool memo_put(struct pickle *p, uint64_t at) {
  if (!p->n_stack || at > p->n_memo) return pickle_refuse(p, "an unexpected number of the memo");
  if (!mem_grow(p->mem, (void **)&p->memo, &p->cap_memo, (uint64_t)p->n_memo + 1, sizeof *p->memo))
    return mem_refuse(p->mem, p->err);
  p->memo[at] = p->stack[p->n_stack - 1];
  p->n_memo += at == p->n_memo;
  return true;
}

static bool memo_get(struct pickle *p, uint64_t at) {
  if (at >= p->n_memo) return pickle_refuse(p, "an unknown number of the memo");
  struct pickle_value v = p->memo[at];
  if (v.type == PICKLE_DICT) {
    const struct pickle_container *c = &p->containers[v.i];
    if (c->cap == REPLACED) v = (struct pickle_value){.i = c->at, .n = 1, .type = PICKLE_OBJECT, .kind = (uint8_t)c->n};
  }
  return push(p, v);
}

/* ---- opcodes ---- */

static bool push_text(struct pickle *p, size_t width) {
  uint64_t n;
  if (!take_number(p, width, &n)) return false;
  if (n > TEXT_MOST) return pickle_refuse(p, "a text of more than 16 MiB");
  const uint8_t *bytes = take_bytes(p, (size_t)n);
  if (!bytes) return false;
  const uint32_t id = intern(&p->texts, bytes, (size_t)n);
  return id ? push_int(p, PICKLE_TEXT, id) : mem_refuse(p->mem, p->err);
}

static bool skip_bytes(struct pickle *p, size_t width) {
  uint64_t n;
  if (!take_number(p, width, &n)) return false;
  for (uint64_t step; n > 0; n -= step) {
    step = n < 65536 ? n : 65536;
    if (!take_bytes(p, (size_t)step)) return false;
  }
  return push_int(p, PICKLE_NONE, 0);
}

static bool push_number(struct pickle *p, size_t width) {
  uint64_t v;
  if (!take_number(p, width, &v)) return false;
  return push_int(p, PICKLE_INT, width == 4 ? (int32_t)v : (int64_t)v);
}

/* Pushes an integer of any length, in two's complement. Pointers take 9 bytes if their highest bit is set. */
static bool push_long(struct pickle *p, size_t width) {
  uint64_t n, v = 0;
  if (!take_number(p, width, &n)) return false;
  const uint8_t *bytes = n <= 9 ? take_bytes(p, (size_t)n) : NULL;
  if (n <= 9 && !bytes) return false;
  if (n > TEXT_MOST) return pickle_refuse(p, "an integer of more than 16 MiB");
  if (n > 9) return take_bytes(p, (size_t)n) && push_int(p, PICKLE_NONE, 0);
  for (size_t i = 0; i < n && i < 8; i++) v |= (uint64_t)bytes[i] << 8 * i;
  if (n && n < 8 && bytes[n - 1] & 0x80) v |= UINT64_MAX << 8 * n;
  return push_int(p, n == 9 && bytes[8] ? PICKLE_NONE : PICKLE_INT, (int64_t)v);
}

static bool push_float(struct pickle *p) {
  uint64_t v = 0;
  double d;
  const uint8_t *bytes = take_bytes(p, 8);
  if (!bytes) return false;
  for (size_t i = 0; i < 8; i++) v = v << 8 | bytes[i];
  memcpy(&d, &v, sizeof d);
  return push(p, (struct pickle_value){.d = d, .type = PICKLE_FLOAT});
}

static bool get_memo(struct pickle *p, size_t width) {
  uint64_t at;
  return take_number(p, width, &at) && memo_get(p, at);
}

static bool put_memo(struct pickle *p, size_t width) {
  uint64_t at;
  return take_number(p, width, &at) && memo_put(p, at);
}

static bool begin_version(struct pickle *p) {
  uint64_t version;
  if (!take_number(p, 1, &version)) return false;
  return version <= 5 || err_set(p->err, TK_EFORMAT, "pickle protocol %u; 2 to 5 are supported", (unsigned)version);
}

static bool has_values(struct pickle *p, uint32_t n) { return p->n_stack >= n || pickle_refuse(p, "an empty stack"); }

static bool pop(struct pickle *p) {
  if (!has_values(p, 1)) return false;
  p->n_stack--;
  return true;
}

/* Runs an opcode that works on all values above the innermost mark. */
static bool run_marked(struct pickle *p, uint8_t op) {
  const uint32_t mark = find_mark(p);
  if (mark == UINT32_MAX || (mark == 0 && op != OP_TUPLE && op != OP_POP_MARK)) return pickle_refuse(p, "items without a mark");
  bool ok = true;
  if (op == OP_APPENDS) ok = append_all(p, mark - 1, mark + 1, PICKLE_LIST);
  else if (op == OP_SETITEMS) ok = set_items(p, mark - 1, mark + 1);
  else if (op == OP_POP_MARK) p->n_stack = mark;
  else {
    ok = make_tuple(p, p->n_stack - mark - 1);
    if (ok) p->stack[mark] = p->stack[mark + 1], p->n_stack = mark + 1;
  }
  return ok;
}

static bool refuse_code(struct pickle *p, uint8_t op) {
  const uint64_t at = in_offset(p->in) - 1;
  return err_at(p->err, TK_EFORMAT, at, "a pickle that would run code (opcode 0x%02x at byte %llu): only plain data is read", op,
                (unsigned long long)at);
}

/* Opcodes that a number follows: a value, the length of a value, or an index of the memo. */
static const struct operand {
  bool (*act)(struct pickle *p, size_t width);
  size_t width; /* bytes of the number */
} OPERANDS[256] = {
  [OP_BININT] = {push_number, 4}, [OP_BININT1] = {push_number, 1}, [OP_BININT2] = {push_number, 2},
  [OP_LONG1] = {push_long, 1}, [OP_LONG4] = {push_long, 4},
  [OP_SHORT_BINSTRING] = {push_text, 1}, [OP_SHORT_BINUNICODE] = {push_text, 1}, [OP_BINSTRING] = {push_text, 4},
  [OP_BINUNICODE] = {push_text, 4}, [OP_BINUNICODE8] = {push_text, 8},
  [OP_SHORT_BINBYTES] = {skip_bytes, 1}, [OP_BINBYTES] = {skip_bytes, 4}, [OP_BINBYTES8] = {skip_bytes, 8},
  [OP_BYTEARRAY8] = {skip_bytes, 8},
  [OP_BINGET] = {get_memo, 1}, [OP_LONG_BINGET] = {get_memo, 4}, [OP_BINPUT] = {put_memo, 1}, [OP_LONG_BINPUT] = {put_memo, 4},
};

static bool run(struct pickle *p, uint8_t op) {
  if (OPERANDS[op].act) return OPERANDS[op].act(p, OPERANDS[op].width);
  switch (op) {
  case OP_PROTO: return begin_version(p);
  case OP_FRAME: return take_bytes(p, 8) != NULL;
  case OP_MARK: return push_int(p, PICKLE_MARK, 0);
  case OP_POP: return pop(p);
  case OP_DUP: return has_values(p, 1) && push(p, p->stack[p->n_stack - 1]);
  case OP_NONE: return push_int(p, PICKLE_NONE, 0);
  case OP_NEWTRUE: return push_int(p, PICKLE_BOOL, 1);
  case OP_NEWFALSE: return push_int(p, PICKLE_BOOL, 0);
  case OP_BINFLOAT: return push_float(p);
  case OP_EMPTY_LIST: case OP_EMPTY_TUPLE: return push_container(p, PICKLE_LIST);
  case OP_EMPTY_DICT: return push_container(p, PICKLE_DICT);
  case OP_APPEND: return has_values(p, 2) && append_all(p, p->n_stack - 2, p->n_stack - 1, PICKLE_LIST);
  case OP_SETITEM: return has_values(p, 3) && set_items(p, p->n_stack - 3, p->n_stack - 2);
  case OP_APPENDS: case OP_SETITEMS: case OP_TUPLE: case OP_POP_MARK: return run_marked(p, op);
  case OP_TUPLE1: case OP_TUPLE2: case OP_TUPLE3: return make_tuple(p, op - OP_TUPLE1 + 1U);
  case OP_MEMOIZE: return memo_put(p, p->n_memo);
  default: return refuse_code(p, op);
  }
}

/* ---- the pickle ---- */

/* At the end of a truncated pickle, appends the top value of the stack to the list below it, repeatedly. Pickle writes no mark for a
 * list with a single item, so close_all does not find such a list. Only lists, dicts and objects are appended, because a string may be
 * a key of the enclosing dict. */
static bool close_single(struct pickle *p) {
  while (p->n_stack >= 2) {
    const struct pickle_value *v = &p->stack[p->n_stack - 2];
    if (v[0].type != PICKLE_LIST || (v[1].type != PICKLE_LIST && v[1].type != PICKLE_DICT && v[1].type != PICKLE_OBJECT)) break;
    if (!append_all(p, p->n_stack - 2, p->n_stack - 1, PICKLE_LIST)) return false;
  }
  return true;
}

/* Closes everything that is open at the end of a truncated pickle: appends the values above each mark to the list or dict below
 * it, except a key without a value. */
static bool close_all(struct pickle *p) {
  uint32_t mark;
  while (close_single(p) && (mark = find_mark(p)) != UINT32_MAX && mark > 0) {
    const bool is_dict = p->stack[mark - 1].type == PICKLE_DICT;
    if (is_dict) p->n_stack -= (p->n_stack - mark - 1) % 2;
    if (!(is_dict ? set_items(p, mark - 1, mark + 1) : append_all(p, mark - 1, mark + 1, PICKLE_LIST))) return false;
  }
  return p->n_stack > 0 || err_set(p->err, TK_ECORRUPT, "truncated pickle");
}

bool pickle_read(struct pickle *p, struct pickle_value *root) {
  const uint8_t *op;
  for (uint64_t n = 1; (op = take_bytes(p, 1)) != NULL && *op != OP_STOP; n++) {
    if (!run(p, *op) && !p->truncated) return false;
    if (p->truncated) break;
    if (n % TICK == 0 && !p->tick(p->arg)) return false;
  }
  if (!op && !p->truncated) return false;
  if (p->truncated && !close_all(p)) return false;
  if (!p->n_stack) return pickle_refuse(p, "no data");
  *root = p->stack[0];
  return true;
}

const struct pickle_value *pickle_items(const struct pickle *p, const struct pickle_value *v, uint32_t *n) {
  const struct pickle_container *c = v && (v->type == PICKLE_LIST || v->type == PICKLE_DICT) ? &p->containers[v->i] : NULL;
  *n = c && c->cap != REPLACED ? c->n : 0;
  return *n ? p->items + c->at : NULL;
}

const struct pickle_value *pickle_member(const struct pickle *p, const struct pickle_value *dict, uint32_t key) {
  uint32_t n;
  const struct pickle_value *v = pickle_items(p, dict, &n), *found = NULL;
  if (!v || dict->type != PICKLE_DICT) return NULL;
  for (uint32_t i = 0; i + 1 < n; i += 2)
    if (v[i].type == PICKLE_TEXT && v[i].i == key) found = &v[i + 1];
  return found;
}

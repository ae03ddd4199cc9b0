/* read_template.c - the fast path: events that are spelled like events before them.
 *
 * Producers print every event of a kind with the same keys, blanks and constants.  So an event is a run of literal text, a value, a
 * literal, a value, ... up to its brace; and all events of a file form a small tree of such runs (13-24 shapes and 66-174 nodes on
 * real files).  The general path tells this file what it read (template_value); from then on the literals are compared whole and
 * only the values between them are looked at:
 *
 *     root -- '{"ph":"X","cat":"kernel","name":"' NAME -- '","pid":' PID -- ',"tid":' TID -- ... -- '}' END: leaf
 *                                                     \-- '","pid":"' PID_STR -- ...
 *
 * Each node tries the child that matched last, then the others.  What does not match goes the general path, from the event's first
 * byte: nothing has been added to the graph before the last literal matched.  Values that vary are never part of a literal, the
 * number of children and nodes is bounded, so hostile files only lose the head start.
 *
 * Measured: make bench. */
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "reader.h"

enum { MAX_CHILDREN = 32, MAX_NODES = 4096, MAX_VALUES = 96, MAX_LITERAL = 4096, LIT_PAD = 16, PACKED_MAX = 11 };

struct leaf {
  struct chrome_event proto; /* what does not vary, and what the last event of it was */
  uint32_t shape;            /* of the args, 0 = none */
  uint32_t n_suffix;         /* constant args at the end */
  uint8_t suffix[32];
};

struct node {
  uint32_t n;
  uint8_t op;
  uint8_t n_children;
  struct node *next, *first, *hot;
  struct leaf *leaf; /* OP_END */
  uint8_t literal[]; /* n bytes, padded */
};

struct mark {
  enum template_op op;
  const uint8_t *value, *end;
};

struct templates {
  struct mem *mem;
  struct arena arena;
  struct node *root;
  uint32_t n_nodes;
  const uint8_t *from;
  struct mark marks[MAX_VALUES];
  unsigned n_marks;
  bool useless; /* the event being read is not worth learning */
};

static struct node *new_node(struct templates *p, enum template_op op, const void *literal, size_t n) {
  struct node *c = arena_alloc(&p->arena, sizeof *c + n + LIT_PAD);
  if (!c) return NULL;
  *c = (struct node){.n = (uint32_t)n, .op = (uint8_t)op};
  memcpy(c->literal, literal, n);
  memset(c->literal + n, 0, LIT_PAD);
  return c;
}

struct templates *templates_new(struct mem *mem) {
  struct templates *p = mem_alloc(mem, sizeof *p);
  if (!p) return NULL;
  *p = (struct templates){.mem = mem, .arena = {.mem = mem}};
  p->root = new_node(p, OP_END, "", 0);
  if (p->root) return p;
  templates_free(p);
  return NULL;
}

void templates_free(struct templates *p) {
  if (!p) return;
  arena_free(&p->arena);
  mem_free(p->mem, p);
}

/* ---- learning ---- */

void template_begin(struct templates *p, const uint8_t *from) {
  p->from = from;
  p->n_marks = 0;
  p->useless = p->n_nodes >= MAX_NODES;
}

void template_abandon(struct templates *p) { p->useless = true; }

void template_value(struct templates *p, enum template_op op, const uint8_t *value, const uint8_t *end) {
  if (p->n_marks == MAX_VALUES) p->useless = true;
  if (p->useless) return;
  p->marks[p->n_marks++] = (struct mark){op, value, end};
}

static struct node *child(struct templates *p, struct node *up, enum template_op op, const uint8_t *literal, size_t n) {
  struct node *c;
  for (c = up->first; c; c = c->next)
    if (c->op == op && c->n == n && memcmp(c->literal, literal, n) == 0) return c;
  if (up->n_children == MAX_CHILDREN || n > MAX_LITERAL) return NULL;
  c = new_node(p, op, literal, n);
  if (!c) return NULL;
  c->next = up->first;
  up->first = up->hot = c;
  up->n_children++;
  p->n_nodes++;
  return c;
}

static bool has_payload(enum template_op op) { return op >= OP_INT; }

/* The args of this event are its values in order, then constants: only then can they be packed without being understood. */
static bool packs(const struct templates *p, const struct chrome *r, const struct chrome_event *e) {
  const struct arg_builder *b = &r->t->store->builder;
  uint32_t values = 0, marks = 0;
  if (b->payload.len - e->own_args > sizeof ((struct leaf *)0)->suffix) return false;
  for (uint32_t i = 0; i < b->n; i++) values += b->fields[i].type > TK_ARG_TRUE;
  for (unsigned i = 0; i < p->n_marks; i++) marks += has_payload(p->marks[i].op);
  return values == marks + (b->payload.len > e->own_args);
}

/* Phases whose extra args are constant. */
static bool worth_it(const struct chrome *r, const struct chrome_event *e) {
  const char *s = tk_string(r->t, e->s, NULL);
  bool flow = e->ph == 's' || e->ph == 't' || e->ph == 'f';
  if (e->has_bind_id || e->has_id2 || (e->has_id && !flow)) return false;
  if (e->s && (*s == 'g' || *s == 'p')) return false;
  if (e->ph != 'X' && e->dur.kind != WHEN_NONE) return false;
  return e->ts.kind == WHEN_OK && (e->ph != 'X' || e->dur.kind == WHEN_OK);
}

void template_learn(struct templates *p, struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *end) {
  const struct buf *payload = &r->t->store->builder.payload;
  const uint8_t *at = p->from;
  struct node *n = p->root;
  if (p->useless || !worth_it(r, e) || !packs(p, r, e)) return;
  for (unsigned i = 0; i < p->n_marks && n; i++) {
    n = child(p, n, p->marks[i].op, at, (size_t)(p->marks[i].value - at));
    at = p->marks[i].end;
  }
  if (n) n = child(p, n, OP_END, at, (size_t)(end - at));
  if (!n || n->leaf) return;
  n->leaf = arena_alloc(&p->arena, sizeof *n->leaf);
  if (!n->leaf) {
    n->op = OP_TS; /* never matches an empty value: a node without a leaf must not be reached */
    return;
  }
  *n->leaf = (struct leaf){.proto = *e, .shape = args_shape_of(r->t, args), .n_suffix = (uint32_t)(payload->len - e->own_args)};
  if (n->leaf->n_suffix) memcpy(n->leaf->suffix, payload->data + e->own_args, n->leaf->n_suffix);
}

/* ---- matching ---- */

/* Sixteen bytes at a time; both sides are readable beyond their ends.  30-50% of the reader's speed against memcmp. */
static inline bool matches(const uint8_t *p, const uint8_t *literal, uint32_t n) {
#if defined(__SSE2__)
  for (; n > 16; n -= 16, p += 16, literal += 16) {
    __m128i eq = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)p), _mm_loadu_si128((const void *)literal));
    if (_mm_movemask_epi8(eq) != 0xffff) return false;
  }
  __m128i eq = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)p), _mm_loadu_si128((const void *)literal));
  uint32_t want = (1u << n) - 1;
  return ((uint32_t)_mm_movemask_epi8(eq) & want) == want;
#else
  return memcmp(p, literal, n) == 0;
#endif
}

/* The closing quote of a string without escapes, or NULL. */
static inline const uint8_t *plain_end(const uint8_t *p) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), limit = _mm_set1_epi8(0x1f);
  for (;; p += 16) {
    __m128i v = _mm_loadu_si128((const void *)p);
    __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                                _mm_cmpeq_epi8(_mm_min_epu8(v, limit), v));
    unsigned mask = (unsigned)_mm_movemask_epi8(stop);
    if (!mask) continue;
    p += __builtin_ctz(mask);
    return *p == '"' ? p : NULL;
  }
#else
  while (*p >= 0x20 && *p != '"' && *p != '\\') p++;
  return *p == '"' ? p : NULL;
#endif
}

struct decimal {
  int64_t mant;
  int exp;
};

/* One by one: eight at a time by multiplication gained nothing on traces, whose numbers are short but for ts (there 1.5%). */
static inline const uint8_t *digits(const uint8_t *p, uint64_t *value) {
  for (unsigned c; (c = *p - (unsigned)'0') < 10; p++) *value = *value * 10 + c;
  return p;
}

/* A number of up to 19 digits (epoch microseconds with nanoseconds have them) without exponent, as JSON spells it; NULL otherwise. */
static inline const uint8_t *read_number(const uint8_t *p, struct decimal *d) {
  bool neg = *p == '-';
  const uint8_t *start = p += neg, *point = NULL;
  uint64_t v = 0;
  p = digits(p, &v);
  if (p == start || (*start == '0' && p > start + 1)) return NULL;
  if (*p == '.') {
    point = ++p;
    p = digits(p, &v);
    if (p == point) return NULL;
  }
  if (p - start - (point != NULL) > 19 || v > (uint64_t)INT64_MAX || (neg && v == 0) || (*p | 32) == 'e') return NULL;
  d->exp = point ? -(int)(p - point) : 0;
  d->mant = neg ? -(int64_t)v : (int64_t)v;
  return p;
}

/* The end of a nested value whose bracket is at p; NULL if it runs out of the window or holds escapes. */
static const uint8_t *nested_end(const uint8_t *p, const uint8_t *end) {
  unsigned depth = 0;
  for (; p < end; p++) {
    switch (*p) {
    case '"':
      p = plain_end(p + 1);
      if (!p) return NULL;
      break;
    case '[':
    case '{': depth++; break;
    case ']':
    case '}':
      if (--depth == 0) return p + 1;
    }
  }
  return NULL;
}

struct reading {
  struct chrome *r;
  tk_id name; /* 0 = does not vary */
  struct tk_ident pid, tid;
  struct tk_arg id;
  struct decimal ts, dur;
  uint8_t *packed;
  uint8_t payload[MAX_VALUES * PACKED_MAX + 32];
};

static inline const uint8_t *text_value(struct reading *w, const uint8_t *p, tk_id *id) {
  const uint8_t *q = plain_end(p);
  if (!q) return NULL;
  *id = chrome_plain(w->r, p, (size_t)(q - p));
  return *id ? q : NULL;
}

static const uint8_t *nested_value(struct reading *w, const uint8_t *p) {
  const uint8_t *q = *p == '[' || *p == '{' ? nested_end(p, w->r->j.end) : NULL;
  tk_id id;
  if (!q) return NULL;
  id = chrome_spelling(w->r, p, (size_t)(q - p));
  if (!id) return NULL;
  w->packed = varint_put(w->packed, id);
  return q;
}

/* The value at p for this node; the byte behind it, or NULL. */
static inline const uint8_t *value(struct reading *w, enum template_op op, const uint8_t *p) {
  struct decimal d;
  tk_id id;
  switch (op) {
  case OP_TS: return read_number(p, &w->ts);
  case OP_DUR: return *p == '-' ? NULL : read_number(p, &w->dur);
  case OP_NAME: return text_value(w, p, &w->name);
  case OP_PID_STR:
  case OP_TID_STR:
    p = text_value(w, p, &id);
    if (p) *(op == OP_PID_STR ? &w->pid : &w->tid) = chrome_ident(w->r, id);
    return p;
  case OP_ID_STR:
    w->id = (struct tk_arg){.type = TK_ARG_STR};
    return text_value(w, p, &w->id.s);
  case OP_STR:
    p = text_value(w, p, &id);
    if (p) w->packed = varint_put(w->packed, id);
    return p;
  case OP_NESTED: return nested_value(w, p);
  case OP_DECIMAL:
    p = read_number(p, &d);
    if (!p || d.exp == 0) return NULL;
    w->packed = varint_put(w->packed, zigzag(d.mant));
    *w->packed++ = (uint8_t)zigzag(d.exp);
    return p;
  default: break;
  }
  p = read_number(p, &d);
  if (!p || d.exp != 0) return NULL;
  if (op == OP_INT) w->packed = varint_put(w->packed, zigzag(d.mant));
  else if (op == OP_PID) w->pid = ident_int(d.mant);
  else if (op == OP_TID) w->tid = ident_int(d.mant);
  else w->id = (struct tk_arg){.type = TK_ARG_INT, .i = d.mant};
  return p;
}

/* The byte behind the child's literal and value, or NULL if the text at p is not of this child. */
static inline const uint8_t *accept(struct reading *w, const struct node *c, const uint8_t *p) {
  if (!matches(p, c->literal, c->n)) return NULL;
  return c->op == OP_END ? p + c->n : value(w, c->op, p + c->n);
}

/* The child that matches when the one that matched last does not: from now on it is the first to be tried. */
static const uint8_t *turn(struct reading *w, struct node *up, const uint8_t *p) {
  const struct node *last = up->hot;
  for (struct node *c = up->first; c; c = c->next) {
    const uint8_t *q = c == last ? NULL : accept(w, c, p);
    if (!q) continue;
    up->hot = c;
    return q;
  }
  return NULL;
}

/* The leaf's event takes what varies: every event of the leaf brings all of it. */
static bool finish_template(struct reading *w, struct leaf *leaf, const uint8_t *from) {
  struct chrome_event *e = &leaf->proto;
  i128 ts, dur = 0;
  uint32_t args = 0;
  if (!num_scale(w->ts.mant, w->ts.exp + 6, &ts)) return false;
  if (e->ph == 'X' && (!num_scale(w->dur.mant, w->dur.exp + 6, &dur) || dur > (i128)1 << 62)) return false;
  if (w->name) e->name = w->name;
  if (w->pid.kind) e->pid = w->pid;
  if (w->tid.kind) e->tid = w->tid;
  if (e->has_id) e->id = w->id;
  e->ts.ps = ts;
  e->dur.ps = dur;
  e->offset = chrome_offset(w->r, from);
  memcpy(w->packed, leaf->suffix, sizeof leaf->suffix);
  w->packed += leaf->n_suffix;
  if (leaf->shape) args = args_packed(w->r->t, leaf->shape, w->payload, (size_t)(w->packed - w->payload));
  chrome_add_event(w->r, e, args, from);
  return true;
}

const uint8_t *template_match(struct chrome *r, const uint8_t *p) {
  struct reading w;
  const uint8_t *from = p;
  struct node *n = r->templates->root;
  if (*p != '{') return NULL;
  w.r = r;
  w.packed = w.payload;
  w.name = 0;
  w.pid.kind = w.tid.kind = TK_IDENT_NONE;
  do {
    const uint8_t *q = n->hot ? accept(&w, n->hot, p) : NULL;
    if (!q) q = turn(&w, n, p);
    if (!q) return NULL;
    n = n->hot;
    p = q;
  } while (n->op != OP_END);
  if (p > r->j.end || !finish_template(&w, n->leaf, from)) return NULL;
  r->t->counts.by_template++;
  return p;
}

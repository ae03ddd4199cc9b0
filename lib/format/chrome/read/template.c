/* template.c - the fast path, for events that are spelled like earlier events.
 *
 * Producers print every event of a kind with the same keys, whitespace and constants. So an event is a sequence of literal
 * text, a value, a literal, a value, ... up to its brace, and all events of a file form a small tree of such sequences (13-24
 * shapes and 66-174 nodes in real files). The general path reports what it reads (template_value); from then on, literals are
 * compared as a whole and only the values between them are parsed:
 *
 *     root -- '{"ph":"X","cat":"kernel","name":"' NAME -- '","pid":' PID -- ',"tid":' TID -- ... -- '}' END: leaf
 *                                                     \-- '","pid":"' PID_STR -- ...
 *
 * Each node first tries the child that matched last, then the others. If nothing matches, the general path reads the event from
 * its first byte: nothing is added to the graph before the last literal has matched. Values that vary are never part of a
 * literal, and the numbers of children and nodes are bounded, so hostile files only lose the speedup.
 *
 * Measured: make bench. */
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "template.h"
#include "reader.h"
#include "spelling.h"
#include "phase.h"
#include "graph/args.h"

enum { MAX_CHILDREN = 32, MAX_NODES = 4096, MAX_VALUES = 96, MAX_LITERAL = 4096, PACKED_MAX = 11, STRIDE = 16 };

struct leaf {
  struct chrome_event proto; /* constant fields, and the values of its last event */
  uint32_t shape;            /* shape of the args; 0 = none */
  uint32_t n_suffix;         /* number of constant args at the end */
  uint8_t suffix[32];
};

struct node {
  uint32_t n;
  uint8_t op;
  uint8_t n_children;
  tk_id text; /* text or nested value that this node found last among the strings; 0 = none */
  struct node *next, *first; /* first: the child that matched last */
  struct leaf *leaf; /* OP_END */
  uint8_t mask[STRIDE]; /* 0xff for each byte of the literal in its last stride, which may be empty */
  uint8_t literal[];    /* n bytes, padded with zeros to a whole stride */
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
  bool useless; /* true if events like the current one cannot be predicted */
};

static struct node *new_node(struct templates *p, enum template_op op, const void *literal, size_t n) {
  const size_t padded = (n / STRIDE + 1) * STRIDE;
  struct node *c = arena_alloc(&p->arena, sizeof *c + padded);
  if (!c) return NULL;
  *c = (struct node){.n = (uint32_t)n, .op = (uint8_t)op};
  memset(c->mask, 0xff, n % STRIDE);
  memset(c->literal, 0, padded);
  memcpy(c->literal, literal, n);
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
  if (!p) return;
  p->from = from;
  p->n_marks = 0;
  p->useless = false;
}

void template_abandon(struct templates *p) {
  if (p) p->useless = true;
}

void template_value(struct templates *p, enum template_op op, const uint8_t *value, const uint8_t *end) {
  if (p && p->n_marks == MAX_VALUES) p->useless = true;
  if (!p || p->useless) return;
  p->marks[p->n_marks++] = (struct mark){op, value, end};
}

static struct node *child(struct templates *p, struct node *up, enum template_op op, const uint8_t *literal, size_t n) {
  struct node *c;
  for (c = up->first; c; c = c->next)
    if (c->op == op && c->n == n && memcmp(c->literal, literal, n) == 0) return c;
  if (up->n_children == MAX_CHILDREN || p->n_nodes == MAX_NODES || n > MAX_LITERAL) return NULL;
  c = new_node(p, op, literal, n);
  if (!c) return NULL;
  c->next = up->first;
  up->first = c;
  up->n_children++;
  p->n_nodes++;
  return c;
}

/* True if the args of this event are its values in order, followed by constants: only then can they be packed without being
 * interpreted. */
static bool packs(const struct templates *p, const struct chrome *r, const struct chrome_event *e) {
  const struct arg_builder *b = &r->t->store->builder;
  uint32_t values = 0, marks = 0;
  if (b->payload.len - e->own_args > sizeof ((struct leaf *)0)->suffix) return false;
  for (uint32_t i = 0; i < b->n; i++) values += b->fields[i].type > TK_ARG_TRUE;
  for (unsigned i = 0; i < p->n_marks; i++) marks += p->marks[i].op >= OP_INT && p->marks[i].op <= OP_NESTED;
  return values == marks + (b->payload.len > e->own_args);
}

/* True if such an event is worth predicting, that is, if its times are valid and the extra args of its phase are constant. */
static bool worth_it(const struct chrome *r, const struct chrome_event *e) {
  const char *s = tk_string(r->t, e->s, NULL);
  bool flow = e->ph == 's' || e->ph == 't' || e->ph == 'f';
  if (e->has_bind_id || e->has_id2 || (e->has_id && !flow)) return false;
  if (e->s && (*s == 'g' || *s == 'p')) return false;
  if (e->ph != 'X' && e->dur.kind != WHEN_NONE) return false;
  return e->ts.kind == WHEN_OK && (e->ph != 'X' || e->dur.kind == WHEN_OK);
}

/* Returns the op that skips an arg which the caller does not need. Nested args keep their op, because each spelling must be parsed once
 * to check that it is valid. */
static enum template_op passed_by(enum template_op op) {
  switch (op) {
  case OP_INT: case OP_DECIMAL: return OP_ANY_NUMBER;
  case OP_STR: return OP_ANY_TEXT;
  default: return op;
  }
}

void template_learn(struct templates *p, struct chrome *r, const struct chrome_event *e, uint32_t args, const uint8_t *end) {
  const struct buf *payload = &r->t->store->builder.payload;
  if (!p || p->useless || !worth_it(r, e) || !packs(p, r, e)) return;
  r->t->counts.by_template++;
  const uint8_t *at = p->from;
  struct node *n = p->root;
  const uint32_t shape = args_shape_of(r->t, args);
  const bool without_args = r->t->store->without & TK_WITHOUT_ARGS && e->ph == 'X' && !args_decide(r->t, shape);
  for (unsigned i = 0; i < p->n_marks && n; i++) {
    const enum template_op op = without_args ? passed_by(p->marks[i].op) : p->marks[i].op;
    n = child(p, n, op, at, (size_t)(p->marks[i].value - at));
    at = p->marks[i].end;
  }
  if (n) n = child(p, n, OP_END, at, (size_t)(end - at));
  if (!n || n->leaf) return;
  n->leaf = arena_alloc(&p->arena, sizeof *n->leaf);
  if (!n->leaf) {
    n->op = OP_TS; /* never matches an empty value: a node without a leaf must not be reached */
    return;
  }
  *n->leaf = (struct leaf){.proto = *e};
  if (without_args) return;
  n->leaf->shape = shape;
  n->leaf->n_suffix = (uint32_t)(payload->len - e->own_args);
  if (n->leaf->n_suffix) memcpy(n->leaf->suffix, payload->data + e->own_args, n->leaf->n_suffix);
}

/* ---- matching ---- */

/* Returns the closing quote of a string without escapes, or NULL. */
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

/* Returns the end of a nested value; NULL if there is none at p, or if it leaves the window or contains escapes. */
static const uint8_t *nested_end(const uint8_t *p, const uint8_t *end) {
  unsigned depth = 0;
  if (*p != '[' && *p != '{') return NULL;
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

struct decimal {
  int64_t mant;
  int exp;
};

struct reading {
  struct chrome *r;
  uint32_t n_strings; /* number of strings before the event; later ones are removed again if it does not match */
  tk_id name; /* 0 = constant */
  struct tk_ident pid, tid;
  struct tk_arg id;
  struct decimal ts, dur;
  uint8_t *packed;
  uint8_t payload[MAX_VALUES * PACKED_MAX + 32];
};

/* Returns the end of the text at p if it is the text that the node found last; otherwise NULL. This saves 2 to 10% of the
 * instructions of reading real Kineto traces. */
static inline const uint8_t *repeated_end(const struct intern *strings, const struct node *c, const uint8_t *p, const uint8_t *end) {
  if (!c->text) return NULL;
  const struct intern_str *s = &strings->strs[c->text];
  if ((size_t)(end - p) <= s->len || (c->op != OP_NESTED && p[s->len] != '"') || memcmp(p, s->bytes, s->len) != 0) return NULL;
  return p + s->len;
}

/* Reads the string or nested value at p; returns the position after it, or NULL. Not inlined: inlining it into the path of
 * numbers added 2% more instructions to reading. */
__attribute__((noinline)) static const uint8_t *read_text(struct reading *w, struct node *c, const uint8_t *p) {
  const enum template_op op = c->op;
  const struct intern *strings = op == OP_NESTED ? &w->r->raw : &w->r->t->store->strings;
  const uint8_t *end = repeated_end(strings, c, p, w->r->j.end);
  tk_id id = end ? c->text : 0;
  if (!end) end = op == OP_NESTED ? nested_end(p, w->r->j.end) : plain_end(p);
  if (!end || op == OP_ANY_TEXT) return end;
  if (!id) {
    id = intern_id(strings, p, (size_t)(end - p));
    c->text = op == OP_NESTED || id <= w->n_strings ? id : 0;
  }
  if (!id && op != OP_NESTED && utf8_valid(p, (size_t)(end - p))) id = trace_string(w->r->t, p, (size_t)(end - p));
  if (!id) return NULL;
  switch (op) {
  case OP_NAME: w->name = id; break;
  case OP_PID_STR: w->pid = chrome_ident(w->r, id); break;
  case OP_TID_STR: w->tid = chrome_ident(w->r, id); break;
  case OP_ID_STR: w->id = (struct tk_arg){.type = TK_ARG_STR, .s = id}; break;
  case OP_NESTED: id = w->r->raw_ids[id]; /* fall through */
  default:
    args_see_string(w->r->t->store, id);
    w->packed = varint_put(w->packed, id);
  }
  return end;
}

static inline const uint8_t *read_digits(const uint8_t *p, uint64_t *v) {
  for (unsigned c; (c = *p - (unsigned)'0') < 10; p++) *v = *v * 10 + c;
  return p;
}

/* Reads the number at p, with up to 19 digits (as in epoch microseconds with nanoseconds) and no exponent, in JSON's spelling;
 * returns the position after it, or NULL. One digit at a time: eight at a time by multiplication gained nothing, because
 * numbers in traces are short except ts (where it gained 1.5%). */
static inline const uint8_t *read_number(struct reading *w, enum template_op op, const uint8_t *p) {
  bool neg = *p == '-';
  const uint8_t *start = p += neg, *point = NULL;
  uint64_t v = 0;
  int exp = 0;
  p = read_digits(p, &v);
  if (p == start || (*start == '0' && p > start + 1)) return NULL;
  if (*p == '.') {
    point = p + 1;
    p = read_digits(point, &v);
    if (p == point) return NULL;
    exp = -(int)(p - point);
  }
  if (p - start - (point != NULL) > 19 || v > (uint64_t)INT64_MAX || (neg && v == 0) || (*p | 32) == 'e') return NULL;
  int64_t mant = neg ? -(int64_t)v : (int64_t)v;
  switch (op) {
  case OP_TS: w->ts = (struct decimal){mant, exp}; return p;
  case OP_DUR: w->dur = (struct decimal){mant, exp}; return neg ? NULL : p;
  case OP_DECIMAL:
    if (!exp) return NULL;
    w->packed = varint_put(w->packed, zigzag(mant));
    *w->packed++ = (uint8_t)zigzag(exp);
    return p;
  case OP_ANY_NUMBER: return p;
  default: break;
  }
  if (exp) return NULL;
  if (op == OP_INT) w->packed = varint_put(w->packed, zigzag(mant));
  else if (op == OP_PID) w->pid = ident_int(mant);
  else if (op == OP_TID) w->tid = ident_int(mant);
  else w->id = (struct tk_arg){.type = TK_ARG_INT, .i = mant};
  return p;
}

/* True if the masked bytes of a stride of text equal the literal. */
static inline bool is_alike(const uint8_t *text, const uint8_t *literal, const uint8_t *mask) {
#if defined(__SSE2__)
  const __m128i bytes = _mm_and_si128(_mm_loadu_si128((const void *)text), _mm_loadu_si128((const void *)mask));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_loadu_si128((const void *)literal))) == 0xffff;
#else
  uint64_t t[2], l[2], m[2];
  memcpy(t, text, STRIDE);
  memcpy(l, literal, STRIDE);
  memcpy(m, mask, STRIDE);
  return !(((t[0] & m[0]) ^ l[0]) | ((t[1] & m[1]) ^ l[1]));
#endif
}

/* Returns the position after the child's literal and value, or NULL if the text at p does not match. Literals are compared STRIDE bytes
 * at a time, which may read past both ends. With memcmp, the reader would be a third slower. */
static inline const uint8_t *accept(struct reading *w, struct node *c, const uint8_t *p) {
  static const uint8_t WHOLE[STRIDE] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const uint8_t *end = p + c->n, *literal = c->literal;
  for (; p + STRIDE <= end; p += STRIDE, literal += STRIDE)
    if (!is_alike(p, literal, WHOLE)) return NULL;
  if (!is_alike(p, literal, c->mask)) return NULL;
  if (c->op == OP_END) return end;
  return c->op > OP_DECIMAL ? read_text(w, c, end) : read_number(w, c->op, end);
}

/* Converts microseconds to ps. *rounded: true if digits are lost. Usual times have at most six decimals and need no division. */
static inline bool read_time(struct decimal us, i128 *ps, bool *rounded) {
  static const int32_t SCALES[] = {1000000, 100000, 10000, 1000, 100, 10, 1}; /* by the number of decimals */
  *rounded = false;
  if (us.exp <= 0 && us.exp >= -6) {
    *ps = (i128)us.mant * SCALES[-us.exp];
    return true;
  }
  if (!num_scale(us.mant, us.exp + 6, ps)) return false;
  *rounded = chrome_is_rounded_decimal(us.mant, us.exp, *ps);
  return true;
}

/* Adds the event of a leaf with the values that were read. They are stored in leaf->proto, because each event of the leaf
 * replaces all of them. Returns false if a time is out of range. */
static bool finish_template(struct reading *w, struct leaf *leaf, const uint8_t *from) {
  struct chrome_event *e = &leaf->proto;
  i128 ts, dur = 0;
  uint32_t args = 0;
  bool ts_rounded, dur_rounded = false;
  if (!read_time(w->ts, &ts, &ts_rounded)) return false;
  if (e->ph == 'X' && (!read_time(w->dur, &dur, &dur_rounded) || dur > (i128)1 << 62)) return false;
  if (w->name) e->name = w->name;
  if (w->pid.kind) e->pid = w->pid;
  if (w->tid.kind) e->tid = w->tid;
  if (e->has_id) e->id = w->id;
  e->ts.ps = ts;
  e->dur.ps = dur;
  e->offset = chrome_offset(w->r, from);
  e->ts.rounded = ts_rounded;
  e->dur.rounded = dur_rounded;
  if (ts_rounded || dur_rounded) chrome_note_rounded(w->r, e);
  memcpy(w->packed, leaf->suffix, sizeof leaf->suffix);
  w->packed += leaf->n_suffix;
  if (leaf->shape) args = args_packed(w->r->t, leaf->shape, w->payload, (size_t)(w->packed - w->payload));
  chrome_add_event(w->r, e, args, from);
  return true;
}

/* Returns the position after the event at p, and its leaf; NULL if no template matches. */
static const uint8_t *match(struct reading *w, const uint8_t *p, struct leaf **leaf) {
  struct node *up = w->r->templates->root, **at, *c;
  const uint8_t *q;
  do {
    for (at = &up->first; (c = *at) && !(q = accept(w, c, p)); at = &c->next) {}
    if (!c) return NULL;
    if (c != up->first) { /* the last match is tried first */
      *at = c->next;
      c->next = up->first;
      up->first = c;
    }
    up = c;
    p = q;
  } while (c->op != OP_END);
  *leaf = c->leaf;
  return p <= w->r->j.end ? p : NULL;
}

const uint8_t *template_match(struct chrome *r, const uint8_t *p) {
  struct intern *strings = &r->t->store->strings;
  struct leaf *leaf;
  struct reading w;
  if (*p != '{') return NULL;
  w.r = r;
  w.n_strings = strings->n;
  w.packed = w.payload;
  w.name = 0;
  w.pid.kind = w.tid.kind = TK_IDENT_NONE;
  const uint8_t *end = match(&w, p, &leaf);
  if (!end || !finish_template(&w, leaf, p)) {
    if (strings->n > w.n_strings) intern_forget(strings, w.n_strings); /* text that only seemed to be a value */
    return NULL;
  }
  r->t->counts.by_template++;
  return end;
}

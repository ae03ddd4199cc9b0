/* column.c - see column.h. A schema has few names and formats, so each is allocated separately. */
#include "column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(enum column_type type, int64_t n) {
  static const uint8_t width[] = {[COLUMN_U16] = 2, [COLUMN_U32] = 4, [COLUMN_I64] = 8, [COLUMN_F64] = 8, [COLUMN_TEXT] = 4,
                                  [COLUMN_TS] = 8, [COLUMN_DUR] = 8};
  return type == COLUMN_BOOL ? ((size_t)n + 7) / 8 : (size_t)n * width[type];
}

bool column_init(struct column *c, const struct tk_trace *t, const char *name, enum column_type type, int64_t n) {
  *c = (struct column){.name = name, .type = type, .n = n, .words.t = t};
  c->values = calloc(size_of(type, n) + 1, 1);
  if (type != COLUMN_TEXT || !c->values) return c->values != NULL;
  intern_init(&c->words.texts, &c->words.mem);
  c->words.of_id = calloc((size_t)t->store->strings.n + 1, sizeof *c->words.of_id);
  return c->words.of_id != NULL;
}

static void free_words(struct column *c) {
  free(c->words.of_id);
  if (c->words.texts.mem) intern_free(&c->words.texts);
  c->words = (struct words){0};
}

void column_free(struct column *c) {
  free_words(c);
  free(c->values);
  free(c->valid);
  *c = (struct column){0};
}

bool column_null(struct column *c, int64_t row) {
  if (!c->valid) {
    const size_t size = size_of(COLUMN_BOOL, c->n) + 1;
    c->valid = malloc(size);
    if (!c->valid) return false;
    memset(c->valid, 0xff, size);
  }
  c->valid[row >> 3] &= (uint8_t)~(1 << (row & 7));
  c->nulls++;
  return true;
}

bool column_text(struct column *c, int64_t row, const void *p, size_t n) {
  const uint32_t id = intern(&c->words.texts, p, n);
  c->place[row] = (int32_t)id - 1;
  return id && id <= INT32_MAX;
}

bool column_word(struct column *c, const char *text) { return intern(&c->words.texts, text, strlen(text)) != 0; }

bool column_string(struct column *c, int64_t row, tk_id id) {
  if (!id) return column_null(c, row);
  uint32_t *known = &c->words.of_id[id];
  if (!*known) {
    const struct intern_str *s = trace_str(c->words.t, id);
    if (!column_text(c, row, s->bytes, s->len)) return false;
    *known = (uint32_t)c->place[row] + 1;
  }
  c->place[row] = (int32_t)*known - 1;
  return true;
}

static bool column_bytes(struct column *c, int64_t row, tk_id id) {
  const struct intern_str *s = trace_str(c->words.t, id);
  struct buf text = {.mem = &c->words.mem};
  intern_repaired(&text, s->bytes, s->len);
  const bool ok = column_text(c, row, text.data ? (const void *)text.data : "", text.len);
  buf_free(&text);
  return ok;
}

bool column_arg(struct column *c, int64_t row, const struct tk_arg *arg) {
  char digits[96];
  size_t n;
  switch (arg->type) {
  case TK_ARG_NULL: return column_null(c, row);
  case TK_ARG_TRUE: return column_text(c, row, "true", 4);
  case TK_ARG_FALSE: return column_text(c, row, "false", 5);
  case TK_ARG_INT: n = num_put_i64(digits, arg->i); break;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: n = num_put_u64(digits, arg->u); break;
  case TK_ARG_DECIMAL: n = num_put_decimal(digits, arg->i, arg->exp); break;
  case TK_ARG_DOUBLE: n = num_put_double(digits, arg->d); break;
  case TK_ARG_BYTES: return column_bytes(c, row, arg->s);
  default: return arg->s ? column_string(c, row, arg->s) : column_text(c, row, "", 0);
  }
  return column_text(c, row, digits, n);
}

bool column_ident(struct column *c, int64_t row, struct tk_ident ident) {
  if (ident.kind != TK_IDENT_INT && ident.kind != TK_IDENT_QUOTED) return column_null(c, row);
  c->i64[row] = ident.num;
  return true;
}

/* ---- memory of a stream ---- */

enum { BUFFERS = 3 };

struct array_own {
  const void *buffers[BUFFERS];
  struct ArrowArray **children; /* array of pointers; the structs follow it in the same allocation */
};

static void array_release(struct ArrowArray *a) {
  struct array_own *own = a->private_data;
  for (int64_t i = 0; i < a->n_children; i++)
    if (a->children[i]->release) a->children[i]->release(a->children[i]);
  if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
  free(a->dictionary);
  for (int i = 0; i < BUFFERS; i++) free((void *)(uintptr_t)own->buffers[i]);
  free(own->children);
  free(own);
  a->release = NULL;
}

static bool array_init(struct ArrowArray *a, int64_t length, int64_t n_buffers, int64_t n_children) {
  struct array_own *own = calloc(1, sizeof *own);
  if (!own) return false;
  if (n_children) own->children = calloc((size_t)n_children, sizeof(struct ArrowArray *) + sizeof(struct ArrowArray));
  if (n_children && !own->children) {
    free(own);
    return false;
  }
  *a = (struct ArrowArray){.length = length, .n_buffers = n_buffers, .n_children = n_children, .buffers = own->buffers,
                           .children = own->children, .release = array_release, .private_data = own};
  struct ArrowArray *first = n_children ? (struct ArrowArray *)(void *)(own->children + n_children) : NULL;
  for (int64_t i = 0; i < n_children; i++) own->children[i] = first + i;
  return true;
}

struct exported {
  char *name;
  const char *format, *unit; /* unit: NULL = none */
  bool text;
};

struct schema_own {
  char *name, *metadata;
  struct ArrowSchema **children;
};

static void schema_release(struct ArrowSchema *s) {
  struct schema_own *own = s->private_data;
  for (int64_t i = 0; i < s->n_children; i++)
    if (s->children[i]->release) s->children[i]->release(s->children[i]);
  if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
  free(s->dictionary);
  free(own->name);
  free(own->metadata);
  free(own->children);
  free(own);
  s->release = NULL;
}

static bool schema_init(struct ArrowSchema *s, const char *format, const char *name, int64_t n_children) {
  struct schema_own *own = calloc(1, sizeof *own);
  if (!own) return false;
  own->name = strdup(name);
  if (n_children) own->children = calloc((size_t)n_children, sizeof(struct ArrowSchema *) + sizeof(struct ArrowSchema));
  *s = (struct ArrowSchema){.format = format, .name = own->name, .flags = ARROW_FLAG_NULLABLE, .n_children = n_children,
                            .children = own->children, .release = schema_release, .private_data = own};
  if (!own->name || (n_children && !own->children)) {
    s->n_children = 0;
    schema_release(s);
    return false;
  }
  struct ArrowSchema *first = n_children ? (struct ArrowSchema *)(void *)(own->children + n_children) : NULL;
  for (int64_t i = 0; i < n_children; i++) own->children[i] = first + i;
  return true;
}

/* ---- columns ---- */

static bool export_words(struct column *c, struct ArrowArray *to) {
  const struct intern *in = &c->words.texts;
  uint64_t size = 0;
  for (uint32_t i = 1; i <= in->n; i++) size += in->strs[i].len;
  int32_t *offsets = size <= INT32_MAX ? malloc(((size_t)in->n + 1) * sizeof *offsets) : NULL;
  char *bytes = malloc((size_t)size + 1);
  if (!offsets || !bytes || !array_init(to, in->n, 3, 0)) {
    free(offsets);
    free(bytes);
    return false;
  }
  offsets[0] = 0;
  for (uint32_t i = 1; i <= in->n; i++) {
    memcpy(bytes + offsets[i - 1], in->strs[i].bytes, in->strs[i].len);
    offsets[i] = offsets[i - 1] + (int32_t)in->strs[i].len;
  }
  to->buffers[1] = offsets;
  to->buffers[2] = bytes;
  return true;
}

/* Narrows dictionary indices to the smallest type that fits, because pandas copies wider indices. */
static const char *narrow_places(struct column *c) {
  const uint32_t n = c->words.texts.n;
  void *less = c->values;
  if (n > INT16_MAX) return "i";
  for (int64_t i = 0; i < c->n; i++) {
    const int32_t place = c->place[i];
    if (n > INT8_MAX) ((int16_t *)less)[i] = (int16_t)place;
    else ((int8_t *)less)[i] = (int8_t)place;
  }
  void *smaller = realloc(less, (size_t)c->n * (n > INT8_MAX ? 2 : 1) + 1);
  if (smaller) c->values = smaller;
  return n > INT8_MAX ? "s" : "c";
}

static const char *format_of(enum column_type type, struct column_times times) {
  static const char *const formats[] = {[COLUMN_BOOL] = "b", [COLUMN_U16] = "S", [COLUMN_U32] = "I", [COLUMN_I64] = "l",
                                        [COLUMN_F64] = "g", [COLUMN_TEXT] = "i", [COLUMN_TS] = "l", [COLUMN_DUR] = "l"};
  if (times.typed && type == COLUMN_DUR) return "tDn";
  if (times.typed && type == COLUMN_TS) return times.utc ? "tsn:UTC" : "tsn:";
  return formats[type];
}

static bool export_column(struct column *c, struct ArrowArray *to, const char **format) {
  if (!array_init(to, c->n, 2, 0)) return false;
  to->null_count = c->nulls;
  if (c->type == COLUMN_TEXT) {
    to->dictionary = calloc(1, sizeof *to->dictionary);
    if (!to->dictionary || !export_words(c, to->dictionary)) return false;
    *format = narrow_places(c);
    free_words(c);
  }
  to->buffers[0] = c->valid;
  to->buffers[1] = c->values;
  c->valid = NULL;
  c->values = NULL;
  return true;
}

/* Returns {"unit": unit} in Arrow's encoding of metadata: counts and lengths are 32-bit numbers before the items or bytes
 * that they count. */
static char *metadata_of(const char *unit) {
  enum { KEY = 4 };
  const int32_t one = 1, key = KEY, length = (int32_t)strlen(unit);
  char *m = calloc(3 * sizeof one + KEY + strlen(unit), 1);
  if (!m) return NULL;
  memcpy(m, &one, sizeof one);
  memcpy(m + 4, &key, sizeof key);
  memcpy(m + 8, "unit", KEY);
  memcpy(m + 8 + KEY, &length, sizeof length);
  memcpy(m + 12 + KEY, unit, strlen(unit));
  return m;
}

static bool export_schema(const struct exported *c, struct ArrowSchema *to) {
  if (!schema_init(to, c->format, c->name, 0)) return false;
  if (c->unit) {
    struct schema_own *own = to->private_data;
    to->metadata = own->metadata = metadata_of(c->unit);
    if (!own->metadata) return false;
  }
  if (!c->text) return true;
  to->dictionary = calloc(1, sizeof *to->dictionary);
  return to->dictionary && schema_init(to->dictionary, "u", "", 0);
}

/* ---- the stream ---- */

struct stream_own {
  struct ArrowArray batch; /* marked as released when it has been handed out */
  uint32_t n;
  struct exported columns[];
};

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  const struct stream_own *own = s->private_data;
  if (!schema_init(out, "+s", "", own->n)) return ENOMEM;
  for (uint32_t i = 0; i < own->n; i++) {
    if (export_schema(&own->columns[i], out->children[i])) continue;
    out->release(out);
    return ENOMEM;
  }
  return 0;
}

static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  struct stream_own *own = s->private_data;
  *out = own->batch;
  own->batch = (struct ArrowArray){0};
  return 0;
}

static const char *stream_error(struct ArrowArrayStream *s) {
  (void)s;
  return "out of memory";
}

static void stream_release(struct ArrowArrayStream *s) {
  struct stream_own *own = s->private_data;
  if (own->batch.release) own->batch.release(&own->batch);
  for (uint32_t i = 0; i < own->n; i++) free(own->columns[i].name);
  free(own);
  s->release = NULL;
}

static bool export_all(struct column *columns, struct column_times times, struct stream_own *own) {
  if (!array_init(&own->batch, own->n ? columns[0].n : 0, 1, own->n)) return false;
  for (uint32_t i = 0; i < own->n; i++) {
    const enum column_type type = columns[i].type;
    struct exported *to = &own->columns[i];
    *to = (struct exported){.name = strdup(columns[i].name), .format = format_of(type, times), .text = type == COLUMN_TEXT};
    if (type == COLUMN_TS || type == COLUMN_DUR) to->unit = times.ps ? "ps" : "ns";
    if (!to->name || !export_column(&columns[i], own->batch.children[i], &to->format)) return false;
  }
  return true;
}

bool columns_export(struct column *columns, uint32_t n, struct column_times times, struct ArrowArrayStream *out, struct tk_err *err) {
  struct stream_own *own = calloc(1, sizeof *own + n * sizeof own->columns[0]);
  *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, own};
  if (own) own->n = n;
  const bool ok = own && export_all(columns, times, own);
  for (uint32_t i = 0; i < n; i++) column_free(&columns[i]);
  if (ok) return true;
  if (own) stream_release(out);
  *out = (struct ArrowArrayStream){0};
  return err_set(err, TK_ELIMIT, "out of memory, or a column has more than 2 GiB of text");
}

/* frame.c - see frame.h.
 *
 * A column gets the narrowest type that can represent all its values: bool, int64, uint64, double, text, bytes, list or struct. If its
 * values have several types, they become text, except that integers and floats become double. Layouts:
 * https://arrow.apache.org/docs/format/Columnar.html */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char BATCH[] = "tracekit.batch";

/* ---- memory of schemas and arrays ---- */

static void schema_release(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i] && s->children[i]->release) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  free((void *)(uintptr_t)s->name);
  free((void *)(uintptr_t)s->metadata);
  s->release = NULL;
}

static void array_release(struct ArrowArray *a) {
  for (int64_t i = 0; i < a->n_buffers; i++) free((void *)(uintptr_t)a->buffers[i]);
  free(a->buffers);
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i] && a->children[i]->release) a->children[i]->release(a->children[i]);
    free(a->children[i]);
  }
  free(a->children);
  a->release = NULL;
}

static bool schema_init(struct ArrowSchema *s, const char *format, const char *name, int64_t n) {
  *s = (struct ArrowSchema){.format = format, .name = strdup(name), .flags = ARROW_FLAG_NULLABLE, .release = schema_release};
  s->children = calloc((size_t)n + 1, sizeof *s->children);
  if (!s->name || !s->children) return false;
  for (; s->n_children < n; s->n_children++) {
    s->children[s->n_children] = calloc(1, sizeof **s->children);
    if (!s->children[s->n_children]) return false;
  }
  return true;
}

static bool array_init(struct ArrowArray *a, int64_t length, int64_t n_buffers, int64_t n) {
  *a = (struct ArrowArray){.length = length, .n_buffers = n_buffers, .release = array_release};
  a->buffers = calloc((size_t)n_buffers + 1, sizeof *a->buffers);
  a->children = calloc((size_t)n + 1, sizeof *a->children);
  if (!a->buffers || !a->children) return false;
  for (; a->n_children < n; a->n_children++) {
    a->children[a->n_children] = calloc(1, sizeof **a->children);
    if (!a->children[a->n_children]) return false;
  }
  return true;
}

/* ---- types of columns ---- */

enum { HAS_BOOL = 1, HAS_INT = 2, HAS_BIG = 4, HAS_NEGATIVE = 8, HAS_FLOAT = 16, HAS_TEXT = 32, HAS_BYTES = 64, HAS_LIST = 128, HAS_DICT = 256 };

/* Returns the flags of an int: HAS_INT if it fits int64, HAS_BIG if it fits only uint64, otherwise HAS_FLOAT. */
static unsigned kind_of_int(PyObject *v) {
  int beyond;
  const long long i = PyLong_AsLongLongAndOverflow(v, &beyond);
  if (!beyond) return i < 0 ? HAS_INT | HAS_NEGATIVE : HAS_INT;
  if (beyond < 0) return HAS_FLOAT;
  const unsigned long long u = PyLong_AsUnsignedLongLong(v);
  if (u != (unsigned long long)-1 || !PyErr_Occurred()) return HAS_BIG;
  PyErr_Clear();
  return HAS_FLOAT;
}

static unsigned kind_of_value(PyObject *v) {
  if (v == Py_None) return 0;
  if (PyBool_Check(v)) return HAS_BOOL;
  if (PyLong_Check(v)) return kind_of_int(v);
  if (PyFloat_Check(v)) return HAS_FLOAT;
  if (PyBytes_Check(v)) return HAS_BYTES;
  if (PyList_Check(v)) return HAS_LIST;
  return PyDict_Check(v) ? HAS_DICT : HAS_TEXT;
}

/* Returns the format of a column: a format letter of Arrow, or 'L' for a list, 's' for a struct and 't' for text. `otherwise`
 * is returned if all values are None. */
static char format_of(PyObject *values, char otherwise) {
  unsigned has = 0;
  const Py_ssize_t n = PyList_Size(values);
  for (Py_ssize_t i = 0; i < n; i++) has |= kind_of_value(PyList_GetItem(values, i));
  if (!has) return otherwise;
  if (has == HAS_BOOL) return 'b';
  if (!(has & ~(unsigned)(HAS_INT | HAS_NEGATIVE))) return 'l';
  if (!(has & ~(unsigned)(HAS_INT | HAS_BIG))) return 'u';
  if (!(has & ~(unsigned)(HAS_INT | HAS_NEGATIVE | HAS_BIG | HAS_FLOAT))) return 'g';
  if (has == HAS_BYTES) return 'z';
  if (has == HAS_LIST) return 'L';
  return has == HAS_DICT ? 's' : 't';
}

/* ---- values ---- */

struct bytes {
  char *p;
  size_t n, cap;
};

static bool bytes_put(struct bytes *b, const char *p, size_t n) {
  if (b->n + n + 1 > b->cap) {
    const size_t cap = (b->n + n + 1) * 2;
    char *more = realloc(b->p, cap);
    if (!more) return false;
    b->p = more;
    b->cap = cap;
  }
  memcpy(b->p + b->n, p, n);
  b->n += n;
  return true;
}

/* Appends str(v) as UTF-8; bytes are appended unchanged. */
static bool bytes_put_value(struct bytes *b, PyObject *v) {
  PyObject *text = NULL, *coded = NULL;
  char *p;
  Py_ssize_t n;
  if (PyBytes_Check(v)) {
    Py_INCREF(v);
    coded = v;
  } else if ((text = PyObject_Str(v))) coded = PyUnicode_AsEncodedString(text, "utf-8", "replace");
  const bool ok = coded && PyBytes_AsStringAndSize(coded, &p, &n) == 0 && bytes_put(b, p, (size_t)n);
  Py_XDECREF(text);
  Py_XDECREF(coded);
  return ok;
}

/* Sets the validity bitmap (rows that are not None), and the number of rows that are None. */
static bool set_valid(struct ArrowArray *a, PyObject *values) {
  uint8_t *bits = calloc((size_t)a->length / 8 + 1, 1);
  if (!bits) return false;
  a->buffers[0] = bits;
  for (int64_t i = 0; i < a->length; i++) {
    if (PyList_GetItem(values, i) == Py_None) a->null_count++;
    else bits[i >> 3] |= (uint8_t)(1 << (i & 7));
  }
  return true;
}

static bool fill_numbers(struct ArrowArray *a, PyObject *values, char format) {
  uint64_t *out = calloc((size_t)a->length + 1, sizeof *out);
  if (!out) return false;
  a->buffers[1] = out;
  for (int64_t i = 0; i < a->length; i++) {
    PyObject *v = PyList_GetItem(values, i);
    if (v == Py_None) continue;
    if (format == 'b') ((uint8_t *)out)[i >> 3] |= (uint8_t)((v == Py_True) << (i & 7));
    else if (format == 'l') out[i] = (uint64_t)PyLong_AsLongLong(v);
    else if (format == 'u') out[i] = PyLong_AsUnsignedLongLong(v);
    else ((double *)(void *)out)[i] = PyFloat_AsDouble(v);
  }
  return !PyErr_Occurred();
}

static bool fill_texts(struct ArrowArray *a, PyObject *values) {
  int64_t *offsets = calloc((size_t)a->length + 2, sizeof *offsets);
  struct bytes b = {0};
  bool ok = offsets && bytes_put(&b, "", 0);
  a->buffers[1] = offsets;
  for (int64_t i = 0; ok && i < a->length; i++) {
    PyObject *v = PyList_GetItem(values, i);
    ok = v == Py_None || bytes_put_value(&b, v);
    offsets[i + 1] = (int64_t)b.n;
  }
  a->buffers[2] = b.p;
  return ok;
}

static bool build(PyObject *values, const char *name, char otherwise, struct ArrowSchema *s, struct ArrowArray *a);

/* Builds a column of lists. Its child contains the items of all lists, one list after the other. */
static bool build_list(PyObject *values, struct ArrowSchema *s, struct ArrowArray *a) {
  int64_t *offsets = calloc((size_t)a->length + 2, sizeof *offsets);
  PyObject *all = PyList_New(0);
  bool ok = offsets && all;
  a->buffers[1] = offsets;
  for (int64_t i = 0; ok && i < a->length; i++) {
    PyObject *v = PyList_GetItem(values, i);
    const Py_ssize_t n = v == Py_None ? 0 : PyList_Size(v);
    for (Py_ssize_t k = 0; ok && k < n; k++) ok = PyList_Append(all, PyList_GetItem(v, k)) == 0;
    offsets[i + 1] = offsets[i] + n;
  }
  ok = ok && build(all, "item", 'n', s->children[0], a->children[0]);
  Py_XDECREF(all);
  return ok;
}

/* Returns the keys of all dicts, in the order of their first appearance. */
static PyObject *keys_of(PyObject *values) {
  PyObject *seen = PyDict_New();
  for (Py_ssize_t i = 0; seen && i < PyList_Size(values); i++) {
    PyObject *v = PyList_GetItem(values, i), *key, *item;
    Py_ssize_t at = 0;
    while (v != Py_None && PyDict_Next(v, &at, &key, &item)) PyDict_SetItem(seen, key, Py_None);
  }
  PyObject *keys = seen ? PyDict_Keys(seen) : NULL;
  Py_XDECREF(seen);
  return keys;
}

static PyObject *values_of(PyObject *dicts, PyObject *key) {
  const Py_ssize_t n = PyList_Size(dicts);
  PyObject *values = PyList_New(n);
  for (Py_ssize_t i = 0; values && i < n; i++) {
    PyObject *d = PyList_GetItem(dicts, i), *v = d == Py_None ? NULL : PyDict_GetItemWithError(d, key);
    if (!v) v = Py_None;
    Py_INCREF(v);
    PyList_SetItem(values, i, v);
  }
  return values;
}

static bool build_child(PyObject *dicts, PyObject *key, struct ArrowSchema *s, struct ArrowArray *a) {
  PyObject *values = values_of(dicts, key);
  struct bytes name = {0};
  bool ok = values && bytes_put_value(&name, key);
  if (ok) name.p[name.n] = 0;
  ok = ok && build(values, name.p, 'n', s, a);
  free(name.p);
  Py_XDECREF(values);
  return ok;
}

static bool build_struct(PyObject *values, PyObject *keys, struct ArrowSchema *s, struct ArrowArray *a) {
  for (int64_t i = 0; i < s->n_children; i++)
    if (!build_child(values, PyList_GetItem(keys, i), s->children[i], a->children[i])) return false;
  return true;
}

static bool build_plain(PyObject *values, char format, struct ArrowArray *a) {
  if (format == 'n') return a->null_count = a->length, true;
  if (!set_valid(a, values)) return false;
  return format == 't' || format == 'z' ? fill_texts(a, values) : fill_numbers(a, values, format);
}

/* Builds a column and its schema; `otherwise` is the format of a column without values. On failure returns
 * false, possibly without an exception. The caller releases both in any case. */
static bool build(PyObject *values, const char *name, char otherwise, struct ArrowSchema *s, struct ArrowArray *a) {
  static const char *const formats[128] = {['n'] = "n", ['b'] = "b", ['l'] = "l", ['u'] = "L", ['g'] = "g",
                                           ['t'] = "U", ['z'] = "Z", ['L'] = "+L", ['s'] = "+s"};
  const char format = format_of(values, otherwise);
  PyObject *keys = format == 's' ? keys_of(values) : NULL;
  const int64_t n = PyList_Size(values), n_children = format == 'L' ? 1 : keys ? PyList_Size(keys) : 0;
  const int64_t n_buffers = format == 'n' ? 0 : format == 's' ? 1 : format == 't' || format == 'z' ? 3 : 2;
  bool ok = (format != 's' || keys) && schema_init(s, formats[(unsigned char)format], name, n_children);
  ok = ok && array_init(a, n, n_buffers, n_children);
  if (ok && format != 'L' && format != 's') ok = build_plain(values, format, a);
  else ok = ok && set_valid(a, values) && (format == 'L' ? build_list(values, s, a) : build_struct(values, keys, s, a));
  Py_XDECREF(keys);
  return ok;
}

/* ---- the stream ---- */

struct stream_own {
  struct ArrowSchema schema;
  struct ArrowArray batch; /* marked as released after the consumer took it */
};

static bool put_i32(struct bytes *b, size_t n) {
  const int32_t v = (int32_t)n;
  return bytes_put(b, (const char *)&v, sizeof v);
}

static bool put_counted(struct bytes *b, const char *p) { return put_i32(b, strlen(p)) && bytes_put(b, p, strlen(p)); }

/* Encodes {"unit": unit} as metadata of a column, followed by a zero byte, which copy_schema needs. */
static bool set_unit(struct ArrowSchema *s, const char *unit) {
  struct bytes b = {0};
  const bool ok = put_i32(&b, 1) && put_counted(&b, "unit") && put_counted(&b, unit) && bytes_put(&b, "", 1);
  s->metadata = b.p;
  return ok;
}

static bool copy_schema(const struct ArrowSchema *from, struct ArrowSchema *to) {
  if (!schema_init(to, from->format, from->name, from->n_children)) return false;
  if (from->metadata && !set_unit(to, from->metadata + 3 * sizeof(int32_t) + strlen("unit"))) return false;
  for (int64_t i = 0; i < from->n_children; i++)
    if (!copy_schema(from->children[i], to->children[i])) return false;
  return true;
}

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  const struct stream_own *own = s->private_data;
  if (copy_schema(&own->schema, out)) return 0;
  out->release(out);
  return ENOMEM;
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
  if (own->schema.release) own->schema.release(&own->schema);
  free(own);
  s->release = NULL;
}

static void capsule_free(PyObject *capsule) {
  struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (s && s->release) s->release(s);
  free(s);
}

PyObject *frame_capsule(struct ArrowArrayStream *stream) {
  PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", capsule_free);
  if (capsule) return capsule;
  stream->release(stream);
  free(stream);
  return NULL;
}

/* Builds the columns. `columns`: list of (name, values, format of a column without values, unit or None). */
static bool build_columns(PyObject *columns, struct stream_own *own) {
  const Py_ssize_t n = PyList_Size(columns);
  bool ok = schema_init(&own->schema, "+s", "", n) && array_init(&own->batch, 0, 1, n);
  for (Py_ssize_t i = 0; ok && i < n; i++) {
    const char *name, *otherwise, *unit;
    PyObject *values;
    struct ArrowSchema *s = own->schema.children[i];
    ok = PyArg_ParseTuple(PyList_GetItem(columns, i), "sO!sz", &name, &PyList_Type, &values, &otherwise, &unit) &&
         build(values, name, *otherwise, s, own->batch.children[i]) && (!unit || set_unit(s, unit));
    if (ok) own->batch.length = own->batch.children[i]->length;
  }
  return ok;
}

PyObject *frame_stream(PyObject *module, PyObject *args) {
  PyObject *columns;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &columns)) return NULL;
  struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
  struct stream_own *own = calloc(1, sizeof *own);
  if (!stream || !own) {
    free(stream);
    free(own);
    return PyErr_NoMemory();
  }
  *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, own};
  if (build_columns(columns, own)) return frame_capsule(stream);
  stream->release(stream);
  free(stream);
  return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

/* ---- reading: the first batch of a stream ---- */

struct batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
};

static void batch_free(PyObject *capsule) {
  struct batch *b = PyCapsule_GetPointer(capsule, BATCH);
  if (b->array.release) b->array.release(&b->array);
  if (b->schema.release) b->schema.release(&b->schema);
  free(b);
}

PyObject *frame_batch(PyObject *module, PyObject *capsule) {
  struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  struct batch *b = s ? calloc(1, sizeof *b) : NULL;
  (void)module;
  if (!b) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  PyObject *made = PyCapsule_New(b, BATCH, batch_free);
  if (!made) free(b);
  else if (s->get_schema(s, &b->schema) || s->get_next(s, &b->array)) {
    Py_DECREF(made);
    return PyErr_NoMemory();
  }
  return made;
}

PyObject *frame_length(PyObject *module, PyObject *batch) {
  const struct batch *b = PyCapsule_GetPointer(batch, BATCH);
  (void)module;
  return b ? PyLong_FromLongLong(b->array.length) : NULL;
}

PyObject *frame_columns(PyObject *module, PyObject *batch) {
  const struct batch *b = PyCapsule_GetPointer(batch, BATCH);
  PyObject *names = b ? PyList_New(0) : NULL;
  (void)module;
  for (int64_t i = 0; names && i < b->schema.n_children; i++) {
    PyObject *name = PyUnicode_FromString(b->schema.children[i]->name);
    if (name) PyList_Append(names, name);
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *word_at(const struct ArrowArray *words, int64_t i) {
  const int32_t *offsets = words->buffers[1];
  return PyUnicode_DecodeUTF8((const char *)words->buffers[2] + offsets[i], offsets[i + 1] - offsets[i], "replace");
}

static int64_t place_at(const void *places, char format, int64_t i) {
  if (format == 'c') return ((const int8_t *)places)[i];
  return format == 's' ? ((const int16_t *)places)[i] : ((const int32_t *)places)[i];
}

/* Converts row i of a column to a Python value. Supports only the types that occur in tables of traces. */
static PyObject *value_at(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i) {
  const uint8_t *valid = a->buffers[0];
  const void *v = a->buffers[1];
  if (valid && !(valid[i >> 3] >> (i & 7) & 1)) {
    Py_INCREF(Py_None);
    return Py_None;
  }
  if (a->dictionary) return word_at(a->dictionary, place_at(v, *s->format, i));
  switch (*s->format) {
  case 'b': return PyBool_FromLong(((const uint8_t *)v)[i >> 3] >> (i & 7) & 1);
  case 'S': return PyLong_FromLong(((const uint16_t *)v)[i]);
  case 'I': return PyLong_FromUnsignedLong(((const uint32_t *)v)[i]);
  case 'g': return PyFloat_FromDouble(((const double *)v)[i]);
  default: return PyLong_FromLongLong(((const int64_t *)v)[i]);
  }
}

static PyObject *row_at(const struct batch *b, int64_t i) {
  PyObject *row = PyDict_New();
  for (int64_t k = 0; row && k < b->schema.n_children; k++) {
    PyObject *v = value_at(b->schema.children[k], b->array.children[k], i);
    if (v) PyDict_SetItemString(row, b->schema.children[k]->name, v);
    Py_XDECREF(v);
  }
  return row;
}

PyObject *frame_slice(PyObject *module, PyObject *args) {
  PyObject *capsule;
  long long from, to;
  (void)module;
  if (!PyArg_ParseTuple(args, "OLL", &capsule, &from, &to)) return NULL;
  const struct batch *b = PyCapsule_GetPointer(capsule, BATCH);
  PyObject *rows = b ? PyList_New(0) : NULL;
  for (int64_t i = from < 0 ? 0 : from; rows && i < to && i < b->array.length && !PyErr_Occurred(); i++) {
    PyObject *row = row_at(b, i);
    if (row) PyList_Append(rows, row);
    Py_XDECREF(row);
  }
  if (rows && PyErr_Occurred()) Py_CLEAR(rows);
  return rows;
}

/* True if the word is in `words`, an array of strings. */
static bool has_word(const struct ArrowArray *words, const char *word, size_t n) {
  const int32_t *offsets = words->buffers[1];
  for (int64_t i = 0; i < words->length; i++)
    if ((size_t)(offsets[i + 1] - offsets[i]) == n && memcmp((const char *)words->buffers[2] + offsets[i], word, n) == 0) return true;
  return false;
}

PyObject *frame_words(PyObject *module, PyObject *args) {
  PyObject *capsule;
  const char *word;
  Py_ssize_t n;
  (void)module;
  if (!PyArg_ParseTuple(args, "Os#", &capsule, &word, &n)) return NULL;
  const struct batch *b = PyCapsule_GetPointer(capsule, BATCH);
  return b ? PyBool_FromLong(has_word(b->array.children[0]->dictionary, word, (size_t)n)) : NULL;
}

/* fetch.c - see fetch.h.
 *
 * The library calls these functions without the GIL and on any of its threads, so each function takes the GIL while it runs Python
 * code. An exception becomes an error of the library, with an errno and a message from the package. If Ctrl-C interrupts a read, the
 * signal is set pending again, so that the Python call that entered the library raises KeyboardInterrupt when it returns. */
#include "fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static PyObject *fetch_from;       /* object of the package with folder(address), open(address) and failure(exception) */
static const char **fetch_schemes; /* NULL-terminated array of the strings in fetch_texts */
static PyObject *fetch_texts;

/* Clears the current exception. After Ctrl-C, sets the signal pending again, for the call that entered the library. */
static void fetch_clear(bool interrupted) {
  interrupted = interrupted || (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt));
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
}

/* Moves the current exception into err. */
static void fetch_failed(enum tk_code code, struct tk_err *err) {
  PyObject *type, *value, *trace;
  const char *text;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const bool interrupted = type && PyErr_GivenExceptionMatches(type, PyExc_KeyboardInterrupt);
  err->code = interrupted ? TK_EINTERRUPTED : code;
  PyObject *why = value ? PyObject_CallMethod(fetch_from, "failure", "O", value) : NULL;
  if (why && PyArg_ParseTuple(why, "is", &err->sys, &text)) snprintf(err->msg, sizeof err->msg, "%s", text);
  Py_XDECREF(why);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  fetch_clear(interrupted);
}

static char *fetch_local(void *arg, const char *address, struct tk_err *err) {
  (void)arg, (void)address, (void)err;
  return NULL;
}

/* ---- folders ---- */

struct fetch_files {
  struct tk_remote_file *v;
  size_t n;
};

/* Copies rows of (path, size or None, time in ns) to newly allocated memory. */
static bool fetch_rows(PyObject *rows, struct fetch_files *files) {
  const Py_ssize_t n = PyList_Check(rows) ? PyList_Size(rows) : -1;
  files->v = n >= 0 ? calloc((size_t)n + 1, sizeof *files->v) : NULL;
  if (!files->v) {
    PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    const char *path;
    PyObject *size;
    long long time_ns;
    if (!PyArg_ParseTuple(PyList_GetItem(rows, i), "sOL", &path, &size, &time_ns)) return false;
    const unsigned long long bytes = size == Py_None ? UINT64_MAX : PyLong_AsUnsignedLongLong(size);
    if (PyErr_Occurred()) return false;
    files->v[files->n] = (struct tk_remote_file){strdup(path), bytes, time_ns};
    if (!files->v[files->n].path) {
      PyErr_NoMemory();
      return false;
    }
    files->n++;
  }
  return true;
}

/* Calls `add` without the GIL, because it may report progress, which takes the GIL. */
static bool fetch_list(void *arg, const char *address, bool (*add)(void *to, const struct tk_remote_file *file), void *to,
                       struct tk_err *err) {
  struct fetch_files files = {0};
  (void)arg;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *rows = PyObject_CallMethod(fetch_from, "folder", "s", address);
  const bool ok = rows && fetch_rows(rows, &files);
  if (!ok) fetch_failed(TK_EOPEN, err);
  Py_XDECREF(rows);
  PyGILState_Release(state);
  for (size_t i = 0; ok && i < files.n && add(to, &files.v[i]);) i++;
  for (size_t i = 0; i < files.n; i++) free((char *)files.v[i].path);
  free(files.v);
  return ok;
}

/* ---- streams ---- */

static void *fetch_open(void *arg, const char *address, struct tk_err *err) {
  (void)arg;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *file = PyObject_CallMethod(fetch_from, "open", "s", address);
  if (!file) fetch_failed(TK_EOPEN, err);
  PyGILState_Release(state);
  return file;
}

static ptrdiff_t fetch_read(void *stream, void *p, size_t n, struct tk_err *err) {
  char *bytes;
  Py_ssize_t got = -1;
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *piece = PyObject_CallMethod(stream, "read", "n", (Py_ssize_t)n);
  if (!piece || PyBytes_AsStringAndSize(piece, &bytes, &got) != 0 || (size_t)got > n) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the file system returned more bytes than were asked for");
    fetch_failed(TK_EREAD, err);
    got = -1;
  } else {
    memcpy(p, bytes, (size_t)got);
  }
  Py_XDECREF(piece);
  PyGILState_Release(state);
  return got;
}

static void fetch_close(void *stream) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject *nothing = PyObject_CallMethod(stream, "close", NULL);
  Py_XDECREF(nothing);
  Py_DECREF((PyObject *)stream);
  if (!nothing) fetch_clear(false);
  PyGILState_Release(state);
}

/* ---- setting ---- */

const struct tk_fetch *fetch_functions(void) {
  static struct tk_fetch functions = {NULL, fetch_local, fetch_list, fetch_open, fetch_read, fetch_close, NULL};
  functions.schemes = fetch_schemes;
  return fetch_from ? &functions : NULL;
}

/* Sets the object that reads addresses, and the schemes (a tuple of bytes). Only the first call has an effect, because other threads
 * may already be reading. */
PyObject *fetch_set(PyObject *module, PyObject *args) {
  PyObject *from, *texts;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO!", &from, &PyTuple_Type, &texts)) return NULL;
  const Py_ssize_t n = PyTuple_Size(texts);
  const char **schemes = fetch_from ? NULL : PyMem_Calloc((size_t)n + 1, sizeof *schemes);
  if (!fetch_from && !schemes) return PyErr_NoMemory();
  for (Py_ssize_t i = 0; schemes && i < n; i++) {
    schemes[i] = PyBytes_AsString(PyTuple_GetItem(texts, i));
    if (schemes[i]) continue;
    PyMem_Free(schemes);
    return NULL;
  }
  if (schemes) {
    Py_INCREF(from);
    Py_INCREF(texts);
    fetch_texts = texts;
    fetch_schemes = schemes;
    fetch_from = from;
  }
  Py_RETURN_NONE;
}

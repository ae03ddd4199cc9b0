/* frame.h - converts Python values to Arrow tables and back, without other packages. */
#ifndef PYTHON_FRAME_H
#define PYTHON_FRAME_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include "tracekit.h"

/* Wraps a stream in a capsule that frees it. The stream must be allocated by malloc. Returns NULL with an exception on failure. */
PyObject *frame_capsule(struct ArrowArrayStream *stream);

/* Functions of the module; _native.pyi describes their arguments. */
PyObject *frame_stream(PyObject *module, PyObject *args);
PyObject *frame_batch(PyObject *module, PyObject *capsule);
PyObject *frame_length(PyObject *module, PyObject *batch);
PyObject *frame_columns(PyObject *module, PyObject *batch);
PyObject *frame_slice(PyObject *module, PyObject *args);
PyObject *frame_words(PyObject *module, PyObject *args);

#endif

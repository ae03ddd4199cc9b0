/* fetch.h - lets the library read addresses such as "s3://bucket/run/" through an object of the package, which uses fsspec. */
#ifndef PYTHON_FETCH_H
#define PYTHON_FETCH_H

#include "frame.h"

/* Returns the functions for struct tk_source_options. NULL if the package has not set any; addresses then fail to load. */
const struct tk_fetch *fetch_functions(void);

/* Function of the module; _native.pyi describes its arguments. */
PyObject *fetch_set(PyObject *module, PyObject *args);

#endif

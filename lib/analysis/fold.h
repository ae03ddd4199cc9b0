/* fold.h - merges names that differ only in numbers or template arguments: "fusion.123" and "fusion.7" become "fusion.*", "void
 * add<float, 4>(float*)" becomes "void add<*>(float*)". Addresses of objects are always folded, because they differ in each process:
 * "<function f at 0x7f12>" becomes "<function f at 0x*>"; so are the communicators and calls of HCCL in `diff` and `report`:
 * "hcom_allReduce__*_*_*".
 *
 * The folded name is a glob that matches the original names, and works as an argument of --name. */
#ifndef ANALYSIS_FOLD_H
#define ANALYSIS_FOLD_H

#include "base/mem.h"

/* Replaces the contents of `out` with the folded form of [p, p + n). False if memory runs out. */
bool fold_name(struct buf *out, const char *p, size_t n);

/* Folds the name of a step, which may also end in a space and its number: "train 7" becomes "train". */
bool fold_step(struct buf *out, const char *p, size_t n);

/* Folds only addresses: points [*p, *p + *n) to the folded text in `out`, or leaves both as they are if there is nothing to fold. False
 * if memory runs out. */
bool fold_addresses(struct buf *out, const char **p, size_t *n);

/* The same for all that differs in each process or call: addresses, and the numbers of HCCL's collectives. */
bool fold_varying(struct buf *out, const char **p, size_t *n);

/* The same for the lines of Python functions: "module.py(1743): forward" becomes "module.py(*): forward". */
bool fold_lines(struct buf *out, const char **p, size_t *n);

/* The same for the hashes of graphs that TorchInductor compiled: "## Call CompiledFxGraph * ##". */
bool fold_hashes(struct buf *out, const char **p, size_t *n);

#endif

/* fold.h - folds names that differ only in numbers or template arguments: "fusion.123" and "fusion.7" become "fusion.*"; "void
 * add<float, 4>(float*)" becomes "void add<*>(float*)". Two parts are folded even without --fold: addresses of objects, because they
 * differ in each process ("<function f at 0x7f12>" becomes "<function f at 0x*>"), and, in `diff` and `report`, the numbers of HCCL's
 * communicators and calls ("hcom_allReduce__*_*_*").
 *
 * A folded name is a glob that matches the original names, so it can be used with --name. */
#ifndef ANALYSIS_FOLD_H
#define ANALYSIS_FOLD_H

#include "base/mem.h"

/* Replaces the contents of `out` by the folded form of [p, p + n). Returns false if memory runs out. */
bool fold_name(struct buf *out, const char *p, size_t n);

/* Same as fold_name, for the name of a step; also removes a space and a number at the end: "train 7" becomes "train". */
bool fold_step(struct buf *out, const char *p, size_t n);

/* Folds only addresses. If there are any, stores the folded text in `out`, and sets *p and *n to it; otherwise changes nothing. Returns
 * false if memory runs out. */
bool fold_addresses(struct buf *out, const char **p, size_t *n);

/* Same as fold_addresses, for all parts that differ in each process or call: addresses, and the numbers of HCCL's collectives. */
bool fold_varying(struct buf *out, const char **p, size_t *n);

/* Same as fold_addresses, for line numbers of Python functions: "module.py(1743): forward" becomes "module.py(*): forward". */
bool fold_lines(struct buf *out, const char **p, size_t *n);

/* Same as fold_addresses, for hashes of graphs that TorchInductor compiled: "## Call CompiledFxGraph * ##". */
bool fold_hashes(struct buf *out, const char **p, size_t *n);

#endif

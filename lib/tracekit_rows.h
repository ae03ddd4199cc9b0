/* tracekit_rows.h - operations that add rows derived from other rows, for viewers. Part of tracekit.h, which includes it. */
#ifndef TRACEKIT_ROWS_H
#define TRACEKIT_ROWS_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* Key of the arg that marks everything that tk_derive adds. */
#define TK_DERIVED "tracekit.derived"
/* Counts of the data that tk_derive added. */
struct tk_derived {
  uint64_t steps, lines, events; /* derived */
  uint64_t grouped;              /* events that belong to a step */
};

/* Adds the data that xprof derives from an XSpace before it displays one. Each event gets its step in the args group_id and
 * step_name, and the event that marks a step takes the step's name. Devices get the lines Steps, XLA Modules, XLA Ops,
 * Framework Name Scope, Framework Ops and Source code. Derived data has the arg TK_DERIVED and is never written to XPlane.
 * Traces of other formats, and traces that have steps, are left unchanged. Stores the counts of the added data in `done`. */
TK_EXPERIMENTAL bool tk_derive(struct tk_trace *t, struct tk_derived *done, struct tk_err *err);

/* Counts of the changes by tk_fold_graphs. */
struct tk_folded {
  uint64_t events, lanes, annotations; /* numbers of events moved, lanes added, and annotations removed */
};

/* Moves the work of replayed CUDA and HIP graphs (arg "graph node id") from its streams to lanes by kind, and removes the
 * annotations of streams without other work. Work keeps its args, "stream" included. Stores the counts of its changes in
 * `done`. */
TK_EXPERIMENTAL bool tk_fold_graphs(struct tk_trace *t, struct tk_folded *done, struct tk_err *err);

/* Adds rows that show the scopes in an arg whose text is a path, such as tf_op "jit(step)/layer_3/dot_general": one row for each
 * thread whose events have the arg. Like data that tk_derive adds, these rows are never written to XPlane. *rows becomes the
 * number of rows added; `rows` may be NULL. */
TK_EXPERIMENTAL bool tk_scopes(struct tk_trace *t, const char *key, uint64_t *rows, struct tk_err *err);

#endif

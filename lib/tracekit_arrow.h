/* tracekit_arrow.h - tables of a trace for data frames, by Arrow's C data interface: a part of tracekit.h, which includes it.
 *
 * pyarrow, polars, pandas, duckdb and others take such a stream as it is.  Its one batch owns its memory: the trace may be changed or
 * freed as soon as the call has returned. */
#ifndef TRACEKIT_ARROW_H
#define TRACEKIT_ARROW_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* As https://arrow.apache.org/docs/format/CDataInterface.html fixes them; whoever includes two such headers has them once. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

/* Columns are, in this order and unless others are asked for, all of a table; of events those marked * are made only when they are
 * asked for.  Texts are dictionaries of UTF-8.
 *
 *   EVENTS  ts, dur     ns since the epoch of the trace's clock, and ns, both ends rounded to the nearest; or ps from origin_ns,
 *                       exact.  Null where they mean nothing: a lost clock, a span that never ended
 *           name, cat
 *           type        span, instant, counter
 *           kind        kernel, memcpy, collective, ...: the most telling of those that filters know; null = none
 *           track       row of TRACKS, by its id
 *           depth, pid, tid, process, thread, rank, step
 *           id*         of the event in the trace, as parent*, and event in other tables
 *           parent*, host*, device* (it ran on an accelerator), unfinished*, clipped*
 *           self*       as dur: the time in which the span was the innermost one of its thread
 *           arg.KEY*    whole numbers, numbers, or truth if all of them are such; else text
 *   TRACKS  id, kind (process, thread, counter, async), name, pid, tid, parent, process, rank, host, events
 *   FLOWS   flow (points of one flow have the same), role, event, track, ts, name, cat
 *   ARGS    event, key, text, number (null where it is none)
 *   STEPS   step, ts, dur, track
 *   COLLECTIVES  event, ts, dur, name, track, rank, host, step, and as far as its args say so collective ("allreduce"), group,
 *           group_size, seq (of those of the group), dtype, in_elements, out_elements, bytes (that go in) */
enum tk_table { TK_TABLE_EVENTS, TK_TABLE_TRACKS, TK_TABLE_FLOWS, TK_TABLE_ARGS, TK_TABLE_STEPS, TK_TABLE_COLLECTIVES, TK_TABLES };

struct tk_arrow_options {
  size_t size;
  const char *const *columns; /* NULL-terminated; NULL = the usual ones */
  bool ps;                    /* times in picoseconds from tk_trace.origin_ns */
};
#define TK_ARROW_OPTIONS_INIT TK_OPTIONS_INIT(tk_arrow_options)

/* Fills `out`, which the caller or whoever takes it releases.  False on an unknown column, a text of more than 2 GiB, or when memory
 * has run out; then `out` holds nothing. */
TK_API bool tk_arrow(struct tk_trace *t, enum tk_table table, const struct tk_arrow_options *opt, struct ArrowArrayStream *out,
                     struct tk_err *err);
/* "events"; the i-th column of a table, NULL past the end, and whether it is made without being asked for (`usual` may be NULL). */
TK_API const char *tk_table_name(enum tk_table table);
TK_API const char *tk_table_column(enum tk_table table, size_t i, bool *usual);

#endif

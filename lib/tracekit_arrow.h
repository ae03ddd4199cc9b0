/* tracekit_arrow.h - tables of a trace for data frames, through Arrow's C data interface. Part of tracekit.h, which includes
 * it.
 *
 * pyarrow, polars, pandas, duckdb and others accept such a stream directly. Its single batch owns its memory: the trace may be
 * changed or freed after the call returns. */
#ifndef TRACEKIT_ARROW_H
#define TRACEKIT_ARROW_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* Defined by https://arrow.apache.org/docs/format/CDataInterface.html; the guard allows several headers to define them. */
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

/* Columns, in this order. By default a table has all of them, except columns of EVENTS marked *, which must be requested. Texts
 * are dictionaries of UTF-8; ts, dur and self have the metadata "unit": "ns" or "ps".
 *
 *      EVENTS  ts, dur     ns since the epoch of the trace's clock, and ns, both ends rounded to the nearest; or ps from origin_ns,
 *                       exact. Null if undefined: no clock, a span that never ended
 *           name, cat
 *           type        span, instant, counter, sample
 *           kind        kernel, memcpy, collective, ...: the most specific kind known to filters; null = none
 *           track       id in TRACKS
 *           depth, pid, tid, process, thread, rank, step
 *           id*         id of the event in the trace, also used by parent* and by event in other tables
 *           parent*, host*, device* (ran on an accelerator), unfinished*, clipped*
 *           self*       like dur: time during which the span was the innermost one of its thread
 *           phase*, op*, module*   what the event is part of, as in tk_top_options.by; null = none
 *           arg.KEY*    integer, number or boolean if all values are; else text
 *      TRACKS  id, kind (process, thread, counter, async), name, pid, tid, parent, process, rank, host, events
 *      FLOWS   flow (equal for points of one flow), role, event, track, ts, name, cat
 *      ARGS    event, key, text, number (null unless numeric)
 *      STEPS   step, ts, dur, track
 *      COLLECTIVES  event, ts, dur, name, track, rank, host, step, and if its args contain them, collective ("allreduce"), group,
 *           group_size, seq (within the group), dtype, in_elements, out_elements, bytes (of the input) */
enum tk_table { TK_TABLE_EVENTS, TK_TABLE_TRACKS, TK_TABLE_FLOWS, TK_TABLE_ARGS, TK_TABLE_STEPS, TK_TABLE_COLLECTIVES, TK_TABLES };

struct tk_arrow_options {
  size_t size;
  const char *const *columns; /* NULL-terminated; NULL = the default columns */
  bool ps;                    /* times in picoseconds from tk_trace.origin_ns */
  bool typed;                 /* times as timestamps and durations of Arrow, in ns; not with ps */
};
#define TK_ARROW_OPTIONS_INIT TK_OPTIONS_INIT(tk_arrow_options)

/* Fills `out`, which the caller or its consumer releases. Returns false, leaving `out` empty, for an unknown column, more than
 * 2 GiB of text, or when memory runs out. */
TK_API bool tk_arrow(struct tk_trace *t, enum tk_table table, const struct tk_arrow_options *opt, struct ArrowArrayStream *out,
                     struct tk_err *err);
/* Returns the name of a table, such as "events". */
TK_API const char *tk_table_name(enum tk_table table);
/* Returns the name of the i-th column of a table; NULL past the end. *usual becomes true if the table has the column by default;
 * `usual` may be NULL. */
TK_API const char *tk_table_column(enum tk_table table, size_t i, bool *usual);

#endif

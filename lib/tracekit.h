/* tracekit.h - the public interface of libtracekit.
 *
 *     bytes -> io -> format reader -> event graph -> operations -> format writer -> io -> bytes
 *
 * Load a trace (tk_load), read its arrays or pass it to an operation, save it (tk_save) and free it (tk_free). The trace owns
 * everything reachable from it; the caller owns `struct tk_err` and options. Strings, classes, tracks and events are identified
 * by 32-bit ids, 0 = none: slot 0 of every array is a dummy, so iterate with `for (i = 1; i <= t->n_events; i++)`. The library
 * never prints, never exits and has no mutable globals. Different traces may be used by different threads, one trace by one
 * thread at a time.
 *
 * Options: zero is the default of every field, and a NULL pointer means all defaults. Option structs that may grow start with
 * their size, which TK_..._OPTIONS_INIT sets, so that programs and libraries of different versions work together:
 *
 *     struct tk_top_options options = TK_TOP_OPTIONS_INIT;
 *
 * A size of 0 means that of version 0.1, so { 0 } works too unless a later field is set. A non-zero field that an older library
 * does not know is refused (TK_EUSAGE). Structs embedded in others do not grow: they end with reserved words, which must be
 * zero.
 *
 * Reports: a function that returns a report stores a pointer to it, also if the function fails; the caller frees the report.
 * Within a soname, a later version may append fields to reports and to the rows that enum tk_row lists. A program that should
 * run with such a library reads rows with tk_row_at, not with an index. Structs contained in others by value do not grow.
 *
 * The contents of a trace or a report are read-only: arrays are const, and strings live as long as it does. Traces are changed
 * by operations (tk_filter, tk_rebase, ...) and created by tk_new. Options belong to the caller; the library never changes
 * them. */
#ifndef TRACEKIT_H
#define TRACEKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_VERSION "0.1.0"
#define TK_VERSION_NUMBER 100 /* 10000 major + 100 minor + patch */

#if defined(__GNUC__)
#define TK_API __attribute__((visibility("default")))
#else
#define TK_API
#endif

/* Functions that a later version with another soname may change; loading, saving, building, filtering, rebasing, merging, Arrow and
 * SQL are not among them. The compiler warns of calls in a program that defines TK_NO_EXPERIMENTAL. */
#ifdef TK_NO_EXPERIMENTAL
#define TK_EXPERIMENTAL TK_API __attribute__((deprecated("experimental")))
#else
#define TK_EXPERIMENTAL TK_API
#endif

/* Arrays that only the library changes; const for callers. */
#ifdef TRACEKIT_INSIDE
#define TK_FIXED
#else
#define TK_FIXED const
#endif

/* First member of every option struct in this header: the size of the struct, as the caller compiled it. */
#ifdef __cplusplus
extern "C++" {
template <class T> static inline T tk_options_of_size() {
  T options = T();
  options.size = sizeof(T);
  return options;
}
}
#define TK_OPTIONS_INIT(name) tk_options_of_size<struct name>()
#else
#define TK_OPTIONS_INIT(name) { .size = sizeof(struct name) }
#endif

typedef uint32_t tk_id;  /* index into an array of the trace; 0 = none */
typedef int64_t tk_time; /* picoseconds, relative to tk_trace.origin_ns: +-106 days */

/* ---- errors ------------------------------------------------------------------------------------------------------- */

enum tk_code {
  TK_OK,
  TK_EUSAGE,      /* invalid call rather than invalid data */
  TK_EOPEN,       /* a source cannot be opened */
  TK_EREAD,       /* a system error while reading */
  TK_EFORMAT,     /* not a trace, or an unknown format */
  TK_ECORRUPT,    /* damaged beyond repair, or damaged and --strict */
  TK_ELIMIT,      /* --max-memory, --max-size or 32-bit ids exceeded */
  TK_EWRITE,      /* the output cannot be written */
  TK_ELOSS,       /* the output format cannot represent all of the trace, with no_loss */
  TK_EINTERRUPTED, /* the progress callback returned false */
  TK_ENOTHING      /* the selection matches nothing, with refuse_empty */
};

/* Options with which a failed call could succeed. Messages do not name options, because the command and the languages spell
 * them differently. */
enum tk_option {
  TK_OPTION_NONE,
  TK_OPTION_FORCE,       /* tk_save_options: allow replacing a file */
  TK_OPTION_FORMAT,      /* tk_save_options: give the format, because the name of the output implies none */
  TK_OPTION_NO_LOSS,     /* tk_save_options: no_loss was set and caused the error */
  TK_OPTION_OUTPUT,      /* name of the output: choose another one */
  TK_OPTION_STRICT,      /* tk_load_options: strict was set and caused the error */
  TK_OPTION_MAX_MEMORY,
  TK_OPTION_MAX_SIZE,
  TK_OPTION_KEEP_GOING,  /* tk_merge_options: leave out inputs that cannot be read */
  TK_OPTION_MERGE_FIRST, /* merge the inputs first: the function reads several inputs as one trace, but cannot skip unreadable
                          * ones */
  TK_OPTION_HARD,        /* tk_shrink_options: allow removing more */
  TK_OPTION_TIMEOUT,     /* tk_sql_options: allow more time */
  TK_OPTION_RUN,         /* tk_source_options: choose another run, step, host or rank; others exist */
  TK_OPTION_LATEST_GOOD, /* tk_source_options: another run can be read */
  TK_OPTION_STEP_NAME    /* tk_load_options: give the name of steps, because no span marks a step */
};

/* Returns the public field that sets an option, such as "tk_save_options.force"; for TK_OPTION_OUTPUT, which is a parameter of most
 * functions, "output". NULL for TK_OPTION_NONE, and for numbers that this version does not know. */
TK_API const char *tk_option_field(enum tk_option option);

/* Enums are members of structs, so a compiler that gives enums another width (-fshort-enums) would lay out the structs
 * differently. */
#if defined(__cplusplus) && __cplusplus >= 201103L
static_assert(sizeof(enum tk_code) == 4, "enums of 32 bits");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(enum tk_code) == 4, "enums of 32 bits");
#endif

/* Describes the first error of a call. Each layer adds its location: "rank0.json.gz: event 14 at byte 2034: truncated
 * string". */
struct tk_err {
  enum tk_code code;
  int sys;         /* errno, or 0 */
  uint64_t offset; /* byte offset in the (decompressed) input, or UINT64_MAX */
  char msg[768];   /* one line of valid UTF-8 without control characters */
  uint32_t option; /* enum tk_option: option that could avoid the error */
};

/* Initial value of a struct tk_err; { 0 } works too. */
#define TK_ERR_INIT { TK_OK, 0, UINT64_MAX, "", TK_OPTION_NONE }

/* ---- the event graph ---------------------------------------------------------------------------------------------- */

enum tk_kind {
  TK_EVENT_SPAN, TK_EVENT_INSTANT, TK_EVENT_COUNTER,
  TK_EVENT_BEGIN, TK_EVENT_END, /* exist only before sealing */
  TK_EVENT_SAMPLE         /* a stack sample: its class has the stack, and tk_sample_weight its weight */
};

enum tk_flag {
  TK_FLAG_PAIRED = 1,        /* recorded as a begin and an end event; written in this form if the format supports it */
  TK_FLAG_UNFINISHED = 2,    /* never ended: dur extends to the end of the trace */
  TK_FLAG_CLIPPED = 4,       /* cut at the edge of a time range */
  TK_FLAG_REPAIRED = 8,      /* a value was unusable; a note gives the reason */
  TK_FLAG_OVERLAPS = 16,     /* ends after its parent span */
  TK_FLAG_LOST_CLOCK = 32,   /* has no usable time: placed at the start of its track; the arg json.ts contains the original text */
  TK_FLAG_END_NAMED = 64,    /* TK_FLAG_PAIRED events: the end event repeats name and category */
  TK_FLAG_IN_RECORD = 64,    /* stack samples: read from a record that is also in the trace */
  TK_FLAG_ASYNC = 128        /* identified by (category, scope, id), not by its track's stack */
};

/* One event, in 32 bytes. After sealing, events are grouped by track and in preorder (parents before children), each with its
 * depth within the track. */
struct tk_event {
  tk_time ts;
  tk_time dur;   /* >= 0; 0 unless a span */
  tk_id cls;     /* class: name, category, shared args */
  tk_id track;
  uint32_t args; /* offset into the pool of packed args; 0 = none */
  uint16_t depth;
  uint8_t kind;
  uint8_t flags;
};

struct tk_class {
  tk_id name, cat; /* strings; 0 = absent, which differs from "" */
  uint32_t args;   /* shared by all events of the class */
  tk_id stack;     /* samples: the innermost entry of the stack; 0 = empty, or not a class of samples */
  tk_id unit;      /* samples: string: unit of the weights, such as "ns", "bytes" or "samples"; 0 = not a class of samples */
};

/* A function, or a line of it, in a stack. */
struct tk_frame {
  tk_id name, module, file; /* strings; 0 = unknown */
  uint32_t line, column;    /* from 1; 0 = unknown */
};

/* An entry of a stack: a frame and the entry of its caller, so that stacks share their outer part. A parent has a lower id. */
struct tk_stack {
  tk_id parent; /* 0 = none: the outermost entry */
  tk_id frame;
  uint32_t depth; /* number of entries from the outermost to this one */
};

/* Type of a pid or tid: integer, string or absent. QUOTED integers were written as strings ("tid":"7") and are written as
 * strings again. */
enum tk_ident_kind { TK_IDENT_NONE, TK_IDENT_INT, TK_IDENT_QUOTED, TK_IDENT_STR };
struct tk_ident {
  int64_t num;
  tk_id str;
  uint32_t kind;
};

enum tk_track_kind { TK_TRACK_ROOT, TK_TRACK_PROCESS, TK_TRACK_THREAD, TK_TRACK_COUNTERS, TK_TRACK_ASYNCS };

/* A timeline of events. A PROCESS contains instants of process and global scope, COUNTERS one counter, ASYNCS the async events
 * of a thread. */
struct tk_track {
  struct tk_ident pid, tid;
  tk_id parent;       /* track: the process of a thread, counter or async track */
  tk_id name;         /* string from metadata, or the counter's name; 0 = none */
  tk_id labels;       /* string: process labels */
  tk_id machine;      /* string: machine of a process, in a trace with several machines; 0 = unknown */
  int64_t sort_index; /* valid if has_sort */
  tk_id first, count; /* its events after sealing: first .. first+count-1 */
  tk_id n_points;     /* number of flow points */
  uint8_t kind;
  bool has_sort;
  bool renamed;   /* name, labels or sort_index were set by an operation: its metadata records must not be written */
  bool hidden;    /* excluded from the timeline by an operation */
  bool derived;   /* created by tk_derive, with its events */
  bool in_packets; /* Perfetto: its events are also in packets that are passed through while the trace is unedited */
  bool by_series; /* counter of a Perfetto file that has a track for each series, named "counter series" */
  bool no_lanes;  /* overlapping spans stay on this track in Chrome JSON, as they did in the input, although viewers need
                   * separate rows */
};

enum tk_flow_role { TK_FLOW_START, TK_FLOW_STEP, TK_FLOW_END, TK_FLOW_OUT, TK_FLOW_IN, TK_FLOW_INOUT };

/* Type of a flow point's id: integer, string, or integer above INT64_MAX stored as uint64_t. */
enum tk_flow_id { TK_FLOW_ID_INT, TK_FLOW_ID_STR, TK_FLOW_ID_UINT };

/* A point of a flow. START, STEP and END are events of their own, with a time on a track; OUT, IN and INOUT belong to an event.
 * Points with equal class and id form a flow. After sealing, points are sorted by time; at equal times starts come first. */
struct tk_flow_point {
  tk_time ts;
  int64_t id; /* type in id_kind */
  tk_id cls;  /* name and category */
  tk_id at;   /* the event that the point belongs to, or else its track; see tk_flow_point_track */
  uint32_t args;
  uint8_t role;
  uint8_t id_kind; /* type of the id: enum tk_flow_id */
  bool enclosing; /* END points: bound to the enclosing span ("bp":"e"), not to the next one */
  bool bound;
};

enum tk_record_kind {
  TK_RECORD_OTHER, TK_RECORD_PROCESS_NAME, TK_RECORD_PROCESS_LABELS, TK_RECORD_PROCESS_SORT, TK_RECORD_THREAD_NAME,
      TK_RECORD_THREAD_SORT
};

/* Members of a JSON event that are quoted although the other events have numbers, or unquoted although the others have strings.
 * The spelling of pid and tid is compared with that of the track. */
enum tk_respelled { TK_RESPELLED_TS = 1, TK_RESPELLED_DUR = 2, TK_RESPELLED_PID = 4, TK_RESPELLED_TID = 8 };

/* An event that has no time, or that the graph cannot represent. It is kept as JSON text: the members of the event without pid,
 * tid and ts. */
struct tk_record {
  tk_time ts; /* valid if has_ts */
  uint64_t at;
  uint32_t size; /* bytes [at, at+size) of the trace's raw text */
  tk_id track;
  uint8_t kind;
  char phase; /* the phase of the event ("ph"), such as 'M'; 0 = none */
  bool has_ts;
  bool strong; /* true: `track` belongs to the pid or tid of the event, or is the track of events without ids, which it names */
  uint8_t respelled; /* enum tk_respelled */
  bool derived; /* created from the track's name, for formats that store names in records */
  bool sampled; /* the record's samples are events with the flag TK_FLAG_IN_RECORD, so any operation makes the record's text obsolete */
};

/* Top-level data that is not an event: either a JSON value with its key, or passthrough. Passthrough is bytes of the input that
 * the model does not represent; they are copied to output of the same format. */
struct tk_meta {
  tk_id key;
  uint64_t at, size;
  bool after;         /* came after the events in the input */
  const char *origin; /* passthrough: name of the format that understands these bytes; NULL = JSON, which every format can store
                       */
};

/* Changes that operations made since the trace was read. Passthrough may refer to data that was removed, renamed or moved.
 * Writers use these flags to remove such passthrough, or to drop all of it and report the loss. */
enum tk_edit {
  TK_EDIT_DROPPED = 1,   /* events, args or records were removed */
  TK_EDIT_RENAMED = 2,   /* names, ids or processes changed */
  TK_EDIT_MOVED = 4,     /* times changed, all by the same amount unless TK_EDIT_STRETCHED is also set */
  TK_EDIT_STRETCHED = 8, /* times changed by different amounts */
  TK_EDIT_NAMED = 16     /* processes got other names; their ids stay */
};

/* INFO: an assumption or a decision. REPAIR: a correction of invalid input. FACT: a property of the trace as recorded, which is
 * not a fault, such as spans that overlap or never end. */
enum tk_note_kind { TK_NOTE_INFO, TK_NOTE_REPAIR, TK_NOTE_FACT };
struct tk_note {
  enum tk_note_kind kind;
  tk_id text;      /* text of the note: a string */
  uint64_t count;
  uint64_t offset; /* first byte; UINT64_MAX = none */
  tk_id source;    /* string: name of the input that the note is about, if the trace has several; 0 = the trace itself */
};

/* A note as it appears in reports. */
struct tk_diagnostic {
  enum tk_note_kind kind;
  uint64_t count;
  uint64_t offset;    /* first byte; UINT64_MAX = none */
  const char *text;   /* equal strings share one pointer */
  const char *source; /* name of the input that the note is about, if there are several; NULL = no particular one */
};

/* Notes about a trace or a call, in the order in which they were found. */
struct tk_diagnostics {
  const struct tk_diagnostic *list;
  size_t n;
  struct tk_diagnostics_impl *impl;
};

enum tk_clock { TK_CLOCK_UNKNOWN, TK_CLOCK_REALTIME, TK_CLOCK_BOOTTIME, TK_CLOCK_MONOTONIC };

/* Counts of the records that a reader found, including metadata records. */
struct tk_counts {
  uint64_t read;          /* objects in the events array */
  uint64_t by_phase[128]; /* number of records by the first character of "ph"; [0] = the phase is missing or not ASCII */
  uint64_t empty;         /* empty objects: {} */
  uint64_t dropped;       /* records that could not be represented; a note gives the reason */
  uint64_t rounded;       /* times with more digits than the graph stores */
  uint64_t bytes;         /* bytes of decompressed input */
  uint64_t by_template;   /* records that were read on the fast path, because they are spelled like an earlier record of their
                           * kind */
};

/* Private: contains strings, packed args and raw text. */
struct tk_store;

/* Callers may read all members but change them only through functions, because the arrays depend on each other. */
struct tk_trace {
  TK_FIXED struct tk_event *events;
  TK_FIXED struct tk_class *classes;
  TK_FIXED struct tk_track *tracks;
  TK_FIXED struct tk_flow_point *flow_points;
  TK_FIXED struct tk_record *records;
  TK_FIXED struct tk_meta *metas;
  TK_FIXED struct tk_note *notes;
  tk_id n_events, n_classes, n_tracks, n_flow_points, n_records, n_metas, n_notes;

  int64_t origin_ns; /* absolute time of timestamp 0 on the clock `clock`; includes zero_ns */
  int64_t zero_ns;   /* absolute time from which the file counts its timestamps (baseTimeNanoseconds) */
  enum tk_clock clock;
  bool sealed;
  bool has_zero;  /* the file records zero_ns */
  uint8_t edits;  /* enum tk_edit */
  bool truncated; /* the input ended early; a note gives the position */
  bool damaged;   /* the input ended early because the bytes that follow are invalid */
  bool capped;    /* contains the maximum number of events that its producer writes; a note reports it */
  tk_id cut;      /* private: number of the time range to which the trace was cut; 0 = none, or other events were removed too */

  struct tk_counts counts;
  const char *source; /* name of the source, as given by the caller */
  const char *const *files; /* files from which the trace was read and which no output may replace (NULL-terminated); NULL = none */
  const char *host;   /* host according to the path, such as <host>.xplane.pb in a run directory; "" = unknown */
  const char *run;    /* run according to the path: its timestamp, or the folder's name; "" = unknown */
  const char *format; /* name of the input format */
  struct tk_store *store;

  TK_FIXED struct tk_frame *frames; /* equal frames have one id */
  TK_FIXED struct tk_stack *stacks; /* equal stacks have one id */
  tk_id n_frames, n_stacks;
};

/* Frees a trace. `t` may be NULL. */
TK_API void tk_free(struct tk_trace *t);

/* Returns a copy of a sealed trace that shares nothing with it; operations on one leave the other unchanged. The copy has the
 * same ids and the same limit of memory. Returns NULL with err when memory runs out. The caller frees the copy (tk_free). */
TK_API struct tk_trace *tk_copy(const struct tk_trace *t, struct tk_err *err);

/* Returns the weight of a stack sample as a number and an exponent: number x 10^*exp, in the unit of its class. */
TK_API int64_t tk_sample_weight(const struct tk_trace *t, const struct tk_event *sample, int32_t *exp);

static inline tk_id tk_flow_point_track(const struct tk_trace *t, const struct tk_flow_point *f) {
  return f->bound ? t->events[f->at].track : f->at;
}

/* Returns the bytes of string `id` (valid UTF-8, may contain NUL, followed by a NUL); "" for 0. Sets *len to their number;
 * `len` may be NULL. */
TK_API const char *tk_string(const struct tk_trace *t, tk_id id, size_t *len);

/* Returns the name of the data that defines the clock of a trace, such as "baseTimeNanoseconds" or "clock snapshot". Returns NULL
 * if the clock is unknown, or if the trace was not read from a file. */
TK_API const char *tk_clock_source(const struct tk_trace *t);

/* Returns the notes of a trace, as a copy that outlives the trace; NULL = out of memory. */
TK_API struct tk_diagnostics *tk_trace_diagnostics(const struct tk_trace *t);
/* Frees notes that a caller owns; a report owns its notes. `d` may be NULL. */
TK_API void tk_diagnostics_free(struct tk_diagnostics *d);

/* ---- args --------------------------------------------------------------------------------------------------------- */

enum tk_arg_type {
  TK_ARG_NULL, TK_ARG_FALSE, TK_ARG_TRUE,
  TK_ARG_INT,     /* value in i */
  TK_ARG_UINT,    /* value in u: above INT64_MAX, or unsigned in the source */
  TK_ARG_DECIMAL, /* value i x 10^exp, with the digits of the input */
  TK_ARG_DOUBLE,  /* value in d, which may be infinite or NaN */
  TK_ARG_STR,     /* text in s */
  TK_ARG_NUMBER,  /* text in s: a number that fits none of the above */
  TK_ARG_JSON,    /* text in s: a nested array or object */
  TK_ARG_BYTES,   /* bytes in s */
  TK_ARG_REF,     /* text in s, which the file stores by reference (XPlane) */
  TK_ARG_POINTER, /* value in u */
  TK_ARG_TYPES
};

/* An arg: a key and a value. Keys that begin with "json.", "xplane." or "perfetto." are fields of the input that the model does
 * not have. */
struct tk_arg {
  tk_id key;
  enum tk_arg_type type;
  int32_t exp;
  union {
    int64_t i;
    uint64_t u;
    double d;
    tk_id s;
  };
};

struct tk_args {
  const struct tk_trace *trace;
  const uint8_t *next;
  const struct tk_arg_shape *shape;
  uint32_t i;
};

/* Iterates over the args of an event: for (it = tk_args_of(t, e->args); tk_args_next(&it, &arg);) */
TK_API struct tk_args tk_args_of(const struct tk_trace *t, uint32_t args);
TK_API bool tk_args_next(struct tk_args *it, struct tk_arg *arg);
TK_API bool tk_args_find(const struct tk_trace *t, uint32_t args, const char *key, struct tk_arg *arg);

/* ---- input and output: traces from and to files, folders, archives and memory; formats --------------------------- */

#include "tracekit_io.h"

/* ---- numbers as text ----------------------------------------------------------------------------------------------- */

#include "tracekit_text.h"

/* ---- operations: convert, merge, rebase, filter, split, shrink, size, list, extract ----------------------------- */

#include "tracekit_redact.h"
#include "tracekit_rows.h"
#include "tracekit_ops.h"
#include "tracekit_files.h"
#include "tracekit_steps.h"
#include "tracekit_report.h"
#include "tracekit_diff.h"
#include "tracekit_fields.h"

/* ---- tables for data frames --------------------------------------------------------------------------------------- */

#include "tracekit_arrow.h"

/* ---- creating a trace --------------------------------------------------------------------------------------------- */

#include "tracekit_build.h"

/* ---- inspecting a trace ------------------------------------------------------------------------------------------- */

/* Largest number of kinds in a tk_summary, which tk_summarise computes from the arrays of a trace and the command `info`
 * prints. */
enum { TK_KINDS = 20 };

struct tk_summary {
  uint64_t spans, instants, counters, flow_points, flow_pairs, dangling_points, records;
  uint64_t overlaps, unfinished, lost_clock;
  uint32_t machines; /* number of machines that the trace distinguishes, including an unnamed one; 0 = no machine is named */
  uint32_t processes, threads, counter_tracks, async_tracks;
  uint32_t max_depth;
  tk_time start, end;        /* extent of the events that have a clock */
  uint64_t memory;           /* bytes of the graph, excluding distinct strings */
  uint64_t string_bytes;     /* bytes of distinct strings */
  uint64_t arg_bytes;        /* bytes of packed args */
  uint32_t arg_shapes, n_strings;
  int64_t rank;              /* rank of the trace; -1 = unknown */
  const char *rank_from;     /* how the rank was found; "" = unknown */
  char host[256];
  struct {
    const char *name;        /* name of the kind, as in filters, such as "kernel" */
    uint64_t events;
  } kinds[TK_KINDS];         /* number of events per kind; an event has one or more kinds. name = NULL after the last kind */
  uint64_t samples;          /* stack samples */
  uint32_t stacks, frames;   /* distinct stacks, counting their outer parts, and frames */
};

/* Returns the rank of a trace if the rank is known only from the name of its input and the name of the file `output` does not contain
 * it. The rank is then lost unless tk_save_options.provenance contains it, as "\"rank\":3". Otherwise returns -1. */
TK_API int64_t tk_lost_rank(const struct tk_trace *t, const char *output);

/* Writes the ranks of a trace that was merged from several, such as "0-2, 7", to ranks[0, n), and its hosts, separated by ", ", to
 * hosts[0, m). An empty text: unknown, or not a merged trace. A text that is too long ends with "...". Returns false when memory runs
 * out. */
TK_API bool tk_print_origins(struct tk_trace *t, char *ranks, size_t n, char *hosts, size_t m);

/* Writes the summary of a sealed trace to *s. Returns false with err when memory runs out. */
TK_API bool tk_summarise(const struct tk_trace *t, struct tk_summary *s, struct tk_err *err);

/* Verifies the invariants of a sealed graph. Returns false with the first violation in `err`. */
TK_API bool tk_check(const struct tk_trace *t, struct tk_err *err);

/* Returns a canonical text of the graph, for golden files and diffs, which the caller frees with tk_free_text; NULL = out of
 * memory. */
TK_API char *tk_dump(const struct tk_trace *t);
/* Passes the text of tk_dump to `put`, block by block. Returns false if `put` returned false, or if memory ran out. */
TK_API bool tk_dump_to(const struct tk_trace *t, bool (*put)(void *arg, const char *text, size_t n), void *arg);
TK_API void tk_free_text(char *text);

/* ---- composition of a file ---------------------------------------------------------------------------------------- */

/* One component of a binary file, in the terms of its format. Strings live as long as the trace. */
struct tk_share {
  const char *name; /* "event metadata", "track_event" */
  uint64_t count, bytes; /* count 0 = not counted */
};
struct tk_xplane_plane { /* Plane of an XSpace. */
  const char *name;
  int64_t id;
  tk_id process;            /* track of the plane; 0 = the plane has only metadata */
  uint32_t line, lines;     /* the plane's lines are lines[line] to lines[line + lines - 1] */
  uint64_t events, bytes;   /* bytes: encoded size without tag and length */
  bool device;
};
struct tk_xplane_line {
  const char *name, *display_name; /* "" = unnamed */
  int64_t id;
  uint64_t events;
};
struct tk_perfetto_clock { /* Clock of a Perfetto trace. */
  uint32_t id, machine;
  const char *name;  /* "BOOTTIME"; "" = unnamed */
  bool of_sequence;  /* valid in one packet sequence only */
  uint32_t readings; /* number of ClockSnapshots with a reading of the clock */
};

/* A training step: ps as in tk_event. */
struct tk_step {
  int64_t number;
  tk_time start, end;
};

struct tk_inspection {
  TK_FIXED struct tk_share *parts; /* largest first; Perfetto: packets by payload, including compressed packets */
  TK_FIXED struct tk_xplane_plane *planes;
  TK_FIXED struct tk_xplane_line *lines;
  TK_FIXED struct tk_perfetto_clock *clocks;
  const char *TK_FIXED *hosts; /* XPlane hostnames */
  uint32_t n_parts, n_planes, n_lines, n_clocks, n_hosts, n_devices;
  uint64_t n_sequences;                     /* Perfetto: number of packet sequences */
  uint64_t n_steps, first_step, last_step; /* from the track with the most steps */
  struct tk_inspection_impl *impl;
  TK_FIXED struct tk_step *steps;          /* n_steps of them, in the order of time */
  const char *step_name;                   /* name of the span that marks the first step; NULL = no steps, or a bare number */
};

/* Describes the file from which the trace was loaded, in the terms of its format. Returns NULL if out of memory; n_parts is 0
 * for formats that do not describe their components. */
TK_EXPERIMENTAL struct tk_inspection *tk_inspect(const struct tk_trace *t);
TK_EXPERIMENTAL void tk_inspection_free(struct tk_inspection *p);

/* ---- the library itself ------------------------------------------------------------------------------------------- */

/* Returns TK_VERSION_NUMBER of the linked library, which may differ from the header's. */
TK_API unsigned tk_version(void);
/* Returns "tracekit 0.1.0" and the libraries with which it was built, one per line. */
TK_API const char *tk_build_info(void);

#ifdef __cplusplus
}
#endif
#endif

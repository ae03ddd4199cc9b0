/* tracekit.h - the whole public interface of libtracekit.
 *
 *     bytes -> io -> format reader -> event graph -> operations -> format writer -> io -> bytes
 *
 * Load a trace (tk_load), look at its arrays or hand it to an operation, save it (tk_save), free it (tk_free).  The trace owns
 * everything that can be reached from it; the caller owns `struct tk_err` and options.  Strings, classes, tracks and events are
 * named by 32-bit ids, 0 = none: slot 0 of every array is a dummy, so the iterator is `for (i = 1; i <= t->n_events; i++)`.
 * The library never prints, never exits and has no mutable globals; different traces may be used from different threads, one trace
 * from one thread at a time.
 *
 * Options: zero is the default of every field, and NULL stands for all defaults.  Structs of options that may grow begin with their
 * size, which TK_..._OPTIONS_INIT fills in, so that programs and libraries of different versions work together:
 *
 *     struct tk_top_options options = TK_TOP_OPTIONS_INIT;
 *
 * A size of 0 is that of version 0.1, so { 0 } does as well as long as no later field is set.  A field that the library does not know,
 * as it is older than the header, is refused (TK_EUSAGE) unless it is zero.  Structs that are parts of others do not grow: they end
 * with reserved words, which are to be zero.  Reports are filled by the library; a later version gives them more fields only together
 * with a new soname.
 *
 * What a trace or a report holds is for reading: its arrays are const, and strings live as long as it does.  A trace is changed by
 * operations (tk_filter, tk_rebase, ...) and made by tk_new; of options a caller may change everything, and the library nothing.
 */
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

/* Arrays that only the library changes: to everybody else they are const. */
#ifdef TRACEKIT_INSIDE
#define TK_FIXED
#else
#define TK_FIXED const
#endif

/* What the options structs of this header begin with. */
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
  TK_EUSAGE,      /* the call, not the data */
  TK_EOPEN,       /* a source cannot be opened */
  TK_EREAD,       /* the system failed while reading */
  TK_EFORMAT,     /* not a trace, or not one that we know */
  TK_ECORRUPT,    /* a trace, but damaged beyond repair, or damaged and --strict */
  TK_ELIMIT,      /* --max-memory, --max-size, 32-bit ids */
  TK_EWRITE,      /* the output cannot be written */
  TK_ELOSS,       /* the output cannot hold all of the trace, and no_loss was asked for */
  TK_EINTERRUPTED, /* the progress callback said stop */
  TK_ENOTHING      /* what was asked for matches nothing, and refuse_empty was asked for */
};

/* Options that an error can be about.  Messages do not speak of them: what they are called is the caller's. */
enum tk_option {
  TK_OPTION_NONE,
  TK_OPTION_FORCE,       /* tk_save_options: what is there may be replaced */
  TK_OPTION_FORMAT,      /* ... or none is told by the name */
  TK_OPTION_NO_LOSS,     /* ... which was asked for */
  TK_OPTION_OUTPUT,      /* where it is to be written */
  TK_OPTION_STRICT,      /* tk_load_options: which was asked for */
  TK_OPTION_MAX_MEMORY,
  TK_OPTION_MAX_SIZE,
  TK_OPTION_KEEP_GOING,  /* tk_merge_options: inputs that cannot be read may be left out */
  TK_OPTION_MERGE_FIRST, /* the same, of what reads several inputs as one trace and has no such option */
  TK_OPTION_HARD,        /* tk_shrink_options: more may go */
  TK_OPTION_TIMEOUT,     /* tk_sql_options */
  TK_OPTION_RUN,         /* tk_source_options: there are others than the run, step, host or rank that was asked for */
  TK_OPTION_LATEST_GOOD  /* ... another run can be read */
};

/* Enums stand in structs: a compiler that gives them another width (-fshort-enums) makes other structs than the library has. */
#if defined(__cplusplus) && __cplusplus >= 201103L
static_assert(sizeof(enum tk_code) == 4, "enums of 32 bits");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(enum tk_code) == 4, "enums of 32 bits");
#endif

/* The first error wins; each layer prefixes where it was: "rank0.json.gz: event 14 at byte 2034: truncated string". */
struct tk_err {
  enum tk_code code;
  int sys;         /* errno, or 0 */
  uint64_t offset; /* byte offset in the (decompressed) input, or UINT64_MAX */
  char msg[768];   /* one line of valid UTF-8 without control characters */
  uint32_t option; /* enum tk_option: which option would have it otherwise */
};

/* What a struct tk_err is before a call that may fill it; { 0 } does as well. */
#define TK_ERR_INIT { TK_OK, 0, UINT64_MAX, "", TK_OPTION_NONE }

/* ---- the event graph ---------------------------------------------------------------------------------------------- */

enum tk_kind { TK_SPAN, TK_INSTANT, TK_COUNTER, TK_BEGIN, TK_END /* the last two only before seal */ };

enum tk_flag {
  TK_PAIRED = 1,        /* came as begin/end, is written as such where the format can */
  TK_UNFINISHED = 2,    /* never ended: dur reaches the end of the trace */
  TK_CLIPPED = 4,       /* cut at the edge of a window */
  TK_REPAIRED = 8,      /* a value was not usable as it was; a note says why */
  TK_OVERLAPS = 16,     /* sticks out of the span it hangs under; has no children */
  TK_LOST_CLOCK = 32,   /* its time is meaningless; stands at its track's start, original in arg json.ts */
  TK_END_NAMED = 64,    /* paired: the end event repeats name and category */
  TK_ASYNC = 128        /* identity is (category, scope, id), not its track's stack */
};

/* 32 bytes.  After seal: grouped by track, preorder (parents before children), depth counted within the track. */
struct tk_event {
  tk_time ts;
  tk_time dur;   /* >= 0; 0 unless a span */
  tk_id cls;     /* name, category, shared args */
  tk_id track;
  uint32_t args; /* offset into the pool of packed args; 0 = none */
  uint16_t depth;
  uint8_t kind;
  uint8_t flags;
};

struct tk_class {
  tk_id name, cat; /* strings; 0 = absent, which is not "" */
  uint32_t args;   /* shared by all events of the class */
};

/* pid, tid: integer, string, or absent; `quoted` integers were written as strings ("tid":"7") and are written so again. */
enum tk_ident_kind { TK_IDENT_NONE, TK_IDENT_INT, TK_IDENT_QUOTED, TK_IDENT_STR };
struct tk_ident {
  int64_t num;
  tk_id str;
  uint32_t kind;
};

enum tk_track_kind { TK_ROOT, TK_PROCESS, TK_THREAD, TK_COUNTERS, TK_ASYNCS };

/* A timeline.  PROCESS holds process- and global-scope instants; COUNTERS one counter; ASYNCS a thread's async events. */
struct tk_track {
  struct tk_ident pid, tid;
  tk_id parent;       /* track: the process of a thread, counter, async track */
  tk_id name;         /* string, from metadata; the counter's name; 0 = none */
  tk_id labels;       /* string: process labels */
  tk_id machine;      /* string: of a process, the machine that it is of, where the trace tells several apart; 0 = not told */
  int64_t sort_index; /* valid if has_sort */
  tk_id first, count; /* its events after seal: first .. first+count-1 */
  tk_id n_points;     /* its flow points */
  uint8_t kind;
  bool has_sort;
  bool renamed;   /* name, labels or sort_index were set by an operation: metadata records of it are not to be written */
  bool hidden;    /* an operation left it out of the timeline */
  bool derived;   /* tk_derive made it, with its events */
  bool no_lanes;  /* its spans that overlap stay on it in Chrome JSON, whose viewers need rows beside it: so it was read */
};

enum tk_flow_role { TK_FLOW_START, TK_FLOW_STEP, TK_FLOW_END, TK_FLOW_OUT, TK_FLOW_IN, TK_FLOW_INOUT };

/* What the id of a flow point is: an integer, a string, or an integer above INT64_MAX, to be read as a uint64_t. */
enum tk_flow_id { TK_FLOW_ID_INT, TK_FLOW_ID_STR, TK_FLOW_ID_UINT };

/* One point of a flow.  START, STEP and END are events of their own, with a time, on a track; OUT, IN and INOUT belong to the
 * event that they are bound to.  Points of equal (class, id) belong together.  After seal: by time, starts first at equal times. */
struct tk_flow_point {
  tk_time ts;
  int64_t id; /* what id_kind says */
  tk_id cls;  /* name and category */
  tk_id at;   /* the event if bound, else the track; see tk_flow_point_track */
  uint32_t args;
  uint8_t role;
  uint8_t id_kind; /* enum tk_flow_id */
  bool enclosing; /* END: binds to the enclosing span ("bp":"e"), else to the next one */
  bool bound;
};

enum tk_record_kind {
  TK_REC_OTHER, TK_REC_PROCESS_NAME, TK_REC_PROCESS_LABELS, TK_REC_PROCESS_SORT, TK_REC_THREAD_NAME, TK_REC_THREAD_SORT
};

/* Members of a JSON event that stand in quotes where others have numbers, or the other way round: of pid and tid the others are the
 * track's. */
enum tk_respelled { TK_RESPELLED_TS = 1, TK_RESPELLED_DUR = 2, TK_RESPELLED_PID = 4, TK_RESPELLED_TID = 8 };

/* What has no time or no meaning here, kept raw: the JSON members of an event without pid, tid and ts. */
struct tk_record {
  tk_time ts; /* valid if has_ts */
  uint64_t at;
  uint32_t size; /* bytes [at, at+size) of the trace's raw text */
  tk_id track;
  uint8_t kind;
  char phase; /* 'M', ...; 0 = none */
  bool has_ts;
  bool strong; /* names its track by pid and tid (false: has neither) */
  uint8_t respelled; /* enum tk_respelled */
  bool derived; /* made of what its track is called, for formats that say names in records */
};

/* Top-level data that is not an event: a JSON value by its key, or passthrough: bytes of the input that the model has no place for,
 * which go back into a file of the format that they came from. */
struct tk_meta {
  tk_id key;
  uint64_t at, size;
  bool after;         /* stood after the events */
  const char *origin; /* passthrough: name of the format that alone understands these bytes; NULL = JSON that every format can hold */
};

/* What operations did to a trace since it was read.  Passthrough may speak of what is gone or has another name or time by now, so the
 * writer of its format prunes it by these, or leaves it out and says so. */
enum tk_edit {
  TK_EDIT_DROPPED = 1, /* events, args or records are gone */
  TK_EDIT_RENAMED = 2, /* names, ids or processes are others */
  TK_EDIT_MOVED = 4    /* times are others */
};

/* What was assumed or decided (info), what was changed to make sense of wrong bytes (repair), and what the trace is like, as its
 * producer wrote it, which is no fault (fact): spans that overlap or never end. */
enum tk_note_kind { TK_NOTE_INFO, TK_NOTE_REPAIR, TK_NOTE_FACT };
struct tk_note {
  enum tk_note_kind kind;
  tk_id text;      /* string */
  uint64_t count;
  uint64_t offset; /* first byte, UINT64_MAX = not of one place */
  tk_id source;    /* string: which of several inputs it is of; 0 = the trace's own */
};

/* A note by itself, as reports carry it. */
struct tk_diagnostic {
  enum tk_note_kind kind;
  uint64_t count;
  uint64_t offset;    /* first byte, UINT64_MAX = not of one place */
  const char *text;   /* equal texts are one pointer */
  const char *source; /* which of several inputs it is of; NULL = of none in particular */
};

/* What is to be said of a trace, or of what a call did, in the order in which it was found. */
struct tk_diagnostics {
  const struct tk_diagnostic *list;
  size_t n;
  struct tk_diagnostics_impl *impl;
};

enum tk_clock { TK_CLOCK_UNKNOWN, TK_CLOCK_REALTIME, TK_CLOCK_BOOTTIME, TK_CLOCK_MONOTONIC };

/* What was counted while reading: source records, metadata included. */
struct tk_counts {
  uint64_t read;          /* objects in the events array */
  uint64_t by_phase[128]; /* by the first character of ph; [0] = none or not ASCII */
  uint64_t empty;         /* {} */
  uint64_t dropped;       /* not representable, with a note */
  uint64_t rounded;       /* times with more digits than the graph has */
  uint64_t bytes;         /* decompressed input */
  uint64_t by_template;   /* spelled so that the fast path can read them, once it has seen one of the kind */
};

/* Private: strings, packed args, raw text. */
struct tk_store;

/* Callers read all of it and change none of it but by calls: what an array holds hangs together with the others. */
struct tk_trace {
  TK_FIXED struct tk_event *events;
  TK_FIXED struct tk_class *classes;
  TK_FIXED struct tk_track *tracks;
  TK_FIXED struct tk_flow_point *flow_points;
  TK_FIXED struct tk_record *records;
  TK_FIXED struct tk_meta *metas;
  TK_FIXED struct tk_note *notes;
  tk_id n_events, n_classes, n_tracks, n_flow_points, n_records, n_metas, n_notes;

  int64_t origin_ns; /* absolute time of ts 0, on `clock`; includes zero_ns */
  int64_t zero_ns;   /* what the file prints its times against (baseTimeNanoseconds); absolute */
  enum tk_clock clock;
  bool sealed;
  bool has_zero;  /* the file states zero_ns */
  uint8_t edits;  /* enum tk_edit */
  bool truncated; /* the input ended too early; a note says where */
  bool damaged;   /* ... because its bytes are wrong from there on */
  bool capped;    /* it holds as many events as its producer writes at most; a note says so */

  struct tk_counts counts;
  const char *source; /* what the caller named */
  const char *const *files; /* that it was read from, which no output may replace (NULL-terminated); NULL = none */
  const char *host;   /* that its place tells: a run directory's <host>.xplane.pb, ...; "" = unknown */
  const char *run;    /* ... its time stamp, or the folder's name; "" = unknown */
  const char *format; /* name of the format that was read */
  struct tk_store *store;
};

/* `t` may be NULL. */
TK_API void tk_free(struct tk_trace *t);

static inline tk_id tk_flow_point_track(const struct tk_trace *t, const struct tk_flow_point *f) {
  return f->bound ? t->events[f->at].track : f->at;
}

/* Bytes of string `id` (valid UTF-8, may contain NUL, always followed by one); "" for 0. */
TK_API const char *tk_string(const struct tk_trace *t, tk_id id, size_t *len);

/* The notes of a trace in that form, which do not need the trace any more; NULL = no memory. */
TK_API struct tk_diagnostics *tk_trace_diagnostics(const struct tk_trace *t);
/* Of those that a caller owns; a report's go with the report.  `d` may be NULL. */
TK_API void tk_diagnostics_free(struct tk_diagnostics *d);

/* ---- args --------------------------------------------------------------------------------------------------------- */

enum tk_arg_type {
  TK_ARG_NULL, TK_ARG_FALSE, TK_ARG_TRUE,
  TK_ARG_INT,     /* i */
  TK_ARG_UINT,    /* u: above INT64_MAX, or typed so by the source */
  TK_ARG_DECIMAL, /* i x 10^exp, as it was printed */
  TK_ARG_DOUBLE,  /* d: finite or not */
  TK_ARG_STR,     /* s */
  TK_ARG_NUMBER,  /* s: text of a number that fits none of the above */
  TK_ARG_JSON,    /* s: text of a nested array or object */
  TK_ARG_BYTES,   /* s */
  TK_ARG_REF,     /* s: string by reference (XPlane) */
  TK_ARG_POINTER, /* u */
  TK_ARG_TYPES
};

/* One arg.  Keys under "json." (and "xplane.", "perfetto.") are fields that the model does not name. */
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

/* for (it = tk_args_of(t, e->args); tk_args_next(&it, &arg);) */
TK_API struct tk_args tk_args_of(const struct tk_trace *t, uint32_t args);
TK_API bool tk_args_next(struct tk_args *it, struct tk_arg *arg);
TK_API bool tk_args_find(const struct tk_trace *t, uint32_t args, const char *key, struct tk_arg *arg);

/* ---- in and out: traces from files, folders, archives and memory, and to them; formats --------------------------- */

#include "tracekit_io.h"

/* ---- numbers as text ----------------------------------------------------------------------------------------------- */

#include "tracekit_text.h"

/* ---- operations: convert, merge, rebase, filter, split, shrink, size, list, extract ----------------------------- */

#include "tracekit_redact.h"
#include "tracekit_ops.h"
#include "tracekit_steps.h"
#include "tracekit_report.h"

/* ---- tables for data frames --------------------------------------------------------------------------------------- */

#include "tracekit_arrow.h"

/* ---- making a trace ------------------------------------------------------------------------------------------------ */

#include "tracekit_build.h"

/* ---- what a trace says of itself ---------------------------------------------------------------------------------- */

/* What `info` shows; computed from the arrays. */
enum { TK_KINDS = 20 };

struct tk_summary {
  uint64_t spans, instants, counters, flow_points, flow_pairs, dangling_points, records;
  uint64_t overlaps, unfinished, lost_clock;
  uint32_t machines; /* that it tells apart; 0 = it speaks of none */
  uint32_t processes, threads, counter_tracks, async_tracks;
  uint32_t max_depth;
  tk_time start, end;        /* of events that have a clock */
  uint64_t memory;           /* bytes of the graph without distinct strings */
  uint64_t string_bytes;     /* distinct strings */
  uint64_t arg_bytes;        /* packed args */
  uint32_t arg_shapes, n_strings;
  int64_t rank;              /* -1 = unknown */
  const char *rank_from;     /* "" = unknown */
  char host[256];
  struct {
    const char *name;        /* as filters call it: "kernel" */
    uint64_t events;
  } kinds[TK_KINDS];         /* an event is of one or more; NULL behind the last */
};

/* False = out of memory. */
TK_API bool tk_summarise(const struct tk_trace *t, struct tk_summary *s, struct tk_err *err);

/* Verifies the invariants of a sealed graph: false and the first violation in `err`. */
TK_API bool tk_check(const struct tk_trace *t, struct tk_err *err);

/* Canonical text of the graph, for goldens and diffs.  The caller frees it with tk_free_text; NULL = out of memory. */
TK_API char *tk_dump(const struct tk_trace *t);
/* The same text in blocks, which `put` is given one after the other until it returns false.  False too when memory ran out. */
TK_API bool tk_dump_to(const struct tk_trace *t, bool (*put)(void *arg, const char *text, size_t n), void *arg);
TK_API void tk_free_text(char *text);

/* ---- the library itself ------------------------------------------------------------------------------------------- */

/* TK_VERSION_NUMBER of the library that is linked, which need not be that of the header. */
TK_API unsigned tk_version(void);
/* "tracekit 0.1.0", and the libraries it was built with, one per line. */
TK_API const char *tk_build_info(void);

#ifdef __cplusplus
}
#endif
#endif

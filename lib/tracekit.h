/* tracekit.h - the whole public interface of libtracekit.
 *
 *     bytes -> io -> format reader -> event graph -> operations -> format writer -> io -> bytes
 *
 * Load a trace (tk_load), look at its arrays or hand it to an operation, save it (tk_save), free it (tk_free).  The trace owns
 * everything that can be reached from it; the caller owns `struct tk_err` and options.  Strings, classes, tracks and events are
 * named by 32-bit ids, 0 = none: slot 0 of every array is a dummy, so the iterator is `for (i = 1; i <= t->n_events; i++)`.
 * Options structs: zero is the default for every field.  The library never prints, never exits and has no mutable globals;
 * different traces may be used from different threads, one trace from one thread at a time.
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

#if defined(__GNUC__)
#define TK_API __attribute__((visibility("default")))
#else
#define TK_API
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

/* The first error wins; each layer prefixes where it was: "rank0.json.gz: event 14 at byte 2034: truncated string". */
struct tk_err {
  enum tk_code code;
  int sys;         /* errno, or 0 */
  uint64_t offset; /* byte offset in the (decompressed) input, or UINT64_MAX */
  char msg[768];   /* one line of valid UTF-8 without control characters */
};

/* The exit status that the command gives for a code: 0, 1 nothing matched, 2 usage, 3 input or limit, 4 output, 130
 * interrupted. */
TK_API int tk_exit_status(enum tk_code code);

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

/* One point of a flow.  START, STEP and END are events of their own, with a time, on a track; OUT, IN and INOUT belong to the
 * event that they are bound to.  Points of equal (class, id) belong together.  After seal: by time, starts first at equal times. */
struct tk_flow_point {
  tk_time ts;
  int64_t id; /* integer, a uint64_t if id_is_uint, or a string id if id_is_str */
  tk_id cls;  /* name and category */
  tk_id at;   /* the event if bound, else the track; see tk_flow_point_track */
  uint32_t args;
  uint8_t role;
  bool id_is_str : 1, id_is_uint : 1;
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

enum tk_clock { TK_CLOCK_UNKNOWN, TK_CLOCK_REALTIME, TK_CLOCK_BOOTTIME, TK_CLOCK_MONOTONIC };

/* What was counted while reading: source records, metadata included. */
struct tk_counts {
  uint64_t read;          /* objects in the events array */
  uint64_t by_phase[128]; /* by the first character of ph; [0] = none or not ASCII */
  uint64_t empty;         /* {} */
  uint64_t dropped;       /* not representable, with a note */
  uint64_t rounded;       /* times with more digits than the graph has */
  uint64_t bytes;         /* decompressed input */
  uint64_t by_template;     /* read by the fast path */
};

/* Private: strings, packed args, raw text. */
struct tk_store;

struct tk_trace {
  struct tk_event *events;
  struct tk_class *classes;
  struct tk_track *tracks;
  struct tk_flow_point *flow_points;
  struct tk_record *records;
  struct tk_meta *metas;
  struct tk_note *notes;
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

TK_API void tk_free(struct tk_trace *t);

static inline tk_id tk_flow_point_track(const struct tk_trace *t, const struct tk_flow_point *f) {
  return f->bound ? t->events[f->at].track : f->at;
}

/* Bytes of string `id` (valid UTF-8, may contain NUL, always followed by one); "" for 0. */
TK_API const char *tk_string(const struct tk_trace *t, tk_id id, size_t *len);

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

/* ---- load and save ------------------------------------------------------------------------------------------------ */

/* What is being done from now on.  Strings live during the call. */
struct tk_phase {
  const char *what; /* "reading", "aligning", "writing", "compressing" */
  const char *name; /* of what; NULL = not told */
  size_t i, n;      /* the i-th of n, from 1; n = 0: there is one */
  bool events;      /* ticks count events, not bytes */
};

/* `tick` is called now and then with bytes done and, where known, total (else 0).  false = stop: the call fails with TK_EINTERRUPTED.
 * `phase`, which may be NULL, is called before those of another kind. */
struct tk_progress {
  bool (*tick)(void *arg, uint64_t done, uint64_t total);
  void *arg;
  void (*phase)(void *arg, const struct tk_phase *phase);
};

struct tk_load_options {
  const char *format;  /* name; NULL = by content */
  uint64_t max_memory; /* bytes of graph and buffers; 0 = 75% of RAM or cgroup */
  uint64_t max_size;   /* bytes after decompression; 0 = no limit but ratio */
  struct tk_progress progress;
  unsigned threads;    /* 0 = as many as there are cores, 1 = none beside the caller's */
  bool strict;         /* any repair is TK_ECORRUPT */
  bool no_templates;     /* general reading path only: for tests */
  bool check;          /* verify the invariants after sealing: for tests */
};

/* Reads and seals `source`: anything that tk_sources_open takes and that holds one trace.  NULL on error. */
TK_API struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err);

/* Up to n bytes into p; 0 at the end, -1 with errno when it failed. */
struct tk_reader {
  ptrdiff_t (*read)(void *arg, void *p, size_t n);
  void *arg;
};
/* Takes piece after piece, from the calling thread; false = it cannot, and the call fails. */
struct tk_writer {
  bool (*write)(void *arg, const void *p, size_t n);
  void *arg;
};
struct tk_bytes {
  void *p;
  size_t n;
};

/* Of what is no file: bytes, a descriptor that stays open, or what a function gives; packed as files may be.  `name` is what messages
 * call it, and its ending may tell the format. */
TK_API struct tk_trace *tk_load_memory(const void *bytes, size_t n, const char *name, const struct tk_load_options *opt,
                                       struct tk_err *err);
TK_API struct tk_trace *tk_load_fd(int fd, const char *name, const struct tk_load_options *opt, struct tk_err *err);
TK_API struct tk_trace *tk_load_stream(struct tk_reader from, const char *name, const struct tk_load_options *opt, struct tk_err *err);

/* ---- sources ------------------------------------------------------------------------------------------------------ */

/* What a full read would tell is UNKNOWN until then. */
enum tk_health {
  TK_HEALTH_UNKNOWN,
  TK_HEALTH_OK,
  TK_HEALTH_EMPTY,     /* no bytes, or no events */
  TK_HEALTH_TRUNCATED, /* ends too early */
  TK_HEALTH_CORRUPT,   /* bytes of it are wrong: it can be read up to there, or not at all */
  TK_HEALTH_REPAIRED,  /* whole, but not as it should be */
  TK_HEALTH_CAPPED,    /* sound, but holds as many events as its producer writes at most */
  TK_HEALTH_NO_TRACE
};

/* One trace to read, and what is known of it before.  Strings live as long as the sources. */
struct tk_input {
  const char *name;   /* "logs/plugins/profile/2026_11_20_10_21_49/vm.xplane.pb", "logs.zip:rank0.json": can be named itself */
  const char *run;    /* "2026_11_20_10_21_49", else the folder's name */
  const char *step;   /* "100" of a folder "step_100"; "" = none */
  const char *host;   /* "" = not told */
  int64_t rank;       /* -1 = not told */
  uint64_t size;      /* bytes as it lies there; UINT64_MAX = not known */
  int64_t run_ns;     /* when the run was, by its name or its newest file: orders runs, in an unknown time zone */
  uint32_t run_id;    /* inputs of one run have the same */
  const char *format; /* NULL = not known yet */
  enum tk_health health;
  const char *why;    /* it is not well, or NULL */
  bool best;          /* read by default: other views of the same session are not */
};

/* Zero: the best file of each host of the newest run. */
struct tk_source_options {
  const char *run;  /* this run, or the newest whose name begins so; NULL = the newest */
  const char *step; /* of runs in a folder step_<this> */
  const char *host; /* a name, or a pattern as for files */
  const char *rank; /* a number */
  bool all_runs;
  bool latest_good; /* a run that holds no trace, for its files are empty or cut to nothing, is passed over */
  bool all_files;   /* also other views, what is empty and what is no trace: for listing */
  uint64_t max_memory, max_size; /* as in tk_load_options */
  struct tk_progress progress;
};

struct tk_sources {
  struct tk_input *inputs;
  size_t n;
  struct tk_sources_impl *impl;
};

/* What the names stand for, in their order: a file, "-", a folder at any depth above traces (a run directory of JAX, TensorFlow or
 * PyTorch, or any other), an archive (tar, zip, 7z), "archive:member", "@list", a pattern.  A name that cannot be read, or holds
 * nothing, is an input that fails when it is loaded.  NULL only on an interrupt or when memory has run out. */
TK_API struct tk_sources *tk_sources_open(const char *const *names, size_t n, const struct tk_source_options *opt, struct tk_err *err);
/* Reads and seals the i-th input.  What was decided on the way to it (which run, which view) is among its notes. */
TK_API struct tk_trace *tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err);
/* Reads all of them as one trace, which is called `source`: merged on one timeline as tk_merge does it, and joined in memory.  NULL on
 * error, which it is if one of them cannot be read. */
TK_API struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt,
                                            struct tk_err *err);
TK_API void tk_sources_close(struct tk_sources *s);

struct tk_save_options {
  const char *format;   /* as tk_format_of takes it: "json", "json.gz"; NULL = by the extension of the path, else what was read */
  const char *command;  /* for the provenance block; NULL = none is written */
  const char *provenance;  /* further members of that block as JSON, such as "\"shrink\":{}"; NULL = none */
  int level;            /* compression: 0 = default, 1 fastest .. 9 smallest */
  struct tk_progress progress;
  unsigned threads;     /* as in tk_load_options; the bytes do not depend on it */
  bool pretty;          /* JSON: one event per line, indented */
  bool force;           /* replace an existing file */
  bool same;            /* an existing file that holds what would be written stays, which is no error */
  bool dry_run;         /* compute what would be written and lost; write nothing */
  bool no_loss;         /* a loss is TK_ELOSS, and nothing is written */
  bool overlaps;        /* rows beside it for spans that overlap on any thread, also for those of traces that had none */
  bool no_passthrough;  /* leave out what the graph does not model and only the format of the input understands: it is no loss */
};

/* Kinds of what a trace has and the format that it is written in cannot hold. */
enum tk_loss {
  TK_LOSS_SPANS,
  TK_LOSS_INSTANTS,
  TK_LOSS_COUNTERS,    /* counter samples */
  TK_LOSS_CATEGORIES,  /* of events */
  TK_LOSS_ASYNC,       /* ids of async spans: they are written as spans of a track */
  TK_LOSS_FLOW_POINTS,
  TK_LOSS_DANGLING,    /* flow points that have no other end, of which the format's viewers show nothing */
  TK_LOSS_ARGS,        /* events that lost args */
  TK_LOSS_RECORDS,     /* records without a time or a meaning here */
  TK_LOSS_METADATA,    /* top-level keys */
  TK_LOSS_MACHINES,    /* which machine a process is of */
  TK_LOSS_PASSTHROUGH, /* blocks that only the input's own format understands */
  TK_LOSSES
};

/* "flow points": what is lost, in the plural. */
TK_API const char *tk_loss_name(enum tk_loss kind);

struct tk_saved {
  const struct tk_format_info *format; /* that it was written in */
  uint64_t records; /* source records written, metadata included */
  uint64_t events;  /* spans + instants + counter samples */
  uint64_t derived; /* events that tk_derive made, which are in none of the others */
  uint64_t flow_points;
  uint64_t lost[TK_LOSSES]; /* counted while writing; in none of the above */
  uint64_t rounded; /* times that were read with more digits than they are written with, though the format has not changed */
  uint64_t bytes;   /* of the file, compressed */
  uint64_t raw_bytes;
  bool was_there;   /* the file was, and stayed: see tk_save_options.same */
};

/* Writes a sealed trace to `path` ("-" = stdout): to a temporary name, renamed on success.  ".gz" and ".zst" compress. */
TK_API bool tk_save(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, struct tk_saved *done,
                    struct tk_err *err);

/* To what is no file, whose `name` tells format and compression ("x.json.gz"): a descriptor that stays open, a function, or memory,
 * whose bytes free() takes. */
TK_API bool tk_save_fd(const struct tk_trace *t, const char *name, int fd, const struct tk_save_options *opt, struct tk_saved *done,
                       struct tk_err *err);
TK_API bool tk_save_stream(const struct tk_trace *t, const char *name, struct tk_writer to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);
TK_API bool tk_save_memory(const struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);

/* ---- formats ------------------------------------------------------------------------------------------------------ */

/* What a format can hold.  What it cannot is counted as lost when a trace is written in it. */
enum tk_holds {
  TK_HOLDS_INSTANTS = 1,
  TK_HOLDS_COUNTERS = 2,
  TK_HOLDS_ASYNC = 4,
  TK_HOLDS_FLOWS = 8,
  TK_HOLDS_DANGLING = 16, /* flow points without another end */
  TK_HOLDS_ARGS = 32,
  TK_HOLDS_RECORDS = 64,
  TK_HOLDS_METADATA = 128,
  TK_HOLDS_MACHINES = 256,
  TK_HOLDS_CATEGORIES = 512,
  TK_HOLDS_ALL = 1023
};

struct tk_format_info {
  const char *name;           /* "json" */
  const char *title;          /* "Chrome JSON" */
  const char *ending;         /* that new files get: ".json" */
  const char *const *endings; /* NULL-terminated: all that are of this format, each with its dot; compressions come behind them */
  const char *const *words;   /* NULL-terminated: what else people call it; NULL = nothing.  One that several have tells none */
  unsigned holds;             /* enum tk_holds; spans are what every format holds */
  tk_time resolution;         /* times are rounded to a multiple of so many ps */
  bool can_read, can_write;
  bool carries;               /* holds blocks that other formats ask to be carried, and that only they understand */
  bool is_carried;            /* asks for it */
  bool derives;               /* its viewers make by themselves what tk_derive makes, of which nothing is written in it */
};

/* The i-th row of the format table, whose first is what commands write that are not told; NULL past the end. */
TK_API const struct tk_format_info *tk_format(size_t i);

/* What the name of a file says: "run/rank0.json.gz" is "run/rank0" of format json, packed as ".gz". */
struct tk_path {
  const struct tk_format_info *format; /* of its ending; NULL = no format claims it */
  size_t stem, end;                    /* bytes before the ending of the format, and before that of the compression */
  const char *packing; /* ".gz", ".zst": what such a file is written with (".gz" for what is only read); "" = none */
  bool bare;           /* it says a compression and nothing of a format ("x.gz"), which is that of what was read */
};
TK_API struct tk_path tk_path_of(const char *path);
/* The same of a word: "perfetto", an ending with or without its dot ("pb", ".json.gz"), or what else people say ("chrome"). */
TK_API struct tk_path tk_format_of(const char *word);

/* ---- operations: convert, merge, rebase, filter, split, shrink, size, list, extract ----------------------------- */

#include "tracekit_ops.h"
#include "tracekit_report.h"

/* ---- tables for data frames --------------------------------------------------------------------------------------- */

#include "tracekit_arrow.h"

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

/* ---- numbers, as the command line writes them --------------------------------------------------------------------- */

/* "64K", "2MiB", "1G" (powers of 1024; "2MB" is 10^6), in any case.  "1.5ms", "20us", "3s", "2h" to ps.  False if malformed or out of
 * range. */
TK_API bool tk_parse_size(const char *text, uint64_t *bytes);
TK_API bool tk_parse_duration(const char *text, tk_time *ps);
/* Does it look like one?  One that cannot be parsed all the same is out of range: beyond 106 days. */
TK_API bool tk_is_duration(const char *text);
/* Absolute time of a graph time, "2026-11-20T10:21:49.123456789Z", into at least 40 bytes. */
TK_API void tk_print_absolute(int64_t origin_ns, tk_time ts, char *text);
/* "12.3 ms" into at least 32 bytes; "1.9 GB". */
TK_API void tk_print_duration(tk_time ps, char *text);
TK_API void tk_print_size(uint64_t bytes, char *text);

/* The word of a NULL-terminated list that a mistyped one most likely meant, or NULL if none is near. */
TK_API const char *tk_nearest(const char *word, const char *const *valid);

/* "tracekit 0.1.0", and the libraries it was built with, one per line. */
TK_API const char *tk_build_info(void);

#ifdef __cplusplus
}
#endif
#endif

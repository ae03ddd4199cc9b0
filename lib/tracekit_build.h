/* tracekit_build.h - creating a trace. Part of tracekit.h, which includes it.
 *
 *     tk_new -> strings, tracks, classes, args, events, flow points in the order of the source -> tk_seal
 *
 * These functions allow writing a reader for a format that tracekit does not know. Items are added in the order of the input,
 * which orders events with equal times. Begin and end events are added as they occur; tk_seal turns them into spans, determines
 * nesting and binds flow points. Sealing changes the ids of events and flow points.
 *
 * An adder returns 0 (false) for invalid arguments: an unknown id, an event on a track of the wrong kind, a sealed trace.
 * tk_seal fails with the first such mistake, or if memory ran out, so that a single check at the end is sufficient. A trace
 * that is not sealed may only be passed to adders, tk_seal and tk_free. */
#ifndef TRACEKIT_BUILD_H
#define TRACEKIT_BUILD_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

struct tk_new_options {
  size_t size;
  const char *source;  /* name for messages and outputs; NULL = "" */
  const char *host;    /* recording host; NULL = unknown */
  const char *run;     /* name of the run; NULL = unknown */
  int64_t origin_ns;   /* absolute time of ts 0, if a clock defines it */
  uint64_t max_memory; /* bytes of the graph; 0 = as in tk_load_options */
  uint32_t clock;      /* enum tk_clock: clock of origin_ns; REALTIME is the time since 1970 */
};
#define TK_NEW_OPTIONS_INIT TK_OPTIONS_INIT(tk_new_options)

/* Returns an empty trace, to be freed with tk_free; NULL = out of memory, or invalid options. */
TK_API struct tk_trace *tk_new(const struct tk_new_options *opt, struct tk_err *err);

/* Returns the id of a string; equal bytes have the same id. tk_add_string and tk_add_text replace
 * invalid UTF-8 with U+FFFD; tk_add_bytes keeps all bytes, for args of type TK_ARG_BYTES. */
TK_API tk_id tk_add_string(struct tk_trace *t, const char *text, size_t n);
TK_API tk_id tk_add_text(struct tk_trace *t, const char *text);
TK_API tk_id tk_add_bytes(struct tk_trace *t, const void *bytes, size_t n);

/* Returns a class, the common properties of events with one name and category, each of which may be 0. `args` are shared by all
 * its events; without args, equal name and category give the same class. */
TK_API tk_id tk_add_class(struct tk_trace *t, tk_id name, tk_id cat, uint32_t args);

/* Returns the process with this pid; equal pids give the same process. */
TK_API tk_id tk_add_process(struct tk_trace *t, struct tk_ident pid);
/* Returns the track of the process with this kind and tid, or, for a counter, this name; adds the track if there is none.
 * TK_TRACK_THREAD: for nested spans and instants. TK_TRACK_COUNTERS: for samples of the counter `name`; must have no tid.
 * TK_TRACK_ASYNCS: for async events of the thread `tid`, or of the process if there is no tid. */
TK_API tk_id tk_add_track(struct tk_trace *t, enum tk_track_kind kind, tk_id process, struct tk_ident tid, tk_id name);
/* Sets the name of a process or thread. */
TK_API bool tk_name_track(struct tk_trace *t, tk_id track, tk_id name);
/* Sets the labels shown next to the name of a process. */
TK_API bool tk_label_process(struct tk_trace *t, tk_id process, tk_id labels);
/* Sets the position of a process among processes, or of a thread in its process. */
TK_API bool tk_sort_track(struct tk_trace *t, tk_id track, int64_t index);

static inline struct tk_ident tk_ident_int(int64_t num) {
  struct tk_ident ident = { num, 0, TK_IDENT_INT };
  return ident;
}
static inline struct tk_ident tk_ident_str(tk_id str) {
  struct tk_ident ident = { 0, str, TK_IDENT_STR };
  return ident;
}
static inline struct tk_ident tk_ident_none(void) {
  struct tk_ident ident = { 0, 0, TK_IDENT_NONE };
  return ident;
}

/* Returns packed args for events, classes or flow points; an equal list may be packed once and used often. 0 for an empty list.
 * A repeated key has its last value. The string of TK_ARG_JSON is an array or object, that of TK_ARG_NUMBER a number.
 * Keys that begin with "json.", "xplane.", "perfetto.", "repaired." or "tracekit." are reserved. */
TK_API uint32_t tk_add_args(struct tk_trace *t, const struct tk_arg *args, size_t n);

static inline struct tk_arg tk_arg_of(tk_id key, enum tk_arg_type type) {
  struct tk_arg arg = { key, type, 0, { 0 } };
  return arg;
}
static inline struct tk_arg tk_arg_int(tk_id key, int64_t i) {
  struct tk_arg arg = tk_arg_of(key, TK_ARG_INT);
  arg.i = i;
  return arg;
}
static inline struct tk_arg tk_arg_double(tk_id key, double d) {
  struct tk_arg arg = tk_arg_of(key, TK_ARG_DOUBLE);
  arg.d = d;
  return arg;
}
static inline struct tk_arg tk_arg_bool(tk_id key, bool b) { return tk_arg_of(key, b ? TK_ARG_TRUE : TK_ARG_FALSE); }
static inline struct tk_arg tk_arg_string(tk_id key, tk_id s) {
  struct tk_arg arg = tk_arg_of(key, TK_ARG_STR);
  arg.s = s;
  return arg;
}

/* Adds an event: ts, dur (TK_EVENT_SPAN only), cls, track, args, kind, and the flags TK_FLAG_CLIPPED and TK_FLAG_REPAIRED; other
 * members are ignored. Times must be within 53 days of the origin. Threads accept TK_EVENT_SPAN, TK_EVENT_INSTANT, TK_EVENT_BEGIN and
 * TK_EVENT_END, whose class may be 0; processes accept TK_EVENT_INSTANT; counters accept TK_EVENT_COUNTER, whose args are the series
 * ("value" if there is only one). */
TK_API tk_id tk_add_event(struct tk_trace *t, const struct tk_event *event);
/* Adds an event to a TK_TRACK_ASYNCS track: TK_EVENT_BEGIN and TK_EVENT_END with the same process, category, scope (a string, or 0)
 * and id form a span. */
TK_API tk_id tk_add_async(struct tk_trace *t, const struct tk_event *event, tk_id scope, struct tk_ident id);

/* Returns the id of a frame. Equal frames have one id. */
TK_API tk_id tk_add_frame(struct tk_trace *t, const struct tk_frame *frame);
/* Returns the id of the stack that extends `parent` (0 = none) by a frame: stacks are built from the outermost frame to the innermost
 * one. Equal stacks have one id. */
TK_API tk_id tk_add_stack(struct tk_trace *t, tk_id parent, tk_id frame);

/* A stack sample: weight x 10^exp of a unit at a time on a thread. Weights in "ns", "us", "ms" and "s" are times. */
struct tk_sample {
  tk_time ts;
  tk_id track; /* a thread */
  tk_id stack; /* 0 = no frame is known */
  tk_id cat;   /* string: what is sampled, such as "cycles"; 0 = unknown */
  tk_id unit;  /* string: unit of the weight; must not be 0 */
  int32_t exp;
  int64_t weight;
};
/* Adds a stack sample, and returns the id of its event; 0 for invalid arguments. */
TK_API tk_id tk_add_sample(struct tk_trace *t, const struct tk_sample *sample);

/* Adds a point of a flow: START, STEP and END at ts on the thread `at`; OUT, IN and INOUT bound to the event `at`, with its
 * time. `id`, `id_kind`, `cls` (class 0: neither name nor category), `args` and `enclosing` as in a loaded trace. */
TK_API tk_id tk_add_flow_point(struct tk_trace *t, const struct tk_flow_point *point);

/* Adds data without a time or a meaning in the graph: the text of a JSON object with the members of a Chrome event, except pid
 * and tid, which come from the track (0 = none), and ts. */
TK_API tk_id tk_add_record(struct tk_trace *t, tk_id track, const char *json, size_t n);
/* Adds top-level data: a JSON value by its key. */
TK_API tk_id tk_add_meta(struct tk_trace *t, const char *key, const char *json, size_t n);
/* Adds a note of a reader: an assumption (TK_NOTE_INFO), a repair (TK_NOTE_REPAIR) or an observation (TK_NOTE_FACT). Equal
 * notes are counted. `offset` is the position in the input, or UINT64_MAX. */
TK_API bool tk_add_note(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text);

/* Completes the trace, which then behaves like a loaded one. Returns false after a mistake, when memory has run out (the trace
 * may then only be freed), or if it is sealed already (it stays valid). */
TK_API bool tk_seal(struct tk_trace *t, struct tk_err *err);

#endif

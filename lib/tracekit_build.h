/* tracekit_build.h - making a trace: a part of tracekit.h, which includes it.
 *
 *     tk_new -> strings, tracks, classes, args, events, flow points in the order of the source -> tk_seal
 *
 * So whoever knows a format that tracekit does not can write its reader.  The order in which things are added is that of the input:
 * it decides among events of one time.  Begin and end events are added as they come; tk_seal makes spans of them, finds what lies
 * within what, binds flow points, and from then on ids of events and flow points are others than those that the adders gave.
 *
 * An adder returns 0 (false) when it is given what makes no sense: an id that does not exist, an event on a track of a kind that
 * cannot hold it, a trace that is sealed.  The first such mistake, or that memory has run out, is what tk_seal fails with, so that one
 * check at the end will do.  A trace that is not sealed takes adders, tk_seal and tk_free; everything else refuses it. */
#ifndef TRACEKIT_BUILD_H
#define TRACEKIT_BUILD_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

struct tk_new_options {
  size_t size;
  const char *source;  /* what messages and outputs call it; NULL = "" */
  const char *host;    /* where it was recorded; NULL = not known */
  const char *run;     /* of which run it is; NULL = not known */
  int64_t origin_ns;   /* absolute time of ts 0, if there is a clock that tells it */
  uint64_t max_memory; /* bytes of the graph; 0 = as of tk_load_options */
  uint32_t clock;      /* enum tk_clock: of origin_ns; REALTIME counts from 1970 */
};
#define TK_NEW_OPTIONS_INIT TK_OPTIONS_INIT(tk_new_options)

/* An empty trace, which tk_free takes; NULL = no memory, or options that make no sense. */
TK_API struct tk_trace *tk_new(const struct tk_new_options *opt, struct tk_err *err);

/* A string, the same id for the same bytes: text, of which what is not UTF-8 becomes U+FFFD, or bytes for args of type TK_ARG_BYTES. */
TK_API tk_id tk_add_string(struct tk_trace *t, const char *text, size_t n);
TK_API tk_id tk_add_text(struct tk_trace *t, const char *text);
TK_API tk_id tk_add_bytes(struct tk_trace *t, const void *bytes, size_t n);

/* A class: what events of one name and category are of.  Name and category may be 0.  `args` are shared by all its events; without
 * any, the same name and category are the same class. */
TK_API tk_id tk_add_class(struct tk_trace *t, tk_id name, tk_id cat, uint32_t args);

/* A process, the same for the same pid. */
TK_API tk_id tk_add_process(struct tk_trace *t, struct tk_ident pid);
/* TK_THREAD: spans, that nest, and instants; the same for the same tid.  TK_COUNTERS: samples of the counter `name`, without a tid.
 * TK_ASYNCS: async events of the thread, or of the process if it has no tid. */
TK_API tk_id tk_add_track(struct tk_trace *t, enum tk_track_kind kind, tk_id process, struct tk_ident tid, tk_id name);
/* What a process or a thread is called, and what stands beside the name of a process. */
TK_API bool tk_name_track(struct tk_trace *t, tk_id track, tk_id name);
TK_API bool tk_label_process(struct tk_trace *t, tk_id process, tk_id labels);
/* Processes, and threads of a process, are shown in the order of this number. */
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

/* Args of an event, a class or a flow point, packed; equal lists may be added once and used often.  0 of none.  Of a key given twice
 * the last counts.  The text of TK_ARG_JSON is an array or object, that of TK_ARG_NUMBER a number.  Keys that begin with "json.",
 * "xplane.", "perfetto.", "repaired." or "tracekit." are our own and are refused. */
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

/* An event: ts, dur (of TK_SPAN alone), cls, track, args, kind, and of the flags TK_CLIPPED and TK_REPAIRED; the rest is ignored.
 * Times are within 53 days of the origin.  Threads take TK_SPAN, TK_INSTANT, TK_BEGIN and TK_END, whose class may be 0; processes
 * TK_INSTANT; counters TK_COUNTER, whose args are the series ("value" if there is one). */
TK_API tk_id tk_add_event(struct tk_trace *t, const struct tk_event *event);
/* One on a TK_ASYNCS track: TK_BEGIN and TK_END of the same process, category, scope (a string, or 0) and id are a span, whatever
 * lies between them. */
TK_API tk_id tk_add_async(struct tk_trace *t, const struct tk_event *event, tk_id scope, struct tk_ident id);

/* A point of a flow: START, STEP and END at ts on the thread `at`; OUT, IN and INOUT bound to the event `at`, whose time is theirs.
 * `id`, `id_kind`, `cls` (class 0: neither name nor category), `args` and `enclosing` as in a trace that was read. */
TK_API tk_id tk_add_flow_point(struct tk_trace *t, const struct tk_flow_point *point);

/* What has no time or no meaning here: the text of a JSON object with the members of a Chrome event, less pid and tid, which are the
 * track's (0 = it is of none), and without ts. */
TK_API tk_id tk_add_record(struct tk_trace *t, tk_id track, const char *json, size_t n);
/* Top-level data: a JSON value by its key. */
TK_API tk_id tk_add_meta(struct tk_trace *t, const char *key, const char *json, size_t n);
/* What a reader assumed (TK_NOTE_INFO), mended (TK_NOTE_REPAIR) or saw (TK_NOTE_FACT); equal ones are counted.  `offset`: where in the
 * input, or UINT64_MAX. */
TK_API bool tk_add_note(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text);

/* From now on the trace is as if it had been read.  False, and the trace is for tk_free alone, after a mistake, when memory has run
 * out, or when it is sealed already (then it stays as it is). */
TK_API bool tk_seal(struct tk_trace *t, struct tk_err *err);

#endif

/* native.c - the extension module tracekit._native: libtracekit for Python. Uses the limited API, so that one binary works with Python
 * 3.9 and later.
 *
 * This module converts calls and types; the package around it defines the names and defaults that users see. The GIL is released while
 * the library works. A trace has a lock, because only one thread at a time may use it. Options come as a dict; a missing key or None
 * means the default. */
#include "fetch.h"
#include "frame.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static PyObject *error_class; /* tracekit.Error, called with code, message, errno, offset and option */

/* ---- errors, interrupts, progress ---- */

static const char *const codes[] = {"ok", "usage", "open", "read", "format", "corrupt", "limit", "write", "loss", "interrupted",
                                    "nothing"};

/* By enum tk_option: name of the option in Python. The package shows which option could avoid an error. */
static const char *const advised[] = {
    [TK_OPTION_NONE] = "", [TK_OPTION_FORCE] = "force", [TK_OPTION_FORMAT] = "format", [TK_OPTION_NO_LOSS] = "no_loss",
    [TK_OPTION_OUTPUT] = "output", [TK_OPTION_STRICT] = "strict", [TK_OPTION_MAX_MEMORY] = "max_memory",
    [TK_OPTION_MAX_SIZE] = "max_size", [TK_OPTION_KEEP_GOING] = "keep_going", [TK_OPTION_MERGE_FIRST] = "merge",
    [TK_OPTION_HARD] = "hard", [TK_OPTION_TIMEOUT] = "timeout", [TK_OPTION_RUN] = "run",
    [TK_OPTION_LATEST_GOOD] = "latest_good", [TK_OPTION_STEP_NAME] = "step_name"};

struct call {
  PyThreadState *outside; /* thread state, saved while the library runs without the GIL */
  PyObject *progress;     /* called with the amount done and the total; not called if it is NULL, None or True (the package handles True
                           * itself) */
  pthread_t thread;
  struct timespec last;
  int raised;
};

static void begin(struct call *c, PyObject *progress) {
  *c = (struct call){.progress = progress && progress != Py_None && progress != Py_True ? progress : NULL, .thread = pthread_self()};
  c->outside = PyEval_SaveThread();
}

static void end(struct call *c) { PyEval_RestoreThread(c->outside); }

/* Reports progress and checks for Ctrl-C, at most ten times a second. */
static bool tick(void *arg, uint64_t done, uint64_t total) {
  struct call *c = arg;
  struct timespec now;
  if (c->raised) return false;
  if (!pthread_equal(c->thread, pthread_self())) return true;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if ((now.tv_sec - c->last.tv_sec) * 10 + (now.tv_nsec - c->last.tv_nsec) / 100000000 < 1) return true;
  c->last = now;
  PyEval_RestoreThread(c->outside);
  c->raised = PyErr_CheckSignals() != 0;
  if (!c->raised && c->progress) {
    PyObject *got = PyObject_CallFunction(c->progress, "KK", (unsigned long long)done, (unsigned long long)total);
    c->raised = got == NULL;
    Py_XDECREF(got);
  }
  c->outside = PyEval_SaveThread();
  return !c->raised;
}

#define TICK(c) ((struct tk_progress){.tick = tick, .arg = (c)})

static PyObject *raise_error(const struct tk_err *err) {
  if (PyErr_Occurred()) return NULL;
  if (err->code == TK_EINTERRUPTED && PyErr_CheckSignals() != 0) return NULL;
  PyObject *offset = err->offset == UINT64_MAX ? (Py_INCREF(Py_None), Py_None) : PyLong_FromUnsignedLongLong(err->offset);
  PyObject *message = PyUnicode_DecodeUTF8(err->msg, (Py_ssize_t)strlen(err->msg), "surrogateescape");
  PyObject *e = PyObject_CallFunction(error_class, "sNiNs", codes[err->code], message, err->sys, offset, advised[err->option]);
  if (e) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
  Py_XDECREF(e);
  return NULL;
}

/* ---- options out of a dict ---- */

struct options {
  PyObject *dict; /* borrowed */
  PyObject *kept; /* owns the texts of the options */
  void *blocks[16];
  unsigned n_blocks;
  bool failed;
};

/* Returns an option; NULL if it is missing or None. Also NULL if an earlier option was invalid, because no Python code may run while
 * the exception for it is set. */
static PyObject *option(struct options *o, const char *key) {
  PyObject *v = o->dict && !o->failed ? PyDict_GetItemString(o->dict, key) : NULL;
  return v == Py_None ? NULL : v;
}

/* Returns the option as UTF-8 text, valid as long as the options. Python represents bytes of file names that are not valid UTF-8 as
 * surrogates; these are converted back to the bytes. */
static const char *utf8(struct options *o, PyObject *text) {
  PyObject *bytes = NULL;
  char *s = NULL;
  if (PyUnicode_Check(text)) bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
  else PyErr_Format(PyExc_TypeError, "expected a string, not %R", text);
  /* raises ValueError if the text contains a NUL, because the length argument is NULL */
  if (!bytes || PyBytes_AsStringAndSize(bytes, &s, NULL) != 0 || PyList_Append(o->kept, bytes) != 0) o->failed = true;
  Py_XDECREF(bytes);
  return o->failed ? NULL : s;
}

static const char *opt_text(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  if (v && !PyUnicode_Check(v)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a string, not %R", key, v);
    o->failed = true;
  }
  return v && !o->failed ? utf8(o, v) : NULL;
}

static bool opt_bool(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  const int is = v ? PyObject_IsTrue(v) : 0;
  if (is < 0) o->failed = true;
  return is > 0;
}

static uint64_t opt_uint(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  const unsigned long long n = v ? PyLong_AsUnsignedLongLong(v) : 0;
  if (v && PyErr_Occurred()) o->failed = true;
  return o->failed ? 0 : n;
}

static int64_t opt_int(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  const long long n = v ? PyLong_AsLongLong(v) : 0;
  if (v && PyErr_Occurred()) o->failed = true;
  return o->failed ? 0 : n;
}

static double opt_double(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  const double d = v ? PyFloat_AsDouble(v) : 0;
  if (v && PyErr_Occurred()) o->failed = true;
  return d;
}

static const char *const *texts(struct options *o, PyObject *list, size_t *n) {
  const Py_ssize_t size = PyList_Check(list) ? PyList_Size(list) : -1;
  const char **v = size >= 0 && o->n_blocks < 16 ? PyMem_Calloc((size_t)size + 1, sizeof *v) : NULL;
  if (!v) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "expected a list of strings");
    o->failed = true;
    return NULL;
  }
  o->blocks[o->n_blocks++] = v;
  for (Py_ssize_t i = 0; i < size && !o->failed; i++) v[i] = utf8(o, PyList_GetItem(list, i));
  if (n) *n = (size_t)size;
  return v;
}

static const char *const *opt_texts(struct options *o, const char *key) {
  PyObject *v = option(o, key);
  return v ? texts(o, v, NULL) : NULL;
}

/* Allocates a block that is freed with the options; returns NULL and sets `failed` if memory runs out. */
static void *opt_block(struct options *o, size_t n, size_t size) {
  void *p = o->n_blocks < 16 ? PyMem_Calloc(n + 1, size) : NULL;
  if (p) return o->blocks[o->n_blocks++] = p;
  if (!PyErr_Occurred()) PyErr_NoMemory();
  o->failed = true;
  return NULL;
}

static const int64_t *opt_number(struct options *o, const char *key) {
  int64_t *n = option(o, key) ? opt_block(o, 1, sizeof *n) : NULL;
  if (n) *n = opt_int(o, key);
  return n;
}

/* Parses an option that is a list of ranges such as "3..5". The result is freed with the options. */
static const struct tk_range *opt_ranges(struct options *o, const char *key, size_t *n) {
  PyObject *v = option(o, key);
  const char *const *words = v ? texts(o, v, n) : NULL;
  struct tk_range *ranges = words && !o->failed ? opt_block(o, *n, sizeof *ranges) : NULL;
  for (size_t i = 0; ranges && i < *n && !o->failed; i++) {
    if (tk_parse_range(words[i], &ranges[i])) continue;
    PyErr_Format(PyExc_ValueError, "%s: '%s' is not N, N..M, N.. or ..M", key, words[i]);
    o->failed = true;
  }
  return ranges;
}

/* Parses an option that is a list of offsets such as "3=+1.5ms". The result is freed with the options. */
static const struct tk_offset *opt_offsets(struct options *o, const char *key, size_t *n) {
  PyObject *v = option(o, key);
  const char *const *words = v ? texts(o, v, n) : NULL;
  struct tk_offset *offsets = words && !o->failed ? opt_block(o, *n, sizeof *offsets) : NULL;
  for (size_t i = 0; offsets && i < *n && !o->failed; i++) {
    size_t who;
    if (!tk_parse_offset(words[i], &who, &offsets[i].ns)) {
      PyErr_Format(PyExc_ValueError, "%s: '%s' is not an offset such as 3=+1.5ms or host42=-20us", key, words[i]);
      o->failed = true;
      break;
    }
    PyObject *name = PyUnicode_FromStringAndSize(words[i], (Py_ssize_t)who);
    offsets[i].who = name ? utf8(o, name) : NULL;
    o->failed |= !name;
    Py_XDECREF(name);
  }
  return offsets;
}

static bool options_init(struct options *o, PyObject *dict) {
  *o = (struct options){.dict = dict, .kept = PyList_New(0)};
  return o->kept != NULL;
}

static void options_free(struct options *o) {
  for (unsigned i = 0; i < o->n_blocks; i++) PyMem_Free(o->blocks[i]);
  Py_XDECREF(o->kept);
}

static struct tk_load_options load_options(struct options *o, struct call *c) {
  return (struct tk_load_options){.format = opt_text(o, "format"), .max_memory = opt_uint(o, "max_memory"),
                                  .max_size = opt_uint(o, "max_size"), .threads = (unsigned)opt_uint(o, "threads"),
                                  .strict = opt_bool(o, "strict"), .step_name = opt_text(o, "step_name"),
                                  .with = opt_bool(o, "sched") ? TK_WITH_SCHED | TK_WITH_NSYS_SCHED : 0, .progress = TICK(c)};
}

static struct tk_source_options source_options(struct options *o, struct call *c) {
  return (struct tk_source_options){.run = opt_text(o, "run"), .host = opt_text(o, "host"), .rank = opt_number(o, "rank"),
                                    .step = opt_text(o, "step_dir"), .all_runs = opt_bool(o, "all_runs"),
                                    .latest_good = opt_bool(o, "latest_good"), .join = opt_bool(o, "join"),
                                    .max_memory = opt_uint(o, "max_memory"), .max_size = opt_uint(o, "max_size"), .progress = TICK(c),
                                    .fetch = fetch_functions()};
}

static const char *const GPU_EVENTS[] = {"perfetto.gpu_events=true", NULL};

static struct tk_save_options save_options(struct options *o, struct call *c) {
  return (struct tk_save_options){.format = opt_text(o, "output_format"), .command = "python", .level = (int)opt_int(o, "level"),
                                  .threads = (unsigned)opt_uint(o, "threads"), .pretty = opt_bool(o, "pretty"),
                                  .force = opt_bool(o, "force"), .no_loss = opt_bool(o, "no_loss"), .dry_run = opt_bool(o, "dry_run"),
                                  .no_passthrough = opt_bool(o, "no_passthrough"), .overlaps = opt_bool(o, "overlaps"),
                                  .settings = opt_bool(o, "gpu_events") ? GPU_EVENTS : NULL, .progress = TICK(c)};
}

static struct tk_selection selection(struct options *o, struct call *c) {
  return (struct tk_selection){.where = opt_texts(o, "where"), .time = opt_text(o, "time"), .steps = opt_text(o, "steps"),
                               .progress = TICK(c)};
}

static struct tk_redact_options redact_options(struct options *o) {
  return (struct tk_redact_options){.names = (enum tk_redact_names)opt_uint(o, "names"), .map = opt_text(o, "map"),
                                    .keep_args = opt_texts(o, "keep_args"), .keep_numbers = opt_bool(o, "keep_numbers"),
                                    .key = opt_text(o, "key")};
}

/* ---- values for Python ---- */

static void put(PyObject *dict, const char *key, PyObject *value) {
  if (value && !PyErr_Occurred()) PyDict_SetItemString(dict, key, value);
  Py_XDECREF(value);
}

static PyObject *text_or_none(const char *s) {
  if (s && *s) return PyUnicode_DecodeUTF8(s, (Py_ssize_t)strlen(s), "replace");
  Py_INCREF(Py_None);
  return Py_None;
}

static PyObject *whole(int64_t v) { return PyLong_FromLongLong(v); }

/* Returns the result of a save as a dict: format, counts, sizes in bytes, and the losses by kind. */
static PyObject *saved_dict(const struct tk_saved *s) {
  PyObject *d = PyDict_New(), *lost = PyDict_New();
  if (!d || !lost) return NULL;
  put(d, "format", text_or_none(s->format ? s->format->name : NULL));
  put(d, "events", whole((int64_t)s->events));
  put(d, "flow_points", whole((int64_t)s->flow_points));
  put(d, "records", whole((int64_t)s->records));
  put(d, "bytes", whole((int64_t)s->bytes));
  put(d, "raw_bytes", whole((int64_t)s->raw_bytes));
  put(d, "rounded", whole((int64_t)s->rounded));
  for (int i = 0; i < TK_LOSSES; i++)
    if (s->lost[i]) put(lost, tk_loss_name((enum tk_loss)i), whole((int64_t)s->lost[i]));
  put(d, "lost", lost);
  return d;
}

static PyObject *notes_list(const struct tk_diagnostics *d) {
  static const char *const kinds[] = {"info", "repair", "fact"};
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && d && i < d->n; i++) {
    PyObject *note = PyDict_New();
    if (!note) break;
    put(note, "kind", text_or_none(kinds[d->list[i].kind]));
    if (d->list[i].source) put(note, "source", text_or_none(d->list[i].source));
    put(note, "text", text_or_none(d->list[i].text));
    put(note, "count", whole((int64_t)d->list[i].count));
    PyList_Append(list, note);
    Py_DECREF(note);
  }
  return list;
}

/* ---- the type Trace ---- */

struct trace {
  PyObject_HEAD
  struct tk_trace *t;
  PyThread_type_lock lock;
  _Atomic uintptr_t user; /* thread that holds the lock; 0: none */
};
static PyTypeObject *trace_type;

/* Takes the lock of a trace, without the GIL. Returns false if this thread already holds the lock; otherwise a progress callback that
 * uses the trace of its own call would wait forever. */
static bool trace_lock(struct trace *self) {
  const uintptr_t own = (uintptr_t)pthread_self();
  if (self->user == own) return false;
  PyThread_acquire_lock(self->lock, WAIT_LOCK);
  self->user = own;
  return true;
}

static void trace_unlock(struct trace *self) {
  self->user = 0;
  PyThread_release_lock(self->lock);
}

static const char CLOSED[] = "the trace is closed", IN_USE[] = "the trace is in use by the call that reports its progress";

static void *raise_in_use(struct call *c) {
  end(c);
  PyErr_SetString(PyExc_ValueError, IN_USE);
  return NULL;
}

/* Waits, without the GIL, until no other thread uses the trace. Returns NULL with an exception if the trace was closed. */
static struct tk_trace *enter(struct trace *self, struct call *c, PyObject *progress) {
  begin(c, progress);
  if (!trace_lock(self)) return raise_in_use(c);
  if (self->t) return self->t;
  trace_unlock(self);
  end(c);
  PyErr_SetString(PyExc_ValueError, CLOSED);
  return NULL;
}

static void leave(struct trace *self, struct call *c) {
  trace_unlock(self);
  end(c);
}

static PyObject *wrap(struct tk_trace *t) {
  struct trace *self = t ? PyObject_New(struct trace, trace_type) : NULL;
  if (self) {
    self->t = t;
    self->user = 0;
    self->lock = PyThread_allocate_lock();
    if (self->lock) return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  if (t) tk_free(t);
  return NULL;
}

static void trace_dealloc(PyObject *object) {
  struct trace *self = (struct trace *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->t) tk_free(self->t);
  if (self->lock) PyThread_free_lock(self->lock);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject *trace_close(PyObject *object, PyObject *nothing) {
  struct trace *self = (struct trace *)object;
  struct call c;
  (void)nothing;
  begin(&c, NULL);
  if (!trace_lock(self)) return raise_in_use(&c);
  if (self->t) tk_free(self->t);
  self->t = NULL;
  leave(self, &c);
  Py_RETURN_NONE;
}

static PyObject *trace_copy(PyObject *object, PyObject *nothing) {
  struct trace *self = (struct trace *)object;
  struct tk_err err = TK_ERR_INIT;
  struct call c;
  (void)nothing;
  struct tk_trace *t = enter(self, &c, NULL);
  if (!t) return NULL;
  struct tk_trace *copy = tk_copy(t, &err);
  leave(self, &c);
  return copy ? wrap(copy) : raise_error(&err);
}

static PyObject *trace_length(PyObject *object, PyObject *nothing) {
  struct trace *self = (struct trace *)object;
  struct call c;
  (void)nothing;
  struct tk_trace *t = enter(self, &c, NULL);
  if (!t) return NULL;
  const tk_id n = t->n_events;
  leave(self, &c);
  return PyLong_FromUnsignedLong(n);
}

/* True if the file was truncated or damaged. Unlike trace_info, this does not look at the events. */
static PyObject *trace_truncated(PyObject *object, PyObject *nothing) {
  struct trace *self = (struct trace *)object;
  struct call c;
  (void)nothing;
  struct tk_trace *t = enter(self, &c, NULL);
  if (!t) return NULL;
  const bool is = t->truncated;
  leave(self, &c);
  return PyBool_FromLong(is);
}

/* An operation on a trace: the trace, the call, the options and the error. */
struct work {
  struct trace *self;
  struct call call;
  struct options o;
  struct tk_err err;
  struct tk_trace *t;
};

static bool work_begin(struct work *w, PyObject *self, PyObject *dict) {
  *w = (struct work){.self = (struct trace *)self};
  return options_init(&w->o, dict);
}

/* Locks the trace and releases the GIL until work_leave. Returns false with an exception if an option was invalid or the trace
 * cannot be used. */
static bool work_enter(struct work *w) {
  if (w->o.failed) return false;
  w->t = enter(w->self, &w->call, option(&w->o, "progress"));
  return w->t != NULL;
}

static bool work_leave(struct work *w, bool ok) {
  leave(w->self, &w->call);
  if (!ok) raise_error(&w->err);
  return ok && !PyErr_Occurred();
}

static PyObject *work_end(struct work *w, PyObject *result) {
  options_free(&w->o);
  if (result && PyErr_Occurred()) Py_CLEAR(result);
  if (!result && !PyErr_Occurred()) PyErr_NoMemory();
  return result;
}

#define NONE (Py_INCREF(Py_None), Py_None)
#define ASKS(self, dict)                                     \
  struct work w;                                             \
  if (!work_begin(&w, self, dict)) return NULL

static PyObject *info_dict(const struct tk_trace *t, const struct tk_summary *s, const struct tk_diagnostics *notes) {
  static const char *const clocks[] = {"unknown", "realtime", "boottime", "monotonic"};
  PyObject *d = PyDict_New(), *kinds = PyDict_New();
  if (!d || !kinds) return NULL;
  put(d, "source", text_or_none(t->source));
  put(d, "format", text_or_none(t->format));
  put(d, "host", text_or_none(s->host));
  put(d, "run", text_or_none(t->run));
  put(d, "rank", s->rank < 0 ? NONE : whole(s->rank));
  put(d, "origin_ns", whole(t->origin_ns));
  put(d, "clock", text_or_none(clocks[t->clock]));
  put(d, "truncated", PyBool_FromLong(t->truncated));
  put(d, "events", whole(t->n_events));
  put(d, "spans", whole((int64_t)s->spans));
  put(d, "instants", whole((int64_t)s->instants));
  put(d, "counters", whole((int64_t)s->counters));
  put(d, "samples", whole((int64_t)s->samples));
  put(d, "flow_points", whole((int64_t)s->flow_points));
  put(d, "overlaps", whole((int64_t)s->overlaps));
  put(d, "unfinished", whole((int64_t)s->unfinished));
  put(d, "processes", whole(s->processes));
  put(d, "threads", whole(s->threads));
  put(d, "max_depth", whole(s->max_depth));
  put(d, "start_ps", whole(s->start));
  put(d, "end_ps", whole(s->end));
  put(d, "memory", whole((int64_t)s->memory));
  for (int i = 0; i < TK_KINDS && s->kinds[i].name; i++) put(kinds, s->kinds[i].name, whole((int64_t)s->kinds[i].events));
  put(d, "kinds", kinds);
  put(d, "notes", notes_list(notes));
  return d;
}

static PyObject *trace_info(PyObject *self, PyObject *nothing) {
  struct tk_summary s;
  (void)nothing;
  ASKS(self, NULL);
  if (!work_enter(&w)) return work_end(&w, NULL);
  const bool ok = tk_summarise(w.t, &s, &w.err);
  struct tk_diagnostics *notes = ok ? tk_trace_diagnostics(w.t) : NULL;
  PyEval_RestoreThread(w.call.outside);
  PyObject *d = notes ? info_dict(w.t, &s, notes) : NULL; /* while the trace is locked */
  w.call.outside = PyEval_SaveThread();
  tk_diagnostics_free(notes);
  if (!work_leave(&w, ok)) Py_CLEAR(d);
  return work_end(&w, d);
}

static PyObject *trace_save(PyObject *self, PyObject *args) {
  PyObject *path, *dict, *result = NULL;
  struct tk_saved saved = {0};
  struct tk_bytes content = {0};
  if (!PyArg_ParseTuple(args, "OO!", &path, &PyDict_Type, &dict)) return NULL;
  ASKS(self, dict);
  const struct tk_save_options opt = save_options(&w.o, &w.call);
  const char *name = path == Py_None ? opt_text(&w.o, "name") : utf8(&w.o, path);
  if (!work_enter(&w)) return work_end(&w, NULL);
  const bool ok = path == Py_None ? tk_save_memory(w.t, name, &content, &opt, &saved, &w.err)
                                  : tk_save(w.t, name, &opt, &saved, &w.err);
  if (!work_leave(&w, ok)) return work_end(&w, NULL);
  result = saved_dict(&saved);
  if (path == Py_None && result) put(result, "content", PyBytes_FromStringAndSize(content.p, (Py_ssize_t)content.n));
  free(content.p);
  return work_end(&w, result);
}

static PyObject *trace_filter(PyObject *self, PyObject *dict) {
  struct tk_filter_report r = {0};
  ASKS(self, dict);
  const struct tk_filter_options opt = {
      .where = opt_texts(&w.o, "where"), .time = opt_text(&w.o, "time"), .steps = opt_text(&w.o, "steps"),
      .keep_args = opt_texts(&w.o, "keep_args"), .drop_args = opt_texts(&w.o, "drop_args"), .keep_parents = opt_bool(&w.o, "parents"),
      .keep_children = opt_bool(&w.o, "children"), .keep_flows = opt_bool(&w.o, "flows"), .drop_flows = opt_bool(&w.o, "drop_flows"),
      .progress = TICK(&w.call)};
  if (!work_enter(&w) || !work_leave(&w, tk_filter(w.t, &opt, &r, &w.err))) return work_end(&w, NULL);
  return work_end(&w, Py_BuildValue("{s:K,s:K,s:K,s:K}", "events_before", r.events_before, "events", r.events, "clipped", r.clipped,
                                    "broken_flows", r.broken_flows));
}

static PyObject *trace_rebase(PyObject *self, PyObject *dict) {
  ASKS(self, dict);
  const struct tk_rebase_options opt = {
      .to_zero = opt_bool(&w.o, "to_zero"), .to = opt_text(&w.o, "to"), .at = opt_text(&w.o, "at"),
      .nth = (uint32_t)opt_uint(&w.o, "nth"), .absolute = opt_bool(&w.o, "absolute"), .scale = opt_text(&w.o, "scale"), .shift = opt_int(&w.o, "shift_ps")};
  if (!work_enter(&w) || !work_leave(&w, tk_rebase(w.t, &opt, &w.err))) return work_end(&w, NULL);
  return work_end(&w, NONE);
}

static PyObject *trace_derive(PyObject *self, PyObject *nothing) {
  struct tk_derived d = {0};
  (void)nothing;
  ASKS(self, NULL);
  if (!work_enter(&w) || !work_leave(&w, tk_derive(w.t, &d, &w.err))) return work_end(&w, NULL);
  return work_end(&w, Py_BuildValue("{s:K,s:K,s:K}", "steps", d.steps, "lines", d.lines, "events", d.events));
}

static PyObject *trace_fold_graphs(PyObject *self, PyObject *nothing) {
  struct tk_folded f = {0};
  (void)nothing;
  ASKS(self, NULL);
  if (!work_enter(&w) || !work_leave(&w, tk_fold_graphs(w.t, &f, &w.err))) return work_end(&w, NULL);
  return work_end(&w, Py_BuildValue("{s:K,s:K,s:K}", "events", f.events, "lanes", f.lanes, "annotations", f.annotations));
}

static PyObject *trace_scopes(PyObject *self, PyObject *dict) {
  uint64_t rows = 0;
  ASKS(self, dict);
  const char *key = opt_text(&w.o, "key");
  if (!work_enter(&w) || !work_leave(&w, tk_scopes(w.t, key, &rows, &w.err))) return work_end(&w, NULL);
  return work_end(&w, PyLong_FromUnsignedLongLong(rows));
}

static PyObject *trace_redact(PyObject *self, PyObject *dict) {
  struct tk_redact_report r = {0};
  ASKS(self, dict);
  const struct tk_redact_options opt = redact_options(&w.o);
  if (!work_enter(&w) || !work_leave(&w, tk_redact(w.t, &opt, &r, &w.err))) return work_end(&w, NULL);
  return work_end(&w, Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "names", r.names, "paths_and_hosts", r.paths_and_hosts, "args",
                                    r.args, "records", r.records, "labels", r.labels, "metadata", r.metas, "passthrough", r.blocks));
}

static PyObject *trace_shrink(PyObject *self, PyObject *args) {
  PyObject *path, *dict, *d;
  struct tk_shrink_report r = {0};
  if (!PyArg_ParseTuple(args, "UO!", &path, &PyDict_Type, &dict)) return NULL;
  ASKS(self, dict);
  const struct tk_shrink_options opt = {
      .save = save_options(&w.o, &w.call), .bytes = opt_uint(&w.o, "bytes"), .events = opt_uint(&w.o, "events"),
      .percent = opt_double(&w.o, "percent"), .lossless = opt_bool(&w.o, "lossless"), .hard = opt_bool(&w.o, "hard"),
      .keep = opt_text(&w.o, "keep"), .drop = opt_text(&w.o, "drop"), .ladder = opt_text(&w.o, "ladder")};
  const char *output = utf8(&w.o, path);
  if (!work_enter(&w) || !work_leave(&w, tk_shrink(w.t, output, &opt, &r, &w.err))) return work_end(&w, NULL);
  d = saved_dict(&r.saved);
  if (!d) return work_end(&w, NULL);
  put(d, "before", whole((int64_t)r.before));
  put(d, "target", whole((int64_t)r.target));
  put(d, "events_before", whole((int64_t)r.events_before));
  return work_end(&w, d);
}

static PyObject *trace_split(PyObject *self, PyObject *args) {
  PyObject *pattern, *dict, *list;
  struct tk_split_report *r = NULL;
  if (!PyArg_ParseTuple(args, "UO!", &pattern, &PyDict_Type, &dict)) return NULL;
  ASKS(self, dict);
  const struct tk_split_options opt = {.save = save_options(&w.o, &w.call), .by = (enum tk_split_by)opt_uint(&w.o, "by"),
                                       .every = opt_int(&w.o, "every_ps"), .bytes = opt_uint(&w.o, "bytes")};
  const char *name = utf8(&w.o, pattern);
  if (!work_enter(&w)) return work_end(&w, NULL);
  list = work_leave(&w, tk_split(w.t, name, &opt, &r, &w.err)) ? PyList_New(0) : NULL;
  for (size_t i = 0; list && i < r->n_parts; i++) {
    PyObject *part = saved_dict(&r->parts[i].saved);
    if (!part) break;
    put(part, "output", text_or_none(r->parts[i].output));
    PyList_Append(list, part);
    Py_DECREF(part);
  }
  tk_split_report_free(r);
  return work_end(&w, list);
}

/* ---- rows ---- */

/* Converts a time to nanoseconds: an int if it is whole, otherwise a float. */
static PyObject *nanoseconds(struct tk_total t) {
  const int64_t ns = t.ps / 1000;
  if (t.ps % 1000 == 0) return whole(t.s * 1000000000 + ns);
  return PyFloat_FromDouble((double)t.s * 1e9 + (double)t.ps / 1e3);
}

static PyObject *text_list(const char *const *v, size_t n) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list && i < n; i++) {
    PyObject *s = text_or_none(v[i]);
    if (s) PyList_Append(list, s);
    Py_XDECREF(s);
  }
  return list;
}

static PyObject *row_dict(enum tk_row kind, const void *row, const void *owner);

static PyObject *row_list(enum tk_row kind, const struct tk_value *v, const void *owner) {
  PyObject *list = PyList_New(0);
  size_t n, stride;
  tk_fields(kind, &n, &stride);
  for (size_t i = 0; list && i < v->n; i++) {
    PyObject *d = row_dict(kind, (const char *)v->rows + i * stride, owner);
    if (!d) break;
    PyList_Append(list, d);
    Py_DECREF(d);
  }
  return list;
}

static PyObject *field_object(const struct tk_field *f, const struct tk_value *v, const void *row) {
  switch (f->type) {
  case TK_TYPE_BOOL: return PyBool_FromLong(v->truth);
  case TK_TYPE_INT: return whole(v->integer);
  case TK_TYPE_COUNT: return PyLong_FromUnsignedLongLong(v->count);
  case TK_TYPE_NUMBER: return PyFloat_FromDouble(v->number);
  case TK_TYPE_TIME: return nanoseconds(v->time);
  case TK_TYPE_TEXT: return PyUnicode_DecodeUTF8(v->text, (Py_ssize_t)v->n, "replace");
  case TK_TYPE_TEXTS: return text_list(v->texts, v->n);
  case TK_TYPE_ROW: return row_dict(f->of, v->rows, row);
  default: return row_list(f->of, v, row);
  }
}

/* Converts a row to a dict, as tk_fields describes its fields. The keys are the same as in the JSON of the command. */
static PyObject *row_dict(enum tk_row kind, const void *row, const void *owner) {
  size_t n;
  const struct tk_field *f = tk_fields(kind, &n, NULL);
  struct tk_value v;
  PyObject *d = PyDict_New();
  for (const struct tk_field *end = f + n; d && f < end; f++) {
    if (tk_field_value(f, row, owner, &v)) put(d, f->name, field_object(f, &v, row));
    else if (f->unknown == TK_UNKNOWN_NULL) put(d, f->name, NONE);
  }
  return d;
}

/* Adds the statistics of the args in `cols` to the dict of a row, as member "cols". */
static void put_cols(PyObject *d, const struct tk_top_row *r, size_t n_cols, const char *const *cols) {
  PyObject *all = PyDict_New();
  for (size_t i = 0; all && i < n_cols; i++) {
    const struct tk_top_col *c = &r->cols[i];
    PyObject *v = c->count ? Py_BuildValue("{s:K,s:d,s:d,s:d}", "count", c->count, "mean", c->mean, "min", c->min, "max", c->max)
                           : Py_BuildValue("{s:K}", "count", 0ull);
    put(all, cols[i], v);
  }
  put(d, "cols", all);
}

static PyObject *trace_top(PyObject *self, PyObject *dict) {
  struct tk_top_report *r = NULL;
  PyObject *list = NULL;
  ASKS(self, dict);
  const struct tk_top_options opt = {.select = selection(&w.o, &w.call), .by = (enum tk_top_by)opt_uint(&w.o, "by"),
                                     .sort = (enum tk_top_sort)opt_uint(&w.o, "sort"), .arg = opt_text(&w.o, "arg"),
                                     .cols = opt_texts(&w.o, "cols"), .min_count = opt_uint(&w.o, "min_count"),
                                     .fold = opt_bool(&w.o, "fold")};
  if (!work_enter(&w)) return work_end(&w, NULL);
  if (work_leave(&w, tk_top(w.t, &opt, &r, &w.err))) list = PyList_New(0);
  for (size_t i = 0; list && i < r->n_rows; i++) {
    PyObject *row = row_dict(TK_ROW_TOP, &r->rows[i], NULL);
    if (!row) break;
    if (r->n_cols) put_cols(row, &r->rows[i], r->n_cols, opt.cols);
    PyList_Append(list, row);
    Py_DECREF(row);
  }
  tk_top_report_free(r);
  return work_end(&w, list);
}

static PyObject *trace_tree(PyObject *self, PyObject *dict) {
  struct tk_tree_report *r = NULL;
  PyObject *list = NULL;
  ASKS(self, dict);
  const struct tk_tree_options opt = {.select = selection(&w.o, &w.call), .has_by = option(&w.o, "by") != NULL,
                                      .by = (enum tk_top_by)opt_uint(&w.o, "by"), .arg = opt_text(&w.o, "arg"),
                                      .per = opt_text(&w.o, "per"), .path = opt_text(&w.o, "path"), .fold = opt_bool(&w.o, "fold"),
                                      .by_start = opt_bool(&w.o, "by_start"), .layers = opt_bool(&w.o, "layers"),
                                      .levels = (uint32_t)opt_uint(&w.o, "levels")};
  if (!work_enter(&w)) return work_end(&w, NULL);
  if (work_leave(&w, tk_tree(w.t, &opt, &r, &w.err))) list = PyList_New(0);
  for (size_t i = 0; list && i < r->n_nodes; i++) {
    PyObject *d = row_dict(TK_ROW_TREE, &r->nodes[i], r);
    if (!d) break;
    PyList_Append(list, d);
    Py_DECREF(d);
  }
  tk_tree_report_free(r);
  return work_end(&w, list);
}

/* Result of a query: a list of (column names, rows), one entry per statement that returns columns. The callback takes the GIL for each
 * row, so for millions of rows, tables are faster. */
struct answers {
  struct call *call;
  PyObject *list, *rows; /* rows of the current statement; borrowed */
  bool failed;
};

static PyObject *sql_value(const struct tk_sql_value *v) {
  switch (v->type) {
  case TK_SQL_INTEGER: return PyLong_FromLongLong(v->i);
  case TK_SQL_REAL: return PyFloat_FromDouble(v->d);
  case TK_SQL_TEXT: return PyUnicode_DecodeUTF8(v->text, (Py_ssize_t)v->n, "replace");
  case TK_SQL_BLOB: return PyBytes_FromStringAndSize(v->text, (Py_ssize_t)v->n);
  default: Py_INCREF(Py_None); return Py_None;
  }
}

static bool sql_begin(void *arg, const char *const *columns, size_t n) {
  struct answers *a = arg;
  PyEval_RestoreThread(a->call->outside);
  PyObject *names = PyTuple_New((Py_ssize_t)n), *rows = PyList_New(0), *answer = NULL;
  for (size_t i = 0; names && i < n; i++) PyTuple_SetItem(names, (Py_ssize_t)i, text_or_none(columns[i]));
  if (names && rows) answer = PyTuple_Pack(2, names, rows);
  a->rows = rows;
  a->failed = !answer || PyList_Append(a->list, answer) != 0;
  Py_XDECREF(answer);
  Py_XDECREF(names);
  Py_XDECREF(rows);
  a->call->outside = PyEval_SaveThread();
  return !a->failed;
}

static bool sql_row(void *arg, const struct tk_sql_value *values, size_t n) {
  struct answers *a = arg;
  PyEval_RestoreThread(a->call->outside);
  PyObject *row = PyTuple_New((Py_ssize_t)n);
  for (size_t i = 0; row && i < n; i++) PyTuple_SetItem(row, (Py_ssize_t)i, sql_value(&values[i]));
  a->failed = !row || PyErr_Occurred() || PyList_Append(a->rows, row) != 0;
  Py_XDECREF(row);
  a->call->outside = PyEval_SaveThread();
  return !a->failed;
}

/* Converts a Python value to a parameter of a statement. The bytes of texts live as long as the options. */
static void sql_param(struct options *o, PyObject *from, struct tk_sql_value *to) {
  char *bytes = NULL;
  Py_ssize_t n = 0;
  if (from == Py_None) {
    to->type = TK_SQL_NULL;
  } else if (PyLong_Check(from)) {
    to->type = TK_SQL_INTEGER;
    to->i = PyLong_AsLongLong(from);
  } else if (PyFloat_Check(from)) {
    to->type = TK_SQL_REAL;
    to->d = PyFloat_AsDouble(from);
  } else if (PyUnicode_Check(from)) {
    to->type = TK_SQL_TEXT;
    to->text = utf8(o, from);
    to->n = to->text ? strlen(to->text) : 0;
  } else if (PyBytes_Check(from) && PyBytes_AsStringAndSize(from, &bytes, &n) == 0) {
    *to = (struct tk_sql_value){.type = TK_SQL_BLOB, .text = bytes, .n = (size_t)n};
  } else if (!PyErr_Occurred()) {
    PyErr_Format(PyExc_TypeError, "params: expected None, bool, int, float, str or bytes, not %R", from);
  }
  o->failed |= PyErr_Occurred() != NULL;
}

/* Reads the option "params", a list of (name or None, value). The result is freed with the options. */
static const struct tk_sql_param *sql_params(struct options *o, size_t *n) {
  PyObject *list = option(o, "params");
  const Py_ssize_t size = list ? PyList_Size(list) : 0;
  struct tk_sql_param *v = size > 0 ? opt_block(o, (size_t)size, sizeof *v) : NULL;
  *n = v ? (size_t)size : 0;
  for (Py_ssize_t i = 0; v && i < size && !o->failed; i++) {
    PyObject *pair = PyList_GetItem(list, i), *name = PyTuple_GetItem(pair, 0);
    if (name != Py_None) v[i].name = utf8(o, name);
    sql_param(o, PyTuple_GetItem(pair, 1), &v[i].value);
  }
  return v;
}

static PyObject *trace_sql(PyObject *self, PyObject *args) {
  PyObject *query, *dict;
  if (!PyArg_ParseTuple(args, "UO!", &query, &PyDict_Type, &dict)) return NULL;
  ASKS(self, dict);
  struct tk_sql_options opt = {.timeout_ms = opt_uint(&w.o, "timeout_ms"), .max_rows = opt_uint(&w.o, "max_rows"),
                               .max_memory = opt_uint(&w.o, "max_memory"), .progress = TICK(&w.call)};
  opt.params = sql_params(&w.o, &opt.n_params);
  const char *text = utf8(&w.o, query);
  struct answers a = {.call = &w.call, .list = PyList_New(0)};
  if (!a.list || !work_enter(&w)) {
    Py_XDECREF(a.list);
    return work_end(&w, NULL);
  }
  struct tk_sql *s = tk_sql_open(w.t, &opt, &w.err);
  const bool ok = s && tk_sql_run(s, text, &(struct tk_sql_answer){sql_begin, sql_row, NULL, &a}, &w.err);
  tk_sql_close(s);
  if (!work_leave(&w, ok || a.failed)) Py_CLEAR(a.list);
  return work_end(&w, a.list);
}

static PyObject *trace_table(PyObject *self, PyObject *args) {
  PyObject *dict;
  int table;
  if (!PyArg_ParseTuple(args, "iO!", &table, &PyDict_Type, &dict)) return NULL;
  ASKS(self, dict);
  const struct tk_arrow_options opt = {.columns = opt_texts(&w.o, "columns"), .ps = opt_bool(&w.o, "ps"),
                                       .typed = opt_bool(&w.o, "typed")};
  struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
  if (!stream || !work_enter(&w)) {
    free(stream);
    return work_end(&w, NULL);
  }
  if (!work_leave(&w, tk_arrow(w.t, (enum tk_table)table, &opt, stream, &w.err))) {
    free(stream);
    return work_end(&w, NULL);
  }
  return work_end(&w, frame_capsule(stream));
}

/* ---- functions of the module ---- */

static PyObject *load(PyObject *module, PyObject *args) {
  PyObject *names, *dict;
  struct call c;
  struct options o;
  struct tk_err err = {0};
  struct tk_trace *t = NULL;
  size_t n = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &names, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  const struct tk_load_options opt = load_options(&o, &c);
  const struct tk_source_options source = source_options(&o, &c);
  const char *const *v = texts(&o, names, &n);
  const bool failed = o.failed;
  if (!failed) {
    begin(&c, option(&o, "progress"));
    struct tk_sources *s = tk_sources_open(v, n, &source, &err);
    if (s && s->n == 1) t = tk_sources_load(s, 0, &opt, &err);
    else if (s) t = tk_sources_load_all(s, n ? v[0] : "no input", &opt, &err);
    tk_sources_close(s);
    end(&c);
  }
  if (!failed && !t) raise_error(&err);
  options_free(&o);
  return wrap(t);
}

static PyObject *load_bytes(PyObject *module, PyObject *args) {
  PyObject *dict;
  const char *bytes, *name;
  Py_ssize_t n;
  struct call c;
  struct options o;
  struct tk_err err = {0};
  struct tk_trace *t = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "y#sO!", &bytes, &n, &name, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  const struct tk_load_options opt = load_options(&o, &c);
  const bool failed = o.failed;
  if (!failed) {
    begin(&c, option(&o, "progress"));
    t = tk_load_memory(bytes, (size_t)n, name, &opt, &err);
    end(&c);
  }
  if (!failed && !t) raise_error(&err);
  options_free(&o);
  return wrap(t);
}

static PyObject *merge_report(const struct tk_merge_report *r) {
  PyObject *d = saved_dict(&r->saved), *ranks = PyList_New(0);
  for (size_t i = 0; d && ranks && i < r->n_ranks; i++) {
    PyObject *rank = row_dict(TK_ROW_MERGE_RANK, &r->ranks[i], NULL);
    if (!rank) break;
    PyList_Append(ranks, rank);
    Py_DECREF(rank);
  }
  if (!d || !ranks) return NULL;
  put(d, "ranks", ranks);
  put(d, "trusted", PyBool_FromLong(r->align.trusted));
  put(d, "align_json", text_or_none(r->align.json));
  put(d, "notes", notes_list(r->notes));
  return d;
}

static PyObject *merge(PyObject *module, PyObject *args) {
  PyObject *names, *dict, *path, *result = NULL;
  struct call c;
  struct options o;
  struct tk_err err = {0};
  struct tk_merge_report *r = NULL;
  size_t n = 0;
  bool ok = false;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!UO!", &PyList_Type, &names, &path, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  const struct tk_redact_options redact = {.names = (enum tk_redact_names)opt_uint(&o, "redact_names")};
  size_t n_ranks = 0;
  const struct tk_range *ranks = opt_ranges(&o, "ranks", &n_ranks);
  size_t n_offsets = 0;
  const struct tk_offset *offsets = opt_offsets(&o, "offsets", &n_offsets);
  const struct tk_source_options source = source_options(&o, &c);
  const struct tk_merge_options opt = {
      .source = &source, .load = load_options(&o, &c), .save = save_options(&o, &c), .align = (enum tk_align)opt_uint(&o, "align"),
      .marker = opt_text(&o, "marker"), .clock_error = opt_int(&o, "clock_error_ps"), .reference = opt_text(&o, "reference"),
      .offsets = offsets, .n_offsets = n_offsets, .offsets_from = opt_text(&o, "offsets_from"), .ranks = ranks, .n_ranks = n_ranks,
      .every_rank = (uint32_t)opt_uint(&o, "every_rank"), .steps = opt_text(&o, "steps"), .time = opt_text(&o, "time"),
      .to = opt_uint(&o, "to"), .label = opt_text(&o, "label"), .group_by = (enum tk_group_by)opt_uint(&o, "group_by"),
      .derive = opt_bool(&o, "derive"), .redact = opt_bool(&o, "redact") ? &redact : NULL, .to_zero = opt_bool(&o, "to_zero"),
      .keep_going = opt_bool(&o, "keep_going"), .keep_truncated = opt_bool(&o, "keep_truncated"), .anchor = opt_text(&o, "anchor"),
      .collectives = opt_text(&o, "collectives"), .link_collectives = opt_bool(&o, "link_collectives"),
      .align_report = opt_text(&o, "align_report"), .manifest = opt_bool(&o, "manifest"), .fold_graphs = opt_bool(&o, "fold_graphs")};
  const char *const *v = texts(&o, names, &n);
  const char *output = utf8(&o, path);
  if (!o.failed) {
    begin(&c, option(&o, "progress"));
    ok = tk_merge(v, n, output, &opt, &r, &err);
    end(&c);
    if (ok) result = merge_report(r);
    else raise_error(&err);
    tk_merge_report_free(r);
  }
  options_free(&o);
  return result;
}

static PyObject *extract(PyObject *module, PyObject *args) {
  PyObject *names, *dict, *list = NULL;
  struct call c;
  struct options o;
  struct tk_err err = {0};
  struct tk_extract_report *r = NULL;
  size_t n = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &names, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  const struct tk_extract_options opt = {.source = source_options(&o, &c), .load = load_options(&o, &c), .save = save_options(&o, &c),
                                         .output = opt_text(&o, "output"), .split = opt_bool(&o, "split"), .raw = opt_bool(&o, "raw"),
                                         .derive = opt_bool(&o, "derive"), .fold_graphs = opt_bool(&o, "fold_graphs")};
  const char *const *v = texts(&o, names, &n);
  if (!o.failed) {
    begin(&c, option(&o, "progress"));
    const bool ok = tk_extract(v, n, &opt, &r, &err);
    end(&c);
    if (ok) list = PyList_New(0);
    else raise_error(&err);
    for (size_t i = 0; list && i < r->n; i++) {
      PyObject *d = saved_dict(&r->files[i].written), *row = row_dict(TK_ROW_EXTRACTED, tk_row_at(r->files, TK_ROW_EXTRACTED, i), NULL);
      const bool merged = d && row && PyDict_Update(d, row) == 0;
      Py_XDECREF(row);
      if (!merged) Py_CLEAR(d);
      if (!d) break;
      PyList_Append(list, d);
      Py_DECREF(d);
    }
    tk_extract_report_free(r);
  }
  options_free(&o);
  return list;
}

static PyObject *list(PyObject *module, PyObject *args) {
  PyObject *names, *dict, *rows = NULL;
  struct call c;
  struct options o;
  struct tk_err err = {0};
  struct tk_list_report *r = NULL;
  size_t n = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &names, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  struct tk_list_options opt = {.source = source_options(&o, &c), .load = load_options(&o, &c), .deep = opt_bool(&o, "deep")};
  opt.source.all_runs = opt.source.all_files = true;
  const char *const *v = texts(&o, names, &n);
  if (!o.failed) {
    begin(&c, option(&o, "progress"));
    const bool ok = tk_list(v, n, &opt, &r, &err);
    end(&c);
    if (ok) rows = PyList_New(0);
    else raise_error(&err);
    for (size_t i = 0; rows && i < r->n; i++) {
      PyObject *d = row_dict(TK_ROW_LISTED, tk_row_at(r->files, TK_ROW_LISTED, i), NULL);
      if (!d) break;
      PyList_Append(rows, d);
      Py_DECREF(d);
    }
    tk_list_report_free(r);
  }
  options_free(&o);
  return rows;
}

static PyObject *columns(PyObject *module, PyObject *args) {
  int table;
  bool usual;
  const char *column;
  PyObject *names = PyList_New(0);
  (void)module;
  if (!names || !PyArg_ParseTuple(args, "i", &table)) return NULL;
  for (size_t i = 0; (column = tk_table_column((enum tk_table)table, i, &usual)); i++) {
    PyObject *name = usual ? text_or_none(column) : NULL;
    if (name) PyList_Append(names, name);
    Py_XDECREF(name);
  }
  return names;
}

/* Describes the fields of a kind of row: a list of (name, column format as in frame_stream, unit or None, kind of nested rows
 * or -1). */
static PyObject *fields(PyObject *module, PyObject *args) {
  static const char *const formats[] = {[TK_TYPE_BOOL] = "b", [TK_TYPE_INT] = "l", [TK_TYPE_COUNT] = "l", [TK_TYPE_NUMBER] = "g",
                                        [TK_TYPE_TIME] = "l", [TK_TYPE_TEXT] = "t", [TK_TYPE_TEXTS] = "L", [TK_TYPE_ROW] = "s",
                                        [TK_TYPE_ROWS] = "L"};
  static const char *const units[] = {[TK_UNIT_NS] = "ns", [TK_UNIT_PERCENT] = "%", [TK_UNIT_BYTES] = "bytes",
                                      [TK_UNIT_GB_PER_S] = "GB/s", [TK_UNIT_MEAN] = NULL, [TK_UNIT_PS] = "ps"};
  PyObject *list = PyList_New(0);
  size_t n;
  int kind;
  (void)module;
  if (!list || !PyArg_ParseTuple(args, "i", &kind)) return NULL;
  if (kind < 0 || kind >= TK_N_ROWS) return list;
  const struct tk_field *f = tk_fields((enum tk_row)kind, &n, NULL);
  for (const struct tk_field *end = f + n; f < end; f++) {
    const bool inner = f->type == TK_TYPE_ROW || f->type == TK_TYPE_ROWS;
    PyObject *field = Py_BuildValue("(sszi)", f->name, formats[f->type], units[f->unit], inner ? (int)f->of : -1);
    if (field) PyList_Append(list, field);
    Py_XDECREF(field);
  }
  return list;
}

static PyObject *set_error(PyObject *module, PyObject *cls) {
  (void)module;
  Py_INCREF(cls);
  Py_XDECREF(error_class);
  error_class = cls;
  Py_RETURN_NONE;
}

/* parse_size and parse_duration parse texts as the command line does: "100MB" to bytes, "1.5ms" to picoseconds. */
static PyObject *parse_size(PyObject *module, PyObject *args) {
  const char *text;
  uint64_t bytes;
  (void)module;
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  if (tk_parse_size(text, &bytes)) return PyLong_FromUnsignedLongLong(bytes);
  return PyErr_Format(PyExc_ValueError, "'%s' is not a size, such as 100MB", text);
}

static PyObject *parse_duration(PyObject *module, PyObject *args) {
  const char *text;
  tk_time ps;
  (void)module;
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  if (tk_parse_duration(text, &ps)) return PyLong_FromLongLong(ps);
  return PyErr_Format(PyExc_ValueError, "'%s' is not a duration, such as 1.5ms", text);
}

/* ---- reports ---- */

static PyObject *report_dict(const struct tk_report *r) {
  PyObject *d = row_dict(TK_ROW_REPORT, r, NULL);
  if (d) put(d, "notes", notes_list(r->notes));
  return d;
}

static struct tk_report_options report_options(struct options *o, struct call *c) {
  return (struct tk_report_options){.size = sizeof(struct tk_report_options), .load = load_options(o, c), .select = selection(o, c),
                                    .brief = opt_bool(o, "brief"), .keep_going = opt_bool(o, "keep_going"),
                                    .thresholds = opt_text(o, "thresholds")};
}

static PyObject *trace_report(PyObject *self, PyObject *dict) {
  struct tk_report *r = NULL;
  PyObject *d = NULL;
  ASKS(self, dict);
  const struct tk_report_options opt = report_options(&w.o, &w.call);
  if (!work_enter(&w)) return work_end(&w, NULL);
  if (work_leave(&w, tk_report_trace(w.t, &opt, &r, &w.err))) d = report_dict(r);
  tk_report_free(r);
  return work_end(&w, d);
}

static PyObject *report(PyObject *module, PyObject *args) {
  PyObject *names, *dict, *d = NULL;
  struct call c;
  struct options o;
  struct tk_err err = TK_ERR_INIT;
  struct tk_report *r = NULL;
  size_t n = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!", &PyList_Type, &names, &PyDict_Type, &dict) || !options_init(&o, dict)) return NULL;
  const struct tk_report_options opt = report_options(&o, &c);
  struct tk_source_options source = source_options(&o, &c);
  const char *const *v = texts(&o, names, &n);
  if (!o.failed) {
    begin(&c, option(&o, "progress"));
    source.by_rank = true; /* as in the command: if a file contains several ranks, each of them is an input */
    struct tk_sources *s = tk_sources_open(v, n, &source, &err);
    const bool ok = s && tk_report_sources(s, &opt, &r, &err);
    tk_sources_close(s);
    end(&c);
    if (ok) d = report_dict(r);
    else raise_error(&err);
    tk_report_free(r);
  }
  options_free(&o);
  return d;
}

static PyObject *rows_list(enum tk_row kind, const void *rows, size_t n) {
  PyObject *list = PyList_New(0);
  size_t n_fields, stride;
  tk_fields(kind, &n_fields, &stride);
  for (size_t i = 0; list && i < n; i++) {
    PyObject *row = row_dict(kind, (const char *)rows + i * stride, NULL);
    if (!row) break;
    PyList_Append(list, row);
    Py_DECREF(row);
  }
  return list;
}

static PyObject *diff_dict(const struct tk_diff_report *r) {
  PyObject *d = PyDict_New();
  if (!d) return NULL;
  put(d, "runs", rows_list(TK_ROW_COMPARE_RUN, r->runs, 2));
  put(d, "rows", rows_list(TK_ROW_DIFF, r->rows, r->n_rows));
  put(d, "all", row_dict(TK_ROW_DIFF_SUM, r->all, NULL));
  put(d, "step", r->by_step ? row_dict(TK_ROW_DIFF_SUM, r->step, NULL) : NONE);
  put(d, "steps", Py_BuildValue("(NN)", row_dict(TK_ROW_REPORT_SPREAD, &r->steps[0], NULL), row_dict(TK_ROW_REPORT_SPREAD, &r->steps[1], NULL)));
  put(d, "samples", Py_BuildValue("(KK)", (unsigned long long)r->samples[0], (unsigned long long)r->samples[1]));
  put(d, "by_step", PyBool_FromLong(r->by_step));
  put(d, "paired", PyBool_FromLong(r->paired));
  put(d, "notes", notes_list(r->notes));
  return d;
}

static struct tk_diff_options diff_options(struct options *o, struct call *c) {
  return (struct tk_diff_options){.size = sizeof(struct tk_diff_options), .load = load_options(o, c), .select = selection(o, c),
                                  .by = (enum tk_top_by)opt_uint(o, "by"), .arg = opt_text(o, "arg"), .by_path = opt_bool(o, "by_path"),
                                  .fold = opt_bool(o, "fold"), .whole = opt_bool(o, "whole"),
                                  .by_launch = opt_bool(o, "by_launch"), .keep_going = opt_bool(o, "keep_going")};
}

static PyObject *diff_result(bool ok, struct tk_diff_report *r, const struct tk_err *err) {
  PyObject *d = ok ? diff_dict(r) : raise_error(err);
  tk_diff_report_free(r);
  return d;
}

static PyObject *diff(PyObject *module, PyObject *args) {
  PyObject *lists[2], *dict, *d = NULL;
  struct call c;
  struct options o;
  struct tk_err err = TK_ERR_INIT;
  struct tk_diff_report *r = NULL;
  const char *const *names[2];
  size_t n[2];
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!O!", &PyList_Type, &lists[0], &PyList_Type, &lists[1], &PyDict_Type, &dict) || !options_init(&o, dict))
    return NULL;
  const struct tk_diff_options opt = diff_options(&o, &c);
  struct tk_source_options source = source_options(&o, &c);
  source.by_rank = true; /* as in the command */
  for (int side = 0; side < 2; side++) names[side] = texts(&o, lists[side], &n[side]);
  if (!o.failed) {
    struct tk_sources *s[2] = {NULL, NULL};
    begin(&c, option(&o, "progress"));
    for (int side = 0; side < 2 && (side == 0 || s[0]); side++) s[side] = tk_sources_open(names[side], n[side], &source, &err);
    const bool ok = s[0] && s[1] && tk_diff(s[0], s[1], &opt, &r, &err);
    tk_sources_close(s[0]);
    tk_sources_close(s[1]);
    end(&c);
    d = diff_result(ok, r, &err);
  }
  options_free(&o);
  return d;
}

static PyObject *compare_dict(const struct tk_compare_report *r) {
  PyObject *d = PyDict_New();
  if (!d) return NULL;
  put(d, "runs", rows_list(TK_ROW_COMPARE_RUN, r->runs, r->n_runs));
  put(d, "rows", rows_list(TK_ROW_COMPARE, r->rows, r->n_rows));
  put(d, "all", row_dict(TK_ROW_COMPARE_SUM, r->all, NULL));
  put(d, "step", r->by_step ? row_dict(TK_ROW_COMPARE_SUM, r->step, NULL) : NONE);
  put(d, "by_step", PyBool_FromLong(r->by_step));
  put(d, "notes", notes_list(r->notes));
  return d;
}

/* Opens n runs. `inputs` contains the inputs of all runs, one run after the other. */
static bool open_runs(struct tk_sources **runs, const size_t *counts, size_t n, const char *const *inputs,
                      const struct tk_source_options *source, struct tk_err *err) {
  for (size_t i = 0; i < n; inputs += counts[i++]) {
    runs[i] = tk_sources_open(inputs, counts[i], source, err);
    if (!runs[i]) return false;
  }
  return true;
}

/* Compares several runs: compare(inputs of all runs, number of inputs of each, names, options). */
static PyObject *compare(PyObject *module, PyObject *args) {
  PyObject *inputs, *sizes, *labels, *dict, *d = NULL;
  struct call c;
  struct options o;
  struct tk_err err = TK_ERR_INIT;
  struct tk_compare_report *r = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyList_Type, &inputs, &PyList_Type, &sizes, &PyList_Type, &labels, &PyDict_Type, &dict) ||
      !options_init(&o, dict))
    return NULL;
  struct tk_diff_options opt = diff_options(&o, &c);
  opt.trends = opt_bool(&o, "trends");
  struct tk_source_options source = source_options(&o, &c);
  source.by_rank = true; /* as in the command */
  size_t n_inputs = 0, n = 0, total = 0;
  const char *const *paths = texts(&o, inputs, &n_inputs), *const *names = texts(&o, labels, &n);
  size_t *counts = opt_block(&o, n, sizeof *counts);
  struct tk_sources **runs = opt_block(&o, n, sizeof *runs);
  if (!o.failed && (size_t)PyList_Size(sizes) != n) o.failed = true;
  for (size_t i = 0; !o.failed && i < n; i++) total += counts[i] = PyLong_AsSize_t(PyList_GetItem(sizes, (Py_ssize_t)i));
  if (PyErr_Occurred() || total != n_inputs) o.failed = true;
  if (!o.failed) {
    begin(&c, option(&o, "progress"));
    const bool ok = open_runs(runs, counts, n, paths, &source, &err) && tk_compare(runs, names, n, &opt, &r, &err);
    for (size_t i = 0; i < n; i++) tk_sources_close(runs[i]);
    end(&c);
    d = ok ? compare_dict(r) : raise_error(&err);
    tk_compare_report_free(r);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_ValueError, "expected a number of inputs for each name");
  }
  options_free(&o);
  return d;
}

/* Compares two traces in memory. Locks the trace with the lower address first, so that two threads cannot wait for each other. */
static PyObject *diff_traces(PyObject *module, PyObject *args) {
  PyObject *sides[2], *dict, *d = NULL;
  struct call c;
  struct options o;
  struct tk_err err = TK_ERR_INIT;
  struct tk_diff_report *r = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O!O!", trace_type, &sides[0], trace_type, &sides[1], &PyDict_Type, &dict) || !options_init(&o, dict))
    return NULL;
  const struct tk_diff_options opt = diff_options(&o, &c);
  struct trace *a = (struct trace *)sides[0], *b = (struct trace *)sides[1];
  struct trace *first = a < b ? a : b, *second = a < b ? b : a;
  if (!o.failed && enter(first, &c, option(&o, "progress"))) {
    const bool free = first == second || trace_lock(second);
    const bool open = free && second->t, ok = open && tk_diff_traces(a->t, b->t, &opt, &r, &err);
    if (free && first != second) trace_unlock(second);
    leave(first, &c);
    if (open) d = diff_result(ok, r, &err);
    else PyErr_SetString(PyExc_ValueError, free ? CLOSED : IN_USE);
  }
  options_free(&o);
  return d;
}

#define METHOD(name, flags) {#name, trace_##name, flags, NULL}
static PyMethodDef trace_methods[] = {
    METHOD(close, METH_NOARGS), METHOD(copy, METH_NOARGS),   METHOD(length, METH_NOARGS),  METHOD(info, METH_NOARGS),
    METHOD(truncated, METH_NOARGS), METHOD(save, METH_VARARGS), METHOD(filter, METH_O),
    METHOD(rebase, METH_O),     METHOD(derive, METH_NOARGS), METHOD(redact, METH_O),     METHOD(shrink, METH_VARARGS),
    METHOD(split, METH_VARARGS), METHOD(top, METH_O),       METHOD(tree, METH_O),        METHOD(table, METH_VARARGS),
    METHOD(sql, METH_VARARGS), METHOD(report, METH_O),    METHOD(fold_graphs, METH_NOARGS), METHOD(scopes, METH_O),
    {NULL, NULL, 0, NULL}};

static PyObject *trace_new(PyTypeObject *type, PyObject *args, PyObject *options) {
  (void)type, (void)args, (void)options;
  PyErr_SetString(PyExc_TypeError, "traces are made by load");
  return NULL;
}

static PyType_Slot trace_slots[] = {
    {Py_tp_new, (void *)trace_new}, {Py_tp_dealloc, (void *)trace_dealloc}, {Py_tp_methods, trace_methods}, {0, NULL}};
static PyType_Spec trace_spec = {"tracekit._native.Trace", sizeof(struct trace), 0, Py_TPFLAGS_DEFAULT, trace_slots};

#define FUNCTION(name) {#name, name, METH_VARARGS, NULL}
static PyMethodDef functions[] = {
    FUNCTION(load), FUNCTION(load_bytes), FUNCTION(merge),      FUNCTION(extract),
    FUNCTION(report), FUNCTION(diff),     FUNCTION(diff_traces), FUNCTION(compare), FUNCTION(list),       FUNCTION(columns),    FUNCTION(parse_size),
    FUNCTION(parse_duration),
    FUNCTION(fields),
    {"stream", frame_stream, METH_VARARGS, NULL}, {"batch", frame_batch, METH_O, NULL},
    {"batch_length", frame_length, METH_O, NULL}, {"batch_columns", frame_columns, METH_O, NULL},
    {"batch_slice", frame_slice, METH_VARARGS, NULL}, {"batch_has_word", frame_words, METH_VARARGS, NULL},
    {"set_error", set_error, METH_O, NULL}, {"set_fetch", fetch_set, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module) return NULL;
  trace_type = (PyTypeObject *)PyType_FromSpec(&trace_spec);
  if (!trace_type) return NULL;
  PyModule_AddStringConstant(module, "version", TK_VERSION);
  PyModule_AddStringConstant(module, "build_info", tk_build_info());
  PyModule_AddIntConstant(module, "ROW_REPORT", TK_ROW_REPORT);
  PyModule_AddIntConstant(module, "ROW_TOP", TK_ROW_TOP);
  PyModule_AddIntConstant(module, "ROW_TREE", TK_ROW_TREE);
  PyModule_AddIntConstant(module, "ROW_DIFF", TK_ROW_DIFF);
  PyModule_AddIntConstant(module, "ROW_COMPARE", TK_ROW_COMPARE);
  PyModule_AddIntConstant(module, "ROW_COMPARE_RUN", TK_ROW_COMPARE_RUN);
  PyModule_AddIntConstant(module, "ROW_MERGE_RANK", TK_ROW_MERGE_RANK);
  PyModule_AddIntConstant(module, "ROW_LISTED", TK_ROW_LISTED);
  PyModule_AddIntConstant(module, "ROW_EXTRACTED", TK_ROW_EXTRACTED);
  PyModule_AddIntConstant(module, "ROW_SIZE_KIND", TK_ROW_SIZE_KIND);
  return module;
}

/* build.c - the public API for building a trace. It offers the functions of format readers to callers outside the library.
 *
 * The graph trusts its readers, but must not trust outside callers. So everything is checked here when it is added: ids are in range,
 * text and JSON are valid, and times can be subtracted without overflow. Sealing and writing can therefore not fail because of invalid
 * data. The first error is stored in the trace, and tk_seal reports it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/os.h"
#include "base/utf8.h"
#include "format/format.h"
#include "format/json.h"
#include "graph/seal.h"
#include "graph/args.h"
#include "graph/stack.h"

/* Limit for the absolute value of a time. Times within the limit are less than 107 days apart, so their difference fits into 64
 * bits. */
static const tk_time FARTHEST = INT64_MAX / 2;

/* ---- errors ---- */

PRINTF_LIKE(2, 3) static bool wrong(struct tk_trace *t, const char *fmt, ...) {
  struct tk_store *s = t->store;
  char text[200];
  va_list ap;
  if (s->mistake || t->sealed) return false;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  const size_t n = strlen(text) + 1;
  s->mistake = malloc(n);
  if (s->mistake) memcpy(s->mistake, text, n);
  else s->mem.failed = true;
  return false;
}

static bool is_open(const struct tk_trace *t) { return t && !t->sealed && !t->store->broken && !t->store->mem.failed; }

static bool is_string(const struct tk_trace *t, tk_id id) { return id != 0 && id <= t->store->strings.n; }

/* True if `id` is 0 (none) or the id of a valid UTF-8 string. `what` names the argument in the error message. */
static bool build_is_text(struct tk_trace *t, tk_id id, const char *what) {
  if (id == 0) return true;
  if (!is_string(t, id)) return wrong(t, "%s: string %u does not exist", what, id);
  const struct intern_str *s = trace_str(t, id);
  return !t->store->has_bytes || utf8_valid(s->bytes, s->len) || wrong(t, "%s: string %u is not valid UTF-8", what, id);
}

static bool is_args(struct tk_trace *t, uint32_t args, const char *what) {
  return args < t->store->pool.len || wrong(t, "%s: args %u do not exist", what, args);
}

static bool is_time(struct tk_trace *t, tk_time ts, const char *what) {
  return (ts <= FARTHEST && ts >= -FARTHEST) || wrong(t, "%s: time is more than 53 days from the origin", what);
}

static bool is_ident(struct tk_trace *t, struct tk_ident id, const char *what) {
  if (id.kind > TK_IDENT_STR) return wrong(t, "%s: unknown kind of id", what);
  if (id.kind != TK_IDENT_STR) return true;
  return id.str ? build_is_text(t, id.str, what) : wrong(t, "%s: string 0 does not exist", what);
}

/* ---- the trace ---- */

static const char *copied(struct tk_trace *t, const char *text) {
  if (!text || !*text) return "";
  const size_t n = strlen(text) + 1;
  char *p = arena_bytes(&t->store->strings.arena, n);
  return p ? memcpy(p, text, n) : "";
}

/* Stores the origin of a real-time clock as "baseTimeNanoseconds", as trace files do. Viewers that support this key use it as the time
 * of ts 0. */
static void say_zero(struct tk_trace *t) {
  char text[32];
  t->zero_ns = t->origin_ns;
  t->has_zero = t->clock == TK_CLOCK_REALTIME;
  if (t->has_zero) tk_add_meta(t, "baseTimeNanoseconds", text, num_put_i64(text, t->zero_ns));
}

struct tk_trace *tk_new(const struct tk_new_options *opt, struct tk_err *err) {
  struct tk_new_options options;
  static const int64_t CENTURIES = INT64_MAX / 2;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!TAKE_OPTIONS(&options, opt, err)) return NULL;
  opt = &options;
  if (opt->clock > TK_CLOCK_MONOTONIC) {
    err_set(err, TK_EUSAGE, "trace: unknown clock %u", opt->clock);
    return NULL;
  }
  if (opt->origin_ns > CENTURIES || opt->origin_ns < -CENTURIES) {
    err_set(err, TK_EUSAGE, "trace: origin out of range");
    return NULL;
  }
  struct tk_trace *t = trace_new(os_memory_limit(opt->max_memory));
  if (!t) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  t->source = copied(t, opt->source);
  t->host = copied(t, opt->host);
  t->run = copied(t, opt->run);
  t->origin_ns = opt->origin_ns;
  t->clock = (enum tk_clock)opt->clock;
  say_zero(t);
  return t;
}

bool tk_seal(struct tk_trace *t, struct tk_err *err) {
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!t) return err_set(err, TK_EUSAGE, "no trace to seal");
  if (t->sealed) return err_set(err, TK_EUSAGE, "the trace is already sealed");
  if (t->store->mistake) return err_set(err, TK_EUSAGE, "%s", t->store->mistake);
  if (t->store->broken) return err_set(err, TK_EUSAGE, "the trace cannot be sealed after an earlier error");
  t->store->broken = true;
  if (!seal(t, 1, err)) return false;
  format_adopt(t);
  if (!mem_check(&t->store->mem, err)) return t->sealed = false;
  t->store->broken = false;
  return true;
}

/* ---- strings ---- */

tk_id tk_add_string(struct tk_trace *t, const char *text, size_t n) {
  bool repaired = false;
  if (!is_open(t)) return 0;
  if (!text && n) {
    wrong(t, "string: NULL pointer");
    return 0;
  }
  const tk_id id = intern_text(&t->store->strings, (const uint8_t *)(text ? text : ""), n, t->store->has_bytes, &repaired);
  if (repaired) trace_note(t, TK_NOTE_REPAIR, UINT64_MAX, "text is not UTF-8: invalid bytes are replaced");
  return id;
}

tk_id tk_add_text(struct tk_trace *t, const char *text) { return tk_add_string(t, text, text ? strlen(text) : 0); }

tk_id tk_add_bytes(struct tk_trace *t, const void *bytes, size_t n) {
  if (!is_open(t)) return 0;
  if (!bytes && n) {
    wrong(t, "bytes: NULL pointer");
    return 0;
  }
  t->store->has_bytes = true;
  return trace_string(t, n ? bytes : "", n);
}

/* ---- tracks ---- */

tk_id tk_add_class(struct tk_trace *t, tk_id name, tk_id cat, uint32_t args) {
  if (!is_open(t) || !build_is_text(t, name, "name of a class") || !build_is_text(t, cat, "category of a class")) return 0;
  if (!args) return trace_class(t, name, cat);
  if (!is_args(t, args, "class")) return 0;
  struct tk_class *c = trace_add_class(t);
  *c = (struct tk_class){.name = name, .cat = cat, .args = args};
  return t->store->mem.failed ? 0 : t->n_classes;
}

tk_id tk_add_process(struct tk_trace *t, struct tk_ident pid) {
  return is_open(t) && is_ident(t, pid, "process") ? trace_process(t, pid) : 0;
}

static bool is_track(struct tk_trace *t, tk_id track, const char *what) {
  return (track != 0 && track <= t->n_tracks) || wrong(t, "%s: track %u does not exist", what, track);
}

static bool is_process(struct tk_trace *t, tk_id track, const char *what) {
  if (!is_track(t, track, what)) return false;
  return t->tracks[track].kind == TK_TRACK_PROCESS || wrong(t, "%s: track %u is not a process", what, track);
}

tk_id tk_add_track(struct tk_trace *t, enum tk_track_kind kind, tk_id process, struct tk_ident tid, tk_id name) {
  if (!is_open(t) || !is_process(t, process, "track") || !is_ident(t, tid, "track") || !build_is_text(t, name, "name of a "
                                                                                                         "track")) return 0;
  if (kind != TK_TRACK_THREAD && kind != TK_TRACK_COUNTERS && kind != TK_TRACK_ASYNCS) {
    wrong(t, "track: unsupported kind %d", (int)kind);
    return 0;
  }
  const bool counts = kind == TK_TRACK_COUNTERS;
  if (counts && (!name || tid.kind != TK_IDENT_NONE)) {
    wrong(t, "counter: needs a name, and cannot have a tid");
    return 0;
  }
  const tk_id track = trace_track(t, kind, t->tracks[process].pid, tid, counts ? name : 0);
  if (track && name) t->tracks[track].name = name;
  return track;
}

bool tk_name_track(struct tk_trace *t, tk_id track, tk_id name) {
  if (!is_open(t) || !is_track(t, track, "name") || !build_is_text(t, name, "name of a track")) return false;
  if (t->tracks[track].kind == TK_TRACK_COUNTERS) return wrong(t, "track %u: a counter cannot be renamed", track);
  t->tracks[track].name = name;
  return true;
}

bool tk_label_process(struct tk_trace *t, tk_id process, tk_id labels) {
  if (!is_open(t) || !is_process(t, process, "labels") || !build_is_text(t, labels, "labels")) return false;
  t->tracks[process].labels = labels;
  return true;
}

bool tk_sort_track(struct tk_trace *t, tk_id track, int64_t index) {
  if (!is_open(t) || !is_track(t, track, "order")) return false;
  if (t->tracks[track].kind != TK_TRACK_PROCESS && t->tracks[track].kind != TK_TRACK_THREAD)
    return wrong(t, "track %u: only processes and threads have an order", track);
  t->tracks[track].sort_index = index;
  t->tracks[track].has_sort = true;
  return true;
}

/* ---- args ---- */

/* Appends MEM_SLACK zero bytes, because the scanner reads beyond the end of the text. */
static bool zeros_behind(struct buf *b) {
  uint8_t *p = buf_reserve(b, MEM_SLACK);
  return p && memset(p, 0, MEM_SLACK);
}

/* Parses a JSON text and appends its value to `out` as strict JSON. Parses a copy with a space at the end, because the parser cannot
 * know otherwise that a number at the end is complete. */
static bool copy_json(const char *text, size_t n, struct json_value *v, struct buf *out) {
  struct buf padded = {.mem = out->mem};
  bool ok = buf_append(&padded, text, n) && buf_append(&padded, " ", 1) && zeros_behind(&padded);
  if (ok) {
    struct json j = {.p = padded.data, .end = padded.data + n + 1, .last = true, .scratch = {.mem = out->mem}};
    ok = json_value(&j, v);
    while (ok && json_is_space(*j.p)) j.p++;
    ok = ok && j.p == j.end && j.n_fixes == 0;
    j.p = padded.data;
    ok = ok && json_copy(&j, out);
    buf_free(&j.scratch);
  }
  buf_free(&padded);
  return ok;
}

/* Converts the JSON in string `s` to strict JSON. The JSON must be a number if `number` is set, otherwise an array or an object.
 * Returns the id of the new string, or 0 on failure. */
static tk_id json_string(struct tk_trace *t, tk_id s, bool number) {
  struct json_value v;
  struct buf out = {.mem = &t->store->mem};
  const struct intern_str *text = trace_str(t, s);
  bool ok = copy_json((const char *)text->bytes, text->len, &v, &out);
  if (ok) ok = number ? v.type == JSON_NUMBER : v.type == JSON_ARRAY || v.type == JSON_OBJECT;
  const tk_id id = ok ? trace_string(t, out.data, out.len) : 0;
  buf_free(&out);
  return id;
}

static bool is_arg(struct tk_trace *t, struct tk_arg *a) {
  enum { LEAST = -64, MOST = 63 }; /* same limits as for NUM_DEC */
  if (a->key == 0) return wrong(t, "arg: missing key");
  if (!build_is_text(t, a->key, "key of an arg")) return false;
  const char *key = tk_string(t, a->key, NULL);
  if (key_is_reserved(key)) return wrong(t, "arg: key '%.60s' is reserved", key);
  if ((unsigned)a->type >= TK_ARG_TYPES) return wrong(t, "arg '%.60s': unknown type %u", key, (unsigned)a->type);
  if (a->type == TK_ARG_DECIMAL) return (a->exp >= LEAST && a->exp <= MOST) || wrong(t, "arg '%.60s': exponent %d out of "
                                                                                        "range", key, a->exp);
  if (a->type < TK_ARG_STR || a->type > TK_ARG_REF) return true;
  if (a->s == 0) return wrong(t, "arg '%.60s': string 0 does not exist", key);
  if (a->type == TK_ARG_BYTES) return is_string(t, a->s) || wrong(t, "arg '%.60s': string %u does not exist", key, a->s);
  if (!build_is_text(t, a->s, "text of an arg")) return false;
  if (a->type != TK_ARG_JSON && a->type != TK_ARG_NUMBER) return true;
  a->s = json_string(t, a->s, a->type == TK_ARG_NUMBER);
  return a->s || wrong(t, "arg '%.60s': text is not valid JSON: expected %s", key, a->type == TK_ARG_JSON ? "an array or "
                                                                                               "object" : "a number");
}

uint32_t tk_add_args(struct tk_trace *t, const struct tk_arg *args, size_t n) {
  if (!is_open(t)) return 0;
  if (!args && n) {
    wrong(t, "args: NULL pointer");
    return 0;
  }
  args_begin(t);
  for (size_t i = 0; i < n; i++) {
    struct tk_arg arg = args[i];
    if (!is_arg(t, &arg)) return 0;
    args_copy(t, &arg);
  }
  return args_end(t);
}

/* ---- events ---- */

static bool is_kind(struct tk_trace *t, const struct tk_event *e) {
  static const char *const NAMES[] = {"span", "instant", "counter sample", "begin event", "end event"};
  static const char *const TRACKS[] = {"root", "process", "thread", "counter", "async track"};
  enum { ON_THREAD = 1 << TK_EVENT_SPAN | 1 << TK_EVENT_INSTANT | 1 << TK_EVENT_BEGIN | 1 << TK_EVENT_END,
        ON_ASYNC = ON_THREAD & ~(1 << TK_EVENT_SPAN) };
  static const unsigned FIT[] = {0, 1 << TK_EVENT_INSTANT, ON_THREAD, 1 << TK_EVENT_COUNTER, ON_ASYNC};
  const struct tk_track *k = &t->tracks[e->track];
  if (e->kind > TK_EVENT_END) return wrong(t, "event: unknown kind %u", e->kind);
  return FIT[k->kind] >> e->kind & 1 ||
         wrong(t, "event: a %s cannot be on track %u, which is a %s", NAMES[e->kind], e->track, TRACKS[k->kind]);
}

static bool is_event(struct tk_trace *t, const struct tk_event *e) {
  if (!is_track(t, e->track, "event") || !is_kind(t, e) || !is_args(t, e->args, "event") || !is_time(t, e->ts, "event")) return false;
  if (e->cls > t->n_classes || (e->cls == 0 && e->kind != TK_EVENT_END)) return wrong(t, "event: class %u does not exist", e->cls);
  if (e->kind != TK_EVENT_SPAN) return e->dur == 0 || wrong(t, "event: only spans have a duration");
  return e->dur >= 0 ? is_time(t, e->dur, "duration of a span") && is_time(t, e->ts + e->dur, "end of a span")
                     : wrong(t, "span: negative duration");
}

static tk_id build_add_event(struct tk_trace *t, const struct tk_event *e, uint32_t args, uint8_t flags) {
  struct tk_event *to = trace_add_event(t);
  if (t->store->mem.failed) return 0;
  *to = (struct tk_event){.ts = e->ts, .dur = e->dur, .cls = e->cls, .track = e->track, .args = args, .kind = e->kind,
                          .flags = (uint8_t)((e->flags & (TK_FLAG_CLIPPED | TK_FLAG_REPAIRED)) | flags)};
  if (!to->cls) to->cls = trace_class(t, 0, 0);
  t->counts.read++;
  return t->n_events;
}

tk_id tk_add_event(struct tk_trace *t, const struct tk_event *e) {
  if (!is_open(t)) return 0;
  if (!e) {
    wrong(t, "event: NULL pointer");
    return 0;
  }
  if (!is_event(t, e)) return 0;
  if (t->tracks[e->track].kind == TK_TRACK_ASYNCS) {
    wrong(t, "track %u: async events need an id", e->track);
    return 0;
  }
  return build_add_event(t, e, e->args, 0);
}

/* Adds the id and scope of an event to its args, as readers do. */
static uint32_t with_identity(struct tk_trace *t, uint32_t args, tk_id scope, struct tk_ident id) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg arg;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  if (id.kind == TK_IDENT_STR) args_str(t, KEY_ID, TK_ARG_STR, id.str);
  else args_int(t, KEY_ID, id.num);
  if (scope) args_str(t, KEY_SCOPE, TK_ARG_STR, scope);
  return args_end(t);
}

tk_id tk_add_async(struct tk_trace *t, const struct tk_event *e, tk_id scope, struct tk_ident id) {
  if (!is_open(t)) return 0;
  if (!e) {
    wrong(t, "event: NULL pointer");
    return 0;
  }
  if (!is_event(t, e) || !build_is_text(t, scope, "scope of an async event") || !is_ident(t, id, "async event")) return 0;
  if (t->tracks[e->track].kind != TK_TRACK_ASYNCS) {
    wrong(t, "track %u: not a track of async events", e->track);
    return 0;
  }
  if (id.kind == TK_IDENT_NONE) {
    wrong(t, "async event: missing id");
    return 0;
  }
  return build_add_event(t, e, with_identity(t, e->args, scope, id), TK_FLAG_ASYNC);
}

/* ---- stack samples ---- */

tk_id tk_add_frame(struct tk_trace *t, const struct tk_frame *f) {
  if (!is_open(t)) return 0;
  if (!f || (!f->name && !f->module && !f->file)) {
    wrong(t, "frame: needs a name, a module or a file");
    return 0;
  }
  const tk_id texts[] = {f->name, f->module, f->file};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (texts[i] && !build_is_text(t, texts[i], "text of a frame")) return 0;
  return stack_frame(t, f);
}

tk_id tk_add_stack(struct tk_trace *t, tk_id parent, tk_id frame) {
  if (!is_open(t)) return 0;
  if (parent <= t->n_stacks && frame && frame <= t->n_frames) return stack_push(t, parent, frame);
  wrong(t, "stack: frame %u or parent %u does not exist", frame, parent);
  return 0;
}

static bool is_sample(struct tk_trace *t, const struct tk_sample *s) {
  if (!s) return wrong(t, "stack sample: NULL pointer");
  if (!is_track(t, s->track, "stack sample") || !is_time(t, s->ts, "stack sample")) return false;
  if (t->tracks[s->track].kind != TK_TRACK_THREAD) return wrong(t, "stack sample: track %u is not a thread", s->track);
  if (s->stack > t->n_stacks) return wrong(t, "stack sample: stack %u does not exist", s->stack);
  if (s->exp < -64 || s->exp > 63) return wrong(t, "stack sample: exponent %d, expected -64 to 63", (int)s->exp);
  if (s->cat && !build_is_text(t, s->cat, "category of a stack sample")) return false;
  return s->unit ? build_is_text(t, s->unit, "unit of a stack sample") : wrong(t, "stack sample: missing unit");
}

tk_id tk_add_sample(struct tk_trace *t, const struct tk_sample *s) {
  if (!is_open(t) || !is_sample(t, s)) return 0;
  stack_add(t, s);
  if (t->store->mem.failed) return 0;
  t->counts.read++;
  return t->n_events;
}

/* ---- flows ---- */

static bool is_point(struct tk_trace *t, const struct tk_flow_point *f) {
  const bool bound = f->role >= TK_FLOW_OUT;
  if (f->role > TK_FLOW_INOUT) return wrong(t, "flow point: unknown role %u", f->role);
  if (f->id_kind > TK_FLOW_ID_UINT) return wrong(t, "flow point: unknown id kind %u", f->id_kind);
  if (f->id_kind == TK_FLOW_ID_STR && (f->id <= 0 || f->id > UINT32_MAX || !build_is_text(t, (tk_id)f->id, "id of a flow")))
    return wrong(t, "flow point: the string used as id does not exist");
  if (f->cls > t->n_classes) return wrong(t, "flow point: class %u does not exist", f->cls);
  if (!is_args(t, f->args, "flow point")) return false;
  if (bound) return (f->at && f->at <= t->n_events) || wrong(t, "flow point: event %u does not exist", f->at);
  if (!is_track(t, f->at, "flow point") || !is_time(t, f->ts, "flow point")) return false;
  return t->tracks[f->at].kind == TK_TRACK_THREAD || wrong(t, "flow point: track %u is not a thread", f->at);
}

tk_id tk_add_flow_point(struct tk_trace *t, const struct tk_flow_point *f) {
  if (!is_open(t)) return 0;
  if (!f) {
    wrong(t, "flow point: NULL pointer");
    return 0;
  }
  if (!is_point(t, f)) return 0;
  struct tk_flow_point *to = trace_add_flow_point(t);
  if (t->store->mem.failed) return 0;
  *to = (struct tk_flow_point){.ts = f->ts, .id = f->id, .cls = f->cls ? f->cls : trace_class(t, 0, 0), .at = f->at, .args = f->args,
                               .role = f->role, .id_kind = f->id_kind, .enclosing = f->enclosing && f->role == TK_FLOW_END,
                               .bound = f->role >= TK_FLOW_OUT};
  t->counts.read += !to->bound;
  return t->n_flow_points;
}

/* ---- records without a time or a track ---- */

/* Checks the members of a strict JSON object. It must not contain pid, tid or ts, because these come from the track and the time.
 * Stores the value of "ph" in *phase. */
static bool is_record(struct tk_trace *t, const struct buf *object, char *phase) {
  struct json j = {.p = object->data + 1, .end = object->data + object->len, .last = true, .scratch = {.mem = object->mem}};
  bool ok = true;
  struct json_string key;
  struct json_value v;
  while (ok && *j.p != '}' && json_key(&j, &key)) {
    for (const char *const *no = (const char *const[]){"pid", "tid", "ts", NULL}; ok && *no; no++) {
      json_string_text(&j, &key, &(size_t){0});
      if (json_is(&j, &key, *no)) ok = wrong(t, "record: must not contain %s", *no);
    }
    const bool is_phase = ok && json_is(&j, &key, "ph");
    ok = ok && json_value(&j, &v);
    if (ok && is_phase && v.type == JSON_STRING && v.str.plain && v.str.n == 1) *phase = (char)*v.str.p;
    if (ok && *j.p == ',') j.p++;
  }
  buf_free(&j.scratch);
  return ok;
}

/* Checks a JSON text and appends it as strict JSON to `out`. */
static bool is_json(const char *json, size_t n, struct json_value *v, struct buf *out) {
  return json && copy_json(json, n, v, out) && out->len <= UINT32_MAX - MEM_SLACK;
}

tk_id tk_add_record(struct tk_trace *t, tk_id track, const char *json, size_t n) {
  struct json_value v;
  char phase = 0;
  if (!is_open(t) || (track && !is_track(t, track, "record"))) return 0;
  struct buf object = {.mem = &t->store->mem};
  bool ok = is_json(json, n, &v, &object) && v.type == JSON_OBJECT && object.len >= 2;
  if (!ok) wrong(t, "record: not a JSON object");
  ok = ok && zeros_behind(&object) && is_record(t, &object, &phase);
  const uint64_t at = t->store->raw.len;
  struct tk_record *rec = ok && buf_append(&t->store->raw, object.data + 1, object.len - 2) ? trace_add_record(t) : NULL;
  if (rec && !t->store->mem.failed) {
    *rec = (struct tk_record){.at = at, .size = (uint32_t)(object.len - 2), .track = track, .phase = phase, .strong = track != 0};
    t->counts.read++;
  }
  buf_free(&object);
  return rec && !t->store->mem.failed ? t->n_records : 0;
}

tk_id tk_add_meta(struct tk_trace *t, const char *key, const char *json, size_t n) {
  struct json_value v;
  if (!is_open(t)) return 0;
  if (!key || !*key) {
    wrong(t, "top-level data: missing key");
    return 0;
  }
  if (strcmp(key, "traceEvents") == 0 || strcmp(key, "tracekit") == 0) {
    wrong(t, "top-level data: key '%s' is reserved", key);
    return 0;
  }
  if (trace_meta(t, key)) {
    wrong(t, "top-level data: duplicate key '%.60s'", key);
    return 0;
  }
  struct buf out = {.mem = &t->store->mem};
  const bool ok = is_json(json, n, &v, &out);
  if (!ok) wrong(t, "top-level data '%.60s': invalid JSON", key);
  const uint64_t at = t->store->raw.len;
  struct tk_meta *m = ok && buf_append(&t->store->raw, out.data, out.len) ? trace_add_meta(t) : NULL;
  if (m) {
    trace_end_raw(t);
    *m = (struct tk_meta){.key = tk_add_text(t, key), .at = at, .size = out.len};
  }
  buf_free(&out);
  return m && !t->store->mem.failed ? t->n_metas : 0;
}

bool tk_add_note(struct tk_trace *t, enum tk_note_kind kind, uint64_t offset, const char *text) {
  if (!is_open(t)) return false;
  if ((unsigned)kind > TK_NOTE_FACT) return wrong(t, "note: unknown kind %u", (unsigned)kind);
  struct tk_err clean = {0};
  err_set(&clean, TK_EFORMAT, "%s", text && *text ? text : "?");
  trace_note(t, kind, offset, clean.msg);
  return true;
}

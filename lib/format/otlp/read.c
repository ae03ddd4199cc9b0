/* read.c - reads traces of OpenTelemetry in JSON: TracesData of opentelemetry-proto (trace/v1/trace.proto) in its JSON mapping, one
 * object, or one in each line as the Collector's file exporter writes.
 *
 *     {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"trainer"}}]},
 *       "scopeSpans":[{"scope":{"name":".."},"spans":[{"traceId":..,"spanId":..,"parentSpanId":..,"name":..,
 *         "startTimeUnixNano":"..","endTimeUnixNano":"..","attributes":[..],"events":[..],"links":[..]}]}]}]}
 *
 * Grafana Tempo calls the outer list "batches" in answers to /api/traces, and puts the object into {"trace": ..} in those to
 * /api/v2/traces. Its ids are base64. The logging exporter of OpenTelemetry for Java writes the elements of resourceSpans without the
 * list. Lines with metrics or logs may come between lines with spans.
 *
 * A resource becomes a process; resources with equal attributes, as in each line of a file, are one. Spans are arranged in lanes,
 * each inside its parent (lanes.h); the ids of the span, of its parent and of the trace are args. Events become instants on the lane
 * of their span, and links flows from the linked span. A field may have its name of the .proto file (start_time_unix_nano), which
 * MessageToJson of protobuf writes with preserving_proto_field_name. Integers of 64 bits are texts in the mapping, but some programs
 * write numbers. */
#include "read.h"

#include <string.h>

#include "base/hash.h"
#include "format/json_walk.h"
#include "graph/args.h"
#include "lanes.h"

/* True if the bytes have a key that only lists of spans have. */
static bool has_spans(const uint8_t *p, size_t n) {
  static const char *const KEYS[] = {"\"scopeSpans\"", "\"instrumentationLibrarySpans\"", "\"spans\"", "\"service.name\""};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
    if (memmem(p, n, KEYS[i], strlen(KEYS[i]))) return true;
  return false;
}

unsigned otlp_bid(const uint8_t *p, size_t n) {
  size_t i = 0;
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) i = 3;
  while (i < n && json_is_space(p[i])) i++;
  if (i == n || p[i] != '{' || memmem(p, n, "\"traceEvents\"", 13) || memmem(p, n, "\"ph\"", 4)) return 0;
  for (i++; i < n && json_is_space(p[i]);) i++;
  if (n - i <= 18) return 0;
  if (memcmp(p + i, "\"resourceSpans\"", 15) == 0 || memcmp(p + i, "\"resource_spans\"", 16) == 0) return 300;
  if (memcmp(p + i, "\"trace\"", 7) == 0) return memmem(p, n, "\"resourceSpans\"", 15) && has_spans(p, n) ? 300 : 0;
  if (memcmp(p + i, "\"resourceMetrics\"", 17) == 0 || memcmp(p + i, "\"resourceLogs\"", 14) == 0)
    return memmem(p, n, "\"resourceSpans\"", 15) ? 300 : 0;
  if (memcmp(p + i, "\"resource\"", 10) == 0) return memmem(p, n, "\"scopeSpans\"", 12) ? 300 : 0;
  return memcmp(p + i, "\"batches\"", 9) == 0 && has_spans(p, n) ? 300 : 0;
}

struct otlp {
  struct tk_trace *t;
  struct mem *mem;
  const uint8_t *text;
  struct map by_key;       /* hash of trace and span id -> index of the span */
  struct map processes;    /* hash of a resource -> its process */
  struct otlp_span *spans;
  uint64_t *parents;       /* by span: hash of trace and parent id; 0 = none */
  struct instant {
    struct tk_event e;
    uint32_t span; /* to which it belongs */
  } *instants;
  uint32_t n_spans, cap_spans, cap_parents, n_instants, cap_instants;
  struct link {
    uint64_t from;  /* hash of the linked span */
    uint32_t to;    /* index of the span */
    uint32_t args;
  } *links;
  uint32_t n_links, cap_links;
  tk_id process, scope;
  bool has_origin;
  int64_t next_pid;
};

static tk_id otlp_text(struct otlp *o, struct json_walk *w, const struct json_value *v) {
  size_t n = 0;
  if (!v->p || v->type != JSON_STRING) return 0;
  const uint8_t *text = json_string_text(&w->j, &v->str, &n);
  return trace_string(o->t, text, n);
}

/* Reads an integer that is written as a number or as a string. */
static bool integer_of(const struct json_value *v, int64_t *number) {
  if (!v->p || (v->type != JSON_NUMBER && v->type != JSON_STRING)) return false;
  return json_whole((const char *)v->p, (size_t)(v->end - v->p), number);
}

/* ---- attributes ---- */

/* Adds a value of the type AnyValue to the args under construction. */
static void put_value(struct otlp *o, struct json_walk *w, tk_id key, const struct json_value *any) {
  struct json_value text, whole, real, flag, list, bytes;
  const struct json_place places[] = {{"stringValue", &text}, {"intValue", &whole}, {"doubleValue", &real}, {"boolValue", &flag},
                                      {"arrayValue", &list}, {"kvlistValue", &list}, {"bytesValue", &bytes},
                                      {"string_value", &text}, {"int_value", &whole}, {"double_value", &real}, {"bool_value", &flag},
                                      {"array_value", &list}, {"kvlist_value", &list}, {"bytes_value", &bytes}, {NULL, NULL}};
  int64_t number;
  json_walk_object(w, any, places);
  if (text.p) args_str(o->t, key, TK_ARG_STR, otlp_text(o, w, &text));
  else if (integer_of(&whole, &number)) args_int(o->t, key, number);
  else if (real.p && real.type == JSON_NUMBER) args_double(o->t, key, num_double((const char *)real.p, (size_t)(real.end - real.p)));
  else if (flag.p) args_flag(o->t, key, flag.type == JSON_TRUE ? TK_ARG_TRUE : TK_ARG_FALSE);
  else if (bytes.p) args_str(o->t, key, TK_ARG_STR, otlp_text(o, w, &bytes));
  else if (list.p) {
    struct json_walk in = json_walk_into(w, &list);
    struct buf copy = {.mem = o->mem};
    if (json_copy(&in.j, &copy)) args_str(o->t, key, TK_ARG_JSON, trace_string(o->t, copy.data, copy.len));
    buf_free(&copy);
    json_walk_free(&in);
  } else args_flag(o->t, key, TK_ARG_NULL);
}

/* Returns the arg key for an attribute. A name that is a reserved key gets the prefix "otel.". */
static tk_id key_of(struct otlp *o, tk_id key) {
  struct buf b = {.mem = o->mem};
  if (!key_is_reserved(tk_string(o->t, key, NULL))) return key;
  buf_text(&b, "otel.");
  buf_append(&b, trace_str(o->t, key)->bytes, trace_str(o->t, key)->len);
  key = b.data ? trace_string(o->t, b.data, b.len) : 0;
  buf_free(&b);
  return key;
}

static void put_attributes(struct otlp *o, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value v;
  if (list->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &v)) {
      struct json_value key, value;
      const struct json_place places[] = {{"key", &key}, {"value", &value}, {NULL, NULL}};
      json_walk_object(&in, &v, places);
      const tk_id id = otlp_text(o, &in, &key);
      if (id) put_value(o, &in, key_of(o, id), &value);
    }
  json_walk_free(&in);
}

/* ---- processes ---- */

/* Returns an unused pid for a process: `wanted`, its number on its host, unless that is taken or -1 (unknown). */
static struct tk_ident free_pid(struct otlp *o, int64_t wanted) {
  struct tk_track want = {.kind = TK_TRACK_PROCESS, .pid = ident_int(wanted)};
  while (want.pid.num < 0 || trace_find(o->t, &want)) want.pid = ident_int(++o->next_pid);
  return want.pid;
}

static tk_id add_process(struct otlp *o, tk_id name, tk_id label, int64_t pid) {
  const tk_id process = trace_process(o->t, free_pid(o, pid));
  struct tk_track *k = &o->t->tracks[process];
  k->name = name;
  k->labels = label;
  k->renamed = true; /* no record contains the name, so writers must write it */
  return process;
}

static void put_label(struct buf *b, const struct tk_trace *t, const struct tk_arg *arg) {
  char number[24];
  if (arg->type != TK_ARG_STR && arg->type != TK_ARG_INT) return;
  if (b->len) buf_text(b, ", ");
  buf_append(b, trace_str(t, arg->key)->bytes, trace_str(t, arg->key)->len);
  buf_text(b, "=");
  if (arg->type == TK_ARG_STR) buf_append(b, trace_str(t, arg->s)->bytes, trace_str(t, arg->s)->len);
  else buf_append(b, number, num_put_i64(number, arg->i));
}

/* Finds or adds the process of a resource: service.name is its name, process.pid its number; the other attributes are its labels. */
static void begin_resource(struct otlp *o, struct json_walk *w, const struct json_value *resource) {
  struct json_value attributes;
  const struct json_place places[] = {{"attributes", &attributes}, {NULL, NULL}};
  struct buf labels = {.mem = o->mem};
  struct tk_arg arg;
  tk_id name = 0;
  int64_t pid = -1;
  json_walk_object(w, resource, places);
  args_begin(o->t);
  put_attributes(o, w, &attributes);
  for (struct tk_args it = tk_args_of(o->t, args_end(o->t)); tk_args_next(&it, &arg);) {
    const char *key = tk_string(o->t, arg.key, NULL);
    if (strcmp(key, "service.name") == 0 && arg.type == TK_ARG_STR) name = arg.s;
    else if (strcmp(key, "process.pid") == 0 && arg.type == TK_ARG_INT) pid = arg.i;
    else put_label(&labels, o->t, &arg);
  }
  const tk_id label = labels.len ? trace_string(o->t, labels.data, labels.len) : 0;
  uint32_t *slot = map_put(&o->processes, hash_pair(hash_pair(name, label), (uint64_t)pid), 0);
  if (slot && !*slot) *slot = add_process(o, name, label, pid);
  o->process = slot ? *slot : 0;
  buf_free(&labels);
}

/* ---- spans ---- */

struct span {
  struct json_value trace, id, parent, name, kind, start, end, attributes, events, links, status, state;
};

static tk_time at(struct otlp *o, int64_t ns) {
  if (!o->has_origin) o->t->origin_ns = ns, o->has_origin = true;
  const i128 ps = ((i128)ns - o->t->origin_ns) * 1000;
  return ps > INT64_MAX / 2 ? INT64_MAX / 2 : ps < INT64_MIN / 2 ? INT64_MIN / 2 : (tk_time)ps;
}

/* True if a span may have the id. Empty ids and ids of zeros alone are invalid: programs write them for spans that are not recorded. */
static bool is_valid_id(const struct otlp *o, tk_id id) {
  const struct intern_str *s = id ? trace_str(o->t, id) : NULL;
  for (uint32_t i = 0; s && i < s->len; i++)
    if (s->bytes[i] != '0') return true;
  return false;
}

/* Returns the key of a span in by_key; 0 if the id is invalid, so that no other span refers to this span. */
static uint64_t key_of_span(struct otlp *o, tk_id trace, tk_id id) {
  if (!is_valid_id(o, id)) return 0;
  const struct intern_str *a = trace_str(o->t, trace), *b = trace_str(o->t, id);
  return hash_pair(hash_text(a->bytes, a->len), hash_text(b->bytes, b->len));
}

static void put_text(struct otlp *o, struct json_walk *w, const char *key, const struct json_value *v) {
  const tk_id id = otlp_text(o, w, v);
  int64_t number;
  if (id && trace_str(o->t, id)->len) args_str(o->t, trace_text(o->t, key), TK_ARG_STR, id);
  else if (!id && integer_of(v, &number)) args_int(o->t, trace_text(o->t, key), number);
}

static uint32_t args_of_span(struct otlp *o, struct json_walk *w, const struct span *s, tk_id id) {
  struct json_value code, message;
  const struct json_place places[] = {{"code", &code}, {"message", &message}, {NULL, NULL}};
  json_walk_object(w, &s->status, places);
  args_begin(o->t);
  put_attributes(o, w, &s->attributes);
  if (id) args_str(o->t, trace_text(o->t, "span_id"), TK_ARG_STR, id);
  put_text(o, w, "trace_id", &s->trace);
  put_text(o, w, "parent_span_id", &s->parent);
  put_text(o, w, "span_kind", &s->kind);
  put_text(o, w, "status", &code);
  put_text(o, w, "status_message", &message);
  put_text(o, w, "trace_state", &s->state);
  return args_end(o->t);
}

/* Adds an event of the last span. */
static void add_event(struct otlp *o, struct json_walk *w, const struct json_value *v, tk_id id) {
  struct json_value name, time, attributes;
  const struct json_place places[] = {{"name", &name}, {"timeUnixNano", &time}, {"time_unix_nano", &time},
                                      {"attributes", &attributes}, {NULL, NULL}};
  int64_t ns;
  json_walk_object(w, v, places);
  if (!integer_of(&time, &ns)) {
    trace_note(o->t, TK_NOTE_REPAIR, (uint64_t)(v->p - o->text), "event without a time: dropped");
    o->t->counts.dropped++;
    return;
  }
  args_begin(o->t);
  put_attributes(o, w, &attributes);
  if (id) args_str(o->t, trace_text(o->t, "span_id"), TK_ARG_STR, id);
  const uint32_t args = args_end(o->t);
  const struct tk_event e = {.ts = at(o, ns), .cls = trace_class(o->t, otlp_text(o, w, &name), o->scope), .args = args,
                             .kind = TK_EVENT_INSTANT};
  if (mem_grow(o->mem, (void **)&o->instants, &o->cap_instants, (uint64_t)o->n_instants + 1, sizeof *o->instants))
    o->instants[o->n_instants++] = (struct instant){e, o->n_spans - 1};
}

static void add_link(struct otlp *o, struct json_walk *w, const struct json_value *v) {
  struct json_value trace, id, attributes;
  const struct json_place places[] = {{"traceId", &trace}, {"spanId", &id}, {"trace_id", &trace}, {"span_id", &id},
                                      {"attributes", &attributes}, {NULL, NULL}};
  json_walk_object(w, v, places);
  args_begin(o->t);
  put_attributes(o, w, &attributes);
  const uint32_t args = args_end(o->t);
  const tk_id of_trace = otlp_text(o, w, &trace), of_span = otlp_text(o, w, &id);
  if (!mem_grow(o->mem, (void **)&o->links, &o->cap_links, (uint64_t)o->n_links + 1, sizeof *o->links)) return;
  o->links[o->n_links++] = (struct link){key_of_span(o, of_trace, of_span), o->n_spans - 1, args};
}

/* Adds the events and links of the last span. */
static void add_parts(struct otlp *o, struct json_walk *w, const struct span *s, tk_id id) {
  struct json_value item;
  struct json_walk events = json_walk_into(w, &s->events), links = json_walk_into(w, &s->links);
  if (s->events.p && json_walk_enter(&events, '['))
    while (json_walk_more(&events) && json_walk_value(&events, &item)) add_event(o, &events, &item, id);
  if (s->links.p && json_walk_enter(&links, '['))
    while (json_walk_more(&links) && json_walk_value(&links, &item)) add_link(o, &links, &item);
  json_walk_free(&events);
  json_walk_free(&links);
}

/* Makes a span known by its key, with a note if other spans cannot refer to it. */
static void put_key(struct otlp *o, uint64_t key, uint32_t index) {
  if (!key) {
    trace_note(o->t, TK_NOTE_FACT, UINT64_MAX, "spans without a valid id: no span is inside them or linked to them");
    return;
  }
  const uint32_t *slot = map_put(&o->by_key, key, index);
  if (slot && *slot != index)
    trace_note(o->t, TK_NOTE_FACT, UINT64_MAX, "several spans with the same id: links may refer to the wrong one");
}

static bool begin_span(struct otlp *o, const struct tk_event *e, uint64_t key, uint64_t parent) {
  const bool has_room = mem_grow(o->mem, (void **)&o->spans, &o->cap_spans, (uint64_t)o->n_spans + 1, sizeof *o->spans) &&
                        mem_grow(o->mem, (void **)&o->parents, &o->cap_parents, (uint64_t)o->n_spans + 1, sizeof *o->parents);
  if (!has_room) return false;
  o->parents[o->n_spans] = parent;
  o->spans[o->n_spans] = (struct otlp_span){.e = *e, .parent = OTLP_ROOT};
  put_key(o, key, o->n_spans++);
  return true;
}

static void refuse_span(struct otlp *o, const struct json_value *v) {
  trace_note(o->t, TK_NOTE_REPAIR, (uint64_t)(v->p - o->text), "span without a start: dropped");
  o->t->counts.dropped++;
}

static struct span span_of(const struct json_walk *w, const struct json_value *v) {
  struct span s;
  const struct json_place places[] = {
      {"traceId", &s.trace}, {"spanId", &s.id}, {"parentSpanId", &s.parent}, {"name", &s.name}, {"kind", &s.kind},
      {"startTimeUnixNano", &s.start}, {"endTimeUnixNano", &s.end}, {"attributes", &s.attributes}, {"events", &s.events},
      {"links", &s.links}, {"status", &s.status}, {"traceState", &s.state},
      {"trace_id", &s.trace}, {"span_id", &s.id}, {"parent_span_id", &s.parent}, {"start_time_unix_nano", &s.start},
      {"end_time_unix_nano", &s.end}, {"trace_state", &s.state}, {NULL, NULL}};
  json_walk_object(w, v, places);
  return s;
}

static void add_span(struct otlp *o, struct json_walk *w, const struct json_value *v) {
  const struct span s = span_of(w, v);
  int64_t start, end;
  o->t->counts.read++;
  const tk_id id = otlp_text(o, w, &s.id);
  if (!integer_of(&s.start, &start)) {
    refuse_span(o, v);
    return;
  }
  const bool ended = integer_of(&s.end, &end) && end != 0;
  if (ended && end < start)
    trace_note(o->t, TK_NOTE_REPAIR, (uint64_t)(v->p - o->text), "span that ends before it starts: using length 0");
  struct tk_event e = {.ts = at(o, start), .cls = trace_class(o->t, otlp_text(o, w, &s.name), o->scope), .track = o->process,
                       .kind = ended ? TK_EVENT_SPAN : TK_EVENT_BEGIN};
  e.args = args_of_span(o, w, &s, id);
  if (ended && end > start) e.dur = at(o, end) - e.ts;
  const tk_id trace = otlp_text(o, w, &s.trace), parent = otlp_text(o, w, &s.parent);
  if (begin_span(o, &e, key_of_span(o, trace, id), key_of_span(o, trace, parent))) add_parts(o, w, &s, id);
}

/* Arranges the spans in lanes, and puts each instant on the lane of its span. */
static void arrange(struct otlp *o) {
  struct tk_trace *t = o->t;
  for (uint32_t i = 0; i < o->n_spans; i++) {
    const uint32_t *parent = o->parents[i] ? map_get(&o->by_key, o->parents[i]) : NULL;
    if (parent && *parent != i) o->spans[i].parent = *parent;
  }
  otlp_arrange(t, o->spans, o->n_spans);
  for (uint32_t i = 0; i < o->n_instants; i++) {
    struct tk_event *e = &o->instants[i].e;
    e->track = t->events[o->spans[o->instants[i].span].event].track;
    if (e->track) *trace_add_event(t) = *e;
  }
}

/* Adds a flow for each link, from the linked span. Links to spans of other files are left out. */
static void join_links(struct otlp *o) {
  struct tk_trace *t = o->t;
  for (uint32_t i = 0; i < o->n_links; i++) {
    const struct link *l = &o->links[i];
    const uint32_t *span = l->from ? map_get(&o->by_key, l->from) : NULL;
    const tk_id from = span ? o->spans[*span].event : 0, to = o->spans[l->to].event;
    if (!from || !to) {
      trace_note(t, TK_NOTE_FACT, UINT64_MAX, "links to spans that are not in the file: left out");
      continue;
    }
    const tk_id cls = trace_class(t, trace_text(t, "link"), 0);
    const struct tk_flow_point out = {.id = i + 1, .cls = cls, .at = from, .role = TK_FLOW_OUT, .bound = true,
                                      .ts = t->events[from].ts};
    const struct tk_flow_point in = {.id = i + 1, .cls = cls, .at = to, .args = l->args, .role = TK_FLOW_IN, .bound = true,
                                     .ts = t->events[to].ts};
    *trace_add_flow_point(t) = out;
    *trace_add_flow_point(t) = in;
  }
}

/* ---- the levels above ---- */

static void read_scope(struct otlp *o, struct json_walk *w, const struct json_value *v) {
  struct json_value scope, spans, name, item;
  const struct json_place places[] = {{"scope", &scope}, {"instrumentationLibrary", &scope}, {"spans", &spans}, {NULL, NULL}};
  const struct json_place names[] = {{"name", &name}, {NULL, NULL}};
  json_walk_object(w, v, places);
  json_walk_object(w, &scope, names);
  o->scope = otlp_text(o, w, &name);
  if (o->scope && !trace_str(o->t, o->scope)->len) o->scope = 0;
  struct json_walk in = json_walk_into(w, &spans);
  if (spans.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) add_span(o, &in, &item);
  json_walk_free(&in);
}

static void read_resource(struct otlp *o, struct json_walk *w, const struct json_value *v) {
  struct json_value resource, scopes, item;
  const struct json_place places[] = {{"resource", &resource}, {"scopeSpans", &scopes}, {"scope_spans", &scopes},
                                      {"instrumentationLibrarySpans", &scopes}, {NULL, NULL}};
  json_walk_object(w, v, places);
  begin_resource(o, w, &resource);
  struct json_walk in = json_walk_into(w, &scopes);
  if (scopes.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) read_scope(o, &in, &item);
  json_walk_free(&in);
}

/* Reads one document, and moves *p past it. */
static bool read_document(struct otlp *o, const uint8_t **p, const uint8_t *end) {
  struct json_walk w = json_walk_over(*p, end, o->mem);
  struct json_value document = {.p = NULL}, resources, inner, item, scopes, others;
  const struct json_place places[] = {{"resourceSpans", &resources}, {"resource_spans", &resources}, {"batches", &resources},
                                      {"trace", &inner}, {"scopeSpans", &scopes}, {"resourceMetrics", &others},
                                      {"resourceLogs", &others}, {"resource_metrics", &others}, {"resource_logs", &others},
                                      {NULL, NULL}};
  const bool whole = json_walk_value(&w, &document) && !w.cut && document.type == JSON_OBJECT;
  if (!whole) {
    trace_note(o->t, TK_NOTE_REPAIR, (uint64_t)(w.j.p - o->text), "the JSON is truncated or damaged here: the part before was read");
    o->t->truncated = true;
  }
  json_walk_object(&w, &document, places);
  if (inner.p && !resources.p) {
    document = inner;
    json_walk_object(&w, &document, places);
  }
  if (others.p) trace_note(o->t, TK_NOTE_FACT, (uint64_t)(document.p - o->text), "metrics or logs: left out");
  if (scopes.p && !resources.p) read_resource(o, &w, &document);
  struct json_walk in = json_walk_into(&w, &resources);
  if (resources.p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) read_resource(o, &in, &item);
  json_walk_free(&in);
  *p = w.j.p;
  json_walk_free(&w);
  return whole;
}

bool otlp_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct buf text = {.mem = mem};
  struct otlp o = {.t = t, .mem = mem};
  size_t n;
  (void)opt;
  map_init(&o.by_key, mem);
  map_init(&o.processes, mem);
  const bool ok = json_walk_load(in, &text, &n, err);
  o.text = text.data;
  t->clock = TK_CLOCK_REALTIME;
  t->store->clock_from = "startTimeUnixNano";
  if (ok) {
    const uint8_t *p = text.data, *end = p + n;
    if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    for (bool more = true; more;) {
      while (p < end && json_is_space(*p)) p++;
      more = p < end && read_document(&o, &p, end);
    }
    arrange(&o);
    join_links(&o);
  }
  t->counts.bytes = in_offset(in);
  map_free(&o.by_key);
  map_free(&o.processes);
  mem_free(mem, o.spans);
  mem_free(mem, o.parents);
  mem_free(mem, o.instants);
  mem_free(mem, o.links);
  buf_free(&text);
  return ok && mem_check(mem, err);
}

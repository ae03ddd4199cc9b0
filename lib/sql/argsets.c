/* argsets.c - see argsets.h. */
#include "argsets.h"

#include <string.h>

#include "base/base64.h"
#include "base/text.h"
#include "format/json.h"
#include "op/match.h"
#include "graph/args.h"
#include "samples.h"

/* ---- ids of sets ---- */

static bool is_ranked(const struct tk_sql *s, tk_id track) {
  return s->t->tracks[track].has_sort && (!s->is_filed || s->tracks[track].filed.ranked);
}

uint32_t argset_of_process(const struct tk_sql *s, uint32_t upid) {
  const tk_id track = s->processes[upid].track;
  const bool has = track && (is_ranked(s, track) || (s->is_filed && s->t->tracks[track].labels));
  return has ? s->t->n_events + 1 + upid : 0;
}

uint32_t argset_of_thread(const struct tk_sql *s, uint32_t utid) {
  const tk_id track = s->threads[utid].track;
  return track && is_ranked(s, track) ? s->t->n_events + 1 + s->n_processes + utid : 0;
}

static uint64_t tracks_from(const struct tk_sql *s) { return (uint64_t)s->t->n_events + 1 + s->n_processes + s->n_threads; }

static uint64_t sources_from(const struct tk_sql *s) { return tracks_from(s) + s->t->n_tracks + 1; }

uint32_t argset_of_track(const struct tk_sql *s, tk_id track) { return (uint32_t)(tracks_from(s) + track); }

/* Returns the arg set of a flow; 0 for Perfetto's own flows, which have neither name nor category. */
uint32_t argset_of_flow(const struct tk_sql *s, uint32_t flow) {
  const bool by_fields = s->t->flow_points[s->flows[flow].point].role >= TK_FLOW_OUT; /* slices list these flows by id only, without a
                                                                                       * name */
  return s->times.exact || by_fields ? 0 : (uint32_t)(sources_from(s) + s->t->n_tracks + 1 + flow);
}

/* True if a track has an arg set that describes its source. Counters and threads of JSON have none. Threads of Perfetto
 * traces have one only if viewers must not merge their track. */
static bool has_source(const struct tk_sql *s, tk_id track) {
  const struct sql_track *v = &s->tracks[track];
  const struct tk_track *k = &s->t->tracks[track];
  if (s->is_filed) return v->filed.used && (v->filed.kind != FORMAT_TRACK_THREAD || v->filed.apart);
  if (s->times.exact) return false;
  if (track == GLOBAL_TRACK) return s->n_globals > 0;
  return (k->kind == TK_TRACK_PROCESS || k->kind == TK_TRACK_ASYNCS) && k->count > v->globals;
}

uint32_t argset_of_source(const struct tk_sql *s, tk_id track) {
  return has_source(s, track) ? (uint32_t)(sources_from(s) + track) : 0;
}

uint64_t argset_last(const struct tk_sql *s) { return sources_from(s) + s->t->n_tracks + s->n_flows; }

/* Returns the part of a key after a reserved prefix such as "json.end."; NULL if the key has another prefix. */
static const char *behind(const struct tk_sql *s, tk_id key, tk_id prefix) {
  const char *text = tk_string(s->t, key, NULL), *begin = tk_string(s->t, prefix, NULL);
  if (!text_begins(text, begin)) return NULL;
  text += strlen(begin);
  return prefix == KEY_OF_END ? text : *text == '.' ? text + 1 : NULL;
}

static bool is_of_end(const struct tk_sql *s, tk_id key) { return behind(s, key, KEY_OF_END) != NULL; }

/* True for a field of the event that the tables show as an arg, as trace_processor does. */
static bool is_filed_field(const char *key) { return text_begins(key, FILED_FIELD); }

/* True for an event field that has its own column and is therefore not shown as an arg. */
static bool is_field(const struct tk_sql *s, const char *key) {
  if (is_filed_field(key)) return false;
  const size_t n = strlen(tk_string(s->t, KEY_ARGS, NULL)) - strlen("args");
  const char *own = tk_string(s->t, KEY_PERFETTO_FIELDS, NULL);
  if (s->times.exact && strncmp(key, own, strlen(own) - strlen("fields")) == 0) return true;
  return strncmp(key, tk_string(s->t, KEY_ARGS, NULL), n) == 0;
}

static bool is_shown(const struct tk_sql *s, tk_id key, enum tk_arg_type type) {
  const char *of_end = behind(s, key, KEY_OF_END);
  if (type == TK_ARG_NULL) return false;
  if (of_end) return !is_field(s, of_end);
  return !is_field(s, tk_string(s->t, key, NULL)) || behind(s, key, KEY_ARGS);
}

static bool shape_shows(const struct tk_sql *s, uint32_t args) {
  struct tk_args it = tk_args_of(s->t, args);
  for (uint32_t i = 0; it.shape && i < it.shape->n; i++)
    if (is_shown(s, it.shape->fields[i].key, (enum tk_arg_type)it.shape->fields[i].type)) return true;
  return false;
}

uint32_t argset_of_event(const struct tk_sql *s, tk_id event) {
  const struct tk_event *e = &s->t->events[event];
  const uint32_t shared = s->t->classes[e->cls].args;
  return is_slice(e) && ((e->args && shape_shows(s, e->args)) || (shared && shape_shows(s, shared))) ? event : 0;
}

/* ---- values ---- */

/* Stores a double. In an XPlane, a double without a fraction becomes an integer, as in JSON. */
static void double_value(const struct tk_sql *s, double d, struct arg_row *row) {
  const double most = 9007199254740992.0; /* 2^53 */
  row->is = !s->times.exact && d > -most && d < most && d == (double)(int64_t)d ? ARG_IS_INT : ARG_IS_REAL;
  row->d = d;
  if (row->is == ARG_IS_INT) row->i = (int64_t)d;
}

static bool plain_value(const struct tk_sql *s, const struct tk_arg *a, struct arg_row *row) {
  row->lasting = true;
  switch (a->type) {
  case TK_ARG_FALSE:
  case TK_ARG_TRUE:
    row->is = ARG_IS_BOOL;
    row->i = a->type == TK_ARG_TRUE;
    return true;
  case TK_ARG_INT:
    row->is = ARG_IS_INT;
    row->i = a->i;
    return true;
  case TK_ARG_UINT: /* trace_processor's JSON importer lets such a number overflow, and stores it as a double */
    row->d = (double)(int64_t)a->u;
    row->is = s->times.exact ? ARG_IS_UINT : a->u > INT64_MAX ? ARG_IS_REAL : ARG_IS_INT;
    row->i = (int64_t)a->u;
    return true;
  case TK_ARG_POINTER:
    row->is = ARG_IS_POINTER;
    row->i = (int64_t)a->u;
    return true;
  case TK_ARG_DECIMAL:
    row->is = ARG_IS_REAL;
    row->d = num_nearest(a->i, a->exp);
    return true;
  case TK_ARG_DOUBLE:
    double_value(s, a->d, row);
    return true;
  case TK_ARG_NUMBER: {
    size_t n;
    const char *text = tk_string(s->t, a->s, &n);
    row->is = ARG_IS_REAL;
    row->d = num_double(text, n);
    return true;
  }
  case TK_ARG_STR:
  case TK_ARG_REF:
    row->is = ARG_IS_STRING;
    row->text = tk_string(s->t, a->s, &row->text_n);
    return true;
  case TK_ARG_BYTES:
    row->is = ARG_IS_STRING;
    row->text = NULL;
    return !s->is_filed;
  default: return false;
  }
}

struct walk_args {
  struct tk_sql *s;
  bool (*put)(void *arg, const struct arg_row *row);
  void *arg;
  struct buf key, flat;
  /* True if keys may repeat: within an object, or because a span has args from its begin event and from its end event. As in
   * trace_processor, only the last value of a key is shown, and an array continues an earlier one with the same key. The args are then
   * walked twice, the first time only to count keys. */
  bool repeats;
  bool counting;
  struct map times;   /* hash of a key -> how many rows with this key are still to come */
  struct map lengths; /* hash of an array's key -> its length so far */
  bool stopped;
};

/* Counts the row whose key is in w->key. Returns true if it is the last row with this key, which is the one to show. */
static bool is_last(struct walk_args *w) {
  uint32_t *times = map_put(&w->times, hash_text((const char *)w->key.data, w->key.len), 0);
  if (!times) return false;
  *times += w->counting ? 1 : UINT32_MAX;
  return !w->counting && *times == 0;
}

static void put_row(struct walk_args *w, struct arg_row *row) {
  if (w->repeats && !is_last(w)) return;
  if (!buf_append(&w->key, "", 1) || !buf_append(&w->flat, "", 1)) w->stopped = true;
  if (w->stopped) return;
  row->key = (const char *)w->key.data;
  row->flat = (const char *)w->flat.data;
  row->key_n = --w->key.len;
  row->flat_n = --w->flat.len;
  w->stopped = !w->put(w->arg, row);
}

/* Appends a key. In formats with times in nanoseconds, such as Perfetto, replaces dots and brackets, which would look like
 * nesting, by underscores, as trace_processor does in the names of annotations. */
static void add_key(const struct walk_args *w, struct buf *to, const char *text, size_t n) {
  const size_t from = to->len;
  if (!buf_append(to, text, n) || !w->s->times.exact) return;
  for (size_t i = from; i < to->len; i++)
    if (to->data[i] == '.' || to->data[i] == '[' || to->data[i] == ']') to->data[i] = '_';
}

/* Appends a key inside JSON text. If the file describes its tracks (is_filed), the reader has already replaced the
 * characters that trace_processor replaces. */
static void add_nested_key(const struct walk_args *w, struct buf *to, const char *text, size_t n) {
  if (w->s->is_filed) buf_append(to, text, n);
  else add_key(w, to, text, n);
}

static void take_apart(struct walk_args *w, const struct json_value *v, unsigned depth);

static void put_object(struct walk_args *w, struct json *j, unsigned depth) {
  struct json_string key;
  struct json_value v;
  while (json_blank(j) && *j->p != '}' && json_key(j, &key) && json_value(j, &v) && !w->stopped) {
    const size_t at = w->key.len, flat = w->flat.len;
    size_t n;
    const char *text = (const char *)json_string_text(j, &key, &n);
    if (!text) break;
    buf_append(&w->key, ".", 1);
    buf_append(&w->flat, ".", 1);
    add_nested_key(w, &w->key, text, n);
    add_nested_key(w, &w->flat, text, n);
    take_apart(w, &v, depth);
    w->key.len = at;
    w->flat.len = flat;
    if (!json_blank(j) || *j->p++ != ',') break;
  }
}

static void put_array(struct walk_args *w, struct json *j, unsigned depth) {
  const uint64_t key = hash_text((const char *)w->key.data, w->key.len);
  uint32_t *length = w->repeats ? map_put(&w->lengths, key, 0) : NULL, i = length ? *length : 0;
  struct json_value v;
  while (json_blank(j) && *j->p != ']' && json_value(j, &v) && !w->stopped) {
    const size_t at = w->key.len;
    char index[32];
    buf_append(&w->key, "[", 1);
    buf_append(&w->key, index, num_put_u64(index, i));
    buf_append(&w->key, "]", 1);
    take_apart(w, &v, depth);
    w->key.len = at;
    i += v.type != JSON_NULL; /* trace_processor does not count nulls as elements */
    if (!json_blank(j) || *j->p++ != ',') break;
  }
  length = w->repeats ? map_get(&w->lengths, key) : NULL;
  if (length) *length = i;
}

static void argsets_put_number(struct walk_args *w, const struct json_value *v) {
  struct arg_row row = {.is = ARG_IS_INT, .i = v->num.mant};
  const bool of_json = !w->s->times.exact || w->s->is_filed;
  if (v->num.kind == NUM_UINT && of_json) row = (struct arg_row){.is = ARG_IS_REAL, .d = (double)v->num.mant};
  if (v->num.kind != NUM_INT && v->num.kind != NUM_UINT) {
    row.is = ARG_IS_REAL;
    row.d = num_double((const char *)v->p, (size_t)(v->end - v->p));
  }
  put_row(w, &row);
}

/* Returns the value in a string that begins with FILED_VALUE and a letter for its type (format/format.h). */
static struct arg_row filed_value(const char *text, size_t n) {
  struct arg_row row = {.is = text[1] == 'u' ? ARG_IS_UINT : text[1] == 'p' ? ARG_IS_POINTER : ARG_IS_REAL};
  uint64_t v = 0;
  for (size_t i = 2; i < n && text[i] >= '0' && text[i] <= '9'; i++) v = v * 10 + (uint64_t)(text[i] - '0');
  if (row.is == ARG_IS_REAL) row.d = num_double(text + 2, n - 2);
  else row.i = (int64_t)v;
  return row;
}

static void argsets_put_string(struct walk_args *w, const struct json_value *v) {
  struct json j = {.p = v->p, .end = v->end, .last = true, .scratch = {.mem = &w->s->mem}};
  struct arg_row row = {.is = ARG_IS_STRING};
  row.text = (const char *)json_string_text(&j, &v->str, &row.text_n);
  if (row.text && w->s->is_filed && row.text_n > 2 && *row.text == FILED_VALUE) row = filed_value(row.text, row.text_n);
  if (row.text || row.is != ARG_IS_STRING) put_row(w, &row);
  buf_free(&j.scratch);
}

static void take_apart(struct walk_args *w, const struct json_value *v, unsigned depth) {
  struct json j = {.p = v->p + 1, .end = v->end, .last = true, .scratch = {.mem = &w->s->mem}};
  struct arg_row flag = {.is = ARG_IS_BOOL, .i = v->type == JSON_TRUE};
  switch (v->type) {
  case JSON_NULL: break;
  case JSON_TRUE: case JSON_FALSE: put_row(w, &flag); break;
  case JSON_NUMBER: argsets_put_number(w, v); break;
  case JSON_STRING: argsets_put_string(w, v); break;
  case JSON_OBJECT:
    if (depth < JSON_DEPTH) put_object(w, &j, depth + 1);
    break;
  default:
    if (depth < JSON_DEPTH) put_array(w, &j, depth + 1);
  }
  buf_free(&j.scratch);
}

/* Adds a row for bytes, with the text that they become in JSON. */
static void put_bytes(struct walk_args *w, const struct tk_arg *a) {
  const struct intern_str *bytes = trace_str(w->s->t, a->s);
  struct buf text = {.mem = &w->s->mem};
  buf_text(&text, "data:;base64,");
  base64_append(&text, bytes->bytes, bytes->len);
  if (text.data) put_row(w, &(struct arg_row){.is = ARG_IS_STRING, .text = (const char *)text.data, .text_n = text.len});
  buf_free(&text);
}

static void put_arg(struct walk_args *w, const char *key, size_t n, const struct tk_arg *a) {
  struct arg_row row = {.lasting = true};
  const size_t prefix = is_filed_field(key) ? strlen(FILED_FIELD) : 0;
  w->key.len = w->flat.len = 0;
  if (!prefix) buf_text(&w->key, w->s->times.exact ? "debug." : "args.");
  if (prefix) buf_append(&w->key, key + prefix, n - prefix);
  else add_key(w, &w->key, key, n);
  buf_append(&w->flat, w->key.data, w->key.len);
  if (a->type == TK_ARG_BYTES && !w->s->times.exact) {
    put_bytes(w, a);
    return;
  }
  if (plain_value(w->s, a, &row)) put_row(w, &row);
  if (a->type != TK_ARG_JSON) return;
  size_t text_n;
  const char *text = tk_string(w->s->t, a->s, &text_n);
  struct json j = {.p = (const uint8_t *)text, .end = (const uint8_t *)text + text_n, .last = true, .scratch = {.mem = &w->s->mem}};
  struct json_value v;
  if (json_value(&j, &v)) take_apart(w, &v, 0);
  buf_free(&j.scratch);
}

/* ---- the args of an event ---- */

static const char *shown_key(const struct tk_sql *s, tk_id key, size_t *n) {
  const char *text = tk_string(s->t, key, n), *less = behind(s, key, KEY_OF_END);
  if (!less) less = behind(s, key, KEY_ARGS);
  if (less) *n -= (size_t)(less - text);
  return less ? less : text;
}

static bool refuse_row(void *arg, const struct arg_row *row) {
  (void)arg, (void)row;
  return false;
}

/* True for null, and for a nested value that contains only nulls. */
static bool has_no_rows(struct tk_sql *s, const struct tk_arg *a) {
  struct walk_args probe = {.s = s, .put = refuse_row, .key = {.mem = &s->mem}, .flat = {.mem = &s->mem}};
  if (a->type != TK_ARG_JSON) return a->type == TK_ARG_NULL;
  put_arg(&probe, "", 0, a);
  buf_free(&probe.key);
  buf_free(&probe.flat);
  return !probe.stopped;
}

static bool has_object(const struct tk_sql *s, const struct tk_arg *a) {
  size_t n;
  const char *text = a->type == TK_ARG_JSON ? tk_string(s->t, a->s, &n) : NULL;
  return text && memchr(text, '{', n);
}

/* Stores for each key the largest strength of the args with this key; only the arg with that strength is shown. `strength`:
 * 2 for the event's own args, 0 for those of its class. */
static bool note_keys(struct walk_args *w, struct map *strongest, uint32_t args, uint32_t strength) {
  struct tk_args it = tk_args_of(w->s->t, args);
  struct tk_arg a;
  while (tk_args_next(&it, &a)) {
    size_t n;
    if (has_no_rows(w->s, &a)) continue; /* an arg without rows replaces nothing */
    const char *key = shown_key(w->s, a.key, &n);
    uint32_t *slot = map_put(strongest, hash_text(key, n), strength);
    if (!slot) return false;
    if (strength > *slot) *slot = strength;
    w->repeats = w->repeats || is_of_end(w->s, a.key) || has_object(w->s, &a);
  }
  return true;
}

enum which { ALL_ARGS, ARGS_OF_BEGIN, ARGS_OF_END };

static void put_args(struct walk_args *w, const struct map *strongest, uint32_t args, uint32_t strength, enum which which) {
  struct tk_args it = tk_args_of(w->s->t, args);
  struct tk_arg a;
  while (!w->stopped && tk_args_next(&it, &a)) {
    if (!is_shown(w->s, a.key, a.type)) continue;
    if (which != ALL_ARGS && is_of_end(w->s, a.key) != (which == ARGS_OF_END)) continue;
    size_t n;
    const char *key = shown_key(w->s, a.key, &n);
    const uint32_t *slot = map_get(strongest, hash_text(key, n));
    if (slot && *slot == strength) put_arg(w, key, n, &a);
  }
}

static void walk(struct walk_args *w, const struct map *strongest, const struct tk_event *e) {
  put_args(w, strongest, e->args, 2, w->repeats ? ARGS_OF_BEGIN : ALL_ARGS);
  if (w->repeats) put_args(w, strongest, e->args, 2, ARGS_OF_END);
  put_args(w, strongest, w->s->t->classes[e->cls].args, 0, ALL_ARGS);
}

static void walk_twice(struct walk_args *w, const struct map *strongest, const struct tk_event *e) {
  map_init(&w->times, &w->s->mem);
  for (int pass = 0; pass < 2; pass++) {
    map_init(&w->lengths, &w->s->mem);
    w->counting = pass == 0;
    walk(w, strongest, e);
    map_free(&w->lengths);
  }
  map_free(&w->times);
}

static bool event_rows(struct walk_args *w, tk_id event) {
  const struct tk_event *e = &w->s->t->events[event];
  struct map strongest;
  map_init(&strongest, &w->s->mem);
  const bool ok = note_keys(w, &strongest, e->args, 2) && note_keys(w, &strongest, w->s->t->classes[e->cls].args, 0);
  if (ok && w->repeats) walk_twice(w, &strongest, e);
  else if (ok) walk(w, &strongest, e);
  map_free(&strongest);
  return ok;
}

/* ---- other sets ---- */

static void put_named(struct walk_args *w, const char *key, struct arg_row row) {
  w->key.len = w->flat.len = 0;
  buf_text(&w->key, key);
  buf_text(&w->flat, key);
  if (!w->stopped) put_row(w, &row);
}

static void argsets_put_text(struct walk_args *w, const char *key, tk_id id) {
  struct arg_row row = {.is = ARG_IS_STRING, .lasting = true};
  row.text = tk_string(w->s->t, id, &row.text_n);
  if (id) put_named(w, key, row);
}

static void sort_row(struct walk_args *w, const char *key, tk_id track) {
  if (track && is_ranked(w->s, track)) put_named(w, key, (struct arg_row){.i = w->s->t->tracks[track].sort_index});
}

static void track_row(struct walk_args *w, tk_id track) {
  const struct sql_track *v = &w->s->tracks[track];
  if ((!w->s->t->tracks[track].count && !v->filed.used) || v->sort == SORT_COUNTER) return;
  if (v->utid != SQL_NONE) put_named(w, "utid", (struct arg_row){.i = v->utid});
  else if (v->upid != SQL_NONE) put_named(w, "upid", (struct arg_row){.i = v->upid});
}

static void put_literal(struct walk_args *w, const char *key, const char *text) {
  put_named(w, key, (struct arg_row){.is = ARG_IS_STRING, .lasting = true, .text = text, .text_n = text ? strlen(text) : 0});
}

static void filed_rows(struct walk_args *w, const struct format_track *f) {
  static const char *const ORDERINGS[] = {NULL, "lexicographic", "chronological", "explicit"};
  put_literal(w, "source", "descriptor");
  put_named(w, "trace_id", (struct arg_row){.i = (int64_t)f->id});
  put_named(w, "is_root_in_scope", (struct arg_row){.is = ARG_IS_BOOL, .i = f->kind == FORMAT_TRACK_PROCESS});
  if (f->ordering) put_literal(w, "child_ordering", ORDERINGS[f->ordering]);
  if (f->has_rank) put_named(w, "sibling_order_rank", (struct arg_row){.i = f->rank});
  argsets_put_text(w, "description", f->description);
}

/* Adds rows that describe the source of a track, in the same form as trace_processor's importers. */
static void source_rows(struct walk_args *w, tk_id track) {
  const struct sql_track *v = &w->s->tracks[track];
  if (!argset_of_source(w->s, track)) return;
  if (w->s->is_filed) {
    filed_rows(w, &v->filed);
    return;
  }
  put_literal(w, "source", "chrome");
  if (w->s->t->tracks[track].kind != TK_TRACK_ASYNCS) return;
  const tk_id process = w->s->t->tracks[track].parent;
  put_named(w, "trace_id_is_process_scoped", (struct arg_row){.is = ARG_IS_BOOL, .i = v->upid != SQL_NONE});
  put_named(w, "upid", (struct arg_row){.is = ARG_IS_UINT, .i = w->s->tracks[process].upid});
  put_literal(w, "source_scope", NULL);
}

static void label_rows(struct walk_args *w, tk_id track) {
  const char *p = w->s->is_filed && track ? tk_string(w->s->t, w->s->t->tracks[track].labels, NULL) : "";
  char key[64];
  for (unsigned i = 0; *p && !w->stopped; i++) {
    const size_t n = strcspn(p, "\n");
    sqlite3_snprintf(sizeof key, key, "chrome.process_label[%u]", i);
    w->key.len = w->flat.len = 0;
    buf_text(&w->key, key);
    buf_text(&w->flat, "chrome.process_label");
    put_row(w, &(struct arg_row){.is = ARG_IS_STRING, .text = p, .text_n = n});
    p += n + (p[n] != 0);
  }
}

static void flow_row(struct walk_args *w, uint64_t flow) {
  if (flow >= w->s->n_flows) return;
  const struct tk_class *c = &w->s->t->classes[w->s->t->flow_points[w->s->flows[flow].point].cls];
  argsets_put_text(w, "name", c->name);
  argsets_put_text(w, "cat", c->cat);
}

static bool other_rows(struct walk_args *w, uint64_t set) {
  const struct tk_sql *s = w->s;
  uint64_t n = set - s->t->n_events - 1;
  if (n < s->n_processes) {
    label_rows(w, s->processes[n].track);
    sort_row(w, "process_sort_index_hint", s->processes[n].track);
    return true;
  }
  n -= s->n_processes;
  if (n < s->n_threads) {
    sort_row(w, "thread_sort_index_hint", s->threads[n].track);
    return true;
  }
  n -= s->n_threads;
  if (n <= s->t->n_tracks) {
    n ? track_row(w, (tk_id)n) : (void)0;
    return true;
  }
  n -= s->t->n_tracks + 1;
  if (n <= s->t->n_tracks) {
    source_rows(w, (tk_id)n);
    return true;
  }
  flow_row(w, n - s->t->n_tracks - 1);
  return true;
}

bool argset_each(struct tk_sql *s, uint64_t set, bool (*put)(void *arg, const struct arg_row *row), void *arg) {
  struct walk_args w = {.s = s, .put = put, .arg = arg, .key = {.mem = &s->mem}, .flat = {.mem = &s->mem}};
  bool ok = true;
  if (set > 0 && set <= s->t->n_events) ok = !is_slice(&s->t->events[set]) || event_rows(&w, (tk_id)set);
  else if (set) ok = sql_flows(s) && other_rows(&w, set);
  buf_free(&w.key);
  buf_free(&w.flat);
  return ok && !s->mem.failed;
}

bool argset_plain(const struct tk_sql *s, tk_id event, const tk_id keys[2], struct arg_row *row, bool *made) {
  const struct tk_event *e = &s->t->events[event];
  struct tk_arg a;
  for (size_t i = 0; i < 2; i++)
    if (keys[i] && args_of_event(s->t, e, keys[i], &a)) {
      *made = a.type == TK_ARG_BYTES;
      if (*made || plain_value(s, &a, row)) return !*made;
    }
  return false;
}

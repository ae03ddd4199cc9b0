/* event.c - writes TrackEvents that are as small as possible without losing names.
 *
 * Each graph has one sequence. Names, categories, arg keys and arg strings are interned until its state is cleared (segments.h). The
 * clock is incremental, and the default track changes when the next track begins. So a begin packet consists of a time delta, two ids
 * and the args, and an end packet takes eleven bytes. */
#include <string.h>

#include "event.h"
#include "base/base64.h"
#include "writer.h"
#include "plain.h"
#include "flow_points.h"
#include "thread_times.h"
#include "extension.h"
#include "legacy.h"
#include "format/json.h"

/* ---- args ---- */

static double decimal(const struct tk_arg *a) {
  static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  /* mantissas up to 2^53 and powers up to 10^22 are exact, so a single division rounds correctly */
  if (a->exp < 0 && a->exp >= -22 && a->i < (1ll << 53) && a->i > -(1ll << 53)) return (double)a->i / powers[-a->exp];
  return num_nearest(a->i, a->exp);
}

/* Returns the decimal without trailing zeros, so that equal numbers have the same mantissa. */
static struct num shortest(int64_t mant, int32_t exp) {
  while (mant && mant % 10 == 0) mant /= 10, exp++;
  return (struct num){.mant = mant, .exp = mant ? exp : 0};
}

bool event_decimal_is_double(const struct tk_arg *a, double *d) {
  static const int64_t FIFTEEN_DIGITS = 1000000000000000;
  char text[40] = {0};
  const uint8_t *end;
  if (a->type == TK_ARG_INT) {
    *d = (double)a->i;
    return a->i < 1ll << 53 && a->i > -(1ll << 53);
  }
  if (a->type != TK_ARG_DECIMAL) return false;
  *d = decimal(a);
  if (a->i < FIFTEEN_DIGITS && a->i > -FIFTEEN_DIGITS) return true;
  num_put_double(text, *d);
  struct num printed = num_scan((const uint8_t *)text, &end);
  struct num was = shortest(a->i, a->exp);
  printed = shortest(printed.mant, printed.exp);
  return printed.mant == was.mant && printed.exp == was.exp;
}

static const char DATA_URL[] = "data:;base64,";

/* Writes bytes that are not text as a data URL, which marks them as bytes and loses nothing. */
static void write_data_url(struct event_writer *w, struct buf *b, const struct intern_str *s) {
  struct buf *url = &w->scratch;
  url->len = 0;
  buf_append(url, DATA_URL, sizeof DATA_URL - 1);
  base64_append(url, s->bytes, s->len);
  pb_bytes(b, ANNOTATION_STRING, url->data, url->len);
}

/* Finds a key in the text of ARG_TYPES: {"key":"types",...}. Returns the position after it; NULL if it is not there. */
static const uint8_t *find_types(const struct intern_str *types, size_t from, const struct buf *key) {
  const uint8_t *p = types->bytes + from, *end = types->bytes + types->len;
  while (p < end && (p = memmem(p, (size_t)(end - p), key->data, key->len)) != NULL) {
    if (p > types->bytes && (p[-1] == '{' || p[-1] == ',')) return p + key->len;
    p++;
  }
  return NULL;
}

/* Returns the types of a nested annotation. The arg ARG_TYPES usually has the same order as the args, so that each part of it is
 * read once; args may have been removed, or reordered by other software. */
static struct nested_types types_of(struct event_writer *w, const struct tk_arg *arg, uint32_t skip) {
  const struct intern_str *key = trace_str(w->t, arg->key);
  struct nested_types types = {.n = 0};
  struct buf *b = &w->scratch;
  if (!w->types) return types;
  b->len = 0;
  if (!json_quote(b, key->bytes + skip, key->len - skip)) return types;
  buf_append(b, ":\"", 2);
  const uint8_t *end = w->types->bytes + w->types->len;
  types.p = find_types(w->types, w->types_at, b);
  if (!types.p) types.p = find_types(w->types, 0, b);
  if (!types.p) return types;
  const uint8_t *quote = memchr(types.p, '"', (size_t)(end - types.p));
  if (!quote) return types;
  types.n = (size_t)(quote - types.p);
  w->types_at = (size_t)(quote + 1 - w->types->bytes);
  return types;
}

/* Writes a value whose annotation may be too long for a length of one byte. */
static void put_long_value(struct event_writer *w, struct buf *b, const struct tk_arg *arg, uint32_t skip) {
  const struct intern_str *text = arg->type == TK_ARG_DECIMAL ? NULL : trace_str(w->t, arg->s);
  char number[96];
  if (!text) {
    pb_double(b, ANNOTATION_DOUBLE, decimal(arg));
    pb_bytes(b, ANNOTATION_TRACEKIT, number, num_put_decimal(number, arg->i, arg->exp));
  } else if (arg->type == TK_ARG_BYTES) {
    write_data_url(w, b, text);
  } else if (arg->type == TK_ARG_JSON) {
    if (!nested_append(&w->nested, b, arg->s, text, types_of(w, arg, skip))) pb_bytes(b, ANNOTATION_JSON, text->bytes, text->len);
  } else { /* trace_processor v52 ignores JSON that is a number, so this writes a double and the original text */
    pb_double(b, ANNOTATION_DOUBLE, num_double((const char *)text->bytes, text->len));
    pb_bytes(b, ANNOTATION_TRACEKIT, text->bytes, text->len);
  }
}

static void write_long_annotation(struct event_writer *w, uint32_t key, const struct tk_arg *arg, uint32_t skip) {
  struct buf *b = &w->annotation;
  b->len = 0;
  pb_u64(b, ANNOTATION_NAME_IID, key);
  put_long_value(w, b, arg, skip);
  pb_message(&w->event, EVENT_DEBUG_ANNOTATIONS, b);
}

static inline uint8_t *put_double(uint8_t *p, double d) {
  uint64_t bits;
  memcpy(&bits, &d, sizeof bits);
  for (int i = 0; i < 8; i++) *p++ = (uint8_t)(bits >> 8 * i);
  return p;
}

/* Writes an annotation directly into the buffer. A Kineto kernel has twenty args, nearly all of them numbers and interned
 * strings. Sizes below 128 take one byte, and so do the keys of fields below 16. */
static void write_annotation(struct event_writer *w, uint32_t key, const struct tk_arg *arg, uint32_t skip) {
  enum tk_arg_type type = arg->type;
  double d = arg->d;
  bool short_decimal = type == TK_ARG_DECIMAL && event_decimal_is_double(arg, &d);
  if (type == TK_ARG_JSON || type == TK_ARG_BYTES || type == TK_ARG_NUMBER || (type == TK_ARG_DECIMAL && !short_decimal)) {
    write_long_annotation(w, key, arg, skip);
    return;
  }
  bool is_text = type == TK_ARG_STR || type == TK_ARG_REF;
  uint32_t text = is_text ? writer_iid(w, &w->values, INTERNED_ANNOTATION_STRINGS, arg->s) : 0;
  uint8_t *start = buf_reserve(&w->event, 32), *p = start;
  if (!p) return;
  *p++ = PB_KEY(EVENT_DEBUG_ANNOTATIONS, PB_BYTES);
  p++; /* leaves room for the length */
  *p++ = PB_KEY(ANNOTATION_NAME_IID, PB_VARINT);
  p = varint_put(p, key);
  switch (type) {
  case TK_ARG_FALSE:
  case TK_ARG_TRUE:
    *p++ = PB_KEY(ANNOTATION_BOOL, PB_VARINT);
    *p++ = type == TK_ARG_TRUE;
    break;
  case TK_ARG_INT:
    *p++ = PB_KEY(ANNOTATION_INT, PB_VARINT);
    p = varint_put(p, (uint64_t)arg->i);
    break;
  case TK_ARG_UINT:
  case TK_ARG_POINTER:
    *p++ = (uint8_t)PB_KEY(type == TK_ARG_UINT ? ANNOTATION_UINT : ANNOTATION_POINTER, PB_VARINT);
    p = varint_put(p, arg->u);
    break;
  case TK_ARG_DECIMAL:
  case TK_ARG_DOUBLE:
    *p++ = PB_KEY(ANNOTATION_DOUBLE, PB_FIXED64);
    p = put_double(p, d);
    break;
  case TK_ARG_STR:
  case TK_ARG_REF: p = varint_put(pb_key(p, ANNOTATION_STRING_IID, PB_VARINT), text); break;
  default: break; /* null: an annotation without a value, because the JSON text "null" crashes trace_processor v52 */
  }
  start[1] = (uint8_t)(p - start - 2);
  w->event.len += (size_t)(p - start);
}

static void write_plain_annotation(struct event_writer *w, const struct tk_arg *arg, uint32_t skip) {
  struct buf *b = &w->annotation;
  double d = arg->d;
  b->len = 0;
  switch (arg->type) {
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: pb_u64(b, ANNOTATION_BOOL, arg->type == TK_ARG_TRUE); break;
  case TK_ARG_INT: pb_i64(b, ANNOTATION_INT, arg->i); break;
  case TK_ARG_UINT: pb_u64(b, ANNOTATION_UINT, arg->u); break;
  case TK_ARG_POINTER: pb_u64(b, ANNOTATION_POINTER, arg->u); break;
  case TK_ARG_DECIMAL:
    if (event_decimal_is_double(arg, &d)) pb_double(b, ANNOTATION_DOUBLE, d);
    else put_long_value(w, b, arg, skip);
    break;
  case TK_ARG_DOUBLE: pb_double(b, ANNOTATION_DOUBLE, d); break;
  case TK_ARG_JSON:
  case TK_ARG_NUMBER:
  case TK_ARG_BYTES: put_long_value(w, b, arg, skip); break;
  default: break;
  }
  plain_annotation(w, arg, skip, b);
}

/* ---- args that are fields ---- */

/* Stored instead of an iid for a key in struct field_keys, whose arg is written as a field. */
enum { IS_FIELD = UINT32_MAX };

static tk_id find_key(struct event_writer *w, struct iids *keys, const char *text) {
  tk_id id = trace_text_id(w->t, text);
  if (id) keys->iid[id] = IS_FIELD;
  return id;
}

void event_find_keys(struct event_writer *w) {
  w->begin_keys.fields = find_key(w, &w->keys, "perfetto.fields");
  w->begin_keys.interned = find_key(w, &w->keys, ARG_INTERNED);
  w->begin_keys.types = find_key(w, &w->keys, ARG_TYPES);
  w->begin_keys.correlation = find_key(w, &w->keys, "perfetto.correlation_id");
  w->begin_keys.thread_time = trace_text_id(w->t, THREAD_TIME_ARG);
  w->begin_keys.instructions = trace_text_id(w->t, INSTRUCTIONS_ARG);
  w->end_field_keys.fields = find_key(w, &w->end_keys, END_ARG "perfetto.fields");
  w->end_field_keys.interned = find_key(w, &w->end_keys, END_ARG ARG_INTERNED);
  w->end_field_keys.types = find_key(w, &w->end_keys, END_ARG ARG_TYPES);
  w->end_field_keys.correlation = find_key(w, &w->end_keys, END_ARG "perfetto.correlation_id");
  w->end_field_keys.thread_time = trace_text_id(w->t, END_ARG THREAD_TIME_ARG);
  w->end_field_keys.instructions = trace_text_id(w->t, END_ARG INSTRUCTIONS_ARG);
}

static bool are_whole(const struct raw_fields *fields) {
  struct pb c = pb_over(fields->p, fields->n);
  struct pb_field f;
  while (pb_next(&c, &f)) {}
  return !c.fault;
}

/* Decodes a data URL into `decoded`. */
static bool decode_url(const struct intern_str *s, struct buf *decoded, struct raw_fields *fields) {
  const size_t prefix = sizeof DATA_URL - 1;
  if (s->len < prefix || memcmp(s->bytes, DATA_URL, prefix) != 0) return false;
  decoded->len = 0;
  if (!buf_append(decoded, s->bytes + prefix, s->len - prefix) || !buf_reserve(decoded, 1)) return false;
  *fields = (struct raw_fields){decoded->data, base64_decode(decoded->data, s->len - prefix)};
  return fields->n != SIZE_MAX && are_whole(fields);
}

/* Sets *fields to the fields in the arg. Returns false if it contains none. `decoded`: buffer for fields that another format
 * stored as text. */
static bool find_raw_fields(const struct event_writer *w, const struct tk_arg *a, struct buf *decoded, struct raw_fields *fields) {
  const bool is_text = a->type == TK_ARG_STR && w->key_types && w->key_types[a->key] == VALUE_BYTES;
  if (is_text) return decode_url(trace_str(w->t, a->s), decoded, fields);
  if (a->type != TK_ARG_BYTES) return false;
  *fields = (struct raw_fields){trace_str(w->t, a->s)->bytes, trace_str(w->t, a->s)->len};
  return true;
}

/* Writes the field from which the arg was read. Returns false if the arg's type differs from the field's. */
static bool write_field(struct event_writer *w, const struct field_keys *keys, const struct tk_arg *a) {
  const struct intern_str *s = a->type == TK_ARG_STR ? trace_str(w->t, a->s) : NULL;
  struct raw_fields fields;
  if (a->key == keys->fields && find_raw_fields(w, a, &w->decoded, &fields)) {
    if (w->loses_fields) w->n_lost_fields++;
    else w->fields = fields;
    return true;
  }
  if (a->key == keys->interned) return a->type == TK_ARG_INT && (w->plain || w->loses_fields);
  if (a->key == keys->types) return a->type == TK_ARG_JSON; /* the annotations themselves have these types */
  if (a->key != keys->correlation) return false;
  if (a->type == TK_ARG_UINT) pb_u64(&w->event, EVENT_CORRELATION_ID, a->u);
  else if (a->type == TK_ARG_STR) pb_bytes(&w->event, EVENT_CORRELATION_ID_STR, s->bytes, s->len);
  else return false;
  return true;
}

/* Writes the fields that are not modelled. They are last, where the reader expects them. */
static void put_fields(struct event_writer *w) {
  if (w->is_legacy) legacy_merge(&w->fields, &w->event, &w->legacy);
  else buf_append(&w->event, w->fields.p, w->fields.n);
  w->fields = (struct raw_fields){.n = 0};
}

static bool find_arg(const struct event_writer *w, uint32_t args, tk_id key, struct tk_arg *arg) {
  for (struct tk_args it = tk_args_of(w->t, args); tk_args_next(&it, arg);)
    if (arg->key == key) return true;
  return false;
}

/* True if the event's fields that are not modelled already contain its thread time. */
static bool says_thread_time(struct event_writer *w, const struct tk_event *e, const struct field_keys *keys, const struct tk_arg *a) {
  struct tk_arg arg;
  struct raw_fields fields;
  struct pb_field f;
  if (a->key != keys->thread_time || !keys->fields || w->loses_fields) return false;
  if (!find_arg(w, e->args, keys->fields, &arg) || !find_raw_fields(w, &arg, &w->scratch, &fields)) return false;
  struct pb c = pb_over(fields.p, fields.n);
  while (pb_next(&c, &f))
    if (f.number == EVENT_THREAD_TIME_ABSOLUTE_US) return true;
  return false;
}

/* ---- all args ---- */

/* Prefix of the keys of args that represent a field of the end event rather than one of its args. */
static const char END_FIELD[] = "json.end.json.";
enum { END_FIELD_SIZE = sizeof END_FIELD - 1 };

static bool is_end_arg(const struct event_writer *w, tk_id key) {
  const struct intern_str *s = trace_str(w->t, key);
  return s->len >= END_ARG_SIZE && memcmp(s->bytes, END_ARG, END_ARG_SIZE) == 0 &&
         (s->len < END_FIELD_SIZE || memcmp(s->bytes, END_FIELD, END_FIELD_SIZE) != 0);
}

/* True if the end packet of this span represents the arg. */
static bool end_says(struct event_writer *w, const struct tk_event *e, const struct tk_arg *a) {
  const struct tk_class *c = &w->t->classes[e->cls];
  struct tk_arg other;
  if (!writer_has_end(e)) return false;
  if (a->key && a->key == w->end_field_keys.thread_time) return says_thread_time(w, e, &w->end_field_keys, a);
  if (a->key == KEY_END_CAT) return a->s == c->cat && !find_arg(w, e->args, KEY_END_NAME, &other);
  return a->key == KEY_END_NAME && a->s == c->name && !find_arg(w, e->args, KEY_END_CAT, &other);
}

/* Changes a number to the type that it had before another format stored it. */
static void restore_type(const struct event_writer *w, struct tk_arg *arg) {
  const uint8_t type = w->key_types[arg->key];
  const struct intern_str *text = arg->type == TK_ARG_STR && type == VALUE_DOUBLE ? trace_str(w->t, arg->s) : NULL;
  double d;
  if (text && nested_odd_double(text->bytes, text->len, &d)) arg->type = TK_ARG_DOUBLE, arg->d = d;
  if ((arg->type != TK_ARG_INT || arg->i < 0) && arg->type != TK_ARG_UINT && type != VALUE_DOUBLE) return;
  if (type == VALUE_UINT) arg->type = TK_ARG_UINT;
  if (type == VALUE_POINTER) arg->type = TK_ARG_POINTER;
  if (type == VALUE_DOUBLE && event_decimal_is_double(arg, &d)) arg->type = TK_ARG_DOUBLE, arg->d = d;
}

static void begin_types(struct event_writer *w, uint32_t args, tk_id key) {
  struct tk_arg types;
  const bool has_types = key && find_arg(w, args, key, &types) && types.type == TK_ARG_JSON;
  w->types = has_types ? trace_str(w->t, types.s) : NULL;
  w->types_at = 0;
}

/* True if is_said may return true for an arg of the event. Tested once for each event rather than for each arg, because it is rare. */
static bool may_say(const struct event_writer *w) {
  return w->accompanied || w->track_has_scope || w->own_tid || w->begin_keys.thread_time || w->is_legacy;
}

/* True if the packet of the event or its track represents the arg. */
static bool is_said(struct event_writer *w, const struct tk_event *e, const struct tk_arg *arg) {
  if (thread_times_says(w, (tk_id)(e - w->t->events), arg->key)) return true;
  if (arg->key == KEY_SCOPE_OF_INSTANT && w->track_has_scope) return true;
  if (w->is_legacy && legacy_says(arg->key)) return true;
  if (arg->key == KEY_TID && w->own_tid && arg->type == TK_ARG_STR && arg->s == w->own_tid) return true;
  return arg->key == w->begin_keys.thread_time && says_thread_time(w, e, &w->begin_keys, arg);
}

/* Writes the args that belong to the begin packet or, if at_end is set, to the end packet of the event. `args`: its own args, or the
 * args that its class shares. A key that has an iid was already checked. */
static void write_args(struct event_writer *w, const struct tk_event *e, uint32_t args, bool at_end) {
  struct iids *keys = at_end ? &w->end_keys : &w->keys;
  const struct field_keys *fields = at_end ? &w->end_field_keys : &w->begin_keys;
  const uint32_t skip = at_end ? END_ARG_SIZE : 0;
  const bool says = may_say(w);
  struct tk_args it = tk_args_of(w->t, args);
  struct tk_arg arg;
  begin_types(w, args, fields->types);
  while (tk_args_next(&it, &arg)) {
    if (w->key_types) restore_type(w, &arg);
    uint32_t key = keys->iid[arg.key];
    size_t before = w->event.len + w->interned.len;
    if ((says && is_said(w, e, &arg)) || (!key && (is_end_arg(w, arg.key) != at_end || end_says(w, e, &arg)))) continue;
    if (!(key == IS_FIELD && write_field(w, fields, &arg)) &&
        !(w->extensions.schema.n && extension_write(&w->extensions, w->t, &arg, skip, &w->event))) {
      if (w->plain || key == IS_FIELD) write_plain_annotation(w, &arg, skip);
      else write_annotation(w, key ? key : writer_new_iid(w, keys, INTERNED_ANNOTATION_NAMES, arg.key, skip), &arg, skip);
    }
    if (w->meter) w->meter->add(w->meter->arg, SINK_ARG, arg.key, w->event.len + w->interned.len - before);
  }
  if (w->extensions.open) extension_end(&w->extensions, &w->event);
  put_fields(w);
  w->types = NULL;
}

/* ---- events ---- */

static void put_category(struct event_writer *w, tk_id cat) {
  if (cat && w->plain) plain_text(w, EVENT_CATEGORIES, cat);
  else if (cat) pb_u64(&w->event, EVENT_CATEGORY_IIDS, writer_iid(w, &w->categories, INTERNED_CATEGORIES, cat));
}

static void event_put_name(struct event_writer *w, tk_id name) {
  if (name && w->plain) plain_text(w, EVENT_NAME, name);
  else if (name) pb_u64(&w->event, EVENT_NAME_IID, writer_iid(w, &w->names, INTERNED_NAMES, name));
}

static void put_names(struct event_writer *w, const struct tk_class *c) {
  event_put_name(w, c->name);
  put_category(w, c->cat);
}

/* Writes the type of an event, unless it is a legacy event, which has a phase instead. */
static void put_type(struct event_writer *w, const struct tk_event *e, uint32_t type) {
  w->legacy.len = 0;
  if (w->is_legacy) legacy_put(w, e, type == TYPE_SLICE_END);
  else pb_u64(&w->event, EVENT_TYPE, type);
}

/* Writes the legacy_event after the fields that are not modelled, because it contains some of them. */
static void put_legacy(struct event_writer *w) {
  if (w->is_legacy) pb_message(&w->event, EVENT_LEGACY, &w->legacy);
}

/* Begins an event. The name is written first, because the following bytes usually depend on it, which helps deflate. */
static void begin_event(struct event_writer *w, const struct tk_event *e, uint32_t type) {
  const struct tk_class *c = &w->t->classes[e->cls];
  w->event.len = w->interned.len = 0;
  plain_begin(w, (tk_id)(e - w->t->events), false);
  put_names(w, c);
  put_type(w, e, type);
  if (c->args) write_args(w, e, c->args, false);
  if (e->args) write_args(w, e, e->args, false);
  put_legacy(w);
  thread_times_put(w, (tk_id)(e - w->t->events), false);
}

void event_put_begin(struct event_writer *w, tk_id id) {
  begin_event(w, &w->t->events[id], TYPE_SLICE_BEGIN);
  flow_points_write(w, id, false);
}

void event_slice_begin(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  event_put_begin(w, id);
  if (w->track_is_mixed && !(e->flags & TK_FLAG_PAIRED)) {
    pb_u64(&w->private_fields, TRACEKIT_WHOLE, 1);
    w->has_private_fields = true;
  }
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

/* Writes the properties of the end event of a pair. */
static void put_end(struct event_writer *w, const struct tk_event *e) {
  struct tk_arg arg;
  if (e->flags & TK_FLAG_END_NAMED) put_names(w, &w->t->classes[e->cls]);
  else if (find_arg(w, e->args, KEY_END_CAT, &arg) && end_says(w, e, &arg)) put_category(w, arg.s);
  else if (find_arg(w, e->args, KEY_END_NAME, &arg) && end_says(w, e, &arg)) event_put_name(w, arg.s);
  if (e->args) write_args(w, e, e->args, true);
}

void event_put_end(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  plain_begin(w, id, true);
  flow_points_write(w, id, true);
  if (e->flags & TK_FLAG_PAIRED) put_end(w, e);
  thread_times_put(w, id, true);
}

void event_slice_end(struct event_writer *w, tk_id id, int64_t ns) {
  w->event.len = w->interned.len = 0;
  put_type(w, &w->t->events[id], TYPE_SLICE_END);
  event_put_end(w, id);
  put_legacy(w);
  plain_event(w, ns, SINK_EVENT, id);
}

/* Marks an event of a part whose own time is before the part. */
static void put_moved(struct event_writer *w, const struct tk_event *e) {
  if (!w->is_part || w->plain || !(e->flags & TK_FLAG_CLIPPED)) return;
  pb_u64(&w->private_fields, TRACEKIT_MOVED, 1);
  w->has_private_fields = true;
}

void event_instant(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  begin_event(w, e, TYPE_INSTANT);
  flow_points_write(w, id, false);
  put_moved(w, e);
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

/* ---- counters ---- */

static uint32_t key_iid(struct event_writer *w, tk_id key) {
  return w->keys.iid[key] ? w->keys.iid[key] : writer_new_iid(w, &w->keys, INTERNED_ANNOTATION_NAMES, key, 0);
}

void event_begin_rest(struct event_writer *w) { w->event.len = w->interned.len = 0; }

void event_rest(struct event_writer *w, const struct tk_arg *arg) {
  uint32_t key = key_iid(w, arg->key);
  if (key == IS_FIELD) write_plain_annotation(w, arg, 0);
  else write_annotation(w, key, arg, 0);
}

/* True if the packet of a counter sample has a field for the arg. */
bool event_is_counter_field(const struct event_writer *w, const struct tk_arg *arg) {
  if (arg->key == w->begin_keys.fields) return arg->type == TK_ARG_BYTES;
  return arg->key == w->begin_keys.interned && arg->key && arg->type == TK_ARG_INT && (w->plain || w->loses_fields);
}

/* Writes the args of a counter event that are fields (event_is_counter_field) into the packet of its first sample. */
static void put_counter_fields(struct event_writer *w, const struct tk_event *e) {
  struct tk_arg arg;
  if (w->begin_keys.fields && find_arg(w, e->args, w->begin_keys.fields, &arg)) write_field(w, &w->begin_keys, &arg);
  put_fields(w);
}

bool event_needs_interned(const struct event_writer *w, const struct tk_event *e) {
  struct tk_arg arg;
  return (w->begin_keys.interned && find_arg(w, e->args, w->begin_keys.interned, &arg)) ||
         (w->end_field_keys.interned && find_arg(w, e->args, w->end_field_keys.interned, &arg));
}

/* Moves the content of w->event to the private fields. */
static void make_private(struct event_writer *w) {
  if (w->event.len) pb_message(&w->private_fields, TRACEKIT_ARGS, &w->event);
  w->has_private_fields = w->private_fields.len != 0;
  w->event.len = 0;
}

/* Moves w->event, the TrackEvent of a counter sample, to a private field, because the packet represents the sample as a
 * GpuCounterEvent. */
static void hide_event(struct event_writer *w) {
  w->scratch.len = 0;
  pb_message(&w->scratch, GPU_OWN_BEGIN, &w->event);
  pb_message(&w->private_fields, TRACEKIT_GPU, &w->scratch);
  w->has_private_fields = true;
  w->event.len = 0;
}

double event_double_of(const struct tk_arg *value) {
  if (value->type == TK_ARG_INT) return (double)value->i;
  if (value->type == TK_ARG_UINT) return (double)value->u;
  return value->type == TK_ARG_DECIMAL ? decimal(value) : value->d;
}

void event_counter(struct event_writer *w, tk_id id, const struct tk_arg *value, bool joined) {
  const struct tk_event *e = &w->t->events[id];
  if (joined) pb_u64(&w->private_fields, TRACEKIT_JOINED, 1);
  put_moved(w, e);
  make_private(w);
  if (w->private_fields.len) w->plain = NULL; /* private fields refer to our own sequence */
  if (!joined) put_category(w, w->t->classes[e->cls].cat);
  pb_u64(&w->event, EVENT_TYPE, TYPE_COUNTER);
  if (value->type == TK_ARG_INT || (value->type == TK_ARG_UINT && value->i >= 0)) pb_i64(&w->event, EVENT_COUNTER_VALUE, value->i);
  else pb_double(&w->event, EVENT_DOUBLE_COUNTER_VALUE, event_double_of(value));
  if (!joined) put_counter_fields(w, e);
  if (w->plain) w->counter.len = 0;
  if (w->counter.len) hide_event(w);
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

void event_lone_counter(struct event_writer *w, tk_id id) {
  const struct tk_event *e = &w->t->events[id];
  const struct tk_class *c = &w->t->classes[e->cls];
  struct tk_arg arg;
  w->event.len = w->interned.len = 0;
  put_names(w, c);
  for (struct tk_args it = tk_args_of(w->t, c->args); tk_args_next(&it, &arg);) event_rest(w, &arg);
  for (struct tk_args it = tk_args_of(w->t, e->args); tk_args_next(&it, &arg);) event_rest(w, &arg);
  make_private(w);
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
}

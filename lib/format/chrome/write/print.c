/* print.c - see print.h. */
#include "print.h"
#include "key_set.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "format/json_args.h"

/* ---- fragments ---- */

/* Returns the formatted keys of a shape. Formats them on first use, because a graph that is a sample of a trace has all shapes
 * of the trace but few of its events. */
static inline const struct printed_shape *shape_of(struct printer *p, const struct tk_arg_shape *s) {
  struct printed_shape *out = &p->shapes[s->id];
  if (!out->ready) print_make_shape(p, s, out);
  return out;
}

static const struct printed_field *fields_of(struct printer *p, const struct tk_arg_shape *s) {
  return &p->fields[shape_of(p, s)->first];
}

/* ---- putting ---- */

static inline void print_bytes(struct printer *p, const void *text, size_t n) {
  struct out *o = p->out;
  if ((size_t)(o->end - o->next) < n) {
    out_write(o, text, n);
    return;
  }
  if (n) memcpy(o->next, text, n);
  o->next += n;
}
#define PUT(p, literal) print_bytes(p, literal, sizeof literal - 1)

enum { BLOCK = 32 };

/* Copies a fragment in blocks of a fixed size, possibly beyond its end. This is faster than the function call that copies the exact
 * length, because most fragments fit into one block. */
static inline void put_fragment(struct printer *p, struct fragment f) {
  const uint8_t *from = p->text.data + f.at;
  struct out *o = p->out;
  if ((size_t)(o->end - o->next) < f.n + BLOCK || p->text.cap - f.at < f.n + BLOCK) {
    print_bytes(p, from, f.n);
    return;
  }
  for (uint32_t i = 0; i < f.n; i += BLOCK) memcpy(o->next + i, from + i, BLOCK);
  o->next += f.n;
}

static void print_put_string(struct printer *p, tk_id id) {
  const struct intern_str *s = trace_str(p->t, id);
  PUT(p, "\"");
  if (p->clean[id]) {
    print_bytes(p, s->bytes, s->len);
    PUT(p, "\"");
    return;
  }
  for (size_t i = 0; i < s->len; i += 512) {
    uint8_t *q = out_reserve(p->out, 6 * 512);
    p->out->next = q + json_escape(q, s->bytes + i, s->len - i < 512 ? s->len - i : 512);
  }
  PUT(p, "\"");
}

/* True for integers that num_put_double() prints with an exponent although all their digits are exact. trace_processor reads
 * 1.09951162777475e+15 as a neighbouring number. */
static bool is_large_integer(double d) { return (d >= 1e15 || d <= -1e15) && d < 0x1p53 && d > -0x1p53 && d == (double)(int64_t)d; }

static void put_double(struct printer *p, double d) {
  if (d != d) PUT(p, "\"NaN\"");
  else if (d - d != 0) d > 0 ? PUT(p, "\"Infinity\"") : PUT(p, "\"-Infinity\"");
  else if (is_large_integer(d)) p->out->next += num_put_i64((char *)out_reserve(p->out, 32), (int64_t)d);
  else p->out->next += num_put_double((char *)out_reserve(p->out, 32), d);
}

/* Writes bytes that are not text as a data URL, which marks them as bytes and loses nothing. */
static void put_bytes(struct printer *p, tk_id id) {
  const struct intern_str *s = trace_str(p->t, id);
  struct buf text = {.mem = p->text.mem};
  PUT(p, "\"data:;base64,");
  if (base64_append(&text, s->bytes, s->len)) out_write(p->out, text.data, text.len);
  PUT(p, "\"");
  buf_free(&text);
}

static void print_put_value(struct printer *p, const struct tk_arg *a) {
  struct out *o = p->out;
  switch (a->type) {
  case TK_ARG_NULL: PUT(p, "null"); return;
  case TK_ARG_FALSE: PUT(p, "false"); return;
  case TK_ARG_TRUE: PUT(p, "true"); return;
  case TK_ARG_INT: o->next += num_put_i64((char *)out_reserve(o, 24), a->i); return;
  case TK_ARG_POINTER:
  case TK_ARG_UINT: o->next += num_put_u64((char *)out_reserve(o, 24), a->u); return;
  case TK_ARG_DECIMAL: o->next += num_put_decimal((char *)out_reserve(o, 96), a->i, a->exp); return;
  case TK_ARG_DOUBLE: put_double(p, a->d); return;
  case TK_ARG_BYTES: put_bytes(p, a->s); return;
  case TK_ARG_NUMBER:
  case TK_ARG_JSON: print_bytes(p, trace_str(p->t, a->s)->bytes, trace_str(p->t, a->s)->len); return;
  default: print_put_string(p, a->s);
  }
}

/* Writes base + ts in microseconds, with as many decimals as needed. Nearly all times fit into 64 bits. */
static void put_time(struct printer *p, tk_time ts) {
  char *q = (char *)out_reserve(p->out, 64);
  int64_t ns = ts >= 0 ? ts / 1000 : -((999 - ts) / 1000);
  unsigned ps = (unsigned)(ts - ns * 1000);
  if (__builtin_add_overflow(ns, p->base_ns, &ns) || ns < 0) {
    p->out->next += num_put_us(q, (i128)p->base_ns * 1000 + ts);
    return;
  }
  size_t n = num_put_u64(q, (uint64_t)ns / 1000);
  p->out->next += n + num_put_fraction(q + n, (unsigned)((uint64_t)ns % 1000) * 1000 + ps);
}

/* ---- args ---- */

static void open_args(struct printer *p, bool *open) {
  if (!*open) PUT(p, ",\"args\":{");
  *open = true;
}

/* Writes the key of an arg inside "args", with a comma unless it is the first. The key is empty if memory has run out. */
static void put_key(struct printer *p, struct fragment key, bool first) {
  put_fragment(p, first && key.n ? (struct fragment){key.at + 1, key.n - 1} : key);
}

/* Writes those args of an event that belong to the given place: fields of the event, or its "args". */
static void put_fields(struct printer *p, uint32_t args, enum place place) {
  struct tk_args it = tk_args_of(p->t, args);
  const struct printed_field *f = fields_of(p, it.shape);
  struct tk_arg arg;
  for (; tk_args_next(&it, &arg); f++) {
    if (f->place != place) continue;
    put_fragment(p, f->key);
    print_put_value(p, &arg);
  }
}

/* True if an arg of the shape is printed under this key in "args". */
static bool print_has_key(struct printer *p, const struct tk_arg_shape *s, struct fragment key) {
  return s && key_set_has(&p->keys, &(struct key_list){s, fields_of(p, s), IN_ARGS, p->text.data}, key);
}

/* Writes the args of the class into the event, except for args that the event itself has. */
static bool put_shared(struct printer *p, uint32_t shared, uint32_t args) {
  struct tk_args it = tk_args_of(p->t, shared);
  const struct printed_field *f = fields_of(p, it.shape);
  const struct tk_arg_shape *own = tk_args_of(p->t, args).shape;
  struct tk_arg arg;
  bool open = false;
  for (; tk_args_next(&it, &arg); f++) {
    if (f->place != IN_ARGS || print_has_key(p, own, f->key)) continue;
    const bool first = !open;
    open_args(p, &open);
    put_key(p, f->key, first);
    print_put_value(p, &arg);
  }
  return open;
}

/* Writes the key of an end event's arg, as "end.k" if the begin event has an arg of the same name. */
static void put_joined_key(struct printer *p, const struct tk_args *it, const struct printed_field *f, bool first) {
  if (f->place != IN_END_ARGS || !f->key.n || !print_has_key(p, it->shape, f->key)) {
    put_key(p, f->key, first);
    return;
  }
  print_bytes(p, &",\"end."[first], 6 - first);
  put_fragment(p, (struct fragment){f->key.at + 2, f->key.n - 2});
}

/* Writes the args that belong inside "args". Used if some args of the event are printed elsewhere, or if bytes are metered. */
static void put_some_args(struct printer *p, uint32_t args, enum place place, enum place mark, bool open) {
  struct tk_args it = tk_args_of(p->t, args);
  const struct printed_field *f = fields_of(p, it.shape);
  struct tk_arg arg;
  for (; tk_args_next(&it, &arg); f++) {
    if (f->place == mark && !open) {
      PUT(p, ",\"args\":");
      print_put_value(p, &arg);
      return;
    }
    if (f->place != place && !(p->joined && f->place == IN_END_ARGS)) continue;
    const bool first = !open;
    open_args(p, &open);
    uint64_t before = p->meter ? out_raw_bytes(p->out) : 0;
    if (p->joined) put_joined_key(p, &it, f, first);
    else put_key(p, f->key, first);
    print_put_value(p, &arg);
    if (p->meter) p->meter->add(p->meter->arg, SINK_ARG, arg.key, out_raw_bytes(p->out) - before + first);
  }
  if (open) PUT(p, "}");
}

/* Writes the object "args". `open`: its start has already been written. */
static void put_args(struct printer *p, uint32_t args, enum place place, enum place mark, bool open) {
  struct tk_args it = tk_args_of(p->t, args);
  const struct printed_shape *shape = it.shape ? shape_of(p, it.shape) : NULL;
  const struct printed_field *f = shape ? &p->fields[shape->first] : NULL;
  struct tk_arg arg;
  if (shape && (!shape->simple || p->meter)) {
    put_some_args(p, args, place, mark, open);
    return;
  }
  if (place != IN_ARGS) return; /* none of these args belongs to the end event */
  for (; tk_args_next(&it, &arg); f++) {
    const bool first = !open;
    open_args(p, &open);
    put_key(p, f->key, first);
    print_put_value(p, &arg);
  }
  if (open) PUT(p, "}");
}

/* True if all args are printed inside "args", which is the most common case. */
static inline bool are_simple(struct printer *p, uint32_t args) {
  const struct tk_arg_shape *s = tk_args_of(p->t, args).shape;
  return !s || shape_of(p, s)->simple;
}

static bool find_mark(struct printer *p, uint32_t args, enum place mark, struct tk_arg *arg) {
  if (are_simple(p, args)) return false;
  struct tk_args it = tk_args_of(p->t, args);
  const struct printed_field *f = fields_of(p, it.shape);
  for (; tk_args_next(&it, arg); f++)
    if (f->place == mark) return true;
  return false;
}

/* ---- events ---- */

static char phase_of(struct printer *p, const struct tk_event *e, enum event_part part, bool simple) {
  bool async = (e->flags & TK_FLAG_ASYNC) != 0;
  struct tk_arg ph;
  char legacy = !simple && find_mark(p, e->args, MARK_PH, &ph) ? *tk_string(p->t, ph.s, NULL) : 0;
  if (part == END) return legacy ? 'F' : async ? 'e' : 'E';
  if (legacy) return legacy;
  if (part == BEGIN) return async ? 'b' : 'B';
  if (e->kind == TK_EVENT_COUNTER) return 'C';
  if (e->kind == TK_EVENT_INSTANT) return async ? 'n' : 'i';
  return 'X';
}

static void put_phase(struct printer *p, char ph) {
  uint8_t *q = out_reserve(p->out, 16);
  memcpy(q, "{\"ph\":\"?\"", 9);
  q[7] = (uint8_t)ph;
  p->out->next += 9;
}

/* Returns the members that keep their unusual spelling. A trace that was not changed is written as it was read; after an operation, a
 * pid or tid is spelled the same way in all events, because trace_processor treats 7 and "7" as two threads. */
static unsigned kept_spelling(const struct printer *p, unsigned is) {
  return p->t->edits ? is & ~(unsigned)(TK_RESPELLED_PID | TK_RESPELLED_TID) : is;
}

/* The bits of enum tk_respelled are followed by numbers of decimals: four bits for each member, in the order of the enum. */
enum { DECIMALS_AT = 8 };

/* Returns bits of enum tk_respelled, and in the bits above them the number of decimals of each time. */
static unsigned respelled(struct printer *p, uint32_t args, enum place mark) {
  static const char *const NAMES[] = {"ts", "dur", "pid", "tid"};
  struct tk_arg arg;
  unsigned is = 0;
  if (!args || !find_mark(p, args, mark, &arg) || arg.type != TK_ARG_STR) return 0;
  for (unsigned i = 0; i < 4; i++) {
    const char *at = strstr(tk_string(p->t, arg.s, NULL), NAMES[i]);
    if (!at) continue;
    is |= 1u << i;
    at += strlen(NAMES[i]);
    if (*at == ':' && at[1] >= '1' && at[1] <= '9') is |= (unsigned)(at[1] - '0') << (DECIMALS_AT + 4 * i);
  }
  return kept_spelling(p, is);
}

static void put_quote(struct printer *p, bool quoted) {
  if (quoted) PUT(p, "\"");
}

enum { ROOM_FOR_TIME = 160 }; /* bytes; keeps the text of a member contiguous in the buffer */

/* Appends zeros to the number that was just written, until it has this number of decimals. In the buffer, the number follows a
 * quote. */
static void put_zeros(struct printer *p, unsigned decimals) {
  unsigned n = 0;
  while (p->out->next[-1 - (int)n] >= '0' && p->out->next[-1 - (int)n] <= '9') n++;
  if (p->out->next[-1 - (int)n] != '.') PUT(p, "."), n = 0;
  for (; n < decimals; n++) PUT(p, "0");
}

/* Writes the timestamp. `lost`: original text of the timestamp if the event had no clock, or NULL. */
static void put_ts(struct printer *p, const struct tk_arg *lost, tk_time ts, unsigned is) {
  const unsigned decimals = is >> DECIMALS_AT & 15;
  out_reserve(p->out, ROOM_FOR_TIME);
  PUT(p, ",\"ts\":");
  put_quote(p, is & TK_RESPELLED_TS);
  if (lost) print_put_value(p, lost);
  else put_time(p, ts);
  if (decimals && !lost) put_zeros(p, decimals);
  put_quote(p, is & TK_RESPELLED_TS);
}

static void put_dur(struct printer *p, tk_time dur, unsigned is) {
  const unsigned decimals = is >> (DECIMALS_AT + 4) & 15;
  out_reserve(p->out, ROOM_FOR_TIME);
  PUT(p, ",\"dur\":");
  put_quote(p, is & TK_RESPELLED_DUR);
  p->out->next += num_put_us((char *)out_reserve(p->out, 48), dur);
  if (decimals) put_zeros(p, decimals);
  put_quote(p, is & TK_RESPELLED_DUR);
}

static struct tk_ident spelled(struct tk_ident i, bool otherwise) {
  if (otherwise && i.kind == TK_IDENT_INT) i.kind = TK_IDENT_QUOTED;
  else if (otherwise && i.kind == TK_IDENT_QUOTED) i.kind = TK_IDENT_INT;
  return i;
}

static struct fragment ident_fragment(struct printer *p, struct tk_ident pid, struct tk_ident tid, unsigned is) {
  const size_t at = p->text.len;
  print_add_ident(p, ",\"pid\":", spelled(pid, is & TK_RESPELLED_PID));
  print_add_ident(p, ",\"tid\":", spelled(tid, is & TK_RESPELLED_TID));
  return print_fragment_from(p, at);
}

static void put_idents(struct printer *p, struct tk_ident pid, struct tk_ident tid, unsigned is) {
  const struct fragment f = ident_fragment(p, pid, tid, is);
  put_fragment(p, f);
  p->text.len = f.at;
}

static void put_track(struct printer *p, tk_id track, unsigned is) {
  const struct tk_track *k = &p->t->tracks[track];
  if (is & (TK_RESPELLED_PID | TK_RESPELLED_TID)) put_idents(p, k->pid, k->kind == TK_TRACK_PROCESS ? ident_none() : k->tid, is);
  else put_fragment(p, p->tracks[track]);
}

static void put_mark(struct printer *p, const char *key, const struct tk_arg *arg) {
  print_bytes(p, key, strlen(key));
  print_put_value(p, arg);
}

static const struct lane *lane_of(const struct printer *p, tk_id event) { return p->lanes ? lane_of_event(p->lanes, event) : NULL; }

void print_lane(struct printer *p, const struct lane *lane) {
  put_idents(p, p->t->tracks[lane->track].pid, ident_int(lane->tid), 0);
}

static struct tk_ident ident_of(const struct tk_arg *arg) {
  if (arg->type == TK_ARG_INT) return ident_int(arg->i);
  return arg->type == TK_ARG_STR ? ident_str(arg->s) : ident_none();
}

/* Writes pid and tid. Events of a process (instants, counters) may have the tid of the thread that recorded them. */
static void put_event_track(struct printer *p, const struct tk_event *e, unsigned is) {
  const struct tk_track *k = &p->t->tracks[e->track];
  bool of_process = k->kind == TK_TRACK_PROCESS || k->kind == TK_TRACK_COUNTERS;
  const struct lane *lane = lane_of(p, (tk_id)(e - p->t->events));
  struct tk_arg tid;
  if (lane) {
    put_idents(p, k->pid, ident_int(lane->tid), is & TK_RESPELLED_PID);
    return;
  }
  if (!of_process || !find_mark(p, e->args, MARK_TID, &tid)) {
    put_track(p, e->track, is);
    return;
  }
  if (is & (TK_RESPELLED_PID | TK_RESPELLED_TID)) {
    put_idents(p, k->pid, ident_of(&tid), is);
    return;
  }
  put_fragment(p, p->tracks[k->kind == TK_TRACK_PROCESS ? e->track : k->parent]);
  if (tid.type != TK_ARG_NULL) put_mark(p, ",\"tid\":", &tid);
}

static void put_end_names(struct printer *p, const struct tk_event *e) {
  struct tk_arg arg;
  if (e->flags & TK_FLAG_END_NAMED) {
    put_fragment(p, p->classes[e->cls]);
    return;
  }
  if (find_mark(p, e->args, MARK_END_CAT, &arg)) put_mark(p, ",\"cat\":", &arg);
  if (find_mark(p, e->args, MARK_END_NAME, &arg)) put_mark(p, ",\"name\":", &arg);
}

static void put_end_track(struct printer *p, const struct tk_event *e, unsigned is) {
  const struct tk_track *k = &p->t->tracks[e->track];
  struct tk_arg pid, tid;
  bool has_pid = find_mark(p, e->args, MARK_END_PID, &pid), has_tid = find_mark(p, e->args, MARK_END_TID, &tid);
  if (has_pid || has_tid) put_idents(p, has_pid ? ident_of(&pid) : k->pid, has_tid ? ident_of(&tid) : k->tid, is);
  else put_track(p, e->track, is);
}

/* Writes the identity of an async event; the end event repeats the identity of the begin event. */
static void put_identity(struct printer *p, const struct tk_event *e) {
  struct tk_args it = tk_args_of(p->t, e->args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    if (arg.key == KEY_ID) put_mark(p, ",\"id\":", &arg);
    if (arg.key == KEY_ID2) put_mark(p, ",\"id2\":", &arg);
    if (arg.key == KEY_SCOPE) put_mark(p, ",\"scope\":", &arg);
  }
}

static void print_end(struct printer *p, const struct tk_event *e) {
  const unsigned is = respelled(p, e->args, MARK_END_RESPELLED);
  struct tk_arg ts;
  put_phase(p, phase_of(p, e, END, false));
  put_end_names(p, e);
  put_end_track(p, e, is);
  put_ts(p, find_mark(p, e->args, MARK_END_TS, &ts) ? &ts : NULL, e->ts + e->dur, is);
  if (e->flags & TK_FLAG_ASYNC) put_identity(p, e);
  if (e->args) {
    put_fields(p, e->args, AS_END_FIELD);
    put_args(p, e->args, IN_END_ARGS, MARK_END_ARGS, false);
  }
  PUT(p, "}");
}

/* Writes the id of a flow, in quotes if doubles cannot represent it (unless it was read without quotes), because viewers would
 * confuse two such ids. */
static void put_flow_id(struct printer *p, const char *key, const struct tk_flow_point *f) {
  const bool is_large = (f->id > (int64_t)JSON_SAFE_INT || f->id_kind == TK_FLOW_ID_UINT) &&
                        !p->t->tracks[tk_flow_point_track(p->t, f)].no_lanes;
  struct tk_arg id = {.type = f->id_kind == TK_FLOW_ID_UINT ? TK_ARG_UINT : TK_ARG_INT, .i = f->id};
  if (f->id_kind == TK_FLOW_ID_STR) {
    id = (struct tk_arg){.type = TK_ARG_STR, .s = (tk_id)f->id};
  } else if (is_large) {
    print_bytes(p, key, strlen(key));
    char *q = (char *)out_reserve(p->out, 24);
    p->out->next += snprintf(q, 24, "\"0x%llx\"", (unsigned long long)f->id);
    return;
  }
  put_mark(p, key, &id);
}

static void put_point(struct printer *p, const struct tk_flow_point *f) {
  put_flow_id(p, ",\"bind_id\":", f);
  if (f->role != TK_FLOW_OUT) PUT(p, ",\"flow_in\":true");
  if (f->role != TK_FLOW_IN) PUT(p, ",\"flow_out\":true");
}

bool print_is_field(const struct printer *p, const struct tk_flow_point *f) {
  struct tk_arg arg;
  if (f->role < TK_FLOW_OUT) return false;
  if (!f->bound || (p->points && p->points[f->at] == (tk_id)(f - p->t->flow_points))) return true;
  return tk_args_find(p->t, p->t->events[f->at].args, "json.bind_id", &arg);
}

void print_event(struct printer *p, const struct tk_event *e, enum event_part part) {
  if (part == END) {
    print_end(p, e);
    return;
  }
  const bool simple = are_simple(p, e->args);
  const unsigned is = simple ? 0 : respelled(p, e->args, MARK_RESPELLED);
  struct tk_arg ts;
  p->joined = part == WHOLE && e->flags & TK_FLAG_PAIRED;
  put_phase(p, phase_of(p, e, part, simple));
  put_fragment(p, p->classes[e->cls]);
  put_event_track(p, e, is);
  const bool lost = e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_REPAIRED) && find_mark(p, e->args, MARK_TS, &ts);
  put_ts(p, lost ? &ts : NULL, e->ts, is);
  if (part == WHOLE && e->kind == TK_EVENT_SPAN) put_dur(p, e->dur, is);
  if (p->points && p->points[e - p->t->events]) put_point(p, &p->t->flow_points[p->points[e - p->t->events]]);
  if (e->args || p->t->classes[e->cls].args) {
    uint32_t shared = p->t->classes[e->cls].args;
    if (!simple) put_fields(p, e->args, AS_FIELD);
    put_args(p, e->args, IN_ARGS, MARK_ARGS, shared && put_shared(p, shared, e->args));
  }
  p->joined = false;
  PUT(p, "}");
}

void print_flow(struct printer *p, const struct tk_flow_point *f) {
  static const char phases[] = {
      [TK_FLOW_START] = 's', [TK_FLOW_STEP] = 't', [TK_FLOW_END] = 'f', [TK_FLOW_OUT] = 's', [TK_FLOW_IN] = 'f', [TK_FLOW_INOUT] = 't'};
  put_phase(p, phases[f->role]);
  put_fragment(p, p->classes[f->cls]);
  const unsigned is = respelled(p, f->args, MARK_RESPELLED);
  struct tk_arg id2;
  const tk_id track = tk_flow_point_track(p->t, f);
  const struct lane *lane = f->bound ? lane_of(p, f->at) : NULL;
  if (lane) put_idents(p, p->t->tracks[track].pid, ident_int(lane->tid), is & TK_RESPELLED_PID);
  else put_track(p, track, is);
  put_ts(p, NULL, f->ts, is);
  const bool local = f->args && tk_args_find(p->t, f->args, "json.id2", &id2); /* the id is local to the process, and is a field */
  if (!local) put_flow_id(p, ",\"id\":", f);
  if (f->enclosing || f->role == TK_FLOW_IN) PUT(p, ",\"bp\":\"e\"");
  if (f->args) {
    put_fields(p, f->args, AS_FIELD);
    put_args(p, f->args, IN_ARGS, MARK_ARGS, false);
  }
  PUT(p, "}");
}

/* Writes the pid, and for a record of a process the tid if the record's text contains one. */
static void put_record_track(struct printer *p, const struct tk_record *r, const char *comma) {
  const struct tk_track *k = &p->t->tracks[r->track];
  const size_t at = p->text.len;
  const unsigned is = kept_spelling(p, r->respelled);
  struct fragment f = p->tracks[r->track];
  if (is) f = ident_fragment(p, k->pid, k->kind == TK_TRACK_PROCESS ? ident_none() : k->tid, is);
  if (f.n) {
    print_bytes(p, comma, strlen(comma));
    print_bytes(p, p->text.data + f.at + 1, f.n - 1); /* without the comma at its start */
  }
  p->text.len = at;
}

void print_record(struct printer *p, const struct tk_record *r) {
  const bool quoted = r->respelled & TK_RESPELLED_TS;
  PUT(p, "{");
  if (r->size) print_bytes(p, trace_raw(p->t, r->at), r->size);
  if (r->has_ts) {
    if (r->size) PUT(p, ",");
    PUT(p, "\"ts\":");
    put_quote(p, quoted);
    put_time(p, r->ts);
    put_quote(p, quoted);
  }
  if (r->track) put_record_track(p, r, r->size || r->has_ts ? "," : "");
  PUT(p, "}");
}

/* event.c - reads one event of a Chrome JSON file by the general path: any key order, any spelling, every repair. */
#include <string.h>

#include "event.h"
#include "reader.h"
#include "template.h"
#include "spelling.h"
#include "phase.h"
#include "format/json_args.h"
#include "graph/args.h"

/* ---- values ---- */

static const char JSON_FIELD[] = "json.";

/* Returns the key of the arg for a member of "args" or, if of_event, for a field of the event itself ("json." and its name). */
static tk_id arg_key(struct chrome *r, const struct json_string *key, bool of_event) {
  size_t n;
  if (!of_event && key->plain && *key->p != *JSON_FIELD) return chrome_string(r, key);
  const uint8_t *text = json_string_text(&r->j, key, &n);
  const char *prefix = of_event ? JSON_FIELD : n >= 5 && memcmp(text, JSON_FIELD, 5) == 0 ? "json.args." : NULL;
  if (!prefix) return trace_string(r->t, text, n);
  r->text.len = 0;
  buf_append(&r->text, prefix, strlen(prefix));
  buf_append(&r->text, text, n);
  return trace_string(r->t, r->text.data, r->text.len);
}

static bool learn(struct chrome *r, enum template_op op, const uint8_t *p, const uint8_t *end) {
  template_value(r->templates, op, p, end);
  return true;
}

static bool nested(struct chrome *r, struct tk_arg *arg) {
  const uint8_t *from = r->j.p;
  unsigned fixes = r->j.n_fixes;
  r->text.len = 0;
  if (!json_copy(&r->j, &r->text)) return false;
  arg->type = TK_ARG_JSON;
  arg->s = trace_string(r->t, r->text.data, r->text.len);
  if (fixes == r->j.n_fixes) {
    chrome_learn_spelling(r, from, (size_t)(r->j.p - from), arg->s);
    learn(r, OP_NESTED, from, r->j.p);
  }
  return true;
}

static bool number_value(struct chrome *r, const struct json_value *v, struct tk_arg *arg) {
  *arg = json_number_arg(r->t, v);
  if (arg->type == TK_ARG_INT) return learn(r, OP_INT, v->p, v->end);
  if (arg->type == TK_ARG_DECIMAL) return learn(r, OP_DECIMAL, v->p, v->end);
  template_abandon(r->templates);
  return true;
}

/* Converts the value at j.p to an arg without a key. */
static bool arg_value(struct chrome *r, struct tk_arg *arg) {
  struct json_value v;
  *arg = (struct tk_arg){.type = TK_ARG_NULL};
  if (!json_blank(&r->j)) return false;
  if (*r->j.p == '{' || *r->j.p == '[') return nested(r, arg);
  if (!json_value(&r->j, &v)) return false;
  switch (v.type) {
  case JSON_TRUE: arg->type = TK_ARG_TRUE; return true;
  case JSON_FALSE: arg->type = TK_ARG_FALSE; return true;
  case JSON_NUMBER: return number_value(r, &v, arg);
  case JSON_STRING:
    arg->type = TK_ARG_STR;
    arg->s = chrome_string(r, &v.str);
    if (v.str.plain) return learn(r, OP_STR, v.str.p, v.str.p + v.str.n);
    template_abandon(r->templates);
    return true;
  default: return true;
  }
}

/* Moves past a comma. True if another member follows; false at the closing brace or on an error. */
static bool next_member(struct json *j) {
  if (!json_blank(j)) return false;
  if (*j->p == ',') {
    const uint8_t *comma = j->p++;
    if (!json_blank(j)) return false;
    if (*j->p != '}') return true;
    json_remark(j, comma, "comma before a closing bracket");
  }
  if (*j->p != '}') return json_bad(j, j->p, "expected ',' or '}'");
  j->p++;
  return false;
}

/* Enters an object; true if it has a member. */
static bool first_member(struct json *j) {
  j->p++;
  if (!json_blank(j)) return false;
  if (*j->p != '}') return true;
  j->p++;
  return false;
}

/* ---- fields ---- */

static bool args_object(struct chrome *r, struct chrome_event *e) {
  struct json_string key;
  struct tk_arg arg;
  e->has_args = true;
  if (!first_member(&r->j)) {
    if (r->j.status == JSON_OK) args_str(r->t, KEY_ARGS, TK_ARG_JSON, trace_text(r->t, "{}"));
    return r->j.status == JSON_OK;
  }
  do {
    if (!json_key(&r->j, &key)) return false;
    tk_id id = arg_key(r, &key, false);
    if (!arg_value(r, &arg)) return false;
    arg.key = id;
    args_copy(r->t, &arg);
  } while (next_member(&r->j));
  return r->j.status == JSON_OK;
}

static bool args_field(struct chrome *r, struct chrome_event *e) {
  struct tk_arg arg;
  if (!json_blank(&r->j)) return false;
  if (*r->j.p == '{') return args_object(r, e);
  if (!arg_value(r, &arg)) return false;
  arg.key = KEY_ARGS;
  args_copy(r->t, &arg);
  return true;
}

/* Reads pid or tid: an integer or a string, which becomes an integer if it has only digits. Any other value is kept as text. */
static bool ident_field(struct chrome *r, struct tk_ident *out, bool is_tid) {
  struct json_value v;
  if (!json_value(&r->j, &v)) return false;
  *out = ident_none();
  if (v.type == JSON_NULL) return true;
  if (v.type == JSON_STRING) {
    *out = chrome_ident(r, chrome_string(r, &v.str));
    if (v.str.plain) learn(r, is_tid ? OP_TID_STR : OP_PID_STR, v.str.p, v.str.p + v.str.n);
    else template_abandon(r->templates);
    return true;
  }
  i128 whole;
  if (v.type == JSON_NUMBER && v.num.kind == NUM_INT) {
    *out = ident_int(v.num.mant);
    return learn(r, is_tid ? OP_TID : OP_PID, v.p, v.end);
  }
  template_abandon(r->templates);
  if (v.type == JSON_NUMBER && v.num.kind == NUM_DEC && num_scale(v.num.mant, v.num.exp + 6, &whole) && whole % 1000000 == 0 &&
      whole / 1000000 <= INT64_MAX && whole / 1000000 >= INT64_MIN) {
    *out = ident_int((int64_t)(whole / 1000000));
    return true;
  }
  if (v.type == JSON_NUMBER && v.num.kind == NUM_UINT)
    trace_note(r->t, TK_NOTE_FACT, chrome_offset(r, v.p), "pid or tid is above 2^63 - 1: used as text");
  else json_fix(&r->j, v.p, "pid or tid is neither an integer nor a string: used as text");
  r->text.len = 0;
  r->j.p = v.p;
  if (!json_copy(&r->j, &r->text)) return false;
  *out = ident_str(trace_string(r->t, r->text.data, r->text.len));
  return true;
}

/* Reads ts or dur: a number, or a string that contains one. Any other value is stored in *bad. */
static bool when_field(struct chrome *r, struct when *w, enum template_op op, struct tk_arg *bad) {
  struct json_value v;
  const uint8_t *p, *end;
  if (!json_blank(&r->j)) return false;
  if (*r->j.p == '{' || *r->j.p == '[') {
    w->kind = WHEN_BAD;
    return nested(r, bad);
  }
  if (!json_value(&r->j, &v)) return false;
  p = v.type == JSON_STRING ? v.str.p : v.p;
  end = v.type == JSON_STRING ? v.str.p + v.str.n : v.end;
  while (p < end && *p == ' ') p++;
  while (p < end && end[-1] == ' ') end--;
  w->kind = WHEN_OK;
  if (v.fixed && v.type == JSON_NUMBER ? num_scale(v.num.mant, v.num.exp + 6, &w->ps) : num_scaled(p, end, 6, &w->ps)) {
    w->rounded = chrome_is_rounded(p, end, w->ps);
    w->quoted = v.type == JSON_STRING;
    if (w->quoted) w->decimals = chrome_decimals(p, end);
    if (v.type == JSON_NUMBER && !v.fixed) return learn(r, op, v.p, v.end);
    template_abandon(r->templates);
    return true;
  }
  template_abandon(r->templates);
  if (v.type == JSON_STRING && chrome_odd_time(p, end, &w->ps)) {
    json_fix(&r->j, v.p, "time in quotes with a unit or a decimal comma");
    return true;
  }
  w->kind = WHEN_BAD;
  r->j.p = v.p;
  return arg_value(r, bad);
}

static bool string_field(struct chrome *r, tk_id *out, bool *is_string, bool vary) {
  struct json_value v;
  if (!json_blank(&r->j)) return false;
  *is_string = *r->j.p == '"';
  if (*is_string) {
    if (!json_value(&r->j, &v)) return false;
    *out = chrome_string(r, &v.str);
    if (v.str.plain && vary) learn(r, OP_NAME, v.str.p, v.str.p + v.str.n);
    else if (!v.str.plain) template_abandon(r->templates);
    return true;
  }
  template_abandon(r->templates);
  r->text.len = 0;
  if (!json_copy(&r->j, &r->text)) return false;
  *out = trace_string(r->t, r->text.data, r->text.len);
  return true;
}

/* Reads name or cat, which should be a string. For any other value, uses the text of the value and adds a note. */
static bool label_field(struct chrome *r, tk_id *out, bool is_name) {
  bool is_string;
  const uint8_t *p = r->j.p;
  if (!string_field(r, out, &is_string, is_name)) return false;
  if (!is_string) json_fix(&r->j, p, "name or category is not a string: used as text");
  return true;
}

static bool phase_field(struct chrome *r, struct chrome_event *e) {
  tk_id id = 0;
  bool is_string;
  size_t n;
  if (!string_field(r, &id, &is_string, false)) return false;
  const char *text = tk_string(r->t, id, &n);
  e->ph = is_string && n == 1 && (uint8_t)text[0] < 128 ? (uint8_t)text[0] : 0;
  return true;
}

static bool id_field(struct chrome *r, struct chrome_event *e) {
  struct json_value v;
  e->has_id = true;
  if (!json_blank(&r->j)) return false;
  const uint8_t *p = r->j.p;
  if (*p == '{' || *p == '[') return nested(r, &e->id);
  if (!json_value(&r->j, &v)) return false;
  if (v.type == JSON_NUMBER && v.num.kind == NUM_INT) {
    e->id = (struct tk_arg){.type = TK_ARG_INT, .i = v.num.mant};
    return learn(r, OP_ID, v.p, v.end);
  }
  if (v.type == JSON_STRING && v.str.plain) {
    e->id = (struct tk_arg){.type = TK_ARG_STR, .s = chrome_string(r, &v.str)};
    return learn(r, OP_ID_STR, v.str.p, v.str.p + v.str.n);
  }
  template_abandon(r->templates);
  r->j.p = p;
  return arg_value(r, &e->id);
}

static void note_tdur(struct chrome_event *e, const struct tk_arg *arg) {
  const bool number = arg->type == TK_ARG_INT || arg->type == TK_ARG_DECIMAL;
  e->tdur.kind = number && num_scale(arg->i, arg->type == TK_ARG_INT ? 6 : arg->exp + 6, &e->tdur.ps) ? WHEN_OK : WHEN_BAD;
}

/* Stores a field that the graph cannot represent as an arg with a key that begins with "json.". */
static bool other_field(struct chrome *r, struct chrome_event *e, const struct json_string *key) {
  struct tk_arg arg;
  tk_id id = arg_key(r, key, true);
  if (!arg_value(r, &arg)) return false;
  arg.key = id;
  args_copy(r->t, &arg);
  if (id == KEY_TDUR) note_tdur(e, &arg);
  if (id == KEY_ID2) e->has_id2 = arg.type == TK_ARG_JSON && trace_str(r->t, arg.s)->len > 2;
  if (id == KEY_ID2 && e->has_id2) e->id2 = arg.s;
  if (id == KEY_SCOPE) e->has_scope = true;
  if (id == KEY_FLOW_IN) e->flow_in = arg.type == TK_ARG_TRUE;
  if (id == KEY_FLOW_OUT) e->flow_out = arg.type == TK_ARG_TRUE;
  if (id == KEY_BIND_ID) {
    e->has_bind_id = true;
    e->bind_id = arg;
  }
  if (id == KEY_BIND_ID || id == KEY_ID2) template_abandon(r->templates);
  return true;
}

enum field {
  F_PH = 1 << 0, F_NAME = 1 << 1, F_CAT = 1 << 2, F_TS = 1 << 3, F_DUR = 1 << 4, F_PID = 1 << 5, F_TID = 1 << 6, F_ARGS = 1 << 7,
  F_ID = 1 << 8, F_S = 1 << 9, F_BP = 1 << 10
};

struct field_name {
  const char *text;
  enum field field;
};
static const struct field_name FIELDS[] = {{"ph", F_PH},     {"name", F_NAME}, {"cat", F_CAT}, {"ts", F_TS},
                                           {"dur", F_DUR},   {"pid", F_PID},   {"tid", F_TID}, {"args", F_ARGS},
                                           {"id", F_ID},     {"s", F_S},       {"bp", F_BP}};

static enum field field_of(struct json *j, const struct json_string *key) {
  for (size_t i = 0; i < sizeof FIELDS / sizeof FIELDS[0]; i++)
    if (json_is(j, key, FIELDS[i].text)) return FIELDS[i].field;
  return 0;
}

/* True if the arg is a field of the event itself rather than one of its "args". */
static bool is_field(const struct tk_trace *t, const struct tk_arg *arg) {
  const char *key = tk_string(t, arg->key, NULL);
  return strncmp(key, JSON_FIELD, 5) == 0 && strncmp(key, "json.args", 9) != 0;
}

static bool read_field(struct chrome *r, struct chrome_event *e, const struct json_string *key, unsigned *seen) {
  enum field f = field_of(&r->j, key);
  struct tk_arg ignored;
  bool is_string;
  if (f && *seen & f) {
    template_abandon(r->templates);
    json_remark(&r->j, r->at, CHROME_GIVEN_TWICE);
    if (f == F_ARGS) args_keep(r->t, is_field);
  }
  *seen |= f;
  switch (f) {
  case F_PH: return phase_field(r, e);
  case F_NAME: return label_field(r, &e->name, true);
  case F_CAT: return label_field(r, &e->cat, false);
  case F_TS: return when_field(r, &e->ts, OP_TS, &ignored);
  case F_DUR: return when_field(r, &e->dur, OP_DUR, &e->dur_arg);
  case F_PID: return ident_field(r, &e->pid, false);
  case F_TID: return ident_field(r, &e->tid, true);
  case F_ARGS: return args_field(r, e);
  case F_ID: return id_field(r, e);
  case F_S: return string_field(r, &e->s, &is_string, false);
  case F_BP: return string_field(r, &e->bp, &is_string, false);
  default: return other_field(r, e, key);
  }
}

static bool read_fields(struct chrome *r, struct chrome_event *e) {
  struct json_string key;
  unsigned seen = 0;
  if (!first_member(&r->j)) {
    e->empty = r->j.status == JSON_OK;
    return e->empty;
  }
  do {
    if (!json_key(&r->j, &key) || !read_field(r, e, &key, &seen)) return false;
  } while (next_member(&r->j));
  return r->j.status == JSON_OK;
}

void chrome_predicted_events(struct chrome *r) {
  while (r->templates) {
    const uint8_t *const from = r->j.p, *end = NULL;
    if (chrome_between(r)) {
      r->at = r->j.p;
      end = template_match(r, r->j.p);
    }
    r->j.p = end ? end : from;
    if (!end) return;
    r->t->counts.read++;
  }
}

bool chrome_event(struct chrome *r) {
  struct tk_trace *t = r->t;
  struct chrome_event e = {.offset = chrome_offset(r, r->j.p)};
  const uint8_t *from = r->j.p;
  size_t pool = t->store->pool.len;
  uint32_t args;
  r->at = from;
  args_begin(t);
  template_begin(r->templates, from);
  if (!read_fields(r, &e)) return false;
  if (e.empty) {
    if (r->apart) return false;
    t->counts.empty++;
    *trace_add_record(t) = (struct tk_record){.kind = TK_RECORD_OTHER, .at = t->store->raw.len};
    return true;
  }
  if (r->apart && chrome_is_record(t, &e)) return false;
  chrome_note_rounded(r, &e);
  e.enclosing = e.bp && strcmp(tk_string(t, e.bp, NULL), "e") == 0;
  e.own_args = t->store->builder.payload.len;
  chrome_extra_args(r, &e);
  if (e.ph == 'C' && r->j.n_fixes) chrome_drop_nan(r);
  if (t->store->builder.duplicates) {
    json_remark(&r->j, from, CHROME_GIVEN_TWICE);
    template_abandon(r->templates);
  }
  args = args_end(t);
  if (!chrome_phase_known(e.ph)) template_abandon(r->templates);
  if (r->j.n_fixes == 0) template_learn(r->templates, r, &e, args, r->j.p);
  chrome_add_event(r, &e, args, from);
  if (!chrome_phase_known(e.ph)) t->store->pool.len = pool; /* discard the args: a record keeps the event's text instead */
  return r->j.status == JSON_OK;
}

/* ---- the reader ---- */

bool chrome_reader_init(struct chrome *r) {
  struct mem *mem = &r->t->store->mem;
  intern_init(&r->raw, mem);
  map_init(&r->metas, mem);
  map_init(&r->lanes, mem);
  r->j.scratch.mem = r->text.mem = mem;
  r->templates = r->opt->no_templates ? NULL : templates_new(mem);
  return r->templates || r->opt->no_templates;
}

void chrome_reader_free(struct chrome *r) {
  struct mem *mem = &r->t->store->mem;
  templates_free(r->templates);
  intern_free(&r->raw);
  map_free(&r->metas);
  map_free(&r->lanes);
  mem_free(mem, r->raw_ids);
  mem_free(mem, r->pending);
  buf_free(&r->j.scratch);
  buf_free(&r->text);
}

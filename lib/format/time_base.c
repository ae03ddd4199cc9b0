/* time_base.c - table of the keys under which producers store a time base, and of their units. */
#include "time_base.h"

#include <string.h>

#include "base/text.h"
#include "json.h"

enum form {
  NUMBER, /* a number: 1700000000000000 */
  DIGITS, /* a string of digits: "1700000000000000" */
  DATE    /* a date, "2023-11-14T22:13:20.000Z": time of the first event, to the millisecond */
};

/* Units are from the producers' source code, because the names of the keys do not contain them. */
static const struct row {
  const char *key, *member; /* member: a member of the value of `key`; NULL: the value itself */
  enum form form;
  int64_t unit_ns;
  const char *source; /* name of the source in messages */
  const char *caveat; /* note about the times of such a file; NULL = none */
} ROWS[] = {
    /* Kineto, libkineto/src/output_json.cpp */
    {"baseTimeNanoseconds", NULL, NUMBER, 1, "baseTimeNanoseconds", NULL},
    /* viztracer, src/viztracer/viztracer.py */
    {"viztracer_metadata", "baseTimeNanoseconds", NUMBER, 1, "baseTimeNanoseconds of viztracer", NULL},
    /* clang -ftime-trace, llvm/lib/Support/TimeProfiler.cpp */
    {"beginningOfTime", NULL, NUMBER, 1000, "beginningOfTime", NULL},
    /* externis, output.cc, before its commit 0364694: in ns, which exceed the range of the previous row */
    {"beginningOfTime", NULL, NUMBER, 1, "beginningOfTime, in ns",
     "beginningOfTime is in ns: early versions of externis also wrote ts in ns, and then all times are 1000 times too long (see "
     "rebase --scale)"},
    /* Bazel, profiler/JsonTraceFileWriter.java */
    {"otherData", "profile_start_ts", NUMBER, 1000000, "profile_start_ts, to the millisecond", NULL},
    /* Chrome, content/browser/tracing */
    {"metadata", "clock-offset-since-epoch", DIGITS, 1000, "clock-offset-since-epoch", NULL},
    /* Chrome DevTools, TimelinePanel.ts */
    {"metadata", "startTime", DATE, 1, "startTime, about the time of the first event", NULL},
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

/* ---- reading ---- */

/* Finds the value of the row's key or member. */
static bool value_of(const struct tk_trace *t, const struct tk_meta *m, const struct row *row, struct json_value *v) {
  const char *text = trace_raw(t, m->at);
  const uint8_t *const p = (const uint8_t *)text, *const end = p + m->size;
  if (row->member) return json_member(text, (size_t)m->size, row->member, v);
  *v = (struct json_value){.type = JSON_NUMBER, .p = p, .end = end};
  if (m->size > 2 && *p == '"') *v = (struct json_value){.type = JSON_STRING, .str = {p + 1, (size_t)m->size - 2, true}};
  return true;
}

static bool scaled(const uint8_t *p, size_t n, int64_t unit, int64_t *ns) {
  i128 v;
  if (!num_scaled(p, p + n, 0, &v) || v > INT64_MAX / unit || v < INT64_MIN / unit) return false;
  *ns = (int64_t)v * unit;
  return true;
}

static bool is_digits(const struct json_string *s) {
  for (size_t i = 0; i < s->n; i++)
    if (s->p[i] < '0' || s->p[i] > '9') return false;
  return s->n > 0;
}

static bool date_of(const struct json_string *s, i128 start_ps, int64_t *ns) {
  static const i128 YEAR_2001 = (i128)1000000000 * 1000000000000;
  char text[48];
  i128 ps;
  if (s->n >= sizeof text || start_ps > YEAR_2001) return false;
  memcpy(text, s->p, s->n);
  text[s->n] = 0;
  if (!text_parse_absolute(text, &ps)) return false;
  const i128 base = (ps - start_ps) / 1000;
  if (base > INT64_MAX || base < INT64_MIN) return false;
  *ns = (int64_t)base;
  return true;
}

static bool base_of(const struct row *row, const struct json_value *v, i128 start_ps, int64_t *ns) {
  switch (row->form) {
  case NUMBER:
    if (v->type == JSON_STRING) return scaled(v->str.p, v->str.n, row->unit_ns, ns);
    return v->type == JSON_NUMBER && scaled(v->p, (size_t)(v->end - v->p), row->unit_ns, ns);
  case DIGITS: return v->type == JSON_STRING && is_digits(&v->str) && scaled(v->str.p, v->str.n, row->unit_ns, ns);
  default: return v->type == JSON_STRING && date_of(&v->str, start_ps, ns);
  }
}

const char *time_base_find(const struct tk_trace *t, i128 start_ps, int64_t *ns) {
  struct json_value v;
  for (const struct row *row = ROWS; row < ROWS + N_ROWS; row++) {
    const struct tk_meta *m = trace_meta(t, row->key);
    if (m && value_of(t, m, row, &v) && base_of(row, &v, start_ps, ns)) return row->source;
  }
  return NULL;
}

const char *time_base_caveat(const char *source) {
  for (const struct row *row = ROWS; source && row < ROWS + N_ROWS; row++)
    if (strcmp(row->source, source) == 0) return row->caveat;
  return NULL;
}

bool time_base_is_stated(const struct tk_trace *t) {
  int64_t ns;
  return time_base_find(t, 0, &ns) != NULL;
}

bool time_base_is_date(int64_t ns) {
  static const int64_t YEAR_2001 = 1000000000000000000, YEAR_2096 = 4000000000000000000;
  return ns > YEAR_2001 && ns < YEAR_2096;
}

/* ---- writing ---- */

/* Prints the base in the row's unit to `text` (32 bytes). Returns false if the unit is too coarse for the base. */
static bool print_base(const struct row *row, int64_t ns, char *text) {
  if (row->form == DATE || ns % row->unit_ns) return false;
  size_t n = 0;
  if (row->form == DIGITS) text[n++] = '"';
  n += num_put_i64(text + n, ns / row->unit_ns);
  if (row->form == DIGITS) text[n++] = '"';
  text[n] = 0;
  return true;
}

/* Copies an object, giving one of its members another value, or leaving the member out. */
static void copy_with(const char *text, size_t n, const char *member, const char *value, struct buf *out) {
  struct mem mem = {0};
  struct json j = {.p = (const uint8_t *)text + 1, .end = (const uint8_t *)text + n, .last = true, .scratch = {.mem = &mem}};
  struct json_string key;
  struct json_value v;
  const char *comma = "";
  buf_text(out, "{");
  for (; json_blank(&j) && *j.p == '"'; j.p += *j.p == ',') {
    const uint8_t *from = j.p;
    if (!json_key(&j, &key) || !json_value(&j, &v)) break;
    const bool is_it = json_is(&j, &key, member);
    if (is_it && !value) continue;
    buf_text(out, comma);
    buf_append(out, from, (size_t)((is_it ? v.p : v.end) - from));
    if (is_it) buf_text(out, value);
    comma = ",";
  }
  buf_text(out, "}");
  buf_free(&j.scratch);
}

/* Finds the row whose key this top-level value has. *ns becomes the base in the value. */
static const struct row *time_row_of(const struct tk_trace *t, const struct tk_meta *m, int64_t *ns) {
  const char *key = tk_string(t, m->key, NULL);
  struct json_value v;
  for (const struct row *row = ROWS; row < ROWS + N_ROWS; row++)
    if (strcmp(key, row->key) == 0 && value_of(t, m, row, &v) && base_of(row, &v, 0, ns)) return row;
  return NULL;
}

/* True if the value is still correct. A date is the time of the first event, which any operation may have moved or removed, so
 * it is only correct in an unchanged trace. */
static bool is_current(const struct tk_trace *t, const struct row *row, int64_t ns) {
  if (!t->has_zero) return false;
  return row->form == DATE ? t->edits == 0 : ns == t->zero_ns;
}

bool time_base_is_written(const struct tk_trace *t, const struct tk_meta *m) {
  char text[32];
  int64_t ns;
  const struct row *row = time_row_of(t, m, &ns);
  return row && (is_current(t, row, ns) || (t->has_zero && print_base(row, t->zero_ns, text)));
}

bool time_base_rewrite(const struct tk_trace *t, const struct tk_meta *m, struct buf *out) {
  char text[32];
  int64_t ns;
  const struct row *row = time_row_of(t, m, &ns);
  if (!row || is_current(t, row, ns)) return false;
  const bool printed = t->has_zero && print_base(row, t->zero_ns, text);
  out->len = 0;
  if (row->member) copy_with(trace_raw(t, m->at), (size_t)m->size, row->member, printed ? text : NULL, out);
  else if (printed) buf_text(out, text);
  return true;
}

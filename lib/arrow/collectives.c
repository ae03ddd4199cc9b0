/* collectives.c - the table of collectives: a row for each collective event, with its group and data size. */
#include <string.h>

#include "align/collect/payload.h"
#include "analysis/self.h"
#include "op/match.h"
#include "table.h"
#include "tables.h"
#include "graph/args.h"

static bool is_row(struct table_source *s, const struct tk_event *e) { return kinds_of(&s->kinds, e) & KIND_COLLECTIVE; }

/* Loops over the collective events; `row` counts them. */
#define EACH_ROW(s, e, row)                                                                                      \
  (int64_t row = -1, at_ = 1; at_ <= (int64_t)(s)->t->n_events; at_++)                                             \
    for (const struct tk_event *e = &(s)->t->events[at_]; e && is_row(s, e) && ++row >= 0; e = NULL)

static int64_t collective_rows(struct table_source *s) {
  int64_t n = 0;
  if (!table_kinds(s)) return -1;
  for (tk_id i = 1; i <= s->t->n_events; i++) n += is_row(s, &s->t->events[i]);
  return n;
}

/* ---- columns that all events have ---- */

static bool fill_event(struct table_source *s, struct column *c) {
  for EACH_ROW(s, e, row) c->u32[row] = (tk_id)(e - s->t->events);
  return true;
}

static bool fill_ts(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_ROW(s, e, row) {
    if (e->flags & TK_FLAG_LOST_CLOCK) ok = column_null(c, row) && ok;
    else c->i64[row] = table_ts(s, e->ts);
  }
  return ok;
}

static bool fill_dur(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_ROW(s, e, row) {
    if (!is_timed(e)) ok = column_null(c, row) && ok;
    else c->i64[row] = table_dur(s, e->ts, e->dur);
  }
  return ok;
}

static bool fill_name(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_ROW(s, e, row) ok = column_string(c, row, s->t->classes[e->cls].name) && ok;
  return ok;
}

static bool fill_track(struct table_source *s, struct column *c) {
  for EACH_ROW(s, e, row) c->u32[row] = e->track;
  return true;
}

static bool fill_rank(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_ROW(s, e, row) {
    if (s->origins[e->track].rank < 0) ok = column_null(c, row) && ok;
    else c->i64[row] = s->origins[e->track].rank;
  }
  return ok;
}

static bool fill_host(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_ROW(s, e, row) {
    const char *host = s->origins[e->track].host;
    ok = (*host ? column_text(c, row, host, strlen(host)) : column_null(c, row)) && ok;
  }
  return ok;
}

static bool fill_step(struct table_source *s, struct column *c) {
  bool ok = table_steps(s);
  for EACH_ROW(s, e, row) {
    int64_t number;
    if (ok && steps_of(&s->steps, e, &number)) c->i64[row] = number;
    else ok = column_null(c, row) && ok;
  }
  return ok;
}

/* ---- columns from args ---- */

/* Returns the key of the arg that a column shows; 0 if no event has it. */
static tk_id key_of_column(const struct table_source *s, const struct column *c) {
  static const struct {
    const char *column, *key;
  } KEYS[] = {{"collective", "Collective name"}, {"group", "Process Group Name"}, {"group_size", "Group size"}, {"seq", "Seq"},
              {"dtype", "dtype"}, {"in_elements", "In msg nelems"}, {"out_elements", "Out msg nelems"}};
  for (size_t i = 0; i < sizeof KEYS / sizeof *KEYS; i++)
    if (strcmp(KEYS[i].column, c->name) == 0) return trace_text_id(s->t, KEYS[i].key);
  return 0;
}

static bool fill_text(struct table_source *s, struct column *c) {
  const tk_id id = key_of_column(s, c);
  bool ok = true;
  for EACH_ROW(s, e, row) {
    struct tk_arg arg;
    ok = (id && args_of_event(s->t, e, id, &arg) ? column_arg(c, row, &arg) : column_null(c, row)) && ok;
  }
  return ok;
}

/* Returns a non-negative number from the args; -1 if it is unknown. */
static int64_t count_of(const struct table_source *s, const struct tk_event *e, tk_id key) {
  struct tk_arg arg;
  if (!key || !args_of_event(s->t, e, key, &arg)) return -1;
  if (arg.type == TK_ARG_UINT) return arg.u <= INT64_MAX ? (int64_t)arg.u : -1;
  return arg.type == TK_ARG_INT && arg.i >= 0 ? arg.i : -1;
}

static bool put_count(struct column *c, int64_t row, int64_t n) {
  if (n < 0) return column_null(c, row);
  c->i64[row] = n;
  return true;
}

static bool fill_count(struct table_source *s, struct column *c) {
  const tk_id id = key_of_column(s, c);
  bool ok = true;
  for EACH_ROW(s, e, row) ok = put_count(c, row, count_of(s, e, id)) && ok;
  return ok;
}

/* Fills in the bytes of the input, if the type of its elements is known. */
static bool fill_bytes(struct table_source *s, struct column *c) {
  const tk_id elements = trace_text_id(s->t, "In msg nelems"), dtype = trace_text_id(s->t, "dtype");
  bool ok = true;
  for EACH_ROW(s, e, row) {
    struct tk_arg type;
    int64_t n = count_of(s, e, elements), size = 0;
    const bool typed = n >= 0 && dtype && args_of_event(s->t, e, dtype, &type) && type.type == TK_ARG_STR;
    if (typed) size = payload_element(tk_string(s->t, type.s, NULL));
    ok = put_count(c, row, size > 0 && n <= INT64_MAX / size ? n * size : -1) && ok;
  }
  return ok;
}

static const struct table_column columns[] = {
    {"event", COLUMN_U32, fill_event, false},           {"ts", COLUMN_TS, fill_ts, false},
    {"dur", COLUMN_DUR, fill_dur, false},               {"name", COLUMN_TEXT, fill_name, false},
    {"track", COLUMN_U32, fill_track, false},           {"rank", COLUMN_I64, fill_rank, false},
    {"host", COLUMN_TEXT, fill_host, false},            {"step", COLUMN_I64, fill_step, false},
    {"collective", COLUMN_TEXT, fill_text, false},      {"group", COLUMN_TEXT, fill_text, false},
    {"group_size", COLUMN_I64, fill_count, false},      {"seq", COLUMN_I64, fill_count, false},
    {"dtype", COLUMN_TEXT, fill_text, false},           {"in_elements", COLUMN_I64, fill_count, false},
    {"out_elements", COLUMN_I64, fill_count, false},    {"bytes", COLUMN_I64, fill_bytes, false},
};
const struct table collectives_table = {"collectives", columns, sizeof columns / sizeof *columns, collective_rows, NULL};

/* tables.c - the tables other than events: tracks, flow points, args, steps. */
#include <string.h>

#include "tables.h"
#include "table.h"
#include "op/step_launches.h"

bool table_kinds(struct table_source *s) {
  if (!s->has_kinds) s->has_kinds = kinds_init(&s->kinds, s->t, &s->mem);
  return s->has_kinds;
}

bool table_steps(struct table_source *s) {
  if (!s->has_steps)
    s->has_steps = table_kinds(s) && steps_runs_init(&s->steps, &s->kinds, s->origins, &s->mem) &&
                   step_launches_link(&s->steps, &s->kinds, s->origins, NULL);
  return s->has_steps;
}

void table_free(struct table_source *s) {
  if (s->has_kinds) kinds_free(&s->kinds);
  if (s->has_steps) steps_free(&s->steps);
}

static bool tables_put_text(struct column *c, int64_t row, const char *text) { return column_text(c, row, text, strlen(text)); }

/* ---- tracks: row i - 1 is track i ---- */

#define EACH_TRACK(s, id) (tk_id id = 1; id <= (s)->t->n_tracks; id++)

static int64_t track_rows(struct table_source *s) { return s->t->n_tracks; }

static bool track_id(struct table_source *s, struct column *c) {
  for EACH_TRACK(s, i) c->u32[i - 1] = i;
  return true;
}

static bool track_kind(struct table_source *s, struct column *c) {
  static const char *const names[] = {"root", "process", "thread", "counter", "async"};
  bool ok = true;
  for EACH_TRACK(s, i) ok = tables_put_text(c, i - 1, names[s->t->tracks[i].kind]) && ok;
  return ok;
}

static bool track_name(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) ok = column_string(c, i - 1, s->t->tracks[i].name) && ok;
  return ok;
}

static bool track_pid(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) ok = column_ident(c, i - 1, s->t->tracks[i].pid) && ok;
  return ok;
}

static bool track_tid(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) ok = column_ident(c, i - 1, s->t->tracks[i].tid) && ok;
  return ok;
}

static bool track_parent(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) {
    const tk_id parent = s->t->tracks[i].parent;
    if (parent && s->t->tracks[i].kind != TK_TRACK_PROCESS) c->u32[i - 1] = parent;
    else ok = column_null(c, i - 1) && ok;
  }
  return ok;
}

static bool track_process(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) {
    const struct tk_track *k = &s->t->tracks[i];
    ok = column_string(c, i - 1, k->kind == TK_TRACK_PROCESS ? k->name : s->t->tracks[k->parent].name) && ok;
  }
  return ok;
}

static bool track_rank(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) {
    if (s->origins[i].rank < 0) ok = column_null(c, i - 1) && ok;
    else c->i64[i - 1] = s->origins[i].rank;
  }
  return ok;
}

static bool track_host(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_TRACK(s, i) ok = (*s->origins[i].host ? tables_put_text(c, i - 1, s->origins[i].host) : column_null(c, i - 1)) && ok;
  return ok;
}

static bool track_events(struct table_source *s, struct column *c) {
  for EACH_TRACK(s, i) c->u32[i - 1] = s->t->tracks[i].count;
  return true;
}

static const struct table_column track_columns[] = {
    {"id", COLUMN_U32, track_id, false},        {"kind", COLUMN_TEXT, track_kind, false},
    {"name", COLUMN_TEXT, track_name, false},   {"pid", COLUMN_I64, track_pid, false},
    {"tid", COLUMN_I64, track_tid, false},      {"parent", COLUMN_U32, track_parent, false},
    {"process", COLUMN_TEXT, track_process, false}, {"rank", COLUMN_I64, track_rank, false},
    {"host", COLUMN_TEXT, track_host, false},   {"events", COLUMN_U32, track_events, false},
};
const struct table table_of_tracks = {"tracks", track_columns, sizeof track_columns / sizeof *track_columns, track_rows, NULL};

/* ---- flows: one row for each point ---- */

#define EACH_POINT(s, i) (tk_id i = 1; i <= (s)->t->n_flow_points; i++)

static int64_t point_rows(struct table_source *s) { return s->t->n_flow_points; }

/* Numbers flows in the order of their first points. */
static bool point_flow(struct table_source *s, struct column *c) {
  bool ok = true;
  struct intern keys;
  intern_init(&keys, &s->mem);
  for EACH_POINT(s, i) {
    const struct tk_flow_point *p = &s->t->flow_points[i];
    struct {
      int64_t id;
      uint32_t cls, spelt;
    } key;
    memset(&key, 0, sizeof key);
    key.id = p->id;
    key.cls = p->cls;
    key.spelt = p->id_kind == TK_FLOW_ID_STR;
    c->u32[i - 1] = intern(&keys, &key, sizeof key);
    ok = c->u32[i - 1] && ok;
  }
  intern_free(&keys);
  return ok;
}

static bool point_role(struct table_source *s, struct column *c) {
  static const char *const names[] = {"start", "step", "end", "out", "in", "inout"};
  bool ok = true;
  for EACH_POINT(s, i) ok = tables_put_text(c, i - 1, names[s->t->flow_points[i].role]) && ok;
  return ok;
}

static bool point_event(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_POINT(s, i) {
    if (s->t->flow_points[i].bound) c->u32[i - 1] = s->t->flow_points[i].at;
    else ok = column_null(c, i - 1) && ok;
  }
  return ok;
}

static bool point_track(struct table_source *s, struct column *c) {
  for EACH_POINT(s, i) c->u32[i - 1] = tk_flow_point_track(s->t, &s->t->flow_points[i]);
  return true;
}

static bool point_ts(struct table_source *s, struct column *c) {
  for EACH_POINT(s, i) c->i64[i - 1] = table_ts(s, s->t->flow_points[i].ts);
  return true;
}

static bool point_name(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_POINT(s, i) ok = column_string(c, i - 1, s->t->classes[s->t->flow_points[i].cls].name) && ok;
  return ok;
}

static bool point_cat(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_POINT(s, i) ok = column_string(c, i - 1, s->t->classes[s->t->flow_points[i].cls].cat) && ok;
  return ok;
}

static const struct table_column point_columns[] = {
    {"flow", COLUMN_U32, point_flow, false},   {"role", COLUMN_TEXT, point_role, false},
    {"event", COLUMN_U32, point_event, false}, {"track", COLUMN_U32, point_track, false},
    {"ts", COLUMN_TS, point_ts, false},       {"name", COLUMN_TEXT, point_name, false},
    {"cat", COLUMN_TEXT, point_cat, false},
};
const struct table table_of_flows = {"flows", point_columns, sizeof point_columns / sizeof *point_columns, point_rows, NULL};

/* ---- args: one row for each arg of each event, including the args of its class ---- */

/* Calls `put` for every arg with its row, until a call returns false. */
static bool each_arg(const struct tk_trace *t, bool (*put)(void *arg, int64_t row, tk_id event, const struct tk_arg *a), void *arg) {
  int64_t row = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const uint32_t of[] = {t->events[i].args, t->classes[t->events[i].cls].args};
    for (size_t k = 0; k < 2; k++) {
      struct tk_args it = tk_args_of(t, of[k]);
      for (struct tk_arg a; tk_args_next(&it, &a);)
        if (!put(arg, row++, i, &a)) return false;
    }
  }
  return true;
}

static bool count_arg(void *arg, int64_t row, tk_id event, const struct tk_arg *a) {
  (void)event;
  (void)a;
  *(int64_t *)arg = row + 1;
  return true;
}

static int64_t arg_rows(struct table_source *s) {
  int64_t n = 0;
  each_arg(s->t, count_arg, &n);
  return n;
}

static bool put_event(void *arg, int64_t row, tk_id event, const struct tk_arg *a) {
  (void)a;
  ((struct column *)arg)->u32[row] = event;
  return true;
}

static bool put_key(void *arg, int64_t row, tk_id event, const struct tk_arg *a) {
  (void)event;
  return column_string(arg, row, a->key);
}

static bool tables_put_value(void *arg, int64_t row, tk_id event, const struct tk_arg *a) {
  (void)event;
  return column_arg(arg, row, a);
}

static bool tables_put_number(void *arg, int64_t row, tk_id event, const struct tk_arg *a) {
  struct column *c = arg;
  (void)event;
  switch (a->type) {
  case TK_ARG_INT: c->f64[row] = (double)a->i; return true;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: c->f64[row] = (double)a->u; return true;
  case TK_ARG_DECIMAL: c->f64[row] = num_nearest(a->i, a->exp); return true;
  case TK_ARG_DOUBLE: c->f64[row] = a->d; return true;
  default: return column_null(c, row);
  }
}

static bool arg_event(struct table_source *s, struct column *c) { return each_arg(s->t, put_event, c); }
static bool arg_key(struct table_source *s, struct column *c) { return each_arg(s->t, put_key, c); }
static bool arg_text(struct table_source *s, struct column *c) { return each_arg(s->t, tables_put_value, c); }
static bool arg_number(struct table_source *s, struct column *c) { return each_arg(s->t, tables_put_number, c); }

static const struct table_column arg_columns[] = {
    {"event", COLUMN_U32, arg_event, false},
    {"key", COLUMN_TEXT, arg_key, false},
    {"text", COLUMN_TEXT, arg_text, false},
    {"number", COLUMN_F64, arg_number, false},
};
const struct table table_of_args = {"args", arg_columns, sizeof arg_columns / sizeof *arg_columns, arg_rows, NULL};

/* ---- steps ---- */

static int64_t step_rows(struct table_source *s) { return table_steps(s) ? (int64_t)s->steps.n : -1; }

static bool step_number(struct table_source *s, struct column *c) {
  for (int64_t i = 0; i < c->n; i++) c->i64[i] = s->steps.v[i].number;
  return true;
}

static bool step_ts(struct table_source *s, struct column *c) {
  for (int64_t i = 0; i < c->n; i++) c->i64[i] = table_ts(s, s->steps.v[i].start);
  return true;
}

static bool step_dur(struct table_source *s, struct column *c) {
  for (int64_t i = 0; i < c->n; i++) c->i64[i] = table_dur(s, s->steps.v[i].start, s->steps.v[i].end - s->steps.v[i].start);
  return true;
}

static bool step_track(struct table_source *s, struct column *c) {
  for (int64_t i = 0; i < c->n; i++) c->u32[i] = s->steps.v[i].track;
  return true;
}

static const struct table_column step_columns[] = {
    {"step", COLUMN_I64, step_number, false},
    {"ts", COLUMN_TS, step_ts, false},
    {"dur", COLUMN_DUR, step_dur, false},
    {"track", COLUMN_U32, step_track, false},
};
const struct table table_of_steps = {"steps", step_columns, sizeof step_columns / sizeof *step_columns, step_rows, NULL};

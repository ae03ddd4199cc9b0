/* events.c - the table of events: each column is filled by one loop over the graph. */
#include <stdlib.h>
#include <string.h>

#include "analysis/self.h"
#include "op/around.h"
#include "table.h"
#include "tables.h"
#include "graph/args.h"

static int64_t event_rows(struct table_source *s) { return s->t->n_events; }

/* Loops over the events; event i is row i - 1. */
#define EACH_EVENT(s, e) (const struct tk_event *e = (s)->t->events + 1, *end = e + (s)->t->n_events; e < end; e++)
static int64_t events_row_of(const struct table_source *s, const struct tk_event *e) { return e - s->t->events - 1; }

static bool fill_id(struct table_source *s, struct column *c) {
  for (int64_t i = 0; i < c->n; i++) c->u32[i] = (uint32_t)i + 1;
  (void)s;
  return true;
}

static bool fill_ts(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    if (e->flags & TK_FLAG_LOST_CLOCK) ok = column_null(c, events_row_of(s, e)) && ok;
    else c->i64[events_row_of(s, e)] = table_ts(s, e->ts);
  }
  return ok;
}

static bool fill_dur(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    if (!is_timed(e)) ok = column_null(c, events_row_of(s, e)) && ok;
    else c->i64[events_row_of(s, e)] = table_dur(s, e->ts, e->dur);
  }
  return ok;
}

static bool fill_name(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) ok = column_string(c, events_row_of(s, e), s->t->classes[e->cls].name) && ok;
  return ok;
}

static bool fill_cat(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) ok = column_string(c, events_row_of(s, e), s->t->classes[e->cls].cat) && ok;
  return ok;
}

static bool fill_type(struct table_source *s, struct column *c) {
  enum { N_TYPES = 4 };
  static const char *const names[N_TYPES] = {"span", "instant", "counter", "sample"};
  static const int32_t places[] = {[TK_EVENT_SPAN] = 0, [TK_EVENT_INSTANT] = 1, [TK_EVENT_COUNTER] = 2, [TK_EVENT_SAMPLE] = 3};
  bool ok = true;
  for (size_t i = 0; i < N_TYPES; i++) ok = column_word(c, names[i]) && ok;
  for EACH_EVENT(s, e) c->place[events_row_of(s, e)] = places[e->kind];
  return ok;
}

/* Kinds from most to least specific, because an event may have several: a collective is also a kernel. */
static const unsigned telling[] = {KIND_COLLECTIVE, KIND_MEMCPY, KIND_MEMSET, KIND_KERNEL, KIND_STEP, KIND_ANNOTATION, KIND_MODULE,
                                   KIND_OP, KIND_TRANSFER, KIND_RUNTIME, KIND_PYTHON};

static const char *word_of(unsigned kinds) {
  for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
    if (!(kinds & telling[i])) continue;
    for (const struct kind_word *w = kind_words; w->word; w++)
      if (w->kind == telling[i]) return w->word;
  }
  return NULL;
}

static bool fill_kind(struct table_source *s, struct column *c) {
  bool ok = table_kinds(s);
  unsigned last = 0;
  const char *word = NULL;
  for EACH_EVENT(s, e) {
    const int64_t row = events_row_of(s, e);
    const unsigned kinds = ok ? kinds_of(&s->kinds, e) : 0;
    if (kinds == last && row > 0 && word) {
      c->place[row] = c->place[row - 1];
      continue;
    }
    word = word_of(kinds);
    last = kinds;
    ok = (word ? column_text(c, row, word, strlen(word)) : column_null(c, row)) && ok;
  }
  return ok;
}

static bool fill_device(struct table_source *s, struct column *c) {
  if (!table_kinds(s)) return false;
  for EACH_EVENT(s, e) column_bool(c, events_row_of(s, e), kinds_of(&s->kinds, e) & KIND_DEVICE);
  return true;
}

static bool fill_track(struct table_source *s, struct column *c) {
  for EACH_EVENT(s, e) c->u32[events_row_of(s, e)] = e->track;
  return true;
}

static bool fill_depth(struct table_source *s, struct column *c) {
  for EACH_EVENT(s, e) c->u16[events_row_of(s, e)] = e->depth;
  return true;
}

/* Fills in the parents. Events of a track are in preorder, so the parent is the last span before the event that is one level
 * higher. */
static bool fill_parent(struct table_source *s, struct column *c) {
  tk_id *above = calloc((size_t)UINT16_MAX + 2, sizeof *above), track = 0;
  bool ok = above != NULL;
  uint32_t deepest = 0;
  for EACH_EVENT(s, e) {
    if (!ok) break;
    if (e->track != track) {
      memset(above, 0, ((size_t)deepest + 1) * sizeof *above);
      track = e->track;
      deepest = 0;
    }
    const tk_id parent = e->depth ? above[e->depth - 1] : 0;
    if (parent) c->u32[events_row_of(s, e)] = parent;
    else ok = column_null(c, events_row_of(s, e));
    const tk_id event = (tk_id)(e - s->t->events);
    if (!trace_nests(s->t, event)) continue;
    above[e->depth] = event;
    if (e->depth > deepest) deepest = e->depth;
  }
  free(above);
  return ok;
}

static const struct tk_track *process_of(const struct tk_trace *t, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  return k->kind == TK_TRACK_PROCESS ? k : &t->tracks[k->parent];
}

static bool fill_pid(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) ok = column_ident(c, events_row_of(s, e), s->t->tracks[e->track].pid) && ok;
  return ok;
}

static bool fill_tid(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) ok = column_ident(c, events_row_of(s, e), s->t->tracks[e->track].tid) && ok;
  return ok;
}

static bool fill_process(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) ok = column_string(c, events_row_of(s, e), process_of(s->t, e->track)->name) && ok;
  return ok;
}

static bool fill_thread(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    const struct tk_track *k = &s->t->tracks[e->track];
    ok = column_string(c, events_row_of(s, e), k->kind == TK_TRACK_PROCESS || k->kind == TK_TRACK_COUNTERS ? 0 : k->name) && ok;
  }
  return ok;
}

static bool fill_rank(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    if (s->origins[e->track].rank < 0) ok = column_null(c, events_row_of(s, e)) && ok;
    else c->i64[events_row_of(s, e)] = s->origins[e->track].rank;
  }
  return ok;
}

static bool fill_host(struct table_source *s, struct column *c) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    const char *host = s->origins[e->track].host;
    ok = (*host ? column_text(c, events_row_of(s, e), host, strlen(host)) : column_null(c, events_row_of(s, e))) && ok;
  }
  return ok;
}

static bool fill_step(struct table_source *s, struct column *c) {
  bool ok = table_steps(s);
  for EACH_EVENT(s, e) {
    int64_t number;
    if (ok && steps_of(&s->steps, e, &number)) c->i64[events_row_of(s, e)] = number;
    else ok = column_null(c, events_row_of(s, e)) && ok;
  }
  return ok;
}

static bool fill_around(struct table_source *s, struct column *c, enum around_fact fact) {
  struct around around = {0};
  bool ok = table_kinds(s) && table_steps(s) && around_init(&around, fact, &s->kinds, &s->steps, s->origins, &s->mem);
  for EACH_EVENT(s, e) {
    size_t n;
    const char *text = ok ? around_text(&around, (tk_id)(e - s->t->events), &n) : NULL;
    ok = (text ? column_text(c, events_row_of(s, e), text, n) : column_null(c, events_row_of(s, e))) && ok;
  }
  around_free(&around);
  return ok;
}

static bool fill_phase(struct table_source *s, struct column *c) { return fill_around(s, c, AROUND_PHASE); }
static bool fill_op(struct table_source *s, struct column *c) { return fill_around(s, c, AROUND_OP); }
static bool fill_module(struct table_source *s, struct column *c) { return fill_around(s, c, AROUND_MODULE); }

static void put_self(void *arg, tk_id event, tk_time self) { ((struct column *)arg)->i64[event - 1] = self; }

static bool fill_self(struct table_source *s, struct column *c) {
  struct selves selves = {.mem = &s->mem, .scope = SCOPE_ALL, .done = put_self, .arg = c};
  bool ok = true;
  for (tk_id track = 1; ok && track <= s->t->n_tracks; track++) ok = self_of_track(&selves, s->t, track);
  self_free(&selves);
  for EACH_EVENT(s, e) {
    if (!is_timed(e)) ok = column_null(c, events_row_of(s, e)) && ok;
    else if (!s->ps) c->i64[events_row_of(s, e)] = num_ns(c->i64[events_row_of(s, e)]);
  }
  return ok;
}

static bool fill_unfinished(struct table_source *s, struct column *c) {
  for EACH_EVENT(s, e) column_bool(c, events_row_of(s, e), e->flags & TK_FLAG_UNFINISHED);
  return true;
}

static bool fill_clipped(struct table_source *s, struct column *c) {
  for EACH_EVENT(s, e) column_bool(c, events_row_of(s, e), e->flags & TK_FLAG_CLIPPED);
  return true;
}

/* ---- args ---- */

/* Returns the narrowest type that can store every value of an arg. */
static enum column_type type_of_arg(const struct tk_arg *arg) {
  switch (arg->type) {
  case TK_ARG_FALSE:
  case TK_ARG_TRUE: return COLUMN_BOOL;
  case TK_ARG_INT: return COLUMN_I64;
  case TK_ARG_UINT:
  case TK_ARG_POINTER: return arg->u <= INT64_MAX ? COLUMN_I64 : COLUMN_TEXT;
  case TK_ARG_DECIMAL:
  case TK_ARG_DOUBLE: return COLUMN_F64;
  default: return COLUMN_TEXT;
  }
}

static enum column_type wider(enum column_type a, enum column_type b) {
  if (a == b) return a;
  return (a == COLUMN_I64 && b == COLUMN_F64) || (a == COLUMN_F64 && b == COLUMN_I64) ? COLUMN_F64 : COLUMN_TEXT;
}

static bool events_put_number(struct column *c, int64_t row, const struct tk_arg *arg) {
  if (c->type == COLUMN_BOOL) column_bool(c, row, arg->type == TK_ARG_TRUE);
  else if (c->type == COLUMN_I64) c->i64[row] = arg->i; /* also for unsigned values, which fit */
  else if (arg->type == TK_ARG_DOUBLE) c->f64[row] = arg->d;
  else if (arg->type == TK_ARG_DECIMAL) c->f64[row] = num_nearest(arg->i, arg->exp);
  else c->f64[row] = (double)arg->i;
  return true;
}

static bool fill_arg(struct table_source *s, struct column *c, tk_id key) {
  bool ok = true;
  for EACH_EVENT(s, e) {
    struct tk_arg arg;
    const int64_t row = events_row_of(s, e);
    if (!args_of_event(s->t, e, key, &arg) || arg.type == TK_ARG_NULL) ok = column_null(c, row) && ok;
    else ok = (c->type == COLUMN_TEXT ? column_arg(c, row, &arg) : events_put_number(c, row, &arg)) && ok;
  }
  return ok;
}

static bool fill_other(struct table_source *s, const char *name, struct column *c, bool *known) {
  *known = strncmp(name, "arg.", 4) == 0 && name[4];
  if (!*known) return true;
  const tk_id key = trace_text_id(s->t, name + 4);
  enum column_type type = COLUMN_TEXT;
  bool any = false;
  for EACH_EVENT(s, e) {
    struct tk_arg arg;
    if (!key || !args_of_event(s->t, e, key, &arg) || arg.type == TK_ARG_NULL) continue;
    type = any ? wider(type, type_of_arg(&arg)) : type_of_arg(&arg);
    any = true;
    if (type == COLUMN_TEXT) break;
  }
  return column_init(c, s->t, name, type, s->t->n_events) && fill_arg(s, c, key);
}

static const struct table_column columns[] = {
    {"ts", COLUMN_TS, fill_ts, false},         {"dur", COLUMN_DUR, fill_dur, false},
    {"name", COLUMN_TEXT, fill_name, false},    {"cat", COLUMN_TEXT, fill_cat, false},
    {"type", COLUMN_TEXT, fill_type, false},    {"kind", COLUMN_TEXT, fill_kind, false},
    {"track", COLUMN_U32, fill_track, false},   {"depth", COLUMN_U16, fill_depth, false},
    {"pid", COLUMN_I64, fill_pid, false},       {"tid", COLUMN_I64, fill_tid, false},
    {"process", COLUMN_TEXT, fill_process, false}, {"thread", COLUMN_TEXT, fill_thread, false},
    {"rank", COLUMN_I64, fill_rank, false},     {"step", COLUMN_I64, fill_step, false},
    {"id", COLUMN_U32, fill_id, true},          {"parent", COLUMN_U32, fill_parent, true},
    {"host", COLUMN_TEXT, fill_host, true},     {"device", COLUMN_BOOL, fill_device, true},
    {"self", COLUMN_DUR, fill_self, true},      {"unfinished", COLUMN_BOOL, fill_unfinished, true},
    {"clipped", COLUMN_BOOL, fill_clipped, true}, {"phase", COLUMN_TEXT, fill_phase, true},
    {"op", COLUMN_TEXT, fill_op, true},         {"module", COLUMN_TEXT, fill_module, true},
};

const struct table events_table = {"events", columns, sizeof columns / sizeof *columns, event_rows, fill_other};

/* counters.c - counters of Firefox profiles.
 *
 *     {"name":"malloc","category":"Memory","pid":"12","samples":{"time":[0,2],"count":[100,-20],"number":[3,1]}}
 *
 * The counts are differences. Counters of memory show their sum, as in the Firefox Profiler; others, such as power and
 * bandwidth, show the amount since the previous sample. */
#include "counters.h"

#include "format/json_args.h"
#include "graph/args.h"
#include "values.h"

struct counter {
  struct json_value name, category, pid, samples, groups, display;
};

/* True if the counter shows the sum of its samples. Newer versions record this (graphType); otherwise the category decides. */
static bool accumulates(struct json_walk *w, const struct counter *c) {
  struct json_value graph;
  const struct json_place places[] = {{"graphType", &graph}, {NULL, NULL}};
  json_walk_object(w, &c->display, places);
  if (graph.p && graph.type == JSON_STRING) return json_is(&w->j, &graph.str, "line-accumulated");
  return c->category.p && c->category.type == JSON_STRING && json_is(&w->j, &c->category.str, "Memory");
}

/* Returns the sum of the counts up to this one. If the sum cannot be exact (fractions, overflow), returns the count itself from then
 * on. */
static struct tk_arg add_up(struct tk_arg count, int64_t *sum, bool *exact) {
  *exact = *exact && count.type == TK_ARG_INT && !__builtin_add_overflow(*sum, count.i, sum);
  if (*exact) count.i = *sum;
  return count;
}

static void read_values(struct gecko *g, struct json_walk *w, const struct json_value *table, tk_id track, bool sums) {
  static const char *const NAMES[] = {"count", "time", "timeDeltas", "number", NULL};
  const tk_id number = trace_text(g->t, "number");
  struct tk_event e = {.track = track, .kind = TK_EVENT_COUNTER, .cls = trace_class(g->t, g->t->tracks[track].name, 0)};
  struct gecko_clock clock = {0};
  struct gecko_rows r;
  int64_t sum = 0;
  bool exact = sums;
  if (gecko_rows_begin(&r, w, table, NAMES))
    while (gecko_rows_next(&r)) {
      const bool has_time = gecko_next_time(g, &clock, &r.cells[1], &r.cells[2], &e.ts);
      g->t->counts.read++;
      if (!has_time || !r.cells[0].p || r.cells[0].type != JSON_NUMBER) {
        gecko_repair(g, r.at, "counter sample without a time or a value: dropped");
        g->t->counts.dropped++;
        continue;
      }
      struct tk_arg arg = add_up(json_number_arg(g->t, &r.cells[0]), &sum, &exact);
      args_begin(g->t);
      arg.key = KEY_COUNTER_VALUE;
      args_copy(g->t, &arg);
      if (r.cells[3].p && r.cells[3].type == JSON_NUMBER) {
        arg = json_number_arg(g->t, &r.cells[3]);
        arg.key = number;
        args_copy(g->t, &arg);
      }
      e.args = args_end(g->t);
      *trace_add_event(g->t) = e;
    }
  gecko_rows_end(&r);
  if (sums && !exact) trace_note(g->t, TK_NOTE_INFO, UINT64_MAX, "counters whose sum is not exact: some values shown are differences");
}

/* Returns the track of a counter; a second one of the same name gets a number. */
static tk_id counter_track(struct gecko *g, struct json_walk *w, const struct counter *c) {
  struct tk_ident pid = g->pid;
  if (c->pid.p) gecko_ident(g, w, &c->pid, &pid);
  tk_id name = gecko_text(g, w, &c->name);
  if (!name) name = trace_text(g->t, "counter");
  const struct tk_track want = {.kind = TK_TRACK_COUNTERS, .pid = pid, .name = name};
  const struct tk_arg number = {.type = TK_ARG_INT, .i = ++g->n_counters};
  if (trace_find(g->t, &want)) name = trace_counter_name(g->t, name, &number);
  return trace_track(g->t, TK_TRACK_COUNTERS, pid, ident_none(), name);
}

static void read_counter(struct gecko *g, struct json_walk *w, const struct json_value *item) {
  struct counter c = {.name = {.p = NULL}};
  const struct json_place places[] = {{"name", &c.name}, {"category", &c.category}, {"pid", &c.pid}, {"samples", &c.samples},
                                      {"sampleGroups", &c.groups}, {"sample_groups", &c.groups}, {"display", &c.display},
                                      {NULL, NULL}};
  struct json_value group;
  if (item->type != JSON_OBJECT) return;
  json_walk_object(w, item, places);
  const tk_id track = counter_track(g, w, &c);
  const bool sums = accumulates(w, &c);
  if (c.samples.p) read_values(g, w, &c.samples, track, sums);
  if (!c.groups.p || c.groups.type != JSON_ARRAY) return;
  struct json_walk in = json_walk_into(w, &c.groups);
  if (json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &group)) {
      struct json_value samples;
      const struct json_place members[] = {{"samples", &samples}, {NULL, NULL}};
      json_walk_object(&in, &group, members);
      if (samples.p) read_values(g, &in, &samples, track, sums);
    }
  json_walk_free(&in);
}

void gecko_read_counters(struct gecko *g, struct json_walk *w, const struct json_value *list) {
  struct json_walk in = json_walk_into(w, list);
  struct json_value item;
  if (list->p && json_walk_enter(&in, '['))
    while (json_walk_more(&in) && json_walk_value(&in, &item)) read_counter(g, &in, &item);
  json_walk_free(&in);
}

/* sink.c - counts the data of a graph that an output format does not support. */
#include "sink.h"

#include <string.h>

#include "args.h"
#include "stack.h"
#include "subset.h"

const char *tk_loss_name(enum tk_loss kind) {
  static const char *const NAMES[TK_LOSSES] = {
      [TK_LOSS_SPANS] = "spans",
      [TK_LOSS_INSTANTS] = "instants",
      [TK_LOSS_COUNTERS] = "counter samples",
      [TK_LOSS_CATEGORIES] = "categories",
      [TK_LOSS_ASYNC] = "async span ids",
      [TK_LOSS_FLOW_POINTS] = "flow points",
      [TK_LOSS_DANGLING] = "dangling flow points",
      [TK_LOSS_ARGS] = "args",
      [TK_LOSS_RECORDS] = "records",
      [TK_LOSS_METADATA] = "top-level keys",
      [TK_LOSS_MACHINES] = "machine names",
      [TK_LOSS_PASSTHROUGH] = "data blocks specific to the input format",
      [TK_LOSS_SAMPLES] = "stack samples",
      [TK_LOSS_SAMPLE_PARTS] = "times, units or modules of stack samples",
  };
  return kind < TK_LOSSES ? NAMES[kind] : "";
}

/* True for the arg in which Chrome JSON keeps an empty object of args. */
static bool is_empty_args(const struct tk_trace *t, const struct tk_arg *arg) {
  return arg->key == KEY_ARGS && arg->type == TK_ARG_JSON && strcmp(tk_string(t, arg->s, NULL), "{}") == 0;
}

static uint32_t n_args(const struct tk_trace *t, uint32_t args) {
  struct tk_args it = tk_args_of(t, args);
  struct tk_arg only;
  const uint32_t n = it.shape ? it.shape->n : 0;
  return n == 1 && it.shape->fields[0].key == KEY_ARGS && tk_args_next(&it, &only) && is_empty_args(t, &only) ? 0 : n;
}

static void lose_events(struct sink *s, const struct tk_trace *t, unsigned holds) {
  struct tk_arg weight;
  uint64_t kinds[TK_EVENT_SAMPLE + 1] = {0}, async = 0, args = 0, categories = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    kinds[e->kind]++;
    if (e->kind == TK_EVENT_SAMPLE && !(holds & TK_HOLDS_SAMPLES)) continue;
    async += (e->flags & TK_FLAG_ASYNC) != 0;
    categories += t->classes[e->cls].cat != 0;
    if (!(holds & TK_HOLDS_ARGS) && e->kind != TK_EVENT_COUNTER) args += n_args(t, e->args) + n_args(t, t->classes[e->cls].args);
    if (!(holds & TK_HOLDS_ARGS) && e->kind == TK_EVENT_SAMPLE) args -= args_of_event(t, e, KEY_WEIGHT, &weight);
  }
  if (!(holds & TK_HOLDS_INSTANTS)) sink_lose(s, TK_LOSS_INSTANTS, kinds[TK_EVENT_INSTANT]);
  if (!(holds & TK_HOLDS_COUNTERS)) sink_lose(s, TK_LOSS_COUNTERS, kinds[TK_EVENT_COUNTER]);
  if (!(holds & TK_HOLDS_SAMPLES)) sink_lose(s, TK_LOSS_SAMPLES, kinds[TK_EVENT_SAMPLE]);
  if (!(holds & TK_HOLDS_ASYNC)) sink_lose(s, TK_LOSS_ASYNC, async);
  if (!(holds & TK_HOLDS_CATEGORIES)) sink_lose(s, TK_LOSS_CATEGORIES, categories);
  sink_lose(s, TK_LOSS_ARGS, args);
}

/* Counts records as lost, with two exceptions: records that contain the name of a track, because every format supports names,
 * and records whose samples are written. */
static void lose_records(struct sink *s, const struct tk_trace *t, unsigned holds) {
  for (tk_id i = 1; i <= t->n_records; i++)
    if (t->records[i].kind == TK_RECORD_OTHER && !(t->records[i].sampled && holds & TK_HOLDS_SAMPLES)) sink_lose(s, TK_LOSS_RECORDS, 1);
}

void sink_lose_unheld(struct sink *s, const struct tk_trace *t, unsigned holds) {
  if ((holds & TK_HOLDS_ALL) == TK_HOLDS_ALL) return;
  const unsigned of_events = TK_HOLDS_INSTANTS | TK_HOLDS_COUNTERS | TK_HOLDS_CATEGORIES | TK_HOLDS_ASYNC | TK_HOLDS_ARGS;
  if (~holds & (of_events | (stack_has_samples(t) ? TK_HOLDS_SAMPLES : 0))) lose_events(s, t, holds);
  if (!(holds & TK_HOLDS_FLOWS)) sink_lose(s, TK_LOSS_FLOW_POINTS, t->n_flow_points);
  if (!(holds & TK_HOLDS_RECORDS)) lose_records(s, t, holds);
  for (tk_id i = 1; !(holds & TK_HOLDS_METADATA) && i <= t->n_metas; i++) sink_lose(s, TK_LOSS_METADATA, !t->metas[i].origin);
  /* a merge adds one machine per rank; the names of processes contain the same information */
  bool told = holds & TK_HOLDS_MACHINES || t->edits & TK_EDIT_RENAMED;
  for (tk_id i = 1; !told && i <= t->n_tracks; i++)
    sink_lose(s, TK_LOSS_MACHINES, t->tracks[i].machine != 0 && !t->tracks[i].hidden);
}

static bool write_rest(struct sink *s, const struct tk_trace *t, struct tk_err *err) {
  struct mem mem = {0};
  struct subset rest;
  struct subset_losses losses = {0};
  struct tk_trace view = {0};
  sink_limit(&mem, t);
  bool ok = subset_init(&rest, t, &mem) || mem_refuse(&mem, err);
  for (tk_id i = 1; ok && i <= t->n_events; i++) rest.events[i] = t->events[i].kind != TK_EVENT_SAMPLE;
  ok = ok && subset_take(t, &rest, &view, &losses, err);
  view.edits = t->edits; /* passthrough data does not refer to samples */
  view.cut = t->cut;
  ok = ok && s->write_rest(s, &view, err);
  subset_free_view(&view);
  subset_free(&rest);
  return ok;
}

static bool write_without_samples(struct sink *s, const struct tk_trace *t, struct tk_err *err) {
  return stack_has_samples(t) ? write_rest(s, t, err) : s->write_rest(s, t, err);
}

void sink_leave_out(struct sink *s, unsigned holds) {
  if (holds & TK_HOLDS_SAMPLES) return;
  s->write_rest = s->write;
  s->write = write_without_samples;
}

void sink_limit(struct mem *m, const struct tk_trace *t) {
  const struct mem *whole = &t->store->mem;
  m->whole = whole->whole;
  m->process = whole->process;
  if (whole->limit) m->limit = whole->limit > whole->used ? whole->limit - whole->used : 1;
}

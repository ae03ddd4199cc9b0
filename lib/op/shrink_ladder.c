/* shrink_ladder.c - makes the ladder of a trace: the steps of the rungs that the user chose, or of the default ones (shrink.h).
 *
 * Rungs of args and of Python frames have one step for each key or depth. The others have one step, which can be taken in part. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

#include "graph/args.h"

const char *const shrink_ladder_names[RUNGS] = {"drop", "args", "python", "samples", "coalesce", "spans", "counters", "hard"};

/* True if args with this key must not be removed: they link an event to other events, or describe a collective or an earlier
 * coalescing. */
static bool ties(const char *key) {
  static const char *const TIES[] = { "correlation",
                                      "External id",
                                      "external id",
                                      "Ev Idx",
                                      "stream",
                                      "device",
                                      "step",
                                      "Step",
                                      "context",
                                      "Collective",
                                      "Process Group",
                                      "Seq",
                                      "Group size",
                                      "In msg nelems",
                                      "Out msg nelems",
                                      "dtype",
                                      "group_id",
                                      "run_id",
                                      "hlo_",
                                      "program_id",
                                      "replica_group",
                                      "Record function id",
                                      "Sequence number",
                                      "Fwd thread id",
                                      "count",
                                      "total",
                                      NULL };
  for (const char *const *t = TIES; *t; t++)
    if (strncmp(key, *t, strlen(*t)) == 0) return true;
  return key_is_reserved(key);
}

static struct rung_step *add_step(struct shrink *s, enum rung rung) {
  struct ladder *l = &s->ladder;
  if (!mem_grow(s->mem, (void **)&l->steps, &l->cap_steps, (uint64_t)l->n_steps + 1, sizeof *l->steps)) return NULL;
  l->steps[l->n_steps] = (struct rung_step){.rung = rung};
  return &l->steps[l->n_steps++];
}

static int by_cost(const void *a, const void *b) {
  const struct rung_step *x = a, *y = b;
  if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

static uint32_t digits(uint64_t v) {
  uint32_t n = 1;
  for (; v >= 10000; v /= 10000) n += 4;
  return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

static uint64_t cost_of(const struct tk_trace *t, const struct tk_arg *arg) {
  size_t n = 0;
  if (arg->type >= TK_ARG_STR && arg->type <= TK_ARG_REF) tk_string(t, arg->s, &n);
  else if (arg->type == TK_ARG_DOUBLE) n = 10;
  else if (arg->type > TK_ARG_TRUE) n = digits(arg->i < 0 ? 0 - arg->u : arg->u);
  return n + 4 + trace_str(t, arg->key)->len;
}

static bool add_args(struct shrink *s) {
  const struct tk_trace *t = s->t;
  uint64_t *cost = mem_zeros(s->mem, (uint64_t)t->store->strings.n + 1, sizeof *cost);
  struct ladder *l = &s->ladder;
  uint32_t first = l->n_steps, n = t->store->strings.n;
  bool ok = cost != NULL;
  for (tk_id i = 1; ok && i <= t->n_events; i++) {
    struct tk_args it = tk_args_of(t, t->events[i].args);
    struct tk_arg arg;
    if (t->events[i].kind == TK_EVENT_COUNTER || t->events[i].kind == TK_EVENT_SAMPLE) continue;
    while (tk_args_next(&it, &arg)) cost[arg.key] += cost_of(t, &arg);
  }
  for (tk_id key = 1; ok && key <= n; key++) {
    struct rung_step *step = cost[key] && !ties(tk_string(t, key, NULL)) ? add_step(s, RUNG_ARG) : NULL;
    if (!step) continue;
    step->key = key;
    step->cost = cost[key];
  }
  if (l->n_steps > first) qsort(l->steps + first, l->n_steps - first, sizeof *l->steps, by_cost);
  mem_free(s->mem, cost);
  return ok;
}

/* Adds one step for each depth that has Python frames, deepest first. */
static bool add_python(struct shrink *s) {
  uint8_t *met = mem_zeros(s->mem, UINT16_MAX + 1, 1);
  if (!met) return false;
  for (tk_id i = 1; i <= s->t->n_events; i++)
    if (shrink_is_python(s, &s->t->events[i])) met[s->t->events[i].depth] = 1;
  for (uint32_t d = UINT16_MAX + 1; d-- > 0;) {
    struct rung_step *step = met[d] ? add_step(s, RUNG_PYTHON) : NULL;
    if (step) step->depth = d;
  }
  mem_free(s->mem, met);
  return true;
}

static bool add_rung(struct shrink *s, enum rung rung) {
  if (rung == RUNG_ARG) return add_args(s);
  if (rung == RUNG_PYTHON) return add_python(s);
  return add_step(s, rung) != NULL;
}

/* Returns the first rung in the list of names, and moves *names past it; RUNG_HARD with err if the name is unknown. */
static enum rung next_rung(const char **names, struct tk_err *err) {
  const size_t n = strcspn(*names, ",");
  int r = 1;
  while (r < RUNG_HARD && (strlen(shrink_ladder_names[r]) != n || strncmp(shrink_ladder_names[r], *names, n) != 0)) r++;
  if (r == RUNG_HARD)
    err_set(err, TK_EUSAGE, "ladder: unknown step '%.*s'; expected args, python, samples, coalesce, spans or counters", (int)n, *names);
  *names += n + ((*names)[n] == ',');
  return (enum rung)r;
}

bool shrink_ladder_check(const char *names, struct tk_err *err) {
  while (*names)
    if (next_rung(&names, err) == RUNG_HARD) return false;
  return true;
}

/* Adds the default rungs. */
static bool add_usual(struct shrink *s) {
  static const enum rung FIRST[] = {RUNG_ARG, RUNG_PYTHON, RUNG_SAMPLES, RUNG_COALESCE};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof FIRST / sizeof FIRST[0]; i++) ok = add_rung(s, FIRST[i]);
  struct rung_step *spans = ok ? add_step(s, RUNG_SPANS) : NULL;
  if (!spans) return false;
  spans->thins = 0.9;
  return add_rung(s, RUNG_COUNTERS);
}

bool shrink_ladder_make(struct shrink *s, const struct tk_shrink_options *o, struct tk_err *err) {
  bool ok = !o->drop || add_rung(s, RUNG_DROP);
  if (!o->ladder) ok = ok && add_usual(s);
  for (const char *p = o->ladder; ok && p && *p;) {
    const enum rung r = next_rung(&p, err);
    ok = r != RUNG_HARD && add_rung(s, r);
  }
  return ok && (!o->hard || add_rung(s, RUNG_HARD));
}

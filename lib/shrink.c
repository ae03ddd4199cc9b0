/* shrink.c - climbs the ladder of op/shrink.c until the written file fits.
 *
 * Sizes are not estimated: what a plan would give is written to nowhere and counted, so what is written in the end is what was
 * weighed.  A target is met by about ten such weighings, of ever smaller files: the ladder is bisected for the step that first
 * fits, then that step for how much of it is needed. */
#include "op/shrink.h"

#include <stdio.h>
#include <string.h>

#include "format/json.h"
#include "identity.h"
#include "save.h"

struct shrinker {
  struct tk_trace *t;
  const char *output;
  const struct tk_shrink_options *opt;
  struct tk_shrink_report *report;
  struct tk_err *err;
  struct mem mem;
  struct shrink ladder;
  struct tk_save_options save;
};

/* ---- the account, as JSON ---- */

static void put(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }

static void put_us(struct buf *b, i128 ps) {
  char text[48];
  buf_append(b, text, num_put_us(text, ps));
}

static void put_count(struct buf *b, uint64_t v) {
  char text[24];
  buf_append(b, text, num_put_u64(text, v));
}

static void put_string(struct buf *b, const struct tk_trace *t, tk_id id) {
  size_t n;
  const char *s = tk_string(t, id, &n);
  json_quote(b, s, n);
}

static void put_pid(struct buf *b, const struct tk_trace *t, struct tk_ident pid) {
  char text[24];
  if (pid.kind == TK_IDENT_STR) put_string(b, t, pid.str);
  else if (pid.kind == TK_IDENT_NONE) put(b, "null");
  else buf_append(b, text, num_put_i64(text, pid.num));
}

static void put_gone(struct buf *b, const struct tk_trace *t, const struct gone *g) {
  static const char *const KINDS[] = {"", "process", "thread", "counter", "async"};
  const struct tk_track *k = &t->tracks[g->process];
  put(b, "[");
  put_pid(b, t, k->pid);
  put(b, ",");
  put_string(b, t, k->name);
  put(b, ",\"");
  put(b, KINDS[g->kind]);
  put(b, "\",");
  put_string(b, t, g->name);
  put(b, ",");
  put_count(b, g->count);
  put(b, ",");
  put_us(b, g->total);
  put(b, "]");
}

/* What an earlier shrink took away, the first one first. */
static void put_before(const struct shrinker *s, struct buf *b) {
  const struct tk_meta *m = trace_meta(s->t, "tracekit");
  struct json_value shrink, before;
  if (!m || m->binary || !json_member(trace_raw(s->t, m->at), m->size, "shrink", &shrink) || shrink.type != JSON_OBJECT) return;
  put(b, ",\"before\":[");
  const char *text = (const char *)shrink.p;
  if (json_member(text, (size_t)(shrink.end - shrink.p), "before", &before) && before.type == JSON_ARRAY && before.end - before.p > 2) {
    buf_append(b, before.p + 1, (size_t)(before.end - before.p) - 2);
    put(b, ",");
  }
  buf_append(b, text, (size_t)(shrink.end - shrink.p));
  put(b, "]");
}

/* Members of the provenance block. */
static const char *facts(struct shrinker *s, const struct shrunk *done, struct buf *b) {
  bool any = false;
  put(b, "\"shrink\":{\"rungs\":[");
  for (int r = 0; r < RUNGS; r++) {
    const struct rung_report *rung = &done->rungs[r];
    if (!rung->events && !rung->args) continue;
    put(b, any ? ",{\"rung\":\"" : "{\"rung\":\"");
    put(b, rung_names[r]);
    put(b, "\",\"events\":");
    put_count(b, rung->events);
    put(b, ",\"args\":");
    put_count(b, rung->args);
    put(b, ",\"total_us\":");
    put_us(b, rung->time);
    put(b, "}");
    any = true;
  }
  put(b, "],\"coalesced\":");
  put_count(b, done->coalesced);
  put(b, ",\"columns\":[\"pid\",\"process\",\"kind\",\"name\",\"count\",\"total_us\"],\"dropped\":[");
  for (uint32_t i = 1; i <= done->n_gone; i++) {
    put(b, i > 1 ? ",\n" : "\n");
    put_gone(b, s->t, &done->gone[i]);
  }
  put(b, "]");
  put_before(s, b);
  put(b, "}");
  return buf_append(b, "", 1) ? (const char *)b->data : NULL;
}

/* ---- weighing ---- */

/* A place on the ladder: whole steps, and how far the next one. */
struct place {
  uint32_t whole;
  double level;
};

static void take_report(struct shrinker *s, const struct shrunk *done) {
  struct tk_shrink_report *r = s->report;
  for (int i = 0; i < RUNGS; i++) {
    r->rungs[i].name = rung_names[i];
    r->rungs[i].events = done->rungs[i].events;
    r->rungs[i].args = done->rungs[i].args;
    r->rungs[i].seconds = (double)done->rungs[i].time * 1e-12;
  }
  r->coalesced = done->coalesced;
  r->broken_flows = done->kept.broken_flows;
}

/* Writes what the place gives.  The args that it rewrote are forgotten again. */
static bool write_place(struct shrinker *s, struct place at, bool dry_run, struct tk_saved *saved) {
  struct tk_save_options save = s->save;
  struct buf text = {.mem = &s->mem};
  struct tk_trace view;
  struct shrunk done;
  size_t pool = s->t->store->pool.len;
  save.dry_run |= dry_run;
  if (!shrink_apply(&s->ladder, at.whole, at.level, &view, &done, s->err)) return false;
  save.facts = facts(s, &done, &text);
  bool ok = save.facts ? tk_save(&view, s->output, &save, saved, s->err) : mem_check(&s->mem, s->err);
  take_report(s, &done);
  shrunk_free(&done);
  keep_free_view(&view);
  buf_free(&text);
  s->t->store->pool.len = pool;
  return ok;
}

/* Bytes or events, whatever the target is of. */
static bool weigh(struct shrinker *s, struct place at, uint64_t *weight) {
  struct tk_saved saved = {0};
  if (s->opt->events) {
    struct tk_trace view;
    struct shrunk done;
    size_t pool = s->t->store->pool.len;
    if (!shrink_apply(&s->ladder, at.whole, at.level, &view, &done, s->err)) return false;
    *weight = view.n_events;
    shrunk_free(&done);
    keep_free_view(&view);
    s->t->store->pool.len = pool;
    return true;
  }
  if (!write_place(s, at, true, &saved)) return false;
  *weight = saved.bytes;
  return true;
}

/* ---- finding the place ---- */

static bool too_small(struct shrinker *s, uint64_t smallest) {
  char size[32], target[32];
  if (s->opt->events)
    return err_set(s->err, TK_ELIMIT, "cannot be made to fit: %llu events are the fewest%s", (unsigned long long)smallest,
                   s->opt->hard ? "" : " without --hard");
  tk_print_size(smallest, size);
  tk_print_size(s->report->target, target);
  return err_set(s->err, TK_ELIMIT, "cannot be made to fit into %s: the smallest is %s (%llu bytes)%s", target, size,
                 (unsigned long long)smallest, s->opt->hard ? "" : " without --hard");
}

/* The first whole step that fits: sizes fall along the ladder. */
static bool find_step(struct shrinker *s, uint64_t *step) {
  uint64_t lo = 0, hi = s->ladder.n_steps, weight;
  if (!weigh(s, (struct place){(uint32_t)hi, 0}, &weight)) return false;
  if (weight > s->report->target) return too_small(s, weight);
  while (hi - lo > 1) {
    uint64_t mid = lo + (hi - lo) / 2;
    if (!weigh(s, (struct place){(uint32_t)mid, 0}, &weight)) return false;
    if (weight > s->report->target) lo = mid;
    else hi = mid;
  }
  *step = hi;
  return true;
}

enum { MOST_HALVINGS = 20 };
static const double FULL_ENOUGH = 0.97;

/* How much of the last step is needed: the file shall be nearly as large as it may be. */
static bool find_level(struct shrinker *s, struct place *at) {
  double lo = 0, hi = 1;
  uint64_t weight;
  for (int i = 0; i < MOST_HALVINGS && hi - lo > 1e-6; i++) {
    double mid = (lo + hi) / 2;
    if (!weigh(s, (struct place){at->whole, mid}, &weight)) return false;
    if (weight > s->report->target) {
      lo = mid;
      continue;
    }
    hi = mid;
    if ((double)weight >= FULL_ENOUGH * (double)s->report->target) break;
  }
  at->level = hi;
  return true;
}

static bool is_compressed(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0);
}

enum { SMALLEST = 9 };

/* Nothing lost but time: the best compression, where it may be enough. */
static bool pack_better(struct shrinker *s, uint64_t *weight) {
  bool may = is_compressed(s->output) && !s->opt->save.level && !s->opt->events;
  uint64_t packed;
  if (!may || (!s->opt->lossless && *weight > s->report->target * 2)) return true;
  s->save.level = SMALLEST;
  if (!weigh(s, (struct place){0, 0}, &packed)) return false;
  if (s->opt->lossless || packed <= s->report->target) return *weight = packed, true;
  s->save.level = s->opt->save.level;
  return true;
}

static bool find_place(struct shrinker *s, struct place *at) {
  struct tk_shrink_report *r = s->report;
  const struct tk_shrink_options *o = s->opt;
  uint64_t weight, step = 0;
  *at = (struct place){0, 0};
  if (!weigh(s, *at, &weight)) return false;
  r->before = weight;
  r->target = o->events ? o->events : o->bytes ? o->bytes : (uint64_t)((double)weight * o->percent / 100);
  if (!pack_better(s, &weight)) return false;
  r->level = s->save.level;
  if (o->lossless || weight <= r->target) return true;
  if (!find_step(s, &step)) return false;
  at->whole = (uint32_t)step - 1;
  return find_level(s, at);
}

/* What each rung that is climbed makes of the file. */
static bool weigh_rungs(struct shrinker *s, struct place at) {
  uint64_t weights[RUNGS] = {0};
  for (uint32_t i = 0; i <= at.whole && i < s->ladder.n_steps; i++) {
    enum rung rung = s->ladder.steps[i].rung;
    bool last = i == at.whole, ends = last || s->ladder.steps[i + 1].rung != rung;
    struct place here = last ? at : (struct place){i + 1, 0};
    if (ends && (!last || at.level > 0) && !weigh(s, here, &weights[rung])) return false;
  }
  for (int r = 0; r < RUNGS; r++) s->report->rungs[r].bytes = weights[r];
  return true;
}

static bool run(struct shrinker *s) {
  struct place at;
  if (!find_place(s, &at)) return false;
  if (s->opt->save.dry_run && !weigh_rungs(s, at)) return false;
  return write_place(s, at, false, &s->report->saved);
}

static bool check_target(const struct tk_shrink_options *o, struct tk_err *err) {
  int targets = (o->bytes != 0) + (o->events != 0) + (o->percent != 0) + o->lossless;
  if (targets != 1) return err_set(err, TK_EUSAGE, targets ? "more than one target" : "no target: say how large the file may be");
  if (o->percent < 0 || o->percent > 100) return err_set(err, TK_EUSAGE, "a percentage is between 0 and 100");
  return true;
}

bool tk_shrink(struct tk_trace *t, const char *output, const struct tk_shrink_options *opt, struct tk_shrink_report *report,
               struct tk_err *err) {
  struct tk_err own;
  struct shrinker s = {.t = t, .output = output, .opt = opt, .report = report, .err = err ? err : &own, .save = opt->save};
  err_clear(s.err);
  *report = (struct tk_shrink_report){.events_before = t->n_events};
  if (!check_target(opt, s.err)) return false;
  struct match_origin *origins = identity_of_tracks(t, &s.mem);
  bool ok = origins && shrink_init(&s.ladder, t, opt, origins, &t->store->mem, s.err) && run(&s);
  if (!ok && s.err->code == TK_OK && mem_check(&s.mem, s.err)) err_set(s.err, TK_ELIMIT, "out of memory");
  shrink_free(&s.ladder);
  identity_free_tracks(origins, t, &s.mem);
  return ok;
}

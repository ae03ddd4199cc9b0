/* shrink.c - takes as many steps of op/shrink.c as needed until the file fits.
 *
 * The steps form a ladder. How many of them are needed is estimated on a sample of the trace: the sample is shrunk to a place
 * on the ladder and formatted without writing a file, and its size is scaled up. Then the whole trace is shrunk in place,
 * without additional memory, and its actual size is measured, which shows the error of the sample. The first attempt aims at a
 * size above the target, because dropped events cannot be restored. The second attempt aims a few per cent below the target
 * (its estimates were never wrong by more than 2%: 13 attempts, three formats), and the result is written to the output, where
 * it stays if it fits. A small trace needs no sample, and its first attempt aims at the target.
 *
 *     A large trace is formatted once to measure it, and twice after shrinking. */
#include "shrink.h"

#include "io/out.h"
#include "io/packing.h"

#include <string.h>

#include "source/identity.h"
#include "base/options.h"
#include "base/progress.h"
#include "format/format.h"
#include "load/save.h"
#include "op/filter.h"
#include "op/window.h"
#include "provenance.h"

struct shrinker {
  struct tk_trace *t;
  const char *output;
  struct tk_bytes *memory; /* receives the bytes in place of a file; NULL = a file is written */
  const struct shrink_scale *by; /* measures the trace instead of writing it; NULL = the size of the written output counts */
  const struct tk_shrink_options *opt;
  struct tk_shrink_report *report;
  struct tk_err *err;
  struct mem mem;
  struct tk_save_options save;
  struct shrink whole;
  struct shrunk done; /* accumulated removals from the whole trace */
  struct place at;    /* place on the ladder that the whole trace has reached */
  struct sample sample, none; /* samples of the original trace: a part of its events, and its metadata without events */
  struct shrink part;
  uint32_t every;     /* the sample contains one event in this many; 1 = all */
  double scale;       /* size of all events / size of the sample's events */
  bool written;       /* true when the output is complete */
};

/* ---- weighing ---- */

static const char *account_of(struct shrinker *s, struct buf *b, const struct shrunk *gone) {
  return s->by ? s->by->account(s->by->arg, b, gone) : shrink_provenance(b, s->t, gone);
}

/* Sets *weight to the bytes that the trace would have when written. */
static bool weigh_trace(struct shrinker *s, const struct tk_trace *t, const char *provenance, uint64_t *weight) {
  if (s->by) return s->by->weigh(s->by->arg, t, provenance, weight, s->err);
  struct tk_save_options save = s->save;
  struct tk_saved saved = {0};
  save.dry_run = true;
  save.progress.phase = NULL; /* not reported, because this is one of many attempts */
  save.provenance = provenance;
  if (!provenance) save.command = NULL;
  if (!tk_save(t, s->output, &save, &saved, s->err)) return false;
  *weight = saved.bytes;
  return true;
}

enum { ANY_SIZE = 0 };

/* Writes the whole trace, unless this takes more than `most` bytes (0 = any number). dry_run: only counts the bytes. */
static bool write_whole(struct shrinker *s, bool dry_run, uint64_t most, struct tk_saved *saved) {
  struct tk_save_options save = s->save;
  struct buf text = {.mem = &s->mem};
  save.dry_run |= dry_run;
  if (dry_run) save.progress.phase = NULL;
  save.provenance = shrink_provenance(&text, s->t, &s->done);
  bool ok = mem_check(&s->mem, s->err);
  if (ok && s->memory && !save.dry_run) ok = tk_save_memory(s->t, s->output, s->memory, &save, saved, s->err);
  else if (ok) ok = save_within(s->t, s->output, &save, most, saved, s->err);
  buf_free(&text);
  return ok;
}

/* Sets *weight to the size of the whole trace: bytes or events, depending on the target. */
static bool weigh_whole(struct shrinker *s, uint64_t *weight) {
  struct tk_saved saved = {0};
  if (s->by) {
    struct buf text = {.mem = &s->mem};
    const char *account = account_of(s, &text, &s->done);
    const bool ok = mem_check(&s->mem, s->err) && weigh_trace(s, s->t, account, weight);
    buf_free(&text);
    return ok;
  }
  if (!s->opt->events && !write_whole(s, true, ANY_SIZE, &saved)) return false;
  *weight = s->opt->events ? s->t->n_events : saved.bytes;
  return true;
}

/* Does the same as weigh_whole for a trace that probably fits, by writing the file. The file is kept if it fits. */
static bool write_if_fits(struct shrinker *s, uint64_t *weight) {
  struct tk_saved saved = {0};
  if (s->by || s->memory || s->opt->events || s->save.dry_run || out_is_final(s->output)) return weigh_whole(s, weight);
  if (!write_whole(s, false, s->report->target, &saved)) return false;
  *weight = saved.bytes;
  s->written = saved.bytes <= s->report->target;
  if (s->written) s->report->saved = saved;
  return true;
}

/* Makes the same tracks visible in the sample without events as in the view. The metadata of a track, such as its name, is written only
 * if the track is shown. */
static void show_tracks(struct shrinker *s, const struct tk_trace *view) {
  for (tk_id i = 1; i <= view->n_tracks; i++) s->none.view.tracks[i].hidden = view->tracks[i].hidden;
}

/* Estimates the size of the whole trace from a view of the sample. The size of events is scaled up, but not that of metadata
 * and the account of dropped events. */
static bool weigh_view(struct shrinker *s, const struct tk_trace *view, const char *provenance, double *weight) {
  uint64_t events, fixed, rest;
  if (s->every == 1) {
    if (!weigh_trace(s, view, provenance, &events)) return false;
    *weight = (double)events;
    return true;
  }
  show_tracks(s, view);
  if (!weigh_trace(s, &s->none.view, NULL, &fixed) || !weigh_trace(s, &s->none.view, provenance, &rest)) return false;
  if (!weigh_trace(s, view, NULL, &events)) return false;
  *weight = (double)rest + ((double)events - (double)fixed) * s->scale;
  return true;
}

/* Estimates the size of the whole trace at this place, using the sample. Args that were rewritten for the estimate are
 * discarded. */
static bool estimate(struct shrinker *s, struct place at, double *weight) {
  struct buf text = {.mem = &s->mem};
  struct tk_trace view;
  struct shrunk gone;
  size_t pool = s->t->store->pool.len;
  shrink_account_init(&gone, &s->t->store->mem);
  bool ok = shrink_apply(&s->part, at, &view, &gone, s->err);
  if (ok) {
    const char *provenance = account_of(s, &text, &gone);
    *weight = (double)view.n_events * s->scale;
    ok = mem_check(&s->mem, s->err);
    if (ok && !s->opt->events) ok = weigh_view(s, &view, provenance, weight);
    subset_free_view(&view);
  }
  shrink_account_free(&gone);
  buf_free(&text);
  s->t->store->pool.len = pool;
  return ok;
}

/* ---- the sample ---- */

enum { SAMPLE = 1 << 15, WHOLE_TO = 1 << 16 };

static bool take_sample(struct shrinker *s, const struct track_origin *origins) {
  struct mem *mem = &s->t->store->mem;
  uint64_t all = s->report->before - s->report->passthrough, some, fixed;
  s->every = s->t->n_events <= WHOLE_TO ? 1 : s->t->n_events / SAMPLE;
  s->scale = 1;
  if (!sample_take(&s->sample, s->t, s->every, mem, s->err) || !sample_take(&s->none, s->t, 0, mem, s->err)) return false;
  if (!shrink_init_sample(&s->part, &s->sample, &s->whole.ladder, s->opt, origins, s->err)) return false;
  if (s->every == 1) return true;
  if (s->opt->events) {
    s->scale = (double)s->t->n_events / (s->sample.view.n_events ? s->sample.view.n_events : 1);
    return true;
  }
  show_tracks(s, &s->sample.view);
  if (!weigh_trace(s, &s->none.view, NULL, &fixed) || !weigh_trace(s, &s->sample.view, NULL, &some)) return false;
  if (some > fixed && all > fixed) s->scale = (double)(all - fixed) / (double)(some - fixed);
  return true;
}

static void free_sample(struct shrinker *s) {
  shrink_free(&s->part);
  sample_free(&s->sample, &s->t->store->mem);
  sample_free(&s->none, &s->t->store->mem);
}

/* ---- finding the place ---- */

static bool too_small(struct shrinker *s, uint64_t smallest) {
  const enum tk_option more = s->opt->hard ? TK_OPTION_NONE : TK_OPTION_HARD;
  char size[32], target[32];
  if (s->opt->events)
    return err_for(s->err, more, TK_ELIMIT, "cannot be shrunk: at least %llu events remain", (unsigned long long)smallest);
  tk_print_size(smallest, size);
  tk_print_size(s->report->target, target);
  return err_for(s->err, more, TK_ELIMIT, "cannot be shrunk to %s: at least %s (%llu bytes) remain", target, size,
                 (unsigned long long)smallest);
}

/* True if every event would have to be removed, after which even metadata that events need is left out. */
static bool is_emptied(const struct shrinker *s) { return !s->by && s->report->events_before && !s->t->n_events; }

static bool none_left(struct shrinker *s) {
  char target[32];
  tk_print_size(s->report->target, target);
  return err_set(s->err, TK_ELIMIT, "cannot be shrunk to %s: no event would remain", target);
}

enum { MOST_HALVINGS = 20 };

/* Sets at->level to the fraction of the next step that is needed to reach `goal` (not below its old value), and *weight to the
 * estimated size there. A size of at least full_enough * goal is close enough. */
static bool find_level(struct shrinker *s, double goal, double full_enough, struct place *at, double *weight) {
  double lo = at->level, hi = 1, w;
  for (int i = 0; i < MOST_HALVINGS && hi - lo > 1e-6; i++) {
    double mid = (lo + hi) / 2;
    if (!estimate(s, (struct place){at->whole, mid}, &w)) return false;
    if (w > goal) {
      lo = mid;
      continue;
    }
    hi = mid;
    *weight = w;
    if (w >= full_enough * goal) break;
  }
  at->level = hi;
  return true;
}

/* Moves *at forward to the first place with an estimated size of at most `goal`, but close to it; to the end of the ladder if there is
 * none. Sets *weight to the estimate there. Sizes decrease along the ladder, so a binary search finds the first step that is enough,
 * and then how much of it is needed. */
static bool find_place(struct shrinker *s, double goal, double full_enough, struct place *at, double *weight) {
  uint32_t lo = at->whole, hi = s->whole.ladder.n_steps;
  double w;
  if (!estimate(s, (struct place){hi, 0}, weight)) return false;
  if (*weight > goal) {
    *at = (struct place){hi, 0};
    return true;
  }
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (!estimate(s, (struct place){mid, 0}, &w)) return false;
    if (w > goal) lo = mid;
    else hi = mid, *weight = w;
  }
  if (lo != at->whole) *at = (struct place){lo, 0};
  return find_level(s, goal, full_enough, at, weight);
}

static bool is_at_end(const struct shrinker *s) { return s->at.whole >= s->whole.ladder.n_steps; }

/* Shrinks the trace until it meets the target: aims at each of the fractions AIMS of the target in turn, because dropped events
 * cannot be restored. */
static bool make_fit(struct shrinker *s, uint64_t weight) {
  static const double AIMS[] = {1.12, 0.975, 0.96, 0.93, 0.9, 0.8, 0.6, 0.3, 0};
  enum { N = sizeof AIMS / sizeof AIMS[0] };
  double wrong = 1; /* actual size of the whole trace / estimated size */
  for (int i = s->every == 1 ? -1 : 0; i < N && weight > s->report->target && !is_at_end(s); i++) {
    struct place next = s->at;
    double goal = (double)s->report->target * (i < 0 ? 1 : AIMS[i]), guess = 0;
    if ((double)weight <= goal) continue;
    if (!find_place(s, goal / wrong, i < 0 ? 0.97 : 0.99, &next, &guess)) return false;
    if (!shrink_apply(&s->whole, next, s->t, &s->done, s->err)) return false;
    s->at = next;
    if (is_emptied(s)) return none_left(s);
    if (goal > (double)s->report->target ? !weigh_whole(s, &weight) : !write_if_fits(s, &weight)) return false;
    s->report->estimate = (uint64_t)(guess * wrong);
    if (guess > 0) wrong = (double)weight / guess;
  }
  return weight <= s->report->target || too_small(s, weight);
}

enum { SMALLEST = 9 };
static const double MOST_GAIN = 1.6; /* the best level makes real traces 1.26 to 1.33 times smaller; not tried if more is needed */

/* Tries the best compression level, which only costs time, if the sample shows that it may be enough. */
static bool pack_better(struct shrinker *s, uint64_t *weight) {
  const struct tk_shrink_options *o = s->opt;
  double usual, best;
  uint64_t packed;
  if (s->by || !packing_of_path(s->output, strlen(s->output)) || o->save.level || o->events) return true;
  if (!o->lossless && (double)*weight / MOST_GAIN > (double)s->report->target) return true;
  if (!o->lossless) {
    if (!estimate(s, s->at, &usual)) return false;
    s->save.level = SMALLEST;
    if (!estimate(s, s->at, &best)) return false;
    s->save.level = o->save.level;
    if ((double)*weight * best / usual > (double)s->report->target * 1.03) return true;
  }
  s->save.level = SMALLEST;
  if (!weigh_whole(s, &packed)) return false;
  if (o->lossless || packed <= s->report->target) {
    *weight = packed;
    return true;
  }
  s->save.level = o->save.level;
  return true;
}

/* Estimates the file size after each rung that was used, from the sample. If a rung has several steps, the estimate after its last step
 * counts. */
static bool weigh_rungs(struct shrinker *s) {
  const struct rung_step *steps = s->whole.ladder.steps;
  uint32_t n = s->whole.ladder.n_steps;
  double weight;
  for (uint32_t i = 0; i < n && i <= s->at.whole; i++) {
    bool last = i == s->at.whole, goes_on = !last && i + 1 < n && steps[i + 1].rung == steps[i].rung;
    if (goes_on || (last && s->at.level <= 0)) continue;
    if (!estimate(s, last ? s->at : (struct place){i + 1, 0}, &weight)) return false;
    s->report->rungs[steps[i].rung].bytes = (uint64_t)weight;
  }
  return true;
}

static void take_report(struct shrinker *s) {
  struct tk_shrink_report *r = s->report;
  for (int i = 0; i < RUNGS; i++) {
    r->rungs[i].name = shrink_ladder_names[i];
    r->rungs[i].events = s->done.rungs[i].events;
    r->rungs[i].args = s->done.rungs[i].args;
    r->rungs[i].seconds = i128_double(s->done.rungs[i].time) * 1e-12;
  }
  r->coalesced = s->done.coalesced;
  r->broken_flows = s->done.kept.broken_flows;
  r->level = s->save.level;
}

static bool has_passthrough(const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (t->metas[i].origin) return true;
  return false;
}

/* If the file does not fit, drops passthrough data, which no viewer of the output shows. Called before events are dropped. */
static bool leave_passthrough(struct shrinker *s, uint64_t *weight) {
  uint64_t bare;
  if (!has_passthrough(s->t) || s->by || s->opt->lossless || s->opt->events || s->save.no_passthrough) return true;
  if (*weight <= s->report->target) return true;
  s->save.no_passthrough = true;
  if (!weigh_whole(s, &bare)) return false;
  if (bare < *weight) s->report->passthrough = *weight - bare;
  s->save.no_passthrough = bare < *weight;
  *weight = bare < *weight ? bare : *weight;
  return true;
}

/* ---- passthrough packets ---- */

/* A range of time to keep, from the start of the trace. */
struct kept_range {
  const struct format *format; /* format of the output, which writes packets by their times */
  struct trace_cut all;
  double lo, hi, lo_weight, hi_weight; /* fractions of `all`: one that fits, one that does not; their sizes */
};

/* Finds the times of all events and packets. Returns false if there are none. */
static bool find_times(const struct shrinker *s, struct kept_range *k) {
  const struct trace_cut any = {INT64_MIN, INT64_MAX};
  tk_time start, end;
  if (!k->format->passthrough_times(s->t, any, &k->all)) return false;
  trace_extent(s->t, &start, &end);
  if (s->t->n_events && start < k->all.start) k->all.start = start;
  if (s->t->n_events && end > k->all.end) k->all.end = end;
  return k->all.end > k->all.start;
}

static struct window window_of(const struct kept_range *k, double part) {
  const double length = ((double)k->all.end - (double)k->all.start) * part;
  return (struct window){INT64_MIN, num_add(k->all.start, length < 9e18 ? (tk_time)length : INT64_MAX)};
}

static bool cut_to(struct shrinker *s, struct tk_trace *to, const struct window *w) {
  static const struct tk_filter_options all = {0};
  const struct filter_plan plan = {.opt = &all, .cut = w};
  struct tk_filter_report unused = {0};
  return op_filter(s->t, to, &plan, &unused, s->err);
}

/* Sets *weight to the size of the first `part` (0..1) of the trace. */
static bool weigh_part(struct shrinker *s, const struct kept_range *k, double part, uint64_t *weight) {
  const struct window w = window_of(k, part);
  struct buf text = {.mem = &s->mem};
  struct tk_trace view;
  if (!cut_to(s, &view, &w)) return false;
  const char *account = account_of(s, &text, &s->done);
  const bool ok = mem_check(&s->mem, s->err) && weigh_trace(s, &view, account, weight);
  subset_free_view(&view);
  buf_free(&text);
  return ok;
}

/* Sets k->lo to a part of the trace that fits and whose size is at least 95% of the target, or after some attempts to the
 * largest part found that fits. */
static bool search_part(struct shrinker *s, struct kept_range *k) {
  enum { ATTEMPTS = 12 };
  const double target = (double)s->report->target;
  uint64_t weight;
  for (int i = 0; i < ATTEMPTS && k->lo_weight < 0.95 * target && k->hi - k->lo > 1e-6; i++) {
    const double room = k->hi - k->lo, gain = k->hi_weight - k->lo_weight;
    double step = gain > 0 ? (0.98 * target - k->lo_weight) / gain : 0.5;
    step = step < 0.02 ? 0.02 : step > 0.98 ? 0.98 : step;
    const double part = k->lo + room * (i % 4 == 3 ? 0.5 : step);
    if (!weigh_part(s, k, part, &weight)) return false;
    if (weight <= s->report->target) k->lo = part, k->lo_weight = (double)weight;
    else k->hi = part, k->hi_weight = (double)weight;
  }
  return true;
}

/* Returns the bytes of the trace's passthrough data of this format. */
static uint64_t passthrough_bytes(const struct tk_trace *t, const struct format *f) {
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_metas; i++)
    if (t->metas[i].origin && strcmp(t->metas[i].origin, f->info.name) == 0) n += t->metas[i].size;
  return n;
}

/* If most of the file is passthrough packets (such as scheduler events), cuts the trace to the longest range from its start that
 * fits, because no later step makes packets smaller. */
static bool keep_range(struct shrinker *s, uint64_t *weight) {
  const bool applies = !s->by && !s->opt->lossless && !s->opt->events && !s->save.no_passthrough && *weight > s->report->target;
  struct kept_range k = {.format = applies ? save_cuts(s->output, &s->save, s->t) : NULL, .hi = 1, .hi_weight = (double)*weight};
  struct tk_saved saved = {0};
  if (!k.format || !find_times(s, &k)) return true;
  if (!write_whole(s, true, ANY_SIZE, &saved)) return false;
  if (passthrough_bytes(s->t, k.format) < saved.raw_bytes / 2) return true;
  if (!search_part(s, &k)) return false;
  if (k.lo_weight <= 0) return true;
  const struct window w = window_of(&k, k.lo);
  if (!cut_to(s, s->t, &w)) return false;
  const double whole_ns = ((double)k.all.end - (double)k.all.start) / 1000;
  s->report->whole_ns = (uint64_t)whole_ns;
  s->report->kept_ns = (uint64_t)(whole_ns * k.lo);
  return weigh_whole(s, weight);
}

static bool shrink_trace(struct shrinker *s, const struct track_origin *origins) {
  struct tk_shrink_report *r = s->report;
  const struct tk_shrink_options *o = s->opt;
  uint64_t weight;
  if (!weigh_whole(s, &weight)) return false;
  r->before = weight;
  r->target = o->events ? o->events : o->bytes ? o->bytes : (uint64_t)((double)weight * o->percent / 100);
  if (!keep_range(s, &weight) || !leave_passthrough(s, &weight)) return false;
  if (o->lossless || weight > r->target) {
    if (!take_sample(s, origins) || !pack_better(s, &weight)) return false;
    if (!o->lossless && !make_fit(s, weight)) return false;
    if (o->save.dry_run && !o->events && !weigh_rungs(s)) return false;
  }
  take_report(s);
  return s->by || s->written || write_whole(s, false, ANY_SIZE, &r->saved);
}

static bool check_target(const struct tk_shrink_options *o, struct tk_err *err) {
  int targets = (o->bytes != 0) + (o->events != 0) + (o->percent != 0) + o->lossless;
  if (targets != 1) return err_set(err, TK_EUSAGE, targets ? "more than one target given" : "no target given");
  if (o->percent < 0 || o->percent > 100) return err_set(err, TK_EUSAGE, "the percentage must be between 0 and 100");
  return true;
}

/* Runs the shrinker. *gone, unless NULL, receives what was dropped. */
static bool run_shrinker(struct shrinker s, struct shrunk *gone) {
  struct tk_trace *t = s.t;
  const struct tk_shrink_options *opt = s.opt;
  struct tk_shrink_report *report = s.report;
  if (!s.by) progress_phase(&opt->save.progress, (struct tk_phase){.what = "fitting", .name = s.output, .events = true});
  struct mem *mem = &t->store->mem;
  err_clear(s.err);
  *report = (struct tk_shrink_report){.events_before = t->n_events};
  if (!check_target(opt, s.err)) return false;
  shrink_account_init(&s.done, mem);
  struct track_origin *origins = identity_of_tracks(t, &s.mem);
  bool ok = origins && shrink_init(&s.whole, t, opt, origins, s.err) && shrink_trace(&s, origins);
  if (!ok && s.err->code == TK_OK && mem_check(&s.mem, s.err)) err_set(s.err, TK_ELIMIT, "out of memory");
  free_sample(&s);
  shrink_free(&s.whole);
  if (gone && ok) *gone = s.done;
  else shrink_account_free(&s.done);
  identity_free_tracks(origins, &s.mem);
  return ok;
}

static bool check_expression(const char *text, struct tk_err *err) {
  const char *const where[] = {text, NULL};
  return !text || tk_filter_check(&(struct tk_filter_options){.where = where}, err);
}

bool tk_shrink_check(const struct tk_shrink_options *opt, struct tk_err *err) {
  struct tk_shrink_options o;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  return TAKE_OPTIONS(&o, opt, err) && check_target(&o, err) && check_expression(o.keep, err) && check_expression(o.drop, err) &&
         (!o.ladder || shrink_ladder_check(o.ladder, err));
}

bool shrink_to_fit(struct tk_trace *t, const struct shrink_scale *scale, const struct tk_shrink_options *opt, struct shrunk *gone,
                   struct tk_err *err) {
  struct tk_shrink_report report;
  return run_shrinker((struct shrinker){.t = t, .output = "", .by = scale, .opt = opt, .report = &report, .err = err,
                                        .save = opt->save}, gone);
}

bool tk_shrink(struct tk_trace *t, const char *output, const struct tk_shrink_options *opt, struct tk_shrink_report *report,
               struct tk_err *err) {
  struct tk_shrink_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  return run_shrinker((struct shrinker){
      .t = t, .output = output, .opt = &options, .report = report, .err = err, .save = options.save}, NULL);
}

bool tk_shrink_memory(struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_shrink_options *opt,
                      struct tk_shrink_report *report, struct tk_err *err) {
  struct tk_shrink_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  *to = (struct tk_bytes){0};
  if (!trace_is_sealed(t, err) || !TAKE_OPTIONS(&options, opt, err)) return false;
  return run_shrinker((struct shrinker){
      .t = t, .output = name, .memory = to, .opt = &options, .report = report, .err = err, .save = options.save}, NULL);
}

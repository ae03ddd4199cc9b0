/* diff_set.c - see diff_set.h.
 *
 *     add      assigns every selected event to a row (name or path) and a sample (step of a rank), and adds its times to their cell
 *     place    numbers the samples to compare; if some traces have no steps, merges the samples of a rank into one */
#include "diff_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/os.h"
#include "diff_launches.h"
#include "allocations.h"
#include "diff_annotations.h"
#include "diff_lines.h"
#include "diff_rows.h"
#include "diff_stacks.h"
#include "fold.h"
#include "group.h"
#include "graph/diagnostics.h"
#include "self.h"
#include "host_names.h"
#include "op/pending.h"
#include "short_apart.h"
#include "short_names.h"
#include "op/launched.h"
#include "op/step_launches.h"

enum { DEEPEST = DIFF_DEEPEST };

/* State while one trace is added. */
struct adder {
  struct diff_set *set;
  struct diff_side *side;
  struct tk_trace *t;
  struct mem *mem;
  struct match match;
  struct scope scope;
  struct groups groups;
  uint32_t *text_of;   /* by group of the trace: 1 + id of its text in the diff */
  uint32_t cap_texts;
  uint32_t *cell_of;   /* by event: 1 + cell */
  uint32_t under[DEEPEST + 2];
  struct map samples;  /* rank and step -> 1 + sample */
  struct selves selves;
  struct diff_stacks stacks;
  struct diff_launches launches; /* filled only if work is matched by its launch */
  uint32_t input;
  tk_id memory;        /* string "memory"; 0 = none */
  bool *is_mark;       /* by class: true if its events only show that a profiler was active */
  uint8_t *calls;      /* by class: 1 = by its name, a call that launches work; 2 = not such a call; 0 = not determined yet */
  tk_id *launch_of;    /* by event: the host event that launched it; 0 = none */
  bool *has_launched;  /* by event: true if it launched recorded work; NULL = no work of the trace has a known launch */
};

/* ---- samples ---- */

static uint64_t key_of_sample(int64_t rank, bool stepped, int64_t step) {
  return (uint64_t)rank * 0x9e3779b97f4a7c15 + (stepped ? (uint64_t)step * 2 + 2 : 1);
}

static uint32_t add_sample(struct adder *a, int64_t rank, bool stepped, int64_t step) {
  struct diff_side *s = a->side;
  uint32_t *slot = map_put(&a->samples, key_of_sample(rank, stepped, step), 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&a->set->mem, (void **)&s->samples, &s->cap_samples, (uint64_t)s->n_samples + 1, sizeof *s->samples)) return 0;
  s->samples[s->n_samples] = (struct diff_sample){.input = a->input, .rank = rank, .step = step, .stepped = stepped};
  return *slot = ++s->n_samples;
}

static int64_t diff_rank_of(const struct adder *a, tk_id track) {
  const struct track_origin *o = a->match.origins ? &a->match.origins[track] : NULL;
  return o && o->rank >= 0 ? o->rank : -1;
}

/* Returns the steps that apply to a track: the steps that the track marks, or else the steps of its device or rank. If a device
 * and its host number steps differently, the host's steps apply to both. */
static const struct steps_run *run_of(const struct adder *a, tk_id track) {
  const struct steps_run *run = steps_runs_own(&a->match.steps, track);
  return run->host ? run->host : run;
}

/* Finds the number of the step to which the event belongs. Returns false if the event is outside of all steps that apply to it. */
static bool step_of(const struct adder *a, const struct tk_event *e, int64_t *number) {
  const struct tk_event *by = steps_decider(&a->match.steps, e);
  const struct steps_run *run = by ? run_of(a, by->track) : NULL;
  const struct step *step = run && run->source != STEPS_OTHERS ? steps_runs_at(run, by->ts) : NULL;
  if (step) *number = step->number;
  return step != NULL;
}

static uint32_t sample_of(struct adder *a, const struct tk_event *e) {
  const int64_t rank = diff_rank_of(a, e->track);
  int64_t step = 0;
  const bool stepped = !a->set->opt.whole && step_of(a, e, &step);
  return add_sample(a, rank, stepped, step);
}

/* Adds the steps of a track as samples, including steps in which no selected event begins. Does not add steps that already have a
 * sample with an index from `first` up to `known`, because other tracks mark them. */
static bool add_run(struct adder *a, const struct steps_run *run, uint32_t first, uint32_t known) {
  const struct window *w = &a->scope.window;
  for (uint32_t i = 0; i < run->n; i++) {
    const struct step *step = &run->v[i];
    if (step->start < w->start || step->end > w->end) continue;
    const uint32_t at = add_sample(a, diff_rank_of(a, step->track), true, step->number);
    if (!at) return false;
    if (at > first && at <= known) continue;
    struct diff_sample *sample = &a->side->samples[at - 1];
    sample->marks += sample->track != step->track;
    sample->track = step->track;
    sample->dur += step->end - step->start;
  }
  return true;
}

/* True if the run of steps applies to a device (if `device` is set) or to the host of a rank, and has the step numbers by which samples
 * are compared. */
static bool makes_samples(const struct adder *a, const struct steps_run *run, bool device) {
  const bool of_device = run->source == STEPS_DEVICE;
  return run->source <= STEPS_DEVICE && of_device == device && !run->host && steps_runs_of(&a->match.steps, run->v->track) == run;
}

/* Adds every step as a sample. The duration of a step is its mean over the devices that mark it; if none does, its duration on the
 * host. */
static bool add_steps(struct adder *a) {
  const struct steps *s = &a->match.steps;
  const uint32_t first = a->side->n_samples;
  bool ok = true;
  a->side->without_steps = a->side->without_steps || s->n == 0;
  for (uint32_t i = 1; ok && i < s->n_runs; i++)
    if (makes_samples(a, &s->runs[i], true)) ok = add_run(a, &s->runs[i], first, first);
  const uint32_t known = a->side->n_samples;
  for (uint32_t i = 1; ok && i < s->n_runs; i++)
    if (makes_samples(a, &s->runs[i], false)) ok = add_run(a, &s->runs[i], first, known);
  for (uint32_t i = first; i < a->side->n_samples; i++) {
    struct diff_sample *sample = &a->side->samples[i];
    sample->dur /= sample->marks;
  }
  return ok;
}

/* ---- rows ---- */

/* Returns the text id, in the diff, of the name of a group of this trace; 0 if the group has no name. */
static uint32_t diff_text_of(struct adder *a, uint32_t group) {
  const struct intern_str *s = groups_text(&a->groups, group);
  const uint32_t before = a->cap_texts;
  if (!s) return 0;
  if (!mem_grow(a->mem, (void **)&a->text_of, &a->cap_texts, (uint64_t)group + 1, sizeof *a->text_of)) return 0;
  for (uint32_t i = before; i < a->cap_texts; i++) a->text_of[i] = 0;
  if (!a->text_of[group]) a->text_of[group] = intern(&a->set->texts, s->bytes, s->len);
  return a->text_of[group];
}

/* Returns the text id of a step's name without its number, so that all steps have the same row. */
static uint32_t text_of_step(struct adder *a, const struct tk_event *e) {
  struct buf *b = &a->set->text;
  size_t n;
  const char *name = tk_string(a->t, a->t->classes[e->cls].name, &n);
  if (strspn(name, "0123456789") == n) return intern(&a->set->texts, "(step)", 6);
  if (!fold_step(b, name, n) || !buf_text(b, groups_suffix(&a->groups, e->cls))) return 0;
  return intern(&a->set->texts, b->data, b->len);
}

static uint32_t diff_name_of(struct adder *a, const struct tk_event *e) {
  const bool by_name = a->set->opt.by_path || a->set->opt.by == TK_TOP_NAME;
  if (by_name && a->match.steps.n && kinds_of(&a->match.kinds, e) & KIND_STEP) return text_of_step(a, e);
  return diff_text_of(a, groups_of(&a->groups, e));
}

/* ---- add ---- */

static tk_time part_of(const struct window *w, const struct tk_event *e) {
  tk_time start = e->ts, end = e->ts + e->dur;
  if (e->flags & TK_FLAG_LOST_CLOCK) return e->dur;
  if (start < w->start) start = w->start;
  if (end > w->end) end = w->end;
  return end > start ? end - start : 0;
}

/* Adds a stack sample to the rows of its stack. If rows are neither names nor paths, adds it to the row of its group. */
static void place_sample(struct adder *a, tk_id event) {
  const struct tk_event *e = &a->t->events[event];
  const bool by_stack = a->set->opt.by_path || a->set->opt.by == TK_TOP_NAME;
  if (!scope_holds(&a->scope, e) || !match_event(&a->match, event)) return;
  const uint32_t sample = sample_of(a, e), unit = sample ? diff_rows_unit(a->set, a->t, e) : 0;
  if (unit && !a->set->unit) a->set->unit = unit;
  if (!sample) return;
  if (by_stack && a->t->classes[e->cls].stack) {
    diff_stacks_add(&a->stacks, e, sample);
    return;
  }
  const uint32_t row = diff_rows_add(a->set, diff_name_of(a, e), 0);
  const uint32_t cell = row ? diff_rows_cell(a->set, a->side, row, sample, unit) : 0;
  if (!cell) return;
  struct diff_cell *c = &a->side->cells[cell - 1];
  const i128 amount = stack_amount(a->t, e);
  c->count++;
  c->total += amount;
  c->self += amount;
}

/* Returns 1 + the row of the event if it is work that is matched by its launch; otherwise 0. */
static uint32_t launched_row(struct adder *a, tk_id event) {
  if (!a->set->opt.by_launch || !diff_launches_is_work(&a->launches, &a->t->events[event])) return 0;
  const uint32_t row = diff_launches_row(&a->launches, event);
  a->set->n_by_name += row == 0;
  return row;
}

/* Records which kinds of events the row contains (profiler marks, kernels, others), and whether the run has Python frames. */
static void describe_row(struct adder *a, struct diff_path *row, const struct tk_event *e) {
  if (kinds_of(&a->match.kinds, e) & KIND_PYTHON) a->side->python = true;
  if (a->is_mark[e->cls]) row->marks = true;
  else if (!row->others && groups_is_kernel(&a->groups, e)) row->kernels = true;
  else row->others = true;
}

/* Adds the event to its cell. Returns 1 + the cell; 0 if the event is not selected or memory runs out. Sets *row to 1 + the event's
 * row, or to `parent` if the event has no row. */
static uint32_t place_event(struct adder *a, tk_id event, uint32_t parent, uint32_t *row) {
  const struct tk_event *e = &a->t->events[event];
  *row = parent;
  if (e->kind == TK_EVENT_SAMPLE) place_sample(a, event);
  if (e->kind == TK_EVENT_COUNTER || e->kind == TK_EVENT_SAMPLE || (a->set->opt.by_path && e->kind != TK_EVENT_SPAN)) return 0;
  if (!scope_holds(&a->scope, e) || !match_event(&a->match, event) || !groups_has_row(&a->groups, e)) return 0;
  a->set->n_allocations += allocations_is(a->t, e, a->memory);
  const uint32_t launched = launched_row(a, event);
  *row = launched ? launched : diff_rows_add(a->set, diff_name_of(a, e), parent);
  const uint32_t sample = *row ? sample_of(a, e) : 0, cell = sample ? diff_rows_cell(a->set, a->side, *row, sample, 0) : 0;
  if (!cell) return 0;
  struct diff_cell *c = &a->side->cells[cell - 1];
  describe_row(a, &a->set->rows[*row - 1], e);
  c->count++;
  if (e->kind == TK_EVENT_SPAN) a->set->times = true;
  if (e->flags & TK_FLAG_UNFINISHED) return cell;
  const tk_time time = part_of(scope_window(&a->scope, e), e);
  if (launched) diff_rows_add_work(a->set, a->side, launched, diff_name_of(a, e), time);
  c->total += time;
  const bool alone = e->flags & TK_FLAG_LOST_CLOCK || a->t->tracks[e->track].kind != TK_TRACK_THREAD;
  if (alone && !a->is_mark[e->cls]) c->self += time;
  return cell;
}

/* True for an event of a host that launched work, as in the launches of a report. If no work has a known launch: true for a call whose
 * name shows that it launches work. */
static bool is_launch(struct adder *a, tk_id event) {
  const struct tk_event *e = &a->t->events[event];
  const unsigned kind = kinds_of(&a->match.kinds, e);
  if (e->kind != TK_EVENT_SPAN || kind & KIND_DEVICE || !scope_holds(&a->scope, e)) return false;
  if (a->has_launched) return a->has_launched[event];
  uint8_t *is = &a->calls[e->cls];
  const struct tk_class *c = &a->t->classes[e->cls];
  if (!(kind & KIND_RUNTIME)) return false;
  if (!*is) *is = host_names_class(tk_string(a->t, c->name, NULL), tk_string(a->t, c->cat, NULL)) == HOST_LAUNCH ? 1 : 2;
  return *is == 1;
}

/* Counts the launches on a track, in total and for each step that is a sample. */
static void count_launches(struct adder *a, const struct tk_track *k) {
  const int64_t rank = diff_rank_of(a, (tk_id)(k - a->t->tracks));
  int64_t step;
  if (k->kind != TK_TRACK_THREAD || a->match.kinds.of_track[k - a->t->tracks] & KIND_DEVICE) return;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &a->t->events[i];
    if (!is_launch(a, i)) continue;
    a->side->launches++;
    const uint32_t *sample = step_of(a, e, &step) ? map_get(&a->samples, key_of_sample(rank, true, step)) : NULL;
    if (sample && *sample) a->side->samples[*sample - 1].launches++;
  }
}

static bool add_track(struct adder *a, const struct tk_track *k) {
  const bool paths = a->set->opt.by_path, nests = paths && k->kind == TK_TRACK_THREAD;
  a->under[0] = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &a->t->events[i];
    const uint32_t depth = nests ? (e->depth < DEEPEST ? e->depth : DEEPEST) : 0;
    uint32_t row;
    a->cell_of[i] = place_event(a, i, a->under[depth], &row);
    const bool is_parent = !a->is_mark[e->cls] && !pending_is(&a->match.kinds, i);
    if (nests && trace_nests(a->t, i) && depth < DEEPEST) a->under[depth + 1] = is_parent ? row : a->under[depth];
  }
  return !a->set->mem.failed && !a->mem->failed;
}

static void add_self(void *arg, tk_id event, tk_time self) {
  struct adder *a = arg;
  if (a->cell_of[event] && !a->is_mark[a->t->events[event].cls]) a->side->cells[a->cell_of[event] - 1].self += self;
}

static bool add_all(struct adder *a, struct tk_err *err) {
  const struct tk_progress p = a->set->opt.select.progress;
  const struct tk_trace *t = a->t;
  a->selves = (struct selves){.mem = a->mem, .scope = a->scope, .only = a->cell_of, .done = add_self, .arg = a};
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    if (p.tick && !p.tick(p.arg, t->tracks[k].first, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
    if (!add_track(a, &t->tracks[k]) || !match_check(&a->match, err)) return false;
    if (t->tracks[k].kind == TK_TRACK_THREAD && !self_of_track(&a->selves, t, k)) return false;
  }
  for (tk_id k = 1; k <= t->n_tracks; k++) count_launches(a, &t->tracks[k]);
  return diff_stacks_close(&a->stacks) || mem_refuse(a->set->mem.failed ? &a->set->mem : a->mem, err);
}

/* Finds the launch of each piece of work, and the steps of work by its launch. Returns false if memory runs out. */
static bool find_launches(struct adder *a, const struct track_origin *origins) {
  const size_t n = (size_t)a->t->n_events + 1;
  bool any = false;
  a->launch_of = mem_zeros(a->mem, n, sizeof *a->launch_of);
  if (!a->launch_of || !launched_each(&a->match.kinds, origins, a->mem, launched_keep, a->launch_of)) return false;
  for (size_t i = 1; !any && i < n; i++) any = a->launch_of[i] != 0;
  a->has_launched = any ? mem_zeros(a->mem, n, sizeof *a->has_launched) : NULL;
  for (size_t i = 1; a->has_launched && i < n; i++) a->has_launched[a->launch_of[i]] = true;
  const bool ok = a->set->opt.whole || step_launches_link(&a->match.steps, &a->match.kinds, origins, a->launch_of);
  mem_free(a->mem, a->launch_of);
  return ok && !a->mem->failed;
}

/* Sets up matching, grouping and step selection for the trace of one adder. On failure returns false; err is set, except when memory
 * ran out. */
static bool prepare(struct adder *a, const struct track_origin *origins, struct tk_err *err) {
  const struct tk_diff_options *o = &a->set->opt;
  const struct tk_top_options names = {.by = o->by_path ? TK_TOP_NAME : o->by, .arg = o->arg, .fold = o->fold};
  struct tk_trace *t = a->t;
  map_init(&a->samples, a->mem);
  if (!match_init(&a->match, t, o->select.where, origins, a->mem, err) || !kinds_keep(&a->match.kinds) ||
      !window_select(&a->scope, t, &a->match.steps, &o->select, err) || !match_follow_launches(&a->match, &a->scope, NULL) ||
      !groups_init(&a->groups, &a->match, &names, a->mem) ||
      !find_launches(a, origins))
    return false;
  a->groups.has_runs = true;
  a->cell_of = mem_array(a->mem, (uint64_t)t->n_events + 1, sizeof *a->cell_of);
  a->is_mark = host_names_marks(t, a->mem);
  a->memory = trace_text_id(t, "memory");
  a->calls = mem_zeros(a->mem, (uint64_t)t->n_classes + 1, 1);
  diff_stacks_init(&a->stacks, a->set, a->side, t, &a->groups);
  const uint32_t side = (uint32_t)(a->side - a->set->sides);
  if (o->by_launch && !diff_launches_init(&a->launches, a->set, side, &a->match, &a->groups)) return false;
  return a->cell_of && a->calls && a->is_mark;
}

/* Stores the name of the spans that mark the steps of the trace. Records whether earlier traces have another name. */
static bool keep_step_name(struct adder *a) {
  struct buf *b = &a->set->text;
  size_t n;
  const char *name = steps_name(&a->match.steps, a->t, &n);
  if (!name) return true;
  const uint32_t mark = fold_step(b, name, n) ? intern(&a->set->texts, b->data, b->len) : 0;
  a->side->marks_differ = a->side->marks_differ || (a->side->mark && a->side->mark != mark);
  a->side->mark = mark;
  return mark != 0;
}

bool diff_set_add(struct diff_set *set, uint32_t side, struct tk_trace *t, const struct track_origin *origins, struct tk_err *err) {
  struct adder a = {.set = set, .side = &set->sides[side], .t = t, .mem = &t->store->mem, .scope = SCOPE_ALL,
                    .input = set->sides[side].inputs++};
  const bool ok = prepare(&a, origins, err) && keep_step_name(&a) && (set->opt.whole || add_steps(&a)) && add_all(&a, err);
  mem_free(a.mem, a.cell_of);
  mem_free(a.mem, a.calls);
  mem_free(a.mem, a.has_launched);
  mem_free(a.mem, a.is_mark);
  mem_free(a.mem, a.text_of);
  map_free(&a.samples);
  self_free(&a.selves);
  diff_stacks_free(&a.stacks);
  diff_launches_free(&a.launches);
  groups_free(&a.groups);
  match_free(&a.match);
  return ok ? mem_check(&set->mem, err) : mem_refuse(set->mem.failed ? &set->mem : a.mem, err);
}

/* ---- place ---- */

static int by_rank_and_step(const void *p, const void *q, void *samples) {
  const struct diff_sample *v = samples, *a = v + *(const uint32_t *)p, *b = v + *(const uint32_t *)q;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->step > b->step) - (a->step < b->step);
}

/* Sorts the samples of a side, and numbers the samples that are compared: one per step, or one per rank if steps are not compared. */
static bool place_samples(struct diff_set *set, struct diff_side *s) {
  const struct diff_sample *last = NULL;
  s->place = mem_array(&set->mem, (uint64_t)s->n_samples + 1, sizeof *s->place);
  s->order = mem_array(&set->mem, (uint64_t)s->n_samples + 1, sizeof *s->order);
  if (!s->place || !s->order) return false;
  for (uint32_t i = 0; i < s->n_samples; i++) s->order[i] = i;
  os_sort(s->order, s->n_samples, sizeof *s->order, by_rank_and_step, s->samples);
  for (uint32_t i = 0; i < s->n_samples; i++) {
    const struct diff_sample *v = &s->samples[s->order[i]];
    const bool other_rank = !last || v->rank != last->rank || v->input != last->input;
    s->ranks += other_rank;
    last = v;
    if (set->by_step) s->place[s->order[i]] = v->stepped ? s->n_used++ : UINT32_MAX;
    else s->place[s->order[i]] = other_rank ? s->n_used++ : s->n_used - 1;
  }
  for (uint32_t i = 0; i < s->n_cells; i++)
    if (s->place[s->cells[i].sample] == UINT32_MAX) {
      s->outside += s->cells[i].count - s->cells[i].again;
      s->outside_time += s->cells[i].self;
    }
  return true;
}

/* Orders cells by row, then by sample. */
static int by_row(const void *p, const void *q) {
  const struct diff_cell *a = p, *b = q;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return (a->sample > b->sample) - (a->sample < b->sample);
}

/* Only one unit is compared: times if there are any, otherwise the first unit. Sets the sums in all other units to 0. */
static void keep_unit(struct diff_set *set, struct diff_side *s) {
  for (uint32_t i = 0; i < s->n_cells; i++) {
    struct diff_cell *c = &s->cells[i];
    if (set->times ? c->unit == 0 : c->unit == set->unit || c->unit == 0) continue;
    c->total = c->self = 0;
    set->n_other += c->count - c->again;
  }
}

bool diff_set_place(struct diff_set *set) {
  const bool has_names = set->opt.by_path || set->opt.by == TK_TOP_NAME;
  bool ok = (!set->opt.by_launch || diff_annotations_splice(set)) && (!has_names || diff_lines_join(set));
  set->by_step = !set->opt.whole;
  for (uint32_t i = 0; i < set->n_sides; i++) set->by_step = set->by_step && !set->sides[i].without_steps;
  for (uint32_t i = 0; ok && i < set->n_sides; i++) {
    struct diff_side *s = &set->sides[i];
    keep_unit(set, s);
    diff_rows_place_works(set, s);
    ok = place_samples(set, s);
    if (ok && s->n_cells) qsort(s->cells, s->n_cells, sizeof *s->cells, by_row);
  }
  return ok;
}

uint64_t diff_set_launches(const struct diff_set *set, uint32_t side, double *per_step) {
  const struct diff_side *s = &set->sides[side];
  uint64_t sum = 0;
  for (uint32_t i = 0; i < s->n_samples; i++) sum += s->place[i] == UINT32_MAX ? 0 : s->samples[i].launches;
  *per_step = set->by_step && s->n_used ? (double)sum / s->n_used : -1;
  return s->launches;
}

const char *diff_set_step_name(const struct diff_set *set, uint32_t side) {
  const struct diff_side *s = &set->sides[side];
  return set->by_step && s->mark && !s->marks_differ ? (const char *)set->texts.strs[s->mark].bytes : NULL;
}

/* Adds a note if only some of the runs have Python frames. */
static void say_python(const struct diff_set *set, struct tk_diagnostics *notes) {
  uint32_t runs = 0;
  char text[200];
  for (uint32_t i = 0; i < set->n_sides; i++) runs += set->sides[i].python;
  if (!runs || runs == set->n_sides) return;
  snprintf(text, sizeof text,
           "%u of %u runs have Python frames (with_stack), whose rows are new or gone%s; --no-python leaves them out",
           (unsigned)runs, (unsigned)set->n_sides, set->opt.by_path ? ", with all paths below them" : "");
  diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
}

void diff_set_say(const struct diff_set *set, struct tk_diagnostics *notes) {
  char text[200];
  if (!set->times && set->unit) {
    snprintf(text, sizeof text, "durations shown are weights of stack samples: 1 ns means 1 %.99s",
             (const char *)set->texts.strs[set->unit].bytes);
    diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
  }
  if (set->n_by_name) {
    snprintf(text, sizeof text, "kernels, copies and fills that no operator launched are matched by name (%llu)",
             (unsigned long long)set->n_by_name);
    diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
  }
  diff_annotations_say(set, notes);
  if (set->n_allocations)
    diagnostics_say(notes, NULL, TK_NOTE_INFO, "spans of memory allocations are compared by how long the memory was held; report shows "
                    "the bytes of each function at the peak");
  say_python(set, notes);
  if (!set->n_other) return;
  snprintf(text, sizeof text, "stack samples not in the unit compared: they count as samples, but are not in the sums (%llu)",
           (unsigned long long)set->n_other);
  diagnostics_say(notes, NULL, TK_NOTE_INFO, text);
}

/* ---- names ---- */

/* Returns the names on a row's path: "train_step > forward > linear". */
static const char *path_text(struct diff_set *set, uint32_t row, size_t *n) {
  uint32_t path[DEEPEST + 2], depth = 0;
  for (uint32_t i = row + 1; i && depth <= DEEPEST; i = set->rows[i - 1].parent) path[depth++] = i - 1;
  set->text.len = 0;
  while (depth--) {
    const uint32_t name = set->rows[path[depth]].name;
    if (name) buf_append(&set->text, set->texts.strs[name].bytes, set->texts.strs[name].len);
    else buf_text(&set->text, "(none)");
    if (depth) buf_text(&set->text, " > ");
  }
  const uint32_t id = intern(&set->texts, set->text.data, set->text.len);
  *n = set->text.len;
  return id ? (const char *)set->texts.strs[id].bytes : "";
}

const char *diff_set_name(struct diff_set *set, uint32_t row, size_t *n) {
  const uint32_t name = set->rows[row].name;
  *n = 0;
  if (set->opt.by_path || set->rows[row].parent) return path_text(set, row, n);
  if (!name) return NULL;
  *n = set->texts.strs[name].len;
  return (const char *)set->texts.strs[name].bytes;
}

bool diff_set_is_short(const struct diff_set *set, uint32_t row) {
  const struct diff_path *p = &set->rows[row];
  const bool by_name = set->opt.by_path || set->opt.by == TK_TOP_NAME;
  return by_name && !set->opt.fold && p->name && p->kernels && !p->others && !p->marks && !p->parent;
}

bool diff_set_is_mark(const struct diff_set *set, uint32_t row) {
  const struct diff_path *p = &set->rows[row];
  return p->marks && !p->kernels && !p->others;
}

bool diff_set_shorten(struct diff_set *set, void *rows, size_t n, const char **(*of)(void *rows, size_t i)) {
  struct short_name *names = mem_array(&set->mem, (uint64_t)n + 1, sizeof *names);
  size_t m = 0;
  for (size_t i = 0; names && i < n; i++) {
    const char *name = *of(rows, i);
    if (name) names[m++] = (struct short_name){.name = name, .name_len = strlen(name)};
  }
  const bool ok = names && (!m || short_apart_names(names, m, &set->texts, &set->mem));
  m = 0;
  for (size_t i = 0; ok && i < n; i++)
    if (*of(rows, i)) *of(rows, i) = names[m++].text;
  mem_free(&set->mem, names);
  return ok;
}

const char *diff_set_work(struct diff_set *set, uint32_t side, uint32_t row, const char **short_name, uint64_t *names) {
  const struct diff_work *w = diff_rows_work(&set->sides[side], row);
  struct short_text text;
  *names = w ? w->names : 0;
  *short_name = NULL;
  if (!w) return NULL;
  const struct intern_str *s = &set->texts.strs[w->name];
  const char *name = w->name ? (const char *)s->bytes : "";
  const uint32_t id = w->name && short_names_of(name, s->len, &text) ? intern(&set->texts, text.text, text.n) : 0;
  *short_name = id ? (const char *)set->texts.strs[id].bytes : name;
  return name;
}

/* ---- the set ---- */

bool diff_set_open(struct diff_set *set, const struct tk_diff_options *opt, uint32_t n_sides) {
  *set = (struct diff_set){.opt = *opt, .mem.limit = opt->load.max_memory, .n_sides = n_sides};
  set->text.mem = &set->mem;
  intern_init(&set->texts, &set->mem);
  map_init(&set->row_of, &set->mem);
  map_init(&set->annotated, &set->mem);
  map_init(&set->annotated_by, &set->mem);
  set->sides = mem_array(&set->mem, n_sides, sizeof *set->sides);
  if (!set->sides) set->n_sides = 0;
  for (uint32_t i = 0; i < set->n_sides; i++) {
    set->sides[i] = (struct diff_side){.n_used = 0};
    map_init(&set->sides[i].cell_of, &set->mem);
    map_init(&set->sides[i].work_of, &set->mem);
  }
  return set->sides != NULL;
}

static void free_side(struct mem *mem, struct diff_side *s) {
  mem_free(mem, s->samples);
  mem_free(mem, s->cells);
  mem_free(mem, s->place);
  mem_free(mem, s->order);
  mem_free(mem, s->works);
  map_free(&s->cell_of);
  map_free(&s->work_of);
}

void diff_set_remove(struct diff_set *set, uint32_t side) {
  free_side(&set->mem, &set->sides[side]);
  set->n_sides--;
  memmove(set->sides + side, set->sides + side + 1, (set->n_sides - side) * sizeof *set->sides);
}

void diff_set_free(struct diff_set *set) {
  struct mem *mem = &set->mem;
  for (uint32_t i = 0; i < set->n_sides; i++) free_side(mem, &set->sides[i]);
  mem_free(mem, set->sides);
  mem_free(mem, set->rows);
  map_free(&set->row_of);
  map_free(&set->annotated);
  map_free(&set->annotated_by);
  buf_free(&set->text);
  intern_free(&set->texts);
}

/* diff.c - see diff.h.
 *
 *     add      assigns every selected event to a row (its name or path) and a sample (a step of a rank), and sums both
 *     fold     if some traces have no steps, merges the samples of a rank into one
 *     judge    computes each row's mean over all samples, a sample without the row counting as 0, and the error of the difference
 *
 * Steps that exist on both sides are compared pairwise, so that differences between steps do not count as noise. */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/int128.h"
#include "base/map.h"
#include "base/os.h"
#include "base/order.h"
#include "fold.h"
#include "graph/diagnostics.h"
#include "group.h"
#include "self.h"

enum { OUTSIDE = 0, DEEPEST = 200 };

struct sample {
  uint32_t input;
  int64_t rank, step;
  bool stepped; /* false: this sample contains the events that begin outside of all steps */
  tk_time dur;  /* duration of the step */
};

struct cell {
  uint32_t row, sample;
  uint64_t count;
  i128 total, self;
};

struct row {
  uint32_t name, parent, depth; /* parent: 1 + the parent's row, 0 = none; only for paths */
};

struct side {
  struct sample *samples;
  uint32_t n_samples, cap_samples;
  struct cell *cells;
  uint32_t n_cells, cap_cells;
  struct map cell_of; /* row and sample -> 1 + cell */
  bool without_steps; /* true if a trace of this side has no steps */
  uint32_t n_used, *place; /* place: by sample, its index among the n_used compared samples; UINT32_MAX = not compared */
};

struct tk_diff_impl {
  struct mem mem;
  struct tk_diff_options opt;
  struct intern texts;
  struct row *rows;
  uint32_t n_rows, cap_rows;
  struct map row_of; /* name (for paths: name and parent) -> 1 + row */
  struct side sides[2];
  struct buf text;
};

/* Steps of one rank: the steps of the track with the most steps; host tracks are preferred to device tracks. */
struct rank_steps {
  int64_t rank;
  uint32_t from, n;
  bool device;
};

/* State while one trace is added. */
struct adder {
  struct tk_diff_impl *impl;
  struct tk_diff_report *r;
  struct side *side;
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
  struct rank_steps *ranks;
  uint32_t n_ranks, cap_ranks, last; /* last: index of the rank found last; all events of a track have the same rank */
  struct selves selves;
  uint32_t input;
};

/* ---- samples ---- */

static uint32_t add_sample(struct adder *a, int64_t rank, bool stepped, int64_t step) {
  struct side *s = a->side;
  const uint64_t key = (uint64_t)rank * 0x9e3779b97f4a7c15 + (stepped ? (uint64_t)step * 2 + 2 : 1);
  uint32_t *slot = map_put(&a->samples, key, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&a->impl->mem, (void **)&s->samples, &s->cap_samples, (uint64_t)s->n_samples + 1, sizeof *s->samples)) return 0;
  s->samples[s->n_samples] = (struct sample){.input = a->input, .rank = rank, .step = step, .stepped = stepped};
  return *slot = ++s->n_samples;
}

static int64_t diff_rank_of(const struct adder *a, tk_id track) {
  const struct track_origin *o = a->match.origins ? &a->match.origins[track] : NULL;
  return o && o->rank >= 0 ? o->rank : -1;
}

static const struct rank_steps *steps_of_rank(struct adder *a, int64_t rank) {
  if (a->last < a->n_ranks && a->ranks[a->last].rank == rank) return &a->ranks[a->last];
  for (uint32_t i = 0; i < a->n_ranks; i++)
    if (a->ranks[i].rank == rank) return &a->ranks[a->last = i];
  return NULL;
}

/* Finds the number of the step in which the event begins. Returns false if it begins outside of all steps. */
static bool step_of(struct adder *a, const struct tk_event *e, int64_t rank, int64_t *number) {
  const struct rank_steps *r = e->flags & TK_LOST_CLOCK ? NULL : steps_of_rank(a, rank);
  const struct step *v = a->match.steps.v;
  uint32_t lo = r ? r->from : 0, hi = r ? r->from + r->n : 0;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (v[mid].start <= e->ts) lo = mid + 1;
    else hi = mid;
  }
  if (!r || lo == r->from || e->ts >= v[lo - 1].end) return false;
  *number = v[lo - 1].number;
  return true;
}

static uint32_t sample_of(struct adder *a, const struct tk_event *e) {
  const int64_t rank = diff_rank_of(a, e->track);
  int64_t step = 0;
  const bool stepped = !a->impl->opt.whole && step_of(a, e, rank, &step);
  return add_sample(a, rank, stepped, step);
}

static bool find_rank_steps(struct adder *a) {
  const struct steps *s = &a->match.steps;
  for (uint32_t i = 0, k; i < s->n; i = k) {
    const tk_id track = s->v[i].track;
    for (k = i; k < s->n && s->v[k].track == track;) k++;
    const struct rank_steps found = {.rank = diff_rank_of(a, track), .from = i, .n = k - i,
                                     .device = a->match.kinds.of_track[track] & KIND_DEVICE ||
                                               kinds_of(&a->match.kinds, &a->t->events[a->t->tracks[track].first]) & KIND_DEVICE};
    uint32_t at = 0;
    while (at < a->n_ranks && a->ranks[at].rank != found.rank) at++;
    if (at < a->n_ranks) {
      const struct rank_steps *known = &a->ranks[at];
      if (known->device == found.device ? found.n > known->n : known->device) a->ranks[at] = found;
    } else {
      if (!mem_grow(a->mem, (void **)&a->ranks, &a->cap_ranks, (uint64_t)a->n_ranks + 1, sizeof *a->ranks)) return false;
      a->ranks[a->n_ranks++] = found;
    }
  }
  return true;
}

/* Adds every step as a sample, including steps in which no selected event begins. */
static bool add_steps(struct adder *a) {
  const struct step *v = a->match.steps.v;
  const struct window *w = &a->scope.window;
  if (!find_rank_steps(a)) return false;
  a->side->without_steps = a->side->without_steps || a->n_ranks == 0;
  for (uint32_t r = 0; r < a->n_ranks; r++)
    for (uint32_t i = a->ranks[r].from; i < a->ranks[r].from + a->ranks[r].n; i++) {
      if (v[i].start < w->start || v[i].end > w->end) continue;
      const uint32_t sample = add_sample(a, a->ranks[r].rank, true, v[i].number);
      if (!sample) return false;
      a->side->samples[sample - 1].dur += v[i].end - v[i].start;
    }
  return true;
}

/* ---- rows ---- */

static uint32_t add_row(struct tk_diff_impl *impl, uint32_t name, uint32_t parent) {
  uint32_t *slot = map_put(&impl->row_of, (uint64_t)parent << 32 | name, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&impl->mem, (void **)&impl->rows, &impl->cap_rows, (uint64_t)impl->n_rows + 1, sizeof *impl->rows)) return 0;
  impl->rows[impl->n_rows] = (struct row){name, parent, parent ? impl->rows[parent - 1].depth + 1 : 0};
  return *slot = ++impl->n_rows;
}

/* Maps the text of a group of this trace to a text id of the diff; 0 if the group has no text. */
static uint32_t diff_text_of(struct adder *a, uint32_t group) {
  const struct intern_str *s = groups_text(&a->groups, group);
  const uint32_t before = a->cap_texts;
  if (!s) return 0;
  if (!mem_grow(a->mem, (void **)&a->text_of, &a->cap_texts, (uint64_t)group + 1, sizeof *a->text_of)) return 0;
  for (uint32_t i = before; i < a->cap_texts; i++) a->text_of[i] = 0;
  if (!a->text_of[group]) a->text_of[group] = intern(&a->impl->texts, s->bytes, s->len);
  return a->text_of[group];
}

/* Returns the text id of a step's name without its number, so that all steps have the same row. */
static uint32_t text_of_step(struct adder *a, const struct tk_event *e) {
  struct buf *b = &a->impl->text;
  size_t n;
  const char *name = tk_string(a->t, a->t->classes[e->cls].name, &n);
  if (strspn(name, "0123456789") == n) return intern(&a->impl->texts, "(step)", 6);
  return fold_name(b, name, n) ? intern(&a->impl->texts, b->data, b->len) : 0;
}

static uint32_t diff_name_of(struct adder *a, const struct tk_event *e) {
  const bool by_name = a->impl->opt.by_path || a->impl->opt.by == TK_TOP_NAME;
  if (by_name && a->match.steps.n && kinds_of(&a->match.kinds, e) & KIND_STEP) return text_of_step(a, e);
  return diff_text_of(a, groups_of(&a->groups, e));
}

static uint32_t add_cell(struct adder *a, uint32_t row, uint32_t sample) {
  struct side *s = a->side;
  uint32_t *slot = map_put(&s->cell_of, (uint64_t)row << 32 | sample, 0);
  if (!slot || *slot) return slot ? *slot : 0;
  if (!mem_grow(&a->impl->mem, (void **)&s->cells, &s->cap_cells, (uint64_t)s->n_cells + 1, sizeof *s->cells)) return 0;
  s->cells[s->n_cells] = (struct cell){.row = row - 1, .sample = sample - 1};
  return *slot = ++s->n_cells;
}

/* ---- add ---- */

static tk_time part_of(const struct window *w, const struct tk_event *e) {
  tk_time start = e->ts, end = e->ts + e->dur;
  if (e->flags & TK_LOST_CLOCK) return e->dur;
  if (start < w->start) start = w->start;
  if (end > w->end) end = w->end;
  return end > start ? end - start : 0;
}

/* Adds the event to its cell and returns the cell; 0 if the event is not selected or memory runs out. */
static uint32_t place_event(struct adder *a, tk_id event, uint32_t parent, uint32_t *row) {
  const struct tk_event *e = &a->t->events[event];
  *row = parent;
  if (e->kind == TK_COUNTER || e->kind == TK_SAMPLE || (a->impl->opt.by_path && e->kind != TK_SPAN)) return 0;
  if (!scope_holds(&a->scope, e) || !match_event(&a->match, event)) return 0;
  *row = add_row(a->impl, diff_name_of(a, e), parent);
  const uint32_t sample = *row ? sample_of(a, e) : 0, cell = sample ? add_cell(a, *row, sample) : 0;
  if (!cell) return 0;
  struct cell *c = &a->side->cells[cell - 1];
  c->count++;
  if (e->flags & TK_UNFINISHED) return cell;
  const tk_time time = part_of(&a->scope.window, e);
  c->total += time;
  if (e->flags & TK_LOST_CLOCK || a->t->tracks[e->track].kind != TK_THREAD) c->self += time;
  return cell;
}

static bool add_track(struct adder *a, const struct tk_track *k) {
  const bool paths = a->impl->opt.by_path, nests = paths && k->kind == TK_THREAD;
  a->under[0] = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &a->t->events[i];
    const uint32_t depth = nests ? (e->depth < DEEPEST ? e->depth : DEEPEST) : 0;
    uint32_t row;
    a->cell_of[i] = place_event(a, i, a->under[depth], &row);
    if (nests && trace_nests(a->t, i) && depth < DEEPEST) a->under[depth + 1] = row;
  }
  return !a->impl->mem.failed && !a->mem->failed;
}

static void add_self(void *arg, tk_id event, tk_time self) {
  struct adder *a = arg;
  if (a->cell_of[event]) a->side->cells[a->cell_of[event] - 1].self += self;
}

static bool add_all(struct adder *a, struct tk_err *err) {
  const struct tk_progress p = a->impl->opt.select.progress;
  const struct tk_trace *t = a->t;
  a->selves = (struct selves){.mem = a->mem, .window = a->scope.window, .done = add_self, .arg = a};
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    if (p.tick && !p.tick(p.arg, t->tracks[k].first, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
    if (!add_track(a, &t->tracks[k]) || !match_check(&a->match, err)) return false;
    if (t->tracks[k].kind == TK_THREAD && !self_of_track(&a->selves, t, k)) return false;
  }
  return true;
}

bool diff_add(struct tk_diff_report *r, struct tk_trace *t, const struct track_origin *origins, int side, struct tk_err *err) {
  struct tk_diff_impl *impl = r->impl;
  struct adder a = {.impl = impl, .r = r, .side = &impl->sides[side], .t = t, .mem = &t->store->mem, .scope = SCOPE_ALL,
                    .input = (uint32_t)r->inputs[side]++};
  const struct tk_top_options names = {
      .by = impl->opt.by_path ? TK_TOP_NAME : impl->opt.by, .arg = impl->opt.arg, .fold = impl->opt.fold};
  const struct tk_selection *s = &impl->opt.select;
  map_init(&a.samples, a.mem);
  bool ok = match_init(&a.match, t, s->where, origins, a.mem, err) &&
            window_select(&a.scope, t, &a.match.steps, s, err) && groups_init(&a.groups, &a.match, &names, a.mem);
  if (ok) a.cell_of = mem_array(a.mem, (uint64_t)t->n_events + 1, sizeof *a.cell_of);
  ok = ok && a.cell_of && (impl->opt.whole || add_steps(&a)) && add_all(&a, err);
  mem_free(a.mem, a.cell_of);
  mem_free(a.mem, a.text_of);
  mem_free(a.mem, a.ranks);
  map_free(&a.samples);
  self_free(&a.selves);
  groups_free(&a.groups);
  match_free(&a.match);
  return ok ? mem_check(&impl->mem, err) : mem_refuse(impl->mem.failed ? &impl->mem : a.mem, err);
}

/* ---- fold ---- */

static int by_rank_and_step(const void *p, const void *q, void *samples) {
  const struct sample *v = samples, *a = v + *(const uint32_t *)p, *b = v + *(const uint32_t *)q;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->input != b->input) return a->input < b->input ? -1 : 1;
  return (a->step > b->step) - (a->step < b->step);
}

/* Sorts the samples and numbers those to compare: each step, or all steps of a rank as one sample. */
static bool place_samples(struct tk_diff_report *r, int side, uint32_t *order) {
  struct side *s = &r->impl->sides[side];
  const struct sample *last = NULL;
  s->place = mem_array(&r->impl->mem, (uint64_t)s->n_samples + 1, sizeof *s->place);
  if (!s->place) return false;
  for (uint32_t i = 0; i < s->n_samples; i++) order[i] = i;
  os_sort(order, s->n_samples, sizeof *order, by_rank_and_step, s->samples);
  for (uint32_t i = 0; i < s->n_samples; i++) {
    const struct sample *v = &s->samples[order[i]];
    const bool other_rank = !last || v->rank != last->rank || v->input != last->input;
    r->ranks[side] += other_rank;
    last = v;
    if (r->by_step) s->place[order[i]] = v->stepped ? s->n_used++ : UINT32_MAX;
    else s->place[order[i]] = other_rank ? s->n_used++ : s->n_used - 1;
  }
  r->samples[side] = s->n_used;
  for (uint32_t i = 0; i < s->n_cells; i++)
    if (s->place[s->cells[i].sample] == UINT32_MAX) r->outside[side] += s->cells[i].count;
  return true;
}

/* True if the samples of both sides have the same rank and step numbers. */
static bool same_numbers(const struct tk_diff_report *r, const uint32_t *a, const uint32_t *b) {
  const struct side *before = &r->impl->sides[0], *after = &r->impl->sides[1];
  uint32_t k = 0;
  for (uint32_t i = 0; r->by_step && i < before->n_samples; i++) {
    const struct sample *x = &before->samples[a[i]];
    if (!x->stepped) continue;
    while (k < after->n_samples && !after->samples[b[k]].stepped) k++;
    if (k == after->n_samples) return false;
    const struct sample *y = &after->samples[b[k++]];
    if (x->rank != y->rank || x->step != y->step) return false;
  }
  return r->by_step;
}

/* ---- judge ---- */

/* Returns the 97.5th percentile of Student's t-distribution. */
static double student(double freedom) {
  static const double few[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  if (freedom < 1) return INFINITY;
  if (freedom <= 10) return few[(int)freedom - 1];
  return 1.96 + 2.4 / freedom + 3 / (freedom * freedom);
}

static double mean_of(const double *v, uint32_t n) {
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += v[i];
  return n ? sum / n : 0;
}

static double variance_of(const double *v, uint32_t n) {
  const double mean = mean_of(v, n);
  double sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
  return n > 1 ? sum / (n - 1) : 0;
}

/* Returns the 95% error of the difference of means: a paired t-interval if samples are paired, otherwise Welch's. */
static double noise_of(const struct tk_diff_report *r, double *before, double *after) {
  const uint32_t n = (uint32_t)r->samples[0], m = (uint32_t)r->samples[1];
  if (n < 2 || m < 2) return -1;
  if (r->paired) {
    for (uint32_t i = 0; i < n; i++) before[i] = after[i] - before[i];
    return student(n - 1) * sqrt(variance_of(before, n) / n);
  }
  const double a = variance_of(before, n) / n, b = variance_of(after, m) / m, sum = a + b;
  if (sum <= 0) return 0;
  return student(sum * sum / (a * a / (n - 1) + b * b / (m - 1))) * sqrt(sum);
}

/* Orders cells by row. */
static int by_row(const void *p, const void *q) {
  const struct cell *a = p, *b = q;
  if (a->row != b->row) return a->row < b->row ? -1 : 1;
  return (a->sample > b->sample) - (a->sample < b->sample);
}

struct judge {
  struct tk_diff_report *r;
  double *v[2]; /* values by sample, for both sides */
  uint32_t at[2];
};

static void judge_row(struct judge *j, uint32_t which, struct tk_diff_row *row) {
  for (int side = 0; side < 2; side++) {
    const struct side *s = &j->r->impl->sides[side];
    const double n = s->n_used ? s->n_used : 1;
    i128 self = 0;
    for (uint32_t i = 0; i < s->n_used; i++) j->v[side][i] = 0;
    for (; j->at[side] < s->n_cells && s->cells[j->at[side]].row == which; j->at[side]++) {
      const struct cell *c = &s->cells[j->at[side]];
      const uint32_t place = s->place[c->sample];
      if (place == UINT32_MAX) continue;
      row->events[side] += c->count;
      self += c->self;
      j->v[side][place] += i128_double(c->total);
    }
    row->count[side] = (double)row->events[side] / n;
    row->self[side] = i128_double(self) / n;
    row->total[side] = mean_of(j->v[side], s->n_used);
  }
  row->delta = row->total[1] - row->total[0];
  row->noise = noise_of(j->r, j->v[0], j->v[1]);
}

/* Returns the names on a row's path: "train_step > forward > linear". */
static const char *path_text(struct tk_diff_impl *impl, uint32_t which, size_t *n) {
  uint32_t path[DEEPEST + 2], depth = 0;
  for (uint32_t i = which + 1; i && depth <= DEEPEST; i = impl->rows[i - 1].parent) path[depth++] = i - 1;
  impl->text.len = 0;
  while (depth--) {
    const uint32_t name = impl->rows[path[depth]].name;
    if (name) buf_append(&impl->text, impl->texts.strs[name].bytes, impl->texts.strs[name].len);
    else buf_text(&impl->text, "(none)");
    if (depth) buf_text(&impl->text, " > ");
  }
  const uint32_t id = intern(&impl->texts, impl->text.data, impl->text.len);
  *n = impl->text.len;
  return id ? (const char *)impl->texts.strs[id].bytes : "";
}

static void name_row(struct tk_diff_impl *impl, uint32_t which, struct tk_diff_row *row) {
  const uint32_t name = impl->rows[which].name;
  if (impl->opt.by_path) {
    row->name = path_text(impl, which, &row->name_len);
  } else if (name) {
    row->name = (const char *)impl->texts.strs[name].bytes;
    row->name_len = impl->texts.strs[name].len;
  }
}

/* Compares all events together. Uses self times, so that no time counts twice. */
static void judge_all(struct judge *j) {
  struct tk_diff_row *all = &j->r->all;
  for (int side = 0; side < 2; side++) {
    const struct side *s = &j->r->impl->sides[side];
    const double n = s->n_used ? s->n_used : 1;
    for (uint32_t i = 0; i < s->n_used; i++) j->v[side][i] = 0;
    for (uint32_t i = 0; i < s->n_cells; i++) {
      const uint32_t place = s->place[s->cells[i].sample];
      if (place == UINT32_MAX) continue;
      all->events[side] += s->cells[i].count;
      j->v[side][place] += i128_double(s->cells[i].self);
    }
    all->count[side] = (double)all->events[side] / n;
    all->total[side] = all->self[side] = mean_of(j->v[side], s->n_used);
  }
  all->delta = all->total[1] - all->total[0];
  all->noise = noise_of(j->r, j->v[0], j->v[1]);
}

static void spread(const double *v, uint32_t n, struct tk_report_spread *s) {
  if (!n) return;
  *s = (struct tk_report_spread){.count = n, .min = (tk_time)v[0], .max = (tk_time)v[n - 1], .mean = (tk_time)(mean_of(v, n) + 0.5),
                                 .p50 = (tk_time)v[(n + 1) / 2 - 1], .p95 = (tk_time)v[n - n / 20 - 1],
                                 .deviation = (tk_time)(sqrt(variance_of(v, n)) + 0.5)};
}

static void judge_steps(struct judge *j) {
  struct tk_diff_row *row = &j->r->step;
  if (!j->r->by_step) return;
  for (int pass = 0; pass < 2; pass++) { /* noise_of and the sort overwrite the values, so they are filled in twice */
    for (int side = 0; side < 2; side++) {
      const struct side *s = &j->r->impl->sides[side];
      for (uint32_t i = 0; i < s->n_samples; i++)
        if (s->place[i] != UINT32_MAX) j->v[side][s->place[i]] = (double)s->samples[i].dur;
      row->events[side] = s->n_used;
      row->count[side] = 1;
      row->total[side] = row->self[side] = mean_of(j->v[side], s->n_used);
      if (pass == 0) continue;
      if (s->n_used) qsort(j->v[side], s->n_used, sizeof *j->v[side], order_doubles);
      spread(j->v[side], s->n_used, &j->r->steps[side]);
    }
    if (pass == 0) row->noise = noise_of(j->r, j->v[0], j->v[1]);
  }
  row->delta = row->total[1] - row->total[0];
}

static int by_cost(const void *p, const void *q) {
  const struct tk_diff_row *a = p, *b = q;
  const double x = fabs(a->delta), y = fabs(b->delta);
  if (x != y) return x > y ? -1 : 1;
  if (!a->name || !b->name) return (a->name == NULL) - (b->name == NULL);
  const int order = memcmp(a->name, b->name, a->name_len < b->name_len ? a->name_len : b->name_len);
  return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static bool judge_rows(struct judge *j) {
  struct tk_diff_report *r = j->r;
  struct tk_diff_impl *impl = r->impl;
  for (int side = 0; side < 2; side++)
    if (impl->sides[side].n_cells) qsort(impl->sides[side].cells, impl->sides[side].n_cells, sizeof *impl->sides[side].cells, by_row);
  r->rows = mem_array(&impl->mem, (uint64_t)impl->n_rows + 1, sizeof *r->rows);
  if (!r->rows) return false;
  for (uint32_t i = 0; i < impl->n_rows; i++) {
    struct tk_diff_row row = {.name = NULL};
    judge_row(j, i, &row);
    if (row.events[0] + row.events[1] == 0) continue;
    name_row(impl, i, &row);
    r->rows[r->n_rows++] = row;
  }
  if (r->n_rows) qsort(r->rows, r->n_rows, sizeof *r->rows, by_cost);
  judge_all(j);
  judge_steps(j);
  return !impl->mem.failed;
}

bool diff_close(struct tk_diff_report *r, struct tk_err *err) {
  struct tk_diff_impl *impl = r->impl;
  struct mem *mem = &impl->mem;
  struct side *before = &impl->sides[0], *after = &impl->sides[1];
  struct judge j = {.r = r};
  uint32_t *order[2];
  r->by_step = !impl->opt.whole && !before->without_steps && !after->without_steps;
  for (int side = 0; side < 2; side++) {
    order[side] = mem_array(mem, (uint64_t)impl->sides[side].n_samples + 1, sizeof *order[side]);
    j.v[side] = mem_array(mem, (uint64_t)impl->sides[side].n_samples + 1, sizeof *j.v[side]);
  }
  bool ok = order[0] && order[1] && j.v[0] && j.v[1] && place_samples(r, 0, order[0]) && place_samples(r, 1, order[1]);
  if (ok) {
    r->paired = before->n_used == after->n_used;
    r->by_number = r->paired && same_numbers(r, order[0], order[1]);
    ok = judge_rows(&j);
  }
  for (int side = 0; side < 2; side++) {
    mem_free(mem, order[side]);
    mem_free(mem, j.v[side]);
  }
  return ok ? mem_check(mem, err) : mem_refuse(mem, err);
}

bool diff_open(struct tk_diff_report *r, const struct tk_diff_options *opt, struct tk_err *err) {
  *r = (struct tk_diff_report){.impl = calloc(1, sizeof *r->impl), .notes = diagnostics_new()};
  if (!r->impl || !r->notes) return err_set(err, TK_ELIMIT, "out of memory");
  r->impl->opt = *opt;
  r->impl->mem.limit = opt->load.max_memory;
  r->impl->text.mem = &r->impl->mem;
  intern_init(&r->impl->texts, &r->impl->mem);
  map_init(&r->impl->row_of, &r->impl->mem);
  for (int side = 0; side < 2; side++) map_init(&r->impl->sides[side].cell_of, &r->impl->mem);
  return true;
}

void tk_diff_report_free(struct tk_diff_report *r) {
  tk_diagnostics_free(r->notes);
  if (!r->impl) return;
  struct mem *mem = &r->impl->mem;
  for (int side = 0; side < 2; side++) {
    mem_free(mem, r->impl->sides[side].samples);
    mem_free(mem, r->impl->sides[side].cells);
    mem_free(mem, r->impl->sides[side].place);
    map_free(&r->impl->sides[side].cell_of);
  }
  mem_free(mem, r->rows);
  mem_free(mem, r->impl->rows);
  map_free(&r->impl->row_of);
  buf_free(&r->impl->text);
  intern_free(&r->impl->texts);
  free(r->impl);
  *r = (struct tk_diff_report){.n_rows = 0};
}

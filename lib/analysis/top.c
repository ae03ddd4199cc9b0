/* top.c - see top.h, and struct tk_top_row for the meaning of each figure.
 *
 *     choose    select events and assign each to a group: 4 bytes an event
 *     lay out   store start and duration of every selected event, sorted by group: 16 bytes an event
 *     measure   compute percentiles and union of each row, with buffers for the largest row
 *
 * So memory depends only on the number of events, medians are exact, and each event is visited only a few times. */
#include "top.h"

#include <stdlib.h>
#include <string.h>

#include "base/int128.h"
#include "allocations.h"
#include "fold.h"
#include "group.h"
#include "host_names.h"
#include "measure.h"
#include "self.h"
#include "short_apart.h"
#include "weights.h"
#include "graph/args.h"
#include "op/step_launches.h"

struct tally {
  uint64_t count, instants, unfinished, clipped;
  uint64_t samples;  /* samples that are not included in count */
  uint64_t first, n; /* range of the group's intervals */
  uint64_t kernels;  /* events that are kernels; counted only if the rows are names as recorded */
  uint64_t marks;    /* spans that only show that a profiler was active; counted only if rows are names */
  i128 total, self;
};

struct column {
  uint64_t count;
  double sum, min, max;
};

/* A row of the report under construction. */
struct draft {
  uint32_t group; /* unused if rows are kinds */
  unsigned kind;
  struct tally sum;
  i128 order; /* value by which rows are sorted, descending */
};

struct tk_top_impl {
  struct mem mem;
  struct intern texts; /* texts of the groups, moved here so that they outlive the groups */
  struct tk_top_col *cols;
  char *unit;
};

struct top {
  struct tk_trace *t;
  const struct tk_top_options *opt;
  struct tk_top_report *report;
  struct mem *mem;
  struct match match;
  struct groups groups;
  struct selves selves;
  struct scope scope;
  uint32_t *group_of;      /* by event: its group; 0 = not selected */
  struct tally *tallies;   /* by group: its sums */
  uint32_t cap_tallies, n_tallies;
  struct interval *intervals, *room;
  struct column *columns;  /* by group, then by column: values of an arg */
  tk_id *keys;             /* by column: key of the arg */
  size_t n_cols;
  struct weight_unit unit;
  struct weights weights;  /* sums by stack, if rows are names */
  uint32_t *group_of_frame;
  uint64_t n_samples;
  bool *is_mark;           /* by class */
};

/* ---- choose ---- */

static bool add_tally(struct top *top, uint32_t group) {
  if (!mem_grow(top->mem, (void **)&top->tallies, &top->cap_tallies, (uint64_t)group + 1, sizeof *top->tallies)) return false;
  while (top->n_tallies <= group) top->tallies[top->n_tallies++] = (struct tally){0};
  return true;
}

/* Assigns groups to frames, if rows are names. A stack sample is counted in the row of each of its frames. */
static bool group_frames(struct top *top) {
  const struct tk_trace *t = top->t;
  if (top->opt->by != TK_TOP_NAME || !top->n_samples) return true;
  top->group_of_frame = mem_array(top->mem, (uint64_t)t->n_frames + 1, sizeof *top->group_of_frame);
  if (!top->group_of_frame || !weights_init(&top->weights, t, top->mem)) return false;
  top->group_of_frame[0] = GROUP_NONE;
  for (tk_id i = 1; i <= t->n_frames; i++) {
    const struct intern_str *s = trace_str(t, t->frames[i].name);
    const uint32_t group = top->group_of_frame[i] = t->frames[i].name ? groups_of_name(&top->groups, s->bytes, s->len) : GROUP_NONE;
    if (group >= top->n_tallies && !add_tally(top, group)) return false;
  }
  return true;
}

static void top_count(struct top *top, const struct tk_event *e, uint32_t group) {
  top->tallies[group].count++;
  if (top->opt->by != TK_TOP_NAME) return;
  top->tallies[group].kernels += !top->opt->fold && groups_is_kernel(&top->groups, e);
  top->tallies[group].marks += top->is_mark[e->cls];
}

static bool choose(struct top *top, struct tk_err *err) {
  static const tk_id TICK = 1 << 14;
  const struct tk_progress p = top->opt->select.progress;
  const struct tk_trace *t = top->t;
  const tk_id memory = trace_text_id(t, "memory");
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (i % TICK == 0) {
      if (p.tick && !p.tick(p.arg, i, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
      if (!match_check(&top->match, err)) return false;
    }
    top->group_of[i] = 0;
    if (e->kind == TK_EVENT_COUNTER || !scope_holds(&top->scope, e) || !match_event(&top->match, i)) continue;
    if (!groups_has_row(&top->groups, e) || (top->opt->no_copies && groups_has_original(&top->groups, e->cls))) continue;
    const bool is_sample = e->kind == TK_EVENT_SAMPLE;
    uint32_t group = top->group_of[i] = is_sample ? groups_of_sample(&top->groups, e) : groups_of(&top->groups, e);
    if (group >= top->n_tallies && !add_tally(top, group)) return false;
    weights_see(&top->unit, t, e);
    top->n_samples += is_sample;
    top->report->allocations += allocations_is(t, e, memory);
    if (!is_sample) top_count(top, e, group);
  }
  return match_check(&top->match, err) && group_frames(top);
}

/* ---- lay out ---- */

/* Returns the part of a span inside the window; counts the span if it is clipped. For a span without a clock, returns its full
 * duration, with INT64_MIN as the start. */
static struct interval interval_of(struct top *top, struct tally *tally, const struct tk_event *e) {
  const struct window *w = scope_window(&top->scope, e);
  tk_time start = e->ts, end = e->ts + e->dur;
  if (e->flags & TK_FLAG_LOST_CLOCK) return (struct interval){INT64_MIN, e->dur};
  bool clipped = start < w->start || end > w->end;
  tally->clipped += clipped || e->flags & TK_FLAG_CLIPPED;
  top->report->clipped += clipped || e->flags & TK_FLAG_CLIPPED;
  if (start < w->start) start = w->start;
  if (end > w->end) end = w->end;
  return (struct interval){start, end - start};
}

static bool top_number_of(const struct tk_trace *t, const struct tk_arg *arg, double *v) {
  const uint8_t *end;
  const char *text;
  struct num n;
  switch (arg->type) {
  case TK_ARG_INT:
    *v = (double)arg->i;
    return true;
  case TK_ARG_UINT:
    *v = (double)arg->u;
    return true;
  case TK_ARG_DECIMAL:
    *v = num_nearest(arg->i, arg->exp);
    return true;
  case TK_ARG_DOUBLE:
    *v = arg->d;
    return *v - *v == 0;
  case TK_ARG_NUMBER:
  case TK_ARG_STR: break;
  default: return false;
  }
  text = tk_string(t, arg->s, NULL);
  n = num_scan((const uint8_t *)text, &end);
  *v = num_double(text, strlen(text));
  return n.kind != NUM_NONE && !*end && *v - *v == 0;
}

static void add_columns(struct top *top, const struct tk_event *e, uint32_t group) {
  struct tk_arg arg;
  double v;
  for (size_t k = 0; k < top->n_cols; k++) {
    struct column *c = &top->columns[group * top->n_cols + k];
    if (!args_of_event(top->t, e, top->keys[k], &arg) || !top_number_of(top->t, &arg, &v)) continue;
    if (c->count == 0 || v < c->min) c->min = v;
    if (c->count == 0 || v > c->max) c->max = v;
    c->sum += v;
    c->count++;
  }
}

static void top_add_event(struct top *top, const struct tk_event *e, uint32_t group) {
  struct tally *tally = &top->tallies[group];
  if (top->n_cols) add_columns(top, e, group);
  tally->instants += e->kind == TK_EVENT_INSTANT;
  if (e->flags & TK_FLAG_UNFINISHED) {
    tally->unfinished++;
    return;
  }
  struct interval x = interval_of(top, tally, e);
  tally->total += x.dur;
  top->intervals[tally->first + tally->n++] = x;
  /* These events are not on a stack of spans, so all of their time is self time. */
  const bool alone = e->flags & TK_FLAG_LOST_CLOCK || top->t->tracks[e->track].kind != TK_TRACK_THREAD;
  if (alone && !top->is_mark[e->cls]) tally->self += x.dur;
}

static void top_add_sample(struct top *top, const struct tk_event *e, uint32_t group) {
  const tk_id stack = top->t->classes[e->cls].stack;
  struct tally *tally = &top->tallies[group];
  i128 amount;
  weights_of(&top->unit, top->t, e, &amount);
  if (top->n_cols) add_columns(top, e, group);
  if (top->group_of_frame && stack) {
    weights_add(&top->weights, stack, amount);
    return;
  }
  tally->samples++;
  tally->total += amount;
  tally->self += amount;
}

static void add_stack(void *arg, uint32_t group, const struct stack_sum *sum, bool is_outer) {
  struct top *top = arg;
  struct tally *tally = &top->tallies[group];
  tally->self += sum->self;
  if (!is_outer) return;
  tally->total += sum->total;
  tally->samples += sum->n_total;
}

/* Adds self time to the event's group. Ignores marks of a profiler, which are not activity. */
static void add_self(void *arg, tk_id event, tk_time self) {
  struct top *top = arg;
  uint32_t group = top->group_of[event];
  if (group && !top->is_mark[top->t->events[event].cls]) top->tallies[group].self += self;
}

static bool lay_out(struct top *top) {
  const struct tk_trace *t = top->t;
  uint64_t at = 0;
  for (uint32_t g = 0; g < top->n_tallies; g++) {
    top->tallies[g].first = at;
    at += top->tallies[g].count;
  }
  top->report->events = at + top->n_samples;
  top->intervals = mem_array(top->mem, at + 1, sizeof *top->intervals);
  if (!top->intervals) return false;
  top->selves = (struct selves){
      .mem = top->mem, .scope = top->scope, .only = top->group_of, .done = add_self, .arg = top};
  for (tk_id k = 1; k <= t->n_tracks; k++) {
    const struct tk_track *track = &t->tracks[k];
    for (tk_id i = track->first; i < track->first + track->count; i++)
      if (top->group_of[i] && t->events[i].kind == TK_EVENT_SAMPLE) top_add_sample(top, &t->events[i], top->group_of[i]);
      else if (top->group_of[i]) top_add_event(top, &t->events[i], top->group_of[i]);
    if (track->kind == TK_TRACK_THREAD && !self_of_track(&top->selves, t, k)) return false;
  }
  return !top->group_of_frame || weights_each(&top->weights, t, top->group_of_frame, top->n_tallies, add_stack, top);
}

/* ---- rows ---- */

static struct tk_total total_of(i128 ps) {
  const i128 second = 1000000000000;
  return (struct tk_total){(int64_t)(ps / second), (int64_t)(ps % second)};
}

static bool is_in(const struct top *top, const struct draft *d, uint32_t group) {
  return top->opt->by == TK_TOP_KIND ? groups_kinds(&top->groups, group) & d->kind : group == d->group;
}

static void add_group(struct draft *d, const struct tally *tally) {
  d->sum.count += tally->count + tally->samples;
  d->sum.samples += tally->samples;
  d->sum.instants += tally->instants;
  d->sum.unfinished += tally->unfinished;
  d->sum.clipped += tally->clipped;
  d->sum.total += tally->total;
  d->sum.self += tally->self;
  d->sum.n += tally->n;
  d->sum.kernels += tally->kernels;
  d->sum.marks += tally->marks;
}

/* Creates the rows. Usually each group becomes a row; for kinds, each kind becomes a row, because an event can have several
 * kinds. */
static struct draft *draft_rows(struct top *top, uint32_t *n) {
  const bool kinds = top->opt->by == TK_TOP_KIND;
  struct draft *drafts = mem_array(top->mem, kinds ? 32 : (uint64_t)top->n_tallies + 1, sizeof *drafts);
  *n = 0;
  if (!drafts) return NULL;
  for (uint32_t g = 1; !kinds && g < top->n_tallies; g++) {
    struct draft d = {.group = g};
    add_group(&d, &top->tallies[g]);
    if (d.sum.count && d.sum.count >= top->opt->min_count) drafts[(*n)++] = d;
  }
  for (size_t k = 0; kinds && kind_words[k].word; k++) {
    struct draft d = {.kind = kind_words[k].kind};
    for (uint32_t g = 1; g < top->n_tallies; g++)
      if (is_in(top, &d, g)) add_group(&d, &top->tallies[g]);
    if (d.sum.count && d.sum.count >= top->opt->min_count) drafts[(*n)++] = d;
  }
  return drafts;
}

static void name_row(const struct top *top, const struct draft *d, struct tk_top_row *row) {
  const struct intern_str *s = groups_text(&top->groups, d->group);
  if (d->kind) {
    for (size_t k = 0; kind_words[k].word; k++)
      if (kind_words[k].kind == d->kind) row->name = kind_words[k].word;
    row->name_len = strlen(row->name);
  } else if (s) {
    row->name = (const char *)s->bytes;
    row->name_len = s->len;
  }
}

static void fill_columns(const struct top *top, const struct draft *d, struct tk_top_row *row) {
  for (size_t k = 0; k < top->n_cols; k++) {
    struct column sum = {0};
    for (uint32_t g = d->kind ? 1 : d->group; g < (d->kind ? top->n_tallies : d->group + 1); g++) {
      const struct column *c = &top->columns[g * top->n_cols + k];
      if (!c->count || !is_in(top, d, g)) continue;
      if (!sum.count || c->min < sum.min) sum.min = c->min;
      if (!sum.count || c->max > sum.max) sum.max = c->max;
      sum.sum += c->sum;
      sum.count += c->count;
    }
    row->cols[k] = (struct tk_top_col){sum.count, sum.count ? sum.sum / (double)sum.count : 0, sum.min, sum.max};
  }
}

/* Returns the intervals of a row, which measure_union may overwrite. For a kind, returns a copy, because other kinds use the
 * same intervals. */
static struct interval *intervals_of(struct top *top, const struct draft *d) {
  uint64_t n = 0;
  if (!d->kind) return top->intervals + top->tallies[d->group].first;
  for (uint32_t g = 1; g < top->n_tallies; g++) {
    const struct tally *tally = &top->tallies[g];
    if (!is_in(top, d, g)) continue;
    memcpy(top->room + n, top->intervals + tally->first, tally->n * sizeof *top->room);
    n += tally->n;
  }
  return top->room;
}

/* Measures the spans, or the instants if there are no spans. Ordered by duration, instants come first, because theirs is 0. */
static void measure(struct tk_top_row *row, struct interval *v, struct interval *room) {
  const uint64_t left_out = row->instants < row->timed ? row->instants : 0;
  const struct durations d = measure_durations(v, row->timed, left_out, (tk_time *)room);
  row->min = d.min, row->max = d.max, row->mean = d.mean;
  row->p50 = d.p50, row->p95 = d.p95;
  row->union_time = measure_union(v, row->timed, room);
}

static void fill_row(struct top *top, const struct draft *d, struct tk_top_row *row) {
  name_row(top, d, row);
  row->count = d->sum.count;
  row->instants = d->sum.instants;
  row->samples = d->sum.samples;
  row->unfinished = d->sum.unfinished;
  row->clipped = d->sum.clipped;
  row->timed = d->sum.n;
  row->is_mark = d->sum.marks && d->sum.marks == d->sum.count;
  if (d->sum.kernels && d->sum.kernels == d->sum.count) row->short_name = row->name, row->short_len = row->name_len;
  row->total = total_of(d->sum.total);
  row->self = total_of(d->sum.self);
  if (row->timed) measure(row, intervals_of(top, d), top->room + (d->kind ? row->timed : 0));
  fill_columns(top, d, row);
}

/* ---- order ---- */

static i128 order_of(const struct tk_top_row *row, const struct draft *d, enum tk_top_sort sort) {
  switch (sort) {
  case TK_TOP_SORT_SELF: return d->sum.self;
  case TK_TOP_SORT_UNION: return row->union_time;
  case TK_TOP_SORT_COUNT: return row->count;
  case TK_TOP_SORT_MEAN: return row->timed ? row->mean : -1;
  case TK_TOP_SORT_MIN: return row->timed ? row->min : -1;
  case TK_TOP_SORT_P50: return row->timed ? row->p50 : -1;
  case TK_TOP_SORT_P95: return row->timed ? row->p95 : -1;
  case TK_TOP_SORT_MAX: return row->timed ? row->max : -1;
  case TK_TOP_SORT_NAME: return 0;
  default: return d->sum.total;
  }
}

struct ordered {
  i128 order;
  struct tk_top_row row;
};

/* True if the name is an integer. Integers are sorted numerically, before other names. */
static bool whole_number(const struct tk_top_row *row, int64_t *number) {
  const uint8_t *end;
  struct num n = num_scan((const uint8_t *)row->name, &end);
  *number = n.mant;
  return n.kind == NUM_INT && end == (const uint8_t *)row->name + row->name_len;
}

static int top_by_name(const struct tk_top_row *a, const struct tk_top_row *b) {
  int64_t x, y;
  if (!a->name || !b->name) return (a->name == NULL) - (b->name == NULL);
  bool is_x = whole_number(a, &x), is_y = whole_number(b, &y);
  if (is_x != is_y) return is_y - is_x;
  if (is_x && x != y) return x < y ? -1 : 1;
  size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
  int order = memcmp(a->name, b->name, n);
  return order ? order : (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

static int in_order(const void *p, const void *q) {
  const struct ordered *a = p, *b = q;
  if (a->row.is_mark != b->row.is_mark) return a->row.is_mark ? 1 : -1;
  if (a->order != b->order) return a->order > b->order ? -1 : 1;
  return top_by_name(&a->row, &b->row);
}

static void share(struct tk_top_report *r, struct tk_top_row *row) {
  const double range = (double)r->end - (double)r->start, second = 1e12;
  const double sum = (double)r->sum.s * second + (double)r->sum.ps, self = (double)row->self.s * second + (double)row->self.ps;
  row->of_range = range > 0 ? (double)row->union_time / range : 0;
  row->of_sum = sum > 0 ? self / sum : 0;
}

/* Sets the short names of rows that are kernels. */
static bool top_shorten(struct top *top) {
  struct tk_top_report *r = top->report;
  struct short_name *names = mem_array(top->mem, (uint64_t)r->n_rows + 1, sizeof *names);
  size_t k = 0;
  for (size_t i = 0; names && i < r->n_rows; i++)
    if (r->rows[i].short_name) names[k++] = (struct short_name){.name = r->rows[i].name, .name_len = r->rows[i].name_len};
  const bool ok = names && (!k || short_apart_names(names, k, &top->groups.texts, top->mem));
  k = 0;
  for (size_t i = 0; ok && i < r->n_rows; i++) {
    if (!r->rows[i].short_name) continue;
    r->rows[i].short_name = names[k].text;
    r->rows[i].short_len = names[k++].text_len;
  }
  mem_free(top->mem, names);
  return ok;
}

static bool make_rows(struct top *top, struct draft *drafts, uint32_t n) {
  struct tk_top_report *r = top->report;
  struct mem *mem = &r->impl->mem; /* lives as long as the report */
  struct ordered *rows = mem_array(top->mem, (uint64_t)n + 1, sizeof *rows);
  struct tk_top_col *cols = r->impl->cols = mem_array(mem, (uint64_t)n * top->n_cols + 1, sizeof *cols);
  uint64_t largest = 0;
  r->rows = mem_array(mem, (uint64_t)n + 1, sizeof *r->rows);
  for (uint32_t i = 0; i < n; i++)
    if (drafts[i].sum.n > largest) largest = drafts[i].sum.n;
  top->room = mem_array(top->mem, largest * (top->opt->by == TK_TOP_KIND ? 2 : 1) + 1, sizeof *top->room);
  bool ok = rows && cols && r->rows && top->room;
  for (uint32_t i = 0; ok && i < n; i++) {
    rows[i] = (struct ordered){.row.cols = cols + i * top->n_cols};
    fill_row(top, &drafts[i], &rows[i].row);
    rows[i].order = order_of(&rows[i].row, &drafts[i], top->opt->sort);
    share(r, &rows[i].row);
  }
  if (ok) qsort(rows, n, sizeof *rows, in_order);
  for (uint32_t i = 0; ok && i < n; i++) r->rows[r->n_rows++] = rows[i].row;
  mem_free(top->mem, rows);
  return ok && top_shorten(top);
}

/* ---- entry points ---- */

static void find_range(struct top *top) {
  struct tk_top_report *r = top->report;
  trace_extent(top->t, &r->start, &r->end);
  if (top->scope.window.start > r->start) r->start = top->scope.window.start;
  if (top->scope.window.end < r->end) r->end = top->scope.window.end;
  for (tk_id i = 1; top->scope.steps && i <= top->t->n_events; i++) {
    const struct tk_event *e = &top->t->events[i];
    if (top->group_of[i] && scope_is_launched(&top->scope, e) && e->ts + e->dur > r->end) r->end = e->ts + e->dur;
  }
  if (r->end < r->start) r->end = r->start;
}

static void add_up(struct top *top) {
  i128 self = 0;
  for (uint32_t g = 1; g < top->n_tallies; g++) {
    self += top->tallies[g].self;
    top->report->unfinished += top->tallies[g].unfinished;
  }
  top->report->sum = total_of(self);
  top->report->unweighed = top->unit.n_other;
}

static bool top_name_unit(struct top *top) {
  struct tk_top_impl *impl = top->report->impl;
  const char *unit = weights_unit(&top->unit, top->t);
  if (!unit) return true;
  impl->unit = mem_alloc(&impl->mem, strlen(unit) + 1);
  if (!impl->unit) return false;
  memcpy(impl->unit, unit, strlen(unit) + 1);
  top->report->unit = impl->unit;
  return true;
}

static bool prepare_columns(struct top *top) {
  const char *const *cols = top->opt->cols;
  while (cols && cols[top->n_cols]) top->n_cols++;
  top->report->n_cols = top->n_cols;
  top->keys = mem_array(top->mem, top->n_cols + 1, sizeof *top->keys);
  for (size_t k = 0; top->keys && k < top->n_cols; k++)
    top->keys[k] = trace_text_id(top->t, cols[k]);
  return top->keys != NULL;
}

static bool blank_columns(struct top *top) {
  uint64_t n = (uint64_t)top->n_tallies * top->n_cols + 1;
  top->columns = mem_array(top->mem, n, sizeof *top->columns);
  for (uint64_t i = 0; top->columns && i < n; i++) top->columns[i] = (struct column){0};
  return top->columns != NULL;
}

static bool count_and_measure(struct top *top, struct tk_err *err) {
  uint32_t n;
  bool ok = choose(top, err) && blank_columns(top) && lay_out(top);
  if (!ok) return false;
  find_range(top);
  mem_free(top->mem, top->group_of);
  top->group_of = NULL;
  add_up(top);
  if (!top_name_unit(top)) return false;
  struct draft *drafts = draft_rows(top, &n);
  ok = drafts && make_rows(top, drafts, n);
  mem_free(top->mem, drafts);
  return ok;
}

static void free_top(struct top *top) {
  mem_free(top->mem, top->group_of);
  mem_free(top->mem, top->tallies);
  mem_free(top->mem, top->intervals);
  mem_free(top->mem, top->room);
  mem_free(top->mem, top->columns);
  mem_free(top->mem, top->keys);
  mem_free(top->mem, top->is_mark);
  weights_free(&top->weights);
  mem_free(top->mem, top->group_of_frame);
  self_free(&top->selves);
  groups_free(&top->groups);
  match_free(&top->match);
}

static bool add_step_name(struct top *top) {
  struct buf text = {.mem = top->mem};
  size_t n;
  const char *name = steps_name(&top->match.steps, top->t, &n);
  if (!name) return true;
  const uint32_t id = fold_step(&text, name, n) ? intern(&top->groups.texts, text.data, text.len) : 0;
  buf_free(&text);
  if (id) top->report->step_name = (const char *)top->groups.texts.strs[id].bytes;
  return id != 0;
}

/* Moves the texts of the groups to the report, because its rows point to them. */
static void keep_texts(struct top *top) {
  struct tk_top_impl *impl = top->report->impl;
  impl->texts = top->groups.texts;
  impl->texts.mem = impl->texts.arena.mem = &impl->mem;
  intern_init(&top->groups.texts, &impl->mem);
}

bool top_of(struct tk_trace *t, const struct tk_top_options *opt, const struct track_origin *origins, struct tk_top_report *report,
            struct tk_err *err) {
  struct top top = {.t = t, .opt = opt, .report = report, .mem = &t->store->mem, .scope = SCOPE_ALL};
  *report = (struct tk_top_report){.impl = calloc(1, sizeof *report->impl)};
  if (!report->impl) return err_set(err, TK_ELIMIT, "out of memory");
  report->impl->mem.limit = top.mem->limit;
  bool ok = match_init(&top.match, t, opt->select.where, origins, top.mem, err) &&
            window_select(&top.scope, t, &top.match.steps, &opt->select, err) && match_follow_launches(&top.match, &top.scope, NULL);
  ok = ok && (opt->by != TK_TOP_STEP || step_launches_link(&top.match.steps, &top.match.kinds, origins, NULL));
  if (ok) top.group_of = mem_array(top.mem, (uint64_t)t->n_events + 1, sizeof *top.group_of);
  ok = ok && top.group_of && prepare_columns(&top) && (top.is_mark = host_names_marks(t, top.mem)) != NULL &&
       groups_init(&top.groups, &top.match, opt, &report->impl->mem) &&
       count_and_measure(&top, err);
  ok = ok && (opt->by != TK_TOP_STEP || add_step_name(&top)) && mem_check(&report->impl->mem, err);
  if (ok) keep_texts(&top);
  free_top(&top);
  return ok || mem_refuse(&t->store->mem, err);
}

static void top_clear(struct tk_top_report *report) {
  if (!report->impl) return;
  struct mem *mem = &report->impl->mem;
  mem_free(mem, report->impl->cols);
  mem_free(mem, report->impl->unit);
  mem_free(mem, report->rows);
  if (report->impl->texts.mem) intern_free(&report->impl->texts);
  free(report->impl);
}

void tk_top_report_free(struct tk_top_report *report) {
  if (report) top_clear(report);
  free(report);
}

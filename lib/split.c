/* split.c - one trace into several files: by step, rank, process, time or size.
 *
 * A part is a view of the graph (graph/keep.h): nothing is copied but the events that it holds, so a thousand steps of a trace take
 * the memory of the trace and of one step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/keep.h"
#include "identity.h"
#include "op/filter.h"

struct part {
  char label[160];
  struct window window;
  uint8_t *tracks; /* NULL = all */
};

struct splitter {
  struct tk_trace *t;
  const struct tk_split_options *opt;
  const char *pattern;
  struct tk_split_report *report;
  struct tk_err *err;
  struct mem mem;
  struct part *parts;
  uint32_t n, cap;
};

static struct part *add_part(struct splitter *s) {
  if (!mem_grow(&s->mem, (void **)&s->parts, &s->cap, (uint64_t)s->n + 1, sizeof *s->parts)) return NULL;
  s->parts[s->n] = (struct part){.window = {INT64_MIN, INT64_MAX}};
  return &s->parts[s->n++];
}

/* ---- which parts there are ---- */

static int by_value(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static bool parts_by_step(struct splitter *s) {
  struct steps steps;
  int64_t *numbers = NULL;
  uint32_t cap = 0, n = 0;
  bool ok = steps_init(&steps, s->t, &s->mem);
  if (ok && !steps.n) ok = err_set(s->err, TK_EUSAGE, "this trace has no steps (ProfilerStep#N, step_num or a Steps line)");
  ok = ok && mem_grow(&s->mem, (void **)&numbers, &cap, steps.n, sizeof *numbers);
  for (uint32_t i = 0; ok && i < steps.n; i++) numbers[n++] = steps.v[i].number;
  if (ok) qsort(numbers, n, sizeof *numbers, by_value);
  for (uint32_t i = 0; ok && i < n; i++) {
    struct part *p = i && numbers[i] == numbers[i - 1] ? NULL : add_part(s);
    if (!p) continue;
    snprintf(p->label, sizeof p->label, "%lld", (long long)numbers[i]);
    steps_range(&steps, numbers[i], numbers[i], &p->window.start, &p->window.end);
  }
  if (numbers) mem_resize(&s->mem, numbers, (size_t)cap * sizeof *numbers, 0);
  steps_free(&steps);
  return ok;
}

/* What may stand in a file name everywhere: a label never leads to another folder. */
static void put_safe(char *label, size_t size, const char *text) {
  size_t n = strlen(label);
  for (; *text && n + 1 < size; text++) {
    unsigned char c = (unsigned char)*text;
    bool fine = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '.' || c == '-' || c >= 0x80;
    label[n] = fine && !(c == '.' && n == 0) ? *text : '_';
    n++;
  }
  label[n] = 0;
}

static void label_process(const struct tk_trace *t, const struct tk_track *k, char *label, size_t size) {
  char number[24];
  const char *name = tk_string(t, k->name, NULL);
  *label = 0;
  if (k->pid.kind == TK_IDENT_STR) put_safe(label, size, tk_string(t, k->pid.str, NULL));
  else if (k->pid.kind != TK_IDENT_NONE) {
    number[num_put_i64(number, k->pid.num)] = 0;
    put_safe(label, size, number);
  }
  if (*name && *label) put_safe(label, size, "-");
  put_safe(label, size, name);
  if (!*label) put_safe(label, size, "none");
}

/* The part with this label; a new one holds no track yet. */
static struct part *part_called(struct splitter *s, const char *label) {
  for (uint32_t i = 0; i < s->n; i++)
    if (strcmp(s->parts[i].label, label) == 0) return &s->parts[i];
  struct part *p = add_part(s);
  if (!p) return NULL;
  snprintf(p->label, sizeof p->label, "%s", label);
  p->tracks = mem_resize(&s->mem, NULL, 0, (size_t)s->t->n_tracks + 1);
  if (p->tracks) memset(p->tracks, 0, (size_t)s->t->n_tracks + 1);
  return p->tracks ? p : NULL;
}

static bool holds_something(const struct tk_trace *t, tk_id process) {
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if ((i == process || t->tracks[i].parent == process) && (t->tracks[i].count || t->tracks[i].n_points)) return true;
  return false;
}

static bool parts_by_track(struct splitter *s, bool by_rank) {
  struct match_origin *origins = identity_of_tracks(s->t, &s->mem);
  bool ok = origins != NULL;
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) {
    char label[160] = "unknown";
    struct part *p;
    if (s->t->tracks[i].kind != TK_PROCESS || !holds_something(s->t, i)) continue;
    if (!by_rank) label_process(s->t, &s->t->tracks[i], label, sizeof label);
    else if (origins[i].rank >= 0) snprintf(label, sizeof label, "%lld", (long long)origins[i].rank);
    p = part_called(s, label);
    ok = p != NULL;
    for (tk_id j = 1; ok && j <= s->t->n_tracks; j++) p->tracks[j] |= j == i || s->t->tracks[j].parent == i;
  }
  identity_free_tracks(origins, s->t, &s->mem);
  return ok;
}

enum { MAX_PARTS = 100000 };

static bool add_window(struct splitter *s, tk_time start, tk_time end) {
  struct part *p = add_part(s);
  if (!p) return false;
  if (s->n > MAX_PARTS) return err_set(s->err, TK_EUSAGE, "more than %d parts", MAX_PARTS);
  snprintf(p->label, sizeof p->label, "%u", s->n - 1);
  p->window = (struct window){start, end};
  return true;
}

static bool parts_by_time(struct splitter *s) {
  tk_time start, end;
  bool ok = true;
  if (s->opt->every <= 0) return err_set(s->err, TK_EUSAGE, "say how long a part is");
  window_extent(s->t, &start, &end);
  for (i128 at = start; ok && (at < end || at == start); at += s->opt->every) {
    i128 to = at + s->opt->every;
    ok = add_window(s, s->n ? (tk_time)at : INT64_MIN, to >= end ? INT64_MAX : (tk_time)to);
  }
  return ok;
}

/* ---- writing ---- */

static bool write_name(const struct splitter *s, const char *label, char **name) {
  const char *hole = strstr(s->pattern, "{}");
  size_t n = strlen(s->pattern) + strlen(label) + 1;
  *name = malloc(n);
  if (!*name) return err_set(s->err, TK_ELIMIT, "out of memory");
  snprintf(*name, n, "%.*s%s%s", (int)(hole - s->pattern), s->pattern, label, hole + 2);
  return true;
}

static bool write_part(struct splitter *s, const struct part *p, const char *name, bool dry_run, struct tk_split_part *done) {
  static const struct tk_filter_options all = {0};
  struct tk_filter_report report = {0};
  struct filter_plan plan = {.opt = &all, .cut = p->tracks ? NULL : &p->window, .tracks = p->tracks};
  struct tk_save_options save = s->opt->save;
  struct tk_trace view;
  save.dry_run |= dry_run;
  if (!op_filter(s->t, &view, &plan, &report, s->err)) return false;
  bool ok = tk_save(&view, name, &save, &done->saved, s->err);
  keep_free_view(&view);
  done->clipped = report.clipped;
  done->broken_flows = report.broken_flows;
  return ok;
}

static bool new_file(struct splitter *s, const struct part *p) {
  struct tk_split_part *parts = realloc(s->report->parts, (s->report->n_parts + 1) * sizeof *parts);
  if (!parts) return err_set(s->err, TK_ELIMIT, "out of memory");
  s->report->parts = parts;
  struct tk_split_part *out = &parts[s->report->n_parts];
  *out = (struct tk_split_part){0};
  if (!write_name(s, p->label, &out->output)) return false;
  if (!write_part(s, p, out->output, false, out)) {
    free(out->output);
    return false;
  }
  s->report->n_parts++;
  return true;
}

static void remove_files(struct splitter *s) {
  if (s->opt->save.dry_run) return;
  for (size_t i = 0; i < s->report->n_parts; i++) unlink(s->report->parts[i].output);
}

/* ---- by size: windows are halved until each fits ---- */

static uint64_t events_in(const struct tk_trace *t, struct window w) {
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) n += t->events[i].ts >= w.start && t->events[i].ts < w.end;
  return n;
}

/* The time that as many events of the window start before as after: by bisection, for they are not sorted by time. */
static bool middle(const struct splitter *s, struct window w, tk_time *at) {
  tk_time lo, hi;
  uint64_t half = events_in(s->t, w) / 2;
  window_extent(s->t, &lo, &hi);
  if (w.start > lo) lo = w.start;
  if (w.end < hi) hi = w.end;
  while (hi - lo > 1) {
    tk_time mid = lo + (hi - lo) / 2;
    if (events_in(s->t, (struct window){w.start, mid}) <= half) lo = mid;
    else hi = mid;
  }
  *at = lo;
  return lo > w.start && lo < w.end && events_in(s->t, (struct window){w.start, lo}) > 0;
}

static bool fit(struct splitter *s, struct window w) {
  struct part p = {.window = w};
  struct tk_split_part would = {0};
  char *name;
  tk_time at;
  if (!write_name(s, "0", &name)) return false;
  bool ok = write_part(s, &p, name, true, &would);
  free(name);
  if (!ok || would.saved.bytes <= s->opt->bytes) return ok && add_window(s, w.start, w.end);
  if (!middle(s, w, &at))
    return err_set(s->err, TK_ELIMIT, "no part fits into %llu bytes: %llu events of one moment take %llu",
                   (unsigned long long)s->opt->bytes, (unsigned long long)would.saved.events,
                   (unsigned long long)would.saved.bytes);
  return fit(s, (struct window){w.start, at}) && fit(s, (struct window){at, w.end});
}

static bool parts_by_size(struct splitter *s) {
  if (!s->opt->bytes) return err_set(s->err, TK_EUSAGE, "say how large a part may be");
  return fit(s, (struct window){INT64_MIN, INT64_MAX});
}

/* ---- all ---- */

static bool find_parts(struct splitter *s) {
  switch (s->opt->by) {
  case TK_SPLIT_STEP: return parts_by_step(s);
  case TK_SPLIT_RANK: return parts_by_track(s, true);
  case TK_SPLIT_PROCESS: return parts_by_track(s, false);
  case TK_SPLIT_TIME: return parts_by_time(s);
  default: return parts_by_size(s);
  }
}

/* Asked of all before the first is written. */
static bool check_names(struct splitter *s) {
  struct stat st;
  for (uint32_t i = 0; i < s->n && !s->opt->save.force && !s->opt->save.dry_run; i++) {
    char *name;
    if (!write_name(s, s->parts[i].label, &name)) return false;
    bool taken = stat(name, &st) == 0;
    if (taken) err_set(s->err, TK_EWRITE, "%s: exists already (--force replaces it)", name);
    free(name);
    if (taken) return false;
  }
  return true;
}

bool tk_split(struct tk_trace *t, const char *pattern, const struct tk_split_options *opt, struct tk_split_report *report,
              struct tk_err *err) {
  struct tk_err own;
  struct splitter s = {.t = t, .opt = opt, .pattern = pattern, .report = report, .err = err ? err : &own};
  bool ok;
  err_clear(s.err);
  *report = (struct tk_split_report){0};
  if (!strstr(pattern, "{}")) return err_set(s.err, TK_EUSAGE, "%s: a pattern has {} where the part's name goes", pattern);
  ok = find_parts(&s) && check_names(&s);
  if (ok && s.n == 0) ok = err_set(s.err, TK_EUSAGE, "nothing to split: the trace has no events");
  for (uint32_t i = 0; ok && i < s.n; i++) ok = new_file(&s, &s.parts[i]);
  if (!ok) remove_files(&s);
  for (uint32_t i = 0; i < s.n; i++)
    if (s.parts[i].tracks) mem_resize(&s.mem, s.parts[i].tracks, (size_t)t->n_tracks + 1, 0);
  if (s.parts) mem_resize(&s.mem, s.parts, (size_t)s.cap * sizeof *s.parts, 0);
  if (!ok && mem_check(&s.mem, s.err)) err_set(s.err, TK_ELIMIT, "out of memory");
  return ok;
}

void tk_split_report_free(struct tk_split_report *report) {
  for (size_t i = 0; i < report->n_parts; i++) free(report->parts[i].output);
  free(report->parts);
  *report = (struct tk_split_report){0};
}

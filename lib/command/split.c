/* split.c - splits one trace into several files: by step, rank, process, time or size.
 *
 * A part is a view of the graph (graph/subset.h), for which only its events are copied. So splitting a trace into a thousand steps
 * takes the memory of the trace and of one step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/options.h"
#include "base/utf8.h"
#include "base/order.h"
#include "graph/subset.h"
#include "source/identity.h"
#include "op/filter.h"
#include "op/step_launches.h"
#include "load/save.h"

enum { LABEL = 160 };

struct part {
  char label[LABEL + 16]; /* may have a number at the front */
  struct window window;
  struct tk_range step;   /* if parts are steps: range that contains only this step */
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
  uint32_t *part_of;     /* by track: 1 + index of its part; 0 = in no part; NULL if parts are time windows or steps */
  struct track_origin *origins; /* by track, if the parts are steps */
  struct match match;    /* if the parts are steps: match with steps that are linked to launches */
  struct intern labels;
  struct map used;       /* label -> last number that was put before it */
  struct saver **files;  /* files of the report's parts, which are complete but do not have their final names yet */
};

/* Maximum number of parts. Each part costs a pass over the graph, and a file that stays open until all files are complete. */
enum { MAX_PARTS = 10000 };

static struct part *add_part(struct splitter *s) {
  if (s->n >= MAX_PARTS) {
    err_set(s->err, TK_EUSAGE, "the trace would have more than %d parts; filter it first, or use larger parts", MAX_PARTS);
    return NULL;
  }
  if (!mem_grow(&s->mem, (void **)&s->parts, &s->cap, (uint64_t)s->n + 1, sizeof *s->parts)) return NULL;
  s->parts[s->n] = (struct part){.window = {INT64_MIN, INT64_MAX}};
  return &s->parts[s->n++];
}

/* ---- finding the parts ---- */

/* Adds a part for each step number, which several ranks can share. */
static bool add_steps(struct splitter *s, const struct steps *steps) {
  int64_t *numbers = mem_array(&s->mem, (uint64_t)steps->n + 1, sizeof *numbers);
  bool ok = numbers;
  for (uint32_t i = 0; ok && i < steps->n; i++) numbers[i] = steps->v[i].number;
  if (ok) qsort(numbers, steps->n, sizeof *numbers, order_int64);
  for (uint32_t i = 0; ok && i < steps->n; i++) {
    if (i && numbers[i] == numbers[i - 1]) continue;
    struct part *p = add_part(s);
    ok = p != NULL;
    if (!ok) break;
    snprintf(p->label, sizeof p->label, "%lld", (long long)numbers[i]);
    p->step = (struct tk_range){numbers[i], numbers[i]};
  }
  mem_free(&s->mem, numbers);
  return ok;
}

/* Adds a part for each step. Links work to launches here, once for all parts. */
static bool parts_by_step(struct splitter *s) {
  struct match *m = &s->match;
  s->origins = identity_of_tracks(s->t, &s->mem);
  bool ok = s->origins && match_init(m, s->t, NULL, s->origins, &s->mem, s->err);
  if (ok && !m->steps.n) ok = err_for(s->err, TK_OPTION_STEP_NAME, TK_ENOTHING, "nothing matched: the trace has no steps");
  return ok && add_steps(s, &m->steps) && step_launches_link(&m->steps, &m->kinds, s->origins, NULL);
}

/* True if the character is safe in file names on all systems and in terminals. In particular, a label can then not lead to another
 * folder. */
static bool is_fine(const uint8_t *p, unsigned bytes) {
  if (bytes > 1) return !utf8_is_obeyed(utf8_char(p, bytes));
  return (*p >= '0' && *p <= '9') || ((*p | 32) >= 'a' && (*p | 32) <= 'z') || *p == '.' || *p == '-';
}

static void put_safe(char *label, size_t size, const char *text) {
  size_t n = strlen(label);
  const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
  for (unsigned bytes; p < end; p += bytes) {
    bytes = utf8_sequence(p, (size_t)(end - p));
    bool fine = bytes && is_fine(p, bytes) && !(*p == '.' && n == 0);
    if (bytes == 0) bytes = 1;
    if (n + bytes >= size) break;
    if (fine) memcpy(label + n, p, bytes);
    else label[n] = '_';
    n += fine ? bytes : 1;
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

static uint32_t *times_used(struct splitter *s, const char *label) {
  return map_put(&s->used, intern(&s->labels, label, strlen(label)), 0);
}

/* Sets the label of a new part. Adds a number at the front if another part has the same label. */
static bool give_label(struct splitter *s, struct part *p, const char *label) {
  uint32_t *used = times_used(s, label), number = used ? *used : 0;
  snprintf(p->label, sizeof p->label, "%s", label);
  while (used && *used) {
    snprintf(p->label, sizeof p->label, "%u.%s", ++number, label);
    used = times_used(s, p->label);
  }
  if (used) *used = 1;
  used = times_used(s, label);
  if (used && number) *used = number;
  return used && !s->mem.failed;
}

/* Returns 1 + the index of the part that contains a process; 0 on failure. rank: rank of the process, if each rank gets a part; NULL =
 * each process gets its own part. */
static uint32_t part_of_process(struct splitter *s, tk_id process, const int64_t *rank, struct map *ranks) {
  char label[LABEL] = "unknown";
  uint32_t *part = rank ? map_put(ranks, (uint64_t)*rank, 0) : NULL;
  if (rank && (!part || *part)) return part ? *part : 0;
  struct part *p = add_part(s);
  if (!p) return 0;
  if (part) *part = s->n;
  if (!rank) label_process(s->t, &s->t->tracks[process], label, sizeof label);
  else if (*rank >= 0) snprintf(label, sizeof label, "%lld", (long long)*rank);
  return give_label(s, p, label) ? s->n : 0;
}

static bool parts_by_track(struct splitter *s, bool by_rank) {
  const struct tk_track *tracks = s->t->tracks;
  struct track_origin *origins = identity_of_tracks(s->t, &s->mem);
  struct map ranks;
  map_init(&ranks, &s->mem);
  s->part_of = mem_zeros(&s->mem, (uint64_t)s->t->n_tracks + 1, sizeof *s->part_of);
  bool ok = origins && s->part_of;
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) /* until the next loop, 1 marks processes with events or flow points */
    if (tracks[i].count || tracks[i].n_points) s->part_of[tracks[i].kind == TK_TRACK_PROCESS ? i : tracks[i].parent] = 1;
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++) {
    if (tracks[i].kind != TK_TRACK_PROCESS || !s->part_of[i]) continue;
    s->part_of[i] = part_of_process(s, i, by_rank ? &origins[i].rank : NULL, &ranks);
    ok = s->part_of[i] != 0;
  }
  if (ok) s->part_of[0] = 0;
  for (tk_id i = 1; ok && i <= s->t->n_tracks; i++)
    if (tracks[i].kind != TK_TRACK_PROCESS) s->part_of[i] = s->part_of[tracks[i].parent];
  map_free(&ranks);
  identity_free_tracks(origins, &s->mem);
  return ok;
}

static bool add_window(struct splitter *s, tk_time start, tk_time end) {
  struct part *p = add_part(s);
  if (!p) return false;
  snprintf(p->label, sizeof p->label, "%u", s->n - 1);
  p->window = (struct window){start, end};
  return true;
}

static bool parts_by_time(struct splitter *s) {
  tk_time start, end;
  bool ok = true;
  if (s->opt->every <= 0) return err_set(s->err, TK_EUSAGE, "missing length of a part, such as 10s");
  const struct window_frame frame = window_frame(s->t);
  start = frame.start;
  end = frame.end;
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

/* Writes a file completely, but under a temporary name; name_files renames it. */
static bool save_view(struct saver *file, const struct tk_trace *view, const char *name, const struct tk_save_options *opt,
                      struct tk_saved *saved, struct tk_err *err) {
  const char *const named[] = {view->source, NULL}, *const *inputs = view->files ? view->files : named;
  bool ok = save_open(file, name, opt, view->format, inputs, err);
  struct buf provenance = {.mem = &file->mem};
  ok = ok && file->sink->open(file->sink, view, err) && save_write(file, view, err);
  const char *said = ok ? save_provenance_in(&provenance, opt, view, file->format) : NULL;
  ok = ok && file->sink->close(file->sink, view, said, err) && save_finish(file, saved, err);
  buf_free(&provenance);
  if (!ok) return err_prefix(err, "%s", name);
  file->sink->free(file->sink);
  file->sink = NULL;
  format_carry_free(&file->carry);
  return true;
}

static bool write_part(struct splitter *s, uint32_t part, struct window window, struct saver *file, bool dry_run,
                       struct tk_split_part *done) {
  const bool by_step = s->opt->by == TK_SPLIT_STEP;
  const struct tk_filter_options options = {.step_range = by_step ? &s->parts[part].step : NULL};
  struct tk_filter_report report = {0};
  struct filter_plan plan = {.opt = &options, .origins = s->origins, .cut = s->part_of || by_step ? NULL : &window,
                             .part_of = s->part_of, .part = part + 1, .match = by_step ? &s->match : NULL};
  struct tk_save_options save = s->opt->save;
  struct tk_trace view;
  save.dry_run |= dry_run;
  if (!op_filter(s->t, &view, &plan, &report, s->err)) return false;
  bool ok = save_view(file, &view, done->output, &save, &done->saved, s->err);
  subset_free_view(&view);
  done->clipped = report.clipped;
  done->broken_flows = report.broken_flows;
  return ok;
}

static bool make_room(struct splitter *s) {
  s->report->parts = calloc(s->n, sizeof *s->report->parts);
  s->files = calloc(s->n, sizeof *s->files);
  return (s->report->parts && s->files) || err_set(s->err, TK_ELIMIT, "out of memory");
}

static bool new_file(struct splitter *s, uint32_t part) {
  struct tk_split_part *done = &s->report->parts[part];
  struct saver *file = s->files[part] = calloc(1, sizeof *file);
  if (!file) return err_set(s->err, TK_ELIMIT, "out of memory");
  if (!write_name(s, s->parts[part].label, &done->output)) return false;
  s->report->n_parts++;
  return write_part(s, part, s->parts[part].window, file, false, done);
}

/* Gives the files their final names. Existing files are replaced only now, when all parts are complete. On failure, removes the renamed
 * files again, except with `force`: they may then have replaced files, which cannot be restored. */
static bool name_files(struct splitter *s) {
  uint32_t named = 0;
  while (named < s->n && out_commit(&s->files[named]->out, s->err)) named++;
  if (named == s->n) return true;
  err_prefix(s->err, "%s", s->report->parts[named].output);
  if (s->opt->save.force && named) return err_prefix(s->err, "failed after %u of %u files were written", named, s->n);
  while (named-- > 0) unlink(s->report->parts[named].output);
  return false;
}

static void close_files(struct splitter *s) {
  for (uint32_t i = 0; s->files && i < s->n && s->files[i]; i++) {
    save_close(s->files[i]);
    free(s->files[i]);
  }
  free(s->files);
}

/* ---- by size: windows are halved until each fits ---- */

static uint64_t events_in(const struct tk_trace *t, struct window w) {
  uint64_t n = 0;
  for (tk_id i = 1; i <= t->n_events; i++) n += t->events[i].ts >= w.start && t->events[i].ts < w.end;
  return n;
}

/* Sets *at to the time that divides the window's events into halves by start. Uses a binary search over time, because the events of all
 * tracks together are not sorted. Returns false if the window cannot be divided there. */
static bool middle(const struct splitter *s, struct window w, tk_time *at) {
  tk_time lo, hi;
  uint64_t half = events_in(s->t, w) / 2;
  trace_extent(s->t, &lo, &hi);
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
  struct tk_split_part would = {0};
  struct saver file = {0};
  tk_time at;
  if (!write_name(s, "0", &would.output)) return false;
  bool ok = write_part(s, 0, w, &file, true, &would);
  save_close(&file);
  free(would.output);
  if (!ok || would.saved.bytes <= s->opt->bytes) return ok && add_window(s, w.start, w.end);
  if (!middle(s, w, &at))
    return err_set(s->err, TK_ELIMIT, "cannot split into parts of %llu bytes: %llu events with the same time need %llu bytes",
                   (unsigned long long)s->opt->bytes, (unsigned long long)would.saved.events,
                   (unsigned long long)would.saved.bytes);
  return fit(s, (struct window){w.start, at}) && fit(s, (struct window){at, w.end});
}

static bool parts_by_size(struct splitter *s) {
  if (!s->opt->bytes) return err_set(s->err, TK_EUSAGE, "missing size of a part, such as 100MB");
  return fit(s, (struct window){INT64_MIN, INT64_MAX});
}

/* ---- entry points ---- */

static bool find_parts(struct splitter *s) {
  switch (s->opt->by) {
  case TK_SPLIT_STEP: return parts_by_step(s);
  case TK_SPLIT_RANK: return parts_by_track(s, true);
  case TK_SPLIT_PROCESS: return parts_by_track(s, false);
  case TK_SPLIT_TIME: return parts_by_time(s);
  default: return parts_by_size(s);
  }
}

/* Checks all output names before the first file is written. */
static bool check_names(struct splitter *s) {
  struct stat st;
  bool ok = true;
  for (uint32_t i = 0; ok && i < s->n; i++) {
    char *name;
    if (!write_name(s, s->parts[i].label, &name)) return false;
    bool exists = stat(name, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) ok = err_set(s->err, TK_EWRITE, "%s: is a directory", name);
    else if (exists && !s->opt->save.force) ok = err_for(s->err, TK_OPTION_FORCE, TK_EWRITE, "%s: already exists", name);
    free(name);
  }
  return ok;
}

static bool write_parts(struct splitter *s) {
  if (s->n == 0) return err_set(s->err, TK_EUSAGE, "nothing to split: the trace has no events");
  if (!make_room(s)) return false;
  for (uint32_t i = 0; i < s->n; i++)
    if (!new_file(s, i)) return false;
  return name_files(s);
}

static void free_splitter(struct splitter *s) {
  close_files(s);
  intern_free(&s->labels);
  map_free(&s->used);
  mem_free(&s->mem, s->part_of);
  if (s->match.mem) match_free(&s->match);
  identity_free_tracks(s->origins, &s->mem);
  mem_free(&s->mem, s->parts);
}

bool tk_split(struct tk_trace *t, const char *pattern, const struct tk_split_options *opt, struct tk_split_report **report,
              struct tk_err *err) {
  struct tk_err own;
  struct tk_split_options options;
  struct splitter s = {.t = t, .opt = &options, .pattern = pattern, .err = err ? err : &own};
  bool ok;
  err_clear(s.err);
  if (!NEW_REPORT(report, s.err) || !trace_is_sealed(t, s.err) || !TAKE_OPTIONS(&options, opt, s.err)) return false;
  s.report = *report;
  if (!strstr(pattern, "{}")) return err_set(s.err, TK_EUSAGE, "%s: the output name needs {}, which stands for the part", pattern);
  intern_init(&s.labels, &s.mem);
  map_init(&s.used, &s.mem);
  ok = find_parts(&s) && check_names(&s) && write_parts(&s);
  free_splitter(&s);
  if (!ok && mem_check(&s.mem, s.err)) err_set(s.err, TK_ELIMIT, "out of memory");
  return ok;
}

static void split_clear(struct tk_split_report *report) {
  for (size_t i = 0; i < report->n_parts; i++) free(report->parts[i].output);
  free(report->parts);
}

void tk_split_report_free(struct tk_split_report *report) {
  if (report) split_clear(report);
  free(report);
}

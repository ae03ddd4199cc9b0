/* figures.c - see figures.h. */
#include "figures.h"

#include <stdio.h>
#include <string.h>

static bool is_figure(const struct tk_field *f) {
  return f->type == TK_TYPE_TIME || f->type == TK_TYPE_COUNT || f->type == TK_TYPE_NUMBER;
}

const struct tk_field *figure_at(size_t i) {
  size_t n;
  const struct tk_field *f = tk_fields(TK_ROW_REPORT_RANK, &n, NULL);
  for (const struct tk_field *end = f + n; f < end; f++)
    if (is_figure(f) && i-- == 0) return f;
  return NULL;
}

static bool is_called(const struct tk_field *f, const char *word, size_t n) {
  static const char *const UNITS[] = { "", "_ns", "_percent", "_gb_per_s" };
  if (strlen(f->name) < n || strncmp(f->name, word, n) != 0) return false;
  for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
    if (strcmp(f->name + n, UNITS[i]) == 0) return true;
  return false;
}

const struct tk_field *figure_of(const char *word, size_t n, bool percent) {
  const struct tk_field *f, *found = NULL;
  for (size_t i = 0; (f = figure_at(i)); i++)
    if (is_called(f, word, n) && (!found || (f->unit == TK_UNIT_PERCENT) == percent)) found = f;
  return found;
}

bool figure_value(const struct tk_field *figure, const struct tk_report_rank *r, double *v) {
  struct tk_value value;
  const bool known = tk_field_value(figure, r, NULL, &value);
  if (figure->type == TK_TYPE_TIME) *v = (double)value.time.s * 1e12 + (double)value.time.ps;
  else *v = figure->type == TK_TYPE_COUNT ? (double)value.count : value.number;
  return known;
}

static bool is_same_key(const char *key, const char *word, size_t n) {
  if (strlen(key) != n) return false;
  for (size_t i = 0; i < n; i++)
    if (word[i] != key[i] && !(word[i] == '_' && key[i] == ' ')) return false;
  return true;
}

const char *figure_key(const char *word, size_t n, const char **unit) {
  static const char ALIAS[] = "gpu_busy", ALIASED[] = "device utilization";
  const char *key;
  if (is_same_key(ALIAS, word, n)) {
    word = ALIASED;
    n = sizeof ALIASED - 1;
  }
  for (size_t i = 0; (key = tk_key_figure(i, unit)); i++)
    if (is_same_key(key, word, n)) return key;
  return NULL;
}

const struct tk_report_figure *figure_key_value(const char *key, const struct tk_report *r, double *v) {
  for (size_t i = 0; i < r->n_figures; i++) {
    const struct tk_report_figure *f = &r->figures[i];
    if (strcmp(f->name, key) != 0 || !f->known) continue;
    *v = f->value * (strcmp(f->unit, "ms") == 0 ? 1e9 : strcmp(f->unit, "s") == 0 ? 1e12 : 1);
    return f;
  }
  return NULL;
}

static const struct {
  const char *name;
  size_t offset;
} PARTS[FIGURE_PARTS] = {
  { "compute", offsetof(struct tk_report_split, compute) },
  { "comm", offsetof(struct tk_report_split, communication) },
  { "copy", offsetof(struct tk_report_split, copy) },
  { "input", offsetof(struct tk_report_split, input) },
  { "compile", offsetof(struct tk_report_split, compile) },
  { "launch", offsetof(struct tk_report_split, launch) },
  { "runtime", offsetof(struct tk_report_split, runtime) },
  { "host", offsetof(struct tk_report_split, host) },
  { "sync", offsetof(struct tk_report_split, sync) },
  { "other", offsetof(struct tk_report_split, other) },
  { "unrecorded", offsetof(struct tk_report_split, idle) }, /* "idle" is all time in which the device did not work */
};

const char *figure_part_name(size_t part) { return PARTS[part].name; }

tk_time figure_part(const struct tk_report_split *s, size_t part) {
  tk_time time;
  memcpy(&time, (const char *)s + PARTS[part].offset, sizeof time);
  return time;
}

bool figure_steps_hold_work(const struct tk_report_rank *row) {
  double all = 0, busy = 0;
  for (size_t i = 0; i < row->n_steps; i++) {
    all += (double)row->steps[i].times.window;
    busy += (double)row->steps[i].times.busy;
  }
  const bool is_late = row->linked && row->latency_mean > row->step.mean / 2;
  return !is_late || !*row->device || busy * (double)row->times.window >= all * (double)row->times.busy / 2;
}

struct tk_report_split figure_steps(const struct tk_report_rank *row) {
  struct tk_report_split sum = { 0 };
  if (!figure_steps_hold_work(row)) return sum;
  for (size_t i = 0; i < row->n_steps; i++) {
    sum.length += row->steps[i].split.length;
    for (size_t k = 0; k < FIGURE_PARTS; k++) {
      const tk_time time = figure_part(&sum, k) + figure_part(&row->steps[i].split, k);
      memcpy((char *)&sum + PARTS[k].offset, &time, sizeof time);
    }
  }
  return sum;
}

/* Returns the part of a path that begins one component before `part`; the path itself if there is none. */
static const char *with_folder(const char *path, const char *part) {
  if (part > path && part[-1] == '/') part--;
  while (part > path && part[-1] != '/') part--;
  return part;
}

/* True if the path of another input ends with `part`, a suffix of the path `input`. */
static bool is_ambiguous(const struct tk_report *r, const char *input, const char *part) {
  const size_t n = strlen(part);
  for (size_t i = 0; i < r->n_ranks; i++) {
    const char *other = r->ranks[i].input;
    const size_t m = strlen(other);
    if (strcmp(other, input) != 0 && m >= n && strcmp(other + m - n, part) == 0 && (m == n || other[m - n - 1] == '/')) return true;
  }
  return false;
}

/* Returns the end of the input's path: the file name, preceded by as many folders as needed to distinguish it from other inputs. */
static const char *input_name(const struct tk_report *r, const char *input) {
  const char *part = with_folder(input, input + strlen(input));
  if (!*part) return input;
  while (part > input && is_ambiguous(r, input, part)) part = with_folder(input, part);
  return part;
}

struct figure_step_times figure_step_times(const struct tk_report_rank *row) {
  struct figure_step_times sum = { 0 };
  for (size_t i = 0; i < row->n_steps; i++) {
    sum.all += (double)row->steps[i].dur;
    sum.busy += (double)row->steps[i].times.busy;
    sum.collecting += (double)row->steps[i].collecting;
  }
  if (*row->device && figure_steps_hold_work(row)) sum.busy_in = sum.all;
  return sum;
}

void figure_report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n) {
  const char *leaf = input_name(r, row->input);
  size_t len = 0;
  *text = 0;
  if (*row->run) len = (size_t)snprintf(text, n, "%.100s: ", row->run);
  if (row->rank >= 0) len += (size_t)snprintf(text + len, n - len, "rank %lld", (long long)row->rank);
  else if (r->inputs > 1 || !*row->device) len += (size_t)snprintf(text + len, n - len, "%s", *row->host ? row->host : leaf);
  if (len < n && *row->device) snprintf(text + len, n - len, "%s%s", len ? ", " : "", row->device);
}

bool figure_host_again(const struct tk_report *r, size_t i) {
  const struct tk_report_rank *row = &r->ranks[i], *last = i ? row - 1 : NULL;
  return last && row->rank == last->rank && strcmp(row->input, last->input) == 0 && strcmp(row->host, last->host) == 0;
}

bool figure_ops_linked(const struct tk_report_rank *row) {
  return row->linked && (row->host_ops == 0 || row->host_only_ops < row->host_ops);
}

void figure_host_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n) {
  struct tk_report_rank host = *row;
  host.device = "";
  figure_report_name(r, &host, text, n);
}

bool figures_are_judged(const struct tk_report *r) {
  for (size_t i = 0; i < r->n_figures; i++)
    if (*r->figures[i].verdict) return true;
  return false;
}

int figure_decimals(const struct tk_report_figure *f) {
  if (!*f->unit) return 0;
  return f->value < 1 ? 3 : 1;
}

/* Writes "RUN: rank 3, GPU 0", without the parts that are unknown. */
static void put_device(const char *run, int64_t rank, const char *device, char *text, size_t n) {
  char number[40] = "";
  if (rank >= 0) snprintf(number, sizeof number, "rank %lld%s", (long long)rank, *device ? ", " : "");
  snprintf(text, n, "%.100s%s%s%s", run, *run ? ": " : "", number, device);
}

void figure_gap_device(const struct tk_report *r, const struct tk_report_gap *g, char *text, size_t n) {
  const char *run = "";
  for (size_t i = 0; i < r->n_ranks; i++)
    if (strcmp(r->ranks[i].input, g->input) == 0) run = r->ranks[i].run;
  put_device(run, g->rank, g->device, text, n);
}

void figure_device(const struct tk_report_figure *f, char *text, size_t n) {
  put_device(f->run, f->rank, f->device, text, n);
}

bool figures_collect_garbage(const struct tk_report *r) {
  bool any = false;
  for (size_t i = 0; i < r->n_ranks; i++) any = any || r->ranks[i].collections;
  return any;
}

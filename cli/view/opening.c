/* opening.c - see opening.h.
 *
 * A whole training run is too long to show any details, so the viewer opens at the first step, with a row of steps on top. */
#include "opening.h"

#include "print/json.h"
#include "print/tty.h"

#include <string.h>

enum {
  MOMENT_SHARE = 50, /* a moment is shown in the middle of 1/50 of the trace */
  STEP_MARGIN = 10,  /* steps are shown with 1/10 of their length on each side */
  STEPS_MOST = 1000  /* maximum number of steps in the row on top, because an address contains them */
};

struct opening {
  tk_time start, end;
  bool is_part; /* a part of the trace is to be shown */
};

/* ---- --at ---- */

/* Returns the text after "step ", which contains the step numbers; NULL if `at` is a time. */
static const char *steps_in(const char *at) {
  static const char WORD[] = "step";
  if (strncmp(at, WORD, sizeof WORD - 1) != 0) return NULL;
  at += sizeof WORD - 1;
  while (*at == ' ' || *at == '=') at++;
  return at;
}

/* Parses a range of times, or a single time, whose range then has no end. `t` is NULL if only the syntax is checked. */
static bool parse_times(const struct tk_trace *t, const char *at, struct tk_range *range, struct tk_err *err) {
  char moment[128];
  if (strstr(at, "..")) return tk_parse_time_range(t, at, range, err);
  snprintf(moment, sizeof moment, "%.100s..", at);
  return tk_parse_time_range(t, moment, range, err);
}

static bool fail(struct tk_err *err, const char *fmt, const char *text) {
  err->code = TK_EUSAGE;
  snprintf(err->msg, sizeof err->msg, fmt, text);
  return false;
}

static bool parse_steps(const char *steps, struct tk_range *range, struct tk_err *err) {
  return tk_parse_range(steps, range) || fail(err, "--at: steps '%s': expected N, N..M, N.. or ..M", steps);
}

bool view_check_at(const char *at, struct tk_err *err) {
  struct tk_range range;
  if (!at) return true;
  const char *steps = steps_in(at);
  return steps ? parse_steps(steps, &range, err) : parse_times(NULL, at, &range, err);
}

/* ---- ranges ---- */

static void open_wider(struct opening *o, tk_time by) {
  o->start = o->start > INT64_MIN + by ? o->start - by : INT64_MIN;
  o->end = o->end < INT64_MAX - by ? o->end + by : INT64_MAX;
  o->is_part = true;
}

/* Sets *o to the time range of the steps with these numbers, with a margin. Returns false if there are none. */
static bool show_steps(struct opening *o, const struct tk_inspection *p, struct tk_range numbers) {
  struct opening found = { INT64_MAX, INT64_MIN, false };
  for (uint64_t i = 0; i < p->n_steps; i++) {
    const struct tk_step *s = &p->steps[i];
    if (s->number < numbers.first || s->number > numbers.last) continue;
    if (s->start < found.start) found.start = s->start;
    if (s->end > found.end) found.end = s->end;
  }
  if (found.start > found.end) return false;
  *o = found;
  open_wider(o, o->end / STEP_MARGIN - o->start / STEP_MARGIN);
  return true;
}

static void show_times(struct opening *o, const char *at, struct tk_range range, const struct opening *all) {
  const tk_time start = range.first == INT64_MIN ? all->start : range.first;
  *o = (struct opening){ start, range.last, true };
  if (strstr(at, "..")) return;
  o->end = start;
  open_wider(o, all->end / (2 * MOMENT_SHARE) - all->start / (2 * MOMENT_SHARE) + 1);
}

static bool find_at(const struct tk_trace *t, const struct tk_inspection *p, const char *at, const struct opening *all,
                    struct opening *o, struct tk_err *err) {
  const char *steps = steps_in(at);
  struct tk_range range;
  if (steps && !parse_steps(steps, &range, err)) return false;
  if (steps) return show_steps(o, p, range) || fail(err, "--at: the trace has no step %s", steps);
  if (!parse_times(t, at, &range, err)) return false;
  show_times(o, at, range, all);
  return true;
}

/* Restricts the range to the trace (`all`), because viewers ignore a range that exceeds it. */
static void clip(struct opening *o, const struct opening *all) {
  if (o->start < all->start) o->start = all->start;
  if (o->end > all->end) o->end = all->end;
  o->is_part = o->is_part && o->start < o->end;
}

/* ---- writing ---- */

/* Writes a timestamp, converted to the nanoseconds that the viewer's file contains. */
static void put_time(const struct tk_trace *t, struct json *j, const char *key, tk_time ts) {
  const int64_t ns = ts / 1000 + ts % 1000 / 500; /* rounded */
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)(ns - (t->zero_ns - t->origin_ns)));
  json_string(j, key, text);
}

static void put_steps(const struct tk_trace *t, const struct tk_inspection *p, struct json *j) {
  json_open(j, "steps", '[');
  for (uint64_t i = 0; i < p->n_steps && i < STEPS_MOST; i++) {
    json_open(j, NULL, '{');
    json_int(j, "number", p->steps[i].number);
    put_time(t, j, "start", p->steps[i].start);
    put_time(t, j, "end", p->steps[i].end);
    json_close(j, '}');
  }
  json_close(j, ']');
}

static bool write_opening(const struct tk_trace *t, const struct opening *o, const struct tk_inspection *p, struct view_made *made) {
  size_t size;
  FILE *to = tty_open_text(&made->opening, &size);
  struct json j = { .to = to };
  if (!to) return false;
  json_open(&j, NULL, '{');
  if (o->is_part) {
    put_time(t, &j, "start", o->start);
    put_time(t, &j, "end", o->end);
  }
  put_steps(t, p, &j);
  json_close(&j, '}');
  return tty_close_text(to, &made->opening);
}

static bool find_opening(const struct tk_trace *t, const struct tk_inspection *p, const char *at, struct view_made *made, int *status) {
  struct tk_summary summary;
  struct tk_err err = { 0 };
  if (!tk_summarise(t, &summary, &err)) {
    *status = run_fail(&err);
    return false;
  }
  const struct opening all = { summary.start, summary.end, false };
  struct opening o = all;
  if (at && !find_at(t, p, at, &all, &o, &err)) {
    *status = run_fail(&err);
    return false;
  }
  if (!at && p->n_steps) show_steps(&o, p, (struct tk_range){ p->steps[0].number, p->steps[0].number });
  clip(&o, &all);
  if (write_opening(t, &o, p, made)) return true;
  *status = run_no_memory();
  return false;
}

bool view_find_opening(const struct tk_trace *t, const char *at, struct view_made *made, int *status) {
  struct tk_inspection *p = tk_inspect(t);
  if (!p) *status = run_no_memory();
  const bool ok = p && find_opening(t, p, at, made, status);
  tk_inspection_free(p);
  return ok;
}

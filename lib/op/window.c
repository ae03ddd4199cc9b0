/* window.c - parses time ranges (window.h). */
#include "window.h"
#include "base/text.h"
#include "format/format.h"

#include <stdio.h>
#include <string.h>

struct window_frame window_frame(const struct tk_trace *t) {
  struct window_frame f = {.origin_ns = t->origin_ns, .zero_ns = t->zero_ns, .clock = t->clock};
  const struct format *format = t->n_events || !t->format ? NULL : format_by_name(t->format);
  struct trace_cut found;
  trace_extent(t, &f.start, &f.end);
  if (format && format->passthrough_times && format->passthrough_times(t, (struct trace_cut){INT64_MIN, INT64_MAX}, &found)) {
    f.start = found.start;
    f.end = found.end;
  }
  return f;
}

static bool percent(const char *text, const struct window_frame *f, tk_time *out) {
  static const i128 MOST = 1000000000000000000; /* 10^9 % */
  size_t n = strlen(text);
  i128 v;
  if (n < 2 || text[n - 1] != '%') return false;
  if (!num_scaled((const uint8_t *)text, (const uint8_t *)text + n - 1, 9, &v) || v > MOST || v < -MOST) return false;
  *out = num_clamp(f->start + ((i128)f->end - f->start) * v / ((i128)100 * 1000000000));
  return true;
}

static bool absolute(const char *text, const struct window_frame *f, tk_time *out, struct tk_err *err) {
  i128 ps;
  if (!text_parse_absolute(text, &ps)) return false;
  if (f->clock != TK_CLOCK_REALTIME) return err_set(err, TK_EUSAGE, "'%s': the trace does not record absolute time", text);
  *out = num_clamp(ps - (i128)f->origin_ns * 1000);
  return true;
}

static bool relative(const char *text, const struct window_frame *f, tk_time *out) {
  const uint8_t *digits = (const uint8_t *)text;
  i128 ps;
  if (*text == '+' || *text == '-') {
    if (!text_parse_duration(text + 1, &ps) || ps < 0) return false;
    *out = *text == '+' ? num_clamp(f->start + ps) : num_clamp(f->end - ps);
    return true;
  }
  const i128 zero = ((i128)f->zero_ns - f->origin_ns) * 1000;
  if (!num_scaled(digits, digits + strlen(text), 6, &ps) && !text_parse_duration(text, &ps)) return false;
  *out = num_clamp(zero + ps);
  return true;
}

static bool read_time(const char *text, size_t n, const struct window_frame *f, tk_time *out, struct tk_err *err) {
  char copy[64];
  if (n == 0 || n >= sizeof copy) return err_set(err, TK_EUSAGE, "invalid time '%.*s'", (int)(n < 40 ? n : 40), text);
  memcpy(copy, text, n);
  copy[n] = 0;
  if (percent(copy, f, out) || absolute(copy, f, out, err)) return true;
  if (err->code == TK_OK && relative(copy, f, out)) return true;
  return err_set(err, TK_EUSAGE, "invalid time '%s'; expected a time such as +2s, -1s, 25%%, 1500us or "
                                 "2026-11-20T10:37:52Z", copy);
}

static bool read_sides(const char *text, const struct window_frame *f, struct window *w, struct tk_err *err) {
  const char *dots = strstr(text, "..");
  *w = (struct window){INT64_MIN, INT64_MAX};
  if (!dots) return err_set(err, TK_EUSAGE, "time range '%s': expected START..END with two dots; either end may be "
                                            "omitted", text);
  if (dots != text && !read_time(text, (size_t)(dots - text), f, &w->start, err)) return err_prefix(err, "time range");
  if (dots[2] && !read_time(dots + 2, strlen(dots + 2), f, &w->end, err)) return err_prefix(err, "time range");
  return true;
}

bool window_check(const char *text, struct tk_err *err) {
  static const struct window_frame any = {.clock = TK_CLOCK_REALTIME};
  struct window w;
  return read_sides(text, &any, &w, err);
}

static bool is_plain(const char *text, size_t n) {
  char copy[64];
  i128 ps;
  if (n == 0) return true;
  if (n >= sizeof copy || text[0] < '0' || text[0] > '9' || text[n - 1] == '%') return false;
  memcpy(copy, text, n);
  copy[n] = 0;
  return !text_parse_absolute(copy, &ps);
}

bool window_plain(const char *text, struct window *w) {
  static const struct window_frame zero = {.clock = TK_CLOCK_REALTIME};
  struct tk_err unused = {.code = TK_OK};
  const char *dots = strstr(text, "..");
  if (!dots || !is_plain(text, (size_t)(dots - text)) || !is_plain(dots + 2, strlen(dots + 2))) return false;
  if (!read_sides(text, &zero, w, &unused)) return false;
  return w->start != INT64_MAX && (!dots[2] || w->end != INT64_MAX);
}

bool window_parse(const char *text, const struct window_frame *f, struct window *w, struct tk_err *err) {
  if (!read_sides(text, f, w, err)) return false;
  if (w->start > w->end) return err_set(err, TK_EUSAGE, "time range '%s': ends before it starts", text);
  if (w->start == f->start) w->start = INT64_MIN;
  if (w->end == f->end) w->end = INT64_MAX;
  return true;
}

bool tk_parse_time_range(const struct tk_trace *t, const char *text, struct tk_range *range, struct tk_err *err) {
  struct tk_err own;
  struct window w;
  if (!err) err = &own;
  err_clear(err);
  if (!t) return window_check(text, err);
  const struct window_frame frame = window_frame(t);
  if (!window_parse(text, &frame, &w, err)) return false;
  *range = (struct tk_range){w.start, w.end};
  return true;
}

/* ---- selections of filters ---- */

static void window_meet(struct window *w, struct window with) {
  if (with.start > w->start) w->start = with.start;
  if (with.end < w->end) w->end = with.end;
}

void window_narrow(struct scope *s, struct window to) {
  window_meet(&s->window, to);
  window_meet(&s->time, to);
  s->narrowed = true;
}

static bool bad_steps(const char *text, struct tk_err *err) {
  return err_set(err, TK_EUSAGE, "steps '%s': expected N, N..M, N.. or ..M", text);
}

bool window_check_steps(const char *steps, struct tk_err *err) {
  struct tk_range range;
  return tk_parse_range(steps, &range) || bad_steps(steps, err);
}

static bool no_such_steps(const struct steps *s, struct tk_range asked, const char *text, struct tk_err *err) {
  int64_t lo = INT64_MAX, hi = INT64_MIN;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->v[i].number < lo) lo = s->v[i].number;
    if (s->v[i].number > hi) hi = s->v[i].number;
  }
  char numbers[48];
  snprintf(numbers, sizeof numbers, "%lld..%lld", (long long)asked.first, (long long)asked.last);
  return err_set(err, TK_ENOTHING, "nothing matched: steps '%s': the trace has steps %lld to %lld", text ? text : numbers,
                 (long long)lo, (long long)hi);
}

/* Narrows the scope to the given steps. `text`: the range as the user wrote it; NULL if it was given as numbers. */
static bool narrow_to_steps(struct scope *s, const struct steps *of, struct tk_range asked, const char *text, struct tk_err *err) {
  struct window w;
  if (!of->n) return err_for(err, TK_OPTION_STEP_NAME, TK_ENOTHING, "nothing matched: the trace has no steps");
  if (!steps_range(of, asked.first, asked.last, &w.start, &w.end)) return no_such_steps(of, asked, text, err);
  window_meet(&s->window, w);
  s->narrowed = s->has_steps = true;
  return true;
}

bool window_select(struct scope *s, const struct tk_trace *t, const struct steps *of, const struct tk_selection *by,
                  struct tk_err *err) {
  struct tk_range asked;
  if (by->time) {
    struct window_frame frame = window_frame(t);
    struct window w;
    if (!window_parse(by->time, &frame, &w, err)) return false;
    window_narrow(s, w);
  }
  if (by->range && by->range->first >= by->range->last)
    return err_set(err, TK_EUSAGE, "the time range ends before it starts, or is empty");
  if (by->range) window_narrow(s, (struct window){by->range->first, by->range->last});
  if (by->step_range && !narrow_to_steps(s, of, *by->step_range, NULL, err)) return false;
  if (!by->steps) return true;
  if (!tk_parse_range(by->steps, &asked)) return bad_steps(by->steps, err);
  return narrow_to_steps(s, of, asked, by->steps, err);
}

/* atrace_text.c - parses text that programs write to the kernel's trace_marker.
 *
 *     B|PID|NAME                  begin of a span of the thread; NAME may contain "|"
 *     E|PID or E                  its end
 *     I|PID|NAME                  instant of the thread
 *     C|PID|NAME|VALUE            counter of the process; Chromium appends a category, which is ignored
 *     S|PID|NAME|COOKIE, F|...    begin and end of an async span of the process
 *     G|PID|TRACK|NAME|COOKIE     the same on a track of the process; end: H|PID|TRACK|COOKIE or H|PID|TRACK|NAME|COOKIE
 *     N|PID|TRACK|NAME            instant on such a track
 *
 * Source of these forms: trace_processor's systrace_parser. PID 0 means unknown. */
#include "atrace_text.h"

#include <string.h>

#include "fields.h"

enum { PARTS = 4 };

/* The parts after the pid, which "|" separates. `rest`: all of them as one string. */
struct parts {
  struct atrace_part of[PARTS], rest;
};

static bool read_number(struct atrace_part s, int64_t *v) {
  const bool negative = s.n && *s.p == '-';
  uint64_t value = 0;
  if (s.n == negative) return false;
  for (size_t i = negative; i < s.n; i++) {
    const unsigned digit = s.p[i] - (unsigned)'0';
    if (digit > 9 || value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (value > (uint64_t)INT64_MAX + negative) return false;
  *v = negative ? (int64_t)(0 - value) : (int64_t)value;
  return true;
}

/* Splits the text into parts; missing parts are empty. */
static void split(struct parts *parts, const uint8_t *p, const uint8_t *end) {
  parts->rest = (struct atrace_part){p, (size_t)(end - p)};
  for (unsigned i = 0; i < PARTS && p <= end; i++) {
    const uint8_t *bar = p < end ? memchr(p, '|', (size_t)(end - p)) : NULL;
    if (!bar) bar = end;
    parts->of[i] = (struct atrace_part){p, (size_t)(bar - p)};
    p = bar + 1;
  }
}

static bool take_parts(struct atrace_text *e, const struct parts *s) {
  const struct atrace_part *part = s->of;
  const bool on_track = strchr("GHN", e->phase) != NULL;
  e->name = e->phase == 'B' ? s->rest : part[on_track];
  if (on_track) e->track = part[0];
  if (e->phase != 'B' && e->phase != 'E' && part[0].n == 0) return false;
  switch (e->phase) {
  case 'B':
  case 'E':
  case 'I': return true;
  case 'C':
  case 'S':
  case 'F': return read_number(part[1], &e->value);
  case 'G': return e->name.n && read_number(part[2], &e->value);
  case 'H':
    if (part[2].n == 0) e->name.n = 0;
    return read_number(part[part[2].n ? 2 : 1], &e->value);
  case 'N': return e->name.n != 0;
  default: return false;
  }
}

bool atrace_text(struct atrace_text *e, const uint8_t *p, size_t n) {
  struct parts parts = {.rest = {.n = 0}};
  while (n && (p[n - 1] == '\n' || p[n - 1] == 0)) n--;
  if (n == 0 || (n > 1 && p[1] != '|')) return false;
  *e = (struct atrace_text){.phase = (char)p[0], .pid = ATRACE_NO_PID};
  if (n < 2) return e->phase == 'E';
  const uint8_t *from = p + 2, *end = p + n, *bar = memchr(from, '|', n - 2);
  const bool has_pid = read_number((struct atrace_part){from, (size_t)((bar ? bar : end) - from)}, &e->pid);
  if (has_pid && (e->pid < 0 || e->pid > UINT32_MAX)) return false;
  if (!has_pid || e->pid == 0) e->pid = ATRACE_NO_PID;
  if (!has_pid && e->phase != 'E') return false;
  if (bar) split(&parts, bar + 1, end);
  return take_parts(e, &parts);
}

/* ---- events of display drivers ---- */

/* Field numbers of a driver's event: its phase as a letter, the value of a counter, and whether the event is a begin event; 0 =
 * none. */
static const struct mark_row {
  uint32_t event, phase, value, begin;
} MARKS[] = {{FTRACE_MARK, 0, 0, 3}, {FTRACE_MARK_SDE, 3, 4, 5}, {FTRACE_MARK_DPU, 5, 6, 3}}; /* mdss.proto, sde.proto, dpu.proto */

static const struct mark_row *row_of(uint32_t number) {
  for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
    if (MARKS[i].event == number) return &MARKS[i];
  return NULL;
}

bool atrace_is_mark(uint32_t number) { return row_of(number) != NULL; }

static int64_t mark_number(const struct pb_field *message, uint32_t number) {
  return number ? (int64_t)pb_find(message, number).value : 0;
}

bool atrace_mark(struct atrace_text *e, const struct pb_field *content) {
  const struct mark_row *row = row_of(content->number);
  if (!row) return false;
  const struct pb_field name = pb_find(content, MARK_NAME);
  const int64_t phase = mark_number(content, row->phase), pid = mark_number(content, MARK_PID);
  *e = (struct atrace_text){.phase = (char)(phase ? phase : mark_number(content, row->begin) ? 'B' : 'E'),
                            .pid = pid > 0 ? pid : ATRACE_NO_PID,
                            .value = mark_number(content, row->value),
                            .name = {name.p, (size_t)name.value}};
  const bool known = phase == 0 || phase == 'B' || phase == 'E' || phase == 'C' || phase == 'I';
  return known && name.wire == PB_BYTES;
}

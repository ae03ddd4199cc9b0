/* spans.c - the smallest complete reader of a format; copy it to begin one.
 *
 * The format is text, one span a line, with tabs between thread, start and duration in microseconds, and name:
 *
 *     #spans 1
 *     main	10.5	3	load
 *     main	11	2	parse
 *
 * It becomes a format of tracekit as a folder lib/format/spans/ with this file and one line in the table of
 * lib/format/format.c; detection, help, completion, conversion and every analysis then work. tests/property/example_format.sh
 * does exactly that.
 *
 * The contract of a reader:
 *
 *   - It gets an open input, decompressed, and an empty trace. It only adds: processes and tracks, classes (name and category),
 *     events in the order of the file. It neither sorts nor nests events: sealing does that after the reader returns.
 *   - Times are integers in picoseconds. Convert decimals with num_scaled, never through a double.
 *   - The input is hostile. in_ahead gives a window; never assume more than *avail bytes of it. What cannot be used is skipped
 *     with a note that says how often and where (trace_note counts), so that nothing is lost silently. `strict` refuses.
 *   - Out of memory is no special case: adding then does nothing, and the loader checks the trace's memory at the end.
 *   - Return false only with `err` set: a read error, or a file that is useless. Keep what came before a damaged part. */
#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "format/format.h"

static const char HEAD[] = "#spans 1\n";
enum { HEAD_LENGTH = sizeof HEAD - 1, LINE_MOST = 1 << 16, US_TO_PS = 6, FIELDS = 4 };

/* Returns bits of verified structure: a longer match outbids formats that would also accept the file. */
static unsigned spans_bid(const uint8_t *p, size_t n) {
  return n >= HEAD_LENGTH && memcmp(p, HEAD, HEAD_LENGTH) == 0 ? 8 * HEAD_LENGTH : 0;
}

struct spans {
  struct tk_trace *t;
  const struct tk_load_options *opt;
};

struct cell {
  const uint8_t *p, *end;
};

/* Splits a line at its first three tabs. */
static bool split(const uint8_t *p, const uint8_t *end, struct cell cells[FIELDS]) {
  for (int i = 0; i < FIELDS; i++) {
    const uint8_t *tab = i + 1 < FIELDS ? memchr(p, '\t', (size_t)(end - p)) : end;
    if (!tab) return false;
    cells[i] = (struct cell){p, tab};
    p = tab + (tab < end);
  }
  return true;
}

static bool time_of(struct cell c, tk_time *ps) {
  i128 v;
  if (!num_scaled(c.p, c.end, US_TO_PS, &v) || v > INT64_MAX / 2 || v < INT64_MIN / 2) return false;
  *ps = (tk_time)v;
  return true;
}

static tk_id string_of(struct tk_trace *t, struct cell c) { return trace_string(t, c.p, (size_t)(c.end - c.p)); }

/* Adds the span of a line. Returns false if the line is not a valid span. */
static bool add_line(struct spans *s, const uint8_t *p, const uint8_t *end) {
  struct cell cells[FIELDS];
  tk_time start, dur;
  if (!split(p, end, cells) || !time_of(cells[1], &start) || !time_of(cells[2], &dur) || dur < 0) return false;
  const tk_id thread = string_of(s->t, cells[0]);
  struct tk_event event = {.ts = start, .dur = dur, .kind = TK_EVENT_SPAN};
  event.track = trace_track(s->t, TK_TRACK_THREAD, ident_int(1), ident_str(thread), thread);
  event.cls = trace_class(s->t, string_of(s->t, cells[3]), 0);
  *trace_add_event(s->t) = event;
  return true;
}

static bool take_line(struct spans *s, const uint8_t *p, const uint8_t *end, uint64_t offset, struct tk_err *err) {
  if (p == end || add_line(s, p, end)) return true;
  if (s->opt->strict) return err_set(err, TK_EFORMAT, "invalid line at byte %llu", (unsigned long long)offset);
  trace_note(s->t, TK_NOTE_REPAIR, offset, "invalid line: skipped");
  return true;
}

static bool spans_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct spans s = {t, opt};
  size_t avail;
  in_ahead(in, HEAD_LENGTH, &avail, err);
  in_consume(in, HEAD_LENGTH); /* the bid has seen it */
  for (;;) {
    const uint8_t *p = in_ahead(in, LINE_MOST, &avail, err);
    if (!p) return false;
    if (!avail) return true;
    const uint8_t *end = memchr(p, '\n', avail);
    const size_t n = end ? (size_t)(end - p) : avail;
    if (!take_line(&s, p, p + n, in_offset(in), err)) return false;
    in_consume(in, n + (end != NULL));
  }
}

static const char *const ENDINGS[] = {".spans", NULL};

const struct format format_spans = {
    .info = {.name = "spans", .title = "example of spans", .ending = ".spans", .endings = ENDINGS, .resolution = 1, .can_read = true},
    .bid = spans_bid,
    .read = spans_read,
};

/* read.c - reads folded stacks, the input of flame graphs (FlameGraph's stackcollapse programs, py-spy, async-profiler):
 *
 *     main;load;parse (data.py:12) 41
 *
 * A line is a stack, outermost frame first, and a weight. Weights have no unit in the file; the graph gives them the
 * unit `samples`. Each line becomes one stack sample with that weight. The format has no times. If a frame ends with a file and a
 * line in parentheses, as py-spy writes it, both are stored in the frame. */
#include "read.h"

#include <string.h>

#include "graph/stack.h"

enum { LINE_MOST = 1 << 24 };

/* The parts of a line: the frames [p, weight - 1), then the weight up to `end`. There may be no frames: py-spy writes such lines for
 * threads without a stack. */
struct line {
  const uint8_t *p, *weight, *end;
  bool stackless;
};

static const uint8_t *trimmed(const uint8_t *p, const uint8_t *end) {
  while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  return end;
}

static bool split_line(const uint8_t *p, const uint8_t *end, struct line *line) {
  end = trimmed(p, end);
  const uint8_t *weight = end;
  while (weight > p && weight[-1] != ' ' && weight[-1] != '\t') weight--;
  *line = (struct line){p, weight, end, trimmed(p, weight) == p};
  if (weight == p || weight == end) return false;
  for (const uint8_t *q = weight; q < end; q++)
    if (!(*q >= '0' && *q <= '9') && !strchr(".eE+-", *q)) return false;
  return *weight >= '0' && *weight <= '9';
}

/* True if the line begins like JSON or XML. False for frames such as "<module> (a.py:1)" and "[unknown]". */
static bool is_other_text(const uint8_t *p, const uint8_t *end) {
  if (*p == '{') return true;
  if (*p != '<' && *p != '[') return false;
  const uint8_t *close = memchr(p, *p == '<' ? '>' : ']', (size_t)(end - p));
  return !close || close + 1 == end || (close[1] != ';' && close[1] != ' ');
}

/* True for a blank line or a comment, as flamegraph.pl and speedscope skip them. */
static bool is_comment(const uint8_t *p, const uint8_t *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
  return p == end || *p == '#' || (end - p > 1 && p[0] == '/' && p[1] == '/');
}

/* Returns a score if every complete line has a weight and at least one line has several frames; otherwise 0. */
unsigned folded_bid(const uint8_t *p, size_t n) {
  unsigned lines = 0, deep = 0;
  struct line line;
  for (const uint8_t *end = p + n, *stop; p < end; p = stop + 1) {
    stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop && (lines || n >= FORMAT_PEEK)) break; /* the line may be cut */
    if (!stop) stop = end;
    if (is_comment(p, stop)) continue;
    if (is_other_text(p, stop) || memchr(p, 0, (size_t)(stop - p)) || !split_line(p, stop, &line)) return 0;
    deep += memchr(line.p, ';', (size_t)(line.weight - line.p)) != NULL;
    lines++;
  }
  return deep ? 8 + (lines < 16 ? lines : 16) : 0;
}

/* Splits "parse (data.py:12)" into name, file and line. */
static void split_place(struct tk_trace *t, const uint8_t *p, const uint8_t *end, struct tk_frame *f) {
  const uint8_t *colon = end - 1, *open;
  uint64_t line = 0;
  if (end - p < 6 || *colon != ')') return;
  while (colon > p && colon[-1] >= '0' && colon[-1] <= '9') colon--;
  for (const uint8_t *q = colon; q < end - 1; q++) line = line < UINT32_MAX ? line * 10 + (uint64_t)(*q - '0') : line;
  if (colon == end - 1 || colon <= p || colon[-1] != ':' || line > UINT32_MAX) return;
  for (open = colon - 1; open > p && !(open[0] == '(' && open[-1] == ' ');) open--;
  if (open - p < 2 || open + 1 >= colon - 1) return;
  f->name = trace_string(t, p, (size_t)(open - 1 - p));
  f->file = trace_string(t, open + 1, (size_t)(colon - 1 - (open + 1)));
  f->line = (uint32_t)line;
}

static tk_id stack_of(struct tk_trace *t, const uint8_t *p, const uint8_t *end) {
  tk_id stack = 0;
  for (const uint8_t *stop; p <= end; p = stop + 1) {
    stop = p < end ? memchr(p, ';', (size_t)(end - p)) : NULL;
    if (!stop) stop = end;
    struct tk_frame f = {.name = trace_string(t, p, (size_t)(stop - p))};
    split_place(t, p, stop, &f);
    stack = stack_push(t, stack, stack_frame(t, &f));
    if (stop == end) break;
  }
  return stack;
}

/* Adds the sample of a line, if it has a stack. Returns false if the line is not in this format. */
static bool add_line(struct tk_trace *t, struct tk_sample *s, uint64_t *stackless, const uint8_t *p, const uint8_t *end) {
  struct line line;
  char number[64];
  if (!split_line(p, end, &line) || line.end - line.weight >= (ptrdiff_t)sizeof number) return false;
  memcpy(number, line.weight, (size_t)(line.end - line.weight));
  number[line.end - line.weight] = 0;
  const uint8_t *stop;
  const struct num v = num_scan((const uint8_t *)number, &stop);
  if (*stop || (v.kind != NUM_INT && v.kind != NUM_DEC)) return false;
  *stackless += line.stackless;
  if (line.stackless) return true;
  s->weight = v.mant;
  s->exp = v.kind == NUM_DEC ? v.exp : 0;
  s->stack = stack_of(t, line.p, trimmed(line.p, line.weight));
  stack_add(t, s);
  return true;
}

bool folded_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_sample s = {.unit = trace_text(t, "samples"), .track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0)};
  uint64_t stackless = 0;
  (void)opt;
  trace_note(t, TK_NOTE_INFO, UINT64_MAX, "folded stacks have no times: all samples are at time 0");
  for (size_t avail, want = 1 << 16;;) {
    const uint8_t *p = in_ahead(in, want, &avail, err);
    if (!p) return false;
    if (!avail) break;
    const uint8_t *end = memchr(p, '\n', avail);
    if (!end && avail >= want && want < LINE_MOST) {
      want *= 2;
      continue;
    }
    const size_t n = end ? (size_t)(end - p) : avail;
    if (!is_comment(p, p + n)) {
      t->counts.read++;
      if (!add_line(t, &s, &stackless, p, p + n)) {
        trace_note(t, TK_NOTE_REPAIR, in_offset(in), "line without a stack and a weight: dropped");
        t->counts.dropped++;
      }
    }
    in_consume(in, n + (end != NULL));
    want = 1 << 16;
  }
  if (stackless) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples without a stack: left out", stackless);
  t->counts.bytes = in_offset(in);
  return mem_check(&t->store->mem, err);
}

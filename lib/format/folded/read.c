/* read.c - reads folded stacks, the input of flame graphs (FlameGraph's stackcollapse programs, py-spy, async-profiler):
 *
 *     main;load;parse (data.py:12) 41
 *
 * A line is a stack, outermost frame first, and a weight. Weights have no unit in the file; the graph gives them the
 * unit `samples`. Each line becomes one stack sample with that weight. The format has no times. If a frame ends with a file and a
 * line in parentheses, as py-spy writes it, both are stored in the frame.
 *
 *     main;load;parse 38 41                 difffolded.pl of FlameGraph: the counts before and after; each line has both
 *     P7;T7;main.py:main:12 300,0,-1024     austin -f: microseconds, whether the thread was idle, change of memory in bytes */
#include "read.h"

#include <string.h>

#include "graph/args.h"
#include "graph/stack.h"

enum { LINE_MOST = 1 << 24 };

/* The parts of a line: the frames [p, weight - 1), then the weight up to `end`. There may be no frames: py-spy writes such lines for
 * threads without a stack, and early versions of async-profiler wrote only the weight. */
struct line {
  const uint8_t *p, *weight, *end;
  bool stackless;
};

static const uint8_t *trimmed(const uint8_t *p, const uint8_t *end) {
  while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
  return end;
}

/* Reads a number that fills the text. */
static bool scan(const uint8_t *p, const uint8_t *end, struct num *v) {
  char number[64];
  const uint8_t *stop;
  if (end - p >= (ptrdiff_t)sizeof number) return false;
  memcpy(number, p, (size_t)(end - p));
  number[end - p] = 0;
  *v = num_scan((const uint8_t *)number, &stop);
  return !*stop && (v->kind == NUM_INT || v->kind == NUM_DEC);
}

enum austin { AUSTIN_TIME, AUSTIN_IDLE, AUSTIN_MEMORY, AUSTIN_PARTS };

/* Reads the weight of austin -f, such as "300,0,-1024". */
static bool scan_austin(const uint8_t *p, const uint8_t *end, struct num parts[AUSTIN_PARTS]) {
  for (int i = 0; i < AUSTIN_PARTS; i++) {
    const uint8_t *stop = i + 1 < AUSTIN_PARTS ? memchr(p, ',', (size_t)(end - p)) : end;
    if (!stop || !scan(p, stop, &parts[i]) || parts[i].kind != NUM_INT) return false;
    p = stop + 1;
  }
  return parts[AUSTIN_TIME].mant >= 0 && (parts[AUSTIN_IDLE].mant == 0 || parts[AUSTIN_IDLE].mant == 1);
}

static bool split_line(const uint8_t *p, const uint8_t *end, struct line *line) {
  struct num parts[AUSTIN_PARTS];
  end = trimmed(p, end);
  const uint8_t *weight = end;
  while (weight > p && weight[-1] != ' ' && weight[-1] != '\t') weight--;
  *line = (struct line){p, weight, end, trimmed(p, weight) == p};
  if (weight == end) return false;
  if (memchr(weight, ',', (size_t)(end - weight))) return scan_austin(weight, end, parts);
  for (const uint8_t *q = weight; q < end; q++)
    if (!(*q >= '0' && *q <= '9') && !strchr(".eE+-", *q)) return false;
  weight += *weight == '-'; /* the difference of two profiles */
  return weight < end && *weight >= '0' && *weight <= '9';
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

struct folded {
  struct tk_trace *t;
  struct tk_sample sample;
  bool is_difference; /* each line has two counts */
  bool has_austin;    /* a line has the weight of austin -f */
  uint64_t stackless;
};

/* True if each complete line of the text has two counts. Otherwise the first one is the end of a frame. */
static bool is_difference(const uint8_t *p, size_t n) {
  struct line line, before;
  unsigned lines = 0;
  for (const uint8_t *end = p + n, *stop; p < end; p = stop + 1) {
    stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop && lines) break; /* the line may be cut */
    if (!stop) stop = end;
    if (is_comment(p, stop)) continue;
    if (!split_line(p, stop, &line) || !split_line(line.p, line.weight, &before)) return false;
    lines++;
  }
  return lines > 0;
}

static void add_arg(struct tk_trace *t, const char *key, const struct num *v) {
  if (v->kind == NUM_DEC) args_decimal(t, trace_text(t, key), v->mant, v->exp);
  else args_int(t, trace_text(t, key), v->mant);
}

/* Adds the sample of a line of austin -f. */
static bool add_austin(struct folded *f, const struct num parts[AUSTIN_PARTS]) {
  struct tk_sample s = f->sample;
  f->has_austin = true;
  s.unit = trace_text(f->t, "us");
  args_begin(f->t);
  args_flag(f->t, trace_text(f->t, "idle"), parts[AUSTIN_IDLE].mant ? TK_ARG_TRUE : TK_ARG_FALSE);
  add_arg(f->t, "memory_bytes", &parts[AUSTIN_MEMORY]);
  stack_add_with(f->t, &s, stack_weight_args(f->t, parts[AUSTIN_TIME].mant, 0, true));
  return true;
}

/* Adds the sample of a line with the weight `v` and the count before, if it is known. */
static bool add_weight(struct folded *f, const struct num *v, const struct num *before) {
  f->sample.weight = v->mant;
  f->sample.exp = v->kind == NUM_DEC ? v->exp : 0;
  if (!before) {
    stack_add(f->t, &f->sample);
    return true;
  }
  args_begin(f->t);
  add_arg(f->t, "before", before);
  stack_add_with(f->t, &f->sample, stack_weight_args(f->t, f->sample.weight, f->sample.exp, true));
  return true;
}

/* Adds the sample of a line, if it has a stack. Returns false if the line is not in this format. */
static bool add_line(struct folded *f, const uint8_t *p, const uint8_t *end) {
  struct line line, outer;
  struct num v = {0}, before, parts[AUSTIN_PARTS];
  if (!split_line(p, end, &line)) return false;
  const bool is_austin = scan_austin(line.weight, line.end, parts);
  if (!is_austin && !scan(line.weight, line.end, &v)) return false;
  const bool has_before = f->is_difference && split_line(line.p, line.weight, &outer) && scan(outer.weight, outer.end, &before);
  if (has_before) line = outer;
  f->stackless += line.stackless;
  if (line.stackless) return true;
  f->sample.stack = stack_of(f->t, line.p, trimmed(line.p, line.weight));
  return is_austin ? add_austin(f, parts) : add_weight(f, &v, has_before ? &before : NULL);
}

/* Begins the trace. Finds out from the first lines how many counts a line has. */
static bool begin_folded(struct folded *f, struct in *in, struct tk_err *err) {
  static const char DIFFERENCE[] = "two counts in each line (difffolded.pl): the second one is the weight, the first one is arg before";
  size_t avail;
  const uint8_t *p = in_ahead(in, FORMAT_PEEK, &avail, err);
  if (!p) return false;
  f->is_difference = is_difference(p, avail);
  trace_note(f->t, TK_NOTE_INFO, UINT64_MAX, "folded stacks have no times: all samples are at time 0");
  if (f->is_difference) trace_note(f->t, TK_NOTE_FACT, UINT64_MAX, DIFFERENCE);
  return true;
}

bool folded_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct folded f = {.t = t};
  f.sample.unit = trace_text(t, "samples");
  f.sample.track = trace_track(t, TK_TRACK_THREAD, ident_int(1), ident_int(1), 0);
  (void)opt;
  if (!begin_folded(&f, in, err)) return false;
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
      if (!add_line(&f, p, p + n)) {
        trace_note(t, TK_NOTE_REPAIR, in_offset(in), "line without a stack and a weight: dropped");
        t->counts.dropped++;
      }
    }
    in_consume(in, n + (end != NULL));
    want = 1 << 16;
  }
  if (f.has_austin)
    trace_note(t, TK_NOTE_FACT, UINT64_MAX, "weights of Austin's full mode: the time counts, the change of memory is an arg");
  if (f.stackless) trace_notes(t, TK_NOTE_FACT, UINT64_MAX, "samples without a stack: left out", f.stackless);
  t->counts.bytes = in_offset(in);
  return mem_check(&t->store->mem, err);
}

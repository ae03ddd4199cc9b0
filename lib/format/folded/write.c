/* write.c - writes folded stacks: a line for each stack sample, or for each span if the trace has no samples.
 *
 * Programs that draw flame graphs add up lines with equal stacks, so samples need not be added up here, and reading the file again
 * gives the same samples. A line has one weight without a unit, so only samples of one type are written: those with the category and
 * the unit of the first sample. A span becomes a line with the spans around it as a stack and its self time in nanoseconds as
 * the weight. As in stackcollapse-perf.pl of FlameGraph, the outermost frame is the name of the thread, or else of the process, and
 * a semicolon in a name becomes a colon. */
#include "write.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "graph/args.h"
#include "graph/stack.h"

/* An open span. */
struct folded_open {
  tk_id event;
  tk_time end, self;
};

struct folded_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  struct buf line;
  struct buf type;  /* type of the first sample: category, NUL, unit; empty = no sample was written */
  struct buf other; /* type of the current sample */
  tk_id *path;      /* stack of the current sample, innermost frame first */
  struct folded_open *open; /* the open spans of the current track, by depth */
  uint32_t cap_path, cap_open;
  bool changed;     /* the current line lacks something of its sample */
};

/* Appends a frame to the line, without the characters that separate frames and lines. A line must not begin like a comment. */
static void put_words(struct folded_sink *s, const char *text, size_t n) {
  const size_t at = s->line.len;
  if (at) buf_text(&s->line, ";");
  const size_t from = s->line.len;
  if (!buf_append(&s->line, n ? text : "[unknown]", n ? n : 9)) return;
  for (uint8_t *p = s->line.data + from; p < s->line.data + s->line.len; p++) {
    const bool is_comment = !at && p == s->line.data && (*p == '#' || *p == '/' || *p == ' ');
    if (*p != ';' && *p >= ' ' && !is_comment) continue;
    *p = *p == ';' ? ':' : is_comment ? '_' : ' ';
    s->changed = true;
  }
}

static void put_frame(struct folded_sink *s, const struct tk_trace *t, tk_id name) {
  size_t n;
  const char *text = tk_string(t, name, &n);
  put_words(s, text, n);
}

/* Appends the file and the line of a frame, as py-spy writes them. */
static void put_place(struct folded_sink *s, const struct tk_trace *t, const struct tk_frame *f) {
  char number[24];
  size_t n;
  const char *file = tk_string(t, f->file, &n);
  s->changed = s->changed || f->module || f->column || (n > 0) != (f->line > 0);
  if (!n || !f->line) return;
  if (memchr(file, ';', n) || memchr(file, '\n', n) || memchr(file, '\r', n)) {
    s->changed = true;
    return;
  }
  buf_text(&s->line, " (");
  buf_append(&s->line, file, n);
  buf_text(&s->line, ":");
  buf_append(&s->line, number, num_put_u64(number, f->line));
  buf_text(&s->line, ")");
}

/* Begins a line with the name of the track, if it has one. */
static void begin_line(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  const tk_id name = k->name ? k->name : k->parent ? t->tracks[k->parent].name : 0;
  s->line.len = 0;
  s->changed = false;
  if (name && *tk_string(t, name, NULL)) put_frame(s, t, name);
}

static void end_line(struct folded_sink *s, const char *weight, size_t n) {
  buf_text(&s->line, " ");
  buf_append(&s->line, weight, n);
  buf_text(&s->line, "\n");
  out_write(s->out, s->line.data, s->line.len);
  if (s->changed) sink_lose(&s->sink, TK_LOSS_SAMPLE_PARTS, 1);
  s->sink.saved.events++;
  s->sink.saved.records++;
}

/* ---- samples ---- */

/* True if the sample has the type of the first sample. */
static bool is_of_type(struct folded_sink *s, const struct tk_trace *t, const struct tk_class *c) {
  struct buf *type = s->type.len ? &s->other : &s->type;
  size_t n;
  const char *cat = tk_string(t, c->cat, &n);
  type->len = 0;
  buf_append(type, cat, n + 1);
  const char *unit = tk_string(t, c->unit, &n);
  buf_append(type, unit, n + 1);
  return type == &s->type || (s->other.len == s->type.len && memcmp(s->other.data, s->type.data, s->type.len) == 0);
}

static bool put_stack(struct folded_sink *s, const struct tk_trace *t, tk_id stack) {
  uint32_t n = 0;
  for (tk_id i = stack; i; i = t->stacks[i].parent) {
    if (!mem_grow(&s->mem, (void **)&s->path, &s->cap_path, (uint64_t)n + 1, sizeof *s->path)) return false;
    s->path[n++] = t->stacks[i].frame;
  }
  for (; n; n--) {
    const struct tk_frame *f = &t->frames[s->path[n - 1]];
    put_frame(s, t, f->name);
    put_place(s, t, f);
  }
  return true;
}

/* Prints a weight in the plain notation that flamegraph.pl reads, with at most six decimals. Returns its length. */
static size_t put_weight(struct folded_sink *s, char weight[96], int64_t number, int32_t exp) {
  i128 millionths;
  if (exp < -6) s->changed = true;
  if (exp > 24 || !num_scale(number, exp + 6, &millionths)) return num_put_decimal(weight, number, exp);
  return num_put_us(weight, millionths);
}

/* Writes a sample. A negative weight, as in the difference of two profiles, cannot be drawn. */
static bool put_sample(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k, const struct tk_event *e) {
  const struct tk_class *c = &t->classes[e->cls];
  char weight[96];
  int32_t exp;
  const int64_t number = tk_sample_weight(t, e, &exp);
  if (number < 0 || !is_of_type(s, t, c)) {
    sink_lose(&s->sink, TK_LOSS_SAMPLES, 1);
    return true;
  }
  begin_line(s, t, k);
  s->changed = e->ts != 0 || strcmp(tk_string(t, c->unit, NULL), "samples") != 0 || s->changed;
  if (!put_stack(s, t, c->stack)) return false;
  if (!s->line.len) put_frame(s, t, 0);
  end_line(s, weight, put_weight(s, weight, number, exp));
  return true;
}

/* ---- spans ---- */

/* Begins the line of a span. A thread without a name gets a frame, too, because lines with a single frame are not recognised as folded
 * stacks. */
static void begin_span(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  const bool is_number = k->tid.kind == TK_IDENT_INT || k->tid.kind == TK_IDENT_QUOTED;
  char text[32];
  begin_line(s, t, k);
  if (s->line.len) return;
  if (k->tid.kind == TK_IDENT_STR) {
    put_frame(s, t, k->tid.str);
    return;
  }
  if (is_number) snprintf(text, sizeof text, "thread %lld", (long long)k->tid.num);
  put_words(s, is_number ? text : "thread", is_number ? strlen(text) : strlen("thread"));
}

static void put_span(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k, const struct folded_open *open,
                     uint32_t n) {
  char weight[24];
  begin_span(s, t, k);
  for (uint32_t i = 0; i < n; i++) put_frame(s, t, t->classes[t->events[open[i].event].cls].name);
  s->changed = true; /* a line has neither a start nor a duration */
  end_line(s, weight, num_put_i64(weight, open[n - 1].self > 0 ? (open[n - 1].self + 500) / 1000 : 0));
}

static void open_span(struct folded_open *open, uint32_t n, const struct tk_event *e, tk_id event) {
  const tk_time dur = e->flags & TK_FLAG_UNFINISHED ? 0 : e->dur;
  if (n) {
    const tk_time end = open[n - 1].end < e->ts + dur ? open[n - 1].end : e->ts + dur;
    open[n - 1].self -= end > e->ts ? end - e->ts : 0;
  }
  open[n] = (struct folded_open){event, e->ts + dur, dur};
}

static bool put_spans(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  uint32_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN) continue;
    const uint32_t depth = k->kind == TK_TRACK_THREAD && !(e->flags & TK_FLAG_LOST_CLOCK) ? e->depth : 0;
    for (; n > depth; n--) put_span(s, t, k, s->open, n);
    if (!mem_grow(&s->mem, (void **)&s->open, &s->cap_open, (uint64_t)n + 1, sizeof *s->open)) return false;
    open_span(s->open, n++, e, i);
  }
  for (; n; n--) put_span(s, t, k, s->open, n);
  return !s->mem.failed;
}

/* ---- the sink ---- */

static bool folded_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  (void)sink;
  (void)first;
  (void)err;
  return true;
}

static bool write_track(struct folded_sink *s, const struct tk_trace *t, const struct tk_track *k, bool samples) {
  if (!samples) return put_spans(s, t, k);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_SPAN) sink_lose(&s->sink, TK_LOSS_SPANS, 1);
    if (e->kind == TK_EVENT_SAMPLE && !put_sample(s, t, k, e)) return false;
  }
  return !s->mem.failed;
}

static bool folded_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct folded_sink *s = (struct folded_sink *)sink;
  struct tk_progress *p = &s->opt.progress;
  uint64_t done = 0;
  if (!stack_fits_lists(t, true, err)) return false;
  sink_limit(&s->mem, t);
  const bool samples = s->type.len || stack_has_samples(t);
  if (!samples && !stack_fits_spans(t, err)) return false;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (!write_track(s, t, &t->tracks[i], samples)) return mem_refuse(&s->mem, err);
    done += t->tracks[i].count;
    if (p->tick && !p->tick(p->arg, done, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
  }
  return mem_check(&s->mem, err);
}

static bool folded_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct folded_sink *s = (struct folded_sink *)sink;
  (void)first;
  (void)provenance;
  if (!s->sink.saved.records) out_write(s->out, "# no samples\n", 13);
  return mem_check(&s->mem, err);
}

static void folded_free(struct sink *sink) {
  struct folded_sink *s = (struct folded_sink *)sink;
  struct mem mem;
  buf_free(&s->line);
  buf_free(&s->type);
  buf_free(&s->other);
  mem_free(&s->mem, s->path);
  mem_free(&s->mem, s->open);
  mem = s->mem;
  mem_free(&mem, s);
}

struct sink *folded_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct folded_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct folded_sink){.out = out, .opt = *opt, .mem = mem};
  s->line.mem = s->type.mem = s->other.mem = &s->mem;
  s->sink.open = folded_open;
  s->sink.write = folded_write;
  s->sink.close = folded_close;
  s->sink.free = folded_free;
  return &s->sink;
}

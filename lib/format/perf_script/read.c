/* read.c - reads the text of `perf script` of Linux.
 *
 *     python 13016/13017 [002]  2591.134379:    5000000 cpu-clock:u:
 *         ffffffff82203249 _raw_spin_unlock_irqrestore+0x19 ([kernel.kallsyms])
 *                   1ffb45 main+0x15 (/usr/bin/python)
 *
 * The first line of a sample has the command, the thread (and, before a slash, the process), the CPU, the time in seconds, the
 * period and the event, in this order (process_event of perf). Which of these `perf script` prints depends on its option -F: a line
 * needs a thread or a time, and a time or an event; the others may be missing.
 * report_sample.py of simpleperf writes the same line with tabs. The option also decides whether frames have a module, and whether a
 * line with the place in the source, such as "  main.c:12", follows each frame (sample__fprintf_callchain of perf).
 * The stack follows, innermost frame first, up to an empty line; without call chains, the only frame follows on the same line. The
 * weight is the period: nanoseconds for cpu-clock and task-clock, otherwise counts of the event, such as cycles. The clock is perf's
 * (usually sched_clock), so the wall-clock time is unknown. */
#include "read.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "format/json.h"
#include "graph/args.h"
#include "graph/stack.h"

enum { LINE_MOST = 1 << 20, FRAMES_MOST = 1 << 12, PS_PER_S = 12 };

struct perf_line {
  const uint8_t *p, *end;
};

/* The parts of the first line of a sample. */
struct head {
  struct perf_line comm, event, rest;
  int64_t pid, tid, cpu, period; /* -1 = not stated */
  bool has_time;                 /* otherwise `ps` is 0 */
  i128 ps;                       /* time on perf's clock, which counts from the start of the host */
};

/* ---- the first line ---- */

static bool is_blank(uint8_t c) { return c == ' ' || c == '\t'; }

static void skip_blanks(struct perf_line *l) {
  while (l->p < l->end && is_blank(*l->p)) l->p++;
}

static bool digits(struct perf_line *l, int64_t *number) {
  const uint8_t *from = l->p;
  int64_t v = 0;
  for (; l->p < l->end && *l->p >= '0' && *l->p <= '9'; l->p++) {
    if (v > INT64_MAX / 10 - 1) return false;
    v = v * 10 + (*l->p - '0');
  }
  *number = v;
  return l->p > from;
}

static bool take_char(struct perf_line *l, char c) {
  if (l->p >= l->end || *l->p != (uint8_t)c) return false;
  l->p++;
  return true;
}

/* Reads "12.345678:" in seconds, if there is such a time. Returns false if it is too late for 64 bits of nanoseconds. */
static bool read_time(struct perf_line *l, struct head *h) {
  struct perf_line time = *l;
  int64_t number;
  h->has_time = digits(&time, &number) && take_char(&time, '.') && digits(&time, &number) && time.p < time.end && *time.p == ':';
  if (!h->has_time) return true;
  if (!num_scaled(l->p, time.p, PS_PER_S, &h->ps) || h->ps / 1000 > INT64_MAX / 2) return false;
  l->p = time.p + 1;
  return true;
}

/* Reads "123/124 ", if there is such a thread. */
static void read_thread(struct perf_line *l, struct head *h) {
  struct perf_line ids = *l;
  int64_t pid = -1, tid;
  h->pid = h->tid = -1;
  if (!digits(&ids, &tid)) return;
  if (take_char(&ids, '/')) {
    pid = tid;
    if (!digits(&ids, &tid)) return;
  }
  if (ids.p >= ids.end || !is_blank(*ids.p)) return;
  h->pid = pid;
  h->tid = tid;
  *l = ids;
}

/* Reads "123/124 [000] 12.345678: " at a position after the command. There must be a thread or a time. */
static bool read_ids(struct perf_line *l, struct head *h) {
  h->cpu = -1;
  read_thread(l, h);
  skip_blanks(l);
  if (take_char(l, '[') && (!digits(l, &h->cpu) || !take_char(l, ']'))) return false;
  skip_blanks(l);
  return read_time(l, h) && (h->tid >= 0 || h->has_time);
}

/* True for a line such as "ffffffff82203249 name+0x19". Moves *l past the address. */
static bool take_hex(struct perf_line *l) {
  while (l->end > l->p && (l->end[-1] == '\r' || l->end[-1] == ' ')) l->end--;
  skip_blanks(l);
  const uint8_t *address = l->p;
  while (l->p < l->end && strchr("0123456789abcdef", *l->p) && *l->p) l->p++;
  return l->p > address && l->p < l->end && is_blank(*l->p);
}

/* True for a line such as "ffffffff82203249 name+0x19 (module)". Moves *l past the address. */
static bool take_address(struct perf_line *l) { return take_hex(l) && l->end[-1] == ')'; }

/* Reads the name of the event, "cpu-clock:u:". Returns false if there is none. */
static bool read_name(struct perf_line *l, struct head *h) {
  struct perf_line name = *l;
  while (name.p < name.end && !is_blank(*name.p)) name.p++;
  if (name.p - l->p < 2 || name.p[-1] != ':') return false;
  h->event = (struct perf_line){l->p, name.p - 1};
  *l = name;
  return true;
}

static void read_period(struct perf_line *l, struct head *h) {
  struct perf_line period = *l;
  h->period = -1;
  if (!digits(&period, &h->period) || (period.p < period.end && !is_blank(*period.p))) h->period = -1;
  else *l = period;
  skip_blanks(l);
}

/* Returns true if the line is at its end, or at the address of a frame. */
static bool is_over(struct perf_line l) { return l.p == l.end || take_address(&l); }

/* Reads the period and the event, "5000000 cpu-clock:u:", and finds the rest of the line. After a time, the event may be missing. */
static bool read_event(struct perf_line *l, struct head *h) {
  skip_blanks(l);
  const struct perf_line from = *l;
  read_period(l, h);
  h->event = (struct perf_line){l->p, l->p};
  const bool is_named = read_name(l, h);
  skip_blanks(l);
  h->rest = *l;
  if (is_named || !h->has_time || is_over(*l)) return is_named || h->has_time;
  h->period = -1; /* the number is the address of a frame */
  h->rest = *l = from;
  return is_over(from);
}

/* True if the ids of a sample may begin at a character: a digit, or the bracket before a CPU. */
static bool may_be_ids(const uint8_t *p) { return (*p >= '0' && *p <= '9') || *p == '['; }

/* Reads the first line of a sample. The command may contain spaces and digits, or be missing, so the ids begin at the first word
 * from which the line has the expected form, best with a time. Linux cuts the names of commands to 15 bytes, so the search for ids
 * covers only the start of a long line, such as that of a JSON file without line feeds. */
static bool read_head(struct perf_line line, struct head *h) {
  enum { COMMAND_MOST = 1024 };
  struct head found = {0};
  bool any = false;
  while (line.end > line.p && (line.end[-1] == '\r' || is_blank(line.end[-1]))) line.end--;
  skip_blanks(&line);
  const uint8_t *const stop = line.end - line.p < COMMAND_MOST ? line.end : line.p + COMMAND_MOST;
  for (const uint8_t *p = line.p; p < stop && !(any && h->has_time); p++) {
    if ((p > line.p && !is_blank(p[-1])) || !may_be_ids(p)) continue;
    struct perf_line l = {p, line.end};
    if (!read_ids(&l, &found) || !read_event(&l, &found) || (any && !found.has_time)) continue;
    found.comm = (struct perf_line){line.p, p};
    while (found.comm.end > found.comm.p && is_blank(found.comm.end[-1])) found.comm.end--;
    *h = found;
    any = true;
  }
  return any;
}

/* ---- frames ---- */

static struct perf_line line_at(const uint8_t *p, const uint8_t *end) {
  const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));
  return (struct perf_line){p, stop ? stop : end};
}

/* True if the text begins with a sample. A first line without a thread, a time or an event could be any text, so a frame must follow
 * it. */
static bool is_sample(const uint8_t *p, const uint8_t *end) {
  const struct perf_line first = line_at(p, end);
  struct head h;
  if (memchr(p, 0, (size_t)(first.end - p)) || !read_head(first, &h)) return false;
  if (h.has_time && h.tid >= 0 && h.event.p < h.event.end) return true;
  struct perf_line next = first.end < end ? line_at(first.end + 1, end) : h.rest;
  return take_address(&next) || take_address(&h.rest);
}

/* True for a line about a task or a mapping, which perf script prints with --show-task-events and --show-mmap-events, such as
 * "ls 123 [003] 90.100000: PERF_RECORD_MMAP2 123/123: [0x400000(0x1000) @ 0 08:01 1 1]: r-xp /usr/bin/ls". */
static bool is_of_task(struct perf_line l) {
  static const char RECORD[] = ": PERF_RECORD_";
  enum { MOST = 256 };
  const size_t n = l.end - l.p < MOST ? (size_t)(l.end - l.p) : MOST;
  return n && memmem(l.p, n, RECORD, sizeof RECORD - 1) != NULL;
}

unsigned perf_script_bid(const uint8_t *p, size_t n) {
  const uint8_t *end = p + n;
  for (unsigned lines = 0; p < end && lines < 200; lines++) {
    const struct perf_line l = line_at(p, end);
    if (l.end > p && *p != '#' && *p != '\r' && !is_of_task(l)) return is_sample(p, end) ? 96 : 0;
    p = l.end + 1;
  }
  return 0;
}

/* Returns the parenthesis before the module, which ends a line and follows a blank; the end of the line if there is no module, as in
 * "operator()". */
static const uint8_t *module_of(struct perf_line l) {
  int depth = 0;
  for (const uint8_t *p = l.end; p > l.p;) {
    p--;
    depth += *p == ')' ? 1 : *p == '(' ? -1 : 0;
    if (depth == 0) return *p == '(' && (p == l.p || is_blank(p[-1])) ? p : l.end;
  }
  return l.end;
}

/* Returns the end of a function's name: the position of the offset in it, such as +0x19, or of the blanks after it. */
static const uint8_t *end_of_name(const uint8_t *name, const uint8_t *end) {
  while (end > name && is_blank(end[-1])) end--;
  const uint8_t *p = end;
  while (p > name && ascii_hex((char)p[-1])) p--;
  return p < end && p - name >= 3 && memcmp(p - 3, "+0x", 3) == 0 ? p - 3 : end;
}

/* Reads "name+0x19 (module)", which follows the address. The module may be missing. */
static void read_symbol(struct tk_trace *t, struct perf_line l, struct tk_frame *f) {
  skip_blanks(&l);
  const uint8_t *open = module_of(l), *stop = end_of_name(l.p, open);
  *f = (struct tk_frame){.name = trace_string(t, l.p, (size_t)(stop - l.p))};
  if (open + 2 < l.end) f->module = trace_string(t, open + 1, (size_t)(l.end - 1 - (open + 1)));
}

/* Reads "ffffffff82203249 name+0x19 (module)". Returns false for another line. */
static bool read_frame(struct tk_trace *t, struct perf_line l, struct tk_frame *f) {
  if (!take_address(&l)) return false;
  read_symbol(t, l, f);
  return true;
}

/* Reads a frame without a module (perf script without -F dso). Returns false for a line without an indent or an address. */
static bool read_bare_frame(struct tk_trace *t, struct perf_line l, struct tk_frame *f) {
  if (!is_blank(*l.p) || !take_hex(&l)) return false;
  read_symbol(t, l, f);
  return true;
}

/* Reads the place of a frame in the source, "  main.c:12", which perf prints after the frame (perf script -F +srcline). A place that
 * perf did not find, "  ld-2.29.so[11634]", has no file. Returns false for a line with another indent. */
static bool read_place(struct tk_trace *t, struct perf_line l, struct tk_frame *f) {
  static const char INLINED[] = " (inlined)";
  const size_t n = sizeof INLINED - 1;
  if (l.end - l.p < 3 || l.p[0] != ' ' || l.p[1] != ' ' || is_blank(l.p[2])) return false;
  l.p += 2;
  if ((size_t)(l.end - l.p) > n && memcmp(l.end - n, INLINED, n) == 0) l.end -= n;
  struct perf_line number = {l.end, l.end};
  while (number.p > l.p && ascii_digit((char)number.p[-1])) number.p--;
  const uint8_t *colon = number.p - 1;
  int64_t line;
  if (colon <= l.p || *colon != ':' || !digits(&number, &line) || line > UINT32_MAX) return true;
  f->file = trace_string(t, l.p, (size_t)(colon - l.p));
  f->line = (uint32_t)line;
  return true;
}

/* ---- samples ---- */

struct perf {
  struct tk_trace *t;
  struct tk_frame frames[FRAMES_MOST]; /* frames of the sample that is being read, innermost first */
  uint32_t n_frames;
  bool has_head, has_origin;
  struct tk_sample sample;
  uint32_t args;
};

static void flush_sample(struct perf *r) {
  if (!r->has_head) return;
  r->sample.stack = 0;
  for (uint32_t i = r->n_frames; i-- > 0;) r->sample.stack = stack_push(r->t, r->sample.stack, stack_frame(r->t, &r->frames[i]));
  if (r->args) stack_add_with(r->t, &r->sample, r->args);
  else stack_add(r->t, &r->sample);
  r->has_head = false;
}

static tk_id perf_text(struct tk_trace *t, struct perf_line l) { return trace_string(t, l.p, (size_t)(l.end - l.p)); }

/* Returns the unit of the periods of an event. */
static tk_id unit_of(struct tk_trace *t, struct perf_line event) {
  const uint8_t *stop = memchr(event.p, ':', (size_t)(event.end - event.p));
  const size_t n = (size_t)((stop ? stop : event.end) - event.p);
  if (n == 9 && memcmp(event.p, "cpu-clock", 9) == 0) return trace_text(t, "ns");
  if (n == 10 && memcmp(event.p, "task-clock", 10) == 0) return trace_text(t, "ns");
  return n ? trace_string(t, event.p, n) : trace_text(t, "events");
}

static void add_frame(struct perf *r, const struct tk_frame *f, uint64_t offset) {
  if (r->n_frames < FRAMES_MOST) r->frames[r->n_frames++] = *f;
  else trace_note(r->t, TK_NOTE_REPAIR, offset, "stack of more than 4,096 frames: the outer ones are left out");
}

/* Returns the number of a thread, or the name of its command if the line has no number. */
static struct tk_ident tid_of(struct perf *r, const struct head *h) {
  static const char TEXT[] = "samples without threads (perf script without -F tid): one thread for each command";
  if (h->tid >= 0) return ident_int(h->tid);
  trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, TEXT);
  return ident_str(h->comm.p < h->comm.end ? perf_text(r->t, h->comm) : trace_text(r->t, "all"));
}

static tk_id thread_of(struct perf *r, const struct head *h) {
  const struct tk_ident pid = h->pid >= 0 ? ident_int(h->pid) : ident_none();
  const tk_id track = trace_track(r->t, TK_TRACK_THREAD, pid, tid_of(r, h), 0);
  struct tk_track *k = &r->t->tracks[track];
  if (h->comm.p == h->comm.end) return track;
  k->name = perf_text(r->t, h->comm); /* the last name counts, because a process may start another program (exec) */
  k->renamed = true; /* no record contains the name, so writers must write it */
  if (h->pid != h->tid || h->pid < 0) return track;
  r->t->tracks[k->parent].name = k->name;
  r->t->tracks[k->parent].renamed = true;
  return track;
}

/* Returns the args from the text after the event, which is a frame or the fields of a tracepoint. A frame is added to the
 * sample's stack. */
static uint32_t args_of_rest(struct perf *r, const struct head *h) {
  struct tk_frame f;
  const bool is_frame = h->rest.p < h->rest.end && read_frame(r->t, h->rest, &f);
  if (is_frame) add_frame(r, &f, 0);
  const bool fields = !is_frame && h->rest.p < h->rest.end;
  if (!fields && h->cpu < 0) return 0;
  args_begin(r->t);
  if (h->cpu >= 0) args_int(r->t, trace_text(r->t, "cpu"), h->cpu);
  if (fields) args_str(r->t, trace_text(r->t, "fields"), TK_ARG_STR, perf_text(r->t, h->rest));
  return stack_weight_args(r->t, h->period >= 0 ? h->period : 1, 0, true);
}

static void begin_sample(struct perf *r, const struct head *h) {
  struct tk_trace *t = r->t;
  flush_sample(r);
  t->counts.read++;
  r->has_head = true;
  r->n_frames = 0;
  if (!h->has_time) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "samples without times (perf script without -F time): placed at time 0");
  else if (!r->has_origin) t->origin_ns = (int64_t)(h->ps / 1000), r->has_origin = true;
  r->sample = (struct tk_sample){.track = thread_of(r, h), .weight = h->period >= 0 ? h->period : 1};
  r->sample.cat = h->event.p < h->event.end ? perf_text(t, h->event) : 0;
  r->sample.ts = h->has_time ? num_clamp(h->ps - (i128)t->origin_ns * 1000) : 0;
  r->sample.unit = h->period >= 0 ? unit_of(t, h->event) : trace_text(t, "samples");
  r->args = args_of_rest(r, h);
}

/* ---- the header ---- */

/* Finds the value of a line such as "# hostname : node7". Returns false for another line. */
static bool header_value(struct perf_line l, const char *key, struct perf_line *value) {
  const size_t n = strlen(key);
  take_char(&l, '#');
  skip_blanks(&l);
  if ((size_t)(l.end - l.p) <= n || memcmp(l.p, key, n) != 0) return false;
  l.p += n;
  skip_blanks(&l);
  if (!take_char(&l, ':')) return false;
  skip_blanks(&l);
  *value = l;
  return l.p < l.end;
}

/* True if the text has only characters that need no escape in JSON, and is not longer than a name. */
static bool is_printable(struct perf_line l) {
  for (const uint8_t *p = l.p; p < l.end; p++)
    if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\') return false;
  return l.end - l.p < 256;
}

/* Adds the name of the host under the key that Kineto uses. */
static void add_host(struct tk_trace *t, struct perf_line name) {
  struct buf *raw = &t->store->raw;
  const struct tk_meta m = {.key = trace_text(t, "host_name"), .at = raw->len, .size = (uint64_t)(name.end - name.p) + 2};
  if (trace_meta(t, "host_name")) return;
  if (!json_quote(raw, name.p, (size_t)(name.end - name.p))) return;
  *trace_add_meta(t) = m;
  trace_end_raw(t);
}

/* Reads the lines of `perf script --header` that concern the trace (perf_header__fprintf_info of Linux). The time of the
 * recording is the time of the file perf.data in the local time zone, so it does not place the samples. */
static void read_header(struct perf *r, struct perf_line l) {
  struct perf_line value;
  char text[400];
  if (header_value(l, "hostname", &value) && is_printable(value)) add_host(r->t, value);
  if (!header_value(l, "captured on", &value) || !is_printable(value)) return;
  snprintf(text, sizeof text, "perf.data was written on %.*s, local time; the times of samples are on the clock of perf",
           (int)(value.end - value.p), (const char *)value.p);
  trace_note(r->t, TK_NOTE_FACT, UINT64_MAX, text);
}

/* True for the first line of a sample whose command, such as "dd" or "cc", or thread could be the address of a frame. */
static bool is_of_hex_command(struct perf_line l, struct head *h) {
  enum { SHORT = 8 }; /* hexadecimal digits; longer words are addresses */
  struct perf_line word = l;
  skip_blanks(&word);
  size_t n = 0;
  while (n <= SHORT && word.p + n < word.end && ascii_hex((char)word.p[n])) n++;
  return n <= SHORT && read_head(l, h) && (h->has_time || take_address(&h->rest));
}

static void add_line(struct perf *r, struct perf_line l, uint64_t offset) {
  struct tk_frame f;
  struct head h;
  struct perf_line text = l;
  while (text.end > text.p && (text.end[-1] == '\r' || text.end[-1] == ' ')) text.end--;
  if (text.p == text.end) {
    flush_sample(r);
  } else if (*text.p == '#') {
    read_header(r, text);
  } else if (is_of_task(text)) {
    trace_note(r->t, TK_NOTE_FACT, offset, "lines about tasks and mappings (PERF_RECORD_...) are not read");
  } else if (r->has_head && !is_of_hex_command(l, &h) && read_frame(r->t, l, &f)) {
    add_frame(r, &f, offset);
  } else if (read_head(l, &h)) {
    begin_sample(r, &h);
  } else if (r->has_head && read_bare_frame(r->t, l, &f)) {
    add_frame(r, &f, offset);
  } else if (!r->has_head || !r->n_frames || !read_place(r->t, text, &r->frames[r->n_frames - 1])) {
    trace_note(r->t, TK_NOTE_REPAIR, offset, "line that is neither a sample nor a frame: skipped");
  }
}

static bool read_lines(struct perf *r, struct in *in, struct tk_err *err) {
  for (size_t avail;;) {
    const uint8_t *p = in_ahead(in, LINE_MOST, &avail, err);
    if (!p) return false;
    if (!avail) break;
    for (const uint8_t *end = p + avail, *stop; p < end; p = stop + (stop < end)) {
      stop = memchr(p, '\n', (size_t)(end - p));
      const size_t left = (size_t)(end - p);
      if (!stop && left < avail && avail >= LINE_MOST) break; /* the rest of the line comes with the next window */
      if (!stop) stop = end;
      add_line(r, (struct perf_line){p, stop}, in_offset(in));
      in_consume(in, (size_t)(stop - p) + (stop < end));
    }
  }
  flush_sample(r);
  r->t->counts.bytes = in_offset(in);
  return true;
}

bool perf_script_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct perf *r = mem_alloc(&t->store->mem, sizeof *r);
  (void)opt;
  if (!r) return mem_refuse(&t->store->mem, err);
  *r = (struct perf){.t = t};
  const bool ok = read_lines(r, in, err);
  mem_free(&t->store->mem, r);
  return ok && mem_check(&t->store->mem, err);
}

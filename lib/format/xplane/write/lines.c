/* lines.c - writes the lines of a plane.
 *
 * Lines that were read as XPlane keep their ids, names, timestamps and order; other tracks follow. xprof shows the low half of
 * display_id (or of id if there is none) as the thread, and interprets -1 as no thread, so the low half is different for every line.
 * All counters of a plane are on one line "_counters_", in order of time. A stat of the plane contains the properties of tracks that a
 * line cannot represent (private.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "writer.h"
#include "kineto.h"
#include "event.h"

/* ---- counters ---- */

struct sample {
  tk_time ts;
  struct xplane_out_event event;
};

static int lines_by_time(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  if (x->event.id != y->event.id) return x->event.id < y->event.id ? -1 : 1;
  return x->event.series < y->event.series ? -1 : x->event.series > y->event.series;
}

/* True if each series of a counter sample after the first is also written as a separate event, because xprof shows only the
 * first series of an event. A line that was read without such events is written without them. */
static bool wants_series(const struct xplane_encoder *e) {
  uint32_t n;
  const uint32_t *was = by_process(&e->g->was, e->process, &n);
  for (uint32_t i = 0; i < n; i++)
    if (e->g->lines[was[i] - 1].kind == XLINE_COUNTERS) return e->g->lines[was[i] - 1].series;
  return true;
}

static uint32_t series_of(const struct tk_trace *t, tk_id event) {
  struct tk_args it = tk_args_of(t, t->events[event].args);
  struct tk_arg arg;
  uint32_t n = 0;
  while (tk_args_next(&it, &arg)) n += xplane_is_number(arg.type);
  return n;
}

static bool add_sample(struct buf *samples, tk_time ts, tk_id event, uint32_t series) {
  struct sample s = {ts, {event, series}};
  return buf_append(samples, &s, sizeof s);
}

static bool collect_counters(struct xplane_encoder *e) {
  const struct tk_trace *t = e->g->t;
  struct buf samples = {.mem = e->mem};
  bool all = wants_series(e), ok = true;
  uint32_t n_tracks;
  const uint32_t *tracks = by_process(&e->g->tracks, e->process, &n_tracks);
  for (uint32_t k = 0; k < n_tracks; k++) {
    const struct tk_track *track = &t->tracks[tracks[k]];
    if (track->kind != TK_TRACK_COUNTERS) continue;
    for (tk_id i = track->first; ok && i < track->first + track->count; i++) {
      uint32_t n = all ? series_of(t, i) : 0;
      ok = add_sample(&samples, t->events[i].ts, i, 0);
      for (uint32_t nth = 2; ok && nth <= n; nth++) ok = add_sample(&samples, t->events[i].ts, i, nth);
    }
  }
  struct sample *v = (struct sample *)(void *)samples.data;
  e->n_counters = (uint32_t)(samples.len / sizeof *v);
  e->counters = mem_array(e->mem, (uint64_t)e->n_counters + 1, sizeof *e->counters);
  ok = ok && e->counters;
  if (ok && e->n_counters) qsort(v, e->n_counters, sizeof *v, lines_by_time);
  for (uint32_t i = 0; ok && i < e->n_counters; i++) e->counters[i] = v[i].event;
  buf_free(&samples);
  return ok;
}

/* Returns event i of the line; its id is 0 if there are fewer. */
static struct xplane_out_event event_of(const struct xplane_encoder *e, const struct xplane_out_line *line, uint32_t i) {
  const struct tk_track *k = &e->g->t->tracks[line->track];
  if (line->kind == XLINE_STEPS) return (struct xplane_out_event){xplane_step_event(e, i), 0};
  if (line->kind == XLINE_COUNTERS) return i < e->n_counters ? e->counters[i] : (struct xplane_out_event){0, 0};
  return (struct xplane_out_event){i < k->count ? k->first + i : 0, 0};
}

/* ---- ids ---- */

/* Returns an id whose low half no other line of the plane has; `want` if possible. */
static int64_t free_id(struct map *taken, int64_t want, int64_t *next) {
  uint32_t *slot = map_get(taken, (uint32_t)want);
  if ((uint32_t)want != UINT32_MAX && !slot) return want;
  while (map_get(taken, (uint32_t)*next)) ++*next;
  return (*next)++;
}

static void give_id(const struct xplane_encoder *e, struct map *taken, struct xplane_out_line *line, int64_t *next) {
  const struct tk_track *k = &e->g->t->tracks[line->track];
  int64_t shown;
  if (line->was || line->kind == XLINE_STEPS) return;
  line->id = line->kind == XLINE_THREAD && ident_is_number(k->tid) ? k->tid.num : 0;
  shown = free_id(taken, line->id, next);
  if (shown != line->id && line->id == 0) line->id = shown;
  else if (shown != line->id) line->display_id = shown;
  map_put(taken, (uint32_t)shown, 1);
}

static void give_ids(struct xplane_encoder *e) {
  struct map taken;
  int64_t next = 1;
  uint32_t n;
  struct xplane_out_line *lines = xplane_out_lines(e, &n);
  map_init(&taken, e->mem);
  for (uint32_t i = 0; i < n; i++)
    if (lines[i].was || lines[i].kind == XLINE_STEPS)
      map_put(&taken, (uint32_t)(lines[i].display_id ? lines[i].display_id : lines[i].id), 1);
  for (int round = 0; round < 2; round++) /* round 0: threads, because their ids have a meaning */
    for (uint32_t i = 0; i < n; i++)
      if ((lines[i].kind == XLINE_THREAD) == (round == 0)) give_id(e, &taken, &lines[i], &next);
  map_free(&taken);
}

/* ---- times ---- */

/* Sets the timestamp of a line, relative to the file's base. Offsets of events are relative to the timestamp. */
static void set_times(const struct xplane_encoder *e, struct xplane_out_line *line) {
  const struct tk_trace *t = e->g->t;
  i128 origin = ((i128)t->origin_ns - e->g->base_ns) * 1000; /* time in the file of graph time 0 */
  tk_id first = event_of(e, line, 0).id;
  if (line->was) {
    line->timestamp_ns = (int64_t)(line->was->timestamp_ns + e->g->moved_ns);
    line->zero_ps = line->was->zero_ps;
    return;
  }
  if (first && !xplane_counts_from_base(e, t->events[first].ts))
    line->timestamp_ns = (int64_t)xplane_floor_ns(origin + t->events[first].ts);
  line->zero_ps = (i128)line->timestamp_ns * 1000 - origin;
}

/* ---- choice of lines ---- */

static void add_line(struct xplane_encoder *e, tk_id track, enum xplane_line_kind kind, const struct xplane_line *was) {
  const struct tk_track *k = &e->g->t->tracks[track];
  struct xplane_out_line line = {.track = track, .kind = kind, .was = was, .name = k->name};
  if (was) {
    line.id = was->id;
    line.display_id = was->display_id;
    line.duration_ps = was->duration_ps;
    line.name = was->name;
    line.display_name = was->display_name;
    if (k->name != was->shown && kind != XLINE_PROCESS && kind != XLINE_COUNTERS) line.display_name = k->name;
  }
  set_times(e, &line);
  buf_append(&e->lines, &line, sizeof line);
}

/* Adds a line of the input to the output. Clears *process or *counters if the line contains the events of the process or its counters.
 * Skips a second line of the process. */
static void add_former_line(struct xplane_encoder *e, const struct xplane_line *was, bool *process, bool *counters) {
  if (was->kind == XLINE_PROCESS) {
    if (*process) add_line(e, e->process, XLINE_PROCESS, was);
    *process = false;
  } else if (was->kind == XLINE_COUNTERS) {
    add_line(e, was->track, *counters ? XLINE_COUNTERS : XLINE_THREAD, was);
    *counters = false;
  } else if (!e->g->t->tracks[was->track].hidden) {
    add_line(e, was->track, was->kind, was);
  }
}

static void add_lines(struct xplane_encoder *e) {
  const struct xplane_graph *g = e->g;
  const struct tk_trace *t = g->t;
  bool counters = e->n_counters != 0, process = t->tracks[e->process].count != 0;
  uint32_t n, n_was, *met = g->marks->tracks, mark = ++g->marks->number;
  const uint32_t *tracks = by_process(&g->tracks, e->process, &n), *lines = by_process(&g->was, e->process, &n_was);
  for (uint32_t i = 0; i < n_was; i++) {
    const struct xplane_line *was = &g->lines[lines[i] - 1];
    if (was->track > t->n_tracks || t->tracks[was->track].parent != e->process || met[was->track] == mark) continue;
    met[was->track] = mark;
    add_former_line(e, was, &process, &counters);
  }
  if (process) add_line(e, e->process, XLINE_PROCESS, NULL);
  for (uint32_t i = 0; i < n; i++) {
    const struct tk_track *track = &t->tracks[tracks[i]];
    if (met[tracks[i]] == mark || track->hidden || track->kind == TK_TRACK_COUNTERS || xplane_is_derived(g, tracks[i])) continue;
    if (track->kind == TK_TRACK_ASYNCS && track->count == 0) continue;
    add_line(e, tracks[i], track->kind == TK_TRACK_ASYNCS ? XLINE_ASYNC : XLINE_THREAD, NULL);
  }
  if (counters) add_line(e, 0, XLINE_COUNTERS, NULL);
  xplane_add_steps(e);
}

/* ---- encoding ---- */

/* Appends the name of a line. A name that describes the kind of line must differ from the names of threads. */
static void put_line_name(struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line) {
  const struct tk_trace *t = e->g->t;
  size_t n;
  const char *name = tk_string(t, line->name, &n);
  struct buf text = {.mem = e->mem};
  if (line->was) {
    if (line->name) pb_bytes(b, XLINE_NAME, name, n);
    return;
  }
  if (line->kind == XLINE_COUNTERS) name = XPLANE_COUNTERS, n = strlen(name);
  if (line->kind == XLINE_PROCESS) name = "process", n = strlen(name);
  if (line->kind == XLINE_STEPS) name = "Steps", n = strlen(name);
  if (line->kind == XLINE_THREAD && xplane_put_stream_name(e, &text, line->track)) n = 0;
  if (n) buf_append(&text, name, n);
  if (line->kind == XLINE_ASYNC) buf_append(&text, n ? " (async)" : "(async)", n ? 8 : 7);
  if (text.len) pb_bytes(b, XLINE_NAME, text.data, text.len);
  buf_free(&text);
}

static void put_head(struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line) {
  b->len = 0;
  if (line->id) pb_i64(b, XLINE_ID, line->id);
  put_line_name(e, b, line);
  if (line->timestamp_ns) pb_i64(b, XLINE_TIMESTAMP_NS, line->timestamp_ns);
}

static void put_tail(struct xplane_encoder *e, struct buf *b, const struct xplane_out_line *line) {
  size_t n;
  const char *name = tk_string(e->g->t, line->display_name, &n);
  b->len = 0;
  if (line->duration_ps) pb_i64(b, XLINE_DURATION_PS, line->duration_ps);
  if (line->display_id) pb_i64(b, XLINE_DISPLAY_ID, line->display_id);
  if (line->display_name) pb_bytes(b, XLINE_DISPLAY_NAME, name, n);
  if (line->was && line->was->fields_size && !e->g->t->edits && !e->g->bare)
    buf_append(b, trace_raw(e->g->t, line->was->fields_at), line->was->fields_size);
}

static uint64_t with_header(uint64_t n) {
  uint8_t room[16];
  return (uint64_t)(varint_put(pb_key(room, 1, PB_BYTES), n) - room) + n;
}

enum { STRIDE = 65536 }; /* number of events between two calls of the progress function */

static bool keep_pace(struct xplane_encoder *e, uint32_t n) {
  struct xplane_pace *p = e->pace;
  if (!p || !p->progress.tick) return true;
  p->done += n;
  const uint64_t done = p->done / 2 < p->total ? p->done / 2 : p->total; /* each series of a sample is a separate event here */
  if (!p->progress.tick(p->progress.arg, done, p->total)) p->stopped = true;
  return !p->stopped;
}

static bool measure(struct xplane_encoder *e, struct xplane_out_line *line) {
  struct buf b = {.mem = e->mem};
  struct xplane_out_event event;
  uint32_t i = 0;
  put_head(e, &b, line);
  line->size = b.len;
  put_tail(e, &b, line);
  line->size += b.len;
  buf_free(&b);
  if (e->g->carried && !e->g->pruned) return true; /* for a pruned plane, references of events must be collected */
  for (; (event = event_of(e, line, i)).id != 0; i++) {
    if (i && i % STRIDE == 0 && !keep_pace(e, STRIDE)) return false;
    xplane_encode_event(e, line, event);
    if (!e->g->carried) line->size += with_header(e->event.len);
  }
  return keep_pace(e, i ? (i - 1) % STRIDE + 1 : 0);
}

bool xplane_choose_lines(struct xplane_encoder *e) {
  if (!collect_counters(e)) return false;
  add_lines(e);
  return !e->mem->failed;
}

bool xplane_measure_lines(struct xplane_encoder *e) {
  uint32_t n;
  struct xplane_out_line *lines;
  if (!xplane_choose_lines(e)) return false;
  give_ids(e);
  lines = xplane_out_lines(e, &n);
  for (uint32_t i = 0; i < n; i++) {
    if (!measure(e, &lines[i])) return false;
    e->lost += lines[i].was && lines[i].was->fields_size && e->g->t->edits && !e->g->bare; /* these fields may refer to data
                                                                                            * that has changed */
  }
  return !e->mem->failed;
}

uint64_t xplane_lines_size(const struct xplane_encoder *e) {
  uint32_t n;
  const struct xplane_out_line *lines = xplane_out_lines(e, &n);
  uint64_t size = 0;
  for (uint32_t i = 0; i < n; i++) size += with_header(lines[i].size);
  return size;
}

static void put_header(struct out *out, uint32_t number, uint64_t n) {
  uint8_t *q = out_reserve(out, 16);
  out->next = varint_put(pb_key(q, number, PB_BYTES), n);
}

static bool put_events(struct xplane_encoder *e, struct out *out, const struct xplane_out_line *line) {
  struct xplane_out_event event;
  uint32_t i = 0;
  for (; (event = event_of(e, line, i)).id != 0; i++) {
    if (i && i % STRIDE == 0 && !keep_pace(e, STRIDE)) return false;
    xplane_encode_event(e, line, event);
    put_header(out, XLINE_EVENTS, e->event.len);
    out_write(out, e->event.data, e->event.len);
    if (e->meter) e->meter->add(e->meter->arg, SINK_EVENT, event.id, with_header(e->event.len));
  }
  return keep_pace(e, i ? (i - 1) % STRIDE + 1 : 0);
}

bool xplane_put_lines(struct xplane_encoder *e, struct out *out) {
  struct buf b = {.mem = e->mem};
  uint32_t n;
  const struct xplane_out_line *lines = xplane_out_lines(e, &n);
  bool ok = true;
  for (uint32_t i = 0; i < n && ok; i++) {
    put_header(out, XPLANE_LINES, lines[i].size);
    put_head(e, &b, &lines[i]);
    out_write(out, b.data, b.len);
    ok = e->g->carried || put_events(e, out, &lines[i]);
    put_tail(e, &b, &lines[i]);
    out_write(out, b.data, b.len);
  }
  buf_free(&b);
  return ok;
}

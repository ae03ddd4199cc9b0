/* write.c - writes spans for speedscope: each track becomes an evented profile, and each name becomes a frame. sampled.c writes
 * samples.
 *
 *     {"$schema":...,"exporter":...,"profiles":[
 *     {"type":"evented","name":"python 12 / main","unit":"microseconds","startValue":..,"endValue":..,"events":[
 *     {"type":"O","frame":0,"at":1.5},
 *     {"type":"C","frame":0,"at":2}]}],
 *     "shared":{"frames":[{"name":"matmul"}]}}
 *
 * (speedscope, src/lib/file-format-spec.ts). A profile is one stack. Overlapping spans go to additional profiles with the same name:
 * each span goes to one of the first profiles if it nests there, otherwise to a profile whose stack is empty at the start of the span.
 * Frames follow the profiles, because all names are known only then. */
#include <stdio.h>
#include <string.h>

#include "write.h"
#include "base/heap.h"
#include "format/json.h"
#include "graph/stack.h"
#include "sampled.h"
#include "speedscope.h"

struct speedscope_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  struct intern frames;
  int64_t base_ns; /* base of the written times */
  uint64_t metered; /* number of bytes that have been attributed */
  bool any_profile;
  struct sampled sampled;
};

/* One stack of a track, which becomes a profile. */
struct lane {
  struct buf spans; /* ids of its spans, parents before children */
  struct buf open;  /* ends of its open spans, innermost last */
};

/* The stacks of a track. Only the first few are tried for nesting, because n spans that all cross each other need n stacks. */
struct lanes {
  struct buf all;   /* array of struct lane */
  struct heap free; /* indices of lanes, by the time when they became empty; a lane may have been used again since */
};
enum { ASKED_LANES = 16 };

static void write_text(struct speedscope_sink *s, const char *text) { out_write(s->out, text, strlen(text)); }

static void write_string(struct speedscope_sink *s, const void *text, size_t n) {
  struct buf b = {.mem = &s->mem};
  if (json_quote(&b, text, n)) out_write(s->out, b.data, b.len);
  buf_free(&b);
}

static void write_time(struct speedscope_sink *s, const struct tk_trace *t, tk_time ts) {
  char text[48];
  out_write(s->out, text, num_put_us(text, ((i128)t->origin_ns - s->base_ns) * 1000 + ts));
}

static void meter(struct speedscope_sink *s, enum sink_part part, tk_id id) {
  uint64_t now = out_raw_bytes(s->out);
  if (s->opt.meter.add) s->opt.meter.add(s->opt.meter.arg, part, id, now - s->metered);
  s->metered = now;
}

/* ---- lanes ---- */

static bool is_written(const struct tk_event *e) { return e->kind == TK_EVENT_SPAN && !(e->flags & TK_FLAG_LOST_CLOCK); }

static tk_time *innermost(struct lane *l) { return l->open.len ? (tk_time *)(void *)(l->open.data + l->open.len) - 1 : NULL; }

/* True if the span nests in the lane, after spans that ended before it are closed. */
static bool nests_in(struct lane *l, const struct tk_event *e) {
  while (innermost(l) && *innermost(l) <= e->ts) l->open.len -= sizeof(tk_time);
  return !innermost(l) || e->ts + e->dur <= *innermost(l);
}

static uint32_t n_lanes(const struct lanes *lanes) { return (uint32_t)(lanes->all.len / sizeof(struct lane)); }
static struct lane *lane_at(const struct lanes *lanes, uint32_t i) { return (struct lane *)(void *)lanes->all.data + i; }

static uint32_t empty_lane(struct lanes *lanes, const struct tk_event *e) {
  while (lanes->free.n && lanes->free.items[0].time <= e->ts) {
    const uint32_t i = (uint32_t)heap_pop(&lanes->free);
    if (nests_in(lane_at(lanes, i), e)) return i;
  }
  return n_lanes(lanes);
}

static uint32_t lane_for(struct lanes *lanes, const struct tk_event *e) {
  const uint32_t n = n_lanes(lanes), most = n < ASKED_LANES ? n : ASKED_LANES;
  for (uint32_t i = 0; i < most; i++)
    if (nests_in(lane_at(lanes, i), e)) return i;
  return n <= ASKED_LANES ? n : empty_lane(lanes, e);
}

static bool add_to_lanes(struct speedscope_sink *s, struct lanes *lanes, const struct tk_event *e, tk_id id) {
  const struct lane fresh = {.spans = {.mem = &s->mem}, .open = {.mem = &s->mem}};
  const tk_time end = e->ts + e->dur;
  const uint32_t at = lane_for(lanes, e);
  if (at == n_lanes(lanes) && !buf_append(&lanes->all, &fresh, sizeof fresh)) return false;
  struct lane *l = lane_at(lanes, at);
  if (at >= ASKED_LANES && !innermost(l)) heap_push(&lanes->free, (struct heap_item){.time = end, .value = at});
  return buf_append(&l->spans, &id, sizeof id) && buf_append(&l->open, &end, sizeof end);
}

static void free_lanes(struct lanes *lanes) {
  for (uint32_t i = 0; i < n_lanes(lanes); i++) {
    buf_free(&lane_at(lanes, i)->spans);
    buf_free(&lane_at(lanes, i)->open);
  }
  buf_free(&lanes->all);
  heap_free(&lanes->free);
}

/* ---- profiles ---- */

/* Appends the title of a profile: process and thread, by name and by number if known, as in "python 12 / main 7". */
static void put_title(struct buf *b, const struct tk_trace *t, const struct tk_track *k) {
  const struct tk_track *of[2] = {k->parent ? &t->tracks[k->parent] : NULL, k};
  char number[32];
  size_t n;
  if (k->kind == TK_TRACK_THREAD && k->name && strcmp(t->format, "speedscope") == 0) { /* the name is the complete title */
    const char *title = tk_string(t, k->name, &n);
    buf_append(b, title, n);
    return;
  }
  for (int i = 0; i < 2; i++) {
    struct tk_ident id = of[i] && (i == 0 || k->kind == TK_TRACK_PROCESS) ? of[i]->pid : k->tid;
    if (!of[i]) continue;
    const char *name = tk_string(t, of[i]->name ? of[i]->name : id.kind == TK_IDENT_STR ? id.str : 0, &n);
    if (b->len) buf_text(b, " / ");
    buf_append(b, name, n);
    if (id.kind != TK_IDENT_INT && id.kind != TK_IDENT_QUOTED) continue;
    snprintf(number, sizeof number, "%s%lld", n ? " " : "", (long long)id.num);
    buf_text(b, number);
  }
}

static void write_title(struct speedscope_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  struct buf b = {.mem = &s->mem};
  put_title(&b, t, k);
  write_string(s, b.data ? b.data : (const uint8_t *)"", b.len);
  buf_free(&b);
}

static void write_event(struct speedscope_sink *s, const struct tk_trace *t, tk_id id, bool open) {
  const struct tk_event *e = &t->events[id];
  size_t n;
  const char *name = tk_string(t, t->classes[e->cls].name, &n);
  char text[64];
  uint32_t frame = intern(&s->frames, name, n);
  snprintf(text, sizeof text, "\n{\"type\":\"%s\",\"frame\":%u,\"at\":", open ? "O" : "C", frame ? frame - 1 : 0);
  write_text(s, text);
  write_time(s, t, open ? e->ts : e->ts + e->dur);
  write_text(s, "}");
}

/* Writes the spans of a stack. Spans that end no later than the start of the next span are closed first. */
static void write_stack(struct speedscope_sink *s, const struct tk_trace *t, const tk_id *spans, size_t n, struct buf *open) {
  bool any = false;
  open->len = 0;
  for (size_t i = 0; i <= n; i++) {
    for (;;) {
      tk_id top = open->len ? ((tk_id *)(void *)(open->data + open->len))[-1] : 0;
      const struct tk_event *e = &t->events[top];
      if (!top || (i < n && e->ts + e->dur > t->events[spans[i]].ts)) break;
      write_text(s, ",");
      write_event(s, t, top, false);
      meter(s, SINK_EVENT, top);
      open->len -= sizeof top;
    }
    if (i == n || !buf_append(open, &spans[i], sizeof spans[i])) break;
    if (any) write_text(s, ",");
    any = true;
    write_event(s, t, spans[i], true);
    meter(s, SINK_EVENT, spans[i]);
  }
}

static void write_profile(struct speedscope_sink *s, const struct tk_trace *t, const struct tk_track *k, struct lane *l) {
  const tk_id *spans = (const tk_id *)(const void *)l->spans.data;
  size_t n = l->spans.len / sizeof *spans;
  tk_time start = t->events[spans[0]].ts, end = start;
  for (size_t i = 0; i < n; i++)
    if (t->events[spans[i]].ts + t->events[spans[i]].dur > end) end = t->events[spans[i]].ts + t->events[spans[i]].dur;
  write_text(s, s->any_profile ? ",\n" : "\n");
  s->any_profile = true;
  write_text(s, "{\"type\":\"evented\",\"name\":");
  write_title(s, t, k);
  write_text(s, ",\"unit\":\"microseconds\",\"startValue\":");
  write_time(s, t, start);
  write_text(s, ",\"endValue\":");
  write_time(s, t, end);
  write_text(s, ",\"events\":[");
  meter(s, SINK_META, 0);
  write_stack(s, t, spans, n, &l->open);
  write_text(s, "]}");
  s->sink.saved.events += n;
  s->sink.saved.records += n;
}

static bool write_samples(struct speedscope_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  struct buf title = {.mem = &s->mem}, quoted = {.mem = &s->mem};
  put_title(&title, t, k);
  s->sampled.title = &quoted;
  const bool ok = json_quote(&quoted, title.data ? title.data : (const uint8_t *)"", title.len) && sampled_write(&s->sampled, t, k);
  buf_free(&title);
  buf_free(&quoted);
  meter(s, SINK_EVENT, k->first);
  return ok;
}

static bool write_track(struct speedscope_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  struct lanes lanes = {.all = {.mem = &s->mem}, .free = {.mem = &s->mem}};
  bool ok = true, has_samples = false;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (is_written(e)) ok = add_to_lanes(s, &lanes, e, i);
    else if (e->kind == TK_EVENT_SPAN) sink_lose(&s->sink, TK_LOSS_SPANS, 1);
    else has_samples = has_samples || e->kind == TK_EVENT_SAMPLE;
  }
  for (uint32_t i = 0; ok && i < n_lanes(&lanes); i++) write_profile(s, t, k, lane_at(&lanes, i));
  free_lanes(&lanes);
  return ok && (!has_samples || write_samples(s, t, k));
}

/* ---- the sink ---- */

/* Returns the time of the earliest event, in ns relative to the origin of the graph, rounded down; 0 if there is none. */
static int64_t earliest_ns(const struct tk_trace *t) {
  tk_time first = INT64_MAX;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if ((is_written(e) || e->kind == TK_EVENT_SAMPLE) && e->ts < first) first = e->ts;
  }
  if (first == INT64_MAX) return 0;
  return first / 1000 - (first % 1000 < 0);
}

/* Returns the time that is written as 0: the start of the first event if times are relative to 1970, otherwise the zero of the
 * input. No event has a negative time, because a viewer's timeline starts at 0. */
static int64_t speedscope_base(const struct tk_trace *t) {
  const int64_t first = num_add(t->origin_ns, earliest_ns(t));
  return t->clock == TK_CLOCK_REALTIME || first < t->zero_ns ? first : t->zero_ns;
}

static bool speedscope_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct speedscope_sink *s = (struct speedscope_sink *)sink;
  (void)err;
  s->base_ns = speedscope_base(first);
  write_text(s, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"tracekit " TK_VERSION
                "\",\"profiles\":[");
  return true;
}

static bool speedscope_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct speedscope_sink *s = (struct speedscope_sink *)sink;
  struct tk_progress *p = &s->opt.progress;
  uint64_t done = 0;
  sink_limit(&s->mem, t);
  s->sampled = (struct sampled){.sink = sink, .out = s->out, .mem = &s->mem, .frames = &s->frames, .base_ns = s->base_ns,
                                .any_profile = &s->any_profile};
  if (!stack_fits_lists(t, true, err)) return false;
  if (stack_has_samples(t) && !sampled_begin(&s->sampled, t)) return mem_refuse(&s->mem, err);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (!write_track(s, t, &t->tracks[i])) return mem_refuse(&s->mem, err);
    done += t->tracks[i].count;
    if (p->tick && !p->tick(p->arg, done, t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
  }
  sampled_end(&s->sampled);
  return mem_check(&s->mem, err);
}

static bool speedscope_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct speedscope_sink *s = (struct speedscope_sink *)sink;
  (void)first;
  write_text(s, "],\n\"shared\":{\"frames\":[");
  for (uint32_t i = 1; i <= s->frames.n; i++) {
    const struct intern_str *frame = &s->frames.strs[i];
    write_text(s, i > 1 ? ",\n" : "\n");
    if (frame->len && *frame->bytes == SAMPLED_FRAME) {
      out_write(s->out, frame->bytes + 1, frame->len - 1);
      continue;
    }
    write_text(s, "{\"name\":");
    write_string(s, frame->bytes, frame->len);
    write_text(s, "}");
  }
  write_text(s, "]}");
  if (provenance) {
    write_text(s, ",\n\"tracekit\":");
    write_text(s, provenance);
  }
  write_text(s, "}\n");
  meter(s, SINK_META, 0);
  return mem_check(&s->mem, err);
}

static void speedscope_free(struct sink *sink) {
  struct speedscope_sink *s = (struct speedscope_sink *)sink;
  struct mem mem;
  intern_free(&s->frames);
  mem = s->mem;
  mem_free(&mem, s);
}

struct sink *speedscope_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct speedscope_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct speedscope_sink){.out = out, .opt = *opt, .mem = mem};
  intern_init(&s->frames, &s->mem);
  s->sink.open = speedscope_open;
  s->sink.write = speedscope_write;
  s->sink.close = speedscope_close;
  s->sink.free = speedscope_free;
  return &s->sink;
}

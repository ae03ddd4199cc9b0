/* write.c - writes Chrome JSON from one or several graphs: strict JSON, valid UTF-8, exact decimals.
 *
 *     {"schemaVersion":1, ..., "traceEvents":[           top-level data of the first graph that preceded the events
 *     {"ph":"M",...},                                    metadata records first: viewers name a track when it appears
 *     {"ph":"X",...},                                    events by track, parents before children, E where its depth ends
 *     {"ph":"s",...},                                    flow points by time, starts before ends
 *     {"ph":"O",...}                                     other records
 *     ],"traceName":"...","xplane":"...","tracekit":{...}}   data that followed the events, blocks of other formats (format/carry.h),
 *                                                        and tracekit's own metadata
 *
 * One event per line. Viewers sort by time. B/E pairs and async ends are written in an order that remains correct after any
 * stable sort by time. */
#include <string.h>

#include "write.h"
#include "print.h"
#include "samples.h"
#include "base/base64.h"
#include "base/heap.h"
#include "format/carry.h"
#include "format/format.h"
#include "format/json_args.h"
#include "format/json_pretty.h"
#include "format/time_base.h"
#include "graph/seal_ties.h"
#include "graph/stack.h"

struct chrome_sink {
  struct sink sink;
  struct out *out;  /* the caller's output, or `side` */
  struct out *real; /* for pretty printing: output that receives the indented text of `side` */
  struct out side;
  struct json_pretty pretty;
  struct sink_options opt;
  struct mem mem;
  struct printer printer;
  int64_t zero_ns;
  bool any; /* true if an element of the events array has been written */
  bool begun; /* true if an element of this graph has been written */
  tk_id *open;      /* paired spans of the current thread that have not ended */
  uint32_t n_open, cap_open;
  struct heap ends; /* open async events, by end time */
  struct lanes lanes; /* lanes of the current graph */
  int64_t next_lane;  /* tid for the next lane */
  struct samples_out samples;
  bool drops_records; /* samples are written anew, so the input's records with samples and its top-level array of samples are not
                       * copied */
  struct buf whole; /* by event of a thread, one byte: 1 = the pair is written as a complete event */
  uint64_t done, total;
  struct {
    uint64_t at; /* number of bytes that have been attributed */
    enum sink_part part;
    tk_id id;
  } metered;
};

static void write_text(struct chrome_sink *s, const char *p) { out_write(s->out, p, strlen(p)); }

/* For pretty printing: indents the text printed so far. */
static void drain(struct chrome_sink *s) {
  size_t n;
  if (!s->real) return;
  const uint8_t *p = out_memory_take(&s->side, &n);
  json_pretty(&s->pretty, p, n, s->real);
}

/* Attributes the bytes written since the previous call to the part named by that call. Bytes written after this call belong to
 * `part`. */
static void meter(struct chrome_sink *s, enum sink_part part, tk_id id) {
  if (!s->opt.meter.add || s->real) return;
  uint64_t now = out_raw_bytes(s->out);
  s->opt.meter.add(s->opt.meter.arg, s->metered.part, s->metered.id, now - s->metered.at);
  s->metered.at = now;
  s->metered.part = part;
  s->metered.id = id;
}

static void begin_element(struct chrome_sink *s, enum sink_part part, tk_id id) {
  drain(s);
  meter(s, part, id);
  if (s->any) write_text(s, ",");
  if (!s->begun && s->sink.graphs > 1) out_break(s->out);
  write_text(s, "\n");
  s->any = s->begun = true;
  s->sink.saved.records++;
}

/* ---- top level ---- */

static void put_key(struct chrome_sink *s, const struct tk_trace *t, tk_id key) {
  struct buf b = {.mem = &s->mem};
  json_quote_id(&b, t, key);
  out_write(s->out, b.data, b.len);
  write_text(s, ":");
  buf_free(&b);
}

static void put_metas(struct chrome_sink *s, const struct tk_trace *t, bool after, bool ours, const char *comma) {
  struct buf base = {.mem = &s->mem};
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *m = &t->metas[i];
    const char *key = tk_string(t, m->key, NULL);
    if (m->after != after || m->origin || (!ours && strcmp(key, "tracekit") == 0)) continue;
    if (s->drops_records && strcmp(key, "samples") == 0 && stack_has_samples(t)) continue;
    const bool is_moved = time_base_rewrite(t, m, &base);
    if (is_moved && base.len == 0) continue;
    if (*comma) write_text(s, comma);
    put_key(s, t, m->key);
    if (is_moved) out_write(s->out, base.data, base.len);
    else out_write(s->out, trace_raw(t, m->at), m->size);
    if (!*comma) write_text(s, ",\n");
  }
  buf_free(&base);
}

/* True if no top-level value of the output contains the time base. */
static bool lacks_base(const struct tk_trace *t) {
  bool lacks = t->has_zero;
  for (tk_id i = 1; lacks && i <= t->n_metas; i++) lacks = t->metas[i].origin || !time_base_is_written(t, &t->metas[i]);
  return lacks;
}

/* Writes the base in nanoseconds, unless the producer's own key already contains it with enough precision. */
static void put_base(struct chrome_sink *s, const struct tk_trace *t) {
  char text[64] = "\"baseTimeNanoseconds\":";
  if (!lacks_base(t)) return;
  const size_t n = strlen(text);
  out_write(s->out, text, n + num_put_i64(text + n, t->zero_ns));
  write_text(s, ",\n");
}

/* Writes the blocks of other formats, each under the format's name. They are written after the events because they are complete
 * only then. */
static bool put_blocks(struct chrome_sink *s, const struct tk_trace *first, struct tk_err *err) {
  struct buf text = {.mem = &s->mem};
  const uint8_t *p;
  const char *name;
  size_t n, piece = 3 << 14; /* three bytes become four digits */
  if (!carry_close(s->opt.carry, first, &s->sink.saved, err)) return false;
  for (unsigned i = 0; (p = carry_take(s->opt.carry, i, &name, &n)) != NULL; i++) {
    if (n == 0) continue;
    write_text(s, ",\n\"");
    write_text(s, name);
    write_text(s, "\":\"");
    for (size_t at = 0; at < n; at += piece) {
      text.len = 0;
      if (base64_append(&text, p + at, n - at < piece ? n - at : piece)) out_write(s->out, text.data, text.len);
    }
    write_text(s, "\"");
  }
  buf_free(&text);
  return mem_check(&s->mem, err);
}

static bool chrome_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct chrome_sink *s = (struct chrome_sink *)sink;
  s->zero_ns = first->zero_ns;
  s->drops_records = sink->graphs > 1 || first->edits;
  s->metered.part = SINK_META;
  write_text(s, "{");
  put_metas(s, first, false, false, "");
  put_base(s, first);
  write_text(s, "\"traceEvents\":[");
  return carry_open(s->opt.carry, first, err);
}

static bool chrome_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct chrome_sink *s = (struct chrome_sink *)sink;
  meter(s, SINK_META, 0);
  write_text(s, "\n]");
  put_metas(s, first, true, false, ",\n");
  if (!put_blocks(s, first, err)) return false;
  if (provenance) {
    write_text(s, ",\n\"tracekit\":");
    write_text(s, provenance);
  }
  write_text(s, "}\n");
  meter(s, SINK_META, 0);
  drain(s);
  return true;
}

/* ---- records ---- */

static bool is_hidden(const struct tk_trace *t, tk_id track) {
  return track && (t->tracks[track].hidden || t->tracks[t->tracks[track].parent].hidden);
}

/* Writes the metadata records, or all other records. Instead of a record that an operation has made invalid, writes the track's
 * current properties. */
static void put_records(struct chrome_sink *s, const struct tk_trace *t, bool metadata) {
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    bool overruled = r->kind != TK_RECORD_OTHER && r->track && t->tracks[r->track].renamed;
    if ((r->phase == 'M') != metadata || is_hidden(t, r->track) || overruled) continue;
    if (r->sampled && s->drops_records) continue;
    begin_element(s, SINK_META, i);
    print_record(&s->printer, r);
  }
}

static void write_put_name(struct chrome_sink *s, const struct tk_trace *t, tk_id track, const char *what, const char *arg,
                     tk_id value) {
  struct buf b = {.mem = &s->mem};
  const struct fragment *f = &s->printer.tracks[track];
  char number[24];
  begin_element(s, SINK_META, track);
  write_text(s, "{\"ph\":\"M\",\"name\":\"");
  write_text(s, what);
  write_text(s, "\"");
  out_write(s->out, s->printer.text.data + f->at, f->n);
  write_text(s, ",\"args\":{\"");
  write_text(s, arg);
  write_text(s, "\":");
  if (value) json_quote_id(&b, t, value);
  else buf_append(&b, number, num_put_i64(number, t->tracks[track].sort_index));
  out_write(s->out, b.data, b.len);
  write_text(s, "}}");
  buf_free(&b);
}

static void put_names(struct chrome_sink *s, const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    bool process = k->kind == TK_TRACK_PROCESS;
    if (!k->renamed || is_hidden(t, i) || k->kind == TK_TRACK_COUNTERS) continue;
    if (k->name) write_put_name(s, t, i, process ? "process_name" : "thread_name", "name", k->name);
    if (k->labels) write_put_name(s, t, i, "process_labels", "labels", k->labels);
    if (k->has_sort) write_put_name(s, t, i, process ? "process_sort_index" : "thread_sort_index", "sort_index", 0);
  }
}

static void put_lane_name(struct chrome_sink *s, const struct tk_trace *t, const struct lane *lane) {
  const struct tk_track *k = &t->tracks[lane->track];
  struct buf b = {.mem = &s->mem};
  char number[24];
  begin_element(s, SINK_META, lane->track);
  write_text(s, "{\"ph\":\"M\",\"name\":\"thread_name\"");
  print_lane(&s->printer, lane);
  buf_text(&b, ",\"args\":{\"name\":");
  json_quote_id(&b, t, k->name);
  buf_text(&b, ",\"" LANE_OF "\":");
  if (k->tid.kind == TK_IDENT_STR) json_quote_id(&b, t, k->tid.str);
  else buf_append(&b, number, num_put_i64(number, k->tid.num));
  buf_text(&b, "}}");
  out_write(s->out, b.data, b.len);
  buf_free(&b);
}

static void put_lane_sort(struct chrome_sink *s, const struct tk_trace *t, const struct lane *lane) {
  char number[24];
  if (!t->tracks[lane->track].has_sort) return;
  begin_element(s, SINK_META, lane->track);
  write_text(s, "{\"ph\":\"M\",\"name\":\"thread_sort_index\"");
  print_lane(&s->printer, lane);
  write_text(s, ",\"args\":{\"sort_index\":");
  out_write(s->out, number, num_put_i64(number, t->tracks[lane->track].sort_index));
  write_text(s, "}}");
}

static void put_lanes(struct chrome_sink *s, const struct tk_trace *t) {
  for (uint32_t i = 0; i < s->lanes.n; i++) {
    put_lane_name(s, t, &s->lanes.v[i]);
    put_lane_sort(s, t, &s->lanes.v[i]);
  }
}

/* ---- events ---- */

static void end_event(struct chrome_sink *s, const struct tk_trace *t, tk_id id) {
  begin_element(s, SINK_EVENT, id);
  print_event(&s->printer, &t->events[id], END);
}

static void put_event(struct chrome_sink *s, const struct tk_trace *t, tk_id id, bool paired) {
  begin_element(s, SINK_EVENT, id);
  print_event(&s->printer, &t->events[id], paired ? BEGIN : WHOLE);
}

static bool is_endless(const struct tk_event *e) {
  return (e->flags & (TK_FLAG_PAIRED | TK_FLAG_UNFINISHED)) == (TK_FLAG_PAIRED | TK_FLAG_UNFINISHED);
}

/* Returns the distance to the next event of the track that is not a sample. */
static uint32_t step_to_next(const struct tk_trace *t, const struct tk_track *k, tk_id i) {
  uint32_t step = 1;
  while (i + step < k->first + k->count && t->events[i + step].kind == TK_EVENT_SAMPLE) step++;
  return step;
}

/* True if the next event of the track, in preorder, is inside this span and starts with it. */
static bool begins_with_next(const struct tk_trace *t, const struct tk_track *k, tk_id i) {
  const struct tk_event *e = &t->events[i];
  if (e->kind != TK_EVENT_SPAN) return false;
  const uint32_t step = step_to_next(t, k, i);
  const struct tk_event *next = e + step;
  return i + step < k->first + k->count && next->kind == TK_EVENT_SPAN && next->depth > e->depth && next->ts == e->ts &&
         (next->dur || next->flags & TK_FLAG_PAIRED);
}

/* Sets the bytes in s->whole for pairs that must be written as complete events. Operations and other formats create such pairs.
 *
 * A begin event without an end event may be inside a span that ends only if that span is written as a complete event, because an end
 * event closes the innermost begin event. In preorder, an event contains the next endless event unless some event between the two is at
 * most as deep as the first.
 *
 * If an X of non-zero length and a B have the same time, viewers process the X first, so a pair that contains an X with the same start
 * cannot become a complete event. */
static bool mark_whole(struct chrome_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  bool any = false;
  uint16_t least = 0;
  s->whole.len = 0;
  for (tk_id i = k->first; !any && i < k->first + k->count; i++)
    any = is_endless(&t->events[i]) || (t->events[i].flags & TK_FLAG_PAIRED && begins_with_next(t, k, i));
  if (!any) return true;
  uint8_t *whole = buf_reserve(&s->whole, k->count);
  if (!whole) return false;
  s->whole.len = k->count;
  any = false;
  for (tk_id i = k->count; i-- > 0;) {
    const struct tk_event *e = &t->events[k->first + i];
    whole[i] = any && !is_endless(e) && least > e->depth;
    if (!is_endless(e) && begins_with_next(t, k, k->first + i)) {
      const uint32_t step = step_to_next(t, k, k->first + i);
      whole[i] = whole[i] || whole[i + step] || !(e[step].flags & TK_FLAG_PAIRED);
    }
    if (is_endless(e) || e->depth < least) least = e->depth;
    any |= is_endless(e);
  }
  return true;
}

static void end_open(struct chrome_sink *s, const struct tk_trace *t, unsigned depth) {
  while (s->n_open && t->events[s->open[s->n_open - 1]].depth >= depth) end_event(s, t, s->open[--s->n_open]);
}

static void keep_open(struct chrome_sink *s, const struct tk_event *e, tk_id id) {
  if (e->flags & TK_FLAG_UNFINISHED) return;
  if (mem_grow(&s->mem, (void **)&s->open, &s->cap_open, (uint64_t)s->n_open + 1, sizeof *s->open)) s->open[s->n_open++] = id;
}

/* True if the events of a tie, which have the same time, may be written in file order. If an end event comes between them, or if one of
 * the events is not written in the form in which it was read, nesting determines the order. */
static bool is_listed(const struct chrome_sink *s, const struct tk_trace *t, const struct tk_track *k, const struct trace_tie *tie) {
  const struct tk_event *e = &t->events[tie->first];
  for (uint32_t i = 0; i < tie->n; i++) {
    if (e[i].depth < e->depth || (s->whole.len && s->whole.data[tie->first + i - k->first])) return false;
    if ((e[i].flags & (TK_FLAG_PAIRED | TK_FLAG_UNFINISHED)) == TK_FLAG_PAIRED && e[i].dur == 0) return false;
  }
  return true;
}

static void put_tie(struct chrome_sink *s, const struct tk_trace *t, const struct trace_tie *tie) {
  const struct tk_event *e = &t->events[tie->first];
  const uint32_t *order = t->store->tied + tie->at;
  end_open(s, t, e->depth);
  for (uint32_t i = 0; i < tie->n; i++)
    if (e[order[i]].kind != TK_EVENT_SAMPLE) put_event(s, t, tie->first + order[i], e[order[i]].flags & TK_FLAG_PAIRED);
  for (uint32_t i = 0; i < tie->n; i++)
    if (e[i].flags & TK_FLAG_PAIRED) keep_open(s, &e[i], tie->first + i);
}

/* Writes the events of a thread. An end event is written before the next event that is outside its span. */
static bool put_thread(struct chrome_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  if (!mark_whole(s, t, k)) return false;
  const struct trace_tie *tie = s->lanes.n ? NULL : seal_tie_at(t, k->first);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    bool paired = e->flags & TK_FLAG_PAIRED && !(s->whole.len && s->whole.data[i - k->first]);
    if (e->kind == TK_EVENT_SAMPLE && !(tie && tie->first == i)) continue;
    if (lane_of_event(&s->lanes, i)) continue;
    if (tie && tie->first == i) {
      const struct trace_tie *now = tie;
      tie = seal_tie_at(t, i + 1);
      if (is_listed(s, t, k, now)) {
        put_tie(s, t, now);
        i += now->n - 1;
        continue;
      }
    }
    if (e->kind == TK_EVENT_SAMPLE) continue;
    end_open(s, t, e->depth);
    put_event(s, t, i, paired);
    if (paired) keep_open(s, e, i);
  }
  while (s->n_open) end_event(s, t, s->open[--s->n_open]);
  for (tk_id i = k->first; s->lanes.n && i < k->first + k->count; i++)
    if (lane_of_event(&s->lanes, i)) put_event(s, t, i, false);
  return true;
}

/* Writes events that do not nest. A heap contains the async end events until their time is reached: the earliest end first, and of
 * equal ends the span that began last. */
static void put_flat(struct chrome_sink *s, const struct tk_trace *t, const struct tk_track *k) {
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_SAMPLE) continue;
    while (s->ends.n && s->ends.items[0].time <= e->ts) end_event(s, t, (tk_id)heap_pop(&s->ends));
    put_event(s, t, i, e->flags & TK_FLAG_PAIRED);
    if ((e->flags & (TK_FLAG_PAIRED | TK_FLAG_UNFINISHED)) == TK_FLAG_PAIRED) heap_push(&s->ends, (struct heap_item){e->ts + e->dur,
        i, i});
  }
  while (s->ends.n) end_event(s, t, (tk_id)heap_pop(&s->ends));
}

static bool report_progress(struct chrome_sink *s, struct tk_err *err) {
  struct tk_progress p = s->opt.progress;
  if (p.tick && !p.tick(p.arg, s->done, s->total)) return err_set(err, TK_EINTERRUPTED, "interrupted");
  return true;
}

/* True if a flow end must be written before the span to which it binds. This is the case if both have the same time and the
 * span is a B or an X of zero length, because viewers then use the file order. (An X of non-zero length is sorted before
 * everything else, wherever it is.) */
static bool precedes(const struct tk_trace *t, const struct tk_flow_point *f) {
  const struct tk_event *e = &t->events[f->bound ? f->at : 0];
  return f->bound && f->role == TK_FLOW_END && !f->enclosing && e->ts == f->ts && (e->flags & TK_FLAG_PAIRED || !e->dur);
}

/* The order in which a reader of this file will find the tracks: first by their metadata, then by their index. So reading
 * this file and writing it again results in the same bytes. */
struct track_order {
  tk_id *tracks;
  bool *met;
  uint32_t n;
};

static void meet_track(struct track_order *o, const struct tk_trace *t, tk_id track) {
  if (!track || o->met[track]) return;
  meet_track(o, t, t->tracks[track].parent); /* at most one level: a process */
  o->met[track] = true;
  o->tracks[o->n++] = track;
}

static bool order_tracks(struct chrome_sink *s, const struct tk_trace *t, struct track_order *o) {
  o->tracks = mem_array(&s->mem, (uint64_t)t->n_tracks + 1, sizeof *o->tracks);
  o->met = mem_zeros(&s->mem, (uint64_t)t->n_tracks + 1, 1);
  if (!o->tracks || !o->met) return false;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].renamed && !is_hidden(t, i) && t->tracks[i].kind != TK_TRACK_COUNTERS) meet_track(o, t, i);
  for (tk_id i = 1; i <= t->n_records; i++)
    if (t->records[i].phase == 'M' && !is_hidden(t, t->records[i].track)) meet_track(o, t, t->records[i].track);
  for (tk_id i = 1; i <= t->n_flow_points; i++)
    if (precedes(t, &t->flow_points[i]) && !print_is_field(&s->printer, &t->flow_points[i]))
      meet_track(o, t, tk_flow_point_track(t, &t->flow_points[i]));
  for (tk_id i = 1; i <= t->n_tracks; i++) meet_track(o, t, i);
  return true;
}

/* ---- samples ---- */

static void begin_samples(void *arg, tk_id event) { begin_element(arg, SINK_EVENT, event); }

/* Distributes the bytes of an element among its samples. */
static void end_samples(void *arg, const struct keyed *v, uint32_t n) {
  struct chrome_sink *s = arg;
  if (!s->opt.meter.add || s->real || !n) return;
  const uint64_t now = out_raw_bytes(s->out), bytes = now - s->metered.at, each = bytes / n;
  for (uint32_t i = 0; i < n; i++)
    s->opt.meter.add(s->opt.meter.arg, SINK_EVENT, v[i].index, i ? each : bytes - each * (n - 1));
  s->metered.at = now;
}

static bool has_other_events(const struct tk_trace *t, const struct tk_track *k) {
  for (tk_id i = k->first; i < k->first + k->count; i++)
    if (t->events[i].kind != TK_EVENT_SAMPLE) return true;
  return false;
}

/* Writes the samples of all tracks. A reader finds tracks with other events first, so the samples of these come first. */
static bool put_samples(struct chrome_sink *s, const struct tk_trace *t, const struct track_order *o) {
  bool ok = true;
  if (!stack_has_samples(t)) return true;
  s->samples = (struct samples_out){.t = t, .printer = &s->printer, .out = s->out, .mem = &s->mem, .arg = s,
                                    .begin = begin_samples, .end = end_samples, .with_recorded = s->drops_records};
  s->samples.step = sink_step(&s->sink);
  s->samples.next_id = s->sink.ordinal;
  ok = samples_begin(&s->samples);
  for (int others = 1; others >= 0; others--)
    for (uint32_t i = 0; ok && i < o->n; i++)
      if (has_other_events(t, &t->tracks[o->tracks[i]]) == others) ok = samples_write(&s->samples, o->tracks[i]);
  samples_end(&s->samples);
  return ok;
}

static bool put_tracks(struct chrome_sink *s, const struct tk_trace *t, struct tk_err *err) {
  struct track_order o = {0};
  bool ok = order_tracks(s, t, &o);
  s->done = 0;
  s->total = t->n_events;
  for (uint32_t i = 0; ok && i < o.n; i++) {
    const struct tk_track *k = &t->tracks[o.tracks[i]];
    if (k->kind == TK_TRACK_THREAD) ok = put_thread(s, t, k) || mem_refuse(&s->mem, err);
    else put_flat(s, t, k);
    s->done += k->count;
    ok = ok && report_progress(s, err);
  }
  ok = ok && put_samples(s, t, &o);
  mem_free(&s->mem, o.tracks);
  mem_free(&s->mem, o.met);
  return ok;
}

static void put_flows(struct chrome_sink *s, const struct tk_trace *t, bool before) {
  for (tk_id i = 1; i <= t->n_flow_points; i++) {
    const struct tk_flow_point *f = &t->flow_points[i];
    if (precedes(t, f) != before) continue;
    s->sink.saved.flow_points++;
    if (print_is_field(&s->printer, f)) continue;
    begin_element(s, SINK_FLOW, i);
    print_flow(&s->printer, f);
  }
}

static bool chrome_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct chrome_sink *s = (struct chrome_sink *)sink;
  sink_limit(&s->mem, t);
  s->begun = false;
  s->drops_records = sink->graphs > 1 || t->edits || t->zero_ns != s->zero_ns;
  if (s->drops_records) sink_lose(sink, TK_LOSS_RECORDS, stack_sampled_records(t));
  if (sink->graphs > 1) s->next_lane = 0;
  bool ok = print_start(&s->printer, s->out, t, s->zero_ns, &s->mem) &&
            lanes_plan(&s->lanes, t, s->opt.overlaps, sink, &s->next_lane, &s->mem);
  if (s->lanes.n) s->printer.lanes = &s->lanes;
  s->printer.meter = s->opt.meter.add && !s->real ? &s->opt.meter : NULL;
  if (ok) {
    put_names(s, t);
    put_records(s, t, true);
    put_lanes(s, t);
    put_flows(s, t, true);
    ok = put_tracks(s, t, err);
  }
  if (ok) {
    put_flows(s, t, false);
    put_records(s, t, false);
    s->sink.saved.events += t->n_events;
    s->sink.saved.rounded += t->counts.rounded;
  }
  print_finish(&s->printer);
  lanes_free(&s->lanes);
  if (sink->graphs > 1) out_break(s->out);
  return (ok && carry_write(s->opt.carry, sink, t, err) && mem_check(&s->mem, err)) || mem_refuse(&s->mem, err);
}

/* Stores whether a comma must precede the next text. */
static void chrome_leave(struct sink *sink, struct buf *state) {
  const struct chrome_sink *s = (const struct chrome_sink *)sink;
  const uint8_t any = s->any;
  buf_append(state, &any, 1);
}

static bool chrome_take(struct sink *sink, const struct sink_piece *part, struct tk_err *err) {
  struct chrome_sink *s = (struct chrome_sink *)sink;
  if (part->n_state != 1) return err_set(err, TK_EFORMAT, "the part was written by another version of tracekit");
  if (*part->state && s->any) write_text(s, ",");
  s->any = s->any || *part->state;
  out_break(s->out);
  return true;
}

static void chrome_free(struct sink *sink) {
  struct chrome_sink *s = (struct chrome_sink *)sink;
  struct mem mem = s->mem;
  mem_free(&s->mem, s->open);
  heap_free(&s->ends);
  lanes_free(&s->lanes);
  buf_free(&s->whole);
  out_close(&s->side);
  mem_free(&mem, s);
}

struct sink *chrome_writer(struct out *out, const struct sink_options *opt);

struct sink *chrome_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct chrome_sink *s = mem_alloc(&mem, sizeof *s);
  if (!s) return NULL;
  *s = (struct chrome_sink){.out = out, .opt = *opt};
  s->ends.mem = s->whole.mem = &s->mem;
  if (opt->pretty) {
    if (!out_memory(&s->side, NULL, &s->mem, NULL)) {
      mem_free(&mem, s);
      return NULL;
    }
    s->real = out;
    s->out = &s->side;
  }
  s->sink.open = chrome_open;
  s->sink.write = chrome_write;
  s->sink.close = chrome_close;
  s->sink.free = chrome_free;
  s->sink.leave = chrome_leave;
  s->sink.take = opt->pretty ? NULL : chrome_take;
  return &s->sink;
}

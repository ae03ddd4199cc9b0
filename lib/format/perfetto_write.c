/* perfetto_write.c - Perfetto's TrackEvent protobuf from one or several graphs.
 *
 *     ClockSnapshot                                 the file's own times are BOOTTIME; REALTIME says when that was
 *     per graph: TrackDescriptors                   processes, threads, lanes, counters, before anything refers to them
 *                per track: defaults, TrackEvents   one sequence; parents before children, ends before what follows
 *
 * What trace_processor makes of a file decides what is right here: PERFETTO rules are cited where they are obeyed. */
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "perfetto_write.h"

struct lane_group {
  tk_id name;
  struct lanes lanes;
};

struct open_span {
  tk_id event;
  int64_t end_ns;
  bool endless;
};

struct perfetto_sink {
  struct sink sink;
  struct out *out;
  struct sink_options opt;
  struct mem mem;
  int64_t zero_ns;
  uint32_t next_sequence;
  uint64_t next_uuid, next_flow;
  int32_t next_pid; /* for pids that are no int32 */
  const struct tk_trace *t;
  struct event_writer w;
  uint64_t *uuids; /* by track */
  int64_t *pids;   /* by track: of processes */
  struct buf packet, inner, text;
  struct open_span *stack;
  uint32_t n_stack, cap_stack;
};

enum { FIRST_MADE_ID = 20000000 };

/* ---- descriptors ---- */

static void put_descriptor(struct perfetto_sink *s, struct buf *descriptor) {
  s->packet.len = 0;
  pb_message(&s->packet, PACKET_TRACK_DESCRIPTOR, descriptor);
  writer_packet(s->out, &s->packet);
}

static bool is_number(struct tk_ident i) { return i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED; }

/* An int32 as it is, anything else gets a number of its own and shows its text as the name. */
static int64_t small_id(struct perfetto_sink *s, struct tk_ident i, int64_t most) {
  if (i.kind == TK_IDENT_NONE) return 0;
  if (is_number(i) && i.num >= 0 && i.num <= most) return i.num;
  return s->next_pid++;
}

static void put_string(struct perfetto_sink *s, struct buf *b, uint32_t field, tk_id id) {
  size_t n;
  const char *p = tk_string(s->t, id, &n);
  pb_bytes(b, field, p, n);
}

static void put_name(struct perfetto_sink *s, struct buf *b, uint32_t field, tk_id name, struct tk_ident i) {
  char text[32];
  if (name) put_string(s, b, field, name);
  else if (i.kind == TK_IDENT_STR) put_string(s, b, field, i.str);
  else if (is_number(i) && (i.num < 0 || i.num > INT32_MAX)) pb_bytes(b, field, text, num_put_i64(text, i.num));
}

static void describe_process(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct buf descriptor = {.mem = &s->mem};
  s->pids[track] = small_id(s, k->pid, INT32_MAX);
  s->inner.len = 0;
  pb_i64(&s->inner, PROCESS_PID, s->pids[track]);
  put_name(s, &s->inner, PROCESS_NAME, k->name, k->pid);
  if (k->labels) put_string(s, &s->inner, PROCESS_LABELS, k->labels);
  pb_u64(&descriptor, DESCRIPTOR_UUID, s->uuids[track] = ++s->next_uuid);
  pb_message(&descriptor, DESCRIPTOR_PROCESS, &s->inner);
  if (k->has_sort) pb_i64(&descriptor, DESCRIPTOR_SIBLING_ORDER_RANK, k->sort_index);
  put_descriptor(s, &descriptor);
  buf_free(&descriptor);
}

static void describe_thread(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct buf descriptor = {.mem = &s->mem};
  int64_t pid = s->pids[k->parent], tid = small_id(s, k->tid, UINT32_MAX);
  if (k->tid.kind == TK_IDENT_NONE || tid == 0) tid = pid; /* as the JSON importer does */
  s->inner.len = 0;
  pb_i64(&s->inner, THREAD_PID, pid);
  pb_i64(&s->inner, THREAD_TID, tid);
  put_name(s, &s->inner, THREAD_NAME, k->name, k->tid);
  pb_u64(&descriptor, DESCRIPTOR_UUID, s->uuids[track] = ++s->next_uuid);
  pb_u64(&descriptor, DESCRIPTOR_PARENT_UUID, s->uuids[k->parent]);
  pb_message(&descriptor, DESCRIPTOR_THREAD, &s->inner);
  if (k->has_sort) pb_i64(&descriptor, DESCRIPTOR_SIBLING_ORDER_RANK, k->sort_index);
  put_descriptor(s, &descriptor);
  buf_free(&descriptor);
}

/* A named track under another: a lane, a counter (`counter`), a process's instants. */
static uint64_t describe_child(struct perfetto_sink *s, uint64_t parent, const char *name, size_t n, bool counter) {
  struct buf descriptor = {.mem = &s->mem};
  pb_u64(&descriptor, DESCRIPTOR_UUID, ++s->next_uuid);
  pb_u64(&descriptor, DESCRIPTOR_PARENT_UUID, parent);
  pb_bytes(&descriptor, DESCRIPTOR_NAME, name, n);
  if (counter) pb_bytes(&descriptor, DESCRIPTOR_COUNTER, "", 0);
  put_descriptor(s, &descriptor);
  buf_free(&descriptor);
  return s->next_uuid;
}

static bool hidden(const struct tk_trace *t, tk_id track) { return t->tracks[track].hidden || t->tracks[t->tracks[track].parent].hidden; }

static void describe_tracks(struct perfetto_sink *s) {
  for (tk_id i = 1; i <= s->t->n_tracks; i++)
    if (s->t->tracks[i].kind == TK_PROCESS && !hidden(s->t, i)) describe_process(s, i);
  for (tk_id i = 1; i <= s->t->n_tracks; i++)
    if (s->t->tracks[i].kind == TK_THREAD && !hidden(s->t, i)) describe_thread(s, i);
}

/* ---- threads ---- */

static void push(struct perfetto_sink *s, struct open_span o) {
  if (mem_grow(&s->mem, (void **)&s->stack, &s->cap_stack, (uint64_t)s->n_stack + 1, sizeof o)) s->stack[s->n_stack++] = o;
}

static void close_to(struct perfetto_sink *s, uint32_t height) {
  while (s->n_stack > height) {
    const struct open_span *o = &s->stack[--s->n_stack];
    if (!o->endless) writer_slice_end(&s->w, o->event, o->end_ns);
  }
}

/* A child ends no later than its parent: what sticks out by a rounding is clamped. */
static void open_slice(struct perfetto_sink *s, tk_id id) {
  const struct tk_event *e = &s->t->events[id];
  struct open_span o = {id, writer_ns(&s->w, e->ts + e->dur), (e->flags & TK_UNFINISHED) != 0};
  const struct open_span *up = s->n_stack ? &s->stack[s->n_stack - 1] : NULL;
  if (up && !up->endless && o.end_ns > up->end_ns) o.end_ns = up->end_ns;
  writer_slice_begin(&s->w, id);
  push(s, o);
}

/* What cannot stand on its track's stack. */
static const uint8_t ASIDE = TK_OVERLAPS | TK_LOST_CLOCK;

/* Events first .. end-1 of a track, of which those at `depth` are on the ground of the lane. */
static void put_nested(struct perfetto_sink *s, tk_id first, tk_id end, uint32_t depth, bool skip_overlaps) {
  uint32_t skip_below = UINT32_MAX;
  for (tk_id i = first; i < end; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (e->depth > skip_below) continue;
    skip_below = UINT32_MAX;
    close_to(s, e->depth > depth ? e->depth - depth : 0);
    if (skip_overlaps && e->flags & ASIDE) skip_below = e->depth;
    else if (e->kind == TK_SPAN) open_slice(s, i);
    else writer_instant(&s->w, i);
  }
  close_to(s, 0);
}

/* The end of the events that hang under event i. */
static tk_id subtree(const struct tk_trace *t, const struct tk_track *k, tk_id i) {
  tk_id end = i + 1;
  while (end < k->first + k->count && t->events[end].depth > t->events[i].depth) end++;
  return end;
}

static void put_overlaps(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct lanes lanes = {.mem = &s->mem};
  size_t n;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (!(e->flags & ASIDE)) continue;
    uint64_t uuid = lanes_take(&lanes, e->ts, e->ts + e->dur);
    if (!uuid) {
      const char *name = tk_string(s->t, k->name, &n);
      uuid = describe_child(s, s->uuids[track], n ? name : "overlapping", n ? n : 11, false);
      lanes_add(&lanes, uuid, e->ts + e->dur);
    }
    writer_track(&s->w, uuid);
    put_nested(s, i, subtree(s->t, k, i), e->depth, false);
  }
  lanes_free(&lanes);
}

static void put_thread(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  bool overlaps = false;
  if (k->count == 0) return;
  writer_track(&s->w, s->uuids[track]);
  put_nested(s, k->first, k->first + k->count, 0, true);
  for (tk_id i = k->first; i < k->first + k->count && !overlaps; i++) overlaps = s->t->events[i].flags & ASIDE;
  if (overlaps) put_overlaps(s, track);
}

/* ---- what has no stack ---- */

/* Async spans go to lanes by the name of the event: Perfetto shows lanes of one name as one group. */
static void put_asyncs(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct map groups;
  struct lane_group *list = NULL;
  uint32_t n_list = 0, cap = 0;
  map_init(&groups, &s->mem);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &s->t->events[i];
    tk_time end = e->flags & TK_UNFINISHED ? INT64_MAX : e->ts + e->dur;
    size_t n;
    const char *name = tk_string(s->t, s->t->classes[e->cls].name, &n);
    uint32_t *slot = map_put(&groups, s->t->classes[e->cls].name, UINT32_MAX);
    if (!slot || !mem_grow(&s->mem, (void **)&list, &cap, (uint64_t)n_list + 1, sizeof *list)) break;
    if (*slot == UINT32_MAX) {
      *slot = n_list;
      list[n_list++] = (struct lane_group){s->t->classes[e->cls].name, {.mem = &s->mem}};
    }
    struct lanes *lanes = &list[*slot].lanes;
    uint64_t uuid = lanes_take(lanes, e->ts, end);
    if (!uuid) {
      uuid = describe_child(s, s->uuids[k->parent], n ? name : "async", n ? n : 5, false);
      lanes_add(lanes, uuid, end);
    }
    writer_track(&s->w, uuid);
    if (e->kind == TK_INSTANT) writer_instant(&s->w, i);
    else put_nested(s, i, i + 1, 0, false);
  }
  for (uint32_t i = 0; i < n_list; i++) lanes_free(&list[i].lanes);
  mem_resize(&s->mem, list, (size_t)cap * sizeof *list, 0);
  map_free(&groups);
}

static void put_instants(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  if (k->count == 0) return;
  writer_track(&s->w, describe_child(s, s->uuids[track], "instants", 8, false));
  for (tk_id i = k->first; i < k->first + k->count; i++) writer_instant(&s->w, i);
}

static bool is_value(const struct tk_arg *a) {
  return a->type == TK_ARG_INT || a->type == TK_ARG_UINT || a->type == TK_ARG_DECIMAL || a->type == TK_ARG_DOUBLE;
}

static uint64_t series(struct perfetto_sink *s, tk_id track, tk_id key) {
  const struct tk_track *k = &s->t->tracks[track];
  size_t n;
  const char *p = tk_string(s->t, k->name, &n);
  s->text.len = 0;
  buf_append(&s->text, p, n);
  buf_append(&s->text, " ", 1);
  p = tk_string(s->t, key, &n);
  buf_append(&s->text, p, n);
  return describe_child(s, s->uuids[k->parent], (const char *)s->text.data, s->text.len, true);
}

/* One track per series, named as the JSON importer names it: "counter series". */
static void put_counters(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  struct map keys;
  struct tk_arg arg;
  map_init(&keys, &s->mem);
  uint64_t first = s->next_uuid + 1;
  for (tk_id i = k->first; i < k->first + k->count; i++)
    for (struct tk_args it = tk_args_of(s->t, s->t->events[i].args); tk_args_next(&it, &arg);) {
      uint32_t *slot = is_value(&arg) && arg.key >= KEY_COUNT ? map_put(&keys, arg.key, UINT32_MAX) : NULL;
      if (slot && *slot == UINT32_MAX) *slot = (uint32_t)(series(s, track, arg.key) - first);
    }
  for (tk_id i = k->first; i < k->first + k->count; i++)
    for (struct tk_args it = tk_args_of(s->t, s->t->events[i].args); tk_args_next(&it, &arg);) {
      uint32_t *slot = is_value(&arg) ? map_get(&keys, arg.key) : NULL;
      if (!slot) continue;
      writer_track(&s->w, first + *slot);
      writer_counter(&s->w, i, &arg);
    }
  map_free(&keys);
}

/* ---- the sink ---- */

static bool perfetto_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  struct buf clocks = {.mem = &s->mem};
  (void)err;
  s->zero_ns = first->zero_ns;
  if (first->clock == TK_CLOCK_REALTIME) {
    for (int real = 0; real < 2; real++) {
      s->inner.len = 0;
      pb_u64(&s->inner, CLOCK_ID, real ? CLOCK_REALTIME : CLOCK_BOOTTIME);
      pb_u64(&s->inner, CLOCK_TIMESTAMP, real ? (uint64_t)first->zero_ns : 0);
      pb_message(&clocks, SNAPSHOT_CLOCKS, &s->inner);
    }
    s->packet.len = 0;
    pb_message(&s->packet, PACKET_CLOCK_SNAPSHOT, &clocks);
    writer_packet(s->out, &s->packet);
    buf_free(&clocks);
  }
  return true;
}

static void put_track(struct perfetto_sink *s, tk_id track) {
  switch (s->t->tracks[track].kind) {
  case TK_THREAD: put_thread(s, track); return;
  case TK_PROCESS: put_instants(s, track); return;
  case TK_COUNTERS: put_counters(s, track); return;
  case TK_ASYNCS: put_asyncs(s, track); return;
  default: return;
  }
}

static bool put_tracks(struct perfetto_sink *s, struct tk_err *err) {
  struct tk_progress p = s->opt.progress;
  uint64_t done = 0;
  for (tk_id i = 1; i <= s->t->n_tracks; i++) {
    if (!hidden(s->t, i)) put_track(s, i);
    done += s->t->tracks[i].count;
    if (p.tick && !p.tick(p.arg, done, s->t->n_events)) return err_set(err, TK_EINTERRUPTED, "interrupted");
  }
  return true;
}

static bool perfetto_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  size_t n = (size_t)t->n_tracks + 1;
  bool ok;
  s->t = t;
  s->w.sequence = s->next_sequence++;
  s->uuids = mem_resize(&s->mem, NULL, 0, n * sizeof *s->uuids);
  s->pids = mem_resize(&s->mem, NULL, 0, n * sizeof *s->pids);
  ok = s->uuids && s->pids && writer_begin(&s->w, t, t->origin_ns - s->zero_ns, s->out, &s->mem);
  if (ok) {
    writer_arrows(&s->w, &s->next_flow);
    describe_tracks(s);
    ok = put_tracks(s, err);
    s->sink.saved.events += t->n_events;
    s->sink.saved.records += t->n_events;
  }
  writer_end(&s->w);
  if (s->uuids) mem_resize(&s->mem, s->uuids, n * sizeof *s->uuids, 0);
  if (s->pids) mem_resize(&s->mem, s->pids, n * sizeof *s->pids, 0);
  return ok && mem_check(&s->mem, err);
}

static bool perfetto_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  (void)sink, (void)first, (void)provenance, (void)err;
  return true;
}

static void perfetto_free(struct sink *sink) {
  struct perfetto_sink *s = (struct perfetto_sink *)sink;
  struct mem mem = {0};
  buf_free(&s->packet);
  buf_free(&s->inner);
  buf_free(&s->text);
  mem_resize(&s->mem, s->stack, (size_t)s->cap_stack * sizeof *s->stack, 0);
  mem_resize(&mem, s, 0, 0);
}

static struct sink *perfetto_writer(struct out *out, const struct sink_options *opt) {
  struct mem mem = {0};
  struct perfetto_sink *s = mem_resize(&mem, NULL, 0, sizeof *s);
  if (!s) return NULL;
  *s = (struct perfetto_sink){.out = out, .opt = *opt, .next_sequence = 1, .next_flow = 1, .next_pid = FIRST_MADE_ID};
  s->packet.mem = s->inner.mem = s->text.mem = &s->mem;
  s->sink.open = perfetto_open;
  s->sink.write = perfetto_write;
  s->sink.close = perfetto_close;
  s->sink.free = perfetto_free;
  return &s->sink;
}

const struct format format_perfetto = {
    .info = {.name = "perfetto", .title = "Perfetto protobuf", .extensions = "pftrace,perfetto-trace", .can_write = true},
    .writer = perfetto_writer,
};

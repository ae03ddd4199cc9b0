/* devices.c - see devices.h.
 *
 * The history of a device lists changes, in the order in which the allocator made them; several may have the same microsecond. It is a
 * ring buffer, so older changes may be missing. The segments state the amounts at the end of the history. The amounts at its start
 * follow from these: start = end - sum of all changes.
 *
 *     start                alloc a      free_completed b      end
 *     |---- b: before the history ------|
 *     |---- c: before the history, and alive at the end ------|   a block of a segment
 *                          |---- a: alive at the end ---------|
 *
 * An allocation is an asynchronous span, because allocations overlap in any way. */
#include "devices.h"

#include <stdio.h>

#include "graph/args.h"
#include "stacks.h"

enum { US_TO_PS = 1000000, DEVICES_MOST = 256 };
#define FREED UINT32_MAX

/* Bytes in use on one stream, or on all streams of a device. */
struct amount {
  int64_t stream, now;
  tk_id track;
};

struct open {
  uint32_t event; /* number of the alloc event, or FREED */
  int64_t requested_us; /* time of free_requested; 0 = none */
};

struct device {
  const struct snapshot *s;
  struct tk_trace *t;
  struct stacks *stacks;
  int64_t number, first_us;
  tk_id process, allocations;
  uint32_t *ids; /* number of the last span; shared by all devices */
  struct amount all, reserved, *streams;
  uint32_t n_streams, cap_streams;
  struct map by_stream; /* stream -> its place in `streams` */
  struct map by_addr;   /* address -> its place in `opens` */
  struct open *opens;
  uint32_t n_opens, cap_opens;
  uint32_t n_segments;
  int64_t largest_free; /* bytes */
  uint64_t n_older;     /* allocations from before the history */
  tk_id bytes, address, stream, stack, category;
};

/* ---- amounts ---- */

static int64_t sum(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t minus(int64_t v) { return (int64_t)(0 - (uint64_t)v); }

static struct amount *amount_of(struct device *d, int64_t stream) {
  struct mem *mem = &d->t->store->mem;
  const uint32_t *at = map_put(&d->by_stream, (uint64_t)stream, d->n_streams);
  if (!at) return NULL;
  if (*at < d->n_streams) return &d->streams[*at];
  if (!mem_grow(mem, (void **)&d->streams, &d->cap_streams, (uint64_t)d->n_streams + 1, sizeof *d->streams)) return NULL;
  d->streams[d->n_streams] = (struct amount){.stream = stream};
  return &d->streams[d->n_streams++];
}

static void change_allocated(struct device *d, int64_t stream, int64_t bytes) {
  struct amount *a = amount_of(d, stream);
  if (a) a->now = sum(a->now, bytes);
  d->all.now = sum(d->all.now, bytes);
}

/* Returns by how many bytes an event changes the allocated memory. */
static int64_t allocated_by(const struct snapshot_event *e) {
  return e->action == WORD_ALLOC ? e->size : e->action == WORD_FREE_COMPLETED ? minus(e->size) : 0;
}

/* Returns by how many bytes an event changes the reserved memory. */
static int64_t reserved_by(const struct snapshot_event *e) {
  if (e->action == WORD_SEGMENT_ALLOC || e->action == WORD_SEGMENT_MAP) return e->size;
  return e->action == WORD_SEGMENT_FREE || e->action == WORD_SEGMENT_UNMAP ? minus(e->size) : 0;
}

/* ---- segments and blocks ---- */

struct visit {
  struct device *d;
  const struct snapshot_segment *segment;
  void (*block)(struct device *d, const struct snapshot_segment *g, const struct snapshot_block *b);
  void (*each)(struct device *d, const struct snapshot_segment *g);
  struct map seen; /* visited lists of blocks; a damaged file may repeat a list */
};

static void visit_block(void *arg, int64_t block) {
  const struct visit *v = arg;
  v->block(v->d, v->segment, snapshot_block(v->d->s, block));
}

/* True on the first call for this list. */
static bool is_first(struct map *seen, uint32_t list) {
  uint32_t *times = map_put(seen, list, 0);
  return times && (*times)++ == 0;
}

static void visit_segment(void *arg, int64_t segment) {
  struct visit *v = arg;
  v->segment = snapshot_segment(v->d->s, segment);
  if (v->segment->device != v->d->number) return;
  const struct pickle_value blocks = snapshot_list(v->segment->blocks);
  if (v->each) v->each(v->d, v->segment);
  if (is_first(&v->seen, v->segment->blocks)) snapshot_each(v->d->s, &blocks, SNAPSHOT_BLOCK, visit_block, v);
}

static void visit_segments(struct visit v, const struct pickle_value *segments) {
  map_init(&v.seen, &v.d->t->store->mem);
  snapshot_each(v.d->s, segments, SNAPSHOT_SEGMENT, visit_segment, &v);
  map_free(&v.seen);
}

static void count_segment(struct device *d, const struct snapshot_segment *g) {
  d->reserved.now = sum(d->reserved.now, g->size);
  d->n_segments++;
}

static void count_block(struct device *d, const struct snapshot_segment *g, const struct snapshot_block *b) {
  if (b->state != WORD_INACTIVE) change_allocated(d, g->stream, b->size);
  else if (b->size > d->largest_free) d->largest_free = b->size;
}

static void subtract(void *arg, int64_t event) {
  struct device *d = arg;
  const struct snapshot_event *e = snapshot_event(d->s, event);
  if (allocated_by(e)) change_allocated(d, e->stream, minus(allocated_by(e)));
  d->reserved.now = sum(d->reserved.now, minus(reserved_by(e)));
}

/* Adds a note with the amounts at the end of the history, the number of segments and the largest free block, which the timeline
 * does not show. */
static void note_segments(struct device *d) {
  char text[200], allocated[32], reserved[32], largest[32];
  if (!d->n_segments) return;
  tk_print_size((uint64_t)d->all.now, allocated);
  tk_print_size((uint64_t)d->reserved.now, reserved);
  tk_print_size((uint64_t)d->largest_free, largest);
  snprintf(text, sizeof text, "GPU %lld at the end: %s allocated of %s reserved in %u segment%s; the largest free block has %s",
           (long long)d->number, allocated, reserved, d->n_segments, d->n_segments == 1 ? "" : "s", largest);
  trace_note(d->t, TK_NOTE_FACT, UINT64_MAX, text);
}

/* ---- times and tracks ---- */

static bool ts_of(const struct device *d, int64_t us, tk_time *ts) {
  static const int64_t MOST_US = INT64_C(100) * 86400 * 1000000;
  int64_t since;
  if (__builtin_sub_overflow(us, d->first_us, &since) || since > MOST_US || since < -MOST_US) return false;
  *ts = since * US_TO_PS;
  return true;
}

static tk_id counter(struct device *d, const char *name) {
  return trace_track(d->t, TK_TRACK_COUNTERS, d->t->tracks[d->process].pid, ident_none(), trace_text(d->t, name));
}

static void name_track(struct device *d, tk_id track, const char *name) {
  d->t->tracks[track].name = trace_text(d->t, name);
  d->t->tracks[track].renamed = true; /* no record contains the name, so writers must write it */
}

static void add_tracks(struct device *d) {
  char name[64];
  const struct tk_ident pid = ident_int(d->number);
  snprintf(name, sizeof name, "GPU %lld memory", (long long)d->number);
  d->process = trace_process(d->t, pid);
  name_track(d, d->process, name);
  d->all.track = counter(d, "allocated memory");
  d->reserved.track = counter(d, "reserved memory");
  for (uint32_t i = 0; d->n_streams > 1 && i < d->n_streams; i++) {
    snprintf(name, sizeof name, d->streams[i].stream ? "allocated memory, stream 0x%llx" : "allocated memory, default stream",
             (unsigned long long)d->streams[i].stream);
    d->streams[i].track = counter(d, name);
  }
  d->allocations = trace_track(d->t, TK_TRACK_ASYNCS, pid, ident_int(0), 0);
}

/* Returns a thread for instants. The thread is added on its first use, so that traces without instants do not have it. */
static tk_id thread(struct device *d, int64_t tid, const char *name) {
  const tk_id track = trace_track(d->t, TK_TRACK_THREAD, ident_int(d->number), ident_int(tid), 0);
  if (!d->t->tracks[track].name) name_track(d, track, name);
  return track;
}

static void sample(struct device *d, const struct amount *a, tk_time ts) {
  struct tk_event e = {.ts = ts, .kind = TK_EVENT_COUNTER, .track = a->track};
  if (!a->track) return;
  args_begin(d->t);
  args_int(d->t, d->bytes, a->now);
  e.args = args_end(d->t);
  e.cls = trace_class(d->t, d->t->tracks[a->track].name, 0);
  *trace_add_event(d->t) = e;
}

/* ---- args ---- */

static void add_place(struct device *d, int64_t addr, int64_t stream) {
  if (addr) args_uint(d->t, d->address, TK_ARG_POINTER, (uint64_t)addr);
  if (stream) args_uint(d->t, d->stream, TK_ARG_POINTER, (uint64_t)stream);
}

static void add_text(struct device *d, const char *key, uint32_t text) {
  const tk_id string = snapshot_string(d->s, text);
  if (string) args_str(d->t, trace_text(d->t, key), TK_ARG_STR, string);
}

static void add_stack(struct device *d, tk_id key, uint32_t stack) {
  const tk_id text = stacks_text(d->stacks, stack);
  if (text) args_str(d->t, key, TK_ARG_JSON, text);
}

/* ---- allocations ---- */

static tk_id class_of(struct device *d, uint32_t stack) {
  const tk_id name = stacks_name(d->stacks, stack);
  return trace_class(d->t, name ? name : trace_text(d->t, "allocation"), d->category);
}

struct freed {
  int64_t requested_us, completed_us; /* 0 = never */
  bool is_older;     /* allocated before the history */
  bool has_no_stack; /* the event has the stack of the call that freed the allocation */
};

/* Adds the span of an allocation, with the times and the kind of `e`. */
static void add_span(struct device *d, struct tk_event e, const struct snapshot_event *a, const struct freed *freed) {
  e.flags |= TK_FLAG_ASYNC | TK_FLAG_PAIRED | TK_FLAG_END_NAMED;
  e.track = d->allocations;
  e.cls = class_of(d, freed->has_no_stack ? 0 : a->stack);
  args_begin(d->t);
  args_int(d->t, d->bytes, a->size);
  add_place(d, a->addr, a->stream);
  if (freed->is_older) args_flag(d->t, trace_text(d->t, "before_history"), TK_ARG_TRUE);
  if (freed->requested_us && freed->requested_us != freed->completed_us && !d->s->is_ordered)
    args_int(d->t, trace_text(d->t, "free_requested_us"), freed->requested_us);
  add_text(d, "compile_context", a->context);
  add_text(d, "user_metadata", a->metadata);
  add_stack(d, freed->has_no_stack ? trace_text(d->t, "free_stack") : d->stack, a->stack);
  args_int(d->t, KEY_ID, ++*d->ids);
  e.args = args_end(d->t);
  *trace_add_event(d->t) = e;
}

static struct open *open_of(struct device *d, int64_t addr) {
  const uint32_t *at = map_get(&d->by_addr, (uint64_t)addr);
  return at ? &d->opens[*at] : NULL;
}

static struct open *open_new(struct device *d, int64_t addr) {
  struct mem *mem = &d->t->store->mem;
  const uint32_t *at = map_put(&d->by_addr, (uint64_t)addr, d->n_opens);
  if (!at) return NULL;
  if (*at < d->n_opens) return &d->opens[*at];
  if (!mem_grow(mem, (void **)&d->opens, &d->cap_opens, (uint64_t)d->n_opens + 1, sizeof *d->opens)) return NULL;
  d->opens[d->n_opens] = (struct open){.event = FREED};
  return &d->opens[d->n_opens++];
}

static void end_allocation(struct device *d, struct open *o, const struct snapshot_event *free, tk_time end) {
  const struct snapshot_event *a = snapshot_event(d->s, o->event);
  struct tk_event e = {.kind = TK_EVENT_SPAN};
  if (!ts_of(d, a->time_us, &e.ts)) return;
  e.dur = end > e.ts ? end - e.ts : 0;
  add_span(d, e, a, &(struct freed){.requested_us = o->requested_us, .completed_us = free->time_us});
  *o = (struct open){.event = FREED};
}

static void take_alloc(struct device *d, const struct snapshot_event *e, uint32_t event, tk_time ts) {
  struct open *o = open_new(d, e->addr);
  if (o && o->event != FREED) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "second allocation at an address that was not freed: the first one ends at that time");
    end_allocation(d, o, e, ts);
  }
  if (o) *o = (struct open){.event = event};
}

static void take_request(struct device *d, const struct snapshot_event *e) {
  struct open *o = open_new(d, e->addr);
  if (o) o->requested_us = e->time_us;
}

/* Handles a completed free. If the history does not contain the allocation, its span begins with the trace, and only the stack
 * of the call that freed it is known. */
static void take_free(struct device *d, const struct snapshot_event *e, tk_time ts) {
  struct open *o = open_of(d, e->addr);
  if (o && o->event != FREED) {
    end_allocation(d, o, e, ts);
    return;
  }
  const struct tk_event span = {.kind = TK_EVENT_SPAN, .dur = ts > 0 ? ts : 0};
  const struct freed freed = {o ? o->requested_us : 0, e->time_us, .is_older = true, .has_no_stack = true};
  add_span(d, span, e, &freed);
  if (o) o->requested_us = 0;
  d->n_older++;
}

/* ---- other events ---- */

static void take_instant(struct device *d, const struct snapshot_event *e, tk_time ts) {
  const bool oom = e->action == WORD_OOM;
  const tk_id name = oom ? trace_text(d->t, "out of memory") : snapshot_string(d->s, e->action);
  struct tk_event event = {.ts = ts, .kind = TK_EVENT_INSTANT, .track = thread(d, 1, "allocator")};
  event.cls = trace_class(d->t, name, d->category);
  args_begin(d->t);
  args_int(d->t, d->bytes, e->size);
  if (oom) args_int(d->t, trace_text(d->t, "device_free"), e->addr);
  add_place(d, oom ? 0 : e->addr, e->stream);
  add_text(d, "compile_context", e->context);
  add_text(d, "user_metadata", e->metadata);
  add_stack(d, d->stack, e->stack);
  event.args = args_end(d->t);
  *trace_add_event(d->t) = event;
}

/* ---- annotations ---- */

static void add_annotation(struct device *d, uint32_t stage, uint32_t name, tk_time ts) {
  struct tk_event e = {.ts = ts, .kind = stage == WORD_START ? TK_EVENT_BEGIN : TK_EVENT_END};
  e.track = thread(d, 2, "annotations");
  e.cls = trace_class(d->t, snapshot_string(d->s, name), trace_text(d->t, "annotation"));
  *trace_add_event(d->t) = e;
}

static void take_outer_frame(void *arg, int64_t frame) { *(int64_t *)arg = frame; }

/* Handles an event of the history that is an annotation, as PyTorch wrote them before it had external_annotations: its frame is named
 * START or END, and the file of the frame is the name of the annotation. Returns false for another event. */
static bool take_user_defined(struct device *d, const struct snapshot_event *e, tk_time ts) {
  int64_t at = -1;
  const struct pickle_value frames = snapshot_list(e->stack);
  if (e->action != WORD_USER_DEFINED) return false;
  snapshot_each(d->s, &frames, SNAPSHOT_FRAME, take_outer_frame, &at);
  const struct snapshot_frame *f = at < 0 ? NULL : snapshot_frame(d->s, at);
  if (!f || (f->name != WORD_START && f->name != WORD_END)) return false;
  add_annotation(d, f->name, f->file, ts);
  return true;
}

static void take_event(void *arg, int64_t event) {
  struct device *d = arg;
  const struct snapshot_event *e = snapshot_event(d->s, event);
  tk_time ts;
  d->t->counts.read++;
  if (!e->has_time || !ts_of(d, e->time_us, &ts)) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "events without a usable time: skipped");
    d->t->counts.dropped++;
    return;
  }
  if (e->action == WORD_ALLOC) take_alloc(d, e, (uint32_t)event, ts);
  else if (e->action == WORD_FREE_REQUESTED) take_request(d, e);
  else if (e->action == WORD_FREE_COMPLETED) take_free(d, e, ts);
  else if (!take_user_defined(d, e, ts)) take_instant(d, e, ts);
  if (allocated_by(e)) {
    const struct amount *stream = amount_of(d, e->stream);
    change_allocated(d, e->stream, allocated_by(e));
    sample(d, &d->all, ts);
    if (stream) sample(d, stream, ts);
  }
  if (!reserved_by(e)) return;
  d->reserved.now = sum(d->reserved.now, reserved_by(e));
  sample(d, &d->reserved, ts);
}

/* ---- allocations alive at the end ---- */

static void add_alive(struct device *d) {
  for (uint32_t i = 0; i < d->n_opens; i++) {
    const struct open *o = &d->opens[i];
    struct tk_event e = {.kind = TK_EVENT_BEGIN};
    const struct snapshot_event *a = o->event == FREED ? NULL : snapshot_event(d->s, o->event);
    if (a && ts_of(d, a->time_us, &e.ts)) add_span(d, e, a, &(struct freed){.requested_us = o->requested_us});
  }
}

/* Adds the span of a block that was allocated before the history, and is alive at its end. */
static void add_block(struct device *d, const struct snapshot_segment *g, const struct snapshot_block *b) {
  const struct open *o = open_of(d, b->addr);
  const struct snapshot_event a = {.addr = b->addr, .size = b->size, .stream = g->stream, .stack = b->stack};
  if (b->state == WORD_INACTIVE || (o && o->event != FREED)) return;
  add_span(d, (struct tk_event){.kind = TK_EVENT_BEGIN}, &a, &(struct freed){.is_older = true});
  d->n_older++;
}

static void note_older(struct device *d) {
  static const char TEXT[] = "allocations from before the recorded history: shown from the start of the trace";
  if (d->n_older) trace_notes(d->t, TK_NOTE_FACT, UINT64_MAX, TEXT, d->n_older);
}

/* ---- overflow ---- */

/* Returns a setting of the history: an item of a list with an item for each device, or one value for all devices; NULL if unknown.
 * Reads the top level and "allocator_settings", because versions of PyTorch differ. */
static const struct pickle_value *setting(const struct device *d, const struct pickle_value *root, enum snapshot_word key) {
  const struct pickle *p = &d->s->pickle;
  const struct pickle_value *v = pickle_member(p, root, key), *settings = pickle_member(p, root, WORD_SETTINGS);
  uint32_t n;
  if (!v && settings) v = pickle_member(p, settings, key);
  if (!v || v->type != PICKLE_LIST) return v;
  v = pickle_items(p, v, &n);
  return d->number < n ? &v[d->number] : NULL;
}

static int64_t setting_number(const struct pickle_value *v) {
  return v && (v->type == PICKLE_BOOL || v->type == PICKLE_INT) ? v->i : 0;
}

/* Adds a note if the ring buffer has lost the beginning of the history. */
static void note_overflow(const struct device *d, const struct pickle_value *root) {
  char text[160], limit[48] = "";
  const int64_t entries = setting_number(setting(d, root, WORD_MAX_ENTRIES));
  if (!setting_number(setting(d, root, WORD_OVERFLOWED))) return;
  if (entries > 0) snprintf(limit, sizeof limit, " (max_entries %lld)", (long long)entries);
  snprintf(text, sizeof text, "GPU %lld: the ring buffer of the history overflowed%s: earlier events are missing", (long long)d->number,
           limit);
  trace_note(d->t, TK_NOTE_FACT, UINT64_MAX, text);
}

/* ---- a device ---- */

static void read_device(struct device *d, const struct pickle_value *root, const struct pickle_value *history) {
  const struct pickle_value *segments = pickle_member(&d->s->pickle, root, WORD_SEGMENTS);
  visit_segments((struct visit){.d = d, .each = count_segment, .block = count_block}, segments);
  note_segments(d);
  snapshot_each(d->s, history, SNAPSHOT_EVENT, subtract, d);
  add_tracks(d);
  sample(d, &d->all, 0);
  sample(d, &d->reserved, 0);
  for (uint32_t i = 0; i < d->n_streams; i++) sample(d, &d->streams[i], 0);
  snapshot_each(d->s, history, SNAPSHOT_EVENT, take_event, d);
  add_alive(d);
  if (!d->s->pickle.truncated) visit_segments((struct visit){.d = d, .block = add_block}, segments);
  note_older(d);
  note_overflow(d, root);
}

static void init_device(struct device *d) {
  map_init(&d->by_stream, &d->t->store->mem);
  map_init(&d->by_addr, &d->t->store->mem);
  d->bytes = trace_text(d->t, "bytes");
  d->address = trace_text(d->t, "address");
  d->stream = trace_text(d->t, "stream");
  d->stack = trace_text(d->t, "stack");
  d->category = trace_text(d->t, "memory");
}

static void free_device(struct device *d) {
  map_free(&d->by_stream);
  map_free(&d->by_addr);
  mem_free(&d->t->store->mem, d->streams);
  mem_free(&d->t->store->mem, d->opens);
}

static void take_annotation(void *arg, int64_t annotation) {
  struct device *d = arg;
  const struct snapshot_annotation *a = snapshot_annotation(d->s, annotation);
  tk_time ts;
  d->t->counts.read++;
  d->number = a->device;
  if (!ts_of(d, a->time_us, &ts)) {
    trace_note(d->t, TK_NOTE_REPAIR, UINT64_MAX, "events without a usable time: skipped");
    d->t->counts.dropped++;
    return;
  }
  add_annotation(d, a->stage, a->name, ts);
}

void devices_add(const struct snapshot *s, const struct pickle_value *root, int64_t first_us) {
  const struct pickle_value *traces;
  const struct device none = {.s = s, .t = s->t, .first_us = first_us};
  struct stacks stacks;
  struct map seen;
  uint32_t n, ids = 0, any;
  stacks_init(&stacks, s);
  map_init(&seen, &s->t->store->mem);
  traces = pickle_items(&s->pickle, pickle_member(&s->pickle, root, WORD_DEVICE_TRACES), &n);
  if (n > DEVICES_MOST) trace_note(s->t, TK_NOTE_REPAIR, UINT64_MAX, "more than 256 devices: the others are skipped");
  for (uint32_t i = 0; i < n && i < DEVICES_MOST; i++) {
    struct device d = none;
    d.number = i, d.ids = &ids, d.stacks = &stacks;
    if (!pickle_items(&s->pickle, &traces[i], &any) || !is_first(&seen, (uint32_t)traces[i].i)) continue;
    init_device(&d);
    read_device(&d, root, &traces[i]);
    free_device(&d);
  }
  map_free(&seen);
  struct device of_annotations = none;
  snapshot_each(s, pickle_member(&s->pickle, root, WORD_EXTERNAL_ANNOTATIONS), SNAPSHOT_ANNOTATION, take_annotation, &of_annotations);
  stacks_free(&stacks);
}

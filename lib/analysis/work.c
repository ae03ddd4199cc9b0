/* work.c - see work.h.
 *
 * The device line of an XLA program shows operations that contain other operations: while, call, conditional. The inner operations are
 * the work, and an outer operation is counted only in the gaps between them. Otherwise, the whole duration of a loop around an
 * all-reduce would count as compute. */
#include "work.h"

#include <string.h>

#include "graph/accelerator.h"
#include "op/launched.h"
#include "graph/args.h"

/* An open operation that may contain others. */
struct open {
  tk_id event;    /* 0 = none at this depth */
  bool begun;     /* true if the first part of the operation has been recorded */
  tk_time cursor; /* start of the part that is not recorded yet */
};

struct finder {
  struct works *w;
  const struct match *m;
  const struct scope *scope;
  tk_id collective;       /* string id of the key "Collective name" */
  struct map hardware;    /* rank + 2 -> process that represents the device; set if other processes contain some of the device's work */
  tk_id *devices;         /* by thread, for host threads that show work of a device: the first thread that shows the same device */
  bool *has_kernels;      /* by process: true if a line of the plane shows kernels or operations */
  struct open *open;      /* by depth: the open operation */
  bool leaves_out;        /* true if the match excludes work of the current track */
  bool beside;            /* true if the current track is an asynchronous line */
};

enum { IS_WORK = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER };

static tk_id process_of(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}

/* True if spans of the track can be work. On a device plane, these are the lines of kernels or, if it has none, all lines; in other
 * processes, all tracks. */
static bool is_counted(const struct finder *f, tk_id track) {
  const unsigned kind = f->m->kinds.of_track[track];
  return !(kind & KIND_DEVICE) || kind & KIND_KERNEL || !f->has_kernels[process_of(f->m->t, track)];
}

static void find_kernels(struct finder *f) {
  const struct tk_trace *t = f->m->t;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const unsigned kind = f->m->kinds.of_track[i];
    if (kind & KIND_KERNEL && t->tracks[i].count) f->has_kernels[process_of(t, i)] = true;
  }
}

/* True for the asynchronous lines of a TPU. They show transfers by DMA or to other devices, which run in parallel to operations and to
 * each other. So a longer transfer on such a line does not contain a shorter one. */
static bool is_async_line(const struct tk_trace *t, tk_id track) {
  return strncmp(tk_string(t, t->tracks[track].name, NULL), "Async XLA Ops", 13) == 0;
}

static unsigned work_class_of(const struct finder *f, const struct tk_event *e, unsigned kind) {
  struct tk_arg arg;
  if (kind & KIND_MEMSET) return WORK_FILL;
  if (kind & KIND_COLLECTIVE || (f->collective && args_of_event(f->m->t, e, f->collective, &arg))) return WORK_COMMUNICATION;
  return kind & (KIND_MEMCPY | KIND_TRANSFER) ? WORK_COPY : WORK_COMPUTE;
}

static bool add_piece(struct finder *f, tk_id event, tk_time start, tk_time end, bool first) {
  const struct tk_event *e = &f->m->t->events[event];
  const struct window *win = scope_window(f->scope, e);
  struct works *w = f->w;
  if (!mem_grow(w->mem, (void **)&w->v, &w->cap, (uint64_t)w->n + 1, sizeof *w->v)) return false;
  if (start < win->start) start = win->start;
  if (end > win->end) end = win->end;
  w->v[w->n++] = (struct work){.start = start, .end = end > start ? end : start, .event = event,
                               .launch = w->launch_of ? w->launch_of[event] : 0,
                               .class = (uint8_t)work_class_of(f, e, kinds_of(&f->m->kinds, e)), .first = first, .beside = f->beside};
  return true;
}

/* Records the last part of each open operation at `depth` or deeper. */
static bool close_down_to(struct finder *f, uint32_t depth, uint32_t *deepest) {
  bool ok = true;
  for (; ok && *deepest > depth; --*deepest) {
    const struct open last = f->open[*deepest - 1];
    f->open[*deepest - 1].event = 0;
    if (!last.event) continue;
    const struct tk_event *e = &f->m->t->events[last.event];
    if (!last.begun || last.cursor < e->ts + e->dur) ok = add_piece(f, last.event, last.cursor, e->ts + e->dur, !last.begun);
  }
  return ok;
}

/* Records the part of the enclosing operation that ends where this event starts. */
static bool interrupt(struct finder *f, const struct tk_event *e, uint32_t deepest) {
  uint32_t d = e->depth < deepest ? e->depth : deepest;
  while (d && !f->open[d - 1].event) d--;
  if (!d) return true;
  const struct open outer = f->open[d - 1];
  f->open[d - 1].begun = true;
  f->open[d - 1].cursor = e->ts + e->dur;
  return (e->ts <= outer.cursor && outer.begun) || add_piece(f, outer.event, outer.cursor, e->ts, !outer.begun);
}

/* True if the work is selected. Sets leaves_out if the match excludes work that is in the scope. */
static bool takes(struct finder *f, tk_id work) {
  const bool in_scope = scope_holds(f->scope, &f->m->t->events[work]), passes = in_scope && match_event(f->m, work);
  f->leaves_out = f->leaves_out || (in_scope && !passes);
  return passes;
}

static bool take_nested(struct finder *f, const struct tk_track *k) {
  const struct tk_trace *t = f->m->t;
  uint32_t deepest = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind != TK_EVENT_SPAN || !(kinds_of(&f->m->kinds, e) & IS_WORK) ||
        e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
    if (!takes(f, i)) continue;
    if (!close_down_to(f, e->depth, &deepest) || !interrupt(f, e, deepest)) return false;
    while (deepest < e->depth) f->open[deepest++] = (struct open){0};
    f->open[deepest++] = (struct open){.event = i, .cursor = e->ts};
  }
  return close_down_to(f, 0, &deepest);
}

static bool take_flat(struct finder *f, const struct tk_track *k) {
  const struct tk_trace *t = f->m->t;
  bool ok = true;
  for (tk_id i = k->first; ok && i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    const unsigned kind = kinds_of(&f->m->kinds, e);
    if (e->kind != TK_EVENT_SPAN || !(kind & KIND_DEVICE) || !(kind & IS_WORK) ||
        e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK)) continue;
    if (takes(f, i)) ok = add_piece(f, i, e->ts, e->ts + e->dur, true);
  }
  return ok;
}

static uint64_t rank_key(const struct finder *f, tk_id track) {
  return f->m->origins ? (uint64_t)(f->m->origins[track].rank + 2) : 1;
}

/* Finds, for each rank with one device, the process that represents the device, because some producers show the device's collectives or
 * copies in other processes. */
static bool find_hardware(struct finder *f) {
  const struct tk_trace *t = f->m->t;
  bool any = false;
  map_init(&f->hardware, f->w->mem);
  for (tk_id i = 1; i <= t->n_tracks && !any; i++) any = t->tracks[i].kind == TK_TRACK_PROCESS && accelerator_is_part(t, i);
  for (tk_id i = 1; any && i <= t->n_tracks; i++) {
    const tk_id process = t->tracks[i].parent;
    const bool is_whole = accelerator_of(t, process).family || accelerator_spans_is_whole(t, i);
    if (!(f->m->kinds.roles[i] & KIND_DEVICE) || !is_whole) continue;
    uint32_t *device = map_put(&f->hardware, rank_key(f, process), process);
    if (!device) return false;
    if (*device != process) *device = 0;
  }
  for (tk_id i = 1; any && i <= t->n_tracks; i++) { /* for traces that contain only collectives */
    const bool is_device = t->tracks[i].kind == TK_TRACK_PROCESS && accelerator_of(t, i).family;
    if (is_device && !map_put(&f->hardware, rank_key(f, i), i)) return false;
  }
  return true;
}

/* Finds the first thread of each device within a process. `alone`: process -> this thread if the process has only one device, otherwise
 * 0. */
static bool list_devices(const struct tk_trace *t, struct map *first, struct map *alone) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct accelerator a = accelerator_is_thread(t, i) ? accelerator_of(t, i) : (struct accelerator){NULL, -1};
    if (!a.family || a.number < 0) continue;
    const uint64_t process = t->tracks[i].parent;
    uint32_t *of_device = map_put(first, process << 32 | (uint32_t)a.number, i);
    uint32_t *of_process = map_put(alone, process, i);
    if (!of_device || !of_process) return false;
    if (*of_process != *of_device) *of_process = 0;
  }
  return true;
}

static bool shows_device(const struct tk_trace *t, tk_id track) {
  return accelerator_is_thread(t, track) || (t->tracks[track].kind == TK_TRACK_THREAD && accelerator_is_queue(t,
      t->tracks[track].parent));
}

/* Returns the hash of the job in the name of a process of TensorFlow 1, because several workers may have a GPU 0:
 * "/job:worker/replica:0/task:7/gpu:0/stream:13 Compute". */
static uint64_t job_of(const struct tk_trace *t, tk_id process) {
  const char *name = tk_string(t, t->tracks[process].name, NULL), *job = strstr(name, "/job:");
  const char *end = job ? strstr(job, "/device:") : NULL;
  if (job && !end) end = strstr(job, "/gpu:");
  return end ? hash_text(job, (size_t)(end - job)) : 0;
}

/* If several processes show queues of the same device, assigns the first of these processes to the threads of all of them. */
static bool join_queues(struct finder *f) {
  const struct tk_trace *t = f->m->t;
  struct map first;
  bool ok = true;
  map_init(&first, f->w->mem);
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const tk_id process = t->tracks[i].parent;
    if (t->tracks[i].kind != TK_TRACK_THREAD || !accelerator_is_queue(t, process)) continue;
    const uint64_t device = rank_key(f, i) << 32 | (uint32_t)accelerator_of(t, process).number;
    const uint32_t *at = map_put(&first, hash_mix(device, job_of(t, process)), process);
    ok = at != NULL;
    f->devices[i] = at ? *at : 0;
  }
  map_free(&first);
  return ok;
}

/* Assigns a device to each thread that shows device work. Threads with copies have no device number; if the process has only one
 * device, they belong to it. */
static bool find_devices(struct finder *f) {
  const struct tk_trace *t = f->m->t;
  struct map first, alone;
  tk_id i = 1;
  while (i <= t->n_tracks && !shows_device(t, i)) i++;
  if (i > t->n_tracks) return true;
  if (!(f->devices = mem_array(f->w->mem, (uint64_t)t->n_tracks + 1, sizeof *f->devices))) return false;
  map_init(&first, f->w->mem);
  map_init(&alone, f->w->mem);
  const bool ok = list_devices(t, &first, &alone);
  for (i = 1; ok && i <= t->n_tracks; i++) {
    const struct accelerator a = accelerator_is_thread(t, i) ? accelerator_of(t, i) : (struct accelerator){NULL, -1};
    const uint64_t process = t->tracks[i].parent;
    const uint32_t *at = a.number >= 0 ? map_get(&first, process << 32 | (uint32_t)a.number) : map_get(&alone, process);
    f->devices[i] = at && accelerator_is_thread(t, i) ? *at : 0;
  }
  map_free(&first);
  map_free(&alone);
  return ok && join_queues(f);
}

/* Returns the process, or the first thread, that represents the device of a track. */
static tk_id device_of(const struct finder *f, tk_id track) {
  const tk_id process = process_of(f->m->t, track);
  if (f->devices && f->devices[track]) return f->devices[track];
  const uint32_t *whole = f->hardware.n && accelerator_is_part(f->m->t, process) ? map_get(&f->hardware, rank_key(f, process)) : NULL;
  return whole && *whole ? *whole : process;
}

/* Returns the row for the device of a track; NULL if memory runs out. */
static struct work_row *work_row_of(struct finder *f, tk_id track) {
  struct works *w = f->w;
  const tk_id process = device_of(f, track);
  const struct track_origin *o = f->m->origins ? &f->m->origins[track] : NULL;
  uint32_t *slot = &w->row_of[process];
  if (*slot) return &w->rows[*slot - 1];
  if (!mem_grow(w->mem, (void **)&w->rows, &w->cap_rows, (uint64_t)w->n_rows + 1, sizeof *w->rows)) return NULL;
  w->rows[w->n_rows] = (struct work_row){.process = process, .track = track, .rank = o ? o->rank : -1, .host = o ? o->host : ""};
  *slot = ++w->n_rows;
  return &w->rows[*slot - 1];
}

static uint64_t count_unfinished(const struct finder *f, const struct tk_track *k) {
  uint64_t n = 0;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &f->m->t->events[i];
    const unsigned kind = kinds_of(&f->m->kinds, e);
    if (e->kind == TK_EVENT_SPAN && e->flags & TK_FLAG_UNFINISHED && kind & KIND_DEVICE && kind & IS_WORK)
      n += scope_holds(f->scope, e) && match_event(f->m, i);
  }
  return n;
}

static bool take_track(struct finder *f, tk_id track) {
  struct works *w = f->w;
  const struct tk_track *k = &f->m->t->tracks[track];
  const uint32_t first = w->n;
  if (k->count == 0 || !is_counted(f, track)) return true;
  f->leaves_out = false;
  const bool has_ops = (f->m->kinds.of_track[track] & (KIND_DEVICE | KIND_OP)) == (KIND_DEVICE | KIND_OP);
  f->beside = is_async_line(f->m->t, track);
  const bool nests = has_ops && k->kind == TK_TRACK_THREAD && !f->beside;
  if (!(nests ? take_nested(f, k) : take_flat(f, k))) return false;
  if (f->leaves_out) w->partial[device_of(f, track)] = true;
  const uint64_t unfinished = count_unfinished(f, k);
  struct work_row *row = w->n > first || unfinished ? work_row_of(f, track) : NULL;
  if (!row) return !w->mem->failed;
  row->unfinished += unfinished;
  if (w->n == first) return true;
  if (!mem_grow(w->mem, (void **)&w->streams, &w->cap_streams, (uint64_t)w->n_streams + 1, sizeof *w->streams)) return false;
  w->streams[w->n_streams++] = (struct work_stream){track, (uint32_t)(row - w->rows), first, w->n - first};
  return true;
}

bool works_find(struct works *w, const struct match *m, const struct scope *scope, bool launches, struct mem *mem) {
  struct finder f = {.w = w, .m = m, .scope = scope};
  const struct tk_trace *t = m->t;
  *w = (struct works){.mem = mem};
  w->row_of = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *w->row_of);
  w->partial = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *w->partial);
  if (launches) w->launch_of = mem_zeros(mem, (uint64_t)t->n_events + 1, sizeof *w->launch_of);
  f.has_kernels = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *f.has_kernels);
  f.open = mem_array(mem, UINT16_MAX + 2, sizeof *f.open);
  bool ok = w->row_of && w->partial && (w->launch_of || !launches) && f.has_kernels && f.open;
  if (ok) {
    f.collective = trace_text_id(t, "Collective name");
    find_kernels(&f);
    ok = find_hardware(&f) && find_devices(&f);
  }
  ok = ok && (!launches || launched_each(&m->kinds, m->origins, mem, launched_keep, w->launch_of));
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) ok = take_track(&f, i);
  if (f.hardware.mem) map_free(&f.hardware);
  mem_free(mem, f.devices);
  mem_free(mem, f.has_kernels);
  mem_free(mem, f.open);
  return ok;
}

void works_free(struct works *w) {
  if (!w->mem) return;
  mem_free(w->mem, w->v);
  mem_free(w->mem, w->streams);
  mem_free(w->mem, w->rows);
  mem_free(w->mem, w->row_of);
  mem_free(w->mem, w->partial);
  mem_free(w->mem, w->launch_of);
  *w = (struct works){.mem = NULL};
}

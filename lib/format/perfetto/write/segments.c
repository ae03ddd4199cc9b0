/* segments.c - see segments.h. */
#include "segments.h"

#include "base/jobs.h"
#include "graph/stack.h"
#include "event.h"
#include "lanes.h"
#include "nest.h"

enum {
  SEGMENT = 64 << 10,  /* maximum number of events of a segment */
  LEAST = SEGMENT / 8, /* fewest events of a track that is written in segments */
  PACKETS = 4 << 20,   /* usual size of the packets of a segment, at most */
  SMALL = 64 << 20     /* memory that the segments of a small graph may use as well */
};

struct segment {
  struct mem mem;
  struct out out;
  struct event_writer w;
  struct open_spans start, stack; /* open spans at the start; copy that the thread changes */
  uint64_t uuid;
  tk_id first, end;
  uint32_t skip_below; /* as in struct nest, at the start */
  bool ends_track, ok;
};

struct segments {
  struct jobs *jobs; /* NULL = the caller's thread writes each segment at once */
  bool is_restarted; /* true if the writer of the sink does not have the state of the sequence */
  unsigned given, taken, n;
  struct segment v[];
};

bool segments_takes(const struct perfetto_sink *s, tk_id track) {
  return s->t->tracks[track].count >= LEAST && !s->w.accompanied && !stack_has_samples(s->t);
}

/* ---- one segment ---- */

/* Writes the events first .. end-1 of a track whose open spans are on the stack. */
static void write_events(struct event_writer *w, struct open_spans *stack, const struct segment *g) {
  struct nest n = {.w = w, .stack = stack, .skip_below = g->skip_below};
  writer_restart(w);
  writer_track(w, g->uuid);
  for (tk_id i = g->first; i < g->end; i++) nest_event(&n, i);
  if (g->ends_track) lanes_close_slices(w, stack, 0);
}

static bool copy_stack(struct mem *mem, struct open_spans *to, const struct open_spans *from) {
  if (!mem_grow(mem, (void **)&to->v, &to->cap, from->n, sizeof *to->v)) return false;
  for (uint32_t i = 0; i < from->n; i++) to->v[i] = from->v[i];
  to->n = from->n;
  return true;
}

static void do_segment(void *job) {
  struct segment *g = job;
  if (copy_stack(&g->mem, &g->stack, &g->start)) write_events(&g->w, &g->stack, g);
  g->ok = !g->mem.failed;
}

/* ---- segments in the memory of their threads ---- */

static void segment_free(struct mem *mem, struct segment *g) {
  out_close(&g->out);
  writer_unfork(&g->w);
  mem_free(&g->mem, g->stack.v);
  mem_free(mem, g->start.v);
}

static bool segment_begin(struct segment *g, const struct perfetto_sink *s, uint64_t room) {
  static const struct out_options PLAIN;
  struct tk_err err = {0};
  *g = (struct segment){.mem = {.limit = room}};
  if (!writer_fork(&g->w, &s->w, &g->out, &g->mem)) return false;
  event_find_keys(&g->w);
  return out_memory(&g->out, &PLAIN, &g->mem, &err);
}

/* Returns how many segments may be in memory at the same time; 0 = only the caller's thread may write. `room` becomes the memory for
 * each. All of them usually need no more than the graph itself, even with many threads and many strings. */
static unsigned most_segments(const struct perfetto_sink *s, uint64_t *room) {
  const uint64_t cost = (uint64_t)s->t->store->strings.n * 6 * sizeof(uint32_t) + PACKETS;
  const uint64_t free = s->mem.limit ? s->mem.limit - s->mem.used : UINT64_MAX, graph = s->t->store->mem.used + SMALL;
  const uint64_t usual = free / 4 < graph ? free / 4 : graph;
  const bool needs_order = s->w.meter || s->w.n_kept || s->w.extensions.schema.n;
  unsigned n = s->opt.threads + 1;
  if (s->opt.threads < 2 || needs_order || (s->mem.limit && s->mem.used >= s->mem.limit)) return 0;
  while (n > 1 && usual / n < cost) n--;
  *room = free / n / 2;
  return n < 2 ? 0 : n < JOBS_MOST ? n : JOBS_MOST;
}

static void segments_begin(struct perfetto_sink *s) {
  uint64_t room = 0;
  const unsigned n = most_segments(s, &room);
  struct segments *g = mem_alloc(&s->mem, sizeof *g + n * sizeof *g->v);
  if (!g) return;
  *g = (struct segments){.jobs = n ? jobs_start(s->opt.threads - 1, do_segment) : NULL};
  s->segments = g;
  while (g->jobs && g->n < n) {
    if (!segment_begin(&g->v[g->n], s, room)) return segment_free(&s->mem, &g->v[g->n]);
    g->n++;
  }
}

/* Waits for the oldest segment and writes its packets. If its share of memory was too small, it is written again with all of the
 * memory. */
static void take_segment(struct perfetto_sink *s) {
  struct segments *all = s->segments;
  struct segment *g = jobs_take(all->jobs);
  size_t n;
  all->taken++;
  const uint8_t *packets = out_memory_take(&g->out, &n);
  if (g->ok) {
    out_write(s->out, packets, n);
    s->w.n_packets += g->w.n_packets;
    s->w.n_lost_fields += g->w.n_lost_fields;
  } else {
    const bool is_mixed = s->w.track_is_mixed, has_scope = s->w.track_has_scope;
    struct open_spans stack = {0};
    s->w.track_is_mixed = g->w.track_is_mixed;
    s->w.track_has_scope = g->w.track_has_scope;
    if (copy_stack(&s->mem, &stack, &g->start)) write_events(&s->w, &stack, g);
    mem_free(&s->mem, stack.v);
    s->w.track_is_mixed = is_mixed;
    s->w.track_has_scope = has_scope;
  }
  g->w.n_packets = g->w.n_lost_fields = 0;
}

/* Gives a segment to the threads. */
static void give_segment(struct perfetto_sink *s, const struct segment *of) {
  struct segments *all = s->segments;
  struct segment *g = &all->v[all->given % all->n];
  if (all->given - all->taken == all->n) take_segment(s);
  g->uuid = of->uuid;
  g->first = of->first;
  g->end = of->end;
  g->skip_below = of->skip_below;
  g->ends_track = of->ends_track;
  g->w.sequence = s->w.sequence;
  g->w.machine = s->w.machine;
  g->w.base_ns = s->w.base_ns;
  g->w.track_is_mixed = s->w.track_is_mixed;
  g->w.track_has_scope = s->w.track_has_scope;
  if (!copy_stack(&s->mem, &g->start, &s->stack)) return;
  all->given++;
  jobs_give(all->jobs, g);
}

/* ---- the track ---- */

void segments_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const tk_id end = k->first + k->count;
  const uint32_t n = (k->count + SEGMENT - 1) / SEGMENT, size = (k->count + n - 1) / n;
  if (!s->segments) segments_begin(s);
  if (!s->segments) return;
  const bool waits = s->segments->n != 0;
  struct nest walk = {.w = &s->w, .stack = &s->stack, .skip_below = UINT32_MAX, .quiet = waits};
  for (tk_id i = k->first; i < end; i++) {
    if ((i - k->first) % size == 0) {
      const struct segment g = {.uuid = s->uuids[track], .first = i, .end = end - i > size ? i + size : end,
                                .skip_below = walk.skip_below, .ends_track = end - i <= size};
      if (waits) give_segment(s, &g);
      else writer_restart(&s->w), writer_track(&s->w, g.uuid);
    }
    if (nest_event(&walk, i) == NEST_DEEP) writer_add_deep(s, i);
  }
  if (waits) s->stack.n = 0;
  else lanes_close_slices(&s->w, &s->stack, 0);
  s->segments->is_restarted = true;
}

void segments_flush(struct perfetto_sink *s) {
  struct segments *all = s->segments;
  if (!all || !all->is_restarted) return;
  while (all->taken != all->given) take_segment(s);
  writer_restart(&s->w);
  all->is_restarted = false;
}

void segments_end(struct perfetto_sink *s) {
  struct segments *all = s->segments;
  if (!all) return;
  jobs_stop(all->jobs);
  for (unsigned i = 0; i < all->n; i++) segment_free(&s->mem, &all->v[i]);
  mem_free(&s->mem, all);
  s->segments = NULL;
}

/* writer.c - writes the packets of a graph: manages the sequence's clock, default track and interned text. */
#include "writer.h"
#include "extension.h"
#include "graph/stack.h"

#include <string.h>

/* ---- interning ---- */

static bool iids_init(struct iids *i, uint32_t n, struct mem *mem) {
  size_t size = ((size_t)n + 1) * sizeof *i->iid;
  *i = (struct iids){0};
  i->iid = mem_alloc(mem, size);
  if (i->iid) memset(i->iid, 0, size);
  return i->iid != NULL;
}

static void iids_free(struct iids *i, struct mem *mem) {
  mem_free(mem, i->iid);
  mem_free(mem, i->known);
  *i = (struct iids){0};
}

void writer_iids_set(struct event_writer *w, struct iids *kind, tk_id s, uint32_t iid) {
  if (!kind->iid[s] && mem_grow(w->mem, (void **)&kind->known, &kind->cap_known, (uint64_t)kind->n_known + 1, sizeof *kind->known))
    kind->known[kind->n_known++] = s;
  kind->iid[s] = iid;
}

static void iids_forget(struct iids *i) {
  while (i->n_known) i->iid[i->known[--i->n_known]] = 0;
  i->n = 0;
}

uint32_t writer_new_iid(struct event_writer *w, struct iids *kind, uint32_t field, tk_id s, uint32_t skip) {
  const struct intern_str *text = trace_str(w->t, s);
  uint32_t *n = kind == &w->end_keys ? &w->keys.n : &kind->n; /* both are names of annotations, so they share iids */
  writer_iids_set(w, kind, s, ++*n);
  w->scratch.len = 0;
  pb_u64(&w->scratch, INTERNED_IID, kind->iid[s]);
  pb_bytes(&w->scratch, INTERNED_TEXT, text->bytes + skip, text->len - skip);
  pb_message(&w->interned, field, &w->scratch);
  return kind->iid[s];
}

/* ---- begin and end ---- */

/* The members of which each writer of a sequence has its own: buffers, and what the sequence has interned. */
enum { OWN_BUFS = 11, OWN_IIDS = 6 };
struct own {
  struct buf *bufs[OWN_BUFS];
  struct iids *iids[OWN_IIDS];
};

static struct own own_of(struct event_writer *w) {
  return (struct own){{&w->interned, &w->event, &w->annotation, &w->packet, &w->scratch, &w->decoded, &w->private_fields, &w->sample,
                       &w->stage, &w->counter, &w->legacy},
                      {&w->names, &w->categories, &w->keys, &w->values, &w->end_keys, &w->point_classes}};
}

static bool own_begin(struct event_writer *w) {
  const struct own own = own_of(w);
  bool ok = true;
  w->started = false;
  w->track = UINT64_MAX; /* no track */
  w->last_flow_end = w->last_point = 0;
  w->n_lost_fields = 0;
  map_init(&w->stage_iids, w->mem);
  for (int i = 0; i < OWN_BUFS; i++) *own.bufs[i] = (struct buf){.mem = w->mem};
  for (int i = 0; i < OWN_IIDS; i++) ok = iids_init(own.iids[i], w->t->store->strings.n, w->mem) && ok;
  return ok;
}

static void own_end(struct event_writer *w) {
  const struct own own = own_of(w);
  for (int i = 0; i < OWN_BUFS; i++) buf_free(own.bufs[i]);
  for (int i = 0; i < OWN_IIDS; i++) iids_free(own.iids[i], w->mem);
  nested_free(&w->nested);
  map_free(&w->stage_iids);
}

bool writer_begin(struct event_writer *w, const struct tk_trace *t, int64_t base_ns, struct out *out, struct mem *mem) {
  const uint32_t n = t->store->strings.n;
  w->t = t;
  w->out = out;
  w->mem = mem;
  w->base_ns = base_ns;
  w->n_flow_ends = 0;
  w->has_ends = w->plain_has_points = false;
  extension_begin(&w->extensions, t, mem);
  w->key_types = passthrough_key_types(t, mem);
  const bool ok = !stack_has_samples(t) || (iids_init(&w->functions, n, mem) && iids_init(&w->paths, n, mem) &&
                                            iids_init(&w->sources, n, mem) && iids_init(&w->mappings, n, mem) &&
                                            iids_init(&w->frames, t->n_frames, mem) && iids_init(&w->stacks, t->n_stacks, mem));
  return own_begin(w) && ok;
}

void writer_end(struct event_writer *w) {
  struct iids *of_samples[] = {&w->functions, &w->paths, &w->sources, &w->mappings, &w->frames, &w->stacks};
  own_end(w);
  for (size_t i = 0; i < sizeof of_samples / sizeof *of_samples; i++) iids_free(of_samples[i], w->mem);
  mem_free(w->mem, w->points);
  mem_free(w->mem, w->has_flows);
  w->has_flows = NULL;
  w->points = NULL;
  w->n_points = 0;
  mem_free(w->mem, w->flow_ends);
  w->flow_ends = NULL;
  w->cap_flow_ends = 0;
  extension_free(&w->extensions);
  mem_free(w->mem, w->key_types);
  w->key_types = NULL;
  mem_free(w->mem, w->kept);
  w->kept = NULL;
  w->cap_kept = w->n_kept = 0;
}

bool writer_fork(struct event_writer *w, const struct event_writer *from, struct out *out, struct mem *mem) {
  *w = *from;
  w->out = out;
  w->mem = mem;
  w->n_packets = 0;
  w->nested = (struct nested_writer){.copy = {0}};
  w->functions = w->paths = w->sources = w->mappings = w->frames = w->stacks = (struct iids){0};
  return own_begin(w);
}

void writer_unfork(struct event_writer *w) { own_end(w); }

void writer_restart(struct event_writer *w) {
  struct iids *all[] = {&w->names, &w->categories, &w->keys, &w->end_keys, &w->values, &w->point_classes,
                        &w->functions, &w->paths, &w->sources, &w->mappings, &w->frames, &w->stacks};
  for (size_t i = 0; w->started && i < sizeof all / sizeof *all; i++) iids_forget(all[i]);
  map_free(&w->stage_iids);
  map_init(&w->stage_iids, w->mem);
  w->started = false;
  w->track = UINT64_MAX; /* no track */
}

void writer_switch(struct event_writer *w, uint32_t machine, int64_t base_ns) {
  w->base_ns = base_ns;
  w->machine = machine;
  writer_restart(w);
}

/* ---- packets ---- */

void writer_packet(struct out *out, const struct buf *packet) {
  uint8_t *p = out_reserve(out, 16);
  out->next = varint_put(pb_key(p, TRACE_PACKET, PB_BYTES), packet->len);
  out_write(out, packet->data, packet->len);
}

static void write_sequence(struct event_writer *w, struct buf *packet, uint64_t flags) {
  pb_u64(packet, PACKET_SEQUENCE_ID, w->sequence);
  pb_u64(packet, PACKET_SEQUENCE_FLAGS, flags);
  if (w->machine) pb_u64(packet, PACKET_MACHINE_ID, w->machine);
}

/* Writes a clock snapshot. At the start of a sequence, this clears the state. Later snapshots only state the base of the
 * incremental clock again, so that a damaged timestamp misplaces events only until the next snapshot. */
static void clock_snapshot(struct event_writer *w) {
  struct buf *b = &w->scratch, *snapshot = &w->annotation;
  snapshot->len = 0;
  for (int incremental = 0; incremental < 2; incremental++) {
    b->len = 0;
    pb_u64(b, CLOCK_ID, incremental ? CLOCK_OF_SEQUENCE : w->clock);
    pb_u64(b, CLOCK_TIMESTAMP, 0);
    if (incremental) pb_u64(b, CLOCK_IS_INCREMENTAL, 1);
    pb_message(snapshot, SNAPSHOT_CLOCKS, b);
  }
  w->packet.len = 0;
  write_sequence(w, &w->packet, w->started ? SEQUENCE_NEEDS_STATE : SEQUENCE_CLEARED);
  pb_message(&w->packet, PACKET_CLOCK_SNAPSHOT, snapshot);
  writer_packet(w->out, &w->packet);
  w->last_ns = 0;
  w->n_since_clock = 0;
  w->started = true;
}

void writer_track(struct event_writer *w, uint64_t uuid) {
  struct buf *b = &w->scratch, *defaults = &w->annotation;
  if (w->track == uuid) return;
  if (!w->started) clock_snapshot(w);
  b->len = defaults->len = w->packet.len = 0;
  pb_u64(b, EVENT_DEFAULTS_TRACK_UUID, uuid);
  for (unsigned i = 0; i < THREAD_COUNTERS; i++)
    if (w->companions[i]) pb_u64(b, EVENT_DEFAULTS_EXTRA_UUIDS, w->companions[i]);
  pb_message(defaults, DEFAULTS_TRACK_EVENT, b);
  pb_u64(defaults, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_OF_SEQUENCE);
  write_sequence(w, &w->packet, SEQUENCE_NEEDS_STATE);
  pb_message(&w->packet, PACKET_DEFAULTS, defaults);
  writer_packet(w->out, &w->packet);
  w->track = uuid;
}

/* Writes a packet on the writer's sequence. The order of fields is chosen for deflate: parts that vary between packets
 * (lengths, name; time and the next length) are adjacent, and the constant parts between them are one match. */
void writer_sequence_packet(struct event_writer *w, int64_t ns) {
  enum { CLOCK_EVERY = 512 };
  struct buf *p = &w->packet;
  if (++w->n_since_clock > CLOCK_EVERY) clock_snapshot(w);
  p->len = 0;
  if (w->interned.len) pb_message(p, PACKET_INTERNED_DATA, &w->interned);
  if (w->event.len) pb_message(p, PACKET_TRACK_EVENT, &w->event);
  if (w->sample.len) pb_message(p, PACKET_PERF_SAMPLE, &w->sample);
  if (w->stage.len) pb_message(p, PACKET_GPU_RENDER_STAGE, &w->stage);
  if (w->counter.len) pb_message(p, PACKET_GPU_COUNTER, &w->counter);
  if (w->has_private_fields) pb_message(p, PACKET_TRACEKIT, &w->private_fields);
  write_sequence(w, p, SEQUENCE_NEEDS_STATE);
  pb_u64(p, PACKET_TIMESTAMP, (uint64_t)(ns - w->last_ns));
  writer_packet(w->out, p);
  w->last_ns = ns;
}

/* Returns 0, 1, ... for processes, threads, named tracks, counters, async spans. A reader finds tracks in this order, in which
 * they are described, and writes them in the same order again. */
unsigned writer_place_of(const struct tk_track *k) {
  static const uint8_t PLACES[] = {[TK_TRACK_PROCESS] = 0, [TK_TRACK_THREAD] = 1, [TK_TRACK_COUNTERS] = 3, [TK_TRACK_ASYNCS] = 4};
  return track_is_named(k) ? 2 : PLACES[k->kind];
}

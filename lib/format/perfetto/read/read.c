/* read.c - reads a Trace into a graph, one packet at a time, through a window.
 *
 *     Trace        packet*                               repeated field 1, any number of them   frames.c, chunks.c
 *       packet     state of its sequence, then its data                                         packet.c
 *       packet     compressed_packets: zlib or zstd      decompressed completely; nested up to four deep
 *
 * Damage costs only the data it affects. A packet that cannot be parsed to its end is read as far as possible. A packet with a
 * wrong length ends where the next one is found (frames.h). If no next packet is found, everything before the damage is kept.
 */
#include <string.h>

#include "read.h"
#include "compressed.h"
#include "format/chunks.h"
#include "frames.h"
#include "format/perfetto/perfetto.h"
#include "sched.h"
#include "early.h"
#include "prune.h"
#include "prune_packets.h"
#include "filed_stacks.h"
#include "procs.h"
#include "reader.h"
#include "sequence.h"
#include "parts.h"
#include "passthrough.h"
#include "packet.h"
#include "finish.h"
#include "decoded_args.h"
#include "chunks.h"

enum { LEVELS = 5, TICK = 4096 }; /* LEVELS: the file, its compressed packets, and packets nested in them */

/* A source of packets: the file, or a compressed packet. */
struct level {
  struct frames frames;
  struct buf bytes;
  bool damaged; /* true if it is damaged, and the damage has been reported */
};

struct levels {
  struct level of[LEVELS];
  unsigned n;
};

static bool push_level(struct perfetto *r, struct levels *s, const struct pb_field *f) {
  struct buf bytes = {.mem = &r->t->store->mem};
  if (s->n == LEVELS) {
    perfetto_note(r, TK_NOTE_REPAIR, "compressed packets nested more than 4 levels deep: skipped");
    return true;
  }
  enum inflated got = perfetto_inflate(r, f, &bytes);
  if (got == INFLATE_LIMIT) {
    buf_free(&bytes);
    return false;
  }
  if (got == INFLATE_DAMAGED) perfetto_damage(r, "damaged compressed packets, read as far as possible");
  if (got == INFLATE_CHECKSUM) perfetto_damage(r, "compressed packets with a wrong checksum: their values may be wrong");
  if (got == INFLATE_DAMAGED) r->t->counts.dropped++;
  if (!bytes.data) return true;
  struct level *l = &s->of[s->n++];
  *l = (struct level){.bytes = bytes};
  l->frames.s = (struct pb_in){.base = bytes.data, .p = bytes.data, .end = bytes.data + bytes.len, .last = true, .err = r->err};
  l->damaged = got != INFLATED;
  return true;
}

/* Processes a packet. If the packet is compressed, its contents are processed next. */
static bool read_frame(struct perfetto *r, struct levels *s, struct frame *f) {
  struct pb_field compressed = {0};
  if (f->other) {
    passthrough_other(r, f->p, f->n);
    return true;
  }
  if (f->n == 0) return true;
  if (!perfetto_packet(r, f->p, f->n, &compressed)) {
    frames_reconsider(&s->of[s->n - 1].frames, f);
    perfetto_damaged_packet(r, f->p, f->n, &compressed);
  } else if (f->found) {
    perfetto_damage(r, "packet with a wrong length or tag: it ends at the start of the next packet");
  }
  return !compressed.p || push_level(r, s, &compressed);
}

/* ---- the file ---- */

/* Leaves a compressed packet, and reports it if its contents end inside a packet or are not packets. */
static void pop_level(struct perfetto *r, struct levels *s, enum frame_status status) {
  struct level *l = &s->of[--s->n];
  if (status != FRAMES_END && !l->damaged) perfetto_damage(r, "damaged compressed packets, read as far as possible");
  buf_free(&l->bytes);
}

static bool stop_reading(struct perfetto *r, const struct pb_in *s, enum frame_status status) {
  const struct tk_err *fault = s->err;
  r->offset = pb_in_offset(s);
  if (status == FRAMES_FAIL && (fault->code != TK_ECORRUPT || r->n_packets == 0)) {
    if (r->err->code == TK_OK) *r->err = *fault;
    return false;
  }
  r->t->truncated = true;
  if (status != FRAMES_CUT && r->n_packets == 0)
    return err_at(r->err, TK_ECORRUPT, r->offset, "no packets could be found at byte %llu", (unsigned long long)r->offset);
  if (status == FRAMES_CUT) perfetto_note(r, TK_NOTE_REPAIR, "truncated: the file ends inside a packet");
  else perfetto_damage(r, "damaged: the rest is not a sequence of packets and was not read");
  if (status != FRAMES_CUT) r->t->counts.dropped++;
  return true;
}

/* Reads packets with several threads if this is possible at this point of the file. Returns false on an error. */
static bool read_chunks(struct perfetto *r, struct levels *s) {
  struct pb_in *in = &s->of[0].frames.s;
  struct pb_field compressed = {0};
  if (s->n > 1 || !perfetto_chunks_are_due(r, in)) return true;
  return perfetto_chunks_read(r, in, &compressed) && (!compressed.p || push_level(r, s, &compressed));
}

static bool read_levels(struct perfetto *r, struct levels *s) {
  struct level *file = &s->of[0];
  enum frame_status status;
  struct frame f;
  for (;;) {
    if (!read_chunks(r, s)) return false;
    if (r->t->store->early.failed) return true; /* the file is read again */
    status = frames_next(&s->of[s->n - 1].frames, &f);
    if (status != FRAME && s->n == 1) break;
    if (status != FRAME) {
      pop_level(r, s, status);
      continue;
    }
    if (s->n == 1) {
      r->offset = f.offset;
      r->n_packets++;
      if (r->n_packets % TICK == 0 && !perfetto_tick(r)) return false;
    }
    if (!read_frame(r, s, &f)) return false;
  }
  return status == FRAMES_END || stop_reading(r, &file->frames.s, status);
}

static bool read_trace(struct perfetto *r, struct in *in) {
  struct tk_err fault = {.offset = UINT64_MAX};
  struct levels s = {.n = 1};
  struct level *file = &s.of[0];
  r->in = in;
  prune_start(r);
  prune_packets_start(r);
  file->frames.s = (struct pb_in){.in = in, .err = &fault};
  bool ok = read_levels(r, &s);
  while (s.n > 1) buf_free(&s.of[--s.n].bytes);
  r->t->counts.bytes = pb_in_offset(&file->frames.s);
  parts_end(r);
  if (ok) perfetto_read_deferred(r);
  return ok && perfetto_tick(r);
}

static bool first_slot(struct mem *mem, void **array, uint32_t *cap, size_t size) {
  const bool ok = mem_grow(mem, array, cap, 1, size);
  if (ok) memset(*array, 0, size);
  return ok;
}

/* Adds a dummy as element 0 of each array, which is used when memory runs out (base/mem.h). */
static bool add_dummies(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  return first_slot(mem, (void **)&r->sequences, &r->cap_sequences, sizeof *r->sequences) &&
         first_slot(mem, (void **)&r->generations, &r->cap_generations, sizeof *r->generations) &&
         first_slot(mem, (void **)&r->nodes, &r->cap_nodes, sizeof *r->nodes) &&
         first_slot(mem, (void **)&r->clocks, &r->cap_clocks, sizeof *r->clocks) &&
         first_slot(mem, (void **)&r->machines, &r->cap_machines, sizeof *r->machines);
}

/* Buffers and maps of the reader that are created empty and freed at the end, as offsets. */
#define AT(member) offsetof(struct perfetto, member)
static const size_t BUFFERS[] = {AT(decoder.text), AT(decoder.json), AT(extensions.json), AT(extensions.path), AT(extensions.rest),
                                 AT(text), AT(json), AT(fields), AT(value_types), AT(types), AT(copy), AT(packets),
                                 AT(descriptors), AT(late_descriptors), AT(early_copy), AT(gpu_links),
                                 AT(parts.packet), AT(parts.content), AT(parts.columns)};
static const size_t MAPS[] = {AT(gpu_nodes), AT(gpu_machines), AT(gpu_counters.index), AT(counter_classes.index),
                              AT(counter_sums.index), AT(sequence_index), AT(uuid_index), AT(thread_index), AT(clock_index),
                              AT(sequence_clock_index), AT(machine_index), AT(machine_names), AT(early_cpus),
                              AT(prune.flows), AT(prune.flow_ids)};
#undef AT
enum { N_BUFFERS = sizeof BUFFERS / sizeof *BUFFERS, N_MAPS = sizeof MAPS / sizeof *MAPS };

static struct buf *buffer_at(struct perfetto *r, int i) { return (struct buf *)((char *)r + BUFFERS[i]); }
static struct map *map_at(struct perfetto *r, int i) { return (struct map *)((char *)r + MAPS[i]); }

static void free_sequences(struct perfetto *r) {
  for (uint32_t i = 1; i <= r->n_sequences; i++) {
    sequence_clear(r, &r->sequences[i]);
    buf_free(&r->sequences[i].pending);
    buf_free(&r->sequences[i].deferred);
  }
}

static void free_arrays(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  for (uint32_t i = 0; r->clocks && i <= r->n_clocks; i++) mem_free(mem, r->clocks[i].points);
  for (uint32_t i = 1; i <= r->n_generations; i++) buf_free(&r->generations[i].bytes);
  void *const all[] = {r->generations, r->sequences, r->nodes, r->clocks, r->machines, r->pending, r->points, r->prune.sites,
                       r->gpu_queues.ids, r->gpu_stages.ids, r->gpu_counters.of, r->collected.args, r->counter_classes.of,
                       r->counter_sums.of, r->extensions.found, r->extensions.members, r->parts.edges,
                       r->packet_prune.dropped_until};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) mem_free(mem, all[i]);
}

static void free_reader(struct perfetto *r) {
  free_sequences(r);
  procs_free(r);
  filed_stacks_free(r);
  sched_free(r);
  decoded_layouts_stop(r);
  schema_free(&r->extensions.schema);
  intern_free(&r->parts.seen);
  for (int i = 0; i < N_BUFFERS; i++) buf_free(buffer_at(r, i));
  for (int i = 0; i < N_MAPS; i++) map_free(map_at(r, i));
  free_arrays(r);
  mem_free(&r->t->store->mem, r);
}

static struct perfetto *new_reader(struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct perfetto *r = mem_alloc(mem, sizeof *r);
  if (!r) return NULL;
  *r = (struct perfetto){.t = t, .err = err, .opt = opt, .trace_clock = CLOCK_BOOTTIME};
  r->filed = r->decoder.filed = (t->store->without & TK_WITHOUT_RESTORING) != 0;
  r->interned_key = trace_text(t, ARG_INTERNED);
  for (int i = 0; i < N_BUFFERS; i++) buffer_at(r, i)->mem = mem;
  for (int i = 0; i < N_MAPS; i++) map_init(map_at(r, i), mem);
  procs_init(r);
  filed_stacks_init(r);
  sched_init(r);
  schema_init(&r->extensions.schema, mem);
  intern_init(&r->parts.seen, mem);
  if (r->filed) schema_add_known(&r->extensions.schema);
  return r;
}

bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct perfetto *r = new_reader(t, opt, err);
  if (!r) return mem_refuse(mem, err);
  bool ok = add_dummies(r) && decoded_layouts_start(r) && perfetto_chunks_start(r) && read_trace(r, in);
  chunks_stop(r->chunks);
  if (ok) perfetto_finish(r);
  free_reader(r);
  return ok ? mem_check(mem, err) : mem_refuse(mem, err);
}

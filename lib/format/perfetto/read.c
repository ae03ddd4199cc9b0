/* read.c - Trace -> graph: packets one at a time, through a window.
 *
 *     Trace        packet*                               repeated field 1, any number of them
 *       packet     state of its sequence, then its data  read_packet.c
 *       packet     compressed_packets: zlib or zstd      inflated whole, read from a stack of at most four
 *
 * What is damaged is skipped as long as packets can be told apart; where they cannot, what came before is kept. */
#include <string.h>

#include <zlib.h>

#include "io/flate.h"
#include "io/unpack.h"
#include "perfetto.h"
#include "reader.h"

enum { INFLATED_LEVELS = 4, BOMB_RATIO = 200, BOMB_SIZE = 1 << 20, TICK = 4096 };
static const uint64_t PACKET_MOST = 512u << 20; /* service and importers stop far below */

/* ---- compressed packets ---- */

static bool adler_fits(const uint8_t *p, size_t n, const uint8_t *want) {
  return adler32_z(1, p, n) == ((uLong)want[0] << 24 | (uLong)want[1] << 16 | (uLong)want[2] << 8 | want[3]);
}

/* Beyond the ratio of a bomb, or the limit that the caller set. */
static bool too_large(const struct perfetto *r, const struct buf *out, uint64_t size) {
  if (out->len > BOMB_SIZE && out->len / BOMB_RATIO > size) return true;
  return r->opt->max_size && r->inflated + out->len > r->opt->max_size;
}

enum inflated { INFLATED, INFLATE_DAMAGED, INFLATE_LIMIT };

static enum inflated inflate_all(struct perfetto *r, struct inflater *z, struct flate_io *io, struct buf *out, uint64_t size) {
  for (;;) {
    uint8_t *p = buf_reserve(out, 64 << 10);
    if (!p) return INFLATE_LIMIT;
    io->out = p;
    io->n_out = out->cap - out->len;
    size_t room = io->n_out, had = io->n_in;
    enum flate_status status = inflater_run(z, io);
    size_t made = room - io->n_out;
    out->len += made;
    if (too_large(r, out, size)) return INFLATE_LIMIT;
    if (status == FLATE_END) return INFLATED;
    if (status == FLATE_BAD || (made == 0 && io->n_in == had)) return INFLATE_DAMAGED;
  }
}

/* zlib's two bytes of header, deflate, four of checksum (RFC 1950). */
static enum inflated inflate_packets(struct perfetto *r, const struct pb_field *f, struct buf *out) {
  struct tk_err err = {0};
  struct flate_io io = {.in = f->p + 2, .n_in = (size_t)f->value - 2};
  enum inflated got;
  if (f->value < 6 || (f->p[0] & 15) != 8 || (f->p[0] * 256 + f->p[1]) % 31 != 0 || f->p[1] & 0x20) return INFLATE_DAMAGED;
  struct inflater *z = inflater_open(FLATE_BEST, &r->t->store->mem, &err);
  if (!z) return INFLATE_LIMIT;
  got = inflate_all(r, z, &io, out, f->value);
  inflater_close(z);
  if (got == INFLATED && (io.in + 4 > f->p + f->value || !adler_fits(out->data, out->len, io.in))) return INFLATE_DAMAGED;
  r->inflated += out->len;
  return got;
}

struct inflated_level {
  struct buf bytes;
  struct pb c;
};

struct inflated_stack {
  struct inflated_level level[INFLATED_LEVELS];
  unsigned n;
};

/* zstd's frames are unpacked as a file of them would be. */
static enum inflated unzstd_packets(struct perfetto *r, const struct pb_field *f, struct buf *out) {
  struct mem *mem = &r->t->store->mem;
  struct tk_err err = {0};
  size_t n = 1;
  struct in *in = in_memory(f->p, (size_t)f->value, mem, &err);
  enum inflated got = INFLATED;
  if (in) in = in_unpack(in, 0, mem, &err);
  if (!in) return mem->failed ? INFLATE_LIMIT : INFLATE_DAMAGED;
  while (n && got == INFLATED) {
    const uint8_t *p = in_ahead(in, 1, &n, &err);
    if (!p) got = INFLATE_DAMAGED;
    else if (!buf_append(out, p, n) || too_large(r, out, f->value)) got = INFLATE_LIMIT;
    else in_consume(in, n);
  }
  if (in_notes(in, &(const struct in_note *){NULL})) got = INFLATE_DAMAGED;
  in_close(in);
  r->inflated += out->len;
  return got;
}

static bool push_level(struct perfetto *r, struct inflated_stack *s, const struct pb_field *f) {
  struct inflated_level l = {.bytes = {.mem = &r->t->store->mem}};
  if (s->n == INFLATED_LEVELS) {
    perfetto_note(r, TK_NOTE_REPAIR, "compressed packets in compressed packets, more than 4 deep: skipped");
    return true;
  }
  switch (f->number == PACKET_ZSTD ? unzstd_packets(r, f, &l.bytes) : inflate_packets(r, f, &l.bytes)) {
  case INFLATED: break;
  case INFLATE_DAMAGED:
    perfetto_note(r, TK_NOTE_REPAIR, "damaged compressed packets: skipped");
    buf_free(&l.bytes);
    return true;
  default:
    buf_free(&l.bytes);
    mem_check(&r->t->store->mem, r->err);
    return err_at(r->err, TK_ELIMIT, r->offset, "compressed packets that grow more than %d times, or beyond the limit, at byte %llu",
                  BOMB_RATIO, (unsigned long long)r->offset);
  }
  l.c = pb_over(l.bytes.data, l.bytes.len);
  s->level[s->n++] = l;
  return true;
}

/* A packet, and if it is compressed those in it. */
static bool read_packets(struct perfetto *r, const uint8_t *p, size_t n) {
  struct inflated_stack s = {.n = 0};
  struct pb_field f, compressed = {0};
  bool ok = true;
  perfetto_packet(r, p, n, &compressed);
  if (!compressed.p) return true;
  ok = push_level(r, &s, &compressed);
  while (s.n) {
    struct inflated_level *l = &s.level[s.n - 1];
    if (!ok || !pb_next(&l->c, &f)) {
      if (l->c.fault) perfetto_note(r, TK_NOTE_REPAIR, "damaged compressed packets: read as far as they go");
      buf_free(&l->bytes);
      s.n--;
      continue;
    }
    if (pb_field_key(&f) != PB_KEY(TRACE_PACKET, PB_BYTES) || f.value == 0) continue;
    compressed.p = NULL;
    perfetto_packet(r, f.p, (size_t)f.value, &compressed);
    if (compressed.p) ok = push_level(r, &s, &compressed);
  }
  return ok;
}

/* ---- the file ---- */

static bool report_progress(struct perfetto *r, const struct pb_in *s) {
  struct tk_progress progress = r->opt->progress;
  if (!mem_check(&r->t->store->mem, r->err)) return false;
  if (progress.tick && !progress.tick(progress.arg, in_raw_read(s->in), in_raw_total(s->in)))
    return err_set(r->err, TK_EINTERRUPTED, "interrupted");
  return true;
}

static bool stop_reading(struct perfetto *r, struct pb_in *s, enum pb_status status, uint32_t n_packets) {
  const struct tk_err *fault = s->err;
  r->offset = pb_in_offset(s);
  if (status == PB_FAIL && (fault->code != TK_ECORRUPT || n_packets == 0)) {
    if (r->err->code == TK_OK) *r->err = *fault;
    return false;
  }
  r->t->truncated = true;
  if (status == PB_CUT) perfetto_note(r, TK_NOTE_REPAIR, "truncated: the file ends inside of a packet");
  else perfetto_note(r, TK_NOTE_REPAIR, "damaged: what follows is no sequence of packets and is not read");
  return true;
}

static bool read_trace(struct perfetto *r, struct in *in) {
  struct tk_err fault = {.offset = UINT64_MAX};
  struct pb_in s = {.in = in, .err = &fault};
  enum pb_status status;
  struct pb_field f;
  uint32_t n = 0;
  while ((status = pb_in_next(&s, UINT64_MAX, &f)) == PB_FIELD) {
    r->offset = pb_in_offset(&s);
    if (pb_field_key(&f) != PB_KEY(TRACE_PACKET, PB_BYTES)) {
      if (f.wire == PB_BYTES && (status = pb_in_skip(&s, f.value)) != PB_FIELD) break;
      continue;
    }
    if (f.value > PACKET_MOST) {
      status = PB_CUT;
      break;
    }
    if ((status = pb_in_bytes(&s, f.value, &f.p)) != PB_FIELD) break;
    n++;
    if (f.value && !read_packets(r, f.p, (size_t)f.value)) return false;
    if (n % TICK == 0 && !report_progress(r, &s)) return false;
  }
  if (status != PB_DONE && !stop_reading(r, &s, status, n)) return false;
  r->t->counts.bytes = pb_in_offset(&s);
  return report_progress(r, &s);
}

static void free_reader(struct perfetto *r) {
  struct mem *mem = &r->t->store->mem;
  for (uint32_t i = 1; i <= r->n_sequences; i++) {
    sequence_clear(&r->sequences[i], mem);
    buf_free(&r->sequences[i].pending);
  }
  for (uint32_t i = 1; i <= r->n_clocks; i++)
    mem_free(mem, r->clocks[i].points);
  mem_free(mem, r->sequences);
  mem_free(mem, r->nodes);
  mem_free(mem, r->clocks);
  mem_free(mem, r->machines);
  mem_free(mem, r->pending);
  mem_free(mem, r->points);
  mem_free(mem, r->collected.args);
  mem_free(mem, r->counter_classes.of);
  map_free(&r->counter_classes.index);
  map_free(&r->sequence_index);
  map_free(&r->uuid_index);
  map_free(&r->thread_index);
  map_free(&r->clock_index);
  map_free(&r->sequence_clock_index);
  map_free(&r->machine_index);
  map_free(&r->machine_names);
  schema_free(&r->extensions.schema);
  mem_free(mem, r->extensions.found);
  mem_free(mem, r->extensions.members);
  buf_free(&r->extensions.json);
  buf_free(&r->extensions.path);
  buf_free(&r->extensions.rest);
  buf_free(&r->text);
  buf_free(&r->json);
  buf_free(&r->fields);
  buf_free(&r->copy);
  buf_free(&r->packets);
  mem_free(mem, r);
}

bool perfetto_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err) {
  struct mem *mem = &t->store->mem;
  struct perfetto *r = mem_alloc(mem, sizeof *r);
  bool ok;
  if (!r) return mem_check(mem, err);
  *r = (struct perfetto){.t = t, .err = err, .opt = opt, .trace_clock = CLOCK_BOOTTIME};
  r->text.mem = r->json.mem = r->fields.mem = r->copy.mem = mem;
  map_init(&r->sequence_index, mem);
  map_init(&r->uuid_index, mem);
  map_init(&r->thread_index, mem);
  map_init(&r->clock_index, mem);
  map_init(&r->sequence_clock_index, mem);
  map_init(&r->machine_index, mem);
  map_init(&r->machine_names, mem);
  map_init(&r->counter_classes.index, mem);
  schema_init(&r->extensions.schema, mem);
  r->extensions.json.mem = r->extensions.path.mem = r->extensions.rest.mem = mem;
  ok = read_trace(r, in);
  if (ok) perfetto_finish(r);
  free_reader(r);
  return ok && mem_check(mem, err);
}

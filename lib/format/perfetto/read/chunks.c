/* chunks.c - reads packets with several threads (format/chunks.h).
 *
 * The meaning of a packet depends on all earlier packets of its sequence: names, defaults, incremental times, open spans. So
 * other threads only decode packets (decode.h), and a single reader processes the decoded packets in file order. This moves
 * about half of the work to other threads, and the trace cannot depend on the number of threads. */
#include "chunks.h"
#include "format/perfetto/fields.h"
#include "format/chunks.h"
#include "reader.h"
#include "packet.h"

enum {
  SIZE = 128 << 10,       /* bytes of a chunk; small enough that its decoded packets stay in the cache */
  PACKET_LEAST = 16,      /* assumed minimum bytes of a packet with an event; a chunk takes less text if packets are shorter */
  SCRATCH_MOST = 1 << 20, /* maximum number of bytes of JSON in an annotation; the reader decodes longer ones */
  ROOM = 24 /* bytes per byte of text: 12 for decoded packets, 4 for args and points, the rest for text and scratch */
};

/* State and result of decoding one chunk. */
struct packets {
  struct mem scratch, *mem;
  struct decoder to, first, last; /* room that is left; all of the room; last position at which a packet may start */
  struct decoded *all;
  uint32_t n, cap;
};

/* Returns the packet in the frame at p; NULL if the frame is not complete before `end`. */
static const uint8_t *packet_at(const uint8_t *p, const uint8_t *end, size_t *n) {
  uint64_t length = 0;
  if (p == end || *p++ != PB_KEY(TRACE_PACKET, PB_BYTES)) return NULL;
  for (unsigned shift = 0; p < end && shift < 35; shift += 7) {
    length |= (uint64_t)(*p & 0x7f) << shift;
    if (*p++ >= 0x80) continue;
    *n = (size_t)length;
    return length <= (uint64_t)(end - p) ? p : NULL;
  }
  return NULL;
}

/* Returns the end of the last frame that is followed by another frame. The lengths of such frames are trusted without examining
 * their contents (frames.h). */
static size_t find_cut(const uint8_t *text, size_t n) {
  const uint8_t *p = text, *const end = text + n, *packet;
  size_t cut = 0, size;
  while ((packet = packet_at(p, end, &size)) != NULL && packet + size < end && packet[size] == PB_KEY(TRACE_PACKET, PB_BYTES)) {
    p = packet + size;
    cut = (size_t)(p - text);
  }
  return cut;
}

static bool has_room(const struct packets *s) {
  return s->n < s->cap && s->to.what <= s->last.what && s->to.values <= s->last.values && s->to.points <= s->last.points;
}

static void read_chunk(struct chunk *c) {
  struct packets *s = c->reader;
  const uint8_t *p = c->text, *const end = c->text + c->size, *packet;
  size_t n;
  s->n = 0;
  s->scratch.failed = false;
  s->to.what = s->first.what;
  s->to.values = s->first.values;
  s->to.points = s->first.points;
  for (; has_room(s) && (packet = packet_at(p, end, &n)) != NULL; p = packet + n) decode_one(&s->to, packet, n, &s->all[s->n++]);
  c->read = (size_t)(p - c->text);
}

/* Allocates room for a chunk's results. An annotation has at least four bytes, and a point ten; values are hardly longer than
 * their annotations. */
static bool begin_chunk(struct chunk *c, const void *one) {
  const struct perfetto *r = one;
  const size_t size = chunks_least(r->chunks), args = size / 4, points = size / 8;
  struct packets *s = c->reader;
  struct mem *mem = &r->t->store->mem;
  *s = (struct packets){.scratch.limit = SCRATCH_MOST, .mem = mem, .cap = (uint32_t)(size / PACKET_LEAST) + 1};
  s->to.text.mem = s->to.json.mem = &s->scratch;
  s->to.filed = r->filed;
  s->all = mem_array(mem, s->cap, sizeof *s->all);
  s->first.what = mem_array(mem, args + DECODED_ARGS, sizeof *s->first.what);
  s->first.values = mem_alloc(mem, size + DECODED_VALUES);
  s->first.points = mem_array(mem, points + DECODED_POINTS, sizeof *s->first.points);
  if (!s->all || !s->first.what || !s->first.values || !s->first.points) return false;
  s->last = (struct decoder){.what = s->first.what + args, .values = s->first.values + size, .points = s->first.points + points};
  return true;
}

static void end_chunk(struct chunk *c) {
  struct packets *s = c->reader;
  mem_free(s->mem, s->all);
  mem_free(s->mem, s->first.what);
  mem_free(s->mem, s->first.values);
  mem_free(s->mem, s->first.points);
  buf_free(&s->to.text);
  buf_free(&s->to.json);
}

/* Processes the chunk's packets. Stops after a compressed packet, and at a packet that cannot be parsed, because the end of such a
 * packet must be searched for. */
static void take_chunk(struct chunk *c, void *one, tk_id events, tk_id points) {
  struct perfetto *r = one;
  const struct packets *s = c->reader;
  const uint8_t *end = c->text; /* end of the previous packet */
  (void)events, (void)points;
  for (uint32_t i = 0; i < s->n; i++) {
    const struct decoded *d = &s->all[i];
    r->offset = c->offset + (uint64_t)(d->p - c->text);
    r->n_packets++;
    if (d->n && !perfetto_take_packet(r, d, &r->compressed)) {
      r->n_packets--;
      c->read = (size_t)(end - c->text);
      return;
    }
    end = d->p + d->n;
    if (!r->t->store->early.failed && (!d->n || !r->compressed.p)) continue;
    c->read = (size_t)(end - c->text);
    c->stops = true;
    return;
  }
}

static bool tick(void *one) { return perfetto_tick(one); }

static const struct chunks_of CHUNKS = {.reader_size = sizeof(struct packets),
                                        .has_no_fragments = true,
                                        .room = ROOM,
                                        .cut = find_cut,
                                        .begin = begin_chunk,
                                        .end = end_chunk,
                                        .read = read_chunk,
                                        .joined = take_chunk,
                                        .tick = tick};

bool perfetto_chunks_start(struct perfetto *r) {
  return r->opt->no_templates || chunks_start(&r->chunks, &CHUNKS, r->t, r->opt->threads, r->opt->chunk ? r->opt->chunk : SIZE);
}

bool perfetto_chunks_are_due(const struct perfetto *r, const struct pb_in *s) {
  return r->chunks && !s->last && chunks_are_due(r->chunks, pb_in_offset(s));
}

bool perfetto_chunks_read(struct perfetto *r, struct pb_in *s, struct pb_field *compressed) {
  in_consume(s->in, (size_t)(s->p - s->base));
  r->compressed = (struct pb_field){0};
  const bool ok = chunks_read(r->chunks, r, s->in, UINT64_MAX, r->err);
  *s = (struct pb_in){.in = s->in, .err = s->err, .base_offset = in_offset(s->in)};
  *compressed = r->compressed;
  return ok;
}

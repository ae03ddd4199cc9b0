/* detect.c - recognises a Trace.
 *
 * XPlane files also begin with 0x0A. To distinguish them, the fields of a TracePacket must have the right wire types, and its messages
 * must parse down to one level. An XPlane has bytes (its lines) at the field number of a packet's trusted_uid, and its name is not a
 * message. */
#include "detect.h"
#include "base/text.h"
#include "format/perfetto/fields.h"
#include "frames.h"
#include "format/perfetto/perfetto.h"

/* Wire types of TracePacket's fields 1 .. 13; '-' = no such field. */
static const char PACKET[] = "-220222-020220";

static const struct pb_shape MESSAGE = {.wires = ""};
static const struct pb_shape *const PACKET_INNER[] = {[PACKET_CLOCK_SNAPSHOT] = &MESSAGE,
                                                      [PACKET_TRACK_EVENT] = &MESSAGE,
                                                      [PACKET_INTERNED_DATA] = &MESSAGE,
                                                      [sizeof PACKET] = NULL};
static const struct pb_shape PACKET_SHAPE = {PACKET, PACKET_INNER};
static const struct pb_shape *const TRACE_INNER[] = {[TRACE_PACKET] = &PACKET_SHAPE};
const struct pb_shape perfetto_shape = {"-2", TRACE_INNER};

static bool is_message(struct pb c) {
  struct pb_field f;
  while (pb_next(&c, &f)) {}
  return !c.fault;
}

static bool is_zlib(const uint8_t *p) { return (p[0] & 15) == 8 && (p[0] * 256 + p[1]) % 31 == 0; }

static unsigned field_bid(const struct pb_field *f, bool *wrong) {
  static const struct {
    uint32_t number, wire;
  } known[] = {{PACKET_TIMESTAMP, PB_VARINT},        {PACKET_SEQUENCE_ID, PB_VARINT},  {PACKET_SEQUENCE_FLAGS, PB_VARINT},
               {PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT}, {PACKET_TRACK_EVENT, PB_BYTES},   {PACKET_INTERNED_DATA, PB_BYTES},
               {PACKET_CLOCK_SNAPSHOT, PB_BYTES},    {PACKET_DEFAULTS, PB_BYTES},       {PACKET_TRACK_DESCRIPTOR, PB_BYTES},
               {PACKET_CHROME_EVENTS, PB_BYTES},     {PACKET_EXTENSION_DESCRIPTOR, PB_BYTES},
               {PACKET_FTRACE, PB_BYTES},            {PACKET_PROCESS_TREE, PB_BYTES},   {0, 0}};
  if (f->number < sizeof PACKET - 1 && PACKET[f->number] != '-' && PACKET[f->number] != (char)('0' + f->wire)) {
    *wrong = true;
    return 0;
  }
  for (unsigned i = 0; known[i].number; i++) {
    if (known[i].number != f->number) continue;
    if (known[i].wire != f->wire || (f->wire == PB_BYTES && !is_message(pb_inside(f)))) {
      *wrong = true;
      return 0;
    }
    return 6;
  }
  if (f->number == PACKET_TRACEKIT && f->wire == PB_BYTES) return 24; /* a field that only our writer uses */
  if (f->number <= 2 && f->wire == PB_BYTES && !is_message(pb_inside(f))) *wrong = true;
  if (f->number == PACKET_COMPRESSED && f->wire == PB_BYTES) return f->value > 2 && is_zlib(f->p) ? 16 : 2;
  return 1;
}

static unsigned packet_bid(const uint8_t *p, size_t n, bool cut, bool *wrong) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  unsigned bits = 1;
  while (!*wrong && pb_next(&c, &f)) bits += field_bid(&f, wrong);
  if (c.fault && !cut) *wrong = true;
  return bits;
}

/* Returns the score of a packet that is longer than the available bytes, judging by its first field. */
static unsigned cut_packet_bid(const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n);
  uint64_t tag, length;
  if (!pb_varint(&c, &tag)) return 0;
  if (tag == PB_KEY(PACKET_TRACE_ATTRIBUTES, PB_BYTES) || tag == PB_KEY(PACKET_EXTENSION_DESCRIPTOR, PB_BYTES)) return 8;
  if (tag == PB_KEY(PACKET_TRACK_DESCRIPTOR, PB_BYTES) || tag == PB_KEY(PACKET_INTERNED_DATA, PB_BYTES)) return 8;
  if (tag != PB_KEY(PACKET_COMPRESSED, PB_BYTES)) return 0;
  return pb_varint(&c, &length) && c.end - c.p >= 2 && is_zlib(c.p) ? 16 : 0;
}

/* Result for one framed packet. `cut`: the bytes end inside it. */
struct framed {
  unsigned bits;
  bool wrong, cut;
};

/* Examines the packet at c->p and moves c->p past it. Returns false if there is no frame. */
static bool next_framed(struct pb *c, struct framed *f) {
  uint64_t tag, length;
  *f = (struct framed){0};
  if (c->p == c->end || !pb_varint(c, &tag) || tag != PB_KEY(TRACE_PACKET, PB_BYTES) || !pb_varint(c, &length)) return false;
  size_t left = (size_t)(c->end - c->p), here = length < left ? (size_t)length : left;
  const uint8_t *p = c->p;
  f->cut = here < length;
  f->bits = packet_bid(p, here, f->cut, &f->wrong);
  if (f->cut) f->bits += cut_packet_bid(p, here);
  c->p += here;
  return true;
}

bool perfetto_frames_at(const uint8_t *p, size_t n, bool last, size_t *cost) {
  enum { ENOUGH = 24, AT_THE_END = 8 };
  struct pb c = pb_over(p, n);
  struct framed f;
  unsigned bits = 0;
  while (c.p < c.end && bits < ENOUGH) {
    const uint8_t *from = c.p;
    if (!next_framed(&c, &f) || f.wrong || (f.cut && last)) return false;
    bits += f.bits;
    *cost += (size_t)(c.p - from);
  }
  return bits >= ENOUGH || (last && bits >= AT_THE_END);
}

bool perfetto_is_packet(const uint8_t *p, size_t n, unsigned known) {
  enum { BITS = 6 };
  bool wrong = false;
  return packet_bid(p, n, false, &wrong) >= known * BITS && !wrong;
}

/* Returns the score of consecutive packets. Stops when they prove the format. */
static unsigned chain_bid(const uint8_t *p, size_t n) {
  enum { SURE = 32, PROOF = 4096 };
  struct pb c = pb_over(p, n);
  struct framed f;
  unsigned bits = 0;
  while (bits < PROOF && next_framed(&c, &f)) {
    if (f.wrong) return bits > SURE ? bits : 0;
    bits += f.bits;
  }
  return bits;
}

/* If the first packet is damaged, several packets must follow it. Plain text is not searched for packets, because each line feed looks
 * like the tag of a packet: the search took 2% of the time to read 10 MB of JSON. */
unsigned perfetto_bid(const uint8_t *p, size_t n) {
  enum { SEVERAL = 100 };
  unsigned bits = chain_bid(p, n);
  if (!bits && text_is_plain(p, n)) return 0;
  for (size_t i = 1; !bits && i < n; i++) {
    unsigned more = p[i] == PB_KEY(TRACE_PACKET, PB_BYTES) ? chain_bid(p + i, n - i) : 0;
    if (more >= SEVERAL) return more / 2;
  }
  return bits;
}

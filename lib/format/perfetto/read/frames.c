/* frames.c - see frames.h. */
#include "frames.h"
#include "detect.h"

#include <string.h>

#include "format/perfetto/fields.h"

enum {
  PACKET_MOST = 512 << 20, /* maximum number of bytes of a packet; services and importers have much lower limits */
  LOOK = 64 << 10,         /* bytes of a candidate to examine, and bytes to make available after each packet */
  SEARCH_MOST = 16 << 20,
  COST_MOST = 256 << 20
};

/* A field's tag with the length or the number that follows it. */
struct header {
  bool ok;
  uint32_t number, wire;
  uint64_t length; /* length of the data that follows; 0 for a number */
  size_t size;     /* size in bytes of the tag and the length, or of the tag and the number */
};

static struct header header_at(const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n < PB_HEADER ? n : PB_HEADER);
  struct header h = {0};
  uint64_t tag, value = 0;
  h.ok = pb_varint(&c, &tag) && tag >> 3 && !(tag >> 32);
  h.number = (uint32_t)(tag >> 3);
  h.wire = tag & 7;
  if (h.wire == PB_VARINT || h.wire == PB_BYTES) h.ok = h.ok && pb_varint(&c, &value);
  else if (h.wire == PB_FIXED64) c.p += 8;
  else if (h.wire == PB_FIXED32) c.p += 4;
  else h.ok = false;
  if (c.p > c.end) h.ok = false;
  h.length = h.wire == PB_BYTES ? value : 0;
  h.size = (size_t)(c.p - p);
  return h;
}

static bool parses(const uint8_t *p, size_t n) {
  struct pb c = pb_over(p, n);
  struct pb_field f;
  while (pb_next(&c, &f)) {}
  return !c.fault;
}

static size_t left(const struct frames *f) { return (size_t)(f->s.end - f->s.p); }

static bool fetch(struct frames *f, size_t need, size_t more) {
  struct tk_err *err = f->s.err, none = {0};
  f->s.err = &none;
  bool ok = pb_in_ahead(&f->s, need + more);
  f->s.err = err;
  return ok || pb_in_ahead(&f->s, need); /* true if the needed bytes can be read, even if later ones cannot */
}

/* Makes at least `need` bytes available in the window, and up to `more` after them if the input has them. */
static bool look_ahead(struct frames *f, size_t need, size_t more) {
  return f->s.last || left(f) >= need + more || fetch(f, need, more);
}

/* True if the input ends `at` bytes from here, or if a sequence of packets begins there. */
static bool goes_on(struct frames *f, size_t at) {
  size_t n = left(f);
  if (at == n) return f->s.last;
  if (at > n || f->cost > COST_MOST) return false;
  n -= at;
  return perfetto_frames_at(f->s.p + at, n < LOOK ? n : LOOK, f->s.last && n <= LOOK, &f->cost);
}

/* Returns the offset of the first sequence of packets in [at, end); 0 if there is none. */
static size_t search(struct frames *f, size_t at, size_t end) {
  while (at < end && f->cost <= COST_MOST) {
    const uint8_t *next = memchr(f->s.p + at, PB_KEY(TRACE_PACKET, PB_BYTES), end - at);
    if (!next) return 0;
    at = (size_t)(next - f->s.p);
    f->cost += PB_HEADER;
    if (goes_on(f, at)) return at;
    at++;
  }
  return 0;
}

/* Returns the actual end of the frame at the cursor, whose header is not trusted; 0 if it is not found. */
static size_t find_end(struct frames *f, const struct header *h) {
  size_t end = 0, searched = 1;
  uint64_t stated = h->size + h->length;
  if (h->ok && h->wire == PB_BYTES && stated <= left(f) && goes_on(f, (size_t)stated)) return (size_t)stated;
  for (size_t most = LOOK; !end && most <= SEARCH_MOST && searched < left(f); most *= 16) {
    if (!look_ahead(f, 1, most + LOOK)) return 0;
    size_t until = left(f) < most ? left(f) : most;
    end = search(f, searched, until);
    searched = until;
  }
  return end;
}

/* Returns the start of the packet in a frame that ends `end` bytes from here and whose header is not trusted. */
static size_t find_start(const struct frames *f, const struct header *h, size_t end) {
  size_t stated = h->ok && h->size <= end ? h->size : 0;
  if (stated && perfetto_is_packet(f->s.p + stated, end - stated, 2)) return stated;
  for (size_t from = 2; from <= 6 && from < end; from++) /* the header is a tag and a length of one to five bytes */
    if (perfetto_is_packet(f->s.p + from, end - from, 2)) return from;
  return stated;
}

static enum frame_status resume(struct frames *f, const struct header *h, struct frame *out) {
  f->cost += LOOK / 16;
  size_t end = find_end(f, h), from = find_start(f, h, end);
  bool packet = h->ok && h->number == TRACE_PACKET && h->wire == PB_BYTES;
  if (!end) return packet && f->s.last && h->length > left(f) - h->size ? FRAMES_CUT : FRAMES_LOST;
  *out = (struct frame){.p = f->s.p + from, .n = end - from, .offset = pb_in_offset(&f->s) + from, .found = true};
  f->s.p += end;
  return FRAME;
}

/* True for an unknown field of the Trace message, which is kept. False if it is a packet whose tag has a wrong bit. */
static bool is_other(struct frames *f, const struct header *h) {
  if (!h->ok || h->number == TRACE_PACKET || h->length > left(f) - h->size) return false;
  size_t end = h->size + (size_t)h->length;
  return goes_on(f, end) && !perfetto_is_packet(f->s.p + h->size, (size_t)h->length, 2);
}

static void take(struct frames *f, const struct header *h, struct frame *out) {
  *out = (struct frame){.p = f->s.p + h->size, .n = (size_t)h->length, .offset = pb_in_offset(&f->s) + h->size};
  f->s.p += h->size + (size_t)h->length;
}

/* Called if the packet that ends `end` bytes from here is not followed by a packet. Returns the start of the next packet if the
 * bytes up to there are the rest of this packet; 0 if they are other damage. */
static size_t find_rest(struct frames *f, size_t end) {
  struct header h = header_at(f->s.p + end, left(f) - end);
  f->cost += PB_HEADER;
  size_t next = search(f, end, left(f) < end + LOOK ? left(f) : end + LOOK);
  if (!next && f->s.last && left(f) <= end + LOOK) next = left(f);
  if (!next || !perfetto_is_packet(f->s.p + end, next - end, 1)) return 0;
  bool packet = h.ok && h.wire == PB_BYTES && end + h.size + h.length == next; /* a packet whose tag has a wrong bit */
  return packet && perfetto_is_packet(f->s.p + end + h.size, (size_t)h.length, 2) ? 0 : next;
}

/* Takes the frame at the cursor if it is followed by another one and no bytes have to be fetched, which is the case for almost
 * every packet. Only handles packets whose length takes at most three bytes. */
static bool take_usual(struct frames *f, struct frame *out) {
  enum { LENGTH_MOST = 3 };
  const uint8_t *p = f->s.p;
  const size_t n = left(f);
  uint64_t length = 0;
  if (n < PB_HEADER || *p++ != PB_KEY(TRACE_PACKET, PB_BYTES)) return false;
  for (unsigned i = 0; i < LENGTH_MOST; i++) {
    length |= (uint64_t)(*p & 0x7f) << (7 * i);
    if (*p++ < 0x80) break;
  }
  const size_t end = (size_t)(p - f->s.p) + (size_t)length;
  if (p[-1] >= 0x80 || end + (f->s.last ? 1 : LOOK) > n || f->s.p[end] != PB_KEY(TRACE_PACKET, PB_BYTES)) return false;
  *out = (struct frame){.p = p, .n = (size_t)length, .offset = pb_in_offset(&f->s) + (size_t)(p - f->s.p)};
  f->s.p += end;
  return true;
}

enum frame_status frames_next(struct frames *f, struct frame *out) {
  if (take_usual(f, out)) return FRAME;
  if (!look_ahead(f, PB_HEADER, 0)) return FRAMES_FAIL;
  if (f->s.p == f->s.end) return FRAMES_END;
  struct header h = header_at(f->s.p, left(f));
  if (!h.ok || h.length > PACKET_MOST) return resume(f, &h, out);
  if (!look_ahead(f, h.size + (size_t)h.length, LOOK)) return FRAMES_FAIL;
  if (is_other(f, &h)) {
    *out = (struct frame){.p = f->s.p, .n = h.size + (size_t)h.length, .offset = pb_in_offset(&f->s), .other = true};
    f->s.p += out->n;
    return FRAME;
  }
  if (h.number != TRACE_PACKET || h.wire != PB_BYTES || h.length > left(f) - h.size) return resume(f, &h, out);
  size_t end = h.size + (size_t)h.length, rest = 0;
  if (end < left(f) && f->s.p[end] != PB_KEY(TRACE_PACKET, PB_BYTES)) {
    if (!parses(f->s.p + h.size, (size_t)h.length)) return resume(f, &h, out);
    rest = find_rest(f, end);
  }
  h.length += rest ? rest - end : 0;
  take(f, &h, out);
  out->found = rest != 0;
  return FRAME;
}

void frames_reconsider(struct frames *f, struct frame *out) {
  const uint8_t *was = f->s.p;
  if (out->found) return;
  f->s.p = out->p;
  f->cost += LOOK / 16;
  size_t most = out->n + LOOK, end = search(f, 0, left(f) < most ? left(f) : most);
  f->s.p = end ? out->p + end : was;
  out->found = end && end != out->n;
  if (end) out->n = end;
}

/* compressed.c - decompresses compressed packets: zlib or zstd.
 *
 * If the data is damaged, the output up to the damage is returned. Implausibly large output is refused. */
#include <string.h>

#include <zlib.h>

#include "io/flate.h"
#include "io/unpack.h"
#include "reader.h"
#include "compressed.h"

enum { BOMB_RATIO = 200, BOMB_SIZE = 1 << 20 };

static bool adler_fits(const uint8_t *p, size_t n, const uint8_t *want) {
  return adler32_z(1, p, n) == ((uLong)want[0] << 24 | (uLong)want[1] << 16 | (uLong)want[2] << 8 | want[3]);
}

/* True if the size of the output exceeds the caller's limit, or the ratio of a decompression bomb. */
static bool too_large(const struct perfetto *r, const struct buf *out, uint64_t size) {
  if (out->len > BOMB_SIZE && out->len / BOMB_RATIO > size) return true;
  return r->opt->max_size && r->inflated + out->len > r->opt->max_size;
}

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

/* Decompresses zlib: two bytes of header, deflate data, four bytes of checksum (RFC 1950). */
static enum inflated inflate_packets(struct perfetto *r, const struct pb_field *f, struct buf *out) {
  struct tk_err err = {0};
  struct flate_io io = {.in = f->p + 2, .n_in = (size_t)f->value - 2};
  enum inflated got;
  if (f->value < 6 || (f->p[0] & 15) != 8 || (f->p[0] * 256 + f->p[1]) % 31 != 0 || f->p[1] & 0x20) return INFLATE_DAMAGED;
  struct inflater *z = inflater_open(FLATE_BEST, &r->t->store->mem, &err);
  if (!z) return INFLATE_LIMIT;
  got = inflate_all(r, z, &io, out, f->value);
  inflater_close(z);
  if (got == INFLATED && (io.in + 4 > f->p + f->value || !adler_fits(out->data, out->len, io.in))) got = INFLATE_CHECKSUM;
  r->inflated += out->len;
  return got;
}

/* Decompresses zstd frames, in the same way as a compressed file. */
static enum inflated unzstd_packets(struct perfetto *r, const struct pb_field *f, struct buf *out) {
  struct mem *mem = &r->t->store->mem;
  struct tk_err err = {0};
  size_t n = 1;
  struct in *in = in_memory(f->p, (size_t)f->value, mem, &err);
  enum inflated got = INFLATED;
  if (in) in = unpack_open(in, 0, mem, &err);
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

enum inflated perfetto_inflate(struct perfetto *r, const struct pb_field *f, struct buf *out) {
  enum inflated got = f->number == PACKET_ZSTD ? unzstd_packets(r, f, out) : inflate_packets(r, f, out);
  if (got != INFLATE_LIMIT) return got;
  mem_check(&r->t->store->mem, r->err);
  err_at(r->err, TK_ELIMIT, r->offset, "compressed packets decompress to more than %d times their size, or exceed the limit, "
                                       "at byte %llu",
         BOMB_RATIO, (unsigned long long)r->offset);
  return got;
}

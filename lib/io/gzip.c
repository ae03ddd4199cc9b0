/* gzip.c - the gunzip layer: headers, members, trailers, and the handling of damage.
 *
 * Traces are often truncated, because the job was killed while writing, but seldom corrupt. So missing data is repaired with a
 * note, and wrong data is an error:
 *
 *     truncated inside compressed data   keep what inflates, note     first member's header invalid or truncated   error
 *     trailer truncated or missing       note                        CRC mismatch: the bytes are wrong            error
 *     length mismatch with right CRC     note                        corrupt in the first 64 KiB of output        error
 *     corrupt later                      keep what precedes, note      gzip bomb, or more than --max-size limit
 *     other data after a member          ignored, note               zero bytes after a member                    padding
 *
 * Any number of members is allowed (BGZF has one every 64 KiB), including empty ones. Up to INFLATER_HELD bytes that the
 * inflater has read stay in the inner window, because at the end of a member the inflater may return them: they belong to the
 * trailer.
 */
#include <string.h>

#include "gzip.h"
#include "layer.h"
#include "in.h"

enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, RESERVED = 0xe0, HEADER = 10, TRAILER = 8, TEXT_LIMIT = 64 << 10 };

/* Output that is larger than the input by this factor is a bomb. Zeros inflate by a factor of at most 1030; no trace comes near
 * a thousand. */
enum { BOMB_RATIO = 1000 };
static const uint64_t BOMB_SIZE = 1 << 30;

/* Damage is detected some distance after it occurs; until then the output is wrong but plausible. Output of less than two
 * deflate windows cannot be trusted. */
enum { TRUSTED = 64 << 10 };

enum state { AT_HEADER, AT_DATA, AT_TRAILER, AT_END };

struct gunzip {
  struct in *inner;
  struct mem *mem;
  struct inflater *z;
  uint64_t max_size;
  uint64_t total;   /* number of bytes produced */
  uint64_t members; /* number of complete members */
  size_t seen;      /* bytes at the start of the inner window that the inflater has read */
  enum state state;
  uint32_t crc;
  uint32_t size;    /* bytes of this member, modulo 2^32 as in the trailer */
  struct tk_err fault;
};

static unsigned long long where(const struct gunzip *g) { return in_offset(g->inner) + g->seen; }

static const uint8_t *look_ahead(struct gunzip *g, size_t min, size_t *avail) {
  return in_ahead(g->inner, min, avail, &g->fault);
}

static uint32_t le32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- header ------------------------------------------------------------------------------------------------------- */

/* Result of parsing a header: `bad` is the reason why it is invalid, or NULL; `size` is its length. */
struct header {
  const char *bad;
  size_t size;
  bool checksum_differs;
};

static bool bad(struct header *h, const char *why) {
  h->bad = why;
  return true;
}

/* Each of the following functions returns false if the inner input failed, and true with h->bad set if the header is
 * invalid. */
static bool skip_extra(struct gunzip *g, struct header *h) {
  size_t avail, n;
  const uint8_t *p = look_ahead(g, h->size + 2, &avail);
  if (!p) return false;
  if (avail < h->size + 2) return bad(h, "truncated header");
  n = (size_t)p[h->size] | (size_t)p[h->size + 1] << 8;
  h->size += 2 + n;
  return true;
}

static bool skip_text(struct gunzip *g, struct header *h) {
  size_t avail, n;
  const uint8_t *p = look_ahead(g, h->size + TEXT_LIMIT, &avail), *zero;
  if (!p) return false;
  if (avail <= h->size) return bad(h, "truncated header");
  n = avail - h->size < TEXT_LIMIT ? avail - h->size : TEXT_LIMIT;
  zero = memchr(p + h->size, 0, n);
  if (!zero) return bad(h, n == TEXT_LIMIT ? "unterminated name in its header" : "truncated header");
  h->size = (size_t)(zero - p) + 1;
  return true;
}

static bool check_crc16(struct gunzip *g, struct header *h) {
  size_t avail;
  const uint8_t *p = look_ahead(g, h->size + 2, &avail);
  if (!p) return false;
  if (avail < h->size + 2) return bad(h, "truncated header");
  h->checksum_differs = (flate_crc(0, p, h->size) & 0xffff) != ((uint32_t)p[h->size] | (uint32_t)p[h->size + 1] << 8);
  h->size += 2;
  return true;
}

static bool parse_header(struct gunzip *g, struct header *h) {
  size_t avail;
  uint8_t flags;
  const uint8_t *p = look_ahead(g, HEADER, &avail);
  if (!p) return false;
  *h = (struct header){.size = HEADER};
  if (avail < 2 || p[0] != 0x1f || p[1] != 0x8b) return bad(h, "not a member");
  if (avail > 2 && p[2] != 8) return bad(h, "unsupported compression method");
  if (avail > 3 && (p[3] & RESERVED)) return bad(h, "reserved flags set in its header");
  if (avail < HEADER) return bad(h, "truncated header");
  flags = p[3];
  if ((flags & FEXTRA) && !skip_extra(g, h)) return false;
  if (!h->bad && (flags & FNAME) && !skip_text(g, h)) return false;
  if (!h->bad && (flags & FCOMMENT) && !skip_text(g, h)) return false;
  if (!h->bad && (flags & FHCRC) && !check_crc16(g, h)) return false;
  if (!h->bad && !look_ahead(g, h->size, &avail)) return false;
  if (!h->bad && avail < h->size) return bad(h, "truncated header");
  return true;
}

/* Skips zeros after a member, with which tapes and block devices pad files. Sets *ended to true at the end of the file. */
static bool skip_padding(struct gunzip *g, bool *ended) {
  size_t avail, n = 0;
  const uint8_t *p;
  do {
    in_consume(g->inner, n);
    p = look_ahead(g, 1, &avail);
    if (!p) return false;
    for (n = 0; n < avail && p[n] == 0; n++) {
    }
  } while (n > 0 && n == avail);
  in_consume(g->inner, n);
  *ended = avail == 0;
  return true;
}

static bool step_header(struct gunzip *g) {
  struct header h = {0};
  bool ended = false;
  uint64_t at;
  if (g->members > 0 && !skip_padding(g, &ended)) return false;
  if (ended) {
    g->state = AT_END;
    return true;
  }
  at = in_offset(g->inner);
  if (!parse_header(g, &h)) return false;
  if (h.bad && g->members == 0) return err_at(&g->fault, TK_ECORRUPT, at, "gzip: %s", h.bad);
  if (h.bad) {
    in_add_note(g->inner, true, at, "gzip: ignored data after the last member (byte %llu of the compressed file)",
                (unsigned long long)at);
    g->state = AT_END;
    return true;
  }
  if (h.checksum_differs) in_add_note(g->inner, true, at, "gzip: wrong checksum of a header");
  in_consume(g->inner, h.size);
  inflater_reset(g->z);
  g->crc = g->size = 0;
  g->state = AT_DATA;
  return true;
}

/* ---- data --------------------------------------------------------------------------------------------------------- */

/* Ends the stream because of damage or truncation. Output of at least `least` bytes is kept with a note; less is an error. */
static bool broken(struct gunzip *g, const char *what, uint64_t least) {
  if (g->total < least)
    return err_at(&g->fault, TK_ECORRUPT, where(g), "gzip: %s at byte %llu of the compressed file, after %llu bytes of data",
                  what, where(g), (unsigned long long)g->total);
  in_add_note(g->inner, true, where(g), "gzip: %s at byte %llu of the compressed file; the %llu bytes before it were read",
              what, where(g), (unsigned long long)g->total);
  g->state = AT_END;
  return true;
}

/* Enforces the limits for the output by reducing *made. Returns false with an error if a limit is exceeded. */
static bool guard(struct gunzip *g, size_t *made) {
  if (g->max_size && g->total > g->max_size) {
    uint64_t excess = g->total - g->max_size;
    *made -= excess < *made ? (size_t)excess : *made;
    return err_for(&g->fault, TK_OPTION_MAX_SIZE, TK_ELIMIT, "gzip: more than %llu bytes after decompression",
                   (unsigned long long)g->max_size);
  }
  if (g->max_size == 0 && g->total > BOMB_SIZE && g->total / BOMB_RATIO > in_raw_offset(g->inner) + g->seen)
    return err_for(&g->fault, TK_OPTION_MAX_SIZE, TK_ELIMIT, "gzip: decompresses to more than %d times its size", BOMB_RATIO);
  return true;
}

/* Removes `n` bytes from the inner window, which the inflater has read. */
static void drop_seen(struct gunzip *g, size_t n) {
  in_consume(g->inner, n);
  g->seen -= n;
}

static bool step_data(struct gunzip *g, uint8_t *out, size_t n, size_t *made) {
  size_t avail;
  const uint8_t *p = look_ahead(g, g->seen + 1, &avail);
  struct flate_io io;
  enum flate_status status;
  if (!p) return false;
  io = (struct flate_io){.in = p + g->seen, .n_in = avail - g->seen, .out = out, .n_out = n};
  status = inflater_run(g->z, &io);
  *made = n - io.n_out;
  g->crc = flate_crc(g->crc, out, *made);
  g->size += (uint32_t)*made;
  g->total += *made;
  if (status == FLATE_MORE && *made == 0 && avail == g->seen) return broken(g, "cut", 1);
  g->seen = (size_t)(io.in - p);
  if (!guard(g, made)) return false;
  if (status == FLATE_BAD) in_set_damaged(g->inner);
  if (status == FLATE_BAD) return broken(g, "damaged", TRUSTED);
  if (status == FLATE_END) g->state = AT_TRAILER;
  if (status == FLATE_END)
    drop_seen(g, g->seen);
  else if (g->seen > INFLATER_HELD)
    drop_seen(g, g->seen - INFLATER_HELD);
  return true;
}

/* ---- trailer ------------------------------------------------------------------------------------------------------ */

static bool step_trailer(struct gunzip *g) {
  size_t avail;
  uint64_t at = in_offset(g->inner);
  const uint8_t *p = look_ahead(g, TRAILER, &avail);
  if (!p) return false;
  bool differs = avail >= 4 && le32(p) != g->crc;
  if (differs) {
    in_set_damaged(g->inner);
    in_add_note(g->inner, true, at, "gzip: the checksum at byte %llu does not match the data; values may be wrong",
                (unsigned long long)at);
  }
  if (avail < TRAILER)
    in_add_note(g->inner, true, at, "gzip: truncated at the very end; the data are complete");
  else if (!differs && le32(p + 4) != g->size)
    in_add_note(g->inner, true, at, "gzip: the recorded size is wrong, but the checksum is right");
  in_consume(g->inner, TRAILER);
  g->members++;
  g->state = avail < TRAILER ? AT_END : AT_HEADER;
  return true;
}

/* ---- the layer ---------------------------------------------------------------------------------------------------- */

static bool step(struct gunzip *g, uint8_t *out, size_t n, size_t *made) {
  *made = 0;
  switch (g->state) {
  case AT_HEADER: return step_header(g);
  case AT_DATA: return step_data(g, out, n, made);
  case AT_TRAILER: return step_trailer(g);
  case AT_END: break;
  }
  return true;
}

/* Reads, and reports an error only after all output that precedes it. */
static ptrdiff_t gunzip_read(void *self, uint8_t *p, size_t n, struct tk_err *err) {
  struct gunzip *g = self;
  size_t done = 0, made;
  while (done < n && g->state != AT_END && g->fault.code == TK_OK) {
    step(g, p + done, n - done, &made);
    done += made;
  }
  if (done > 0 || g->fault.code == TK_OK) return (ptrdiff_t)done;
  if (err && err->code == TK_OK) *err = g->fault;
  return -1;
}

static void gunzip_close(void *self) {
  struct gunzip *g = self;
  inflater_close(g->z);
  in_close(g->inner);
  mem_free(g->mem, g);
}

struct in *gzip_open_with(enum flate_backend backend, struct in *inner, uint64_t max_size, struct mem *mem,
                          struct tk_err *err) {
  size_t avail;
  const uint8_t *p = in_ahead(inner, 2, &avail, err);
  struct gunzip *g;
  if (p && (avail < 2 || p[0] != 0x1f || p[1] != 0x8b)) return inner;
  g = p ? mem_alloc(mem, sizeof *g) : NULL;
  if (!g) {
    if (p) mem_check(mem, err);
    in_close(inner);
    return NULL;
  }
  *g = (struct gunzip){.inner = inner, .mem = mem, .max_size = max_size, .fault = {.offset = UINT64_MAX}};
  g->z = inflater_open(backend, mem, err);
  if (!g->z) {
    gunzip_close(g);
    return NULL;
  }
  return in_layer((struct in_source){.read = gunzip_read, .close = gunzip_close, .self = g}, inner, mem, err);
}

struct in *gzip_open(struct in *inner, uint64_t max_size, struct mem *mem, struct tk_err *err) {
  return gzip_open_with(FLATE_BEST, inner, max_size, mem, err);
}

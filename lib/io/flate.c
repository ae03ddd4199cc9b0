/* flate.c - raw deflate streams with zlib and, if TK_HAVE_ISAL is set, ISA-L.
 *
 * Measured on Kineto JSON, one core: inflate 3-5 GB/s with ISA-L, 0.4 with zlib; deflate 1.4 GB/s against 0.06-0.25. ISA-L's
 * best level compresses less than zlib's 5, so from there on every build uses zlib. */
#include "flate.h"

#include <string.h>
#include <zlib.h>
#ifdef TK_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#if defined(__x86_64__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)
#include <sys/platform/x86.h>
#endif
#endif
#endif

/* Clears the upper halves of the vector registers. ISA-L leaves them in use, which slows down code that is compiled without
 * AVX: converting to .gz on one core took 0.66 s instead of 0.45 s. */
#if defined(TK_HAVE_ISAL) && defined(__x86_64__)
__attribute__((target("avx"))) static void clear_upper_halves(void) { _mm256_zeroupper(); }

/* Asks glibc for the CPU features, which it has read already: the compiler's own test reads them again at each start of the
 * program, which takes 50 us in a virtual machine. */
static bool has_avx(void) {
#if defined(CPU_FEATURE_ACTIVE)
  return CPU_FEATURE_ACTIVE(AVX);
#else
  return __builtin_cpu_supports("avx");
#endif
}

static void leave_isal(void) {
  if (has_avx()) clear_upper_halves();
}
#else
#define leave_isal() ((void)0)
#endif

enum { ZLIB_FROM = 5, ISAL_DEFAULT = 1, ZLIB_DEFAULT = 3, CHUNK = 1 << 30 };

bool flate_has(enum flate_backend backend) {
#ifdef TK_HAVE_ISAL
  (void)backend;
  return true;
#else
  return backend != FLATE_ISAL;
#endif
}

uint32_t flate_crc(uint32_t crc, const void *p, size_t n) {
#ifdef TK_HAVE_ISAL
  crc = crc32_gzip_refl(crc, p, n);
  leave_isal();
  return crc;
#else
  return (uint32_t)crc32_z(crc, p, n);
#endif
}

uint32_t flate_crc_join(uint32_t first, uint32_t second, uint64_t n) {
  return (uint32_t)crc32_combine(first, second, (z_off_t)n);
}

static uint32_t clip(size_t n) { return n < CHUNK ? (uint32_t)n : CHUNK; }

/* ---- inflate ------------------------------------------------------------------------------------------------------ */

struct inflater {
  struct mem *mem;
  z_stream zlib;
#ifdef TK_HAVE_ISAL
  struct inflate_state *isal; /* NULL = zlib is used */
#endif
};

static void *out_of_memory(struct mem *mem, struct tk_err *err) {
  mem->failed = true;
  mem_check(mem, err);
  return NULL;
}

struct inflater *inflater_open(enum flate_backend backend, struct mem *mem, struct tk_err *err) {
  struct inflater *z = mem_alloc(mem, sizeof *z);
  if (!z) return out_of_memory(mem, err);
  memset(z, 0, sizeof *z);
  z->mem = mem;
#ifdef TK_HAVE_ISAL
  if (backend != FLATE_ZLIB) {
    z->isal = mem_alloc(mem, sizeof *z->isal);
    if (z->isal) {
      memset(z->isal, 0, sizeof *z->isal); /* ISA-L does not clear all tables, and reads them on a damaged stream */
      isal_inflate_init(z->isal);
      return z;
    }
    mem_free(mem, z);
    return out_of_memory(mem, err);
  }
#else
  (void)backend;
#endif
  if (inflateInit2(&z->zlib, -MAX_WBITS) == Z_OK) return z;
  mem_free(mem, z);
  return out_of_memory(mem, err);
}

void inflater_reset(struct inflater *z) {
#ifdef TK_HAVE_ISAL
  if (z->isal) {
    isal_inflate_reset(z->isal);
    return;
  }
#endif
  inflateReset(&z->zlib);
}

#ifdef TK_HAVE_ISAL
/* Inflates with ISA-L, which reads up to 8 bytes ahead into its bit buffer. These bytes are returned at the end of the
 * stream. */
static enum flate_status run_isal(struct inflate_state *s, struct flate_io *io) {
  uint32_t in = clip(io->n_in), out = clip(io->n_out), back;
  int ret;
  s->next_in = (uint8_t *)(uintptr_t)io->in;
  s->avail_in = in;
  s->next_out = io->out;
  s->avail_out = out;
  ret = isal_inflate(s);
  leave_isal();
  io->in += in - s->avail_in;
  io->n_in -= in - s->avail_in;
  io->out += out - s->avail_out;
  io->n_out -= out - s->avail_out;
  if (ret < ISAL_DECOMP_OK || ret == ISAL_NEED_DICT) return FLATE_BAD;
  if (s->block_state != ISAL_BLOCK_FINISH) return FLATE_MORE;
  back = (uint32_t)s->read_in_length / 8;
  io->in -= back;
  io->n_in += back;
  return FLATE_END;
}
#endif

enum flate_status inflater_run(struct inflater *z, struct flate_io *io) {
  uint32_t in, out;
  int ret;
#ifdef TK_HAVE_ISAL
  if (z->isal) return run_isal(z->isal, io);
#endif
  in = clip(io->n_in);
  out = clip(io->n_out);
  z->zlib.next_in = (Bytef *)(uintptr_t)io->in;
  z->zlib.avail_in = in;
  z->zlib.next_out = io->out;
  z->zlib.avail_out = out;
  ret = inflate(&z->zlib, Z_NO_FLUSH);
  io->in += in - z->zlib.avail_in;
  io->n_in -= in - z->zlib.avail_in;
  io->out += out - z->zlib.avail_out;
  io->n_out -= out - z->zlib.avail_out;
  if (ret == Z_STREAM_END) return FLATE_END;
  return ret == Z_OK || ret == Z_BUF_ERROR ? FLATE_MORE : FLATE_BAD;
}

void inflater_close(struct inflater *z) {
  if (!z) return;
#ifdef TK_HAVE_ISAL
  mem_free(z->mem, z->isal);
#endif
  inflateEnd(&z->zlib); /* harmless if zlib was not initialised */
  mem_free(z->mem, z);
}

/* ---- deflate ------------------------------------------------------------------------------------------------------ */

struct deflater {
  struct mem *mem;
  z_stream zlib;
  size_t left; /* input bytes not yet passed to zlib or ISA-L */
  bool last;
  bool breaks; /* true while a break (deflater_break) is being written */
  bool idle;   /* true from the end of a break until the next input: another break would add a block at ISA-L's lowest level */
#ifdef TK_HAVE_ISAL
  struct isal_zstream *isal; /* NULL = zlib is used */
  uint8_t *work;
  size_t n_work;
  bool fresh; /* true until ISA-L receives the first bytes of a stream */
#endif
};

#ifdef TK_HAVE_ISAL
static void start_isal(struct deflater *z, uint32_t level) {
  memset(z->isal, 0, sizeof *z->isal);
  isal_deflate_init(z->isal);
  z->isal->level = level;
  z->isal->level_buf = z->work;
  z->isal->level_buf_size = (uint32_t)z->n_work;
  z->isal->flush = NO_FLUSH;
  z->isal->gzip_flag = IGZIP_DEFLATE;
  z->fresh = true;
}

static bool open_isal(struct deflater *z, int level) {
  static const uint32_t work[] = {ISAL_DEF_LVL0_DEFAULT, ISAL_DEF_LVL1_DEFAULT, ISAL_DEF_LVL2_DEFAULT,
                                  ISAL_DEF_LVL3_DEFAULT};
  z->n_work = work[level];
  z->isal = mem_alloc(z->mem, sizeof *z->isal);
  if (z->n_work) z->work = mem_alloc(z->mem, z->n_work);
  if (!z->isal || (z->n_work && !z->work)) return false;
  start_isal(z, (uint32_t)level);
  return true;
}

static void run_isal_deflate(struct deflater *z, uint32_t in, bool last) {
  z->isal->avail_in = in;
  z->isal->end_of_stream = last;
  if (z->isal->internal_state.state != ZSTATE_END) isal_deflate(z->isal);
  z->left -= in - z->isal->avail_in;
}

/* Makes the output of ISA-L 2.30 independent of addresses. ISA-L computes the hash of a stream's third byte from a register whose
 * content depends on the address of the stream, unless its first call stops after the first byte. Otherwise, one in some thousand
 * streams had different matches and another length. This function makes ISA-L stop after the first byte, by giving it one byte
 * more than its lookahead. Shorter input is only buffered and later hashed into a single slot, which is correct but compresses
 * less. */
static void show_first(struct deflater *z) {
  enum { FIRST = ISAL_LOOK_AHEAD + 1 };
  if (!z->fresh || !z->left) return;
  z->fresh = false;
  run_isal_deflate(z, z->left < FIRST ? (uint32_t)z->left : FIRST, false);
}

/* Maps our levels 0..4 to the levels 0..3 of ISA-L. In ISA-L, level 1 is as fast as level 0, with an output that is a sixth
 * smaller; level 3 is a third slower than level 2. */
static int isal_level(int level) {
  static const uint8_t map[ZLIB_FROM] = {ISAL_DEFAULT, 0, 1, 2, 3};
  return map[level];
}
#endif

struct deflater *deflater_open(enum flate_backend backend, int level, struct mem *mem, struct tk_err *err) {
  struct deflater *z = mem_alloc(mem, sizeof *z);
  if (!z) return out_of_memory(mem, err);
  memset(z, 0, sizeof *z);
  z->mem = mem;
  if (level < 0) level = 0;
  if (level > 9) level = 9;
#ifdef TK_HAVE_ISAL
  if (backend != FLATE_ZLIB && level < ZLIB_FROM) {
    if (open_isal(z, isal_level(level))) return z;
    deflater_close(z);
    return out_of_memory(mem, err);
  }
#else
  (void)backend;
#endif
  if (level == 0) level = ZLIB_DEFAULT;
  if (deflateInit2(&z->zlib, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK) return z;
  deflater_close(z);
  return out_of_memory(mem, err);
}

void deflater_feed(struct deflater *z, const uint8_t *p, size_t n, bool last) {
  z->left = n;
  z->last = last;
  z->idle = false;
#ifdef TK_HAVE_ISAL
  if (z->isal) {
    z->isal->next_in = (uint8_t *)(uintptr_t)p;
    return;
  }
#endif
  z->zlib.next_in = (Bytef *)(uintptr_t)p;
}

void deflater_break(struct deflater *z) {
  static const uint8_t nothing;
  deflater_feed(z, &nothing, 0, false);
  z->breaks = true;
}

/* Writes output of a break to p, and returns its length. If some of the room remains unused, all output has been delivered:
 * this ends the break, and the next bytes start a new stream. */
static size_t pull_break(struct deflater *z, uint8_t *p, uint32_t room) {
  if (!z->breaks) return 0;
#ifdef TK_HAVE_ISAL
  if (z->isal) {
    z->isal->avail_in = 0;
    z->isal->flush = FULL_FLUSH;
    z->isal->next_out = p;
    z->isal->avail_out = room;
    isal_deflate(z->isal);
    leave_isal();
    const uint32_t left = z->isal->avail_out;
    if (left) start_isal(z, z->isal->level);
    z->idle = left;
    z->breaks = !left;
    return room - left;
  }
#endif
  z->zlib.avail_in = 0;
  z->zlib.next_out = p;
  z->zlib.avail_out = room;
  deflate(&z->zlib, Z_FULL_FLUSH);
  const uint32_t left = z->zlib.avail_out;
  if (left) deflateReset(&z->zlib);
  z->idle = left;
  z->breaks = !left;
  return room - left;
}

size_t deflater_pull(struct deflater *z, uint8_t *p, size_t n) {
  if (z->breaks) return pull_break(z, p, clip(n));
  if (z->idle) return 0;
  uint32_t in, room = clip(n);
#ifdef TK_HAVE_ISAL
  if (z->isal) {
    z->isal->next_out = p;
    z->isal->avail_out = room;
    show_first(z);
    in = clip(z->left);
    run_isal_deflate(z, in, z->last && in == z->left);
    leave_isal();
    return room - z->isal->avail_out;
  }
#endif
  in = clip(z->left);
  z->zlib.avail_in = in;
  z->zlib.next_out = p;
  z->zlib.avail_out = room;
  deflate(&z->zlib, z->last && in == z->left ? Z_FINISH : Z_NO_FLUSH);
  z->left -= in - z->zlib.avail_in;
  return room - z->zlib.avail_out;
}

void deflater_close(struct deflater *z) {
  if (!z) return;
#ifdef TK_HAVE_ISAL
  mem_free(z->mem, z->isal);
  mem_free(z->mem, z->work);
#endif
  deflateEnd(&z->zlib); /* harmless if zlib was not initialised */
  mem_free(z->mem, z);
}

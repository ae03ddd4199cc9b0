/* limits.c - lower bounds for processing the same bytes: inflating, deflating, copying, and allocating memory for them.
 *
 * Every command does some of this work in addition to its own. Ratios to these bounds therefore do not depend on the current speed of
 * the machine.
 *
 * Usage: limits FILE.gz ROUNDS. Prints the best CPU seconds of the rounds as JSON; single-threaded. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>
#ifdef TK_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

enum { BLOCK = 1 << 20, PAGE = 4096 };

struct bytes {
  uint8_t *p;
  size_t n;
};

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct bytes read_file(const char *path) {
  struct bytes b = {NULL, 0};
  struct stat st;
  FILE *f = fopen(path, "rb");
  if (!f || fstat(fileno(f), &st) != 0 || !(b.p = malloc((size_t)st.st_size + 1))) return (struct bytes){NULL, 0};
  b.n = fread(b.p, 1, (size_t)st.st_size, f);
  fclose(f);
  return b;
}

/* Inflates into one block repeatedly, as a reader does. Returns the number of bytes; 0 = not gzip. */
#ifdef TK_HAVE_ISAL
static uint64_t inflate_all(struct bytes gz, uint8_t *block) {
  struct inflate_state *s = malloc(sizeof *s);
  uint64_t n = 0;
  if (!s) return 0;
  isal_inflate_init(s);
  s->crc_flag = ISAL_GZIP;
  s->next_in = gz.p;
  s->avail_in = (uint32_t)gz.n;
  while (s->block_state != ISAL_BLOCK_FINISH) {
    s->next_out = block;
    s->avail_out = BLOCK;
    if (isal_inflate(s) != ISAL_DECOMP_OK) n = 0, s->block_state = ISAL_BLOCK_FINISH;
    n += BLOCK - s->avail_out;
  }
  free(s);
  return n;
}
#else
static uint64_t inflate_all(struct bytes gz, uint8_t *block) {
  z_stream s = {.next_in = gz.p, .avail_in = (uInt)gz.n};
  int status = inflateInit2(&s, 15 + 16);
  for (; status == Z_OK; status = inflate(&s, Z_NO_FLUSH)) s.next_out = block, s.avail_out = BLOCK;
  const uint64_t n = status == Z_STREAM_END ? s.total_out : 0;
  inflateEnd(&s);
  return n;
}
#endif

/* Deflates n bytes, repeating the first block of the file, at the default level of convert. */
#ifdef TK_HAVE_ISAL
static void deflate_all(uint64_t n, const uint8_t *block, uint8_t *out) {
  static const uint32_t room = ISAL_DEF_LVL1_DEFAULT;
  struct isal_zstream s;
  uint8_t *level = malloc(room);
  if (!level) return;
  isal_deflate_init(&s);
  s.level = 1;
  s.level_buf = level;
  s.level_buf_size = room;
  s.gzip_flag = IGZIP_GZIP;
  for (uint64_t done = 0; done < n; done += BLOCK) {
    s.next_in = (uint8_t *)(uintptr_t)block;
    s.avail_in = BLOCK;
    while (s.avail_in) s.next_out = out, s.avail_out = BLOCK, isal_deflate(&s);
  }
  free(level);
}
#else
static void deflate_all(uint64_t n, const uint8_t *block, uint8_t *out) {
  z_stream s = {0};
  if (deflateInit(&s, 1) != Z_OK) return;
  for (uint64_t done = 0; done < n; done += BLOCK) {
    s.next_in = (uint8_t *)(uintptr_t)block;
    s.avail_in = BLOCK;
    while (s.avail_in) s.next_out = out, s.avail_out = BLOCK, deflate(&s, Z_NO_FLUSH);
  }
  deflateEnd(&s);
}
#endif

static void copy_all(uint64_t n, const uint8_t *from, uint8_t *to) {
  for (uint64_t done = 0; done < n; done += BLOCK) {
    memcpy(to, from, BLOCK);
    __asm__ volatile("" : : "r"(to) : "memory");
  }
}

/* Touches n bytes of memory page by page; frees each block, so that at most one is allocated. */
static void fault_all(uint64_t n) {
  enum { ROOM = 64 << 20 };
  for (uint64_t done = 0; done < n; done += ROOM) {
    uint8_t *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return;
    for (uint64_t i = 0; i < ROOM && done + i < n; i += PAGE) p[i] = 1;
    munmap(p, ROOM);
  }
}

static void best(double *of, double start) {
  const double took = cpu_seconds() - start;
  if (took < *of) *of = took;
}

int main(int argc, char **argv) {
  double inflated = 1e9, deflated = 1e9, copied = 1e9, faulted = 1e9;
  struct bytes gz = argc == 3 ? read_file(argv[1]) : (struct bytes){NULL, 0};
  uint8_t *block = malloc(BLOCK), *out = malloc(BLOCK);
  uint64_t n = 0;
  if (!gz.p || !block || !out) return fprintf(stderr, "usage: limits FILE.gz ROUNDS\n"), 2;
  for (int i = atoi(argv[2]); i > 0; i--) {
    double start = cpu_seconds();
    n = inflate_all(gz, block);
    if (!n) return fprintf(stderr, "limits: %s: is not whole gzip\n", argv[1]), 3;
    best(&inflated, start);
    start = cpu_seconds();
    deflate_all(n, block, out);
    best(&deflated, start);
    start = cpu_seconds();
    copy_all(n, block, out);
    best(&copied, start);
    start = cpu_seconds();
    fault_all(n);
    best(&faulted, start);
  }
  printf("{\"bytes\":%llu,\"inflate\":%.6f,\"deflate\":%.6f,\"copy\":%.6f,\"faults\":%.6f}\n", (unsigned long long)n, inflated,
         deflated, copied, faulted);
  free(gz.p), free(block), free(out);
  return 0;
}

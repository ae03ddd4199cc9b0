#include "mem.h"

#include "os.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of this size and larger get their own address range, in which they grow without being moved, and huge pages (struct os_block).
 * With a trace of 202 MB, the thread that collects the results of seven readers then takes 80 ms of CPU time instead of 90
 * (tests/bench/stages.c, three alternating series). Smaller blocks would leave too much of a huge page unused. If the memory limit is
 * below HUGE_LIMIT, no block has huge pages, because their unused parts would take a large part of the limit. */
enum { HUGE_FROM = 4 << 20, HUGE_LIMIT = 128 << 20 };

/* Header of every block: 16 bytes, so that the block is aligned for any type. */
struct block {
  _Alignas(max_align_t) size_t size;
  size_t room; /* size of the block's own address range; 0 = allocated by malloc */
};

static struct block *block_of(void *p) { return p ? (struct block *)p - 1 : NULL; }

/* Number of bytes allocated between two measurements of resident memory, each of which takes 3 us. The number of counted bytes can be
 * too high: arrays reserve more than they have filled, and pages that were never written take no memory (a third of the counted bytes
 * while a large trace is read). It can also be too low: the 10 MB of the program itself are not counted. So resident memory decides. It
 * is measured from the start if the process is limited, and otherwise only once the count exceeds the limit, because the process may
 * use much memory for other purposes. */
enum { CHECK = 1 << 20 };

/* True if the resident memory of the process is limited. */
static bool is_limited(const struct mem *m) { return m->process && m->limit && m->whole; }

static bool is_counted(const struct mem *m, uint64_t more) { return m->limit && m->used + more > m->limit; }

/* True if `more` bytes would be too many for the process. Returns `counted` on systems that do not report the resident memory. */
static bool is_too_much(const struct mem *m, uint64_t more, bool counted) {
  const uint64_t resident = os_resident();
  return resident == UINT64_MAX ? counted : resident > m->whole || more > m->whole - resident;
}

static bool exceeds(struct mem *m, uint64_t more) {
  const bool counted = is_counted(m, more);
  const uint64_t used = m->used + more;
  if (!m->whole || !m->limit) return counted;
  if (used <= m->allowed || !(counted || (is_limited(m) && used > CHECK))) return false;
  if (is_too_much(m, more + CHECK, counted)) return true;
  m->allowed = used + CHECK;
  return false;
}

static struct os_block pages_of(struct block *b) { return (struct os_block){(uint8_t *)b, b->size + sizeof *b, b->room}; }

static void free_block(struct block *b) {
  const struct os_block pages = pages_of(b);
  if (b->room) os_block_free(&pages);
  else free(b);
}

/* Copies a block, and returns the pages of the original meanwhile, so that both together take hardly more memory than one. */
static void move_block(struct block *to, struct block *from) {
  enum { PIECE = 2 << 20 };
  const size_t n = from->size + sizeof *from, first = sizeof *from;
  for (size_t at = first; at < n; at += PIECE) {
    const size_t size = n - at < PIECE ? n - at : PIECE;
    memcpy((uint8_t *)to + at, (uint8_t *)from + at, size);
    if (from->room && at > first) os_release((uint8_t *)from + at, size);
  }
}

/* Moves a block to pages with room to grow to many times its size (b == NULL: creates one), so that moving is rare. The pages are not
 * remapped, because Linux before 6.17 does not remap pages that were moved once and have grown since. Returns NULL if the system has no
 * such pages; the block is then unchanged. */
static struct block *give_pages(struct block *b, size_t size) {
  enum { ROOM = 16 };
  const struct os_block pages = size <= SIZE_MAX / 2 / ROOM ? os_block_new(size, size * ROOM) : (struct os_block){0};
  struct block *to = (struct block *)pages.p;
  if (!to) return NULL;
  to->room = pages.room;
  if (!b) return to;
  move_block(to, b);
  free_block(b);
  return to;
}

static struct block *resize_pages(struct block *b, size_t size) {
  struct os_block pages = pages_of(b);
  if (size > pages.room) return give_pages(b, size);
  if (size < pages.n) os_release(pages.p + size, pages.n - size);
  return os_block_grow(&pages, size) ? b : NULL;
}

/* Sizes include the header. */
static struct block *resize(const struct mem *m, struct block *b, size_t size) {
  const bool is_large = size >= HUGE_FROM && (!m->limit || m->limit >= HUGE_LIMIT);
  if (b && b->room) return resize_pages(b, size);
  struct block *to = is_large ? give_pages(b, size) : NULL;
  if (to || !(to = realloc(b, size))) return to;
  to->room = 0;
  return to;
}

void *mem_resize(struct mem *m, void *p, size_t size) {
  struct block *b = block_of(p);
  size_t old = b ? b->size : 0;
  bool over = size > SIZE_MAX / 2 || (size > old && exceeds(m, size - old));
  b = over ? NULL : resize(m, b, size + sizeof *b);
  if (!b) {
    m->failed = true;
    return NULL;
  }
  b->size = size;
  m->used = m->used - old + size; /* subtracts first, because `size - old` would wrap if size_t has only 32 bits */
  if (m->used > m->peak) m->peak = m->used;
  return b + 1;
}

void *mem_alloc(struct mem *m, size_t size) { return mem_resize(m, NULL, size); }

void *mem_array(struct mem *m, uint64_t n, size_t elem) {
  if (n <= SIZE_MAX / 2 / elem) return mem_alloc(m, (size_t)n * elem);
  m->failed = true;
  return NULL;
}

void *mem_zeros(struct mem *m, uint64_t n, size_t elem) {
  void *p = mem_array(m, n, elem);
  return p ? memset(p, 0, (size_t)n * elem) : NULL;
}

void mem_free(struct mem *m, void *p) {
  if (!p) return;
  m->used -= block_of(p)->size;
  if (m->allowed > m->used + 2 * CHECK) m->allowed = m->used + CHECK;
  free_block(block_of(p));
}

/* True if growth by these bytes would exceed the limit; arrays then grow in small steps. */
static bool is_tight(const struct mem *m, uint64_t more) {
  const bool counted = is_counted(m, more);
  return counted || (is_limited(m) && more > CHECK && is_too_much(m, more, counted));
}

bool mem_grow_now(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem) {
  uint64_t want;
  void *q;
  if (need >= UINT32_MAX || m->failed) {
    m->failed = true;
    return false;
  }
  want = (uint64_t)*cap + *cap / (is_tight(m, (uint64_t)*cap * elem / 2) ? 16 : 2);
  if (want < need) want = need;
  if (want < 64) want = 64;
  if (want >= UINT32_MAX) want = UINT32_MAX - 1;
  q = mem_resize(m, *array, (size_t)want * elem);
  if (!q) return false;
  *array = q;
  *cap = (uint32_t)want;
  return true;
}

static bool fail_limit(const struct mem *m, struct tk_err *err) {
  const uint64_t resident = is_limited(m) ? os_resident() : UINT64_MAX;
  const uint64_t used = resident == UINT64_MAX ? m->used : resident;
  return err_for(err, TK_OPTION_MAX_MEMORY, TK_ELIMIT, "out of memory: %llu MB in use, limit %llu MB",
                 (unsigned long long)(used >> 20), (unsigned long long)(m->limit >> 20));
}

bool mem_check(const struct mem *m, struct tk_err *err) { return !m->failed || fail_limit(m, err); }

bool mem_check_process(const struct mem *m, struct tk_err *err) {
  const bool over = is_limited(m) && m->used > CHECK && is_too_much(m, 0, false);
  return over ? fail_limit(m, err) : mem_check(m, err);
}

uint8_t *buf_grow(struct buf *b, size_t n) {
  size_t want;
  uint8_t *q;
  if (n > SIZE_MAX / 4) return NULL;
  want = b->cap + b->cap / (is_tight(b->mem, b->cap / 2) ? 16 : 2);
  if (want < b->len + n) want = b->len + n;
  if (want < 256) want = 256;
  q = mem_resize(b->mem, b->data, want + MEM_SLACK);
  if (!q) return NULL;
  memset(q + want, 0, MEM_SLACK);
  b->data = q;
  b->cap = want;
  return b->data + b->len;
}

bool buf_append(struct buf *b, const void *p, size_t n) {
  uint8_t *q = n ? buf_reserve(b, n) : NULL;
  if (!q) return n == 0;
  memcpy(q, p, n);
  b->len += n;
  return true;
}

bool buf_text(struct buf *b, const char *text) { return buf_append(b, text, strlen(text)); }

void buf_free(struct buf *b) {
  mem_free(b->mem, b->data);
  b->data = NULL;
  b->len = b->cap = 0;
}

struct arena_block {
  struct arena_block *next;
  size_t size;
};

enum { ARENA_BLOCK = 1 << 16, ARENA_ALIGN = 16 };

/* Starts a new block with room for n bytes. */
static bool arena_grow(struct arena *a, size_t n) {
  size_t size = n + sizeof(struct arena_block) > ARENA_BLOCK ? n + sizeof(struct arena_block) : ARENA_BLOCK;
  struct arena_block *b = mem_alloc(a->mem, size + MEM_SLACK);
  if (!b) return false;
  b->next = a->blocks;
  b->size = size;
  a->blocks = b;
  a->next = (uint8_t *)(b + 1);
  a->end = (uint8_t *)b + size;
  return true;
}

void *arena_bytes(struct arena *a, size_t n) {
  void *p;
  if (n > SIZE_MAX / 2 || ((size_t)(a->end - a->next) < n && !arena_grow(a, n))) return NULL;
  p = a->next;
  a->next += n;
  return p;
}

void *arena_alloc(struct arena *a, size_t n) {
  size_t pad = -(uintptr_t)a->next & (ARENA_ALIGN - 1);
  if (n > SIZE_MAX / 2) return NULL;
  if ((size_t)(a->end - a->next) < n + pad) {
    if (!arena_grow(a, n + ARENA_ALIGN)) return NULL;
    pad = -(uintptr_t)a->next & (ARENA_ALIGN - 1);
  }
  a->next += pad;
  return arena_bytes(a, n);
}

void *arena_zeros(struct arena *a, size_t n, size_t elem) {
  void *p = n <= SIZE_MAX / 2 / elem ? arena_alloc(a, n * elem) : NULL;
  return p ? memset(p, 0, n * elem) : NULL;
}

char *arena_text(struct arena *a, const void *p, size_t n) {
  char *copy = arena_bytes(a, n + 1);
  if (!copy) return NULL;
  if (n) memcpy(copy, p, n);
  copy[n] = 0;
  return copy;
}

void arena_free(struct arena *a) {
  while (a->blocks) {
    struct arena_block *b = a->blocks;
    a->blocks = b->next;
    mem_free(a->mem, b);
  }
  a->next = a->end = NULL;
}

bool mem_refuse(const struct mem *m, struct tk_err *err) { return mem_check(m, err) && err_set(err, TK_ELIMIT, "out of memory"); }

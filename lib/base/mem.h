/* mem.h - allocates memory from a budget, and remembers a failure.
 *
 * All memory of a trace is counted in one `struct mem`. When the budget or the system runs out, `failed` is set and stays set;
 * functions that grow an array then return false and keep the existing data. Code that fills the graph continues with dummy
 * slots, and checks for failure once at the end of its stage (mem_check). This needs no branch per allocation, no exit and no
 * longjmp. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "err.h"

struct mem {
  uint64_t used, peak;
  uint64_t limit; /* bytes; 0 = no limit */
  uint64_t whole; /* limit for resident memory, checked if `limit` would be exceeded; 0 = `limit` is final */
  uint64_t allowed; /* bytes that may be in use before `whole` is checked again */
  bool process; /* `whole` limits the process: it is also checked while less than `limit` is counted */
  bool failed;
};

/* All functions that allocate return NULL on failure, and all but mem_zeros leave the memory uncleared. Blocks store their own
 * size. */
void *mem_alloc(struct mem *m, size_t size);
/* Allocates n elements of `elem` bytes; the product is checked for overflow. */
void *mem_array(struct mem *m, uint64_t n, size_t elem);
/* Same as mem_array, but clears the elements. */
void *mem_zeros(struct mem *m, uint64_t n, size_t elem);
/* Resizes the block p, which may be NULL; on failure the old block remains valid. */
void *mem_resize(struct mem *m, void *p, size_t size);
/* Frees a block; p may be NULL. */
void mem_free(struct mem *m, void *p);

/* Makes room for `need` elements of `elem` bytes in *array, which grows by half; new elements are not cleared. *cap: number of
 * elements for which there is room. Returns false when memory runs out. */
bool mem_grow_now(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem);
static inline bool mem_grow(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem) {
  return need <= *cap || mem_grow_now(m, array, cap, need, elem);
}

/* Returns false with TK_ELIMIT in err if any allocation failed. */
bool mem_check(const struct mem *m, struct tk_err *err);
/* Same as mem_check, but also returns false if the process exceeds its limit (mem.process) because of memory that is not
 * counted. Measures resident memory at each call, so it is called at the end of a stage. */
bool mem_check_process(const struct mem *m, struct tk_err *err);
/* Sets err to "out of memory", unless err is set already, and returns false. For steps that may fail for lack of memory or for
 * another reason, which they have stored in err. */
bool mem_refuse(const struct mem *m, struct tk_err *err);

/* Number of bytes that may be read beyond the end of blocks of buf and arena, because scanners compare whole words. */
enum { MEM_SLACK = 16 };

/* ---- buf: growing bytes ---- */

struct buf {
  struct mem *mem;
  uint8_t *data;
  size_t len, cap;
};

/* Returns at least n free bytes at data + len, or NULL. */
uint8_t *buf_grow(struct buf *b, size_t n);
static inline uint8_t *buf_reserve(struct buf *b, size_t n) { return b->cap - b->len >= n ? b->data + b->len : buf_grow(b, n); }
bool buf_append(struct buf *b, const void *p, size_t n);
bool buf_text(struct buf *b, const char *text); /* appends the text without its NUL */
void buf_free(struct buf *b);

/* ---- arena: bytes that do not move until all are freed ---- */

struct arena_block;
struct arena {
  struct mem *mem;
  struct arena_block *blocks;
  uint8_t *next, *end;
};

/* Returns n bytes aligned for any type, or NULL. */
void *arena_alloc(struct arena *a, size_t n);
/* Returns n elements of `elem` bytes, cleared and aligned for any type, or NULL. */
void *arena_zeros(struct arena *a, size_t n, size_t elem);
/* Returns n unaligned bytes, for text, or NULL. */
void *arena_bytes(struct arena *a, size_t n);
/* Returns a copy of n bytes, followed by a NUL, or NULL. */
char *arena_text(struct arena *a, const void *p, size_t n);
void arena_free(struct arena *a);

#endif

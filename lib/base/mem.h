/* mem.h - memory with a budget and a sticky failure.
 *
 * All memory of a trace is counted in one `struct mem`. When the budget or the system runs out, `failed` is set and stays set;
 * growing functions then return false and keep the existing data. Code that fills the graph continues with its dummy slots and
 * checks once, at the end of its stage (mem_check): no branch per allocation, no exit, no longjmp. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "err.h"

struct mem {
  uint64_t used, peak;
  uint64_t limit; /* bytes, 0 = none */
  uint64_t whole; /* limit of the process: above `limit`, memory is refused only if what is resident exceeds it; 0 = always */
  uint64_t allowed; /* bytes in use when `whole` was last checked */
  bool failed;
};

/* Blocks store their size. All functions return NULL on failure; contents are not cleared. */
void *mem_alloc(struct mem *m, size_t size);
/* Allocates n elements of `elem` bytes; the product is checked for overflow. */
void *mem_array(struct mem *m, uint64_t n, size_t elem);
/* Resizes the block p, which may be NULL; on failure the old block remains. */
void *mem_resize(struct mem *m, void *p, size_t size);
/* p may be NULL. */
void mem_free(struct mem *m, void *p);

/* Makes room for `need` elements of `elem` bytes in *array, growing by half; new elements are not cleared. *cap counts elements
 * and is 32-bit like every id. */
bool mem_grow_now(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem);
static inline bool mem_grow(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem) {
  return need <= *cap || mem_grow_now(m, array, cap, need, elem);
}

/* The same for an array that takes over the contents of another one, whose pages are returned meanwhile (mem_forget): it needs no
 * memory of its own. */
bool mem_grow_moving(struct mem *m, void **array, uint32_t *cap, uint64_t need, size_t elem);

/* Returns pages of a block to the system before the block is freed; the bytes must not be read again. */
void mem_forget(void *p, size_t n);

/* Returns false with TK_ELIMIT in err if any allocation failed. */
bool mem_check(const struct mem *m, struct tk_err *err);
/* Always returns false and sets err: to an existing reason, or else to out of memory. For steps that fail for either reason. */
bool mem_refuse(const struct mem *m, struct tk_err *err);

/* Number of bytes that may be read past the end of blocks of buf and arena, because scanners compare whole words. */
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
bool buf_text(struct buf *b, const char *text); /* without the NUL */
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
/* Returns n unaligned bytes, for text, or NULL. */
void *arena_bytes(struct arena *a, size_t n);
/* Returns a copy of n bytes with a NUL behind them, or NULL. */
char *arena_text(struct arena *a, const void *p, size_t n);
void arena_free(struct arena *a);

#endif

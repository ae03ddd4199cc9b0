#include "chain.h"

#include <string.h>

bool chains_init(struct chains *c, const struct tk_trace *t, struct mem *mem) {
  uint64_t n = 64;
  while (n < (uint64_t)t->n_flow_points * 2 && n <= UINT32_MAX) n *= 2;
  *c = (struct chains){.t = t, .mem = mem, .mask = (uint32_t)(n - 1)};
  c->slots = mem_zeros(mem, n, sizeof *c->slots);
  return c->slots != NULL;
}

void chains_free(struct chains *c) {
  mem_free(c->mem, c->slots);
  c->slots = NULL;
}

/* A block holds the slots of BLOCK consecutive ids. Sequential ids therefore share blocks, which causes a tenth of the cache
 * misses of scattered ids. When two blocks collide, each id of the second block moves to the next column of the next block, so
 * the two do not fill each other up. The column also depends on the block, so ids that are equal modulo BLOCK are spread over
 * all columns. */
enum { BLOCK = 64 };

static uint32_t hash_of_flow(const struct tk_flow_point *f) {
  uint64_t block = ((uint64_t)f->id / BLOCK) * 2 + (f->id_kind == TK_FLOW_ID_STR) + ((uint64_t)f->cls << 40);
  uint64_t hash = hash_number(block);
  return (uint32_t)hash * BLOCK + (uint32_t)((uint64_t)f->id + (hash >> 32)) % BLOCK;
}

static bool same_chain(const struct tk_flow_point *a, const struct tk_flow_point *b) {
  return a->id == b->id && a->cls == b->cls && (a->id_kind == TK_FLOW_ID_STR) == (b->id_kind == TK_FLOW_ID_STR);
}

tk_id *chains_of(const struct chains *c, const struct tk_flow_point *f) {
  uint32_t at = hash_of_flow(f) & c->mask;
  while (c->slots[at] && !same_chain(&c->t->flow_points[c->slots[at]], f)) at = (at + BLOCK + 1) & c->mask;
  return &c->slots[at];
}

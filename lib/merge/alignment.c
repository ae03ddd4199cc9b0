/* alignment.c - access to the results of the first pass of a merge (align.h). */
#include "alignment.h"

#include <string.h>

#include "base/err.h"
#include "base/num.h"
#include "base/os.h"
#include "align.h"
#include "load/load.h"
#include "source/sources_parts.h"

enum { FEWEST_ANCHORS = 256, ALL_ANCHORS = 1 << 20 };

bool merge_is_comparable(const struct merge_base *base, enum tk_clock clock) {
  return clock == base->clock && clock != TK_CLOCK_UNKNOWN;
}

int64_t merge_later(const struct merge_base *base, const struct merge_base *own, enum tk_align align) {
  return align != TK_ALIGN_NONE && merge_is_comparable(base, own->clock) ? 0 : num_sub(base->zero_ns, own->zero_ns);
}

uint32_t merge_most_anchors(size_t n) {
  const size_t share = n ? ALL_ANCHORS / n : SCAN_ANCHORS;
  return share > SCAN_ANCHORS ? SCAN_ANCHORS : share < FEWEST_ANCHORS ? FEWEST_ANCHORS : (uint32_t)share;
}

uint64_t merge_room(const struct merge_alignment *a, const struct tk_load_options *opt) {
  const uint64_t most = os_memory_limit(opt->max_memory) / LOAD_KEPT_SHARE;
  return most > a->kept_bytes ? most - a->kept_bytes : 0;
}

/* Takes the graph of an input out of `kept` or `ready`; NULL if there is none. */
static struct tk_trace *take_graph(struct merge_alignment *a, struct tk_trace **graphs, size_t i) {
  struct tk_trace *t = graphs ? graphs[i] : NULL;
  if (!t) return NULL;
  graphs[i] = NULL;
  a->kept_bytes -= t->store->mem.used;
  return t;
}

/* Returns how many inputs directly after i are ranks of the same file, are wanted, and are not loaded yet. */
static size_t count_others(const struct merge_alignment *a, const struct merge_inputs *in, size_t i) {
  size_t n = 1;
  const size_t most = a->ready ? sources_ranks_from(in->sources, in->first + i) : 1;
  while (n < most && i + n < in->n && !a->skipped[i + n] && !a->kept[i + n] && !a->ready[i + n]) n++;
  return n - 1;
}

struct tk_trace *merge_load(struct merge_alignment *a, const struct merge_inputs *in, size_t i, const struct tk_load_options *opt,
                            struct tk_err *err) {
  struct tk_load_options less = *opt;
  uint64_t limit = os_memory_limit(opt->max_memory);
  struct tk_trace *kept = take_graph(a, a->kept, i), *ready = take_graph(a, a->ready, i);
  if (kept) return kept;
  if (limit) less.max_memory = limit - a->kept_bytes;
  if (ready) load_limit(ready, &less);
  if (ready) return ready;
  const size_t n = count_others(a, in, i);
  if (!n) return load_ahead_take(a->ahead, in->sources, in->first, i, &less, err);
  const struct load_ranks others = {.v = a->ready + i + 1, .n = n, .room = merge_room(a, opt)};
  struct tk_trace *t = load_ranks(in->sources, in->first + i, &others, &less, err);
  for (size_t k = 0; k < n; k++)
    if (others.v[k]) a->kept_bytes += others.v[k]->store->mem.used;
  return t;
}

bool merge_stops(size_t n_inputs, struct tk_err *err) {
  if (n_inputs >= 2 && err->code != TK_EINTERRUPTED) err->option = TK_OPTION_KEEP_GOING;
  return false;
}

bool merge_alignment_init(struct merge_alignment *a, struct mem *mem, size_t n) {
  a->n = n;
  a->maps = mem_zeros(mem, n, sizeof *a->maps);
  a->mapped = mem_zeros(mem, n, sizeof *a->mapped);
  a->skipped = mem_zeros(mem, n, sizeof *a->skipped);
  a->who = mem_zeros(mem, n, sizeof *a->who);
  a->kept = mem_zeros(mem, n, sizeof *a->kept);
  a->ready = mem_zeros(mem, n, sizeof *a->ready);
  a->pids = mem_zeros(mem, n, sizeof *a->pids);
  a->sizes = mem_zeros(mem, n, sizeof *a->sizes);
  return a->maps && a->mapped && a->skipped && a->who && a->kept && a->ready && a->pids && a->sizes;
}

void merge_alignment_free(struct merge_alignment *a) {
  merge_collectives_free(&a->collectives, &a->mem);
  mem_free(&a->mem, a->sizes);
  mem_free(&a->mem, a->maps);
  mem_free(&a->mem, a->mapped);
  mem_free(&a->mem, a->skipped);
  for (size_t i = 0; a->kept && i < a->n; i++) tk_free(a->kept[i]);
  for (size_t i = 0; a->ready && i < a->n; i++) tk_free(a->ready[i]);
  mem_free(&a->mem, a->kept);
  mem_free(&a->mem, a->ready);
  for (size_t i = 0; a->pids && i < a->n; i++) mem_free(&a->mem, a->pids[i].v);
  mem_free(&a->mem, a->pids);
  mem_free(&a->mem, a->who);
  *a = (struct merge_alignment){.n = 0};
}

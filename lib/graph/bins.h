/* bins.h - moves elements to the bins that they belong to, in place and stably.
 *
 * The sizes of the bins are known, and so is the final position of every element. Elements collect in a buffer until they fill a slot
 * of the array; the slot then moves as a whole to its final place if that has been read already, or else to any place that has:
 *
 *     array     | slot 0 | slot 1 | slot 2 | slot 3 |          read up to here: slots 0 and 1 are free
 *                                 ^ next element -> the buffer of its bin; when it is full -> slot 0, 1, ... or its own
 *
 * Slots in which a bin begins or ends are assembled beside the array. In the end, slots that wait in a wrong place go to their own.
 * This avoids a second array: touching a page for the first time can cost more than moving its elements once more. */
#ifndef GRAPH_BINS_H
#define GRAPH_BINS_H

#include <string.h>

#include "base/mem.h"

enum {
  BIN_ELEM = 32, /* bytes of an element */
  BIN_SLOT = 256 /* elements of a slot */
};

struct bin {
  uint32_t n;        /* number of elements: set by the caller */
  uint32_t at, left; /* index in `beside` of the next element; number of elements until the slot or the bin ends */
  uint32_t next;     /* final position of the element after these `left` elements */
  uint32_t end;      /* final position after the last element */
  uint32_t buffer;   /* index in `beside` of the bin's own slot */
};

struct bins {
  struct mem *mem;
  unsigned char *items; /* [n_items], from 0 */
  uint32_t *was;        /* [n_items]: receives the old index of each element, from 1; or NULL */
  uint32_t n_items;
  struct bin *bins;     /* [n_bins], in the order in which they follow each other in the result */
  uint32_t n_bins;
  /* private: */
  unsigned char *beside; /* slots that are being filled */
  uint32_t *was_beside;
  uint32_t *shared; /* by slot: 1 + index in `beside`, if a bin begins or ends in it; else 0 */
  uint32_t *holds;  /* by slot: 1 + the slot whose elements it has received; 0 = none */
  uint32_t parked;  /* slots before this one have received elements */
};

/* Assigns places to the bins, whose sizes are set. Returns false when memory runs out; bins_end is needed in any case. */
bool bins_begin(struct bins *b);
/* Continues after a bin has filled a slot. `n_read`: number of elements read. */
void bins_turn(struct bins *b, struct bin *bin, uint32_t n_read);
/* Moves the remaining elements to their final places, unless `ok` is false, and frees the memory that bins_begin allocated. */
void bins_end(struct bins *b, bool ok);

static inline void bins_copy(unsigned char *to, const unsigned char *from) {
  unsigned char elem[BIN_ELEM];
  memcpy(elem, from, BIN_ELEM);
  memcpy(to, elem, BIN_ELEM);
}

/* Adds items[i] to a bin. Elements are read in order; elements that are skipped are dropped. */
static inline void bins_put(struct bins *b, struct bin *bin, uint32_t i) {
  bins_copy(b->beside + (size_t)bin->at * BIN_ELEM, b->items + (size_t)i * BIN_ELEM);
  if (b->was) b->was_beside[bin->at] = i + 1;
  bin->at++;
  if (--bin->left == 0) bins_turn(b, bin, i + 1);
}

#endif

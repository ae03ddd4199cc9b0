/* bins.c - see bins.h. */
#include "bins.h"

/* ---- places ---- */

static uint32_t slot_of(uint32_t at) { return at / BIN_SLOT; }

/* True if all elements of the slot belong to the bin, whose elements are from `first` on. */
static bool owns(const struct bin *bin, uint32_t first, uint32_t slot) {
  return slot * BIN_SLOT >= first && (uint64_t)(slot + 1) * BIN_SLOT <= bin->end;
}

/* Gives the bin its next part of the array: the rest of the slot at `next`, which may be shared with other bins. */
static void bin_open(const struct bins *b, struct bin *bin) {
  const uint32_t slot = slot_of(bin->next), within = bin->next % BIN_SLOT, rest = bin->end - bin->next;
  bin->left = BIN_SLOT - within < rest ? BIN_SLOT - within : rest;
  bin->at = b->shared[slot] ? b->shared[slot] - 1 + within : bin->buffer;
  bin->next += bin->left;
}

/* Reserves a slot beside the array for a slot that the bin shares. */
static void share_slot(struct bins *b, const struct bin *bin, uint32_t first, uint32_t slot, uint64_t *n_beside) {
  if (owns(bin, first, slot) || b->shared[slot]) return;
  b->shared[slot] = 1 + (uint32_t)*n_beside;
  *n_beside += BIN_SLOT;
}

/* Assigns the places of all bins. Returns the number of elements beside the array. */
static uint64_t give_places(struct bins *b) {
  uint64_t n_beside = 0;
  uint32_t first = 0;
  for (struct bin *bin = b->bins; bin < b->bins + b->n_bins; first += bin++->n) {
    bin->next = first;
    bin->end = first + bin->n;
    if (!bin->n) continue;
    const uint32_t from = slot_of(first), to = slot_of(bin->end - 1);
    share_slot(b, bin, first, from, &n_beside);
    share_slot(b, bin, first, to, &n_beside);
    if (to - from < 2 && !owns(bin, first, from) && !owns(bin, first, to)) continue;
    bin->buffer = (uint32_t)n_beside;
    n_beside += BIN_SLOT;
  }
  return n_beside;
}

bool bins_begin(struct bins *b) {
  const uint64_t n_slots = (uint64_t)b->n_items / BIN_SLOT + 1;
  b->shared = mem_zeros(b->mem, n_slots, sizeof *b->shared);
  b->holds = mem_zeros(b->mem, n_slots, sizeof *b->holds);
  if (!b->shared || !b->holds) return false;
  const uint64_t n_beside = give_places(b);
  if (n_beside >= UINT32_MAX) b->mem->failed = true;
  if (b->mem->failed) return false;
  b->beside = mem_array(b->mem, n_beside, BIN_ELEM);
  if (b->was) b->was_beside = mem_array(b->mem, n_beside, sizeof *b->was_beside);
  if (!b->beside || (b->was && !b->was_beside)) return false;
  for (struct bin *bin = b->bins; bin < b->bins + b->n_bins; bin++)
    if (bin->n) bin_open(b, bin);
  return true;
}

/* ---- moving slots ---- */

static unsigned char *slot_items(const struct bins *b, uint32_t slot) { return b->items + (size_t)slot * BIN_SLOT * BIN_ELEM; }

/* Copies n elements at index `from` of `beside` to the start of a slot. */
static void fill_slot(const struct bins *b, uint32_t slot, uint32_t from, uint32_t n) {
  memcpy(slot_items(b, slot), b->beside + (size_t)from * BIN_ELEM, (size_t)n * BIN_ELEM);
  if (b->was) memcpy(b->was + (size_t)slot * BIN_SLOT, b->was_beside + from, n * sizeof *b->was);
}

/* Stores a full slot in its final place if that place has been read and is free, otherwise in the first place that has been
 * read and is free. Such a place exists, because full slots contain only elements that have been read. */
static void store_slot(struct bins *b, uint32_t slot, uint32_t from, uint32_t n_read) {
  uint32_t to = slot;
  if (slot >= n_read / BIN_SLOT || b->holds[slot]) {
    while (b->holds[b->parked]) b->parked++;
    to = b->parked;
  }
  b->holds[to] = 1 + slot;
  fill_slot(b, to, from, BIN_SLOT);
}

void bins_turn(struct bins *b, struct bin *bin, uint32_t n_read) {
  const uint32_t slot = slot_of(bin->next - 1);
  if (!b->shared[slot]) store_slot(b, slot, bin->buffer, n_read);
  if (bin->next < bin->end) bin_open(b, bin);
}

struct slot {
  unsigned char items[BIN_SLOT * BIN_ELEM];
  uint32_t was[BIN_SLOT];
};

static void take_out(const struct bins *b, uint32_t slot, struct slot *to) {
  memcpy(to->items, slot_items(b, slot), sizeof to->items);
  if (b->was) memcpy(to->was, b->was + (size_t)slot * BIN_SLOT, sizeof to->was);
}

static void put_in(const struct bins *b, uint32_t slot, const struct slot *from) {
  memcpy(slot_items(b, slot), from->items, sizeof from->items);
  if (b->was) memcpy(b->was + (size_t)slot * BIN_SLOT, from->was, sizeof from->was);
}

/* Moves the elements in the slot to their final place, the elements found there to theirs, and so on until a free place is
 * reached. */
static void send_home(struct bins *b, uint32_t slot) {
  struct slot moving[2];
  uint32_t held = b->holds[slot];
  b->holds[slot] = 0;
  take_out(b, slot, &moving[0]);
  for (unsigned now = 0; held; now = 1 - now) {
    const uint32_t to = held - 1;
    held = b->holds[to];
    if (held) take_out(b, to, &moving[1 - now]);
    put_in(b, to, &moving[now]);
    b->holds[to] = 1 + to;
  }
}

static void send_all_home(struct bins *b) {
  const uint32_t n_slots = slot_of(b->n_items) + 1;
  for (uint32_t i = 0; i < n_slots; i++)
    if (b->holds[i] && b->holds[i] != 1 + i) send_home(b, i);
}

static void fill_shared(const struct bins *b) {
  const uint32_t end = b->n_bins ? b->bins[b->n_bins - 1].end : 0;
  for (uint32_t slot = 0; slot * BIN_SLOT < end; slot++)
    if (b->shared[slot]) fill_slot(b, slot, b->shared[slot] - 1, end - slot * BIN_SLOT < BIN_SLOT ? end - slot * BIN_SLOT : BIN_SLOT);
}

void bins_end(struct bins *b, bool ok) {
  if (ok) send_all_home(b);
  if (ok) fill_shared(b);
  mem_free(b->mem, b->beside);
  mem_free(b->mem, b->was_beside);
  mem_free(b->mem, b->shared);
  mem_free(b->mem, b->holds);
}

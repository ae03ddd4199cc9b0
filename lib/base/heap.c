#include "heap.h"

static bool is_sooner(const struct heap_item *a, const struct heap_item *b) {
  return a->time != b->time ? a->time < b->time : a->turn > b->turn;
}

void heap_push(struct heap *h, struct heap_item item) {
  uint32_t i = h->n;
  if (!mem_grow(h->mem, (void **)&h->items, &h->cap, (uint64_t)h->n + 1, sizeof item)) return;
  for (h->n++; i && is_sooner(&item, &h->items[(i - 1) / 2]); i = (i - 1) / 2) h->items[i] = h->items[(i - 1) / 2];
  h->items[i] = item;
}

void heap_replace_top(struct heap *h, struct heap_item item) {
  uint64_t i = 0;
  for (uint64_t c; (c = 2 * i + 1) < h->n; i = c) {
    if (c + 1 < h->n && is_sooner(&h->items[c + 1], &h->items[c])) c++;
    if (!is_sooner(&h->items[c], &item)) break;
    h->items[i] = h->items[c];
  }
  h->items[i] = item;
}

uint64_t heap_pop(struct heap *h) {
  uint64_t value = h->items[0].value;
  h->n--;
  heap_replace_top(h, h->items[h->n]);
  return value;
}

void heap_free(struct heap *h) {
  mem_free(h->mem, h->items);
  *h = (struct heap){.mem = h->mem};
}

#include "intern.h"

#include <string.h>

#include "utf8.h"

void intern_init(struct intern *in, struct mem *mem) { *in = (struct intern){.mem = mem, .arena = {.mem = mem}}; }

void intern_free(struct intern *in) {
  if (!in->mem) return;
  mem_free(in->mem, in->strs);
  mem_free(in->mem, in->slots);
  arena_free(&in->arena);
  *in = (struct intern){0};
}

uint32_t intern_find(const struct intern *in, const void *p, size_t n, uint32_t hash) {
  uint32_t at, id;
  if (!in->slots) return 0;
  if (n == 0) p = "";
  for (at = hash & in->mask; (id = in->slots[at]) != 0; at = (at + 1) & in->mask) {
    const struct intern_str *s = &in->strs[id];
    if (s->hash == hash && s->len == n && memcmp(s->bytes, p, n) == 0) return id;
  }
  return 0;
}

static bool rehash(struct intern *in) {
  uint32_t mask = in->slots ? in->mask * 2 + 1 : 1023, at;
  uint32_t *slots = mem_zeros(in->mem, (uint64_t)mask + 1, sizeof *slots);
  if (!slots) return false;
  for (uint32_t id = 1; id <= in->n; id++) {
    for (at = in->strs[id].hash & mask; slots[at]; at = (at + 1) & mask) {}
    slots[at] = id;
  }
  mem_free(in->mem, in->slots);
  in->slots = slots;
  in->mask = mask;
  return true;
}

uint32_t intern_add(struct intern *in, const void *p, size_t n, uint32_t hash) {
  uint32_t id = intern_find(in, p, n, hash), at;
  uint8_t *bytes;
  if (id) return id;
  if (n >= UINT32_MAX || !mem_grow(in->mem, (void **)&in->strs, &in->cap, (uint64_t)in->n + 2, sizeof *in->strs)) {
    in->mem->failed = true;
    return 0;
  }
  if (in->n == 0) in->strs[0] = (struct intern_str){.bytes = (const uint8_t *)""};
  if ((!in->slots || in->n >= in->mask / 2) && !rehash(in)) return 0;
  bytes = arena_bytes(&in->arena, n + 1);
  if (!bytes) return 0;
  if (n) memcpy(bytes, p, n);
  bytes[n] = 0;
  id = ++in->n;
  in->strs[id] = (struct intern_str){bytes, (uint32_t)n, hash};
  for (at = hash & in->mask; in->slots[at]; at = (at + 1) & in->mask) {}
  in->slots[at] = id;
  return id;
}

/* The last string is at the end of its probe chain, so no other entry has to move. */
void intern_forget(struct intern *in, uint32_t n) {
  for (; in->n > n; in->n--) {
    const struct intern_str *s = &in->strs[in->n];
    uint32_t at = s->hash & in->mask;
    while (in->slots[at] != in->n) at = (at + 1) & in->mask;
    in->slots[at] = 0;
    if (s->bytes + s->len + 1 == in->arena.next) in->arena.next -= s->len + 1;
  }
}

void intern_repaired(struct buf *b, const uint8_t *p, size_t n) {
  while (n) {
    unsigned len = utf8_sequence(p, n);
    buf_append(b, len ? p : (const uint8_t *)"\xef\xbf\xbd", len ? len : 3);
    p += len ? len : 1;
    n -= len ? len : 1;
  }
}

uint32_t intern_text(struct intern *in, const uint8_t *p, size_t n, bool mixed, bool *repaired) {
  uint32_t hash = (uint32_t)hash_text(p, n), id = intern_find(in, p, n, hash);
  struct buf text = {.mem = in->mem};
  if (id && !mixed) return id;
  if (utf8_valid(p, n)) return id ? id : intern_add(in, p, n, hash);
  *repaired = true;
  intern_repaired(&text, p, n);
  id = intern(in, text.data, text.len);
  buf_free(&text);
  return id;
}

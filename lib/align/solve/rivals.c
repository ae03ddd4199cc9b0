/* rivals.c - indexes hosts by the messages they sent or received (rivals.h). */
#include "rivals.h"

#include <math.h>

/* Stores a key that is equal on all hosts that send, or all that receive, the same message. Returns false if the sight is not a
 * message, or if its sender and receiver share this clock, because it then involves no other host. */
static bool rivals_key_of(const struct sight *s, uint64_t *key) {
  bool sent = isfinite(s->last_sent), received = isfinite(s->first_received);
  *key = hash_mix(s->label, sent ? 67 : 68);
  return !s->equal && !s->vague && sent != received;
}

bool rivals_list(struct rivals *r, struct arena *arena, const struct sight *sights, const uint32_t *first_sight, uint32_t n_hosts) {
  uint32_t all = first_sight[n_hosts];
  uint64_t key;
  *r = (struct rivals){.next = arena_alloc(arena, ((size_t)all + 1) * sizeof *r->next)};
  r->host = arena_alloc(arena, ((size_t)all + 1) * sizeof *r->host);
  map_init(&r->first, arena->mem);
  if (!r->next || !r->host) return false;
  for (uint32_t h = 0; h < n_hosts; h++) {
    for (uint32_t i = first_sight[h]; i < first_sight[h + 1]; i++) {
      if (!rivals_key_of(&sights[i], &key)) continue;
      uint32_t *entry = map_put(&r->first, key, ALIGN_NONE);
      if (!entry) return false;
      if (*entry != ALIGN_NONE && r->host[*entry] == h) continue;
      r->host[r->n_entries] = h;
      r->next[r->n_entries] = *entry;
      *entry = r->n_entries++;
    }
  }
  return true;
}

void rivals_free(struct rivals *r) {
  if (r->first.mem) map_free(&r->first);
}

static bool is_listed(const uint32_t *v, uint32_t n, uint32_t host) {
  for (uint32_t i = 0; i < n; i++)
    if (v[i] == host) return true;
  return false;
}

uint32_t rivals_of(const struct rivals *r, const struct sight *sights, uint32_t n, uint32_t host, uint32_t *out) {
  uint32_t made = 0;
  uint64_t key, last = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!rivals_key_of(&sights[i], &key) || key == last) continue;
    last = key;
    uint32_t *entry = map_get(&r->first, key);
    for (uint32_t e = entry ? *entry : ALIGN_NONE; e != ALIGN_NONE; e = r->next[e]) {
      if (r->host[e] == host || is_listed(out, made, r->host[e])) continue;
      if (made == RIVALS_MOST) return RIVALS_MOST + 1;
      out[made++] = r->host[e];
    }
  }
  return made;
}

/* origin.c - see origin.h. */
#include "origin.h"

#include "base/intern.h"

static uint32_t origin_text(struct intern *texts, struct buf *key, const struct track_origin *o) {
  key->len = 0;
  buf_append(key, &o->rank, sizeof o->rank);
  buf_text(key, o->host);
  return key->data ? intern(texts, key->data, key->len) : 0;
}

static bool is_same_origin(const struct track_origin *a, const struct track_origin *b) {
  return a->rank == b->rank && a->host == b->host;
}

uint32_t *origin_groups(const struct track_origin *o, uint32_t n_tracks, uint32_t *n_groups, struct mem *mem) {
  uint32_t *group_of = mem_zeros(mem, (uint64_t)n_tracks + 1, sizeof *group_of);
  struct intern texts;
  struct buf key = {.mem = mem};
  intern_init(&texts, mem);
  *n_groups = 1;
  for (uint32_t i = 1; group_of && o && !mem->failed && i <= n_tracks; i++) {
    const uint32_t text = i > 1 && is_same_origin(&o[i], &o[i - 1]) ? group_of[i - 1] + 1 : origin_text(&texts, &key, &o[i]);
    if (text) group_of[i] = text - 1;
    if (text > *n_groups) *n_groups = text;
  }
  buf_free(&key);
  intern_free(&texts);
  if (!mem->failed) return group_of;
  mem_free(mem, group_of);
  return NULL;
}

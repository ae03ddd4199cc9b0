/* plane_ids.c - see plane_ids.h. */
#include "plane_ids.h"

#include <string.h>

enum xplane_kind xplane_plane_kind(const char *name) {
  static const struct {
    const char *prefix;
    enum xplane_kind kind;
  } KINDS[] = {{"/device:GPU:", XPLANE_DEVICE},
               {"/device:TPU:", XPLANE_DEVICE},
               {"/device:CUSTOM:", XPLANE_CUSTOM},
               {"/host:CPU", XPLANE_HOST}};
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
    if (strncmp(name, KINDS[i].prefix, strlen(KINDS[i].prefix)) == 0) return KINDS[i].kind;
  return XPLANE_OTHER;
}

void xplane_ids_init(struct xplane_plane_ids *ids, struct mem *mem) {
  *ids = (struct xplane_plane_ids){0};
  for (unsigned i = 0; i < XPLANE_KINDS; i++) map_init(&ids->taken[i], mem);
}

void xplane_ids_turn(struct xplane_plane_ids *ids, struct xplane_turn turn, struct mem *mem) {
  xplane_ids_free(ids);
  xplane_ids_init(ids, mem);
  ids->step = turn.step;
  for (unsigned i = 0; i < XPLANE_KINDS; i++) ids->next[i] = turn.first;
  ids->row = turn.first_row;
  ids->last_row = (int64_t)turn.first_row + turn.rows;
  ids->next[XPLANE_CUSTOM] += XPLANE_ROWS;
}

void xplane_ids_free(struct xplane_plane_ids *ids) {
  for (unsigned i = 0; i < XPLANE_KINDS; i++) map_free(&ids->taken[i]);
}

bool xplane_take_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id) {
  uint32_t *slot = map_put(&ids->taken[kind], (uint64_t)id, 0);
  return slot && (*slot)++ == 0;
}

int64_t xplane_least_id(struct xplane_plane_ids *ids, enum xplane_kind kind) {
  if (kind == XPLANE_CUSTOM && ids->step) {
    while (ids->row < ids->last_row && map_get(&ids->taken[kind], (uint64_t)ids->row)) ids->row++;
    if (ids->row < ids->last_row && ids->row < XPLANE_ROWS) return ids->row;
  }
  while (map_get(&ids->taken[kind], (uint64_t)ids->next[kind])) ids->next[kind] += ids->step ? ids->step : 1;
  return ids->next[kind];
}

int64_t xplane_some_id(struct xplane_plane_ids *ids, enum xplane_kind kind, int64_t id) {
  if (xplane_take_id(ids, kind, id)) return id;
  id = xplane_least_id(ids, kind);
  xplane_take_id(ids, kind, id);
  return id;
}

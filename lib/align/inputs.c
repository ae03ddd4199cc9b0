/* inputs.c - lists ranks and clocks of inputs for the solver (inputs.h). */
#include "inputs.h"

bool inputs_list(struct align_problem *p, const struct align_input *inputs, struct arena *arena) {
  bool *wall = arena_alloc(arena, (size_t)p->n_inputs + 1);
  int64_t *rank = arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof *rank);
  struct align_gpu *gpu = arena_alloc(arena, ((size_t)p->n_inputs + 1) * sizeof *gpu);
  if (!wall || !rank || !gpu) return false;
  for (uint32_t i = 0; i < p->n_inputs; i++) {
    wall[i] = inputs[i].comparable;
    rank[i] = inputs[i].read && inputs[i].stated ? inputs[i].rank : -1;
    gpu[i] = inputs[i].read ? inputs[i].gpu : (struct align_gpu){-INFINITY, INFINITY};
  }
  p->wall = wall;
  p->rank = rank;
  p->gpu = gpu;
  return true;
}

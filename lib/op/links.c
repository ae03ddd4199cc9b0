/* links.c - see links.h. */
#include "links.h"

#include <string.h>

#include "captured.h"
#include "launched.h"

bool links_init(struct links *l, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem) {
  const size_t n = (size_t)kinds->t->n_events + 1;
  *l = (struct links){.mem = mem, .launch = mem_zeros(mem, n, sizeof *l->launch)};
  if (!l->launch) return false;
  return launched_each(kinds, origins, mem, launched_keep, l->launch) && captured_find(kinds, origins, l->launch, mem, &l->capture);
}

void links_free(struct links *l) {
  if (!l->mem) return;
  mem_free(l->mem, l->launch);
  mem_free(l->mem, l->capture);
  *l = (struct links){0};
}

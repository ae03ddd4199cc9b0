/* hlo.c - prints the collectives of the programs in each XPlane file, as alignment sees them: "program op groups global" per
 * line. */
#include <stdio.h>

#include "format/xplane/hlo.h"
#include "tracekit.h"

static int print(const char *path) {
  struct tk_err err;
  struct mem mem = {0};
  struct arena arena = {.mem = &mem};
  struct hlo_collectives h;
  struct tk_trace *t = tk_load(path, &(struct tk_load_options){0}, &err);
  if (!t) return fprintf(stderr, "%s\n", err.msg), 1;
  bool ok = xplane_hlo(&h, t, &arena);
  for (uint32_t i = 0; i < h.n; i++) {
    const struct hlo_collective *c = &h.v[i];
    printf("%.*s(%llu) %.*s %s %d\n", (int)c->module.n, (const char *)c->module.p, (unsigned long long)c->program, (int)c->op.n,
           (const char *)c->op.p, c->groups ? c->groups : "?", c->global);
  }
  xplane_hlo_free(&h, &mem);
  arena_free(&arena);
  tk_free(t);
  return !ok;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc; i++) status |= print(argv[i]);
  return status;
}

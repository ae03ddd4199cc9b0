/* around.c - see around.h. */
#include "around.h"

#include <string.h>

#include "links.h"
#include "modules.h"
#include "phases.h"
#include "regions.h"

static bool around_phases(struct around *a, const struct kinds *kinds, const struct steps *steps, const struct links *links) {
  struct phases phases;
  const bool ok = phases_init(&phases, kinds, steps, links, a->mem);
  a->phase = phases.of;
  return ok;
}

bool around_init(struct around *a, enum around_fact fact, const struct kinds *kinds, const struct steps *steps,
                 const struct track_origin *origins, struct mem *mem) {
  struct links links = {0};
  *a = (struct around){.t = kinds->t, .mem = mem, .fact = fact};
  bool ok = links_init(&links, kinds, origins, mem);
  if (ok && fact == AROUND_PHASE) ok = around_phases(a, kinds, steps, &links);
  else if (ok) ok = (a->region = regions_find(kinds, &links, fact == AROUND_OP ? REGION_OP : REGION_MODULE, mem)) != NULL;
  links_free(&links);
  return ok;
}

void around_free(struct around *a) {
  if (!a->mem) return;
  mem_free(a->mem, a->phase);
  mem_free(a->mem, a->region);
  *a = (struct around){0};
}

/* Returns the name of an operator or module. */
static const char *around_name(const struct around *a, tk_id region, size_t *n) {
  const char *name = tk_string(a->t, a->t->classes[a->t->events[region].cls].name, n);
  size_t of_module;
  const char *module = a->fact == AROUND_MODULE ? modules_name(name, &of_module) : NULL;
  if (module) *n = of_module;
  return module ? module : name;
}

const char *around_text(const struct around *a, tk_id event, size_t *n) {
  const char *word = a->phase ? phase_word(a->phase[event]) : NULL;
  const tk_id region = a->region ? a->region[event] : 0;
  if (region) return around_name(a, region, n);
  *n = word ? strlen(word) : 0;
  return word;
}

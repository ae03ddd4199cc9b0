/* around.c - see around.h. */
#include "around.h"

#include <string.h>

#include "graph/args.h"
#include "launched.h"
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

/* XLA programs run instructions without calling operators. So work whose args contain an instruction counts as an operator
 * itself. */
static void take_stated(struct around *a, const struct kinds *kinds) {
  struct tk_arg arg;
  for (tk_id i = 1; a->instruction && i <= a->t->n_events; i++) {
    const struct tk_event *e = &a->t->events[i];
    if (launched_is_work(kinds, e) && args_of_event(a->t, e, a->instruction, &arg)) a->region[i] = i;
  }
}

static bool around_ops(struct around *a, const struct kinds *kinds, const struct links *links) {
  a->region = regions_find(kinds, links, REGION_OP, a->mem);
  a->instruction = trace_text_id(a->t, "hlo_op");
  if (a->region) take_stated(a, kinds);
  return a->region != NULL;
}

bool around_init(struct around *a, enum around_fact fact, const struct kinds *kinds, const struct steps *steps,
                 const struct track_origin *origins, struct mem *mem) {
  struct links links = {0};
  *a = (struct around){.t = kinds->t, .mem = mem, .fact = fact};
  bool ok = links_init(&links, kinds, origins, mem);
  if (ok && fact == AROUND_PHASE) ok = around_phases(a, kinds, steps, &links);
  else if (ok && fact == AROUND_OP) ok = around_ops(a, kinds, &links);
  else if (ok) ok = (a->region = regions_find(kinds, &links, REGION_MODULE, mem)) != NULL;
  links_free(&links);
  return ok;
}

void around_free(struct around *a) {
  if (!a->mem) return;
  mem_free(a->mem, a->phase);
  mem_free(a->mem, a->region);
  *a = (struct around){0};
}

/* Returns the name of an operator or module. If the event's args contain an XLA instruction, returns the name of the instruction; this
 * includes the call that launches the kernel. */
static const char *around_name(const struct around *a, tk_id region, size_t *n) {
  struct tk_arg arg;
  if (a->instruction && args_of_event(a->t, &a->t->events[region], a->instruction, &arg) &&
      (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF))
    return tk_string(a->t, arg.s, n);
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

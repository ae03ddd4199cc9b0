/* report_compile.c - lists the compilations of the hosts: when, in which step, of which module and function.
 *
 * Compilers work on several threads: JAX calls backend_compile_and_load on the thread of the program while XLA runs
 * PjRtCpuClient::Compile and FusionCompiler::Compile on threads of its own. So if a compile span on another thread covers the whole
 * time of an outermost compile span, both belong to one compilation. The name of the module is in args of XLA's passes ("module":
 * "jit_step"), which can be inside any of these spans. The name of the function comes from the span PjitFunction(step) around the
 * compilation. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "graph/args.h"

enum { MOST_OF_RANK = 100 };

static const char FUNCTION[] = "PjitFunction(";

static int by_start(const void *p, const void *q) {
  const struct report_compile *a = p, *b = q;
  if (a->part.start != b->part.start) return a->part.start < b->part.start ? -1 : 1;
  if (a->part.dur != b->part.dur) return a->part.dur > b->part.dur ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

static int by_length(const void *p, const void *q) {
  const struct tk_report_compilation *a = p, *b = q;
  if (a->length != b->length) return a->length > b->length ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

/* Returns the module in the args of the span, or of the first span inside it that has this arg; NULL if there is none. */
static const char *find_module(const struct reporter *p, tk_id event, tk_id key) {
  const struct tk_event *first = &p->t->events[event];
  const struct tk_track *k = &p->t->tracks[first->track];
  struct tk_arg arg;
  for (tk_id i = event; i < k->first + k->count && (i == event || p->t->events[i].depth > first->depth); i++)
    if (args_of_event(p->t, &p->t->events[i], key, &arg) && (arg.type == TK_ARG_STR || arg.type == TK_ARG_REF))
      return tk_string(p->t, arg.s, NULL);
  return NULL;
}

/* Returns the text in the parentheses of "PjitFunction(step)"; "" for event 0. */
static const char *keep_function(struct reporter *p, tk_id event) {
  size_t n;
  if (!event) return "";
  const char *name = tk_string(p->t, p->t->classes[p->t->events[event].cls].name, &n) + sizeof FUNCTION - 1;
  n -= sizeof FUNCTION - 1;
  const uint32_t id = report_name(p->impl, name, n && name[n - 1] == ')' ? n - 1 : n);
  return id ? (const char *)p->impl->texts.strs[id].bytes : "";
}

/* Adds one compilation, which consists of n spans: the first is the outermost one and contains the others. */
static bool add_compilation(struct reporter *p, const struct tk_report_rank *rank, const struct report_compiles *of, uint32_t first,
                            uint32_t n) {
  const struct report_compile *c = &of->v[first];
  const tk_id key = report_key_of(p->t, "module");
  const char *module = NULL;
  struct tk_report *r = p->r;
  if (!mem_grow(&p->impl->mem, (void **)&r->compilations, &p->impl->cap_compilations, r->n_compilations + 1, sizeof *r->compilations))
    return false;
  for (uint32_t i = first; key && !module && i < first + n; i++) module = find_module(p, of->v[i].event, key);
  struct tk_report_compilation *row = &r->compilations[r->n_compilations++];
  *row = (struct tk_report_compilation){.rank = rank->rank, .input = rank->input, .at = c->part.start - p->zero, .length = c->part.dur,
                                        .name = report_name_of(p, c->event), .function = keep_function(p, c->function),
                                        .module = module ? report_text(p->impl, module) : ""};
  const struct step *step = steps_runs_at(&of->steps, c->part.start);
  row->has_step = step != NULL;
  row->step = step ? step->number : 0;
  return true;
}

/* Counts how often each module was compiled within steps, and stores the module with the most recompilations. Compilations are sorted
 * by length, so of modules with equal counts, the one with longer compilations is stored. */
static bool count_again(struct reporter *p, size_t first, struct report_host_sums *sums) {
  struct map times;
  bool ok = true;
  map_init(&times, p->mem);
  for (size_t i = first; ok && i < p->r->n_compilations; i++) {
    const struct tk_report_compilation *row = &p->r->compilations[i];
    if (!row->has_step || !*row->module) continue;
    uint32_t *n = map_put(&times, (uint64_t)(uintptr_t)row->module, 0); /* equal texts have one address */
    ok = n != NULL;
    if (!ok || ++*n <= sums->module_recompilations + 1) continue;
    sums->module_recompilations = *n - 1;
    sums->recompiled_module = row->module;
  }
  map_free(&times);
  return ok;
}

bool report_is_function(const char *name) { return text_begins(name, FUNCTION); }

bool report_compilations_add(struct reporter *p, const struct tk_report_rank *rank, struct report_compiles *of,
                             struct report_host_sums *sums) {
  const size_t first = p->r->n_compilations;
  if (of->n) qsort(of->v, of->n, sizeof *of->v, by_start);
  for (uint32_t i = 0, parts; i < of->n; i += parts) {
    const tk_time end = of->v[i].part.start + of->v[i].part.dur;
    for (parts = 1; i + parts < of->n && of->v[i + parts].part.start + of->v[i + parts].part.dur <= end;) parts++;
    if (!add_compilation(p, rank, of, i, parts)) return false;
    sums->compilations++;
  }
  const size_t n = p->r->n_compilations - first;
  if (n) qsort(p->r->compilations + first, n, sizeof *p->r->compilations, by_length);
  const bool ok = count_again(p, first, sums);
  if (n > MOST_OF_RANK) p->r->n_compilations = first + MOST_OF_RANK;
  return ok;
}

void report_compilations_sort(struct tk_report *r) {
  if (r->n_compilations) qsort(r->compilations, r->n_compilations, sizeof *r->compilations, by_length);
}

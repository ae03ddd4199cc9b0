/* phases.c - see phases.h.
 *
 * The phase of an event is derived from its name, its category, and the args in which XLA stores scopes and programs. A PyTorch
 * operator for which the backward pass computes gradients is part of the forward pass. Events inside a span inherit the span's
 * phase, and so does the work that they launch. Work whose launch is unknown has the phase of the step in which it starts. */
#include "phases.h"

#include <string.h>

#include "graph/args.h"
#include "graph/within.h"
#include "backward.h"
#include "pending.h"

enum { UNKNOWN = PHASES };

/* Args whose text implies a phase. */
static const struct {
  const char *key;
  uint8_t (*phase)(const char *text);
} STATED[] = {{"tf_op", phase_of_scopes}, {"name", phase_of_scopes} /* XLA on ROCm */, {"hlo_module", phase_of_program}};
enum { N_STATED = sizeof STATED / sizeof *STATED };

struct finder {
  const struct kinds *kinds;
  const struct tk_trace *t;
  struct mem *mem;
  uint8_t *of_class;
  uint8_t *of_text[N_STATED]; /* by string id: phase that the text implies */
  tk_id keys[N_STATED];
  uint8_t *is_differentiated; /* by event: 1 for an operator whose gradients the backward pass computes */
};

/* Returns the phase that a class implies; never one for kernels and copies, whose names describe the computation and not the phase. */
static uint8_t phase_of_class(const struct finder *f, tk_id cls) {
  const struct tk_class *c = &f->t->classes[cls];
  const unsigned kind = f->kinds->of_class[cls];
  const char *name = tk_string(f->t, c->name, NULL);
  if (kind & KIND_MODULE) return phase_of_program(name);
  if (kind & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET)) return PHASE_NONE;
  return phase_of_name(name, tk_string(f->t, c->cat, NULL));
}

static uint8_t phase_by_args(struct finder *f, const struct tk_event *e) {
  struct tk_arg arg;
  uint8_t phase = PHASE_NONE;
  for (int i = N_STATED; i-- > 0;) {
    if (!f->keys[i] || !args_of_event(f->t, e, f->keys[i], &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) continue;
    uint8_t *known = &f->of_text[i][arg.s];
    if (*known == UNKNOWN) *known = STATED[i].phase(tk_string(f->t, arg.s, NULL));
    phase = phase_within(phase, *known);
  }
  return phase;
}

static uint8_t phase_own(struct finder *f, tk_id event) {
  const struct tk_event *e = &f->t->events[event];
  uint8_t *known = &f->of_class[e->cls];
  if (*known == UNKNOWN) *known = phase_of_class(f, e->cls);
  const bool is_line = f->kinds->of_track[e->track] & KIND_MODULE;
  const uint8_t by_line = is_line ? phase_of_program(tk_string(f->t, f->t->classes[e->cls].name, NULL)) : PHASE_NONE;
  const uint8_t named = phase_within(by_line ? by_line : *known, phase_by_args(f, e));
  return !named && f->is_differentiated[event] ? PHASE_FORWARD : named;
}

static bool find_differentiated(struct finder *f) {
  const tk_id n = f->t->n_events;
  tk_id *forward_of = backward_find(f->kinds, f->mem);
  f->is_differentiated = forward_of ? mem_zeros(f->mem, (uint64_t)n + 1, 1) : NULL;
  for (tk_id i = 1; f->is_differentiated && i <= n; i++) f->is_differentiated[forward_of[i]] = 1;
  mem_free(f->mem, forward_of);
  return f->is_differentiated != NULL;
}

static bool finder_init(struct finder *f) {
  const uint64_t n_strings = (uint64_t)f->t->store->strings.n + 1;
  f->of_class = mem_alloc(f->mem, (uint64_t)f->t->n_classes + 1);
  if (f->of_class) memset(f->of_class, UNKNOWN, (size_t)f->t->n_classes + 1);
  for (int i = 0; i < N_STATED; i++) {
    f->keys[i] = trace_text_id(f->t, STATED[i].key);
    if (f->keys[i] && (f->of_text[i] = mem_alloc(f->mem, n_strings))) memset(f->of_text[i], UNKNOWN, n_strings);
    if (f->keys[i] && !f->of_text[i]) return false;
  }
  return f->of_class && find_differentiated(f);
}

static void finder_free(struct finder *f) {
  mem_free(f->mem, f->of_class);
  mem_free(f->mem, f->is_differentiated);
  for (int i = 0; i < N_STATED; i++) mem_free(f->mem, f->of_text[i]);
}

/* Assigns phases by names and args of events, and by the phases of the spans around them. */
static bool by_spans(struct finder *f, uint8_t *of) {
  const struct tk_trace *t = f->t;
  struct within within;
  bool ok = within_init(&within, f->mem);
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) {
    const struct tk_track *track = &t->tracks[k];
    const bool nests = track->kind == TK_TRACK_THREAD;
    within_begin(&within);
    for (tk_id i = track->first; ok && i < track->first + track->count; i++) {
      const uint8_t own = phase_own(f, i);
      const struct within_span around = nests ? within_find(&within, &t->events[i]) : (struct within_span){0};
      of[i] = phase_within(around.node ? of[around.node] : PHASE_NONE, own);
      ok = !nests || pending_add(&within, f->kinds, i, around, own ? i : 0);
    }
  }
  within_free(&within);
  return ok;
}

static bool states_phase(uint8_t phase) { return phase != PHASE_NONE && phase != PHASE_COMMUNICATION; }

/* Assigns a phase to work: the phase of its launch, otherwise of its captured call, otherwise of the step in which it
 * starts. */
static void by_launch(const struct finder *f, const struct steps *steps, const struct links *links, uint8_t *of) {
  const struct tk_trace *t = f->t;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const tk_id launch = links->launch[i], capture = links_capture(links, i);
    if (launch) of[i] = phase_within(of[launch], of[i]);
    if (capture && !states_phase(of[i])) of[i] = phase_within(of[capture], of[i]);
    const struct step *step = launch || states_phase(of[i]) ? NULL : steps_at(steps, e);
    if (step && step->event != i) of[i] = phase_within(of[step->event], of[i]);
    if (!of[i] && kinds_of(f->kinds, e) & KIND_COLLECTIVE) of[i] = PHASE_COMMUNICATION;
  }
}

bool phases_init(struct phases *p, const struct kinds *kinds, const struct steps *steps, const struct links *links, struct mem *mem) {
  struct finder f = {.kinds = kinds, .t = kinds->t, .mem = mem};
  *p = (struct phases){.mem = mem, .of = mem_alloc(mem, (uint64_t)kinds->t->n_events + 1)};
  bool ok = p->of && finder_init(&f);
  if (ok) p->of[0] = PHASE_NONE;
  ok = ok && by_spans(&f, p->of);
  if (ok) by_launch(&f, steps, links, p->of);
  finder_free(&f);
  return ok;
}

void phases_free(struct phases *p) {
  if (p->mem) mem_free(p->mem, p->of);
  *p = (struct phases){0};
}

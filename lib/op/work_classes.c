/* work_classes.c - see work_classes.h. */
#include "work_classes.h"

#include <string.h>

#include "captured.h"
#include "graph/args.h"
#include "graph/within.h"
#include "launched.h"
#include "op_classes.h"
#include "scopes.h"

/* Classes of work that belong to a model. If an optimizer step contains such work, it also runs the model: Lightning passes the forward
 * and backward pass to the optimizer step as a closure. */
enum {
  MODEL = 1 << CLASS_ATTENTION | 1 << CLASS_MATMUL | 1 << CLASS_CONV | 1 << CLASS_NORM | 1 << CLASS_SOFTMAX | 1 << CLASS_EMBEDDING
};

/* Returns, by class of the trace, the kernel class that an operator's name implies. Sets *any to true if any name implies one. NULL if
 * memory runs out. */
static uint8_t *classes_of_operators(const struct kinds *k, struct mem *mem, bool *any) {
  const struct tk_trace *t = k->t;
  uint8_t *of = mem_zeros(mem, (uint64_t)t->n_classes + 1, sizeof *of);
  *any = false;
  for (tk_id i = 1; of && i <= t->n_classes; i++) {
    if (k->of_class[i] & (KIND_KERNEL | KIND_PYTHON)) continue;
    of[i] = (uint8_t)op_classes_of(tk_string(t, t->classes[i].name, NULL));
    *any = *any || of[i];
  }
  return of;
}

/* Collects the classes of the operators around the events of a track. The span of an asynchronous collective contains everything that
 * its thread runs until the collective ends, so operators and annotations inside it do not inherit its class. */
static bool look_around(struct work_classes *w, const uint8_t *of, struct within *within, tk_id track) {
  const struct tk_trace *t = w->kinds->t;
  const struct tk_track *k = &t->tracks[track];
  within_begin(within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    const unsigned kind = kinds_of(w->kinds, e);
    const struct within_span around = within_find(within, e);
    const bool is_op = e->kind == TK_EVENT_SPAN && !(kind & KIND_DEVICE) && kind & (KIND_OP | KIND_ANNOTATION) && of[e->cls];
    const bool is_other = kind & (KIND_OP | KIND_ANNOTATION) && of[e->cls] != CLASS_COLLECTIVE;
    const unsigned outer = w->around[around.node] & ~(is_other ? 1u << CLASS_COLLECTIVE : 0);
    w->around[i] = (uint16_t)(outer | (is_op ? 1u << of[e->cls] : 0));
    if (!within_add(within, t, i, around, w->around[i] != w->around[around.node] ? i : 0)) return false;
  }
  return true;
}

static bool look_around_all(struct work_classes *w, const uint8_t *of) {
  const struct tk_trace *t = w->kinds->t;
  struct within within;
  bool ok = within_init(&within, w->mem);
  for (tk_id k = 1; ok && k <= t->n_tracks; k++)
    ok = t->tracks[k].kind != TK_TRACK_THREAD || w->kinds->of_track[k] & KIND_DEVICE || look_around(w, of, &within, k);
  within_free(&within);
  return ok;
}

/* Callback for work without classes so far: takes the classes of the host event at the start of a flow to the work. Needed for
 * torch_npu, which records calls of CANN on separate tracks, and draws flows from operators to kernels. */
static void take_flow(void *arg, tk_id host, tk_id work) {
  uint16_t *around = arg;
  if (!around[work]) around[work] = around[host];
}

/* Assigns to work the classes of the operators around its launch or, in a replayed graph, around its captured call. */
static bool follow_launches(struct work_classes *w, const struct track_origin *origins, const tk_id *launch) {
  tk_id *capture = NULL;
  if (!captured_find(w->kinds, origins, launch, w->mem, &capture)) return false;
  for (tk_id i = 1; i <= w->kinds->t->n_events; i++)
    if (launch[i]) w->around[i] = w->around[capture && capture[i] ? capture[i] : launch[i]];
  mem_free(w->mem, capture);
  return launched_each_flow(w->kinds, w->mem, take_flow, w->around);
}

/* Returns the class of a kernel by its name. */
static enum kernel_class named_class(const struct work_classes *w, tk_id event) {
  const struct tk_trace *t = w->kinds->t;
  const tk_id cls = t->events[event].cls;
  if (!w->of_class[cls]) {
    size_t n;
    const char *name = tk_string(t, t->classes[cls].name, &n);
    w->of_class[cls] = (uint8_t)kernel_classes_of(name, n);
  }
  return (enum kernel_class)w->of_class[cls];
}

/* If any optimizer step also runs the model, removes the class "optimizer" from the classes around all work. Kernels that are named
 * after an optimizer keep this class. */
static void forget_closures(struct work_classes *w) {
  const struct tk_trace *t = w->kinds->t;
  enum { STEP = 1 << CLASS_OPTIMIZER };
  bool is_closure = false;
  for (tk_id i = 1; i <= t->n_events && !is_closure; i++)
    is_closure = w->around[i] & STEP && launched_is_work(w->kinds, &t->events[i]) && MODEL >> work_classes_of_kernel(w, i) & 1;
  for (tk_id i = 1; i <= t->n_events && is_closure; i++)
    if (!launched_is_work(w->kinds, &t->events[i]) || named_class(w, i) != CLASS_OPTIMIZER) w->around[i] &= (uint16_t)~STEP;
}

static bool find_around(struct work_classes *w, const struct track_origin *origins, const tk_id *launch, const uint8_t *of) {
  const uint64_t n = (uint64_t)w->kinds->t->n_events + 1;
  tk_id *found = NULL;
  w->around = mem_zeros(w->mem, n, sizeof *w->around);
  bool ok = w->around && look_around_all(w, of);
  if (ok && !launch) found = mem_zeros(w->mem, n, sizeof *found);
  ok = ok && (launch || (found && launched_each(w->kinds, origins, w->mem, launched_keep, found)));
  ok = ok && follow_launches(w, origins, launch ? launch : found);
  mem_free(w->mem, found);
  if (ok) forget_closures(w);
  return ok;
}

/* ---- args ---- */

enum { NOT_KNOWN = KERNEL_CLASSES };

/* Args in which XLA stores the instruction of a kernel, and the operator of the program from which the instruction was compiled:
 * "cudnn-conv.1", "jit(step)/jvp(conv_1)/conv_general_dilated". On ROCm, tf_op is only "XlaModule:", and the operator is in "name". */
static const char *const STATED[] = {"hlo_op", "tf_op", "name"};
enum { N_STATED = sizeof STATED / sizeof *STATED };

struct stater {
  struct work_classes *w;
  tk_id keys[N_STATED];
  uint8_t *of_text; /* by string id: class that the text implies, or NOT_KNOWN */
};

/* Returns the class that the last part of a path implies. */
static uint8_t class_of_path(const char *path) {
  size_t n = scopes_part(path);
  while (path[n] && path[n + 1]) {
    path += n + 1;
    n = scopes_part(path);
  }
  return (uint8_t)op_classes_of(path);
}

/* Returns the set of classes that the args of an event imply. */
static uint16_t stated_of(struct stater *s, const struct tk_event *e) {
  const struct tk_trace *t = s->w->kinds->t;
  struct tk_arg arg;
  uint16_t set = 0;
  if (!args_of_event(t, e, s->keys[0], &arg)) return 0;
  for (int i = 0; i < N_STATED; i++) {
    if (!s->keys[i] || !args_of_event(t, e, s->keys[i], &arg) || (arg.type != TK_ARG_STR && arg.type != TK_ARG_REF)) continue;
    uint8_t *known = &s->of_text[arg.s];
    if (*known == NOT_KNOWN) *known = class_of_path(tk_string(t, arg.s, NULL));
    if (*known) set = (uint16_t)(set | 1u << *known);
  }
  return set;
}

/* Adds the classes that the args of work imply to the classes around it. */
static bool add_stated(struct work_classes *w) {
  const struct tk_trace *t = w->kinds->t;
  const uint64_t n_strings = (uint64_t)t->store->strings.n + 1;
  struct stater s = {.w = w};
  for (int i = 0; i < N_STATED; i++) s.keys[i] = trace_text_id(t, STATED[i]);
  if (!s.keys[0]) return true;
  s.of_text = mem_alloc(w->mem, n_strings);
  if (!w->around) w->around = mem_zeros(w->mem, (uint64_t)t->n_events + 1, sizeof *w->around);
  const bool ok = s.of_text && w->around;
  if (ok) memset(s.of_text, NOT_KNOWN, n_strings);
  for (tk_id i = 1; ok && i <= t->n_events; i++)
    if (launched_is_work(w->kinds, &t->events[i])) w->around[i] |= stated_of(&s, &t->events[i]);
  mem_free(w->mem, s.of_text);
  return ok;
}

bool work_classes_init(struct work_classes *w, const struct kinds *kinds, const struct track_origin *origins, const tk_id *launch,
                       struct mem *mem) {
  bool any;
  *w = (struct work_classes){.mem = mem, .kinds = kinds};
  w->of_class = mem_zeros(mem, (uint64_t)kinds->t->n_classes + 1, sizeof *w->of_class);
  uint8_t *of = w->of_class ? classes_of_operators(kinds, mem, &any) : NULL;
  const bool ok = of && (!any || find_around(w, origins, launch, of)) && add_stated(w);
  mem_free(mem, of);
  return ok;
}

void work_classes_free(struct work_classes *w) {
  if (!w->mem) return;
  mem_free(w->mem, w->of_class);
  mem_free(w->mem, w->around);
  *w = (struct work_classes){0};
}

enum kernel_class work_classes_of_kernel(const struct work_classes *w, tk_id event) {
  return op_classes_decide(named_class(w, event), w->around ? w->around[event] : 0);
}

enum kernel_class work_classes_of(const struct work_classes *w, tk_id event) {
  static const unsigned COPIES = KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER;
  const struct tk_event *e = &w->kinds->t->events[event];
  const unsigned kind = kinds_of(w->kinds, e);
  if (e->kind != TK_EVENT_SPAN || !(kind & KIND_DEVICE) || !(kind & (KIND_KERNEL | COPIES))) return CLASS_NONE;
  if (kind & KIND_COLLECTIVE) return CLASS_COLLECTIVE;
  return kind & COPIES ? CLASS_COPY : work_classes_of_kernel(w, event);
}

/* kind.c - kinds of events (kind.h), from categories, the names of kernels and the roles of tracks. */
#include "kind.h"

#include <string.h>

#include "accelerator.h"
#include "base/text.h"
#include "kind_collective.h"
#include "kind_summary.h"
#include "kind_tasks.h"
#include "kind_xla.h"
#include "step_names.h"
#include "args.h"

const struct kind_word kind_words[] = {
    {"span", KIND_SPAN},       {"instant", KIND_INSTANT}, {"counter", KIND_COUNTER},   {"async", KIND_ASYNC},   {"sample", KIND_SAMPLE},
    {"host", KIND_HOST},       {"device", KIND_DEVICE},   {"kernel", KIND_KERNEL},     {"memcpy", KIND_MEMCPY},
    {"memset", KIND_MEMSET},   {"transfer", KIND_TRANSFER}, {"collective", KIND_COLLECTIVE}, {"op", KIND_OP},
    {"module", KIND_MODULE},   {"runtime", KIND_RUNTIME}, {"python", KIND_PYTHON},     {"step", KIND_STEP},
    {"annotation", KIND_ANNOTATION}, {NULL, 0}};

const char *tk_kind_word(size_t i) { return i < sizeof kind_words / sizeof kind_words[0] ? kind_words[i].word : NULL; }

static unsigned of_class(const char *name, const char *cat) {
  bool bare;
  unsigned k = accelerator_class(name, cat, &bare);
  if (bare) k |= KIND_BARE | (accelerator_is_call(name) ? KIND_RUNTIME : 0);
  if (k & KIND_REPEAT) return text_begins(name, "ProfilerStep#") ? k | KIND_STEP : k;
  if (text_begins(name, "Memcpy")) k |= KIND_MEMCPY;
  if (text_begins(name, "Memset")) k |= KIND_MEMSET;
  const unsigned blit = accelerator_blit(name);
  if (blit) k = (k & ~(unsigned)KIND_KERNEL) | blit;
  if (*name == '$' && strchr(name, ' ')) k |= KIND_PYTHON; /* XLA: "$train.py:12 step"; minified JavaScript has "$a" */
  if (text_begins(name, "ProfilerStep#")) k |= KIND_STEP;
  if (!(k & KIND_PYTHON) && kind_is_collective(name)) k |= KIND_COLLECTIVE;
  if (!*cat && kind_is_request(name)) k |= KIND_COLLECTIVE;
  if (k & KIND_MEMCPY || kind_xla_is_transfer(name)) k |= KIND_TRANSFER;
  return k;
}

/* ---- spans without a category ---- */

/* Returns the kinds of a span, given the role of its track: the role decides if the span has no category. */
static unsigned in_role(unsigned kind, unsigned role) {
  static const unsigned COPY = KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER;
  static const unsigned OTHER = KIND_PYTHON | KIND_STEP | KIND_OP | KIND_RUNTIME | KIND_ANNOTATION;
  if (role & KIND_REPEAT) return role & KIND_DEVICE;
  if (!(role & KIND_DEVICE)) return kind | role;
  if (kind & KIND_EITHER) kind &= ~(unsigned)KIND_OP;
  if (kind & KIND_WAIT || (role & KIND_WAIT && kind & COPY)) return (kind & ~COPY) | KIND_DEVICE;
  role &= ~(unsigned)KIND_WAIT;
  if (role & KIND_COLLECTIVE) return kind & KIND_COLLECTIVE ? kind | role : (kind & ~COPY) | KIND_DEVICE;
  if (kind & (COPY | OTHER)) return kind | KIND_DEVICE;
  return kind | role;
}

/* Gives a class the role of its tracks if all its spans are on tracks with the same role; its kinds then do not depend on the
 * track. Otherwise the class stays bare, and kinds_of looks at the track of each event. */
static bool assign_roles(struct kinds *k) {
  static const unsigned MIXED = 1, UNSEEN = 0;
  const struct tk_trace *t = k->t;
  if (!accelerator_roles(t, k->roles)) return true;
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (k->of_class[i] & KIND_BARE) k->of_class[i] |= accelerator_name(tk_string(t, t->classes[i].name, NULL));
  if (!kind_tasks_mark(k)) return false;
  uint32_t *seen = mem_zeros(k->mem, (uint64_t)t->n_classes + 1, sizeof *seen);
  if (!seen) return false;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    const uint32_t role = k->roles[e->track] | KIND_BARE;
    if (e->kind != TK_EVENT_SPAN || !(k->of_class[e->cls] & KIND_BARE)) continue;
    seen[e->cls] = seen[e->cls] == UNSEEN || seen[e->cls] == role ? role : MIXED;
  }
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (seen[i] > MIXED) k->of_class[i] = in_role(k->of_class[i] & ~(unsigned)KIND_BARE, seen[i] & ~(unsigned)KIND_BARE);
  mem_free(k->mem, seen);
  return true;
}

static bool mark_steps(struct kinds *k) {
  struct step_names names;
  if (!step_names_find(&names, k->t, k->mem)) return false;
  for (tk_id i = 1; names.marks && i <= k->t->n_classes; i++)
    if (names.marks[i]) k->of_class[i] |= KIND_STEP;
  step_names_free(&names, k->mem);
  return true;
}

bool kinds_init(struct kinds *k, const struct tk_trace *t, struct mem *mem) {
  const uint32_t n_shapes = t->store->n_shapes;
  *k = (struct kinds){.mem = mem, .t = t};
  k->of_class = mem_array(mem, (uint64_t)t->n_classes + 1, sizeof *k->of_class);
  k->of_track = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *k->of_track);
  k->of_shape = mem_array(mem, (uint64_t)n_shapes + 1, sizeof *k->of_shape);
  k->roles = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *k->roles);
  if (!k->of_class || !k->of_track || !k->of_shape || !k->roles) return false;
  for (tk_id i = 1; i <= t->n_classes; i++)
    k->of_class[i] = of_class(tk_string(t, t->classes[i].name, NULL), tk_string(t, t->classes[i].cat, NULL));
  kind_xla_classes(t, k->of_class);
  kind_xla_shapes(t, k->of_shape);
  for (uint32_t i = 1; i <= n_shapes; i++) k->by_shape |= k->of_shape[i] != 0;
  for (tk_id i = 1; k->by_shape && i <= t->n_classes; i++) k->of_class[i] |= k->of_shape[args_shape_of(t, t->classes[i].args)];
  if (!kind_xla_tracks(k)) return false;
  kind_summary_tracks(k);
  return assign_roles(k) && mark_steps(k) && kind_xla_annotations(k);
}

void kinds_free(struct kinds *k) {
  mem_free(k->mem, k->of_class);
  mem_free(k->mem, k->of_track);
  mem_free(k->mem, k->of_shape);
  mem_free(k->mem, k->roles);
  mem_free(k->mem, k->of_event);
  *k = (struct kinds){0};
}

/* True for an operation of a TPU that moves data. Operations on an asynchronous line run by DMA, in parallel to the core. */
static bool is_moving(unsigned kind, unsigned of_track) {
  static const unsigned LINE = KIND_DEVICE | KIND_KERNEL | KIND_OP;
  return (of_track & LINE) == LINE && !(kind & KIND_COLLECTIVE) && (kind & (KIND_MOVE | KIND_TRANSFER) || of_track & KIND_TRANSFER);
}

/* On a thread of a host's plane, a span with the name of a copy or fill is the call that starts it. */
static unsigned as_call(unsigned kind) { return (kind & ~(unsigned)(KIND_MEMCPY | KIND_MEMSET | KIND_TRANSFER)) | KIND_RUNTIME; }

/* Combines the kinds of an event with the kinds of its track, which apply to spans only. A copy in a queue is not a kernel. A kernel
 * whose args name its op or its launch is neither an op nor a runtime call. A span that repeats other work does not count as work. */
static unsigned on_track(unsigned kind, unsigned of_track, bool is_span) {
  static const unsigned CALLS = KIND_OP | KIND_RUNTIME;
  const unsigned roles = KIND_KERNEL | KIND_OP | KIND_MODULE | KIND_STEP;
  if (!is_span) return kind | (of_track & KIND_DEVICE);
  if (of_track & KIND_REPEAT) return of_track & (KIND_DEVICE | KIND_MODULE | KIND_STEP);
  if (of_track & KIND_DEVICE) kind &= ~CALLS;
  if (of_track & KIND_HOST && kind & (KIND_MEMCPY | KIND_MEMSET)) return as_call(kind);
  if (of_track & KIND_MOVE) kind |= KIND_MEMCPY | KIND_TRANSFER;
  if (is_moving(kind, of_track)) return KIND_DEVICE | KIND_OP | KIND_MEMCPY | KIND_TRANSFER;
  of_track &= ~(unsigned)KIND_TRANSFER;
  if (kind & (KIND_MEMCPY | KIND_MEMSET)) of_track &= ~roles;
  return kind | of_track;
}

static unsigned find_kinds(const struct kinds *k, const struct tk_event *e) {
  unsigned kind = k->of_class[e->cls];
  if (k->by_shape && e->args) kind |= k->of_shape[args_shape_of(k->t, e->args)];
  if (kind & KIND_BARE) kind = e->kind == TK_EVENT_SPAN ? in_role(kind, k->roles[e->track]) : kind | (k->roles[e->track] & KIND_DEVICE);
  static const unsigned OF_CLASS = KIND_WAIT | KIND_BARE | KIND_REPEAT | KIND_TALLY | KIND_EITHER;
  kind = on_track(kind & ~OF_CLASS, k->of_track[e->track], e->kind == TK_EVENT_SPAN);
  static const unsigned OF[] = {[TK_EVENT_SPAN] = KIND_SPAN, [TK_EVENT_INSTANT] = KIND_INSTANT, [TK_EVENT_COUNTER] = KIND_COUNTER,
                                [TK_EVENT_SAMPLE] = KIND_SAMPLE};
  kind = (kind & ~(unsigned)KIND_MOVE) | OF[e->kind];
  if (e->flags & TK_FLAG_ASYNC) kind |= KIND_ASYNC;
  return kind & KIND_DEVICE ? kind : kind | KIND_HOST;
}

unsigned kinds_of(const struct kinds *k, const struct tk_event *e) {
  return k->of_event ? k->of_event[e - k->t->events] : find_kinds(k, e);
}

bool kinds_keep(struct kinds *k) {
  uint32_t *of = mem_array(k->mem, (uint64_t)k->t->n_events + 1, sizeof *of);
  if (!of) return false;
  of[0] = 0;
  for (tk_id i = 1; i <= k->t->n_events; i++) of[i] = find_kinds(k, &k->t->events[i]);
  k->of_event = of;
  return true;
}

bool kinds_on_stream(const struct kinds *k, const struct tk_event *e) {
  static const unsigned CALLS = KIND_OP | KIND_PYTHON | KIND_RUNTIME | KIND_STEP | KIND_ANNOTATION;
  const unsigned kind = kinds_of(k, e);
  return kind & KIND_DEVICE || !(kind & CALLS);
}

void kinds_count(const struct kinds *k, uint64_t *counts) {
  uint64_t by_bit[20] = {0};
  for (tk_id i = 1; i <= k->t->n_events; i++)
    for (unsigned kind = kinds_of(k, &k->t->events[i]); kind; kind &= kind - 1) by_bit[__builtin_ctz(kind)]++;
  for (size_t i = 0; kind_words[i].word; i++) counts[i] = by_bit[__builtin_ctz(kind_words[i].kind)];
}

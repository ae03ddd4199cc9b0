/* group.h - groups events by name, category, kind, rank, process, track, stream, step, phase, op, module, class of kernel, device, or
 * an arg.
 *
 * A group is a small number, which a single table lookup finds, by the class, track or value of an event. Group 1 (GROUP_NONE) contains
 * the events without the property; every other group has a text. */
#ifndef ANALYSIS_GROUP_H
#define ANALYSIS_GROUP_H

#include "op/around.h"
#include "op/match.h"
#include "work_devices.h"

enum { GROUP_NONE = 1 };

struct groups {
  struct mem *mem;
  const struct tk_trace *t;
  const struct match *match; /* provides kinds, steps and origins */
  enum tk_top_by by;
  bool fold;
  bool has_runs; /* true if groups of several runs are compared */
  bool repeats;              /* true if device lines that repeat the work of other lines also get rows */
  tk_id key;                 /* key of the arg by which events are grouped */
  uint32_t n;                /* number of groups; the groups are 1 .. n */
  struct intern texts;       /* the text with id g - 1 belongs to group g > 1 */
  uint32_t *of_id;           /* by class, track, or track that represents a device: its group; 0 = not computed yet */
  struct around around;      /* phase, op or module of each event */
  struct work_classes work;  /* classes of device work, if events are grouped by it */
  struct work_devices devices; /* devices of work, if events are grouped by them */
  const char *family;        /* family of devices whose names are only numbers; NULL = not determined yet */
  bool has_hosts;            /* if events are grouped by device: true if the tracks have several hosts */
  struct map originals;      /* if has_originals: names of classes whose events do not repeat other events */
  bool has_originals;
  struct map of_sample;      /* group of spans -> group of the samples with the same property */
  struct map of_value;       /* value -> group, for kinds, ranks, steps, integers and classes of kernels */
  struct buf text;
};

bool groups_init(struct groups *g, const struct match *match, const struct tk_top_options *opt, struct mem *mem);
void groups_free(struct groups *g);

uint32_t groups_of(struct groups *g, const struct tk_event *e);
/* Returns the group of a stack sample. In a trace that also has spans, it is not the group of spans with the same thread, rank or other
 * property: a sum of durations and weights is meaningless. Its text ends with " (samples)". */
uint32_t groups_of_sample(struct groups *g, const struct tk_event *sample);
/* True for groupings that leave out all events except device work. */
static inline bool groups_only_work(enum tk_top_by by) { return by == TK_TOP_CLASS || by == TK_TOP_DEVICE; }
/* False for events without a row. These are events on lines that repeat the work of other lines, unless `repeats` is set; and, if
 * events are grouped by device or by class of kernel, all events except device work. */
static inline bool groups_has_row(struct groups *g, const struct tk_event *e) {
  if (!g->repeats && kinds_repeats(&g->match->kinds, e->track)) return false;
  return !groups_only_work(g->by) || groups_of(g, e) != GROUP_NONE;
}
/* Returns the suffix for the name of a class in rows: " (device)" for a device copy of a host annotation, which has the same name as
 * the annotation; otherwise "". Copies get it even if the annotation itself is not in the trace. */
const char *groups_suffix(struct groups *g, tk_id cls);
/* True if the events of the class repeat other events, and the trace contains these, as a class with the same name. */
bool groups_has_original(struct groups *g, tk_id cls);
/* Returns the group of a name. Folds addresses in the name, and if g->has_runs is set, also numbers of HCCL. If g->fold is set, folds
 * all numbers and template arguments (fold.h). */
uint32_t groups_of_name(struct groups *g, const void *p, size_t n);
/* Returns the text of a group; NULL for GROUP_NONE. */
const struct intern_str *groups_text(const struct groups *g, uint32_t group);
/* For grouping by kind: returns the kinds of the group's events, a set of bits, because an event can have several kinds. */
unsigned groups_kinds(const struct groups *g, uint32_t group);

/* True for a kernel. Tables shorten the names of kernels. */
bool groups_is_kernel(const struct groups *g, const struct tk_event *e);

#endif

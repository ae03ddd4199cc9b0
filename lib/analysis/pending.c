/* pending.c - see pending.h. */
#include "pending.h"

#include <string.h>

#include "base/text.h"
#include "op/op_classes.h"

/* Names that process groups give to their work: torch/csrc/distributed/c10d, ProcessGroup*.cpp; torch_npu, ProcessGroupHCCL.cpp. */
static const char *const GROUPS[] = {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", NULL};

enum { MOST_INSIDE = 256 }; /* spans inside that are considered, so that deep nesting takes linear time */

static bool is_group_work(const struct tk_trace *t, const struct tk_event *e) {
  const char *name = tk_string(t, t->classes[e->cls].name, NULL);
  const char *const *group = GROUPS;
  if (!*name || !strchr("nghumx", *name)) return false;
  while (*group && !text_begins(name, *group)) group++;
  return *group != NULL;
}

/* True for a span that belongs to the model: a collective does not run annotations, Python functions or operators that compute. */
static bool is_of_model(const struct kinds *kinds, const struct tk_event *e) {
  const unsigned kind = kinds_of(kinds, e);
  if (kind & KIND_COLLECTIVE || is_group_work(kinds->t, e)) return false;
  if (kind & (KIND_ANNOTATION | KIND_PYTHON)) return true;
  const char *name = tk_string(kinds->t, kinds->t->classes[e->cls].name, NULL);
  const enum kernel_class class = kind & KIND_OP ? op_classes_of(name) : CLASS_NONE;
  return class != CLASS_NONE && class != CLASS_COLLECTIVE;
}

bool pending_is(const struct kinds *kinds, tk_id event) {
  const struct tk_trace *t = kinds->t;
  const struct tk_event *v = t->events, *e = &v[event];
  const struct tk_track *k = &t->tracks[e->track];
  const tk_id last = k->first + k->count - 1, most = last - event < MOST_INSIDE ? last : event + MOST_INSIDE;
  if (e->kind != TK_EVENT_SPAN || k->kind != TK_TRACK_THREAD || !is_group_work(t, e) || kinds_of(kinds, e) & KIND_DEVICE) return false;
  if ((e->flags & (TK_FLAG_OVERLAPS | TK_FLAG_PAIRED)) == TK_FLAG_OVERLAPS) return true;
  for (tk_id i = event + 1; i <= most && v[i].ts < e->ts + e->dur; i++) {
    if (v[i].kind == TK_EVENT_SPAN && is_of_model(kinds, &v[i])) return true;
  }
  return false;
}

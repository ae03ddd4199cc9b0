/* pending.c - see pending.h. */
#include "pending.h"

#include <string.h>

#include "base/text.h"
#include "op_classes.h"

/* Names that process groups give to their work: torch/csrc/distributed/c10d, ProcessGroup*.cpp; torch_npu, ProcessGroupHCCL.cpp. */
static const char *const GROUPS[] = {"nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", NULL};

enum { MOST_INSIDE = 256 }; /* maximum number of neighbouring events to search, so that deep nesting takes linear time */

static bool is_group_work(const struct tk_trace *t, const struct tk_event *e) {
  const char *name = tk_string(t, t->classes[e->cls].name, NULL);
  const char *const *group = GROUPS;
  if (!*name || !strchr("nghumx", *name)) return false;
  while (*group && !text_begins(name, *group)) group++;
  return *group != NULL;
}

/* True for a span that a collective cannot contain and that so belongs to the model: an annotation, a Python function, or an operator
 * that computes. */
static bool is_of_model(const struct kinds *kinds, const struct tk_event *e) {
  const unsigned kind = kinds_of(kinds, e);
  if (kind & KIND_COLLECTIVE || is_group_work(kinds->t, e)) return false;
  if (kind & (KIND_ANNOTATION | KIND_PYTHON)) return true;
  const char *name = tk_string(kinds->t, kinds->t->classes[e->cls].name, NULL);
  const enum kernel_class class = kind & KIND_OP ? op_classes_of(name) : CLASS_NONE;
  return class != CLASS_NONE && class != CLASS_COLLECTIVE;
}

/* Returns the first event inside the span that belongs to the model; 0 if there is none. */
static tk_id first_of_model(const struct kinds *kinds, tk_id event) {
  const struct tk_trace *t = kinds->t;
  const struct tk_event *v = t->events, *e = &v[event];
  const struct tk_track *k = &t->tracks[e->track];
  const tk_id last = k->first + k->count - 1, most = last - event < MOST_INSIDE ? last : event + MOST_INSIDE;
  for (tk_id i = event + 1; i <= most && v[i].ts < e->ts + e->dur; i++)
    if (v[i].kind == TK_EVENT_SPAN && is_of_model(kinds, &v[i])) return i;
  return 0;
}

/* True for a span that begins inside another span but ends after it. */
static bool sticks_out(const struct tk_event *e) { return (e->flags & (TK_FLAG_OVERLAPS | TK_FLAG_PAIRED)) == TK_FLAG_OVERLAPS; }

static bool may_be_pending(const struct kinds *kinds, const struct tk_event *e) {
  if (e->kind != TK_EVENT_SPAN || kinds->t->tracks[e->track].kind != TK_TRACK_THREAD) return false;
  return is_group_work(kinds->t, e) && !(kinds_of(kinds, e) & KIND_DEVICE);
}

bool pending_is(const struct kinds *kinds, tk_id event) {
  const struct tk_event *e = &kinds->t->events[event];
  return may_be_pending(kinds, e) && (sticks_out(e) || first_of_model(kinds, event));
}

/* Returns the end of the span in which the event begins; if no such span is found, the end of the event itself. */
static tk_time end_of_caller(const struct tk_trace *t, tk_id event) {
  const struct tk_event *v = t->events, *e = &v[event];
  const tk_id first = t->tracks[e->track].first, least = event - first < MOST_INSIDE ? first : event - MOST_INSIDE;
  for (tk_id i = event; e->depth && i-- > least;)
    if (v[i].kind == TK_EVENT_SPAN && v[i].depth == e->depth - 1) return v[i].ts + v[i].dur;
  return e->ts + e->dur;
}

tk_time pending_end(const struct kinds *kinds, tk_id event) {
  const struct tk_event *e = &kinds->t->events[event];
  tk_time end = e->ts + e->dur;
  if (!may_be_pending(kinds, e)) return end;
  const tk_id model = first_of_model(kinds, event);
  const tk_time caller = sticks_out(e) ? end_of_caller(kinds->t, event) : end;
  if (model) end = kinds->t->events[model].ts;
  return caller < end ? caller : end;
}

bool pending_add(struct within *w, const struct kinds *kinds, tk_id event, struct within_span around, uint32_t node) {
  if (!node) return within_add(w, kinds->t, event, around, 0);
  return within_add_until(w, kinds->t, event, around, node, pending_end(kinds, event));
}

/* collector.h - what the collectors of align share. */
#ifndef ALIGN_COLLECTOR_H
#define ALIGN_COLLECTOR_H

#include "base/map.h"
#include "align.h"
#include "graph/steps.h"
#include "launches.h"

/* Of a rank's groups with the same members, each has its place in the order of its name: names are counters of a process and need
 * not agree between ranks, their order does. */
struct collector_group {
  int64_t rank; /* whose it is */
  uint64_t members;
  tk_id name;
  int64_t number;
  uint32_t place;
  bool vague; /* groups of its name may be several */
};

struct collector {
  struct align_anchors *out;
  const struct tk_trace *t;
  const struct align_source *from;
  struct arena arena;
  uint64_t *of_class;   /* hash of the name of a collective's class, 0 = something else */
  uint8_t *how;         /* by class: how it is known to be one (kineto.c) */
  struct map groups;    /* hash of members and name -> group + 1 */
  struct collector_group *group;
  uint32_t n_groups, cap_groups;
  struct steps steps;
  struct launches launches;
  uint8_t *step_of_track; /* by track: it has steps of its own */
  uint32_t first;       /* of the input's own anchors */
  int64_t rank;         /* of the event that is looked at; -1 = unknown */
};

uint64_t collect_hash(const struct tk_trace *t, tk_id s);
const char *collect_text(const struct tk_trace *t, uint32_t args, const char *key, tk_id *id); /* NULL = no such text */
bool collect_number(const struct tk_trace *t, uint32_t args, const char *key, int64_t *out);
/* What is told of an anchor, where that is asked for: its name without what templates and argument types add. */
void collect_name(struct collector *c, struct align_anchor *a, const char *name);
void collect_group(struct collector *c, struct align_anchor *a, const char *group);
/* A new anchor with the event's times, or NULL. */
struct align_anchor *collect_add(struct collector *c, const struct tk_event *e);

/* Kernels of NCCL and RCCL as Kineto writes them, or markers. */
bool collect_kernels(struct collector *c);
/* Collectives on the device planes of XLA. */
bool collect_planes(struct collector *c);

#endif

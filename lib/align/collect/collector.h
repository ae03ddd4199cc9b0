/* collector.h - state and functions shared by the collectors of anchors. */
#ifndef ALIGN_COLLECT_COLLECTOR_H
#define ALIGN_COLLECT_COLLECTOR_H

#include "base/map.h"
#include "collect.h"
#include "graph/steps.h"
#include "launches.h"

/* A process group of a rank. Each process names its groups by a counter, so ranks may have different names for the same group. But the
 * order of the names is the same on all ranks, so groups with the same members are numbered in this order. */
struct collector_group {
  int64_t rank; /* rank whose metadata lists the group */
  uint64_t members;
  tk_id name;
  int64_t number;
  uint32_t place;
  bool vague; /* true if other groups may have the same name */
};

struct collector {
  struct align_anchors *out;
  const struct tk_trace *t;
  const struct align_source *from;
  struct arena arena;
  uint64_t *of_class;   /* by class: hash of the collective's name; 0 = not a collective */
  uint8_t *how;         /* by class: how the collective was recognised (kineto.c) */
  struct map groups;    /* hash of members and name -> 1 + index of the group */
  struct collector_group *group;
  uint32_t n_groups, cap_groups;
  struct kinds kinds;
  struct steps steps;
  struct launches launches;
  uint32_t first;       /* index of the first anchor of this input */
  int64_t rank;         /* rank of the current event; -1 = unknown */
};

uint64_t collect_hash(const struct tk_trace *t, tk_id s);
const char *collect_text(const struct tk_trace *t, uint32_t args, const char *key, tk_id *id); /* NULL if args contain no text
                                                                                                  with this key */
bool collect_number(const struct tk_trace *t, uint32_t args, const char *key, int64_t *out);
/* Stores the anchor's name, without template arguments and argument types, if c->out->described is set. */
void collect_name(struct collector *c, struct align_anchor *a, const char *name);
void collect_group(struct collector *c, struct align_anchor *a, const char *group);
/* Returns a new anchor with the event's times, or NULL when memory runs out. */
struct align_anchor *collect_add(struct collector *c, const struct tk_event *e);

#endif

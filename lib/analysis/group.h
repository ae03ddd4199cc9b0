/* group.h - groups events by name, category, kind, rank, process, track, stream, step, phase, op, module, or an arg.
 *
 * A group is a small number, found by one table lookup by class, track or value.  Group 1 (GROUP_NONE) holds the events without
 * the property; every other group has a text. */
#ifndef ANALYSIS_GROUP_H
#define ANALYSIS_GROUP_H

#include "op/around.h"
#include "op/match.h"

enum { GROUP_NONE = 1 };

struct groups {
  struct mem *mem;
  const struct tk_trace *t;
  const struct match *match; /* kinds, steps and origins */
  enum tk_top_by by;
  bool fold;
  tk_id key;                 /* key of the arg */
  uint32_t n;                /* groups are 1 .. n */
  struct intern texts;       /* text g - 1 belongs to group g, g > 1 */
  uint32_t *of_id;           /* by class or track; 0 = not computed yet */
  struct around around;      /* for phase, op and module */
  struct map of_value;       /* kinds, ranks, steps, integers */
  struct buf text;
};

bool groups_init(struct groups *g, const struct match *match, const struct tk_top_options *opt, struct mem *mem);
void groups_free(struct groups *g);

uint32_t groups_of(struct groups *g, const struct tk_event *e);
/* Returns the group of a text, folded as names are if the groups fold. */
uint32_t groups_of_text(struct groups *g, const void *p, size_t n);
/* Returns the text of a group; NULL for GROUP_NONE. */
const struct intern_str *groups_text(const struct groups *g, uint32_t group);
/* For grouping by kind: returns the kinds of the group's events as bits; an event can have several. */
unsigned groups_kinds(const struct groups *g, uint32_t group);

#endif

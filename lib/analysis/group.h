/* group.h - what events are counted under: their name, category, kind, rank, process, track, stream, step, or an arg.
 *
 * A group is a small number that an event gets in one look at a table by class, track or value.  Group 1 holds the events that have
 * no such thing; the others have a text. */
#ifndef ANALYSIS_GROUP_H
#define ANALYSIS_GROUP_H

#include "op/match.h"

enum { GROUP_NONE = 1 };

struct groups {
  struct mem *mem;
  const struct tk_trace *t;
  const struct match *match; /* kinds, steps and origins */
  enum tk_top_by by;
  bool fold;
  tk_id key;                 /* of the arg */
  uint32_t n;                /* groups are 1 .. n */
  struct intern texts;       /* group g > 1 is text g - 1 */
  uint32_t *of_id;           /* by class or track; 0 = not asked yet */
  struct map of_value;       /* kinds, ranks, steps, whole numbers */
  struct buf text;
};

bool groups_init(struct groups *g, const struct match *match, const struct tk_top_options *opt, struct mem *mem);
void groups_free(struct groups *g);

uint32_t groups_of(struct groups *g, const struct tk_event *e);
/* The text of a group; NULL of GROUP_NONE. */
const struct intern_str *groups_text(const struct groups *g, uint32_t group);
/* By kind: the kinds of the events in it; an event can be of several. */
unsigned groups_kinds(const struct groups *g, uint32_t group);

#endif

/* members.h - lists the members of each collective, found by the alignment of clocks or by their keys alone. */
#ifndef MERGE_MEMBERS_H
#define MERGE_MEMBERS_H

#include "align/report.h"
#include "collectives.h"

/* Clocks of the inputs, by input. */
struct members_clocks {
  const struct align_map *maps;
  const bool *mapped; /* true if the map applies */
  const bool *usable; /* true if times on the clock can be compared with times of other inputs */
};

/* Returns a reading of the clock of an input as a time on the common timeline. */
static inline int64_t members_placed(const struct members_clocks *clocks, uint32_t input, int64_t reading) {
  int64_t moved;
  if (!clocks->mapped[input] || __builtin_sub_overflow(reading, align_offset(&clocks->maps[input], reading), &moved)) return reading;
  return moved;
}
/* Returns the array for members_clocks.usable, in which copies of other inputs are not usable. Returns NULL if memory runs out. */
bool *members_usable(const struct align_input *inputs, size_t n, const bool *mapped, struct arena *arena);
/* Moves the anchors to the common timeline, and drops the anchors of inputs that could not be placed there. */
void members_place(struct align_anchors *anchors, const struct align_problem *p, const struct align_map *maps, const bool *mapped);
/* Fills the rows. Takes ownership of the texts of the anchors, and may reorder the anchors. Returns false if memory runs out. */
bool members_take(struct merge_collectives *c, struct align_anchors *anchors, const struct align_solution *found,
                  const struct members_clocks *clocks);
/* Adds notes on the collectives with members that are known only by their keys. */
void members_say(const struct merge_collectives *c, struct tk_diagnostics *notes);

#endif

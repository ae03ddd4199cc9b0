/* merge_collectives.h - who was in which collective, and who waited for whom: what the matching of clocks knows.
 *
 * Rows of collectives in which all wait for all, on the common timeline.  One that began later than another one, by its last rank, made
 * that one wait: that is what is told, and what flows can be drawn of. */
#ifndef COMMAND_MERGE_COLLECTIVES_H
#define COMMAND_MERGE_COLLECTIVES_H

#include "align/align.h"
#include "io/out.h"

struct merge_who;
struct align_map;

/* A device in a collective. */
struct merge_meeting {
  uint32_t collective, input, device, name, group; /* name, group: of the texts; 0 = not told */
  int64_t seq, bytes;       /* -1 = not told */
  int64_t start_ns, end_ns; /* on the common timeline */
  int64_t step;             /* valid if stepped */
  bool stepped;
};

struct merge_collectives {
  struct merge_meeting *v; /* by collective, in which they stand by when they came */
  uint32_t n, n_collectives;
  struct intern texts;
};

/* Takes what was found, and the texts of the anchors. */
bool merge_collectives_take(struct merge_collectives *c, struct align_anchors *anchors, const struct align_solution *found,
                            const struct align_map *maps, const bool *mapped);
void merge_collectives_free(struct merge_collectives *c, struct mem *mem);

/* Who was last most often. */
void merge_collectives_sum_up(const struct merge_collectives *c, const struct merge_who *who, struct tk_collectives *sum,
                              struct mem *mem);

/* What collectives say of an input: in how many it was, in how many the last; how long it waited until the last came; by how much it
 * came after the last but one, where it was last itself. */
struct merge_tally {
  uint64_t met, last;
  int64_t wait_ns, cost_ns;
};
/* Of all inputs: v has room for them, and is zero. */
void merge_collectives_tally(const struct merge_collectives *c, struct merge_tally *v);

/* What a table of this name is written as; its ending says it. */
enum merge_table_kind { MERGE_TABLE_NONE, MERGE_TABLE_CSV, MERGE_TABLE_JSON };
enum merge_table_kind merge_table_kind(const char *path);

/* How a table is written; times since zero_ns. */
struct merge_table {
  const struct merge_who *who;
  int64_t zero_ns;
  enum merge_table_kind kind;
  struct out *out;
  const struct tk_redact_options *redact; /* of names, hosts and groups; NULL = they stay */
  struct mem *mem; /* set by merge_collectives_write */
};
bool merge_collectives_write(const struct merge_collectives *c, const struct merge_table *table, struct tk_err *err);

/* Flows from the last one to the others, at this input's ends of them.  Their ids are those from first_id on, one for each row. */
bool merge_collectives_link(const struct merge_collectives *c, uint32_t input, struct tk_trace *t, int64_t first_id,
                            struct tk_err *err);

#endif

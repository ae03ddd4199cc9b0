/* collectives.h - members of each collective, and who waited for whom, as found by clock alignment.
 *
 * Contains a row for each device in a collective in which all wait for all, on the common timeline. The device that starts last
 * makes the others wait: this is reported, and flows can be drawn from it. */
#ifndef MERGE_COLLECTIVES_H
#define MERGE_COLLECTIVES_H

#include "align/apply.h"
#include "align/solve/solve.h"
#include "io/out.h"

struct merge_who;
struct align_map;

/* A device in a collective. */
struct merge_meeting {
  uint32_t collective, input, device, name, group; /* name, group: ids in texts; 0 = unknown */
  int64_t seq, bytes;       /* -1 = unknown */
  int64_t start_ns, end_ns; /* on the common timeline */
  int64_t step;             /* valid if stepped */
  bool stepped;
};

struct merge_collectives {
  struct merge_meeting *v; /* by collective, then by start */
  uint32_t n, n_collectives;
  struct intern texts;
};

/* Takes over the collectives that the alignment found, and the texts of the anchors. False if memory runs out. */
bool merge_collectives_take(struct merge_collectives *c, struct align_anchors *anchors, const struct align_solution *found,
                            const struct align_map *maps, const bool *mapped);
void merge_collectives_free(struct merge_collectives *c, struct mem *mem);

/* Sums up which rank delayed the others most by coming last. */
void merge_collectives_sum_up(const struct merge_collectives *c, const struct merge_who *who, struct tk_collectives *sum,
                              struct mem *mem);

/* Totals of an input over all collectives: how many it took part in, in how many it came last, how long it waited for the last
 * one, and, for those in which it was last itself, by how much it came after the next-to-last. */
struct merge_tally {
  uint64_t met, last;
  int64_t wait_ns, cost_ns;
};
/* Fills the totals by input; `v` must be zeroed. */
void merge_collectives_tally(const struct merge_collectives *c, struct merge_tally *v);

/* Returns the kind of table that the file's extension selects. */
enum merge_table_kind { MERGE_TABLE_NONE, MERGE_TABLE_CSV, MERGE_TABLE_JSON };
enum merge_table_kind merge_table_kind(const char *path);

/* Destination and options of a table; times count from zero_ns. */
struct merge_table {
  const struct merge_who *who;
  int64_t zero_ns;
  enum merge_table_kind kind;
  struct out *out;
  const struct tk_redact_options *redact; /* for names, hosts and groups; NULL = not redacted */
  struct mem *mem; /* set by merge_collectives_write */
};
bool merge_collectives_write(const struct merge_collectives *c, const struct merge_table *table, struct tk_err *err);

/* Adds this input's ends of the flows that lead from the last device of a collective to each of the others. Flow ids start at
 * first_id, one for each row. */
bool merge_collectives_link(const struct merge_collectives *c, uint32_t input, struct tk_trace *t, int64_t first_id,
                            struct tk_err *err);

#endif

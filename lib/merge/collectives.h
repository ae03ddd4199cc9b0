/* collectives.h - the members of each collective and their waiting times, as found by clock alignment.
 *
 * Only collectives that synchronise all members are listed, with one row per member device, and times on the common timeline. The
 * device that starts last makes the others wait; reports name it, and flows can be drawn from it to the others. */
#ifndef MERGE_COLLECTIVES_H
#define MERGE_COLLECTIVES_H

#include "align/apply.h"
#include "align/solve/solve.h"
#include "io/out.h"

struct merge_who;
struct align_map;

/* Participation of a device in a collective. */
struct merge_meeting {
  uint32_t collective, input, device, name, group; /* name, group: ids in texts; 0 = unknown */
  int64_t seq, bytes;       /* -1 = unknown */
  int64_t start_ns, end_ns; /* on the common timeline */
  int64_t step;             /* valid if stepped */
  bool stepped;
  bool keyed;               /* true if only its key shows that it is a member (members.h) */
  bool vague;               /* true if the trace does not record the group */
};

/* One side of a message from a rank to another. */
struct merge_end {
  uint32_t input, name;     /* name: id in texts; 0 = unknown */
  int64_t bytes;            /* -1 = unknown */
  int64_t start_ns, end_ns; /* on the common timeline */
};

/* A message whose send and receive are known (pairs.h). */
struct merge_pair {
  struct merge_end sent, received;
};

struct merge_collectives {
  struct merge_meeting *v; /* sorted by collective, then by start */
  uint32_t n, n_collectives;
  uint32_t keyed, vague;   /* keyed: collectives with members found by keys alone (members.h); vague: those of them with unknown
                            * groups */
  uint32_t apart;          /* collectives whose members have equal keys, but by their clocks never overlapped */
  struct merge_pair *pairs; /* messages; they are not in `v`, because only one of the two ranks must wait for the other */
  uint32_t n_pairs;
  struct intern texts;
};

void merge_collectives_free(struct merge_collectives *c, struct mem *mem);

/* Finds the rank that delayed the others most by arriving last. */
void merge_collectives_sum_up(const struct merge_collectives *c, const struct merge_who *who, struct tk_collectives *sum,
                              struct mem *mem);

/* Sums over all collectives of an input. met: number of collectives; last: those in which it arrived last; wait_ns: time it waited for
 * the last member; cost_ns: when it was last, the time from the arrival of the next-to-last member to its own. */
struct merge_tally {
  uint64_t met, last;
  int64_t wait_ns, cost_ns;
};
/* Adds up the sums by input; `v` must be zeroed. */
void merge_collectives_tally(const struct merge_collectives *c, struct merge_tally *v);

/* Format of a table of collectives. merge_table_kind returns the format for the file's extension. */
enum merge_table_kind { MERGE_TABLE_NONE, MERGE_TABLE_CSV, MERGE_TABLE_JSON };
enum merge_table_kind merge_table_kind(const char *path);

/* Destination and options of a table. Times are relative to zero_ns. */
struct merge_table {
  const struct merge_who *who;
  int64_t zero_ns;
  enum merge_table_kind kind;
  struct out *out;
  const struct tk_redact_options *redact; /* redacts names, hosts and groups; NULL = no redaction */
  struct mem *mem; /* set by merge_collectives_write */
};
bool merge_collectives_write(const struct merge_collectives *c, const struct merge_table *table, struct tk_err *err);

/* Draws flows from the last device of each collective to the other devices, and adds the points of these flows that are on events of
 * this input. The flow of row i has the id first_id + i. */
bool merge_collectives_link(const struct merge_collectives *c, uint32_t input, struct tk_trace *t, int64_t first_id,
                            struct tk_err *err);

#endif

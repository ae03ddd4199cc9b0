/* report.h - what a run did with its time, put together one trace after the other.
 *
 *     report.c          a row for each device of each rank: what its time was spent on, its steps and queues
 *     report_index.c    what is looked up for each row
 *     report_host.c     what the hosts did: launches, operators, compilation
 *     report_tables.c   tables over all ranks: work by name, launches, collectives, memory
 *     report_base.c     what these share
 *     work.c, spent.c   what devices did, and how that adds up */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "base/int128.h"
#include "report_index.h"
#include "spent.h"

/* Sums while a table is made; rows are found by what `index` says of their name. */
struct report_kernel {
  uint32_t name;
  uint8_t class;
  uint64_t count, bytes_known;
  i128 total;
  tk_time min, max, bytes_time;
  double bytes;
};
struct report_launch {
  uint32_t name;
  uint64_t work;
  i128 call_sum, work_sum, delay_sum;
  tk_time delay_max;
};
struct report_collective {
  uint32_t name;
  uint64_t count, sized, met, core_sized;
  i128 total, sized_total, core, wait, core_time;
  double bytes, bus_bytes, core_bus_bytes;
  int64_t group_size;   /* of the last that says it */
};

struct tk_report_impl {
  struct mem mem;
  struct intern texts;
  struct tk_report_options opt;
  struct report_kernel *kernels;
  struct report_launch *launches;
  struct report_collective *collectives;
  uint32_t n_kernels, cap_kernels, n_launches, cap_launches, n_collectives, cap_collectives;
  uint32_t cap_ranks, cap_memories, cap_devices, cap_versions, cap_unknown, cap_meetings;
  struct map kernel_of, launch_of, collective_of; /* name -> row + 1 */
  struct map memory_of; /* rank and allocator, as one text -> row + 1 */
  struct map said;      /* texts of lists: number of the list << 32 | text */
};

/* Where a trace stands: what its input is called, and by how much its times are moved onto the common timeline. */
struct report_place {
  const char *input;
  int64_t later_ns;
};

/* A trace that is being looked at. */
struct reporter {
  struct tk_report *r;
  struct tk_report_impl *impl;
  struct tk_trace *t;
  struct mem *mem; /* what goes when the trace goes */
  const struct track_origin *origins;
  const struct report_place *place;
  struct match match;
  struct scope scope;
  struct works works;
  struct work *sorted; /* of one row */
  struct spent spent;
  struct report_index index;
  uint8_t *compiles;   /* by class: 1 = yes; NULL = not asked for yet */
  bool *launches;      /* by event: it launched what a device ran */
  tk_time *time_of;    /* by event, of those in parts, while a row is counted; else 0; NULL = there are none yet */
  tk_time start, end;  /* what the report is about */
  uint32_t first;      /* row of the report that is its first */
};

bool report_open(struct tk_report *r, const struct tk_report_options *opt, struct tk_err *err);
bool report_add(struct tk_report *r, struct tk_trace *t, const struct track_origin *origins, const struct report_place *place,
                struct tk_err *err);
/* Makes the tables; nothing is added any more. */
bool report_close(struct tk_report *r, struct tk_err *err);

/* ---- for the parts ---- */

const char *report_keep(struct tk_report_impl *impl, const void *p, size_t n);
const char *report_text(struct tk_report_impl *impl, const char *text);
struct tk_total report_total(i128 ps);
double report_number(const struct tk_trace *t, const struct tk_arg *arg, bool *is);
/* A sentence, once. */
bool report_unknown(struct tk_report *r, const char *sentence);

/* report_host.c: of the row's rank, which is this group of the index. */
bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group);
void report_host_free(struct reporter *p);
/* report_tables.c */
bool report_count_row(struct reporter *p, uint32_t n); /* pieces of work, in p->sorted */
bool report_count_memory(struct reporter *p);
bool report_versions(struct reporter *p);
bool report_make_tables(struct tk_report *r);
struct report_collective *report_collective(struct tk_report_impl *impl, const char *name, size_t n);
/* The factor that makes a bus bandwidth of an algorithm's, by what the collective is called: 2(n-1)/n, (n-1)/n or 1. */
double report_bus_factor(const char *name, int64_t ranks);

#endif

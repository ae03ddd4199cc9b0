/* report.h - reports how a run spent its time; traces are added one at a time.
 *
 *     report.c          one row for each device of each rank: its time, steps and queues
 *     report_index.c    lookups for each row
 *     report_host.c     host activity: launches, operators, compilation
 *     report_split.c    what a step consists of
 *     report_tables.c   tables over all ranks: work by name, launches, collectives
 *     report_memory.c   peaks of memory
 *     report_base.c     shared helpers
 *     findings.c        figures beyond their thresholds
 *     work.c, spent.c   device work, and how its time adds up */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "base/int128.h"
#include "report_index.h"
#include "spent.h"
#include "thresholds.h"

/* A table row under construction; tk_report_impl.kernel_of maps names to rows. */
struct report_kernel {
  uint32_t name;
  uint8_t class;
  uint64_t count, bytes_known;
  i128 total;
  tk_time min, max, bytes_time;
  tk_time max_at;    /* start of the longest, since the first event of its trace */
  int64_t max_rank;  /* its rank */
  double bytes;
};
struct report_launch {
  uint32_t name;
  uint64_t work, calls, unrecorded; /* calls: calls with a correlation id; unrecorded: number of these `calls` whose work is missing */
  i128 call_sum, work_sum, delay_sum;
  tk_time delay_max;
};
struct report_collective {
  uint32_t name;
  uint64_t count, sized, met, core_sized;
  i128 total, sized_total, core, wait, core_time;
  double bytes, bus_bytes, core_bus_bytes;
  int64_t group_size;   /* from the last event that states it */
};

struct tk_report_impl {
  struct mem mem;
  struct intern texts;
  struct tk_report_options opt;
  struct report_kernel *kernels;
  struct report_launch *launches;
  struct report_collective *collectives;
  uint32_t n_kernels, cap_kernels, n_launches, cap_launches, n_collectives, cap_collectives;
  uint32_t cap_ranks, cap_findings, cap_memories, cap_devices, cap_versions, cap_unknown, cap_meetings;
  struct map kernel_of, launch_of, collective_of; /* name -> 1 + row */
  struct map memory_of; /* rank and allocator, as one text -> 1 + row */
  struct tk_threshold limits[N_THRESHOLDS];
  uint64_t truncated, capped; /* inputs that end early; inputs with the most events that their producer writes */
  struct map said;      /* texts already in a list: list number << 32 | text */
  const char *suspect; /* sentence about a track that looks like a device; NULL = none */
};

/* Where a trace belongs in the report: the name of its input, and the shift that moves its times to the common timeline. */
struct report_place {
  const char *input;
  int64_t later_ns;
};

/* State while one trace is added. */
struct reporter {
  struct tk_report *r;
  struct tk_report_impl *impl;
  struct tk_trace *t;
  struct mem *mem; /* memory that is freed when the trace is done */
  const struct track_origin *origins;
  const struct report_place *place;
  const char *family; /* of devices that have numbers only; NULL = not looked up yet */
  struct match match;
  struct scope scope;
  struct works works;
  struct work *sorted; /* the work of the current row, sorted by start */
  struct spent spent;
  struct report_index index;
  uint8_t *host_class; /* by class: enum host_class implied by the name; HOST_CLASSES = not computed yet */
  uint8_t *traits;     /* by class: set of enum work_trait; 0 = not computed yet; NULL = no device yet */
  bool *launches;      /* by event: true if it launched device work */
  tk_time *time_of;    /* by event: total time of its parts in the current row; NULL = no event has parts yet */
  tk_time start, end;  /* time range of the report */
  tk_time zero;        /* start of the trace's first event */
  uint8_t *partial;    /* by process: true if a selection leaves out events of its threads; NULL = no selection */
  uint32_t first;      /* first row of this trace in the report */
};

bool report_open(struct tk_report *r, const struct tk_report_options *opt, struct tk_err *err);
bool report_add(struct tk_report *r, struct tk_trace *t, const struct track_origin *origins, const struct report_place *place,
                struct tk_err *err);
/* Builds the tables. No trace can be added afterwards. Returns false with err on failure. */
bool report_close(struct tk_report *r, struct tk_err *err);

/* ---- for the parts ---- */

const char *report_keep(struct tk_report_impl *impl, const void *p, size_t n);
const char *report_text(struct tk_report_impl *impl, const char *text);
struct tk_total report_total(i128 ps);
tk_id report_key_of(const struct tk_trace *t, const char *key);
/* Returns true if the event has a number in the arg `key`, which is stored in *v. */
bool report_number_of(const struct tk_trace *t, const struct tk_event *e, tk_id key, double *v);
double report_number(const struct tk_trace *t, const struct tk_arg *arg, bool *is);
/* Adds a sentence to the list of unknown facts, unless the list contains the sentence. */
bool report_unknown(struct tk_report *r, const char *sentence);

/* report_host.c: fills in the host columns of the row. `group`: group of the row's rank in the index. */
bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group);
void report_host_free(struct reporter *p);
/* report_split.c: divides [start, end) into what the device of p->spent did and, while it was idle, what the host of the group did. */
struct tk_report_split report_split(const struct reporter *p, uint32_t group, tk_time start, tk_time end);
/* Returns the sum of the row's steps if its device worked in them or if it has no device, and otherwise its window. *steps: true
 * for the sum. */
struct tk_report_split report_split_of_row(const struct tk_report_rank *row, bool *steps);
/* Stores the longest time during which the device of p->spent was idle. */
void report_find_gap(const struct reporter *p, struct tk_report_rank *row);
/* report_tables.c: adds the n pieces of work in p->sorted to the tables. */
bool report_count_row(struct reporter *p, uint32_t n);
/* Returns the row of an API call that launches work; NULL if memory runs out. */
struct report_launch *report_launch_row(struct tk_report_impl *impl, const char *name, size_t n);
bool report_versions(struct reporter *p);
bool report_make_tables(struct tk_report *r);
struct report_collective *report_collective(struct tk_report_impl *impl, const char *name, size_t n);
/* Returns the factor that converts algorithm bandwidth to bus bandwidth; it depends on the name of the collective: 2(n-1)/n,
 * (n-1)/n or 1. */
double report_bus_factor(const char *name, int64_t ranks);
/* report_memory.c: finds the peaks of each allocator. */
bool report_count_memory(struct reporter *p);
/* report_calls.c: counts the launches whose work is missing from the trace, and adds a sentence for each kind of call. */
bool report_count_calls(struct reporter *p);
void report_say_unrecorded(struct tk_report *r);

#endif

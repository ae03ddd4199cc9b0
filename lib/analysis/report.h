/* report.h - reports how a run spent its time; traces are added one at a time.
 *
 *     report.c          one row for each device of each rank: its time, steps and queues
 *     report_index.c    lookups for each row
 *     report_host.c     host activity: launches, operators, compilation
 *     report_compile.c  compilations
 *     report_collections.c  garbage collections
 *     report_profiler.c overhead of the profiler, recompilation
 *     report_spans.c    spans of hosts by name, and annotations as a tree
 *     report_layers.c   device time by layer
 *     report_functions.c  functions in stack samples
 *     report_device_ops.c  device time by operator
 *     report_runs.c     names of runs
 *     report_lanes.c    drawings of hosts without devices over time
 *     report_flames.c   flame graphs
 *     report_gaps.c     the longest idle times
 *     report_captures.c idle time while a host recorded graphs
 *     report_waits.c    idle time that waits of the host caused
 *     report_split.c    the time of a step or window by activity
 *     report_shrunk.c   inputs that were shrunk
 *     report_tables.c   tables over all ranks: work by name, launches, collectives
 *     report_flops.c    operations and memory traffic of the work, by operator; report_peaks.c finds the peaks of a device
 *     report_geometry.c launch geometry of kernels
 *     report_args.c     the args of work that these tables read
 *     report_memory.c   peaks of memory; report_held.c: memory over time, and what was allocated at the peaks
 *     report_graphs.c   graphs that were recorded as a whole
 *     report_inside.c   kernels within another kernel of their stream
 *     report_suspect.c  explains why a trace that seems to contain a device has no device work
 *     report_base.c     shared helpers
 *     findings.c        figures beyond their thresholds
 *     work.c, spent.c   device work, and how its time adds up */
#ifndef ANALYSIS_REPORT_H
#define ANALYSIS_REPORT_H

#include "base/int128.h"
#include "measure.h"
#include "report_args.h"
#include "report_flops.h"
#include "report_index.h"
#include "self.h"
#include "spent.h"
#include "thresholds.h"
#include "graph/within.h"
#include "op/around.h"

/* A mean over time: `area` is the sum of value x time, so the mean is area / time; time 0 = unknown. */
struct report_mean {
  double area;
  tk_time time;
};
/* Returns the mean; negative if there are no values. */
static inline double report_mean_of(const struct report_mean *m) { return m->time > 0 ? m->area / (double)m->time : -1; }
/* Launch geometry of the kernels of one name. grid, block: text ids for the longest kernel; 0 = unknown. */
struct report_geometry {
  struct report_mean occupancy, registers, shared;
  tk_time longest;
  uint32_t grid, block;
};
/* A row of the table of kernels while traces are added. tk_report_impl.kernel_of maps names to rows. */
struct report_kernel {
  uint32_t name;
  uint8_t class;
  uint64_t count, bytes_known;
  i128 total, beside; /* beside: the part of the total on asynchronous lines (struct work) */
  tk_time min, max, bytes_time;
  tk_time max_at;    /* start of the longest kernel, since the first event of its trace */
  int64_t max_rank;  /* rank of the longest kernel */
  double bytes;
  i128 of_class[KERNEL_CLASSES]; /* time of the kernels by class (work_classes.h), because kernels with one name can have different
                                  * classes, depending on their operators */
  struct report_geometry geometry;
  uint64_t *durations; /* counts by bin (histogram.h); only if the report has strips */
};
struct report_launch {
  uint32_t name;
  uint64_t work, calls, unrecorded, trailing; /* calls: with a correlation id; unrecorded: calls whose work was not recorded;
                                                 trailing: unrecorded calls after the last launch with recorded work, before
                                                 that work ended */
  uint64_t working; /* calls with recorded work */
  i128 call_sum, work_sum, delay_sum;
  tk_time delay_max;
};
struct report_collective {
  uint32_t name;
  uint64_t count, sized, bytes_known, met, core_sized;
  i128 total, sized_total, core, wait, core_time;
  double bytes, bus_bytes, core_bus_bytes;
  uint64_t met_known; /* kernels of matched collectives whose bytes are known */
  double met_bytes;   /* sum of these bytes; used if no kernel of this name records its own */
  int64_t group_size;   /* from the last event that records it */
};

/* Host spans with the same name and class. */
struct report_op {
  uint32_t name;
  uint8_t class; /* enum host_class */
  uint64_t count;
  i128 total, self, in_steps; /* in_steps: self time of spans that begin in a step */
  i128 of_host;               /* self time on the host with the number `host` */
  uint32_t host;
  tk_time min, max;
};
/* Annotations with the same path. */
struct report_node {
  uint32_t name, parent, depth; /* parent: number of the parent node, from 1; 0 = none */
  uint32_t self_number;         /* number of this node, from 1 */
  uint64_t count;
  i128 total, inner;            /* inner: durations of the direct children */
};
/* Device time of all layers with the same path, or of all layers of one kind (report_layers.c). Layer 0 is the root. */
struct report_layer {
  uint32_t name, parent, depth;
  uint32_t child, sibling;      /* first child, next sibling; 0 = none */
  uint64_t count, launched;
  i128 total, device;
  uint64_t steps;               /* for a kind: number of steps in its traces; meaningless if a trace has no steps (stepless) */
  bool stepless;
};

/* Work of one operator. name: text id; 0 = work without an operator. categories: times by text id; 0 = unused. */
enum { DEVICE_OP_CATEGORIES = 4 };
struct report_device_op {
  uint32_t name;
  uint64_t calls, work;
  i128 device;
  struct {
    uint32_t text;
    i128 time;
  } categories[DEVICE_OP_CATEGORIES];
};

/* Spans of hosts, or functions in stack samples, with one path of names. */
struct report_flame {
  uint32_t name, parent, depth; /* parent: number of the parent node, from 1; for outermost nodes, see report_flames.c */
  uint32_t number;              /* number of this node, from 1 */
  uint64_t count;
  i128 total, inner;            /* inner: totals of the direct children */
};

/* A function in stack samples with weights in one unit. unit: text id; 0 = time. */
struct report_function {
  uint32_t name, unit;
  uint64_t samples;
  i128 self, total;
};

/* Allocations that failed because memory was exhausted; all but `n` describe the first one. wanted, left: bytes that were requested,
 * and bytes that were free on the device, -1 = unknown. at: since the trace's first event. */
struct report_oom {
  uint64_t n;
  const char *allocator;
  int64_t rank;
  double wanted, left;
  tk_time at;
};

/* Kernels within another kernel of their stream. covering, all: total time of the kernels that contain others, and of all kernels. */
struct report_inside {
  uint64_t n;
  tk_time covering, all, longest;
  uint32_t name; /* name of the longest kernel that contains others; in `texts` of the report */
};

struct tk_report_impl {
  struct mem mem;
  struct intern texts;
  struct buf folded;    /* used by report_name */
  struct tk_report_options opt;
  const char *step_pattern; /* option for the names of spans that mark steps; NULL = the built-in tables are used */
  struct report_kernel *kernels;
  struct report_launch *launches;
  struct report_collective *collectives;
  uint32_t n_kernels, cap_kernels, n_launches, cap_launches, n_collectives, cap_collectives;
  uint32_t cap_ranks, cap_memories, cap_devices, cap_versions, cap_unknown, cap_meetings, cap_gaps, cap_held, cap_figures;
  uint32_t cap_compilations;
  struct report_op *ops;
  struct report_node *nodes;
  struct report_layer *layers;
  uint32_t n_layers, cap_layers;
  struct map layer_of;           /* parent << 32 | name -> index of the layer */
  uint32_t n_ops, cap_ops, n_nodes, cap_nodes;
  struct report_roof *roofs;
  uint32_t n_roofs, cap_roofs;
  struct map roof_of;            /* name << 32 | device << 4 | type << 1 | stated -> 1 + row */
  uint64_t host_steps;           /* steps of all hosts */
  uint32_t n_hosts;              /* number of hosts so far; each rank of a trace counts as one */
  struct map op_of, node_of;     /* name << 8 | class -> 1 + row; parent << 32 | name -> number of the node */
  struct map kernel_of, launch_of, collective_of; /* name -> 1 + row */
  struct map memory_of; /* rank and allocator, as one string -> 1 + row */
  struct tk_threshold limits[N_THRESHOLDS];
  uint64_t messages, peerless; /* messages whose both sides were matched; kernels that send or receive and do not record their peers */
  bool has_device;      /* at least one row is a device */
  bool computes;        /* at least one device ran a kernel */
  struct report_mean occupancy; /* mean occupancy of all kernels that compute */
  i128 compute;         /* sum of the durations of these kernels, including those without an occupancy */
  double lag;           /* maximum over devices of the mean time from launch to start of work, in steps of the host */
  bool steps_differ;    /* true if step names differ between traces */
  uint64_t truncated, damaged, capped; /* inputs that end early; inputs that are damaged; inputs with exactly the maximum number of
                                        * events that their producer writes */
  uint64_t shrunk, shrunk_events; /* inputs that were shrunk, and the events that were removed from these */
  tk_time zero;         /* start of the last trace's first event */
  struct scope scope;   /* scope of the last trace; narrowed: the report covers only a range of time or steps */
  struct map said;      /* texts already in a list: list number << 32 | text */
  struct report_inside inside;
  struct report_oom oom;
  uint64_t whole_graphs; /* launches of CUDA graphs that were recorded without their kernels */
  uint64_t undecided;   /* kernels and copies whose correlation id several calls have */
  const char *suspect; /* sentence about what looks like a device; NULL = none */
  struct report_function *functions;
  uint32_t n_functions, cap_functions;
  struct map function_of; /* name << 32 | unit -> 1 + row */
  struct report_device_op *device_ops;
  uint32_t n_device_ops, cap_device_ops;
  struct map device_op_of; /* name -> 1 + row */
  struct report_flame *flames;
  uint32_t n_flames, cap_flames;
  struct map flame_of;   /* parent << 32 | name -> number of the node */
  uint64_t samples, unweighed; /* samples: number of stack samples in the rows of functions; unweighed: number left out because
                                  of their unit */
};

/* The name of a trace's input, and the shift that moves its times to the common timeline. */
struct report_place {
  const char *input;
  int64_t later_ns;
  const char *label; /* name of the run, given by the user; NULL = none */
};

/* State for counting host spans. */
struct report_spans {
  uint32_t *row_of; /* by class: 1 + the row of its last span; NULL = not allocated yet */
  struct selves selves;
  struct within within;
  struct buf text;
  struct report_host_sums *sums; /* sums of the rank's host */
  struct steps_run steps; /* of the rank's host */
  const struct step *step; /* the step that was found last; NULL = none yet */
};

/* REPORT_AWAITED: the call also waited for its work. */
enum report_launched { REPORT_LAUNCHED = 1, REPORT_AWAITED = 2 };

/* State while one trace is added. */
struct reporter {
  struct tk_report *r;
  struct tk_report_impl *impl;
  struct tk_trace *t;
  struct mem *mem; /* memory that is freed when the trace is done */
  const struct track_origin *origins;
  const struct report_place *place;
  const char *family; /* family, such as "GPU", for devices whose names are only numbers; NULL = not determined yet */
  struct match match;
  struct scope scope;
  struct works works;
  struct work_classes work_classes; /* unless the report is brief */
  struct around around; /* operator of each event; only for device_ops */
  bool *op_seen;        /* by event: true if it is an operator that was counted; NULL = no operators are counted */
  tk_id hlo_category;   /* key of the arg with the category of an instruction of XLA; 0 = none */
  struct work *sorted; /* the work of the current row, sorted by start */
  struct spent spent;
  struct report_index index;
  struct report_spans spans;
  struct report_flops flops;
  uint8_t *host_class; /* by class: enum host_class implied by the name; HOST_CLASSES = not computed yet */
  uint32_t *names;     /* by class: text id of its name in rows (report_class_name); 0 = not computed yet; NULL = not allocated yet */
  uint8_t *traits;     /* by class: set of enum work_trait; 0 = not computed yet; NULL = not needed yet */
  uint8_t *launches;   /* by event: set of enum report_launched; 0 = it launched no device work */
  tk_id copy_details;  /* key of the arg in which XLA describes a copy; 0 = none */
  bool *counted;       /* by event: true if it was counted in the table of launches; NULL = not allocated yet */
  bool *leads;         /* by track: true if it contains the steps, or launched work */
  tk_time *time_of;    /* by event: total time of its parts in the current row; NULL = so far no event is divided into parts */
  tk_time start, end;  /* time range of the report */
  struct layers_job *layers; /* search for the layers of the trace, perhaps in another thread; NULL = no layers */
  tk_time zero;        /* start of the trace's first event, to which times of the report are relative */
  uint32_t first;      /* first row of this trace in the report */
};

bool report_open(struct tk_report *r, const struct tk_report_options *opt, struct tk_err *err);
bool report_add(struct tk_report *r, struct tk_trace *t, const struct track_origin *origins, const struct report_place *place,
                struct tk_err *err);
/* Builds the tables. No trace can be added afterwards. Returns false with err on failure. */
bool report_close(struct tk_report *r, struct tk_err *err);

/* ---- functions that the parts of a report share ---- */

const char *report_keep(struct tk_report_impl *impl, const void *p, size_t n);
const char *report_text(struct tk_report_impl *impl, const char *text);
/* Returns the text id of a name in the form that all tables use, with folded addresses (fold.h); 0 if memory runs out. */
uint32_t report_name(struct tk_report_impl *impl, const char *name, size_t n);
/* Returns the result of report_name for the name of a class, and caches it. */
uint32_t report_class_name(struct reporter *p, tk_id cls);
/* Returns a string of the trace in the form that all tables use, with folded addresses; "" for string 0. */
const char *report_keep_name(struct reporter *p, tk_id string);
/* Returns the name of the device of a row. */
const char *report_device(struct reporter *p, const struct work_row *w);
/* Returns the event's name in the form that all tables use, with folded addresses; "" for event 0. */
const char *report_name_of(struct reporter *p, tk_id event);
struct tk_total report_total(i128 ps);
tk_id report_key_of(const struct tk_trace *t, const char *key);
/* Stores in *v the number in the arg `key`. Returns false if the event has no such number. */
bool report_number_of(const struct tk_trace *t, const struct tk_event *e, tk_id key, double *v);
double report_number(const struct tk_trace *t, const struct tk_arg *arg, bool *is);
/* Returns the class that the name of a span implies. */
enum host_class report_named_class(const struct reporter *p, tk_id cls);
/* Returns the class of a host span. `kind`: its kinds, a set of enum kind. */
enum host_class report_class_of(const struct reporter *p, tk_id event, unsigned kind);
/* Returns the properties that the name of device work implies: a set of enum work_trait. */
uint8_t report_traits(struct reporter *p, tk_id cls);
/* True for a copy from or to pageable host memory. */
bool report_is_pageable(struct reporter *p, tk_id event);
/* True if the range of the report contains a part of the step. */
bool report_holds_step(const struct reporter *p, const struct step *s);
/* True if the number of the step is selected, or if no step numbers are selected. Devices number their steps alike but run them
 * at different times, so the time that a selected step covers on one device contains parts of other steps of another. */
bool report_asks_for(const struct reporter *p, const struct step *s);
/* Adds a sentence to the list of facts that are unknown, unless the list already contains it. */
bool report_unknown(struct tk_report *r, const char *sentence);

/* report_host.c: fills in the host columns of the row. `group`: group of the row's rank in the index. */
bool report_host(struct reporter *p, struct tk_report_rank *row, uint32_t group);
/* report_compile.c: report_compilations_add finds the compilations of a rank's host among its compile spans `of`, adds them to the
 * table and counts them; report_compilations_sort sorts the compilations of all ranks. */
struct report_compile {
  struct interval part; /* the part within the range of the report */
  tk_id event;          /* outermost compile span of its thread */
  tk_id function;       /* innermost span around it for which report_is_function is true; 0 = none */
};
struct report_compiles {
  struct report_compile *v;
  uint32_t n, cap;
  struct steps_run steps; /* of the rank's host */
};
bool report_is_function(const char *name);
bool report_compilations_add(struct reporter *p, const struct tk_report_rank *rank, struct report_compiles *of,
                             struct report_host_sums *sums);
void report_compilations_sort(struct tk_report *r);
/* report_collections.c: report_collections_add counts a garbage collection of a host; report_collections_end computes the total time of
 * all collections; report_collections_of_step then counts and measures the collections within a step. */
bool report_collections_add(struct reporter *p, struct report_host_sums *sums, struct interval part);
void report_collections_end(struct report_host_sums *sums);
void report_collections_of_step(const struct report_host_sums *sums, const struct step *s, struct tk_report_step *step);
/* report_profiler.c: measures the profiler's own work and the regions of torch.compile in the tracks of a group. */
bool report_profiler(struct reporter *p, struct report_host_sums *sums, uint32_t group);
void report_host_free(struct reporter *p);
/* report_spans.c: report_spans_begin starts the next host; its long operators are counted in `sums`. report_spans_add adds the spans of
 * one thread of this host to the tables. report_spans_make completes the tables. */
void report_spans_begin(struct reporter *p, struct report_host_sums *sums, const struct steps_run *steps);
bool report_spans_add(struct reporter *p, tk_id track);
void report_spans_free(struct reporter *p);
bool report_spans_make(struct tk_report *r);
/* report_layers.c: report_layers_begin starts the search for the layers of the trace, in another thread if possible. The search uses
 * the trace, and p's match, scope and works, which must not change until report_layers_end has returned. report_layers_add adds the
 * layers; report_layers_make completes the table. */
bool report_layers_begin(struct reporter *p);
bool report_layers_add(struct reporter *p, struct tk_err *err);
void report_layers_end(struct reporter *p);
bool report_layers_make(struct tk_report *r);
/* report_functions.c: report_functions_add adds the stack samples of the trace; report_functions_make completes the table. */
bool report_functions_add(struct reporter *p);
bool report_functions_make(struct tk_report *r);
/* report_device_ops.c: report_device_ops_begin finds the operators of a trace; report_device_ops_count adds a piece of work, whose
 * parts take `time`; report_device_ops_make completes the table. */
bool report_device_ops_begin(struct reporter *p);
void report_device_ops_end(struct reporter *p);
bool report_device_ops_count(struct reporter *p, const struct work *w, tk_time time);
bool report_device_ops_make(struct tk_report *r);
/* report_runs.c: names the runs of the rows, if several inputs have the same rank or the user named a run. */
bool report_runs_name(struct tk_report *r);
/* report_lanes.c: draws the activity and the threads of a host without devices. */
bool report_lanes_add(struct reporter *p, struct tk_report_rank *row, uint32_t group);
void report_lanes_free(struct mem *mem, struct tk_report_rank *row);
/* report_flames.c: report_flames_thread adds the spans of a thread, report_flames_samples the stacks of a trace with their total
 * weights. name_of: text id by frame; unit: text id of the weights' unit, 0 = time. report_flames_make completes the graphs. */
struct weights;
bool report_flames_thread(struct reporter *p, tk_id track);
bool report_flames_samples(struct reporter *p, const struct weights *w, const uint32_t *name_of, uint32_t unit);
bool report_flames_make(struct tk_report *r);
/* report_split.c: divides [start, end) by what the device of p->spent did; divides its idle time by what the group's host did. */
struct tk_report_split report_split(const struct reporter *p, uint32_t group, tk_time start, tk_time end);
/* For the idle time of the device of p->spent within [start, end), adds the times of the host's activities to the sums. */
void report_idle_sums(const struct reporter *p, const struct host_time *host, tk_time start, tk_time end, struct host_sums *sums);
/* Returns the time from which the row's figures are computed, divided by activity: the sum over its steps if its device was busy in
 * these or if the row has no device; otherwise its window. Sets *steps to true for steps. */
struct tk_report_split report_split_of_row(const struct tk_report_rank *row, bool *steps);
/* Returns the sum of `within` over the same time: over the parts of the row's steps that no earlier step covers, or over its window. */
typedef tk_time report_sum(const struct reporter *p, uint32_t group, tk_time start, tk_time end);
tk_time report_sum_of_range(const struct reporter *p, const struct tk_report_rank *row, uint32_t group, report_sum *within);
tk_time report_idle_of(const struct tk_report_split *s);
/* report_see_lag records how far a device runs behind the steps of its host. report_say_lag adds a sentence if this is far: much of the
 * work within a step was then launched in earlier steps. */
void report_see_lag(struct reporter *p, const struct tk_report_rank *row, uint32_t group, tk_id track);
void report_say_lag(struct tk_report *r);
/* Returns the longest time within [start, end) during which the device of p->spent was idle. */
struct interval report_gap(const struct reporter *p, tk_time start, tk_time end);
/* report_captures.c: report_captures_find finds the times in which hosts recorded graphs. report_capturing returns the idle time of the
 * device of p->spent during which its host did so: in the range of report_split_of_row. */
bool report_captures_find(struct reporter *p);
tk_time report_capturing(const struct reporter *p, const struct tk_report_rank *row, uint32_t group);
/* report_waits.c: returns the idle time, in the same range, that began while the host was in a call that waits for the device, except
 * time in which the host loaded input or compiled. */
tk_time report_idle_after_waits(const struct reporter *p, const struct tk_report_rank *row, uint32_t group);
/* report_gaps.c: report_settled returns the time from which idle time of a device is certain, because no unrecorded work can have run.
 * This is the start of its first work, or of the first work that did not wait behind unrecorded work; or the end of an earlier call
 * that waited for the only device of the rank, if no launch before the first work lacks its work. report_gaps_add adds the longest idle
 * times of a device with n_work pieces of work; report_gaps_sort sorts the idle times of all devices. */
tk_time report_settled(const struct reporter *p, uint32_t group);
bool report_gaps_add(struct reporter *p, struct tk_report_rank *rank, uint32_t group, uint32_t n_work);
void report_gaps_sort(struct tk_report *r);
/* report_tables.c: report_count_row adds the n pieces of work in p->sorted to the tables. */
bool report_count_row(struct reporter *p, uint32_t n);
/* Returns the row of an API call that launches work; NULL if memory runs out. */
struct report_launch *report_launch_row(struct reporter *p, tk_id call);
bool report_versions(struct reporter *p);
bool report_make_tables(struct tk_report *r);
/* Returns the row for collectives with this name, ignoring numbers in it; NULL if memory runs out. */
struct report_collective *report_collective(struct tk_report_impl *impl, const char *name);
/* For a trace without devices: counts the event if it is a collective that XLA ran on a CPU. Returns false if memory runs out. */
bool report_cpu_collective(struct reporter *p, tk_id event);
/* Returns the factor that converts algorithm bandwidth to bus bandwidth: 2(n-1)/n, (n-1)/n or 1, depending on the name of the
 * collective; 0 if the number of ranks is unknown. */
double report_bus_factor(const char *name, int64_t ranks);
/* report_messages.c: report_is_message is true for the names of PyTorch's messages between two ranks, whose rows count matched messages
 * instead of collectives. report_see_message counts a kernel, if it sends or receives without recording its peer. report_say_messages
 * adds a sentence on these. */
bool report_is_message(const char *name);
void report_see_message(struct tk_report_impl *impl, const struct report_args *args, const char *kernel);
void report_say_messages(struct tk_report *r);
/* report_flops.c: counts the operations and memory traffic of a row's work. Call report_flops_begin, then report_flops_count for each
 * piece of work, then report_flops_end. report_flops_make completes the table. */
struct report_stated {
  const struct work *work;
  tk_time time;        /* sum of the durations of its parts */
  double flops, bytes; /* values recorded for the work itself; 0 = none */
  bool tf32;           /* true if its name shows that it computes in TF32 */
  size_t name_len;     /* length of its name without a number */
};
bool report_flops_begin(struct reporter *p, struct tk_report_rank *row, uint32_t which);
bool report_flops_count(struct reporter *p, struct tk_report_rank *row, const struct report_stated *s);
bool report_flops_end(struct reporter *p, struct tk_report_rank *row);
void report_flops_free(struct reporter *p);
bool report_flops_make(struct tk_report *r);
/* report_peaks.c: finds the peak rates of a row's device. Peaks that are not certain are set to 0; an unknown name is set to "". */
void report_peaks_find(struct reporter *p, const struct work_row *w, struct device_peaks *peaks);
/* report_geometry.c: report_geometry_add adds the launch geometry in `args`, the args of a kernel with the duration `time`. */
bool report_geometry_add(struct reporter *p, const struct report_args *args, tk_time time, struct report_geometry *g);
/* A change of an allocator's amounts. */
struct report_change {
  tk_time ts;
  tk_id event;
  uint32_t row;               /* index in tk_report.memories */
  tk_id process;              /* process of a memory snapshot, in which blocks are spans; 0 = not from a snapshot */
  double allocated, reserved; /* amounts after the change; negative = unknown */
  double bytes;               /* size of the block at `address`, if has_address; 0 or less = the block is released */
  uint64_t address;
  bool has_address;
};

/* report_memory.c: finds the peaks of each allocator. */
bool report_count_memory(struct reporter *p);
/* report_held.c: adds memory over time, and the blocks that are allocated at the peaks, to the rows from `first` on. Sorts the
 * changes. */
bool report_held_add(struct reporter *p, struct report_change *changes, uint32_t n, size_t first);
void report_held_sort(struct tk_report *r);
/* report_figures.c: computes the key figures. Call it when all tables are complete. */
bool report_figures_make(struct tk_report *r);
/* Returns the kernel, copy or fill with the largest share of all work; NULL if there is none. */
const struct tk_report_kernel *report_longest_work(const struct tk_report *r);
/* report_graphs.c: counts launches of graphs that were recorded as a whole; adds a sentence on these. */
void report_count_graphs(struct reporter *p);
void report_say_graphs(struct tk_report *r);
/* report_inside.c: counts kernels within another kernel of their stream; adds a sentence if the containing kernels matter for the busy
 * time. report_count_inside returns false if memory runs out. */
bool report_count_inside(struct reporter *p);
void report_say_inside(struct tk_report *r);

/* report_suspect.c: if a trace without device work seems to contain a device, stores a sentence about that. Only the first such
 * sentence is kept. The report prints the sentence if no trace has a device. */
void report_suspect(struct reporter *p);
/* report_shrunk.c: report_see_shrunk counts an input that was shrunk; report_say_shrunk adds a sentence on all such inputs. */
void report_see_shrunk(struct tk_report_impl *impl, const struct tk_trace *t);
void report_say_shrunk(struct tk_report *r);
/* report_calls.c: report_count_calls counts launches whose work is missing from the trace; report_say_unrecorded adds a sentence for
 * each name of calls. */
bool report_count_calls(struct reporter *p);
void report_say_unrecorded(struct tk_report *r);
/* Adds a sentence on work whose correlation id belongs to several calls. */
void report_say_undecided(struct tk_report *r);
/* Returns the number of launching calls without recorded work. Calls between the last launch with recorded work and the end of that
 * work are not counted, because their work was probably still queued when the recording ended. Exception: they are counted if figures
 * are computed from steps, and at least `limit` percent of the steps' time is after the last recorded work. */
uint64_t report_lost_calls(const struct tk_report_rank *row, double limit);

#endif

/* diff_set.h - the events of several runs, summed by row (name or path) and sample (step of a rank). diff.c compares two runs; runs.c
 * compares any number of them. */
#ifndef ANALYSIS_DIFF_SET_H
#define ANALYSIS_DIFF_SET_H

#include "base/int128.h"
#include "base/map.h"
#include "graph/origin.h"
#include "graph/stack.h"

struct diff_sample {
  uint32_t input;
  int64_t rank, step;
  bool stepped; /* false: the sample of a rank's events that begin outside of all steps */
  tk_time dur;  /* duration of the step; the mean of its durations on several devices */
  tk_id track;  /* last track seen that marks the step; used while the trace is added */
  uint32_t marks; /* number of tracks that mark the step */
  uint64_t launches; /* host calls that launch work and start in the step */
};

struct diff_cell {
  uint32_t row, sample;
  uint32_t unit;  /* text: unit of the weights; 0 = times */
  uint64_t count;
  uint64_t again; /* stack samples, included in `count`, whose innermost frame belongs to another cell */
  i128 total, self;
};

/* Sum of the kernels, copies or fills with one name in a row of work that is matched by its launch. diff_set_place keeps only the name
 * with the most time in each row. */
struct diff_work {
  uint32_t row, name; /* name: a string */
  uint32_t names;     /* number of different names in the row; set by diff_set_place */
  i128 total;
};

struct diff_path {
  uint32_t name, parent, depth; /* parent: 1 + the parent's row, 0 = none */
  bool kernels, marks, others;  /* kernels: has a kernel; marks: has an event that only shows that a profiler was active; others: has
                                 * any other event */
  bool annotates, launched;     /* annotates: is an annotation on the path of an operator; launched: is work that is matched by its
                                 * launch */
};

/* Samples, cells and sums of one run. */
struct diff_side {
  struct diff_sample *samples;
  uint32_t n_samples, cap_samples;
  struct diff_cell *cells; /* sorted by row after diff_set_place */
  uint32_t n_cells, cap_cells;
  struct map cell_of; /* row and sample, hashed with the unit unless it is 0 -> 1 + cell */
  struct diff_work *works; /* after diff_set_place: sorted by row, one for each row */
  uint32_t n_works, cap_works;
  struct map work_of; /* row and name -> 1 + work */
  bool without_steps; /* true if a trace of this side has no steps */
  uint32_t n_used, *place; /* place: by sample, its index among the n_used compared samples; UINT32_MAX = not compared */
  uint32_t *order;         /* samples by rank, input and step */
  uint32_t inputs;
  uint64_t launches;       /* host calls that launch work, including calls outside of steps */
  uint64_t ranks, outside; /* outside: events that begin outside of all steps, if steps are compared */
  i128 outside_time;       /* self time of the `outside` events */
  uint32_t mark;           /* text: name of the spans that mark steps; 0 = none */
  bool marks_differ;       /* true if the traces of this side have different names for steps */
  bool python;             /* true if there are selected Python frames */
};

struct diff_set {
  struct mem mem;
  struct tk_diff_options opt;
  struct intern texts;
  struct diff_path *rows;
  uint32_t n_rows, cap_rows;
  struct map row_of; /* name (for paths: name and parent) -> 1 + row */
  struct diff_side *sides;
  uint32_t n_sides;
  bool by_step; /* true if samples are steps, false if they are ranks; set by diff_set_place */
  bool times;       /* true: times are compared (durations, or weights that are times), and weights in other units are ignored */
  uint32_t unit;    /* text: unit of the weights if there are no times; 0 = none */
  struct map annotated, annotated_by; /* diff_annotations.h: name -> number of runs; name and run -> 1 */
  uint32_t n_left_out, left_out[3]; /* annotations left out of paths; left_out: names of the first three */
  uint64_t n_by_name; /* work that is matched by its name because no operator launched it */
  uint64_t n_allocations; /* spans that are allocations of memory */
  uint64_t n_other; /* stack samples in units that are not compared; set by diff_set_place */
  struct buf text;
};

enum { DIFF_DEEPEST = 200 }; /* maximum number of names of a path */

/* Initialises an empty set of n_sides runs. Returns false if memory runs out; the caller frees the set even then. */
bool diff_set_open(struct diff_set *set, const struct tk_diff_options *opt, uint32_t n_sides);
/* Adds the next trace of a side. */
bool diff_set_add(struct diff_set *set, uint32_t side, struct tk_trace *t, const struct track_origin *origins, struct tk_err *err);
/* Removes a side to which no trace was added. */
void diff_set_remove(struct diff_set *set, uint32_t side);
/* Numbers the samples and sorts the cells of all sides, after the last trace. Returns false if memory runs out. */
bool diff_set_place(struct diff_set *set);
/* True if a row has a short name: it has no parent row, its name is not folded, and all its events are kernels. */
bool diff_set_is_short(const struct diff_set *set, uint32_t row);
/* True if the events of a row only show that a profiler was active. */
bool diff_set_is_mark(const struct diff_set *set, uint32_t row);
/* Replaces full names by short names. of(rows, i) returns a pointer to the name of row i; this name is NULL if the row must not be
 * shortened. Short names live as long as the set. Returns false if memory runs out. */
bool diff_set_shorten(struct diff_set *set, void *rows, size_t n, const char **(*of)(void *rows, size_t i));
/* Returns the number of launches in a run after diff_set_place, including launches that the filter excludes. Sets *per_step to the mean
 * over the compared steps; negative if steps are not compared. */
uint64_t diff_set_launches(const struct diff_set *set, uint32_t side, double *per_step);
/* Returns the name of the spans that mark the steps of a run; NULL if steps are not compared, or if the spans have several names. Call
 * after diff_set_place. */
const char *diff_set_step_name(const struct diff_set *set, uint32_t side);
/* Adds notes, after diff_set_place: on the unit of weights unless all are times, on work that is matched by name because no operator
 * launched it, and on stack samples in other units. */
void diff_set_say(const struct diff_set *set, struct tk_diagnostics *notes);
/* Returns the name of a row, which lives as long as the set; NULL if the row has none. */
const char *diff_set_name(struct diff_set *set, uint32_t row, size_t *n);
/* Returns the name of the work with the most time in a row of a run; NULL unless the row's work is matched by its launch. Sets
 * *short_name to its short name, and *names to the number of different names. Both names live as long as the set. */
const char *diff_set_work(struct diff_set *set, uint32_t side, uint32_t row, const char **short_name, uint64_t *names);
void diff_set_free(struct diff_set *set);

#endif

/* diff_set.h - the events of several runs, summed by row (name or path) and sample (step of a rank). diff.c compares two runs of a
 * set, runs.c any number. */
#ifndef ANALYSIS_DIFF_SET_H
#define ANALYSIS_DIFF_SET_H

#include "base/int128.h"
#include "base/map.h"
#include "graph/origin.h"
#include "graph/stack.h"

struct diff_sample {
  uint32_t input;
  int64_t rank, step;
  bool stepped; /* false: this sample contains the events that begin outside of all steps */
  tk_time dur;  /* duration of the step; the mean of its durations on several devices */
  tk_id track;  /* the last track that marks the step, while the trace is added */
  uint32_t marks; /* number of tracks that mark the step */
  uint64_t launches; /* calls of hosts that launch work and start in the step */
};

struct diff_cell {
  uint32_t row, sample;
  uint32_t unit;  /* text: unit of the weights; 0 = times */
  uint64_t count;
  uint64_t again; /* how many of `count` are stack samples whose innermost frame is in another cell */
  i128 total, self;
};

/* A kernel, copy or fill of a row whose work is matched by its launch. diff_set_place keeps only the name with the most time
 * in each row. */
struct diff_work {
  uint32_t row, name; /* name: a string */
  uint32_t names;     /* number of different names in the row; known once placed */
  i128 total;
};

struct diff_path {
  uint32_t name, parent, depth; /* parent: 1 + the parent's row, 0 = none */
  bool kernels, marks, others;  /* has an event that is a kernel; one that only shows that a profiler ran; any other event */
  bool annotates, launched;     /* an annotation on the path of an operator; work that is matched by its launch */
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
  uint64_t launches;       /* calls of hosts that launch work, also outside of steps */
  uint64_t ranks, outside; /* outside: events that begin outside of all steps, if steps are compared */
  i128 outside_time;       /* their self time */
  uint32_t mark;           /* text: name of the spans that mark steps; 0 = none */
  bool marks_differ;       /* the traces of this side have different marks */
  bool python;             /* has selected Python frames */
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
  bool by_step; /* samples are steps; known once placed */
  bool times;       /* compare times (durations, or weights that are times); weights in other units are ignored */
  uint32_t unit;    /* text: unit of the weights if there are no times; 0 = none */
  struct map annotated, annotated_by; /* diff_annotations.h: name -> number of runs; name and run -> 1 */
  uint32_t n_left_out, left_out[3]; /* annotations that are left out of paths; names of the first ones */
  uint64_t n_by_name; /* work that is matched by its name because no operator launched it */
  uint64_t n_allocations; /* spans that are allocations of memory */
  uint64_t n_other; /* stack samples in other units; known once placed */
  struct buf text;
};

enum { DIFF_DEEPEST = 200 }; /* most names of a path */

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
/* True if all events of a row only show that a profiler ran. */
bool diff_set_is_mark(const struct diff_set *set, uint32_t row);
/* Replaces the full names of rows with short names. of(rows, i) returns the address of the name of row i, which is NULL for a row
 * without a short name. Short names live as long as the set. Returns false if memory runs out. */
bool diff_set_shorten(struct diff_set *set, void *rows, size_t n, const char **(*of)(void *rows, size_t i));
/* Returns the number of launches of a placed side, including launches that the filter excludes. *per_step: their mean over
 * the compared steps; negative if no steps are compared. */
uint64_t diff_set_launches(const struct diff_set *set, uint32_t side, double *per_step);
/* Returns the name of the spans that mark the compared steps of a placed side; NULL if no steps are compared, or if it is not one
 * name. */
const char *diff_set_step_name(const struct diff_set *set, uint32_t side);
/* Adds notes for a placed set: on the unit of the weights unless all are times, on work that is matched by name because no
 * operator launched it, and on stack samples in other units. */
void diff_set_say(const struct diff_set *set, struct tk_diagnostics *notes);
/* Returns the name of a row, which lives as long as the set; NULL if the row has none. */
const char *diff_set_name(struct diff_set *set, uint32_t row, size_t *n);
/* Returns the name of the work that took the most time in a row of a side, and its short name, which live as long as the set; NULL
 * unless the row's work is matched by its launch. *names: number of different names. */
const char *diff_set_work(struct diff_set *set, uint32_t side, uint32_t row, const char **short_name, uint64_t *names);
void diff_set_free(struct diff_set *set);

#endif

/* figures.h - figures of a rank's device, by name: the words of check --assert and diff --fail-if are the numeric fields of
 * TK_ROW_REPORT_RANK, which report --json prints. */
#ifndef CLI_SHARED_FIGURES_H
#define CLI_SHARED_FIGURES_H

#include "tracekit.h"

/* Returns the i-th figure; NULL past the end. */
const struct tk_field *figure_at(size_t i);

/* Returns the figure whose name is `word`, with or without the unit of the name; NULL if unknown. percent: without a unit, prefer
 * the percentage to the time. */
const struct tk_field *figure_of(const char *word, size_t n, bool percent);

/* Stores the value of a figure of `r` in *v, times in picoseconds. Returns false if the value is unknown in this trace. */
bool figure_value(const struct tk_field *figure, const struct tk_report_rank *r, double *v);

/* Returns the key figure of a report whose name is the first n bytes of `word`, in which _ replaces spaces; NULL if unknown.
 * Sets *unit to its unit. */
const char *figure_key(const char *word, size_t n, const char **unit);
/* Returns the key figure of a report with its value in *v, a time in picoseconds; NULL if the traces do not contain it. */
const struct tk_report_figure *figure_key_value(const char *key, const struct tk_report *r, double *v);

static inline double figure_seconds(struct tk_total t) { return (double)t.s + (double)t.ps / 1e12; }

/* The parts into which the time of a step is split, numbered from 0 in the order in which they are shown; the last is
 * time in which nothing was recorded. */
enum { FIGURE_PARTS = 11, FIGURE_UNRECORDED = FIGURE_PARTS - 1 };
const char *figure_part_name(size_t part);
tk_time figure_part(const struct tk_report_split *s, size_t part);
/* False if the work that the steps launched ran after they had ended, as far as the mean delay and the busy time within the steps show.
 * What the device did within the spans of such steps says nothing about the steps. */
bool figure_steps_hold_work(const struct tk_report_rank *row);
/* Returns the parts summed over all steps of a rank; the length is 0 if it has no steps, or if they do not contain their work. */
struct tk_report_split figure_steps(const struct tk_report_rank *row);

/* Times summed over all steps of a rank, in picoseconds: of the steps, of device work, and of garbage collections. `busy_in`: time to
 * which `busy` refers; 0 if the steps do not contain their work. */
struct figure_step_times {
  double all, busy, collecting, busy_in;
};
struct figure_step_times figure_step_times(const struct tk_report_rank *row);

/* True if any key figure of the report has a verdict. Otherwise key figures are not shown. */
bool figures_are_judged(const struct tk_report *r);
/* True if any rank of the report has garbage collections. */
bool figures_collect_garbage(const struct tk_report *r);
/* Returns the number of decimals of a key figure: none for counts, more for short times. */
int figure_decimals(const struct tk_report_figure *f);
/* Writes the run, the rank and the device of an idle time, as far as known. */
void figure_gap_device(const struct tk_report *r, const struct tk_report_gap *g, char *text, size_t n);
/* Writes the run, the rank and the device of a key figure, as far as known: "rank 3, GPU 3"; "" if the figure is about the whole
 * job. */
void figure_device(const struct tk_report_figure *f, char *text, size_t n);

/* Formats the name of a row, "rank 3, GPU 3". Without a rank, an input's name is used, with folders if another input has the same
 * name. */
void figure_report_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n);
/* Writes the name of the row's host: its rank, or else its host or input. */
void figure_host_name(const struct tk_report *r, const struct tk_report_rank *row, char *text, size_t n);
/* True if row i - 1 is another device of the same rank. Values that are counted once per host are then in both rows. */
bool figure_host_again(const struct tk_report *r, size_t i);
/* True if the trace records which operators launched work. */
bool figure_ops_linked(const struct tk_report_rank *row);

#endif

/* diff_rows.h - adds rows and cells to a comparison (diff_set.h), and finds units and names of work. */
#ifndef ANALYSIS_DIFF_ROWS_H
#define ANALYSIS_DIFF_ROWS_H

#include "diff_set.h"

/* diff_rows_add: finds or adds the row with the text id `name` below `parent` (1 + a row; 0 = none), and returns 1 + the
 * row. diff_rows_cell: finds or adds the cell of a row and a sample (each 1 + its index) and a unit, and returns 1 + the
 * cell. Both return 0 if memory runs out. */
uint32_t diff_rows_add(struct diff_set *set, uint32_t name, uint32_t parent);
uint32_t diff_rows_cell(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t sample, uint32_t unit);
/* Adds the duration of a kernel, copy or fill to the sum for its name (a text id) in a row (1 + its index). */
void diff_rows_add_work(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t name, tk_time time);
/* Reduces the work of each row to the name that took the most time, and counts the row's names. */
void diff_rows_place_works(struct diff_set *set, struct diff_side *s);
/* Returns the name that took the most time in a row, counted from 0; NULL if no work of the row is matched by its launch. */
const struct diff_work *diff_rows_work(const struct diff_side *s, uint32_t row);
/* Returns the unit of a stack sample's weight as a text id; 0 for a unit of time, in which case set->times becomes true. */
uint32_t diff_rows_unit(struct diff_set *set, const struct tk_trace *t, const struct tk_event *e);
/* Compares two names for sorting; NULL sorts last. */
int diff_rows_order(const char *a, size_t n, const char *b, size_t m);

#endif

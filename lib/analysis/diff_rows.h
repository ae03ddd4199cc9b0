/* diff_rows.h - rows, cells and units of a comparison. */
#ifndef ANALYSIS_DIFF_ROWS_H
#define ANALYSIS_DIFF_ROWS_H

#include "diff_set.h"

/* diff_rows_add: returns 1 + the row of a text below a parent row (0 = no parent). diff_rows_cell: returns 1 + the cell of a
 * row, a sample and a unit. Both return 0 when memory runs out. */
uint32_t diff_rows_add(struct diff_set *set, uint32_t name, uint32_t parent);
uint32_t diff_rows_cell(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t sample, uint32_t unit);
/* Adds the time of some work to its name in a row. */
void diff_rows_add_work(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t name, tk_time time);
/* Finds, for each row, the name that took the most time. */
void diff_rows_place_works(struct diff_set *set, struct diff_side *s);
/* Returns the name with the most time; NULL if the row, counted from 0, has no work that is matched by its launch. */
const struct diff_work *diff_rows_work(const struct diff_side *s, uint32_t row);
/* Returns the unit of a stack sample: a text; 0 = a unit of time. */
uint32_t diff_rows_unit(struct diff_set *set, const struct tk_trace *t, const struct tk_event *e);
/* Compares two names for sorting; NULL follows all others. */
int diff_rows_order(const char *a, size_t n, const char *b, size_t m);

#endif

/* diff_rows.h - adds rows and cells to a comparison (diff_set.h); finds units of weights and names of work. */
#ifndef ANALYSIS_DIFF_ROWS_H
#define ANALYSIS_DIFF_ROWS_H

#include "diff_set.h"

/* diff_rows_add: finds or adds the row with the text id `name` below `parent` (1 + a row; 0 = none), and returns 1 + the
 * row. diff_rows_cell: finds or adds the cell of a row and a sample (each 1 + its index) and a unit, and returns 1 + the
 * cell. Both return 0 if memory runs out. */
uint32_t diff_rows_add(struct diff_set *set, uint32_t name, uint32_t parent);
uint32_t diff_rows_cell(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t sample, uint32_t unit);
/* Adds the duration of a kernel, copy or fill to a row (1 + its index), under its name (a text id). */
void diff_rows_add_work(struct diff_set *set, struct diff_side *s, uint32_t row, uint32_t name, tk_time time);
/* Keeps only the name with the most time in each row, and stores the number of different names. */
void diff_rows_place_works(struct diff_set *set, struct diff_side *s);
/* Returns the work with the most time in a row (row: index from 0); NULL if the row has no work that is matched by its launch. */
const struct diff_work *diff_rows_work(const struct diff_side *s, uint32_t row);
/* Returns the unit of a stack sample's weight as a text id; 0 for a unit of time; set->times is then set to true. */
uint32_t diff_rows_unit(struct diff_set *set, const struct tk_trace *t, const struct tk_event *e);
/* Compares two names for sorting; NULL sorts last. */
int diff_rows_order(const char *a, size_t n, const char *b, size_t m);

#endif

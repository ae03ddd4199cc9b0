/* runs_fields.h - fields of comparisons of several runs. */
#ifndef ANALYSIS_RUNS_FIELDS_H
#define ANALYSIS_RUNS_FIELDS_H

#include "fields.h"

extern const struct field_list compare_fields, compare_sum_fields, compare_cell_fields, compare_shift_fields, compare_run_fields;

#endif

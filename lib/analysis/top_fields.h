/* top_fields.h - fields of the rows of top, tree and diff. */
#ifndef ANALYSIS_TOP_FIELDS_H
#define ANALYSIS_TOP_FIELDS_H

#include "fields.h"

extern const struct field_list top_fields, tree_fields, diff_fields, diff_sum_fields, diff_before_fields, diff_after_fields;

#endif

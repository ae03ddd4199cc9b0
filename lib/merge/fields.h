/* fields.h - fields of the ranks of a merge (tk_merge_rank). */
#ifndef MERGE_FIELDS_H
#define MERGE_FIELDS_H

#include "analysis/fields.h"

extern const struct field_list merge_rank_fields;

#endif

/* files_fields.h - fields of the rows of list, extract and size (analysis/fields.h). */
#ifndef COMMAND_FILES_FIELDS_H
#define COMMAND_FILES_FIELDS_H

#include "analysis/fields.h"

extern const struct field_list listed_fields, extracted_fields;
extern const struct field_list size_fields[TK_SIZE_BYS]; /* by enum tk_size_by */

#endif

/* fields.h - generates docs/fields.md from the library's descriptions of rows (tracekit_fields.h). */
#ifndef CLI_DOCS_FIELDS_H
#define CLI_DOCS_FIELDS_H

#include <stdio.h>

void docs_fields(FILE *to);

#endif

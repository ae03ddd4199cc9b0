/* tables.h - the tables other than events: tracks, flow points, args, steps. */
#ifndef ARROW_TABLES_H
#define ARROW_TABLES_H

#include "table.h"

bool table_kinds(struct table_source *s);
bool table_steps(struct table_source *s);
void table_free(struct table_source *s);

#endif

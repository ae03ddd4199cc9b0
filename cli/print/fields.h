/* fields.h - rows of results as JSON, by the library's description of their fields (tracekit_fields.h). */
#ifndef CLI_PRINT_FIELDS_H
#define CLI_PRINT_FIELDS_H

#include "json.h"
#include "tracekit.h"

/* Writes the fields of a row into the open object, and of the rows within it.  Of ranked rows, writes the first `top`.  `owner` is
 * the row that contains it, or NULL. */
void fields_json(struct json *j, enum tk_row kind, const void *row, const void *owner, size_t top);
/* Writes a row as an object of its own. */
void fields_object(struct json *j, const char *key, enum tk_row kind, const void *row, const void *owner);

/* Write one number with its key: a time as decimal nanoseconds, exactly. */
void fields_time(struct json *j, const char *key, tk_time time);
void fields_total(struct json *j, const char *key, struct tk_total total);
void fields_number(struct json *j, const char *key, double v);

/* Print the names and the values of the fields of a row as CSV, without the end of the line; rows within it are left out. */
void fields_csv_names(enum tk_row kind);
void fields_csv(enum tk_row kind, const void *row, const void *owner);

#endif

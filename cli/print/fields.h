/* fields.h - rows of results as JSON, by the library's description of their fields (tracekit_fields.h). */
#ifndef CLI_PRINT_FIELDS_H
#define CLI_PRINT_FIELDS_H

#include "json.h"
#include "tracekit.h"

/* Writes the fields of a row, including nested rows, into the open object. Writes only the first `top` rows of a ranked list.
 * `owner` is the row that contains this one, or NULL. */
void fields_json(struct json *j, enum tk_row kind, const void *row, const void *owner, size_t top);
/* Writes a row as a new object named `key`. */
void fields_object(struct json *j, const char *key, enum tk_row kind, const void *row, const void *owner);

/* Write one number with its key; times and totals are exact decimal nanoseconds. */
void fields_time(struct json *j, const char *key, tk_time time);
void fields_total(struct json *j, const char *key, struct tk_total total);
void fields_number(struct json *j, const char *key, double v);

/* Print the names, or the values, of the fields of a row as CSV, without the end of the line and without nested rows. */
void fields_csv_names(enum tk_row kind);
void fields_csv(enum tk_row kind, const void *row, const void *owner);

#endif

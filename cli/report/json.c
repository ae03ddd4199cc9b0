/* json.c - prints a report as JSON (schemas/job.schema.json), by the descriptions of its fields. */
#include "json.h"

#include "print/fields.h"

void report_print_json(const struct tk_report *r, size_t top) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  fields_json(&j, TK_ROW_REPORT, r, NULL, top);
  json_close(&j, '}');
}

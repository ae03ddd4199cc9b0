/* json.c - prints a report as JSON (schemas/job.schema.json), by the descriptions of its fields. */
#include "json.h"

#include "print/fields.h"

void report_print_json_findings(const struct tk_report *r) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  json_open(&j, "findings", '[');
  for (size_t i = 0; i < r->n_findings; i++) fields_object(&j, NULL, TK_ROW_REPORT_FINDING, &r->findings[i], r);
  json_close(&j, ']');
  if (r->unjudged) json_string(&j, "unjudged", r->unjudged);
  else json_null(&j, "unjudged");
  json_close(&j, '}');
}

void report_print_json(const struct tk_report *r, size_t top) {
  struct json j = { .to = stdout };
  json_open(&j, NULL, '{');
  fields_json(&j, TK_ROW_REPORT, r, NULL, top);
  json_close(&j, '}');
}

/* json.h - prints a report as JSON (schemas/job.schema.json). */
#ifndef CLI_REPORT_JSON_H
#define CLI_REPORT_JSON_H

#include "tracekit.h"

/* Prints the whole report. Of ranked lists, such as the kernels, prints only the first `top` rows. */
void report_print_json(const struct tk_report *r, size_t top);
/* Prints only the findings, as report_print_json does. */
void report_print_json_findings(const struct tk_report *r);

#endif

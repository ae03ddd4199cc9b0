/* text.h - prints a report as text. */
#ifndef CLI_REPORT_TEXT_H
#define CLI_REPORT_TEXT_H

#include "report.h"

/* top: number of kernels to list; as text, also of copies, launches and collectives.  report_print_text() returns false if out
 * of memory. */
bool report_print_text(const struct tk_report *r, size_t top);

#endif

/* text.h - prints a report as text. */
#ifndef CLI_REPORT_TEXT_H
#define CLI_REPORT_TEXT_H

#include "tracekit.h"

/* Lists `top` kernels, and as many copies, launches and collectives. Returns false if memory runs out. */
bool report_print_text(const struct tk_report *r, size_t top, bool full_names);

#endif

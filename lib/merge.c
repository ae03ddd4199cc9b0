#include "tracekit.h"
bool tk_merge(const char *const *inputs, size_t n, const char *output, const struct tk_merge_options *opt,
                     struct tk_merge_report *report, struct tk_err *err) {(void)inputs;(void)n;(void)output;(void)opt;(void)report;(void)err; return false;}
void tk_merge_report_free(struct tk_merge_report *report) {(void)report;}

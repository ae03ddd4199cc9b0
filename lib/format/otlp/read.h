/* read.h - reads traces of OpenTelemetry in JSON. */
#ifndef FORMAT_OTLP_READ_H
#define FORMAT_OTLP_READ_H

#include "format/format.h"

unsigned otlp_bid(const uint8_t *p, size_t n);
bool otlp_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

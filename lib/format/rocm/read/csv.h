/* csv.h - reads the CSV files of rocprof and rocprofv3 (--output-format csv, rocpd2csv). */
#ifndef FORMAT_ROCM_READ_CSV_H
#define FORMAT_ROCM_READ_CSV_H

#include "format/format.h"

unsigned csv_bid(const uint8_t *p, size_t n);
bool csv_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

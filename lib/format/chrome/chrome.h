/* chrome.h - functions of the row of Chrome JSON: detection, the reader, the writer. */
#ifndef FORMAT_CHROME_CHROME_H
#define FORMAT_CHROME_CHROME_H

#include "format/format.h"

/* read/detect.c */
unsigned chrome_bid(const uint8_t *p, size_t n);
bool chrome_is_trace(struct in *in);
int64_t chrome_stated_rank(struct in *in);
int64_t chrome_stated_process(struct in *in);

bool chrome_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
struct sink *chrome_writer(struct out *out, const struct sink_options *opt);

#endif

/* detect.h - inspects the start of a file: is it a trace, and of which rank? */
#ifndef FORMAT_CHROME_READ_DETECT_H
#define FORMAT_CHROME_READ_DETECT_H

#include "format/chrome/chrome.h"

/* Functions for the row of the format (struct format) that only need the start of a file. */
unsigned chrome_bid(const uint8_t *p, size_t n);
bool chrome_is_trace(struct in *in);
int64_t chrome_stated_rank(struct in *in);
int64_t chrome_stated_process(struct in *in);

#endif

/* read.h - the file level of Chrome JSON: one pass, no tree, no recursion. */
#ifndef FORMAT_CHROME_READ_READ_H
#define FORMAT_CHROME_READ_READ_H

#include "format/chrome/chrome.h"

bool chrome_read(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

/* write.h - writes Chrome JSON from one or several graphs: strict JSON, valid UTF-8, exact decimals. */
#ifndef FORMAT_CHROME_WRITE_WRITE_H
#define FORMAT_CHROME_WRITE_WRITE_H

#include "format/chrome/chrome.h"

struct sink *chrome_writer(struct out *out, const struct sink_options *opt);

#endif

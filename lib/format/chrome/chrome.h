/* chrome.h - functions for the row of Chrome JSON: detection, the reader, the writer. */
#ifndef FORMAT_CHROME_CHROME_H
#define FORMAT_CHROME_CHROME_H

#include "format/format.h"

#endif

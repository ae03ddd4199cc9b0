/* utf16.h - text in UTF-16 with a byte order mark (a PowerShell redirect writes such files), as UTF-8. */
#ifndef IO_UTF16_H
#define IO_UTF16_H

#include "in.h"

/* Puts the converter over `inner` if its content begins with a UTF-16 byte order mark, else returns it as it is.  Takes inner
 * over, also on failure (NULL). */
struct in *in_utf16(struct in *inner, struct mem *mem, struct tk_err *err);

#endif

/* utf16.h - converts text in UTF-16 with a byte order mark, such as from a PowerShell redirect, to UTF-8. */
#ifndef IO_UTF16_H
#define IO_UTF16_H

#include "in.h"

/* Adds a converter over `inner` if its content starts with a UTF-16 byte order mark, otherwise returns it unchanged. Takes
 * ownership of inner, also on failure (NULL). */
struct in *utf16_open(struct in *inner, struct mem *mem, struct tk_err *err);

#endif

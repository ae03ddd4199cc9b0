/* stranger.h - files that people take for traces and that are none: what each is, and what to do. */
#ifndef FORMAT_STRANGER_H
#define FORMAT_STRANGER_H

#include <stddef.h>
#include <stdint.h>

/* "an HTML page, ...", told from the first n bytes and the name of a file; NULL = it is not known. */
const char *stranger_name(const uint8_t *p, size_t n, const char *path);

#endif

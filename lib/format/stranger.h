/* stranger.h - files that are mistaken for traces: their type, and a program that opens them. */
#ifndef FORMAT_STRANGER_H
#define FORMAT_STRANGER_H

#include <stddef.h>
#include <stdint.h>

/* Returns a description such as "an HTML page, ...", from the first n bytes and the name of a file; NULL = unknown. */
const char *stranger_name(const uint8_t *p, size_t n, const char *path);

#endif

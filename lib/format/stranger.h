/* stranger.h - files that are mistaken for traces: their type, and a program that opens them. */
#ifndef FORMAT_STRANGER_H
#define FORMAT_STRANGER_H

#include <stddef.h>
#include <stdint.h>

/* Returns a description such as "an HTML page, ...", from the first n bytes and the name of a file that no format recognised;
 * NULL = unknown. */
const char *stranger_name(const uint8_t *p, size_t n, const char *path);

/* Returns the description of a file that a format may recognise, but whose first n bytes prove that it is another one: JSON with
 * the keys of another program. NULL = none. */
const char *stranger_sure(const uint8_t *p, size_t n);

/* Returns the description of a file that is named like a result that a viewer derived from a trace; NULL = none. */
const char *stranger_result(const char *path);

#endif

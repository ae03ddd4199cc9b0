/* stranger.h - recognises files that users mistake for traces: the kind of file, and the program that opens it. */
#ifndef FORMAT_STRANGER_H
#define FORMAT_STRANGER_H

#include <stddef.h>
#include <stdint.h>

/* Returns a description such as "an HTML page, ..." of a file that no format recognised, from its first n bytes and its name;
 * NULL if it is unknown. */
const char *stranger_name(const uint8_t *p, size_t n, const char *path);

/* Returns the description of a file whose first n bytes prove that it is not a trace, although a format may accept it: JSON
 * with the keys of another program. NULL if there is no such proof. */
const char *stranger_sure(const uint8_t *p, size_t n);

/* Returns the description of a file whose name is that of a result which a viewer computed from a trace; NULL for other
 * names. */
const char *stranger_result(const char *path);

#endif

/* stranger.h - recognises files that users mistake for traces: the kind of file, and the program that opens it. */
#ifndef FORMAT_STRANGER_H
#define FORMAT_STRANGER_H

#include <stddef.h>
#include <stdint.h>

/* Describes a file that no format recognised, from its first n bytes and its name. Returns a text such as "an HTML page, ..."; NULL if
 * the file is unknown. */
const char *stranger_name(const uint8_t *p, size_t n, const char *path);

/* Returns a description of the file if its first n bytes prove that it is not a trace, even though a format might accept it: JSON with
 * the keys of another program. NULL if there is no such proof. */
const char *stranger_sure(const uint8_t *p, size_t n);

/* Returns a description of the file if its name belongs to a result that a viewer computed from a trace; NULL for other names. */
const char *stranger_result(const char *path);

#endif

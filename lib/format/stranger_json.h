/* stranger_json.h - recognises JSON of other programs by its keys. */
#ifndef FORMAT_STRANGER_JSON_H
#define FORMAT_STRANGER_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Returns a description of the JSON that starts with these n bytes, including a program that opens it. Returns NULL if its keys
 * are unknown or are those of a trace. */
const char *stranger_json(const uint8_t *p, size_t n);

#endif

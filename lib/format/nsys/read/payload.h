/* payload.h - reads binary payloads of NVTX by their schemas. */
#ifndef FORMAT_NSYS_READ_PAYLOAD_H
#define FORMAT_NSYS_READ_PAYLOAD_H

#include "reader.h"

void payload_init(struct payloads *x, struct mem *mem);
void payload_free(struct payloads *x);

/* Reads the schemas. Returns false with an error on failure. */
bool payload_read_schemas(struct nsys *r);
/* Adds the values of a payload to the args under construction. Returns false if a part of the payload could not be read. */
bool payload_args(struct nsys *r, const struct cell *data, const char *domain);

#endif

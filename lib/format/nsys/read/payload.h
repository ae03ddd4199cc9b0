/* payload.h - reads binary payloads of NVTX by their schemas. */
#ifndef FORMAT_NSYS_READ_PAYLOAD_H
#define FORMAT_NSYS_READ_PAYLOAD_H

#include "reader.h"

/* Adds the values of a payload to the args under construction. Returns false if a part of the payload could not be read. */
bool payload_args(struct nsys *r, const struct cell *data, const char *domain);

#endif

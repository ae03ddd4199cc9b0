/* pb_unpack.h - unpacks a whole message with protobuf-c, for messages that occur once per file rather than once per event.
 *
 * protobuf-c is unsafe for untrusted input in three ways, so our own cursor scans the message first. Nested messages use stack without
 * a limit (20,000 nested dict_entries of Perfetto, 74 kB, crash the process). Messages that occur repeatedly in a field are merged in
 * quadratic time. Memory is unlimited. This file limits the depth to that of the schema and to PB_UNPACK_DEPTH, accepts only one
 * message in a field that is not a list, and charges memory to the caller's limit. */
#ifndef FORMAT_PB_UNPACK_H
#define FORMAT_PB_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "pb.h"

enum { PB_UNPACK_DEPTH = 16 };

/* Returns the message, which the caller frees with pb_unpack_free and the same mem; returns NULL if the message is damaged or
 * refused, or if memory runs out (mem->failed is then set). */
void *pb_unpack(const ProtobufCMessageDescriptor *type, struct pb message, struct mem *mem);
/* Frees a message, which may be NULL. */
void pb_unpack_free(void *message, struct mem *mem);

#endif

/* pb_unpack.h - unpacks a whole message with protobuf-c, for messages that occur once per file rather than once per event.
 *
 * protobuf-c trusts its input in three ways that a trace does not deserve, so our own cursor scans it first. Nested messages
 * use stack without a limit (20,000 nested dict_entries of Perfetto, 74 kB, crash the process). A message that occurs twice in
 * a field is merged in quadratic time. Memory is unlimited. Here the depth is that of the schema and at most PB_UNPACK_DEPTH, a
 * field that is not a list has one message, and memory counts against the caller's budget. */
#ifndef FORMAT_PB_UNPACK_H
#define FORMAT_PB_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "pb.h"

enum { PB_UNPACK_DEPTH = 16 };

/* Returns the message, which the caller frees with pb_unpack_free and the same mem; NULL if it is damaged or refused, or, with
 * mem->failed set, when memory runs out. */
void *pb_unpack(const ProtobufCMessageDescriptor *type, struct pb message, struct mem *mem);
/* message may be NULL. */
void pb_unpack_free(void *message, struct mem *mem);

#endif

/* pb_unpack.h - a whole message at once, by protobuf-c: for what is read once a file, not once an event.
 *
 * protobuf-c trusts its input in three ways that a trace does not deserve, so a scan by our own cursor goes first: messages in
 * messages take stack without a limit (20,000 nested dict_entries of Perfetto, 74 kB, end the process), a message that stands
 * in a field twice is merged in quadratic time, and memory is whatever malloc gives.  Here the depth is that of the schema and
 * at most PB_UNPACK_DEPTH, a field that is no list holds one message, and memory is counted against the caller's budget. */
#ifndef FORMAT_PB_UNPACK_H
#define FORMAT_PB_UNPACK_H

#include <protobuf-c/protobuf-c.h>

#include "pb.h"

enum { PB_UNPACK_DEPTH = 16 };

/* The message, which the caller frees with pb_unpack_free and the same mem.  NULL if it is damaged or refused, and, with
 * mem->failed set, if memory ran out. */
void *pb_unpack(const ProtobufCMessageDescriptor *type, struct pb message, struct mem *mem);
/* message may be NULL. */
void pb_unpack_free(void *message, struct mem *mem);

#endif

/* payload.h - how many bytes does a collective move, by what its kernel or the call that launched it says?
 *
 * Kineto tells elements and a type on kernels of newer versions; of older ones the call has the shapes and types of its inputs. */
#ifndef ALIGN_PAYLOAD_H
#define ALIGN_PAYLOAD_H

#include "graph/trace.h"

/* Bytes of an element of this type, as PyTorch spells it ("Float", "float", "c10::BFloat16"); 0 = unknown. */
int64_t payload_element(const char *type);

/* Bytes of all inputs of a call, of a collective that moves as much as it is given; -1 = it does not say, or is of another kind. */
int64_t payload_of_call(const struct tk_trace *t, const struct tk_event *call);

#endif

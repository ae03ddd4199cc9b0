/* payload.h - computes the bytes that a collective moves, from the args of its kernel or of the launching call.
 *
 * Newer versions of Kineto record the number and type of elements on kernels; in older traces, only the call has the shapes and
 * types of its inputs. */
#ifndef ALIGN_COLLECT_PAYLOAD_H
#define ALIGN_COLLECT_PAYLOAD_H

#include "graph/trace.h"

/* Returns the bytes per element of a type, in the spelling of PyTorch ("Float", "float", "c10::BFloat16") or of a vendor
 * ("FP32"); 0 if unknown. */
int64_t payload_element(const char *type);

/* Returns the total bytes of a call's inputs, for collectives that move as many bytes as their input has; -1 for other
 * collectives, and if the sizes are not recorded. */
int64_t payload_of_call(const struct tk_trace *t, const struct tk_event *call);

#endif

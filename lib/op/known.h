/* known.h - values that cannot carry a secret: numbers, enumerations of the formats, names that every profiler uses.
 *
 * Redaction keeps a value because of what the value is. A harmless key alone proves nothing: any text can be stored under it. */
#ifndef OP_KNOWN_H
#define OP_KNOWN_H

#include <stdbool.h>

#include "tracekit.h"

/* True if the text is one number: decimal, or hexadecimal of at most 64 bits after "0x". */
bool known_number(const char *text);

/* True if viewers recognise a step, stream, process or plane by this name ("ProfilerStep#3", "/device:GPU:0"). */
bool known_name(const char *text);

/* True if `text` is a valid value of a text field of the event itself: a phase, the scope of an instant, "e" of "bp". */
bool known_field(tk_id key, const char *text);

/* True if arg `key` is a numeric field that one of the readers or operations creates. */
bool known_numeric_field(const char *key);

/* True if the top-level value of `key`, JSON text of `n` bytes, is of the only kind that viewers accept. */
bool known_meta(const char *key, const char *json, size_t n);

#endif

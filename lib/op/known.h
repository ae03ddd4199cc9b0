/* known.h - recognises values that cannot contain a secret: numbers, enumerations of the formats, names that every profiler uses.
 *
 * Redaction decides by the value, not by the key: any string can be stored under a harmless key. */
#ifndef OP_KNOWN_H
#define OP_KNOWN_H

#include <stdbool.h>

#include "tracekit.h"

/* True if the text is a single number: decimal, or "0x" and a hexadecimal number of at most 64 bits. */
bool known_number(const char *text);

/* True if viewers recognise a step, stream, process or plane by this name ("ProfilerStep#3", "/device:GPU:0"). */
bool known_name(const char *text);

/* True if `text` is a valid value of the event's own text field `key`: a phase, the scope of an instant, or "e" for "bp". */
bool known_field(tk_id key, const char *text);

/* True if `key` is the key of a numeric arg that one of the readers or operations creates. */
bool known_numeric_field(const char *key);

/* True if the top-level value of `key` has the only type that viewers accept. `json`: its n bytes of JSON text. */
bool known_meta(const char *key, const char *json, size_t n);

#endif

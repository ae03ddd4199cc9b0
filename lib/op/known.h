/* known.h - recognises values that cannot contain a secret: numbers, values of the formats' enumerations, and names that profilers
 * always use.
 *
 * Redaction looks at the value rather than the key, because any string can be stored under a harmless key. */
#ifndef OP_KNOWN_H
#define OP_KNOWN_H

#include <stdbool.h>

#include "tracekit.h"

/* True if the text is a single number: decimal, or "0x" and a hexadecimal number of at most 64 bits. */
bool known_number(const char *text);

/* True if this is a standard name, by which viewers recognise a step, stream, process or plane ("ProfilerStep#3", "/device:GPU:0"). */
bool known_name(const char *text);

/* True if `text` is a valid value of the event's own text field `key`: a phase, the scope of an instant, or "e" for "bp". */
bool known_field(tk_id key, const char *text);

/* True if `key` is the key of a numeric arg that one of the readers or operations creates. */
bool known_numeric_field(const char *key);

/* True if viewers accept only one type of value for the top-level key `key`, and the value has this type. `json`: the value as JSON, n
 * bytes. */
bool known_meta(const char *key, const char *json, size_t n);

#endif

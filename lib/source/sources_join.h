/* sources_join.h - finds inputs that are pieces of one trace, written one after the other by a producer that rotates its files. */
#ifndef SOURCE_SOURCES_JOIN_H
#define SOURCE_SOURCES_JOIN_H

#include "sources_impl.h"

/* Joins inputs that are pieces of one trace; if the option `join` is set, joins all inputs. */
bool sources_join(struct tk_sources *s, struct tk_err *err);

#endif

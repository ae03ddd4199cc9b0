/* fields.h - macros for lists of the fields of a row: one line per field, with the struct member that contains the value.
 *
 * `S` is the struct of the row. A field that is computed from other fields has a function instead of a member. */
#ifndef ANALYSIS_FIELDS_H
#define ANALYSIS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "tracekit.h"

#define FIELD_MEMBER(S, m) .offset = offsetof(struct S, m), .size = sizeof ((struct S *)0)->m

#define FIELD(S, kind, m, name_, help_) {.name = name_, .help = help_, .type = TK_TYPE_##kind, FIELD_MEMBER(S, m)}
#define FIELD_TIME(S, m, name_, help_) \
  {.name = name_, .help = help_, .type = TK_TYPE_TIME, .unit = TK_UNIT_NS, FIELD_MEMBER(S, m)}
#define FIELD_GET(kind, unit_, name_, get_, help_) \
  {.name = name_, .help = help_, .type = TK_TYPE_##kind, .unit = TK_UNIT_##unit_, .get = get_}

/* A field whose value may be unknown. `known_`: function that returns true if the value is known; `unknown_`: how an unknown value is
 * output (NULL or ABSENT). */
#define FIELD_MAYBE(S, kind, unit_, m, name_, known_, unknown_, help_)                                                     \
  {.name = name_, .help = help_, .type = TK_TYPE_##kind, .unit = TK_UNIT_##unit_, .unknown = TK_UNKNOWN_##unknown_,        \
   .known = known_, FIELD_MEMBER(S, m)}
#define FIELD_GET_MAYBE(kind, unit_, name_, get_, unknown_, help_) \
  {.name = name_, .help = help_, .type = TK_TYPE_##kind, .unit = TK_UNIT_##unit_, .unknown = TK_UNKNOWN_##unknown_, .get = get_}

/* Fields that are output as null if their value is unknown. */
#define FIELD_IF(S, kind, m, name, known, help) FIELD_MAYBE(S, kind, NONE, m, name, known, NULL, help)
#define FIELD_TIME_IF(S, m, name, known, help) FIELD_MAYBE(S, TIME, NS, m, name, known, NULL, help)
#define FIELD_NUMBER_IF(S, unit, m, name, known, help) FIELD_MAYBE(S, NUMBER, unit, m, name, known, NULL, help)
#define FIELD_GET_IF(kind, unit, name, get, help) FIELD_GET_MAYBE(kind, unit, name, get, NULL, help)

/* Fields that are left out of the output if their value is unknown. */
#define FIELD_OPTIONAL(S, kind, m, name, known, help) FIELD_MAYBE(S, kind, NONE, m, name, known, ABSENT, help)
#define FIELD_TIME_OPTIONAL(S, m, name, known, help) FIELD_MAYBE(S, TIME, NS, m, name, known, ABSENT, help)
#define FIELD_NUMBER_OPTIONAL(S, unit, m, name, known, help) FIELD_MAYBE(S, NUMBER, unit, m, name, known, ABSENT, help)
#define FIELD_GET_OPTIONAL(kind, unit, name, get, help) FIELD_GET_MAYBE(kind, unit, name, get, ABSENT, help)

/* Defines a `known_` function that returns `condition`, an expression with `r`, the row. */
#define FIELD_KNOWN(function, S, condition)                \
  static bool function(const void *row, const void *owner) { \
    const struct S *r = row;                               \
    (void)owner;                                           \
    return condition;                                      \
  }

#define FIELD_TEXTS(S, m, n, name_, help_) \
  {.name = name_, .help = help_, .type = TK_TYPE_TEXTS, FIELD_MEMBER(S, m), .n_offset = offsetof(struct S, n)}
#define FIELD_ROWS(S, row_, m, n, name_, help_) \
  {.name = name_, .help = help_, .type = TK_TYPE_ROWS, .of = row_, FIELD_MEMBER(S, m), .n_offset = offsetof(struct S, n)}

struct field_list {
  const struct tk_field *fields;
  size_t n, stride;
  const char *name;
};

#define FIELD_LIST(S, fields, name) {fields, sizeof fields / sizeof *fields, sizeof(struct S), name}

static inline double field_seconds(struct tk_total t) { return (double)t.s + (double)t.ps / 1e12; }

/* Store a value in *v; all three return false if the value is unknown. */
bool field_time(struct tk_value *v, tk_time time, bool known);
bool field_number(struct tk_value *v, double number, bool known);
bool field_text(struct tk_value *v, const char *text); /* a string that is NULL or empty is unknown */

#endif

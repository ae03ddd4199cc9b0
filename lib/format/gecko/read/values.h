/* values.h - reads texts, indices, times and ids of Firefox profiles. */
#ifndef FORMAT_GECKO_READ_VALUES_H
#define FORMAT_GECKO_READ_VALUES_H

#include "reader.h"

/* Returns the string of a JSON text; 0 if the value is not a text. */
tk_id gecko_text(struct gecko *g, struct json_walk *w, const struct json_value *v);
/* Reads an index into a table of n elements. Returns false if it is null or invalid; an invalid one is counted as a repair. */
bool gecko_index(struct gecko *g, const struct json_value *v, uint32_t n, uint32_t *index);
/* Returns the string whose index is the value; 0 if there is none. */
tk_id gecko_string_of(struct gecko *g, struct gecko_tables *x, struct json_walk *w, const struct json_value *v);
/* Returns a line or column, which counts from 1; 0 = unknown. */
uint32_t gecko_position(const struct json_value *v);
/* Converts milliseconds of the process that is being read to a time of the trace. Returns false if the value is not a number or
 * is too far from the origin. */
bool gecko_time(const struct gecko *g, const struct json_value *v, tk_time *ts);
/* Reads an id of a process or thread, which is a number or a string. Returns false if there is none. */
bool gecko_ident(struct gecko *g, struct json_walk *w, const struct json_value *v, struct tk_ident *ident);
void gecko_repair(struct gecko *g, const uint8_t *at, const char *text);
/* Appends to an array of ids. */
void gecko_add_id(struct gecko *g, struct gecko_ids *ids, tk_id id);

/* A column of times or of differences of times. */
struct gecko_clock {
  i128 sum; /* sum of the differences, in 10^-15 ms */
};
bool gecko_next_time(struct gecko *g, struct gecko_clock *c, const struct json_value *time, const struct json_value *delta,
                     tk_time *ts);

#endif

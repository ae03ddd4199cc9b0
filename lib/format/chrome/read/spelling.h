/* spelling.h - spellings of numbers that the graph does not represent. */
#ifndef FORMAT_CHROME_READ_SPELLING_H
#define FORMAT_CHROME_READ_SPELLING_H

#include "reader.h"

/* True if the spelled time, in microseconds, differs from `ps`, which is stored for it. */
bool chrome_is_rounded(const uint8_t *p, const uint8_t *end, i128 ps);

/* Same as chrome_is_rounded, for mant x 10^exp. */
bool chrome_is_rounded_decimal(int64_t mant, int exp, i128 ps);

/* Parses a quoted time that is not a JSON number: "12,5" in microseconds, "12.5 ms". */
bool chrome_odd_time(const uint8_t *p, const uint8_t *end, i128 *ps);

/* Counts the times of the event that were rounded. */
void chrome_note_rounded(struct chrome *r, const struct chrome_event *e);

/* Returns the number of decimals of a number that ends with a superfluous 0; 0 if it does not, or has too many. */
uint8_t chrome_decimals(const uint8_t *p, const uint8_t *end);

/* Returns the members of the event that are spelled differently than in other events of its track: bits of enum tk_respelled. */
unsigned chrome_respelled(const struct chrome *r, const struct chrome_event *e, tk_id track);

/* Returns the args plus an arg that lists the members in `respelled`, which the writer would spell differently. */
uint32_t chrome_with_respelled(struct chrome *r, uint32_t args, unsigned respelled, const struct chrome_event *e);

#endif

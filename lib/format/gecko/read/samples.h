/* samples.h - reads stack samples and allocations. */
#ifndef FORMAT_GECKO_READ_SAMPLES_H
#define FORMAT_GECKO_READ_SAMPLES_H

#include "reader.h"

/* Reads a table of samples. `cat`: category of all samples, which are then allocations with weights in bytes; 0 = each sample has the
 * category of its stack. */
void gecko_read_samples(struct gecko *g, struct json_walk *w, const struct json_value *table, tk_id cat);

#endif

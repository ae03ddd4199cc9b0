/* samples.h - reads the stack samples in Chrome JSON. */
#ifndef FORMAT_CHROME_READ_SAMPLES_H
#define FORMAT_CHROME_READ_SAMPLES_H

struct chrome;

/* Adds samples for the records of phase P and for the top-level array "samples". Records whose whole content is then in the
 * graph are removed; the others are marked (tk_record.sampled). Called when all times are known. */
void chrome_samples(struct chrome *r);

#endif

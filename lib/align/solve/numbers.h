/* numbers.h - sequence numbers against ends.
 *
 * A host that leaves collectives late, with the next one waiting for it, fits the others' next collectives better than its own. So
 * ends alone do not overrule numbers that agree. */
#ifndef ALIGN_SOLVE_NUMBERS_H
#define ALIGN_SOLVE_NUMBERS_H

#include "posterior.h"

/* Returns `best`, or the hypothesis that pairs equal numbers: if the best one only leaves some of these pairs out, as a vote does
 * when the clock was set, or if it breaks causality and they do not. */
struct hypothesis *numbers_prefer(struct hypotheses *h, struct hypothesis *best);
/* Returns ln of the probability that a few numbers are wrong. If all others agree, those few are not lost but unpaired or mispaired: a
 * vote does that if the clock was set. */
double numbers_torn(const struct hypotheses *h, const struct hypothesis *y);
/* True if exactly the collectives with equal numbers are paired. */
bool numbers_agree(const struct hypotheses *h, const struct hypothesis *y);
/* True if both sides have a sequence number in common; *steps: and a step number. */
bool numbers_shared(const struct view *v, bool *steps);
/* Counts how many pairs by number the answer keeps. */
void numbers_compare(struct hypotheses *h, const struct hypothesis *best, struct posterior *out);
/* Returns the evidence, in nats, that noise and lost kernels give against the answer. If all numbers of a complete job agree, they are
 * no evidence for another job. */
double numbers_excuse(const struct hypothesis *y);
/* True if numbers decide the pairing although ends scatter: the objection is lateness, and no other pairing has better ends. */
bool numbers_allow(const struct hypotheses *h, const struct posterior *p);

#endif

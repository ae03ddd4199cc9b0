/* numbers.h - weighs sequence numbers against ends.
 *
 * If a host leaves a collective so late that the other hosts are already in the next one, its ends fit the next collectives of the
 * other hosts better than the collectives to which they belong. So ends alone do not overrule sequence numbers that agree. */
#ifndef ALIGN_SOLVE_NUMBERS_H
#define ALIGN_SOLVE_NUMBERS_H

#include "posterior.h"

/* Returns `best`, or the hypothesis that pairs equal sequence numbers. The latter is preferred if `best` is the same pairing with a few
 * pairs missing (as in a pairing by vote if the clock was set), or if `best` breaks causality and the pairing by number does not. */
struct hypothesis *numbers_prefer(struct hypotheses *h, struct hypothesis *best);
/* Returns ln of the probability that the sequence numbers with which the hypothesis disagrees are wrong; at most three count.
 * Collectives with equal numbers that the hypothesis leaves unpaired also count: both sides recorded them, but the hypothesis missed
 * them, as a pairing by vote does if the clock was set. */
double numbers_torn(const struct hypotheses *h, const struct hypothesis *y);
/* True if the hypothesis pairs exactly the collectives with equal sequence numbers. */
bool numbers_agree(const struct hypotheses *h, const struct hypothesis *y);
/* True if both sides have a sequence number in common. *steps: true if they also have a step number in common. */
bool numbers_shared(const struct view *v, bool *steps);
/* Sets in `out` the number of pairs by sequence number, how many of them the answer `best` contains, and the offset that they
 * imply. The numbers are 0 if no hypothesis consists of these pairs. */
void numbers_compare(struct hypotheses *h, const struct hypothesis *best, struct posterior *out);
/* Returns the evidence, in nats (at most 0), that noise and missing kernels give against an answer. The caller disregards this
 * evidence: if all sequence numbers of a complete job agree, noise and missing kernels do not show that a host belongs to
 * another job. */
double numbers_excuse(const struct hypothesis *y);
/* True if the answer can be trusted because of sequence numbers although ends scatter: lateness explains the objection, and no
 * other pairing has better ends. */
bool numbers_allow(const struct hypotheses *h, const struct posterior *p);

#endif

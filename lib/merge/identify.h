/* identify.h - identities of the inputs of a merge, after all of them were read. */
#ifndef MERGE_IDENTIFY_H
#define MERGE_IDENTIFY_H

#include "align.h"
#include "align/report.h"

/* Fills out->who with the identities of the n inputs. An input that states no rank gets one (merge_give_ranks) and is selected or
 * skipped by this rank. */
void merge_identify(struct merge_alignment *out, struct align_input *inputs, size_t n, const struct tk_merge_options *opt);

#endif

/* alignment.h - access to the results of the first pass of a merge (align.h). */
#ifndef MERGE_ALIGNMENT_H
#define MERGE_ALIGNMENT_H

#include "align.h"

bool merge_is_comparable(const struct merge_base *base, enum tk_clock clock);

/* Returns the shift that moves a trace onto the time base: 0 if the clocks are comparable, otherwise the difference between their
 * zeros, which leaves printed times unchanged. */
int64_t merge_later(const struct merge_base *base, const struct merge_base *own, enum tk_align align);

/* Returns the maximum number of anchors per input. It is lower if n, the number of inputs, is very large, because all anchors are in
 * memory at once. */
uint32_t merge_most_anchors(size_t n);

/* Ends the merge because an input failed: adds a suggestion to err and returns false. */
bool merge_stops(size_t n_inputs, struct tk_err *err);

/* Returns the number of bytes available for keeping further graphs in memory. */
uint64_t merge_room(const struct merge_alignment *a, const struct tk_load_options *opt);

/* Loads an input. If the first pass kept its trace, returns that trace, which contains only the selected data. If a file contains
 * several ranks, the next ranks of the file are loaded together with this one, and later calls return them. */
struct tk_trace *merge_load(struct merge_alignment *a, const struct merge_inputs *in, size_t i, const struct tk_load_options *opt,
                            struct tk_err *err);
/* Sets up the arrays for n inputs, filled with zeros. Returns false if memory runs out; the caller must call merge_alignment_free even
 * then. */
bool merge_alignment_init(struct merge_alignment *a, struct mem *mem, size_t n);
void merge_alignment_free(struct merge_alignment *a);

#endif

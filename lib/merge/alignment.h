/* alignment.h - access to the results of the first pass of a merge (align.h). */
#ifndef MERGE_ALIGNMENT_H
#define MERGE_ALIGNMENT_H

#include "align.h"

bool merge_is_comparable(const struct merge_base *base, enum tk_clock clock);

/* Returns the shift that moves a trace's origin onto the time base: 0 if the clocks can be compared, otherwise the shift that
 * leaves printed times unchanged. */
int64_t merge_later(const struct merge_base *base, const struct merge_base *own, enum tk_align align);

/* Returns how many anchors each of n inputs may have at most. The limit is lower for very many inputs, because all anchors are
 * in memory at once. */
uint32_t merge_most_anchors(size_t n);

/* Ends the merge because an input failed: adds a suggestion to err and returns false. */
bool merge_stops(size_t n_inputs, struct tk_err *err);

/* Returns how many more bytes of graphs may be kept in memory (alignment.c). */
uint64_t merge_room(const struct merge_alignment *a, const struct tk_load_options *opt);

/* Loads an input, or returns the trace that the first pass kept, which contains only the selected data. If the input is a rank of a
 * file, the next ranks of the file are loaded with it, and are ready when they are asked for. */
struct tk_trace *merge_load(struct merge_alignment *a, const struct merge_inputs *in, size_t i, const struct tk_load_options *opt,
                            struct tk_err *err);
/* Sets up the arrays for n inputs, filled with zeros. Returns false when memory runs out; the caller frees *a even then. */
bool merge_alignment_init(struct merge_alignment *a, struct mem *mem, size_t n);
void merge_alignment_free(struct merge_alignment *a);

#endif

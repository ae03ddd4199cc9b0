/* file.h - reads and writes scans (scan.h), as columns of small numbers: most are differences from the previous number. */
#ifndef SCAN_FILE_H
#define SCAN_FILE_H

#include "scan.h"

/* Appends one rank: its scan, its anchors and its notes, and the CRC of the whole buffer. If this takes more than SCAN_MOST bytes,
 * anchors are dropped, the same ones on all ranks. A failure is recorded in to->mem. */
void scan_print(struct buf *to, const struct scan *s, struct align_anchors *anchors, const char *const *notes, size_t n_notes);

/* Appends the head of a file, which precedes its first rank. */
void scan_print_head(struct buf *to);

/* Adds the number of ranks in the file to *n. */
bool scan_count(const char *path, struct mem *mem, uint32_t *n, struct tk_err *err);

/* Adds the ranks of the file `path` to the list, their anchors to `anchors`, with input numbers from list->n on, and their
 * notes to `notes`. Returns false with err on failure. */
bool scan_read(struct scan_list *list, struct align_anchors *anchors, const char *path, struct tk_diagnostics *notes,
               struct tk_err *err);
void scan_list_free(struct scan_list *list);

#endif

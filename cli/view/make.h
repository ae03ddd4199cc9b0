/* make.h - makes the file that the viewer opens, in memory. */
#ifndef CLI_VIEW_MAKE_H
#define CLI_VIEW_MAKE_H

#include "view.h"

/* Makes the file, and prints what was left out. On failure prints the reason, sets *status and returns false. */
bool view_make(const struct view_params *p, const struct operands *in, struct view_made *made, int *status);
void view_made_free(struct view_made *made);

/* Returns the options for merging the sources. */
struct tk_merge_options view_merge_options(const struct view_params *p, struct progress *progress);

/* Opens the sources that the options select. On failure prints the reason, sets *status and returns NULL. */
struct tk_sources *view_sources(const struct view_params *p, const struct operands *in, int *status);

/* Returns an HTML report on the file, to be freed with free(); NULL if the report cannot be made. */
char *view_report(const struct view_params *p, const struct view_made *made, size_t *size);

#endif

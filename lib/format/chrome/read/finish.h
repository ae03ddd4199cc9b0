/* finish.h - handles times that could not be placed while the file was read. */
#ifndef FORMAT_CHROME_READ_FINISH_H
#define FORMAT_CHROME_READ_FINISH_H

#include "reader.h"

/* Places the pending items, and marks events that have lost their clock. Called after all events have been read. */
void chrome_finish(struct chrome *r);

#endif

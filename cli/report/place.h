/* place.h - places of a report's page: the command that opens a moment of a trace in a viewer. */
#ifndef CLI_REPORT_PLACE_H
#define CLI_REPORT_PLACE_H

#include "print/html.h"

#include "tracekit.h"

/* A time range of one input; at: since the first event of the input. input: "" = that of the rank, if only one input has this rank;
 * rank: -1 = unknown. */
struct place {
  const char *input;
  int64_t rank;
  tk_time at, length;
};

/* Writes text that shows the command when the pointer rests on it, and that copies the command when it is clicked. The text is written
 * alone if the input of the place is unknown. */
void place_draw(FILE *to, const struct tk_report *r, const struct place *p, const char *text);
/* Writes the next cell of a table in this way. */
void place_cell(struct html_table *t, const struct tk_report *r, const struct place *p, const char *text);
/* Writes the next cell: "+1.5 ms", the start of the place. */
void place_cell_start(struct html_table *t, const struct tk_report *r, const struct place *p);

#endif

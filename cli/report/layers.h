/* layers.h - device time by layer, as text and as a section of the page. */
#ifndef CLI_REPORT_LAYERS_H
#define CLI_REPORT_LAYERS_H

#include "tracekit.h"

#include <stdio.h>

/* Both functions show the `top` layers with the most device time and the layers that contain these; nothing if there are no
 * layers. layers_print() returns false if memory runs out. */
bool layers_print(const struct tk_report *r, size_t top);
void layers_draw(FILE *to, const struct tk_report *r, size_t top);

#endif

/* html.h - finds the trace in an HTML page that a viewer exported. */
#ifndef IO_HTML_H
#define IO_HTML_H

#include "in.h"

/* Adds a layer over `inner` that yields the trace, decoded from base64, if `inner` is an HTML page with a trace. Otherwise
 * returns `inner` unchanged. Takes ownership of `inner`, also on failure (NULL). */
struct in *html_open(struct in *inner, struct mem *mem, struct tk_err *err);

#endif

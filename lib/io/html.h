/* html.h - reads the trace in an HTML page, as viewers export it. */
#ifndef IO_HTML_H
#define IO_HTML_H

#include "in.h"

/* Adds a layer over `inner` that yields the trace in it, decoded from base64, if its content is an HTML page with a trace.
 * Otherwise returns it unchanged. Takes ownership of inner, also on failure (NULL). */
struct in *html_open(struct in *inner, struct mem *mem, struct tk_err *err);

#endif

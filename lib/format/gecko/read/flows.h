/* flows.h - flows between the markers of Firefox profiles. */
#ifndef FORMAT_GECKO_READ_FLOWS_H
#define FORMAT_GECKO_READ_FLOWS_H

#include "reader.h"

/* Notes the flow ids among the args of the marker that was added last. */
void gecko_note_flows(struct gecko *g);
/* Adds the flows of all markers. */
void gecko_add_flows(struct gecko *g);

#endif

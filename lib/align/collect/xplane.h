/* xplane.h - extracts the collectives on XLA's device planes as anchors. */
#ifndef ALIGN_COLLECT_XPLANE_H
#define ALIGN_COLLECT_XPLANE_H

#include "collector.h"

/* Collects collectives on the device planes of XLA. */
bool collect_planes(struct collector *c);

#endif

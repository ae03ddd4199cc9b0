/* layer.h - interface for layers over an input. A layer, such as the one for gzip, converts a stream of bytes to another.
 *
 * A layer is a source that reads from an inner input. in_layer combines the two, so that closing, progress and notes work
 * through all layers. */
#ifndef IO_LAYER_H
#define IO_LAYER_H

#include "flate.h"
#include "in.h"

#endif

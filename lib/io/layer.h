/* layer.h - interface for layers over an input, such as gunzip, that turn one stream of bytes into another.
 *
 * A layer is a source that reads from an inner input. in_layer joins the two, so that closing, progress and notes work through
 * the whole stack. */
#ifndef IO_LAYER_H
#define IO_LAYER_H

#include "flate.h"
#include "in.h"

#endif

/* nsys.h - format: the SQLite export of NVIDIA Nsight Systems ("nsys export -t sqlite"). */
#ifndef FORMAT_NSYS_NSYS_H
#define FORMAT_NSYS_NSYS_H

#include "format/format.h"

#endif

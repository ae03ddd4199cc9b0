/* kineto.h - collects the collectives of one rank from kernels on device tracks. */
#ifndef ALIGN_COLLECT_KINETO_H
#define ALIGN_COLLECT_KINETO_H

#include "collector.h"

/* Collects the kernels of NCCL and RCCL in Kineto's traces; instead of these the markers, if the caller names a marker. */
bool collect_kernels(struct collector *c);

#endif

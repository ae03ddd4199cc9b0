/* kineto.h - collects the collectives of one rank from kernels on device tracks. */
#ifndef ALIGN_COLLECT_KINETO_H
#define ALIGN_COLLECT_KINETO_H

#include "collector.h"

/* Collects the kernels of NCCL, RCCL and HCCL, or, if the caller names a marker, the events with that name instead. */
bool collect_kernels(struct collector *c);

#endif

/* kineto.h - collects the collectives of one rank from kernels on device tracks. */
#ifndef ALIGN_COLLECT_KINETO_H
#define ALIGN_COLLECT_KINETO_H

#include "collector.h"

/* Collects kernels of NCCL and RCCL in Kineto's traces, or markers. */
bool collect_kernels(struct collector *c);

#endif

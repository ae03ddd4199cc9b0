/* kineto.h - collectives of one rank as kernels on the rows of a device. */
#ifndef ALIGN_COLLECT_KINETO_H
#define ALIGN_COLLECT_KINETO_H

#include "collector.h"

/* Collects kernels of NCCL and RCCL in Kineto's traces, or markers. */
bool collect_kernels(struct collector *c);

#endif

/* reader.h - shared by the readers of rpd and rocpd.
 *
 *     read.c      distinguishes the two
 *     rpd.c       schema 2: calls and operations of any number of processes
 *     rocpd.c     schema 3 and 4: a set of tables for each process, whose names end in the id of the process
 *     work.c      devices and queues
 *
 * Sources: ROCm/rocmProfileData, rocpd_python and rpd_tracer; ROCm/rocm-systems, projects/rocprofiler-sdk, source/share/
 * rocprofiler-sdk-rocpd. */
#ifndef FORMAT_ROCM_READ_READER_H
#define FORMAT_ROCM_READ_READER_H

#include "format/database.h"

struct rocm {
  struct database d;
  struct database_texts texts;
  struct map devices;   /* number of a GPU -> its process track */
  struct map queues;    /* process, GPU and queue -> track of the queue */
  struct map by_id;     /* id of an API call (rpd), or id of an event's stack (rocpd) -> event */
  tk_id flow_class;
};

#endif

/* reader.h - shared by the readers of rpd, rocpd and the JSON of rocprofv3.
 *
 *     read.c      distinguishes rpd from rocpd
 *     rpd.c       schema 2: calls and operations of any number of processes
 *     rocpd.c     schema 3 and 4: a set of tables for each process, whose names end in the id of the process
 *     rocprof.c   JSON of rocprofv3
 *     work.c      devices, queues and keys of args
 *
 * Sources: ROCm/rocmProfileData, rocpd_python and rpd_tracer; ROCm/rocm-systems, projects/rocprofiler-sdk, source/share/
 * rocprofiler-sdk-rocpd. */
#ifndef FORMAT_ROCM_READ_READER_H
#define FORMAT_ROCM_READ_READER_H

#include "format/database.h"

/* Keys of args, the same in all of AMD's formats. */
enum rocm_key {
  K_ARGS, K_GRID, K_BLOCK, K_STREAM, K_DEVICE, K_BYTES, K_CORRELATION, K_DISPATCH, K_LDS, K_SCRATCH, K_FROM, K_TO, ROCM_KEYS
};

struct rocm {
  struct database d;
  tk_id key[ROCM_KEYS];
  struct database_texts texts;
  struct map devices;   /* number of a GPU -> its process track */
  struct map queues;    /* process, GPU and queue -> track of the queue */
  struct map by_id;     /* id of an API call (rpd), or id of an event's stack (rocpd) -> event */
  tk_id flow_class;
};

#endif

/* reader.h - the state of reading an export of Nsight Systems.
 *
 *     read.c      the order of the tables, the clock, what is not read
 *     texts.c     StringIds and the ENUM_ tables
 *     tracks.c    processes, threads, devices and streams
 *     tables.c    tables of spans and instants: the rows, and events by the names of their columns
 *     nvtx.c      NVTX: ranges, marks, domains, categories
 *     counters.c  GPU metrics, memory
 *
 * Sources of the facts: the comments that 'nsys export' writes into its tables, and NVIDIA's own report scripts. */
#ifndef FORMAT_NSYS_READ_READER_H
#define FORMAT_NSYS_READ_READER_H

#include "format/database.h"

struct nsys {
  struct database d;
  struct database_texts texts; /* of StringIds */
  struct map labels;     /* table and value -> label of an ENUM_ table */
  struct map threads;    /* globalTid -> track */
  struct map streams;    /* place of a queue (tracks.h) -> track */
  struct map devices;    /* process and device -> process track */
  struct map processes;  /* process -> number, in the order in which correlation ids show it */
  struct map calls;      /* process and correlation id -> event of the call */
  struct map linked;     /* the same -> id of its flow, whose start was added */
  struct map domains;    /* process and NVTX domain -> name */
  struct map categories; /* process, domain and NVTX category -> name */
  struct buf text;       /* scratch */
  tk_id flow_class;
};

/* Identity: hardware 8 bits, VM 8 bits, pid 24 bits, tid 24 bits. */
static inline uint64_t nsys_process_of(int64_t global) { return (uint64_t)global >> 24; }
static inline int64_t nsys_pid(uint64_t process) { return (int64_t)(process & 0xffffff); }

#endif

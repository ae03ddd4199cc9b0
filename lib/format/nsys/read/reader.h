/* reader.h - state while an export of Nsight Systems is read.
 *
 *     read.c      the order of the tables, the clock, tables that are not read
 *     texts.c     StringIds and the ENUM_ tables
 *     tracks.c    processes, threads, devices and streams
 *     tables.c    tables of spans and instants, whose columns are interpreted by name
 *     nvtx.c      NVTX: ranges, marks, domains, categories
 *     schemas.c   schemas of the payloads of NVTX
 *     payload.c   binary payloads of NVTX
 *     nccl.c      kernels of NCCL
 *     chains.c    call chains
 *     samples.c   samples of call stacks
 *     sched.c     which thread ran on each CPU
 *     counters.c  GPU metrics, memory
 *
 * Sources of the facts: the comments that 'nsys export' writes into its tables, and NVIDIA's own report scripts. */
#ifndef FORMAT_NSYS_READ_READER_H
#define FORMAT_NSYS_READ_READER_H

#include "format/database.h"

/* Schemas of NVTX payloads. */
struct payloads {
  struct buf entries;  /* array of struct payload_entry, by domain, schema and index */
  struct buf schemas;  /* array of struct payload_schema (schemas.h) */
  struct map index;    /* domain and schema -> index of the schema + 1 */
  struct map enums;    /* domain and schema -> size of the enumeration in bytes */
  struct map names;    /* domain, schema and value -> name of the value */
};

/* A device that a process used. */
struct nsys_device {
  tk_id track;      /* process track */
  uint64_t process;
  int64_t device;   /* its number in the process */
};

struct nsys {
  struct database d;
  struct database_texts texts; /* texts of StringIds */
  struct map labels;     /* table and value -> label in an ENUM_ table */
  struct map threads;    /* globalTid -> track */
  struct map streams;    /* hash of struct nsys_place (tracks.h) -> track */
  struct map devices;    /* process and device -> process track */
  struct buf used;       /* array of struct nsys_device: the same, in order of appearance */
  struct map processes;  /* process -> its number, which is part of correlation ids in the graph */
  struct map calls;      /* process and correlation id -> event of the API call */
  struct map linked;     /* process and correlation id -> id of the flow whose start has been added */
  struct map domains;    /* process and NVTX domain -> name of the domain */
  struct map categories; /* process, domain and NVTX category -> name of the category */
  struct map chains;     /* table and id of a call chain -> text */
  uint64_t chain_bytes;  /* total bytes of the texts in `chains` */
  struct buf switches;   /* array of struct nsys_switch (sched.c), in the order of the file */
  struct payloads payloads;
  struct map communicators;   /* number of a communicator of NCCL -> number of its ranks */
  struct buf collectives;     /* array of struct nccl_range (nccl.c) */
  bool collectives_sorted;
  struct buf text;       /* scratch */
  tk_id flow_class;
};

/* Returns the process in a global id, which consists of hardware (8 bits), VM (8 bits), pid (24 bits) and tid (24 bits). */
static inline uint64_t nsys_process_of(int64_t global) { return (uint64_t)global >> 24; }
static inline int64_t nsys_pid(uint64_t process) { return (int64_t)(process & 0xffffff); }

#endif

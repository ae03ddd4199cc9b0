/* reader.h - interface between the files of the reader of Nsight Systems.
 *
 *     read.c      the order of the tables, the clock, what is not read
 *     texts.c     StringIds and the ENUM_ tables
 *     tracks.c    processes, threads, devices and streams
 *     rows.c      a table of spans or instants -> events, by the names of its columns
 *     tables.c    the rows: which table holds what
 *     nvtx.c      NVTX: ranges, marks, domains, categories
 *     counters.c  GPU metrics, memory
 *
 * Tables and columns are known by name: 2022 to 2026 add columns, and every table may be absent. Sources of the facts: the
 * comments that 'nsys export' writes into its tables, and NVIDIA's own report scripts. */
#ifndef FORMAT_NSYS_READ_READER_H
#define FORMAT_NSYS_READ_READER_H

#include "format/sqlite.h"
#include "graph/trace.h"

struct nsys {
  struct tk_trace *t;
  struct sqlite *db;
  const struct tk_load_options *opt;
  struct in *in;
  struct tk_err *err;
  struct map texts;     /* id in StringIds -> string of the graph */
  struct map threads;   /* globalTid -> track */
  struct map streams;   /* place of a queue (tracks.c) -> track */
  struct map devices;   /* process and device -> process track */
  struct map calls;     /* process and correlation id -> event of the call */
  struct map processes; /* process -> number, in the order in which correlation ids show it */
  struct map linked;    /* the same -> id of its flow, whose start was added */
  struct map labels;    /* table and value -> label of an ENUM_ table */
  struct map domains;   /* process and NVTX domain -> name */
  struct map categories; /* process, domain and NVTX category -> name */
  struct buf text;      /* scratch */
  int64_t shift_ns;     /* that the export added to all times */
  uint32_t n_devices;
  tk_id flow_class;
};

/* Reads all rows of a table, the given columns in order; `take` is called for each. Counts what is damaged. Returns true if the table
 * is absent. */
typedef void nsys_take(struct nsys *r, const struct sqlite_scan *row, void *arg);
bool nsys_each(struct nsys *r, const char *table, const char *const *columns, nsys_take *take, void *arg);
/* The same for all columns of a table, in its order. */
bool nsys_each_whole(struct nsys *r, const struct sqlite_table *table, nsys_take *take, void *arg);

/* Returns the graph's string for text of the file, repaired. */
tk_id nsys_string(struct nsys *r, const void *p, size_t n);
/* Returns the string of a cell: a text, or an id of StringIds; 0 = none. */
tk_id nsys_text(struct nsys *r, const struct cell *c);
bool nsys_read_texts(struct nsys *r);
/* Returns the label of a value in an ENUM_ table; 0 = none. */
tk_id nsys_label(struct nsys *r, const char *table, int64_t value);

/* A time of the file in ps from the origin; false if the cell is no time, or out of range. */
bool nsys_time(const struct nsys *r, const struct cell *c, tk_time *ts);

/* Identity: hardware 8 bits, VM 8 bits, pid 24 bits, tid 24 bits. */
static inline uint64_t nsys_process_of(int64_t global) { return (uint64_t)global >> 24; }
static inline int64_t nsys_pid(uint64_t process) { return (int64_t)(process & 0xffffff); }

/* A queue of a device, in one process. */
enum nsys_lane { LANE_WORK, LANE_SYNC, LANE_UNIFIED, LANE_MEMORY };
struct nsys_place {
  uint64_t process;
  int64_t device, stream;
  enum nsys_lane lane;
};

tk_id nsys_thread(struct nsys *r, int64_t global_tid);
tk_id nsys_stream(struct nsys *r, const struct nsys_place *place);
/* Returns the process track of a device. */
tk_id nsys_device(struct nsys *r, uint64_t process, int64_t device);
/* Names processes, threads and devices that have events. */
bool nsys_name_tracks(struct nsys *r);

/* Reads the tables of spans and instants. */
bool nsys_read_tables(struct nsys *r);
/* True if a table is read by some part. */
bool nsys_knows(const char *table);
bool nsys_read_nvtx(struct nsys *r);
bool nsys_read_counters(struct nsys *r);

#endif

/* reader.h - the state of reading a database of Ascend.
 *
 *     read.c      detection, the clock, the rank
 *     host.c      PYTORCH_API and CANN_API: spans of threads
 *     device.c    TASK and COMMUNICATION_OP: work of the device
 *     counters.c  memory, bandwidth, frequency
 *
 * The rows equal the rows of trace_view.json, which the same profiler writes as text, so that both are analysed alike: the
 * processes Python, CANN, Ascend Hardware and Communication, with their numbers. Sources: Ascend/pytorch, torch_npu/profiler/analysis;
 * files of it. */
#ifndef FORMAT_ASCEND_READ_READER_H
#define FORMAT_ASCEND_READ_READER_H

#include "format/database.h"

/* Kinds of rows in the number of a process: pid << 10 | row << 5 | device (msprof). */
enum ascend_row { ROW_CANN = 7, ROW_FREQUENCY = 14, ROW_HARDWARE = 13, ROW_COMMUNICATION = 15, ROW_HBM = 17, ROW_MEMORY = 19 };

struct ascend {
  struct database d;
  struct database_texts texts;
  struct map connections; /* id of a set -> first of its connections in `links` */
  struct buf links;       /* of struct ascend_link */
  struct map calls;       /* connection -> call of CANN */
  struct map ops;         /* connection -> operator of PyTorch that launched it */
  struct map queued;      /* connection -> Enqueue */
  struct map tasks;       /* globalTaskId -> its name or plane (device.c) */
  struct map groups;      /* group of a communicator -> number of its row */
  int64_t pid;            /* of the profiled process */
};

/* A connection of a set; several follow each other. */
struct ascend_link {
  int64_t connection;
  uint32_t next; /* index + 1; 0 = none */
};

/* Returns a process of the profiler's rows, by name. */
tk_id ascend_process(struct ascend *r, enum ascend_row row, int64_t device, const char *name);
/* Returns a thread of such a process. */
tk_id ascend_thread(struct ascend *r, tk_id process, int64_t tid, const char *name);
/* Links two events, with the name and category of trace_view.json. */
void ascend_link(struct ascend *r, tk_id from, tk_id to, const char *name, const char *category);
/* True if the cell is the id of a connection. */
bool ascend_is_connection(const struct cell *c);

#endif

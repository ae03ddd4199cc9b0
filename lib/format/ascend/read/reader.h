/* reader.h - state while an Ascend database is read.
 *
 *     read.c      detection, the clock, the rank
 *     host.c      PYTORCH_API and CANN_API: spans of threads
 *     device.c    TASK and COMMUNICATION_OP: work of the device
 *     counters.c  memory, bandwidth, frequency
 *
 * Processes and threads are the same as in trace_view.json, which the same profiler writes, so that analyses of both give the same
 * results: the processes Python, CANN, Ascend Hardware and Communication, with the same pids. Sources: Ascend/pytorch,
 * torch_npu/profiler/analysis, and files that it wrote. */
#ifndef FORMAT_ASCEND_READ_READER_H
#define FORMAT_ASCEND_READ_READER_H

#include "format/database.h"

/* Kinds of processes, which are a part of the pid that msprof computes: host pid << 10 | kind << 5 | device. */
enum ascend_row { ROW_CANN = 7, ROW_FREQUENCY = 14, ROW_HARDWARE = 13, ROW_COMMUNICATION = 15, ROW_HBM = 17, ROW_MEMORY = 19 };

struct ascend {
  struct database d;
  struct database_texts texts;
  struct map connections; /* id of a set -> 1 + index in `links` of the first connection */
  struct buf links;       /* array of struct ascend_link */
  struct map calls;       /* connection -> CANN call */
  struct map ops;         /* connection -> PyTorch operator that launched the work */
  struct map queued;      /* connection -> Enqueue span */
  struct map tasks;       /* globalTaskId -> index of the task's struct task_info (device.c) */
  struct map groups;      /* name of a communicator group -> ordinal of the group */
  int64_t pid;            /* pid of the profiled process */
};

/* A connection. Those of one set form a list. */
struct ascend_link {
  int64_t connection;
  uint32_t next; /* 1 + index of the next connection of the set; 0 = last */
};

/* Returns a process of the given kind, adding it if necessary. */
tk_id ascend_process(struct ascend *r, enum ascend_row row, int64_t device, const char *name);
/* Returns a thread of a process that ascend_process returned, adding the thread if necessary. */
tk_id ascend_thread(struct ascend *r, tk_id process, int64_t tid, const char *name);
/* Adds a flow between two events, with the name and category that trace_view.json uses. */
void ascend_link(struct ascend *r, tk_id from, tk_id to, const char *name, const char *category);
/* True if the cell contains the id of a connection. */
bool ascend_is_connection(const struct cell *c);

#endif

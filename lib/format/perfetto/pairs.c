/* pairs.c - see pairs.h.
 *
 * Two events belong together if they have the same group, scope and values of the key fields. Rules: trace_processor's
 * ftrace_parser.cc, its trackers for single drivers, frame_timeline_event_parser.cc and graphics_frame_event_parser.cc; fields:
 * protos/perfetto/trace/ftrace.
 *
 * Some devices work on a queue of spans, of which importers show one at a time (dma_fence, drm_sched). Its events are kept as those of
 * single spans, so a span that waited at the start of the range may begin earlier than in the whole trace. */
#include "pairs.h"

#include <string.h>

#include "base/hash.h"
#include "fields.h"
#include "head.h"

enum scope {
  ON_ALL,     /* the key fields identify the span */
  ON_THREAD,  /* a stack of spans for each thread */
  ON_CPU,     /* a stack of spans for each CPU */
  ON_FUNCTION /* a stack of spans for each thread, but for each CPU if the thread is idle */
};

enum role { BEGIN, LATEST, END, BEGINS_IF, ENDS_IF }; /* ..._IF: if the field `flag` is positive; otherwise the opposite */

struct row {
  uint32_t number, group;
  enum role role;
  enum scope scope;
  uint32_t keys[3], flag;
};

#define THREAD(first, last) {(first), (first), BEGIN, ON_THREAD, {0}, 0}, {(last), (first), END, ON_THREAD, {0}, 0}
#define CPU(first, last) {(first), (first), BEGIN, ON_CPU, {0}, 0}, {(last), (first), END, ON_CPU, {0}, 0}

enum { SUSPEND_RESUME = 113 };

/* Sorted by number. */
static const struct row ROWS[] = {
    {FTRACE_CPU_FREQUENCY, FTRACE_CPU_FREQUENCY, LATEST, ON_ALL, {CPU_ID}, 0},
    {12, 12, LATEST, ON_ALL, {3}, 0}, /* cpu_frequency_limits */
    {FTRACE_CPU_IDLE, FTRACE_CPU_IDLE, LATEST, ON_ALL, {CPU_ID}, 0},
    {14, 14, LATEST, ON_ALL, {1}, 0}, /* clock_enable */
    {15, 14, LATEST, ON_ALL, {1}, 0}, /* clock_disable */
    {16, 16, LATEST, ON_ALL, {1}, 0}, /* clock_set_rate */
    CPU(24, 25),                      /* softirq_entry, softirq_exit */
    CPU(36, 37),                      /* irq_handler_entry, irq_handler_exit */
    THREAD(46, 47),                   /* mm_vmscan_direct_reclaim_begin, ..._end */
    {57, 58, END, ON_THREAD, {0}, 0}, /* workqueue_execute_end */
    {58, 58, BEGIN, ON_THREAD, {0}, 0},
    {SUSPEND_RESUME, SUSPEND_RESUME, BEGINS_IF, ON_ALL, {1, 2}, 3},
    {313, 313, LATEST, ON_THREAD, {4, 1, 3}, 0}, /* rss_stat */
    {329, 329, BEGIN, ON_THREAD, {1}, 0},        /* sys_enter, sys_exit */
    {330, 329, END, ON_THREAD, {1}, 0},
    {332, 332, LATEST, ON_ALL, {1}, 0},       /* gpu_frequency */
    {335, 335, BEGINS_IF, ON_ALL, {1}, 2},    /* ion_stat */
    THREAD(338, 339),                         /* scm_call_start, scm_call_end */
    {340, 340, LATEST, ON_ALL, {1, 2}, 0},    /* gpu_mem_total */
    {341, 341, LATEST, ON_ALL, {4}, 0},       /* thermal_temperature */
    {342, 342, LATEST, ON_ALL, {2}, 0},       /* cdev_update */
    {343, 345, END, ON_ALL, {1}, 0},          /* cpuhp_exit, cpuhp_multi_enter, cpuhp_enter */
    {344, 345, BEGIN, ON_ALL, {1}, 0},
    {345, 345, BEGIN, ON_ALL, {1}, 0},
    {351, 351, BEGINS_IF, ON_ALL, {1}, 2},    /* dma_heap_stat */
    {359, 313, LATEST, ON_THREAD, {4, 1, 3}, 0}, /* rss_stat_throttled */
    {362, 362, LATEST, ON_ALL, {8}, 0},       /* inet_sock_set_state */
    CPU(365, 366),                            /* napi_gro_receive_entry, ..._exit */
    {404, 404, BEGIN, ON_ALL, {1}, 0},        /* wakeup_source_activate, ..._deactivate */
    {405, 404, END, ON_ALL, {1}, 0},
    {406, 406, ENDS_IF, ON_ALL, {7}, 10},     /* ufshcd_command */
    {407, 407, LATEST, ON_ALL, {0}, 0},       /* ufshcd_clk_gating */
    {412, 412, BEGIN, ON_ALL, {2}, 0},        /* drm_run_job, drm_sched_process_job */
    {413, 412, END, ON_ALL, {1}, 0},
    {414, 414, LATEST, ON_ALL, {1, 3}, 0},    /* dma_fence_init, dma_fence_emit, dma_fence_signaled */
    {415, 414, LATEST, ON_ALL, {1, 3}, 0},
    {416, 414, END, ON_ALL, {1, 3}, 0},
    THREAD(417, 418),                         /* dma_fence_wait_start, ..._end */
    {431, 432, END, ON_ALL, {2, 3}, 0},       /* android_fs_dataread_end, ..._start */
    {432, 432, BEGIN, ON_ALL, {4, 5}, 0},
    {437, 437, BEGIN, ON_FUNCTION, {0}, 0},   /* funcgraph_entry, funcgraph_exit */
    {438, 437, END, ON_FUNCTION, {0}, 0},
    {441, 441, BEGIN, ON_ALL, {7, 5, 6}, 0},  /* virtio_video_resource_queue, ..._done */
    {442, 441, END, ON_ALL, {7, 5, 6}, 0},
    THREAD(443, 444),                         /* mm_shrink_slab_start, ..._end */
    THREAD(445, 446),                         /* trusty_smc, ..._done */
    THREAD(447, 448),                         /* trusty_std_call32, ..._done */
    THREAD(449, 450),                         /* trusty_share_memory, ..._done */
    THREAD(451, 452),                         /* trusty_reclaim_memory, ..._done */
    THREAD(455, 456),                         /* trusty_ipc_connect, ..._end */
    THREAD(460, 461),                         /* trusty_ipc_read, ..._end */
    {465, 465, BEGIN, ON_THREAD, {0}, 0},     /* cma_alloc_start, cma_alloc_info (Linux 5.10 to 6.0), cma_alloc_finish */
    {466, 465, END, ON_THREAD, {0}, 0},
    {468, 468, BEGIN, ON_ALL, {5, 7}, 0},     /* virtio_gpu_cmd_queue, ..._response */
    {469, 468, END, ON_ALL, {5, 7}, 0},
    {481, 481, BEGINS_IF, ON_ALL, {0}, 1},    /* suspend_resume_minimal */
    {489, 489, LATEST, ON_ALL, {1}, 0},       /* rpm_status */
    {504, 504, BEGIN, ON_ALL, {1, 2}, 0},     /* device_pm_callback_start, ..._end */
    {505, 504, END, ON_ALL, {1, 2}, 0},
    {509, 509, LATEST, ON_ALL, {2}, 0},       /* kgsl_gpu_frequency */
    {546, 546, BEGIN, ON_ALL, {1}, 0},        /* block_io_start, block_io_done */
    {547, 546, END, ON_ALL, {1}, 0},
    {548, 548, LATEST, ON_ALL, {0}, 0},       /* mali_gpu_power_state */
    CPU(553, 554),                            /* hrtimer_expire_entry, ..._exit */
    CPU(559, 560),                            /* local_timer_entry, local_timer_exit */
    {576, 465, END, ON_THREAD, {0}, 0},       /* cma_alloc_finish */
    {579, 579, LATEST, ON_THREAD, {0}, 0},    /* dmabuf_rss_stat */
    {592, 594, END, ON_ALL, {1, 2}, 0},       /* drm_sched_job_done, drm_sched_job_run */
    {594, 594, BEGIN, ON_ALL, {5, 6}, 0},
    {601, 601, LATEST, ON_ALL, {0}, 0},       /* gpu_power_state */
    THREAD(607, 608),                         /* mm_vmscan_memcg_reclaim_begin, ..._end */
};

static const struct row *find(uint32_t number) {
  size_t lo = 0, hi = sizeof ROWS / sizeof *ROWS;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (ROWS[mid].number == number) return &ROWS[mid];
    if (ROWS[mid].number < number) lo = mid + 1;
    else hi = mid;
  }
  return NULL;
}

static uint64_t hash_of(const struct pb_field *f) { return f->wire == PB_BYTES ? hash_bytes(f->p, (size_t)f->value) : f->value; }

/* Returns the number of fields that identify a span. The end of timekeeping_freeze may state another CPU than its start, so importers
 * ignore the value. */
static uint32_t n_keys(const struct row *row, const struct pb_field *content) {
  static const char FREEZE[] = "timekeeping_freeze";
  enum { ACTION = 1, ALL = sizeof row->keys / sizeof *row->keys };
  if (row->number != SUSPEND_RESUME) return ALL;
  const struct pb_field action = pb_find(content, ACTION);
  return action.wire == PB_BYTES && action.value == sizeof FREEZE - 1 && memcmp(action.p, FREEZE, sizeof FREEZE - 1) == 0 ? 1 : ALL;
}

static uint64_t row_key(const struct row *row, const struct pb_field *content, uint64_t tid, uint64_t cpu) {
  const bool on_thread = row->scope == ON_THREAD || (row->scope == ON_FUNCTION && tid != 0);
  uint64_t key = row->group;
  if (row->scope != ON_ALL) key = hash_pair(hash_pair(key, on_thread), on_thread ? tid : cpu);
  for (uint32_t i = 0, n = n_keys(row, content); i < n && row->keys[i]; i++) {
    const struct pb_field f = pb_find(content, row->keys[i]);
    key = hash_pair(key, f.number ? hash_of(&f) : 0);
  }
  return key;
}

static enum pair_role role_of(const struct row *row, const struct pb_field *content) {
  switch (row->role) {
  case BEGIN: return PAIR_BEGIN;
  case LATEST: return PAIR_LATEST;
  case END: return PAIR_END;
  case BEGINS_IF:
  case ENDS_IF: break;
  }
  const bool is_set = (int64_t)head_number(content, row->flag, 0) > 0;
  return is_set == (row->role == BEGINS_IF) ? PAIR_BEGIN : PAIR_END;
}

static const struct lasting_row {
  uint32_t number;
  enum lasting lasting;
} LASTING[] = {
  {FTRACE_PRINT, LASTING_TEXT},           {FTRACE_MARK, LASTING_TEXT},
  {FTRACE_MARK_SDE, LASTING_TEXT},        {FTRACE_MARK_DPU, LASTING_TEXT},
  {FTRACE_BINDER_SENT, LASTING_CALL},     {FTRACE_BINDER_RECEIVED, LASTING_CALL},
  {FTRACE_BINDER_BUFFER, LASTING_CALL},
};

enum lasting pair_lasting(uint32_t number) {
  for (size_t i = 0; i < sizeof LASTING / sizeof *LASTING; i++)
    if (LASTING[i].number == number) return LASTING[i].lasting;
  return find(number) ? LASTING_PAIR : LASTING_NOT;
}

bool pair_of_ftrace(const struct pb_field *content, uint64_t tid, uint64_t cpu, struct pair *pair) {
  const struct row *row = find(content->number);
  if (row) *pair = (struct pair){row_key(row, content, tid, cpu), role_of(row, content)};
  return row != NULL;
}

/* ---- packets ---- */

/* The frame_timeline_event: starts of expected and actual frames are fields 1 to 4, each with a cookie that the end repeats. */
static uint32_t pairs_of_frame(const struct pb_field *content, struct pair pairs[PAIR_KEYS]) {
  enum { LAST_START = 4, FRAME_END = 5, COOKIE = 1 };
  struct pb in = pb_inside(content);
  struct pb_field f;
  if (!pb_next(&in, &f) || f.number > FRAME_END) return 0;
  const uint64_t key = hash_pair(PACKET_FRAME_TIMELINE, head_number(&f, COOKIE, 0));
  pairs[0] = (struct pair){key, f.number > LAST_START ? PAIR_END : PAIR_LATEST};
  return 1;
}

/* The graphics_frame_event: states of a buffer in a layer. All states since the program received the buffer determine the phase of the
 * buffer; the last buffer that was shown determines what the display shows. */
static uint32_t pairs_of_buffer(const struct pb_field *content, struct pair pairs[PAIR_KEYS]) {
  enum { EVENT = 1, TYPE = 2, LAYER = 3, BUFFER = 5, DEQUEUE = 1, PRESENT_FENCE = 8 };
  const struct pb_field event = pb_find(content, EVENT), layer = pb_find(&event, LAYER);
  const uint64_t type = head_number(&event, TYPE, 0);
  const uint64_t key = hash_pair(PACKET_GRAPHICS_FRAME, layer.wire == PB_BYTES ? hash_of(&layer) : 0);
  pairs[0] = (struct pair){hash_pair(hash_pair(key, 1), head_number(&event, BUFFER, 0)), type == DEQUEUE ? PAIR_LATEST : PAIR_BEGIN};
  pairs[1] = (struct pair){key, PAIR_LATEST};
  return type == PRESENT_FENCE ? 2 : 1;
}

bool pair_is_packet(uint32_t number) { return number == PACKET_FRAME_TIMELINE || number == PACKET_GRAPHICS_FRAME; }

uint32_t pairs_of_packet(const struct pb_field *content, struct pair pairs[PAIR_KEYS]) {
  if (content->number == PACKET_FRAME_TIMELINE) return pairs_of_frame(content, pairs);
  return content->number == PACKET_GRAPHICS_FRAME ? pairs_of_buffer(content, pairs) : 0;
}

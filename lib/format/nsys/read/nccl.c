/* nccl.c - describes the kernels of NCCL by the payloads of its NVTX ranges (docs/formats/nsys.md, "Payloads").
 *
 * A call such as ncclAllReduce is a range whose payload has the size of the message and the communicator. The kernel that is launched
 * inside the range gets the args that PyTorch's profiler gives to such kernels, so that reports of collectives know sizes and
 * groups. A communicator's number is a hash that all of its ranks share. Kernels that a group of calls launches (ncclGroupEnd) are
 * outside the ranges of the calls, and are not described. */
#include "nccl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "graph/args.h"

/* Calls of NCCL, and the names of these collectives in PyTorch's profiler. NCCL states the size of one message. The input or
 * output of a rank is one message, or one for each rank (in_each, out_each). Send and receive get no name, because the payload
 * numbers their ranks within the communicator. */
static const struct op_row {
  const char *call, *name;
  bool in_each, out_each; /* the input or output has a message for each rank */
} OPS[] = {{"ncclAllReduce", "allreduce", false, false},         {"ncclBroadcast", "broadcast", false, false},
           {"ncclReduce", "reduce", false, false},               {"ncclAllGather", "_allgather_base", false, true},
           {"ncclReduceScatter", "_reduce_scatter_base", true, false}, {"ncclAlltoAll", "all_to_all", true, true},
           {"ncclSend", NULL, false, false},                     {"ncclRecv", NULL, false, false}};

/* A call whose payload is known. */
struct nccl_range {
  tk_time start, end;
  tk_id track;
  int64_t bytes;
  uint64_t communicator;
  const struct op_row *op;
};

static bool number_of_arg(struct nsys *r, const struct tk_event *e, const char *key, uint64_t *v) {
  struct tk_arg arg;
  if (!args_of_event(r->d.t, e, trace_text(r->d.t, key), &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  *v = arg.type == TK_ARG_INT ? (uint64_t)arg.i : arg.u;
  return true;
}

void nccl_note(struct nsys *r, const struct tk_event *e) {
  const char *name = tk_string(r->d.t, r->d.t->classes[e->cls].name, NULL);
  struct nccl_range range = {.start = e->ts, .end = e->ts + e->dur, .track = e->track};
  uint64_t bytes, ranks;
  if (!text_begins(name, "nccl") || !number_of_arg(r, e, "NCCL communicator ID", &range.communicator)) return;
  if (number_of_arg(r, e, "No. of ranks", &ranks) && ranks <= UINT32_MAX)
    map_put(&r->communicators, range.communicator, (uint32_t)ranks);
  if (e->kind != TK_EVENT_SPAN || !number_of_arg(r, e, "Message size [bytes]", &bytes) || bytes > INT64_MAX) return;
  range.bytes = (int64_t)bytes;
  for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
    if (strcmp(OPS[i].call, name) == 0) range.op = &OPS[i];
  if (range.op) buf_append(&r->collectives, &range, sizeof range);
}

/* ---- kernels ---- */

static int by_track_and_start(const void *pa, const void *pb) {
  const struct nccl_range *a = pa, *b = pb;
  if (a->track != b->track) return a->track < b->track ? -1 : 1;
  return (a->start > b->start) - (a->start < b->start);
}

/* Returns the range around a call; NULL if there is none. Calls of NCCL are not nested in each other. */
static const struct nccl_range *range_around(struct nsys *r, const struct tk_event *call) {
  struct nccl_range *v = (struct nccl_range *)(void *)r->collectives.data;
  size_t low = 0, high = r->collectives.len / sizeof *v;
  if (!r->collectives_sorted && high) qsort(v, high, sizeof *v, by_track_and_start);
  r->collectives_sorted = true;
  const struct nccl_range wanted = {.track = call->track, .start = call->ts};
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (by_track_and_start(&v[middle], &wanted) <= 0) low = middle + 1;
    else high = middle;
  }
  const struct nccl_range *found = low ? &v[low - 1] : NULL;
  return found && found->track == call->track && found->end >= call->ts + call->dur ? found : NULL;
}

static void add_size(struct nsys *r, const char *key, int64_t bytes, bool each, int64_t ranks) {
  int64_t all = bytes;
  if (each && __builtin_mul_overflow(bytes, ranks, &all)) return;
  args_int(r->d.t, trace_text(r->d.t, key), all);
}

void nccl_args(struct nsys *r, tk_id kernel_name, tk_id call) {
  struct tk_trace *t = r->d.t;
  char group[24];
  if (!call || !r->collectives.len || !text_begins(tk_string(t, kernel_name, NULL), "nccl")) return;
  const struct nccl_range *range = range_around(r, &t->events[call]);
  if (!range) return;
  const struct op_row *op = range->op;
  const uint32_t *ranks = map_get(&r->communicators, range->communicator);
  if (op->name) args_str(t, trace_text(t, "Collective name"), TK_ARG_STR, trace_text(t, op->name));
  if (ranks) args_int(t, trace_text(t, "Group size"), *ranks);
  snprintf(group, sizeof group, "0x%" PRIx64, range->communicator);
  args_str(t, trace_text(t, "Process Group Name"), TK_ARG_STR, trace_text(t, group));
  if ((op->in_each || op->out_each) && !ranks) return;
  args_str(t, trace_text(t, "dtype"), TK_ARG_STR, trace_text(t, "Byte"));
  add_size(r, "In msg nelems", range->bytes, op->in_each, ranks ? *ranks : 1);
  add_size(r, "Out msg nelems", range->bytes, op->out_each, ranks ? *ranks : 1);
}

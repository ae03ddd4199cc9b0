/* nccl.c - describes the kernels of NCCL by the payloads of its NVTX ranges (docs/formats/nsys.md, "Payloads").
 *
 * A call such as ncclAllReduce is a range whose payload has the size of the message and the communicator. The kernel that is launched
 * inside the range gets the same args as in PyTorch's profiler, so that reports of collectives can use sizes and groups. A
 * communicator's number is a hash that all of its ranks share.
 *
 *     ncclGroupStart  ncclSend  ncclRecv  ncclSend  ncclRecv  ncclGroupEnd
 *                     ----- calls: launch nothing -----       launches one kernel for all of them
 *
 * The kernel of a group gets the sums of its calls, if all calls use one communicator and are the same operation, or are sends and
 * receives. If the outermost group launches several kernels, it is unknown which calls belong to which kernel, so none is described. */
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

enum part { GROUP_START, CALL, GROUP_END }; /* sort order of parts with the same start time */

/* A call whose payload is known, or the start or end of a group of calls. */
struct nccl_range {
  tk_time start, end;
  tk_id track;
  enum part part;
  uint32_t kernels;      /* number of kernels that the end of a group launched */
  int64_t in, out;       /* bytes of messages */
  uint64_t communicator;
  const struct op_row *op; /* NULL = unknown, or the group has calls of different kinds */
};

static bool is_message(const struct op_row *op) { return !op->name; }
static bool is_receive(const struct op_row *op) { return strcmp(op->call, "ncclRecv") == 0; }

static bool number_of_arg(struct nsys *r, const struct tk_event *e, const char *key, uint64_t *v) {
  struct tk_arg arg;
  if (!args_of_event(r->d.t, e, trace_text(r->d.t, key), &arg) || (arg.type != TK_ARG_INT && arg.type != TK_ARG_UINT)) return false;
  *v = arg.type == TK_ARG_INT ? (uint64_t)arg.i : arg.u;
  return true;
}

void nccl_note(struct nsys *r, const struct tk_event *e) {
  const char *name = tk_string(r->d.t, r->d.t->classes[e->cls].name, NULL);
  struct nccl_range range = {.start = e->ts, .end = e->ts + e->dur, .track = e->track, .part = CALL};
  uint64_t bytes, ranks;
  if (!text_begins(name, "nccl")) return;
  if (strcmp(name, "ncclGroupStart") == 0) range.part = GROUP_START;
  if (strcmp(name, "ncclGroupEnd") == 0 || strcmp(name, "ncclGroupSimulateEnd") == 0) range.part = GROUP_END;
  if (range.part != CALL && e->kind == TK_EVENT_SPAN) buf_append(&r->collectives, &range, sizeof range);
  if (range.part != CALL || !number_of_arg(r, e, "NCCL communicator ID", &range.communicator)) return;
  if (number_of_arg(r, e, "No. of ranks", &ranks) && ranks <= UINT32_MAX)
    map_put(&r->communicators, range.communicator, (uint32_t)ranks);
  if (e->kind != TK_EVENT_SPAN || !number_of_arg(r, e, "Message size [bytes]", &bytes) || bytes > INT64_MAX) return;
  range.in = range.out = (int64_t)bytes;
  for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
    if (strcmp(OPS[i].call, name) == 0) range.op = &OPS[i];
  if (range.op) buf_append(&r->collectives, &range, sizeof range);
}

/* ---- groups ---- */

static int by_track_and_start(const void *pa, const void *pb) {
  const struct nccl_range *a = pa, *b = pb;
  if (a->track != b->track) return a->track < b->track ? -1 : 1;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  return (a->part > b->part) - (a->part < b->part);
}

/* Adds the calls v[0, n) of a group to its end. Returns false if they differ in operation or communicator, if there are none, or if
 * their sums overflow. */
static bool add_calls(struct nccl_range *end, const struct nccl_range *v, size_t n) {
  const struct nccl_range *first = NULL;
  bool sends = false, receives = false;
  for (size_t i = 0; i < n; i++) {
    if (v[i].part != CALL) continue;
    if (!first) first = &v[i];
    const bool is_alike = v[i].op == first->op || (is_message(v[i].op) && is_message(first->op));
    if (!is_alike || v[i].communicator != first->communicator) return false;
    const bool is_in = !is_receive(v[i].op), is_out = is_receive(v[i].op) || !is_message(v[i].op);
    if (is_in && __builtin_add_overflow(end->in, v[i].in, &end->in)) return false;
    if (is_out && __builtin_add_overflow(end->out, v[i].out, &end->out)) return false;
    sends = sends || is_in;
    receives = receives || is_out;
  }
  if (!first) return false;
  if (!receives) end->out = end->in;
  if (!sends) end->in = end->out;
  end->communicator = first->communicator;
  end->op = first->op;
  return true;
}

/* Sorts the ranges. Stores the sums of the calls of each outermost group in the end of the group; its op is NULL if they cannot be
 * added. */
static void arrange(struct nsys *r) {
  struct nccl_range *v = (struct nccl_range *)(void *)r->collectives.data;
  const size_t n = r->collectives.len / sizeof *v;
  size_t depth = 0, start = 0;
  if (n) qsort(v, n, sizeof *v, by_track_and_start);
  for (size_t i = 0; i < n; i++) {
    if (i && v[i].track != v[i - 1].track) depth = 0;
    if (v[i].part == GROUP_START && depth++ == 0) start = i;
    if (v[i].part != GROUP_END || depth == 0 || --depth) continue;
    if (!add_calls(&v[i], v + start, i - start)) v[i].op = NULL;
  }
  r->collectives_sorted = true;
}

/* Returns the range around a call; NULL if there is none. Calls of NCCL are not nested in each other. */
static struct nccl_range *range_around(struct nsys *r, const struct tk_event *call) {
  if (!r->collectives_sorted) arrange(r);
  struct nccl_range *v = (struct nccl_range *)(void *)r->collectives.data;
  size_t low = 0, high = r->collectives.len / sizeof *v;
  const struct nccl_range wanted = {.track = call->track, .start = call->ts, .part = GROUP_END};
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (by_track_and_start(&v[middle], &wanted) <= 0) low = middle + 1;
    else high = middle;
  }
  struct nccl_range *found = low ? &v[low - 1] : NULL;
  return found && found->track == call->track && found->end >= call->ts + call->dur ? found : NULL;
}

/* ---- kernels ---- */

static bool is_kernel(const struct nsys *r, tk_id name) { return text_begins(tk_string(r->d.t, name, NULL), "nccl"); }

bool nccl_has_groups(struct nsys *r) {
  if (!r->collectives_sorted) arrange(r);
  const struct nccl_range *v = (const struct nccl_range *)(const void *)r->collectives.data;
  for (size_t i = 0; i < r->collectives.len / sizeof *v; i++)
    if (v[i].part == GROUP_END && v[i].op) return true;
  return false;
}

void nccl_count(struct nsys *r, tk_id kernel_name, tk_id call) {
  struct nccl_range *range = call && is_kernel(r, kernel_name) ? range_around(r, &r->d.t->events[call]) : NULL;
  if (range) range->kernels++;
}

static void add_size(struct nsys *r, const char *key, int64_t bytes, bool each, int64_t ranks) {
  int64_t all = bytes;
  if (each && __builtin_mul_overflow(bytes, ranks, &all)) return;
  args_int(r->d.t, trace_text(r->d.t, key), all);
}

void nccl_args(struct nsys *r, tk_id kernel_name, tk_id call) {
  struct tk_trace *t = r->d.t;
  char group[24];
  if (!call || !r->collectives.len || !is_kernel(r, kernel_name)) return;
  const struct nccl_range *range = range_around(r, &t->events[call]);
  if (!range || !range->op || (range->part == GROUP_END && range->kernels != 1)) return;
  const struct op_row *op = range->op;
  const uint32_t *ranks = map_get(&r->communicators, range->communicator);
  if (op->name) args_str(t, trace_text(t, "Collective name"), TK_ARG_STR, trace_text(t, op->name));
  if (ranks) args_int(t, trace_text(t, "Group size"), *ranks);
  snprintf(group, sizeof group, "0x%" PRIx64, range->communicator);
  args_str(t, trace_text(t, "Process Group Name"), TK_ARG_STR, trace_text(t, group));
  if ((op->in_each || op->out_each) && !ranks) return;
  args_str(t, trace_text(t, "dtype"), TK_ARG_STR, trace_text(t, "Byte"));
  add_size(r, "In msg nelems", range->in, op->in_each, ranks ? *ranks : 1);
  add_size(r, "Out msg nelems", range->out, op->out_each, ranks ? *ranks : 1);
}

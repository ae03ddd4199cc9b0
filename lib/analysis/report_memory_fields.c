/* report_memory_fields.c - fields of a report's rows about memory, and of its key figures. */
#include "report_fields.h"

FIELD_KNOWN(memory_rank_is_known, tk_report_memory, r->rank >= 0)
FIELD_KNOWN(allocated_is_known, tk_report_memory, r->peak_allocated >= 0)
FIELD_KNOWN(capacity_is_known, tk_report_memory, r->capacity >= 0)
FIELD_KNOWN(reserved_is_known, tk_report_memory, r->peak_reserved >= 0)

FIELD_KNOWN(reserved_at_peak_is_known, tk_report_memory, r->reserved_at_peak >= 0)

static bool get_unused(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_memory *m = row;
  (void)owner;
  if (m->reserved_at_peak <= 0 || m->peak_allocated < 0 || m->peak_allocated > m->reserved_at_peak) return false;
  v->number = 100 * (1 - m->peak_allocated / m->reserved_at_peak);
  return true;
}

#define PEAK(m, name, known, help) FIELD_NUMBER_OPTIONAL(tk_report_memory, BYTES, m, name, known, help)

static const struct tk_field memory_list[] = {
  FIELD_IF(tk_report_memory, INT, rank, "rank", memory_rank_is_known, "rank in the job; null if unknown"),
  FIELD(tk_report_memory, TEXT, allocator, "allocator", "device of the allocator, such as GPU 0 or cpu"),
  PEAK(peak_allocated, "peak_allocated_bytes", allocated_is_known, "maximum number of allocated bytes"),
  PEAK(peak_reserved, "peak_reserved_bytes", reserved_is_known, "maximum number of reserved bytes"),
  PEAK(capacity, "device_bytes", capacity_is_known, "memory of the device, or, for XLA, what the allocator may use"),
  FIELD_TIME(tk_report_memory, at, "peak_at_ns", "time of the peak since the first event of the trace"),
  PEAK(reserved_at_peak, "reserved_at_peak_bytes", reserved_at_peak_is_known, "bytes that were reserved at that time"),
  FIELD_GET_IF(NUMBER, PERCENT, "unused_at_peak_percent", get_unused,
    "share of the reserved bytes that was not allocated: fragmentation, and blocks kept for reuse; null if unknown"),
};
const struct field_list report_memory_fields = FIELD_LIST(tk_report_memory, memory_list, "report memory");

FIELD_KNOWN(held_has_rank, tk_report_held, r->rank >= 0)
FIELD_KNOWN(held_has_op, tk_report_held, *r->op != 0)
FIELD_KNOWN(held_has_module, tk_report_held, *r->module != 0)
FIELD_KNOWN(held_is_recorded, tk_report_held, r->recorded)

static bool get_held_share(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_held *h = row;
  (void)owner;
  v->number = h->peak > 0 ? 100 * h->bytes / h->peak : 0;
  return true;
}

static const struct tk_field held_list[] = {
  FIELD_IF(tk_report_held, INT, rank, "rank", held_has_rank, "rank in the job; null if unknown"),
  FIELD(tk_report_held, TEXT, allocator, "allocator", "device of the allocator, as in `memory`"),
  FIELD_IF(tk_report_held, TEXT, op, "op", held_has_op,
    "operator that allocated it, or the line of code in a memory snapshot; null if unknown"),
  FIELD_IF(tk_report_held, TEXT, module, "module", held_has_module, "module in which the memory was allocated; null if unknown"),
  FIELD_NUMBER_IF(tk_report_held, BYTES, bytes, "bytes", NULL, "bytes that were allocated at the peak"),
  FIELD_IF(tk_report_held, COUNT, blocks, "blocks", held_is_recorded,
    "number of allocations; null for the rest of the peak, which was allocated before the recording"),
  FIELD_GET(NUMBER, PERCENT, "peak_percent", get_held_share, "share of the peak"),
};
const struct field_list report_held_fields = FIELD_LIST(tk_report_held, held_list, "report held");

/* ---- key figures ---- */

FIELD_KNOWN(figure_is_known, tk_report_figure, r->known)
FIELD_KNOWN(figure_has_verdict, tk_report_figure, *r->verdict != 0)
FIELD_KNOWN(figure_has_limit, tk_report_figure, *r->good != 0)
FIELD_KNOWN(figure_has_rank, tk_report_figure, r->rank >= 0)
FIELD_KNOWN(figure_has_device, tk_report_figure, *r->device != 0)
FIELD_KNOWN(figure_has_run, tk_report_figure, *r->run != 0)

static const struct tk_field figure_list[] = {
  FIELD(tk_report_figure, TEXT, name, "name", "name of the figure, such as device utilization"),
  FIELD_NUMBER_IF(tk_report_figure, NONE, value, "value", figure_is_known,
    "value of the figure on the device where it is worst; null if the traces do not contain the figure"),
  FIELD(tk_report_figure, TEXT, unit, "unit", "unit of the value: %, ms, s, or empty for a number"),
  FIELD_IF(tk_report_figure, TEXT, verdict, "verdict", figure_has_verdict,
    "good, warning or bad; null if the figure is not judged"),
  FIELD_IF(tk_report_figure, TEXT, good, "good", figure_has_limit,
    "range of good values, such as at least 80; null without a limit"),
  FIELD_IF(tk_report_figure, INT, rank, "rank", figure_has_rank, "rank of the device; null if unknown, or for the whole job"),
  FIELD_IF(tk_report_figure, TEXT, run, "run", figure_has_run, "run of the rank, as in ranks; null if runs have no names"),
  FIELD_IF(tk_report_figure, TEXT, device, "device", figure_has_device, "the device; null for a host, or for the whole job"),
};
const struct field_list report_figure_fields = FIELD_LIST(tk_report_figure, figure_list, "report figure");

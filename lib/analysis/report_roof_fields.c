/* report_roof_fields.c - fields of the operators with known operations or memory traffic (report_fields.h). */
#include "report_fields.h"

FIELD_KNOWN(roof_has_type, tk_report_roof, *r->type != 0)
FIELD_KNOWN(roof_has_device, tk_report_roof, *r->device != 0)
FIELD_KNOWN(roof_has_bound, tk_report_roof, *r->bound != 0)
FIELD_KNOWN(roof_has_flops, tk_report_roof, r->flops >= 0)
FIELD_KNOWN(roof_has_bytes, tk_report_roof, r->bytes >= 0)
FIELD_KNOWN(roof_has_rate, tk_report_roof, r->flops_rate > 0)
FIELD_KNOWN(roof_has_peak, tk_report_roof, r->peak_flops > 0)

static bool get_roof_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_roof *k = row;
  (void)owner;
  v->text = k->name;
  v->n = k->name_len;
  return true;
}

static bool ratio(struct tk_value *v, double part, double whole, double scale) {
  const bool known = part > 0 && whole > 0;
  return field_number(v, known ? scale * part / whole : 0, known);
}

static bool get_roof_bandwidth(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return ratio(v, ((const struct tk_report_roof *)row)->bytes_rate, 1e9, 1);
}

static bool get_roof_intensity(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_roof *k = row;
  (void)owner;
  return ratio(v, k->flops, k->bytes, 1);
}

static bool get_roof_flops_share(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_roof *k = row;
  (void)owner;
  return ratio(v, k->flops_rate, k->peak_flops, 100);
}

static bool get_roof_bytes_share(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_roof *k = row;
  (void)owner;
  return ratio(v, k->bytes_rate, k->peak_bandwidth, 100);
}

static bool get_roof_peak_bandwidth(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return ratio(v, ((const struct tk_report_roof *)row)->peak_bandwidth, 1e9, 1);
}

static const struct tk_field roof_list[] = {
  FIELD_GET(TEXT, NONE, "name", get_roof_name, "name of the operator, or of work whose operations the trace records"),
  FIELD_IF(tk_report_roof, TEXT, type, "type", roof_has_type,
    "type of the arithmetic: fp64, fp32, tf32, fp16, bf16, fp8 or int8"),
  FIELD(tk_report_roof, TEXT, source, "source",
    "source of flops: trace if the trace records the operations, shapes if they are computed from shapes"),
  FIELD(tk_report_roof, COUNT, count, "count", "number of operators that launched kernels"),
  FIELD(tk_report_roof, COUNT, kernels, "kernels", "number of kernels of these operators"),
  FIELD_TIME(tk_report_roof, total, "total_ns", "sum of the durations of these kernels"),
  FIELD_IF(tk_report_roof, NUMBER, flops, "flops", roof_has_flops, "floating-point operations; null if they are unknown"),
  FIELD_NUMBER_IF(tk_report_roof, BYTES, bytes, "bytes", roof_has_bytes, "bytes read and written"),
  FIELD_IF(tk_report_roof, NUMBER, flops_rate, "flops_per_second", roof_has_rate,
    "operations divided by the durations of the kernels"),
  FIELD_GET_IF(NUMBER, GB_PER_S, "gb_per_s", get_roof_bandwidth, "bytes divided by the durations of the kernels"),
  FIELD_GET_IF(NUMBER, NONE, "flops_per_byte", get_roof_intensity, "arithmetic intensity: operations divided by bytes"),
  FIELD_IF(tk_report_roof, TEXT, device, "device", roof_has_device, "device whose peaks count; null if unknown"),
  FIELD_IF(tk_report_roof, NUMBER, peak_flops, "peak_flops_per_second", roof_has_peak, "peak of the device for the type"),
  FIELD_GET_IF(NUMBER, GB_PER_S, "peak_gb_per_s", get_roof_peak_bandwidth, "peak bandwidth of the device's memory"),
  FIELD_GET_IF(NUMBER, PERCENT, "peak_flops_percent", get_roof_flops_share, "flops_per_second as a share of the peak"),
  FIELD_GET_IF(NUMBER, PERCENT, "peak_bandwidth_percent", get_roof_bytes_share, "gb_per_s as a share of the peak"),
  FIELD_IF(tk_report_roof, TEXT, bound, "bound", roof_has_bound,
    "compute or memory: what takes longer at the peak; null if unknown"),
};
const struct field_list report_roof_fields = FIELD_LIST(tk_report_roof, roof_list, "report roofline");

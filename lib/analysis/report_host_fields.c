/* report_host_fields.c - fields of the tables about hosts: operators, annotations, idle times, compilations, sampled functions
 * (report_fields.h). */
#include "report_fields.h"

FIELD_KNOWN(op_has_steps, tk_report_op, r->has_steps)

static bool get_op_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_op *o = row;
  (void)owner;
  v->text = o->name;
  v->n = o->name_len;
  return true;
}

static bool get_op_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_report_op *)row)->of_sum, true);
}

static const struct tk_field op_list[] = {
  FIELD_GET(TEXT, NONE, "name", get_op_name, "name of the spans"),
  FIELD(tk_report_op, TEXT, kind, "kind", "what the host did: operator, python, launch, runtime, sync, input, compile, ..."),
  FIELD(tk_report_op, COUNT, count, "count", "number of spans"),
  FIELD_TIME(tk_report_op, total, "total_ns", "sum of the durations"),
  FIELD_TIME(tk_report_op, self, "self_ns", "time in which one of the operators was the innermost span of its thread"),
  FIELD_TIME(tk_report_op, min, "min_ns", "shortest duration"),
  FIELD_TIME(tk_report_op, max, "max_ns", "longest duration"),
  FIELD_TIME(tk_report_op, mean, "mean_ns", "mean duration"),
  FIELD_GET(NUMBER, PERCENT, "percent_of_sum", get_op_share, "share of the self time of all rows"),
  FIELD_TIME_OPTIONAL(tk_report_op, per_step, "self_per_step_ns", op_has_steps,
    "self time within steps, divided by the number of steps"),
};
const struct field_list report_op_fields = FIELD_LIST(tk_report_op, op_list, "report operator");

static bool get_annotation_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_annotation *a = row;
  (void)owner;
  v->text = a->name;
  v->n = a->name_len;
  return true;
}

static bool get_parent_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_report_annotation *)row)->of_parent, true);
}

static const struct tk_field annotation_list[] = {
  FIELD_GET(TEXT, NONE, "name", get_annotation_name, "name of the annotations; a number in the name of a step is *"),
  FIELD(tk_report_annotation, COUNT, depth, "depth", "number of annotations around them; the rows are in preorder"),
  FIELD(tk_report_annotation, COUNT, count, "count", "number of annotations with this path of names"),
  FIELD_TIME(tk_report_annotation, total, "total_ns", "sum of the durations"),
  FIELD_TIME(tk_report_annotation, self, "self_ns", "total minus the annotations directly within"),
  FIELD_TIME(tk_report_annotation, mean, "mean_ns", "mean duration"),
  FIELD_GET(NUMBER, PERCENT, "percent_of_parent", get_parent_share, "total as a share of the total of the row around it"),
};
const struct field_list report_annotation_fields = FIELD_LIST(tk_report_annotation, annotation_list, "report annotation");

FIELD_KNOWN(layer_has_name, tk_report_layer, r->name != NULL)
FIELD_KNOWN(layer_has_work, tk_report_layer, r->launched > 0)
FIELD_KNOWN(layer_has_steps, tk_report_layer, r->launched > 0 && r->per_step >= 0)

static bool get_layer_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_layer *l = row;
  v->text = l->name ? l->name : "";
  v->n = l->name_len;
  return layer_has_name(row, owner);
}

static bool get_layer_share(const void *row, const void *owner, struct tk_value *v) {
  return field_number(v, 100 * ((const struct tk_report_layer *)row)->of_work, layer_has_work(row, owner));
}

static const struct tk_field layer_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_layer_name, "name of the layer; null for all work outside of layers"),
  FIELD(tk_report_layer, TEXT, kind, "kind", "what the layers are: scopes, modules or annotations"),
  FIELD(tk_report_layer, COUNT, depth, "depth", "number of layers around the layer; the rows are in preorder"),
  FIELD(tk_report_layer, COUNT, count, "count",
    "number of spans of the layer; for scopes, and outside of layers, number of pieces of work"),
  FIELD_TIME(tk_report_layer, total, "total_ns", "sum of the durations of the layer's spans or, for a scope, of its work"),
  FIELD(tk_report_layer, COUNT, launched, "launched", "number of kernels, copies and fills of the layer"),
  FIELD_TIME_IF(tk_report_layer, device, "device_ns", layer_has_work,
    "time in which any device of a trace ran work of the layer, added up over the traces"),
  FIELD_GET_IF(NUMBER, PERCENT, "percent_of_work", get_layer_share,
    "device_ns as a share of the time in which any device ran work"),
  FIELD_TIME_IF(tk_report_layer, per_step, "device_per_step_ns", layer_has_steps,
    "device_ns divided by the number of steps; null if a trace has no steps"),
};
const struct field_list report_layer_fields = FIELD_LIST(tk_report_layer, layer_list, "report layer");

/* ---- idle times ---- */

FIELD_KNOWN(gap_has_rank, tk_report_gap, r->rank >= 0)
FIELD_KNOWN(gap_has_cause, tk_report_gap, *r->cause != 0)
FIELD_KNOWN(gap_has_host, tk_report_gap, *r->host_span != 0)
FIELD_KNOWN(gap_is_searched, tk_report_gap, r->host_time >= 0)

static const struct tk_field gap_list[] = {
  FIELD_IF(tk_report_gap, INT, rank, "rank", gap_has_rank, "rank in the job; null if unknown"),
  FIELD(tk_report_gap, TEXT, device, "device", "accelerator that was idle"),
  FIELD(tk_report_gap, TEXT, input, "input", "file that contains the gap"),
  FIELD_TIME(tk_report_gap, at, "at_ns", "start since the first event of the trace"),
  FIELD_TIME(tk_report_gap, length, "length_ns", "length of the gap"),
  FIELD_IF(tk_report_gap, TEXT, cause, "cause", gap_has_cause,
    "host (the launching call was late), kernel or other; null if unknown"),
  FIELD(tk_report_gap, TEXT, before, "before", "name of the work that ended before the gap"),
  FIELD(tk_report_gap, TEXT, after, "after", "name of the work that started after the gap"),
  FIELD(tk_report_gap, TEXT, short_before, "short_before", "the name in before, shortened"),
  FIELD(tk_report_gap, TEXT, short_after, "short_after", "the name in after, shortened"),
  FIELD_IF(tk_report_gap, TEXT, host_span, "host_span", gap_has_host,
    "name of the innermost spans of the host that cover at least half of the gap; null if none do"),
  FIELD_TIME_IF(tk_report_gap, host_time, "host_span_ns", gap_is_searched,
    "time that the spans of host_span cover; if host_span is null, the longest time that spans of one name cover; null if the "
    "host was not searched"),
};
const struct field_list report_gap_fields = FIELD_LIST(tk_report_gap, gap_list, "report gap");

FIELD_KNOWN(compilation_has_rank, tk_report_compilation, r->rank >= 0)
FIELD_KNOWN(compilation_has_step, tk_report_compilation, r->has_step)
FIELD_KNOWN(compilation_has_module, tk_report_compilation, *r->module != 0)
FIELD_KNOWN(compilation_has_function, tk_report_compilation, *r->function != 0)

static const struct tk_field compilation_list[] = {
  FIELD_IF(tk_report_compilation, INT, rank, "rank", compilation_has_rank, "rank in the job; null if unknown"),
  FIELD(tk_report_compilation, TEXT, input, "input", "file that contains it"),
  FIELD_TIME(tk_report_compilation, at, "at_ns", "start since the first event of the trace"),
  FIELD_TIME(tk_report_compilation, length, "length_ns", "duration"),
  FIELD_IF(tk_report_compilation, INT, step, "step", compilation_has_step,
    "number of the step in which the compilation started; null if none"),
  FIELD_IF(tk_report_compilation, TEXT, module, "module", compilation_has_module, "compiled module of XLA; null if unknown"),
  FIELD_IF(tk_report_compilation, TEXT, function, "function", compilation_has_function,
    "function whose call of JAX compiled; null if unknown"),
  FIELD(tk_report_compilation, TEXT, name, "name", "name of the outermost span of the compilation"),
};
const struct field_list report_compilation_fields = FIELD_LIST(tk_report_compilation, compilation_list, "report compilation");

/* ---- operators of devices ---- */

static bool get_device_op_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_device_op *o = row;
  (void)owner;
  v->text = o->name;
  v->n = o->name_len;
  return o->name != NULL;
}

static bool get_device_op_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_report_device_op *)row)->of_work, true);
}

FIELD_KNOWN(device_op_has_host, tk_report_device_op, r->has_host)

static const struct tk_field device_op_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_device_op_name, "name of the operator or instruction; null: all work without one"),
  FIELD(tk_report_device_op, TEXT, category, "category",
    "HLO category as the trace states it, otherwise the class of the work, such as matmul, copy or collective"),
  FIELD(tk_report_device_op, COUNT, calls, "calls", "number of operators that launched the work, or of executed instructions"),
  FIELD(tk_report_device_op, COUNT, work, "work", "number of kernels, copies and fills"),
  FIELD_TIME(tk_report_device_op, device, "device_ns", "sum of the durations of the work"),
  FIELD_GET(NUMBER, PERCENT, "percent", get_device_op_share, "device_ns as a percentage of the durations of all work"),
  FIELD_TIME_IF(tk_report_device_op, host_self, "host_self_ns", device_op_has_host,
    "self time of the operators of this name on the host; null if the host recorded none"),
  FIELD_IF(tk_report_device_op, COUNT, host_count, "host_count", device_op_has_host,
    "number of operators of this name on the host, including operators that launched nothing"),
};
const struct field_list report_device_op_fields = FIELD_LIST(tk_report_device_op, device_op_list, "report device operator");

/* ---- stack samples ---- */

static bool get_function_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_report_function *f = row;
  (void)owner;
  v->text = f->name;
  v->n = f->name_len;
  return f->name_len > 0;
}

static bool get_function_unit(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_text(v, ((const struct tk_report_function *)row)->unit);
}

static bool get_self_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_report_function *)row)->self_of_sum, true);
}

static bool get_total_share(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_report_function *)row)->total_of_sum, true);
}

static const struct tk_field function_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_function_name, "name of the function; null if unnamed"),
  FIELD_GET_IF(TEXT, NONE, "unit", get_function_unit, "unit of the weights; null: time. In other units, 1 ns means 1 unit"),
  FIELD(tk_report_function, COUNT, samples, "samples", "number of samples whose stack contains the function"),
  FIELD_TIME(tk_report_function, self, "self_ns", "weight of the samples with this innermost frame"),
  FIELD_TIME(tk_report_function, total, "total_ns", "weight of the samples whose stack contains the function"),
  FIELD_GET(NUMBER, PERCENT, "self_percent", get_self_share, "self_ns as a percentage of the weight of all samples in this unit"),
  FIELD_GET(NUMBER, PERCENT, "total_percent", get_total_share, "total_ns as a percentage of the same weight"),
};
const struct field_list report_function_fields = FIELD_LIST(tk_report_function, function_list, "report function");

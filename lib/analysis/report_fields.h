/* report_fields.h - fields of a report and its rows (tk_report). */
#ifndef ANALYSIS_REPORT_FIELDS_H
#define ANALYSIS_REPORT_FIELDS_H

#include "fields.h"

extern const struct field_list report_fields, report_finding_fields, report_split_fields, report_rank_fields,
  report_step_fields, report_spread_fields, report_stream_fields, report_kernel_fields, report_launch_fields,
  report_collective_fields, report_wait_fields, report_op_fields, report_annotation_fields, report_memory_fields,
  report_gap_fields, report_roof_fields, report_held_fields, report_figure_fields, report_compilation_fields,
  report_layer_fields, report_function_fields, report_device_op_fields;

#endif

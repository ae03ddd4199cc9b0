/* fields.c - implements tk_fields: returns the fields of every kind of row. */
#include "analysis/runs_fields.h"
#include "analysis/report_fields.h"
#include "analysis/top_fields.h"
#include "files_fields.h"
#include "merge/fields.h"

static const struct field_list *list_of(enum tk_row row) {
  static const struct field_list *const lists[TK_N_ROWS] = {
    [TK_ROW_REPORT] = &report_fields,
    [TK_ROW_REPORT_RANK] = &report_rank_fields,
    [TK_ROW_REPORT_FINDING] = &report_finding_fields,
    [TK_ROW_REPORT_SPLIT] = &report_split_fields,
    [TK_ROW_REPORT_STEP] = &report_step_fields,
    [TK_ROW_REPORT_SPREAD] = &report_spread_fields,
    [TK_ROW_REPORT_STREAM] = &report_stream_fields,
    [TK_ROW_REPORT_KERNEL] = &report_kernel_fields,
    [TK_ROW_REPORT_LAUNCH] = &report_launch_fields,
    [TK_ROW_REPORT_COLLECTIVE] = &report_collective_fields,
    [TK_ROW_REPORT_WAIT] = &report_wait_fields,
    [TK_ROW_REPORT_OP] = &report_op_fields,
    [TK_ROW_REPORT_ANNOTATION] = &report_annotation_fields,
    [TK_ROW_REPORT_MEMORY] = &report_memory_fields,
    [TK_ROW_REPORT_GAP] = &report_gap_fields,
    [TK_ROW_REPORT_LAYER] = &report_layer_fields,
    [TK_ROW_REPORT_COMPILATION] = &report_compilation_fields,
    [TK_ROW_REPORT_FUNCTION] = &report_function_fields,
    [TK_ROW_REPORT_DEVICE_OP] = &report_device_op_fields,
    [TK_ROW_REPORT_ROOF] = &report_roof_fields,
    [TK_ROW_REPORT_HELD] = &report_held_fields,
    [TK_ROW_REPORT_FIGURE] = &report_figure_fields,
    [TK_ROW_TOP] = &top_fields,
    [TK_ROW_TREE] = &tree_fields,
    [TK_ROW_DIFF] = &diff_fields,
    [TK_ROW_DIFF_SUM] = &diff_sum_fields,
    [TK_ROW_DIFF_BEFORE] = &diff_before_fields,
    [TK_ROW_DIFF_AFTER] = &diff_after_fields,
    [TK_ROW_COMPARE] = &compare_fields,
    [TK_ROW_COMPARE_SUM] = &compare_sum_fields,
    [TK_ROW_COMPARE_CELL] = &compare_cell_fields,
    [TK_ROW_COMPARE_SHIFT] = &compare_shift_fields,
    [TK_ROW_COMPARE_RUN] = &compare_run_fields,
    [TK_ROW_MERGE_RANK] = &merge_rank_fields,
    [TK_ROW_LISTED] = &listed_fields,
    [TK_ROW_EXTRACTED] = &extracted_fields,
    [TK_ROW_SIZE_KIND] = &size_fields[TK_SIZE_KIND],
    [TK_ROW_SIZE_CAT] = &size_fields[TK_SIZE_CAT],
    [TK_ROW_SIZE_NAME] = &size_fields[TK_SIZE_NAME],
    [TK_ROW_SIZE_ARG] = &size_fields[TK_SIZE_ARG],
    [TK_ROW_SIZE_TRACK] = &size_fields[TK_SIZE_TRACK],
    [TK_ROW_SIZE_RANK] = &size_fields[TK_SIZE_RANK],
  };
  return row >= 0 && row < TK_N_ROWS ? lists[row] : NULL;
}

const struct tk_field *tk_fields(enum tk_row row, size_t *n, size_t *stride) {
  const struct field_list *list = list_of(row);
  *n = list ? list->n : 0;
  if (stride) *stride = list ? list->stride : 0;
  return list ? list->fields : NULL;
}

const void *tk_row_at(const void *rows, enum tk_row row, size_t i) {
  const struct field_list *list = list_of(row);
  return list ? (const char *)rows + i * list->stride : NULL;
}

const char *tk_row_name(enum tk_row row) {
  const struct field_list *list = list_of(row);
  return list ? list->name : NULL;
}

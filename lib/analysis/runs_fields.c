/* runs_fields.c - see runs_fields.h. */
#include "runs_fields.h"

#define ROW_OF(S) \
  const struct S *r = row; \
  (void)owner

/* Defines a getter of a time that is stored as a double of picoseconds. */
#define GET_PS(function, S, member, known)                                            \
  static bool function(const void *row, const void *owner, struct tk_value *v) {      \
    ROW_OF(S);                                                                        \
    return field_number(v, r->member / 1e3, known);                                   \
  }

/* ---- cells ---- */

GET_PS(get_cell_total, tk_compare_cell, total, true)
GET_PS(get_cell_self, tk_compare_cell, self, true)
GET_PS(get_cell_delta, tk_compare_cell, delta, true)
GET_PS(get_cell_noise, tk_compare_cell, noise, r->noise >= 0)
GET_PS(get_cell_error, tk_compare_cell, error, r->error >= 0)

static bool get_cell_state(const void *row, const void *owner, struct tk_value *v) {
  static const char *const names[] = {"base", "absent", "changed", "noise", "unknown", "new", "gone"};
  ROW_OF(tk_compare_cell);
  return field_text(v, names[r->state]);
}

static bool get_cell_ratio(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_compare_cell *r = row;
  const double base = owner ? ((const struct tk_compare_row *)owner)->runs[0].total : 0;
  return field_number(v, base > 0 ? r->total / base : 0, base > 0);
}

static bool get_cell_work(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_cell);
  return field_text(v, r->work_name);
}

static bool get_cell_short(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_cell);
  return field_text(v, r->work_short_name);
}

static const struct tk_field cell_list[] = {
  FIELD_GET(TEXT, NONE, "state", get_cell_state, "base (the first run), changed, noise, unknown, new, gone, or absent from both"),
  FIELD(tk_compare_cell, COUNT, events, "events", "number of events"),
  FIELD(tk_compare_cell, NUMBER, count, "count", "number of events, as a mean per step and rank"),
  FIELD_GET(NUMBER, NS, "total_ns", get_cell_total, "sum of the durations, as a mean per step and rank"),
  FIELD_GET(NUMBER, NS, "self_ns", get_cell_self, "self time, as a mean per step and rank"),
  FIELD_GET_IF(NUMBER, NS, "error_ns", get_cell_error, "standard error of total_ns; null if there are too few steps and ranks"),
  FIELD_GET(NUMBER, NS, "delta_ns", get_cell_delta, "total_ns minus that of the first run"),
  FIELD_GET_IF(NUMBER, NONE, "ratio", get_cell_ratio, "total_ns divided by that of the first run; null if that was 0"),
  FIELD_GET_IF(NUMBER, NS, "noise_ns", get_cell_noise,
    "half the width of the 95% confidence interval of delta_ns; null if there are too few steps and ranks"),
  FIELD_GET_IF(TEXT, NONE, "work_name", get_cell_work,
    "with --match tree: name of the kernel, copy or fill with the most time; null: the row has none"),
  FIELD_GET_IF(TEXT, NONE, "work_short_name", get_cell_short, "the same name, shortened if it is long"),
  FIELD(tk_compare_cell, COUNT, work_names, "work_names", "number of different names of that work"),
};
const struct field_list compare_cell_fields = FIELD_LIST(tk_compare_cell, cell_list, "compare cell");

/* ---- shifts ---- */

GET_PS(get_shift_before, tk_compare_shift, before, true)
GET_PS(get_shift_after, tk_compare_shift, after, true)
GET_PS(get_shift_noise, tk_compare_shift, noise, true)

static const struct tk_field shift_list[] = {
  FIELD(tk_compare_shift, COUNT, run, "run", "index of the first run after the change; the first run of all is 0"),
  FIELD_GET(NUMBER, NS, "before_ns", get_shift_before, "mean total_ns of the runs before, back to the previous change"),
  FIELD_GET(NUMBER, NS, "after_ns", get_shift_after, "mean total_ns of the runs after, up to the next change"),
  FIELD_GET(NUMBER, NS, "noise_ns", get_shift_noise, "half the width of the 95% confidence interval of after_ns minus before_ns"),
  FIELD(tk_compare_shift, NUMBER, p, "p",
    "probability of such a change by chance, corrected for the number of possible places of a change"),
  FIELD(tk_compare_shift, BOOL, small, "small",
    "true if the change is less than 1% of the step time (without steps: of the time of all events); the tables omit it"),
};
const struct field_list compare_shift_fields = FIELD_LIST(tk_compare_shift, shift_list, "compare shift");

/* ---- rows ---- */

static bool get_compare_name(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_row);
  v->text = r->name ? r->name : "";
  v->n = r->name_len;
  return r->name != NULL;
}

static bool get_compare_short(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_row);
  return field_text(v, r->short_name);
}

static const struct tk_field row_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_compare_name,
    "value that the events have in common; the names of a path are joined by >; null if unnamed"),
  FIELD_ROWS(tk_compare_row, TK_ROW_COMPARE_CELL, runs, n_runs, "runs", "figures of each run"),
  FIELD_ROWS(tk_compare_row, TK_ROW_COMPARE_SHIFT, shifts, n_shifts, "shifts", "lasting changes; none without --over"),
  FIELD(tk_compare_row, BOOL, is_mark, "is_mark",
    "true if the events only show that a profiler ran; such rows have no self time and are listed last"),
  FIELD_GET_OPTIONAL(TEXT, NONE, "short_name", get_compare_short, "short name of a kernel, unique in this report"),
};
enum { N_COMPARE = sizeof row_list / sizeof *row_list - 2 }; /* the rows of sums have no mark and no short name */
const struct field_list compare_fields = FIELD_LIST(tk_compare_row, row_list, "compare");
const struct field_list compare_sum_fields = {row_list + 1, N_COMPARE - 1, sizeof(struct tk_compare_row), "compare sum"};

/* ---- runs ---- */

static bool get_busy(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_run);
  return field_number(v, r->window > 0 ? 100 * (double)r->busy / (double)r->window : 0, r->window > 0);
}

static bool get_matched(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_run);
  return field_text(v, !r->paired ? "" : r->by_number ? "number" : "order");
}

static bool get_steps(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_run);
  v->rows = &r->steps;
  v->n = 1;
  return r->steps.count > 0;
}

GET_PS(get_outside, tk_compare_run, outside_time, true)

static bool get_step_name(const void *row, const void *owner, struct tk_value *v) {
  ROW_OF(tk_compare_run);
  return field_text(v, r->step_name);
}

FIELD_KNOWN(has_window, tk_compare_run, r->window > 0)
FIELD_KNOWN(has_memory, tk_compare_run, r->memory >= 0)
FIELD_KNOWN(has_allocated, tk_compare_run, r->allocated >= 0)
FIELD_KNOWN(has_launches_per_step, tk_compare_run, r->launches_per_step >= 0)

static const struct tk_field run_list[] = {
  FIELD(tk_compare_run, TEXT, name, "name", "name of the run"),
  FIELD(tk_compare_run, COUNT, inputs, "inputs", "number of traces"),
  FIELD(tk_compare_run, COUNT, ranks, "ranks", "number of ranks"),
  FIELD(tk_compare_run, COUNT, samples, "samples",
    "number of values that each mean is computed from: the steps of all ranks, or the ranks if there are no steps"),
  FIELD(tk_compare_run, COUNT, outside, "events_outside", "number of events that start outside of all steps; excluded"),
  FIELD_GET(NUMBER, NS, "outside_ns", get_outside, "self time of these events"),
  FIELD_GET_IF(TEXT, NONE, "step_name", get_step_name,
    "name of the spans that mark the compared steps, with * for numbers; null if there are none, if they are bare numbers, or "
    "if ranks differ"),
  FIELD_GET_IF(TEXT, NONE, "matched_by", get_matched,
    "how steps are paired with the steps of the first run: by number or order; null if they are not paired"),
  FIELD_TIME(tk_compare_run, length, "length_ns", "length of the longest trace"),
  FIELD(tk_compare_run, COUNT, devices, "devices", "number of devices"),
  FIELD_TIME_IF(tk_compare_run, window, "window_ns", has_window,
    "from the start of the first work of a device to the end of the last, as a mean over the devices"),
  FIELD_GET_IF(NUMBER, PERCENT, "busy_percent", get_busy, "time in which work ran, as a percentage of window_ns"),
  FIELD(tk_compare_run, COUNT, work, "work", "number of kernels, copies and fills"),
  FIELD(tk_compare_run, COUNT, launches, "launches",
    "number of events of hosts that launched work, as in the launches of report; if no work has a known launch, number of calls whose "
    "names show that they launch work"),
  FIELD_NUMBER_IF(tk_compare_run, MEAN, launches_per_step, "launches_per_step", has_launches_per_step,
    "number of launches that start in a step, as a mean over the steps; null unless steps are compared"),
  FIELD_NUMBER_IF(tk_compare_run, BYTES, memory, "peak_memory_bytes", has_memory,
    "highest peak of reserved memory of a device, or of allocated memory if the former is unknown"),
  FIELD_NUMBER_IF(tk_compare_run, BYTES, allocated, "peak_allocated_bytes", has_allocated,
    "highest peak of allocated memory of a device; null if unknown"),
  {.name = "step", .help = "step durations; null unless steps are compared", .type = TK_TYPE_ROW, .of = TK_ROW_REPORT_SPREAD,
   .unknown = TK_UNKNOWN_NULL, .get = get_steps},
};
const struct field_list compare_run_fields = FIELD_LIST(tk_compare_run, run_list, "compare run");

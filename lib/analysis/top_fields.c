/* top_fields.c - the fields of the rows of top, tree and diff (top_fields.h). */
#include "top_fields.h"

#include <math.h>

static bool top_name_of(struct tk_value *v, const char *name, size_t n) {
  v->text = name ? name : "";
  v->n = n;
  return name != NULL;
}

/* ---- top ---- */

static bool get_top_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_top_row *r = row;
  (void)owner;
  return top_name_of(v, r->name, r->name_len);
}

static bool get_top_short_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_top_row *r = row;
  (void)owner;
  return top_name_of(v, r->short_name, r->short_len);
}

FIELD_KNOWN(is_timed, tk_top_row, r->timed > 0)

static bool get_of_range(const void *row, const void *owner, struct tk_value *v) {
  return field_number(v, 100 * ((const struct tk_top_row *)row)->of_range, is_timed(row, owner));
}

static bool get_of_sum(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, 100 * ((const struct tk_top_row *)row)->of_sum, true);
}

static const struct tk_field top_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_top_name,
    "value that the events have in common: the name, or the value chosen with --by; null if unnamed"),
  FIELD(tk_top_row, COUNT, count, "count", "number of spans, instants and stack samples"),
  FIELD(tk_top_row, COUNT, instants, "instants", "number of instants among the events"),
  FIELD(tk_top_row, COUNT, samples, "samples",
    "number of stack samples among the events; for a name, the samples whose stack contains the name"),
  FIELD(tk_top_row, COUNT, unfinished, "unfinished", "number of spans that never ended; excluded from all times"),
  FIELD(tk_top_row, COUNT, clipped, "clipped", "number of spans that were cut at an edge of the time range"),
  FIELD_TIME(tk_top_row, total, "total_ns", "sum of the durations, plus the weights of samples whose stack contains the name"),
  FIELD_TIME(tk_top_row, self, "self_ns",
    "time during which one of the events was the innermost span of its thread, plus the weights of samples with this innermost "
    "frame"),
  FIELD_TIME_IF(tk_top_row, union_time, "union_ns", is_timed,
    "time during which at least one of the events ran, on any thread"),
  FIELD_TIME_IF(tk_top_row, min, "min_ns", is_timed, "shortest duration of a span; 0 if there are only instants"),
  FIELD_TIME_IF(tk_top_row, max, "max_ns", is_timed, "longest duration of a span"),
  FIELD_TIME_IF(tk_top_row, mean, "mean_ns", is_timed, "mean duration of the spans"),
  FIELD_TIME_IF(tk_top_row, p50, "p50_ns", is_timed, "median duration of the spans"),
  FIELD_TIME_IF(tk_top_row, p95, "p95_ns", is_timed, "95th percentile of the durations of the spans"),
  FIELD_GET_IF(NUMBER, PERCENT, "percent_of_range", get_of_range, "union_ns as a percentage of the time range"),
  FIELD_GET(NUMBER, PERCENT, "percent_of_sum", get_of_sum, "self_ns as a percentage of the sum of self_ns over all rows"),
  FIELD(tk_top_row, BOOL, is_mark, "is_mark",
    "true if the spans only show that a profiler ran; such rows have no self time and are listed last"),
  FIELD_GET_OPTIONAL(TEXT, NONE, "short_name", get_top_short_name,
    "short readable name, unique in this table; only for kernels"),
};
const struct field_list top_fields = FIELD_LIST(tk_top_row, top_list, "top");

/* ---- tree ---- */

static bool get_tree_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_tree_node *n = row;
  (void)owner;
  return top_name_of(v, n->name, n->name_len);
}

static bool get_tree_id(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_tree_report *r = owner;
  v->count = (uint64_t)((const struct tk_tree_node *)row - r->nodes);
  return true;
}

FIELD_KNOWN(has_parent, tk_tree_node, r->parent != UINT32_MAX)
FIELD_KNOWN(has_launched, tk_tree_node, r->launched > 0)
FIELD_KNOWN(has_mean, tk_tree_node, r->mean >= 0)
FIELD_KNOWN(has_share, tk_tree_node, !r->is_mark)

static bool percent(struct tk_value *v, const struct tk_tree_node *n, struct tk_total whole) {
  const double all = field_seconds(whole);
  return field_number(v, all > 0 ? 100 * field_seconds(n->total) / all : 0, has_share(n, NULL));
}

static bool get_of_parent(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_tree_node *n = row;
  const struct tk_tree_report *r = owner;
  return percent(v, n, has_parent(row, owner) ? r->nodes[n->parent].total : r->sum);
}

static bool get_of_all(const void *row, const void *owner, struct tk_value *v) {
  return percent(v, row, ((const struct tk_tree_report *)owner)->sum);
}

static bool get_tree_short(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_text(v, ((const struct tk_tree_node *)row)->short_name);
}

static const struct tk_field tree_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_tree_name, "name of the spans; null if unnamed"),
  FIELD_GET(COUNT, NONE, "id", get_tree_id, "number of the path"),
  FIELD_IF(tk_tree_node, COUNT, parent, "parent", has_parent, "id of the path above; null for the outermost"),
  FIELD(tk_tree_node, COUNT, depth, "depth", "number of paths above"),
  FIELD(tk_tree_node, COUNT, count, "count", "number of spans, and of stack samples here and below"),
  FIELD(tk_tree_node, COUNT, unfinished, "unfinished", "number of spans that never ended; excluded from all times"),
  FIELD(tk_tree_node, COUNT, clipped, "clipped", "number of spans that were cut at an edge of the time range"),
  FIELD_TIME(tk_tree_node, total, "total_ns", "sum of the durations, plus the weights of samples here and below"),
  FIELD_TIME(tk_tree_node, self, "self_ns",
    "time during which one of the spans was the innermost of its thread, plus the weights of samples with this stack"),
  FIELD_GET_IF(NUMBER, PERCENT, "percent_of_parent", get_of_parent,
    "total_ns as a percentage of total_ns of the path above; null for marks"),
  FIELD_GET_IF(NUMBER, PERCENT, "percent_of_all", get_of_all,
    "total_ns as a percentage of total_ns of the outermost paths; null for marks"),
  FIELD(tk_tree_node, COUNT, launched, "launched", "number of kernels, copies and fills launched within the spans"),
  FIELD_TIME_IF(tk_tree_node, device, "device_ns", has_launched,
    "time during which an accelerator ran the launched work, on any stream"),
  FIELD_TIME_IF(tk_tree_node, mean, "mean_ns", has_mean, "mean duration of the spans that ended; null if none did"),
  FIELD(tk_tree_node, BOOL, is_mark, "is_mark",
    "true if the spans only show that a profiler ran; such a path has no self time, is excluded from sums, and is the last at "
    "its level"),
  FIELD_GET_OPTIONAL(TEXT, NONE, "short_name", get_tree_short, "short name of a kernel, unique in this report"),
};
const struct field_list tree_fields = FIELD_LIST(tk_tree_node, tree_list, "tree");

/* ---- diff ---- */

static bool get_diff_name(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_diff_row *r = row;
  (void)owner;
  return top_name_of(v, r->name, r->name_len);
}

enum tk_diff_state tk_diff_state(const struct tk_diff_row *r) {
  if (r->events[TK_BEFORE] == 0) return TK_DIFF_NEW;
  if (r->events[TK_AFTER] == 0) return TK_DIFF_GONE;
  if (r->noise < 0) return TK_DIFF_UNKNOWN;
  return fabs(r->delta) <= r->noise ? TK_DIFF_NOISE : TK_DIFF_CHANGED;
}

static bool get_state(const void *row, const void *owner, struct tk_value *v) {
  static const char *const names[] = {"changed", "noise", "unknown", "new", "gone"};
  (void)owner;
  return field_text(v, names[tk_diff_state(row)]);
}

static bool get_side(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  v->rows = row;
  v->n = 1;
  return true;
}

static bool get_delta(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_number(v, ((const struct tk_diff_row *)row)->delta / 1e3, true);
}

static bool get_ratio(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_diff_row *r = row;
  (void)owner;
  return field_number(v, r->total[0] > 0 ? r->total[1] / r->total[0] : 0, r->total[0] > 0);
}

static bool get_noise(const void *row, const void *owner, struct tk_value *v) {
  const double noise = ((const struct tk_diff_row *)row)->noise;
  (void)owner;
  return field_number(v, noise / 1e3, noise >= 0);
}

static bool get_diff_short(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_text(v, ((const struct tk_diff_row *)row)->short_name);
}

static const struct tk_field diff_list[] = {
  FIELD_GET_IF(TEXT, NONE, "name", get_diff_name,
    "value that the events have in common; the names of a path are joined by >; null if unnamed"),
  FIELD_GET(TEXT, NONE, "state", get_state, "changed, noise, unknown, new or gone"),
  {.name = "before", .help = "means before", .type = TK_TYPE_ROW, .of = TK_ROW_DIFF_BEFORE, .get = get_side},
  {.name = "after", .help = "means after", .type = TK_TYPE_ROW, .of = TK_ROW_DIFF_AFTER, .get = get_side},
  FIELD_GET(NUMBER, NS, "delta_ns", get_delta, "total_ns after minus total_ns before"),
  FIELD_GET_IF(NUMBER, NONE, "ratio", get_ratio, "total_ns after divided by total_ns before; null if that was 0"),
  FIELD_GET_IF(NUMBER, NS, "noise_ns", get_noise,
    "half the width of the 95% confidence interval of delta_ns; null if there are too few steps and ranks"),
  FIELD(tk_diff_row, BOOL, is_mark, "is_mark",
    "true if the events only show that a profiler ran; such rows have no self time and are listed last"),
  FIELD_GET_OPTIONAL(TEXT, NONE, "short_name", get_diff_short, "short name of a kernel, unique in this report"),
};
const struct field_list diff_fields = FIELD_LIST(tk_diff_row, diff_list, "diff");
enum { N_DIFF = sizeof diff_list / sizeof *diff_list - 2 }; /* the rows of sums have no mark and no short name */
const struct field_list diff_sum_fields = {diff_list + 1, N_DIFF - 1, sizeof(struct tk_diff_row), "diff sum"};

/* Defines the fields of one side of a comparison: means per step and rank, or per rank. */
#define SIDE(side, at)                                                                                       \
  static bool get_total_##side(const void *row, const void *owner, struct tk_value *v) {                     \
    (void)owner;                                                                                             \
    return field_number(v, ((const struct tk_diff_row *)row)->total[at] / 1e3, true);                        \
  }                                                                                                          \
  static bool get_self_##side(const void *row, const void *owner, struct tk_value *v) {                      \
    (void)owner;                                                                                             \
    return field_number(v, ((const struct tk_diff_row *)row)->self[at] / 1e3, true);                         \
  }                                                                                                          \
  static bool get_work_##side(const void *row, const void *owner, struct tk_value *v) {                      \
    (void)owner;                                                                                             \
    return field_text(v, ((const struct tk_diff_row *)row)->work_name[at]);                                  \
  }                                                                                                          \
  static bool get_short_##side(const void *row, const void *owner, struct tk_value *v) {                     \
    (void)owner;                                                                                             \
    return field_text(v, ((const struct tk_diff_row *)row)->work_short_name[at]);                            \
  }                                                                                                          \
  static const struct tk_field side##_list[] = {                                                             \
    FIELD(tk_diff_row, COUNT, events[at], "events", "number of events"),                                     \
    FIELD(tk_diff_row, NUMBER, count[at], "count", "number of events, as a mean per step and rank"),         \
    FIELD_GET(NUMBER, NS, "total_ns", get_total_##side, "sum of the durations, as a mean per step and rank"), \
    FIELD_GET(NUMBER, NS, "self_ns", get_self_##side, "self time, as a mean per step and rank"),             \
    FIELD_GET_IF(TEXT, NONE, "work_name", get_work_##side,                                                   \
      "with --match tree: name of the kernel, copy or fill with the most time; null: the row has none"),     \
    FIELD_GET_IF(TEXT, NONE, "work_short_name", get_short_##side, "the same name, shortened if it is long"), \
    FIELD(tk_diff_row, COUNT, work_names[at], "work_names", "number of different names of that work"),       \
  };                                                                                                         \
  const struct field_list diff_##side##_fields = FIELD_LIST(tk_diff_row, side##_list, "diff " #side)

SIDE(before, TK_BEFORE);
SIDE(after, TK_AFTER);

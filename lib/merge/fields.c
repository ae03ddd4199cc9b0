/* fields.c - fields of the ranks of a merge (fields.h). */
#include "merge/fields.h"

FIELD_KNOWN(is_read, tk_merge_rank, !r->failed && !r->skipped)

static bool is_merged(const void *row, const void *owner) {
  return is_read(row, owner) && ((const struct tk_merge_rank *)row)->merged;
}

static bool get_failed(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_text(v, ((const struct tk_merge_rank *)row)->failed);
}

static bool get_recordings(const void *row, const void *owner, struct tk_value *v) {
  (void)owner;
  return field_text(v, ((const struct tk_merge_rank *)row)->recordings);
}

static bool is_joined(const void *row, const void *owner) {
  return is_read(row, owner) && ((const struct tk_merge_rank *)row)->recordings;
}

static bool get_left_out(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_merge_rank *r = row;
  (void)owner;
  v->truth = r->skipped;
  return r->skipped && !r->failed;
}

static bool get_shift(const void *row, const void *owner, struct tk_value *v) {
  v->integer = ((const struct tk_merge_rank *)row)->shift_ns;
  return is_read(row, owner);
}

#define READ(kind, m, name, help) FIELD_OPTIONAL(tk_merge_rank, kind, m, name, is_read, help)

static const struct tk_field list[] = {
  FIELD(tk_merge_rank, TEXT, input, "input", "file that contains the rank"),
  {.name = "failed", .help = "reason why the input was left out", .type = TK_TYPE_TEXT, .unknown = TK_UNKNOWN_ABSENT,
    .get = get_failed},
  {.name = "left_out", .help = "true if the rank was not selected", .type = TK_TYPE_BOOL, .unknown = TK_UNKNOWN_ABSENT,
    .get = get_left_out},
  READ(INT, rank, "rank", "rank in the job"),
  FIELD_OPTIONAL(tk_merge_rank, COUNT, merged, "merged_ranks", is_merged,
    "number of ranks that the input was itself merged from"),
  {.name = "recordings", .help = "other recordings of the rank that were joined with the input", .type = TK_TYPE_TEXT,
    .unknown = TK_UNKNOWN_ABSENT, .get = get_recordings},
  FIELD_OPTIONAL(tk_merge_rank, COUNT, duplicates, "duplicates", is_joined,
    "number of events left out because two recordings contain them"),
  READ(TEXT, rank_from, "rank_from", "where the rank is stated, such as distributedInfo or file name"),
  READ(TEXT, host, "host", "host of the rank; empty if unknown"),
  READ(COUNT, read, "read_records", "number of records read from the input"),
  READ(COUNT, events, "events", "number of spans, instants and counter samples written"),
  READ(COUNT, flow_points, "flow_points", "number of ends of flows written"),
  READ(COUNT, bytes, "bytes", "bytes of the input"),
  READ(COUNT, processes, "processes", "number of processes"),
  READ(COUNT, hidden_processes, "empty_processes", "number of processes without events"),
  {.name = "shift_ns", .help = "time added to the clock of the input", .type = TK_TYPE_INT, .unit = TK_UNIT_NS,
    .unknown = TK_UNKNOWN_ABSENT,
    .get = get_shift},
};
const struct field_list merge_rank_fields = FIELD_LIST(tk_merge_rank, list, "merge rank");

/* files_fields.c - fields of the rows of list, extract and size (files_fields.h). */
#include "files_fields.h"

/* ---- list ---- */

FIELD_KNOWN(has_run, tk_listed, *r->input.run)
FIELD_KNOWN(has_step, tk_listed, *r->input.step)
FIELD_KNOWN(has_host, tk_listed, *r->input.host)
FIELD_KNOWN(has_rank, tk_listed, r->input.rank >= 0)
FIELD_KNOWN(has_format, tk_listed, r->input.format)
FIELD_KNOWN(has_size, tk_listed, r->input.size != UINT64_MAX)
FIELD_KNOWN(has_why, tk_listed, r->input.why)
FIELD_KNOWN(is_deep, tk_listed, r->deep)
FIELD_KNOWN(has_start, tk_listed, r->start_time)
FIELD_KNOWN(has_ranks, tk_listed, r->ranks)

static bool get_health(const void *row, const void *owner, struct tk_value *v) {
  static const char *const names[] = {[TK_HEALTH_OK] = "ok", [TK_HEALTH_EMPTY] = "empty", [TK_HEALTH_TRUNCATED] = "truncated",
                                      [TK_HEALTH_CORRUPT] = "corrupt", [TK_HEALTH_REPAIRED] = "repaired",
                                      [TK_HEALTH_CAPPED] = "capped", [TK_HEALTH_NO_TRACE] = "not a trace"};
  (void)owner;
  return field_text(v, names[((const struct tk_listed *)row)->input.health]);
}

static bool get_duration(const void *row, const void *owner, struct tk_value *v) {
  const struct tk_listed *r = row;
  (void)owner;
  v->count = (uint64_t)r->end - (uint64_t)r->start;
  return r->deep && r->events;
}

#define LISTED(kind, m, name, known, help) FIELD_OPTIONAL(tk_listed, kind, m, name, known, help)

static const struct tk_field listed[] = {
  FIELD(tk_listed, TEXT, input.name, "file", "a name that every command accepts; for an archive member, archive:member"),
  LISTED(TEXT, input.run, "run", has_run, "timestamp of the run, or name of the folder"),
  LISTED(TEXT, input.step, "step", has_step, "number of an enclosing folder step_N"),
  LISTED(TEXT, input.host, "host", has_host, "host of the file"),
  LISTED(INT, input.rank, "rank", has_rank, "rank of the file"),
  LISTED(TEXT, input.format, "format", has_format, "a format name, as listed by `tracekit convert -f help`"),
  LISTED(COUNT, input.size, "size", has_size, "size on disk, in bytes"),
  FIELD(tk_listed, BOOL, input.best, "best", "false: other commands read another view of the same session"),
  FIELD_GET_OPTIONAL(TEXT, NONE, "health", get_health, "condition of the file; absent if only --deep can determine it"),
  LISTED(TEXT, input.why, "why", has_why, "problems found"),
  LISTED(COUNT, events, "events", is_deep, "with --deep: number of readable events"),
  LISTED(COUNT, bytes, "bytes", is_deep, "with --deep: readable bytes after decompression"),
  FIELD_GET_OPTIONAL(COUNT, PS, "duration_ps", get_duration,
    "with --deep: time from the first event to the end of the last, in picoseconds"),
  LISTED(TEXT, start_time, "start", has_start, "with --deep and a known clock: absolute time of the first event"),
  LISTED(TEXT, ranks, "ranks", has_ranks,
    "ranks of a file that was merged from several, such as \"0-2, 7\"; absent if only --deep can determine them"),
};
const struct field_list listed_fields = FIELD_LIST(tk_listed, listed, "listed file");

/* ---- extract ---- */

FIELD_KNOWN(is_written, tk_extracted, r->written.format)
FIELD_KNOWN(is_derived, tk_extracted, r->written.derived)

#define WRITTEN(m, name, help) FIELD_OPTIONAL(tk_extracted, COUNT, m, name, is_written, help)

static const struct tk_field extracted[] = {
  FIELD(tk_extracted, TEXT, output, "output", "name of the output"),
  FIELD(tk_extracted, TEXT, run, "run", "run of the inputs"),
  FIELD(tk_extracted, TEXT, from, "from", "the input; the first, if there are several"),
  FIELD(tk_extracted, COUNT, n_inputs, "inputs", "number of inputs"),
  FIELD(tk_extracted, COUNT, n_failed, "left_out", "number of inputs that could not be read"),
  WRITTEN(written.records, "written_records", "number of records written; absent for copies"),
  WRITTEN(written.events, "written_events",
    "number of spans, instants, counter samples and stack samples written; absent for copies"),
  FIELD_OPTIONAL(tk_extracted, COUNT, written.derived, "derived_events", is_derived, "number of derived events written"),
  WRITTEN(written.flow_points, "written_flow_points", "number of ends of flows written; absent for copies"),
  FIELD(tk_extracted, COUNT, written.raw_bytes, "raw_bytes", "size before compression; of copies, the size of the file"),
  FIELD(tk_extracted, COUNT, written.bytes, "bytes", "size of the file"),
};
const struct field_list extracted_fields = FIELD_LIST(tk_extracted, extracted, "extracted file");

/* ---- size ---- */

#define SIZE_FIELDS(fields, by, help, counted, counts)           \
  static const struct tk_field fields[] = {                      \
    FIELD(tk_size_row, TEXT, key, by, help),                     \
    FIELD(tk_size_row, COUNT, bytes, "bytes", "bytes as written"), \
    FIELD(tk_size_row, COUNT, events, counted, counts)};

SIZE_FIELDS(size_kinds, "kind", "what the bytes are used for", "events", "number of events")
SIZE_FIELDS(size_categories, "category", "category of the events; empty for events without one", "events", "number of events")
SIZE_FIELDS(size_names, "name", "name of the events; empty for events without one", "events", "number of events")
SIZE_FIELDS(size_args, "arg", "key of the arg", "values", "number of values")
SIZE_FIELDS(size_tracks, "track", "process and thread", "events", "number of events")
SIZE_FIELDS(size_ranks, "rank", "rank, or unknown", "events", "number of events")

const struct field_list size_fields[TK_SIZE_BYS] = {
  [TK_SIZE_KIND] = FIELD_LIST(tk_size_row, size_kinds, "size by kind"),
  [TK_SIZE_CAT] = FIELD_LIST(tk_size_row, size_categories, "size by category"),
  [TK_SIZE_NAME] = FIELD_LIST(tk_size_row, size_names, "size by name"),
  [TK_SIZE_ARG] = FIELD_LIST(tk_size_row, size_args, "size by arg"),
  [TK_SIZE_TRACK] = FIELD_LIST(tk_size_row, size_tracks, "size by track"),
  [TK_SIZE_RANK] = FIELD_LIST(tk_size_row, size_ranks, "size by rank"),
};

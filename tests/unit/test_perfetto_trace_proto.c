/* test_perfetto_trace_proto.c - the cursor's field numbers match proto/perfetto_trace.proto; read by protobuf-c, our output satisfies
 * an importer: every event on a described track and a cleared sequence, every interned id defined before use, begin and end events
 * balanced, times equal to the graph's. */
#include "help.h"

#include <protobuf-c/protobuf-c.h>

#include "format/format.h"
#include "format/perfetto/fields.h"
#include "perfetto_trace.pb-c.h"
#include "format/perfetto/read/clock.h"
#include "format/perfetto/read/track.h"

struct number {
  const ProtobufCMessageDescriptor *message;
  const char *field;
  unsigned number;
  ProtobufCType type;
};

#define ROW(message, field, number, type) {&perfetto__##message##__descriptor, field, number, PROTOBUF_C_TYPE_##type}

static const struct number numbers[] = {
    ROW(trace, "packet", TRACE_PACKET, MESSAGE),
    ROW(trace_packet, "clock_snapshot", PACKET_CLOCK_SNAPSHOT, MESSAGE),
    ROW(trace_packet, "timestamp", PACKET_TIMESTAMP, UINT64),
    ROW(trace_packet, "trusted_packet_sequence_id", PACKET_SEQUENCE_ID, UINT32),
    ROW(trace_packet, "track_event", PACKET_TRACK_EVENT, MESSAGE),
    ROW(trace_packet, "interned_data", PACKET_INTERNED_DATA, MESSAGE),
    ROW(trace_packet, "sequence_flags", PACKET_SEQUENCE_FLAGS, UINT32),
    ROW(trace_packet, "incremental_state_cleared", PACKET_STATE_CLEARED, BOOL),
    ROW(trace_packet, "previous_packet_dropped", PACKET_PREVIOUS_DROPPED, BOOL),
    ROW(trace_packet, "process_descriptor", PACKET_PROCESS_DESCRIPTOR, MESSAGE),
    ROW(trace_packet, "thread_descriptor", PACKET_THREAD_DESCRIPTOR, MESSAGE),
    ROW(trace_packet, "compressed_packets", PACKET_COMPRESSED, BYTES),
    ROW(trace_packet, "timestamp_clock_id", PACKET_TIMESTAMP_CLOCK_ID, UINT32),
    ROW(trace_packet, "trace_packet_defaults", PACKET_DEFAULTS, MESSAGE),
    ROW(trace_packet, "track_descriptor", PACKET_TRACK_DESCRIPTOR, MESSAGE),
    ROW(trace_packet, "extension_descriptor", PACKET_EXTENSION_DESCRIPTOR, BYTES),
    ROW(trace_packet, "machine_id", PACKET_MACHINE_ID, UINT32),
    ROW(trace_packet, "remote_clock_sync", PACKET_REMOTE_CLOCK_SYNC, MESSAGE),
    ROW(trace_packet, "trace_attributes", PACKET_TRACE_ATTRIBUTES, MESSAGE),
    ROW(trace_packet, "zstd_compressed_packets", PACKET_ZSTD, BYTES),
    ROW(trace_packet, "tracekit", PACKET_TRACEKIT, MESSAGE),
    ROW(trace_packet, "perf_sample", PACKET_PERF_SAMPLE, MESSAGE),
    ROW(trace_packet, "gpu_counter_event", PACKET_GPU_COUNTER, MESSAGE),
    ROW(trace_packet, "gpu_render_stage_event", PACKET_GPU_RENDER_STAGE, MESSAGE),
    ROW(trace_packet_defaults, "track_event_defaults", DEFAULTS_TRACK_EVENT, MESSAGE),
    ROW(trace_packet_defaults, "timestamp_clock_id", DEFAULTS_TIMESTAMP_CLOCK_ID, UINT32),
    ROW(track_event_defaults, "track_uuid", EVENT_DEFAULTS_TRACK_UUID, UINT64),
    ROW(track_event_defaults, "extra_counter_track_uuids", EVENT_DEFAULTS_EXTRA_UUIDS, UINT64),
    ROW(track_event_defaults, "extra_double_counter_track_uuids", EVENT_DEFAULTS_EXTRA_DOUBLE_UUIDS, UINT64),
    ROW(clock_snapshot, "clocks", SNAPSHOT_CLOCKS, MESSAGE),
    ROW(clock_snapshot, "primary_trace_clock", SNAPSHOT_PRIMARY_CLOCK, UINT32),
    ROW(clock_snapshot__clock, "clock_id", CLOCK_ID, UINT32),
    ROW(clock_snapshot__clock, "timestamp", CLOCK_TIMESTAMP, UINT64),
    ROW(clock_snapshot__clock, "is_incremental", CLOCK_IS_INCREMENTAL, BOOL),
    ROW(clock_snapshot__clock, "unit_multiplier_ns", CLOCK_UNIT_NS, UINT64),
    ROW(remote_clock_sync, "synced_clocks", REMOTE_SYNCED_CLOCKS, MESSAGE),
    ROW(remote_clock_sync__synced_clocks, "client_clocks", SYNCED_CLIENT, MESSAGE),
    ROW(remote_clock_sync__synced_clocks, "host_clocks", SYNCED_HOST, MESSAGE),
    ROW(interned_data, "event_categories", INTERNED_CATEGORIES, MESSAGE),
    ROW(interned_data, "event_names", INTERNED_NAMES, MESSAGE),
    ROW(interned_data, "debug_annotation_names", INTERNED_ANNOTATION_NAMES, MESSAGE),
    ROW(interned_data, "debug_annotation_string_values", INTERNED_ANNOTATION_STRINGS, MESSAGE),
    ROW(interned_data, "correlation_id_str", INTERNED_CORRELATION_IDS, MESSAGE),
    ROW(interned_data, "function_names", INTERNED_FUNCTIONS, MESSAGE),
    ROW(interned_data, "frames", INTERNED_FRAMES, MESSAGE),
    ROW(interned_data, "callstacks", INTERNED_CALLSTACKS, MESSAGE),
    ROW(interned_data, "mapping_paths", INTERNED_MAPPING_PATHS, MESSAGE),
    ROW(interned_data, "source_paths", INTERNED_SOURCE_PATHS, MESSAGE),
    ROW(interned_data, "mappings", INTERNED_MAPPINGS, MESSAGE),
    ROW(interned_data, "graphics_contexts", INTERNED_GRAPHICS_CONTEXTS, MESSAGE),
    ROW(interned_data, "gpu_specifications", INTERNED_GPU_SPECIFICATIONS, MESSAGE),
    ROW(gpu_context, "iid", INTERNED_IID, UINT64),
    ROW(gpu_context, "pid", GPU_CONTEXT_PID, INT32),
    ROW(gpu_context, "tracekit", GPU_STAGE_TRACEKIT, BOOL),
    ROW(gpu_specification, "iid", INTERNED_IID, UINT64),
    ROW(gpu_specification, "name", INTERNED_TEXT, BYTES),
    ROW(gpu_specification, "description", GPU_STAGE_DESCRIPTION, BYTES),
    ROW(gpu_specification, "category", GPU_STAGE_CATEGORY, UINT32),
    ROW(gpu_specification, "tracekit", GPU_STAGE_TRACEKIT, BOOL),
    ROW(gpu_render_stage_event, "event_id", GPU_EVENT_ID, UINT64),
    ROW(gpu_render_stage_event, "duration", GPU_DURATION, UINT64),
    ROW(gpu_render_stage_event, "context", GPU_CONTEXT, UINT64),
    ROW(gpu_render_stage_event, "extra_data", GPU_EXTRA, MESSAGE),
    ROW(gpu_render_stage_event, "submission_id", GPU_SUBMISSION, UINT32),
    ROW(gpu_render_stage_event, "gpu_id", GPU_NUMBER, INT32),
    ROW(gpu_render_stage_event, "hw_queue_iid", GPU_QUEUE_IID, UINT64),
    ROW(gpu_render_stage_event, "stage_iid", GPU_STAGE_IID, UINT64),
    ROW(gpu_render_stage_event, "name", GPU_NAME, BYTES),
    ROW(gpu_render_stage_event, "name_iid", GPU_NAME_IID, UINT64),
    ROW(gpu_render_stage_event__extra_data, "name", GPU_EXTRA_NAME, BYTES),
    ROW(gpu_render_stage_event__extra_data, "value", GPU_EXTRA_VALUE, BYTES),
    ROW(gpu_counter_event, "counter_descriptor", GPU_COUNTER_DESCRIPTOR, MESSAGE),
    ROW(gpu_counter_event, "counters", GPU_COUNTER_SAMPLE, MESSAGE),
    ROW(gpu_counter_event, "gpu_id", GPU_COUNTER_GPU, INT32),
    ROW(gpu_counter_event__descriptor, "specs", GPU_DESCRIPTOR_SPEC, MESSAGE),
    ROW(gpu_counter_event__spec, "counter_id", GPU_SPEC_ID, UINT32),
    ROW(gpu_counter_event__spec, "name", GPU_SPEC_NAME, BYTES),
    ROW(gpu_counter_event__counter, "counter_id", GPU_SAMPLE_ID, UINT32),
    ROW(gpu_counter_event__counter, "int_value", GPU_SAMPLE_INT, INT64),
    ROW(gpu_counter_event__counter, "double_value", GPU_SAMPLE_DOUBLE, DOUBLE),
    ROW(mapping, "iid", INTERNED_IID, UINT64),
    ROW(mapping, "path_string_ids", MAPPING_PATH_IIDS, UINT64),
    ROW(frame, "iid", INTERNED_IID, UINT64),
    ROW(frame, "function_name_id", FRAME_FUNCTION_IID, UINT64),
    ROW(frame, "mapping_id", FRAME_MAPPING_IID, UINT64),
    ROW(frame, "rel_pc", FRAME_ADDRESS, UINT64),
    ROW(frame, "source_path_iid", FRAME_SOURCE_PATH_IID, UINT64),
    ROW(frame, "line_number", FRAME_LINE, UINT32),
    ROW(frame, "tracekit", FRAME_TRACEKIT, UINT64),
    ROW(callstack, "iid", INTERNED_IID, UINT64),
    ROW(callstack, "frame_ids", CALLSTACK_FRAME_IDS, UINT64),
    ROW(perf_sample, "cpu", PERF_CPU, UINT32),
    ROW(perf_sample, "pid", PERF_PID, UINT32),
    ROW(perf_sample, "tid", PERF_TID, UINT32),
    ROW(perf_sample, "callstack_iid", PERF_CALLSTACK_IID, UINT64),
    ROW(perf_sample, "cpu_mode", PERF_CPU_MODE, UINT32),
    ROW(perf_sample, "timebase_count", PERF_TIMEBASE_COUNT, UINT64),
    ROW(perf_sample, "follower_counts", PERF_FOLLOWER_COUNTS, UINT64),
    ROW(perf_sample, "unwind_error", PERF_UNWIND_ERROR, UINT32),
    ROW(perf_sample, "kernel_records_lost", PERF_RECORDS_LOST, UINT64),
    ROW(perf_sample, "sample_skipped_reason", PERF_SKIP_REASON, UINT32),
    ROW(perf_sample, "producer_event", PERF_PRODUCER_EVENT, BYTES),
    ROW(facts, "sample", TRACEKIT_SAMPLE, MESSAGE),
    ROW(facts, "stage", TRACEKIT_GPU, MESSAGE),
    ROW(facts, "points", TRACEKIT_POINTS, MESSAGE),
    ROW(facts, "chain", TRACEKIT_CHAIN, BOOL),
    ROW(facts, "records", TRACEKIT_RECORD, MESSAGE),
    ROW(facts, "joined", TRACEKIT_JOINED, BOOL),
    ROW(facts, "args", TRACEKIT_ARGS, MESSAGE),
    ROW(facts, "track", TRACEKIT_TRACK, MESSAGE),
    ROW(facts, "whole", TRACEKIT_WHOLE, BOOL),
    ROW(facts, "later_ns", TRACEKIT_LATER, UINT64),
    ROW(facts, "untimed", TRACEKIT_UNTIMED, BYTES),
    ROW(sample, "number", SAMPLE_NUMBER, INT64),
    ROW(sample, "exp", SAMPLE_EXP, INT64),
    ROW(sample, "unit_iid", SAMPLE_UNIT_IID, UINT64),
    ROW(sample, "category_iid", SAMPLE_CATEGORY_IID, UINT64),
    ROW(sample, "args", SAMPLE_ARGS, BYTES),
    ROW(sample, "in_record", SAMPLE_IN_RECORD, BOOL),
    ROW(record, "sampled", RECORD_SAMPLED, BOOL),
    ROW(record, "kind", RECORD_KIND, UINT32),
    ROW(record, "phase", RECORD_PHASE, UINT32),
    ROW(record, "track_uuid", RECORD_TRACK, UINT64),
    ROW(record, "strong", RECORD_STRONG, BOOL),
    ROW(record, "time_ns", RECORD_TIME, INT64),
    ROW(record, "text", RECORD_TEXT, BYTES),
    ROW(interned_string, "iid", INTERNED_IID, UINT64),
    ROW(interned_string, "str", INTERNED_TEXT, BYTES),
    ROW(track_event, "timestamp_delta_us", EVENT_TIMESTAMP_DELTA_US, INT64),
    ROW(track_event, "category_iids", EVENT_CATEGORY_IIDS, UINT64),
    ROW(track_event, "debug_annotations", EVENT_DEBUG_ANNOTATIONS, MESSAGE),
    ROW(track_event, "legacy_event", EVENT_LEGACY, MESSAGE),
    ROW(track_event, "type", EVENT_TYPE, UINT32),
    ROW(track_event, "name_iid", EVENT_NAME_IID, UINT64),
    ROW(track_event, "track_uuid", EVENT_TRACK_UUID, UINT64),
    ROW(track_event, "extra_counter_values", EVENT_EXTRA_VALUES, INT64),
    ROW(track_event, "timestamp_absolute_us", EVENT_TIMESTAMP_ABSOLUTE_US, INT64),
    ROW(track_event, "thread_time_absolute_us", EVENT_THREAD_TIME_ABSOLUTE_US, INT64),
    ROW(track_event, "categories", EVENT_CATEGORIES, BYTES),
    ROW(track_event, "name", EVENT_NAME, BYTES),
    ROW(track_event, "counter_value", EVENT_COUNTER_VALUE, INT64),
    ROW(track_event, "extra_counter_track_uuids", EVENT_EXTRA_UUIDS, UINT64),
    ROW(track_event, "flow_ids_old", EVENT_FLOW_IDS_OLD, UINT64),
    ROW(track_event, "terminating_flow_ids_old", EVENT_TERMINATING_FLOW_IDS_OLD, UINT64),
    ROW(track_event, "double_counter_value", EVENT_DOUBLE_COUNTER_VALUE, DOUBLE),
    ROW(track_event, "extra_double_counter_track_uuids", EVENT_EXTRA_DOUBLE_UUIDS, UINT64),
    ROW(track_event, "extra_double_counter_values", EVENT_EXTRA_DOUBLE_VALUES, DOUBLE),
    ROW(track_event, "flow_ids", EVENT_FLOW_IDS, FIXED64),
    ROW(track_event, "terminating_flow_ids", EVENT_TERMINATING_FLOW_IDS, FIXED64),
    ROW(track_event, "correlation_id", EVENT_CORRELATION_ID, UINT64),
    ROW(track_event, "correlation_id_str", EVENT_CORRELATION_ID_STR, BYTES),
    ROW(track_event, "correlation_id_str_iid", EVENT_CORRELATION_ID_IID, UINT64),
    ROW(legacy_event, "name_iid", LEGACY_NAME_IID, UINT64),
    ROW(legacy_event, "phase", LEGACY_PHASE, INT32),
    ROW(legacy_event, "duration_us", LEGACY_DURATION_US, INT64),
    ROW(legacy_event, "unscoped_id", LEGACY_UNSCOPED_ID, UINT64),
    ROW(legacy_event, "id_scope", LEGACY_ID_SCOPE, BYTES),
    ROW(legacy_event, "bind_id", LEGACY_BIND_ID, UINT64),
    ROW(legacy_event, "local_id", LEGACY_LOCAL_ID, UINT64),
    ROW(legacy_event, "global_id", LEGACY_GLOBAL_ID, UINT64),
    ROW(legacy_event, "bind_to_enclosing", LEGACY_BIND_TO_ENCLOSING, BOOL),
    ROW(legacy_event, "flow_direction", LEGACY_FLOW_DIRECTION, UINT32),
    ROW(legacy_event, "instant_event_scope", LEGACY_INSTANT_SCOPE, UINT32),
    ROW(legacy_event, "pid_override", LEGACY_PID_OVERRIDE, INT32),
    ROW(legacy_event, "tid_override", LEGACY_TID_OVERRIDE, INT32),
    ROW(debug_annotation, "name_iid", ANNOTATION_NAME_IID, UINT64),
    ROW(debug_annotation, "bool_value", ANNOTATION_BOOL, BOOL),
    ROW(debug_annotation, "uint_value", ANNOTATION_UINT, UINT64),
    ROW(debug_annotation, "int_value", ANNOTATION_INT, INT64),
    ROW(debug_annotation, "double_value", ANNOTATION_DOUBLE, DOUBLE),
    ROW(debug_annotation, "string_value", ANNOTATION_STRING, BYTES),
    ROW(debug_annotation, "pointer_value", ANNOTATION_POINTER, UINT64),
    ROW(debug_annotation, "nested_value", ANNOTATION_NESTED, MESSAGE),
    ROW(debug_annotation, "legacy_json_value", ANNOTATION_JSON, BYTES),
    ROW(debug_annotation, "name", ANNOTATION_NAME, BYTES),
    ROW(debug_annotation, "dict_entries", ANNOTATION_DICT, MESSAGE),
    ROW(debug_annotation, "array_values", ANNOTATION_ARRAY, MESSAGE),
    ROW(debug_annotation, "proto_value", ANNOTATION_PROTO, BYTES),
    ROW(debug_annotation, "string_value_iid", ANNOTATION_STRING_IID, UINT64),
    ROW(debug_annotation, "tracekit", ANNOTATION_TRACEKIT, BYTES),
    ROW(nested_value, "nested_type", NESTED_TYPE, UINT32),
    ROW(nested_value, "dict_keys", NESTED_KEYS, BYTES),
    ROW(nested_value, "dict_values", NESTED_VALUES, MESSAGE),
    ROW(nested_value, "array_values", NESTED_ARRAY, MESSAGE),
    ROW(nested_value, "int_value", NESTED_INT, INT64),
    ROW(nested_value, "double_value", NESTED_DOUBLE, DOUBLE),
    ROW(nested_value, "bool_value", NESTED_BOOL, BOOL),
    ROW(nested_value, "string_value", NESTED_STRING, BYTES),
    ROW(track_descriptor, "uuid", DESCRIPTOR_UUID, UINT64),
    ROW(track_descriptor, "name", DESCRIPTOR_NAME, BYTES),
    ROW(track_descriptor, "process", DESCRIPTOR_PROCESS, MESSAGE),
    ROW(track_descriptor, "thread", DESCRIPTOR_THREAD, MESSAGE),
    ROW(track_descriptor, "parent_uuid", DESCRIPTOR_PARENT_UUID, UINT64),
    ROW(track_descriptor, "counter", DESCRIPTOR_COUNTER, MESSAGE),
    ROW(track_descriptor, "static_name", DESCRIPTOR_STATIC_NAME, BYTES),
    ROW(track_descriptor, "child_ordering", DESCRIPTOR_CHILD_ORDERING, UINT32),
    ROW(track_descriptor, "sibling_order_rank", DESCRIPTOR_SIBLING_ORDER_RANK, INT32),
    ROW(track_descriptor, "atrace_name", DESCRIPTOR_ATRACE_NAME, BYTES),
    ROW(track_descriptor, "process_ordering", DESCRIPTOR_PROCESS_ORDERING, UINT32),
    ROW(track_descriptor, "thread_ordering", DESCRIPTOR_THREAD_ORDERING, UINT32),
    ROW(track_descriptor, "tracekit", DESCRIPTOR_TRACEKIT, MESSAGE),
    ROW(process_descriptor, "pid", PROCESS_PID, INT32),
    ROW(process_descriptor, "legacy_sort_index", PROCESS_LEGACY_SORT_INDEX, INT32),
    ROW(process_descriptor, "process_name", PROCESS_NAME, BYTES),
    ROW(process_descriptor, "process_labels", PROCESS_LABELS, BYTES),
    ROW(thread_descriptor, "pid", THREAD_PID, INT32),
    ROW(thread_descriptor, "tid", THREAD_TID, INT64),
    ROW(thread_descriptor, "legacy_sort_index", THREAD_LEGACY_SORT_INDEX, INT32),
    ROW(thread_descriptor, "thread_name", THREAD_NAME, BYTES),
    ROW(thread_descriptor, "reference_timestamp_us", THREAD_REFERENCE_US, INT64),
    ROW(counter_descriptor, "type", COUNTER_TYPE, UINT32),
    ROW(counter_descriptor, "unit", COUNTER_UNIT, UINT32),
    ROW(counter_descriptor, "unit_multiplier", COUNTER_MULTIPLIER, INT64),
    ROW(counter_descriptor, "is_incremental", COUNTER_IS_INCREMENTAL, BOOL),
    ROW(counter_descriptor, "unit_name", COUNTER_UNIT_NAME, BYTES),
    ROW(trace_attributes, "attribute", ATTRIBUTES_ATTRIBUTE, MESSAGE),
    ROW(trace_attributes__attribute, "key", ATTRIBUTE_KEY, BYTES),
    ROW(trace_attributes__attribute, "string_value", ATTRIBUTE_STRING, BYTES),
    ROW(flow_point, "role", POINT_ROLE, UINT32),
    ROW(flow_point, "id", POINT_ID, INT64),
    ROW(flow_point, "id_text_iid", POINT_ID_TEXT, UINT64),
    ROW(flow_point, "name_iid", POINT_NAME_IID, UINT64),
    ROW(flow_point, "category_iid", POINT_CATEGORY_IID, UINT64),
    ROW(flow_point, "time_ns", POINT_TIME, INT64),
    ROW(flow_point, "enclosing", POINT_ENCLOSING, BOOL),
    ROW(flow_point, "new_class", POINT_NEW_CLASS, BOOL),
    ROW(flow_point, "id_arg", POINT_ID_ARG, UINT32),
    ROW(flow_point, "args", POINT_ARGS, BYTES),
    ROW(stage, "begin", GPU_OWN_BEGIN, MESSAGE),
    ROW(stage, "end", GPU_OWN_END, MESSAGE),
    ROW(stage, "paired", GPU_OWN_PAIRED, BOOL),
    ROW(stage, "points", GPU_OWN_POINTS, BOOL),
    ROW(track_facts, "form", TRACK_FORM, UINT32),
    ROW(track_facts, "ident", TRACK_IDENT, BYTES),
    ROW(track_facts, "tid", TRACK_TID, INT64),
    ROW(track_facts, "process_uuid", TRACK_PROCESS, UINT64),
    ROW(track_facts, "counter_id", TRACK_COUNTER_ID, BYTES),
    ROW(track_facts, "machine", TRACK_MACHINE, BYTES),
    ROW(track_facts, "tid_text", TRACK_TID_TEXT, BYTES),
};

static void field_numbers(void **state) {
  size_t n = 0;
  (void)state;
  for (size_t i = 0; i < LENGTH(numbers); i++) {
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(numbers[i].message, numbers[i].field);
    assert_non_null(f);
    assert_int_equal(f->id, numbers[i].number);
    assert_int_equal(f->type, numbers[i].type);
  }
  /* Every field of the schema must be checked here. */
  for (size_t i = 0; i < LENGTH(numbers); i++)
    if (i == 0 || numbers[i].message != numbers[i - 1].message) n += numbers[i].message->n_fields;
  assert_int_equal(n, LENGTH(numbers));
}

/* ---- our output, read by protobuf-c ---- */

enum { KINDS = 4, MOST_IDS = 1 << 16, MOST_TRACKS = 1 << 16 };

struct importer {
  bool defined[KINDS][MOST_IDS]; /* categories, names, keys, values */
  bool described[MOST_TRACKS];
  int open[MOST_TRACKS];
  bool cleared;
  int64_t now;
  uint64_t track, n_begins, n_instants, n_samples;
};

static void define(struct importer *m, int kind, size_t n, Perfetto__InternedString *const *strings) {
  for (size_t i = 0; i < n; i++) {
    assert_true(strings[i]->iid > 0 && strings[i]->iid < MOST_IDS);
    assert_false(m->defined[kind][strings[i]->iid]);
    m->defined[kind][strings[i]->iid] = true;
  }
}

static void use(const struct importer *m, int kind, uint64_t iid) {
  assert_true(iid > 0 && iid < MOST_IDS);
  assert_true(m->defined[kind][iid]);
}

static void import_event(struct importer *m, const Perfetto__TrackEvent *e) {
  assert_true(m->cleared);
  assert_true(m->track && m->track < MOST_TRACKS && m->described[m->track]);
  for (size_t i = 0; i < e->n_category_iids; i++) use(m, 0, e->category_iids[i]);
  if (e->has_name_iid) use(m, 1, e->name_iid);
  for (size_t i = 0; i < e->n_debug_annotations; i++) {
    use(m, 2, e->debug_annotations[i]->name_iid);
    if (e->debug_annotations[i]->has_string_value_iid) use(m, 3, e->debug_annotations[i]->string_value_iid);
  }
  m->n_begins += e->type == TYPE_SLICE_BEGIN;
  m->n_instants += e->type == TYPE_INSTANT;
  m->n_samples += e->type == TYPE_COUNTER;
  m->open[m->track] += e->type == TYPE_SLICE_BEGIN;
  m->open[m->track] -= e->type == TYPE_SLICE_END;
  assert_true(m->open[m->track] >= 0);
}

static void import_packet(struct importer *m, const Perfetto__TracePacket *p) {
  const Perfetto__InternedData *d = p->interned_data;
  if (p->sequence_flags & SEQUENCE_CLEARED) m->cleared = true;
  if (p->clock_snapshot && p->trusted_packet_sequence_id) m->now = (int64_t)p->clock_snapshot->clocks[0]->timestamp;
  if (p->track_descriptor && p->track_descriptor->uuid) {
    assert_true(p->track_descriptor->uuid < MOST_TRACKS);
    assert_true(!p->track_descriptor->parent_uuid || m->described[p->track_descriptor->parent_uuid]);
    m->described[p->track_descriptor->uuid] = true;
  }
  if (p->trace_packet_defaults) m->track = p->trace_packet_defaults->track_event_defaults->track_uuid;
  if (d) {
    define(m, 0, d->n_event_categories, d->event_categories);
    define(m, 1, d->n_event_names, d->event_names);
    define(m, 2, d->n_debug_annotation_names, d->debug_annotation_names);
    define(m, 3, d->n_debug_annotation_string_values, d->debug_annotation_string_values);
  }
  if (p->has_timestamp) m->now += (int64_t)p->timestamp;
  if (!p->track_event) return;
  assert_true(p->trusted_packet_sequence_id > 0);
  assert_true(m->now >= 0);
  import_event(m, p->track_event);
}

static struct bytes written_perfetto(const struct tk_trace *t, struct mem *mem, struct out *out) {
  const struct sink_options options = {0};
  struct tk_err err = {0};
  struct bytes b;
  assert_true(out_memory(out, &(struct out_options){0}, mem, &err));
  struct sink *s = format_perfetto.writer(out, &options);
  assert_non_null(s);
  if (!s->open(s, t, &err) || !s->write(s, t, &err) || !s->close(s, t, NULL, &err) || !out_commit(out, &err)) fail_msg("%s", err.msg);
  s->free(s);
  b.p = (uint8_t *)(uintptr_t)out_memory_data(out, &b.n);
  return b;
}

static void import_fixture(const char *path, struct bytes b) {
  struct importer *m = calloc(1, sizeof *m);
  struct tk_err err;
  struct mem mem = {0};
  struct out out;
  struct tk_trace *t = feed_bytes(b.p, b.n, (struct feed){0}, &err);
  uint64_t spans = 0, instants = 0;
  assert_non_null(m);
  if (!t) { /* a fixture that is not JSON */
    free(m);
    return;
  }
  struct bytes w = written_perfetto(t, &mem, &out);
  Perfetto__Trace *trace = perfetto__trace__unpack(NULL, w.n, w.p);
  if (!trace) fail_msg("%s: not a trace to protobuf-c", path);
  for (size_t i = 0; i < trace->n_packet; i++) import_packet(m, trace->packet[i]);
  for (tk_id i = 1; i <= t->n_events; i++) {
    spans += t->events[i].kind == TK_EVENT_SPAN;
    instants += t->events[i].kind == TK_EVENT_INSTANT;
  }
  assert_int_equal(m->n_begins, spans);
  assert_int_equal(m->n_instants, instants);
  perfetto__trace__free_unpacked(trace, NULL);
  out_close(&out);
  tk_free(t);
  free(m);
}

static void what_we_write(void **state) {
  (void)state;
  each_fixture("json", 4 << 20, import_fixture);
}

/* ---- rules of the writer, with one small trace each ---- */

static Perfetto__Trace *trace_of(const char *json) {
  struct mem mem = {0};
  struct out out;
  struct tk_trace *t = feed_text(json);
  struct bytes w = written_perfetto(t, &mem, &out);
  Perfetto__Trace *trace = perfetto__trace__unpack(NULL, w.n, w.p);
  assert_non_null(trace);
  out_close(&out);
  tk_free(t);
  return trace;
}

static const Perfetto__TrackDescriptor *descriptor(const Perfetto__Trace *trace, const char *name) {
  for (size_t i = 0; i < trace->n_packet; i++) {
    const Perfetto__TrackDescriptor *d = trace->packet[i]->track_descriptor;
    if (d && d->name.len == strlen(name) && memcmp(d->name.data, name, d->name.len) == 0) return d;
  }
  fail_msg("no track '%s'", name);
  return NULL;
}

/* pid 0 is written unchanged, but not with tid 0, which would be the idle thread. */
static void pid_zero(void **state) {
  Perfetto__Trace *trace = trace_of("{\"traceEvents\":[{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":1,\"dur\":2,\"name\":\"a\"}]}");
  unsigned processes = 0, threads = 0;
  (void)state;
  for (size_t i = 0; i < trace->n_packet; i++) {
    const Perfetto__TrackDescriptor *d = trace->packet[i]->track_descriptor;
    if (d && d->process) {
      processes++;
      assert_int_equal(d->process->pid, 0);
    }
    if (!d || !d->thread) continue;
    threads++;
    assert_int_equal(d->thread->pid, 0);
    assert_true(d->thread->tid > 0);
    assert_non_null(d->tracekit);
    assert_int_equal(d->tracekit->ident.len, 1);
    assert_int_equal(d->tracekit->ident.data[0], '0');
  }
  assert_true(processes == 1 && threads == 1);
  perfetto__trace__free_unpacked(trace, NULL);
}

static void counter_names(void **state) {
  Perfetto__Trace *trace = trace_of("{\"traceEvents\":["
                                    "{\"ph\":\"C\",\"pid\":1,\"ts\":1,\"name\":\"mem\",\"args\":{\"used\":1,\"free\":\"2.50\"}},"
                                    "{\"ph\":\"C\",\"pid\":1,\"ts\":2,\"id\":\"x\",\"name\":\"mem\",\"args\":{\"used\":3}}]}");
  (void)state;
  assert_non_null(descriptor(trace, "mem used")->counter);
  assert_true(descriptor(trace, "mem free")->tracekit->form & FORM_TEXT);
  assert_memory_equal(descriptor(trace, "mem id: x used")->tracekit->counter_id.data, "x", 1);
  perfetto__trace__free_unpacked(trace, NULL);
}

/* Nested async spans of one id share a lane; a concurrent span with another id gets its own. */
static void async_lanes(void **state) {
  Perfetto__Trace *trace = trace_of(
      "{\"traceEvents\":["
      "{\"ph\":\"b\",\"pid\":1,\"cat\":\"c\",\"id\":1,\"ts\":1,\"name\":\"up\"},{\"ph\":\"b\",\"pid\":1,\"cat\":\"c\",\"id\":1,"
      "\"ts\":2,\"name\":\"down\"},{\"ph\":\"b\",\"pid\":1,\"cat\":\"c\",\"id\":2,\"ts\":2,\"name\":\"up\"},"
      "{\"ph\":\"e\",\"pid\":1,\"cat\":\"c\",\"id\":1,\"ts\":3,\"name\":\"down\"},"
      "{\"ph\":\"e\",\"pid\":1,\"cat\":\"c\",\"id\":1,\"ts\":4,\"name\":\"up\"},"
      "{\"ph\":\"e\",\"pid\":1,\"cat\":\"c\",\"id\":2,\"ts\":4,\"name\":\"up\"}]}");
  unsigned lanes = 0;
  (void)state;
  for (size_t i = 0; i < trace->n_packet; i++) {
    const Perfetto__TrackDescriptor *d = trace->packet[i]->track_descriptor;
    if (d && d->name.len == 2 && memcmp(d->name.data, "up", 2) == 0) lanes++;
    assert_false(d && d->name.len == 4 && memcmp(d->name.data, "down", 4) == 0);
  }
  assert_int_equal(lanes, 2);
  perfetto__trace__free_unpacked(trace, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(field_numbers), cmocka_unit_test(what_we_write), cmocka_unit_test(pid_zero),
                                     cmocka_unit_test(counter_names), cmocka_unit_test(async_lanes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_xplane_proto.c - the reader's field numbers match proto/xplane.proto, and protobuf-c finds the same planes, lines,
 * events, times and names in real files. */
#include "help.h"

#include <protobuf-c/protobuf-c.h>

#include "format/pb.h"
#include "format/xplane/fields.h"
#include "xplane.pb-c.h"

struct number {
  const ProtobufCMessageDescriptor *message;
  const char *field;
  unsigned number;
  ProtobufCType type;
};

static void field_numbers(void **state) {
  static const struct number numbers[] = {
      {&xplane__xspace__descriptor, "planes", XSPACE_PLANES, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xspace__descriptor, "errors", XSPACE_ERRORS, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xspace__descriptor, "warnings", XSPACE_WARNINGS, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xspace__descriptor, "hostnames", XSPACE_HOSTNAMES, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xplane__descriptor, "id", XPLANE_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xplane__descriptor, "name", XPLANE_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xplane__descriptor, "lines", XPLANE_LINES, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xplane__descriptor, "event_metadata", XPLANE_EVENT_METADATA, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xplane__descriptor, "stat_metadata", XPLANE_STAT_METADATA, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xplane__descriptor, "stats", XPLANE_STATS, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xline__descriptor, "id", XLINE_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xline__descriptor, "name", XLINE_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xline__descriptor, "timestamp_ns", XLINE_TIMESTAMP_NS, PROTOBUF_C_TYPE_INT64},
      {&xplane__xline__descriptor, "events", XLINE_EVENTS, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xline__descriptor, "duration_ps", XLINE_DURATION_PS, PROTOBUF_C_TYPE_INT64},
      {&xplane__xline__descriptor, "display_id", XLINE_DISPLAY_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xline__descriptor, "display_name", XLINE_DISPLAY_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xevent__descriptor, "metadata_id", XEVENT_METADATA_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xevent__descriptor, "offset_ps", XEVENT_OFFSET_PS, PROTOBUF_C_TYPE_INT64},
      {&xplane__xevent__descriptor, "num_occurrences", XEVENT_NUM_OCCURRENCES, PROTOBUF_C_TYPE_INT64},
      {&xplane__xevent__descriptor, "duration_ps", XEVENT_DURATION_PS, PROTOBUF_C_TYPE_INT64},
      {&xplane__xevent__descriptor, "stats", XEVENT_STATS, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xstat__descriptor, "metadata_id", XSTAT_METADATA_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xstat__descriptor, "double_value", XSTAT_DOUBLE, PROTOBUF_C_TYPE_DOUBLE},
      {&xplane__xstat__descriptor, "uint64_value", XSTAT_UINT64, PROTOBUF_C_TYPE_UINT64},
      {&xplane__xstat__descriptor, "int64_value", XSTAT_INT64, PROTOBUF_C_TYPE_INT64},
      {&xplane__xstat__descriptor, "str_value", XSTAT_STR, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xstat__descriptor, "bytes_value", XSTAT_BYTES, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xstat__descriptor, "ref_value", XSTAT_REF, PROTOBUF_C_TYPE_UINT64},
      {&xplane__xstat__descriptor, "compressed_str_value", XSTAT_COMPRESSED_STR, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xevent_metadata__descriptor, "id", XEVENT_METADATA_KEY, PROTOBUF_C_TYPE_INT64},
      {&xplane__xevent_metadata__descriptor, "name", XEVENT_METADATA_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xevent_metadata__descriptor, "metadata", XEVENT_METADATA_METADATA, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xevent_metadata__descriptor, "display_name", XEVENT_METADATA_DISPLAY_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xevent_metadata__descriptor, "stats", XEVENT_METADATA_STATS, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xevent_metadata__descriptor, "child_id", XEVENT_METADATA_CHILD_ID, PROTOBUF_C_TYPE_INT64},
      {&xplane__xstat_metadata__descriptor, "id", XSTAT_METADATA_KEY, PROTOBUF_C_TYPE_INT64},
      {&xplane__xstat_metadata__descriptor, "name", XSTAT_METADATA_NAME, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xstat_metadata__descriptor, "description", XSTAT_METADATA_DESCRIPTION, PROTOBUF_C_TYPE_BYTES},
      {&xplane__xplane__event_metadata_entry__descriptor, "key", MAP_KEY, PROTOBUF_C_TYPE_INT64},
      {&xplane__xplane__event_metadata_entry__descriptor, "value", MAP_VALUE, PROTOBUF_C_TYPE_MESSAGE},
      {&xplane__xplane__stat_metadata_entry__descriptor, "key", MAP_KEY, PROTOBUF_C_TYPE_INT64},
      {&xplane__xplane__stat_metadata_entry__descriptor, "value", MAP_VALUE, PROTOBUF_C_TYPE_MESSAGE},
  };
  size_t n = 0;
  (void)state;
  for (size_t i = 0; i < LENGTH(numbers); i++) {
    const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(numbers[i].message, numbers[i].field);
    assert_non_null(f);
    assert_int_equal(f->id, numbers[i].number);
    assert_int_equal(f->type, numbers[i].type);
  }
  /* The reader must know every field of the schema. */
  for (size_t i = 0; i < LENGTH(numbers); i++)
    if (i == 0 || numbers[i].message != numbers[i - 1].message) n += numbers[i].message->n_fields;
  assert_int_equal(n, LENGTH(numbers));
}

/* ---- real files ---- */

static const Xplane__XEventMetadata *metadata_of(const Xplane__XPlane *p, int64_t id) {
  for (size_t i = p->n_event_metadata; i-- > 0;)
    if (p->event_metadata[i]->key == id) return p->event_metadata[i]->value;
  return NULL;
}

/* Returns the track of the line: by its process's name and its position among the threads. */
static const struct tk_track *track_of(const struct tk_trace *t, const Xplane__XPlane *p, size_t line) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_THREAD) continue;
    const char *process = tk_string(t, t->tracks[k->parent].name, NULL);
    if (strlen(process) != p->name.len || memcmp(process, p->name.data, p->name.len) != 0) continue;
    if (line-- == 0) return k;
  }
  return NULL;
}

static void compare_line(const struct tk_trace *t, const Xplane__XPlane *p, size_t at) {
  const Xplane__XLine *line = p->lines[at];
  const struct tk_track *k = track_of(t, p, at);
  int64_t sum = 0, ours = 0;
  size_t name_bytes = 0, our_bytes = 0, n;
  assert_non_null(k);
  if (line->name.len == 10 && memcmp(line->name.data, "_counters_", 10) == 0) return;
  assert_int_equal(k->count, line->n_events);
  for (size_t i = 0; i < line->n_events; i++) {
    const Xplane__XEvent *e = line->events[i];
    const Xplane__XEventMetadata *m = metadata_of(p, e->metadata_id);
    sum += line->timestamp_ns * 1000 + e->duration_ps;
    if (e->data_case == XPLANE__XEVENT__DATA_OFFSET_PS) sum += e->offset_ps;
    name_bytes += m->display_name.len ? m->display_name.len : m->name.len;
  }
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &t->events[i];
    ours += (t->origin_ns - t->zero_ns) * 1000 + e->ts + e->dur;
    struct tk_arg step; /* an event shown under its step_name records the name of its metadata */
    bool is_step = tk_args_find(t, t->classes[e->cls].args, XPLANE_OWN_NAME, &step);
    tk_string(t, is_step ? step.s : t->classes[e->cls].name, &n);
    our_bytes += n;
  }
  assert_true(sum == ours);
  assert_int_equal(name_bytes, our_bytes);
}

static void compare_file(const char *path, struct bytes b) {
  struct tk_err err;
  Xplane__XSpace *space;
  struct tk_trace *t;
  if (!strstr(path, ".xplane.pb")) return;
  space = xplane__xspace__unpack(NULL, b.n, b.p);
  assert_non_null(space);
  t = feed_bytes(b.p, b.n, (struct feed){.format = "xplane"}, &err);
  assert_non_null(t);
  for (size_t i = 0; i < space->n_planes; i++)
    for (size_t k = 0; k < space->planes[i]->n_lines; k++) compare_line(t, space->planes[i], k);
  tk_free(t);
  xplane__xspace__free_unpacked(space, NULL);
}

static void real_files(void **state) {
  (void)state;
  each_fixture("xplane", 4 << 20, compare_file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(field_numbers), cmocka_unit_test(real_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

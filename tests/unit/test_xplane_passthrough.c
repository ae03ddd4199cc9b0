/* test_xplane_passthrough.c - data of an XSpace that the graph does not model, after operations that record their edits
 * (t->edits).
 *
 *     plane "/host:CPU"        events "keeper" and "goner"; metadata of both, of "child", which keeper refers to, and of
 *                              "nobody"
 *     plane "/host:metadata"   programs jit_keep(7), to which keeper belongs, and jit_gone(8), to which goner belongs
 *     plane "/idle"            a line with an event called "goner_too"
 *
 * Also, the space, the host's plane and line, the event keeper and its metadata each have a field that no schema knows. */
#include "help.h"

#include "format/pb_out.h"
#include "format/xplane/fields.h"
#include "format/xplane/xplane.h"
#include "format/xplane/write/write.h"
#include "io/out.h"
#include "graph/args.h"

enum { UNKNOWN = 99, KEEPER = 1, GONER, CHILD, NOBODY, HLO = 1, PROGRAM_ID, NOTE, REF, TARGET, UNUSED, FACT };

static void text_field(struct buf *b, uint32_t number, const char *text) { pb_bytes(b, number, text, strlen(text)); }

static void add_stat(struct buf *b, uint32_t number, int64_t id, uint32_t field, const char *text, int64_t v) {
  struct buf s = {.mem = b->mem};
  pb_i64(&s, XSTAT_METADATA_ID, id);
  if (text) text_field(&s, field, text);
  else pb_i64(&s, field, v);
  pb_message(b, number, &s);
  buf_free(&s);
}

static void add_name(struct buf *plane, uint32_t map, int64_t id, const char *name, const struct buf *more) {
  struct buf m = {.mem = plane->mem}, entry = {.mem = plane->mem};
  pb_i64(&m, XEVENT_METADATA_KEY, id);
  text_field(&m, XEVENT_METADATA_NAME, name);
  if (more) buf_append(&m, more->data, more->len);
  pb_i64(&entry, MAP_KEY, id);
  pb_message(&entry, MAP_VALUE, &m);
  pb_message(plane, map, &entry);
  buf_free(&m);
  buf_free(&entry);
}

static void add_line(struct buf *plane, const char *name, const int64_t *metadata, size_t n) {
  struct buf line = {.mem = plane->mem}, e = {.mem = plane->mem};
  pb_i64(&line, XLINE_ID, 1);
  text_field(&line, XLINE_NAME, name);
  for (size_t i = 0; i < n; i++) {
    e.len = 0;
    pb_i64(&e, XEVENT_METADATA_ID, metadata[i]);
    pb_i64(&e, XEVENT_OFFSET_PS, (int64_t)i * 1000);
    pb_i64(&e, XEVENT_DURATION_PS, 500);
    add_stat(&e, XEVENT_STATS, PROGRAM_ID, XSTAT_INT64, NULL, metadata[i] == KEEPER ? 7 : 8);
    if (metadata[i] == KEEPER) text_field(&e, UNKNOWN, "unknown_of_event");
    pb_message(&line, XLINE_EVENTS, &e);
  }
  if (n > 1) text_field(&line, UNKNOWN, "unknown_of_line");
  pb_message(plane, XPLANE_LINES, &line);
  buf_free(&line);
  buf_free(&e);
}

static void end_plane(struct buf *space, struct buf *plane) {
  pb_message(space, XSPACE_PLANES, plane);
  plane->len = 0;
}

static void add_host(struct buf *space, struct buf *plane) {
  struct buf more = {.mem = space->mem};
  text_field(plane, XPLANE_NAME, "/host:CPU");
  add_line(plane, "thread", (const int64_t[]){KEEPER, GONER}, 2);
  text_field(&more, XEVENT_METADATA_METADATA, "keeper_raw");
  add_stat(&more, XEVENT_METADATA_STATS, NOTE, XSTAT_STR, "note_of_keeper", 0);
  add_stat(&more, XEVENT_METADATA_STATS, REF, XSTAT_REF, NULL, TARGET);
  pb_i64(&more, XEVENT_METADATA_CHILD_ID, CHILD);
  text_field(&more, UNKNOWN, "unknown_of_metadata");
  add_name(plane, XPLANE_EVENT_METADATA, KEEPER, "keeper", &more);
  more.len = 0;
  add_stat(&more, XEVENT_METADATA_STATS, NOTE, XSTAT_STR, "note_of_goner", 0);
  add_name(plane, XPLANE_EVENT_METADATA, GONER, "goner", &more);
  more.len = 0;
  add_stat(&more, XEVENT_METADATA_STATS, NOTE, XSTAT_STR, "note_of_child", 0);
  add_name(plane, XPLANE_EVENT_METADATA, CHILD, "child", &more);
  add_name(plane, XPLANE_EVENT_METADATA, NOBODY, "nobody", NULL);
  add_name(plane, XPLANE_STAT_METADATA, PROGRAM_ID, "program_id", NULL);
  add_name(plane, XPLANE_STAT_METADATA, NOTE, "note_key", NULL);
  add_name(plane, XPLANE_STAT_METADATA, REF, "ref_key", NULL);
  add_name(plane, XPLANE_STAT_METADATA, TARGET, "target_of_ref", NULL);
  add_name(plane, XPLANE_STAT_METADATA, UNUSED, "unused_stat", NULL);
  add_name(plane, XPLANE_STAT_METADATA, FACT, "fact_of_plane", NULL);
  add_stat(plane, XPLANE_STATS, FACT, XSTAT_INT64, NULL, 5);
  text_field(plane, UNKNOWN, "unknown_of_plane");
  end_plane(space, plane);
  buf_free(&more);
}

static void add_program(struct buf *plane, int64_t id, const char *name, const char *hlo) {
  struct buf more = {.mem = plane->mem};
  add_stat(&more, XEVENT_METADATA_STATS, HLO, XSTAT_BYTES, hlo, 0);
  add_name(plane, XPLANE_EVENT_METADATA, id, name, &more);
  buf_free(&more);
}

static struct tk_trace *read_space(void) {
  struct mem mem = {0};
  struct buf space = {.mem = &mem}, plane = {.mem = &mem};
  struct tk_err err;
  add_host(&space, &plane);
  text_field(&plane, XPLANE_NAME, "/host:metadata");
  add_program(&plane, 7, "jit_keep(7)", "hlo_of_keep");
  add_program(&plane, 8, "jit_gone(8)", "hlo_of_gone");
  add_name(&plane, XPLANE_STAT_METADATA, HLO, "Hlo Proto", NULL);
  end_plane(&space, &plane);
  text_field(&plane, XPLANE_NAME, "/idle");
  add_line(&plane, "idle_line", (const int64_t[]){GONER}, 1);
  add_name(&plane, XPLANE_EVENT_METADATA, GONER, "goner_too", NULL);
  add_name(&plane, XPLANE_STAT_METADATA, PROGRAM_ID, "program_id", NULL);
  end_plane(&space, &plane);
  text_field(&space, XSPACE_HOSTNAMES, "host_name");
  text_field(&space, UNKNOWN, "unknown_of_space");
  struct tk_trace *t = feed_bytes(space.data, space.len, (struct feed){.format = "xplane"}, &err);
  if (!t) fail_msg("%s", err.msg);
  buf_free(&space);
  buf_free(&plane);
  return t;
}

/* Removes the events "goner" and "goner_too" as a filter does, and the plane that then has no events. */
static void drop_goners(struct tk_trace *t) {
  tk_id n = 0, idle = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const char *name = tk_string(t, t->classes[t->events[i].cls].name, NULL);
    struct tk_track *k = &t->tracks[t->events[i].track];
    if (strncmp(name, "goner", 5) != 0) t->events[++n] = t->events[i];
    else if (strcmp(name, "goner_too") == 0) idle = t->events[i].track;
    if (strncmp(name, "goner", 5) == 0) k->count--;
  }
  t->n_events = n;
  t->tracks[idle].hidden = t->tracks[t->tracks[idle].parent].hidden = true;
  t->edits |= TK_EDIT_DROPPED;
}

/* ---- inspecting ---- */

struct output {
  struct bytes b;
  struct tk_saved saved;
};

static struct output output_of(const struct tk_trace *t) {
  struct mem mem = {0};
  struct tk_err err;
  struct out out;
  struct output o;
  err_clear(&err);
  assert_true(out_memory(&out, &(struct out_options){0}, &mem, &err));
  struct sink *s = xplane_writer(&out, &(struct sink_options){0});
  assert_non_null(s);
  if (!s->open(s, t, &err) || !s->write(s, t, &err) || !s->close(s, t, NULL, &err)) fail_msg("%s", err.msg);
  o.saved = s->saved;
  s->free(s);
  assert_true(out_commit(&out, &err));
  const uint8_t *p = out_memory_data(&out, &o.b.n);
  o.b.p = malloc(o.b.n + 1);
  memcpy(o.b.p, p, o.b.n);
  out_close(&out);
  assert_int_equal(mem.used, 0);
  return o;
}

static bool has(const struct output *o, const char *text) { return memmem(o->b.p, o->b.n, text, strlen(text)) != NULL; }

static void wants(const struct output *o, const char *const *texts, bool there) {
  for (; *texts; texts++)
    if (has(o, *texts) != there) fail_msg("%s: %s", *texts, there ? "is gone" : "is left");
}
#define HAS(o, ...) wants(o, (const char *const[]){__VA_ARGS__, NULL}, true)
#define LACKS(o, ...) wants(o, (const char *const[]){__VA_ARGS__, NULL}, false)

static const char *const ALL[] = {"keeper", "keeper_raw", "note_of_keeper", "goner", "note_of_goner", "child", "note_of_child",
                                  "nobody",
                                  "program_id", "note_key", "ref_key", "target_of_ref", "unused_stat", "fact_of_plane", "hlo_of_keep",
                                  "hlo_of_gone", "goner_too", "host_name", NULL};

/* ---- cases ---- */

static void untouched(void **state) {
  struct tk_trace *t = read_space();
  struct output o = output_of(t);
  (void)state;
  wants(&o, ALL, true);
  HAS(&o, "unknown_of_metadata", "unknown_of_plane", "unknown_of_space", "unknown_of_line", "unknown_of_event");
  assert_int_equal(o.saved.lost[TK_LOSS_PASSTHROUGH], 0);
  free(o.b.p);
  tk_free(t);
}

static void dropped(void **state) {
  struct tk_trace *t = read_space();
  (void)state;
  drop_goners(t);
  struct output o = output_of(t);
  HAS(&o, "keeper", "keeper_raw", "note_of_keeper", "child", "note_of_child", "program_id", "note_key", "ref_key", "target_of_ref",
      "fact_of_plane", "jit_keep(7)", "hlo_of_keep", "Hlo Proto", "host_name", "unknown_of_event");
  LACKS(&o, "goner", "nobody", "unused_stat", "jit_gone", "hlo_of_gone", "/idle", "idle_line");
  LACKS(&o, "unknown_of_metadata", "unknown_of_plane", "unknown_of_space", "unknown_of_line");
  assert_int_equal(o.saved.lost[TK_LOSS_PASSTHROUGH], 4); /* the unknown fields; the rest was removed on request */
  free(o.b.p);
  tk_free(t);
}

/* A pruned graph that is written is read back as the same graph, and pruning it again gives the same bytes. */
static void stable(void **state) {
  struct tk_trace *t = read_space(), *again;
  struct tk_err err;
  (void)state;
  drop_goners(t);
  struct output o = output_of(t);
  again = feed_bytes(o.b.p, o.b.n, (struct feed){.format = "xplane"}, &err);
  if (!again) fail_msg("%s", err.msg);
  struct output same = output_of(again);
  assert_int_equal(same.b.n, o.b.n);
  assert_memory_equal(same.b.p, o.b.p, o.b.n);
  free(same.b.p);
  again->edits = TK_EDIT_DROPPED;
  same = output_of(again);
  assert_int_equal(same.b.n, o.b.n);
  assert_int_equal(same.saved.lost[TK_LOSS_PASSTHROUGH], 0);
  free(same.b.p);
  free(o.b.p);
  tk_free(again);
  tk_free(t);
}

/* If an operation drops shared args, they are also removed from the metadata and from the metadata of children. */
static void dropped_args(void **state) {
  struct tk_trace *t = read_space();
  (void)state;
  for (tk_id i = 1; i <= t->n_classes; i++) t->classes[i].args = 0;
  t->edits = TK_EDIT_DROPPED;
  struct output o = output_of(t);
  HAS(&o, "keeper", "goner", "child", "hlo_of_keep", "hlo_of_gone", "goner_too");
  LACKS(&o, "note_of_keeper", "note_of_goner", "note_of_child", "note_key", "ref_key", "target_of_ref");
  free(o.b.p);
  tk_free(t);
}

/* Passthrough data contains no names of processes or tracks. */
static void renamed_process(void **state) {
  struct tk_trace *t = read_space();
  (void)state;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS) t->tracks[i].name = trace_text(t, "another");
  t->edits = TK_EDIT_RENAMED;
  struct output o = output_of(t);
  wants(&o, ALL, true);
  LACKS(&o, "unknown_of_plane", "unknown_of_space", "unknown_of_line");
  assert_int_equal(o.saved.lost[TK_LOSS_PASSTHROUGH], 3);
  free(o.b.p);
  tk_free(t);
}

static tk_id class_called(const struct tk_trace *t, const char *name) {
  for (tk_id i = 1; i <= t->n_classes; i++)
    if (strcmp(tk_string(t, t->classes[i].name, NULL), name) == 0) return i;
  fail_msg("no class %s", name);
  return 0;
}

static void renamed_event(void **state) {
  struct tk_trace *t = read_space();
  (void)state;
  t->classes[class_called(t, "keeper")].name = trace_text(t, "secret");
  t->edits = TK_EDIT_RENAMED;
  struct output o = output_of(t);
  HAS(&o, "secret", "keeper_raw", "note_of_keeper", "goner", "fact_of_plane", "host_name");
  LACKS(&o, "keeper\x1a", "nobody", "hlo_of_keep", "hlo_of_gone", "jit_keep", "jit_gone");
  assert_int_equal(o.saved.lost[TK_LOSS_PASSTHROUGH], 7); /* four unknown fields, "nobody", two programs */
  free(o.b.p);
  tk_free(t);
}

static void renamed_arg(void **state) {
  struct tk_trace *t = read_space();
  tk_id cls = class_called(t, "keeper");
  (void)state;
  args_begin(t);
  args_str(t, trace_text(t, "note_key"), TK_ARG_STR, trace_text(t, "redacted"));
  t->classes[cls].args = args_end(t);
  t->edits = TK_EDIT_RENAMED;
  struct output o = output_of(t);
  HAS(&o, "keeper", "redacted", "note_of_goner");
  LACKS(&o, "note_of_keeper", "target_of_ref", "hlo_of_keep");
  free(o.b.p);
  tk_free(t);
}

static void moved(void **state) {
  struct tk_trace *t = read_space();
  (void)state;
  t->origin_ns += 1000000;
  t->edits = TK_EDIT_MOVED;
  struct output o = output_of(t);
  wants(&o, ALL, true);
  LACKS(&o, "unknown_of_plane", "unknown_of_space", "unknown_of_line");
  assert_int_equal(o.saved.lost[TK_LOSS_PASSTHROUGH], 3);
  free(o.b.p);
  tk_free(t);
}

/* ---- losses ---- */

static void lost_records(void **state) {
  struct tk_trace *t = read_space();
  struct tk_record *r = trace_add_record(t);
  (void)state;
  *r = (struct tk_record){.kind = TK_RECORD_OTHER, .track = 1};
  struct output o = output_of(t);
  assert_int_equal(o.saved.lost[TK_LOSS_RECORDS], 1);
  free(o.b.p);
  tk_free(t);
}

/* The stat "flow" of an event records one flow: a second flow of the same event is lost. */
static void lost_flow_points(void **state) {
  struct tk_trace *t = feed_text("[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5}]");
  (void)state;
  for (int64_t id = 1; id <= 2; id++) {
    struct tk_flow_point *f = trace_add_flow_point(t);
    *f = (struct tk_flow_point){.ts = t->events[1].ts, .id = id, .cls = 1, .at = 1, .role = TK_FLOW_OUT, .bound = true};
  }
  struct output o = output_of(t);
  assert_int_equal(o.saved.flow_points, 1);
  assert_int_equal(o.saved.lost[TK_LOSS_FLOW_POINTS], 1);
  free(o.b.p);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(untouched),   cmocka_unit_test(dropped),       cmocka_unit_test(stable),       cmocka_unit_test(dropped_args),
      cmocka_unit_test(renamed_process), cmocka_unit_test(renamed_event), cmocka_unit_test(renamed_arg), cmocka_unit_test(moved),
      cmocka_unit_test(lost_records), cmocka_unit_test(lost_flow_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

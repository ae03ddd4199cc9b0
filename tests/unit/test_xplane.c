/* test_xplane.c - meaning of an XSpace in the graph and in Chrome JSON, and writing it back unchanged.
 *
 * The cases correspond to xprof's own tests. If xprof is wrong (epoch times that overflow, durations of 213 days, a lost second host,
 * quotes and NaN that break its JSON), the correct result is asserted. */
#include "help.h"

#include "format/pb_out.h"
#include "format/xplane/fields.h"
#include "format/xplane/xplane.h"
#include "format/xplane/write/write.h"
#include "format/xplane/read/detect.h"
#include "io/out.h"

/* ---- building ---- */

struct builder {
  struct mem mem;
  struct buf space, plane, line;
};

static struct builder *begin(void) {
  struct builder *b = calloc(1, sizeof *b);
  assert_non_null(b);
  b->space.mem = b->plane.mem = b->line.mem = &b->mem;
  return b;
}

static void end(struct builder *b) {
  buf_free(&b->space);
  buf_free(&b->plane);
  buf_free(&b->line);
  free(b);
}

static void text_field(struct buf *b, uint32_t number, const char *text) { pb_bytes(b, number, text, strlen(text)); }

/* Adds a number unless it is 0, because proto3 omits zero values. */
static void number(struct buf *b, uint32_t field, int64_t v) {
  if (v) pb_i64(b, field, v);
}

static void plane(struct builder *b, int64_t id, const char *name) {
  b->plane.len = 0;
  number(&b->plane, XPLANE_ID, id);
  text_field(&b->plane, XPLANE_NAME, name);
}

static void end_plane(struct builder *b) { pb_message(&b->space, XSPACE_PLANES, &b->plane); }

static void line(struct builder *b, int64_t id, const char *name, int64_t timestamp_ns) {
  b->line.len = 0;
  number(&b->line, XLINE_ID, id);
  text_field(&b->line, XLINE_NAME, name);
  number(&b->line, XLINE_TIMESTAMP_NS, timestamp_ns);
}

static void end_line(struct builder *b) { pb_message(&b->plane, XPLANE_LINES, &b->line); }

/* Adds an event to the line. `stat`: an encoded stat, or NULL. */
static void event(struct builder *b, int64_t metadata, int64_t offset_ps, int64_t duration_ps, const struct buf *stat) {
  struct buf e = {.mem = &b->mem};
  pb_i64(&e, XEVENT_METADATA_ID, metadata);
  pb_i64(&e, XEVENT_OFFSET_PS, offset_ps);
  number(&e, XEVENT_DURATION_PS, duration_ps);
  if (stat) pb_message(&e, XEVENT_STATS, stat);
  pb_message(&b->line, XLINE_EVENTS, &e);
  buf_free(&e);
}

static struct buf stat_u64(struct builder *b, int64_t metadata, uint32_t field, uint64_t v) {
  struct buf s = {.mem = &b->mem};
  pb_i64(&s, XSTAT_METADATA_ID, metadata);
  if (field == XSTAT_DOUBLE) pb_fixed64(&s, field, v);
  else pb_u64(&s, field, v);
  return s;
}

static void event_u64(struct builder *b, int64_t metadata, int64_t offset_ps, int64_t stat, uint32_t field, uint64_t v) {
  struct buf s = stat_u64(b, stat, field, v);
  event(b, metadata, offset_ps, 1000, &s);
  buf_free(&s);
}

static uint64_t bits(double d) {
  uint64_t u;
  memcpy(&u, &d, 8);
  return u;
}

/* Adds an entry to a map of the plane: id -> name, and for events a display name. */
static void name(struct builder *b, uint32_t map, int64_t id, const char *text, const char *display) {
  struct buf m = {.mem = &b->mem}, entry = {.mem = &b->mem};
  pb_i64(&m, XEVENT_METADATA_KEY, id);
  text_field(&m, XEVENT_METADATA_NAME, text);
  if (display) text_field(&m, XEVENT_METADATA_DISPLAY_NAME, display);
  pb_i64(&entry, MAP_KEY, id);
  pb_message(&entry, MAP_VALUE, &m);
  pb_message(&b->plane, map, &entry);
  buf_free(&m);
  buf_free(&entry);
}

static struct tk_trace *load(const void *p, size_t n, size_t chunk) {
  struct tk_err err;
  struct tk_trace *t = feed_bytes(p, n, (struct feed){.format = "xplane", .chunk = chunk}, &err);
  if (!t) fail_msg("%s", err.msg);
  return t;
}

/* ---- inspecting ---- */

static const char *json_of(const struct tk_trace *t) {
  struct bytes b = written(t, false);
  char *text = malloc(b.n + 1);
  assert_true(strict_json(b.p, b.n));
  memcpy(text, b.p, b.n);
  text[b.n] = 0;
  free(b.p);
  return text;
}

static void holds(struct builder *b, const char *const *lines, size_t n) {
  for (size_t chunk = 0; chunk < 2; chunk++) { /* at once, and byte by byte */
    struct tk_trace *t = load(b->space.data, b->space.len, chunk);
    const char *json = json_of(t);
    for (size_t i = 0; i < n; i++)
      if (!strstr(json, lines[i])) fail_msg("not there: %s\nin: %s", lines[i], json);
    free((void *)(uintptr_t)json);
    tk_free(t);
  }
}
#define HOLDS(b, ...) holds(b, (const char *const[]){__VA_ARGS__}, LENGTH(((const char *const[]){__VA_ARGS__})))

static struct bytes xplane_of(const struct tk_trace *t) {
  struct mem mem = {0};
  struct tk_err err;
  struct out out;
  struct bytes b;
  const uint8_t *p;
  err_clear(&err);
  assert_true(out_memory(&out, &(struct out_options){0}, &mem, &err));
  struct sink *s = xplane_writer(&out, &(struct sink_options){0});
  assert_non_null(s);
  assert_true(s->open(s, t, &err));
  if (!s->write(s, t, &err) || !s->close(s, t, NULL, &err)) fail_msg("%s", err.msg);
  s->free(s);
  assert_true(out_commit(&out, &err));
  p = out_memory_data(&out, &b.n);
  b.p = malloc(b.n + 1);
  memcpy(b.p, p, b.n);
  out_close(&out);
  assert_int_equal(mem.used, 0);
  return b;
}

/* Checks that XPlane -> graph -> XPlane gives the same bytes. */
static void stays(const void *p, size_t n) {
  struct tk_trace *t = load(p, n, 0);
  struct bytes b = xplane_of(t);
  assert_int_equal(b.n, n);
  assert_memory_equal(b.p, p, n);
  free(b.p);
  tk_free(t);
}

/* ---- cases of xprof's tests ---- */

static void counters(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, 0, "/device:GPU:0");
  line(b, 1, "_counters_", 0);
  event_u64(b, 1, 1000000000000, 1, XSTAT_UINT64, 100);
  event_u64(b, 1, 2000000000000, 1, XSTAT_UINT64, 200);
  event_u64(b, 2, 1000000000000, 1, XSTAT_UINT64, 300);
  event_u64(b, 2, 2000000000000, 1, XSTAT_UINT64, 400);
  end_line(b);
  line(b, 2, "Stream #1", 0);
  event(b, 3, 5000, 7000, NULL);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "Counter \"1\"", NULL);
  name(b, XPLANE_EVENT_METADATA, 2, "Counter 2", NULL);
  name(b, XPLANE_EVENT_METADATA, 3, "kernel", NULL);
  name(b, XPLANE_STAT_METADATA, 1, "value", NULL);
  end_plane(b);
  HOLDS(b, "{\"ph\":\"C\",\"name\":\"Counter \\\"1\\\"\",\"pid\":1,\"ts\":1000000,\"args\":{\"value\":100}}",
        "\"name\":\"Counter \\\"1\\\"\",\"pid\":1,\"ts\":2000000,\"args\":{\"value\":200}}",
        "\"name\":\"Counter 2\",\"pid\":1,\"ts\":1000000,\"args\":{\"value\":300}}",
        "\"name\":\"Counter 2\",\"pid\":1,\"ts\":2000000,\"args\":{\"value\":400}}",
        "{\"ph\":\"X\",\"name\":\"kernel\",\"pid\":1,\"tid\":2,\"ts\":0.005,\"dur\":0.007}");
  end(b);
}

static void async_lines(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, 0, "/device:TPU:0");
  line(b, 5, "Async XLA Ops", 2000000000);
  event(b, 1, 0, 1000000000000, NULL);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "copy-start.1", "copy-start");
  end_plane(b);
  HOLDS(
      b,
      "\"name\":\"copy-start\",\"pid\":1,\"tid\":5,\"ts\":2000000,\"dur\":1000000,\"args\":{\"long_name\":\"copy-start.1\"}}");
  stays(b->space.data, b->space.len);
  end(b);
}

static void one_event_plane(struct builder *b, int64_t id, const char *plane_name, const char *event_name) {
  plane(b, id, plane_name);
  line(b, 1, "t", 0);
  event(b, 1, 1234567, 1000000, NULL);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, event_name, NULL);
  end_plane(b);
}

/* Host planes get a pid by name, devices by id; planes that xprof would merge or drop get their own pid. */
static void process_ids(void **state) {
  struct builder *b = begin();
  (void)state;
  one_event_plane(b, 0, "/host:CPU [100]", "Event 2");
  one_event_plane(b, 0, "/host:CPU", "Event 1");
  one_event_plane(b, 4, "/device:GPU:4", "gpu");
  one_event_plane(b, 4, "/device:TPU:0", "tpu of the same id");
  one_event_plane(b, 600, "/device:TPU:600", "far id");
  one_event_plane(b, 7, "/device:CUSTOM:x", "custom");
  one_event_plane(b, 0, "#Chip TPU Non-Core HBM", "chip");
  HOLDS(b, "\"name\":\"Event 1\",\"pid\":701,\"tid\":1,\"ts\":1.234567,\"dur\":1}", "\"name\":\"Event 2\",\"pid\":702,",
        "\"name\":\"gpu\",\"pid\":5,", "\"name\":\"tpu of the same id\",\"pid\":1000,", "\"name\":\"far id\",\"pid\":1001,",
        "\"name\":\"custom\",\"pid\":508,", "\"name\":\"chip\",\"pid\":1002,",
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1002,\"args\":{\"name\":\"#Chip TPU Non-Core HBM\"}}",
        "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":701,\"args\":{\"sort_index\":701}}");
  end(b);
}

/* A second file appended to the first is a second host, not a part of the first. */
static void joined_files(void **state) {
  struct builder *b = begin();
  struct tk_trace *t;
  (void)state;
  one_event_plane(b, 0, "/host:CPU", "a");
  text_field(&b->space, XSPACE_HOSTNAMES, "hostA");
  one_event_plane(b, 0, "/host:CPU", "b");
  text_field(&b->space, XSPACE_HOSTNAMES, "hostB");
  HOLDS(b, "\"name\":\"a\",\"pid\":701,", "\"name\":\"b\",\"pid\":702,", "\"hostnames\":[\"hostA\",\"hostB\"]");
  stays(b->space.data, b->space.len);
  t = load(b->space.data, b->space.len, 0);
  assert_int_equal(t->n_tracks, 4);
  tk_free(t);
  end(b);
}

static void counter_plane(struct builder *b, const char *counter) {
  plane(b, 0, "/device:GPU:0");
  line(b, 1, "_counters_", 0);
  event_u64(b, 1, 1000000000000, 1, XSTAT_UINT64, 100);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, counter, NULL);
  name(b, XPLANE_STAT_METADATA, 1, "value", NULL);
  end_plane(b);
}

/* The parts of a plane are one process, which keeps the counters of each part when it is written again. */
static void counters_in_parts(void **state) {
  struct builder *b = begin();
  (void)state;
  counter_plane(b, "power");
  counter_plane(b, "memory");
  struct tk_trace *t = load(b->space.data, b->space.len, 0), *again;
  struct bytes out = xplane_of(t);
  again = load(out.p, out.n, 0);
  assert_int_equal(t->n_events, 2);
  assert_int_equal(again->n_events, 2);
  for (tk_id i = 1; i <= again->n_tracks; i++)
    if (again->tracks[i].kind == TK_TRACK_COUNTERS)
      assert_string_equal(tk_string(again, again->tracks[again->tracks[i].parent].name, NULL), "/device:GPU:0");
  tk_free(again);
  free(out.p);
  tk_free(t);
  end(b);
}

static void flows(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, 0, "/host:CPU");
  line(b, 1, "t", 0);
  event_u64(b, 1, 0, 1, XSTAT_UINT64, (uint64_t)9 << 58 | 123 << 2 | 2);
  event_u64(b, 2, 5000, 1, XSTAT_UINT64, (uint64_t)9 << 58 | 123 << 2 | 3);
  event_u64(b, 3, 9000, 1, XSTAT_UINT64, (uint64_t)9 << 58 | 123 << 2 | 1);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "out", NULL);
  name(b, XPLANE_EVENT_METADATA, 2, "both", NULL);
  name(b, XPLANE_EVENT_METADATA, 3, "in", NULL);
  name(b, XPLANE_STAT_METADATA, 1, "flow", NULL);
  end_plane(b);
  HOLDS(b, "\"dur\":0.001,\"bind_id\":1,\"flow_out\":true,\"args\":{\"flow\":2594073385365406190}}",
        "\"bind_id\":1,\"flow_in\":true,\"flow_out\":true,", "\"bind_id\":1,\"flow_in\":true,\"args\"");
  stays(b->space.data, b->space.len);
  end(b);
}

static void producers(void **state) {
  struct builder *b = begin();
  struct tk_trace *t;
  (void)state;
  plane(b, 0, "/host:CPU");
  line(b, 1, "t", 0);
  event_u64(b, 1, 0, 1, XSTAT_UINT64, 77);
  event_u64(b, 1, 5000, 2, XSTAT_UINT64, 77);
  event_u64(b, 1, 9000, 2, XSTAT_UINT64, 78);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "e", NULL);
  name(b, XPLANE_STAT_METADATA, 1, "_p", NULL);
  name(b, XPLANE_STAT_METADATA, 2, "_c", NULL);
  end_plane(b);
  t = load(b->space.data, b->space.len, 0);
  assert_int_equal(t->n_flow_points, 3);
  assert_int_equal(t->flow_points[1].role, TK_FLOW_OUT);
  assert_int_equal(t->flow_points[2].role, TK_FLOW_IN);
  assert_int_equal(t->flow_points[1].id, t->flow_points[2].id);
  assert_int_not_equal(t->flow_points[1].id, t->flow_points[3].id);
  tk_free(t);
  end(b);
}

/* ---- bugs of xprof ---- */

static void values(void **state) {
  struct builder *b = begin();
  struct buf s;
  (void)state;
  plane(b, 0, "/host:CPU");
  line(b, 1, "t", 0);
  event_u64(b, 1, 0, 1, XSTAT_DOUBLE, bits(0.0 / 0.0));
  event_u64(b, 1, 2000, 1, XSTAT_DOUBLE, bits(1.0 / 0.0));
  event_u64(b, 1, 4000, 1, XSTAT_DOUBLE, bits(-1.0 / 0.0));
  event_u64(b, 1, 6000, 1, XSTAT_DOUBLE, bits(0.1));
  event_u64(b, 1, 8000, 1, XSTAT_UINT64, UINT64_MAX);
  event_u64(b, 1, 10000, 1, XSTAT_INT64, (uint64_t)INT64_MIN);
  event_u64(b, 1, 12000, 1, XSTAT_REF, 2);
  s = stat_u64(b, 1, XSTAT_INT64, 0);
  s.len = 2; /* only the id: a stat without a value */
  event(b, 1, 14000, 1000, &s);
  s.len = 0;
  pb_i64(&s, XSTAT_METADATA_ID, 1);
  pb_bytes(&s, XSTAT_BYTES, "\0\xff\x01", 3);
  event(b, 1, 16000, 1000, &s);
  s.len = 0;
  pb_i64(&s, XSTAT_METADATA_ID, 1);
  pb_bytes(&s, XSTAT_STR, "a\0b\"", 4);
  event(b, 1, 18000, 1000, &s);
  buf_free(&s);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "e", NULL);
  name(b, XPLANE_STAT_METADATA, 1, "k", NULL);
  name(b, XPLANE_STAT_METADATA, 2, "ref_value", NULL);
  end_plane(b);
  HOLDS(b, "{\"k\":\"NaN\"}", "{\"k\":\"Infinity\"}", "{\"k\":\"-Infinity\"}", "{\"k\":0.1}", "{\"k\":18446744073709551615}",
        "{\"k\":-9223372036854775808}", "{\"k\":\"ref_value\"}", "{\"k\":null}", "{\"k\":\"data:;base64,AP8B\"}",
        "{\"k\":\"a\\u0000b\\\"\"}");
  stays(b->space.data, b->space.len);
  end(b);
}

static void epoch_lines(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, 0, "/host:CPU");
  line(b, 1, "t", 1719000000120000000);
  event(b, 1, 1, 2, NULL);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "e", NULL);
  end_plane(b);
  HOLDS(b, "\"ts\":1719000000120000.000001,\"dur\":0.000002}");
  stays(b->space.data, b->space.len);
  end(b);
}

static void negative(void **state) {
  struct builder *b = begin();
  (void)state;
  plane(b, 0, "/host:CPU");
  line(b, 1, "t", 0);
  event(b, 1, 5000, -1000, NULL);
  event(b, 1, -5000, 1000, NULL);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, 1, "e", NULL);
  end_plane(b);
  HOLDS(b, "\"ts\":0.005,\"dur\":0,\"args\":{\"repaired.dur\":-1000}}", "\"ts\":-0.005,\"dur\":0.001}");
  end(b);
}

/* Hosts whose profiles start at different times are aligned by their "Task Environment". */
static void start_time(void **state) {
  struct builder *b = begin();
  struct tk_trace *t;
  (void)state;
  one_event_plane(b, 0, "/host:CPU", "e");
  plane(b, 0, "Task Environment");
  struct buf s = stat_u64(b, 1, XSTAT_UINT64, 1795171318571435416);
  pb_message(&b->plane, XPLANE_STATS, &s);
  buf_free(&s);
  name(b, XPLANE_STAT_METADATA, 1, "profile_start_time", NULL);
  end_plane(b);
  HOLDS(b, "\"baseTimeNanoseconds\":1795171318571435416", "\"ts\":1.234567,");
  t = load(b->space.data, b->space.len, 0);
  assert_int_equal(t->origin_ns, 1795171318571435416);
  assert_int_equal(t->clock, TK_CLOCK_REALTIME);
  tk_free(t);
  stays(b->space.data, b->space.len);
  end(b);
}

/* Maps may be at any position in a plane, entries and stats may be duplicated, and ids may be hashes. */
static void odd_maps(void **state) {
  struct builder *b = begin();
  struct buf s, e = {.mem = NULL};
  (void)state;
  plane(b, 0, "/host:CPU");
  name(b, XPLANE_EVENT_METADATA, -5910332873360712013, "first", NULL);
  line(b, 1, "t", 0);
  e.mem = &b->mem;
  pb_i64(&e, XEVENT_METADATA_ID, -5910332873360712013);
  pb_i64(&e, XEVENT_OFFSET_PS, 0);
  s = stat_u64(b, INT64_MAX, XSTAT_INT64, 1);
  pb_message(&e, XEVENT_STATS, &s);
  buf_free(&s);
  s = stat_u64(b, INT64_MAX, XSTAT_INT64, 2);
  pb_message(&e, XEVENT_STATS, &s);
  buf_free(&s);
  pb_message(&b->line, XLINE_EVENTS, &e);
  buf_free(&e);
  end_line(b);
  name(b, XPLANE_EVENT_METADATA, -5910332873360712013, "second", NULL);
  name(b, XPLANE_STAT_METADATA, INT64_MAX, "k", NULL);
  end_plane(b);
  HOLDS(b, "\"name\":\"second\",\"pid\":701,\"tid\":1,\"ts\":0,\"dur\":0,\"args\":{\"xplane.earlier.k\":1,\"k\":2}}");
  end(b);
}

/* Truncation at any byte keeps everything complete, and never crashes. */
static void cut_anywhere(void **state) {
  struct builder *b = begin();
  struct tk_err err;
  (void)state;
  one_event_plane(b, 0, "/host:CPU", "e");
  one_event_plane(b, 0, "/device:GPU:0", "kernel");
  for (size_t n = 1; n < b->space.len; n++) {
    struct tk_trace *t = feed_bytes(b->space.data, n, (struct feed){.format = "xplane"}, &err);
    if (t) assert_true(t->truncated || t->n_events >= 1);
    tk_free(t);
  }
  end(b);
}

/* Any byte changed: a valid trace or an error, in bounded time. */
static void any_byte(void **state) {
  struct builder *b = begin();
  struct tk_err err;
  (void)state;
  one_event_plane(b, 0, "/host:CPU", "e");
  for (size_t i = 0; i < b->space.len; i++)
    for (unsigned bit = 0; bit < 8; bit++) {
      b->space.data[i] ^= (uint8_t)(1u << bit);
      tk_free(feed_bytes(b->space.data, b->space.len, (struct feed){.format = "xplane"}, &err));
      b->space.data[i] ^= (uint8_t)(1u << bit);
    }
  end(b);
}

/* ---- other formats written as XPlane, and back ---- */

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Sorts the lines: the position of a counter's track among other tracks may differ. */
static char *sorted_lines(const char *text) {
  char *copy = strdup(text), *out = calloc(1, strlen(text) + 2), *lines[256], *save = NULL;
  size_t n = 0;
  for (char *l = strtok_r(copy, "\n", &save); l && n < LENGTH(lines); l = strtok_r(NULL, "\n", &save)) {
    size_t len = strlen(l);
    if (len && l[len - 1] == ',') l[len - 1] = 0;
    lines[n++] = l;
  }
  qsort(lines, n, sizeof lines[0], by_text);
  for (size_t i = 0; i < n; i++) strcat(strcat(out, lines[i]), "\n");
  free(copy);
  return out;
}

static void from_json(void **state) {
  static const char text[] =
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":12,\"tid\":\"main\",\"ts\":10.5,\"dur\":2,\"args\":"
      "{\"d\":1.50,\"j\":[1,{}],\"b\":true,\"n\":null,"
      "\"big\":123456789012345678901234567890,\"i\":-3,\"s\":\"x\"}},"
      "{\"ph\":\"B\",\"name\":\"pair\",\"pid\":12,\"tid\":7,\"ts\":1},{\"ph\":\"E\",\"pid\":12,\"tid\":7,\"ts\":3,\"name\":\"pair\"},"
      "{\"ph\":\"i\",\"name\":\"mark\",\"pid\":12,\"tid\":7,\"ts\":2,\"s\":\"t\"},"
      "{\"ph\":\"i\",\"name\":\"all\",\"pid\":12,\"ts\":2,\"s\":\"p\"},"
      "{\"ph\":\"C\",\"name\":\"mem\",\"pid\":12,\"ts\":4,\"args\":{\"used\":5,\"free\":6}},"
      "{\"ph\":\"b\",\"cat\":\"c\",\"name\":\"as\",\"id\":\"0x1\",\"pid\":12,\"tid\":7,\"ts\":5},"
      "{\"ph\":\"e\",\"cat\":\"c\",\"name\":\"as\",\"id\":\"0x1\",\"pid\":12,\"tid\":7,\"ts\":8},"
      "{\"ph\":\"X\",\"name\":\"other\",\"pid\":\"p\",\"tid\":-1,\"ts\":11,\"dur\":1}]}";
  struct tk_trace *t = feed_text(text), *back;
  struct bytes once = xplane_of(t), twice;
  const char *before = json_of(t), *after;
  (void)state;
  back = load(once.p, once.n, 1);
  after = json_of(back);
  twice = xplane_of(back);
  char *was = sorted_lines(before), *is = sorted_lines(after);
  expect(strcmp(was, is) == 0, "json -> xplane -> json", is, was);
  free(was);
  free(is);
  assert_int_equal(once.n, twice.n);
  assert_memory_equal(once.p, twice.p, once.n);
  free((void *)(uintptr_t)before);
  free((void *)(uintptr_t)after);
  free(once.p);
  free(twice.p);
  tk_free(t);
  tk_free(back);
}

static void fixture_stays(const char *path, struct bytes b) {
  if (strstr(path, ".xplane.pb")) stays(b.p, b.n);
}

static void fixtures_stay(void **state) {
  (void)state;
  each_fixture("xplane", 4 << 20, fixture_stays);
}

/* ---- events with the stats of earlier events: the result is the same with and without prediction ---- */

static unsigned n_agreed;

static void agree(const char *path, const uint8_t *p, size_t n) {
  char *fast = dump_fed(p, n, (struct feed){.format = "xplane"});
  char *general = dump_fed(p, n, (struct feed){.format = "xplane", .no_templates = true});
  expect(strcmp(fast, general) == 0, path, fast, general);
  n_agreed++;
  free(fast);
  free(general);
}

/* Compares reading with and without templates (prediction), for the original bytes and for changed bytes. */
static void both_agree(const char *path, struct bytes b) {
  uint32_t random = 1;
  agree(path, b.p, b.n);
  for (unsigned i = 0; b.n && b.n < (long_run() ? 1 << 20 : 20000) && i < (long_run() ? 2000 : 60); i++) {
    random = random * 1664525 + 1013904223;
    const size_t at = (random >> 8) % b.n;
    const uint8_t was = b.p[at];
    b.p[at] = (uint8_t)(i % 3 ? was ^ 1u << (random & 7) : random);
    agree(path, b.p, b.n);
    b.p[at] = was;
  }
}

static void predicted(void **state) {
  (void)state;
  each_fixture("xplane", 4 << 20, both_agree);
  each_fixture("nasty/xplane", 1 << 20, both_agree);
  assert_true(n_agreed > 1000);
}

/* ---- detection ---- */

static void bids(void **state) {
  struct builder *b = begin();
  (void)state;
  one_event_plane(b, 0, "/host:CPU", "e");
  assert_true(xplane_bid(b->space.data, b->space.len) > 32);
  assert_int_equal(xplane_bid((const uint8_t *)"{\"traceEvents\":[]}", 18), 0);
  assert_int_equal(xplane_bid((const uint8_t *)"", 0), 0);
  /* a Perfetto packet, with the fields timestamp (8) and track_event (11), is not an XPlane */
  assert_int_equal(xplane_bid((const uint8_t *)"\x0a\x08\x40\x05\x5a\x04\x48\x01\x58\x02", 10), 0);
  end(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counters),     cmocka_unit_test(async_lines), cmocka_unit_test(process_ids),
      cmocka_unit_test(joined_files), cmocka_unit_test(flows),       cmocka_unit_test(producers),
      cmocka_unit_test(values),       cmocka_unit_test(epoch_lines), cmocka_unit_test(negative),
      cmocka_unit_test(start_time),   cmocka_unit_test(odd_maps),    cmocka_unit_test(cut_anywhere),
      cmocka_unit_test(any_byte),     cmocka_unit_test(from_json),   cmocka_unit_test(fixtures_stay),
      cmocka_unit_test(predicted),    cmocka_unit_test(bids),        cmocka_unit_test(counters_in_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_build.c - traces built with the public builder: the output in every format, and the handling of invalid calls. */
#include "help.h"

#include "graph/trace.h"

static const struct tk_ident NO_TID = {0, 0, TK_IDENT_NONE};

static tk_id add(struct tk_trace *t, tk_id track, enum tk_kind kind, const char *name, tk_time ts, tk_time dur) {
  const tk_id cls = name ? tk_add_class(t, tk_add_text(t, name), tk_add_text(t, "made"), 0) : 0;
  return tk_add_event(t, &(struct tk_event){.ts = ts, .dur = dur, .cls = cls, .track = track, .kind = (uint8_t)kind});
}

/* Builds a trace with one item of every kind. */
static struct tk_trace *made(void) {
  struct tk_err err;
  struct tk_trace *t = tk_new(&(struct tk_new_options){.source = "made", .host = "vm", .clock = TK_CLOCK_REALTIME,
                                                       .origin_ns = 1700000000000000000}, &err);
  assert_non_null(t);
  const tk_id process = tk_add_process(t, tk_ident_int(7));
  const tk_id thread = tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_int(8), tk_add_text(t, "worker"));
  const tk_id named = tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_str(tk_add_text(t, "gpu")), 0);
  const tk_id counter = tk_add_track(t, TK_TRACK_COUNTERS, process, NO_TID, tk_add_text(t, "bytes"));
  const tk_id asyncs = tk_add_track(t, TK_TRACK_ASYNCS, process, tk_ident_int(8), 0);
  assert_int_equal(tk_add_process(t, tk_ident_int(7)), process);
  assert_int_equal(tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_int(8), 0), thread);
  assert_true(tk_name_track(t, process, tk_add_text(t, "trainer")) && tk_label_process(t, process, tk_add_text(t, "rank 0")));
  assert_true(tk_sort_track(t, named, -1));
  const struct tk_arg args[] = {tk_arg_int(tk_add_text(t, "step"), 3), tk_arg_double(tk_add_text(t, "loss"), 0.5),
                                tk_arg_bool(tk_add_text(t, "ok"), true), tk_arg_string(tk_add_text(t, "op"), tk_add_text(t, "add")),
                                {.key = tk_add_text(t, "dims"), .type = TK_ARG_JSON, .s = tk_add_text(t, " [1, {\"a\" : 2}] ")},
                                {.key = tk_add_text(t, "n"), .type = TK_ARG_NUMBER, .s = tk_add_text(t, "12345678901234567890123")}};
  const tk_id cls = tk_add_class(t, tk_add_text(t, "outer"), 0, 0);
  const struct tk_event outer = {.ts = 1000000, .dur = 9000000, .cls = cls, .track = thread, .kind = TK_EVENT_SPAN,
                                 .args = tk_add_args(t, args, sizeof args / sizeof *args)};
  const tk_id first = tk_add_event(t, &outer);
  assert_true(first && add(t, thread, TK_EVENT_SPAN, "inner", 2000000, 1000000));
  assert_true(add(t, thread, TK_EVENT_BEGIN, "pair", 4000000, 0) && add(t, thread, TK_EVENT_INSTANT, "mark", 5000000, 0));
  assert_true(add(t, thread, TK_EVENT_END, NULL, 6000000, 0) && add(t, process, TK_EVENT_INSTANT, "all", 7000000, 0));
  const tk_id kernel = add(t, named, TK_EVENT_SPAN, "kernel", 8000000, 500000);
  const struct tk_arg value = tk_arg_int(tk_add_text(t, "value"), 42);
  assert_true(tk_add_event(t, &(struct tk_event){.ts = 5, .cls = tk_add_class(t, tk_add_text(t, "bytes"), 0, 0), .track = counter,
                                                 .kind = TK_EVENT_COUNTER, .args = tk_add_args(t, &value, 1)}));
  struct tk_event request = {.ts = 3000000, .cls = tk_add_class(t, tk_add_text(t, "request"), 0, 0), .track = asyncs, .kind =
                             TK_EVENT_BEGIN};
  assert_true(tk_add_async(t, &request, 0, tk_ident_int(99)));
  request.kind = TK_EVENT_END;
  request.ts = 9000000;
  assert_true(tk_add_async(t, &request, 0, tk_ident_int(99)));
  assert_true(tk_add_flow_point(t, &(struct tk_flow_point){.ts = 1500000, .id = 1, .cls = cls, .at = thread, .role = TK_FLOW_START}));
  assert_true(tk_add_flow_point(t, &(struct tk_flow_point){.id = 1, .cls = cls, .at = kernel, .role = TK_FLOW_IN}));
  const char record[] = "{\"name\":\"clock_sync\",\"ph\":\"c\"}", meta[] = "{\"version\": 2}";
  assert_true(tk_add_record(t, process, record, strlen(record)) && tk_add_meta(t, "producer", meta, strlen(meta)));
  assert_true(tk_add_note(t, TK_NOTE_INFO, UINT64_MAX, "made by a test"));
  if (!tk_seal(t, &err)) fail_msg("%s", err.msg);
  if (!tk_check(t, &err)) fail_msg("%s", err.msg);
  return t;
}

static void seals(void **state) {
  (void)state;
  struct tk_trace *t = made();
  assert_int_equal(t->n_events, 8);
  const struct tk_track *worker = &t->tracks[2];
  assert_int_equal(worker->count, 4);
  assert_int_equal(t->events[worker->first + 1].depth, 1);
  const struct tk_event *pair = &t->events[worker->first + 2];
  assert_true(pair->flags & TK_FLAG_PAIRED);
  assert_int_equal(pair->dur, 2000000);
  assert_true(t->flow_points[1].bound && t->flow_points[2].bound);
  assert_int_equal(t->events[t->flow_points[1].at].ts, 1000000);
  tk_free(t);
}

/* If every format can represent some data, the data is the same after writing and reading it. */
static void saves(void **state) {
  (void)state;
  static const char *const NAMES[] = {"made.json", "made.pftrace", "made.xplane.pb", "made.json.gz", NULL};
  for (const char *const *name = NAMES; *name; name++) {
    struct tk_trace *t = made();
    struct tk_bytes bytes;
    struct tk_err err;
    if (!tk_save_memory(t, *name, &bytes, NULL, NULL, &err)) fail_msg("%s: %s", *name, err.msg);
    struct tk_trace *again = tk_load_memory(bytes.p, bytes.n, *name, &(struct tk_load_options){.check = true, .strict = true}, &err);
    if (!again) fail_msg("%s: %s", *name, err.msg);
    assert_int_equal(again->n_events, t->n_events);
    struct tk_arg arg;
    uint32_t n = 0;
    for (tk_id i = 1; i <= again->n_events; i++)
      if (tk_args_find(again, again->events[i].args, "dims", &arg)) {
        assert_string_equal(tk_string(again, arg.s, NULL), "[1,{\"a\":2}]");
        n++;
      }
    assert_int_equal(n, 1);
    free(bytes.p);
    tk_free(again);
    tk_free(t);
  }
}

/* A built trace works with all functions that accept a sealed trace. */
static void works(void **state) {
  (void)state;
  struct tk_trace *t = made();
  struct tk_err err;
  struct tk_summary s;
  struct tk_top_report *top = NULL;
  struct tk_tree_report *tree = NULL;
  struct tk_size_report *size = NULL;
  struct tk_report *report = NULL;
  struct ArrowArrayStream stream;
  char *text = tk_dump(t);
  assert_non_null(text);
  tk_free_text(text);
  assert_true(tk_summarise(t, &s, &err));
  assert_int_equal(s.spans, 5);
  assert_true(tk_top(t, NULL, &top, &err) && tk_tree(t, NULL, &tree, &err));
  tk_top_report_free(top);
  tk_tree_report_free(tree);
  assert_true(tk_report_trace(t, NULL, &report, &err));
  tk_report_free(report);
  for (int table = 0; table < TK_TABLES; table++) {
    assert_true(tk_arrow(t, (enum tk_table)table, NULL, &stream, &err));
    stream.release(&stream);
  }
  struct tk_save_options as_json = {.format = "json"};
  assert_true(tk_size(t, &as_json, &size, &err));
  tk_size_report_free(size);
  tk_inspection_free(tk_inspect(t));
  struct tk_sql *sql = tk_sql_open(t, NULL, &err);
  assert_non_null(sql);
  tk_sql_close(sql);
  assert_false(tk_save(t, "/nowhere/x", NULL, NULL, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_true(tk_derive(t, NULL, &err));
  const char *where[] = {"name == 'outer'", NULL};
  assert_true(tk_filter(t, &(struct tk_filter_options){.where = where}, NULL, &err));
  assert_int_equal(t->n_events, 1);
  assert_true(tk_rebase(t, &(struct tk_rebase_options){.to_zero = true}, &err));
  assert_true(tk_redact(t, &(struct tk_redact_options){.keep_numbers = true}, NULL, &err));
  assert_true(tk_check(t, &err));
  tk_free(t);
}

/* ---- mistakes ---- */

struct place {
  struct tk_trace *t;
  tk_id process, thread, counter, asyncs, cls, text;
};

static struct place place(void) {
  struct tk_err err;
  struct place p = {.t = tk_new(NULL, &err)};
  p.text = tk_add_text(p.t, "text");
  p.process = tk_add_process(p.t, tk_ident_int(1));
  p.thread = tk_add_track(p.t, TK_TRACK_THREAD, p.process, tk_ident_int(2), 0);
  p.counter = tk_add_track(p.t, TK_TRACK_COUNTERS, p.process, NO_TID, p.text);
  p.asyncs = tk_add_track(p.t, TK_TRACK_ASYNCS, p.process, NO_TID, 0);
  p.cls = tk_add_class(p.t, p.text, 0, 0);
  assert_true(p.cls && p.asyncs && p.counter && p.thread);
  return p;
}

/* Checks that a call of an add function fails, and that sealing then reports the reason `says`. */
#define REFUSED(says, call)                              \
  do {                                                   \
    struct place p = place();                            \
    struct tk_err err;                                   \
    assert_false(call);                                  \
    assert_true(tk_add_text(p.t, "more"));               \
    assert_false(tk_seal(p.t, &err));                    \
    assert_int_equal(err.code, TK_EUSAGE);               \
    assert_string_equal(err.msg, says);                  \
    assert_false(tk_save(p.t, "x.json", NULL, NULL, &err)); \
    tk_free(p.t);                                        \
  } while (0)
#define EVENT(...) tk_add_event(p.t, &(struct tk_event){__VA_ARGS__})
#define POINT(...) tk_add_flow_point(p.t, &(struct tk_flow_point){__VA_ARGS__})
#define ARG(...) tk_add_args(p.t, &(struct tk_arg){__VA_ARGS__}, 1)

static void refuses_tracks(void **state) {
  (void)state;
  REFUSED("name of a class: string 4000 does not exist", tk_add_class(p.t, 4000, 0, 0));
  REFUSED("class: args 77 do not exist", tk_add_class(p.t, 0, 0, 77));
  REFUSED("process: string 0 does not exist", tk_add_process(p.t, tk_ident_str(0)));
  REFUSED("process: unknown kind of id", tk_add_process(p.t, (struct tk_ident){0, 0, 9}));
  REFUSED("track: track 50 does not exist", tk_add_track(p.t, TK_TRACK_THREAD, 50, NO_TID, 0));
  REFUSED("track: track 2 is not a process", tk_add_track(p.t, TK_TRACK_THREAD, p.thread, NO_TID, 0));
  REFUSED("track: unsupported kind 1", tk_add_track(p.t, TK_TRACK_PROCESS, p.process, NO_TID, 0));
  REFUSED("track: unsupported kind 77", tk_add_track(p.t, (enum tk_track_kind)77, p.process, NO_TID, 0));
  REFUSED("counter: needs a name, and cannot have a tid", tk_add_track(p.t, TK_TRACK_COUNTERS, p.process, NO_TID, 0));
  REFUSED("track 3: a counter cannot be renamed", tk_name_track(p.t, p.counter, p.text));
  REFUSED("labels: track 2 is not a process", tk_label_process(p.t, p.thread, p.text));
  REFUSED("order: track 0 does not exist", tk_sort_track(p.t, 0, 1));
  REFUSED("string: NULL pointer", tk_add_string(p.t, NULL, 3));
}

static void refuses_events(void **state) {
  (void)state;
  REFUSED("event: NULL pointer", tk_add_event(p.t, NULL));
  REFUSED("event: track 0 does not exist", EVENT(.cls = p.cls));
  REFUSED("event: track 9 does not exist", EVENT(.cls = p.cls, .track = 9));
  REFUSED("event: class 0 does not exist", EVENT(.track = p.thread));
  REFUSED("event: class 5 does not exist", EVENT(.cls = 5, .track = p.thread));
  REFUSED("event: args 1000 do not exist", EVENT(.cls = p.cls, .track = p.thread, .args = 1000));
  REFUSED("event: unknown kind 9", EVENT(.cls = p.cls, .track = p.thread, .kind = 9));
  REFUSED("event: a counter sample cannot be on track 2, which is a thread",
          EVENT(.cls = p.cls, .track = p.thread, .kind = TK_EVENT_COUNTER));
  REFUSED("event: a span cannot be on track 1, which is a process", EVENT(.cls = p.cls, .track = p.process));
  REFUSED("event: a span cannot be on track 3, which is a counter", EVENT(.cls = p.cls, .track = p.counter));
  REFUSED("track 4: async events need an id", EVENT(.cls = p.cls, .track = p.asyncs, .kind = TK_EVENT_INSTANT));
  REFUSED("span: negative duration", EVENT(.cls = p.cls, .track = p.thread, .dur = -1));
  REFUSED("event: only spans have a duration", EVENT(.cls = p.cls, .track = p.thread, .dur = 1, .kind = TK_EVENT_BEGIN));
  REFUSED("event: time is more than 53 days from the origin", EVENT(.ts = INT64_MIN, .cls = p.cls, .track = p.thread));
  REFUSED("end of a span: time is more than 53 days from the origin",
          EVENT(.ts = INT64_MAX / 2, .dur = 1, .cls = p.cls, .track = p.thread));
  REFUSED("duration of a span: time is more than 53 days from the origin",
          EVENT(.ts = -5, .dur = INT64_MAX, .cls = p.cls, .track = p.thread));
  REFUSED("async event: missing id",
          tk_add_async(p.t, &(struct tk_event){.cls = p.cls, .track = p.asyncs, .kind = TK_EVENT_BEGIN}, 0, NO_TID));
  REFUSED("track 2: not a track of async events",
          tk_add_async(p.t, &(struct tk_event){.cls = p.cls, .track = p.thread, .kind = TK_EVENT_BEGIN}, 0, tk_ident_int(1)));
}

static void refuses_args_and_flows(void **state) {
  (void)state;
  REFUSED("args: NULL pointer", tk_add_args(p.t, NULL, 2));
  REFUSED("arg: missing key", ARG(.type = TK_ARG_INT));
  REFUSED("key of an arg: string 999 does not exist", ARG(.key = 999));
  REFUSED("arg: key 'json.ph' is reserved", ARG(.key = KEY_PH));
  REFUSED("arg 'text': unknown type 99", ARG(.key = p.text, .type = (enum tk_arg_type)99));
  REFUSED("arg 'text': exponent 500 out of range", ARG(.key = p.text, .type = TK_ARG_DECIMAL, .exp = 500));
  REFUSED("arg 'text': string 0 does not exist", ARG(.key = p.text, .type = TK_ARG_STR));
  REFUSED("arg 'text': text is not valid JSON: expected an array or object", ARG(.key = p.text, .type = TK_ARG_JSON, .s = p.text));
  REFUSED("arg 'text': text is not valid JSON: expected a number", ARG(.key = p.text, .type = TK_ARG_NUMBER, .s = p.text));
  REFUSED("text of an arg: string 36 is not valid UTF-8", ARG(.key = p.text, .type = TK_ARG_STR, .s = tk_add_bytes(p.t, "\xff", 1)));
  REFUSED("flow point: NULL pointer", tk_add_flow_point(p.t, NULL));
  REFUSED("flow point: unknown role 9", POINT(.role = 9));
  REFUSED("flow point: unknown id kind 7", POINT(.id_kind = 7));
  REFUSED("flow point: the string used as id does not exist", POINT(.id_kind = TK_FLOW_ID_STR, .id = -1));
  REFUSED("flow point: event 1 does not exist", POINT(.role = TK_FLOW_IN, .at = 1));
  REFUSED("flow point: track 0 does not exist", POINT(.role = TK_FLOW_START));
  REFUSED("flow point: track 1 is not a thread", POINT(.role = TK_FLOW_START, .at = p.process));
}

static void refuses_texts(void **state) {
  (void)state;
  REFUSED("record: not a JSON object", tk_add_record(p.t, 0, "[]", 2));
  REFUSED("record: not a JSON object", tk_add_record(p.t, 0, "{\"a\":1", 6));
  REFUSED("record: not a JSON object", tk_add_record(p.t, 0, NULL, 0));
  REFUSED("record: must not contain pid", tk_add_record(p.t, 0, "{\"pid\":1}", 9));
  REFUSED("record: must not contain ts", tk_add_record(p.t, 0, "{\"\\u0074s\":1}", 13));
  REFUSED("record: track 70 does not exist", tk_add_record(p.t, 70, "{}", 2));
  REFUSED("top-level data: missing key", tk_add_meta(p.t, NULL, "1", 1));
  REFUSED("top-level data: key 'traceEvents' is reserved", tk_add_meta(p.t, "traceEvents", "[]", 2));
  REFUSED("top-level data 'x': invalid JSON", tk_add_meta(p.t, "x", "{]", 2));
  REFUSED("top-level data 'x': invalid JSON", tk_add_meta(p.t, "x", "1 2", 3));
  REFUSED("top-level data: duplicate key 'x'", tk_add_meta(p.t, "x", "1", 1) && tk_add_meta(p.t, "x", "2", 1));
  REFUSED("note: unknown kind 9", tk_add_note(p.t, (enum tk_note_kind)9, 0, ""));
}

static void seals_once(void **state) {
  (void)state;
  struct tk_err err;
  struct place p = place();
  struct tk_top_report *top = NULL;
  assert_false(tk_dump(p.t) != NULL || tk_check(p.t, &err) || tk_top(p.t, NULL, &top, &err));
  assert_string_equal(err.msg, "the trace is not sealed");
  tk_top_report_free(top);
  assert_true(add(p.t, p.thread, TK_EVENT_SPAN, "a", 0, 1) && tk_seal(p.t, &err));
  assert_false(tk_seal(p.t, &err));
  assert_string_equal(err.msg, "the trace is already sealed");
  assert_int_equal(add(p.t, p.thread, TK_EVENT_SPAN, "b", 0, 1), 0);
  assert_int_equal(tk_add_text(p.t, "late"), 0);
  assert_true(tk_check(p.t, &err));
  tk_free(p.t);
  assert_false(tk_seal(NULL, &err));
  assert_int_equal(tk_add_text(NULL, "x"), 0);
  assert_null(tk_new(&(struct tk_new_options){.clock = 9}, &err));
  assert_int_equal(err.code, TK_EUSAGE);
  assert_null(tk_new(&(struct tk_new_options){.origin_ns = INT64_MIN}, &err));
  assert_false(tk_save(NULL, "x.json", NULL, NULL, &err));
}

/* Invalid UTF-8 in texts is repaired and noted. */
static void mends(void **state) {
  (void)state;
  struct place p = place();
  struct tk_err err;
  assert_string_equal(tk_string(p.t, tk_add_string(p.t, "a\xff", 2), NULL), "a\xef\xbf\xbd");
  assert_true(tk_seal(p.t, &err));
  assert_int_equal(p.t->n_notes, 1);
  tk_free(p.t);
}

static void runs_out(void **state) {
  (void)state;
  struct tk_err err;
  struct tk_trace *t = tk_new(&(struct tk_new_options){.max_memory = 100000}, &err);
  assert_non_null(t);
  const tk_id process = tk_add_process(t, tk_ident_int(1)), thread = tk_add_track(t, TK_TRACK_THREAD, process, tk_ident_int(1), 0);
  uint32_t n = 0;
  while (n < 100000 && add(t, thread, TK_EVENT_SPAN, "a", n, 1)) n++;
  assert_true(n < 100000);
  assert_false(tk_seal(t, &err));
  assert_int_equal(err.code, TK_ELIMIT);
  tk_free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(seals),          cmocka_unit_test(saves),         cmocka_unit_test(works),      cmocka_unit_test(refuses_tracks),
      cmocka_unit_test(refuses_events), cmocka_unit_test(refuses_args_and_flows), cmocka_unit_test(refuses_texts),
      cmocka_unit_test(seals_once),     cmocka_unit_test(mends),         cmocka_unit_test(runs_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_stranger.c - files of other programs are recognised from their first bytes, and no trace is mistaken for such a file. */
#include "help.h"

#include "format/stranger.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void assert_said(const char *what, const char *word, const char *sample) {
  if (!what || !strstr(what, word)) print_error("%.60s: '%s' is not in '%s'\n", sample, word, what ? what : "NULL");
  assert_true(what && strstr(what, word));
}

static void by_keys(void **state) {
  static const struct {
    const char *text, *word;
  } t[] = {
    {"{\"resourceMetrics\":[]}", "metrics"},
    {"{\"data\":[{\"traceID\":\"a\",\"spans\":[]}]}", "Jaeger"},
    {"[{\"traceId\":\"a\",\"id\":\"b\",\"localEndpoint\":{}}]", "Zipkin"},
    {"[{\"traceId\":\"a\",\"id\":\"b\",\"annotations\":[{\"endpoint\":{\"serviceName\":\"s\"},\"value\":\"sr\"}]}]", "Zipkin"},
    {"[[{\"traceId\":\"a\",\"id\":\"b\",\"annotations\":[],\"binaryAnnotations\":[]}]]", "Zipkin"},
    {"{\"session\":{\"start_time\":1.5,\"sample_count\":3,\"start_call_stack\":[]}}", "--load"},
    {"{\"frame_records\":[],\"sample_count\":3,\"start_call_stack\":[]}", "--load"},
    {"{\"root_frame\":{\"function\":\"f\"}}", "-r speedscope"},
    {"{\"type\": \"attached_probes\", \"data\": {\"probes\": 4}}\n", "bpftrace"},
    {"{'traceEvents': [{'ph': 'X', 'name': 'it\\'s', 'args': {'ok': True}}]}", "json.dump"},
    {" [\n {'ph': 'X'}]", "json.dump"},
    {"{\"head\":{\"callFrame\":{\"functionName\":\"\"}}}", "heap profile"},
    {"{\"snapshot\":{\"meta\":{\"node_fields\":[]}}}", "heap snapshot"},
    {"{\"data\":[\"\",\"[Unknown]\"]}\n{\"files\":[]}", "nsys"},
    {"{\"Type\":59,\"NvtxEvent\":{\"Text\":\"a\"}}\n{}", "nsys"},
    {"{\"linux-perf-json-version\":1}", "perf"},
    {"{\"schema\":\"1.1.1\",\"pid\":4,\"nodes\":[{\"id\":1,\"ctrl_deps\":0}]}", "execution trace"},
    {"{\"log\":{\"version\":\"1.2\",\"creator\":{}}}", "HAR"},
    {"{\"cols\":[{\"id\":\"a\",\"label\":\"b\"}]}", "xprof"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof t / sizeof *t; i++)
    assert_said(stranger_sure((const uint8_t *)t[i].text, strlen(t[i].text)), t[i].word, t[i].text);
}

/* No key of a trace or of its args makes the trace look like a file of another program. */
static void traces(void **state) {
  static const char *const t[] = {
    "{\"traceEvents\":[{\"ph\":\"X\",\"args\":{\"resourceSpans\":1}}]}", "[{\"ph\":\"X\",\"name\":\"a\"}]",
    "{\"meta\":{\"interval\":1},\"traceEvents\":[]}",
    "{\"schemaVersion\":1,\"deviceProperties\":[],\"data\":{\"a\":\"b\"},\"traceEvents\":[]}",
    "{\"name\":\"resourceSpans\",\"ph\":\"B\"}\n{}", "{\"args\":{\"resourceSpans\":1}}", "", "{", "[", "{\"", "{\"a\\\"b\":1}",
    "[[[[[[[[[[[[{\"resourceSpans\":[]}]]]]]]]]]]]]", "{\"resourceSpansX\":1}", "]}]}]}{\"resourceSpans\":1}",
  };
  (void)state;
  for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
    const char *what = stranger_sure((const uint8_t *)t[i], strlen(t[i]));
    const bool deep = t[i][0] == '[' && t[i][1] == '['; /* arrays are transparent */
    if (what && !deep) print_error("%s: %s\n", t[i], what);
    assert_true(!what || deep);
  }
}

static void by_bytes(void **state) {
  static const struct {
    const uint8_t *p;
    size_t n;
    const char *word;
  } t[] = {
    {BYTES("\x10\0\4FxT\x16\0\0\0"), "Fuchsia"},
    {BYTES("\xc1\x1f\xfc\xc1xxxx"), "CTF"},
    {BYTES("/* CTF 1.8 */\ntypealias"), "CTF"},
    {BYTES("\x1e{\"type\":\"preamble\",\"version\":2}"), "CTF"},
    {BYTES("FLR\0\0\2\0\1"), "JFR"},
    {BYTES("\3BOTF2\0\3\2"), "OTF2"},
    {BYTES("\3B\1\0\0\0\0\0\0"), "OTF2"},
    {BYTES("memray\0\x0d"), "memray"},
    {BYTES("\x04\"M\x18@@\xc0\xecJ\0\0\xf8\x06memray\0\x0d\0\0\0\xf0\x0f\x0b\3\0\0"), "memray"},
    {BYTES("\x04\"M\x18@@\xc0 something else, and more of it"), "LZ4"},
    {BYTES("\x17\x08\x44tracing6\0"), "trace-cmd"},
    {BYTES("go 1.22 trace\0\0\0"), "Go"},
    {BYTES("Nettrace\x14\0\0\0"), ".NET"},
    {BYTES("# ninja log v5\n0\t1\t2\ta.o\tb\n"), "ninja"},
    {BYTES("# ninja log v7\n"), "ninja"},
    {BYTES("Attaching 376 probes...\n\n\n@[sys_open]: 579\n"), "stackcollapse-bpftrace"},
    {BYTES("Attached 1 probe\n@[\n    do_nanosleep+1\n]: 2\n"), "stackcollapse-bpftrace"},
    {BYTES("\n@[\n    do_nanosleep+1\n]: 2\n"), "stackcollapse-bpftrace"},
    {BYTES("allocator,num_allocations,size,tid,thread_name,stack_trace\n1,1,8,1,main,f;a.py;3\n"), "memray"},
    {BYTES("Module,Process,CPU Time\nworker3.so,main,10.735\n"), "VTune"},
    {BYTES("Function\tCPU Time\tCPU Time:Effective Time\tModule\n"), "VTune"},
    {BYTES("Function Stack,CPU Time:Total,CPU Time:Self\n"), "VTune"},
    {BYTES("# tracer: nop\n#\n"), "ftrace"},
    {BYTES("TRACE:\n# tracer: nop\n"), "ftrace"},
    {BYTES("          <idle>-0     [000] d..1  5577.130234: cpu_idle: state=1 {\"\n"), "ftrace"},
    {BYTES("  RenderThread-2037  ( 2017) [001] ...1 100.000001: tracing_mark_write: B|2017|[x]\n"), "ftrace"},
    {BYTES("# callgrind format\nversion: 1\n"), "callgrind"},
    {BYTES("<!DOCTYPE html><html>login"), "HTML"},
    {BYTES("Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,sig,obj,WriteSize\n0,\"a\",4,0,0,1,1,0,0,3.5\n"), "rocprof"},
    {BYTES("\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"SQ_WAVES\"\n0,\"a\",4,0,16\n"), "counters"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof t / sizeof *t; i++)
    assert_said(stranger_name(t[i].p, t[i].n, "x"), t[i].word, (const char *)t[i].p);
  assert_null(stranger_name(BYTES("hello world\n"), "x"));
  assert_null(stranger_name(BYTES("INFO 2026-01-01 12:00:00 started\n{\"traceEvents\":[]}"), "x"));
  assert_null(stranger_name(BYTES("a;b\n"), "x"));
  assert_null(stranger_name(BYTES("Attaching to process 12\n"), "x"));
  assert_null(stranger_name(BYTES("Function,Calls\nf,1\n"), "x"));
  assert_said(stranger_name(BYTES("NTFF\1\0\0\0"), "a/1_instid_0_vnc_0.ntff"), "neuron-explorer", "ntff");
}

static void results(void **state) {
  static const char *const yes[] = {"h.tensorflow_stats.pb", "a/10.1.2.3.op_profile.json", "h.overview_page.json.gz",
                                    "ALL_HOSTS.op_stats.pb", "h.jit_f.102(103).memory_viewer.json"};
  static const char *const no[] = {"h.xplane.pb", "op_profile.json", "h.trace.json.gz", "xop_profile.pb",
                                   "h.kernel_stats.txt", "", ".pb"};
  (void)state;
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) assert_said(stranger_result(yes[i]), "xprof", yes[i]);
  for (size_t i = 0; i < sizeof no / sizeof *no; i++) assert_null(stranger_result(no[i]));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_keys), cmocka_unit_test(traces), cmocka_unit_test(by_bytes),
                                     cmocka_unit_test(results)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

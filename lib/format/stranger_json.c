/* stranger_json.c - see stranger_json.h.
 *
 * A scan of the first bytes follows the brackets and produces a path for each key. Arrays do not appear in paths: the key
 * "callFrame" of the elements of "nodes" has the path nodes.callFrame. A text in an array has the path of the array followed by
 * a quote. A row matches if all of its paths occur. Any key of a format that can be read ends the scan, because a trace may
 * contain other keys of any name. */
#include "stranger_json.h"

#include <stdbool.h>
#include <string.h>

enum { DEPTH = 6, PATH = 160, KEYS = 2 };

struct json_stranger {
  const char *keys[KEYS]; /* paths that must occur, ended by NULL */
  const char *what;
};

#define FLIGHT "a flight recording of PyTorch's collectives; 'torchfrtrace' (fr_trace.py) analyses it"
#define TRTEXEC "times of TensorRT's trtexec rather than a trace; trex (trt-engine-explorer) shows them"
#define PROTON "a profile of Triton's Proton rather than a timeline; proton-viewer opens it"
#define NEXT_JS "a trace of Next.js (.next/trace); 'next internal perfetto' or scripts/trace-to-event-format.mjs converts it"
#define OTEL_CONSOLE "spans that OpenTelemetry's console exporter printed; the Collector's file exporter writes OTLP, which can be read"
#define PYINSTRUMENT "a session of pyinstrument; 'pyinstrument --load FILE -r speedscope' converts it to a file that can be read"
#define SPEEDSCOPE "speedscope.app opens it, and exports a file that can be read"
#define NSYS "the JSON of 'nsys export'; 'nsys export -t sqlite' converts the report to a database that can be read"

static const struct json_stranger ROWS[] = {
    /* opentelemetry-proto metrics.proto, logs.proto in JSON mapping */
    {{"resourceMetrics"}, "an export of metrics of OpenTelemetry (OTLP)"},
    {{"resourceLogs"}, "an export of logs of OpenTelemetry (OTLP)"},
    /* opentelemetry-python ReadableSpan.to_json; opentelemetry-go exporters/stdout/stdouttrace */
    {{"context.trace_id", "context.span_id"}, OTEL_CONSOLE},
    {{"SpanContext.TraceID"}, OTEL_CONSOLE},
    /* https://www.jaegertracing.io/docs/latest/apis; https://zipkin.io/zipkin-api */
    {{"data.traceID"}, "an export of Jaeger; the Jaeger UI opens it"},
    {{"traceId", "localEndpoint"}, "an export of Zipkin; Zipkin opens it"},
    /* https://zipkin.io/zipkin-api zipkin-api.yaml: version 1 states the endpoint in each annotation */
    {{"traceId", "annotations.endpoint"}, "an export of Zipkin; Zipkin opens it"},
    {{"traceId", "binaryAnnotations"}, "an export of Zipkin; Zipkin opens it"},
    /* https://chromedevtools.github.io/devtools-protocol/tot/HeapProfiler: SamplingHeapProfile */
    {{"head.callFrame"}, "a heap profile of V8 (Node, Chrome); speedscope.app and the DevTools open it"},
    {{"snapshot.meta"}, "a heap snapshot of V8 (Node, Chrome); the DevTools open it"},
    /* nsys export --type json: a line of strings, a line of files, a line for each event */
    {{"data.\""}, NSYS},
    {{"files.GlobalProcessId"}, NSYS},
    {{"NvtxEvent"}, NSYS},
    {{"CudaEvent"}, NSYS},
    {{"TraceProcessEvent"}, NSYS},
    /* Linux tools/perf/util/data-convert-json.c */
    {{"linux-perf-json-version"}, "the JSON of 'perf data convert'; 'perf script' makes text that can be read"},
    /* pytorch torch/csrc/profiler/standalone/execution_trace_observer.cpp; chakra */
    {{"schema", "nodes.fw_parent"}, "a PyTorch execution trace (Chakra) without times; mlcommons/chakra reads it"},
    {{"schema", "nodes.ctrl_deps"}, "a PyTorch execution trace (Chakra) without times; mlcommons/chakra reads it"},
    {{"workload_graph.NodeType"}, "an execution trace (Chakra) without times; mlcommons/chakra reads it"},
    /* https://github.com/NVIDIA/nccl ext-profiler/inspector/README.md */
    {{"header.n_ranks", "coll_perf.coll"}, "a log of NCCL's Inspector: the bandwidth of collectives, without their start"},
    /* https://github.com/triton-lang/triton third_party/proton/csrc/lib/Data/TreeData.cpp: the format "hatchet" */
    {{"children.frame.name"}, PROTON},
    {{"frame.name", "metrics"}, PROTON},
    /* pytorch torch/csrc/distributed/c10d/FlightRecorder.hpp: keys of the dump and of its entries */
    {{"pg_config", "entries"}, FLIGHT},
    {{"pg_status", "entries"}, FLIGHT},
    {{"entries.record_id", "entries.profiling_name"}, FLIGHT},
    /* TensorRT samples/common/sampleReporting.cpp: exportJSONTrace, Profiler::exportJSONProfile */
    {{"timeMs", "averageMs"}, TRTEXEC},
    {{"computeMs", "startComputeMs"}, TRTEXEC},
    {{"startComputeInMs"}, TRTEXEC},
    /* triton-inference-server/server docs/user_guide/trace.md */
    {{"timestamps.name", "timestamps.ns"}, "a trace of the Triton Inference Server; 'trace_summary.py' of its repository evaluates it"},
    /* next.js packages/next/src/trace/report/to-json.ts: an array of spans on each line */
    {{"parentId", "startTime"}, NEXT_JS},
    {{"traceId", "startTime"}, NEXT_JS},
    /* http://www.softwareishard.com/blog/har-12-spec */
    {{"log.creator", "log.version"}, "an HTTP archive (HAR) rather than a trace; the DevTools import it"},
    /* https://github.com/google/benchmark docs/user_guide.md */
    {{"context.date", "benchmarks"}, "results of a benchmark rather than a trace"},
    /* CPU profiles of V8 until 2017: a tree instead of a list of nodes; a log of V8 after 'node --prof-process --preprocess' */
    {{"head.functionName"}, "a CPU profile of an old V8; " SPEEDSCOPE},
    {{"code.name", "code.type"}, "a log of V8; " SPEEDSCOPE},
    /* https://github.com/tmm1/stackprof ext/stackprof: the keys of its results */
    {{"gc_samples", "missed_samples"}, "a profile of stackprof; " SPEEDSCOPE},
    /* ghc rts: ProfilerReportJson */
    {{"rts_arguments", "total_ticks"}, "a profile of GHC (+RTS -pj); " SPEEDSCOPE},
    /* WebKit, Web Inspector: TimelineRecording */
    {{"recording.displayName", "recording.startTime"}, "a timeline recording of Safari; " SPEEDSCOPE},
    /* https://github.com/firefox-devtools/profiler src/profile-logic/old-cleopatra-profile-format */
    {{"format", "meta.stackwalk"}, "a profile of Cleopatra, the first Firefox Profiler; profiler.firefox.com opens it"},
    {{"dhatFileVersion"}, "a heap profile of DHAT; dh_view.html of valgrind opens it"}, /* valgrind dhat/ */
    /* spark core/src/main/scala/org/apache/spark/util/JsonProtocol.scala: SparkListenerLogStart */
    {{"Event", "Spark Version"}, "an event log of Spark; its history server opens it"},
    /* chromium net/log/net_log_util.cc: GetNetConstants */
    {{"constants.logEventTypes"}, "a network log of Chrome (NetLog); netlog-viewer.appspot.com opens it"},
    /* playwright packages/trace/src/trace.ts: ContextCreatedTraceEvent */
    {{"type", "browserName"}, "a trace of Playwright; 'playwright show-trace' opens its archive"},
    /* vllm examples/offline_inference/profiling.py; vllm/profiler/layerwise_profile.py */
    {{"prefill.summary_stats", "prefill.model_stats"}, "times of layers from vLLM rather than a trace; its tools/profiler show them"},
    /* tvm src/runtime/profiling.cc: AsJSON */
    {{"calls", "device_metrics"}, "a report of TVM's profiler rather than a timeline"},
    /* sources: pyinstrument pyinstrument/renderers/jsonrenderer.py; scalene scalene_json.py */
    {{"root_frame"}, "a profile of pyinstrument rather than a timeline; its option '-r speedscope' writes a file that can be read"},
    /* pyinstrument pyinstrument/session.py: to_json, in the newer and the older layout */
    {{"session.sample_count", "session.start_call_stack"}, PYINSTRUMENT},
    {{"sample_count", "start_call_stack"}, PYINSTRUMENT},
    {{"type", "data.probes"}, "JSON of bpftrace rather than a trace"}, /* bpftrace src/output.cpp */
    {{"alloc_samples"}, "a profile of Scalene rather than a timeline; 'scalene view' opens it"},
    /* https://developers.google.com/chart/interactive/docs/reference#dataparam: what xprof's tools return */
    {{"cols", "rows"}, "a table that xprof computed from a trace; read the .xplane.pb instead"},
    {{"cols.id", "cols.label"}, "a table that xprof computed from a trace; read the .xplane.pb instead"},
    {{"byProgram"}, "a result that xprof computed from a trace; read the .xplane.pb instead"},
    {{"byCategory"}, "a result that xprof computed from a trace; read the .xplane.pb instead"}};

/* Keys of the trace event format: a path that ends with one of them belongs to a trace. */
static const char *const TRACE_KEYS[] = {"traceEvents", "ph", "resourceSpans"};

enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

struct scan {
  const uint8_t *p, *end;
  unsigned depth;
  struct level {
    size_t path; /* length of the path of the container */
    bool object, key; /* key: true if the next text is a key */
  } levels[DEPTH];
  char path[PATH];
  size_t length;
  uint8_t found[N_ROWS]; /* by row: bit set of the keys that occurred */
  bool trace;
};

static void note_path(struct scan *s, const char *path, size_t n) {
  for (size_t i = 0; i < N_ROWS; i++)
    for (unsigned k = 0; k < KEYS; k++) {
      const char *want = ROWS[i].keys[k];
      if (want && strlen(want) == n && memcmp(want, path, n) == 0) s->found[i] |= (uint8_t)(1 << k);
    }
}

static bool is_trace_key(const char *key, size_t n) {
  for (size_t i = 0; i < sizeof TRACE_KEYS / sizeof *TRACE_KEYS; i++)
    if (strlen(TRACE_KEYS[i]) == n && memcmp(TRACE_KEYS[i], key, n) == 0) return true;
  return false;
}

/* Replaces the part of the path after its container with the key, and marks the path as found. Paths longer than those of all rows
 * are cut. */
static void take_key(struct scan *s, const uint8_t *key, size_t n) {
  const struct level *l = &s->levels[s->depth - 1];
  size_t at = l->path;
  if (at && at < PATH) s->path[at++] = '.';
  if (n > PATH - at) n = PATH - at;
  memcpy(s->path + at, key, n);
  s->length = at + n;
  s->trace = s->trace || is_trace_key(s->path + at, n);
  note_path(s, s->path, s->length);
}

static void take_text(struct scan *s, const uint8_t *text, size_t n) {
  struct level *l = s->depth && s->depth <= DEPTH ? &s->levels[s->depth - 1] : NULL;
  if (!l) return;
  if (l->key) {
    l->key = false;
    take_key(s, text, n);
  } else if (!l->object && l->path + 2 <= PATH) {
    memcpy(s->path + l->path, ".\"", 2);
    note_path(s, s->path, l->path + 2);
    s->length = l->path;
  }
}

static void open_level(struct scan *s, bool object) {
  const bool inside_array = s->depth && s->depth <= DEPTH && !s->levels[s->depth - 1].object;
  const size_t path = inside_array ? s->levels[s->depth - 1].path : s->depth ? s->length : 0;
  if (s->depth < DEPTH) s->levels[s->depth] = (struct level){path, object, object};
  s->depth++;
}

static void comma(struct scan *s) {
  if (s->depth && s->depth <= DEPTH) s->levels[s->depth - 1].key = s->levels[s->depth - 1].object;
}

/* Returns the end of the text that starts after the quote at p. */
static const uint8_t *text_end(const uint8_t *p, const uint8_t *end) {
  for (; p < end && *p != '"'; p++)
    if (*p == '\\') p++;
  return p < end ? p : end;
}

static void step(struct scan *s) {
  const uint8_t c = *s->p++;
  if (c == '{' || c == '[') open_level(s, c == '{');
  else if ((c == '}' || c == ']') && s->depth) s->depth--;
  else if (c == ',') comma(s);
  if (c != '"') return;
  const uint8_t *from = s->p;
  s->p = text_end(from, s->end);
  if (s->p < s->end) take_text(s, from, (size_t)(s->p++ - from));
}

static bool stranger_is_whole(const struct json_stranger *row, uint8_t found) {
  for (unsigned k = 0; k < KEYS; k++)
    if (row->keys[k] && !(found & 1 << k)) return false;
  return true;
}

const char *stranger_json(const uint8_t *p, size_t n) {
  struct scan s = {.p = p, .end = p + n};
  if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) s.p += 3;
  while (s.p < s.end && *s.p && strchr(" \t\r\n", *s.p)) s.p++;
  if (s.p == s.end || (*s.p != '{' && *s.p != '[')) return NULL;
  while (s.p < s.end && !s.trace) step(&s);
  for (size_t i = 0; !s.trace && i < N_ROWS; i++)
    if (stranger_is_whole(&ROWS[i], s.found[i])) return ROWS[i].what;
  return NULL;
}

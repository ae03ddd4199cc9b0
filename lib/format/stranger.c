/* stranger.c - see stranger.h. Tables are tried in this order: first bytes of the file, first line of a text, pages, first words of
 * a text, name of the file. To add a format, add a row, with its source in a comment. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "stranger.h"

#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/path.h"
#include "base/regexp.h"
#include "base/text.h"
#include "base/utf8.h"
#include "stranger_json.h"

struct stranger {
  const char *bytes; /* first bytes of the file */
  size_t n;
  const char *what;
};

#define FTRACE_PACKED "the compressed text of Android's atrace; ui.perfetto.dev opens it"
#define XCTRACE "a table that xctrace exported; Instruments opens the .trace it was made from"
#define ROCPROF_STATS "statistics of rocprof rather than a timeline; the file of the same run that ends in _trace.csv has times"
#define ROCPROF_AGENTS "the list of a host's devices by rocprofv3; the file of the same run that ends in _trace.csv has times"
#define ROCPROF_COUNTERS "counters of rocprofv3 without times; its later versions write times, as does --output-format json"
#define ROCPROF_UNTIMED "counters of kernels by rocprof without times; 'rocprof --timestamp on' records times, too"
#define MEMORY_PLOT "a plot of PyTorch's memory; 'torch.cuda.memory._dump_snapshot' writes a snapshot that can be read"
#define TRACY "a recording of Tracy; its profiler opens it, and 'tracy-csvexport -u' lists its zones"
#define PICTURE "a picture (SVG), such as a flame graph; the folded stacks from which one is made can be read"
#define ART "a method trace of Android (ART); Android Studio and profiler.firefox.com open it"
#define PPROF "a profile in an old format of gperftools; 'pprof -proto' converts it to a profile that can be read"
#define BABELTRACE "a CTF trace (LTTng) as text of babeltrace; Trace Compass opens the folder from which it was made"
#define JFR "the text of 'jfr print'; async-profiler's 'jfrconv -o collapsed' converts the .jfr file to stacks that can be read"
#define AUSTIN "a binary profile of Austin; 'mojo2austin' converts it to stacks that can be read"
#define BPFTRACE "output of bpftrace; 'stackcollapse-bpftrace.pl' of FlameGraph converts its stacks to folded stacks that can be read"
#define FTRACE "ftrace text, such as from trace-cmd or systrace; ui.perfetto.dev opens it"

/* Texts with which a file begins, after whitespace. The comparison ignores case. */
static const struct stranger TEXTS[] = {
    {"version https://git-lfs", 23, "a Git LFS pointer instead of the file; run 'git lfs pull'"},
    {"<!doctype html", 14, "an HTML page without a trace, such as an error or a login page; download the file again"},
    {"<html", 5, "an HTML page without a trace, such as an error or a login page; download the file again"},
    /* xcrun xctrace export: the result of a query, and the table of contents (--toc) */
    {"<?xml version=\"1.0\"?>\n<trace-query-result", 41, XCTRACE},
    {"<?xml version=\"1.0\"?>\n<trace-toc", 32, XCTRACE},
    {"<svg", 4, PICTURE},
    {"<?xml", 5, "an XML document (an error page?)"},
    {"<", 1, "HTML or XML (an error page?)"},
    {"Traceback (most recent", 22, "a Python traceback; the program that should have written the trace failed"},
    /* https://github.com/ninja-build/ninja src/build_log.cc, kFileSignature */
    {"# ninja log v", 13, "a log of ninja; ninjatracing converts it to JSON that can be read"},
    /* Linux Documentation/trace/ftrace.rst: the header of every tracer */
    {"# tracer:", 9, FTRACE},
    {"TRACE:\n# tracer:", 16, FTRACE}, /* atrace --async_dump */
    {"TRACE:\n\x78", 8, FTRACE_PACKED}, /* atrace -z: a zlib stream follows */
    /* rocprofiler-sdk, source/lib/output/generateCSV.cpp and generateStats.cpp; rocprof 1, bin/tblextr.py */
    {"\"name\",\"calls\",\"totaldurationns\"", 32, ROCPROF_STATS},
    {"\"node_id\",\"logical_node_id\"", 27, ROCPROF_AGENTS},
    {"\"correlation_id\",\"dispatch_id\"", 30, ROCPROF_COUNTERS},
    {"index,kernelname,gpu-id,", 24, ROCPROF_UNTIMED},
    {"\"index\",\"kernelname\",\"gpu-id\",", 30, ROCPROF_UNTIMED},
    /* https://github.com/tenstorrent/tt-metal tools/tracy/process_ops_logs.py */
    {"op code,op type,", 16, "a table of the operations of Tenstorrent's devices; tt-perf-report reads it"},
    /* valgrind docs/cl-format */
    {"# callgrind format", 18, "a profile of callgrind rather than a timeline; KCachegrind opens it"},
    {"version: 1\ncreator: callgrind", 29, "a profile of callgrind rather than a timeline; KCachegrind opens it"},
    {"version: 1\ncreator: xdebug", 26, "a profile of Xdebug rather than a timeline; KCachegrind opens it"}, /* xdebug tests/profiler */
    /* bpftrace src/output.cpp: a map whose keys are stacks */
    {"@[\n", 3, BPFTRACE},
    /* memray src/memray/reporters/transform.py */
    {"allocator,num_allocations,size,", 31, "a table of allocations that 'memray transform csv' wrote, without times"},
    /* perfetto protos/perfetto/trace/trace.proto as text */
    {"packet {", 8, "a Perfetto trace as text; 'protoc --encode=perfetto.protos.Trace' converts it to a trace that can be read"},
    /* CTF 1.8.3, 3.1: a metadata file in plain text */
    {"/* CTF 1.", 9, "the metadata of a CTF trace (LTTng, barectf); babeltrace2 and Trace Compass open its folder"},
    {"#Paraver (", 10, "a Paraver trace; wxparaver opens it"}, /* https://tools.bsc.es/doc/1370.pdf */
    {"v8-version,", 11, "a log of V8; 'node --prof-process' evaluates it"}, /* v8 src/logging/log.cc */
    {"*version\n", 9, ART}, /* the key file of a method trace */
    /* https://github.com/google/pprof profile/legacy_profile.go */
    {"heap profile:", 13, PPROF},
    {"--- contention", 14, PPROF},
    {"--- mutex:", 10, PPROF},
    {"--- heapz", 9, PPROF},
    {"--- thread", 10, PPROF},
    /* https://github.com/async-profiler/async-profiler src/profiler.cpp: the output 'text' */
    {"--- Execution profile ---", 25, "a summary by async-profiler; its output 'collapsed' can be read"}};

static const struct stranger BINARIES[] = {
    {"\xff\xfe\0\0", 4, "UTF-32 text; save it as UTF-8"},
    {"\0\0\xfe\xff", 4, "UTF-32 text; save it as UTF-8"},
    {"{\0\0\0", 4, "UTF-32 text; save it as UTF-8"},
    {"{\0", 2, "UTF-16 text; save it as UTF-8"},
    {"[\0", 2, "UTF-16 text; save it as UTF-8"},
    {"\0{", 2, "UTF-16 text; save it as UTF-8"},
    {"\0[", 2, "UTF-16 text; save it as UTF-8"},
    /* measureme src/file_header.rs: FILE_MAGIC_TOP_LEVEL */
    {"MMPD", 4, "a recording of measureme (rustc -Z self-profile); crox converts it to JSON that can be read"},
    {"PK\3\4", 4, "a zip archive"},
    {"PERFILE2", 8, "a Linux perf recording; 'perf script' converts it to text that can be read"},
    {"SQLite format 3", 16, "the beginning of an SQLite database; export or copy it again"}, /* see database readers */
    {"\x89PNG", 4, "an image"},
    {"%PDF", 4, "a PDF document"},
    {"\x7f" "ELF", 4, "a program or a library"},
    /* https://fuchsia.dev/fuchsia-src/reference/tracing/trace-format, magic number record; magic-trace writes the same */
    {"\x10\0\4FxT\x16\0", 8, "a Fuchsia trace (fxt), such as from magic-trace; ui.perfetto.dev and magic-trace.org open it"},
    /* CTF 1.8.3, 5.1: the magic number of a packet, in both byte orders; its metadata packets */
    {"\xc1\x1f\xfc\xc1", 4, "a stream of a CTF trace (LTTng, barectf); babeltrace2 and Trace Compass open its folder"},
    {"\xc1\xfc\x1f\xc1", 4, "a stream of a CTF trace (LTTng, barectf); babeltrace2 and Trace Compass open its folder"},
    {"\x57\x1d\xd1\x75", 4, "the metadata of a CTF trace (LTTng, barectf); babeltrace2 and Trace Compass open its folder"},
    {"\x75\xd1\x1d\x57", 4, "the metadata of a CTF trace (LTTng, barectf); babeltrace2 and Trace Compass open its folder"},
    {"\x1e{\"type\":\"preamble\"", 18, "the metadata of a CTF 2 trace; babeltrace2 opens its folder"}, /* CTF 2, 5.1 */
    /* OpenJDK jdk/jfr: the magic of a chunk */
    {"FLR\0", 4, "a Java flight recording (JFR); JDK Mission Control and 'jfr print' open it"},
    /* OTF2: a byte that starts a buffer, a byte for the byte order and, in the anchor file, "OTF2" */
    {"\3BOTF2", 6, "an OTF2 archive (Score-P); Vampir and otf2-print open it"},
    {"\3B\1\0\0\0\0\0", 8, "a part of an OTF2 archive (Score-P); Vampir and otf2-print open its anchor file (.otf2)"},
    {"memray\0", 7, "a memory profile of memray; 'memray flamegraph' opens it"}, /* memray src/memray/_memray, MAGIC */
    /* trace-cmd Documentation/trace-cmd.dat.v7.5.txt */
    {"\x17\x08\x44tracing", 10, "a recording of trace-cmd (trace.dat); KernelShark opens it, and 'trace-cmd report' prints it as text"},
    {"Ftrace!\0", 8, "a recording of uftrace; 'uftrace dump --chrome' converts its folder to JSON that can be read"},
    /* perfview Documentation NetTraceFormat.md */
    {"Nettrace", 8, "a recording of .NET; 'dotnet-trace convert --format Chromium' converts it to JSON that can be read"},
    {"\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, PPROF}, /* CPU profile of gperftools: 0, size of the header, version */
    /* https://github.com/google/pprof profile/legacy_profile.go, parseCPU: words of 4 or 8 bytes; the version of Java is 1 */
    {"\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\0", 24, PPROF},
    {"\0\0\0\0\3\0\0\0\0\0\0", 12, PPROF},
    {"\0\0\0\0\3\0\0\0\1\0\0", 12, PPROF},
    {"SLOW", 4, ART}, /* Android art/runtime/trace: kTraceMagicValue */
    /* https://github.com/GNOME/sysprof src/libsysprof-capture: SYSPROF_CAPTURE_MAGIC */
    {"\x5e\x97\xca\xfd", 4, "a capture of Sysprof, which opens it"},
    /* ghc rts/include: EVENT_HEADER_BEGIN */
    {"hdrb", 4, "an event log of GHC; ThreadScope and eventlog2html open it"},
    /* mesa src/amd/common: SQTT_FILE_MAGIC_NUMBER */
    {"B00P", 4, "a recording for the Radeon GPU Profiler (RGP), which opens it"},
    /* simpleperf cmd_report_sample.cpp: PROT_FILE_MAGIC */
    {"SIMPLEPERF", 10, "samples of simpleperf; its gecko_profile_generator.py converts perf.data to JSON that can be read"},
    /* https://github.com/P403n1x87/austin: mojo_header */
    {"MOJ\1", 4, AUSTIN},
    {"MOJ\2", 4, AUSTIN},
    {"MOJ\3", 4, AUSTIN},
    {"MOJ\4", 4, AUSTIN},
    /* hpctoolkit doc/FORMATS.md: the magic numbers of its databases */
    {"HPCTOOLKIT", 10, "a part of an HPCToolkit database; hpcviewer opens its folder"},
    /* https://github.com/wolfpld/tracy server/TracyFileHeader.hpp */
    {"tlZ\4", 4, TRACY},
    {"tZst", 4, TRACY},
    {"go 1.", 5, "a trace of Go; 'go tool trace' opens it"}, /* internal/trace/raw: the header "go 1.22 trace\0\0\0" */
    {"\x04\"M\x18", 4, "LZ4-compressed data; 'lz4 -d' decompresses it"}};

struct stranger_content {
  const char *text, *what;
};

/* Texts that show which program made a page or a table. */
static const struct stranger_content PAGES[] = {
    /* pytorch torch/profiler/_memory_profiler.py, torch/cuda/_memory_viz.py */
    {"<title>GPU Memory Timeline HTML</title>", MEMORY_PLOT},
    {"/MemoryViz.js\"", MEMORY_PLOT},
    /* pytorch torch/autograd/profiler_util.py: the columns of key_averages().table() */
    {"  Self CPU %  ", "a table of PyTorch's profiler; its export_chrome_trace writes a trace"},
    /* https://github.com/async-profiler/async-profiler src/res/flame.html */
    {"/async-profiler'>async-profiler</a>", "a flame graph of async-profiler; its output 'collapsed' can be read"},
    {"<title>Cargo Build Timings", "the page of 'cargo build --timings'; a browser opens it"}, /* cargo core/compiler/timings */
    {"<!DOCTYPE svg", PICTURE}}; /* flamegraph.pl, inferno */

/* Texts that show which program made a pickle; the last row applies to all others. */
static const struct stranger_content PICKLES[] = {
    /* pytorch torch/csrc/distributed/c10d/FlightRecorder.hpp: a key of the entries */
    {"profiling_name", "a flight recording of PyTorch's collectives; 'torchfrtrace' (fr_trace.py) analyses it"},
    {"segment_type", "the segments of PyTorch's allocator (torch.cuda.memory_snapshot), without a history; "
                     "torch.cuda.memory._dump_snapshot writes a snapshot that can be read"},
    {"", "a Python pickle; of these, only memory snapshots of PyTorch are read"}};

/* File identifiers of FlatBuffers, which follow the first 4 bytes of a file. */
static const struct {
  const char *identifier, *what;
} FLATBUFFERS[] = {
    /* https://github.com/pytorch/executorch devtools/etdump/etdump_schema_flatcc.fbs */
    {"ED00", "a dump of ExecuTorch (ETDump); the Inspector of executorch.devtools reads it"}};

/* Regular expressions for the first line of a text. */
static const struct {
  const char *line, *what;
} LINES[] = {
    /* nsys stats: the reports cuda_gpu_trace and cuda_kern_exec_trace as CSV */
    {"^\"?Start \\(ns\\)\"?,\"?Duration \\(ns\\)\"?,\"?CorrId\"?,",
     "a table of 'nsys stats'; 'nsys export -t sqlite' converts the report to a database that can be read"},
    /* nvprof --print-gpu-trace --csv, with or without its log */
    {"^(==\\d+== NVPROF is profiling |\"Start\",\"Duration\",\"Grid X\",)",
     "a table of nvprof; record with 'nsys profile', and 'nsys export -t sqlite' makes a database that can be read"},
    {"^(Weight|Running Time|Bytes Used)\t(Self|Count)", "a table copied from Instruments; speedscope.app opens it"},
    /* freebsd usr.sbin/pmcstat: the option -G */
    {"^@ \\S+ \\[\\d+ samples\\] $", "a call graph of pmcstat; stackcollapse-pmc.pl converts it to stacks that can be read"},
    /* https://github.com/argonne-lcf/THAPI: babeltrace_thapi */
    {"^\\d\\d:\\d\\d:\\d\\d\\.\\d+ - .*vpid: \\d+, vtid: \\d+ - \\w+:\\w+: \\{",
     "a trace of THAPI as text; 'iprof --timeline' writes a Perfetto trace that can be read"},
    {"^jdk\\.\\w+ \\{ $", JFR},
    {"^\\S+ profile: total \\d+ $", PPROF}, /* pprof legacy_profile.go, parseGoCount: goroutines, threads, the program's own profiles */
    /* OpenVINO samples/cpp/benchmark_app/statistics_report.cpp */
    {"^layerName;execStatus;layerType;execType;", "times of layers from OpenVINO's benchmark_app rather than a trace"},
    /* tt-metal tt_metal/impl/profiler/profiler.cpp */
    {"^ARCH: \\w+, CHIP_FREQ\\[MHz\\]: ", "a log of Tenstorrent's devices; tt_metal's process_device_log.py evaluates it"},
    /* bpftrace src/output.cpp: the first line, in its older and its newer wording */
    {"^Attach(ing|ed) \\d+ probes?(\\.\\.\\.)? $", BPFTRACE},
    /* VTune Profiler User Guide, "csv-delimiter": the first columns of hotspots and top-down */
    {"^(Function|Function Stack|Source Function|Module|Process|Thread)[,;:|\t]([^,;|\t]+[,;:|\t])*CPU Time[,;:|\t ]",
     "a table of 'vtune -report' rather than a timeline; VTune opens the result from which it was made"},
    /* Linux kernel/trace, trace_print_context: COMM-PID [(TGID)] [CPU] FLAGS SECONDS: EVENT: */
    {"^\\s*\\S.{0,30}-\\d+\\s+(\\(\\s*[-\\d]+\\)\\s+)?\\[\\d{3}\\]\\s+(\\S{4,5}\\s+)?\\d+\\.\\d{6}:\\s+\\w+:", FTRACE}};

/* File name extensions of formats whose first bytes are not documented. */
static const struct {
  const char *ending, *what;
} ENDINGS[] = {{".nsys-rep", "an Nsight Systems report; 'nsys export -t sqlite' converts it to a database that can be read; so "
                            "does the option --nsys"},
               {".qdrep", "an Nsight Systems report; 'nsys export -t sqlite' converts it to a database that can be read"},
               {".qdstrm", "an Nsight Systems recording that was not imported; QdstrmImporter, in its folder, makes the report"},
               {".ncu-rep", "an Nsight Compute report; ncu-ui opens it"},
               {".gputrace", "an Xcode GPU capture"},
               {".etl", "a recording of Windows; Windows Performance Analyzer opens it"},
               {".tracy", TRACY},
               /* https://awsdocs-neuron.readthedocs-hosted.com tools/neuron-explorer: profile-artifacts, view-perfetto */
               {".ntff", "a device profile of AWS Neuron; 'neuron-explorer view --output-format perfetto' converts it to a trace that "
                         "can be read"},
               {".prof", "a profile rather than a timeline, from cProfile (python -m pstats) or of an old format of gperftools"},
               {".pstats", "a profile of Python rather than a timeline; python -m pstats opens it"},
               {".et", "an execution trace (Chakra) without times; mlcommons/chakra reads it"},
               {".pt", "a PyTorch checkpoint or pickle"},
               {".pkl", "a Python pickle"}};

/* Results that xprof stores next to the traces from which it computed them, HOST.TOOL.pb or .json[.gz]: their bytes may look
 * like a trace. The names are from xprof/convert/xplane_to_tools_data.cc and the StoredDataType of its repository. */
static const char *const XPROF_TOOLS[] = {
    "overview_page", "input_pipeline", "input_pipeline_analyzer", "tensorflow_stats", "framework_op_stats", "kernel_stats",
    "op_profile", "hlo_op_profile", "hlo_stats", "op_stats", "op_metrics_db", "pod_viewer", "pod_stats", "memory_profile",
    "memory_viewer", "roofline_model", "graph_viewer", "tf_data_bottleneck_analysis", "inference_profile", "megascale_stats",
    "dcn_collective_stats", "dcn_slack_analysis", "perf_counters", "utilization_viewer", "smart_suggestion", "hlo_proto"};

/* True for a TensorBoard event file: 8 bytes of length, 4 bytes of checksum, then an Event that starts with its wall time,
 * followed by "brain.Event:2". */
static bool is_tfevents(const uint8_t *p, size_t n) {
  for (size_t i = 12; i + 12 <= n && i < 64; i++)
    if (memcmp(p + i, "brain.Event:", 12) == 0) return true;
  return false;
}

/* True for an LZ4 frame that begins with memray's magic number: block size, then a token and the literals. */
static bool is_packed_memray(const uint8_t *p, size_t n) {
  return n > 16 && memcmp(p, "\x04\"M\x18", 4) == 0 && memmem(p, n < 32 ? n : 32, "memray", 6) != NULL;
}

/* True for a request or a file of OTLP (opentelemetry-proto, trace.proto): it contains resource_spans.resource.attributes.key,
 * which begins with one of the names that every SDK writes. A TracePacket has no such text near its start. */
static bool is_otlp(const uint8_t *p, size_t n) {
  const size_t near = n < 512 ? n : 512;
  const uint8_t *sdk = n > 16 ? memmem(p, near, "telemetry.sdk.", 14) : NULL;
  const bool is_key = sdk && sdk >= p + 2 && sdk[-2] == 0x0a && sdk[-1] < p + n - sdk && sdk[sdk[-1]] == 0x12; /* a value follows */
  return n > 16 && p[0] == 0x0a && (is_key || memmem(p, near, "service.name\x12", 13));
}

/* True for lists of numbers, which begin with "[[" and a number. PyTorch's export_memory_timeline (torch/profiler/_memory_profiler.py)
 * writes [times, sizes], or an element [time, action, bytes, category] for each event. */
static bool is_numbers(const uint8_t *p, size_t n) {
  size_t brackets = 0, i = 0;
  for (; i < n && p[i] && strchr("[ \t\r\n", p[i]); i++) brackets += p[i] == '[';
  if (i < n && p[i] == '-') i++;
  return brackets > 1 && i < n && ascii_digit((char)p[i]);
}

/* True for the text of a Python object, "{'traceEvents': [{'ph': 'X', ...": a text in single quotes follows the brackets. */
static bool is_python(const uint8_t *p, size_t n) {
  size_t i = 0, brackets = 0;
  for (; i < n && p[i] && strchr("{[ \t\r\n", p[i]); i++) brackets += p[i] == '{' || p[i] == '[';
  return brackets && i < n && p[i] == '\'';
}

/* True for babeltrace2's default output (src/plugins/text/pretty), "[09:32:54.123456789] (+?.?????????) host event: { ... }", which
 * would be read as damaged JSON. */
static bool is_babeltrace(const uint8_t *p, size_t n) {
  static const char SHAPE[] = "[dd:dd:dd.d";
  for (size_t i = 0; SHAPE[i]; i++)
    if (i >= n || (SHAPE[i] == 'd' ? !ascii_digit((char)p[i]) : p[i] != (uint8_t)SHAPE[i])) return false;
  return true;
}

static const char *by_content(const struct stranger_content *rows, size_t n_rows, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n_rows; i++)
    if (memmem(p, n, rows[i].text, strlen(rows[i].text))) return rows[i].what;
  return NULL;
}

/* True for a pickle of protocol 2, or of protocol 4 or 5 with a frame. */
static bool is_pickle(const uint8_t *p, size_t n) {
  return n > 2 && p[0] == 0x80 && (p[1] == 2 || ((p[1] == 4 || p[1] == 5) && p[2] == 0x95));
}

static const char *by_identifier(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < sizeof FLATBUFFERS / sizeof *FLATBUFFERS; i++)
    if (n >= 8 && memcmp(p + 4, FLATBUFFERS[i].identifier, 4) == 0) return FLATBUFFERS[i].what;
  return NULL;
}

static const char *by_bytes(const struct stranger *rows, size_t n_rows, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n_rows; i++)
    if (n >= rows[i].n && ascii_equal((const char *)p, rows[i].bytes, rows[i].n)) return rows[i].what;
  return NULL;
}

static bool ends(const char *path, size_t n, const char *ending) {
  const size_t m = strlen(ending);
  return n > m && ascii_equal(path + n - m, ending, m);
}

static const char *stranger_by_name(const char *path) {
  const size_t n = path ? strlen(path) : 0;
  for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++)
    if (ends(path, n, ENDINGS[i].ending)) return ENDINGS[i].what;
  return NULL;
}

/* True for binary data that a text filter damaged: bytes that no text contains, next to bytes that a filter wrote. */
static bool is_replaced_binary(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < 0x20 && !(p[i] >= '\t' && p[i] <= '\r')) return utf8_is_replaced(p, n);
  return false;
}

/* ---- the first line ---- */

enum { LINE = 1000 };

/* Copies the first line that is not a comment. Returns false if there is none or if it is too long. */
static bool first_line(const uint8_t *p, size_t n, char line[LINE + 2]) {
  for (size_t i = 0, end; i < n; i = end + 1) {
    const uint8_t *stop = memchr(p + i, '\n', n - i);
    end = stop ? (size_t)(stop - p) : n;
    size_t size = end - i;
    while (size && strchr(" \t\r", p[i + size - 1])) size--;
    if (size == 0 || p[i] == '#') continue;
    if (size >= LINE || memchr(p + i, 0, size)) return false;
    memcpy(line, p + i, size);
    line[size] = ' '; /* every word ends with a space, also the last one */
    line[size + 1] = 0;
    return true;
  }
  return false;
}

static bool line_matches(const char *expression, const char *line) {
  struct mem mem = {0};
  char why[128];
  struct regexp *r = regexp_new(expression, &mem, why, sizeof why);
  const bool matches = r && regexp_matches(r, line);
  regexp_free(r);
  return matches;
}

static const char *by_line(const uint8_t *p, size_t n) {
  char line[LINE + 2];
  if (!first_line(p, n, line)) return NULL;
  for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++)
    if (line_matches(LINES[i].line, line)) return LINES[i].what;
  return NULL;
}

/* ---- entry points ---- */

const char *stranger_result(const char *path) {
  const char *name = path ? path_leaf(path) : "";
  size_t n = strlen(name);
  if (ends(name, n, ".gz")) n -= 3;
  const size_t ending = ends(name, n, ".pb") ? 3 : ends(name, n, ".json") ? 5 : 0;
  for (size_t i = 0; ending && i < sizeof XPROF_TOOLS / sizeof *XPROF_TOOLS; i++) {
    const size_t m = strlen(XPROF_TOOLS[i]), stem = n - ending;
    if (stem > m && name[stem - m - 1] == '.' && memcmp(name + stem - m, XPROF_TOOLS[i], m) == 0)
      return "a result that xprof computed from a trace; read the .xplane.pb next to it";
  }
  return NULL;
}

const char *stranger_sure(const uint8_t *p, size_t n) {
  if (is_otlp(p, n))
    return "an export of OpenTelemetry in protobuf (OTLP); the Collector's file exporter writes JSON, which can be read";
  if (is_numbers(p, n))
    return "lists of numbers, such as from PyTorch's export_memory_timeline; torch.cuda.memory._dump_snapshot writes a snapshot "
           "that can be read";
  if (is_python(p, n)) return "Python's repr of an object rather than JSON; write the file with json.dump";
  return is_babeltrace(p, n) ? BABELTRACE : stranger_json(p, n);
}

const char *stranger_name(const uint8_t *p, size_t n, const char *path) {
  size_t blank = 0;
  if (is_packed_memray(p, n)) return "a memory profile of memray; 'memray flamegraph' opens it";
  const char *what = by_bytes(BINARIES, sizeof BINARIES / sizeof BINARIES[0], p, n);
  if (!what) what = by_identifier(p, n);
  if (!what && is_pickle(p, n)) what = by_content(PICKLES, sizeof PICKLES / sizeof PICKLES[0], p, n);
  if (what) return what;
  if (is_replaced_binary(p, n))
    return "binary data damaged by a text filter (bytes above 0x7f were replaced by U+FFFD, EF BF BD); transfer the file again "
           "in binary mode";
  if (is_tfevents(p, n)) return "a TensorBoard event file; traces are in plugins/profile next to it";
  while (blank < n && p[blank] && strchr(" \t\r\n", p[blank])) blank++;
  if (blank == n) return "only whitespace";
  what = by_line(p, n); /* a text such as "<idle>-0 [000] ..." is not HTML */
  if (!what) what = by_content(PAGES, sizeof PAGES / sizeof PAGES[0], p, n);
  if (!what) what = by_bytes(TEXTS, sizeof TEXTS / sizeof TEXTS[0], p + blank, n - blank);
  return what ? what : stranger_by_name(path);
}

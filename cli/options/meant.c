/* meant.c - tables of words of other tools and their tracekit equivalents (meant.h). */
#include "meant.h"

#include <string.h>
#include <strings.h>

/* ---- commands ---- */

static const struct command_row {
  const char *name, *here;
} COMMANDS[] = {
  { "stats", "info, top or report" },
  { "summary", "info or report" },
  { "show", "info or dump" },
  { "cat", "dump" },
  { "print", "dump" },
  { "ls", "list" },
  { "grep", "filter" },
  { "trim", "filter" },
  { "cut", "filter" },
  { "slice", "filter" },
  { "compress", "convert or shrink" },
  { "unpack", "extract" },
  { "query", "sql" },
  { "compare", "diff" },
  { "join", "merge" },
  { "combine", "merge" },
  { "align", "merge" },
  { "shift", "rebase" },
  { "anonymise", "redact" },
  { "anonymize", "redact" },
  { "validate", "check" },
  { "open", "view" },
  { "flamegraph", "tree" },
  { "analyze-profile", "report" },
  { "analyze", "report" },
  { "analyse", "report" },
  { "profile", "report" },
  { "breakdown", "report, top or tree" },
  { "triage", "report or check" },
  { "bottleneck", "report" },
  { "hotspots", "top" },
  { "traceconv", "convert" },
  { "export", "convert, or sql --db for SQLite" },
  { "--combine", "merge" },
  { "util", "merge or convert" },
  { "analyze-trace", "report, top or tree" },
  { "merge-traces", "merge" },
  { "merge_traces", "merge" },
  { "combine_chrome_traces", "merge" },
  { "--merge", "merge" },
  { "--convert", "convert" },
  { "--report", "report" },
  { "--filter", "filter" },
  { "--query", "sql" },
  { "summarize", "report, top or info" },
  { "summarise", "report, top or info" },
  { "aggregate", "top or report" },
  { "metrics", "report" },
  { "perf", "report" },
  { "kernels", "top --kind kernel" },
  { "ops", "top --kind op" },
  { "critical-path", "report or tree" },
  { "callgraph", "tree" },
  { "graph", "tree" },
  { "flame", "tree" },
  { "folded", "tree --folded" },
  { "trace2html", "report --html or view" },
  { "html", "report --html" },
  { "text", "dump" },
  { "json", "convert -o NAME.json" },
  { "replay", "dump" },
  { "head", "dump --head" },
  { "search", "filter" },
  { "find", "filter" },
  { "crop", "filter --time" },
  { "clip", "filter --time" },
  { "extract-range", "filter --time" },
  { "sample", "shrink" },
  { "reduce", "shrink" },
  { "downsample", "shrink" },
  { "gzip", "convert -o NAME.json.gz" },
  { "unzip", "extract" },
  { "decode", "convert" },
  { "import", "convert" },
  { "transform", "convert" },
  { "to-perfetto", "convert -o NAME.pftrace" },
  { "to-json", "convert -o NAME.json" },
  { "perfetto", "view or convert -o NAME.pftrace" },
  { "fuse", "merge" },
  { "fusion", "merge" },
  { "stitch", "merge" },
  { "offset", "rebase" },
  { "rebase-time", "rebase" },
  { "timeline", "view" },
  { "ui", "view" },
  { "serve", "view" },
  { "server", "view" },
  { "browse", "view" },
  { "load", "info or view" },
  { "plot", "view or report --html" },
  { "scrub", "redact" },
  { "sanitize", "redact" },
  { "clean", "check or redact" },
  { "lint", "check" },
  { "verify", "check" },
  { "test", "check --assert" },
  { "repair", "convert" },
  { "fix", "convert" },
  { "regression", "diff --fail-if" },
  { "benchdiff", "diff" },
  { "delta", "diff" },
  { "count", "top or info" },
  { "size-of", "size" },
  { "du", "size" },
  { "tables", "sql" },
  { "sqlite", "sql --db" },
  { "shell", "sql" },
};

const char *meant_command(const char *name) {
  for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++)
    if (strcmp(COMMANDS[i].name, name) == 0) return COMMANDS[i].here;
  return NULL;
}

/* ---- options ---- */

#define FOLD_LATER "apply writes ranks as they were recorded; tracekit convert --fold-graphs folds the output of concat"
#define FORMAT_BY_PLAN "plan chooses the format by the name of its output"
#define REDACT_LATER "tracekit redact removes private text from the output of concat"
#define READ_SCANS "plan reads scans; give it to scan and apply, which read traces"

/* Rows of advice. A row whose `command` is NULL applies to any command; such rows come after the rows of particular
 * commands. */
static const struct option_row {
  const char *command, *option, *advice;
} OPTIONS[] = {
  { "top", "n", "use --top N to set the number of rows" },
  { "top", "limit", "use --top N to set the number of rows" },
  { "top", "head", "use --top N to set the number of rows" },
  { "top", "row-limit", "use --top N to set the number of rows" },
  { "top", "topk", "use --top N to set the number of rows" },
  { "top", "per-kernel", "use --kind kernel to rank kernels by name" },
  { "top", "kernels", "use --kind kernel to rank kernels by name" },
  { "top", "sort-by", "use --sort COLUMN" },
  { "top", "group-by-input-shape", "use --by name --by 'arg.Input Dims'" },
  { "top", "group-by", "use --by COLUMN" },
  { "top", "groupby", "use --by COLUMN" },
  { "top", "o", "use --csv or --json, and redirect: > FILE" },
  { "top", "output", "use --csv or --json, and redirect: > FILE" },
  { "top", "memory", "tracekit report shows peak memory" },
  { "top", "markdown", "use --csv or --json" },
  { "top", "format", "use --csv or --json" },
  { "top", "percentile", "the columns p50 and p95 show percentiles; --sort p95 sorts by them" },
  { "top", "class", "use --by class" },
  { "tree", "csv", "use --json, or --folded" },
  { "tree", "min-percent", "use --top N to keep the paths with the most time, or --min-dur TIME" },
  { "tree", "n", "use --top N to set the number of rows" },
  { "tree", "limit", "use --top N to set the number of rows" },
  { "tree", "o", "use --json, --folded, --speedscope or --svg, and redirect: > FILE" },
  { "tree", "flamegraph", "use --svg > FILE, or --folded for flamegraph.pl" },
  { "report", "kpi", "the report begins with the findings and key figures; --json has them as key_figures" },
  { "report", "o", "use --html=FILE for a page, or --json > FILE" },
  { "report", "output", "use --html=FILE for a page, or --json > FILE" },
  { "report", "format", "use --html=FILE for a page, or --json" },
  { "report", "n", "use --top N to set the number of kernels" },
  { "report", "limit", "use --top N to set the number of kernels" },
  { "report", "filename", "use --html=FILE for a page, or --json > FILE" },
  { "report", "dirpath", "inputs need no option; use --html=FILE for a page" },
  { "report", "enable-overlap-analysis", "the report always shows how much communication is hidden behind compute" },
  { "report", "show-straggler", "the report always shows which rank came last to collectives, if it reads several ranks" },
  { "report", "detailed-analysis", "the report always contains all tables; --json has all rows" },
  { "report", "memory", "the report always shows peak memory, if the trace recorded allocations" },
  { "report", "markdown", "use --html=FILE for a page, or --json" },
  { "report", "csv", "use --json; tracekit top --csv prints tables of events" },
  { "dump", "n", "use --head N to set the number of events" },
  { "dump", "limit", "use --head N to set the number of events" },
  { "dump", "o", "redirect: > FILE" },
  { "dump", "chrome", "tracekit convert -o FILE.json writes Chrome JSON" },
  { "dump", "flame-graph", "tracekit tree --folded prints folded stacks" },
  { "sql", "n", "use LIMIT in the statement, or --max-rows N" },
  { "sql", "q", "use -e SQL" },
  { "sql", "query", "use -e SQL" },
  { "sql", "query-file", "use --script FILE" },
  { "sql", "o", "use --csv or --json, and redirect: > FILE" },
  { "convert", "to", "use -f FORMAT, or an output name with its extension: -o trace.pftrace" },
  { "convert", "t", "use -f FORMAT, or an output name with its extension: -o trace.pftrace" },
  { "convert", "output-format", "use -f FORMAT, or an output name with its extension: -o trace.pftrace" },
  { "convert", "from", "the format of inputs is detected by their content" },
  { "extract", "list-only", "tracekit list shows what a folder or archive contains" },
  { "extract", "list", "tracekit list shows what a folder or archive contains" },
  { "plan", "join", "plan reads scans; tracekit merge --join joins the pieces of a trace before it is scanned" },
  { "plan", "run", READ_SCANS },
  { "plan", "step-dir", READ_SCANS },
  { "plan", "latest-good", READ_SCANS },
  { "plan", "strict", READ_SCANS },
  { "plan", "sched", READ_SCANS },
  { "plan", "max-size", READ_SCANS },
  { "plan", "no-fetch", READ_SCANS },
  { "plan", "nsys", READ_SCANS },
  { "plan", "step-name", "plan reads scans; give it to scan, which finds the steps" },
  { "plan", "anchor", "plan reads scans; give it to scan, which finds the collectives" },
  { "plan", "keep-going", "plan reads scans; scan only traces that can be read, and give it to concat if parts are missing" },
  { "plan", "link-collectives", "apply writes ranks one by one; tracekit merge links them" },
  { "plan", "fold-graphs", FOLD_LATER },
  { "plan", "dry-run", "plan writes no trace; it prints what the merge will do" },
  { "plan", "no-loss", "apply counts losses; give it to concat" },
  { "plan", "pretty", "tracekit convert --pretty formats the output of concat" },
  { "plan", "gpu-events", "tracekit convert --gpu-events rewrites the output of concat" },
  { "plan", "manifest", "a manifest needs all ranks in one process: tracekit merge --manifest" },
  { "plan", "redact", REDACT_LATER },
  { "apply", "join", "tracekit merge --join joins the pieces of a trace before it is scanned and applied" },
  { "apply", "step-name", "scan finds the steps; apply follows the plan" },
  { "apply", "rank", "use --input N; it accepts a rank" },
  { "apply", "keep-going", "apply writes one rank; concat --keep-going accepts missing parts" },
  { "apply", "fold-graphs", FOLD_LATER },
  { "apply", "f", FORMAT_BY_PLAN },
  { "apply", "format", FORMAT_BY_PLAN },
  { "apply", "redact", REDACT_LATER },
  { "apply", "no-loss", "apply counts losses; give it to concat" },
  { "scan", "keep-going", "scan the traces one by one, or leave out the unreadable ones" },
  { "scan", "fold-graphs", "a scan contains no events; tracekit convert --fold-graphs folds the output of concat" },
  { "scan", "rank", "scan the trace of this rank only, or choose ranks with plan --rank" },
  { "scan", "step", "choose steps with plan --step" },
  { "scan", "time", "choose the time range with plan --time" },
  { "scan", "align", "plan compares the clocks: plan --align" },
  { "concat", "join", "tracekit merge --join joins the pieces of a trace before it is scanned" },
  { "concat", "redact", "tracekit redact removes private text from the output" },
  { "concat", "fold-graphs", "tracekit convert --fold-graphs folds the output" },
  { "concat", "f", FORMAT_BY_PLAN },
  { "concat", "format", FORMAT_BY_PLAN },
  { "view", "browser", "set the environment variable BROWSER: BROWSER=firefox tracekit view TRACE" },
  { "view", "server-only", "use --no-browser to serve without opening a browser" },
  { "view", "headless", "use --no-browser to serve without opening a browser" },
  { "view", "httpd", "view always serves over HTTP; use --port N to choose the port" },
  { "view", "serve", "view always serves over HTTP; use --port N to choose the port" },
  { "view", "create-perfetto-link", "view opens Perfetto by default" },
  { "view", "perfetto", "Perfetto is the default; --with chooses another viewer" },
  { "view", "tensorboard", "use --with=xprof" },
  { "view", "latest", "the newest run is the default" },
  { "merge", "rank-regex", "ranks are found in the names and contents of inputs; --rank N..M keeps some of them" },
  { "merge", "sync", "clocks are aligned by collectives; --align chooses another method" },
  { "merge", "ranks", "use --rank N..M" },
  { "shrink", "max-events", "use --events N" },
  { "split", "each", "use --every N" },
  { "filter", "category", "use --cat GLOB" },
  { "filter", "contains", "use --name '*TEXT*'" },
  { "filter", "min-duration", "use --min-dur TIME" },
  { "filter", "max-duration", "use --max-dur TIME" },
  { "shrink", "max-size", "--max-size limits inputs; use --to SIZE for the output" },
  { "shrink", "size", "use --to SIZE" },
  { "shrink", "target", "use --to SIZE" },
  { "split", "duration", "use --every TIME" },
  { "split", "interval", "use --every TIME" },
  { "split", "size", "use --by size --every SIZE" },
  { "diff", "a", "use --before FILE" },
  { "diff", "b", "use --after FILE" },
  { "diff", "threshold", "use --fail-if 'total > 5%'" },
  { "diff", "full-names", "diff prints full names" },
  { "list", "latest", "the newest run comes first; other commands read the newest run of a directory, or --latest-good" },
  { "diff", "baseline", "use --before FILE and --after FILE, or name both as operands" },
  { NULL, "compress", "use -o NAME.json.gz, and --level to set the compression level" },
  { NULL, "gzip", "use -o NAME.json.gz to compress" },
  { NULL, "zstd", "use -o NAME.json.zst to compress" },
  { "info", "stats", "tracekit report and tracekit top print sums of times, tracekit size the size of each part" },
  { "info", "summary", "tracekit report summarises times" },
  { "filter", "ops", "use --name GLOB or --kind op" },
  { "filter", "op", "use --name GLOB or --kind op" },
  { "info", "clock", "use --verbose to print each clock" },
  { "info", "clocks", "use --verbose to print each clock" },
  { NULL, "output-file", "use -o FILE" },
  { NULL, "outfile", "use -o FILE" },
  { NULL, "save", "use -o FILE" },
  { NULL, "input", "inputs need no option" },
  { NULL, "file", "inputs need no option" },
  { NULL, "trace", "inputs need no option" },
  { NULL, "json-trace", "inputs need no option" },
  { NULL, "trace-dir", "inputs need no option" },
  { NULL, "trace-glob", "inputs need no option" },
  { NULL, "trace-path", "inputs need no option" },
  { NULL, "profile-json-path", "inputs need no option" },
  { NULL, "logdir", "inputs need no option" },
  { NULL, "dir", "inputs need no option" },
  { NULL, "i", "inputs need no option" },
  { NULL, "recursive", "folders are always searched recursively" },
  { NULL, "r", "folders are always searched recursively" },
  { NULL, "start", "use --time START..END to keep a time range" },
  { NULL, "end", "use --time START..END to keep a time range" },
  { NULL, "grep", "use --name '*TEXT*' to keep events by name" },
  { NULL, "max-size-mb", "use --to 100MB to limit the file size" },
  { NULL, "overwrite", "use --force to replace a file" },
  { NULL, "y", "use --force to replace a file" },
  { NULL, "silent", "use --quiet to print only errors" },
  { NULL, "debug", "use --verbose to print more" },
  { NULL, "jobs", "use -j N to set the number of threads" },
  { NULL, "gpu", "use --device N to select accelerators" },
  { NULL, "iteration", "use --step N..M to select training steps" },
  { NULL, "iter", "use --step N..M to select training steps" },
};

const char *meant_option(const char *command, const char *option, size_t n) {
  for (size_t i = 0; i < sizeof OPTIONS / sizeof *OPTIONS; i++) {
    const struct option_row *row = &OPTIONS[i];
    if (row->command && strcmp(row->command, command)) continue;
    if (strlen(row->option) == n && !memcmp(row->option, option, n)) return row->advice;
  }
  return NULL;
}

/* ---- values ---- */

struct word_row {
  const char *option, *typed, *meant;
};

static const char *meant_find(const struct word_row *rows, size_t n, const char *option, const char *word) {
  for (size_t i = 0; i < n; i++)
    if (!strcmp(rows[i].option, option) && !strcasecmp(rows[i].typed, word)) return rows[i].meant;
  return NULL;
}

static const struct word_row KINDS[] = {
  { "kind", "nccl", "collective" },      { "kind", "rccl", "collective" },   { "kind", "comm", "collective" },
  { "kind", "communication", "collective" }, { "kind", "collectives", "collective" }, { "kind", "gpu", "device" },
  { "kind", "npu", "device" },           { "kind", "tpu", "device" },        { "kind", "xpu", "device" },
  { "kind", "cpu", "host" },             { "kind", "kernels", "kernel" },    { "kind", "cuda", "kernel" },
  { "kind", "copy", "memcpy" },          { "kind", "copies", "memcpy" },     { "kind", "gpu_memcpy", "memcpy" },
  { "kind", "gpu_memset", "memset" },    { "kind", "fill", "memset" },       { "kind", "operator", "op" },
  { "kind", "operators", "op" },         { "kind", "ops", "op" },            { "kind", "cpu_op", "op" },
  { "kind", "cuda_runtime", "runtime" },                                   { "kind", "steps", "step" },
  { "kind", "python_function", "python" }, { "kind", "user_annotation", "annotation" }, { "kind", "nvtx", "annotation" },
  { "kind", "counters", "counter" },     { "kind", "event", "instant" },     { "kind", "slice", "span" },
};

const char *meant_kind(const char *word) { return meant_find(KINDS, sizeof KINDS / sizeof *KINDS, "kind", word); }

static const struct word_row VALUES[] = {
  { "with", "tensorboard", "xprof" },    { "with", "ui", "perfetto" },       { "with", "chrome", "perfetto" },
  { "by", "phases", "phase" },           { "by", "operator", "op" },         { "by", "layer", "module" },
  { "with", "html", "report" },          { "by", "stage", "phase" },          { "by", "category", "cat" },
  { "by", "names", "name" },             { "by", "gpu", "device" },          { "by", "thread", "track" },
  { "by", "iteration", "step" },         { "by", "type", "kind" },           { "keep", "child", "children" },
  { "keep", "parent", "parents" },       { "keep", "flow", "flows" },        { "keep", "kernels", "flows" },
};

const char *meant_value(const char *option, const char *word) {
  return meant_find(VALUES, sizeof VALUES / sizeof *VALUES, option, word);
}

static const struct word_row FIGURES[] = {
  { "figure", "busy", "device_busy" },       { "figure", "gpu_util", "device_busy" },    { "figure", "gpu_utilization", "device_busy" },
  { "figure", "util", "device_busy" },       { "figure", "utilization", "device_busy" }, { "figure", "utilisation", "device_busy" },
  { "figure", "idle", "device_idle" },       { "figure", "gpu_idle", "device_idle" },
  { "figure", "comm", "communication" },     { "figure", "nccl", "communication" },      { "figure", "overlap", "overlap_percent" },
  { "figure", "exposed_comm", "exposed_communication" },
  { "figure", "compute_util", "compute" },   { "figure", "step_time", "mean(step)" },    { "figure", "step", "mean(step)" },
  { "figure", "iteration_time", "mean(step)" }, { "figure", "duration", "length" },
  { "figure", "kernel_count", "kernels" },   { "figure", "launch_latency", "launch_latency_mean" },
};

const char *meant_figure(const char *word) { return meant_find(FIGURES, sizeof FIGURES / sizeof *FIGURES, "figure", word); }

/* ---- outputs ---- */

bool meant_output(const char *option) {
  static const char *const NAMES[] = { "csv", "json", "jsonl", "svg", "folded", "speedscope", "graph" };
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
    if (!strcmp(option, NAMES[i])) return true;
  return false;
}

static const struct {
  const char *extension, *advice;
} EXTENSIONS[] = {
  { "csv", "tracekit dump --csv and tracekit top --csv print tables" },
  { "tsv", "tracekit dump --csv and tracekit top --csv print tables" },
  { "parquet", "in Python, tracekit.load(...).to_pandas().to_parquet(...) writes it" },
  { "db", "tracekit sql --db FILE writes a database" },
  { "sqlite", "tracekit sql --db FILE writes a database" },
  { "html", "tracekit report --html=FILE writes a page" },
  { "svg", "tracekit tree --svg prints a flame graph" },
  { "folded", "tracekit tree --folded prints folded stacks" },
  { "zip", "outputs are compressed with .gz or .zst" },
  { "xz", "outputs are compressed with .gz or .zst" },
  { "bz2", "outputs are compressed with .gz or .zst" },
};

const char *meant_extension(const char *extension) {
  for (size_t i = 0; i < sizeof EXTENSIONS / sizeof *EXTENSIONS; i++)
    if (!strcasecmp(EXTENSIONS[i].extension, extension)) return EXTENSIONS[i].advice;
  return NULL;
}

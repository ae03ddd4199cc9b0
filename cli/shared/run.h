/* run.h - shared by the commands: option rows, loading with progress and notes, and checks of the output before slow work starts. */
#ifndef CLI_SHARED_RUN_H
#define CLI_SHARED_RUN_H

#include "options/opt.h"
#include "progress.h"
#include "tracekit.h"

#include <stdio.h>

/* Fields of the shared rows. First member of every command's params, so that the rows' offsets are the same in all of them. */
struct shared {
  const char *output, *format, *step_name;
  uint64_t max_memory, max_size;
  int threads, level, progress, quiet, verbose;
  bool facts; /* not an option; set by commands that always print facts */
  uint8_t without; /* not an option; data that the command does not need (tk_load_options) */
  const char *cut; /* not an option; the time range, if the command only cuts the trace before writing it in its own format */
  int derive;
  bool fold_graphs;
  const char *scopes;
  struct {
    bool asked, keep_numbers;
    struct opt_choice names;
    struct opt_list keep_args;
    const char *key_file, *list;
  } redact;
  const char *run, *step_dir, *nsys;
  struct tk_fetch fetch; /* filled in when the names are resolved */
  bool latest_good, join, keep_going;
  bool force, no_fetch, dry_run, no_loss, overlaps, strict, sched, json, pretty, gpu_events, no_provenance, no_passthrough;
};

extern const struct opt_word run_progress_words[];

#define SHARED(field) offsetof(struct shared, field)
#define ROW_OUTPUT                                                                                                             \
  {                                                                                                                            \
    OPT_FILE, 'o', "output", "FILE", "write to this file; '-' is standard output; .gz and .zst compress",                      \
        SHARED(output), 0, 0, 0                                                                                                \
  }
#define ROW_FORMAT                                                                                                             \
  {                                                                                                                            \
    OPT_FORMAT, 'f', "format", "FORMAT",                                                                                       \
        "output format (default: by the extension of the output, or else the input's format); 'help' lists them",              \
        SHARED(format), 0, 0, 0                                                                                                \
  }
#define ROW_THREADS                                                                                                            \
  { OPT_INT, 'j', "threads", "N", "number of threads (0 = all cores); does not affect the output", SHARED(threads), 0, 0, 4096 }
#define ROW_QUIET                                                                                                              \
  { OPT_COUNT, 'q', "quiet", 0, "print only errors and the requested output", SHARED(quiet), 0, 0, 0 }
#define ROW_VERBOSE                                                                                                            \
  {                                                                                                                            \
    OPT_COUNT, 'v', "verbose", 0, "print more: properties of the input, one section per input, full paths",                    \
        SHARED(verbose), 0, 0, 0                                                                                               \
  }
#define ROW_FORCE                                                                                                              \
  { OPT_FLAG, 0, "force", 0, "replace an existing output file", SHARED(force), 0, 0, 0 }
#define ROW_DRY_RUN                                                                                                            \
  { OPT_FLAG, 'n', "dry-run", 0, "read the input and show what would be written, without writing it", SHARED(dry_run), 0, 0, 0 }
#define ROW_NO_LOSS                                                                                                            \
  {                                                                                                                            \
    OPT_FLAG, 0, "no-loss", 0, "fail if the output format cannot represent all of the trace (rounded times do not count)",     \
        SHARED(no_loss), 0, 0, 0                                                                                               \
  }
#define ROW_STRICT                                                                                                             \
  { OPT_FLAG, 0, "strict", 0, "fail if the input needs repairs", SHARED(strict), 0, 0, 0 }
#define ROW_JSON                                                                                                               \
  { OPT_FLAG, 0, "json", 0, "print the report as JSON", SHARED(json), 0, 0, 0 }
#define ROW_PROGRESS                                                                                                           \
  {                                                                                                                            \
    OPT_SWITCH, 0, "progress", 0, "show progress (default: on a terminal); --progress=json: as lines of JSON, for a script",   \
        SHARED(progress), run_progress_words, 0, 0                                                                                 \
  }
#define ROW_MAX_MEMORY                                                                                                         \
  {                                                                                                                            \
    OPT_SIZE, 0, "max-memory", "SIZE",                                                                                         \
        "stop if memory use exceeds this size, such as 4GB (10^9) or 4GiB (2^30) (default: 75% of RAM)",                       \
        SHARED(max_memory), 0, 0, 0                                                                                            \
  }
#define ROW_MAX_SIZE                                                                                                           \
  { OPT_SIZE, 0, "max-size", "SIZE", "fail if the input decompresses to more than this size", SHARED(max_size), 0, 0, 0 }
#define ROW_NO_FETCH                                                                                                           \
  {                                                                                                                            \
    OPT_FLAG, 0, "no-fetch", 0, "refuse addresses (s3://, https://, ...), and start no program to read them",                  \
        SHARED(no_fetch), 0, 0, 0                                                                                              \
  }
#define ROW_NSYS                                                                                                               \
  {                                                                                                                            \
    OPT_FILE, 0, "nsys", "PROGRAM", "read .nsys-rep reports by exporting them with this program: 'nsys', or its path",         \
        SHARED(nsys), 0, 0, 0                                                                                                  \
  }
#define ROW_STEP_NAME                                                                                                          \
  {                                                                                                                            \
    OPT_STRING, 0, "step-name", "PATTERN",                                                                                       \
        "names of the spans that mark steps: a glob, or a regex between slashes (default: the marks of known profilers and "   \
        "programs)",                                                                                                           \
        SHARED(step_name), 0, 0, 0                                                                                             \
  }
#define ROW_SCHED                                                                                                              \
  {                                                                                                                            \
    OPT_FLAG, 0, "sched", 0,                                                                                                   \
        "Perfetto, Nsight: also read scheduler events: a row for each CPU, and the states of each thread",                     \
        SHARED(sched), 0, 0, 0                                                                                                 \
  }
#define ROW_PRETTY                                                                                                             \
  { OPT_FLAG, 0, "pretty", 0, "JSON: one event per line, indented", SHARED(pretty), 0, 0, 0 }
#define ROW_OVERLAPS                                                                                                           \
  {                                                                                                                            \
    OPT_FLAG, 0, "overlaps", 0,                                                                                                \
        "JSON: move spans that overlap others of their thread to separate rows, even if the input was JSON",                   \
        SHARED(overlaps), 0, 0, 0                                                                                              \
  }
#define ROW_GPU_EVENTS                                                                                                         \
  {                                                                                                                            \
    OPT_FLAG, 0, "gpu-events", 0,                                                                                              \
        "Perfetto: write work and counters of devices as GPU events, for Perfetto's GPU tables",                                \
        SHARED(gpu_events), 0, 0, 0                                                                                            \
  }
#define ROW_LEVEL                                                                                                              \
  { OPT_INT, 0, "level", "N", "compression: 1 is fastest, 9 is smallest", SHARED(level), 0, 1, 9 }
#define ROW_NO_PROVENANCE                                                                                                      \
  {                                                                                                                            \
    OPT_FLAG, 0, "no-provenance", 0, "do not record how the output was produced", SHARED(no_provenance), 0, 0, 0               \
  }
#define ROW_NO_PASSTHROUGH                                                                                                     \
  {                                                                                                                            \
    OPT_FLAG, 0, "no-passthrough", 0, "drop data specific to the input format, such as XLA programs",                          \
        SHARED(no_passthrough), 0, 0, 0                                                                                        \
  }

#define ROW_DERIVE                                                                                                             \
  {                                                                                                                            \
    OPT_SWITCH, 0, "derive", 0,                                                                                                \
        "add the steps and lines that xprof derives from an XPlane: Steps, XLA Modules, Framework Ops, ...",                   \
        SHARED(derive), 0, 0, 0                                                                                                \
  }

#define ROW_FOLD_GRAPHS                                                                                                        \
  {                                                                                                                            \
    OPT_FLAG, 0, "fold-graphs", 0,                                                                                             \
        "show the work of replayed CUDA and HIP graphs in rows by kind (kernels, ...) instead of by stream",                   \
        SHARED(fold_graphs), 0, 0, 0                                                                                           \
  }

/* Options that select the run of a run directory. */
#define ROWS_RUN                                                                                                               \
  { OPT_STRING, 0, "run", "RUN", "run directory: use this run (a prefix selects the newest match)", SHARED(run), 0, 0, 0 },    \
  { OPT_STRING, 0, "step-dir", "N", "run directory: use the run in the folder step_N", SHARED(step_dir), 0, 0, 0 },            \
  {                                                                                                                            \
    OPT_FLAG, 0, "latest-good", 0, "run directory: use the newest run that contains a complete trace",                         \
        SHARED(latest_good), 0, 0, 0                                                                                           \
  }
#define ROW_JOIN                                                                                                               \
  {                                                                                                                            \
    OPT_FLAG, 0, "join", 0,                                                                                                    \
        "read all inputs as pieces of one trace, in the order of their names; inputs in different formats are treated as "     \
        "recordings of one rank by several profilers",                                                                         \
        SHARED(join), 0, 0, 0                                                                                                  \
  }
#define ROW_KEEP_GOING                                                                                                         \
  { OPT_FLAG, 'k', "keep-going", 0, "leave out inputs that cannot be read", SHARED(keep_going), 0, 0, 0 }

/* The groups of rows that most commands use: ROWS_READ and ROWS_WRITE. */
#define ROWS_READ                                                                                                              \
  ROWS_RUN, ROW_STRICT, ROW_SCHED, ROW_NO_FETCH, ROW_NSYS, ROW_MAX_MEMORY, ROW_MAX_SIZE, ROW_THREADS, ROW_PROGRESS, ROW_QUIET,   \
  ROW_VERBOSE
#define ROWS_WRITE ROW_OUTPUT, ROW_FORMAT, ROW_FORCE, ROW_DRY_RUN, ROW_NO_LOSS, ROW_PRETTY, ROW_OVERLAPS, ROW_GPU_EVENTS,      \
  ROW_LEVEL, ROW_NO_PROVENANCE, ROW_NO_PASSTHROUGH
#define ROW_END                                                                                                                \
  { OPT_END, 0, "", 0, 0, 0, 0, 0, 0 }

enum { STATUS_DONE, STATUS_FINDING, STATUS_USAGE, STATUS_INPUT, STATUS_OUTPUT, STATUS_SIGNALLED = 128 };

struct progress;

struct tk_progress run_ticker(struct progress *p);
struct tk_load_options run_load_options(const struct shared *s, struct progress *p);
struct tk_source_options run_source_options(const struct shared *s, struct progress *p);
struct tk_save_options run_save_options(const struct shared *s, const char *command, struct progress *p);

/* Opens the traces that the operands name; without operands "-", unless standard input is a terminal. On failure prints the
 * reason, sets *status and returns NULL. */
struct tk_sources *run_sources(const struct shared *s, const char *command, const struct operands *in, int *status);

/* Loads the i-th of the sources, with progress, and prints its notes. On failure prints the error, sets *status and returns
 * NULL. */
struct tk_trace *run_load_input(const struct shared *s, struct tk_sources *sources, size_t i, int *status);
/* Like run_load_input(), for a single source. */
struct tk_trace *run_load(const struct shared *s, const char *source, int *status);

/* Loads everything that the operands name as one trace; "-" without operands. On failure prints the error, sets *status and
 * returns NULL. */
struct tk_trace *run_load_operands(const struct shared *s, const char *command, const struct operands *in, int *status);

/* Returns true if --derive adds events to `output`. like: format of the input, which counts if the output's name implies
 * none. */
bool run_derives(const struct shared *s, const char *output, const char *like);

/* Prints "tracekit: FILE: repair: TEXT (12 times, first at byte 8,812)" for every note, unless --quiet. Facts need --verbose
 * or s->facts. A note that more than three inputs share is printed once, unless --verbose. source: name for notes without a
 * source. */
void run_notes(const struct shared *s, const char *source, const struct tk_diagnostics *d);
/* Prints the notes of a trace after note `last`, that is, the notes that an operation added. */
void run_notes_after(const struct shared *s, const char *source, const struct tk_trace *t, tk_id last);

/* Print an error and return the exit status. After a signal, run_fail() reports only the interruption. */
int run_no_memory(void);
int run_fail(const struct tk_err *err);
/* Like run_fail(), but if nothing in the trace matched (TK_ENOTHING), the message begins with `source`. */
int run_fail_of(const char *source, const struct tk_err *err);
int run_usage(const char *command, const char *why);

/* Returns the first operand; "-" if there is none. If "-" is then a terminal, prints a message, sets *status and returns
 * NULL. */
const char *run_input(const char *command, const struct operands *in, int *status);

/* Returns the path of the output, checked before any work: it is not a terminal, not an input, and does not exist unless
 * --force is given. On failure prints the reason, sets *status and returns NULL. */
const char *run_output(const struct shared *s, const char *command, const struct operands *in, int *status);

/* True if a file can be written to `path`: its folder exists, it is not an input, and it does not exist unless --force is
 * given. On failure prints the reason and sets *status. */
bool run_check_file(const struct shared *s, const char *path, const struct operands *in, int *status);

/* True if -f or the name implies the format of an output, and its folder exists (not checked if {} is part of the folder). On
 * failure prints the reason and sets *status. */
bool run_names_trace(const struct shared *s, const char *path, int *status);
/* Like run_output(), and checks run_names_trace() too. */
const char *run_trace_output(const struct shared *s, const char *command, const struct operands *in, int *status);
/* Returns true if -o names a folder: "run/", or with -f an existing folder. The library decides what to write there. */
bool run_names_folder(const struct shared *s);


bool run_is_stdout(const char *path);

/* Sets *size to the size of the input's own file; -1 for "-", a folder, an address or a member of an archive. Returns false with err
 * on failure. */
bool run_file_size(const char *path, int64_t *size, struct tk_err *err);

/* Returns the stream for reports: stdout, or stderr if the trace is written to stdout. */
FILE *run_report_to(const struct shared *s, const char *output);

#endif

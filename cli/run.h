/* run.h - what the commands share: option rows, loading with progress and notes, checking the output before long work. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "opt.h"
#include "tracekit.h"

#include <stdio.h>

/* Fields of the shared rows.  The first member of every command's params, so that the rows' offsets hold for all. */
struct shared {
  const char *output, *format;
  uint64_t max_memory, max_size;
  int threads, level, progress, quiet, verbose;
  bool facts; /* no option: the command tells them whether or not more is asked for */
  uint8_t without; /* likewise: what the command asks nothing of (tk_load_options) */
  int derive;
  struct {
    bool asked, keep_numbers;
    struct opt_choice names;
    struct opt_list keep_args;
    const char *key_file, *list;
  } redact;
  bool force, dry_run, no_loss, overlaps, strict, json, pretty, no_provenance, no_passthrough;
};

extern const struct opt_word progress_words[];

#define SHARED(field) offsetof(struct shared, field)
#define ROW_OUTPUT                                                                                                             \
  {                                                                                                                            \
    OPT_FILE, 'o', "output", "FILE", "write to this file; '-' is standard output; .gz and .zst compress",                      \
        SHARED(output), 0, 0, 0                                                                                                \
  }
#define ROW_FORMAT                                                                                                             \
  {                                                                                                                            \
    OPT_FORMAT, 'f', "format", "FORMAT",                                                                                       \
        "output format (default: by the extension of the output, or else that of the input); 'help' lists them",               \
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
        SHARED(progress), progress_words, 0, 0                                                                                 \
  }
#define ROW_MAX_MEMORY                                                                                                         \
  {                                                                                                                            \
    OPT_SIZE, 0, "max-memory", "SIZE",                                                                                         \
        "stop if memory use exceeds this size, such as 4GB (10^9) or 4GiB (2^30) (default: 75% of RAM)",                       \
        SHARED(max_memory), 0, 0, 0                                                                                            \
  }
#define ROW_MAX_SIZE                                                                                                           \
  { OPT_SIZE, 0, "max-size", "SIZE", "fail if the input decompresses to more than this size", SHARED(max_size), 0, 0, 0 }
#define ROW_PRETTY                                                                                                             \
  { OPT_FLAG, 0, "pretty", 0, "JSON: one event per line, indented", SHARED(pretty), 0, 0, 0 }
#define ROW_OVERLAPS                                                                                                           \
  {                                                                                                                            \
    OPT_FLAG, 0, "overlaps", 0,                                                                                                \
        "JSON: move spans that overlap others of their thread to separate rows, even if the input was JSON",                   \
        SHARED(overlaps), 0, 0, 0                                                                                              \
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

/* The two bundles that most commands list. */
#define ROWS_READ ROW_STRICT, ROW_MAX_MEMORY, ROW_MAX_SIZE, ROW_THREADS, ROW_PROGRESS, ROW_QUIET, ROW_VERBOSE
#define ROWS_WRITE ROW_OUTPUT, ROW_FORMAT, ROW_FORCE, ROW_DRY_RUN, ROW_NO_LOSS, ROW_PRETTY, ROW_OVERLAPS, ROW_LEVEL,           \
  ROW_NO_PROVENANCE, ROW_NO_PASSTHROUGH
#define ROW_END                                                                                                                \
  { OPT_END, 0, "", 0, 0, 0, 0, 0, 0 }

enum { STATUS_DONE, STATUS_FINDING, STATUS_USAGE, STATUS_INPUT, STATUS_OUTPUT, STATUS_SIGNALLED = 128 };

struct progress;

struct tk_progress run_ticker(struct progress *p);
struct tk_load_options run_load_options(const struct shared *s, struct progress *p);
struct tk_source_options run_source_options(const struct shared *s, struct progress *p);
struct tk_save_options run_save_options(const struct shared *s, const char *command, struct progress *p);

/* The traces that the command line names: "-" without an operand, unless standard input is a terminal.  NULL: *status. */
struct tk_sources *run_sources(const struct shared *s, const char *command, const struct operands *in, int *status);

/* Loads one of them, with progress; prints the notes, or the error and returns NULL with the exit status in *status. */
struct tk_trace *run_load_input(const struct shared *s, struct tk_sources *sources, size_t i, int *status);
/* The same for a name that stands for one trace. */
struct tk_trace *run_load(const struct shared *s, const char *source, int *status);

/* All that the operands of a command name, as one trace; "-" without any. */
struct tk_trace *run_load_operands(const struct shared *s, const char *command, const struct operands *in, int *status);

/* Does the file of this name, of a trace that was read as `like`, get what is derived? */
bool run_derives(const struct shared *s, const char *output, const char *like);

/* Prints "tracekit: FILE: repair: TEXT (12 times, first at byte 8812)" for every note, unless quiet; what more than three inputs
 * have in common once, unless verbose.  `source`: of notes that tell none. */
void run_notes(const struct shared *s, const char *source, const struct tk_diagnostics *d);
/* Of those of a trace the ones that came after note `last`: an operation's own. */
void run_notes_after(const struct shared *s, const char *source, const struct tk_trace *t, tk_id last);

/* Both print what is wrong and return the exit status; after an interrupt that is all that is wrong. */
int run_no_memory(void);
int run_fail(const struct tk_err *err);
/* The same of what matches nothing in a trace, which is named then. */
int run_fail_of(const char *source, const struct tk_err *err);
int run_usage(const char *command, const char *why);

/* The input of a command with one or no operand: "-" without one, unless standard input is a terminal (NULL, *status). */
const char *run_input(const char *command, const struct operands *in, int *status);

/* The output that s asks for, checked before any work: given or a pipe, no terminal, not one of the inputs, not an existing
 * file without --force.  NULL: *status is the exit status and the reason was printed. */
const char *run_output(const struct shared *s, const char *command, const struct operands *in, int *status);

/* True if a file can be written here: its folder exists, it is not an input, and it does not exist unless --force is given. */
bool run_check_file(const struct shared *s, const char *path, const struct operands *in, int *status);

/* Does the name of this output, or -f, say its format, and is its folder there?  (Not asked of one whose name has {} in it.) */
bool run_names_trace(const struct shared *s, const char *path, int *status);
/* run_output of a trace: this is asked too. */
const char *run_trace_output(const struct shared *s, const char *command, const struct operands *in, int *status);
/* Does -o name a folder ("run/"), or, as -f says its format, one that is there?  What the library makes of it is its own to say. */
bool run_names_folder(const struct shared *s);


bool run_is_stdout(const char *path);

/* Where reports go: stdout, unless the trace goes there. */
FILE *run_report_to(const struct shared *s, const char *output);

#endif

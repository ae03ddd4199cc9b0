/* tracekit_io.h - reading and writing traces, and the table of formats. Part of tracekit.h, which includes it. */
#ifndef TRACEKIT_IO_H
#define TRACEKIT_IO_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* ---- load and save ------------------------------------------------------------------------------------------------ */

/* The current activity of a call. Strings are valid until the callback returns. */
struct tk_phase {
  const char *what; /* "reading", "aligning", "writing", "compressing" */
  const char *name; /* the file or trace that the activity works on; NULL = none */
  size_t i, n;      /* number of the current item, from 1, and of all items; n = 0: there is only one item */
  bool events;      /* ticks count events, not bytes */
};

/* `tick` is called regularly with bytes done and the total (0 = unknown). Returning false stops the call with TK_EINTERRUPTED.
 * `phase`, which may be NULL, is called before each new phase. */
struct tk_progress {
  bool (*tick)(void *arg, uint64_t done, uint64_t total);
  void *arg;
  void (*phase)(void *arg, const struct tk_phase *phase);
};

/* Data that the caller does not need, so that it may be left out of the graph. The first two are ignored when several traces are
 * joined. */
enum tk_without {
  TK_WITHOUT_FLOWS = 1, /* flow points: none are kept */
  TK_WITHOUT_ARGS = 2,  /* args of complete spans: kept only if times, kinds or steps depend on them, or if keeping them costs
                         * nothing */
  TK_WITHOUT_RESTORING = 4 /* data that tracekit added to restore a trace of another format: the file is read as other programs
                            * see it, and cannot be converted without loss */
};

/* Behaviour that is off unless the caller requests it. */
enum tk_with {
  TK_WITH_SCHED = 1, /* Perfetto: the scheduler, as a row for each CPU and the states of each thread */
  TK_WITH_PROCESS_LIMIT = 2, /* max_memory limits the resident memory of the whole process, if the system reports it; for programs
                              * that do nothing else */
  TK_WITH_NSYS_SCHED = 4, /* Nsight Systems: the scheduler, as in TK_WITH_SCHED */
  TK_WITH_NEXT_RANKS = 8 /* tk_sources_load of a rank also loads the next ranks of its file, and keeps them for later calls with this
                          * bit, so that the file is read once; within 1/32 of max_memory. For callers that load all inputs in order
                          * with the same options, in one thread */
};

struct tk_load_options {
  const char *format;  /* name; NULL = detect from the content */
  uint64_t max_memory; /* bytes of graph and buffers; 0 = 75% of RAM or cgroup */
  uint64_t max_size;   /* limit of the decompressed bytes; 0 = no limit except the compression ratio */
  struct tk_progress progress;
  unsigned threads;    /* 0 = number of cores, 1 = only the caller's thread */
  bool strict;         /* any repair is TK_ECORRUPT */
  bool no_templates;     /* use only the general reading path; for tests */
  bool check;          /* verify the invariants of the graph after sealing; for tests */
  uint8_t without;     /* bits of enum tk_without */
  uint64_t chunk;      /* bytes of a file that a thread reads at a time, 0 = 1 MiB; for tests */
  /* Names of spans that mark training steps: a glob for the whole name, or a Perl-compatible regular expression between slashes. After
   * "every:", each event with such a name begins a step, which lasts to the next one on its thread. NULL = the profiler's marks, or
   * else the names that known programs use. */
  const char *step_name;
  uint64_t with;        /* bits of enum tk_with */
  const char *const *settings; /* NULL-terminated settings of formats (tk_setting), such as "perfetto.sched=true"; NULL = none */
};

/* A setting of one format, "FORMAT.NAME=true" or "FORMAT.NAME=false". A setting of another format than the input's or the output's
 * has no effect, so that one list serves files of all formats. */
struct tk_setting {
  const char *format, *name; /* "perfetto", "sched" */
  const char *help;          /* effect of the value true; all settings are false by default */
  bool saving;               /* belongs to tk_save_options; false: to tk_load_options */
};
/* Returns the i-th setting of all formats, valid as long as the program runs; NULL past the end. */
TK_API const struct tk_setting *tk_setting(size_t i);

/* Returns true if the options are valid: the format, the pattern of step names and the settings. Needs no input. Returns false with
 * err otherwise. */
TK_API bool tk_load_check(const struct tk_load_options *opt, struct tk_err *err);

/* Reads and seals `source`: anything that tk_sources_open accepts and that contains one trace. Returns NULL on error. */
TK_API struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err);

/* A source of data: reads up to n bytes into p. Returns 0 at the end, and -1 with errno set on failure. */
struct tk_reader {
  ptrdiff_t (*read)(void *arg, void *p, size_t n);
  void *arg;
};
/* Receives data piece by piece, on the calling thread. Returning false makes the call fail. */
struct tk_writer {
  bool (*write)(void *arg, const void *p, size_t n);
  void *arg;
};
struct tk_bytes {
  void *p;
  size_t n;
};

/* Load a trace from memory, from a descriptor (which stays open) or through a function. The data may be compressed, as in
 * files. Messages contain `name`, and its extension may imply the format. */
TK_API struct tk_trace *tk_load_memory(const void *bytes, size_t n, const char *name, const struct tk_load_options *opt,
                                       struct tk_err *err);
TK_API struct tk_trace *tk_load_fd(int fd, const char *name, const struct tk_load_options *opt, struct tk_err *err);
TK_API struct tk_trace *tk_load_stream(struct tk_reader from, const char *name, const struct tk_load_options *opt, struct tk_err *err);

/* ---- sources ------------------------------------------------------------------------------------------------------ */

/* Condition of an input; UNKNOWN until it has been read completely. */
enum tk_health {
  TK_HEALTH_UNKNOWN,
  TK_HEALTH_OK,
  TK_HEALTH_EMPTY,     /* no bytes, or no events */
  TK_HEALTH_TRUNCATED, /* ends early */
  TK_HEALTH_CORRUPT,   /* contains invalid bytes: readable up to there, or not at all */
  TK_HEALTH_REPAIRED,  /* complete, but needs repairs */
  TK_HEALTH_CAPPED,    /* valid, but contains the maximum number of events that its producer writes, so later events may be missing */
  TK_HEALTH_NO_TRACE
};

/* A trace to read, with the properties that are known before it is read. Strings live as long as the sources. */
struct tk_input {
  const char *name;   /* name, which can itself be opened as a source: "logs/plugins/profile/2026_11_20_10_21_49/vm.xplane.pb",
                       * "logs.zip:rank0.json" */
  const char *run;    /* run: "2026_11_20_10_21_49", or else the folder's name */
  const char *step;   /* step: "100" for a folder "step_100"; "" = none */
  const char *host;   /* "" = unknown */
  int64_t rank;       /* rank; -1 = unknown */
  uint64_t size;      /* stored bytes; UINT64_MAX = unknown */
  int64_t run_ns;     /* time of the run, from its name or newest file; only orders runs, because its time zone is unknown */
  uint32_t run_id;    /* equal for inputs of one run */
  const char *format; /* NULL = unknown */
  enum tk_health health;
  const char *why;    /* reason if the health is not TK_HEALTH_OK, or NULL */
  bool best;          /* read by default; false for other views of the same session */
};

/* A file in a folder behind an address. */
struct tk_remote_file {
  const char *path; /* path below the folder, with '/' between folders */
  uint64_t size;    /* UINT64_MAX = unknown */
  int64_t time_ns;  /* time of the last change, since 1970; 0 = unknown */
};

/* Reads addresses such as "s3://bucket/run/rank0.json.gz" for tk_sources_open, which itself opens only files and "file://". An
 * address that ends in '/' is a folder. Only names given by the caller, and in lists ("@list") named by the caller, are read as
 * addresses. Functions that fail set the code and the message of err; the message need not contain the address. */
struct tk_fetch {
  /* NULL-terminated: schemes of the addresses that can be read, such as "s3". "nsys-rep" means local files with this extension,
     which `local` exports as a database. */
  const char *const *schemes;
  /* Returns the path of a local copy, to be freed with free(). NULL with err set on failure; NULL without an error if there is no
   * copy. */
  char *(*local)(void *arg, const char *address, struct tk_err *err);
  /* Passes all files of a folder, at any depth, to `add`, which returns false to stop. */
  bool (*list)(void *arg, const char *address, bool (*add)(void *to, const struct tk_remote_file *file), void *to,
               struct tk_err *err);
  /* Opens a stream, from its beginning, possibly several times; NULL on failure. */
  void *(*open)(void *arg, const char *address, struct tk_err *err);
  /* Returns up to n bytes; 0 only if the stream is complete; -1 on failure. May be called on another thread. */
  ptrdiff_t (*read)(void *stream, void *p, size_t n, struct tk_err *err);
  void (*close)(void *stream);
  void *arg;
};

/* Selects the inputs to read. With all fields zero, the best file of each host of the newest run is read. */
struct tk_source_options {
  const char *run;  /* run name, or a prefix for the newest match; NULL = the newest */
  const char *step; /* read runs in a folder named step_<this> */
  const char *host; /* name of a host, or a pattern as for files */
  const int64_t *rank; /* NULL = any */
  bool all_runs;
  bool latest_good; /* skip runs whose files are all empty, damaged or truncated; files of the newest run are read twice */
  bool all_files;   /* include other views, empty files and files that are not traces; for listings */
  bool join;        /* read all inputs as pieces of one trace, in the order of their names; inputs of different formats as
                     * recordings of one rank by several profilers */
  bool apart;       /* keep inputs apart even if they are evidently pieces of one trace */
  bool by_rank;     /* split files that contain several ranks into one input for each rank; implied by `rank` */
  uint64_t max_memory, max_size; /* as in tk_load_options */
  struct tk_progress progress;
  const struct tk_fetch *fetch; /* reads addresses, and outlives the sources; NULL = addresses fail to load */
  uint64_t reserved[3]; /* must be zero */
};

struct tk_sources {
  TK_FIXED struct tk_input *inputs;
  size_t n;
  struct tk_sources_impl *impl;
};

/* Expands names in order: a file, "-", a folder with traces at any depth (a run directory of JAX, TensorFlow or PyTorch, or any
 * other), an archive (tar, zip, 7z), "archive:member", "@list", a pattern, "file://" and other addresses (tk_fetch). A name
 * that cannot be read, or contains no trace, becomes an input that fails to load. Returns NULL only on an interrupt or when
 * memory runs out. */
TK_API struct tk_sources *tk_sources_open(const char *const *names, size_t n, const struct tk_source_options *opt, struct tk_err *err);
/* Reads and seals the i-th input. Its notes include the choice of run and view. */
TK_API struct tk_trace *tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err);
/* Like tk_sources_load, for a caller who then only cuts the trace by the time range `time` (as in tk_filter_options) before
 * saving it in the format with this name (NULL = the format of the input). Data that only the input's format understands may be
 * left out if it is outside of the range, so that the needed memory depends on the range more than on the file. The saved file is
 * the same as after tk_sources_load; if the trace is saved without the cut or in another format, the data that was left out
 * counts as lost. */
TK_API struct tk_trace *tk_sources_load_cut(struct tk_sources *s, size_t i, const char *time, const char *format,
                                            const struct tk_load_options *opt, struct tk_err *err);
/* Reads all inputs as one trace called `source`: merged onto one timeline as in tk_merge, and joined in memory. Returns NULL on
 * error, also if any input cannot be read. */
TK_API struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt,
                                            struct tk_err *err);
TK_API void tk_sources_close(struct tk_sources *s);

/* Writes n bytes that were computed from `s`, by the same rules as all outputs: the file appears only when it is complete, is
 * no more readable than any of the inputs, and replaces none of them. `force` replaces any other existing file. "-" is standard
 * output. */
TK_API bool tk_sources_write(const struct tk_sources *s, const char *path, const void *p, size_t n, bool force, struct tk_err *err);

struct tk_save_options {
  const char *format;   /* name of the format and compression, as in tk_format_of: "json", "json.gz"; NULL = by the extension of
                         * the path, or else the input format */
  const char *command;  /* command line that is recorded in the output as provenance; NULL = none is recorded */
  const char *provenance;  /* additional members of the provenance as JSON, such as "\"shrink\":{}"; NULL = none */
  int level;            /* compression: 0 = default, 1 fastest .. 9 smallest */
  struct tk_progress progress;
  unsigned threads;     /* as in tk_load_options; does not affect the output */
  bool pretty;          /* JSON: one event per line, indented */
  bool force;           /* replace an existing file */
  bool same;            /* keep an existing file with the same contents, without an error */
  bool dry_run;         /* compute the output and losses without writing */
  bool no_loss;         /* fail with TK_ELOSS instead of losing data */
  bool overlaps;        /* move overlapping spans to separate rows on any thread, even if the input had none */
  bool no_passthrough;  /* drop passthrough data that only the input format understands; not counted as a loss */
  uint64_t reserved[3]; /* must be zero */
  const char *const *settings; /* NULL-terminated settings of formats (tk_setting), such as "json.pretty=true"; NULL = none */
};

/* Kinds of data that an output format may be unable to represent. */
enum tk_loss {
  TK_LOSS_SPANS,
  TK_LOSS_INSTANTS,
  TK_LOSS_COUNTERS,    /* counter samples */
  TK_LOSS_CATEGORIES,  /* categories of events */
  TK_LOSS_ASYNC,       /* ids of async spans, which become spans of a track */
  TK_LOSS_FLOW_POINTS,
  TK_LOSS_DANGLING,    /* flow points without a partner that the format cannot store */
  TK_LOSS_ARGS,        /* events that lost args */
  TK_LOSS_RECORDS,     /* records without a time or a meaning in the graph */
  TK_LOSS_METADATA,    /* top-level keys */
  TK_LOSS_MACHINES,    /* the machines of processes */
  TK_LOSS_PASSTHROUGH, /* data that only the input format understands */
  TK_LOSS_SAMPLES,     /* stack samples */
  TK_LOSS_SAMPLE_PARTS, /* stack samples that lost their time, their unit, or the modules of their frames */
  TK_LOSSES
};

/* Returns a plural name such as "flow points". */
TK_API const char *tk_loss_name(enum tk_loss kind);

struct tk_saved {
  const struct tk_format_info *format; /* output format */
  uint64_t records; /* source records written, including metadata */
  uint64_t events;  /* spans + instants + counter samples + stack samples */
  uint64_t derived; /* events made by tk_derive, not included in the other counts */
  uint64_t flow_points;
  uint64_t lost[TK_LOSSES]; /* counts of lost data by kind; not included in the other counts */
  uint64_t rounded; /* times that were read with more digits than are written, although the output has the input's format */
  uint64_t bytes;   /* size of the file, compressed */
  uint64_t raw_bytes;
  bool was_there;   /* the file existed and was kept: see tk_save_options.same */
};

/* Writes a sealed trace to `path` ("-" = stdout), under a temporary name that is renamed on success. ".gz" and ".zst" compress.
 */
TK_API bool tk_save(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, struct tk_saved *done,
                    struct tk_err *err);

/* Write to a descriptor (which stays open), a function, or memory (to be freed with free()). `name` implies format and
 * compression ("x.json.gz"). */
TK_API bool tk_save_fd(const struct tk_trace *t, const char *name, int fd, const struct tk_save_options *opt, struct tk_saved *done,
                       struct tk_err *err);
TK_API bool tk_save_stream(const struct tk_trace *t, const char *name, struct tk_writer to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);
TK_API bool tk_save_memory(const struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);

/* ---- formats ------------------------------------------------------------------------------------------------------ */

/* Features that a format supports. Unsupported data is counted as lost when a trace is written. */
enum tk_holds {
  TK_HOLDS_INSTANTS = 1,
  TK_HOLDS_COUNTERS = 2,
  TK_HOLDS_ASYNC = 4,
  TK_HOLDS_FLOWS = 8,
  TK_HOLDS_DANGLING = 16, /* flow points without a partner */
  TK_HOLDS_ARGS = 32,
  TK_HOLDS_RECORDS = 64,
  TK_HOLDS_METADATA = 128,
  TK_HOLDS_MACHINES = 256,
  TK_HOLDS_CATEGORIES = 512,
  TK_HOLDS_SAMPLES = 1024, /* stack samples */
  TK_HOLDS_ALL = 2047
};

/* Resolution of a format that stores no times. */
#define TK_NO_TIMES INT64_C(1000000000000)

struct tk_format_info {
  const char *name;           /* "json" */
  const char *title;          /* "Chrome JSON" */
  const char *ending;         /* extension of new files, such as ".json" */
  const char *const *endings; /* NULL-terminated: all extensions with their dots, without extensions of compressions */
  const char *const *words;   /* NULL-terminated: other names for the format; NULL = none. A name shared by several formats
                               * selects none */
  unsigned holds;             /* bits of enum tk_holds; there is no bit for spans (no_spans) */
  tk_time resolution;         /* times are rounded to a multiple of this, in ps; TK_NO_TIMES = the format has no times */
  bool can_read, can_write;
  bool carries;               /* files of this format can store passthrough data of other formats */
  bool is_carried;            /* data of this format can be stored in files of other formats */
  bool no_spans;              /* files contain stack samples only */
  bool derives;               /* viewers of this format derive the data of tk_derive themselves, so it is never written */
};

/* Returns the i-th row of the table of formats; the first is the default output format. Returns NULL past the end. */
TK_API const struct tk_format_info *tk_format(size_t i);

/* A file name split into its parts: "run/rank0.json.gz" is "run/rank0" with format json and compression ".gz". */
struct tk_path {
  const struct tk_format_info *format; /* format of the extension; NULL = unknown */
  size_t stem, end;                    /* lengths of the name before the extension of the format, and before the extension of
                                        * the compression */
  const char *packing; /* compression: ".gz" or ".zst" for output (".gz" if the compression can only be read); "" = none */
  bool bare;           /* the name has a compression but no format ("x.gz"), so the format is the input's */
};
/* Splits a file name. The strings in the result are valid for the life of the program. */
TK_API struct tk_path tk_path_of(const char *path);
/* Splits a word in the same way: "perfetto", an extension with or without dot ("pb", ".json.gz"), or another name ("chrome"). The
 * strings in the result are valid for the life of the program. */
TK_API struct tk_path tk_format_of(const char *word);

#endif

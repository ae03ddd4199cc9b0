/* tracekit_io.h - traces in and out, and the formats that there are: a part of tracekit.h, which includes it. */
#ifndef TRACEKIT_IO_H
#define TRACEKIT_IO_H

#ifndef TRACEKIT_H
#error "include tracekit.h"
#endif

/* ---- load and save ------------------------------------------------------------------------------------------------ */

/* What is being done from now on.  Strings live during the call. */
struct tk_phase {
  const char *what; /* "reading", "aligning", "writing", "compressing" */
  const char *name; /* of what; NULL = not told */
  size_t i, n;      /* the i-th of n, from 1; n = 0: there is one */
  bool events;      /* ticks count events, not bytes */
};

/* `tick` is called now and then with bytes done and, where known, total (else 0).  false = stop: the call fails with TK_EINTERRUPTED.
 * `phase`, which may be NULL, is called before those of another kind. */
struct tk_progress {
  bool (*tick)(void *arg, uint64_t done, uint64_t total);
  void *arg;
  void (*phase)(void *arg, const struct tk_phase *phase);
};

/* What the caller asks nothing of, so that it may be left out of the graph.  Where several traces become one, all is kept. */
enum tk_without {
  TK_WITHOUT_FLOWS = 1, /* flow points: none is kept */
  TK_WITHOUT_ARGS = 2   /* args of spans that come whole: they are kept where that costs nothing */
};

struct tk_load_options {
  const char *format;  /* name; NULL = by content */
  uint64_t max_memory; /* bytes of graph and buffers; 0 = 75% of RAM or cgroup */
  uint64_t max_size;   /* bytes after decompression; 0 = no limit but ratio */
  struct tk_progress progress;
  unsigned threads;    /* 0 = as many as there are cores, 1 = none beside the caller's */
  bool strict;         /* any repair is TK_ECORRUPT */
  bool no_templates;     /* general reading path only: for tests */
  bool check;          /* verify the invariants after sealing: for tests */
  uint8_t without;     /* of enum tk_without: what need not be kept */
  uint64_t chunk;      /* bytes of one file that a thread reads at a time, 0 = 1 MiB: for tests */
  uint64_t reserved[3]; /* zero */
};

/* Reads and seals `source`: anything that tk_sources_open takes and that holds one trace.  NULL on error. */
TK_API struct tk_trace *tk_load(const char *source, const struct tk_load_options *opt, struct tk_err *err);

/* Up to n bytes into p; 0 at the end, -1 with errno when it failed. */
struct tk_reader {
  ptrdiff_t (*read)(void *arg, void *p, size_t n);
  void *arg;
};
/* Takes piece after piece, from the calling thread; false = it cannot, and the call fails. */
struct tk_writer {
  bool (*write)(void *arg, const void *p, size_t n);
  void *arg;
};
struct tk_bytes {
  void *p;
  size_t n;
};

/* Of what is no file: bytes, a descriptor that stays open, or what a function gives; packed as files may be.  `name` is what messages
 * call it, and its ending may tell the format. */
TK_API struct tk_trace *tk_load_memory(const void *bytes, size_t n, const char *name, const struct tk_load_options *opt,
                                       struct tk_err *err);
TK_API struct tk_trace *tk_load_fd(int fd, const char *name, const struct tk_load_options *opt, struct tk_err *err);
TK_API struct tk_trace *tk_load_stream(struct tk_reader from, const char *name, const struct tk_load_options *opt, struct tk_err *err);

/* ---- sources ------------------------------------------------------------------------------------------------------ */

/* What a full read would tell is UNKNOWN until then. */
enum tk_health {
  TK_HEALTH_UNKNOWN,
  TK_HEALTH_OK,
  TK_HEALTH_EMPTY,     /* no bytes, or no events */
  TK_HEALTH_TRUNCATED, /* ends too early */
  TK_HEALTH_CORRUPT,   /* bytes of it are wrong: it can be read up to there, or not at all */
  TK_HEALTH_REPAIRED,  /* whole, but not as it should be */
  TK_HEALTH_CAPPED,    /* sound, but holds as many events as its producer writes at most */
  TK_HEALTH_NO_TRACE
};

/* One trace to read, and what is known of it before.  Strings live as long as the sources. */
struct tk_input {
  const char *name;   /* "logs/plugins/profile/2026_11_20_10_21_49/vm.xplane.pb", "logs.zip:rank0.json": can be named itself */
  const char *run;    /* "2026_11_20_10_21_49", else the folder's name */
  const char *step;   /* "100" of a folder "step_100"; "" = none */
  const char *host;   /* "" = not told */
  int64_t rank;       /* -1 = not told */
  uint64_t size;      /* bytes as it lies there; UINT64_MAX = not known */
  int64_t run_ns;     /* when the run was, by its name or its newest file: orders runs, in an unknown time zone */
  uint32_t run_id;    /* inputs of one run have the same */
  const char *format; /* NULL = not known yet */
  enum tk_health health;
  const char *why;    /* it is not well, or NULL */
  bool best;          /* read by default: other views of the same session are not */
};

/* Zero: the best file of each host of the newest run. */
struct tk_source_options {
  const char *run;  /* this run, or the newest whose name begins so; NULL = the newest */
  const char *step; /* of runs in a folder step_<this> */
  const char *host; /* a name, or a pattern as for files */
  const int64_t *rank; /* NULL = any */
  bool all_runs;
  bool latest_good; /* a run that holds no trace, for its files are empty or cut to nothing, is passed over */
  bool all_files;   /* also other views, what is empty and what is no trace: for listing */
  uint64_t max_memory, max_size; /* as in tk_load_options */
  struct tk_progress progress;
  uint64_t reserved[4]; /* zero */
};

struct tk_sources {
  TK_FIXED struct tk_input *inputs;
  size_t n;
  struct tk_sources_impl *impl;
};

/* What the names stand for, in their order: a file, "-", a folder at any depth above traces (a run directory of JAX, TensorFlow or
 * PyTorch, or any other), an archive (tar, zip, 7z), "archive:member", "@list", a pattern.  A name that cannot be read, or holds
 * nothing, is an input that fails when it is loaded.  NULL only on an interrupt or when memory has run out. */
TK_API struct tk_sources *tk_sources_open(const char *const *names, size_t n, const struct tk_source_options *opt, struct tk_err *err);
/* Reads and seals the i-th input.  What was decided on the way to it (which run, which view) is among its notes. */
TK_API struct tk_trace *tk_sources_load(struct tk_sources *s, size_t i, const struct tk_load_options *opt, struct tk_err *err);
/* Reads all of them as one trace, which is called `source`: merged on one timeline as tk_merge does it, and joined in memory.  NULL on
 * error, which it is if one of them cannot be read. */
TK_API struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt,
                                            struct tk_err *err);
TK_API void tk_sources_close(struct tk_sources *s);

/* Writes n bytes that were made of `s` as all outputs are written: the file is complete or not there, is no more readable than any of
 * the inputs, and replaces none of them. "-" is standard output. */
TK_API bool tk_sources_write(const struct tk_sources *s, const char *path, const void *p, size_t n, bool force, struct tk_err *err);

struct tk_save_options {
  const char *format;   /* as tk_format_of takes it: "json", "json.gz"; NULL = by the extension of the path, else what was read */
  const char *command;  /* for the provenance block; NULL = none is written */
  const char *provenance;  /* further members of that block as JSON, such as "\"shrink\":{}"; NULL = none */
  int level;            /* compression: 0 = default, 1 fastest .. 9 smallest */
  struct tk_progress progress;
  unsigned threads;     /* as in tk_load_options; the bytes do not depend on it */
  bool pretty;          /* JSON: one event per line, indented */
  bool force;           /* replace an existing file */
  bool same;            /* an existing file that holds what would be written stays, which is no error */
  bool dry_run;         /* compute what would be written and lost; write nothing */
  bool no_loss;         /* a loss is TK_ELOSS, and nothing is written */
  bool overlaps;        /* rows beside it for spans that overlap on any thread, also for those of traces that had none */
  bool no_passthrough;  /* leave out what the graph does not model and only the format of the input understands: it is no loss */
  uint64_t reserved[4]; /* zero */
};

/* Kinds of what a trace has and the format that it is written in cannot hold. */
enum tk_loss {
  TK_LOSS_SPANS,
  TK_LOSS_INSTANTS,
  TK_LOSS_COUNTERS,    /* counter samples */
  TK_LOSS_CATEGORIES,  /* of events */
  TK_LOSS_ASYNC,       /* ids of async spans: they are written as spans of a track */
  TK_LOSS_FLOW_POINTS,
  TK_LOSS_DANGLING,    /* flow points that have no other end, of which the format's viewers show nothing */
  TK_LOSS_ARGS,        /* events that lost args */
  TK_LOSS_RECORDS,     /* records without a time or a meaning here */
  TK_LOSS_METADATA,    /* top-level keys */
  TK_LOSS_MACHINES,    /* which machine a process is of */
  TK_LOSS_PASSTHROUGH, /* blocks that only the input's own format understands */
  TK_LOSSES
};

/* "flow points": what is lost, in the plural. */
TK_API const char *tk_loss_name(enum tk_loss kind);

struct tk_saved {
  const struct tk_format_info *format; /* that it was written in */
  uint64_t records; /* source records written, metadata included */
  uint64_t events;  /* spans + instants + counter samples */
  uint64_t derived; /* events that tk_derive made, which are in none of the others */
  uint64_t flow_points;
  uint64_t lost[TK_LOSSES]; /* counted while writing; in none of the above */
  uint64_t rounded; /* times that were read with more digits than they are written with, though the format has not changed */
  uint64_t bytes;   /* of the file, compressed */
  uint64_t raw_bytes;
  bool was_there;   /* the file was, and stayed: see tk_save_options.same */
};

/* Writes a sealed trace to `path` ("-" = stdout): to a temporary name, renamed on success.  ".gz" and ".zst" compress. */
TK_API bool tk_save(const struct tk_trace *t, const char *path, const struct tk_save_options *opt, struct tk_saved *done,
                    struct tk_err *err);

/* To what is no file, whose `name` tells format and compression ("x.json.gz"): a descriptor that stays open, a function, or memory,
 * whose bytes free() takes. */
TK_API bool tk_save_fd(const struct tk_trace *t, const char *name, int fd, const struct tk_save_options *opt, struct tk_saved *done,
                       struct tk_err *err);
TK_API bool tk_save_stream(const struct tk_trace *t, const char *name, struct tk_writer to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);
TK_API bool tk_save_memory(const struct tk_trace *t, const char *name, struct tk_bytes *to, const struct tk_save_options *opt,
                           struct tk_saved *done, struct tk_err *err);

/* ---- formats ------------------------------------------------------------------------------------------------------ */

/* What a format can hold.  What it cannot is counted as lost when a trace is written in it. */
enum tk_holds {
  TK_HOLDS_INSTANTS = 1,
  TK_HOLDS_COUNTERS = 2,
  TK_HOLDS_ASYNC = 4,
  TK_HOLDS_FLOWS = 8,
  TK_HOLDS_DANGLING = 16, /* flow points without another end */
  TK_HOLDS_ARGS = 32,
  TK_HOLDS_RECORDS = 64,
  TK_HOLDS_METADATA = 128,
  TK_HOLDS_MACHINES = 256,
  TK_HOLDS_CATEGORIES = 512,
  TK_HOLDS_ALL = 1023
};

struct tk_format_info {
  const char *name;           /* "json" */
  const char *title;          /* "Chrome JSON" */
  const char *ending;         /* that new files get: ".json" */
  const char *const *endings; /* NULL-terminated: all that are of this format, each with its dot; compressions come behind them */
  const char *const *words;   /* NULL-terminated: what else people call it; NULL = nothing.  One that several have tells none */
  unsigned holds;             /* enum tk_holds; spans are what every format holds */
  tk_time resolution;         /* times are rounded to a multiple of so many ps */
  bool can_read, can_write;
  bool carries;               /* holds blocks that other formats ask to be carried, and that only they understand */
  bool is_carried;            /* asks for it */
  bool derives;               /* its viewers make by themselves what tk_derive makes, of which nothing is written in it */
};

/* The i-th row of the format table, whose first is what commands write that are not told; NULL past the end. */
TK_API const struct tk_format_info *tk_format(size_t i);

/* What the name of a file says: "run/rank0.json.gz" is "run/rank0" of format json, packed as ".gz". */
struct tk_path {
  const struct tk_format_info *format; /* of its ending; NULL = no format claims it */
  size_t stem, end;                    /* bytes before the ending of the format, and before that of the compression */
  const char *packing; /* ".gz", ".zst": what such a file is written with (".gz" for what is only read); "" = none */
  bool bare;           /* it says a compression and nothing of a format ("x.gz"), which is that of what was read */
};
TK_API struct tk_path tk_path_of(const char *path);
/* The same of a word: "perfetto", an ending with or without its dot ("pb", ".json.gz"), or what else people say ("chrome"). */
TK_API struct tk_path tk_format_of(const char *word);

#endif

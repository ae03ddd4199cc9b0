/* format.h - the table of formats.
 *
 * Each format has a row: how well the first bytes of a file match the format, how to read a file into a graph, and how to write
 * graphs. A new format consists of its folder and one line in format.c; help, detection, completion and the tests of every
 * reader with every writer iterate over the table. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "carry.h"
#include "graph/join.h"
#include "graph/sink.h"
#include "graph/trace.h"
#include "io/in.h"
#include "io/out.h"
#include "mangled.h"
#include "parts.h"
#include "settings.h"

/* One machine of a trace that has several. */
struct format_machine {
  uint32_t id;      /* id in the file; 0 = none */
  int64_t ahead_ns; /* how far its clock is ahead of the clock of the machine without an id */
  tk_id name;       /* string of the graph */
};

struct format_track;
struct sqlite;

/* Identities of processes that must not change because passthrough data refers to them: none; the ids; the ids, and the names
 * unless the user chose names. */
enum format_ids { FORMAT_IDS_FREE, FORMAT_IDS_NUMBERS, FORMAT_IDS_ALL };

struct format {
  struct tk_format_info info;
  bool binary; /* not text, so output to a terminal is refused */
  bool json; /* JSON: a file that is complete ends with the bracket of its outermost value */
  bool packed; /* files that a command names itself are compressed by default */
  bool needs_start; /* no event may precede the file's time base, so a merge must know the earliest event before it writes */
  bool own_order; /* its viewers sort processes by type rather than by sort index */
  bool has_types; /* args keep the types of their numbers: int, unsigned int, double */
  bool in_parts; /* its sinks accept parts written by other processes (graph/sink.h) */
  bool invents_pids; /* pids are numbers of devices or planes, not of processes of the operating system */
  bool in_manifest; /* Perfetto can read it, so it may be listed in a manifest */
  /* How trace_processor reads the stack samples of a format. */
  struct {
    uint8_t thousands;   /* number of times that trace_processor multiplies a time, as a double, by 1000; 0 also if it does not
                            read the format */
    uint8_t outer_depth; /* depth of the outermost frame */
    const char *no_module; /* name of the mapping of frames without a module; NULL = "" */
    bool perf_samples;   /* true if the samples are in the table perf_sample instead of cpu_profile_stack_sample */
  } engine;
  const char *runs_in; /* path below a logdir where its viewers look for runs with a file per host; NULL = none */
  const struct setting *settings; /* n_settings rows; NULL = none */
  size_t n_settings;
  int gzip_level; /* default compression level; 0 = the general default */
  /* Returns how many bits of the format's structure the first n bytes (FORMAT_PEEK or more, unless the input is shorter) match;
   * 0 = not this format. */
  unsigned (*bid)(const uint8_t *p, size_t n);
  /* For formats that are SQLite databases, which all match the same header: true if the tables belong to the format. NULL:
   * `bid` decides. */
  bool (*is_database)(const struct sqlite *db);
  /* For protobuf formats: field types of the messages, by which damage by a text filter is recognised. NULL = text. */
  const struct pb_shape *shape;
  /* True if, judging by its first bytes, the input contains events. NULL: always true. */
  bool (*is_trace)(struct in *in);
  /* Returns the rank according to the first bytes; -1 = unknown. NULL: the first bytes never contain the rank in this format. */
  int64_t (*stated_rank)(struct in *in);
  /* Returns the process of the first event; -1 = unknown. NULL: the process cannot be found without reading the whole file. */
  int64_t (*stated_process)(struct in *in);
  /* Finds the processes of an input that are separate ranks (format/parts.h), without reading its events; fewer than two if the
   * input is one rank. Returns false with err on failure. NULL: an input is always one rank. */
  bool (*ranks)(struct in *in, struct parts *parts, struct tk_err *err);
  /* Returns the name in Perfetto's manifest for the clock of a trace of this format; NULL if the manifest cannot name it. */
  const char *(*clock_name)(const struct tk_trace *t);
  /* Describes machine number `at` of a trace; returns false if there are fewer. NULL: the format has no machines. */
  bool (*machine)(const struct tk_trace *t, uint32_t at, struct format_machine *m);
  /* Describes track `at` of a trace that was loaded without restoring another format's tracks; returns false if it was loaded
   * with restoring. NULL: the tracks of the graph are those of the file. */
  bool (*track)(const struct tk_trace *t, tk_id at, struct format_track *track);
  /* Returns a sink that writes the data which other formats embed for this format (format/carry.h). NULL: the format has
   * none. */
  struct sink *(*carrier)(struct out *out, const struct sink_options *opt);
  /* Merges embedded blocks into the sealed trace that contained them. Returns false if the blocks are damaged. */
  bool (*adopt)(struct tk_trace *t);
  /* Returns the number of passthrough blocks in a graph, that is, of data that only this format understands. NULL: the format
   * has none. */
  uint64_t (*n_passthrough)(const struct tk_trace *t);
  /* Returns the identities of processes that a merge must keep so that a file with several graphs can contain the passthrough data of
   * this one. NULL: such a file never can. */
  enum format_ids (*keeps_ids)(const struct tk_trace *t);
  /* Finds the first and the last time of passthrough data that is at least partly in the range. Such data is kept if the trace
   * is only cut in time. Returns false if there is none. NULL: a cut drops passthrough data. */
  bool (*passthrough_times)(const struct tk_trace *t, struct trace_cut range, struct trace_cut *found);
  /* Merges the passthrough data of `from` into that of `to`, after the graphs were joined with the given `ids`. A failure shows
   * in the memory of `to`. NULL: passthrough data belongs to one file and cannot be merged. */
  void (*join)(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
  /* Called after the last graph if `join` created a *state; frees the state, which is in the memory of `to`. */
  void (*join_finish)(struct tk_trace *to, void *state);
  /* Reads the whole input into an empty trace, without sealing. */
  bool (*read)(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
  /* Describes the contents of a trace for `info`, in memory of `keep`. NULL: there is nothing to add to the graph. */
  void (*inspect)(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
  /* Returns the properties of the first graph that a sink needs if it writes only a later graph. NULL: it needs none. */
  struct sink_start (*start)(const struct tk_trace *first);
  /* Returns a sink that writes to `out`, which the caller owns; NULL if memory runs out. */
  struct sink *(*writer)(struct out *out, const struct sink_options *opt);
};

enum { FORMAT_PEEK = 4096, FORMATS_MOST = 24 };

extern const struct format format_chrome, format_xplane, format_perfetto, format_speedscope, format_nsys, format_rocm, format_rocprof,
    format_rocprof_csv, format_ascend, format_torch_memory, format_pprof, format_cpuprofile, format_perf_script, format_folded,
    format_otlp, format_gecko;

/* By format: properties of the first of several graphs that the format's writer needs. */
struct format_starts {
  struct sink_start of[FORMATS_MOST];
};
void format_find_starts(struct format_starts *s, const struct tk_trace *first);
struct sink_start format_start(const struct format_starts *s, const struct format *f);

/* Prefix for the keys of args that were named fields of an event, in a trace that was loaded with TK_WITHOUT_RESTORING. */
#define FILED_FIELD "perfetto.field."

/* First character of a text in JSON args that represents a value of another type, in a trace that was loaded with
 * TK_WITHOUT_RESTORING. The second character is the type (u unsigned, p pointer, d double); the rest is the number. */
enum { FILED_VALUE = 1 };

/* A track as the file describes it, if it was loaded without restoring another format's tracks. */
enum format_track_kind { FORMAT_TRACK_NONE, FORMAT_TRACK_PROCESS, FORMAT_TRACK_THREAD, FORMAT_TRACK_NAMED, FORMAT_TRACK_COUNTER };
struct format_track {
  uint64_t id;       /* id in the file */
  tk_id parent;      /* the named track to which it belongs; 0 = none */
  tk_id thread;      /* the thread that this track represents, or to which it belongs; 0 = none */
  tk_id unit, description;
  int32_t rank;
  uint8_t kind;      /* enum format_track_kind; FORMAT_TRACK_NONE = not described by the file, or represented by another track */
  uint8_t ordering;  /* order of its children: 1 lexicographic, 2 chronological, 3 explicit; 0 = not recorded */
  bool used;         /* true if it or a track below it has events */
  bool global, has_rank;
  bool ranked;       /* true if the file sorts processes and threads by their ranks */
  bool apart;        /* true if viewers must not merge this track of a thread with the thread's other tracks */
  bool alone;        /* true if viewers must not merge it with siblings of the same name */
};

/* Returns the i-th row, or NULL past the last. */
const struct format *format_row(size_t i);
const struct format *format_by_name(const char *name);
/* Returns the format that a word of the user selects (see tk_format_of); NULL if there is none. */
const struct format *format_by_word(const char *word);
/* Returns the default output format, which is the first row. */
const struct format *format_default(void);
/* Finds a format by the extension of a path, not counting an extension such as ".gz"; NULL if none matches. */
const struct format *format_by_path(const char *path);
/* Writes the extension for files that a command names itself, including the extension of the compression, to `text` (64 bytes). */
const char *format_ending(const struct format *f, char *text);
/* Opens carriers for all formats but `f`, if f can store blocks. Returns false when memory runs out. */
bool format_carry(const struct format *f, const struct format_starts *starts, struct carry *c);
void format_carry_free(struct carry *c);
/* Lets each format adopt its blocks in a sealed trace. */
void format_adopt(struct tk_trace *t);
/* Counts as lost the passthrough data of the graph that a file of format f cannot store. c: the open carriers; may be NULL. */
void format_count_lost(const struct format *f, const struct carry *c, const struct tk_trace *t, struct sink *s);
/* Returns the format that matches best; NULL with an error that describes the content. `likely`: the result of an earlier look at the
 * same input, which is returned if it still matches at all; NULL = none. */
const struct format *format_detect(struct in *in, const char *path, const struct format *likely, struct tk_err *err);
/* Reads the whole input into an empty trace, without sealing. Refuses files that a text filter damaged. Returns false with err
 * on failure. */
bool format_read(const struct format *f, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

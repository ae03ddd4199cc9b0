/* format.h - the table of formats.
 *
 * A format is a row: how well the first bytes match it, how to read it into a graph, and how to write graphs. A new format
 * consists of its folder and one line in format.c; help, detection, completion and the tests of every reader with every writer
 * iterate over the table. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "carry.h"
#include "graph/join.h"
#include "graph/sink.h"
#include "graph/trace.h"
#include "io/in.h"
#include "io/out.h"
#include "mangled.h"

/* A machine of a trace with several machines. */
struct format_machine {
  uint32_t id;      /* id in the file; 0 = none */
  int64_t ahead_ns; /* lead of its clock over the clock of the machine without an id */
  tk_id name;       /* string of the graph */
};

struct format_track;
struct sqlite;

struct format {
  struct tk_format_info info;
  bool binary; /* not text: refused on a terminal */
  bool packed; /* files that a command names itself are compressed */
  bool needs_start; /* no event may precede its time base: a merge must know the earliest before it writes */
  bool own_order; /* its viewers order processes by type, not by sort indices */
  bool in_parts; /* its sinks accept parts written by other processes (graph/sink.h) */
  bool in_manifest; /* Perfetto can read it, so a manifest may list such files */
  const char *runs_in; /* path below a logdir where its viewers look for run folders with a file per host; NULL = none */
  int gzip_level; /* default compression level; 0 = the default of every output */
  /* Returns the bits of structure verified in the first n bytes (at most FORMAT_PEEK); 0 = another format. */
  unsigned (*bid)(const uint8_t *p, size_t n);
  /* Formats that are SQLite databases all bid on its header; the tables tell them apart. NULL = the bid decides. */
  bool (*is_database)(const struct sqlite *db);
  /* Protobuf formats: field types of the messages, used to recognise damage by a text filter. NULL = text. */
  const struct pb_shape *shape;
  /* Judging by its first bytes, does the input contain events? NULL: always. */
  bool (*is_trace)(struct in *in);
  /* Returns the rank stated near the start; -1 = none. NULL = never stated. */
  int64_t (*stated_rank)(struct in *in);
  /* Returns the process of the first event; -1 = unknown. NULL = not found without reading all. */
  int64_t (*stated_process)(struct in *in);
  /* Returns the clock of a trace of this format in the terms of Perfetto's manifest; NULL if the manifest has to assume one. */
  const char *(*clock_name)(const struct tk_trace *t);
  /* Describes the `at`-th machine of a trace; false past the last. NULL = the format has no machines. */
  bool (*machine)(const struct tk_trace *t, uint32_t at, struct format_machine *m);
  /* Describes track `at` of a trace that was loaded without restoring; false if it was loaded otherwise. NULL = tracks of the
   * graph are those of the file. */
  bool (*track)(const struct tk_trace *t, tk_id at, struct format_track *track);
  /* Returns a sink that writes the data that other formats carry for this one. NULL = none. */
  struct sink *(*carrier)(struct out *out, const struct sink_options *opt);
  /* Merges blocks into the sealed trace that contained them. Returns false if they are damaged. */
  bool (*adopt)(struct tk_trace *t);
  /* Returns the number of passthrough blocks of this format in a graph; NULL = none. */
  uint64_t (*n_passthrough)(const struct tk_trace *t);
  /* Finds the first and the last time of passthrough data that has a part in the range, which is kept if the trace is only cut
   * in time. Returns false if there is none. NULL = a cut drops it. */
  bool (*passthrough_times)(const struct tk_trace *t, struct trace_cut range, struct trace_cut *found);
  /* Merges the passthrough of `from` into the passthrough of `to`, after the graphs were joined with the given `ids`. A failure
   * sticks in the memory of `to`. NULL = passthrough belongs to one file and cannot be merged. */
  void (*join)(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
  /* Called after the last graph if join created a *state, in the memory of `to`; frees it. */
  void (*join_finish)(struct tk_trace *to, void *state);
  /* Reads the whole input into an empty trace, without sealing. */
  bool (*read)(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
  /* Describes the contents of a trace for `info`, in memory of `keep`; NULL = nothing beyond the graph. */
  void (*inspect)(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
  /* Returns the properties of the first graph that a sink needs to write a later one by itself; NULL = none. */
  struct sink_start (*start)(const struct tk_trace *first);
  /* Returns a sink that writes to out, which it does not own; NULL when out of memory. */
  struct sink *(*writer)(struct out *out, const struct sink_options *opt);
};

enum { FORMAT_PEEK = 4096, FORMATS_MOST = 8 };

extern const struct format format_chrome, format_xplane, format_perfetto, format_speedscope, format_nsys, format_rocm,
    format_ascend;

/* By row: properties of the first of several graphs that each format's writer needs. */
struct format_starts {
  struct sink_start of[FORMATS_MOST];
};
void format_find_starts(struct format_starts *s, const struct tk_trace *first);
struct sink_start format_start(const struct format_starts *s, const struct format *f);

/* Prefix of the keys of args that are fields of an event with a name of their own, in such a trace. */
#define FILED_FIELD "perfetto.field."

/* First character of text in JSON of args that stands for a value of another type, in such a trace. The next one is its type: u
 * unsigned, p pointer, d double; the rest is the number. */
enum { FILED_VALUE = 1 };

/* A track as the file describes it, if it was loaded without restoring another format's. */
enum format_track_kind { FORMAT_TRACK_NONE, FORMAT_TRACK_PROCESS, FORMAT_TRACK_THREAD, FORMAT_TRACK_NAMED, FORMAT_TRACK_COUNTER };
struct format_track {
  uint64_t id;       /* as in the file */
  tk_id parent;      /* named track that it belongs to; 0 = none */
  tk_id thread;      /* thread that it is or belongs to; 0 = none */
  tk_id unit, description;
  int32_t rank;
  uint8_t kind;      /* enum format_track_kind; FORMAT_TRACK_NONE: another track represents it, if the file describes it */
  uint8_t ordering;  /* of its children, as in the file: 1 lexicographic, 2 chronological, 3 explicit; 0 = not stated */
  bool used;         /* it has events, or a track below it has */
  bool global, has_rank;
  bool ranked;       /* the file orders processes and threads by their ranks */
  bool alone;        /* not shown together with its siblings of the same name */
};

/* Returns the i-th row, or NULL past the last. */
const struct format *format_row(size_t i);
const struct format *format_by_name(const char *name);
/* Returns the format that a user's word selects, as in tk_format_of; NULL if none. */
const struct format *format_by_word(const char *word);
/* Returns the default output format: the first row. */
const struct format *format_default(void);
/* Finds a format by the extension of a path, ignoring the extension of a compression; NULL if none matches. */
const struct format *format_by_path(const char *path);
/* Writes the extension of files that a command names itself, including compression, to `text`, which has 64 bytes. */
const char *format_ending(const struct format *f, char *text);
/* Opens carriers for all formats but `f`, if f can store blocks. Returns false when memory runs out. */
bool format_carry(const struct format *f, const struct format_starts *starts, struct carry *c);
void format_carry_free(struct carry *c);
/* Passes the blocks of a sealed trace to their formats. */
void format_adopt(struct tk_trace *t);
/* Counts the passthrough of the graph that a file of format f, with or without carriers, cannot store. */
void format_count_lost(const struct format *f, const struct carry *c, const struct tk_trace *t, struct sink *s);
/* Returns the format with the best bid; NULL with an error that describes the content. */
const struct format *format_detect(struct in *in, const char *path, struct tk_err *err);
/* Reads the whole input into an empty trace, without sealing; refuses files damaged by a text filter. */
bool format_read(const struct format *f, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

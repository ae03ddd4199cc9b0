/* format.h - the table of formats.
 *
 * A format is a row: how much of it a beginning of bytes looks like, how to read it into a graph, how to write graphs out.  A new
 * format is its two files and one line in format.c; help, detection, completion and the tests of every reader against every writer
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

/* One of the machines that a trace tells apart. */
struct format_machine {
  uint32_t id;      /* as the file has it; 0 = none */
  int64_t ahead_ns; /* of its clock before that of the machine without an id */
  tk_id name;       /* string of the graph */
};

struct format {
  struct tk_format_info info;
  bool binary; /* not text: a terminal is no place for it */
  bool packed; /* files that a command names itself are compressed */
  bool needs_start; /* no event may be before the time that it counts from: a merge must know of the earliest before it writes */
  bool own_order; /* its viewers order processes by what they are, not by sort indices */
  bool in_parts; /* its sinks take what others wrote of a graph (graph/sink.h) */
  bool in_manifest; /* Perfetto reads it, so that its manifest can name such files */
  const char *runs_in; /* where below a logdir its viewers look for folders of runs, which hold a file for each host; NULL = nowhere */
  int gzip_level; /* where none is asked for; 0 = that of every output */
  /* Bits of structure verified in the first n bytes (of up to FORMAT_PEEK); 0 = not mine. */
  unsigned (*bid)(const uint8_t *p, size_t n);
  /* Of a protobuf: what its messages look like, by which it is told that a text filter damaged a file.  NULL = it is text. */
  const struct pb_shape *shape;
  /* Has what bids events, as far as its beginning tells?  NULL = whatever bids is a trace. */
  bool (*is_trace)(struct in *in);
  /* The rank that the beginning states; -1 = none.  NULL = never. */
  int64_t (*stated_rank)(struct in *in);
  /* The clock of a trace of this format in the words of Perfetto's manifest; NULL where the manifest has to assume one. */
  const char *(*clock_name)(const struct tk_trace *t);
  /* The `at`-th machine of a trace that was read, false behind the last; NULL = it tells none apart. */
  bool (*machine)(const struct tk_trace *t, uint32_t at, struct format_machine *m);
  /* A sink that writes of graphs what other formats carry for this one.  NULL = it asks for nothing to be carried. */
  struct sink *(*carrier)(struct out *out, const struct sink_options *opt);
  /* Makes what blocks say part of the sealed trace that was read with them.  False: they are damaged. */
  bool (*adopt)(struct tk_trace *t);
  /* How many blocks of the passthrough of this format a graph holds; NULL = none. */
  uint64_t (*n_passthrough)(const struct tk_trace *t);
  /* The passthrough of this format that `from` holds joins that of `to`, which the graph has joined already as `ids` say.  Failure
   * sticks in the memory of `to`.  NULL = its passthrough is of one file and cannot be joined. */
  void (*join)(struct tk_trace *to, const struct tk_trace *from, const struct join_ids *ids, void **state);
  /* No more graphs will join.  Called where join has made a *state of the memory of `to`, which it frees. */
  void (*join_finish)(struct tk_trace *to, void *state);
  /* Reads the input to its end into an empty trace, without sealing. */
  bool (*read)(struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);
  /* What a trace that was read consists of, for `info`; NULL = nothing more than the graph says.  Memory is of `keep`. */
  void (*inspect)(const struct tk_trace *t, struct tk_inspection *p, struct arena *keep);
  /* What a sink has to know of the first of several graphs to write another one alone; NULL = nothing. */
  struct sink_start (*start)(const struct tk_trace *first);
  /* A sink that writes to out, which it does not own.  NULL when out of memory. */
  struct sink *(*writer)(struct out *out, const struct sink_options *opt);
};

enum { FORMAT_PEEK = 4096, FORMATS_MOST = 8 };

extern const struct format format_chrome, format_xplane, format_perfetto, format_speedscope;

/* What writers of each format, by row, have to know of the first of several graphs. */
struct format_starts {
  struct sink_start of[FORMATS_MOST];
};
void format_find_starts(struct format_starts *s, const struct tk_trace *first);
struct sink_start format_start(const struct format_starts *s, const struct format *f);

/* The i-th row, NULL behind the last. */
const struct format *format_row(size_t i);
const struct format *format_by_name(const char *name);
/* The format that somebody asks for, as tk_format_of takes it; NULL if that is none. */
const struct format *format_by_word(const char *word);
/* What commands write that are not told: the first row. */
const struct format *format_default(void);
/* By the ending of a path, that of a compression set aside; NULL if none claims it. */
const struct format *format_by_path(const char *path);
/* The ending of files that a command names itself, compression included, into at least 64 bytes. */
const char *format_ending(const struct format *f, char *text);
/* Carriers of all formats but `f` itself, if f has a place for what they write.  False when memory runs out. */
bool format_carry(const struct format *f, const struct format_starts *starts, struct carry *c);
void format_carry_free(struct carry *c);
/* Gives the blocks that were read with a sealed trace to their formats. */
void format_adopt(struct tk_trace *t);
/* Counts the passthrough of the graph that a file of format f, with or without carriers, cannot hold. */
void format_count_lost(const struct format *f, const struct carry *c, const struct tk_trace *t, struct sink *s);
/* The best bid on the input; NULL with an error that says what the content looks like instead. */
const struct format *format_detect(struct in *in, const char *path, struct tk_err *err);
/* Reads the input to its end into an empty trace, without sealing; refuses what a text filter damaged. */
bool format_read(const struct format *f, struct in *in, struct tk_trace *t, const struct tk_load_options *opt, struct tk_err *err);

#endif

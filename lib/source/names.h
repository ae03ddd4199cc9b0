/* names.h - expands the names of a command line into files and members of archives, which opening.h opens.
 *
 *     -, a pipe           a stream                             treated as a file; an archive is copied to disk first
 *     trace.json.gz       a file                               one entry
 *     logs/               a folder, at any depth               its files, classified by rundir.h
 *     logs.zip            tar, zip, 7z, detected by content    its members, classified by rundir.h
 *     logs.zip:rank*      some of its members                  by name, folder or pattern
 *     @list.txt           names, one per line                  the inputs they name
 *     rank*.json          a pattern the shell did not expand   the files it matches
 *     s3://bucket/run/    an address, or a folder behind one   what the caller's functions read (address.h)
 *
 * A name that yields no input remains as an entry that fails to open; callers report the error or leave out the entry. Files
 * are open only while they are read, so there may be thousands. */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

#include "io/archive.h"
#include "rundir.h"

/* Result of inspecting an entry. CUT: a trace that ends early, looked for only if complete_only. FAILED: a system error prevented
 * the inspection. */
enum source_look { LOOK_NONE, LOOK_TRACE, LOOK_CUT, LOOK_EMPTY, LOOK_NO_TRACE, LOOK_DAMAGED, LOOK_FAILED };

struct source_entry {
  const char *name;   /* name in messages, and on a command line: path, or archive:member */
  const char *path;   /* path of the file, or of its archive */
  uint64_t size;      /* stored size; UINT64_MAX = unknown */
  uint32_t origin;    /* index of its origin (the name that the user gave) */
  uint32_t member;    /* index in the archive */
  uint32_t piece;     /* next piece of the same trace, read as one file with this entry; UINT32_MAX = none */
  struct in *held;    /* an open stream that can be read only once */
  bool once;
  bool remote;        /* the path is an address, whose stream can be opened again */
  int spool;          /* descriptor of the unnamed file that contains a copy of the stream, or -1 */
  enum source_look look;
  const char *format; /* set if the entry is a trace */
  const char *why;    /* reason why the entry is not a trace */
  int64_t rank;       /* rank that the content states; -1 = none */
  const char *ranks;  /* ranks of a merged file, such as "0-2, 7"; NULL = unknown */
  int64_t pid;        /* process of the first event; -1 = unknown */
};

enum origin_kind { ORIGIN_FILE, ORIGIN_FOLDER, ORIGIN_ARCHIVE };

struct source_origin {
  enum origin_kind kind;
  const char *name;
  const char *path;     /* path of the archive, if it differs from the given name */
  int spool;            /* descriptor of the unnamed file that contains a piped archive, or -1 */
  const char *damage;   /* damage found while listing the archive; NULL = none */
  const char *remark;   /* note about the archive; NULL = none */
  struct tk_err failed; /* reason why the name yields no inputs */
  uint32_t first, n;    /* range of its entries */
  uint32_t operand;     /* index of the name, among those passed to source_add, that yielded the origin */
};

struct source {
  struct mem mem;
  struct source_entry *entries;
  struct rundir_file *places; /* by index of the entry */
  struct source_origin *origins;
  uint32_t n_entries, cap_entries, cap_places, n_origins, cap_origins;
  uint32_t n_operands; /* number of names passed to source_add so far */
  struct rundir rundir;
  uint64_t max_size;
  bool complete_only; /* read files to their end when they are inspected, and prefer complete files */
  const struct tk_fetch *fetch; /* reads addresses; NULL = none can be read */
  uint32_t waiting;  /* entry whose open stream waits to be read (source_hold); UINT32_MAX = none */
  struct mem held; /* memory account of entries that are kept open */
  /* Inspects the first bytes of an entry, and sets its members look, format and why. */
  void (*look)(void *arg, struct source *s, uint32_t entry, struct in *in, struct tk_err *err);
  void *arg;
  struct tk_progress progress;
  struct arc *archive; /* the archive that is open, NULL = none */
  const char *archive_path;
};

void source_init(struct source *s);
/* Expands a name. Inspects members of archives while listing them; source_look inspects other entries. Returns false only on
 * an interrupt or when memory runs out; after other errors, an entry fails to open. */
bool source_add(struct source *s, const char *name, struct tk_err *err);

const char *source_text(struct source *s, const char *text);

#endif

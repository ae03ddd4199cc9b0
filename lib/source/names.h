/* names.h - expands the names of a command line into files and members of archives, and opens them.
 *
 *     -, a pipe           a stream                             as a file with its content; an archive is copied to disk first
 *     trace.json.gz       a file                               one entry
 *     logs/               a folder, at any depth               its files, classified by rundir.h
 *     logs.zip            tar, zip, 7z, detected by content    its members, classified by rundir.h
 *     logs.zip:rank*      some of its members                  by name, folder or pattern
 *     @list.txt           names, one per line                  the inputs they name
 *     rank*.json          a pattern the shell did not expand   the files it matches
 *
 * A name without inputs remains as an entry that fails to open; callers report it or leave it out. Files are open only while
 * they are read, so there may be thousands. */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

#include "io/archive.h"
#include "rundir.h"

/* Result of inspecting the first bytes of an entry. FAILED: a system error, not a property of the file. */
enum source_look { LOOK_NONE, LOOK_TRACE, LOOK_EMPTY, LOOK_NO_TRACE, LOOK_DAMAGED, LOOK_FAILED };

struct source_entry {
  const char *name;   /* for messages and for naming it again: path, or archive:member */
  const char *path;   /* path of the file, or of its archive */
  uint64_t size;      /* stored size; UINT64_MAX = unknown */
  uint32_t origin;    /* index of its origin */
  uint32_t member;    /* index in the archive */
  uint32_t piece;     /* entry that continues this one, read as one file with it; UINT32_MAX = none */
  struct in *held;    /* already opened, for a stream that can be read only once */
  bool once;
  enum source_look look;
  const char *format; /* set if it is a trace */
  const char *why;    /* reason, if it is not a trace */
  int64_t rank;       /* rank stated near the start; -1 = none */
  int64_t pid;        /* process of the first event; -1 = unknown */
};

enum origin_kind { ORIGIN_FILE, ORIGIN_FOLDER, ORIGIN_ARCHIVE };

struct source_origin {
  enum origin_kind kind;
  const char *name;
  const char *path;     /* path of the archive, if different from its name */
  int spool;            /* unnamed file that holds a piped archive, or -1 */
  const char *damage;   /* damage found while listing the archive; NULL = none */
  const char *remark;   /* remark about the archive; NULL = none */
  struct tk_err failed; /* reason why it has no inputs */
  uint32_t first, n;    /* range of its entries */
};

struct source {
  struct mem mem;
  struct source_entry *entries;
  struct rundir_file *places; /* by index of the entry */
  struct source_origin *origins;
  uint32_t n_entries, cap_entries, cap_places, n_origins, cap_origins;
  struct rundir rundir;
  uint64_t max_size;
  struct mem held; /* pays for entries that are kept open */
  /* Inspects the first bytes of an entry: sets look, format and why. */
  void (*look)(void *arg, struct source *s, uint32_t entry, struct in *in, struct tk_err *err);
  void *arg;
  struct tk_progress progress;
  struct arc *archive; /* currently open archive */
  const char *archive_path;
};

/* source_add inspects members of archives while listing them; source_look inspects other entries on request. They return false
 * on an interrupt or when memory runs out; all other errors become entries that fail. */
void source_init(struct source *s);
bool source_add(struct source *s, const char *name, struct tk_err *err);
bool source_look(struct source *s, uint32_t entry, struct tk_err *err);

/* Opens an entry, decompressed or raw. With `ahead`, a thread reads it. Entries of one archive must be opened one at a time,
 * and are fastest in their order. `mem` as for in_open. */
struct in *source_open(struct source *s, uint32_t entry, bool ahead, struct mem *mem, struct tk_err *err);
struct in *source_open_raw(struct source *s, uint32_t entry, struct mem *mem, struct tk_err *err);

/* Makes a stream (a pipe) readable more than once by copying it to an unnamed file. Errors are reported when the entry is
 * opened; returns false only on an interrupt. */
bool source_keep(struct source *s, uint32_t entry, struct tk_err *err);

const char *source_text(struct source *s, const char *text);
void source_free(struct source *s);

#endif

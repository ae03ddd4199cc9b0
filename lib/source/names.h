/* names.h - what a command line named, taken apart into files and members of archives, and how to open each.
 *
 *     -, a pipe           what comes                           as what a file of it would be; an archive goes to disk first
 *     trace.json.gz       a file                               one entry
 *     logs/               a folder, at any depth above files   its files, as rundir.h tells them
 *     logs.zip            tar, zip, 7z, by content             its members, as rundir.h tells them
 *     logs.zip:rank*      some of them                         by name, folder or pattern
 *     @list.txt           names, one a line                    what they name
 *     rank*.json          a pattern that no shell expanded     what it matches
 *
 * A name that yields nothing stays as an entry whose opening fails: whoever reads it says so, or leaves it out.  Files are open
 * only while they are read, so there may be thousands. */
#ifndef SOURCE_NAMES_H
#define SOURCE_NAMES_H

#include "io/archive.h"
#include "rundir.h"

/* What a look at the first bytes told; the rest takes reading.  FAILED: the system did, which is no fault of the file. */
enum source_look { LOOK_NONE, LOOK_TRACE, LOOK_EMPTY, LOOK_NO_TRACE, LOOK_DAMAGED, LOOK_FAILED };

struct source_entry {
  const char *name;   /* for messages, and to name it again: path, or archive:member */
  const char *path;   /* of the file, or of the archive */
  uint64_t size;      /* as it lies there; UINT64_MAX = not known */
  uint32_t origin;    /* what it came from */
  uint32_t member;    /* its place in the archive */
  struct in *held;    /* of what can be read once: opened already */
  bool once;
  enum source_look look;
  const char *format; /* if it is a trace */
  const char *why;    /* if it is none */
  int64_t rank;       /* that it states at its beginning; -1 = none */
};

enum origin_kind { ORIGIN_FILE, ORIGIN_FOLDER, ORIGIN_ARCHIVE };

struct source_origin {
  enum origin_kind kind;
  const char *name;
  const char *path;     /* of the archive, if that is not its name */
  int spool;            /* file without a name that a piped archive was written to, or -1 */
  const char *damage;   /* of an archive, as far as it was listed; NULL = none */
  const char *remark;   /* about it; NULL = none */
  struct tk_err failed; /* why it yields nothing */
  uint32_t first, n;    /* entries */
};

struct source {
  struct mem mem;
  struct source_entry *entries;
  struct rundir_file *places; /* of the entries, by index */
  struct source_origin *origins;
  uint32_t n_entries, cap_entries, cap_places, n_origins, cap_origins;
  struct rundir rundir;
  uint64_t max_size;
  struct mem held; /* pays for entries that are held open */
  /* Looks at the first bytes of an entry: sets look, format and why. */
  void (*look)(void *arg, struct source *s, uint32_t entry, struct in *in, struct tk_err *err);
  void *arg;
  struct tk_progress progress;
  struct arc *archive; /* the one that is open */
  const char *archive_path;
};

/* Members of archives are looked at while they are listed, other entries when source_look asks.  False on an interrupt or when
 * memory has run out; everything else is an entry that fails. */
void source_init(struct source *s);
bool source_add(struct source *s, const char *name, struct tk_err *err);
bool source_look(struct source *s, uint32_t entry, struct tk_err *err);

/* The content of an entry, decompressed, or as it lies there.  With `ahead`, by a thread of its own.  Entries of one archive are
 * opened one at a time, quickest in their order.  `mem` as for in_open. */
struct in *source_open(struct source *s, uint32_t entry, bool ahead, struct mem *mem, struct tk_err *err);
struct in *source_open_raw(struct source *s, uint32_t entry, struct mem *mem, struct tk_err *err);

/* What can be read once (a pipe) can be read again from now on: it goes to a file without a name.  If it fails on the way there,
 * that is told when it is opened; false only on an interrupt. */
bool source_keep(struct source *s, uint32_t entry, struct tk_err *err);

const char *source_text(struct source *s, const char *text);
void source_free(struct source *s);

#endif

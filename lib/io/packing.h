/* packing.h - the compressions and archives that files are packed in: the one list of their endings and first bytes. */
#ifndef IO_PACKING_H
#define IO_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packing {
  const char *name;   /* "zstd" */
  const char *ending; /* ".zst" */
  const char *magic;
  size_t n_magic;
  bool written; /* out.h can write it; all are read */
};

/* Rows that somebody asks for by name; the rest follow. */
enum { PACKING_GZIP, PACKING_ZSTD };

/* The i-th row; NULL past the end. */
const struct packing *packing_row(size_t i);
/* By the end of the first n bytes of a path, or by the first n bytes of a file; NULL if it is not packed. */
const struct packing *packing_of_path(const char *path, size_t n);
const struct packing *packing_of_bytes(const uint8_t *p, size_t n);

/* What the first bytes of an archive say it is; of a tar, ARCHIVE_HEAD of them are needed. */
enum { ARCHIVE_HEAD = 512 };
enum archive_kind { ARCHIVE_NONE, ARCHIVE_ZIP, ARCHIVE_TAR, ARCHIVE_7Z };
enum archive_kind archive_kind(const uint8_t *p, size_t n);

/* Part of a path that no trace is looked for in: ".git", "._x", "__MACOSX". */
bool archive_is_junk(const char *name);

#endif

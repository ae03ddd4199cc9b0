/* packing.h - the supported compressions and archives, with their extensions and magic numbers. */
#ifndef IO_PACKING_H
#define IO_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packing {
  const char *name;   /* such as "zstd" */
  const char *ending; /* such as ".zst" */
  const char *magic;
  size_t n_magic;
  bool written; /* true if output supports it (out.h); input supports all of them */
};

/* Indices of the first table rows, which code uses directly; the other rows have no names. */
enum { PACKING_GZIP, PACKING_ZSTD };

/* Returns the i-th row, or NULL past the end. */
const struct packing *packing_row(size_t i);
/* Finds the compression by the end of a path of n bytes, or by the first n bytes of a file; NULL if uncompressed. */
const struct packing *packing_of_path(const char *path, size_t n);
const struct packing *packing_of_bytes(const uint8_t *p, size_t n);

/* Detects an archive by its first bytes; tar needs ARCHIVE_HEAD of them. */
enum { ARCHIVE_HEAD = 512 };
enum packing_archive_kind { ARCHIVE_NONE, ARCHIVE_ZIP, ARCHIVE_TAR, ARCHIVE_7Z };
enum packing_archive_kind packing_archive_kind(const uint8_t *p, size_t n);

/* True for parts of a path below which there are no traces: ".git", "._x", "__MACOSX". */
bool packing_is_junk(const char *name);

#endif

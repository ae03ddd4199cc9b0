/* packing.c - see packing.h. */
#include "packing.h"

#include <string.h>

#include "base/text.h"

static const struct packing PACKINGS[] = {
    {"gzip", ".gz", "\x1f\x8b", 2, true},
    {"zstd", ".zst", "\x28\xb5\x2f\xfd", 4, true},
    {"bzip2", ".bz2", "BZh", 3, false},
    {"xz", ".xz", "\xfd" "7zXZ", 6, false},
};

const struct packing *packing_row(size_t i) { return i < sizeof PACKINGS / sizeof PACKINGS[0] ? &PACKINGS[i] : NULL; }

const struct packing *packing_of_path(const char *path, size_t n) {
  const struct packing *p;
  for (size_t i = 0; (p = packing_row(i)) != NULL; i++) {
    size_t m = strlen(p->ending);
    if (n > m && ascii_equal(path + n - m, p->ending, m)) return p;
  }
  return NULL;
}

const struct packing *packing_of_bytes(const uint8_t *p, size_t n) {
  const struct packing *row;
  for (size_t i = 0; (row = packing_row(i)) != NULL; i++)
    if (n >= row->n_magic && memcmp(p, row->magic, row->n_magic) == 0) return row;
  return NULL;
}

/* ---- archives ---- */

enum { TAR_SUM = 148, TAR_SUM_SIZE = 8 };

/* True for a tar header. The variants of tar have no common magic number, but the bytes of a header add up to a number stored
 * in it. */
static bool is_tar(const uint8_t *p, size_t n) {
  uint32_t stated = 0, sum = 0;
  size_t i = TAR_SUM;
  if (n < ARCHIVE_HEAD || p[0] == 0) return false;
  while (i < TAR_SUM + TAR_SUM_SIZE && p[i] == ' ') i++;
  if (i == TAR_SUM + TAR_SUM_SIZE || p[i] < '0' || p[i] > '7') return false;
  for (; i < TAR_SUM + TAR_SUM_SIZE && p[i] >= '0' && p[i] <= '7'; i++) stated = stated * 8 + (p[i] - '0');
  for (i = 0; i < ARCHIVE_HEAD; i++) sum += i - TAR_SUM < TAR_SUM_SIZE ? ' ' : p[i];
  return sum == stated;
}

enum packing_archive_kind packing_archive_kind(const uint8_t *p, size_t n) {
  if (n >= 4 && p[0] == 'P' && p[1] == 'K' && ((p[2] == 3 && p[3] == 4) || (p[2] == 5 && p[3] == 6) || (p[2] == 7 && p[3] == 8)))
    return ARCHIVE_ZIP;
  if (n >= 6 && memcmp(p, "7z\xbc\xaf\x27\x1c", 6) == 0) return ARCHIVE_7Z;
  return is_tar(p, n) ? ARCHIVE_TAR : ARCHIVE_NONE;
}

bool packing_is_junk(const char *name) {
  for (const char *p = name; p; p = strchr(p, '/')) {
    p += *p == '/';
    if (*p == '.' && p[1] && p[1] != '/' && !(p[1] == '.' && (!p[2] || p[2] == '/'))) return true;
    if (strncmp(p, "__MACOSX", 8) == 0 && (!p[8] || p[8] == '/')) return true;
  }
  return false;
}

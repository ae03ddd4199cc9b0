/* stranger.c - see stranger.h. Rows are tried in order, after leading whitespace if they allow it. */
#include "stranger.h"

#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

struct stranger {
  const char *bytes; /* first bytes of the file */
  size_t n;
  const char *what;
};

static const struct stranger TEXTS[] = {
    {"version https://git-lfs", 23, "a Git LFS pointer instead of the file; run 'git lfs pull'"},
    {"<!doctype html", 14, "an HTML page, such as an error or a login page; download the file again"},
    {"<html", 5, "an HTML page, such as an error or a login page; download the file again"},
    {"<?xml", 5, "an XML document (an error page?)"},
    {"<", 1, "HTML or XML (an error page?)"},
    {"Traceback (most recent", 22, "a Python traceback; the program that should have written the trace failed"}};

static const struct stranger BINARIES[] = {
    {"\xff\xfe\0\0", 4, "UTF-32 text; save it as UTF-8"},
    {"\0\0\xfe\xff", 4, "UTF-32 text; save it as UTF-8"},
    {"{\0\0\0", 4, "UTF-32 text; save it as UTF-8"},
    {"{\0", 2, "UTF-16 text; save it as UTF-8"},
    {"[\0", 2, "UTF-16 text; save it as UTF-8"},
    {"\0{", 2, "UTF-16 text; save it as UTF-8"},
    {"\0[", 2, "UTF-16 text; save it as UTF-8"},
    {"PK\3\4", 4, "a zip archive"},
    {"PERFILE2", 8, "a Linux perf recording; 'perf script' converts it to text that profiler.firefox.com opens"},
    {"SQLite format 3", 16, "an SQLite database, such as exported by nsys or rocprof; sqlite3 opens it"},
    {"\x89PNG", 4, "an image"},
    {"%PDF", 4, "a PDF document"},
    {"\x7f" "ELF", 4, "a program or a library"},
    {"\x80\4\x95", 3, "a Python pickle, such as a PyTorch memory snapshot, which pytorch.org/memory_viz opens"},
    {"\x80\2", 2, "a Python pickle, such as a PyTorch memory snapshot, which pytorch.org/memory_viz opens"}};

/* By file name, because their first bytes are not documented. */
static const struct {
  const char *ending, *what;
} ENDINGS[] = {{".nsys-rep", "an Nsight Systems report; nsys-ui opens it"},
               {".qdrep", "an Nsight Systems report; nsys-ui opens it"},
               {".ncu-rep", "an Nsight Compute report; ncu-ui opens it"},
               {".gputrace", "an Xcode GPU capture"},
               {".prof", "a profile rather than a timeline, from cProfile (python -m pstats) or gperftools (pprof)"},
               {".pt", "a PyTorch checkpoint or pickle"},
               {".pkl", "a Python pickle"}};

/* A record: 8 bytes of length, 4 of checksum, then an Event that starts with its wall time, followed by "brain.Event:2". */
static int is_tfevents(const uint8_t *p, size_t n) {
  for (size_t i = 12; i + 12 <= n && i < 64; i++)
    if (memcmp(p + i, "brain.Event:", 12) == 0) return 1;
  return 0;
}

static const char *by_bytes(const struct stranger *rows, size_t n_rows, const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n_rows; i++)
    if (n >= rows[i].n && ascii_equal((const char *)p, rows[i].bytes, rows[i].n)) return rows[i].what;
  return NULL;
}

static const char *by_name(const char *path) {
  const size_t n = path ? strlen(path) : 0;
  for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
    const size_t m = strlen(ENDINGS[i].ending);
    if (n > m && ascii_equal(path + n - m, ENDINGS[i].ending, m)) return ENDINGS[i].what;
  }
  return NULL;
}

/* Looks for bytes that no text contains next to bytes that a filter wrote. */
static bool is_replaced_binary(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < 0x20 && !(p[i] >= '\t' && p[i] <= '\r')) return utf8_is_replaced(p, n);
  return false;
}

const char *stranger_name(const uint8_t *p, size_t n, const char *path) {
  size_t blank = 0;
  const char *what = by_bytes(BINARIES, sizeof BINARIES / sizeof BINARIES[0], p, n);
  if (what) return what;
  if (is_replaced_binary(p, n))
    return "binary data damaged by a text filter (bytes above 0x7f were replaced by U+FFFD, EF BF BD); transfer the file again "
           "in binary mode";
  if (is_tfevents(p, n)) return "a TensorBoard event file; traces are in plugins/profile next to it";
  while (blank < n && p[blank] && strchr(" \t\r\n", p[blank])) blank++;
  if (blank == n) return "only whitespace";
  what = by_bytes(TEXTS, sizeof TEXTS / sizeof TEXTS[0], p + blank, n - blank);
  return what ? what : by_name(path);
}

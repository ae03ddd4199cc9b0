/* help.h - what the tests of the graph share: traces from text, in chunks and with faults; their dump; what is written of them.
 *
 * Everything here asserts that it works; what may fail says so.  Limits of memory and leaks are watched by the callers. */
#ifndef HELP_H
#define HELP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/seal.h"
#include "graph/sink.h"
#include "graph/trace.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct bytes {
  uint8_t *p;
  size_t n;
};

/* How bytes reach the reader. */
struct feed {
  size_t chunk;   /* at most so many at a time; 0 = all at once */
  size_t fail_at; /* EIO behind so many bytes, plus one; 0 = never */
  bool no_templates;
  bool strict;
  uint64_t max_memory;
  const char *format; /* NULL = json */
  unsigned threads;   /* 0 = one */
  size_t share;       /* of JSON that a thread reads at a time; 0 = as usual */
};

/* The trace, checked, or NULL and the error.  Nothing of it refers to `p` afterwards. */
struct tk_trace *feed_bytes(const void *p, size_t n, struct feed how, struct tk_err *err);
/* The same for text that must load. */
struct tk_trace *feed_text(const char *text);

/* Canonical text; the caller frees it. */
char *dump_of(const struct tk_trace *t);
/* The dump of what a feed gives, or "error <code>"; the caller frees it. */
char *dump_fed(const void *p, size_t n, struct feed how);

/* The graph as Chrome JSON. */
struct bytes written(const struct tk_trace *t, bool pretty);
/* Is it one JSON value to the letter of RFC 8259, in valid UTF-8 and without surrogate escapes? */
bool strict_json(const uint8_t *p, size_t n);

/* A whole file, decompressed; p == NULL if it cannot be. */
struct bytes read_whole(const char *path);
/* Every file under $FIXTURES/<folder> that can be decompressed and is at most `most` bytes long. */
void each_fixture(const char *folder, size_t most, void (*visit)(const char *path, struct bytes b));
bool long_run(void);

/* A text, one of whose bytes is at fault, is shown when `ok` is false. */
void expect(bool ok, const char *where, const char *got, const char *wanted);

#endif

/* help.h - helpers of the graph tests: build traces from text, in chunks and with faults; dump them; write them.
 *
 * All helpers assert that they succeed, unless their comment states otherwise. Callers check memory limits and leaks. */
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

/* How bytes are fed to the reader. */
struct feed {
  size_t chunk;   /* most bytes per read; 0 = all at once */
  size_t fail_at; /* EIO after fail_at - 1 bytes; 0 = never */
  bool no_templates;
  bool strict;
  uint64_t max_memory;
  const char *format; /* NULL = json */
  unsigned threads;   /* 0 = one */
  size_t share;       /* bytes of JSON per thread and chunk; 0 = the default */
};

/* Returns the checked trace, or NULL with err set. The trace does not refer to `p`. */
struct tk_trace *feed_bytes(const void *p, size_t n, struct feed how, struct tk_err *err);
/* Reads a text of Chrome JSON, which must load. */
struct tk_trace *feed_text(const char *text);

/* Returns the dump of the graph (tk_dump); the caller frees it. */
char *dump_of(const struct tk_trace *t);
/* Returns the dump of the fed bytes, or "error <code>"; the caller frees it. */
char *dump_fed(const void *p, size_t n, struct feed how);

/* Returns the graph as Chrome JSON. */
struct bytes written(const struct tk_trace *t, bool pretty);
/* True if the bytes are exactly one JSON value by RFC 8259, in valid UTF-8 and without escaped surrogates. */
bool strict_json(const uint8_t *p, size_t n);

/* Returns the decompressed content of a file; p == NULL on failure. */
struct bytes read_whole(const char *path);
/* Visits every file below $FIXTURES/<folder> that can be decompressed and has at most `most` bytes. */
void each_fixture(const char *folder, size_t most, void (*visit)(const char *path, struct bytes b));
bool long_run(void);

/* Fails unless `ok`; prints `got` and `wanted` around the first byte in which they differ. */
void expect(bool ok, const char *where, const char *got, const char *wanted);

#endif

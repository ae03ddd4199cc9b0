/* gather.c - several inputs as one trace in memory: what an operation needs that is asked of a whole run.
 *
 * They are merged as merge does it into a temporary file, which is read again and gone at once: while they are merged one of them is
 * in memory at a time, and there is one way only to put hosts on one timeline. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkstemps */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/trace.h"

static bool temporary(char *path, size_t size, struct tk_err *err) {
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/tmp";
  if ((size_t)snprintf(path, size, "%s/tracekit-XXXXXX.json", folder) >= size) return err_set(err, TK_EWRITE, "TMPDIR is too long");
  int fd = mkstemps(path, 5);
  if (fd < 0) return err_sys(err, TK_EWRITE, errno, "%s: cannot make a temporary file", folder);
  close(fd);
  return true;
}

/* It is called what was asked for, not what it was merged into. */
static void rename_trace(struct tk_trace *t, const char *source) {
  char *copy = malloc(strlen(source) + 1);
  if (!copy) return;
  memcpy(copy, source, strlen(source) + 1);
  free(t->store->source);
  t->store->source = copy;
  t->source = copy;
}

static void keep_notes(struct tk_trace *t, const struct tk_trace *notes) {
  for (tk_id i = 1; notes && i <= notes->n_notes; i++)
    trace_note(t, notes->notes[i].kind, notes->notes[i].offset, tk_string(notes, notes->notes[i].text, NULL));
}

struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  char path[4096];
  struct tk_extract_options extract = {.sources = s, .load = *opt, .output = path};
  struct tk_extract_report report = {0};
  struct tk_load_options load = *opt;
  struct tk_trace *t = NULL;
  err_clear(err);
  if (!temporary(path, sizeof path, err)) return NULL;
  extract.save = (struct tk_save_options){.format = "json", .command = "tracekit merge", .force = true, .threads = opt->threads};
  load.format = "json";
  if (tk_extract(NULL, 0, &extract, &report, err)) t = tk_load(path, &load, err);
  unlink(path);
  if (t) {
    rename_trace(t, source);
    keep_notes(t, report.notes);
  }
  tk_extract_report_free(&report);
  return t;
}

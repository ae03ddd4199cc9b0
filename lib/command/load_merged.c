/* load_merged.c - several inputs as one trace in memory: what an operation needs that is asked of a whole run.
 *
 * They are merged as merge does it into a temporary file, which is read again and gone at once: while they are merged one of them is
 * in memory at a time, and there is one way only to put hosts on one timeline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "graph/trace.h"
#include "load.h"
#include "merge.h"
#include "source/sources.h"

/* It is called what was asked for, not what it was merged into. */
static void rename_trace(struct tk_trace *t, const char *source) {
  char *copy = malloc(strlen(source) + 1);
  if (!copy) return;
  memcpy(copy, source, strlen(source) + 1);
  free(t->store->source);
  t->store->source = copy;
  t->source = copy;
}

static bool keep_files(struct tk_trace *t, const struct tk_sources *s, struct tk_err *err) {
  const char **paths = calloc(s->n + 1, sizeof *paths);
  if (!paths) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < s->n; i++) paths[i] = sources_path(s, i);
  load_files(t, paths, s->n);
  free(paths);
  return mem_check(&t->store->mem, err);
}

/* What was noted of the inputs; of the file between, which is our own, it would be said twice. */
static void take_notes(struct tk_trace *t, const struct tk_trace *notes) {
  t->n_notes = 0;
  for (tk_id i = 1; notes && i <= notes->n_notes; i++) {
    const struct tk_note *n = &notes->notes[i];
    trace_notes(t, n->kind, n->offset, tk_string(notes, n->text, NULL), n->count);
  }
}

/* A result without one of its hosts would look like one with all of them. */
static bool check_ranks(const struct tk_merge_report *merged, struct tk_err *err) {
  for (size_t i = 0; merged->ranks && i < merged->n_ranks; i++)
    if (merged->ranks[i].failed)
      return err_set(err, TK_EFORMAT, "%s (tracekit merge --keep-going leaves it out)", merged->ranks[i].failed);
  return true;
}

static struct tk_trace *merge_and_load(struct tk_sources *s, const char *path, const struct tk_load_options *opt, struct tk_err *err) {
  struct tk_merge_options merge = {.load = *opt, .keep_going = true, .keep_truncated = !opt->strict};
  struct tk_load_options load = *opt;
  struct tk_merge_report merged;
  struct tk_trace *t = NULL;
  merge.save = (struct tk_save_options){.format = "json", .command = "tracekit merge", .force = true, .threads = opt->threads};
  load.format = "json";
  bool ok = merge_inputs(&(struct merge_inputs){s, 0, s->n}, path, &merge, &merged, err) && check_ranks(&merged, err);
  if (ok) t = tk_load(path, &load, err);
  if (t) take_notes(t, merged.notes);
  tk_merge_report_free(&merged);
  return t;
}

struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  char *path;
  err_clear(err);
  int fd = os_temporary(".json", &path);
  if (fd < 0) {
    err_sys(err, TK_EWRITE, errno, "cannot make a temporary file");
    return NULL;
  }
  close(fd);
  struct tk_trace *t = merge_and_load(s, path, opt, err);
  unlink(path);
  free(path);
  if (!t) return NULL;
  rename_trace(t, source);
  if (keep_files(t, s, err)) return t;
  tk_free(t);
  return NULL;
}

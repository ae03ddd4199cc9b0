/* reread.c - see reread.h.
 *
 * A writer may produce a file that cannot be read although no test checks this file. So builds with TK_REREAD (all builds with
 * sanitizers) read every file in a readable format again, and count its events. */
#include "reread.h"

#include <string.h>

#ifdef TK_REREAD
static bool is_file(const char *path, const struct format *f) { return strcmp(path, "-") != 0 && f->info.can_read; }

/* Sets *n to the number of events, and *n_in_records to the number of stack samples among them that are also records. */
static bool count_events(const char *path, const struct tk_load_options *opt, uint64_t *n, uint64_t *n_in_records, struct tk_err *err) {
  struct tk_trace *t = tk_load(path, opt, err);
  if (!t) return false;
  *n = t->n_events;
  *n_in_records = 0;
  for (tk_id i = 1; i <= t->n_events; i++)
    *n_in_records += t->events[i].kind == TK_EVENT_SAMPLE && t->events[i].flags & TK_FLAG_IN_RECORD;
  tk_free(t);
  return true;
}

bool reread_agrees(const char *path, const struct format *f, bool is_cut, const struct tk_saved *done, struct tk_err *err) {
  struct tk_load_options opt = {.format = f->info.name, .check = true, .threads = 1};
  const uint64_t written = done->events + done->derived;
  uint64_t read, in_records;
  if (!is_file(path, f)) return true;
  if (!count_events(path, &opt, &read, &in_records, err)) return false;
  opt.with = TK_WITH_SCHED; /* the file may contain these events in passthrough packets */
  if (read != written && !count_events(path, &opt, &read, &in_records, err)) return false;
  /* A cut writes packets that restore the state before its start, such as the last value of a counter. Reading them again gives
   * additional events. */
  if (is_cut && f->passthrough_times && read > written) return true;
  /* JSON records that another format carried may be stack samples. Only the JSON reader counts them as events. */
  if (read > written && read - in_records <= written) return true;
  return read == written || err_set(err, TK_EWRITE, "%s: %llu events were written, but reading the output again finds %llu", path,
                                    (unsigned long long)written, (unsigned long long)read);
}
#else
bool reread_agrees(const char *path, const struct format *f, bool is_cut, const struct tk_saved *done, struct tk_err *err) {
  (void)path, (void)f, (void)is_cut, (void)done, (void)err;
  return true;
}
#endif

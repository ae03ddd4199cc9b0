/* stages.c - CPU time of reading a trace into a sealed graph, and of writing it, without process startup.
 *
 * Usage: stages FILE ROUNDS > /dev/null. Prints the best of the rounds as JSON on standard error. One thread, except for `serial` and
 * `shared`: the CPU time of the calling thread and of all other threads when several read. The first bounds how fast any number of
 * cores can read. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracekit.h"

enum { THREADS = 8 };

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

/* Reads the file with several threads. Keeps the shorter serial time, with the shared time of the same round. */
static bool read_shared(const char *path, double *serial, double *shared, struct tk_err *err) {
  const struct tk_load_options load = {.threads = THREADS};
  const double all = cpu_seconds(), own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
  struct tk_trace *t = tk_load(path, &load, err);
  const double took = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own, sum = cpu_seconds() - all;
  if (!t) return false;
  if (took < *serial) *serial = took, *shared = sum - took;
  tk_free(t);
  return true;
}

int main(int argc, char **argv) {
  struct tk_load_options load = {.threads = 1};
  struct tk_save_options save = {.threads = 1, .format = "json"};
  struct tk_err err = {.code = TK_OK};
  double best_read = 1e9, best_write = 1e9, serial = 1e9, shared = 0, start, done;
  unsigned long long bytes = 0, events = 0;
  if (argc != 3) return 2;
  for (int i = atoi(argv[2]); i > 0; i--) {
    start = cpu_seconds();
    struct tk_trace *t = tk_load(argv[1], &load, &err);
    done = cpu_seconds();
    if (!t) return fprintf(stderr, "%s\n", err.msg), 3;
    if (done - start < best_read) best_read = done - start;
    start = cpu_seconds();
    if (!tk_save(t, "-", &save, NULL, &err)) return fprintf(stderr, "%s\n", err.msg), 4;
    done = cpu_seconds();
    if (done - start < best_write) best_write = done - start;
    bytes = t->counts.bytes;
    events = t->n_events;
    tk_free(t);
    if (!read_shared(argv[1], &serial, &shared, &err)) return fprintf(stderr, "%s\n", err.msg), 3;
  }
  fprintf(stderr, "{\"bytes\":%llu,\"events\":%llu,\"read\":%.6f,\"write\":%.6f,\"serial\":%.6f,\"shared\":%.6f}\n", bytes, events,
          best_read, best_write, serial, shared);
  return 0;
}

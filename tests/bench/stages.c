/* stages.c - CPU time of reading a trace into a sealed graph, and of writing it, not including process startup.
 *
 * Usage: stages FILE ROUNDS > /dev/null. Prints the best of the rounds as JSON on standard error. One thread, except for:
 *     serial, shared  the CPU time of the calling thread and of all other threads when several read. The first bounds how fast any
 *                     number of cores can read.
 *     gain            the wall time of reading with one thread, divided by that with two; medians of alternating rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracekit.h"

enum { THREADS = 8, ROUNDS = 99 };

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

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, compare);
  return v[n / 2];
}

/* Returns the wall time of reading the file; 0 on failure. */
static double wall_seconds(const char *path, unsigned threads, struct tk_err *err) {
  const struct tk_load_options load = {.threads = threads};
  const double start = seconds_of(CLOCK_MONOTONIC);
  struct tk_trace *t = tk_load(path, &load, err);
  const double took = seconds_of(CLOCK_MONOTONIC) - start;
  tk_free(t);
  return t ? took : 0;
}

static double gain_of_two(const char *path, int rounds, struct tk_err *err) {
  double one[ROUNDS], two[ROUNDS];
  for (int i = 0; i < rounds; i++) {
    one[i] = wall_seconds(path, 1, err);
    two[i] = wall_seconds(path, 2, err);
  }
  return median(one, rounds) / median(two, rounds);
}

int main(int argc, char **argv) {
  struct tk_load_options load = {.threads = 1};
  struct tk_save_options save = {.threads = 1, .format = "json"};
  struct tk_err err = {.code = TK_OK};
  double best_read = 1e9, best_write = 1e9, serial = 1e9, shared = 0, start, done;
  unsigned long long bytes = 0, events = 0;
  const int rounds = argc == 3 ? atoi(argv[2]) : 0;
  if (rounds < 1 || rounds > ROUNDS) return 2;
  for (int i = 0; i < rounds; i++) {
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
  fprintf(stderr, "{\"bytes\":%llu,\"events\":%llu,\"read\":%.6f,\"write\":%.6f,\"serial\":%.6f,\"shared\":%.6f,\"gain\":%.3f}\n",
          bytes, events, best_read, best_write, serial, shared, gain_of_two(argv[1], rounds, &err));
  return 0;
}

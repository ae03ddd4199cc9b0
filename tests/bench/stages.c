/* stages.c - CPU time of reading a trace into a sealed graph, and of writing it, without process startup.
 *
 * Usage: stages FILE ROUNDS > /dev/null. Prints the best of the rounds as JSON on standard error; single-threaded. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracekit.h"

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  struct tk_load_options load = {.threads = 1};
  struct tk_save_options save = {.threads = 1, .format = "json"};
  struct tk_err err = {.code = TK_OK};
  double best_read = 1e9, best_write = 1e9, start, done;
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
  }
  fprintf(stderr, "{\"bytes\":%llu,\"events\":%llu,\"read\":%.6f,\"write\":%.6f}\n", bytes, events, best_read, best_write);
  return 0;
}

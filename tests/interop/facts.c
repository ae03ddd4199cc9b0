/* facts.c - predicts trace_processor's figures for a trace from our graph: one line of JSON per file.
 *
 * A slice is a span or an instant. Every process has a main thread (tid = pid), named or not, and there is an idle process
 * with an idle thread. A counter sample counts once per series. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tracekit.h"

enum { DEPTHS = 1024 };

struct extra_plane {
  uint64_t slices, unfinished, samples, threads, processes, depth[DEPTHS];
  int64_t dur_ns;
  bool odd_ids; /* a pid or tid that is not a plain number */
};

static int64_t nanoseconds(tk_time ps) { return (ps + 500) / 1000; }

static bool is_number(const struct tk_arg *a) {
  switch (a->type) {
  case TK_ARG_INT: case TK_ARG_UINT: case TK_ARG_DECIMAL: case TK_ARG_DOUBLE: case TK_ARG_STR: return true;
  default: return false;
  }
}

static unsigned series(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg a;
  unsigned n = 0;
  while (tk_args_next(&it, &a)) n += is_number(&a) && strncmp(tk_string(t, a.key, NULL), "json.", 5) != 0;
  return n;
}

static void count_events(const struct tk_trace *t, struct extra_plane *f) {
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    if (e->kind == TK_EVENT_COUNTER) {
      f->samples += series(t, e);
      continue;
    }
    f->slices++;
    f->depth[e->depth < DEPTHS ? e->depth : DEPTHS - 1]++;
    if (e->flags & TK_FLAG_UNFINISHED) f->unfinished++;
    else f->dur_ns += nanoseconds(e->dur);
  }
}

static bool is_main(const struct tk_track *k) {
  if (k->tid.kind == TK_IDENT_NONE || (k->tid.kind == TK_IDENT_INT && k->tid.num == 0)) return true;
  return k->tid.kind == TK_IDENT_INT && k->pid.kind == TK_IDENT_INT && k->tid.num == k->pid.num;
}

/* True if the engine uses the id as it is; it replaces others with 0 or with a generated number. */
static bool is_plain(struct tk_ident id) { return id.kind == TK_IDENT_INT && id.num >= 0 && id.num <= UINT32_MAX; }

static void count_tracks(const struct tk_trace *t, struct extra_plane *f) {
  f->threads = f->processes = 1;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (!is_plain(k->pid) || (k->kind == TK_TRACK_THREAD && !is_plain(k->tid))) f->odd_ids = true;
    if (k->kind == TK_TRACK_PROCESS) {
      f->processes++;
      f->threads++;
    } else if (k->kind == TK_TRACK_THREAD && !is_main(k)) f->threads++;
  }
}

static void print(const struct extra_plane *f, const struct tk_summary *s) {
  unsigned deepest = 0;
  for (unsigned d = 0; d < DEPTHS; d++)
    if (f->depth[d]) deepest = d;
  printf("{\"slices\":%" PRIu64 ",\"unfinished\":%" PRIu64 ",\"dur_ns\":%" PRId64 ",\"flows\":%" PRIu64 ",\"counter_samples\":%" PRIu64,
         f->slices, f->unfinished, f->dur_ns, s->flow_pairs, f->samples);
  printf(",\"threads\":%" PRIu64 ",\"processes\":%" PRIu64 ",\"depths\":\"", f->threads, f->processes);
  for (unsigned d = 0; f->slices && d <= deepest; d++)
    if (f->depth[d]) printf("%s%u:%" PRIu64, d ? " " : "", d, f->depth[d]);
  printf("\",\"odd_ids\":%s}\n", f->odd_ids ? "true" : "false");
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    static struct extra_plane f;
    struct tk_summary summary;
    struct tk_err err;
    struct tk_trace *t = tk_load(argv[i], NULL, &err);
    memset(&f, 0, sizeof f);
    if (!t) {
      puts("null");
      continue;
    }
    count_events(t, &f);
    count_tracks(t, &f);
    if (!tk_summarise(t, &summary, &err)) return 1;
    print(&f, &summary);
    tk_free(t);
  }
  return 0;
}

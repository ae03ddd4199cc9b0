/* report_index.c - see report_index.h. */
#include "report_index.h"

#include <string.h>

/* ---- lists ---- */

/* Sorts the indices 0 .. n - 1 by where[] (stable); values of where[] are below `groups`. The indices of group g become list[at[g]] ..
 * list[at[g + 1] - 1]. */
static void list_by(const uint32_t *where, uint32_t n, uint32_t groups, uint32_t *at, uint32_t *list) {
  memset(at, 0, ((size_t)groups + 1) * sizeof *at);
  for (uint32_t i = 0; i < n; i++) at[where[i] + 1]++;
  for (uint32_t g = 0; g < groups; g++) at[g + 1] += at[g];
  for (uint32_t i = 0; i < n; i++) list[at[where[i]]++] = i;
  for (uint32_t g = groups; g; g--) at[g] = at[g - 1];
  at[0] = 0;
}

static bool list_streams(struct report_index *x, const struct works *w) {
  uint32_t *row = mem_array(x->mem, (uint64_t)w->n_streams + 1, sizeof *row);
  x->streams_at = mem_array(x->mem, (uint64_t)w->n_rows + 1, sizeof *x->streams_at);
  x->streams = mem_array(x->mem, (uint64_t)w->n_streams + 1, sizeof *x->streams);
  const bool ok = row && x->streams_at && x->streams;
  for (uint32_t i = 0; ok && i < w->n_streams; i++) row[i] = w->streams[i].row;
  if (ok) list_by(row, w->n_streams, w->n_rows, x->streams_at, x->streams);
  mem_free(x->mem, row);
  return ok;
}

static bool list_tracks(struct report_index *x, const struct tk_trace *t) {
  x->tracks_at = mem_array(x->mem, (uint64_t)x->n_groups + 1, sizeof *x->tracks_at);
  x->tracks = mem_array(x->mem, (uint64_t)t->n_tracks + 1, sizeof *x->tracks);
  if (!x->tracks_at || !x->tracks) return false;
  list_by(x->group_of + 1, t->n_tracks, x->n_groups, x->tracks_at, x->tracks);
  for (tk_id i = 0; i < t->n_tracks; i++) x->tracks[i]++; /* track ids begin at 1 */
  return true;
}

/* ---- steps ---- */

/* Finds the steps of the host of each group. */
static void find_steps(struct report_index *x, const struct match *m) {
  for (tk_id k = 1; k <= m->t->n_tracks; k++) {
    const struct steps_run *run = steps_runs_of(&m->steps, k);
    if (run->source == STEPS_HOST || run->source == STEPS_COPIES) x->steps[x->group_of[k]] = *run;
  }
}

struct steps_run report_index_steps(const struct report_index *x, const struct match *m, uint32_t group, tk_id track) {
  const struct steps_run *run = steps_runs_of(&m->steps, track);
  return track && run->source == STEPS_DEVICE ? *run : x->steps[group];
}

/* ---- entry points ---- */

bool report_index_make(struct report_index *x, const struct match *m, const struct works *w, struct mem *mem) {
  *x = (struct report_index){.mem = mem};
  x->group_of = origin_groups(m->origins, m->t->n_tracks, &x->n_groups, mem);
  if (!x->group_of) return false;
  x->steps = mem_zeros(mem, x->n_groups, sizeof *x->steps);
  x->hosts = mem_zeros(mem, x->n_groups, sizeof *x->hosts);
  x->has_row = mem_zeros(mem, x->n_groups, sizeof *x->has_row);
  if (!x->steps || !x->hosts || !x->has_row || !list_streams(x, w) || !list_tracks(x, m->t)) return false;
  for (uint32_t i = 0; i < x->n_groups; i++) x->hosts[i].settled = x->hosts[i].lost = INT64_MAX;
  find_steps(x, m);
  return true;
}

void report_index_free(struct report_index *x) {
  if (!x->mem) return;
  for (uint32_t i = 0; x->hosts && i < x->n_groups; i++) {
    host_time_free(&x->hosts[i].time);
    host_time_free(&x->hosts[i].captures);
    mem_free(x->mem, x->hosts[i].collected.v);
  }
  void *const arrays[] = {x->group_of, x->tracks_at, x->tracks, x->streams_at, x->streams,
                          x->steps,    x->hosts,     x->has_row};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mem_free(x->mem, arrays[i]);
  *x = (struct report_index){0};
}

/* report_index.c - see report_index.h. */
#include "report_index.h"

#include <string.h>

/* ---- ranks ---- */

static bool number_groups(struct report_index *x, const struct match *m) {
  const struct tk_trace *t = m->t;
  const struct track_origin *o = m->origins;
  struct intern names;
  struct buf key = {.mem = x->mem};
  intern_init(&names, x->mem);
  x->n_groups = 1;
  x->group_of[0] = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    x->group_of[i] = 0;
    if (!o) continue;
    if (i > 1 && o[i].rank == o[i - 1].rank && o[i].host == o[i - 1].host) {
      x->group_of[i] = x->group_of[i - 1];
      continue;
    }
    key.len = 0;
    buf_append(&key, &o[i].rank, sizeof o[i].rank);
    buf_text(&key, o[i].host);
    const uint32_t name = key.data ? intern(&names, key.data, key.len) : 0;
    if (!name) break;
    x->group_of[i] = name - 1;
    if (name > x->n_groups) x->n_groups = name;
  }
  buf_free(&key);
  intern_free(&names);
  return !x->mem->failed;
}

/* ---- lists ---- */

/* Sorts the indices 0 .. n - 1 by where[], whose values are below `groups`, stably. Group g becomes list[at[g]] .. list[at[g +
 * 1] - 1]. */
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

enum { OF_HOST_DEVICE = 1, OF_HOST = 2, OF_DEVICE = 3 };

static void prefer(struct report_steps *best, struct report_steps s) {
  if (s.rank > best->rank || (s.rank == best->rank && s.n > best->n)) *best = s;
}

static struct report_steps *own_steps(struct report_index *x, tk_id process, uint32_t group) {
  uint32_t *at = map_put(&x->own_of, (uint64_t)process << 32 | group, x->n_own);
  if (!at || !mem_grow(x->mem, (void **)&x->own_steps, &x->cap_own, (uint64_t)x->n_own + 1, sizeof *x->own_steps)) return NULL;
  if (*at == x->n_own) x->own_steps[x->n_own++] = (struct report_steps){0};
  return &x->own_steps[*at];
}

static bool find_steps(struct report_index *x, const struct match *m) {
  const struct steps *s = &m->steps;
  const struct tk_trace *t = m->t;
  for (uint32_t i = 0, k; i < s->n; i = k) {
    const tk_id track = s->v[i].track;
    const uint32_t group = x->group_of[track];
    for (k = i; k < s->n && s->v[k].track == track;) k++;
    struct report_steps found = {i, k - i, OF_DEVICE};
    if (m->kinds.of_track[track] & KIND_DEVICE) {
      struct report_steps *own = own_steps(x, t->tracks[track].parent, group);
      if (!own) return false;
      prefer(own, found);
      continue;
    }
    found.rank = kinds_of(&m->kinds, &t->events[t->tracks[track].first]) & KIND_DEVICE ? OF_HOST_DEVICE : OF_HOST;
    prefer(&x->steps[group], found);
  }
  return true;
}

struct report_steps report_index_steps(const struct report_index *x, uint32_t group, tk_id process) {
  const uint32_t *own = map_get(&x->own_of, (uint64_t)process << 32 | group);
  return own ? x->own_steps[*own] : x->steps[group];
}

/* ---- all ---- */

static void *zeros(struct mem *mem, uint64_t n, size_t size) {
  void *p = mem_array(mem, n, size);
  if (p) memset(p, 0, (size_t)n * size);
  return p;
}

bool report_index_make(struct report_index *x, const struct match *m, const struct works *w, struct mem *mem) {
  *x = (struct report_index){.mem = mem};
  map_init(&x->own_of, mem);
  x->group_of = mem_array(mem, (uint64_t)m->t->n_tracks + 1, sizeof *x->group_of);
  if (!x->group_of || !number_groups(x, m)) return false;
  x->steps = zeros(mem, x->n_groups, sizeof *x->steps);
  x->hosts = zeros(mem, x->n_groups, sizeof *x->hosts);
  x->has_row = zeros(mem, x->n_groups, sizeof *x->has_row);
  return x->steps && x->hosts && x->has_row && list_streams(x, w) && list_tracks(x, m->t) && find_steps(x, m);
}

void report_index_free(struct report_index *x) {
  if (!x->mem) return;
  for (uint32_t i = 0; x->hosts && i < x->n_groups; i++) {
    host_time_free(&x->hosts[i].time);
    mem_free(x->mem, x->hosts[i].collected.v);
  }
  void *const arrays[] = {x->group_of, x->tracks_at, x->tracks, x->streams_at, x->streams,
                          x->steps,    x->own_steps, x->hosts,  x->has_row};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) mem_free(x->mem, arrays[i]);
  map_free(&x->own_of);
  *x = (struct report_index){0};
}

/* kind_tasks.c - finds the tasks that make up the collectives of Ascend. See kind_tasks.h.
 *
 * HCCL executes a collective as many small tasks on several streams: copies, reductions, notifications. msprof records the collective
 * as one span in the process "HCCL" or "Communication", and each task twice, with equal times: on its stream as "MEMCPY_ASYNC", and
 * in that process on a thread "Plane N" as "Memcpy". A user's own copies have the same name, "MEMCPY_ASYNC", but are not repeated. */
#include "kind_tasks.h"

#include "base/hash.h"
#include "base/map.h"

struct tally {
  uint32_t n, same; /* n: number of spans of a plane, or of copies of a stream; same: how many of these the other side also has */
};

static bool is_plane(const struct kinds *k, tk_id track) { return k->roles[track] & KIND_COLLECTIVE; }

static bool is_stream(const struct kinds *k, tk_id track) { return k->roles[track] & KIND_KERNEL && !is_plane(k, track); }

static uint64_t task_key(const struct tk_event *e) { return hash_mix((uint64_t)e->ts, (uint64_t)e->dur); }

/* Maps the times of the tasks of all planes to their tracks. */
static bool list_tasks(const struct kinds *k, struct map *tasks, struct tally *of) {
  for (tk_id i = 1; i <= k->t->n_events; i++) {
    const struct tk_event *e = &k->t->events[i];
    if (e->kind != TK_EVENT_SPAN || !is_plane(k, e->track) || k->of_class[e->cls] & KIND_COLLECTIVE) continue;
    if (!map_put(tasks, task_key(e), e->track)) return false;
    of[e->track].n++;
  }
  return true;
}

static void find_same(const struct kinds *k, const struct map *tasks, struct tally *of) {
  for (tk_id i = 1; i <= k->t->n_events; i++) {
    const struct tk_event *e = &k->t->events[i];
    if (e->kind != TK_EVENT_SPAN || !is_stream(k, e->track)) continue;
    const uint32_t *plane = map_get(tasks, task_key(e));
    if (plane) of[*plane].same++;
    if (!(k->of_class[e->cls] & KIND_MEMCPY)) continue;
    of[e->track].n++;
    of[e->track].same += plane != NULL;
  }
}

bool kind_tasks_mark(struct kinds *k) {
  const struct tk_trace *t = k->t;
  tk_id i = 1;
  while (i <= t->n_tracks && !is_plane(k, i)) i++;
  if (i > t->n_tracks) return true;
  struct map tasks;
  struct tally *of = mem_zeros(k->mem, (uint64_t)t->n_tracks + 1, sizeof *of);
  map_init(&tasks, k->mem);
  const bool ok = of && list_tasks(k, &tasks, of);
  if (ok) find_same(k, &tasks, of);
  for (i = 1; ok && i <= t->n_tracks; i++) {
    if (of[i].same <= of[i].n / 2) continue;
    k->roles[i] = is_plane(k, i) ? KIND_DEVICE | KIND_REPEAT : k->roles[i] | KIND_WAIT;
  }
  map_free(&tasks);
  mem_free(k->mem, of);
  return ok;
}

/* work.c - see work.h.
 *
 * GPUs are numbered by the host, so they have the same numbers in all processes. */
#include "work.h"

#include <stdio.h>

#include "base/hash.h"

void work_init(struct rocm *r) {
  static const char *const NAMES[ROCM_KEYS] = {"args", "grid", "block", "stream", "device", "bytes", "correlation", "dispatch", "LDS",
                                               "scratch", "from agent", "to agent"};
  struct mem *mem = &r->d.t->store->mem;
  database_texts_init(&r->texts, mem);
  map_init(&r->devices, mem);
  map_init(&r->queues, mem);
  map_init(&r->by_id, mem);
  r->flow_class = trace_class(r->d.t, trace_text(r->d.t, "launch"), trace_text(r->d.t, "launch"));
  r->d.t->clock = TK_CLOCK_MONOTONIC;
  for (int i = 0; i < ROCM_KEYS; i++) r->key[i] = trace_text(r->d.t, NAMES[i]);
}

void work_free(struct rocm *r) {
  database_texts_free(&r->texts);
  map_free(&r->devices);
  map_free(&r->queues);
  map_free(&r->by_id);
}

/* ---- devices ---- */

tk_id work_device(struct rocm *r, int64_t number) {
  char name[48];
  uint32_t *known = map_put(&r->devices, (uint64_t)number, 0);
  if (!known || *known) return known ? *known : 0;
  snprintf(name, sizeof name, "GPU %lld", (long long)number);
  return *known = database_add_device(&r->d, name, number);
}

tk_id work_queue(struct rocm *r, uint64_t process, int64_t device, int64_t queue, tk_id name) {
  char text[48];
  uint32_t *known = map_put(&r->queues, hash_pair(hash_pair(process, (uint64_t)device), (uint64_t)queue), 0);
  if (!known || *known) return known ? *known : 0;
  snprintf(text, sizeof text, "queue %lld", (long long)queue);
  const tk_id owner = work_device(r, device);
  const struct tk_ident tid = ident_int((int64_t)r->queues.n);
  *known = trace_track(r->d.t, TK_TRACK_THREAD, r->d.t->tracks[owner].pid, tid, 0);
  database_name(&r->d, *known, name ? name : trace_text(r->d.t, text));
  r->d.t->tracks[*known].sort_index = queue;
  r->d.t->tracks[*known].has_sort = true;
  return *known;
}

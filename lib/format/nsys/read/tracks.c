/* tracks.c - adds processes, threads, and the queues of devices.
 *
 * Host threads have the numbers of the operating system. Device numbers are only valid within a process: if two processes see
 * one device each, both call it 0. Therefore each pair of process and device becomes a process of the graph, with a thread for
 * each stream, as Kineto does for each device. Synchronization and the migration of unified memory overlap the work of a
 * stream, so they are on separate threads. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "texts.h"
#include "tracks.h"

enum { TIDS_BESIDE = 1000000, LANES = 4 }; /* LANES: at least the number of lanes, a power of 2 */
#define NO_STREAM INT64_C(4294967295) /* CUPTI_SYNCHRONIZATION_INVALID_VALUE: synchronization of a context or an event */

tk_id tracks_thread(struct nsys *r, int64_t global_tid) {
  uint32_t *known = map_put(&r->threads, (uint64_t)global_tid, 0);
  if (!known) return 0;
  const struct tk_ident pid = ident_int(nsys_pid(nsys_process_of(global_tid)));
  if (!*known) *known = trace_track(r->d.t, TK_TRACK_THREAD, pid, ident_int(global_tid & 0xffffff), 0);
  return *known;
}

static tk_id add_device(struct nsys *r, uint64_t process, int64_t device) {
  char name[64];
  snprintf(name, sizeof name, "GPU %lld (process %lld)", (long long)device, (long long)nsys_pid(process));
  return database_add_device(&r->d, name, device);
}

tk_id tracks_device(struct nsys *r, uint64_t process, int64_t device) {
  uint32_t *known = map_put(&r->devices, hash_pair(process, (uint64_t)device), 0);
  if (!known) return 0;
  if (*known) return *known;
  *known = add_device(r, process, device);
  buf_append(&r->used, &(struct nsys_device){*known, process, device}, sizeof(struct nsys_device));
  trace_own(r->d.t, *known, (uint32_t)nsys_pid(process));
  return *known;
}

static void name_stream(struct nsys *r, tk_id track, const struct nsys_place *p) {
  const bool sync = p->lane == LANE_SYNC;
  char name[64];
  snprintf(name, sizeof name, "stream %lld%s", (long long)p->stream, sync ? " synchronization" : "");
  if (sync && p->stream == NO_STREAM) snprintf(name, sizeof name, "synchronization");
  if (p->lane == LANE_UNIFIED) snprintf(name, sizeof name, "unified memory");
  r->d.t->tracks[track].name = trace_text(r->d.t, name);
  r->d.t->tracks[track].sort_index = (int64_t)((uint64_t)p->stream * LANES + p->lane);
  r->d.t->tracks[track].has_sort = true;
}

tk_id tracks_stream(struct nsys *r, const struct nsys_place *p) {
  const uint64_t key = hash_pair(hash_pair(p->process, (uint64_t)p->device), (uint64_t)p->stream << 2 | p->lane);
  uint32_t *known = map_put(&r->streams, key, 0);
  if (!known || *known) return known ? *known : 0;
  const int64_t tid = p->lane == LANE_WORK ? p->stream : TIDS_BESIDE + (int64_t)r->streams.n;
  const tk_id device = tracks_device(r, p->process, p->device);
  const tk_id track = trace_track(r->d.t, TK_TRACK_THREAD, r->d.t->tracks[device].pid, ident_int(tid), 0);
  *known = track;
  name_stream(r, track, p);
  return track;
}

/* ---- names ---- */

static void take_process(const struct sqlite_scan *row, void *arg) {
  struct nsys *r = arg;
  if (row->v[0].type != CELL_INT) return;
  const struct tk_ident pid = ident_int(nsys_pid(nsys_process_of(row->v[0].i)));
  const tk_id track = trace_find(r->d.t, &(struct tk_track){.kind = TK_TRACK_PROCESS, .pid = pid});
  if (track && !r->d.t->tracks[track].name) r->d.t->tracks[track].name = texts_of(r, &row->v[1]);
}

struct naming {
  struct nsys *r;
  struct map priorities; /* by track: priority of the source of its current name */
};

static void take_thread(const struct sqlite_scan *row, void *arg) {
  struct naming *n = arg;
  struct nsys *r = n->r;
  if (row->v[0].type != CELL_INT) return;
  const uint32_t *track = map_get(&r->threads, (uint64_t)row->v[0].i);
  if (!track) return;
  uint32_t *had = map_put(&n->priorities, *track, 0);
  const uint32_t priority = row->v[2].type == CELL_INT && row->v[2].i > 0 ? (uint32_t)row->v[2].i : 0;
  if (!had || (r->d.t->tracks[*track].name && priority <= *had)) return;
  *had = priority;
  r->d.t->tracks[*track].name = texts_of(r, &row->v[1]);
}

/* Removes the number of the process from the names of devices if only one process uses devices. */
static void shorten_devices(struct nsys *r) {
  char name[64];
  tk_id found[2] = {0};
  for (tk_id i = 1; i <= r->d.t->n_tracks; i++) {
    const char *text = tk_string(r->d.t, r->d.t->tracks[i].name, NULL), *process = strstr(text, " (process ");
    if (r->d.t->tracks[i].kind != TK_TRACK_PROCESS || !process || strncmp(text, "GPU ", 4) != 0) continue;
    const tk_id id = trace_text(r->d.t, process);
    if (found[0] && found[0] != id) return;
    found[0] = id;
  }
  for (tk_id i = 1; i <= r->d.t->n_tracks; i++) {
    const char *text = tk_string(r->d.t, r->d.t->tracks[i].name, NULL), *process = strstr(text, " (process ");
    if (r->d.t->tracks[i].kind != TK_TRACK_PROCESS || !process || strncmp(text, "GPU ", 4) != 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(process - text), text);
    r->d.t->tracks[i].name = trace_text(r->d.t, name);
  }
}

bool tracks_name(struct nsys *r) {
  static const char *const PROCESSES[] = {"globalPid", "name", NULL}, *const THREADS[] = {"globalTid", "nameId", "priority", NULL};
  struct naming n = {.r = r};
  map_init(&n.priorities, &r->d.t->store->mem);
  const bool ok = database_each(&r->d, "PROCESSES", PROCESSES, take_process, r) &&
    database_each(&r->d, "ThreadNames", THREADS, take_thread, &n);
  map_free(&n.priorities);
  shorten_devices(r);
  for (tk_id i = 1; i <= r->d.t->n_tracks; i++)
    if (r->d.t->tracks[i].kind != TK_TRACK_COUNTERS) r->d.t->tracks[i].renamed = r->d.t->tracks[i].name != 0; /* no record names it */
  return ok;
}

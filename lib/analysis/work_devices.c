/* work_devices.c - see work_devices.h. */
#include "work_devices.h"

#include <string.h>

#include "base/num.h"
#include "graph/accelerator.h"
#include "graph/args.h"
#include "graph/trace.h"

static tk_id process_of(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}

bool work_devices_shows(const struct work_devices *d, tk_id track) {
  const unsigned kind = d->kinds->of_track[track];
  return !(kind & KIND_DEVICE) || kind & KIND_KERNEL || !d->has_kernels[process_of(d->t, track)];
}

static void find_kernels(struct work_devices *d) {
  const struct tk_trace *t = d->t;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const unsigned kind = d->kinds->of_track[i];
    if (kind & KIND_KERNEL && t->tracks[i].count) d->has_kernels[process_of(t, i)] = true;
  }
}

static uint64_t rank_key(const struct work_devices *d, tk_id track) {
  return d->origins ? (uint64_t)(d->origins[track].rank + 2) : 1;
}

/* Finds, for each rank with one device, the process that represents the device, because some producers show the device's collectives or
 * copies in other processes. */
static bool find_hardware(struct work_devices *d) {
  const struct tk_trace *t = d->t;
  bool any = false;
  map_init(&d->hardware, d->mem);
  for (tk_id i = 1; i <= t->n_tracks && !any; i++) any = t->tracks[i].kind == TK_TRACK_PROCESS && accelerator_is_part(t, i);
  for (tk_id i = 1; any && i <= t->n_tracks; i++) {
    const tk_id process = t->tracks[i].parent;
    const bool is_whole = accelerator_of(t, process).family || accelerator_spans_is_whole(t, i);
    if (!(d->kinds->roles[i] & KIND_DEVICE) || !is_whole) continue;
    uint32_t *device = map_put(&d->hardware, rank_key(d, process), process);
    if (!device) return false;
    if (*device != process) *device = 0;
  }
  for (tk_id i = 1; any && i <= t->n_tracks; i++) { /* for traces that contain only collectives */
    const bool is_device = t->tracks[i].kind == TK_TRACK_PROCESS && accelerator_of(t, i).family;
    if (is_device && !map_put(&d->hardware, rank_key(d, i), i)) return false;
  }
  return true;
}

/* Finds the first thread of each device within a process. `alone`: process -> this thread if the process has only one device, otherwise
 * 0. */
static bool list_devices(const struct tk_trace *t, struct map *first, struct map *alone) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct accelerator a = accelerator_is_thread(t, i) ? accelerator_of(t, i) : (struct accelerator){NULL, -1};
    if (!a.family || a.number < 0) continue;
    const uint64_t process = t->tracks[i].parent;
    uint32_t *of_device = map_put(first, process << 32 | (uint32_t)a.number, i);
    uint32_t *of_process = map_put(alone, process, i);
    if (!of_device || !of_process) return false;
    if (*of_process != *of_device) *of_process = 0;
  }
  return true;
}

static bool shows_device(const struct tk_trace *t, tk_id track) {
  return accelerator_is_thread(t, track) || (t->tracks[track].kind == TK_TRACK_THREAD && accelerator_is_queue(t,
      t->tracks[track].parent));
}

/* Returns the hash of the job in the name of a process of TensorFlow 1, because several workers may have a GPU 0:
 * "/job:worker/replica:0/task:7/gpu:0/stream:13 Compute". */
static uint64_t job_of(const struct tk_trace *t, tk_id process) {
  const char *name = tk_string(t, t->tracks[process].name, NULL), *job = strstr(name, "/job:");
  const char *end = job ? strstr(job, "/device:") : NULL;
  if (job && !end) end = strstr(job, "/gpu:");
  return end ? hash_text(job, (size_t)(end - job)) : 0;
}

/* If several processes show queues of the same device, assigns the first of these processes to the threads of all of them. */
static bool join_queues(struct work_devices *d) {
  const struct tk_trace *t = d->t;
  struct map first;
  bool ok = true;
  map_init(&first, d->mem);
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const tk_id process = t->tracks[i].parent;
    if (t->tracks[i].kind != TK_TRACK_THREAD || !accelerator_is_queue(t, process)) continue;
    const uint64_t device = rank_key(d, i) << 32 | (uint32_t)accelerator_of(t, process).number;
    const uint32_t *at = map_put(&first, hash_mix(device, job_of(t, process)), process);
    ok = at != NULL;
    d->first[i] = at ? *at : 0;
  }
  map_free(&first);
  return ok;
}

/* Assigns a device to each thread that shows device work. Threads with copies have no device number; if the process has only one
 * device, they belong to it. */
static bool find_devices(struct work_devices *d) {
  const struct tk_trace *t = d->t;
  struct map first, alone;
  tk_id i = 1;
  while (i <= t->n_tracks && !shows_device(t, i)) i++;
  if (i > t->n_tracks) return true;
  if (!(d->first = mem_array(d->mem, (uint64_t)t->n_tracks + 1, sizeof *d->first))) return false;
  map_init(&first, d->mem);
  map_init(&alone, d->mem);
  const bool ok = list_devices(t, &first, &alone);
  for (i = 1; ok && i <= t->n_tracks; i++) {
    const struct accelerator a = accelerator_is_thread(t, i) ? accelerator_of(t, i) : (struct accelerator){NULL, -1};
    const uint64_t process = t->tracks[i].parent;
    const uint32_t *at = a.number >= 0 ? map_get(&first, process << 32 | (uint32_t)a.number) : map_get(&alone, process);
    d->first[i] = at && accelerator_is_thread(t, i) ? *at : 0;
  }
  map_free(&first);
  map_free(&alone);
  return ok && join_queues(d);
}

tk_id work_devices_of(const struct work_devices *d, tk_id track) {
  const tk_id process = process_of(d->t, track);
  if (d->first && d->first[track]) return d->first[track];
  const uint32_t *whole = d->hardware.n && accelerator_is_part(d->t, process) ? map_get(&d->hardware, rank_key(d, process)) : NULL;
  return whole && *whole ? *whole : process;
}

bool work_devices_has(const struct work_devices *d, const struct tk_event *e) {
  const unsigned kinds = kinds_of(d->kinds, e);
  if (e->kind != TK_EVENT_SPAN || !(kinds & KIND_DEVICE) || !(kinds & WORK_KINDS) || e->flags & TK_FLAG_LOST_CLOCK) return false;
  return work_devices_shows(d, e->track);
}

bool work_devices_init(struct work_devices *d, const struct kinds *kinds, const struct track_origin *origins, struct mem *mem) {
  *d = (struct work_devices){.mem = mem, .t = kinds->t, .kinds = kinds, .origins = origins};
  map_init(&d->hardware, mem);
  d->has_kernels = mem_zeros(mem, (uint64_t)d->t->n_tracks + 1, sizeof *d->has_kernels);
  if (!d->has_kernels) return false;
  find_kernels(d);
  return find_hardware(d) && find_devices(d);
}

void work_devices_free(struct work_devices *d) {
  if (!d->mem) return;
  map_free(&d->hardware);
  mem_free(d->mem, d->first);
  mem_free(d->mem, d->has_kernels);
  *d = (struct work_devices){.mem = NULL};
}

/* ---- names ---- */

/* Appends "GPU 3"; the family alone if the number is negative, such as the pid -1 of ONNX Runtime's kernels. */
static void put_numbered(struct buf *to, const char *family, int64_t number) {
  char digits[24];
  buf_text(to, family);
  if (number < 0) return;
  buf_text(to, " ");
  buf_append(to, digits, num_put_i64(digits, number));
}

static const char *family_of(const struct tk_trace *t, const char **family) {
  if (!*family) *family = accelerator_of_categories(t);
  return *family;
}

/* Returns the number in the arg "device" of the track's first span; without this arg, the pid of the device's process. A merge may have
 * moved the pid. */
static int64_t numbered_by(const struct tk_trace *t, tk_id device, tk_id track) {
  const struct tk_track *k = &t->tracks[track];
  const tk_id key = trace_text_id(t, "device");
  struct tk_arg arg;
  tk_id i = k->first;
  while (i < k->first + k->count && t->events[i].kind != TK_EVENT_SPAN) i++;
  const bool has = key && i < k->first + k->count && args_of_event(t, &t->events[i], key, &arg);
  return has && arg.type == TK_ARG_INT && arg.i >= 0 ? arg.i : t->tracks[device].pid.num;
}

/* Appends the name of a device whose number may be stored only in its pid. */
static void put_unnumbered(const struct kinds *kinds, tk_id device, tk_id track, const char **family, struct buf *to) {
  const struct tk_trace *t = kinds->t;
  const struct tk_ident pid = t->tracks[device].pid;
  const struct intern_str *name = trace_str(t, t->tracks[device].name);
  const bool is_part = accelerator_is_part(t, device);
  if (!is_part && kinds->roles[track] & KIND_DEVICE) {
    const struct accelerator a = accelerator_spans_device(t, device, track);
    put_numbered(to, a.family, a.number);
  } else if (pid.kind == TK_IDENT_INT && !is_part) {
    put_numbered(to, family_of(t, family), numbered_by(t, device, track));
  } else if (t->tracks[device].name && name->len) {
    buf_append(to, name->bytes, name->len);
  } else {
    buf_text(to, "device");
  }
}

/* Appends the job of a process of TensorFlow 1, or, if another tool that merges traces appended the rank to the pid, the pid. */
static void put_owner(const struct tk_trace *t, tk_id device, const char *plane, struct buf *to) {
  const struct tk_track *k = &t->tracks[device];
  const char *name = tk_string(t, k->name, NULL), *job = strstr(name, "/job:");
  const char *end = job ? strstr(job, plane ? "/device:" : "/gpu:") : NULL;
  if (end) {
    buf_text(to, " of ");
    buf_append(to, job, end - job > 200 ? 200 : (size_t)(end - job));
  } else if (k->pid.kind == TK_IDENT_STR && (*name || k->labels)) {
    const char *pid = tk_string(t, k->pid.str, NULL);
    buf_text(to, " (");
    buf_append(to, pid, strnlen(pid, 200));
    buf_text(to, ")");
  }
}

/* If nothing else in the trace gives the device's number, the pid of its process is the number, as in Kineto's traces. */
void work_devices_name(const struct kinds *kinds, tk_id device, tk_id track, const char **family, struct buf *to) {
  const struct tk_trace *t = kinds->t;
  const struct tk_track *k = &t->tracks[device];
  const struct accelerator whole = accelerator_of(t, device), a = whole.family ? whole : accelerator_of(t, track);
  const char *plane = strstr(tk_string(t, k->name, NULL), "/device:");
  const bool is_by_pid = whole.family && strcmp(whole.family, "GPU") == 0 && k->pid.kind == TK_IDENT_INT;
  if (plane && !accelerator_is_queue(t, device)) {
    buf_text(to, plane + 8);
  } else if (!a.family) {
    put_unnumbered(kinds, device, track, family, to);
  } else if (a.number < 0 && !is_by_pid) {
    buf_text(to, a.family);
  } else if (a.number < 0) {
    put_numbered(to, family_of(t, family), numbered_by(t, device, track));
  } else {
    put_numbered(to, a.family, a.number);
    put_owner(t, device, plane, to);
  }
}

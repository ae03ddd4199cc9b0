/* beside.c - see beside.h. */
#include "beside.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "format/format.h"
#include "graph/kind.h"

enum { FIRST_PID = 20000000, NEXT_TID = 1000000000, FIRST_TID = 2000000000 };

/* ---- processes of the host ---- */

/* Marks the processes whose pids come from the operating system: processes that have events of the host and none of a device. */
static uint8_t *host_processes(const struct tk_trace *t, struct mem *mem) {
  const struct format *f = format_by_name(t->format);
  uint8_t *of = mem_zeros(mem, (uint64_t)t->n_tracks + 1, sizeof *of);
  struct kinds kinds = {0};
  if (!of) return NULL;
  if (!kinds_init(&kinds, t, mem)) {
    mem_free(mem, of);
    return NULL;
  }
  for (tk_id i = 1; i <= t->n_events && f && !f->invents_pids; i++) {
    const struct tk_track *k = &t->tracks[t->events[i].track];
    const tk_id process = k->kind == TK_TRACK_PROCESS ? t->events[i].track : k->parent;
    if (kinds_of(&kinds, &t->events[i]) & KIND_DEVICE) of[process] |= 2;
    else if (k->kind == TK_TRACK_THREAD && k->tid.kind != TK_IDENT_NONE) of[process] |= 1;
  }
  for (tk_id i = 1; i <= t->n_tracks; i++) of[i] = of[i] == 1 && t->tracks[i].pid.kind == TK_IDENT_INT && t->tracks[i].pid.num > 0;
  kinds_free(&kinds);
  return of;
}

/* ---- finding tracks ---- */

/* Tracks of one trace or of both, by pid, and by process and tid. */
struct index {
  struct map processes, threads;
};

/* Returns equal keys for 7 and "7", as trace_ident_equal does. */
static uint64_t key_of(const struct tk_trace *t, struct tk_ident i) {
  char digits[24];
  if (i.kind == TK_IDENT_INT) return hash_text(digits, num_put_i64(digits, i.num));
  size_t n = 0;
  const char *text = i.kind == TK_IDENT_STR ? tk_string(t, i.str, &n) : "";
  return hash_text(text, n);
}

static uint64_t thread_key(tk_id process, uint64_t tid) { return tid ^ (uint64_t)process * 0x9e3779b97f4a7c15u; }

static bool index_add(struct index *x, const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind == TK_TRACK_PROCESS && !k->hidden && !map_put(&x->processes, key_of(t, k->pid), i)) return false;
    if (k->kind == TK_TRACK_THREAD && !map_put(&x->threads, thread_key(k->parent, key_of(t, k->tid)), i)) return false;
  }
  return true;
}

static bool index_init(struct index *x, const struct tk_trace *t, struct mem *mem) {
  map_init(&x->processes, mem);
  map_init(&x->threads, mem);
  return index_add(x, t);
}

static void index_free(struct index *x) {
  map_free(&x->processes);
  map_free(&x->threads);
}

static tk_id index_process(const struct index *x, const struct tk_trace *t, struct tk_ident pid) {
  const uint32_t *at = map_get(&x->processes, key_of(t, pid));
  return at ? *at : 0;
}

static tk_id index_thread(const struct index *x, const struct tk_trace *t, tk_id process, struct tk_ident tid) {
  const uint32_t *at = map_get(&x->threads, thread_key(process, key_of(t, tid)));
  return at ? *at : 0;
}

bool beside_share_process(const struct tk_trace *a, const struct tk_trace *b, struct mem *mem, bool *share) {
  uint8_t *x = host_processes(a, mem), *y = host_processes(b, mem);
  struct index of_a = {0};
  const bool ok = x && y && index_init(&of_a, a, mem);
  *share = false;
  for (tk_id i = 1; ok && i <= b->n_tracks && !*share; i++) *share = y[i] && x[index_process(&of_a, b, b->tracks[i].pid)];
  index_free(&of_a);
  mem_free(mem, x);
  mem_free(mem, y);
  return ok;
}

/* ---- placing tracks ---- */

/* The two traces and their tracks. */
struct placing {
  const struct tk_trace *main;
  struct tk_trace *other;
  struct index of_main, of_other;
  uint8_t *host_main, *host_other; /* by track: true for a process of the host */
  tk_id *of;                       /* by track of `other`: the result of beside_tracks */
  tk_id *next, *first;             /* by track of `other`: next child of the same process; first child */
  int64_t next_pid, next_tid;      /* no lower number is tried again, so that renumbering takes linear time */
};

static bool is_empty(const struct tk_track *k) { return !k->count && !k->n_points; }

static void renumber_process(struct placing *p, tk_id process) {
  struct tk_ident pid;
  do pid = ident_int(p->next_pid++);
  while (index_process(&p->of_main, p->main, pid) || index_process(&p->of_other, p->other, pid));
  p->other->tracks[process].pid = pid;
  for (tk_id i = p->first[process]; i; i = p->next[i]) p->other->tracks[i].pid = pid;
}

/* Names a second row of a thread after the recorder. */
static void name_row(struct tk_trace *other, struct tk_track *k, const struct tk_trace *main, tk_id thread) {
  const char *name = k->name ? tk_string(other, k->name, NULL) : tk_string(main, main->tracks[thread].name, NULL);
  char text[512], number[32];
  snprintf(number, sizeof number, "thread %lld", (long long)k->tid.num);
  snprintf(text, sizeof text, "%.400s [%s]", *name ? name : number, other->format);
  k->name = trace_text(other, text);
  k->renamed = true;
}

static bool is_tid_taken(const struct placing *p, tk_id process, tk_id own, int64_t tid) {
  return index_thread(&p->of_main, p->main, process, ident_int(tid)) || index_thread(&p->of_other, p->other, own, ident_int(tid));
}

/* Gives a thread a tid that its process lacks in both traces: if possible the old tid + NEXT_TID, so that users recognise it. */
static void renumber_thread(struct placing *p, struct tk_track *k, tk_id process, tk_id own) {
  const bool fits = k->tid.kind == TK_IDENT_INT && k->tid.num > 0 && k->tid.num < FIRST_TID - NEXT_TID;
  int64_t tid = fits ? k->tid.num + NEXT_TID : p->next_tid++;
  while (is_tid_taken(p, process, own, tid)) tid = p->next_tid++;
  k->tid = ident_int(tid);
  if (!map_put(&p->of_other.threads, thread_key(own, key_of(p->other, k->tid)), 1)) p->other->store->mem.failed = true;
}

/* Places the threads of a process that both recordings contain. */
static void place_threads(struct placing *p, tk_id process, tk_id own) {
  for (tk_id i = p->first[own]; i; i = p->next[i]) {
    struct tk_track *k = &p->other->tracks[i];
    if (k->kind != TK_TRACK_THREAD || k->tid.kind == TK_IDENT_NONE) continue;
    const tk_id thread = index_thread(&p->of_main, p->main, process, k->tid);
    if (!thread) continue;
    if (is_empty(k) || is_empty(&p->main->tracks[thread])) {
      p->of[i] = thread;
      k->renamed = is_empty(k); /* drops its name, because the row of `main` has one */
      continue;
    }
    name_row(p->other, k, p->main, thread);
    renumber_thread(p, k, process, own);
  }
}

/* True if the process has rows other than threads. They might collide with rows of `main`: a counter is identified by its name
 * alone. */
static bool has_other_rows(const struct placing *p, tk_id process) {
  if (!is_empty(&p->other->tracks[process])) return true;
  for (tk_id i = p->first[process]; i; i = p->next[i])
    if (p->other->tracks[i].kind != TK_TRACK_THREAD && p->other->tracks[i].kind != TK_TRACK_ASYNCS) return true;
  return false;
}

static void place_process(struct placing *p, tk_id process) {
  struct tk_track *k = &p->other->tracks[process];
  const tk_id same = index_process(&p->of_main, p->other, k->pid);
  if (!same) return;
  if (!p->host_main[same] || !p->host_other[process] || has_other_rows(p, process)) {
    renumber_process(p, process);
    return;
  }
  p->of[process] = same;
  k->renamed = true;
  place_threads(p, same, process);
}

static bool prepare(struct placing *p, struct mem *mem) {
  const uint64_t n = (uint64_t)p->other->n_tracks + 1;
  p->of = mem_zeros(mem, n, sizeof *p->of);
  p->next = mem_array(mem, n, sizeof *p->next);
  p->first = mem_zeros(mem, n, sizeof *p->first);
  p->host_main = host_processes(p->main, mem);
  p->host_other = host_processes(p->other, mem);
  if (!p->of || !p->next || !p->first || !p->host_main || !p->host_other) return false;
  if (!index_init(&p->of_main, p->main, mem) || !index_init(&p->of_other, p->other, mem)) return false;
  for (tk_id i = p->other->n_tracks; i > 0; i--) {
    tk_id *first = &p->first[p->other->tracks[i].parent];
    p->next[i] = *first;
    *first = i;
  }
  return true;
}

tk_id *beside_tracks(const struct tk_trace *main, struct tk_trace *other, struct mem *mem) {
  struct placing p = {.main = main, .other = other, .next_pid = FIRST_PID, .next_tid = FIRST_TID};
  const bool ok = prepare(&p, mem);
  for (tk_id i = 1; ok && i <= other->n_tracks; i++)
    if (other->tracks[i].kind == TK_TRACK_PROCESS && !other->tracks[i].hidden) place_process(&p, i);
  index_free(&p.of_main);
  index_free(&p.of_other);
  mem_free(mem, p.next);
  mem_free(mem, p.first);
  mem_free(mem, p.host_main);
  mem_free(mem, p.host_other);
  if (ok) return p.of;
  mem_free(mem, p.of);
  return NULL;
}

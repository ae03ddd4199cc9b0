/* ahead.c - see ahead.h. */
#include "ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "base/os.h"
#include "load.h"
#include "source/sources.h"
#include "source/sources_parts.h"

/* Least memory limit per trace; with less, the threads' own memory (stacks, allocator arenas) would matter. */
enum { ROOM = 64 << 20 };

enum slot_state { HERE, WAITING, LOADING, LOADED }; /* HERE: only the caller's thread may load it */

struct slot {
  enum slot_state state;
  struct tk_trace *trace;
  struct tk_err err;
  uint64_t done, total; /* progress in bytes */
};

struct load_ahead {
  struct tk_sources *sources;
  size_t first, n;
  struct tk_load_options opt; /* options of the threads */
  uint64_t share;             /* memory limit for each trace, in bytes */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct slot *slots;
  size_t at; /* index of the slot that the caller takes next */
  bool stopped;
  unsigned n_threads;
  struct worker {
    struct load_ahead *a;
    pthread_t thread;
    struct slot *slot; /* the slot that this thread is loading */
  } workers[LOAD_AHEAD_MOST];
};

static bool tick(void *arg, uint64_t done, uint64_t total) {
  struct worker *w = arg;
  pthread_mutex_lock(&w->a->lock);
  w->slot->done = done;
  w->slot->total = total;
  const bool go_on = !w->a->stopped;
  pthread_mutex_unlock(&w->a->lock);
  return go_on;
}

/* Returns the next input to load; waits if the next one is too far ahead of the caller's input. NULL if there is none. Called
 * with the lock held. */
static struct slot *next_slot(struct load_ahead *a) {
  for (size_t i = 0; i < a->n && !a->stopped;) {
    if (i < a->at) i = a->at;
    if (i >= a->n) return NULL;
    if (a->slots[i].state != WAITING) i++;
    else if (i <= a->at + a->n_threads) return &a->slots[i];
    else pthread_cond_wait(&a->changed, &a->lock);
  }
  return NULL;
}

/* Loads an input. Called with the lock held; releases it meanwhile. */
static void load_slot(struct load_ahead *a, struct slot *slot, struct tk_progress progress) {
  struct tk_load_options opt = a->opt;
  struct tk_err err = {.offset = UINT64_MAX};
  opt.progress = progress;
  slot->state = LOADING;
  pthread_mutex_unlock(&a->lock);
  struct tk_trace *t = tk_sources_load(a->sources, a->first + (size_t)(slot - a->slots), &opt, &err);
  pthread_mutex_lock(&a->lock);
  slot->trace = t;
  slot->err = err;
  slot->state = LOADED;
  pthread_cond_broadcast(&a->changed);
}

static void *work(void *self) {
  struct worker *w = self;
  struct load_ahead *a = w->a;
  pthread_mutex_lock(&a->lock);
  while ((w->slot = next_slot(a)) != NULL) load_slot(a, w->slot, (struct tk_progress){.tick = tick, .arg = w});
  pthread_mutex_unlock(&a->lock);
  return NULL;
}

static struct load_ahead *allocate(size_t n) {
  struct load_ahead *a = calloc(1, sizeof *a);
  if (a) a->slots = calloc(n, sizeof *a->slots);
  if (a && a->slots) return a;
  free(a);
  return NULL;
}

/* True if any file contains several of the inputs. The caller then reads each file once (load_ranks), and needs the memory of the
 * threads for the other ranks. */
static bool any_shared_file(const struct tk_sources *s, size_t first, size_t n) {
  for (size_t i = 0; i + 1 < n; i++)
    if (sources_ranks_from(s, first + i) > 1) return true;
  return false;
}

struct load_ahead *load_ahead_start(struct tk_sources *s, size_t first, size_t n, const bool *unwanted,
                                    const struct tk_load_options *opt, unsigned most) {
  const unsigned cores = os_threads(opt->threads);
  unsigned threads = cores - 1 < most ? cores - 1 : most;
  size_t wanted = 0;
  const uint64_t limit = os_memory_limit(opt->max_memory);
  const bool worth_it = cores > 1 && n > 1 && (!limit || limit >= ROOM) && !any_shared_file(s, first, n);
  struct load_ahead *a = worth_it ? allocate(n) : NULL;
  if (!a) return NULL;
  a->sources = s;
  a->first = first;
  a->n = n;
  for (size_t i = 0; i < n; i++)
    if (sources_is_file(s, first + i) && !(unwanted && unwanted[i])) a->slots[i].state = WAITING, wanted++;
  if (threads > wanted) threads = (unsigned)wanted;
  a->opt = *opt;
  a->opt.threads = 1;
  a->opt.max_memory = a->share = limit / (threads + 2);
  a->opt.with &= ~(uint64_t)TK_WITH_PROCESS_LIMIT;
  pthread_mutex_init(&a->lock, NULL);
  pthread_cond_init(&a->changed, NULL);
  pthread_mutex_lock(&a->lock); /* locked so that the first threads wait until the number of threads is known */
  for (; a->n_threads < threads; a->n_threads++) {
    struct worker *w = &a->workers[a->n_threads];
    w->a = a;
    if (pthread_create(&w->thread, NULL, work, w) != 0) break;
  }
  pthread_mutex_unlock(&a->lock);
  if (a->n_threads) return a;
  load_ahead_stop(a);
  return NULL;
}

/* State of the caller while it loads another slot instead of waiting. */
struct helper {
  struct load_ahead *a;
  const struct slot *awaited;
  const struct tk_progress *progress;
  bool stopped;
};

static bool tick_of_helper(void *arg, uint64_t done, uint64_t total) {
  struct helper *h = arg;
  pthread_mutex_lock(&h->a->lock);
  if (h->awaited->state == LOADING) done = h->awaited->done, total = h->awaited->total;
  pthread_mutex_unlock(&h->a->lock);
  h->stopped = h->progress->tick && !h->progress->tick(h->progress->arg, done, total);
  return !h->stopped;
}

/* Returns a slot that no thread has started to load and that is not too far ahead of the caller's; NULL if there is none. */
static struct slot *left_slot(struct load_ahead *a) {
  for (size_t i = a->at; i < a->n && i <= a->at + a->n_threads; i++)
    if (a->slots[i].state == WAITING) return &a->slots[i];
  return NULL;
}

/* Until a thread has loaded the slot, loads another slot or waits, and reports progress. Returns false if the caller's tick
 * returns false. */
static bool wait_for(struct load_ahead *a, struct slot *slot, const struct tk_progress *p) {
  enum { TICK_NS = 100000000 };
  struct helper helper = {a, slot, p, false};
  bool go_on = true;
  while (go_on && slot->state == LOADING) {
    struct slot *left = left_slot(a);
    if (left) {
      load_slot(a, left, (struct tk_progress){.tick = tick_of_helper, .arg = &helper});
      go_on = !helper.stopped;
      continue;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&a->changed, &a->lock, &until);
    const uint64_t done = slot->done, total = slot->total;
    pthread_mutex_unlock(&a->lock);
    go_on = !p->tick || p->tick(p->arg, done, total);
    pthread_mutex_lock(&a->lock);
  }
  return go_on;
}

/* Stops the threads, which abort loading, and frees all loaded traces. */
static void join(struct load_ahead *a) {
  pthread_mutex_lock(&a->lock);
  a->stopped = true;
  pthread_cond_broadcast(&a->changed);
  pthread_mutex_unlock(&a->lock);
  for (unsigned i = 0; i < a->n_threads; i++) pthread_join(a->workers[i].thread, NULL);
  for (size_t i = 0; i < a->n; i++) {
    tk_free(a->slots[i].trace);
    a->slots[i] = (struct slot){.state = HERE};
  }
  a->n_threads = 0;
}

/* Loads an input within the memory that is left when all threads use their shares. If this is too little, stops the threads and tries
 * again. After loading, operations on the trace may use all memory. */
static struct tk_trace *load_here(struct load_ahead *a, struct tk_sources *s, size_t i, const struct tk_load_options *opt,
                                  struct tk_err *err) {
  struct tk_load_options less = *opt;
  const uint64_t held = a ? a->n_threads * a->share : 0;
  if (held && opt->max_memory) {
    less.max_memory = opt->max_memory > held ? opt->max_memory - held : 1;
    less.with &= ~(uint64_t)TK_WITH_PROCESS_LIMIT;
  }
  struct tk_trace *t = tk_sources_load(s, i, &less, err);
  if (t && held) load_limit(t, opt);
  if (t || !held || err->code != TK_ELIMIT) return t;
  join(a);
  err_clear(err);
  return tk_sources_load(s, i, opt, err);
}

struct tk_trace *load_ahead_take(struct load_ahead *a, struct tk_sources *s, size_t first, size_t i, const struct tk_load_options *opt,
                                 struct tk_err *err) {
  if (!a || !a->n_threads) return load_here(a, s, first + i, opt, err);
  struct slot *slot = &a->slots[i];
  pthread_mutex_lock(&a->lock);
  a->at = i;
  pthread_cond_broadcast(&a->changed);
  const bool go_on = wait_for(a, slot, &opt->progress), loaded = slot->state == LOADED;
  struct tk_trace *t = loaded ? slot->trace : NULL;
  if (go_on) {
    slot->trace = NULL;
    slot->state = HERE;
  }
  pthread_mutex_unlock(&a->lock);
  if (!go_on) {
    err_set(err, TK_EINTERRUPTED, "interrupted");
    return NULL;
  }
  if (t) load_limit(t, opt);
  if (t) return t;
  if (!loaded || slot->err.code == TK_ELIMIT) return load_here(a, s, first + i, opt, err);
  *err = slot->err;
  return NULL;
}

void load_ahead_stop(struct load_ahead *a) {
  if (!a) return;
  join(a);
  pthread_mutex_destroy(&a->lock);
  pthread_cond_destroy(&a->changed);
  free(a->slots);
  free(a);
}

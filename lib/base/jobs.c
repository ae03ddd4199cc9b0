/* jobs.c - see jobs.h. */
#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
  struct slot {
    void *job;
    bool done;
  } slots[JOBS_MOST];
  unsigned given, begun, taken; /* counters that never decrease */
};

struct jobs {
  void (*work)(void *job);
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct queue first, rest;
  unsigned running;
  bool stopped;
  unsigned n_threads;
  pthread_t threads[JOBS_MOST];
};

static bool has_next(const struct queue *q) { return q->begun != q->given; }

static void give(struct jobs *j, struct queue *q, void *job) {
  pthread_mutex_lock(&j->lock);
  q->slots[q->given++ % JOBS_MOST] = (struct slot){.job = job};
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
}

/* Runs the next job of the queue. Called with the lock held; releases the lock while the job runs. */
static void do_next(struct jobs *j, struct queue *q) {
  struct slot *s = &q->slots[q->begun++ % JOBS_MOST];
  j->running++;
  pthread_mutex_unlock(&j->lock);
  j->work(s->job);
  pthread_mutex_lock(&j->lock);
  s->done = true;
  j->running--;
  pthread_cond_broadcast(&j->changed);
}

static void *run_thread(void *self) {
  struct jobs *j = self;
  pthread_mutex_lock(&j->lock);
  while (!j->stopped) {
    if (has_next(&j->first)) do_next(j, &j->first);
    else if (has_next(&j->rest)) do_next(j, &j->rest);
    else pthread_cond_wait(&j->changed, &j->lock);
  }
  pthread_mutex_unlock(&j->lock);
  return NULL;
}

struct jobs *jobs_start(unsigned threads, void (*work)(void *job)) {
  struct jobs *j = calloc(1, sizeof *j);
  if (!j) return NULL;
  j->work = work;
  pthread_mutex_init(&j->lock, NULL);
  pthread_cond_init(&j->changed, NULL);
  while (j->n_threads < threads && j->n_threads < JOBS_MOST && pthread_create(&j->threads[j->n_threads], NULL, run_thread, j) == 0)
    j->n_threads++;
  return j;
}

void jobs_give(struct jobs *j, void *job) { give(j, &j->rest, job); }

void jobs_give_first(struct jobs *j, void *job) { give(j, &j->first, job); }

/* Takes the jobs at the head of the queue that are done. Returns the number of the others. */
static unsigned take_done(struct queue *q) {
  while (q->taken != q->given && q->slots[q->taken % JOBS_MOST].done) q->taken++;
  return q->given - q->taken;
}

unsigned jobs_count_first(struct jobs *j) {
  pthread_mutex_lock(&j->lock);
  const unsigned n = take_done(&j->first);
  pthread_mutex_unlock(&j->lock);
  return n;
}

void jobs_finish_first(struct jobs *j) {
  pthread_mutex_lock(&j->lock);
  while (take_done(&j->first) > 0) {
    if (has_next(&j->first)) do_next(j, &j->first);
    else pthread_cond_wait(&j->changed, &j->lock);
  }
  pthread_mutex_unlock(&j->lock);
}

void *jobs_take(struct jobs *j) {
  void *job = NULL;
  pthread_mutex_lock(&j->lock);
  while (j->rest.taken != j->rest.given) {
    struct slot *s = &j->rest.slots[j->rest.taken % JOBS_MOST];
    if (s->done) {
      job = s->job;
      j->rest.taken++;
      break;
    }
    if (has_next(&j->first)) do_next(j, &j->first);
    else if (has_next(&j->rest)) do_next(j, &j->rest);
    else pthread_cond_wait(&j->changed, &j->lock);
  }
  pthread_mutex_unlock(&j->lock);
  return job;
}

void jobs_drop(struct jobs *j) {
  pthread_mutex_lock(&j->lock);
  j->first.begun = j->first.given;
  j->rest.begun = j->rest.given;
  while (j->running) pthread_cond_wait(&j->changed, &j->lock);
  j->first.taken = j->first.given;
  j->rest.taken = j->rest.given;
  pthread_mutex_unlock(&j->lock);
}

void jobs_stop(struct jobs *j) {
  if (!j) return;
  jobs_drop(j);
  pthread_mutex_lock(&j->lock);
  j->stopped = true;
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
  for (unsigned i = 0; i < j->n_threads; i++) pthread_join(j->threads[i], NULL);
  pthread_mutex_destroy(&j->lock);
  pthread_cond_destroy(&j->changed);
  free(j);
}

/* jobs.c - see jobs.h. */
#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>

struct jobs {
  void (*work)(void *job);
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct slot {
    void *job;
    bool done;
  } slots[JOBS_MOST];
  unsigned given, begun, taken; /* counters that never decrease */
  unsigned running;
  bool stopped;
  unsigned n_threads;
  pthread_t threads[JOBS_MOST];
};

/* Runs the next job that no thread has begun. Called with the lock held; releases the lock while the job runs. */
static void do_next(struct jobs *j) {
  struct slot *s = &j->slots[j->begun++ % JOBS_MOST];
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
    if (j->begun != j->given) do_next(j);
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

void jobs_give(struct jobs *j, void *job) {
  pthread_mutex_lock(&j->lock);
  j->slots[j->given++ % JOBS_MOST] = (struct slot){.job = job};
  pthread_cond_broadcast(&j->changed);
  pthread_mutex_unlock(&j->lock);
}

void *jobs_take(struct jobs *j) {
  void *job = NULL;
  pthread_mutex_lock(&j->lock);
  while (j->taken != j->given) {
    struct slot *s = &j->slots[j->taken % JOBS_MOST];
    if (s->done) {
      job = s->job;
      j->taken++;
      break;
    }
    if (j->begun != j->given) do_next(j);
    else pthread_cond_wait(&j->changed, &j->lock);
  }
  pthread_mutex_unlock(&j->lock);
  return job;
}

void jobs_drop(struct jobs *j) {
  pthread_mutex_lock(&j->lock);
  j->begun = j->given;
  while (j->running) pthread_cond_wait(&j->changed, &j->lock);
  j->taken = j->given;
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

/* interrupt.c - see interrupt.h.
 *
 * The alarm is the last resort, because a handler cannot clean up. An output file has no name until it is complete, so it
 * vanishes with the process; if the file system does not support unnamed files, the next run removes the leftover. */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/select.h>
#include <unistd.h>

#include "run.h"

/* Seconds until the alarm ends the process: TO_NOTICE from the signal until the work notices it, then TO_CLEAN_UP to clean
 * up. */
enum { TO_NOTICE = 1, TO_CLEAN_UP = 5 };

/* caught: number of the signal, set by the handler. noticed: interrupt_signal() has reported it. */
static volatile sig_atomic_t caught;
static volatile sig_atomic_t noticed;
/* Processes to kill when the alarm ends this program, as arguments of kill(); 0 = unused element. */
enum { MOST_TAKEN = 64 };
static volatile pid_t taken[MOST_TAKEN];

static void on_signal(int number) {
  caught = number;
  alarm(TO_NOTICE);
}

static void on_alarm(int number) {
  static const char text[] = "tracekit: interrupted\n";
  (void)number;
  for (size_t i = 0; i < MOST_TAKEN; i++)
    if (taken[i]) kill(taken[i], SIGKILL);
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  _exit(STATUS_SIGNALLED + caught);
}

static void catch_one(int number) {
  const struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
  struct sigaction before;
  /* A signal that the parent process ignored (nohup, a background job) stays ignored. */
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN) return;
  sigaction(number, &action, NULL);
}

void interrupt_catch(void) {
  catch_one(SIGINT);
  catch_one(SIGTERM);
  catch_one(SIGHUP);
  sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
  signal(SIGPIPE, SIG_IGN);
}

int interrupt_signal(void) {
  if (caught && !noticed) {
    noticed = true;
    alarm(TO_CLEAN_UP);
  }
  return caught;
}

/* Blocks signals except within pselect(): otherwise a signal between the test of `caught` and the wait would be missed. */
bool interrupt_wait(int fd) {
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, &before);
  for (bool again = true; again && !caught;) {
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(fd, &readable);
    again = pselect(fd + 1, &readable, NULL, NULL, NULL, &before) < 0 && errno == EINTR;
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return !caught;
}

static void replace(pid_t from, pid_t to) {
  for (size_t i = 0; i < MOST_TAKEN; i++) {
    if (taken[i] != from) continue;
    taken[i] = to;
    return;
  }
}

void interrupt_take(pid_t target) { replace(0, target); }

void interrupt_spare(pid_t target) { replace(target, 0); }

void interrupt_forget(void) {
  alarm(0);
  caught = noticed = 0;
  interrupt_catch();
}

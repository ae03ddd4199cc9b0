/* helper.c - see helper.h. */
#include "helper.h"

#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TICK_MS = 100, SOON_MS = 10, END_MS = 2000 };

/* Returns the first argument of kill() for the process or its group. */
static pid_t target_of(const struct helper *h) { return h->group ? -h->pid : h->pid; }

/* ---- starting ---- */

static bool make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return true;
}

static void close_pipe(int ends[2]) {
  close(ends[0]);
  close(ends[1]);
}

/* Starts the program with these pipes as its output and error output. Restores the default of SIGPIPE, which this program
 * ignores. Returns 0 or an errno. */
static int spawn(struct helper *h, const char *const *argv, const int out[2], const int err[2]) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err[1], STDERR_FILENO);
  posix_spawnattr_setsigmask(&how, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &signals);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (h->group ? POSIX_SPAWN_SETPGROUP : 0)));
  const int failed = posix_spawnp(&h->pid, argv[0], &files, &how, (char *const *)argv, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return failed;
}

bool helper_start(struct helper *h, const char *const *argv, bool group) {
  int out[2], err[2];
  *h = (struct helper){ .name = argv[0], .group = group, .out = -1, .err = -1 };
  if (!make_pipe(out)) return false;
  if (!make_pipe(err)) {
    close_pipe(out);
    return false;
  }
  const int failed = spawn(h, argv, out, err);
  close(out[1]);
  close(err[1]);
  if (failed) {
    close(out[0]);
    close(err[0]);
    h->pid = 0;
    errno = failed;
    return false;
  }
  h->out = out[0];
  h->err = err[0];
  interrupt_take(target_of(h));
  return true;
}

/* ---- reading ---- */

/* Appends a byte of the helper's stderr to h->log, and updates h->last, the last line that is not empty. */
static void hear_char(struct helper *h, char c) {
  if (h->log && h->n_log < h->most_log) h->log[h->n_log++] = c;
  if (c == '\n' || c == '\r') {
    h->line_ended = true;
    return;
  }
  if (h->line_ended) h->n_last = 0;
  h->line_ended = false;
  if (h->n_last < sizeof h->last - 1) h->last[h->n_last++] = c < 0x20 || c == 0x7f ? ' ' : c;
  h->last[h->n_last] = 0;
}

void helper_hear(struct helper *h) {
  char text[4096];
  while (h->err >= 0) {
    struct pollfd one = { .fd = h->err, .events = POLLIN };
    if (poll(&one, 1, 0) <= 0) return;
    const ssize_t n = read(h->err, text, sizeof text);
    for (ssize_t i = 0; i < n; i++) hear_char(h, text[i]);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    close(h->err);
    h->err = -1;
  }
}

ptrdiff_t helper_read(struct helper *h, void *p, size_t n) {
  while (!interrupt_signal()) {
    struct pollfd both[] = { { .fd = h->out, .events = POLLIN }, { .fd = h->err, .events = POLLIN } };
    if (poll(both, 2, TICK_MS) < 0 && errno != EINTR) return -1;
    if (both[1].revents) helper_hear(h);
    if (!both[0].revents) continue;
    const ssize_t got = read(h->out, p, n);
    if (got >= 0 || errno != EINTR) return got;
  }
  return -1;
}

/* ---- ending ---- */

/* True if the process has ended; then its exit status is in h->status. */
static bool has_ended(struct helper *h) {
  if (!h->pid) return true;
  const pid_t pid = waitpid(h->pid, &h->status, WNOHANG);
  if (pid == 0 || (pid < 0 && errno == EINTR)) return false;
  interrupt_spare(target_of(h));
  h->pid = 0;
  return true;
}

bool helper_end(struct helper *h, char *why, size_t size) {
  while (!has_ended(h)) {
    struct pollfd one = { .fd = h->err, .events = POLLIN };
    if (interrupt_signal()) {
      snprintf(why, size, "interrupted");
      return false;
    }
    poll(&one, 1, SOON_MS);
    helper_hear(h);
  }
  helper_hear(h);
  if (WIFEXITED(h->status) && WEXITSTATUS(h->status) == 0) return true;
  const int number = WIFEXITED(h->status) ? WEXITSTATUS(h->status) : WTERMSIG(h->status);
  snprintf(why, size, "%s %s %d%s%s", h->name, WIFEXITED(h->status) ? "failed with status" : "was ended by signal", number,
           h->n_last ? ": " : "", h->last);
  return false;
}

void helper_stop(struct helper *h) {
  if (h->out >= 0) close(h->out);
  if (h->err >= 0) close(h->err);
  h->out = h->err = -1;
  if (has_ended(h)) return;
  kill(target_of(h), SIGTERM);
  for (int ms = 0; ms < END_MS && !has_ended(h); ms += SOON_MS) poll(NULL, 0, SOON_MS);
  if (!h->pid) return;
  kill(target_of(h), SIGKILL);
  interrupt_spare(target_of(h));
  waitpid(h->pid, &h->status, 0);
  h->pid = 0;
}

bool helper_fail(struct tk_err *err, enum tk_code code, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  err->code = code;
  vsnprintf(err->msg, sizeof err->msg, fmt, ap);
  va_end(ap);
  return false;
}

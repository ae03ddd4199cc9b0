/* progress.c - see progress.h.
 *
 *     reading rank3.json.gz (4 of 8) [#######--------]  47%  212 MB/s  0:07 left
 *
 * The line appears after half a second, is updated at most six times a second, and is erased at the end. By default, it is printed only
 * on a terminal. JSON lines are written at the beginning and the end of each phase, and at the same rate in between. */
#include "progress.h"

#include "interrupt.h"
#include "print/json.h"
#include "print/tty.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_SHOWN_MS = 500, BETWEEN_SHOWN_MS = 160, BAR = 15, NARROW = 80, NAME_SHOWN = 28 };

static uint64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- a line of JSON ---- */

static void show_json(const struct progress *p) {
  struct json j = { .to = stderr };
  if (!p->json) return;
  j.flat = true;
  json_open(&j, NULL, '{');
  json_string(&j, "phase", p->what);
  if (*p->name) json_string(&j, "name", p->name);
  if (p->n) json_uint(&j, "index", p->i), json_uint(&j, "of", p->n);
  json_uint(&j, "done", p->done);
  if (p->total) json_uint(&j, "total", p->total);
  json_string(&j, "unit", p->events ? "events" : "bytes");
  json_uint(&j, "elapsed_ms", now_ms() - p->started_ms);
  json_close(&j, '}');
  fflush(stderr);
}

/* ---- a line of text ---- */

/* Formats an amount: bytes as a size, 1234567 events as "1.2 M". */
static void print_amount(const struct progress *p, uint64_t n, char *text, size_t size) {
  static const char *const units[] = { "", " k", " M", " G" };
  char number[32];
  double v = (double)n;
  size_t u = 0;
  if (!p->events) {
    tk_print_size(n, text);
    return;
  }
  for (; v >= 1000 && u < 3; u++) v /= 1000;
  snprintf(text, size, "%s%s", tty_fraction(v, u ? 1 : 0, number), units[u]);
}

static void show_bar(const struct progress *p) {
  const uint64_t done = p->done < p->total ? p->done : p->total;
  const int full = (int)((double)done / (double)p->total * BAR);
  fputs(" [", stderr);
  for (int i = 0; i < BAR; i++) fputc(i < full ? '#' : '-', stderr);
  fprintf(stderr, "] %3u%%", (unsigned)((double)done / (double)p->total * 100));
}

/* Prints the rate and the remaining time, once the phase has run for long enough to estimate them. */
static void show_rate(const struct progress *p, uint64_t now) {
  const uint64_t ms = now - p->phase_ms;
  char rate[64];
  if (ms < FIRST_SHOWN_MS || !p->done) return;
  const double a_second = (double)p->done * 1000 / (double)ms;
  print_amount(p, (uint64_t)a_second, rate, sizeof rate);
  fprintf(stderr, "  %s%s/s", rate, p->events ? " events" : "");
  if (p->total <= p->done) return;
  const uint64_t left = (uint64_t)((double)(p->total - p->done) / a_second + 0.5);
  fprintf(stderr, "  %llu:%02llu left", (unsigned long long)(left / 60), (unsigned long long)(left % 60));
}

static void show(const struct progress *p, uint64_t now) {
  const size_t n = strlen(p->name);
  char done[64];
  fputs("\r\033[K", stderr);
  fputs(p->what, stderr);
  if (n) fputc(' ', stderr);
  tty_string(stderr, n > NAME_SHOWN ? p->name + n - NAME_SHOWN : p->name);
  if (p->n > 1) fprintf(stderr, " (%zu of %zu)", p->i, p->n);
  if (p->total) {
    show_bar(p);
  } else if (p->done) {
    print_amount(p, p->done, done, sizeof done);
    fprintf(stderr, ": %s%s", done, p->events ? " events" : "");
  }
  show_rate(p, now);
  fflush(stderr);
}

/* ---- start, phases and end ---- */

void progress_start(struct progress *p, const char *what, const char *name, int choice) {
  *p = (struct progress){ .started_ms = now_ms(), .json = choice == PROGRESS_JSON };
  p->phase_ms = p->started_ms;
  p->on = choice > 0 || (choice == PROGRESS_ON_TERMINAL && isatty(STDERR_FILENO));
  snprintf(p->what, sizeof p->what, "%s", what);
  snprintf(p->name, sizeof p->name, "%s", name ? name : "");
}

void progress_phase(void *progress, const struct tk_phase *phase) {
  struct progress *p = progress;
  const char *name = phase->name ? phase->name : "";
  const bool same = !strcmp(p->what, phase->what) && !strcmp(p->name, name) && p->i == phase->i;
  if (p->done && !same) show_json(p);
  snprintf(p->what, sizeof p->what, "%s", phase->what);
  snprintf(p->name, sizeof p->name, "%s", name);
  p->i = phase->i;
  p->n = phase->n;
  p->events = phase->events;
  p->done = p->total = 0;
  p->phase_ms = now_ms();
  if (!same) show_json(p);
  if (p->visible) show(p, p->phase_ms);
}

bool progress_tick(void *progress, uint64_t done, uint64_t total) {
  struct progress *p = progress;
  uint64_t now;
  if (interrupt_signal()) return false;
  if (!p->on) return true;
  p->done = done;
  p->total = total;
  now = now_ms();
  if (now - p->started_ms < FIRST_SHOWN_MS || now - p->shown_ms < BETWEEN_SHOWN_MS) return true;
  p->shown_ms = now;
  if (p->json) {
    show_json(p);
    return true;
  }
  p->visible = true;
  show(p, now);
  return true;
}

void progress_end(struct progress *p) {
  if (p->done) show_json(p);
  if (p->visible) fputs("\r\033[K", stderr);
  p->visible = false;
}

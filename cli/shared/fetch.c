/* fetch.c - see fetch.h. The command lines are in fetch_words.c, the processes in helper.c. */
#include "fetch.h"

#include "fetch_export.h"
#include "fetch_words.h"
#include "helper.h"
#include "interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 16 << 10 };

/* ---- errors ---- */

/* Ends a stream: waits for the program. Returns true if it succeeded; false with err set if it failed or a signal arrived. */
static bool fail_of(struct helper *h, enum tk_code code, struct tk_err *err) {
  char why[512] = "";
  if (!interrupt_signal() && helper_end(h, why, sizeof why)) return true;
  return interrupt_signal() ? helper_fail(err, TK_EINTERRUPTED, "interrupted") : helper_fail(err, code, "%s", why);
}

/* ---- starting ---- */

static bool say_missing(const struct fetch_scheme *s, struct tk_err *err) {
  return helper_fail(err, TK_EOPEN, "%s:// needs the program %s%s%s, which was not found; %s", s->name, s->programs[0],
              s->programs[1] ? " or " : "", s->programs[1] ? s->programs[1] : "", s->remedy);
}

static bool start(struct helper *h, const char *address, enum fetch_task task, struct tk_err *err) {
  const struct fetch_scheme *s = fetch_scheme_of(address);
  const char *wrong = s ? fetch_wrong(s, address) : "unknown scheme";
  for (size_t i = 0; !wrong && i < 2 && s->programs[i]; i++) {
    struct fetch_words w = { .n = 0 };
    wrong = s->words(&w, s->programs[i], address, task);
    if (wrong || helper_start(h, w.argv, !s->asks)) break;
    if (errno != ENOENT) return helper_fail(err, TK_EOPEN, "failed to start %s: %s", s->programs[i], strerror(errno));
    if (i == 1 || !s->programs[1]) return say_missing(s, err);
  }
  if (wrong) return helper_fail(err, TK_EOPEN, "cannot open: %s", wrong);
  return true;
}

/* ---- a stream ---- */

static void *open_stream(void *arg, const char *address, struct tk_err *err) {
  struct helper *h = malloc(sizeof *h);
  (void)arg;
  if (!h) helper_fail(err, TK_ELIMIT, "out of memory");
  if (h && start(h, address, FETCH_OPEN, err)) return h;
  free(h);
  return NULL;
}

static ptrdiff_t read_stream(void *stream, void *p, size_t n, struct tk_err *err) {
  const ptrdiff_t got = helper_read(stream, p, n);
  if (got > 0) return got;
  return fail_of(stream, TK_EREAD, err) && got == 0 ? 0 : -1;
}

static void close_stream(void *stream) {
  helper_stop(stream);
  free(stream);
}

/* ---- lines ---- */

/* The lines that a program prints. */
struct lines {
  struct helper h;
  char text[LINE];
  size_t at, end; /* the part that was read and not yet returned */
};

/* Returns the next line, without its end; NULL after the last one, and with err set on failure. */
static char *next_line(struct lines *l, struct tk_err *err) {
  for (;;) {
    char *from = l->text + l->at, *stop = memchr(from, '\n', l->end - l->at);
    if (stop) {
      *stop = 0;
      l->at = (size_t)(stop - l->text) + 1;
      return from;
    }
    memmove(l->text, from, l->end - l->at);
    l->end -= l->at;
    l->at = 0;
    const bool full = l->end == sizeof l->text;
    const ptrdiff_t got = full ? 0 : helper_read(&l->h, l->text + l->end, sizeof l->text - l->end);
    if (full) helper_fail(err, TK_EREAD, "%s printed a line of more than %d bytes", l->h.name, LINE);
    else if (got <= 0) fail_of(&l->h, TK_EOPEN, err);
    if (got <= 0) return NULL;
    l->end += (size_t)got;
  }
}

/* ---- listings ---- */

/* Skips blanks, then returns the field that follows, up to the next blank. */
static char *next_field(char **rest) {
  char *field = *rest + strspn(*rest, " ");
  *rest = field + strcspn(field, " ");
  if (**rest) *(*rest)++ = 0;
  return field;
}

static uint64_t number_of(const char *text) {
  char *end;
  const unsigned long long n = strtoull(text, &end, 10);
  return end == text || *end || *text == '-' ? UINT64_MAX : n;
}

/* Reads "2026-11-20 10:41:58" or "2026-11-20T10:41:58Z". Returns nanoseconds since 1970; 0 if invalid. local: local time, as
 * aws prints it, instead of UTC. */
static int64_t seconds_of(const char *date, const char *clock, bool local) {
  struct tm t = { .tm_isdst = -1 };
  if (sscanf(date, "%4d-%2d-%2d", &t.tm_year, &t.tm_mon, &t.tm_mday) != 3) return 0;
  if (sscanf(clock, "%2d:%2d:%2d", &t.tm_hour, &t.tm_min, &t.tm_sec) != 3) return 0;
  t.tm_year -= 1900;
  t.tm_mon--;
  const time_t seconds = local ? mktime(&t) : timegm(&t);
  return seconds > 0 && seconds < INT64_MAX / 1000000000 ? (int64_t)seconds * 1000000000 : 0;
}

/* The functions line_of_X read a line that one program prints. They return false if the line does not name a file of the folder. */
static bool line_of_s3(char *line, const char *folder, struct tk_remote_file *f) {
  const char *date = next_field(&line), *clock = next_field(&line), *size = next_field(&line), *key = folder + strlen("s3://");
  key += strcspn(key, "/") + 1;
  *f = (struct tk_remote_file){ line + strlen(key), number_of(size), seconds_of(date, clock, true) };
  return f->size != UINT64_MAX && strncmp(line, key, strlen(key)) == 0;
}

static bool line_of_gs(char *line, const char *folder, struct tk_remote_file *f) {
  const char *size = next_field(&line), *time = next_field(&line), *clock = strchr(time, 'T');
  line += strspn(line, " ");
  *f = (struct tk_remote_file){ line + strlen(folder), number_of(size), clock ? seconds_of(time, clock + 1, false) : 0 };
  return f->size != UINT64_MAX && strncmp(line, folder, strlen(folder)) == 0;
}

static bool line_of_ssh(char *line, const char *folder, struct tk_remote_file *f) {
  const uint64_t size = number_of(next_field(&line)), seconds = number_of(next_field(&line));
  (void)folder;
  *f = (struct tk_remote_file){ line + 2, size, seconds < INT64_MAX / 1000000000 ? (int64_t)seconds * 1000000000 : 0 };
  return size != UINT64_MAX && strncmp(line, "./", 2) == 0;
}

static bool read_line(char *line, const char *folder, struct tk_remote_file *f) {
  if (strncmp(folder, "s3:", 3) == 0) return line_of_s3(line, folder, f);
  return strncmp(folder, "gs:", 3) == 0 ? line_of_gs(line, folder, f) : line_of_ssh(line, folder, f);
}

static bool list(void *arg, const char *address, bool (*add)(void *to, const struct tk_remote_file *file), void *to,
                 struct tk_err *err) {
  const struct fetch_scheme *s = fetch_scheme_of(address);
  struct lines *l = calloc(1, sizeof *l);
  struct tk_remote_file file;
  char *line = NULL;
  (void)arg;
  if (s->folders) helper_fail(err, TK_EOPEN, "cannot list: %s", s->folders);
  else if (!l) helper_fail(err, TK_ELIMIT, "out of memory");
  const bool started = !s->folders && l && start(&l->h, address, FETCH_LIST, err);
  bool more = started;
  while (more && (line = next_line(l, err)) != NULL) {
    const size_t n = strlen(line);
    if (n && line[n - 1] != '/' && read_line(line, address, &file)) more = add(to, &file);
  }
  if (started) helper_stop(&l->h);
  free(l);
  return started && err->code == TK_OK;
}

/* ---- copies ---- */

/* Downloads an address to a local copy. Returns the path of the copy, which the program prints on its last line; for a folder,
 * the requested subfolder of the copy. */
static char *local(void *nsys, const char *address, struct tk_err *err) {
  if (fetch_exports(address) && !strstr(address, "://")) return fetch_export(nsys, address, err);
  const struct fetch_scheme *s = fetch_scheme_of(address);
  const char *path = s->copies ? fetch_hf_path(address) : "";
  const bool folder = !*path || path[strlen(path) - 1] == '/';
  struct lines *l = s->copies ? calloc(1, sizeof *l) : NULL;
  char *line, *last = NULL;
  if (!s->copies) return NULL;
  if (!l) helper_fail(err, TK_ELIMIT, "out of memory");
  if (l && start(&l->h, address, FETCH_LOCAL, err)) {
    while ((line = next_line(l, err)) != NULL) {
      if (!*line) continue;
      free(last);
      last = NULL;
      if (asprintf(&last, "%s%s%s", line, folder && *path ? "/" : "", folder ? path : "") < 0) last = NULL;
    }
    if (err->code == TK_OK && (!last || *last != '/')) helper_fail(err, TK_EOPEN, "%s did not print the path of the file", l->h.name);
    helper_stop(&l->h);
  }
  free(l);
  if (err->code == TK_OK) return last;
  free(last);
  return NULL;
}

/* ---- refusals ---- */

static char *refuse_address(void *nsys, const char *address, struct tk_err *err) {
  if (fetch_exports(address) && !strstr(address, "://")) return fetch_export(nsys, address, err);
  helper_fail(err, TK_EOPEN, "is an address, which --no-fetch refuses");
  return NULL;
}

const struct tk_fetch *fetch_functions(struct tk_fetch *f, bool refused, const char *nsys) {
  *f = (struct tk_fetch){ .local = local, .list = list, .open = open_stream, .read = read_stream, .close = close_stream };
  if (refused) *f = (struct tk_fetch){ .local = refuse_address };
  f->schemes = fetch_names + (nsys ? 0 : 1);
  f->arg = (void *)(uintptr_t)nsys;
  return f;
}

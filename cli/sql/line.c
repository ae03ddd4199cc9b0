/* line.c - see line.h. Editing needs a terminal and libedit; otherwise lines are read unchanged. */
#include "line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/interrupt.h"

#ifdef TK_HAVE_LIBEDIT
#include <ctype.h>
#include <histedit.h>
#include <locale.h>
#include <stdint.h>
#include <strings.h>
#include <sys/stat.h>
#include <wchar.h>

#include "shared/late.h"

enum { REMEMBERED = 1000, PATH_ROOM = 4096 };

#define LIBEDIT_FUNCTIONS(f) \
  f(el_end) f(el_get) f(el_gets) f(el_init) f(el_insertstr) f(el_line) f(el_reset) f(el_set) f(el_source) f(el_wset) \
  f(history) f(history_end) f(history_init)
static struct libedit { LIBEDIT_FUNCTIONS(LATE_MEMBER) } libedit; /* a global, because callbacks get only libedit's own pointer */

#ifdef TK_LATE_EDIT
static bool find_libedit(void) { return LATE_FIND(TK_LATE_EDIT, libedit, LIBEDIT_FUNCTIONS); }
#else
static bool find_libedit(void) { return LATE_LINK(libedit, LIBEDIT_FUNCTIONS); }
#endif
#endif

struct line_editor {
  char *line; /* the line read last */
  size_t room;
#ifdef TK_HAVE_LIBEDIT
  const struct line_words *words;
  const char *prompt;
  EditLine *el; /* NULL: not a terminal */
  History *history;
  char path[PATH_ROOM]; /* path of the history file; "" = no history is kept */
#endif
};

static const char *read_plain(struct line_editor *e, const char *prompt, bool *interrupted) {
  fputs(prompt, stdout);
  fflush(stdout);
  *interrupted = !interrupt_wait(STDIN_FILENO);
  if (*interrupted) return NULL;
  errno = 0;
  const ssize_t n = getline(&e->line, &e->room, stdin); /* unbuffered, because interrupt_wait() cannot see buffered lines */
  *interrupted = n < 0 && errno == EINTR;
  if (*interrupted) clearerr(stdin);
  if (n <= 0) return NULL;
  e->line[strcspn(e->line, "\r\n")] = 0;
  return e->line;
}

#ifndef TK_HAVE_LIBEDIT

struct line_editor *line_open(const char *name, const struct line_words *words) {
  (void)name, (void)words;
  setvbuf(stdin, NULL, _IONBF, 0);
  return calloc(1, sizeof(struct line_editor));
}

const char *line_read(struct line_editor *e, const char *prompt, bool *interrupted) { return read_plain(e, prompt, interrupted); }

void line_remember(struct line_editor *e, const char *line) { (void)e, (void)line; }

void line_close(struct line_editor *e) {
  if (e) free(e->line);
  free(e);
}

#else

/* ---- completion ---- */

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool begins(const char *word, const char *typed, size_t n) { return strncasecmp(word, typed, n) == 0; }

/* Returns the number of words that begin with the typed letters. Stores the first such word, and in *shared the length of the
 * prefix that all of them share. */
static size_t match(const struct line_words *words, const char *typed, size_t n, const char **first, size_t *shared) {
  size_t found = 0;
  for (size_t i = 0; i < words->n; i++) {
    const char *word = words->v[i];
    if (!begins(word, typed, n)) continue;
    if (found++ == 0) *first = word, *shared = strlen(word);
    size_t same = 0;
    while (same < *shared && tolower((unsigned char)word[same]) == tolower((unsigned char)(*first)[same])) same++;
    *shared = same;
  }
  return found;
}

static void show_words(const struct line_words *words, const char *typed, size_t n) {
  enum { COLUMNS = 4, MOST = 100 };
  size_t shown = 0;
  fputc('\n', stdout);
  for (size_t i = 0; i < words->n && shown < MOST; i++)
    if (begins(words->v[i], typed, n)) printf("%-24s%s", words->v[i], ++shown % COLUMNS ? " " : "\n");
  if (shown % COLUMNS) fputc('\n', stdout);
  fflush(stdout);
}

static unsigned char complete(EditLine *el, int key) {
  struct line_editor *e;
  const LineInfo *line = libedit.el_line(el);
  const char *typed = line->cursor, *word = "";
  size_t shared = 0;
  (void)key;
  libedit.el_get(el, EL_CLIENTDATA, &e);
  while (typed > line->buffer && is_of_word(typed[-1])) typed--;
  if (typed == line->buffer + 1 && typed[-1] == '.') typed--; /* a command of the prompt begins with '.' */
  const size_t n = (size_t)(line->cursor - typed), found = n ? match(e->words, typed, n, &word, &shared) : 0;
  if (!found) return CC_REFRESH_BEEP;
  if (shared == n && found > 1) {
    show_words(e->words, typed, n);
    return CC_REDISPLAY;
  }
  char rest[256];
  snprintf(rest, sizeof rest, "%.*s%s", (int)(shared - n), word + n, found == 1 ? " " : "");
  return libedit.el_insertstr(el, rest) == 0 ? CC_REFRESH : CC_REFRESH_BEEP;
}

/* ---- history ---- */

/* Builds the path of the history file and creates its folders, accessible only to the user. Returns false if there is no home
 * directory or a folder cannot be created. */
static bool find_history(char *path, size_t room, const char *name) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  const bool stated = state && *state == '/';
  if (!stated && !(home && *home == '/')) return false;
  const int n = stated ? snprintf(path, room, "%s/tracekit/%s", state, name)
                       : snprintf(path, room, "%s/.local/state/tracekit/%s", home, name);
  if (n < 0 || (size_t)n >= room) return false;
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return true;
}

void line_remember(struct line_editor *e, const char *line) {
  HistEvent event;
  if (e->history && line[strspn(line, " \t")]) libedit.history(e->history, &event, H_ENTER, line);
}

/* ---- the editor ---- */

static char *prompt_of(EditLine *el) {
  struct line_editor *e = NULL;
  libedit.el_get(el, EL_CLIENTDATA, &e);
  return (char *)(uintptr_t)(e && e->prompt ? e->prompt : "");
}

/* Reads a character as libedit itself does, but also returns if a signal arrived just before the read. */
static int read_char(EditLine *el, wchar_t *c) {
  mbstate_t state = { 0 };
  (void)el;
  for (;;) {
    char byte;
    errno = EINTR;
    if (!interrupt_wait(STDIN_FILENO)) return -1;
    const ssize_t n = read(STDIN_FILENO, &byte, 1);
    if (n <= 0) return (int)n;
    const size_t length = mbrtowc(c, &byte, 1, &state);
    if (length <= 1) return 1;
    if (length == (size_t)-1) state = (mbstate_t){ 0 }; /* skips an invalid byte */
  }
}

static bool edits(struct line_editor *e, const char *name) {
  HistEvent event;
  const char *term = getenv("TERM");
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0) return false;
  if (!find_libedit()) return false;
  setlocale(LC_CTYPE, ""); /* the cursor moves by characters, not bytes */
  e->el = libedit.el_init("tracekit", stdin, stdout, stderr);
  e->history = e->el ? libedit.history_init() : NULL;
  if (!e->history) return false;
  if (!find_history(e->path, sizeof e->path, name)) e->path[0] = 0;
  libedit.history(e->history, &event, H_SETSIZE, REMEMBERED);
  libedit.history(e->history, &event, H_SETUNIQUE, 1);
  if (e->path[0]) libedit.history(e->history, &event, H_LOAD, e->path);
  libedit.el_set(e->el, EL_CLIENTDATA, e);
  libedit.el_set(e->el, EL_PROMPT, prompt_of);
  libedit.el_set(e->el, EL_GETCFN, read_char);
  libedit.el_set(e->el, EL_EDITOR, "emacs");
  libedit.el_set(e->el, EL_HIST, libedit.history, e->history);
  libedit.el_wset(e->el, EL_ADDFN, L"complete", L"completes a word", complete); /* el_set() would leak its copies of the names */
  libedit.el_set(e->el, EL_BIND, "^I", "complete", NULL);
  libedit.el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  libedit.el_source(e->el, NULL); /* ~/.editrc */
  return true;
}

struct line_editor *line_open(const char *name, const struct line_words *words) {
  struct line_editor *e = calloc(1, sizeof *e);
  if (!e) return NULL;
  e->words = words;
  if (edits(e, name)) return e;
  if (e->el) libedit.el_end(e->el);
  e->el = NULL;
  setvbuf(stdin, NULL, _IONBF, 0);
  return e;
}

const char *line_read(struct line_editor *e, const char *prompt, bool *interrupted) {
  int n = 0;
  if (!e->el) return read_plain(e, prompt, interrupted);
  e->prompt = prompt;
  errno = 0;
  const char *line = libedit.el_gets(e->el, &n);
  *interrupted = !line && n < 0 && errno == EINTR;
  if (*interrupted) libedit.el_reset(e->el);
  free(e->line);
  e->line = line && n > 0 ? strndup(line, strcspn(line, "\r\n")) : NULL;
  return e->line;
}

void line_close(struct line_editor *e) {
  HistEvent event;
  if (!e) return;
  if (e->history && e->path[0]) libedit.history(e->history, &event, H_SAVE, e->path);
  if (e->history) libedit.history_end(e->history);
  if (e->el) libedit.el_end(e->el), setlocale(LC_CTYPE, "C");
  free(e->line);
  free(e);
}

#endif

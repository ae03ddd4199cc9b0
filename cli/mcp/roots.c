/* roots.c - see roots.h.
 *
 * A name is resolved with realpath() and must then be below a root, so neither ".." nor a link can lead out of the roots. The commands
 * follow links in folders. So a folder is first searched for links, and refused if a link leads out of the roots. Commands get only
 * absolute paths, which cannot be mistaken for an address, a list ("@x") or an option. */
#include "roots.h"

#include "print/tty.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH = 40, MOST_FILES = 200000 };

bool roots_open(struct roots *r, const char *const *folders, size_t n) {
  r->v = calloc(n + 1, sizeof *r->v);
  for (size_t i = 0; r->v && i < n; i++) {
    struct stat st;
    char *path = realpath(folders[i], NULL);
    const bool ok = path && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (!ok) tty_fail("mcp: %s: %s", folders[i], path ? "is not a folder" : strerror(errno));
    if (path) r->v[r->n++] = path;
    if (!ok) return false;
  }
  return r->v != NULL;
}

void roots_free(struct roots *r) {
  for (size_t i = 0; i < r->n; i++) free(r->v[i]);
  free(r->v);
}

static bool is_inside(const struct roots *r, const char *path) {
  for (size_t i = 0; i < r->n; i++) {
    const size_t n = strlen(r->v[i]);
    if (strcmp(r->v[i], "/") == 0) return true;
    if (strncmp(path, r->v[i], n) == 0 && (path[n] == '/' || !path[n])) return true;
  }
  return false;
}

/* ---- folders ---- */

/* A folder that is searched for links that lead out of the roots. */
struct walk {
  const struct roots *r;
  const char *top; /* absolute */
  size_t left;     /* number of files that may still be seen */
  char *why;
};

static bool walk_folder(struct walk *w, const char *folder, unsigned depth);

static bool is_below(const char *path, const char *folder) {
  const size_t n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

/* True if a link leads to a path within the roots, or nowhere. If it leads to a folder outside w->top, searches this folder,
 * too. */
static bool check_link(struct walk *w, const char *path, unsigned depth) {
  struct stat st;
  char *real = realpath(path, NULL);
  bool ok = !real || is_inside(w->r, real);
  if (!ok) snprintf(w->why, ROOTS_WHY, "the folder contains a link to a file or folder that is not permitted: %.120s", path);
  else if (real && !is_below(real, w->top) && stat(real, &st) == 0 && S_ISDIR(st.st_mode)) ok = walk_folder(w, real, depth + 1);
  free(real);
  return ok;
}

static bool check_entry(struct walk *w, const char *folder, const char *name, unsigned depth) {
  struct stat st;
  char *path;
  bool ok = true;
  if (w->left-- == 0) {
    w->left = 0;
    snprintf(w->why, ROOTS_WHY, "the folder contains more than %d files; name a subfolder or file", MOST_FILES);
    return false;
  }
  if (asprintf(&path, "%s/%s", folder, name) < 0) return false;
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) ok = check_link(w, path, depth);
  else if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) ok = walk_folder(w, path, depth + 1);
  free(path);
  return ok;
}

static bool walk_folder(struct walk *w, const char *folder, unsigned depth) {
  DIR *dir = depth < DEPTH ? opendir(folder) : NULL;
  bool ok = true;
  for (struct dirent *d; dir && ok && (d = readdir(dir)) != NULL;)
    if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0) ok = check_entry(w, folder, d->d_name, depth);
  if (dir) closedir(dir);
  return ok;
}

/* ---- names ---- */

/* Returns the absolute path of a file or folder; a relative name is looked up in each root in turn. NULL if it does not
 * exist. */
static char *find(const struct roots *r, const char *name) {
  char *joined, *real;
  if (*name == '/') return realpath(name, NULL);
  for (size_t i = 0; i < r->n; i++) {
    if (asprintf(&joined, "%s/%s", r->v[i], name) < 0) return NULL;
    real = realpath(joined, NULL);
    free(joined);
    if (real) return real;
  }
  return NULL;
}

static bool has_control(const char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return true;
  return false;
}

/* Returns the absolute path of the archive "logs.zip" in "logs.zip:rank0.json", and sets *member to the rest, ":rank0.json".
 * Returns NULL if no prefix before a colon names a file. */
static char *find_archive(const struct roots *r, const char *name, const char **member) {
  char *prefix = strdup(name), *real = NULL;
  struct stat st;
  for (char *colon = prefix ? strrchr(prefix, ':') : NULL; colon && !real; colon = strrchr(prefix, ':')) {
    *colon = 0;
    *member = name + strlen(prefix);
    real = find(r, prefix);
    if (real && (stat(real, &st) == 0 && S_ISREG(st.st_mode))) break;
    free(real);
    real = NULL;
  }
  free(prefix);
  return real;
}

char *roots_resolve(const struct roots *r, const char *name, char why[ROOTS_WHY]) {
  const char *member = "";
  char *path = NULL, *real;
  struct stat st;
  snprintf(why, ROOTS_WHY, "there is no such file in the permitted folders");
  if (!*name || has_control(name)) return NULL;
  if (strstr(name, "://")) {
    snprintf(why, ROOTS_WHY, "is an address; only files in the permitted folders can be read");
    return NULL;
  }
  real = find(r, name);
  if (!real) real = find_archive(r, name, &member);
  if (!real || !is_inside(r, real) || stat(real, &st) != 0) {
    free(real);
    return NULL;
  }
  struct walk w = { r, real, MOST_FILES, why };
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) snprintf(why, ROOTS_WHY, "is neither a file nor a folder");
  else if (S_ISREG(st.st_mode) || walk_folder(&w, real, 0)) (void)!asprintf(&path, "%s%s", real, member);
  free(real);
  return path;
}

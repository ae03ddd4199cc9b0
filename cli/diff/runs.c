/* runs.c - finds and names the runs to compare (runs.h). */
#include "diff/runs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "print/tty.h"

bool runs_add_inputs(struct runs *r, const char *const *v, size_t n) {
  struct operands *inputs = realloc(r->inputs, (r->n + 1) * sizeof *inputs);
  const char **copies = inputs ? calloc(n, sizeof *copies) : NULL;
  if (inputs) r->inputs = inputs;
  if (!copies) return false;
  r->inputs[r->n++] = (struct operands){ .v = copies, .n = n };
  for (size_t i = 0; i < n; i++)
    if (!(copies[i] = strdup(v[i]))) return false;
  return true;
}

bool runs_of_operands(struct runs *r, const struct operands *in) {
  bool ok = true;
  for (size_t i = 0; ok && i < in->n; i++) ok = runs_add_inputs(r, &in->v[i], 1);
  return ok;
}

/* ---- a folder of runs ---- */

/* Returns the path of a folder's entry if it can be a run (a subfolder or a trace); NULL if it cannot or, with *failed set, if
 * memory runs out. */
static char *run_path(const char *folder, const char *name, bool *failed) {
  const size_t n = strlen(folder) + strlen(name) + 2;
  struct stat st;
  if (*name == '.') return NULL;
  char *path = malloc(n);
  *failed = *failed || !path;
  if (!path) return NULL;
  snprintf(path, n, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
  if (stat(path, &st) == 0 && (S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && tk_path_of(name).format))) return path;
  free(path);
  return NULL;
}

static int by_name(const void *p, const void *q) {
  const struct operands *a = p, *b = q;
  const int order = tk_natural_order(a->v[0], b->v[0]);
  return order ? order : strcmp(a->v[0], b->v[0]);
}

/* Writes into `path` the folder that contains the runs: plugins/profile in a logdir of TensorBoard, otherwise `given` itself.
 * Returns false if the path is too long. */
static bool find_folder(const char *given, char *path, size_t n) {
  struct stat st;
  const char *folder = *given ? given : ".";
  const int len = snprintf(path, n, "%s/plugins/profile", folder);
  if (len > 0 && (size_t)len < n && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return true;
  errno = ENAMETOOLONG;
  return (size_t)snprintf(path, n, "%s", folder) < n;
}

bool runs_of_folder(struct runs *r, const char *given, struct tk_err *err) {
  char folder[4096];
  DIR *dir = find_folder(given, folder, sizeof folder) ? opendir(folder) : NULL;
  bool failed = false;
  const struct dirent *entry;
  if (!dir) {
    *err = (struct tk_err){ .code = TK_EOPEN };
    snprintf(err->msg, sizeof err->msg, "%.200s: %s", given, strerror(errno));
    return false;
  }
  while (!failed && (entry = readdir(dir))) {
    char *path = run_path(folder, entry->d_name, &failed);
    if (path) failed = !runs_add_inputs(r, (const char *const *)&path, 1);
    free(path);
  }
  closedir(dir);
  if (r->n) qsort(r->inputs, r->n, sizeof *r->inputs, by_name);
  *err = (struct tk_err){ .code = failed ? TK_ELIMIT : TK_EOPEN };
  if (failed) snprintf(err->msg, sizeof err->msg, "out of memory");
  else if (!r->n) snprintf(err->msg, sizeof err->msg, "%.200s: contains neither a folder nor a trace", given);
  return !failed && r->n;
}

/* ---- names ---- */

/* Returns a copy of the last `parts` components of a path; NULL if memory runs out. */
static char *last_parts(const char *path, int parts) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') end--;
  size_t from = end;
  while (from > 0 && (path[from - 1] != '/' || --parts > 0)) from--;
  return strndup(path + from, end - from);
}

/* True if two runs with different paths have the same name. */
static bool share(const struct runs *r) {
  for (size_t i = 1; i < r->n; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(r->names[i], r->names[k]) == 0 && strcmp(r->inputs[i].v[0], r->inputs[k].v[0]) != 0) return true;
  return false;
}

static bool name_by(struct runs *r, int parts) {
  bool ok = true;
  for (size_t i = 0; i < r->n; i++) {
    free(r->names[i]);
    r->names[i] = last_parts(r->inputs[i].v[0], parts);
    ok = ok && r->names[i];
  }
  return ok;
}

/* Cuts each name at its first '/', if all names have a '/' and different names remain different. */
static void cut_names(struct runs *r) {
  for (size_t i = 0; i < r->n; i++)
    if (!strchr(r->names[i], '/')) return;
  for (size_t i = 1; i < r->n; i++)
    for (size_t k = 0; k < i; k++) {
      const size_t n = strcspn(r->names[i], "/");
      if (strcmp(r->names[i], r->names[k]) != 0 && n == strcspn(r->names[k], "/") && memcmp(r->names[i], r->names[k], n) == 0) return;
    }
  for (size_t i = 0; i < r->n; i++) r->names[i][strcspn(r->names[i], "/")] = 0;
}

bool runs_name(struct runs *r, const struct opt_list *labels) {
  enum { MOST = 64 }; /* components of a path */
  r->names = calloc(r->n + 1, sizeof *r->names);
  bool ok = r->names != NULL;
  for (int parts = 1; ok && parts < MOST && (parts == 1 || share(r)); parts *= 2) ok = name_by(r, parts);
  if (!ok) return false;
  cut_names(r);
  for (size_t i = 0; ok && i < labels->n && i < r->n; i++) {
    free(r->names[i]);
    r->names[i] = strdup(labels->v[i]);
    ok = r->names[i] != NULL;
  }
  return ok;
}

void runs_free(struct runs *r) {
  for (size_t i = 0; i < r->n; i++) {
    for (size_t k = 0; k < r->inputs[i].n; k++) free((char *)(uintptr_t)r->inputs[i].v[k]);
    free((void *)(uintptr_t)r->inputs[i].v);
    if (r->names) free(r->names[i]);
  }
  free(r->inputs);
  free(r->names);
  *r = (struct runs){ .n = 0 };
}

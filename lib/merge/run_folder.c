/* run_folder.c - writes a folder with a file per host (run_folder.h).
 *
 * Files keep their temporary names until all are complete, and are then renamed together. If that fails, folders created for
 * them are removed. A host with several ranks gets a file for each rank, because xprof treats the contents of one file as one
 * program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"

enum { NAME = 200 };

struct run_file {
  struct saver saver;
  struct run_file *next;
};

/* ---- finding the folder ---- */

static const struct format *format_of(const struct tk_save_options *opt) {
  if (opt->format) return format_by_word(opt->format);
  for (size_t i = 0; format_row(i); i++)
    if (format_row(i)->runs_in) return format_row(i);
  return NULL;
}

bool run_folder_is_meant(const char *path, const struct tk_save_options *opt) {
  const struct format *f = format_of(opt);
  const size_t n = strlen(path);
  struct stat st;
  if (!f || !f->runs_in) return false;
  return (n > 0 && path[n - 1] == '/') || (opt->format && strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static bool ends_with(const char *text, size_t n, const char *end) {
  const size_t m = strlen(end);
  return n >= m && memcmp(text + n - m, end, m) == 0 && (n == m || text[n - m - 1] == '/');
}

/* Finds the path of the run below `output`. A path such as "logs/plugins/profile/run1" is the path of a run itself; any other
 * path is a logdir. */
bool run_folder_path(const char *output, const char *run, const struct tk_save_options *opt, char *path, size_t size) {
  const char *runs_in = format_of(opt)->runs_in;
  char name[NAME + 1] = "";
  size_t n = strlen(output), leaf;
  while (n > 1 && output[n - 1] == '/') n--;
  for (leaf = n; leaf > 0 && output[leaf - 1] != '/';) leaf--;
  while (leaf > 0 && output[leaf - 1] == '/') leaf--;
  path_put_safe(name, NAME, *run ? run : "trace");
  const int length = ends_with(output, leaf, runs_in)
                       ? snprintf(path, size, "%.*s", (int)n, output)
                       : snprintf(path, size, "%.*s%s%s/%s", (int)n, output, output[n - 1] == '/' ? "" : "/", runs_in, name);
  return length < (int)size;
}

static bool holds_run(const struct run_folder *r) {
  DIR *dir = opendir(r->path);
  const struct dirent *e;
  bool holds = false;
  while (dir && !holds && (e = readdir(dir)) != NULL) holds = tk_path_of(e->d_name).format == &r->format->info;
  if (dir) closedir(dir);
  return holds;
}

bool run_folder_open(struct run_folder *r, const char *path, const char *run, const struct tk_save_options *opt,
                     const char *const *inputs, struct tk_err *err) {
  *r = (struct run_folder){.opt = *opt, .inputs = inputs, .format = format_of(opt)};
  map_init(&r->hosts, &r->mem);
  map_init(&r->names, &r->mem);
  r->opt.format = r->format->info.name;
  if (!run_folder_path(path, run, opt, r->path, sizeof r->path)) return err_set(err, TK_EUSAGE, "the path is too long");
  r->made = strlen(r->path);
  return opt->force || !holds_run(r) || err_for(err, TK_OPTION_FORCE, TK_EWRITE, "%s already contains a run", r->path);
}

static bool make_folders(struct run_folder *r, struct tk_err *err) {
  const size_t end = strlen(r->path);
  for (size_t n = 1; n <= end; n++) {
    if (r->path[n] != '/' && r->path[n]) continue;
    const char was = r->path[n];
    r->path[n] = 0;
    const bool made = mkdir(r->path, 0777) == 0;
    const int why = errno;
    struct stat st;
    const bool there = made || (stat(r->path, &st) == 0 && S_ISDIR(st.st_mode));
    if (!there) err_sys(err, TK_EWRITE, why, "%s: failed to create the folder", r->path);
    r->path[n] = was;
    if (!there) return false;
    if (made && n - 1 < r->made) r->made = n - 1;
  }
  return true;
}

/* Removes the folders that were created and are empty. */
static void remove_folders(struct run_folder *r) {
  for (size_t n = strlen(r->path); n > r->made; n--) {
    if (r->path[n] && r->path[n] != '/') continue;
    r->path[n] = 0;
    if (rmdir(r->path) != 0) return;
  }
}

/* ---- file names ---- */

bool run_folder_meet(struct run_folder *r, const struct merge_who *who, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t *count = map_put(&r->hosts, hash_bytes(who[i].host, strlen(who[i].host)), 0);
    if (!count) return false;
    *count += who[i].rank != INT64_MAX;
  }
  return true;
}

static bool take(struct run_folder *r, const char *name) {
  uint32_t *taken = map_put(&r->names, hash_bytes(name, strlen(name)), 0);
  return taken && (*taken)++ == 0;
}

/* Makes the name of a rank's file: "hostA"; "hostA.rank3" if the host has several ranks; "rank3" if the host is unknown. */
static void name_file(struct run_folder *r, const struct run_rank *rank, char name[NAME + 64]) {
  const uint32_t *count = map_get(&r->hosts, hash_bytes(rank->host, strlen(rank->host)));
  *name = 0;
  path_put_safe(name, NAME, rank->host);
  size_t n = strlen(name);
  if (n && (!count || *count < 2) && take(r, name)) return;
  n += (size_t)snprintf(name + n, 32, "%srank%lld", n ? "." : "", (long long)rank->slot);
  for (unsigned again = 2; !take(r, name) && !r->mem.failed; again++) snprintf(name + n, 16, "-%u", again);
}

/* ---- files ---- */

static void count(struct run_folder *r, const struct tk_saved *one) {
  struct tk_saved *all = &r->saved;
  all->format = one->format;
  all->records += one->records;
  all->events += one->events;
  all->flow_points += one->flow_points;
  all->rounded += one->rounded;
  all->bytes += one->bytes;
  all->raw_bytes += one->raw_bytes;
  for (int i = 0; i < TK_LOSSES; i++) all->lost[i] += one->lost[i];
}

static struct run_file *new_file(struct run_folder *r, struct tk_err *err) {
  struct run_file *f = mem_alloc(&r->mem, sizeof *f);
  if (!f) {
    mem_check(&r->mem, err);
    return NULL;
  }
  *f = (struct run_file){.next = r->files};
  return r->files = f;
}

bool run_folder_add(struct run_folder *r, const struct tk_trace *t, const struct run_rank *rank, struct tk_err *err) {
  char name[NAME + 64], ending[64], path[sizeof r->path + NAME + 192];
  struct tk_saved one;
  if (!r->opt.dry_run && !make_folders(r, err)) return false;
  struct run_file *f = new_file(r, err);
  if (!f) return false;
  struct saver *s = &f->saver;
  name_file(r, rank, name);
  snprintf(path, sizeof path, "%s/%s%s", r->path, name, format_ending(r->format, ending));
  s->timeline = rank->timeline;
  s->host = *rank->host && strlen(rank->host) == strlen(name) ? rank->host : name;
  const bool ok = save_open(s, path, &r->opt, NULL, r->inputs, err) && s->sink->open(s->sink, t, err) && save_write(s, t, err) &&
                  s->sink->close(s->sink, t, rank->provenance, err) && save_finish(s, &one, err);
  if (s->sink) s->sink->free(s->sink);
  s->sink = NULL;
  if (ok) count(r, &one);
  return ok || err_prefix(err, "%s", path);
}

bool run_folder_commit(struct run_folder *r, struct tk_saved *done, struct tk_err *err) {
  for (struct run_file *f = r->files; f; f = f->next)
    if (!out_commit(&f->saver.out, err)) return err_prefix(err, "%s", r->path);
  r->made = strlen(r->path);
  *done = r->saved;
  return true;
}

void run_folder_close(struct run_folder *r) {
  if (!r->format) return;
  for (struct run_file *f = r->files, *next; f; f = next) {
    next = f->next;
    save_close(&f->saver);
    mem_free(&r->mem, f);
  }
  remove_folders(r);
  map_free(&r->hosts);
  map_free(&r->names);
  r->format = NULL;
}

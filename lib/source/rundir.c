/* rundir.c - see rundir.h.
 *
 * Each file name yields a folder, a stem, a host and a kind of view. A run consists of the files of a folder or, for PyTorch, of
 * files that were written together. Of several views with one stem, the best one of the run is used. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rundir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "base/path.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/text.h"
#include "bundle.h"
#include "stamp.h"
#include "io/packing.h"

enum { NAME = 64 };
/* Longest time between the files of one session: its ranks finish within seconds of each other. Later files belong to another
 * session or job. */
static const int64_t TOGETHER = 60 * INT64_C(1000000000);

/* ---- names ---- */

int rundir_compare(const char *a, const char *b) {
  while (*a && *b) {
    if (ascii_digit(*a) && ascii_digit(*b)) {
      size_t na, nb;
      int order;
      while (*a == '0' && ascii_digit(a[1])) a++;
      while (*b == '0' && ascii_digit(b[1])) b++;
      na = strspn(a, "0123456789");
      nb = strspn(b, "0123456789");
      order = na != nb ? (na < nb ? -1 : 1) : memcmp(a, b, na);
      if (order) return order;
      a += na;
      b += nb;
    } else if (*a != *b) {
      return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    } else {
      a++, b++;
    }
  }
  return (*a != 0) - (*b != 0);
}

int tk_natural_order(const char *a, const char *b) { return rundir_compare(a, b); }

/* True for "local_rank", which numbers the ranks of one host only. */
static bool is_local(const char *name, const char *p) {
  return p - name >= 6 && memcmp(p - 6, "local", 5) == 0;
}

/* Finds the number that follows `word` in the name, with an optional separator. The word must not be part of a longer one. */
static bool number_in_name(const char *name, const char *word, int64_t *number) {
  for (const char *p = strstr(name, word); p; p = strstr(p + 1, word)) {
    const char *q = p + strlen(word);
    int64_t v = 0;
    if ((p > name && ascii_letter(p[-1])) || is_local(name, p)) continue;
    if (*q && strchr("_-.=[#", *q)) q++; /* "rank[3]" is from Primus and Megatron-LM */
    if (!ascii_digit(*q)) continue;
    for (; ascii_digit(*q) && v < 100000000; q++) v = v * 10 + (*q - '0');
    *number = v;
    return true;
  }
  return false;
}

/* sglang python/sglang/srt/managers/scheduler_profiler_mixin.py: TIME-TP-3[-DP-0][-PP-0][-EP-0].trace.json.gz; the
 * tensor-parallel rank (TP) is the rank of the job, unless the job has several pipelines or replicas. */
static bool rank_of_sglang(const char *name, int64_t *rank) {
  const size_t n = strspn(name, "0123456789.");
  if (!n || strncmp(name + n, "-TP-", 4) != 0 || strstr(name, "-PP-") || strstr(name, "-DP-")) return false;
  return number_in_name(name + n, "TP", rank);
}

bool rundir_rank(const char *name, int64_t *rank) {
  return number_in_name(name, "rank", rank) || number_in_name(name, "worker", rank) || rank_of_sglang(name, rank);
}

static bool ends(const char *s, size_t n, const char *end) {
  size_t m = strlen(end);
  return n >= m && memcmp(s + n - m, end, m) == 0;
}

static const char *keep_text(struct rundir *r, const char *s, size_t n) {
  const char *kept = arena_text(&r->text, s, n);
  return kept ? kept : "";
}

static const char *name_of_time(struct rundir *r, int64_t ns, unsigned again) {
  time_t s = (time_t)(ns / 1000000000);
  struct tm tm;
  char text[NAME];
  size_t n;
  if (!gmtime_r(&s, &tm)) return "";
  n = (size_t)snprintf(text, sizeof text, "%04d_%02d_%02d_%02d_%02d_%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                       tm.tm_min, tm.tm_sec);
  if (again) n += (size_t)snprintf(text + n, sizeof text - n, "_%u", again + 1);
  return keep_text(r, text, n);
}

/* ---- one file ---- */

static bool of_session(const struct rundir_file *f) { return f->stamp_ns != 0; }

/* True for a name such as "node3", "rank_0" or "host-1": it names one participant of a run. */
static bool is_participant(const char *name) {
  static const char *const words[] = {"rank", "worker", "node", "host", "machine", "gpu", "proc", "process", "device",
                                      "pod",  "task",   "vm",   "slice", "replica", "trainer", "server", "npu", "tpu"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if (strncmp(name, words[i], n) != 0) continue;
    n += name[n] == '_' || name[n] == '-';
    if (ascii_digit(name[n]) && !name[n + strspn(name + n, "0123456789")]) return true;
  }
  return false;
}

bool rundir_is_worker(const char *name) {
  enum { FEW_DIGITS = 3 };
  return is_participant(name) && strspn(name + strcspn(name, "0123456789"), "0123456789") <= FEW_DIGITS;
}

/* Splits a name <worker>[.<time>]. The worker is <host>_<pid> unless the user chose another name. */
static void torch_name(struct rundir *r, struct rundir_file *f, const char *base, size_t n) {
  size_t at = n, pid;
  while (at > 0 && ascii_digit(base[at - 1])) at--;
  if (at > 1 && at < n && base[at - 1] == '.' && (f->stamp_ns = stamp_of_count(base + at, n - at)) != 0) n = at - 1;
  f->stem = keep_text(r, base, n);
  f->view = VIEW_TRACE_JSON;
  f->profiler = true;
  for (pid = n; pid > 0 && ascii_digit(base[pid - 1]); pid--) {}
  if (f->rank < 0 && pid > 1 && pid < n && base[pid - 1] == '_' && !rundir_is_worker(f->stem)) f->host = keep_text(r, base, pid - 1);
}

/* True if the folder's name shows that a profiler created it for a run. "": the root folder. */
static bool looks_like_run(const char *root, const char *folder) {
  const char *path = *folder ? folder : root, *name = path_leaf(path);
  return stamp_of_name(name) != 0 || ends(path, (size_t)(name - path), "plugins/profile/");
}

static void other_name(struct rundir *r, struct rundir_file *f, const char *base, size_t n) {
  size_t stem = n;
  while (stem > 0 && base[stem - 1] != '.') stem--;
  f->view = VIEW_OTHER;
  f->stem = keep_text(r, base, stem > 1 ? stem - 1 : n);
}

/* Removes the name of a participant from the folder of a file's run, if it is the last or the last but one component:
 * rank3/x.json belongs to the run "", and rank3/d0/x.json belongs to the run d0, together with rank4/d0/x.json. */
static void step_out(struct rundir *r, struct rundir_file *f) {
  const char *inner = path_leaf(f->folder), *rest = "", *participant = inner;
  char *text;
  if (!is_participant(inner) && inner > f->folder) {
    const char *above = keep_text(r, f->folder, (size_t)(inner - f->folder) - 1);
    participant = f->folder + (path_leaf(above) - above);
    rest = inner;
  }
  const char *name = keep_text(r, participant, strcspn(participant, "/"));
  if (!is_participant(name) || asprintf(&text, "%s/%s", name, f->stem) < 0) return;
  f->stem = keep_text(r, text, strlen(text));
  free(text);
  if (f->rank < 0 && !rundir_rank(name, &f->rank)) f->host = name;
  size_t above = (size_t)(participant - f->folder);
  if (!*rest && above) above--;
  if (asprintf(&text, "%.*s%s", (int)above, f->folder, rest) < 0) return;
  f->folder = keep_text(r, text, strlen(text));
  free(text);
}

/* Replaces %2F with slashes. Storage buckets have no folders, so a browser saves "logs/plugins/profile/..." as a single file whose
 * name has %2F for each slash. */
static const char *with_folders(struct rundir *r, const char *rel) {
  if (!strstr(rel, "%2F") && !strstr(rel, "%2f")) return rel;
  char *path = arena_bytes(&r->text, strlen(rel) + 1), *to = path;
  if (!path) return rel;
  for (const char *p = rel; *p; to++) {
    const bool slash = strncmp(p, "%2F", 3) == 0 || strncmp(p, "%2f", 3) == 0;
    *to = slash ? '/' : *p;
    p += slash ? 3 : 1;
  }
  *to = 0;
  return path;
}

/* Prepends the last folders of the root to a path, because the folder that the user named may be a bundle or be inside one. */
static const char *with_root(struct rundir *r, const char *root, const char *rel) {
  enum { FOLDERS = 2 };
  const char *from = root + strlen(root);
  char *path;
  for (unsigned n = 0; from > root; from--)
    if (from[-1] == '/' && *from && ++n == FOLDERS) break;
  if (asprintf(&path, "%s/%s", from, rel) < 0) return rel;
  const char *kept = keep_text(r, path, strlen(path));
  free(path);
  return kept;
}

/* Classifies a file of a bundle, which contains one trace of one process. Returns false if the file does not belong to a
 * bundle. */
static bool bundle_name(struct rundir *r, struct rundir_file *f, const char *root, const char *rel) {
  struct bundle_place at;
  const char *path = bundle_is_at(root) ? with_root(r, root, rel) : rel, *folder;
  const size_t outside = strlen(path) - strlen(rel); /* length of the part that comes from the root */
  if (!bundle_find(path, &at)) return false;
  folder = path + at.above + (at.above > 0);
  f->bundle = keep_text(r, path, at.end);
  f->folder = at.above > outside ? keep_text(r, rel, at.above - outside) : "";
  f->stamp_ns = at.stamp_ns;
  f->profiler = at.trace;
  f->view = at.trace ? VIEW_TRACE_JSON : VIEW_OTHER;
  f->rank = at.rank;
  f->stem = at.trace ? keep_text(r, folder, at.stem) : rel;
  if (at.trace && at.host) f->host = keep_text(r, folder, at.host);
  return true;
}

static void classify(struct rundir *r, struct rundir_file *f, const char *root) {
  const char *rel = with_folders(r, f->rel), *base = path_leaf(rel);
  size_t n = strlen(base);
  const struct packing *packing = packing_of_path(base, n);
  f->folder = keep_text(r, rel, base > rel ? (size_t)(base - rel) - 1 : 0);
  f->host = "";
  f->rank = -1;
  f->next = UINT32_MAX;
  if (packing) f->packed = true, n -= strlen(packing->ending);
  if (bundle_name(r, f, root, rel)) return;
  rundir_rank(base, &f->rank);
  if (ends(base, n, ".xplane.pb")) {
    f->view = VIEW_XPLANE;
    f->profiler = true;
    f->host = f->stem = keep_text(r, base, n - strlen(".xplane.pb"));
  } else if (n == strlen("perfetto_trace.json") && memcmp(base, "perfetto_trace.json", n) == 0) {
    f->view = VIEW_PERFETTO_JSON;
    f->profiler = true;
    f->stem = "";
  } else if (ends(base, n, ".pt.trace.json")) {
    torch_name(r, f, base, n - strlen(".pt.trace.json"));
  } else if (ends(base, n, ".trace.json")) {
    f->view = VIEW_TRACE_JSON;
    f->stem = keep_text(r, base, n - strlen(".trace.json"));
    f->profiler = looks_like_run(root, f->folder);
    if (f->profiler) f->host = f->stem;
  } else {
    other_name(r, f, base, n);
  }
  if (f->view == VIEW_OTHER || of_session(f) || !f->profiler) step_out(r, f);
}

/* ---- runs ---- */

static int order_by_run(const void *pa, const void *pb, void *files) {
  const struct rundir_file *a = (const struct rundir_file *)files + *(const uint32_t *)pa;
  const struct rundir_file *b = (const struct rundir_file *)files + *(const uint32_t *)pb;
  int order = strcmp(a->key, b->key);
  if (!order) order = of_session(a) - of_session(b);
  if (!order && of_session(a)) order = (a->stamp_ns > b->stamp_ns) - (a->stamp_ns < b->stamp_ns);
  return order ? order : rundir_compare(a->rel, b->rel);
}

/* Returns the number in the name of the innermost folder called like "step_100" above the files; "" if there is none. */
static const char *step_of(struct rundir *r, const char *root, const char *folder) {
  char *path;
  const char *step = "";
  if (asprintf(&path, "/%s/%s", root, folder) < 0) return step;
  for (char *p = path; (p = strstr(p, "/step")) != NULL; p++) {
    const char *q = p + strlen("/step");
    q += *q == '_' || *q == '-';
    size_t n = strspn(q, "0123456789");
    if (n > 0 && (!q[n] || q[n] == '/')) step = keep_text(r, q, n);
  }
  free(path);
  return step;
}

/* Returns the name of a run at the top: for "rank0.json" in the archive "logs.tar.gz", the run is "logs". */
static const char *name_of_root(struct rundir *r, const char *root) {
  static const char *const endings[] = {".tar", ".tgz", ".zip", ".7z"};
  const struct packing *packing;
  size_t n = strlen(root), from;
  while (n > 1 && root[n - 1] == '/') n--;
  for (from = n; from > 0 && root[from - 1] != '/'; from--) {}
  if ((packing = packing_of_path(root + from, n - from)) != NULL) n -= strlen(packing->ending);
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (n - from > strlen(endings[i]) && ends(root, n, endings[i])) n -= strlen(endings[i]);
  return n > from ? keep_text(r, root + from, n - from) : "trace";
}

static const char PROFILES[] = "/plugins/profile/";

/* Finds the component of the run's folder that belongs to a single host, above "plugins/profile". This is a folder named like a
 * participant, or otherwise, if a time names the run, the folder that contains "plugins". Returns NULL if there is none. */
static const char *own_folder(struct rundir *r, const struct rundir_file *f, size_t *n) {
  const char *in = strstr(f->folder, PROFILES), *own, *end, *name = "";
  if (!in) return NULL;
  for (own = f->folder; own < in; own = end + 1) {
    end = memchr(own, '/', (size_t)(in - own));
    if (!end) end = in;
    name = keep_text(r, own, (size_t)(end - own));
    if (is_participant(name)) {
      *n = strlen(name);
      return own;
    }
  }
  *n = strlen(name);
  return stamp_of_name(in + strlen(PROFILES)) && !*step_of(r, "", name) ? in - *n : NULL;
}

/* Returns the folder of a file's run with a placeholder for the host's own folder, such as pod-1 in
 * pod-1/plugins/profile/2026_11_20_10_21_49. Two files whose keys are equal belong to one run: their folders differ only in the
 * host's own folder. (If run names are times, the runs of the hosts thus began in the same second.) */
static const char *rundir_key_of(struct rundir *r, const struct rundir_file *f) {
  size_t n;
  const char *own = own_folder(r, f, &n);
  char *text;
  if (!own || asprintf(&text, "%.*s\1%s", (int)(own - f->folder), f->folder, own + n) < 0) return f->folder;
  const char *key = keep_text(r, text, strlen(text));
  free(text);
  return key;
}

static bool is_own(const struct rundir_file *f) { return f->key != f->folder; }

/* True if two files of the run have the same name and differ only in their folders. */
static bool hosts_collide(const struct rundir_file *files, const uint32_t *order, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    const struct rundir_file *a = &files[order[i - 1]], *b = &files[order[i]];
    if (strcmp(a->stem, b->stem) == 0 && strcmp(a->folder, b->folder) != 0) return true;
  }
  return false;
}

static int order_by_stem(const void *pa, const void *pb, void *files) {
  const struct rundir_file *a = (const struct rundir_file *)files + *(const uint32_t *)pa;
  const struct rundir_file *b = (const struct rundir_file *)files + *(const uint32_t *)pb;
  const int order = strcmp(a->stem, b->stem);
  return order ? order : strcmp(a->folder, b->folder);
}

/* Prefixes the name of each host of the run with its folder: "pod-1/localhost". */
static void name_by_folders(struct rundir *r, struct rundir_file *files, const uint32_t *order, uint32_t n) {
  char *name;
  size_t size;
  for (uint32_t i = 0; i < n; i++) {
    struct rundir_file *f = &files[order[i]];
    const char *own = own_folder(r, f, &size);
    if (!own || asprintf(&name, "%.*s%s%s", (int)size, own, *f->stem ? "/" : "", f->stem) < 0) continue;
    f->stem = keep_text(r, name, strlen(name));
    if (*f->host || f->view == VIEW_PERFETTO_JSON) f->host = f->stem;
    free(name);
  }
}

/* Makes host names distinct within runs in which each host has its own folder. */
static bool distinguish_hosts(struct rundir *r, struct rundir_file *files, const uint32_t *order, uint32_t n) {
  uint32_t *by_stem = mem_array(r->text.mem, (uint64_t)n + 1, sizeof *by_stem);
  for (uint32_t i = 0, end; by_stem && i < n; i = end) {
    for (end = i; end < n && files[order[end]].run == files[order[i]].run; end++) by_stem[end - i] = order[end];
    if (!is_own(&files[order[i]])) continue;
    os_sort(by_stem, end - i, sizeof *by_stem, order_by_stem, files);
    if (hosts_collide(files, by_stem, end - i)) name_by_folders(r, files, by_stem, end - i);
  }
  mem_free(r->text.mem, by_stem);
  return by_stem != NULL;
}

static struct rundir_run *add_run(struct rundir *r, const struct rundir_file *f, const char *root) {
  struct rundir_run *run;
  if (!mem_grow(r->text.mem, (void **)&r->runs, &r->cap_runs, (uint64_t)r->n_runs + 1, sizeof *r->runs)) return NULL;
  run = &r->runs[r->n_runs++];
  *run = (struct rundir_run){.step = step_of(r, root, f->folder)};
  run->name = *f->folder ? path_leaf(f->folder) : name_of_root(r, root);
  run->time_ns = stamp_of_name(run->name);
  if (!of_session(f)) return run;
  const struct rundir_run *before = run > r->runs ? run - 1 : NULL;
  const bool same_second = before && before->session && before->time_ns / 1000000000 == f->stamp_ns / 1000000000;
  const unsigned again = same_second ? before->again + 1 : 0;
  run->session = true;
  run->again = again;
  run->name = name_of_time(r, f->stamp_ns, again);
  run->time_ns = f->stamp_ns;
  return run;
}

static uint64_t worker_of(const struct rundir_file *f) { return hash_text(f->stem, strlen(f->stem)); }

/* True if the file belongs to the same run as the previous file: each worker writes one file per session, at about the same time.
 * `workers`: last run of each worker. */
static bool same_run(const struct map *workers, uint32_t n_runs, const struct rundir_file *before, const struct rundir_file *f) {
  const uint32_t *last;
  if (!before || strcmp(before->key, f->key) != 0 || of_session(before) != of_session(f)) return false;
  if (!of_session(f) || f->stamp_ns == before->stamp_ns) return true;
  last = map_get(workers, worker_of(f));
  return !(last && *last == n_runs) && f->stamp_ns - before->stamp_ns <= TOGETHER;
}

/* Longest time between the names of the folders of one run. Each host names its folder after the second in which it started. */
static const int64_t STARTED_TOGETHER = 10 * INT64_C(1000000000);

static bool is_of_host(const struct rundir_file *f) {
  return f->profiler && !of_session(f) && *f->host && (f->view == VIEW_XPLANE || f->view == VIEW_TRACE_JSON);
}

static uint64_t host_of(struct rundir *r, const struct rundir_file *f) {
  size_t n;
  const char *own = own_folder(r, f, &n);
  return hash_pair(own ? hash_text(own, n) : 0, hash_text(f->stem, strlen(f->stem)));
}

static bool is_same_parent(const char *a, const char *b) {
  const size_t n = (size_t)(path_leaf(a) - a);
  return n == (size_t)(path_leaf(b) - b) && memcmp(a, b, n) == 0;
}

/* True if folders in one place, or in places of participants such as pod-0 and pod-1, are named after times that are close. */
static bool is_named_close(struct rundir *r, const struct rundir_file *before, const struct rundir_file *f) {
  const struct rundir_run *run = &r->runs[r->n_runs - 1];
  size_t n = 0;
  const char *own = own_folder(r, f, &n);
  const int64_t time = stamp_of_name(path_leaf(f->folder));
  if (run->session || of_session(f) || !run->time_ns || !time || !is_same_parent(before->key, f->key)) return false;
  if (!is_same_parent(before->folder, f->folder) && !(own && is_participant(keep_text(r, own, n)))) return false;
  return time - run->time_ns <= STARTED_TOGETHER && run->time_ns - time <= STARTED_TOGETHER;
}

/* True if the files of a folder, from order[0] on, continue the last run: the folders of both are named seconds apart, and contain
 * files of different hosts. `hosts`: last run of each host. */
static bool goes_on(struct rundir *r, const struct map *hosts, const struct rundir_file *files, const uint32_t *order, uint32_t n) {
  const struct rundir_file *first = &files[order[0]];
  bool found = false;
  if (!r->runs[r->n_runs - 1].has_hosts || !is_named_close(r, &files[order[-1]], first)) return false;
  for (uint32_t i = 0; i < n && strcmp(files[order[i]].key, first->key) == 0; i++) {
    if (!is_of_host(&files[order[i]])) continue;
    const uint32_t *last = map_get(hosts, host_of(r, &files[order[i]]));
    if (last && *last == r->n_runs) return false;
    found = true;
  }
  return found;
}

static bool make_runs(struct rundir *r, struct rundir_file *files, const uint32_t *order, uint32_t n, const char *root) {
  const struct rundir_file *before = NULL;
  struct map workers, hosts;
  map_init(&workers, r->text.mem);
  map_init(&hosts, r->text.mem);
  for (uint32_t i = 0; i < n; i++) {
    struct rundir_file *f = &files[order[i]];
    if (!same_run(&workers, r->n_runs, before, f)) {
      if (before && goes_on(r, &hosts, files, order + i, n - i)) r->runs[r->n_runs - 1].last = path_leaf(f->folder);
      else if (!add_run(r, f, root)) break;
    }
    uint32_t *last = is_of_host(f) ? map_put(&hosts, host_of(r, f), 0) : NULL;
    if (last) r->runs[(*last = r->n_runs) - 1].has_hosts = true;
    last = map_put(&workers, worker_of(f), 0);
    if (last) *last = r->n_runs;
    f->run = r->n_runs - 1;
    r->runs[f->run].profiler |= f->profiler;
    before = f;
  }
  map_free(&workers);
  map_free(&hosts);
  return !r->text.mem->failed;
}

/* Sets the time of runs whose folder was not named by a profiler: the time of the newest file of the run. */
static void date_runs(struct rundir *r, const struct rundir_file *files, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    struct rundir_run *run = &r->runs[files[i].run];
    bool named = of_session(&files[i]) || stamp_of_name(run->name);
    if (!named && files[i].time_ns > run->time_ns) run->time_ns = files[i].time_ns;
  }
}

/* ---- the best of a run ---- */

/* True for the output of another merge tool that is stored next to its inputs. sglang python/sglang/srt/utils/profile_merger.py writes
 * merged-ID.trace.json.gz next to ID-TP-0.trace.json.gz and the files of the other ranks. */
static bool is_merge_of_others(const struct rundir_file *files, uint32_t n, const struct rundir_file *f) {
  static const char MERGED[] = "merged-";
  const char *leaf = path_leaf(f->rel), *id = leaf + sizeof MERGED - 1;
  if (!text_begins(leaf, MERGED)) return false;
  const char *end = strstr(id, ".trace.json");
  const size_t n_folder = (size_t)(leaf - f->rel), n_id = end ? (size_t)(end - id) : 0;
  for (uint32_t i = 0; n_id && i < n; i++) {
    const char *other = files[i].rel;
    if (strncmp(other, f->rel, n_folder) != 0 || strncmp(other + n_folder, id, n_id) != 0) continue;
    if (text_begins(other + n_folder + n_id, "-TP-")) return true;
  }
  return false;
}

static int order_by_view(const void *pa, const void *pb, void *files) {
  const struct rundir_file *a = (const struct rundir_file *)files + *(const uint32_t *)pa;
  const struct rundir_file *b = (const struct rundir_file *)files + *(const uint32_t *)pb;
  int order = (a->run > b->run) - (a->run < b->run);
  if (!order) order = strcmp(a->stem, b->stem);
  if (!order) order = (a->stamp_ns > b->stamp_ns) - (a->stamp_ns < b->stamp_ns);
  if (!order) order = (a->view > b->view) - (a->view < b->view);
  if (!order) order = a->packed - b->packed; /* the compressed file may be incomplete if both exist */
  return order ? order : (a > b) - (a < b); /* archive members with equal names are different files */
}

/* True for a file that jax.collect_profile fetched from another host. It was derived from the file next to it. */
static bool is_remote(const struct rundir_file *f) { return f->view == VIEW_TRACE_JSON && strcmp(f->stem, "remote") == 0; }

/* Returns the place of a file in the order of its run: 0 = files of one host, and all files of a run that no profiler named; 1
 * = files fetched from another host; 2 = files derived from all hosts; 3 = files that no profiler named. */
static unsigned tier(const struct rundir_run *run, const struct rundir_file *f) {
  if (!run->profiler) return 0;
  if (f->view == VIEW_OTHER) return 3;
  return f->view == VIEW_PERFETTO_JSON ? 2 : is_remote(f);
}

static bool same_thing(const struct rundir_file *a, const struct rundir_file *b) {
  return a->run == b->run && a->stamp_ns == b->stamp_ns && strcmp(a->stem, b->stem) == 0 &&
         (a->view != b->view || a->packed != b->packed);
}

static bool choose_views(struct rundir *r, struct rundir_file *files, uint32_t *order, uint32_t n) {
  uint8_t *least = mem_array(r->text.mem, (uint64_t)r->n_runs + 1, 1);
  if (!least) return false;
  memset(least, 0xff, (size_t)r->n_runs + 1);
  for (uint32_t i = 0; i < n; i++) {
    unsigned t = tier(&r->runs[files[i].run], &files[i]);
    if (t < least[files[i].run]) least[files[i].run] = (uint8_t)t;
  }
  os_sort(order, n, sizeof *order, order_by_view, files);
  for (uint32_t i = 0; i < n; i++) {
    struct rundir_file *f = &files[order[i]], *before = i ? &files[order[i - 1]] : NULL;
    if (before && same_thing(before, f)) before->next = order[i];
    else f->best = tier(&r->runs[f->run], f) == least[f->run];
  }
  mem_free(r->text.mem, least);
  return true;
}

/* ---- entry points ---- */

static bool any_profiler(const struct rundir_file *files, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (files[i].profiler) return true;
  return false;
}

/* Assigns to each trace of a bundle the rank that a file next to it states. */
static bool take_bundle_ranks(struct rundir *r, struct rundir_file *files, uint32_t n) {
  struct map ranks; /* hash of the bundle's path -> 1 + rank */
  map_init(&ranks, r->text.mem);
  for (uint32_t i = 0; i < n; i++) {
    const struct rundir_file *f = &files[i];
    uint32_t *rank = f->bundle && f->rank >= 0 ? map_put(&ranks, hash_text(f->bundle, strlen(f->bundle)), 0) : NULL;
    if (rank) *rank = (uint32_t)f->rank + 1;
  }
  for (uint32_t i = 0; ranks.n && i < n; i++) {
    struct rundir_file *f = &files[i];
    const uint32_t *rank = f->bundle && f->profiler ? map_get(&ranks, hash_text(f->bundle, strlen(f->bundle))) : NULL;
    if (!rank) continue;
    f->rank = *rank - 1;
    f->rank_beside = true;
  }
  map_free(&ranks);
  return !r->text.mem->failed;
}

bool rundir_find(struct rundir *r, struct rundir_file *files, uint32_t n, const char *root, bool one) {
  uint32_t *order = mem_array(r->text.mem, (uint64_t)n + 1, sizeof *order);
  bool ok = order != NULL;
  for (uint32_t i = 0; ok && i < n; i++) {
    classify(r, &files[i], root);
    order[i] = i;
  }
  ok = ok && take_bundle_ranks(r, files, n);
  if (ok && one && !any_profiler(files, n)) {
    for (uint32_t i = 0; i < n; i++) {
      files[i].folder = "";
      files[i].stem = files[i].rel; /* another view cannot be distinguished from a part of the trace */
    }
  }
  for (uint32_t i = 0; ok && i < n; i++) files[i].key = rundir_key_of(r, &files[i]);
  if (ok) os_sort(order, n, sizeof *order, order_by_run, files);
  ok = ok && make_runs(r, files, order, n, root) && distinguish_hosts(r, files, order, n);
  if (ok) date_runs(r, files, n);
  ok = ok && choose_views(r, files, order, n);
  for (uint32_t i = 0; ok && i < n; i++) files[i].best = files[i].best && !is_merge_of_others(files, n, &files[i]);
  mem_free(r->text.mem, order);
  return ok && !r->text.mem->failed;
}

void rundir_free(struct rundir *r) {
  mem_free(r->text.mem, r->runs);
  arena_free(&r->text);
}

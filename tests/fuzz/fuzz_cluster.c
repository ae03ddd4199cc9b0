/* fuzz_cluster.c - arbitrary bytes as one of the two ranks of a job, merged in steps as on many machines: scan, plan, apply,
 * concat. Each step succeeds or fails with a message, and concat writes the same bytes as merge.
 *
 *     byte 0   output format
 *     byte 1   merge options
 *     rest     a rank */
#include "tracekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 2, RANKS = 2, PATH = 96 };

static const char *const FORMATS[] = {"json", "perfetto", "json.gz", "xplane"};
static const char OTHER[] =
    "{\"distributedInfo\":{\"rank\":1},\"baseTimeNanoseconds\":1000,\"traceEvents\":["
    "{\"ph\":\"X\",\"name\":\"ncclDevKernel_AllReduce\",\"cat\":\"kernel\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":9,"
    "\"args\":{\"stream\":7,"
    "\"Collective name\":\"allreduce\",\"Seq\":1,\"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1]\"}},"
    "{\"ph\":\"X\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":20}]}";

static char folder[] = "/dev/shm/fuzz_cluster.XXXXXX";

static void require(bool ok, const char *what, const char *message) {
  if (ok) return;
  fprintf(stderr, "%s: %s\n", what, message);
  abort();
}

static bool check(bool ok, const struct tk_err *err, const char *what) {
  require(ok || (err->code != TK_OK && err->msg[0]), what, "failed without saying why");
  return ok;
}

static void put(const char *path, const void *p, size_t n) {
  FILE *f = fopen(path, "wb");
  require(f && fwrite(p, 1, n, f) == n && fclose(f) == 0, path, "not written");
}

static char *get(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  require(f && fseek(f, 0, SEEK_END) == 0, path, "not there");
  const long end = ftell(f);
  char *p = malloc((size_t)end + 1);
  rewind(f);
  require(p && end >= 0 && fread(p, 1, (size_t)end, f) == (size_t)end, path, "not read");
  fclose(f);
  *n = (size_t)end;
  return p;
}

static void require_equal(const char *a, const char *b) {
  size_t n, m;
  char *x = get(a, &n), *y = get(b, &m);
  require(n == m && memcmp(x, y, n) == 0, b, "is not what merge writes");
  free(x);
  free(y);
}

struct job {
  char rank[RANKS][PATH], scan[RANKS][PATH], part[RANKS][PATH], plan[PATH], merged[PATH], joined[PATH];
};

static void name_files(struct job *j) {
  for (int i = 0; i < RANKS; i++) {
    snprintf(j->rank[i], PATH, "%s/rank%d.trace", folder, i);
    snprintf(j->scan[i], PATH, "%s/rank%d.scan", folder, i);
    snprintf(j->part[i], PATH, "%s/rank%d.part", folder, i);
  }
  snprintf(j->plan, PATH, "%s/plan", folder);
  snprintf(j->merged, PATH, "%s/merged", folder);
  snprintf(j->joined, PATH, "%s/joined", folder);
}

static const struct tk_load_options LOAD = {.max_memory = 512u << 20, .max_size = 4u << 20, .threads = 1};

static bool make_plan(const struct job *j, const struct tk_merge_options *o) {
  const char *const scans[] = {j->scan[0], j->scan[1]};
  struct tk_err err = {0};
  for (int i = 0; i < RANKS; i++) {
    const struct tk_scan_options scan = {.load = LOAD, .save = {.force = true}, .keep_truncated = true};
    const char *const name = j->rank[i];
    if (!check(tk_scan(&name, 1, j->scan[i], &scan, NULL, &err), &err, "scan")) return false;
  }
  return check(tk_plan(scans, RANKS, j->plan, o, NULL, &err), &err, "plan");
}

static bool join(const struct job *j) {
  const struct tk_apply_options apply = {.load = LOAD, .save = {.force = true}, .keep_truncated = true};
  const struct tk_concat_options concat = {.save = {.force = true}, .max_memory = 512u << 20};
  const char *const parts[] = {j->part[0], j->part[1], NULL};
  struct tk_err err = {0};
  for (int i = 0; i < RANKS; i++)
    if (!check(tk_apply(j->plan, j->rank[i], j->part[i], &apply, NULL, &err), &err, "apply")) return false;
  return check(tk_concat(j->plan, parts, j->joined, &concat, NULL, &err), &err, "concat");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct job j;
  struct tk_err err = {0};
  if (size < HEAD) return 0;
  if (!*j.plan) {
    require(mkdtemp(folder) != NULL, folder, "cannot be made");
    name_files(&j);
    put(j.rank[1], OTHER, sizeof OTHER - 1);
  }
  put(j.rank[0], data + HEAD, size - HEAD);
  const struct tk_merge_options o = {.load = LOAD, .save = {.format = FORMATS[data[0] % 4], .force = true, .threads = 1},
                                     .keep_truncated = true, .time = data[1] & 1 ? "10%..70%" : NULL,
                                     .group_by = data[1] & 2 ? TK_GROUP_KIND : TK_GROUP_RANK};
  const char *const ranks[] = {j.rank[0], j.rank[1]};
  const bool planned = make_plan(&j, &o), joined = planned && join(&j);
  const bool merged = check(tk_merge(ranks, RANKS, j.merged, &o, NULL, &err), &err, "merge");
  if (joined && merged) require_equal(j.merged, j.joined);
  return 0;
}

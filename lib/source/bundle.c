/* bundle.c - see bundle.h. */
#include "bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"
#include "stamp.h"

static const struct bundle {
  const char *folder; /* pattern for the folder's name */
  const char *ending; /* end of the folder's name, after process and time; "" = the name does not contain these two */
  const char *inner;  /* subfolder that contains the trace */
  const char *trace;  /* pattern for the trace's name */
  const char *rank;   /* pattern for the name of a file that contains the rank in place of '*'; NULL = none */
} BUNDLES[] = {
    /* torch_npu/profiler/analysis/prof_common_func/_constant.py and _path_manager.py: WORKER_TIME_ascend_pt, where WORKER is
     * HOST_PID and TIME has milliseconds; profiler_info_RANK.json */
    {"*_ascend_pt", "_ascend_pt", "ASCEND_PROFILER_OUTPUT", "trace_view.json*", "profiler_info_*.json"},
    /* mindspore/python/mindspore/profiler/common/path_manager.py: the same layout */
    {"*_ascend_ms", "_ascend_ms", "ASCEND_PROFILER_OUTPUT", "trace_view.json*", "profiler_info_*.json"},
    /* CANN, msprof --export: PROF_NUMBER_TIME_ID/mindstudio_profiler_output/msprof_TIME.json, one PROF folder for each process */
    {"PROF_*", "", "mindstudio_profiler_output", "msprof_*.json*", NULL}};

enum { N_BUNDLES = sizeof BUNDLES / sizeof *BUNDLES, NAME = 256 };

static bool name_matches(const char *pattern, const char *name, size_t n) {
  char text[NAME];
  if (n >= sizeof text) return false;
  memcpy(text, name, n);
  text[n] = 0;
  return glob_matches(pattern, text);
}

int64_t bundle_rank_of(const char *name) {
  for (size_t i = 0; i < N_BUNDLES; i++) {
    const char *pattern = BUNDLES[i].rank, *p;
    int64_t rank = 0;
    if (!pattern || !glob_matches(pattern, name)) continue;
    for (p = name + strcspn(pattern, "*"); ascii_digit(*p) && rank < 100000000; p++) rank = rank * 10 + (*p - '0');
    if (strcmp(p, strchr(pattern, '*') + 1) == 0 && p > name + strcspn(pattern, "*")) return rank;
  }
  return -1;
}

/* Splits "host_4000_20260725180104140" into the process and the time. */
static void split_name(const char *name, size_t n, struct bundle_place *place) {
  size_t at = n;
  while (at > 0 && ascii_digit(name[at - 1])) at--;
  place->stem = n;
  if (at < 2 || n - at < 14 || name[at - 1] != '_') return;
  place->stamp_ns = stamp_of_digits(name + at, n - at);
  if (!place->stamp_ns) return;
  size_t pid = place->stem = at - 1;
  while (pid > 0 && ascii_digit(name[pid - 1])) pid--;
  if (pid > 1 && pid < place->stem && name[pid - 1] == '_') place->host = pid - 1;
}

static void fill(const struct bundle *b, const char *path, const char *folder, size_t n, struct bundle_place *place) {
  const char *in = folder + n + 1, *leaf = path_leaf(path);
  const size_t inner = strlen(b->inner);
  *place = (struct bundle_place){.above = folder > path ? (size_t)(folder - path) - 1 : 0, .end = (size_t)(folder - path) + n};
  place->rank = in == leaf ? bundle_rank_of(leaf) : -1;
  place->trace = strncmp(in, b->inner, inner) == 0 && in + inner + 1 == leaf && glob_matches(b->trace, leaf);
  split_name(folder, n - strlen(b->ending), place);
}

bool bundle_find(const char *path, struct bundle_place *place) {
  const char *end;
  for (const char *p = path; (end = strchr(p, '/')) != NULL; p = end + 1)
    for (size_t i = 0; i < N_BUNDLES; i++)
      if (name_matches(BUNDLES[i].folder, p, (size_t)(end - p))) {
        fill(&BUNDLES[i], path, p, (size_t)(end - p), place);
        return true;
      }
  return false;
}

bool bundle_is_at(const char *folder) {
  const char *end = folder + strlen(folder), *from;
  for (unsigned i = 0; i < 2 && end > folder; i++, end = from > folder ? from - 1 : folder) {
    for (from = end; from > folder && from[-1] != '/'; from--) {}
    for (size_t k = 0; k < N_BUNDLES; k++)
      if (name_matches(BUNDLES[k].folder, from, (size_t)(end - from))) return true;
  }
  return false;
}

bool bundle_rank_files(const char *path, char *pattern, size_t size) {
  const char *leaf = path_leaf(path);
  for (size_t i = 0; i < N_BUNDLES; i++) {
    const struct bundle *b = &BUNDLES[i];
    const size_t n = strlen(b->inner);
    if (!b->rank || !glob_matches(b->trace, leaf)) continue;
    if ((size_t)(leaf - path) < n + 1 || memcmp(leaf - n - 1, b->inner, n) != 0) continue;
    return snprintf(pattern, size, "%.*s../%s", (int)(leaf - path), path, b->rank) < (int)size;
  }
  return false;
}

/* merged.c - see merged.h. */
#include "merged.h"

#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "format/json.h"
#include "ranks.h"

/* ---- labels of pids ---- */

/* Returns the length of a label such as "[TP00-DP01]" with which the pid begins; 0 if it begins with none. A label consists of words
 * of capital letters, each followed by a number, and a space follows it. */
static size_t label_length(const char *pid) {
  const char *p = pid;
  if (*p != '[') return 0;
  do {
    const char *word = ++p;
    while (*p >= 'A' && *p <= 'Z') p++;
    const char *number = p;
    while (ascii_digit(*p)) p++;
    if (number == word || p == number) return 0;
  } while (*p == '-');
  return p[0] == ']' && p[1] == ' ' ? (size_t)(p + 1 - pid) : 0;
}

/* Returns the label of a process as a string of the arena; NULL if it has none or if memory runs out. */
static const char *label_of(const struct tk_trace *t, tk_id track, struct arena *arena) {
  const struct tk_track *k = &t->tracks[track];
  const char *pid = k->kind == TK_TRACK_PROCESS && k->pid.kind == TK_IDENT_STR ? tk_string(t, k->pid.str, NULL) : "";
  const size_t n = label_length(pid);
  return n ? arena_text(arena, pid, n) : NULL;
}

/* Numbers the processes by their labels, as inputs are numbered by their names. */
static void take_labels(const struct tk_trace *t, int64_t *rank, struct mem *mem) {
  struct arena arena = {.mem = mem};
  const char **names = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *names);
  tk_id *of = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *of);
  struct ranks ranks = {0};
  size_t n = 0;
  for (tk_id i = 1; names && of && i <= t->n_tracks; i++) {
    names[n] = label_of(t, i, &arena);
    if (names[n]) of[n++] = i;
  }
  if (n && ranks_find(&ranks, names, n) && ranks.from != RANKS_NONE)
    for (size_t i = 0; i < n; i++) rank[of[i]] = ranks.of[i];
  ranks_free(&ranks);
  mem_free(mem, of);
  mem_free(mem, (void *)names);
  arena_free(&arena);
}

/* ---- metadata events ---- */

/* Metadata events that state the rank, with the key of the arg that contains it. */
static const struct rank_event {
  const char *name, *arg;
} RANK_EVENTS[] = {
    {"\"global_rank\"", "value"}, /* Composer, composer/profiler/json_trace_handler.py */
};

static bool rank_of_record(const char *text, size_t n, const struct rank_event *row, int64_t *rank) {
  static const char ARGS[] = "\"args\":";
  struct json_value v;
  if (!memmem(text, n, row->name, strlen(row->name))) return false;
  const char *args = memmem(text, n, ARGS, sizeof ARGS - 1);
  if (args) args += sizeof ARGS - 1;
  if (!args || !json_member(args, n - (size_t)(args - text), row->arg, &v)) return false;
  if (v.type != JSON_NUMBER || v.num.kind != NUM_INT || v.num.mant < 0) return false;
  *rank = v.num.mant;
  return true;
}

bool merged_next_record(const struct tk_trace *t, struct merged_record *r) {
  enum { FIRST = 4096 }; /* number of records to search; these events are at the start */
  while (++r->at <= t->n_records && r->at <= FIRST) {
    const struct tk_record *rec = &t->records[r->at];
    if (rec->phase != 'M' || rec->kind != TK_RECORD_OTHER) continue;
    r->track = rec->track;
    for (size_t k = 0; k < sizeof RANK_EVENTS / sizeof *RANK_EVENTS; k++)
      if (rank_of_record(trace_raw(t, rec->at), rec->size, &RANK_EVENTS[k], &r->rank)) return true;
  }
  return false;
}

static tk_id process_of(const struct tk_trace *t, tk_id track) {
  return t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
}

static void take_records(const struct tk_trace *t, int64_t *rank) {
  struct merged_record r = {0};
  while (merged_next_record(t, &r)) rank[process_of(t, r.track)] = r.rank;
}

/* ---- args ---- */

/* Args by which a program notes the rank of each event. Both must be there, because scripts use "rank" for other numbers, too. */
static const struct rank_args {
  const char *rank, *proof;
} RANK_ARGS[] = {
    {"rank", "pid_raw"}, /* TraceLens, TraceLens/TraceFusion/trace_fuse.py */
};

static void take_args(const struct tk_trace *t, const struct rank_args *row, int64_t *rank) {
  struct tk_arg own, proof;
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    const tk_id process = process_of(t, i);
    if (!k->count || rank[process] >= 0) continue;
    const uint32_t args = t->events[k->first].args;
    if (!tk_args_find(t, args, row->rank, &own) || !tk_args_find(t, args, row->proof, &proof)) continue;
    if (own.type == TK_ARG_INT && own.i >= 0) rank[process] = own.i;
  }
}

/* ---- processes that own tracks ---- */

static void take_owners(const struct tk_trace *t, int64_t *rank) {
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    if (t->tracks[i].kind != TK_TRACK_PROCESS) continue;
    const int64_t own = trace_owner_rank(t, trace_owner(t, i));
    rank[i] = own >= 0 ? own : trace_owner_rank(t, TRACE_NO_OWNER);
  }
}

/* ---- entry points ---- */

static uint32_t count_different(const struct tk_trace *t, const int64_t *rank, struct mem *mem) {
  struct map seen;
  uint32_t n = 0;
  map_init(&seen, mem);
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    uint32_t *slot = rank[i] >= 0 ? map_put(&seen, (uint64_t)rank[i], 0) : NULL;
    if (slot && !*slot) *slot = ++n;
  }
  map_free(&seen);
  return mem->failed ? 0 : n;
}

uint32_t merged_ranks(const struct tk_trace *t, int64_t *rank, struct mem *mem) {
  for (tk_id i = 0; i <= t->n_tracks; i++) rank[i] = -1;
  take_labels(t, rank, mem);
  take_records(t, rank);
  for (size_t i = 0; i < sizeof RANK_ARGS / sizeof *RANK_ARGS; i++) take_args(t, &RANK_ARGS[i], rank);
  if (t->store->owner_ranks.n) take_owners(t, rank);
  rank[0] = -1; /* tracks without a process */
  return count_different(t, rank, mem);
}

/* part.c - see part.h. */
#include "part.h"

#include <string.h>

#include "base/err.h"
#include "format/json.h"
#include "graph/subset.h"
#include "op/filter.h"

/* Returns, by track, the index of its part. */
static uint32_t *parts_of_tracks(const struct tk_trace *t, const struct parts *parts, struct mem *mem) {
  uint32_t *of = mem_array(mem, (uint64_t)t->n_tracks + 1, sizeof *of);
  for (tk_id i = 1; of && i <= t->n_tracks; i++) {
    const int64_t owner = trace_owner(t, i);
    const struct parts_item *p = owner >= 0 ? parts_find(parts, owner) : NULL;
    of[i] = p ? (uint32_t)(p - parts->v) : 0;
  }
  return of;
}

/* Filters `t` into `to`, as op_filter does. */
static bool filter_part(struct tk_trace *t, struct tk_trace *to, const struct parts *parts, uint32_t at, struct tk_err *err) {
  static const struct tk_filter_options all = {0};
  struct mem mem = {0};
  struct tk_filter_report unused = {0};
  uint32_t *of = parts_of_tracks(t, parts, &mem);
  const struct filter_plan plan = {.opt = &all, .part_of = of, .part = at};
  const bool ok = mem_check(&mem, err) && op_filter(t, to, &plan, &unused, err);
  mem_free(&mem, of);
  return ok;
}

bool load_part(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err) {
  return filter_part(t, t, parts, at, err);
}

struct tk_trace *load_part_copy(struct tk_trace *t, const struct parts *parts, uint32_t at, struct tk_err *err) {
  struct tk_trace view = {.events = NULL};
  struct tk_trace *copy = filter_part(t, &view, parts, at, err) ? tk_copy(&view, err) : NULL;
  subset_free_view(&view);
  return copy;
}

static int64_t rank_of(const struct parts *parts, uint32_t i) { return parts->v[i].rank >= 0 ? parts->v[i].rank : i; }

static void part_put(struct buf *b, const char *before, int64_t v, const char *after) {
  char number[24];
  buf_text(b, before);
  buf_append(b, number, num_put_i64(number, v));
  buf_text(b, after);
}

/* Prints the block of a rank as merge does, with the pids of its processes. */
static void print_rank(struct buf *b, const struct tk_trace *t, const struct parts *parts, uint32_t at, const uint32_t *part_of) {
  bool any = false;
  part_put(b, at ? ",{\"rank\":" : "{\"rank\":", rank_of(parts, at), ",\"host\":");
  json_quote(b, t->host, strlen(t->host));
  buf_text(b, ",\"pids\":{");
  for (tk_id i = 1; i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind != TK_TRACK_PROCESS || k->pid.kind != TK_IDENT_INT || part_of[i] != at) continue;
    part_put(b, any ? ",\"" : "\"", k->pid.num, "\":");
    part_put(b, "", k->pid.num, "");
    any = true;
  }
  buf_text(b, "}}");
}

/* Records the ranks in the metadata, so that outputs contain the ranks in the same form as outputs of merge. */
static void note_ranks(struct tk_trace *t, const struct parts *parts) {
  struct mem *mem = &t->store->mem;
  struct buf *raw = &t->store->raw;
  uint32_t *part_of = parts_of_tracks(t, parts, mem);
  struct tk_meta *m = part_of ? trace_add_meta(t) : NULL;
  if (!m) {
    mem_free(mem, part_of);
    return;
  }
  *m = (struct tk_meta){.key = trace_text(t, "tracekit"), .at = raw->len};
  buf_text(raw, "{\"ranks\":[");
  for (uint32_t i = 0; i < parts->n; i++) print_rank(raw, t, parts, i, part_of);
  buf_text(raw, "]}");
  m->size = raw->len - m->at;
  trace_end_raw(t);
  mem_free(mem, part_of);
}

void load_ranks_within(struct tk_trace *t, const struct parts *parts) {
  for (uint32_t i = 0; i < parts->n; i++) trace_number_owner(t, parts->v[i].process, rank_of(parts, i));
  trace_number_owner(t, TRACE_NO_OWNER, rank_of(parts, 0));
  note_ranks(t, parts);
}

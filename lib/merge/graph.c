/* graph.c - loads several inputs as one trace in memory, for operations on a whole run.
 *
 * The inputs are merged as in a merge to a file, but the sink joins the graphs instead of writing them, so only the joined graph and
 * one input are in memory. The result is the same as after merging to a file and reading it, if the format of the file can represent
 * everything:
 *
 *     top-level keys      of the first input; the object "tracekit" comes last
 *     track names         names set by the merge become metadata records, before the rank's own records
 *     records             all, except for names that were replaced
 *     passthrough         joined by its format (struct format), because it refers to ids of the graph */
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "base/options.h"
#include "base/os.h"
#include "graph/diagnostics.h"
#include "graph/join.h"
#include "load/evident.h"
#include "load/joined.h"
#include "load/load.h"
#include "merge.h"
#include "source/sources.h"

struct graph_sink {
  struct sink sink;
  struct tk_trace *to;
  uint32_t n_joined;
  void *states[FORMATS_MOST]; /* by format: state of joining its passthrough data */
  uint64_t limit; /* limit for the bytes of the joined graph and one input; 0 = no limit */
};

/* ---- the sink ---- */

static bool graph_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct tk_trace *t = ((struct graph_sink *)sink)->to;
  t->zero_ns = first->zero_ns;
  t->has_zero = first->has_zero;
  t->clock = first->clock;
  t->format = first->format;
  t->sealed = true;
  joined_add_metas(t, first, false);
  return mem_check(&t->store->mem, err);
}

static bool graph_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct graph_sink *s = (struct graph_sink *)sink;
  struct mem *mem = &s->to->store->mem;
  struct join_ids ids = {.strings = NULL};
  tk_id tracks = s->to->n_tracks;
  if (s->limit) mem->limit = t->store->mem.used < s->limit ? s->limit - t->store->mem.used : 1;
  bool ok = join_graph(s->to, t, &ids, err);
  ids.ordinal = s->n_joined++;
  ids.graphs = sink->graphs;
  ids.first_row = sink->first_row;
  ids.rows = sink->rows;
  if (ok) {
    joined_add_names(s->to, tracks + 1);
    join_records(s->to, t, &ids, joined_is_valid);
    joined_passthrough(s->to, t, &ids, s->states);
  }
  join_ids_free(&ids, s->to);
  return ok && mem_check(mem, err);
}

static bool graph_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct graph_sink *s = (struct graph_sink *)sink;
  struct tk_trace *t = s->to;
  t->store->mem.limit = t->store->mem.whole = s->limit;
  joined_add_metas(t, first, true);
  if (provenance) joined_add_meta(t, trace_text(t, "tracekit"), true, provenance, strlen(provenance));
  joined_finish_passthrough(s->to, s->states);
  return join_finish(t, err) && mem_check(&t->store->mem, err);
}

static void graph_free(struct sink *sink) { (void)sink; }

/* ---- entry points ---- */

void merge_name(struct tk_trace *t, const char *source) {
  size_t n = strlen(source) + 1;
  t->store->source = malloc(n);
  if (t->store->source) t->source = memcpy(t->store->source, source, n);
}

static bool name_files(struct tk_trace *t, const struct merge_inputs *in, struct tk_err *err) {
  const char **paths = calloc(in->n + 1, sizeof *paths);
  if (!paths) return err_set(err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < in->n; i++) paths[i] = sources_path(in->sources, in->first + i);
  load_files(t, paths, in->n);
  free(paths);
  return mem_check(&t->store->mem, err);
}

/* Returns false with err if an input could not be read. Without this check the result would look complete. */
static bool check_ranks(const struct tk_merge_report *merged, struct tk_err *err) {
  for (size_t i = 0; i < merged->n_ranks; i++)
    if (merged->ranks[i].failed)
      return err_for(err, TK_OPTION_MERGE_FIRST, TK_EFORMAT, "%s", merged->ranks[i].failed);
  return true;
}

bool merge_graph(struct tk_trace *t, const struct merge_inputs *in, const struct tk_merge_options *opt, struct out *collectives,
                 struct tk_merge_report *report, struct tk_err *err) {
  struct graph_sink sink = {.sink = {.open = graph_open, .write = graph_write, .close = graph_close, .free = graph_free},
                            .to = t, .limit = os_memory_limit(opt->load.max_memory)};
  const struct merge_output output = {.sink = &sink.sink, .held = &t->store->mem, .derive = opt->derive,
                                      .collectives = collectives};
  bool ok = merge_into(in, &output, opt, report, err);
  joined_finish_passthrough(t, sink.states); /* runs even if the merge failed */
  return ok && name_files(t, in, err);
}

static bool merge_all(struct tk_trace *t, struct tk_sources *s, const struct tk_merge_options *opt, struct tk_merge_report *report,
                      struct tk_err *err) {
  if (!load_join_evident(s, opt->align, &opt->load, err)) return false;
  const struct merge_inputs in = {.sources = s, .n = s->n};
  if (!merge_report_init(report, s->n, err) || !merge_check_options(opt, s->n, err)) return false;
  if (opt->manifest || opt->to) return err_set(err, TK_EUSAGE, "a merge in memory cannot write a manifest or have a maximum size");
  if (!merge_graph(t, &in, opt, NULL, report, err)) return false;
  diagnostics_give(report->notes, t);
  return !opt->load.check || tk_check(t, err);
}

struct tk_trace *tk_sources_merge(struct tk_sources *s, const char *source, const struct tk_merge_options *opt,
                                  struct tk_merge_report **report, struct tk_err *err) {
  struct tk_merge_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  if (!NEW_REPORT(report, err) || !TAKE_OPTIONS(&options, opt, err)) return NULL;
  options.load.without &= TK_WITHOUT_RESTORING; /* clock alignment also needs launches */
  struct tk_trace *t = trace_new(0);
  if (!t) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  merge_name(t, source);
  load_configure(t, &options.load);
  if (merge_all(t, s, &options, *report, err)) return t;
  tk_free(t);
  return NULL;
}

struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  const struct tk_load_options load = opt ? *opt : (struct tk_load_options){0};
  const struct tk_merge_options merge = {
      .load = load, .save.command = "tracekit merge", .keep_going = true, .keep_truncated = !load.strict};
  struct tk_merge_report *merged = NULL;
  struct tk_err own;
  if (!err) err = &own;
  struct tk_trace *t = tk_sources_merge(s, source, &merge, &merged, err);
  if (t && !check_ranks(merged, err)) {
    tk_free(t);
    t = NULL;
  }
  tk_merge_report_free(merged);
  return t;
}

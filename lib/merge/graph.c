/* graph.c - loads several inputs as one trace in memory, for operations on a whole run.
 *
 * The inputs are merged as in a merge to a file, but the sink joins the graphs instead of writing them: at most the joined
 * graph and one input are in memory. The result equals a trace that is merged to a file and read again, if the format of the
 * file could represent everything:
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
#include "format/format.h"
#include "format/json.h"
#include "graph/diagnostics.h"
#include "graph/join.h"
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

/* ---- names ---- */

/* Adds a metadata record with the name of the track, as in Chrome JSON. */
static void add_name_record(struct tk_trace *t, tk_id track, enum tk_record_kind kind) {
  static const struct {
    const char *name, *arg;
  } RECORDS[] = {[TK_RECORD_PROCESS_NAME] = {"process_name", "name"},
                 [TK_RECORD_PROCESS_LABELS] = {"process_labels", "labels"},
                 [TK_RECORD_PROCESS_SORT] = {"process_sort_index", "sort_index"},
                 [TK_RECORD_THREAD_NAME] = {"thread_name", "name"},
                 [TK_RECORD_THREAD_SORT] = {"thread_sort_index", "sort_index"}};
  const struct tk_track *k = &t->tracks[track];
  struct buf *raw = &t->store->raw;
  struct tk_record r = {.track = track, .kind = (uint8_t)kind, .phase = 'M', .derived = true, .at = raw->len};
  const struct intern_str *text = trace_str(t, kind == TK_RECORD_PROCESS_LABELS ? k->labels : k->name);
  char number[24];
  r.strong = k->pid.kind != TK_IDENT_NONE || k->tid.kind != TK_IDENT_NONE;
  buf_text(raw, "\"ph\":\"M\",\"name\":\"");
  buf_text(raw, RECORDS[kind].name);
  buf_text(raw, "\",\"args\":{\"");
  buf_text(raw, RECORDS[kind].arg);
  buf_text(raw, "\":");
  if (kind == TK_RECORD_PROCESS_SORT || kind == TK_RECORD_THREAD_SORT) buf_append(raw, number, num_put_i64(number, k->sort_index));
  else json_quote(raw, text->bytes, text->len);
  buf_text(raw, "}");
  r.size = (uint32_t)(raw->len - r.at);
  *trace_add_record(t) = r;
}

/* Adds records for the names, labels and sort indices of tracks, beginning with track `first`, unless a record contains them
 * already. Counter tracks need none because their name is their identity. */
static void add_name_records(struct tk_trace *t, tk_id first) {
  for (tk_id i = first; i <= t->n_tracks; i++) {
    struct tk_track *k = &t->tracks[i];
    bool process = k->kind == TK_TRACK_PROCESS;
    if (!k->renamed || k->hidden || k->kind == TK_TRACK_COUNTERS) continue;
    if (k->name) add_name_record(t, i, process ? TK_RECORD_PROCESS_NAME : TK_RECORD_THREAD_NAME);
    if (k->labels) add_name_record(t, i, TK_RECORD_PROCESS_LABELS);
    if (k->has_sort) add_name_record(t, i, process ? TK_RECORD_PROCESS_SORT : TK_RECORD_THREAD_SORT);
    t->tracks[i].renamed = false;
  }
}

/* False for a record with the old name of a track that an operation has renamed. */
static bool is_record_valid(const struct tk_trace *t, const struct tk_record *r) {
  return r->kind == TK_RECORD_OTHER || !r->track || !t->tracks[r->track].renamed;
}

/* ---- top-level keys ---- */

/* Adds a top-level key. Removes line breaks from the value: they can only be layout, because a JSON string cannot contain
 * one. */
static void add_meta(struct tk_trace *t, tk_id key, bool after, const char *text, size_t n) {
  struct buf *raw = &t->store->raw;
  struct tk_meta m = {.key = key, .at = raw->len, .after = after};
  for (const char *end = text + n, *line = text, *stop; line < end; line = stop + 1) {
    stop = memchr(line, '\n', (size_t)(end - line));
    if (!stop) stop = end;
    buf_append(raw, line, (size_t)(stop - line));
  }
  m.size = raw->len - m.at;
  trace_end_raw(t);
  *trace_add_meta(t) = m;
}

static void add_metas(struct tk_trace *t, const struct tk_trace *first, bool after) {
  static const char OURS[] = "tracekit";
  for (tk_id i = 1; i <= first->n_metas; i++) {
    const struct tk_meta *m = &first->metas[i];
    size_t n;
    const char *key = tk_string(first, m->key, &n);
    if (m->origin || m->after != after || strcmp(key, OURS) == 0) continue;
    add_meta(t, trace_string(t, key, n), after, trace_raw(first, m->at), (size_t)m->size);
  }
}

/* ---- the sink ---- */

static bool graph_open(struct sink *sink, const struct tk_trace *first, struct tk_err *err) {
  struct tk_trace *t = ((struct graph_sink *)sink)->to;
  t->zero_ns = first->zero_ns;
  t->has_zero = first->has_zero;
  t->clock = first->clock;
  t->format = first->format;
  t->sealed = true;
  add_metas(t, first, false);
  return mem_check(&t->store->mem, err);
}

static void join_passthrough(struct graph_sink *s, const struct tk_trace *from, const struct join_ids *ids) {
  const struct format *f;
  for (size_t i = 0; (f = format_row(i)) != NULL; i++)
    if (f->join) f->join(s->to, from, ids, &s->states[i]);
}

static void finish_passthrough(struct graph_sink *s) {
  for (size_t i = 0; i < FORMATS_MOST; i++) {
    if (s->states[i]) format_row(i)->join_finish(s->to, s->states[i]);
    s->states[i] = NULL;
  }
}

static bool graph_write(struct sink *sink, const struct tk_trace *t, struct tk_err *err) {
  struct graph_sink *s = (struct graph_sink *)sink;
  struct mem *mem = &s->to->store->mem;
  struct join_ids ids;
  tk_id tracks = s->to->n_tracks;
  if (s->limit) mem->limit = t->store->mem.used < s->limit ? s->limit - t->store->mem.used : 1;
  bool ok = join_graph(s->to, t, &ids, err);
  ids.ordinal = s->n_joined++;
  ids.graphs = sink->graphs;
  ids.first_row = sink->first_row;
  ids.rows = sink->rows;
  if (ok) {
    add_name_records(s->to, tracks + 1);
    join_records(s->to, t, &ids, is_record_valid);
    join_passthrough(s, t, &ids);
  }
  join_ids_free(&ids, s->to);
  return ok && mem_check(mem, err);
}

static bool graph_close(struct sink *sink, const struct tk_trace *first, const char *provenance, struct tk_err *err) {
  struct graph_sink *s = (struct graph_sink *)sink;
  struct tk_trace *t = s->to;
  t->store->mem.limit = t->store->mem.whole = s->limit;
  add_metas(t, first, true);
  if (provenance) add_meta(t, trace_text(t, "tracekit"), true, provenance, strlen(provenance));
  finish_passthrough(s);
  return join_finish(t, err) && mem_check(&t->store->mem, err);
}

static void graph_free(struct sink *sink) { (void)sink; }

/* ---- all ---- */

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

/* Returns false with err if a host could not be read, because the result would look complete. */
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
  finish_passthrough(&sink); /* runs even if the merge failed */
  return ok && name_files(t, in, err);
}

static bool merge_all(struct tk_trace *t, struct tk_sources *s, const struct tk_merge_options *opt, struct tk_merge_report *report,
                      struct tk_err *err) {
  const struct merge_inputs in = {.sources = s, .n = s->n};
  if (!merge_report_init(report, s->n, err) || !merge_check_options(opt, s->n, err)) return false;
  if (opt->manifest || opt->to) return err_set(err, TK_EUSAGE, "a merge in memory cannot write a manifest or have a maximum size");
  if (!merge_graph(t, &in, opt, NULL, report, err)) return false;
  diagnostics_give(report->notes, t);
  return !opt->load.check || tk_check(t, err);
}

struct tk_trace *tk_sources_merge(struct tk_sources *s, const char *source, const struct tk_merge_options *opt,
                                  struct tk_merge_report *report, struct tk_err *err) {
  struct tk_merge_options options;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  *report = (struct tk_merge_report){0};
  if (!TAKE_OPTIONS(&options, opt, err)) return NULL;
  options.load.without &= TK_WITHOUT_RESTORING; /* clock alignment needs launches, too */
  struct tk_trace *t = trace_new(0);
  if (!t) {
    err_set(err, TK_ELIMIT, "out of memory");
    return NULL;
  }
  merge_name(t, source);
  load_configure(t, &options.load);
  if (merge_all(t, s, &options, report, err)) return t;
  tk_free(t);
  return NULL;
}

struct tk_trace *tk_sources_load_all(struct tk_sources *s, const char *source, const struct tk_load_options *opt, struct tk_err *err) {
  const struct tk_load_options load = opt ? *opt : (struct tk_load_options){0};
  const struct tk_merge_options merge = {
      .load = load, .save.command = "tracekit merge", .keep_going = true, .keep_truncated = !load.strict};
  struct tk_merge_report merged;
  struct tk_err own;
  if (!err) err = &own;
  struct tk_trace *t = tk_sources_merge(s, source, &merge, &merged, err);
  if (t && !check_ranks(&merged, err)) {
    tk_free(t);
    t = NULL;
  }
  tk_merge_report_free(&merged);
  return t;
}

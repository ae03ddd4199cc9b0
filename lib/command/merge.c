/* merge.c - many inputs, one output: each input in its turn is made fit to stand beside the others and goes into a sink.
 *
 *     for each input: load -> take its anchors out -> free           (merge_align.c; only where clocks are to be aligned)
 *     for each input: load -> who is it -> base of time -> pids, ids, names -> sink -> its block -> free
 *     close the sink with the blocks of all
 *
 * One input is in memory at a time, and beside it what threads load of those that come next (load_ahead.h).  What the whole needs at
 * its end is small and kept aside: the first input's top-level keys, which come where viewers look for them, and each rank's own, which
 * go into the "tracekit" block behind the events (a stream cannot know it before).  Whether the sink writes a file (merge_file.c) or
 * joins the graphs in memory (load_merged.c) is nothing that is known here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/report.h"
#include "base/os.h"
#include "base/progress.h"
#include "base/path.h"
#include "base/utf8.h"
#include "merge.h"
#include "merge_align.h"
#include "merge_block.h"
#include "merge_order.h"
#include "merge_select.h"
#include "run_folder.h"
#include "save.h"
#include "source/identity.h"
#include "source/manifest.h"
#include "source/sources.h"

enum { MOST_DRIFT_US = 5 }; /* of a clock over a trace that is not worth a word */

struct merger {
  const struct tk_merge_options *opt;
  const struct merge_output *output;
  struct tk_sources *sources;
  const struct tk_input *inputs; /* those of the sources that are merged */
  size_t first, n_inputs, n_merged;
  uint64_t n_events; /* of those that were merged */
  struct tk_merge_report *report;
  struct tk_err *err;
  struct merge_alignment alignment;
  unsigned folders;         /* of an input's path that tell it from the others, in labels */
  uint32_t *places;         /* of the rows, by input; NULL = by rank */
  struct mem mem;
  struct merge_ids ids;
  struct map ranks;        /* ranks that are taken -> input + 1 */
  struct map fingerprints; /* of contents -> input + 1 */
  struct tk_trace *first_trace; /* metas of the first input; its zero of time, or that of the earliest event */
  struct merge_base base;  /* the first input's */
  struct window window;    /* of the output, from its first event on; */
  bool has_window;
  int64_t first_link;      /* id of the first flow between ranks */
  struct buf blocks;       /* JSON of the ranks, comma-separated */
  bool opened;
};

/* ---- notes and strings of the report ---- */

static const char *report_text(struct merger *m, const char *text) {
  return tk_string(m->report->notes, trace_text(m->report->notes, text), NULL);
}

static void add_note(struct merger *m, const char *input, const char *text) {
  trace_say_of(m->report->notes, input, TK_NOTE_INFO, text);
}

/* ---- who is it ---- */

/* The rank that the input claims; else one that is free. */
static int64_t claim_rank(struct merger *m, size_t input, struct tk_merge_rank *r, const struct identity *id) {
  uint32_t *slot;
  int64_t rank = id->rank >= 0 ? id->rank : (int64_t)input, sort = rank;
  r->rank_from = id->rank >= 0 ? id->rank_from : "input order";
  r->rank = rank;
  slot = map_put(&m->ranks, (uint64_t)rank, 0);
  if (slot && *slot) {
    char text[512];
    snprintf(text, sizeof text, "claims rank %lld as %s does: both are kept apart", (long long)rank, m->inputs[*slot - 1].name);
    add_note(m, m->inputs[input].name, text);
    if (sort > INT32_MAX) sort = 0; /* room to count on */
    while (slot && *slot) slot = map_put(&m->ranks, (uint64_t)++sort, 0);
  }
  if (slot) *slot = (uint32_t)input + 1;
  bool known = *m->inputs[input].host; /* hosts of a run directory have names instead of ranks */
  if (id->rank < 0 && !known && !r->merged && (m->n_inputs > 1 || !m->output->run))
    add_note(m, m->inputs[input].name, "states no rank: its place in the order of inputs is taken");
  return sort;
}

static void warn_of_copies(struct merger *m, size_t input, const struct tk_trace *t) {
  uint64_t h = hash_text(t->events + 1, (size_t)t->n_events * sizeof *t->events) ^ t->counts.bytes ^ (uint64_t)t->origin_ns;
  for (uint32_t i = 1; i <= t->store->strings.n; i++) h = h * 31 + trace_str(t, i)->hash;
  uint32_t *slot = map_put(&m->fingerprints, h, 0);
  char text[512];
  if (!slot || t->n_events == 0) return;
  if (*slot) {
    snprintf(text, sizeof text, "has the same content as %s", m->inputs[*slot - 1].name);
    add_note(m, m->inputs[input].name, text);
  } else {
    *slot = (uint32_t)input + 1;
  }
}

/* A single input stays as it is, unless more is asked for: merging one trace is converting it. */
static bool is_joined(const struct merger *m) {
  return (m->n_inputs > 1 && !m->output->run) || m->opt->label || m->opt->group_by != TK_GROUP_RANK;
}

/* ---- one base of time ---- */

/* A manifest says one offset of an input: that in its middle. */
static int64_t middle_offset(struct merger *m, const struct tk_trace *t, const struct align_map *map, int64_t later) {
  tk_time start, end;
  char text[256];
  trace_extent(t, &start, &end);
  int64_t origin = t->origin_ns + later, first = origin + start / 1000, last = origin + end / 1000;
  double lost = (double)(align_offset(map, last) - align_offset(map, first)) / 1000;
  snprintf(text, sizeof text, "its clock drifts by %s us over the trace, which a manifest cannot say: merge without one",
           num_fixed(fabs(lost), 1).s);
  if (fabs(lost) > MOST_DRIFT_US) add_note(m, t->source, text);
  return align_offset(map, first + (last - first) / 2);
}

static bool move_to_base(struct merger *m, size_t input, struct tk_trace *t, struct tk_merge_rank *r) {
  const struct align_map *map = merge_map(&m->alignment, input);
  bool known = merge_is_comparable(&m->base, t->clock) && m->opt->align != TK_ALIGN_NONE;
  int64_t later = merge_later(&m->base, &(struct merge_base){t->zero_ns, t->clock}, m->opt->align);
  if (!map && m->opt->align != TK_ALIGN_NONE && t->clock != m->base.clock)
    add_note(m, t->source, "its clock cannot be compared with that of the first input: times are taken as printed");
  r->shift_ns = known ? t->zero_ns - m->base.zero_ns : 0;
  if (map) r->shift_ns -= m->output->manifest ? middle_offset(m, t, map, later) : align_offset(map, map->pivot_ns);
  if (m->output->manifest) return true;
  if (map) return align_apply(t, map, later, m->err) || err_prefix(m->err, "%s", t->source);
  t->origin_ns += later;
  if (later) t->edits |= TK_EDIT_MOVED;
  return true;
}

/* ---- one input ---- */

/* When the output would begin that is all there is: of one input alone nothing was read before. */
static int64_t start_of(const struct merger *m, const struct tk_trace *t) {
  tk_time start, end;
  if (m->alignment.start_ns < INT64_MAX) return m->alignment.start_ns;
  if (m->n_inputs > 1) return 0;
  trace_extent(t, &start, &end);
  return t->origin_ns + start / 1000 - (start % 1000 < 0);
}

/* What times are printed against: the first input's zero, unless another one began before it, for viewers pass over what is before
 * time 0.  By whole microseconds, which leaves the digits of the others as they are. */
static int64_t zero_of(const struct merger *m, int64_t start) {
  int64_t base = m->base.zero_ns;
  if (!is_joined(m) || m->output->manifest || m->alignment.start_ns == INT64_MAX || start >= base) return base;
  i128 early = (((i128)base - start + 999) / 1000) * 1000, zero = base - early;
  return zero < INT64_MIN ? start : (int64_t)zero;
}

/* The range of time that is asked for, on the timeline of all, and when the output begins in it. */
static bool find_window(struct merger *m, struct tk_trace *first) {
  i128 length = ((i128)m->alignment.end_ns - m->alignment.start_ns) * 1000;
  struct window_frame f = {.end = length > INT64_MAX ? INT64_MAX : (tk_time)length, .clock = m->base.clock};
  if (!m->opt->time) return true;
  f.origin_ns = first->origin_ns;
  f.zero_ns = first->zero_ns;
  if (!window_parse(m->opt->time, &f, &m->window, m->err)) return false;
  m->has_window = true;
  if (m->window.start > 0) first->origin_ns += m->window.start / 1000;
  return true;
}

/* The same window, as of this trace. */
static bool cut_time(struct merger *m, struct tk_trace *t, struct tk_merge_rank *r) {
  i128 by = ((i128)m->alignment.start_ns - t->origin_ns) * 1000, start = m->window.start + by, end = m->window.end + by;
  struct window w = m->window;
  uint64_t before;
  if (!m->has_window) return true;
  if (w.start != INT64_MIN) w.start = start > INT64_MAX ? INT64_MAX : start < INT64_MIN ? INT64_MIN : (tk_time)start;
  if (w.end != INT64_MAX) w.end = end > INT64_MAX ? INT64_MAX : end < INT64_MIN ? INT64_MIN : (tk_time)end;
  if (!merge_cut_time(t, &w, &before, m->err)) return err_prefix(m->err, "%s", t->source);
  r->events -= before - t->n_events;
  return true;
}

/* Its top-level keys and its base of time are those of the output. */
static bool open_sink(struct merger *m, const struct tk_trace *t) {
  struct tk_trace *first = m->first_trace;
  m->base = m->alignment.who ? m->alignment.base : (struct merge_base){t->zero_ns, t->clock};
  first->format = t->format;
  first->origin_ns = start_of(m, t);
  first->zero_ns = zero_of(m, first->origin_ns);
  if (!find_window(m, first)) return false;
  if (m->opt->to_zero) first->zero_ns = first->origin_ns;
  first->has_zero = t->has_zero;
  first->clock = m->base.clock;
  if (is_joined(m)) first->edits = t->edits | TK_EDIT_RENAMED;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    struct buf *raw = &first->store->raw;
    struct tk_meta meta = t->metas[i];
    size_t n;
    const char *key = tk_string(t, meta.key, &n);
    meta.key = trace_string(first, key, n);
    meta.at = raw->len;
    buf_append(raw, trace_raw(t, t->metas[i].at), (size_t)meta.size);
    trace_end_raw(first);
    *trace_add_meta(first) = meta;
  }
  if (!mem_check(&first->store->mem, m->err)) return false;
  m->opened = true;
  if (m->output->run)
    return !m->alignment.who || run_folder_meet(m->output->run, m->alignment.who, m->n_inputs) ||
           err_set(m->err, TK_ELIMIT, "out of memory");
  return m->output->manifest || m->output->sink->open(m->output->sink, first, m->err);
}

static uint32_t count_processes(const struct tk_trace *t, bool hidden) {
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) n += t->tracks[i].kind == TK_PROCESS && t->tracks[i].hidden == hidden;
  return n;
}

/* How a rank and its processes are called. */
struct called {
  char rank[48], suffix[64], machine[1024];
  struct label_values values;
};

/* Runs side by side: each says which it is. */
static bool is_of_runs(const struct merger *m) {
  for (size_t i = 1; m->opt->align == TK_ALIGN_START && i < m->n_inputs; i++)
    if (strcmp(m->inputs[i].run, m->inputs[0].run) != 0 || strcmp(m->inputs[i].step, m->inputs[0].step) != 0) return true;
  return false;
}

static const char *label_of(const struct merger *m) {
  if (m->opt->label) return m->opt->label;
  return is_of_runs(m) ? "{run} - step {step} - " LABEL_DEFAULT : LABEL_DEFAULT;
}

static const char *valid_text(const char *text) { return text && utf8_valid((const uint8_t *)text, strlen(text)) ? text : ""; }

/* As many folders as make the names of all inputs differ, where that can be. */
static bool find_folders(struct merger *m) {
  enum { MOST = 8 };
  for (bool same = true; same && m->folders < MOST; m->folders += same) {
    struct intern names;
    intern_init(&names, &m->mem);
    same = false;
    for (size_t i = 0; i < m->n_inputs && !same; i++) {
      const char *name = path_end(m->inputs[i].name, m->folders);
      uint32_t before = names.n;
      same = intern(&names, name, strlen(name)) <= before;
    }
    intern_free(&names);
  }
  if (m->folders == MOST) m->folders = 0;
  return mem_check(&m->mem, m->err);
}

static void call_rank(const struct merger *m, struct called *c, const struct tk_merge_rank *r, int64_t slot) {
  snprintf(c->rank, sizeof c->rank, slot == r->rank ? "%lld" : "%lld, %lld", (long long)r->rank, (long long)slot);
  snprintf(c->suffix, sizeof c->suffix, " [rank %s]", c->rank);
  const struct tk_input *own = &m->inputs[r - m->report->ranks];
  bool nameless = m->opt->redact != NULL;
  c->values = (struct label_values){{[LABEL_RANK] = c->rank, [LABEL_HOST] = r->host}};
  c->values.of[LABEL_INPUT] = nameless ? "" : valid_text(path_end(r->input, m->folders));
  c->values.of[LABEL_RUN] = nameless ? "" : valid_text(own->run);
  c->values.of[LABEL_STEP] = nameless ? "" : valid_text(own->step);
  if (label_expand(label_of(m), &c->values, c->machine, sizeof c->machine) == 0)
    snprintf(c->machine, sizeof c->machine, "rank %s", c->rank);
}

/* Renumbers the graph; of one that stands alone the processes stay what they are.  Fills `was`. */
static bool renumber_input(struct merger *m, size_t input, struct tk_trace *t, int64_t slot, struct merge_pid *was) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct track_origin *origins = NULL;
  struct called c;
  call_rank(m, &c, r, slot);
  struct merge_place place = {.label = label_of(m), .values = c.values, .machine = c.machine, .suffix = c.suffix,
                              .order = m->places ? m->places[input] : slot, .by_kind = m->opt->group_by == TK_GROUP_KIND};
  r->processes = 0;
  if (is_joined(m)) {
    if (r->merged && !m->opt->label && !(origins = identity_of_tracks(t, &m->mem))) return mem_check(&m->mem, m->err);
    place.origins = origins;
    bool ok = renumber(t, &m->ids, &place, was, &r->processes, m->err);
    if (origins) identity_free_tracks(origins, &m->mem);
    return ok;
  }
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_PROCESS) was[r->processes++] = (struct merge_pid){.track = i, .was = t->tracks[i].pid};
  return true;
}

/* The trace as a file of its own, which says how its clock was aligned with the others'. */
static bool write_file(struct merger *m, const struct tk_merge_rank *r, const struct tk_trace *t, int64_t slot) {
  struct buf b = {.mem = &m->mem};
  struct run_rank rank = {r->host, slot, m->first_trace, saver_provenance(&b, &m->opt->save, t)};
  if (rank.provenance && m->opt->save.command && m->n_inputs > 1 && !m->opt->redact) {
    b.len -= 2; /* its brace and NUL */
    buf_text(&b, ",\"align\":");
    buf_text(&b, m->report->align.json);
    buf_append(&b, "}", 2);
    rank.provenance = (const char *)b.data;
  }
  const bool ok = mem_check(&m->mem, m->err) && run_folder_add(m->output->run, t, &rank, m->err);
  buf_free(&b);
  return ok;
}

static bool write_graph(struct merger *m, size_t input, struct tk_trace *t, int64_t slot) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct sink *sink = m->output->sink;
  struct merge_pid *was = mem_array(&m->mem, (uint64_t)t->n_tracks + 1, sizeof *was);
  if (!was) return mem_check(&m->mem, m->err);
  bool ok = renumber_input(m, input, t, slot, was);
  r->hidden_processes = count_processes(t, true);
  if (ok && m->opt->link_collectives) ok = merge_collectives_link(&m->alignment.collectives, (uint32_t)input, t, m->first_link, m->err);
  const struct merge_block block = {r, t, was, m->n_merged == 0, m->opt->redact != NULL};
  if (ok && r->merged && is_joined(m)) r->merged = merge_block_print_ranks(&m->blocks, &block);
  if (ok && !(r->merged && is_joined(m))) merge_block_print(&m->blocks, &block);
  mem_free(&m->mem, was);
  if (!ok) return false;
  if (m->output->run) return write_file(m, r, t, slot);
  if (m->output->saver) saver_count_lost(m->output->saver, t);
  progress_phase(&m->opt->save.progress, (struct tk_phase){"writing", r->input, input + 1, m->n_inputs, true});
  return sink->write(sink, t, m->err);
}

static bool is_reference(const struct merger *m, const struct tk_merge_rank *r) {
  char rank[24];
  snprintf(rank, sizeof rank, "%lld", (long long)r->rank);
  return m->opt->reference && (strcmp(m->opt->reference, rank) == 0 || strcmp(m->opt->reference, r->host) == 0);
}

/* The input goes into the tar as it is. */
static bool describe_input(struct merger *m, size_t input, const struct tk_trace *t, int64_t slot) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct tk_saved *saved = &m->report->saved;
  struct manifest *manifest = m->output->manifest;
  struct called c;
  bool first = manifest->n == 0 || !is_reference(m, &m->report->ranks[manifest->files[manifest->reference].input - m->first]);
  call_rank(m, &c, r, slot);
  merge_block_print(&m->blocks, &(struct merge_block){.rank = r});
  r->processes = count_processes(t, false);
  saved->records += r->read;
  saved->events += r->events;
  saved->flow_points += r->flow_points;
  if (first && is_reference(m, r)) manifest->reference = manifest->n;
  struct manifest_file file = {.input = m->first + input, .machine = c.machine, .shift_ns = r->shift_ns};
  return manifest_add(manifest, t, m->sources, file, m->err);
}

/* Viewers of some formats derive by themselves, and a manifest's files stay as they are. */
static bool derives(const struct merger *m) {
  const struct saver *s = m->output->saver;
  return m->output->derive || (m->opt->derive && s && !s->format->info.derives);
}

/* Who it was is then told by nothing that is written. */
static bool redact_input(struct merger *m, struct tk_trace *t, struct tk_merge_rank *r) {
  if (!m->opt->redact) return true;
  if (!tk_redact(t, m->opt->redact, &m->report->redacted, m->err)) return false;
  r->host = report_text(m, t->host);
  return true;
}

static bool asks_for_time(const struct merger *m) { return m->opt->steps || m->opt->time; }

static bool merge_trace(struct merger *m, size_t input, struct tk_trace *t) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct identity id = identity_of(t);
  r->merged = identity_is_merged(t);
  int64_t slot = claim_rank(m, input, r, &id);
  if (strcmp(r->input, t->source) != 0) r->input = report_text(m, t->source); /* another view of the session was read */
  r->host = report_text(m, id.host);
  r->read = t->counts.read;
  r->events = t->n_events;
  r->flow_points = t->n_flow_points;
  r->bytes = t->counts.bytes;
  trace_copy_notes(m->report->notes, t, t->source);
  warn_of_copies(m, input, t);
  if (derives(m) && !tk_derive(t, NULL, m->err)) return false;
  if (!redact_input(m, t, r)) return false;
  if (!m->opened && !open_sink(m, t)) return false;
  if (!move_to_base(m, input, t, r) || !cut_time(m, t, r)) return false;
  if (!(m->output->manifest ? describe_input(m, input, t, slot) : write_graph(m, input, t, slot))) return false;
  m->n_merged++;
  m->n_events += t->n_events;
  if (!t->n_events && asks_for_time(m)) add_note(m, t->source, "none of its events is of the range that is asked for");
  return mem_check(&m->mem, m->err);
}

/* Is it of a rank that is not asked for?  Failing leaves the error. */
static bool is_left_out(struct merger *m, size_t input, struct tk_trace *t) {
  struct identity id = identity_of(t);
  bool wanted = merge_wants(m->opt, t, id.rank >= 0 ? id.rank : (int64_t)input, m->err);
  return m->err->code == TK_OK && !wanted;
}

/* An input that ends too early is not merged as if it were whole. */
static struct tk_trace *load_whole(struct merger *m, size_t input) {
  const struct merge_inputs in = {.sources = m->sources, .first = m->first, .n = m->n_inputs};
  struct tk_load_options load = m->opt->load;
  uint64_t limit = os_memory_limit(load.max_memory), held = m->output->held ? m->output->held->used : 0;
  if (limit) load.max_memory = held < limit ? limit - held : 1;
  bool cut = m->alignment.kept && m->alignment.kept[input];
  struct tk_trace *t = merge_load(&m->alignment, &in, input, &load, m->err);
  if (t && t->truncated && !m->opt->keep_truncated)
    err_set(m->err, TK_ECORRUPT, "%s: truncated: its last events are missing", t->source);
  else if (t && !cut && is_left_out(m, input, t)) m->report->ranks[input].skipped = true;
  else if (!t || ((cut || merge_cut(t, m->opt, m->err)) &&
                  (!m->output->manifest || manifest_takes(m->sources, m->first + input, t, m->err))))
    return t;
  tk_free(t);
  return NULL;
}

static bool merge_input(struct merger *m, size_t input) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  bool ok;
  r->input = report_text(m, m->inputs[input].name);
  r->host = "";
  r->rank = -1;
  r->rank_from = "";
  if (r->failed) return true; /* in the first pass */
  r->skipped = m->alignment.skipped && m->alignment.skipped[input];
  progress_phase(&m->opt->load.progress, (struct tk_phase){"reading", r->input, input + 1, m->n_inputs, false});
  struct tk_trace *t = r->skipped ? NULL : load_whole(m, input);
  if (r->skipped) {
    m->report->n_skipped++;
    return true;
  }
  if (t) {
    ok = merge_trace(m, input, t);
    tk_free(t);
    return ok;
  }
  if (m->opt->keep_going && m->err->code != TK_EINTERRUPTED) {
    r->failed = report_text(m, m->err->msg);
    err_clear(m->err);
    return true;
  }
  return merge_stops(m->n_inputs, m->err);
}

/* ---- all ---- */

/* The next input is loaded while one is written, unless all are held in memory anyway. */
static bool merge_each(struct merger *m) {
  enum { WHILE_WRITING = 2 }; /* threads: writing takes about as long as loading */
  struct merge_alignment *a = &m->alignment;
  bool *unwanted = mem_array(&m->mem, m->n_inputs, sizeof *unwanted), ok = unwanted != NULL;
  struct tk_load_options load = m->opt->load;
  load.max_memory = os_memory_limit(load.max_memory);
  if (load.max_memory) load.max_memory -= a->kept_bytes < load.max_memory ? a->kept_bytes : load.max_memory - 1;
  for (size_t i = 0; ok && i < m->n_inputs; i++)
    unwanted[i] = (a->kept && a->kept[i]) || (a->skipped && a->skipped[i]) || m->report->ranks[i].failed;
  if (ok && !m->output->held) a->ahead = load_ahead_start(m->sources, m->first, m->n_inputs, unwanted, &load, WHILE_WRITING);
  for (size_t i = 0; ok && i < m->n_inputs; i++) ok = merge_input(m, i);
  load_ahead_stop(a->ahead);
  a->ahead = NULL;
  mem_free(&m->mem, unwanted);
  return ok ? mem_check(&m->mem, m->err) : mem_refuse(&m->mem, m->err);
}

/* The object "tracekit" of the output.  What the ranks said of themselves is no account of how the output was made: it stays without
 * one. */
static const char *provenance(struct merger *m, struct buf *b) {
  bool manifest = m->output->manifest != NULL;
  bool converted = !is_joined(m) && !manifest && (trace_meta(m->first_trace, "tracekit") || !m->opt->save.command);
  if (converted) return saver_provenance(b, &m->opt->save, m->first_trace);
  if (saver_provenance(b, &m->opt->save, NULL)) {
    b->len -= 2; /* its brace and NUL */
    if (!m->opt->redact) buf_text(b, ",\"align\":");
    if (!m->opt->redact) buf_text(b, m->report->align.json);
  } else if (manifest) {
    return NULL;
  }
  buf_text(b, b->len ? ",\"ranks\":[\n" : "{\"ranks\":[\n");
  buf_append(b, m->blocks.data, m->blocks.len);
  buf_text(b, "\n]}");
  return buf_append(b, "", 1) ? (const char *)b->data : NULL;
}

static bool close_output(struct merger *m, const char *provenance) {
  struct manifest *manifest = m->output->manifest;
  struct sink *sink = m->output->sink;
  if (m->output->run) return true;
  if (!manifest) return sink->close(sink, m->first_trace, provenance, m->err);
  bool ok = manifest_write(manifest, m->sources, provenance, &m->opt->load.progress, &m->report->saved, m->err);
  for (uint32_t i = 0; i < manifest->n; i++) {
    const struct manifest_file *f = &manifest->files[i];
    if (f->early) add_note(m, f->path, "begins before the reference's zero of time: Perfetto drops what is there");
  }
  return ok;
}

static bool order_rows(struct merger *m) {
  if (m->opt->group_by != TK_GROUP_HOST || !m->alignment.who) return true;
  m->places = mem_array(&m->mem, m->n_inputs, sizeof *m->places);
  if (!m->places) return mem_check(&m->mem, m->err);
  return merge_order(m->alignment.who, m->n_inputs, true, m->places) || err_set(m->err, TK_ELIMIT, "out of memory");
}

/* What cannot be read twice without a copy is not read twice only to see when it begins. */
static bool has_stdin(const struct merger *m) {
  for (size_t i = 0; i < m->n_inputs; i++)
    if (strcmp(m->inputs[i].name, "standard input") == 0 || strcmp(m->inputs[i].name, "-") == 0) return true;
  return false;
}

static bool align_inputs(struct merger *m) {
  struct merge_inputs in = {.sources = m->sources, .first = m->first, .n = m->n_inputs};
  bool start = m->output->needs_start || m->opt->to_zero || (m->opt->align != TK_ALIGN_NONE && !has_stdin(m));
  return merge_align(&m->alignment, &in, m->opt, start, m->report, m->err);
}

/* Viewers that know nothing of sort indices show processes in the order in which they are written. */
static bool align_in_order(struct merger *m) {
  bool sorted = true;
  if (!align_inputs(m)) return false;
  const struct merge_who *who = m->alignment.who;
  for (size_t i = 1; who && i < m->n_inputs; i++) sorted = sorted && who[i - 1].rank <= who[i].rank;
  if (sorted || !m->output->own_order) return true;
  uint32_t *places = mem_array(&m->mem, m->n_inputs, sizeof *places);
  bool ok = places && merge_order(who, m->n_inputs, false, places) && sources_arrange(m->sources, m->first, m->n_inputs, places);
  mem_free(&m->mem, places);
  if (!ok) return err_set(m->err, TK_ELIMIT, "out of memory");
  merge_alignment_free(&m->alignment); /* which is by input, and relative to the first one */
  align_report_free(m->report);
  return align_inputs(m);
}

static bool merge_all(struct merger *m) {
  struct buf b = {.mem = &m->mem};
  bool ok = align_in_order(m) && order_rows(m) && find_folders(m);
  m->first_link = 1;
  if (m->alignment.collectives.n) m->ids.next_id = 1 + (int64_t)m->alignment.collectives.n;
  for (size_t i = 0; ok && m->output->manifest && i < m->n_inputs; i++) ok = sources_keep(m->sources, m->first + i, m->err);
  ok = ok && merge_each(m);
  if (ok && !m->opened && m->report->n_skipped)
    ok = err_set(m->err, TK_ENOTHING, "nothing matched: no input is of a rank that is asked for");
  if (ok && m->opened && !m->n_events && asks_for_time(m))
    ok = err_set(m->err, TK_ENOTHING, "nothing matched: no event of any input is of the %s asked for",
                 m->opt->steps ? "steps" : "time");
  if (ok && !m->opened) ok = err_set(m->err, TK_EFORMAT, "no input could be read: %s", m->report->ranks[0].failed);
  const struct merge_table table = {.who = m->alignment.who, .zero_ns = m->first_trace->zero_ns, .out = m->output->collectives,
                                    .kind = m->opt->collectives ? merge_table_kind(m->opt->collectives) : MERGE_TABLE_NONE};
  if (ok && table.out) ok = merge_collectives_write(&m->alignment.collectives, &table, m->err);
  const char *said = ok ? provenance(m, &b) : NULL;
  ok = ok && mem_check(&m->mem, m->err) && mem_check(&m->report->notes->store->mem, m->err) && close_output(m, said);
  buf_free(&b);
  return ok;
}

bool merge_report_init(struct tk_merge_report *report, size_t n_inputs, struct tk_err *err) {
  *report = (struct tk_merge_report){.notes = trace_new(0), .n_ranks = n_inputs};
  report->ranks = calloc(n_inputs + 1, sizeof *report->ranks);
  return (report->notes && report->ranks) || err_set(err, TK_ELIMIT, "out of memory");
}

void tk_merge_report_free(struct tk_merge_report *report) {
  tk_free(report->notes);
  free(report->ranks);
  align_report_free(report);
  *report = (struct tk_merge_report){0};
}

bool merge_check_options(const struct tk_merge_options *opt, size_t n, struct tk_err *err) {
  if (n == 0) return err_set(err, TK_EUSAGE, "nothing to merge");
  if (opt->label && !label_check(opt->label, err)) return false;
  if (!merge_select_check(opt, err)) return false;
  if (opt->manifest && (opt->steps || opt->time || opt->to || opt->link_collectives))
    return err_set(err, TK_EUSAGE, "a manifest takes inputs as they are: no steps, no time, no size, no links");
  if (!opt->manifest || opt->group_by == TK_GROUP_RANK) return true;
  return err_set(err, TK_EUSAGE, "a manifest cannot say in which order rows stand");
}

bool merge_into(const struct merge_inputs *in, const struct merge_output *output, const struct tk_merge_options *opt,
                struct tk_merge_report *report, struct tk_err *err) {
  struct merger m = {.opt = opt, .output = output, .sources = in->sources, .inputs = in->sources->inputs + in->first,
                     .first = in->first, .n_inputs = in->n, .report = report, .err = err, .first_trace = trace_new(0)};
  m.blocks.mem = &m.mem;
  merge_ids_init(&m.ids, &m.mem);
  map_init(&m.ranks, &m.mem);
  map_init(&m.fingerprints, &m.mem);
  bool ok = m.first_trace ? merge_all(&m) : err_set(err, TK_ELIMIT, "out of memory");
  mem_free(&m.mem, m.places);
  merge_alignment_free(&m.alignment);
  merge_ids_free(&m.ids);
  map_free(&m.ranks);
  map_free(&m.fingerprints);
  buf_free(&m.blocks);
  tk_free(m.first_trace);
  return ok;
}

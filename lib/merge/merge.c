/* merge.c - merges many inputs into one output: each input in turn is adjusted to the others and written to a sink.
 *
 *     for each input: load -> collect its anchors -> free           (align.c; only if clocks are to be aligned)
 *     for each input: load -> identify -> time base -> pids, ids, names -> sink -> its block -> free
 *     close the sink with the blocks of all ranks
 *
 * One input is in memory at a time, plus the inputs that threads load ahead (load/ahead.h). Two small things outlive their
 * input: the top-level keys of the first input, which the sink writes as the keys of the output; and for each rank its block,
 * which contains the rank's own top-level keys. The blocks follow the events, in the key "tracekit", because a block is
 * complete only once its input has been read. This file does not depend on whether the sink writes a file (file.c) or joins the
 * graphs in memory (graph.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge.h"
#include "align/report.h"
#include "base/options.h"
#include "base/os.h"
#include "base/progress.h"
#include "base/regexp.h"
#include "load/load.h"
#include "select.h"
#include "share.h"
#include "gone.h"
#include "load/save.h"
#include "source/identity.h"
#include "source/manifest.h"
#include "source/sources.h"
#include "stragglers.h"
#include "alignment.h"
#include "plan.h"
#include "rank.h"

/* True if --rank excludes this input. On failure m->err is set. */
static bool is_left_out(struct merger *m, size_t input, struct tk_trace *t) {
  struct identity id = identity_of(t);
  bool wanted = merge_wants(m->opt, t, id.rank >= 0 ? id.rank : merge_given_rank(m, input), m->err);
  return m->err->code == TK_OK && !wanted;
}

/* Loads an input. Returns NULL with err if loading fails, or if the input is truncated and truncated inputs are not accepted. Returns
 * NULL and sets the row's `skipped` if --rank excludes the input. */
static struct tk_trace *load_whole(struct merger *m, size_t input) {
  const struct merge_inputs in = {.sources = m->sources, .first = m->first, .n = m->n_inputs};
  struct tk_load_options load = m->opt->load;
  uint64_t limit = os_memory_limit(load.max_memory), held = m->output->held ? m->output->held->used : 0;
  if (limit) load.max_memory = held < limit ? limit - held : 1;
  bool cut = m->alignment.kept && m->alignment.kept[input];
  struct tk_trace *t = merge_load(&m->alignment, &in, input, &load, m->err);
  if (t && !m->alignment.pids && !scan_take_pids(&m->own_pids, t, &m->mem)) mem_check(&m->mem, m->err);
  else if (t && t->truncated && !m->opt->keep_truncated)
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
  r->input = merger_text(m, m->inputs[input].name);
  r->host = "";
  r->rank = -1;
  r->rank_from = "";
  if (r->failed) return true; /* the first pass has already reported the failure */
  r->skipped = m->alignment.skipped && m->alignment.skipped[input];
  progress_phase(&m->opt->load.progress, (struct tk_phase){"reading", r->input, input + 1, m->n_inputs, false});
  struct tk_trace *t = r->skipped ? NULL : load_whole(m, input);
  if (r->skipped) {
    m->report->n_skipped++;
    return true;
  }
  if (t) {
    ok = merge_write(m, input, t);
    tk_free(t);
    return ok;
  }
  if (m->opt->keep_going && m->err->code != TK_EINTERRUPTED) {
    r->failed = merger_text(m, m->err->msg);
    err_clear(m->err);
    return true;
  }
  return merge_stops(m->n_inputs, m->err);
}

/* ---- entry points ---- */

/* Merges all inputs in turn. While one is written, a thread loads the next, except if the sink keeps the merged graphs in memory. */
static bool merge_each(struct merger *m) {
  enum { WHILE_WRITING = 2 }; /* number of threads: writing an input takes about as long as loading one */
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

/* Returns the object "tracekit" of the output. If inputs are combined, the object does not contain their provenance, because that does
 * not describe how this output was made. */
static const char *provenance(struct merger *m, struct buf *b) {
  bool manifest = m->output->manifest != NULL;
  bool converted = !merge_joins(m) && !manifest && (trace_meta(m->first_trace, "tracekit") || !m->opt->save.command);
  if (converted) return save_provenance(b, &m->opt->save, m->first_trace);
  if (save_provenance(b, &m->opt->save, NULL)) {
    b->len -= 2; /* removes the closing brace and NUL */
    if (!m->opt->redact) buf_text(b, ",\"align\":");
    if (!m->opt->redact) buf_text(b, m->report->align.json);
  } else if (manifest) {
    return NULL;
  }
  buf_text(b, b->len ? ",\"ranks\":[\n" : "{\"ranks\":[\n");
  buf_append(b, m->blocks.data, m->blocks.len);
  buf_text(b, "\n]");
  if (m->shares.of) merge_gone_print(m, b);
  buf_text(b, "}");
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
    if (f->early) merger_note(m, f->path, "starts before the reference's time zero; Perfetto drops the events before it");
  }
  return ok;
}

bool merge_close(struct merger *m) {
  struct buf b = {.mem = &m->mem};
  if (!m->opened && m->report->n_skipped)
    return err_set(m->err, TK_ENOTHING, "nothing matched: no input has a selected rank");
  if (m->opened && !m->n_events && merger_asks_for_time(m))
    return err_set(m->err, TK_ENOTHING, "nothing matched: no event is in the selected %s",
                   m->opt->steps ? "steps" : "time");
  if (!m->opened) return err_set(m->err, TK_EFORMAT, "no input could be read: %s", m->report->ranks[0].failed);
  const struct merge_table table = {.who = m->alignment.who, .zero_ns = m->first_trace->zero_ns, .out = m->output->collectives,
                                    .redact = m->opt->redact,
                                    .kind = m->opt->collectives ? merge_table_kind(m->opt->collectives) : MERGE_TABLE_NONE};
  if (table.out && !merge_collectives_write(&m->alignment.collectives, &table, m->err)) return false;
  for (size_t i = 0; m->shares.of && i < m->n_inputs; i++) m->report->events_before += m->report->ranks[i].events;
  const char *said = provenance(m, &b);
  bool ok = mem_check(&m->mem, m->err) && diagnostics_check(m->report->notes, m->err) && close_output(m, said);
  buf_free(&b);
  return ok;
}

static bool merge_all(struct merger *m) {
  bool ok = merge_plan(m);
  for (size_t i = 0; ok && m->output->manifest && i < m->n_inputs; i++)
    ok = sources_keep(m->sources, m->first + i, &m->opt->load.progress, m->err);
  return ok && merge_each(m) && merge_close(m);
}

bool merge_report_init(struct tk_merge_report *report, size_t n_inputs, struct tk_err *err) {
  *report = (struct tk_merge_report){.notes = diagnostics_new()};
  return merge_report_ranks(report, n_inputs, err) && (report->notes || err_set(err, TK_ELIMIT, "out of memory"));
}

bool merge_report_ranks(struct tk_merge_report *report, size_t n, struct tk_err *err) {
  free(report->ranks);
  report->ranks = calloc(n + 1, sizeof *report->ranks);
  report->n_ranks = n;
  return report->ranks || err_set(err, TK_ELIMIT, "out of memory");
}

void merge_report_clear(struct tk_merge_report *report) {
  tk_diagnostics_free(report->notes);
  free(report->ranks);
  align_report_free(report);
  stragglers_free_report(report);
}

bool merge_report_drop(struct tk_merge_report *report) {
  tk_merge_report_free(report);
  return false;
}

void tk_merge_report_free(struct tk_merge_report *report) {
  if (report) merge_report_clear(report);
  free(report);
}

static bool check_anchor(const char *anchor, struct tk_err *err) {
  struct mem mem = {0};
  char why[200];
  struct regexp *r = regexp_new(anchor, &mem, why, sizeof why);
  const bool ok = r != NULL;
  regexp_free(r);
  return ok || (mem_check(&mem, err) && err_set(err, TK_EUSAGE, "anchor '%s': %s", anchor, why));
}

bool merge_check_options(const struct tk_merge_options *opt, size_t n, struct tk_err *err) {
  if (n == 0) return err_set(err, TK_EUSAGE, "nothing to merge");
  if (opt->label && !label_check(opt->label, err)) return false;
  if (opt->anchor && !check_anchor(opt->anchor, err)) return false;
  if (!merge_select_check(opt, err)) return false;
  if (opt->manifest && (opt->steps || opt->time || opt->to || opt->link_collectives))
    return err_set(err, TK_EUSAGE, "a manifest copies inputs unchanged; it cannot be combined with steps, a time range, a size "
                                   "or links");
  if (!opt->manifest || opt->group_by == TK_GROUP_RANK) return true;
  return err_set(err, TK_EUSAGE, "a manifest cannot be combined with grouping: it does not define the order of rows");
}

bool tk_merge_check(const struct tk_merge_options *opt, struct tk_err *err) {
  struct tk_merge_options o;
  struct tk_err own;
  if (!err) err = &own;
  err_clear(err);
  return TAKE_OPTIONS(&o, opt, err) && merge_check_options(&o, 1, err);
}

bool merge_begin(struct merger *m, const struct merge_inputs *in, struct tk_err *err) {
  m->sources = in->sources;
  m->inputs = in->sources->inputs + in->first;
  m->first = in->first;
  m->n_inputs = in->n;
  m->scans = in->scans;
  m->weighed = in->weighed;
  m->packed = in->packed;
  m->err = err;
  m->first_trace = trace_new(0);
  m->blocks.mem = &m->mem;
  renumber_ids_init(&m->ids, &m->mem);
  map_init(&m->ranks, &m->mem);
  map_init(&m->fingerprints, &m->mem);
  m->gone.mem = &m->mem;
  intern_init(&m->gone.names, &m->mem);
  map_init(&m->gone.index, &m->mem);
  return m->first_trace || err_set(err, TK_ELIMIT, "out of memory");
}

void merge_end(struct merger *m) {
  mem_free(&m->mem, m->places);
  mem_free(&m->mem, m->own_pids.v);
  merge_alignment_free(&m->alignment);
  mem_free(&m->mem, m->shares.of);
  mem_free(&m->mem, m->shares.roles);
  merge_gone_free(&m->gone);
  renumber_ids_free(&m->ids);
  map_free(&m->ranks);
  map_free(&m->fingerprints);
  buf_free(&m->blocks);
  tk_free(m->first_trace);
}

bool merge_into(const struct merge_inputs *in, const struct merge_output *output, const struct tk_merge_options *opt,
                struct tk_merge_report *report, struct tk_err *err) {
  struct merger m = {.opt = opt, .output = output, .report = report};
  bool ok = merge_begin(&m, in, err) && merge_all(&m);
  merge_end(&m);
  return ok;
}

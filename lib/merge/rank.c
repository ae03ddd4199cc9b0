/* rank.c - one rank of a merge: identifies it, places it in time, names and numbers its processes, and writes it to the
 * sink. */
#include "rank.h"
#include "merger.h"
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/options.h"
#include "base/path.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "block.h"
#include "select.h"
#include "share.h"
#include "run_folder.h"
#include "load/save.h"
#include "op/redact.h"
#include "source/identity.h"
#include "source/manifest.h"
#include "source/sources.h"
#include "source/sources_beside.h"
#include "alignment.h"

enum { MOST_DRIFT_US = 5 }; /* a clock that drifts less than this over the trace needs no note */

/* ---- identity ---- */

/* Adds a note that another input claimed the rank before. Recordings of one rank by two profilers also get here if it was not evident
 * that they belong together (load/evident.h). */
static void note_claim(struct merger *m, size_t input, size_t other, int64_t rank) {
  const char *mine = m->inputs[input].format, *others = m->inputs[other].format, *name = m->inputs[other].name;
  char text[512];
  if (mine && others && strcmp(mine, others) != 0)
    snprintf(text, sizeof text, "claims the same rank %lld as %s, in another format: both are kept, so work that both recorded "
                                "appears twice; if they are recordings of one rank, join them (see --join)", (long long)rank, name);
  else
    snprintf(text, sizeof text, "claims the same rank %lld as %s; both are kept as separate inputs", (long long)rank, name);
  merger_note(m, m->inputs[input].name, text);
}

/* Adds a note that the input contains no rank, and got the number `rank`. */
static void note_no_rank(struct merger *m, size_t input, int64_t rank) {
  char text[128];
  if (rank == (int64_t)input) snprintf(text, sizeof text, "contains no rank; using its position among the inputs");
  else snprintf(text, sizeof text, "contains no rank, unlike other inputs; it is called rank %lld", (long long)rank);
  merger_note(m, m->inputs[input].name, text);
}

/* Claims a rank for the input, and returns its slot among all ranks. Adds a note if another input claimed the rank before. */
static int64_t claim_rank(struct merger *m, size_t input, struct tk_merge_rank *r, const struct identity *id) {
  uint32_t other = 0;
  r->rank_from = id->rank >= 0 ? id->rank_from : IDENTITY_GIVEN;
  r->rank = id->rank >= 0 ? id->rank : merge_given_rank(m, input);
  const int64_t slot = m->planned ? m->planned->slot : merge_slot(m, input, id->rank, &r->rank, &other);
  if (other) note_claim(m, input, other - 1, r->rank);
  if (id->rank_note && m->n_inputs > 1) merger_note(m, m->inputs[input].name, id->rank_note);
  bool known = *m->inputs[input].host; /* the host of an input in a run directory is identified by name, not by rank */
  if (id->rank < 0 && !known && !r->merged && (m->n_inputs > 1 || !m->output->run)) note_no_rank(m, input, r->rank);
  return slot;
}

static void warn_of_copies(struct merger *m, size_t input, const struct tk_trace *t) {
  uint64_t h = hash_text(t->events + 1, (size_t)t->n_events * sizeof *t->events) ^ t->counts.bytes ^ (uint64_t)t->origin_ns;
  for (uint32_t i = 1; i <= t->store->strings.n; i++) h = h * 31 + trace_str(t, i)->hash;
  uint32_t *slot = map_put(&m->fingerprints, h, 0);
  char text[512];
  if (!slot || t->n_events == 0) return;
  if (*slot) {
    snprintf(text, sizeof text, "has the same content as %s", m->inputs[*slot - 1].name);
    merger_note(m, m->inputs[input].name, text);
  } else {
    *slot = (uint32_t)input + 1;
  }
}

/* ---- time base ---- */

/* Returns the clock offset in the middle of the trace: a manifest has only one offset per input. Adds a note if the clock drifts. */
static int64_t middle_offset(struct merger *m, const struct tk_trace *t, const struct align_map *map, int64_t later) {
  tk_time start, end;
  char text[256];
  trace_extent(t, &start, &end);
  const int64_t first = trace_ns(t, later, start), last = trace_ns(t, later, end);
  double lost = (double)(align_offset(map, last) - align_offset(map, first)) / 1000;
  snprintf(text, sizeof text, "its clock drifts by %s us over the trace, which a manifest cannot describe; merge without --manifest",
           num_fixed(fabs(lost), 1).s);
  if (fabs(lost) > MOST_DRIFT_US) merger_note(m, t->source, text);
  return align_offset(map, (int64_t)(((i128)first + last) / 2));
}

static bool move_to_base(struct merger *m, size_t input, struct tk_trace *t, struct tk_merge_rank *r) {
  const struct align_map *map = merge_map(&m->alignment, input);
  bool known = merge_is_comparable(&m->base, t->clock) && m->opt->align != TK_ALIGN_NONE;
  int64_t later = merge_later(&m->base, &(struct merge_base){t->zero_ns, t->clock}, m->opt->align);
  if (!map && m->opt->align != TK_ALIGN_NONE && t->clock != m->base.clock)
    merger_note(m, t->source, "its clock is not comparable with that of the first input; its times are used unchanged");
  r->shift_ns = known ? num_sub(t->zero_ns, m->base.zero_ns) : 0;
  if (map) r->shift_ns -= m->output->manifest ? middle_offset(m, t, map, later) : align_offset(map, map->pivot_ns);
  if (m->output->manifest) return true;
  if (map) return align_apply(t, map, later, m->err) || err_prefix(m->err, "%s", t->source);
  t->origin_ns = trace_ns(t, later, 0);
  if (later) t->edits |= TK_EDIT_MOVED;
  return true;
}

/* ---- one input ---- */

/* Adds a note if an input is hours before or after the previous inputs. Ranks of one run would overlap in time. */
static void note_far_input(struct merger *m, const struct tk_trace *t) {
  static const int64_t HOUR = INT64_C(3600000000000);
  tk_time start, end;
  char text[200];
  if (!t->n_events) return;
  trace_extent(t, &start, &end);
  const int64_t from = trace_ns(t, 0, start), to = trace_ns(t, 0, end);
  const i128 late = (i128)from - m->to_ns, early = (i128)m->from_ns - to, gap = late > early ? late : early;
  if (m->has_range && gap >= HOUR) {
    const int64_t hours = (int64_t)(gap / HOUR), days = hours / 24;
    snprintf(text, sizeof text, "%s %lld %s %s the other inputs; if all are from one run, a clock is wrong (see --align=start)",
             late > early ? "begins" : "ends", (long long)(days > 1 ? days : hours), days > 1 ? "days" : hours > 1 ? "hours" : "hour",
             late > early ? "after" : "before");
    merger_note(m, t->source, text);
  }
  m->from_ns = m->has_range && m->from_ns < from ? m->from_ns : from;
  m->to_ns = m->has_range && m->to_ns > to ? m->to_ns : to;
  m->has_range = true;
}

/* Returns the start of the output in ns. A single input has not been read before, so its own start is used. */
static int64_t start_of(const struct merger *m, const struct tk_trace *t) {
  tk_time start, end;
  if (m->alignment.start_ns < INT64_MAX) return m->alignment.start_ns;
  if (m->n_inputs > 1) return 0;
  trace_extent(t, &start, &end);
  return trace_ns(t, 0, start);
}

/* Returns the zero of printed times, which is the zero of the first input. If another input begins before it, the zero moves back,
 * because viewers drop events before time 0. It moves by whole microseconds, so that the decimals of printed times do not change. */
static int64_t zero_of(const struct merger *m, int64_t start) {
  int64_t base = m->base.zero_ns;
  if (!merge_joins(m) || m->output->manifest || m->alignment.start_ns == INT64_MAX || start >= base) return base;
  i128 early = (((i128)base - start + 999) / 1000) * 1000, zero = base - early;
  return zero < INT64_MIN ? start : (int64_t)zero;
}

/* Finds the selected time range on the common timeline, and the start of the output within this range. */
static bool find_window(struct merger *m, struct tk_trace *first) {
  i128 length = ((i128)m->alignment.end_ns - m->alignment.start_ns) * 1000;
  struct window_frame f = {.end = length > INT64_MAX ? INT64_MAX : (tk_time)length, .clock = m->base.clock};
  if (!m->opt->time) return true;
  f.origin_ns = first->origin_ns;
  f.zero_ns = first->zero_ns;
  if (!window_parse(m->opt->time, &f, &m->window, m->err)) return false;
  m->has_window = true;
  if (m->window.start > 0) first->origin_ns = trace_ns(first, 0, m->window.start);
  return true;
}

/* Cuts the trace to the selected time range, which is first converted to the trace's origin. */
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

/* True if only one rank is written, and it is not the first of the output. */
static bool is_later(const struct merger *m) { return m->planned && m->n_merged; }

/* Opens the sink. If only one rank is written, suppresses the head of the output, which belongs to no rank. */
static bool open_sink(struct merger *m) {
  struct sink *sink = m->output->sink;
  struct out *out = m->planned && m->output->saver ? &m->output->saver->out : NULL;
  if (m->n_inputs > 1) sink->graphs = (uint32_t)m->n_inputs;
  if (out) out_mute(out, true);
  const bool ok = sink->open(sink, m->first_trace, m->err);
  if (out) out_mute(out, false);
  return ok;
}

/* Opens the output with the top-level keys and the time base of this trace. */
bool merge_open(struct merger *m, const struct tk_trace *t) {
  struct tk_trace *first = m->first_trace;
  m->base = m->alignment.who ? m->alignment.base : (struct merge_base){t->zero_ns, t->clock};
  first->format = t->format;
  first->origin_ns = start_of(m, t);
  first->zero_ns = zero_of(m, first->origin_ns);
  if (!find_window(m, first)) return false;
  if (m->opt->to_zero) first->zero_ns = first->origin_ns;
  first->has_zero = t->has_zero;
  first->clock = m->base.clock;
  if (merge_joins(m)) first->edits = t->edits | TK_EDIT_RENAMED;
  for (tk_id i = 1; !is_later(m) && i <= t->n_metas; i++) {
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
  return m->output->manifest || open_sink(m);
}

static uint32_t count_processes(const struct tk_trace *t, bool hidden) {
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++) n += t->tracks[i].kind == TK_TRACK_PROCESS && t->tracks[i].hidden == hidden;
  return n;
}

/* Names of a rank and its processes. */
struct called {
  char rank[48], suffix[64], machine[1024];
  struct label_values values;
};

static const char *valid_text(const char *text) { return text && utf8_valid((const uint8_t *)text, strlen(text)) ? text : ""; }

static void call_rank(const struct merger *m, struct called *c, const struct tk_merge_rank *r, int64_t slot) {
  snprintf(c->rank, sizeof c->rank, slot == r->rank ? "%lld" : "%lld, %lld", (long long)r->rank, (long long)slot);
  snprintf(c->suffix, sizeof c->suffix, " [rank %s]", c->rank);
  const struct tk_input *own = &m->inputs[r - m->report->ranks];
  bool nameless = m->opt->redact != NULL;
  c->values = (struct label_values){{[LABEL_RANK] = c->rank, [LABEL_HOST] = r->host}};
  c->values.of[LABEL_INPUT] = nameless ? "" : valid_text(path_end(r->input, m->folders));
  c->values.of[LABEL_RUN] = nameless ? "" : valid_text(own->run);
  c->values.of[LABEL_STEP] = nameless ? "" : valid_text(own->step);
  if (label_expand(merge_label(m), &c->values, c->machine, sizeof c->machine) == 0)
    snprintf(c->machine, sizeof c->machine, "rank %s", c->rank);
}

/* Sets the machine name of all processes that have none. Returns a copy of the name that lives as long as the merge. */
static const char *name_machine(struct merger *m, struct tk_trace *t, const char *machine) {
  const tk_id name = trace_text(t, machine);
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS && !t->tracks[i].machine) t->tracks[i].machine = name;
  return merger_text(m, machine);
}

/* Returns the parts of the processes' identities that must not change, because passthrough data in the output refers to them. */
static enum format_ids ids_to_keep(const struct merger *m, const struct tk_trace *t) {
  if (m->opt->redact || m->output->run || !m->output->keeps_ids) return FORMAT_IDS_FREE;
  const enum format_ids ids = m->output->keeps_ids(t);
  return ids == FORMAT_IDS_ALL && m->opt->label ? FORMAT_IDS_NUMBERS : ids;
}

/* Lists the processes with their pids. Returns their number. */
static uint32_t list_processes(const struct tk_trace *t, struct merge_pid *list) {
  uint32_t n = 0;
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].kind == TK_TRACK_PROCESS) list[n++] = (struct merge_pid){.track = i, .was = t->tracks[i].pid};
  return n;
}

/* Renumbers the graph, and fills `was` with the original identities of processes. A single input keeps its ids. If ids must not change,
 * sets *machine to a name that distinguishes the processes from the processes of other ranks. */
static bool renumber_input(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of, struct merge_pid *was,
                           const char **machine) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct track_origin *origins = NULL;
  struct called c;
  call_rank(m, &c, r, of->slot);
  struct merge_place place = {.label = merge_label(m), .values = c.values, .machine = c.machine, .suffix = c.suffix,
                              .pids = of->pids, .n_pids = of->n_pids, .order = m->places ? m->places[input] : of->slot,
                              .by_kind = m->opt->group_by == TK_GROUP_KIND};
  r->processes = 0;
  const enum format_ids ids = merge_joins(m) ? ids_to_keep(m, t) : FORMAT_IDS_ALL;
  if (ids != FORMAT_IDS_ALL && r->merged && !m->opt->label && !(origins = identity_of_tracks(t, &m->mem)))
    return mem_refuse(&m->mem, m->err);
  place.origins = origins;
  bool ok = true;
  if (ids == FORMAT_IDS_FREE) ok = renumber(t, &m->ids, &place, was, &r->processes, m->err);
  if (ids == FORMAT_IDS_NUMBERS) ok = renumber_names(t, &place, m->err);
  if (ids != FORMAT_IDS_FREE && merge_joins(m)) *machine = name_machine(m, t, c.machine);
  if (origins) identity_free_tracks(origins, &m->mem);
  if (ids != FORMAT_IDS_FREE && ok) r->processes = list_processes(t, was);
  return ok;
}

/* Writes the trace to a separate file, whose metadata states how the trace's clock was aligned with the others. */
static bool write_file(struct merger *m, const struct tk_merge_rank *r, const struct tk_trace *t, int64_t slot) {
  struct buf b = {.mem = &m->mem};
  struct run_rank rank = {r->host, slot, m->first_trace, save_provenance(&b, &m->opt->save, t)};
  if (rank.provenance && m->opt->save.command && m->n_inputs > 1 && !m->opt->redact) {
    b.len -= 2; /* removes the closing brace and NUL */
    buf_text(&b, ",\"align\":");
    buf_text(&b, m->report->align.json);
    buf_append(&b, "}", 2);
    rank.provenance = (const char *)b.data;
  }
  const bool ok = mem_check(&m->mem, m->err) && run_folder_add(m->output->run, t, &rank, m->err);
  buf_free(&b);
  return ok;
}

/* Writes the trace to a file of its own, or appends it to the output of the other ranks. */
static bool write_output(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of) {
  const struct tk_merge_rank *r = &m->report->ranks[input];
  struct sink *sink = m->output->sink;
  if (m->output->run) return write_file(m, r, t, of->slot);
  if (m->output->saver) save_count_lost(m->output->saver, t);
  progress_phase(&m->opt->save.progress, (struct tk_phase){"writing", r->input, input + 1, m->n_inputs, true});
  sink->ordinal = (uint32_t)m->n_merged;
  sink->first_row = of->first_row;
  sink->rows = of->rows;
  return sink->write(sink, t, m->err) && mem_check_process(&t->store->mem, m->err);
}

static bool write_graph(struct merger *m, size_t input, struct tk_trace *t, const struct merge_place_of *of) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct merge_pid *was = mem_array(&m->mem, (uint64_t)t->n_tracks + 1, sizeof *was);
  struct buf account = {.mem = &m->mem};
  if (!was) return mem_refuse(&m->mem, m->err);
  m->ids.ordinal = (uint32_t)m->n_merged;
  const char *machine = NULL;
  bool ok = renumber_input(m, input, t, of, was, &machine);
  r->hidden_processes = count_processes(t, true);
  if (ok && m->opt->link_collectives) ok = merge_collectives_link(&m->alignment.collectives, (uint32_t)input, t, m->first_link, m->err);
  ok = ok && merge_share_take(m, input, t, of, was, &account);
  const struct merge_block block = {r, t, was, m->n_merged == 0, m->opt->redact != NULL, (const char *)account.data, machine};
  if (ok && r->merged && merge_joins(m)) r->merged = merge_block_print_ranks(&m->blocks, &block);
  if (ok && !(r->merged && merge_joins(m))) merge_block_print(&m->blocks, &block);
  mem_free(&m->mem, was);
  buf_free(&account);
  return ok && write_output(m, input, t, of);
}

static bool is_reference(const struct merger *m, const struct tk_merge_rank *r) {
  char rank[24];
  snprintf(rank, sizeof rank, "%lld", (long long)r->rank);
  return m->opt->reference && (strcmp(m->opt->reference, rank) == 0 || strcmp(m->opt->reference, r->host) == 0);
}

/* Adds the input to the manifest; the file itself goes into the tar unchanged. */
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

/* True if derived data must be added here: not if viewers of the format derive it themselves, and not for a manifest, whose files stay
 * unchanged. */
static bool derives(const struct merger *m) {
  const struct saver *s = m->output->saver;
  return m->output->derive || (m->opt->derive && s && !s->format->info.derives);
}

/* Redacts the trace, if requested. Afterwards, nothing in the output identifies the host. */
static bool redact_input(struct merger *m, struct tk_trace *t, struct tk_merge_rank *r) {
  if (!m->opt->redact) return true;
  struct mem mem = {0};
  struct track_origin *origins = identity_of_tracks(t, &mem);
  struct tk_redact_options options;
  const struct identity of = identity_of(t);
  const struct redact_plan plan = {.opt = &options, .origins = origins, .host = of.host};
  bool ready = mem_check(&mem, m->err) && TAKE_OPTIONS(&options, m->opt->redact, m->err);
  bool ok = ready && op_redact(t, &plan, &m->report->redacted, m->err);
  identity_free_tracks(origins, &mem);
  if (ok) r->host = merger_text(m, t->host);
  return ok;
}

/* Writes the rank. If it was not planned before, assigns the next free pids. */
static bool write_rank(struct merger *m, size_t input, struct tk_trace *t, int64_t slot) {
  const struct scan_pids *pids = m->alignment.pids ? &m->alignment.pids[input] : &m->own_pids;
  if (m->output->manifest) return describe_input(m, input, t, slot);
  if (m->planned) return write_graph(m, input, t, m->planned);
  const struct merge_place_of of = {.slot = slot, .pids = merge_pids(m, pids->v, pids->n), .n_pids = pids->n,
                                    .first_row = m->next_row, .rows = pids->processes};
  m->next_row += pids->processes;
  const bool ok = of.pids ? write_graph(m, input, t, &of) : mem_check(&m->mem, m->err);
  mem_free(&m->mem, (void *)of.pids);
  return ok;
}

/* Returns the names of the other recordings of the rank, separated by commas; NULL if it has only one. */
static const char *recordings_of(struct merger *m, size_t input) {
  struct source_view v;
  struct buf names = {.mem = &m->mem};
  for (size_t nth = 0; sources_recording(m->sources, m->first + input, nth, &v); nth++) {
    if (nth) buf_text(&names, ", ");
    buf_text(&names, v.name);
  }
  const char *text = names.len && buf_append(&names, "", 1) ? merger_text(m, (const char *)names.data) : NULL;
  buf_free(&names);
  return text;
}

bool merge_write(struct merger *m, size_t input, struct tk_trace *t) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct identity id = identity_of(t);
  r->merged = identity_is_merged(t);
  int64_t slot = claim_rank(m, input, r, &id);
  /* the preferred file of the recording was damaged, so another file was read */
  if (strcmp(r->input, t->source) != 0) r->input = merger_text(m, t->source);
  r->host = merger_text(m, id.host);
  r->read = t->counts.read;
  r->events = t->n_events;
  r->flow_points = t->n_flow_points;
  r->bytes = t->counts.bytes;
  r->duplicates = t->store->duplicates;
  r->recordings = recordings_of(m, input);
  diagnostics_add_notes(m->report->notes, t, t->source);
  warn_of_copies(m, input, t);
  if (derives(m) && !tk_derive(t, NULL, m->err)) return false;
  if (m->opt->fold_graphs && !tk_fold_graphs(t, NULL, m->err)) return false;
  if (!redact_input(m, t, r)) return false;
  if (!m->opened && !merge_open(m, t)) return false;
  if (!move_to_base(m, input, t, r)) return false;
  note_far_input(m, t);
  if (!cut_time(m, t, r)) return false;
  if (!write_rank(m, input, t, slot)) return false;
  m->n_merged++;
  m->n_events += t->n_events;
  if (!t->n_events && merger_asks_for_time(m)) merger_note(m, t->source, "none of its events is in the selected range");
  return mem_check(&m->mem, m->err) && diagnostics_check(m->report->notes, m->err);
}


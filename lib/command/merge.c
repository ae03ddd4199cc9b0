/* merge.c - many inputs, one output: what tk_merge does.
 *
 *     for each input: load -> take its collectives out -> free     (merge_align.c; only where several hosts are to be aligned)
 *     for each input: load -> place on the base of time -> renumber -> sink -> free
 *
 * One input is in memory at a time.  What the whole needs at its end is small and kept aside: the first input's top-level data,
 * which comes where viewers look for it, and each rank's own, which goes into the "tracekit" block behind the events (a stream
 * cannot know it before). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json.h"
#include "source/identity.h"
#include "source/manifest.h"
#include "merge.h"
#include "merge_align.h"
#include "merge_order.h"
#include "op/renumber.h"
#include "op/window.h"
#include "save.h"
#include "source/sources.h"

enum { MOST_DRIFT_US = 5 }; /* of a clock over a trace that is not worth a word */

struct merger {
  const struct tk_merge_options *opt;
  struct tk_sources *sources;
  const struct tk_input *inputs; /* those of the sources that are merged */
  size_t first, n_inputs, n_merged;
  struct tk_merge_report *report;
  struct tk_err *err;
  struct merge_alignment alignment;
  struct saver saver;       /* of a trace; */
  struct manifest manifest; /* of a manifest */
  struct out clocks;        /* the report on them, if it is asked for */
  uint32_t *places;         /* of the rows, by input; NULL = by rank */
  struct mem mem;
  struct merge_ids ids;
  struct map ranks;        /* ranks that are taken -> input + 1 */
  struct map fingerprints; /* of contents -> input + 1 */
  struct tk_trace *first_trace; /* metas and base of time of the first input */
  struct buf blocks;       /* JSON of the ranks, comma-separated */
  bool opened;
};

/* ---- notes and strings of the report ---- */

static const char *keep_text(struct merger *m, const char *text) {
  return tk_string(m->report->notes, trace_text(m->report->notes, text), NULL);
}

static void note(struct merger *m, enum tk_note_kind kind, const char *input, const char *text, uint64_t count) {
  char line[1024];
  struct tk_trace *notes = m->report->notes;
  snprintf(line, sizeof line, "%s: %s", input, text);
  trace_notes(notes, kind, UINT64_MAX, line, count);
}

static void keep_notes(struct merger *m, const struct tk_trace *t) {
  for (tk_id i = 1; i <= t->n_notes; i++) note(m, t->notes[i].kind, t->source, tk_string(t, t->notes[i].text, NULL), t->notes[i].count);
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
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
    note(m, TK_NOTE_INFO, m->inputs[input].name, text, 1);
    if (sort > INT32_MAX) sort = 0; /* room to count on */
    while (slot && *slot) slot = map_put(&m->ranks, (uint64_t)++sort, 0);
  }
  if (slot) *slot = (uint32_t)input + 1;
  bool known = *m->inputs[input].host; /* hosts of a run directory have names instead of ranks */
  if (id->rank < 0 && !known)
    note(m, TK_NOTE_INFO, m->inputs[input].name, "states no rank: its place in the order of inputs is taken", 1);
  return sort;
}

static void warn_of_copies(struct merger *m, size_t input, const struct tk_trace *t) {
  uint64_t h = hash_bytes(t->events + 1, (size_t)t->n_events * sizeof *t->events) ^ t->counts.bytes ^ (uint64_t)t->origin_ns;
  for (uint32_t i = 1; i <= t->store->strings.n; i++) h = h * 31 + trace_str(t, i)->hash;
  uint32_t *slot = map_put(&m->fingerprints, h, 0);
  char text[512];
  if (!slot || t->n_events == 0) return;
  if (*slot) {
    snprintf(text, sizeof text, "has the same content as %s", m->inputs[*slot - 1].name);
    note(m, TK_NOTE_INFO, m->inputs[input].name, text, 1);
  } else {
    *slot = (uint32_t)input + 1;
  }
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
  if (fabs(lost) > MOST_DRIFT_US) note(m, TK_NOTE_INFO, t->source, text, 1);
  return align_offset(map, first + (last - first) / 2);
}

static bool place_in_time(struct merger *m, size_t input, struct tk_trace *t, struct tk_merge_rank *r) {
  struct merge_base base = {m->first_trace->zero_ns, m->first_trace->clock};
  const struct align_map *map = merge_map(&m->alignment, input);
  bool known = merge_is_comparable(&base, t) && m->opt->align != TK_ALIGN_NONE;
  int64_t later = merge_later(&base, t, m->opt->align);
  if (!map && m->opt->align != TK_ALIGN_NONE && t->clock != base.clock)
    note(m, TK_NOTE_INFO, t->source, "its clock cannot be compared with that of the first input: times are taken as printed", 1);
  r->shift_ns = known ? t->zero_ns - base.zero_ns : 0;
  if (map) r->shift_ns -= m->opt->manifest ? middle_offset(m, t, map, later) : align_offset(map, map->pivot_ns);
  if (m->opt->manifest) return true;
  if (map) return align_apply(t, map, later, m->err) || err_prefix(m->err, "%s", t->source);
  t->origin_ns += later;
  return true;
}

/* ---- the rank's block ---- */

static void put(struct buf *b, const char *text) { buf_append(b, text, strlen(text)); }
static void put_int(struct buf *b, int64_t v) {
  char text[24];
  buf_append(b, text, num_put_i64(text, v));
}

static void put_ident(struct buf *b, const struct tk_trace *t, struct tk_ident i, bool as_key) {
  char text[24];
  size_t n = 0;
  const char *s = i.kind == TK_IDENT_STR ? tk_string(t, i.str, &n) : text;
  if (i.kind == TK_IDENT_INT || i.kind == TK_IDENT_QUOTED) n = num_put_i64(text, i.num);
  if (i.kind == TK_IDENT_INT && !as_key) buf_append(b, text, n);
  else json_quote(b, s, n);
}

static void put_pids(struct buf *b, const struct tk_trace *t, const struct merge_pid *was, uint32_t n) {
  put(b, ",\"pids\":{");
  for (uint32_t i = 0; i < n; i++) {
    if (i) put(b, ",");
    put_ident(b, t, was[i].was, true);
    put(b, ":");
    put_ident(b, t, t->tracks[was[i].track].pid, false);
  }
  put(b, "}");
}

/* Those of the first input stand at the top, where the merge itself speaks as "tracekit". */
static void put_metas(struct buf *b, const struct tk_trace *t, bool first) {
  const char *comma = "";
  put(b, ",\"meta\":{");
  for (tk_id i = 1; i <= t->n_metas; i++) {
    size_t n;
    const char *key = tk_string(t, t->metas[i].key, &n);
    if (t->metas[i].origin || (first && strcmp(key, "tracekit") != 0)) continue;
    put(b, comma);
    json_quote(b, key, n);
    put(b, ":");
    buf_append(b, trace_raw(t, t->metas[i].at), (size_t)t->metas[i].size);
    comma = ",";
  }
  put(b, "}");
}

/* Records of processes that are left out of the timeline, and their pid. */
static void put_hidden(struct buf *b, const struct tk_trace *t) {
  const char *comma = "";
  put(b, ",\"records\":[");
  for (tk_id i = 1; i <= t->n_records; i++) {
    const struct tk_record *r = &t->records[i];
    const struct tk_track *k = &t->tracks[r->track];
    if (!r->track || !(k->hidden || t->tracks[k->parent].hidden)) continue;
    put(b, comma);
    put(b, "{");
    buf_append(b, trace_raw(t, r->at), r->size);
    put(b, r->size ? ",\"pid\":" : "\"pid\":");
    put_ident(b, t, k->pid, false);
    if (k->kind != TK_PROCESS) put(b, ",\"tid\":"), put_ident(b, t, k->tid, false);
    put(b, "}");
    comma = ",";
  }
  put(b, "]}");
}

static void put_rank(struct merger *m, const struct tk_merge_rank *r) {
  struct buf *b = &m->blocks;
  const char *input = base_name(r->input);
  put(b, b->len ? ",\n{\"rank\":" : "{\"rank\":");
  put_int(b, r->rank);
  put(b, ",\"host\":");
  json_quote(b, r->host, strlen(r->host));
  put(b, ",\"input\":");
  if (utf8_valid((const uint8_t *)input, strlen(input))) json_quote(b, input, strlen(input));
  else put(b, "\"?\"");
  put(b, ",\"shift_ns\":");
  put_int(b, r->shift_ns);
  put(b, ",\"events\":");
  put_int(b, (int64_t)r->events);
}

static void put_block(struct merger *m, const struct tk_trace *t, const struct tk_merge_rank *r, const struct merge_pid *was) {
  put_rank(m, r);
  put_pids(&m->blocks, t, was, r->processes);
  if (m->n_merged || trace_meta(t, "tracekit")) put_metas(&m->blocks, t, m->n_merged == 0);
  put_hidden(&m->blocks, t);
}

/* ---- one input ---- */

static bool open_output(struct merger *m, const struct tk_trace *t) {
  m->first_trace->zero_ns = t->zero_ns;
  m->first_trace->has_zero = t->has_zero;
  m->first_trace->clock = t->clock;
  if (m->alignment.start_ns < INT64_MAX) m->first_trace->origin_ns = m->alignment.start_ns;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const struct tk_meta *from = &t->metas[i];
    struct buf *raw = &m->first_trace->store->raw;
    struct tk_meta *to = trace_add_meta(m->first_trace);
    size_t n;
    const char *key = tk_string(t, from->key, &n);
    *to = *from;
    to->key = trace_string(m->first_trace, key, n);
    to->at = raw->len;
    buf_append(raw, trace_raw(t, from->at), (size_t)from->size);
    trace_end_raw(m->first_trace);
  }
  m->opened = true;
  return m->opt->manifest || m->saver.sink->open(m->saver.sink, m->first_trace, m->err);
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

static const char *label_of(const struct merger *m) { return m->opt->label ? m->opt->label : LABEL_DEFAULT; }

static void call(const struct merger *m, struct called *c, const struct tk_merge_rank *r, int64_t slot) {
  snprintf(c->rank, sizeof c->rank, slot == r->rank ? "%lld" : "%lld, %lld", (long long)r->rank, (long long)slot);
  snprintf(c->suffix, sizeof c->suffix, " [rank %s]", c->rank);
  const char *input = base_name(r->input);
  c->values = (struct label_values){{[LABEL_RANK] = c->rank, [LABEL_HOST] = r->host}};
  c->values.of[LABEL_INPUT] = utf8_valid((const uint8_t *)input, strlen(input)) ? input : "";
  if (label_expand(label_of(m), &c->values, c->machine, sizeof c->machine) == 0)
    snprintf(c->machine, sizeof c->machine, "rank %s", c->rank);
}

/* A single input stays as it is, unless more is asked for: merging one trace is converting it. */
static bool is_joined(const struct merger *m) { return m->n_inputs > 1 || m->opt->label || m->opt->group_by != TK_GROUP_RANK; }

static bool join(struct merger *m, size_t input, struct tk_trace *t, int64_t slot) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct called c;
  call(m, &c, r, slot);
  struct merge_place place = {.label = label_of(m), .values = c.values, .machine = c.machine, .suffix = c.suffix,
                              .order = m->places ? m->places[input] : slot, .by_kind = m->opt->group_by == TK_GROUP_KIND};
  struct merge_pid *was = mem_array(&m->mem, (uint64_t)t->n_tracks + 1, sizeof *was);
  bool ok = was != NULL;
  if (!ok) return mem_check(&m->mem, m->err);
  r->processes = 0;
  if (is_joined(m)) ok = renumber(t, &m->ids, &place, was, &r->processes, m->err);
  else
    for (tk_id i = 1; i <= t->n_tracks; i++)
      if (t->tracks[i].kind == TK_PROCESS) was[r->processes++] = (struct merge_pid){.track = i, .was = t->tracks[i].pid};
  r->hidden_processes = count_processes(t, true);
  if (ok) put_block(m, t, r, was);
  mem_free(&m->mem, was);
  return ok && saver_write(&m->saver, t, m->err);
}

static bool is_reference(const struct merger *m, const struct tk_merge_rank *r) {
  char rank[24];
  snprintf(rank, sizeof rank, "%lld", (long long)r->rank);
  return m->opt->reference && (strcmp(m->opt->reference, rank) == 0 || strcmp(m->opt->reference, r->host) == 0);
}

/* The input goes into the tar as it is. */
static bool describe(struct merger *m, size_t input, const struct tk_trace *t, int64_t slot) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct tk_saved *saved = &m->report->saved;
  struct called c;
  bool first = m->manifest.n == 0 || !is_reference(m, &m->report->ranks[m->manifest.files[m->manifest.reference].input - m->first]);
  call(m, &c, r, slot);
  put_rank(m, r);
  put(&m->blocks, "}");
  r->processes = count_processes(t, false);
  saved->records += r->read;
  saved->events += r->events;
  saved->flow_points += r->flow_points;
  if (first && is_reference(m, r)) m->manifest.reference = m->manifest.n;
  struct manifest_file file = {.input = m->first + input, .machine = c.machine, .shift_ns = r->shift_ns};
  return manifest_add(&m->manifest, t, m->sources, file, m->err);
}

/* Packets that a Perfetto reader kept as they were name processes as they were: no part of a merge. */
static void drop_packets(struct tk_trace *t) {
  bool any = false;
  for (tk_id i = 1; i <= t->n_metas; i++) {
    const char *key = tk_string(t, t->metas[i].key, NULL);
    bool packets = strcmp(key, "perfetto.packets") == 0, ids = strcmp(key, "perfetto.machines") == 0;
    if (t->metas[i].origin && (packets || ids || strcmp(key, "perfetto.tracks") == 0)) t->metas[i].size = 0;
    any = any || packets;
  }
  if (any) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "packets of other kinds than track events: not merged");
}

static bool merge_trace(struct merger *m, size_t input, struct tk_trace *t) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct identity id = identity_of(t);
  int64_t slot = claim_rank(m, input, r, &id);
  r->host = keep_text(m, id.host);
  r->read = t->counts.read;
  r->events = t->n_events;
  r->flow_points = t->n_flow_points;
  r->bytes = t->counts.bytes;
  if (is_joined(m) && !m->opt->manifest) drop_packets(t);
  keep_notes(m, t);
  warn_of_copies(m, input, t);
  if (!m->opened && !open_output(m, t)) return false;
  if (!place_in_time(m, input, t, r)) return false;
  if (!(m->opt->manifest ? describe(m, input, t, slot) : join(m, input, t, slot))) return false;
  m->n_merged++;
  return mem_check(&m->mem, m->err);
}

/* An input that ends too early is not merged as if it were whole. */
static struct tk_trace *load_whole(struct merger *m, size_t input) {
  const struct merge_inputs in = {m->sources, m->first, m->n_inputs};
  struct tk_trace *t = merge_load(&m->alignment, &in, input, &m->opt->load, m->err);
  if (t && t->truncated && !m->opt->keep_truncated)
    err_set(m->err, TK_ECORRUPT, "%s: truncated: its last events are missing", t->source);
  else if (!t || !m->opt->manifest || manifest_takes(m->sources, m->first + input, t, m->err))
    return t;
  tk_free(t);
  return NULL;
}

static bool merge_input(struct merger *m, size_t input) {
  struct tk_merge_rank *r = &m->report->ranks[input];
  struct tk_trace *t = load_whole(m, input);
  bool ok;
  r->input = keep_text(m, m->inputs[input].name);
  r->host = "";
  r->rank = -1;
  r->rank_from = "";
  if (t) {
    ok = merge_trace(m, input, t);
    tk_free(t);
    return ok;
  }
  if (m->opt->keep_going && m->err->code != TK_EINTERRUPTED) {
    r->failed = keep_text(m, m->err->msg);
    err_clear(m->err);
    return true;
  }
  if (m->n_inputs > 1 && m->err->code != TK_EINTERRUPTED) {
    char hint[sizeof m->err->msg];
    snprintf(hint, sizeof hint, "%.700s (--keep-going leaves it out)", m->err->msg);
    memcpy(m->err->msg, hint, sizeof hint);
  }
  return false;
}

/* ---- all ---- */

/* What the ranks said of themselves is no account of how the output was made: it stays without one. */
static const char *provenance(struct merger *m, struct buf *b) {
  bool converted = !is_joined(m) && !m->opt->manifest && (trace_meta(m->first_trace, "tracekit") || !m->opt->save.command);
  if (converted) return saver_provenance(b, &m->opt->save, m->first_trace);
  if (saver_provenance(b, &m->opt->save, NULL)) {
    b->len -= 2; /* its brace and NUL */
    put(b, ",\"align\":");
    put(b, m->report->align.json);
  } else if (m->opt->manifest) {
    return NULL;
  }
  put(b, b->len ? ",\"ranks\":[\n" : "{\"ranks\":[\n");
  buf_append(b, m->blocks.data, m->blocks.len);
  put(b, "\n]}");
  return buf_append(b, "", 1) ? (const char *)b->data : NULL;
}

static bool finish(struct merger *m, const char *provenance) {
  struct tk_saved *saved = &m->report->saved;
  struct sink *sink = m->saver.sink;
  if (!m->opt->manifest) return sink->close(sink, m->first_trace, provenance, m->err) && saver_commit(&m->saver, saved, m->err);
  bool ok = manifest_write(&m->manifest, m->sources, provenance, &m->opt->load.progress, saved, m->err);
  for (uint32_t i = 0; i < m->manifest.n; i++) {
    const struct manifest_file *f = &m->manifest.files[i];
    if (f->early) note(m, TK_NOTE_INFO, f->path, "begins before the reference's zero of time: Perfetto drops what is there", 1);
  }
  return ok;
}

static bool order(struct merger *m) {
  if (m->opt->group_by != TK_GROUP_HOST || !m->alignment.who) return true;
  m->places = mem_array(&m->mem, m->n_inputs, sizeof *m->places);
  if (!m->places) return mem_check(&m->mem, m->err);
  return merge_order(m->alignment.who, m->n_inputs, m->places) || err_set(m->err, TK_ELIMIT, "out of memory");
}

static bool open_clocks(struct merger *m, const char *output, const char **inputs) {
  const struct out_options o = {.force = m->opt->save.force, .inputs = inputs};
  const char *path = m->opt->align_report;
  if (!path) return true;
  inputs[m->n_inputs] = output;
  if (strcmp(path, output) == 0) err_set(m->err, TK_EUSAGE, "is the output of the traces");
  else if (out_open(&m->clocks, path, &o, &m->mem, m->err)) return true;
  return err_prefix(m->err, "%s", path);
}

/* Also of a dry run: it is asked for beside the output. */
static bool write_clocks(struct merger *m) {
  const char *json = m->report->align.json;
  if (!m->opt->align_report) return true;
  out_write(&m->clocks, json, strlen(json));
  out_write(&m->clocks, "\n", 1);
  return out_commit(&m->clocks, m->err) || err_prefix(m->err, "%s", m->opt->align_report);
}

static bool run(struct merger *m) {
  struct buf b = {.mem = &m->mem};
  struct merge_inputs in = {m->sources, m->first, m->n_inputs};
  bool start = m->saver.format && m->saver.format->needs_start;
  bool ok = merge_align(&m->alignment, &in, m->opt, start, m->report, m->err) && order(m);
  for (size_t i = 0; ok && m->opt->manifest && i < m->n_inputs; i++) ok = sources_keep(m->sources, m->first + i, m->err);
  for (size_t i = 0; ok && i < m->n_inputs; i++) ok = merge_input(m, i);
  if (ok && !m->opened) ok = err_set(m->err, TK_EFORMAT, "no input could be read: %s", m->report->ranks[0].failed);
  ok = ok && finish(m, provenance(m, &b)) && write_clocks(m);
  buf_free(&b);
  return ok;
}

static bool check_options(const struct merger *m) {
  if (m->opt->label && !label_check(m->opt->label, m->err)) return false;
  if (!m->opt->manifest || m->opt->group_by == TK_GROUP_RANK) return true;
  return err_set(m->err, TK_EUSAGE, "a manifest cannot say in which order rows stand");
}

static bool prepare(struct merger *m, const char *output, const char **inputs) {
  struct tk_merge_report *r = m->report;
  *r = (struct tk_merge_report){.notes = trace_new(0), .n_ranks = m->n_inputs};
  r->ranks = calloc(m->n_inputs + 1, sizeof *r->ranks);
  m->first_trace = trace_new(0);
  if (!r->notes || !r->ranks || !m->first_trace || !inputs) return err_set(m->err, TK_ELIMIT, "out of memory");
  for (size_t i = 0; i < m->n_inputs; i++) inputs[i] = sources_path(m->sources, m->first + i);
  m->blocks.mem = &m->mem;
  merge_ids_init(&m->ids, &m->mem);
  map_init(&m->ranks, &m->mem);
  map_init(&m->fingerprints, &m->mem);
  if (m->n_inputs == 0) return err_set(m->err, TK_EUSAGE, "nothing to merge");
  if (!check_options(m)) return false;
  if (!(m->opt->manifest ? manifest_open(&m->manifest, output, &m->opt->save, inputs, m->err)
                         : saver_open(&m->saver, output, &m->opt->save, "json", inputs, m->err)))
    return err_prefix(m->err, "%s", output);
  if (m->opt->group_by != TK_GROUP_RANK && m->saver.format && m->saver.format->own_order)
    note(m, TK_NOTE_INFO, output, "--group-by has no effect: viewers of this format sort the rows themselves", 1);
  return open_clocks(m, output, inputs);
}

bool merge_inputs(const struct merge_inputs *in, const char *output, const struct tk_merge_options *opt,
                  struct tk_merge_report *report, struct tk_err *err) {
  static const struct tk_merge_options defaults = {0};
  struct tk_err own;
  struct tk_merge_report unused;
  struct merger m = {.opt = opt ? opt : &defaults, .sources = in->sources, .inputs = in->sources->inputs + in->first,
                     .first = in->first, .n_inputs = in->n, .report = report ? report : &unused};
  const char **not_output = calloc(in->n + 2, sizeof *not_output);
  bool ok;
  m.err = err ? err : &own;
  err_clear(m.err);
  ok = prepare(&m, output, not_output) && run(&m);
  saver_close(&m.saver);
  out_close(&m.clocks);
  manifest_close(&m.manifest);
  mem_free(&m.mem, m.places);
  merge_alignment_free(&m.alignment);
  merge_ids_free(&m.ids);
  map_free(&m.ranks);
  map_free(&m.fingerprints);
  buf_free(&m.blocks);
  tk_free(m.first_trace);
  free(not_output);
  if (!report) tk_merge_report_free(&unused);
  return ok;
}

bool tk_merge(const char *const *names, size_t n, const char *output, const struct tk_merge_options *opt,
              struct tk_merge_report *report, struct tk_err *err) {
  static const struct tk_load_options defaults = {0};
  struct tk_source_options options = sources_options(opt ? &opt->load : &defaults);
  struct tk_sources *s = tk_sources_open(names, n, &options, err);
  if (report) *report = (struct tk_merge_report){0};
  bool ok = s && merge_inputs(&(struct merge_inputs){s, 0, s->n}, output, opt, report, err);
  tk_sources_close(s);
  return ok;
}

void tk_merge_report_free(struct tk_merge_report *report) {
  tk_free(report->notes);
  free(report->ranks);
  free(report->align.hosts);
  *report = (struct tk_merge_report){0};
}

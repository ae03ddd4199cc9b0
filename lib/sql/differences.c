/* differences.c - see differences.h.
 *
 * docs/sql.md lists all differences. A note mentions a difference if a statement reads a table that it affects, and the trace
 * contains such data. The table below has one row for each difference. */
#include "differences.h"

#include <string.h>

#include "base/text.h"
#include "graph/seal.h"
#include "graph/stack.h"
#include "relatives.h"

/* ---- conditions ---- */

static bool always(const struct tk_sql *s) { return s->t->n_events > 0; }

/* True if, with rounded times, a span of the track outlasts the span around it, or begins before the previous span of its depth
 * has ended. */
static bool is_overlapping(const struct tk_sql *s, const struct tk_track *k, int64_t *ends) {
  bool found = false;
  for (tk_id i = k->first; !found && i < k->first + k->count; i++) {
    const struct tk_event *e = &s->t->events[i];
    const bool open = e->flags & TK_FLAG_UNFINISHED;
    const int64_t ts = times_at(&s->times, e->ts), end = open ? INT64_MAX : ts + times_dur(&s->times, e);
    found = e->flags & TK_FLAG_OVERLAPS || ends[e->depth + 1] > ts || (e->depth && !open && end > ends[e->depth]);
    ends[e->depth + 1] = end;
    ends[e->depth + 2] = INT64_MIN;
  }
  return found;
}

static bool has_overlaps(const struct tk_sql *s) {
  struct mem own = {0};
  int64_t *ends = s->times.exact ? NULL : mem_array(&own, UINT16_MAX + 3, sizeof *ends);
  bool found = false;
  for (tk_id i = 1; ends && !found && i <= s->t->n_tracks; i++) {
    const struct tk_track *k = &s->t->tracks[i];
    ends[1] = INT64_MIN;
    found = k->kind == TK_TRACK_THREAD && is_overlapping(s, k, ends);
  }
  mem_free(&own, ends);
  return found;
}

/* True if a span that never ends is inside of one that does. */
static bool has_open_inside(const struct tk_sql *s) {
  struct mem own = {0};
  bool *open = mem_array(&own, UINT16_MAX + 1, sizeof *open); /* by depth: true if the last span at this depth never ends */
  bool found = false;
  for (tk_id i = 1; open && !found && i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (s->t->tracks[e->track].kind != TK_TRACK_THREAD) continue;
    open[e->depth] = e->flags & TK_FLAG_UNFINISHED;
    found = open[e->depth] && e->depth && !open[e->depth - 1];
  }
  mem_free(&own, open);
  return found;
}

static bool has_note(const struct tk_sql *s, const char *begin) {
  for (tk_id i = 1; i <= s->t->n_notes; i++)
    if (text_begins(tk_string(s->t, s->t->notes[i].text, NULL), begin)) return true;
  return false;
}

static bool is_before_zero(const struct tk_sql *s) {
  for (tk_id i = 1; i <= s->t->n_events && !s->times.exact; i++)
    if (times_at(&s->times, s->t->events[i].ts) < 0) return true;
  return false;
}

/* True if a span is shorter than half a nanosecond, and so of length 0 for an engine that counts nanoseconds. */
static bool has_short(const struct tk_sql *s) {
  for (tk_id i = 1; i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (e->kind == TK_EVENT_SPAN && e->dur > 0 && e->dur < 500 && !(e->flags & TK_FLAG_UNFINISHED)) return true;
  }
  return false;
}

/* True if an event has the same time as an instant directly before it on the same track. */
static bool has_ties(const struct tk_sql *s) {
  for (tk_id i = 2; i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (is_slice(e) && e->ts == e[-1].ts && e->track == e[-1].track && e[-1].kind == TK_EVENT_INSTANT) return true;
  }
  return false;
}

static bool is_rounded(const struct tk_sql *s) { return has_note(s, "times with digits beyond the picosecond"); }

static bool has_shape_with(const struct tk_sql *s, tk_id key) {
  const struct tk_store *store = s->t->store;
  for (uint32_t i = 1; i <= store->n_shapes; i++)
    for (uint32_t k = 0; k < store->shapes[i]->n; k++)
      if (store->shapes[i]->fields[k].key == key) return true;
  return false;
}

/* True if there are several async events, because their threads and ids may not correspond one to one; or if the only one was recorded
 * with an old phase that trace_processor does not read. */
static bool has_asyncs(const struct tk_sql *s) {
  uint64_t n = 0;
  for (tk_id i = 1; i <= s->t->n_tracks; i++)
    if (s->t->tracks[i].kind == TK_TRACK_ASYNCS) n += s->t->tracks[i].count;
  return n > 1 || (n == 1 && has_shape_with(s, KEY_PH));
}

static bool differences_is_text(struct tk_ident i) { return i.kind == TK_IDENT_STR || i.kind == TK_IDENT_QUOTED; }

static bool has_text_ids(const struct tk_sql *s) {
  for (tk_id i = 1; i <= s->t->n_tracks && !s->is_filed; i++)
    if (differences_is_text(s->t->tracks[i].pid) || differences_is_text(s->t->tracks[i].tid)) return true;
  return false;
}

/* True if the file has two tracks with the same name and parent. */
static bool has_siblings(const struct tk_sql *s) {
  struct mem own = {0};
  struct map seen;
  bool found = false;
  map_init(&seen, &own);
  for (tk_id i = 1; s->is_filed && i <= s->t->n_tracks && !found; i++) {
    const struct sql_track *v = &s->tracks[i];
    if (v->filed.kind != FORMAT_TRACK_NAMED || v->filed.alone) continue;
    const uint64_t place = hash_pair(hash_pair(v->upid, v->utid), hash_pair(v->filed.parent, s->t->tracks[i].name));
    uint32_t *slot = map_put(&seen, place, 0);
    found = slot && (*slot)++ > 0;
  }
  map_free(&seen);
  return found;
}

/* True if the table `args` lacks fields that trace_processor shows: fields that the file does not describe, or the field that a
 * sequence's thread descriptor adds to events of other tracks. */
static bool has_unknown_fields(const struct tk_sql *s) {
  for (tk_id i = 1; s->is_filed && i <= s->t->n_tracks; i++)
    if (s->tracks[i].filed.used && s->tracks[i].filed.kind != FORMAT_TRACK_THREAD) return true;
  return s->times.exact && has_shape_with(s, KEY_PERFETTO_FIELDS);
}

static bool has_order(const struct tk_sql *s) {
  for (tk_id i = 1; i <= s->t->n_tracks; i++)
    if (s->t->tracks[i].has_sort && !(s->is_filed && !s->tracks[i].filed.ranked)) return true;
  return false;
}

static bool has_other_packets(const struct tk_sql *s) { return has_note(s, "packets kept only in Perfetto output"); }

static bool has_wide_ids(const struct tk_sql *s) {
  for (uint32_t i = 0; i < s->n_threads; i++)
    if (s->threads[i].tid > INT32_MAX || s->threads[i].tid < 0) return true;
  for (uint32_t i = 0; i < s->n_processes; i++)
    if (s->processes[i].pid > INT32_MAX || s->processes[i].pid < 0) return true;
  return false;
}

/* True if a tid is negative. trace_processor cannot read such a tid in JSON, and uses 0 instead. */
static bool has_negative_tids(const struct tk_sql *s) {
  for (uint32_t i = 0; !s->times.exact && i < s->n_threads; i++)
    if (s->threads[i].tid < 0) return true;
  return false;
}

/* True if an id of a flow is hexadecimal text of 2^63 or more. */
static bool has_huge_flow_ids(const struct tk_sql *s) {
  enum { LENGTH = 18 }; /* "0x" and 16 digits */
  size_t n;
  for (tk_id i = 1; i <= s->t->n_flow_points; i++) {
    const struct tk_flow_point *f = &s->t->flow_points[i];
    if (f->id_kind != TK_FLOW_ID_STR) continue;
    const char *id = tk_string(s->t, (tk_id)f->id, &n);
    if (n == LENGTH && text_begins(id, "0x") && id[2] > '7') return true;
  }
  return false;
}

/* True if a string contains a backslash or a control character, which JSON can only contain as an escape. */
static bool has_escapes(const struct tk_sql *s) {
  size_t n;
  for (tk_id i = 1; !s->times.exact && i <= s->t->store->strings.n; i++) {
    const char *text = tk_string(s->t, i, &n);
    for (size_t k = 0; k < n; k++)
      if (text[k] == '\\' || (unsigned char)text[k] < ' ') return true;
  }
  return false;
}

static bool has_guessed(const struct tk_sql *s) { return has_note(s, "X event without dur"); }

static bool has_early_ends(const struct tk_sql *s) { return has_note(s, SEAL_EARLY); }

/* True if a span may have been ended by the end of the span around it, and the next event of the thread begins at that time or
 * does not exist. */
static bool has_cut(const struct tk_sql *s) {
  const bool cut = has_note(s, SEAL_CUT) || has_note(s, SEAL_LATE);
  for (tk_id i = 1; cut && i <= s->t->n_events; i++) {
    const struct tk_event *e = &s->t->events[i];
    const struct tk_track *k = &s->t->tracks[e->track];
    if (e->kind != TK_EVENT_SPAN || !(e->flags & TK_FLAG_PAIRED) || !e->depth) continue;
    const tk_id next = sql_first_after(s, k, e->ts + e->dur - 1);
    if (next == k->first + k->count || s->t->events[next].ts == e->ts + e->dur) return true;
  }
  return false;
}

/* True if thread 0 of a process and its main thread both have events: trace_processor treats them as one thread. */
static bool has_twin_threads(const struct tk_sql *s) {
  for (tk_id i = 1; !s->is_filed && i <= s->t->n_tracks; i++) {
    const struct tk_track *k = &s->t->tracks[i];
    const uint32_t utid = s->tracks[i].utid;
    if (k->kind == TK_TRACK_THREAD && k->count && utid != SQL_NONE && s->threads[utid].track != i) return true;
  }
  return false;
}

static bool has_lost_clocks(const struct tk_sql *s) {
  for (tk_id i = 1; i <= s->t->n_events; i++)
    if (s->t->events[i].flags & TK_FLAG_LOST_CLOCK) return true;
  return false;
}

static bool has_unknown_texts(const struct tk_sql *s) { return has_note(s, "ids of texts that were never interned"); }

static bool is_foreign(const struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  return f && !f->in_manifest && !f->engine.thousands;
}

/* True if a file of another format stores Chrome JSON records of CPU profiles (phase 'P'). */
static bool has_carried_profiles(const struct tk_sql *s) {
  for (tk_id i = 1; is_foreign(s) && i <= s->t->n_records; i++)
    if (s->t->records[i].phase == 'P') return true;
  return false;
}

static bool has_foreign_samples(const struct tk_sql *s) { return is_foreign(s) && stack_has_samples(s->t); }

static bool has_weights(const struct tk_sql *s) { return stack_has_samples(s->t) && has_shape_with(s, KEY_WEIGHT); }

static bool lacks_perf(const struct tk_sql *s) {
  const struct format *f = s->t->format ? format_by_name(s->t->format) : NULL;
  return stack_has_samples(s->t) && !(f && f->engine.perf_samples);
}

static bool lacks_profile(const struct tk_sql *s) { return stack_has_samples(s->t) && !lacks_perf(s); }

/* True if a sample has no frames, in a format in which trace_processor treats this as an error. */
static bool has_bare_samples(const struct tk_sql *s) {
  for (tk_id i = 1; s->times.thousands && i <= s->t->n_classes; i++)
    if (s->t->classes[i].unit && !s->t->classes[i].stack) return true;
  return false;
}

/* ---- the table ---- */

#define SLICES "slice slices slice_with_stack_id thread_slice process_slice thread_or_process_slice ancestor_slice descendant_slice"

#define STACKS "stack_profile_callsite stack_profile_frame stack_profile_mapping stack_profile_symbol"

static const struct difference {
  const char *tables; /* names of tables, separated by spaces */
  bool (*applies)(const struct tk_sql *s);
  const char *text;
} DIFFERENCES[] = {
  {SLICES " flow args", has_overlaps, "spans that overlap others of their thread are at the depth where they begin; trace_processor "
                                      "drops them, or moves them to other tracks"},
  {SLICES " flow args trace_bounds thread_track process_track track counter", is_before_zero,
   "events before time 0 have rows; trace_processor drops them"},
  {SLICES, is_rounded, "times are rounded to picoseconds, then to nanoseconds; trace_processor rounds once"},
  {SLICES, has_short, "spans shorter than half a nanosecond follow each other; trace_processor nests those of one nanosecond"},
  {SLICES, has_ties, "events at the time of an instant of their track follow it; trace_processor nests them in the instant"},
  {SLICES " flow args trace_bounds track thread_track", has_guessed, "X events without dur have tdur as their duration; "
                                                                     "trace_processor drops them"},
  {SLICES " flow", has_early_ends, "ends just before begins of their name and time make spans of length 0; trace_processor leaves "
                                   "those begins open"},
  {SLICES " flow", has_cut, "spans without an end end with the span around them; trace_processor leaves them open until a later event "
                            "of their thread"},
  {SLICES " flow", has_open_inside, "spans that never end stay open; trace_processor ends those inside of a complete event with it"},
  {SLICES " flow track thread_track", has_twin_threads, "thread 0 and the main thread of a process have a track each; trace_processor "
                                                        "puts their events on one track"},
  {SLICES " flow track thread_track", has_negative_tids, "negative tids have a thread each; trace_processor puts their events on the "
                                                         "main thread"},
  {"flow", has_huge_flow_ids, "flows are joined by their ids; trace_processor takes hexadecimal ids of 2^63 and above for one"},
  {SLICES " flow counter trace_bounds", has_lost_clocks, "events more than 100 days from the rest are at the start of their track; "
                                                         "trace_processor leaves them at their own time"},
  {SLICES " flow args track counter thread process", has_unknown_texts, "texts that are not in the file are shown as their ids; "
                                                                        "trace_processor shows none"},
  {"trace_bounds thread process cpu_profile_stack_sample stack_sample " STACKS, has_carried_profiles,
   "events of CPU profiles that the file carries have no samples; trace_processor reads them in the Chrome JSON that `convert` makes "
   "of the file"},
  {SLICES " track process_track trace_bounds", has_asyncs,
   "async spans are at depth 0, on a track for each thread; trace_processor nests them on a track for each id"},
  {"track thread_track process_track args", has_siblings, "tracks of one name and parent are apart; trace_processor joins those whose "
                                                          "spans do not overlap"},
  {SLICES " thread process track thread_track flow", has_text_ids,
   "pids and tids that are text have other numbers in trace_processor, and the text is then the name"},
  {SLICES " thread process track thread_track process_track counter counters args flow trace_bounds", has_other_packets,
   "packets that tracekit does not model have no rows; `tracekit info` names them"},
  {"thread process thread_slice process_slice", has_wide_ids, "pids and tids are those of the file; trace_processor truncates negative "
                                                              "ones and those above 32 bits"},
  {SLICES " args track counter thread process", has_escapes,
   "texts are decoded; trace_processor keeps escapes such as that of a backslash"},
  {"args", has_unknown_fields, "args lacks fields of events whose description is not in the file, and legacy_event.passthrough_utid"},
  {"args", has_order, "args contains sort indices of processes and threads, as trace_processor 58 does; older ones do not"},
  {"cpu_profile_stack_sample perf_sample stack_sample " STACKS, has_foreign_samples,
   "trace_processor does not read stack samples of this format"},
  {"stack_profile_symbol", lacks_profile,
   "frames of perf packets have a symbol if they state a file or a line, as in trace_processor 53; older ones have none"},
  {"track counter_track counter counters args", lacks_profile,
   "counts of perf packets have no rows; trace_processor has a counter for each event and CPU"},
  {"cpu_profile_stack_sample perf_sample", has_weights, "the table has no weights; stack_sample has them"},
  {"perf_sample", lacks_perf, "perf_sample has samples of Perfetto's perf packets only; cpu_profile_stack_sample has those of this "
                              "trace"},
  {"cpu_profile_stack_sample", lacks_profile, "cpu_profile_stack_sample has no samples of perf packets; perf_sample has those of this "
                                              "trace"},
  {"cpu_profile_stack_sample thread process trace_bounds " STACKS, has_bare_samples,
   "samples without frames have rows; trace_processor stops reading at the first"},
  {"stats", always, "stats contains notes of tracekit, not the statistics of trace_processor's importers"},
  {"metadata", always, "metadata contains the format and the top-level keys of the file, not all that trace_processor derives"},
  {SLICES " event counter thread process track args flow", is_foreign,
   "trace_processor does not read this format: rows are those that it gives for the Chrome JSON that `convert` makes of the file"},
};

enum { N_DIFFERENCES = sizeof DIFFERENCES / sizeof *DIFFERENCES };
_Static_assert(N_DIFFERENCES <= 64, "tk_sql.touched has a bit for each row");

static bool names(const char *list, const char *table) {
  const size_t n = strlen(table);
  for (const char *p = list; *p; p += strspn(p, " ")) {
    const size_t word = strcspn(p, " ");
    if (word == n && sqlite3_strnicmp(p, table, (int)n) == 0) return true;
    p += word;
  }
  return false;
}

void differences_touch(struct tk_sql *s, const char *table, const char *column) {
  (void)column;
  for (unsigned i = 0; table && i < N_DIFFERENCES; i++)
    if (!(s->touched >> i & 1) && names(DIFFERENCES[i].tables, table)) s->touched |= (uint64_t)1 << i;
}

const char *tk_sql_difference(const struct tk_sql *s, size_t at) {
  uint64_t touched = s->touched;
  for (unsigned i = 0; i < s->n_others; i++) touched |= s->others[i]->touched;
  for (unsigned i = 0; i < N_DIFFERENCES; i++)
    if (touched >> i & 1 && DIFFERENCES[i].applies(s) && at-- == 0) return DIFFERENCES[i].text;
  return NULL;
}

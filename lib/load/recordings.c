/* recordings.c - see recordings.h. */
#include "recordings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "align/apply.h"
#include "align/twice.h"
#include "base/path.h"
#include "beside.h"
#include "graph/subset.h"
#include "joined.h"

struct joining {
  struct tk_trace *main, *other;
  struct twice twice;
  struct mem mem;
  bool walled;      /* the timestamps of both are relative to the epoch */
  enum tk_align align;
  tk_time moved_ns; /* shift of the other recording, in ns */
  bool overlaps;    /* both were recording at the same time, by their wall clocks */
  uint64_t kernels, calls; /* number of events left out */
  struct tk_err *err;
};

/* ---- clocks ---- */

static int64_t offset_of(const struct joining *j) { return align_offset(&j->twice.map, j->twice.map.pivot_ns); }

/* True if the clocks differ by no more than the error of the measurement. */
static bool is_equal(const struct joining *j) {
  return j->twice.tied_by && j->walled && align_is_constant(&j->twice.map) && fabs((double)offset_of(j)) <= j->twice.error_ns;
}

/* True if the other recording is moved by the measured offset. */
static bool is_moved(const struct joining *j) {
  if (is_equal(j)) return false;
  return j->twice.tied_by && j->align != TK_ALIGN_NONE && !(j->walled && j->align == TK_ALIGN_CLOCK);
}

/* True if only the starts of the recordings can be aligned, or the user wants that. */
static bool starts_together(const struct joining *j) {
  return !is_moved(j) && !is_equal(j) && (j->align == TK_ALIGN_START || (!j->walled && j->align != TK_ALIGN_NONE));
}

/* Moves the other recording to the start of the main one, because nothing connects their clocks. */
static void start_together(struct joining *j) {
  tk_time a, b, end;
  trace_extent(j->main, &a, &end);
  trace_extent(j->other, &b, &end);
  j->other->origin_ns = num_sub(trace_ns(j->main, 0, a), b / 1000);
  j->other->edits |= TK_EDIT_MOVED;
}

/* Refuses clocks that cannot both be right: the events would be months apart. */
static bool check_distance(const struct joining *j) {
  static const int64_t DAY = INT64_C(86400000000000);
  enum { MOST_DAYS = 100 };
  const int64_t days = num_sub(j->other->origin_ns, j->main->origin_ns) / DAY;
  if (days < MOST_DAYS && days > -MOST_DAYS) return true;
  return err_set(j->err, TK_EUSAGE, "cannot be joined with %s: its clock differs by %lld days; to ignore clocks, align the starts",
                 j->main->source, (long long)(days < 0 ? -days : days));
}

static bool move_other(struct joining *j) {
  const struct twice *w = &j->twice;
  if (is_moved(j)) {
    j->moved_ns = -offset_of(j);
    return align_apply(j->other, &w->map, 0, j->err);
  }
  if (starts_together(j)) start_together(j);
  return check_distance(j);
}

/* ---- duplicates ---- */

static bool has_passthrough(const struct tk_trace *t) {
  const struct format *f = format_by_name(t->format);
  return !f || (f->n_passthrough && f->n_passthrough(t));
}

/* Drops the events that both recordings contain from the recording that describes them in less detail. */
static bool leave_out(struct joining *j) {
  const struct twice *w = &j->twice;
  struct tk_trace *from = w->richer_b ? j->main : j->other;
  const unsigned edits = from->edits;
  struct subset_losses losses = {0};
  struct subset keep;
  if (!w->n) return true;
  if (!subset_init(&keep, from, &j->mem)) return mem_refuse(&j->mem, j->err);
  for (uint32_t i = 0; i < w->n; i++) keep.events[w->richer_b ? w->pairs[i].a : w->pairs[i].b] = 0;
  const bool ok = subset_take(from, &keep, from, &losses, j->err);
  subset_free(&keep);
  if (!has_passthrough(from)) from->edits = edits; /* without passthrough data, nothing refers to the events */
  j->kernels = w->n_work;
  j->calls = w->n - w->n_work;
  return ok;
}

/* ---- contents ---- */

/* Makes flow ids of the other recording different from the main recording's. */
static void renumber_flows(struct joining *j) {
  int64_t most = 0;
  for (tk_id i = 1; i <= j->main->n_flow_points; i++) {
    const struct tk_flow_point *f = &j->main->flow_points[i];
    if (f->id_kind == TK_FLOW_ID_INT && f->id > most) most = f->id;
  }
  for (tk_id i = 1; most && i <= j->other->n_flow_points; i++) {
    struct tk_flow_point *f = &j->other->flow_points[i];
    if (f->id_kind == TK_FLOW_ID_INT && f->id > 0) f->id = num_add(f->id, most);
  }
}

/* Adds the top-level keys that the main recording lacks. */
static void add_metas(struct joining *j) {
  for (tk_id i = 1; i <= j->other->n_metas; i++) {
    const struct tk_meta *m = &j->other->metas[i];
    size_t n;
    const char *key = tk_string(j->other, m->key, &n);
    if (m->origin || trace_meta(j->main, key)) continue;
    joined_add_meta(j->main, trace_string(j->main, key, n), m->after, trace_raw(j->other, m->at), (size_t)m->size);
  }
}

static bool append(struct joining *j) {
  struct tk_trace *to = j->main;
  void *states[FORMATS_MOST] = {NULL};
  tk_id *onto = beside_tracks(to, j->other, &j->mem);
  const tk_id tracks = to->n_tracks;
  struct join_ids ids = {.onto = onto};
  if (!onto) return mem_refuse(&j->mem, j->err);
  const unsigned edits = to->edits | (has_passthrough(j->other) ? j->other->edits : 0);
  bool ok = join_graph(to, j->other, &ids, j->err);
  to->edits = edits; /* passthrough data of the main recording refers to nothing that changed */
  if (ok) {
    joined_add_names(to, tracks + 1);
    join_records(to, j->other, &ids, joined_is_valid);
    joined_passthrough(to, j->other, &ids, states);
    joined_finish_passthrough(to, states);
    add_metas(j);
  }
  join_ids_free(&ids, to);
  mem_free(&j->mem, onto);
  return ok && join_finish(to, j->err) && mem_check(&to->store->mem, j->err);
}

/* ---- account ---- */

bool recordings_overlap(const struct tk_trace *a, const struct tk_trace *b) {
  tk_time from[2], to[2];
  trace_extent(a, &from[0], &to[0]);
  trace_extent(b, &from[1], &to[1]);
  return trace_ns(a, 0, from[0]) <= trace_ns(b, 0, to[1]) && trace_ns(b, 0, from[1]) <= trace_ns(a, 0, to[0]);
}

static void say_clocks(const struct joining *j, char *text, size_t n) {
  const struct twice *w = &j->twice;
  if (is_moved(j))
    snprintf(text, n, "%u %s that both recordings contain give its clock offset: its times were shifted by %s us (+/- %s us)",
             w->anchors, w->tied_by, num_fixed((double)j->moved_ns / 1e3, 3).s, num_fixed(w->error_ns / 1e3, 3).s);
  else if (j->align == TK_ALIGN_NONE) snprintf(text, n, "its times are kept as recorded");
  else if (is_equal(j))
    snprintf(text, n, "its clock agrees with that of the other input: %u %s that both recordings contain differ by at most %s us",
             w->anchors, w->tied_by, num_fixed((w->error_ns + fabs((double)offset_of(j))) / 1e3, 3).s);
  else if (starts_together(j))
    snprintf(text, n, "%s; its first event is aligned with the first event of the other input",
             j->walled ? "its clock is ignored" : "its clock cannot be compared");
  else if (w->tied_by)
    snprintf(text, n, "its wall clock is used, although %u %s that both recordings contain show that it is %s us %s (+/- %s us)",
             w->anchors, w->tied_by, num_fixed(fabs((double)offset_of(j)) / 1e3, 3).s, offset_of(j) < 0 ? "behind" : "ahead",
             num_fixed(w->error_ns / 1e3, 3).s);
  else if (j->overlaps) snprintf(text, n, "its wall clock is used; the recordings share no event that confirms it");
  else snprintf(text, n, "its wall clock is used; according to it, the recordings do not overlap in time");
}

/* Reports the events that were left out, or that may count twice. */
static void say_duplicates(const struct joining *j, char *text, size_t n) {
  const struct twice *w = &j->twice;
  const uint32_t fewer = w->work[0] < w->work[1] ? w->work[0] : w->work[1], left = fewer > w->n_work ? fewer - w->n_work : 0;
  char rest[80] = "";
  if (left) snprintf(rest, sizeof rest, "; at least %u device events of each have no counterpart", left);
  if (w->n)
    snprintf(text, n, "; %llu device events and %llu calls are in both recordings; they are counted once, as recorded in %s%s",
             (unsigned long long)j->kernels, (unsigned long long)j->calls, w->richer_b ? "this input" : "the other input", rest);
  else if (fewer)
    snprintf(text, n, "; both recordings contain device events that could not be matched, so work that both recorded is counted twice");
}

static void add_account(struct joining *j) {
  char clocks[300], duplicates[300] = "", text[1200];
  const char *name = j->other->source;
  say_clocks(j, clocks, sizeof clocks);
  say_duplicates(j, duplicates, sizeof duplicates);
  snprintf(text, sizeof text, "%.400s is another recording of this rank: %s%s", name, clocks, duplicates);
  trace_note(j->main, TK_NOTE_INFO, UINT64_MAX, text);
  trace_copy_notes(j->main, j->other, name);
  j->main->store->duplicates += j->kernels + j->calls;
}

/* Returns the coarser of the resolutions of both formats, in ns, which limits how exactly the clocks can be compared. */
static double resolution_of(const struct tk_trace *a, const struct tk_trace *b) {
  const struct format *f = format_by_name(a->format), *g = format_by_name(b->format);
  const double x = f ? (double)f->info.resolution : 0, y = g ? (double)g->info.resolution : 0;
  return fmax(x, y) / 1000;
}

bool recordings_join(struct tk_trace *main, struct tk_trace *other, enum tk_align align, struct tk_err *err) {
  struct joining j = {.main = main, .other = other, .align = align, .err = err};
  j.mem.limit = main->store->mem.limit;
  j.twice.mem = &j.mem;
  j.walled = main->clock == other->clock && (main->clock == TK_CLOCK_REALTIME || main->clock == TK_CLOCK_BOOTTIME);
  j.overlaps = recordings_overlap(main, other);
  bool ok = twice_find(&j.twice, main, other, j.walled, err);
  j.twice.error_ns += resolution_of(main, other);
  ok = ok && leave_out(&j) && move_other(&j);
  if (ok) renumber_flows(&j);
  ok = ok && append(&j);
  if (ok) add_account(&j);
  twice_free(&j.twice);
  return ok && mem_check(&main->store->mem, err);
}

/* report_gaps.c - the longest idle times of each device: the work before and after, the cause, and what the host did meanwhile.
 *
 * The search for host spans during a gap goes back at most MOST_BACK events from the gap, because a thread can consist of a single long
 * span that contains millions of others. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "short_names.h"

enum { MOST_GAPS = 5, MOST_BACK = 4096, MOST_DEVICES = 256 };

struct gap {
  tk_time start, end;
  tk_time ready;        /* as in struct stretch */
  uint8_t wait;         /* enum spent_wait */
  tk_id before, after;  /* events; 0 = none */
};

/* Host spans during a gap. */
struct gap_host {
  struct reporter *p;
  const struct gap *gap;
  bool others;        /* true while threads without launches are examined, although other threads launch work */
  struct map row_of;  /* class -> 1 + row */
  struct gap_span {
    tk_id cls;
    tk_id track;   /* the thread of `time` */
    tk_time time;  /* time that the spans of this class cover within the gap, up to `until` */
    tk_time until;
    tk_time most;  /* largest such time on an earlier thread */
  } *v;
  uint32_t n, cap;
};

/* ---- the gaps ---- */

/* True if the next work was ready for most of the idle time, and did not start. */
static bool is_held_back(const struct stretch *v) {
  return !v->classes && v->ready < v->end && v->ready - v->start <= v->end - v->ready;
}

/* Returns the time from which all work of the device is in the trace, as far as idle times tell: usually the start of its first work.
 * If, after next to no work, work that was launched did not start for long, the device was running work from before the recording. */
static tk_time find_first(const struct spent *s) {
  enum { MANY = 100 };
  const tk_time much = (s->v[s->n - 1].end - s->v[0].start) / MANY;
  tk_time first = s->v[0].start, busy = 0;
  for (uint32_t i = 0; i < s->n && busy <= much; i++) {
    const tk_time length = s->v[i].end - s->v[i].start;
    if (s->v[i].classes) busy += length;
    else if (is_held_back(&s->v[i]) && length / MANY >= busy) first = s->v[i].end;
  }
  return first;
}

tk_time report_settled(const struct reporter *p, uint32_t group) {
  const struct report_host_sums *host = &p->index.hosts[group];
  const tk_time first = find_first(&p->spent);
  uint32_t devices = 0;
  for (uint32_t i = 0; i < p->works.n_rows; i++) devices += p->index.group_of[p->works.rows[i].track] == group;
  return devices == 1 && host->settled < first && host->lost >= first ? host->settled : first;
}

/* Inserts a gap into the list, longest first. */
static void insert_gap(struct gap *v, uint32_t *n, struct gap gap) {
  uint32_t at = *n;
  while (at && gap.end - gap.start > v[at - 1].end - v[at - 1].start) at--;
  if (at == MOST_GAPS) return;
  if (*n < MOST_GAPS) ++*n;
  memmove(v + at + 1, v + at, (*n - 1 - at) * sizeof *v);
  v[at] = gap;
}

/* Stores the longest gaps in v. Returns their number. Work with a duration of 0 divides idle time into stretches, but not into gaps;
 * report_gap does the same. */
static uint32_t find_gaps(const struct spent *s, struct gap *v) {
  struct gap gap = {.start = 0};
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n; i++) {
    if (s->v[i].classes) continue;
    const bool goes_on = i && !s->v[i - 1].classes && s->v[i - 1].end == s->v[i].start;
    gap = (struct gap){.start = goes_on ? gap.start : s->v[i].start, .end = s->v[i].end, .ready = s->v[i].ready,
                       .wait = s->v[i].wait};
    const bool is_last = i + 1 == s->n || s->v[i + 1].classes || s->v[i + 1].start != gap.end;
    if (is_last) insert_gap(v, &n, gap);
  }
  return n;
}

/* Adds the idle time before the first work as a gap: from report_settled or the start of the first step, whichever is later. Without
 * work that takes time, there is none. */
static void add_first_gap(const struct reporter *p, struct tk_report_rank *rank, uint32_t group, struct gap *v, uint32_t *n) {
  if (!p->spent.n || !rank->n_steps) return;
  const tk_id launch = p->sorted[0].launch;
  struct gap gap = {.start = report_settled(p, group), .end = p->spent.v[0].start, .wait = WAIT_HOST,
                    .ready = launch ? p->t->events[launch].ts : INT64_MAX};
  if (gap.start < p->zero + rank->steps[0].at) gap.start = p->zero + rank->steps[0].at;
  if (gap.end <= gap.start || !launch) return;
  insert_gap(v, n, gap);
  if (gap.end - gap.start <= rank->gap) return;
  rank->gap = gap.end - gap.start;
  rank->gap_at = gap.start - p->zero;
}

static void find_neighbours(const struct reporter *p, uint32_t n_work, struct gap *v, uint32_t n) {
  for (uint32_t i = 0; i < n_work; i++) {
    const struct work *w = &p->sorted[i];
    for (uint32_t k = 0; k < n; k++) {
      if (w->end == v[k].start) v[k].before = w->event;
      if (w->start == v[k].end && !v[k].after) v[k].after = w->event;
    }
  }
}

/* ---- the host ---- */

static tk_time most_time(const struct gap_span *s) { return s->time > s->most ? s->time : s->most; }

/* Adds [from, to) to the time that spans of a class cover. Must be called in order of `from` for each thread. Returns false if memory
 * runs out. */
static bool add_part(struct gap_host *h, tk_id cls, tk_id track, tk_time from, tk_time to) {
  uint32_t *slot = map_put(&h->row_of, cls, 0);
  if (!slot) return false;
  if (!*slot) {
    if (!mem_grow(h->p->mem, (void **)&h->v, &h->cap, (uint64_t)h->n + 1, sizeof *h->v)) return false;
    h->v[h->n] = (struct gap_span){.cls = cls};
    *slot = ++h->n;
  }
  struct gap_span *s = &h->v[*slot - 1];
  if (s->track != track) *s = (struct gap_span){.cls = cls, .track = track, .until = h->gap->start, .most = most_time(s)};
  if (from < s->until) from = s->until;
  if (to <= from) return true;
  s->time += to - from;
  s->until = to;
  return true;
}

/* True for activity on another thread that can be the reason why a launching thread launched nothing. False for Python and waits,
 * because launching threads rarely depend on other threads' Python or waits. */
static bool explains(enum host_class class) {
  static const bool EXPLAINS[HOST_CLASSES] = {[HOST_OP] = true, [HOST_RUNTIME] = true, [HOST_LAUNCH] = true, [HOST_SYNC] = true,
                                              [HOST_CHECKPOINT] = true, [HOST_GC] = true, [HOST_INPUT] = true, [HOST_COMPILE] = true};
  return class < HOST_CLASSES && EXPLAINS[class];
}

/* True for host activity, and for annotations on the host. */
static bool is_shown(const struct gap_host *h, tk_id event) {
  const struct reporter *p = h->p;
  const struct tk_event *e = &p->t->events[event];
  const unsigned kind = kinds_of(&p->match.kinds, e);
  if (kind & (KIND_DEVICE | KIND_STEP)) return false;
  if (h->others) return explains(report_class_of(p, event, kind));
  return report_class_of(p, event, kind) != HOST_NOTHING || (kind & KIND_ANNOTATION && report_named_class(p, e->cls) != HOST_MARK);
}

static bool see_span(struct gap_host *h, tk_id event) {
  const struct tk_event *e = &h->p->t->events[event];
  const tk_time to = e->ts + e->dur < h->gap->end ? e->ts + e->dur : h->gap->end;
  if (e->kind != TK_EVENT_SPAN || e->flags & (TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK) || to <= h->gap->start) return true;
  if (!is_shown(h, event)) return true;
  return add_part(h, e->cls, e->track, e->ts, to);
}

static bool see_thread(struct gap_host *h, tk_id track) {
  const struct tk_trace *t = h->p->t;
  const struct tk_track *k = &t->tracks[track];
  const tk_id inside = trace_first_from(t, k, h->gap->start);
  tk_id i = inside > k->first + MOST_BACK ? inside - MOST_BACK : k->first;
  bool ok = true;
  for (; ok && i < k->first + k->count && t->events[i].ts < h->gap->end; i++) ok = see_span(h, i);
  return ok;
}

/* Examines the threads of the group that launch work (`leads`), or all others. */
static bool see_threads(struct gap_host *h, uint32_t group, bool leads) {
  const struct report_index *x = &h->p->index;
  bool ok = true;
  for (uint32_t k = x->tracks_at[group]; ok && k < x->tracks_at[group + 1]; k++) {
    const tk_id track = x->tracks[k];
    if (h->p->t->tracks[track].kind == TK_TRACK_THREAD && h->p->leads[track] == leads) ok = see_thread(h, track);
  }
  return ok;
}

static bool any_leads(const struct gap_host *h, uint32_t group) {
  const struct report_index *x = &h->p->index;
  bool any = false;
  for (uint32_t k = x->tracks_at[group]; !any && k < x->tracks_at[group + 1]; k++) any = h->p->leads[x->tracks[k]];
  return any;
}

/* Returns the spans of one name that cover at least half of the gap on one thread; if there are several such names, the name
 * that covers least, which is usually the innermost. NULL if there are none. Raises *most to the longest time that spans of one
 * name cover. */
static const struct gap_span *find_span(const struct gap_host *h, tk_time length, tk_time *most) {
  const struct gap_span *found = NULL;
  for (uint32_t i = 0; i < h->n; i++) {
    const tk_time time = most_time(&h->v[i]);
    if (time >= length - time && (!found || time <= most_time(found))) found = &h->v[i];
    if (time > *most) *most = time;
  }
  return found;
}

/* Stores the name of the spans that cover the gap. Examines the threads that launch work first, then the other threads, because in JAX,
 * the thread that runs Python launches nothing. If no spans cover the gap, stores only the longest time that spans of one name
 * cover. */
static bool find_host(struct gap_host *h, uint32_t group, struct tk_report_gap *row) {
  const bool leads = any_leads(h, group);
  row->host_time = 0;
  if (!see_threads(h, group, leads)) return false;
  const struct gap_span *found = find_span(h, row->length, &row->host_time);
  if (!found && leads) {
    h->others = true;
    if (!see_threads(h, group, false)) return false;
    found = find_span(h, row->length, &row->host_time);
  }
  if (!found) return true;
  row->host_span = report_keep_name(h->p, h->p->t->classes[found->cls].name);
  row->host_time = most_time(found);
  return true;
}

/* ---- rows ---- */

static const char *short_name_of(struct reporter *p, tk_id event) {
  struct short_text to;
  size_t n;
  if (!event) return "";
  const char *name = tk_string(p->t, p->t->classes[p->t->events[event].cls].name, &n);
  return short_names_of(name, n, &to) ? report_keep(p->impl, to.text, to.n) : report_name_of(p, event);
}

/* Returns the cause of a gap; "" if the launch of the next work is unknown. If the call that launched the next work ran during the
 * gap, the device waited for the host until the call returned, and for something else after it; the longer part decides. */
static const char *cause_of(const struct gap *gap) {
  if (gap->wait == WAIT_UNKNOWN) return "";
  if (gap->wait == WAIT_KERNEL) return "kernel";
  return gap->ready == INT64_MAX || gap->ready - gap->start >= gap->end - gap->ready ? "host" : "other";
}

static bool add_gap(struct reporter *p, const struct tk_report_rank *rank, uint32_t group, const struct gap *gap) {
  struct tk_report *r = p->r;
  struct gap_host h = {.p = p, .gap = gap};
  if (!mem_grow(&p->impl->mem, (void **)&r->gaps, &p->impl->cap_gaps, r->n_gaps + 1, sizeof *r->gaps)) return false;
  struct tk_report_gap *row = &r->gaps[r->n_gaps++];
  *row = (struct tk_report_gap){
      .rank = rank->rank, .device = rank->device, .input = rank->input, .at = gap->start - p->zero, .length = gap->end - gap->start,
      .cause = rank->linked ? cause_of(gap) : "", .before = report_name_of(p, gap->before), .after = report_name_of(p, gap->after),
      .short_before = short_name_of(p, gap->before), .short_after = short_name_of(p, gap->after), .host_span = "", .host_time = -1};
  map_init(&h.row_of, p->mem);
  const bool ok = p->works.n_rows > MOST_DEVICES || find_host(&h, group, row);
  map_free(&h.row_of);
  mem_free(p->mem, h.v);
  return ok;
}

static tk_time queued_within(const struct reporter *p, uint32_t group, tk_time start, tk_time end) {
  (void)group;
  return spent_queued(&p->spent, start, end);
}

/* Returns the length of the gap, counting only time within steps if the figures of the device are computed from its steps. */
static tk_time gap_within(const struct reporter *p, const struct tk_report_rank *rank, const struct gap *gap, bool steps) {
  tk_time sum = 0;
  if (!steps) return gap->end - gap->start;
  for (size_t i = 0; i < rank->n_steps; i++) {
    const tk_time start = p->zero + rank->steps[i].at, end = start + rank->steps[i].dur;
    const tk_time from = gap->start > start ? gap->start : start, to = gap->end < end ? gap->end : end;
    sum += to > from ? to - from : 0;
  }
  return sum;
}

/* Returns the smallest number of gaps that together are more than half of the idle time; 0 if it is more than MOST_LONG. */
static uint64_t count_long_gaps(const struct reporter *p, const struct tk_report_rank *rank, const struct gap *v, uint32_t n) {
  enum { MOST_LONG = 4 };
  bool steps;
  const struct tk_report_split split = report_split_of_row(rank, &steps);
  tk_time sum = 0;
  for (uint32_t i = 0; i < n && i < MOST_LONG; i++) {
    sum += gap_within(p, rank, &v[i], steps);
    if (sum > report_idle_of(&split) / 2) return i + 1;
  }
  return 0;
}

bool report_gaps_add(struct reporter *p, struct tk_report_rank *rank, uint32_t group, uint32_t n_work) {
  struct gap v[MOST_GAPS + 1];
  uint32_t n = find_gaps(&p->spent, v);
  bool ok = true;
  add_first_gap(p, rank, group, v, &n);
  rank->queued = report_sum_of_range(p, rank, group, queued_within);
  rank->long_gaps = count_long_gaps(p, rank, v, n);
  find_neighbours(p, n_work, v, n);
  for (uint32_t i = 0; ok && i < n; i++) ok = add_gap(p, rank, group, &v[i]);
  return ok;
}

static int by_length(const void *p, const void *q) {
  const struct tk_report_gap *a = p, *b = q;
  if (a->length != b->length) return a->length > b->length ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->at > b->at) - (a->at < b->at);
}

void report_gaps_sort(struct tk_report *r) {
  if (r->n_gaps) qsort(r->gaps, r->n_gaps, sizeof *r->gaps, by_length);
}

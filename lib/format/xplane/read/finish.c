/* finish.c - the steps that need the complete file: process ids and clocks.
 *
 * Pids are the same as in xprof, because scripts may rely on them: 701 for /host:CPU and 702, 703 ... for its subprocesses by name, 1 +
 * id for GPUs and TPUs, 501 + id for custom devices. If xprof would merge two planes into one process or omit a plane, the plane gets a
 * pid from 1000 on. A tid is the low half of display_id (otherwise of id); if a second line has the same tid, xprof would merge the
 * two, so the second one gets a tid above 32 bits. */
#include <stdlib.h>
#include <string.h>

#include "finish.h"
#include "reader.h"
#include "private.h"
#include "metas.h"
#include "flow.h"
#include "base/text.h"
#include "format/time_base.h"

/* ---- pids ---- */

struct pids {
  struct xplane_reader *r;
  struct map taken;
  int64_t next_host, next_other;
};

/* Reserves a pid. If memory runs out, any pid is accepted, because reading fails later. */
static bool take_pid(struct pids *p, int64_t pid) {
  uint32_t *slot = map_put(&p->taken, (uint64_t)pid, 0);
  if (!slot) return true;
  if (*slot) return false;
  *slot = 1;
  return true;
}

static int64_t pid_of(struct pids *p, const struct xplane_plane *plane) {
  const char *name = tk_string(p->r->t, plane->name, NULL);
  bool device = text_begins(name, "/device:GPU:") || text_begins(name, "/device:TPU:"),
       custom = text_begins(name, "/device:CUSTOM:");
  if (device && plane->id >= 0 && plane->id < PID_CUSTOM - PID_DEVICE && take_pid(p, PID_DEVICE + plane->id))
    return PID_DEVICE + plane->id;
  if (custom && plane->id >= 0 && plane->id < PID_HOST - PID_CUSTOM && take_pid(p, PID_CUSTOM + plane->id))
    return PID_CUSTOM + plane->id;
  if (text_begins(name, "/host:CPU") && p->next_host < PID_OTHER) return p->next_host++;
  while (!take_pid(p, p->next_other)) p->next_other++;
  return p->next_other++;
}

struct named_plane {
  const char *name;
  uint32_t at;
};

static int finish_by_name(const void *a, const void *b) {
  const struct named_plane *x = a, *y = b;
  int c = strcmp(x->name, y->name);
  return c ? c : x->at < y->at ? -1 : 1;
}

/* Numbers the processes: first host planes by name, beginning with "/host:CPU", then all others in file order. */
static void number_processes(struct xplane_reader *r) {
  struct tk_trace *t = r->t;
  struct mem *mem = &t->store->mem;
  struct pids p = {.r = r, .next_host = PID_HOST, .next_other = PID_OTHER};
  uint32_t n, hosts = 0;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  struct named_plane *sorted = mem_array(mem, (uint64_t)n + 1, sizeof *sorted);
  if (!sorted) return;
  map_init(&p.taken, mem);
  for (int round = 0; round < 2; round++) { /* round 0: hosts; round 1: all others */
    uint32_t from = hosts;
    for (uint32_t i = 0; i < n; i++) {
      const char *name = tk_string(t, planes[i].name, NULL);
      if (planes[i].process && text_begins(name, "/host:CPU") == (round == 0)) sorted[hosts++] = (struct named_plane){name, i};
    }
    if (round == 0) qsort(sorted, hosts, sizeof *sorted, finish_by_name);
    for (uint32_t i = from; i < hosts; i++) {
      const struct xplane_plane *plane = &planes[sorted[i].at];
      struct tk_track *k = &t->tracks[plane->process];
      if (k->hidden) continue;
      k->sort_index = pid_of(&p, plane);
      k->has_sort = true;
      k->pid = ident_int(k->sort_index);
    }
  }
  map_free(&p.taken);
  mem_free(mem, sorted);
}

static void number_threads(struct xplane_reader *r) {
  struct tk_trace *t = r->t;
  struct map used; /* process, tid -> number of lines */
  uint32_t n;
  const struct xplane_line *lines = xplane_lines(r, &n);
  map_init(&used, &t->store->mem);
  for (uint32_t i = 0; i < n; i++) {
    struct tk_track *k = &t->tracks[lines[i].track];
    uint32_t tid = (uint32_t)(lines[i].display_id ? lines[i].display_id : lines[i].id);
    uint32_t *count = map_put(&used, (uint64_t)lines[i].process << 32 | tid, 0);
    if (!count) break;
    if (*count) trace_note(t, TK_NOTE_INFO, UINT64_MAX, "lines of one plane with the same id: each becomes a separate thread");
    k->tid = ident_int((int64_t)tid + ((int64_t)*count << 32));
    *count += 1;
    k->sort_index = t->tracks[lines[i].process].pid.num == PID_HOST ? lines[i].ordinal : k->tid.num;
    k->has_sort = true;
  }
  for (tk_id i = 1; i <= t->n_tracks; i++)
    if (t->tracks[i].parent) t->tracks[i].pid = t->tracks[t->tracks[i].parent].pid;
  map_free(&used);
}

/* ---- clocks ---- */

static const int64_t DAYS_100_NS = (int64_t)100 * 86400 * 1000000000;
static const int64_t DAYS_100_PS = (int64_t)100 * 86400 * 1000000000000;
static const int64_t YEAR_2096 = 4000000000000000000;

/* Returns the start of the segment's profile in ns since the epoch; 0 = not recorded. If several files were joined by cat, each
 * is a segment with its own start. */
static int64_t start_of(const struct xplane_reader *r, uint32_t segment) {
  uint32_t n;
  const struct xplane_plane *planes = xplane_planes(r, &n);
  int64_t start;
  for (uint32_t i = 0; i < n; i++) {
    if (planes[i].segment != segment || strcmp(tk_string(r->t, planes[i].name, NULL), XPLANE_TASK) != 0) continue;
    if (xplane_plane_int(r->t, &planes[i], XPLANE_START, &start) && start > 0 && start < YEAR_2096) return start;
  }
  return 0;
}

/* Returns the domain with the most events. If two have equally many, the one closer to zero has probably lost its clock, so the
 * other is returned. */
static uint32_t bulk(const struct xplane_reader *r) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < r->n_domains; i++) {
    const struct xplane_domain *a = &r->domains[best], *b = &r->domains[i];
    if (b->n_events > a->n_events || (b->n_events == a->n_events && a->segment == b->segment && b->ref_ns > a->ref_ns))
      best = i;
  }
  return best;
}

static void shift_line(struct xplane_reader *r, struct xplane_line *line, i128 by) {
  i128 zero = by + line->zero_ps;
  line->zero_ps = zero > INT64_MAX ? INT64_MAX : zero < INT64_MIN ? INT64_MIN : (int64_t)zero;
  for (tk_id i = line->first; by && i < line->first + line->count; i++) {
    struct tk_event *e = &r->t->events[i];
    i128 ts = by + e->ts;
    if (e->flags & TK_FLAG_LOST_CLOCK) continue;
    if (ts < DAYS_100_PS && ts > -(i128)DAYS_100_PS) {
      e->ts = (tk_time)ts;
      continue;
    }
    e->flags |= TK_FLAG_LOST_CLOCK;
    trace_note(r->t, TK_NOTE_REPAIR, UINT64_MAX, "events more than 100 days from the rest: excluded from time ranges");
  }
}

static void align_domains(struct xplane_reader *r) {
  struct xplane_domain *d = r->domains;
  uint32_t main = bulk(r), n;
  struct xplane_line *lines = xplane_lines(r, &n);
  i128 by[DOMAINS] = {0}, refs[DOMAINS];
  for (uint32_t i = 0; i < r->n_domains; i++) refs[i] = (i128)d[i].ref_ns + (d[i].ref_ns ? 0 : start_of(r, d[i].segment));
  for (uint32_t i = 0; i < r->n_domains; i++) {
    i128 apart = refs[i] - refs[main];
    if (i == main || d[i].n_events == 0) continue;
    by[i] = apart * 1000;
    if (apart < DAYS_100_NS && apart > -(i128)DAYS_100_NS) continue;
    by[i] = (i128)d[main].min - d[i].min;
    trace_note(r->t, TK_NOTE_INFO, UINT64_MAX,
               "lines more than 100 days from the rest (a different clock?): moved to the start of the trace");
  }
  for (uint32_t i = 0; i < n; i++) shift_line(r, &lines[i], by[lines[i].domain]);
  r->t->origin_ns = (int64_t)refs[main];
  r->base_ns = (int64_t)(refs[main] - d[main].ref_ns);
  if (d[main].ref_ns == 0) r->t->zero_ns = (int64_t)refs[main];
}

static void set_clock(struct xplane_reader *r) {
  struct tk_trace *t = r->t;
  if (r->n_domains) align_domains(r);
  else r->base_ns = t->origin_ns = t->zero_ns = start_of(r, 0);
  t->has_zero = t->zero_ns != 0;
  if (t->has_zero || time_base_is_date(t->origin_ns)) t->clock = TK_CLOCK_REALTIME;
  t->store->clock_from = "timestamps of lines";
}

void xplane_finish(struct xplane_reader *r) {
  number_processes(r);
  number_threads(r);
  set_clock(r);
  xplane_restore(r);
  xplane_link(r);
  xplane_add_metas(r);
  if (r->t->n_events == 0) trace_note(r->t, TK_NOTE_INFO, UINT64_MAX, "no events");
}

/* append.c - one graph behind another: ids are translated by table, everything else is adding. */
#include "append.h"

#include <string.h>

struct appender {
  struct tk_trace *to;
  const struct tk_trace *from;
  tk_id *strings, *classes, *tracks; /* id of `from` -> id of `to` */
  tk_id events;                      /* what event ids of `from` move by */
  tk_time shift;
};

static tk_id *table(struct appender *a, uint32_t n) { return mem_array(&a->to->store->mem, (uint64_t)n + 1, sizeof(tk_id)); }
static bool has_string(enum tk_arg_type type) { return type >= TK_ARG_STR && type <= TK_ARG_REF; }

static uint32_t move_args(struct appender *a, uint32_t args) {
  struct tk_args it = tk_args_of(a->from, args);
  struct tk_arg arg;
  if (!args) return 0;
  args_begin(a->to);
  while (tk_args_next(&it, &arg)) {
    arg.key = a->strings[arg.key];
    if (has_string(arg.type)) arg.s = a->strings[arg.s];
    args_copy(a->to, &arg);
  }
  return args_end(a->to);
}

static struct tk_ident move_ident(const struct appender *a, struct tk_ident i) {
  if (i.kind == TK_IDENT_STR) i.str = a->strings[i.str];
  return i;
}

static void move_names(struct appender *a) {
  const struct tk_trace *from = a->from;
  a->strings[0] = a->classes[0] = a->tracks[0] = 0;
  for (uint32_t i = 1; i <= from->store->strings.n; i++)
    a->strings[i] = trace_string(a->to, trace_str(from, i)->bytes, trace_str(from, i)->len);
  for (tk_id i = 1; i <= from->n_classes; i++) {
    const struct tk_class *c = &from->classes[i];
    a->classes[i] = trace_class(a->to, a->strings[c->name], a->strings[c->cat]);
    if (c->args) a->to->classes[a->classes[i]].args = move_args(a, c->args);
  }
}

/* Of what both say of a track, the later counts. */
static void move_tracks(struct appender *a) {
  for (tk_id i = 1; i <= a->from->n_tracks; i++) {
    const struct tk_track *k = &a->from->tracks[i];
    struct tk_ident pid = move_ident(a, k->pid), tid = move_ident(a, k->tid);
    tk_id name = a->strings[k->name], id;
    if (k->kind == TK_PROCESS) id = trace_process(a->to, pid);
    else id = trace_track(a->to, k->kind, pid, tid, k->kind == TK_COUNTERS ? name : 0);
    struct tk_track *to = &a->to->tracks[a->tracks[i] = id];
    if (name) to->name = name;
    if (k->labels) to->labels = a->strings[k->labels];
    if (k->machine) to->machine = a->strings[k->machine];
    if (k->has_sort) to->has_sort = true, to->sort_index = k->sort_index;
  }
}

static void move_events(struct appender *a) {
  for (tk_id i = 1; i <= a->from->n_events; i++) {
    struct tk_event e = a->from->events[i];
    e.ts += a->shift;
    e.cls = a->classes[e.cls];
    e.track = a->tracks[e.track];
    e.args = move_args(a, e.args);
    *trace_add_event(a->to) = e;
  }
  for (tk_id i = 1; i <= a->from->n_flow_points; i++) {
    struct tk_flow_point f = a->from->flow_points[i];
    f.ts += a->shift;
    f.cls = a->classes[f.cls];
    f.at = f.bound ? f.at + a->events : a->tracks[f.at];
    f.args = move_args(a, f.args);
    if (f.id_is_str) f.id = a->strings[f.id];
    *trace_add_flow_point(a->to) = f;
  }
}

static void move_text(struct appender *a) {
  const struct tk_trace *from = a->from;
  struct buf *raw = &a->to->store->raw;
  for (tk_id i = 1; i <= from->n_records; i++) {
    struct tk_record r = from->records[i];
    r.ts += r.has_ts ? a->shift : 0;
    r.track = a->tracks[r.track];
    r.at = raw->len;
    buf_append(raw, trace_raw(from, from->records[i].at), r.size);
    *trace_add_record(a->to) = r;
  }
  for (tk_id i = 1; i <= from->n_metas; i++) {
    struct tk_meta m = from->metas[i];
    m.key = a->strings[m.key];
    m.at = raw->len;
    buf_append(raw, trace_raw(from, from->metas[i].at), (size_t)m.size);
    trace_end_raw(a->to);
    *trace_add_meta(a->to) = m;
  }
  for (tk_id i = 1; i <= from->n_notes; i++) {
    const struct tk_note *n = &from->notes[i];
    trace_notes(a->to, n->kind, n->offset, tk_string(from, n->text, NULL), n->count);
  }
}

static void add_counts(struct tk_counts *to, const struct tk_counts *from) {
  to->read += from->read;
  to->empty += from->empty;
  to->dropped += from->dropped;
  to->bytes += from->bytes;
  to->by_template += from->by_template;
  for (size_t i = 0; i < sizeof to->by_phase / sizeof to->by_phase[0]; i++) to->by_phase[i] += from->by_phase[i];
}

/* An empty graph has no time of its own yet: it takes over the other's. */
static bool meet_in_time(struct appender *a, struct tk_err *err) {
  i128 shift;
  if (a->to->n_events + a->to->n_flow_points == 0) {
    a->to->origin_ns = a->from->origin_ns;
    a->to->zero_ns = a->from->zero_ns;
    a->to->has_zero = a->from->has_zero;
    a->to->clock = a->from->clock;
    return true;
  }
  if (a->from->n_events + a->from->n_flow_points == 0) return true;
  shift = ((i128)a->from->origin_ns - a->to->origin_ns) * 1000;
  if (shift > INT64_MAX / 4 || shift < -(INT64_MAX / 4)) return err_set(err, TK_ELIMIT, "traces too far apart in time to be joined");
  a->shift = (tk_time)shift;
  return true;
}

bool append(struct tk_trace *dst, const struct tk_trace *src, struct tk_err *err) {
  struct appender a = {.to = dst, .from = src, .events = dst->n_events};
  uint32_t n = src->store->strings.n;
  bool ok;
  a.strings = table(&a, n);
  a.classes = table(&a, src->n_classes);
  a.tracks = table(&a, src->n_tracks);
  ok = a.strings && a.classes && a.tracks && meet_in_time(&a, err);
  if (ok) {
    move_names(&a);
    move_tracks(&a);
    move_events(&a);
    move_text(&a);
    add_counts(&dst->counts, &src->counts);
    dst->truncated = dst->truncated || src->truncated;
    dst->sealed = false;
  }
  mem_free(&dst->store->mem, a.strings);
  mem_free(&dst->store->mem, a.classes);
  mem_free(&dst->store->mem, a.tracks);
  return ok && mem_check(&dst->store->mem, err);
}

/* join.c - appends a graph: tables translate its ids, and events and packed args are copied once.
 *
 * An arg record is translated by its shape: the shape is looked up in the other graph once, and only string ids among the
 * values change. A shape without strings is copied as bytes. */
#include "join.h"

#include <string.h>

#include "base/varint.h"
#include "seal.h"
#include "args.h"
#include "stack.h"

struct joiner {
  struct tk_trace *to;
  const struct tk_trace *from;
  struct join_ids *ids;
};

static bool is_string(uint8_t type) { return type >= TK_ARG_STR && type <= TK_ARG_REF; }

/* ---- names ---- */

static bool make_tables(struct joiner *j) {
  struct mem *mem = &j->to->store->mem;
  const struct tk_trace *from = j->from;
  j->ids->strings = mem_array(mem, (uint64_t)from->store->strings.n + 1, sizeof(tk_id));
  j->ids->classes = mem_array(mem, (uint64_t)from->n_classes + 1, sizeof(tk_id));
  j->ids->tracks = mem_array(mem, (uint64_t)from->n_tracks + 1, sizeof(tk_id));
  j->ids->shapes = mem_zeros(mem, (uint64_t)from->store->n_shapes + 1, sizeof(tk_id));
  if (!j->ids->strings || !j->ids->classes || !j->ids->tracks || !j->ids->shapes) return false;
  j->ids->strings[0] = j->ids->classes[0] = j->ids->tracks[0] = 0;
  return true;
}

static void join_strings(struct joiner *j) {
  const struct intern *strings = &j->from->store->strings;
  for (uint32_t i = 1; i <= strings->n; i++)
    j->ids->strings[i] = intern_add(&j->to->store->strings, strings->strs[i].bytes, strings->strs[i].len, strings->strs[i].hash);
}

/* Appends the translation of the value at p to *to; returns the end of the value at p. */
static const uint8_t *join_value(const struct joiner *j, const uint8_t *p, uint8_t type, uint8_t **to) {
  const uint8_t *from = p;
  uint64_t v;
  if (type == TK_ARG_NULL || type == TK_ARG_FALSE || type == TK_ARG_TRUE) return p;
  if (type == TK_ARG_DOUBLE) p += 8;
  else p = varint_get(p, &v);
  if (type == TK_ARG_DECIMAL) p++;
  if (is_string(type)) {
    *to = varint_put(*to, j->ids->strings[v]);
    return p;
  }
  memcpy(*to, from, (size_t)(p - from));
  *to += p - from;
  return p;
}

/* Rebuilds the first record of a shape arg by arg, because this creates the shape in the other graph. */
static uint32_t join_new_shape(struct joiner *j, uint32_t args, uint32_t *shape) {
  struct tk_args it = tk_args_of(j->from, args);
  struct tk_arg arg;
  args_begin(j->to);
  while (tk_args_next(&it, &arg)) {
    arg.key = j->ids->strings[arg.key];
    if (is_string((uint8_t)arg.type)) arg.s = j->ids->strings[arg.s];
    args_copy(j->to, &arg);
  }
  uint32_t joined = args_end(j->to);
  *shape = args_shape_of(j->to, joined);
  return joined;
}

static uint32_t join_args(struct joiner *j, uint32_t args) {
  enum { VALUE_MOST = 16 };
  struct tk_args it = tk_args_of(j->from, args);
  struct buf *pool = &j->to->store->pool;
  if (!it.shape) return 0;
  uint32_t *shape = &j->ids->shapes[it.shape->id];
  if (!*shape) return join_new_shape(j, args, shape);
  uint8_t *p = buf_reserve(pool, ((size_t)it.shape->n + 1) * VALUE_MOST);
  size_t at = pool->len;
  if (!p || at + ((uint64_t)it.shape->n + 1) * VALUE_MOST > UINT32_MAX) {
    j->to->store->mem.failed = true;
    return 0;
  }
  p = varint_put(p, *shape);
  for (uint32_t i = 0; i < it.shape->n; i++) it.next = join_value(j, it.next, it.shape->fields[i].type, &p);
  pool->len = (size_t)(p - pool->data);
  return (uint32_t)at;
}

/* Merges each class with the existing class of the same name and category. Classes with equal names that a format distinguishes stay
 * separate. */
static void join_classes(struct joiner *j) {
  tk_id *stacks = mem_array(&j->to->store->mem, (uint64_t)j->from->n_stacks + 1, sizeof *stacks);
  const bool ok = stacks && (!stack_has_samples(j->from) || stack_join(j->to, j->from, j->ids->strings, stacks));
  for (tk_id i = 1; ok && i <= j->from->n_classes; i++) {
    const struct tk_class *c = &j->from->classes[i];
    const uint32_t *known = map_get(&j->from->store->class_index, (uint64_t)c->name << 32 | c->cat);
    tk_id name = j->ids->strings[c->name], cat = j->ids->strings[c->cat];
    if (known && *known == i && !c->args) {
      j->ids->classes[i] = trace_class(j->to, name, cat);
      continue;
    }
    if (c->unit) {
      j->ids->classes[i] = stack_class(j->to, stacks[c->stack], cat, j->ids->strings[c->unit]);
      continue;
    }
    struct tk_class joined = {.name = name, .cat = cat, .args = join_args(j, c->args)};
    *trace_add_class(j->to) = joined;
    j->ids->classes[i] = j->to->n_classes;
  }
  mem_free(&j->to->store->mem, stacks);
}

static struct tk_ident join_ident(const struct joiner *j, struct tk_ident i) {
  if (i.str) i.str = j->ids->strings[i.str];
  return i;
}

/* Sets range of events, number of flow points and, if missing, name of a track of the combined graph. */
static void join_content(struct joiner *j, tk_id track) {
  const struct tk_track *k = &j->from->tracks[track];
  struct tk_track *to = &j->to->tracks[j->ids->tracks[track]];
  if (k->count) to->first = j->ids->before + k->first, to->count = k->count;
  to->n_points += k->n_points;
  if (!to->name) to->name = j->ids->strings[k->name];
}

/* Assigns all ids before any track is filled in, because parents may come after their children. */
static void join_tracks(struct joiner *j) {
  const struct tk_trace *from = j->from;
  tk_id next = j->to->n_tracks;
  for (tk_id i = 1; i <= from->n_tracks; i++) {
    const struct tk_track *k = &from->tracks[i];
    bool left_out = k->kind == TK_TRACK_PROCESS ? k->hidden : from->tracks[k->parent].hidden;
    const tk_id onto = j->ids->onto ? j->ids->onto[i] : 0;
    j->ids->tracks[i] = left_out ? 0 : onto ? onto : ++next;
  }
  for (tk_id i = 1; i <= from->n_tracks; i++) {
    if (!j->ids->tracks[i]) continue;
    if (j->ids->onto && j->ids->onto[i]) {
      join_content(j, i);
      continue;
    }
    struct tk_track k = from->tracks[i];
    k.pid = join_ident(j, k.pid);
    k.tid = join_ident(j, k.tid);
    k.parent = j->ids->tracks[k.parent];
    k.name = j->ids->strings[k.name];
    k.labels = j->ids->strings[k.labels];
    k.machine = j->ids->strings[k.machine];
    k.first = j->ids->before + k.first;
    *trace_add_track(j->to) = k;
  }
}

/* ---- events ---- */

static void join_events(struct joiner *j) {
  struct tk_trace *to = j->to;
  const struct tk_trace *from = j->from;
  for (tk_id i = 1; i <= from->n_events; i++) {
    struct tk_event e = from->events[i];
    e.ts += j->ids->shift;
    e.cls = j->ids->classes[e.cls];
    e.track = j->ids->tracks[e.track];
    e.args = join_args(j, e.args);
    *trace_add_event(to) = e;
  }
  for (tk_id i = 1; i <= from->n_flow_points; i++) {
    struct tk_flow_point f = from->flow_points[i];
    f.ts += j->ids->shift;
    f.cls = j->ids->classes[f.cls];
    f.at = f.bound ? f.at + j->ids->before : j->ids->tracks[f.at];
    f.args = join_args(j, f.args);
    if (f.id_kind == TK_FLOW_ID_STR) f.id = j->ids->strings[f.id];
    *trace_add_flow_point(to) = f;
  }
}

void join_records(struct tk_trace *dst, const struct tk_trace *src, const struct join_ids *ids,
                  bool (*wanted)(const struct tk_trace *src, const struct tk_record *r)) {
  struct buf *raw = &dst->store->raw;
  for (tk_id i = 1; i <= src->n_records; i++) {
    struct tk_record r = src->records[i];
    if ((r.track && !ids->tracks[r.track]) || !wanted(src, &r)) continue;
    uint64_t at = r.at;
    r.ts += r.has_ts ? ids->shift : 0;
    r.track = ids->tracks[r.track];
    r.at = raw->len;
    buf_append(raw, trace_raw(src, at), r.size);
    *trace_add_record(dst) = r;
  }
}

/* ---- entry points ---- */

static void add_counts(struct tk_counts *to, const struct tk_counts *from) {
  to->read += from->read;
  to->empty += from->empty;
  to->dropped += from->dropped;
  to->bytes += from->bytes;
  to->by_template += from->by_template;
  for (size_t i = 0; i < sizeof to->by_phase / sizeof to->by_phase[0]; i++) to->by_phase[i] += from->by_phase[i];
}

/* True if all times fit after the shift. Only the first and last flow point need a check, because flow points are sorted;
 * events and records are checked one by one. */
static bool fits(const struct tk_trace *t, i128 shift) {
  for (tk_id i = 1; shift && i <= t->n_events; i++) {
    i128 start = t->events[i].ts + shift;
    if (start < INT64_MIN || start + t->events[i].dur > INT64_MAX) return false;
  }
  for (tk_id i = 1; shift && i <= t->n_records; i++) {
    i128 at = t->records[i].ts + shift;
    if (t->records[i].has_ts && (at < INT64_MIN || at > INT64_MAX)) return false;
  }
  if (!shift || !t->n_flow_points) return true;
  return t->flow_points[1].ts + shift >= INT64_MIN && t->flow_points[t->n_flow_points].ts + shift <= INT64_MAX;
}

static bool find_shift(struct joiner *j, struct tk_err *err) {
  if (j->to->n_tracks == 0) j->to->origin_ns = j->from->origin_ns;
  i128 shift = ((i128)j->from->origin_ns - j->to->origin_ns) * 1000;
  if (shift > INT64_MAX || shift < INT64_MIN || !fits(j->from, shift))
    return err_set(err, TK_ELIMIT, "traces are too far apart in time to be joined");
  j->ids->shift = (tk_time)shift;
  return true;
}

bool join_graph(struct tk_trace *dst, const struct tk_trace *src, struct join_ids *ids, struct tk_err *err) {
  struct joiner j = {dst, src, ids};
  *ids = (struct join_ids){.before = dst->n_events, .onto = ids->onto};
  if (!make_tables(&j)) return mem_refuse(&dst->store->mem, err);
  if (!find_shift(&j, err)) return false;
  join_strings(&j);
  join_classes(&j);
  join_tracks(&j);
  join_events(&j);
  add_counts(&dst->counts, &src->counts);
  dst->truncated = dst->truncated || src->truncated;
  dst->damaged = dst->damaged || src->damaged;
  dst->edits |= src->edits;
  return mem_check(&dst->store->mem, err);
}

void join_ids_free(struct join_ids *ids, struct tk_trace *dst) {
  struct mem *mem = &dst->store->mem;
  mem_free(mem, ids->strings);
  mem_free(mem, ids->classes);
  mem_free(mem, ids->tracks);
  mem_free(mem, ids->shapes);
}

bool join_finish(struct tk_trace *dst, struct tk_err *err) {
  return (dst->n_flow_points == 0 || seal_order_flows(dst)) || mem_refuse(&dst->store->mem, err);
}

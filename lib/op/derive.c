/* derive.c - adds the data that xprof derives from an XSpace before showing it: steps and their names, and lines made from stats of
 * ops.
 *
 * This data is useful for viewers that do not derive it, which are all others. It is never written to XPlane output, and so is marked
 * by an arg: true on a new event; on an existing event, the names of the added args. A trace that already contains its steps is left
 * unchanged, as in xprof. */
#include "derive.h"

#include <string.h>

#include "base/text.h"
#include "graph/args.h"

static bool is_core(const char *name) {
  const char *digits = name + strlen("/device:TPU:");
  if (!text_begins(name, "/device:TPU:")) return false;
  while (*digits >= '0' && *digits <= '9') digits++;
  return *digits == 0;
}

static enum plane_kind kind_of(const char *name) {
  if (strcmp(name, "/host:CPU") == 0 || text_begins(name, "/host:CPU [")) return PLANE_HOST;
  if (text_begins(name, "/device:GPU:")) return PLANE_GPU;
  return is_core(name) ? PLANE_TPU : PLANE_OTHER;
}

static bool find_planes(struct derive *d) {
  const size_t n = (size_t)d->t->n_tracks + 1;
  d->planes = mem_array(d->mem, n, 1);
  d->first_line = mem_zeros(d->mem, n, sizeof *d->first_line);
  d->next_line = mem_array(d->mem, n, sizeof *d->next_line);
  if (!d->planes || !d->first_line || !d->next_line) return false;
  memset(d->planes, PLANE_OTHER, n);
  for (tk_id i = d->t->n_tracks; i >= 1; i--) {
    const struct tk_track *k = &d->t->tracks[i];
    if (k->kind == TK_TRACK_PROCESS && !k->hidden) d->planes[i] = (uint8_t)kind_of(tk_string(d->t, k->name, NULL));
    d->has_tpu = d->has_tpu || (k->kind == TK_TRACK_PROCESS && d->planes[i] == PLANE_TPU);
    if (k->kind != TK_TRACK_THREAD || k->hidden) continue;
    d->next_line[i] = d->first_line[k->parent];
    d->first_line[k->parent] = i;
  }
  return true;
}

static bool any_plane(const struct derive *d) {
  for (tk_id i = 1; i <= d->t->n_tracks; i++)
    if (d->planes[i] != PLANE_OTHER) return true;
  return false;
}

static bool has_group(const struct derive *d, tk_id process) {
  const tk_id key = d->keys.group;
  int64_t group;
  for (tk_id i = d->first_line[process]; key && i; i = d->next_line[i])
    for (tk_id e = d->t->tracks[i].first; e < d->t->tracks[i].first + d->t->tracks[i].count; e++)
      if (derive_int(d, e, key, &group)) return true;
  return false;
}

/* True if steps were derived before, or if the producer already stored group ids on every plane. */
static bool is_grouped(const struct derive *d) {
  if (d->keys.mark) return true;
  for (tk_id i = 1; i <= d->t->n_tracks; i++)
    if (d->planes[i] != PLANE_OTHER && d->first_line[i] && !has_group(d, i)) return false;
  return true;
}

static void find_keys(struct derive *d) {
  const struct {
    tk_id *key;
    const char *name;
  } KEYS_OF[] = {{&d->keys.root, "_r"},
                 {&d->keys.producer_type, "_pt"},
                 {&d->keys.producer, "_p"},
                 {&d->keys.consumer_type, "_ct"},
                 {&d->keys.consumer, "_c"},
                 {&d->keys.async, "_a"},
                 {&d->keys.correlation, "correlation_id"},
                 {&d->keys.iteration, "iter_num"},
                 {&d->keys.step, "step_num"},
                 {&d->keys.graph_type, "graph_type"},
                 {&d->keys.group, "group_id"},
                 {&d->keys.step_name, "step_name"},
                 {&d->keys.module, "hlo_module"},
                 {&d->keys.op, "hlo_op"},
                 {&d->keys.program, "program_id"},
                 {&d->keys.tf_op, "tf_op"},
                 {&d->keys.kernel, "kernel_details"},
                 {&d->keys.source, "source"},
                 {&d->keys.mark, TK_DERIVED}};
  for (size_t i = 0; i < sizeof KEYS_OF / sizeof *KEYS_OF; i++)
    *KEYS_OF[i].key = trace_text_id(d->t, KEYS_OF[i].name);
}

static void add_keys(struct derive *d) {
  d->keys.group = trace_text(d->t, "group_id");
  d->keys.step_name = trace_text(d->t, "step_name");
  d->keys.long_name = trace_text(d->t, "long_name");
  d->keys.own_name = trace_text(d->t, "xplane.name");
  d->keys.mark = trace_text(d->t, TK_DERIVED);
}

/* ---- existing events ---- */

static void add_args(struct derive *d, tk_id event, uint32_t group, tk_id step_name) {
  struct tk_trace *t = d->t;
  struct tk_args it = tk_args_of(t, t->events[event].args);
  const bool has = group && !derive_arg_of(t, t->events[event].args, d->keys.group, &(struct tk_arg){0});
  const tk_id mark = trace_text(t, has && step_name ? "group_id,step_name" : has ? "group_id" : "step_name");
  struct tk_arg arg;
  if (!has && !step_name) return;
  args_begin(t);
  while (tk_args_next(&it, &arg)) args_copy(t, &arg);
  if (has) args_int(t, d->keys.group, (int64_t)group - 1);
  if (step_name) args_str(t, d->keys.step_name, TK_ARG_STR, step_name);
  args_str(t, d->keys.mark, TK_ARG_STR, mark);
  t->events[event].args = args_end(t);
}

/* Gives the event the name of its step, and stores its original name in an arg. */
static void rename_event(struct derive *d, tk_id event, tk_id name, struct map *made) {
  struct tk_trace *t = d->t;
  const tk_id was = t->events[event].cls;
  if (t->classes[was].name == name) return;
  uint32_t *cls = map_put(made, (uint64_t)was << 32 | name, 0);
  if (!cls) return;
  if (!*cls) {
    struct tk_args it = tk_args_of(t, t->classes[was].args);
    struct tk_arg arg;
    struct tk_class *c = trace_add_class(t);
    *c = t->classes[was];
    args_begin(t);
    while (tk_args_next(&it, &arg)) args_copy(t, &arg);
    args_str(t, d->keys.own_name, TK_ARG_STR, t->classes[was].name);
    const uint32_t args = args_end(t);
    t->classes[t->n_classes].args = args;
    t->classes[t->n_classes].name = name;
    *cls = t->n_classes;
  }
  t->events[event].cls = *cls;
}

static bool is_on_steps(const struct derive *d, tk_id event) {
  const struct tk_track *k = &d->t->tracks[d->t->events[event].track];
  return k->kind == TK_TRACK_THREAD && d->planes[k->parent] == PLANE_TPU && strcmp(tk_string(d->t, k->name, NULL), "Steps") == 0;
}

static bool mark_events(struct derive *d, const struct buf *roots, uint64_t *n_grouped) {
  const struct derive_root *v = (const struct derive_root *)(const void *)roots->data;
  struct map made, named;
  map_init(&made, d->mem);
  map_init(&named, d->mem);
  for (size_t i = 0; i < roots->len / sizeof *v; i++) map_put(&named, v[i].event, d->groups[v[i].event]);
  for (tk_id i = 1; i <= d->n_events && !d->mem->failed; i++) {
    const bool is_step = d->groups[i] && (map_get(&named, i) || (d->has_tpu && is_on_steps(d, i)));
    const tk_id name = is_step ? d->names[d->groups[i]] : 0;
    if (!d->groups[i]) continue;
    *n_grouped += 1;
    add_args(d, i, d->groups[i], name);
    if (name) rename_event(d, i, name, &made);
  }
  map_free(&made);
  map_free(&named);
  return !d->mem->failed && !d->t->store->mem.failed;
}

/* ---- entry points ---- */

static bool derive_all(struct derive *d, struct tk_derived *done) {
  struct buf roots = {.mem = d->mem};
  const tk_id processes = d->t->n_tracks;
  d->groups = mem_zeros(d->mem, d->n_events + 1, sizeof *d->groups);
  if (!d->groups) return false;
  bool ok = derive_groups(d, &roots);
  if (ok) add_keys(d);
  for (tk_id i = 1; ok && i <= processes; i++)
    if (d->t->tracks[i].kind == TK_TRACK_PROCESS) ok = derive_lines(d, i, &done->lines);
  ok = ok && mark_events(d, &roots, &done->grouped);
  done->events = d->t->n_events - d->n_events;
  done->steps = d->n_groups;
  buf_free(&roots);
  return ok;
}

bool tk_derive(struct tk_trace *t, struct tk_derived *done, struct tk_err *err) {
  struct mem mem = {0};
  struct tk_derived unused;
  struct tk_err own;
  if (!trace_is_sealed(t, err)) return false;
  struct derive d = {.mem = &mem, .t = t, .n_events = t->n_events};
  if (!done) done = &unused;
  if (!err) err = &own;
  err_clear(err);
  *done = (struct tk_derived){0};
  find_keys(&d);
  bool ok = find_planes(&d);
  if (ok && any_plane(&d) && !is_grouped(&d)) ok = derive_all(&d, done);
  mem_free(&mem, d.planes);
  mem_free(&mem, d.first_line);
  mem_free(&mem, d.next_line);
  mem_free(&mem, d.groups);
  mem_free(&mem, d.names);
  return (ok && mem_check(&t->store->mem, err)) || mem_refuse(&mem, err);
}

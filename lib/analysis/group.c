/* group.c - see group.h. */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "fold.h"
#include "graph/args.h"

static bool has_table(enum tk_top_by by) {
  return by == TK_TOP_NAME || by == TK_TOP_CAT || by == TK_TOP_PROCESS || by == TK_TOP_TRACK || by == TK_TOP_DEVICE;
}

/* True if the tracks have several hosts. */
static bool has_hosts(const struct match *m) {
  tk_id i = 2;
  while (m->origins && i <= m->t->n_tracks && strcmp(m->origins[i].host, m->origins[1].host) == 0) i++;
  return m->origins && i <= m->t->n_tracks;
}

/* Prepares groupings by class of kernel, by device, and by phase, op or module, which depend on the spans around each event. */
static bool groups_prepare(struct groups *g, enum tk_top_by by) {
  const struct match *m = g->match;
  const enum around_fact fact = by == TK_TOP_PHASE ? AROUND_PHASE : by == TK_TOP_OP ? AROUND_OP : AROUND_MODULE;
  if (by == TK_TOP_CLASS) return work_classes_init(&g->work, &m->kinds, m->origins, NULL, g->mem);
  g->has_hosts = by == TK_TOP_DEVICE && has_hosts(m);
  if (by == TK_TOP_DEVICE) return work_devices_init(&g->devices, &m->kinds, m->origins, g->mem);
  if (by != TK_TOP_PHASE && by != TK_TOP_OP && by != TK_TOP_MODULE) return true;
  return around_init(&g->around, fact, &m->kinds, &m->steps, m->origins, g->mem);
}

bool groups_init(struct groups *g, const struct match *match, const struct tk_top_options *opt, struct mem *mem) {
  const struct tk_trace *t = match->t;
  const char *key = opt->by == TK_TOP_STREAM ? "stream" : opt->by == TK_TOP_ARG ? opt->arg : NULL;
  const bool by_class = opt->by == TK_TOP_NAME || opt->by == TK_TOP_CAT;
  const uint64_t n = (by_class ? t->n_classes : t->n_tracks) + (uint64_t)1;
  *g = (struct groups){.mem = mem, .t = t, .match = match, .by = opt->by, .fold = opt->fold, .n = GROUP_NONE};
  g->repeats = opt->by == TK_TOP_TRACK || match->selects_lines;
  g->text.mem = mem;
  intern_init(&g->texts, mem);
  map_init(&g->of_value, mem);
  map_init(&g->originals, mem);
  map_init(&g->of_sample, mem);
  if (!groups_prepare(g, opt->by)) return false;
  if (key) g->key = trace_text_id(t, key);
  if (!has_table(g->by)) return true;
  g->of_id = mem_zeros(mem, n, sizeof *g->of_id);
  return g->of_id != NULL;
}

void groups_free(struct groups *g) {
  if (!g->mem) return;
  mem_free(g->mem, g->of_id);
  work_classes_free(&g->work);
  work_devices_free(&g->devices);
  around_free(&g->around);
  map_free(&g->of_value);
  map_free(&g->originals);
  map_free(&g->of_sample);
  intern_free(&g->texts);
  buf_free(&g->text);
}

const struct intern_str *groups_text(const struct groups *g, uint32_t group) {
  return group > GROUP_NONE ? &g->texts.strs[group - 1] : NULL;
}

static uint32_t group_of_text(struct groups *g, const void *p, size_t n) {
  uint32_t id = intern(&g->texts, p, n);
  if (id + 1 > g->n) g->n = id + 1;
  return id + 1;
}

static uint32_t group_of_folded(struct groups *g, const void *p, size_t n) {
  if (!fold_name(&g->text, p, n)) return GROUP_NONE;
  return group_of_text(g, g->text.data, g->text.len);
}

uint32_t groups_of_name(struct groups *g, const void *p, size_t n) {
  const char *name = p;
  if (g->fold) return group_of_folded(g, p, n);
  const bool ok = g->has_runs ? fold_varying(&g->text, &name, &n) : fold_addresses(&g->text, &name, &n);
  return ok ? group_of_text(g, name, n) : GROUP_NONE;
}

/* ---- names ---- */

static uint32_t group_of_string(struct groups *g, tk_id id) {
  const struct intern_str *s = trace_str(g->t, id);
  if (!id) return GROUP_NONE;
  return g->by == TK_TOP_NAME ? groups_of_name(g, s->bytes, s->len) : group_of_text(g, s->bytes, s->len);
}

static bool is_repeat(const struct groups *g, tk_id cls) { return g->match->kinds.of_class[cls] & KIND_REPEAT; }

/* Collects the names of all classes whose events do not merely repeat other events. */
static bool find_originals(struct groups *g) {
  g->has_originals = true;
  for (tk_id i = 1; i <= g->t->n_classes; i++)
    if (!is_repeat(g, i) && !map_put(&g->originals, g->t->classes[i].name, 1)) return false;
  return true;
}

bool groups_has_original(struct groups *g, tk_id cls) {
  if (!is_repeat(g, cls) || (!g->has_originals && !find_originals(g))) return false;
  return map_get(&g->originals, g->t->classes[cls].name) != NULL;
}

/* True for the copy of a host annotation on a device; profilers create these copies, from the first to the last kernel of the
 * annotation. False for counters of other events (KIND_TALLY) if the trace does not contain the events. */
static bool is_copy(struct groups *g, tk_id cls) {
  if (!is_repeat(g, cls)) return false;
  return !(g->match->kinds.of_class[cls] & KIND_TALLY) || groups_has_original(g, cls);
}

const char *groups_suffix(struct groups *g, tk_id cls) { return is_copy(g, cls) ? " (device)" : ""; }

/* Returns the group whose text is the text of `group` and a suffix. */
static uint32_t group_with(struct groups *g, uint32_t group, const char *suffix) {
  const struct intern_str *s = groups_text(g, group);
  if (!s) return group;
  g->text.len = 0;
  buf_append(&g->text, s->bytes, s->len);
  buf_text(&g->text, suffix);
  return group_of_text(g, g->text.data, g->text.len);
}

/* Returns the group of an event of class `cls`, given the group of its name. Copies of annotations get a separate group, because a sum
 * of an annotation and its copy, or of a copy and the work in it, is meaningless. */
static uint32_t group_apart(struct groups *g, tk_id cls, uint32_t group) {
  const char *suffix = groups_suffix(g, cls);
  return *suffix ? group_with(g, group, suffix) : group;
}

static uint32_t group_of_class(struct groups *g, tk_id cls) {
  const bool by_name = g->by == TK_TOP_NAME;
  return by_name ? group_apart(g, cls, group_of_string(g, g->t->classes[cls].name)) : group_of_string(g, g->t->classes[cls].cat);
}

/* ---- tracks ---- */

static void put_ident(struct buf *b, const struct tk_trace *t, struct tk_ident i) {
  char digits[24];
  if (i.kind == TK_IDENT_STR) buf_append(b, trace_str(t, i.str)->bytes, trace_str(t, i.str)->len);
  else buf_append(b, digits, num_put_i64(digits, i.num));
}

/* Writes the name of a track with its id, such as "python (12)", because several tracks can have the same name. If there is no name,
 * writes `what` and the id, such as "thread 12". */
static void put_track(struct buf *b, const struct tk_trace *t, tk_id name, struct tk_ident id, const char *what) {
  const struct intern_str *s = trace_str(t, name);
  if (name) buf_append(b, s->bytes, s->len);
  else buf_text(b, what);
  if (id.kind == TK_IDENT_NONE || (id.kind == TK_IDENT_STR && !trace_str(t, id.str)->len)) return;
  buf_text(b, name ? " (" : " ");
  put_ident(b, t, id);
  if (name) buf_text(b, ")");
}

static uint32_t group_of_track(struct groups *g, tk_id track) {
  const struct tk_track *k = &g->t->tracks[track], *process = k->kind == TK_TRACK_PROCESS ? k : &g->t->tracks[k->parent];
  g->text.len = 0;
  put_track(&g->text, g->t, process->name, process->pid, "process");
  if (g->by == TK_TOP_TRACK && k->kind != TK_TRACK_PROCESS) {
    buf_text(&g->text, ": ");
    put_track(&g->text, g->t, k->name, k->tid, "thread");
    if (k->kind == TK_TRACK_ASYNCS) buf_text(&g->text, " async");
  }
  return group_of_text(g, g->text.data, g->text.len);
}

/* ---- devices ---- */

/* Returns the group of a device, given one of its tracks: "rank 3, GPU 0", or "host, GPU 0" if only hosts distinguish devices. If
 * another device has the same name, the process follows. */
static uint32_t group_of_device(struct groups *g, tk_id device, tk_id track) {
  const struct track_origin *o = g->match->origins ? &g->match->origins[track] : NULL;
  const uint32_t known = g->n;
  char digits[24];
  g->text.len = 0;
  if (o && o->rank >= 0) {
    buf_text(&g->text, "rank ");
    buf_append(&g->text, digits, num_put_i64(digits, o->rank));
    buf_text(&g->text, ", ");
  } else if (o && *o->host && g->has_hosts) {
    buf_text(&g->text, o->host);
    buf_text(&g->text, ", ");
  }
  work_devices_name(&g->match->kinds, device, track, &g->family, &g->text);
  const uint32_t group = group_of_text(g, g->text.data, g->text.len);
  if (g->n > known) return group;
  buf_text(&g->text, ", ");
  put_track(&g->text, g->t, g->t->tracks[device].name, g->t->tracks[device].pid, "process");
  return group_of_text(g, g->text.data, g->text.len);
}

/* Returns the group of the device of an event; GROUP_NONE if the event is not device work. */
static uint32_t group_of_work(struct groups *g, const struct tk_event *e) {
  if (!work_devices_has(&g->devices, e)) return GROUP_NONE;
  const tk_id device = work_devices_of(&g->devices, e->track);
  if (!g->of_id[device]) g->of_id[device] = group_of_device(g, device, e->track);
  return g->of_id[device];
}

/* ---- values ---- */

static uint32_t group_of_number(struct groups *g, int64_t value) {
  char digits[24];
  uint32_t *slot = map_put(&g->of_value, (uint64_t)value, 0);
  if (!slot) return GROUP_NONE;
  if (!*slot) *slot = group_of_text(g, digits, num_put_i64(digits, value));
  return *slot;
}

/* Returns the group of an arg's value. Values with the same printed form (7 and "7") have the same group. Only text is folded. */
static uint32_t group_of_arg(struct groups *g, const struct tk_arg *arg) {
  const struct intern_str *s;
  char digits[96];
  switch (arg->type) {
  case TK_ARG_NULL: return group_of_text(g, "null", 4);
  case TK_ARG_TRUE: return group_of_text(g, "true", 4);
  case TK_ARG_FALSE: return group_of_text(g, "false", 5);
  case TK_ARG_INT: return group_of_number(g, arg->i);
  case TK_ARG_UINT:
  case TK_ARG_POINTER: return group_of_text(g, digits, num_put_u64(digits, arg->u));
  case TK_ARG_DECIMAL: return group_of_text(g, digits, num_put_decimal(digits, arg->i, arg->exp));
  case TK_ARG_DOUBLE: return group_of_text(g, digits, num_put_double(digits, arg->d));
  default: break;
  }
  s = trace_str(g->t, arg->s);
  return g->fold ? group_of_folded(g, s->bytes, s->len) : group_of_text(g, s->bytes, s->len);
}

static uint32_t group_of_around(struct groups *g, tk_id event) {
  size_t n;
  const char *text = around_text(&g->around, event, &n);
  return text ? groups_of_name(g, text, n) : GROUP_NONE;
}

/* Returns the group of an event's kernel class; GROUP_NONE if the event is not device work. */
static uint32_t group_of_kernel(struct groups *g, const struct tk_event *e) {
  const enum kernel_class class = work_classes_of(&g->work, (tk_id)(e - g->t->events));
  uint32_t *slot = class ? map_put(&g->of_value, class, 0) : NULL;
  const char *word = kernel_classes_word(class);
  if (!slot) return GROUP_NONE;
  if (!*slot) *slot = group_of_text(g, word, strlen(word));
  return *slot;
}

static uint32_t group_of_event(struct groups *g, const struct tk_event *e) {
  const struct track_origin *o = g->match->origins ? &g->match->origins[e->track] : NULL;
  struct tk_arg arg;
  int64_t number;
  switch (g->by) {
  case TK_TOP_KIND: return group_of_number(g, kinds_of(&g->match->kinds, e));
  case TK_TOP_PHASE: return group_apart(g, e->cls, group_of_around(g, (tk_id)(e - g->t->events)));
  case TK_TOP_OP:
  case TK_TOP_MODULE: return group_of_around(g, (tk_id)(e - g->t->events));
  case TK_TOP_CLASS: return group_of_kernel(g, e);
  case TK_TOP_RANK: return o && o->rank >= 0 ? group_of_number(g, o->rank) : GROUP_NONE;
  case TK_TOP_STEP: return steps_of(&g->match->steps, e, &number) ? group_of_number(g, number) : GROUP_NONE;
  default: break;
  }
  if (g->by == TK_TOP_STREAM && !kinds_on_stream(&g->match->kinds, e)) return GROUP_NONE;
  if (args_of_event(g->t, e, g->key, &arg)) return group_of_arg(g, &arg);
  return g->by == TK_TOP_STREAM && match_stream_in_name(g->t, e->track, &number) ? group_of_number(g, number) : GROUP_NONE;
}

uint32_t groups_of(struct groups *g, const struct tk_event *e) {
  if (!g->of_id) return group_of_event(g, e);
  if (g->by == TK_TOP_DEVICE) return group_of_work(g, e);
  const bool by_class = g->by == TK_TOP_NAME || g->by == TK_TOP_CAT;
  uint32_t *known = &g->of_id[by_class ? e->cls : e->track];
  if (!*known) *known = by_class ? group_of_class(g, e->cls) : group_of_track(g, e->track);
  return *known;
}

static bool has_spans(const struct tk_trace *t) {
  tk_id i = 1;
  while (i <= t->n_events && t->events[i].kind != TK_EVENT_SPAN) i++;
  return i <= t->n_events;
}

uint32_t groups_of_sample(struct groups *g, const struct tk_event *sample) {
  const uint32_t group = groups_of(g, sample);
  if (g->by == TK_TOP_NAME || g->by == TK_TOP_CAT || g->by == TK_TOP_KIND) return group;
  uint32_t *slot = map_put(&g->of_sample, group, 0);
  if (!slot) return GROUP_NONE;
  if (*slot) return *slot;
  if (!has_spans(g->t)) return *slot = group;
  return *slot = group == GROUP_NONE ? group_of_text(g, "(samples)", 9) : group_with(g, group, " (samples)");
}

unsigned groups_kinds(const struct groups *g, uint32_t group) {
  const struct intern_str *s = groups_text(g, group);
  return s ? (unsigned)strtoul((const char *)s->bytes, NULL, 10) : 0;
}

bool groups_is_kernel(const struct groups *g, const struct tk_event *e) {
  return (kinds_of(&g->match->kinds, e) & (KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET)) == KIND_KERNEL;
}

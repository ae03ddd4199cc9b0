/* derive_lines.c - adds the lines that xprof derives from the stats of a device's events.
 *
 *     GPU        Steps; for each stream, from its kernels: XLA Modules, XLA Ops, Framework Name Scope, Framework Ops
 *     TPU core   Framework Name Scope, Framework Ops, Source code, Host Offload Ops: copies to and from host memory, each from its
 *                start to its end; as many rows as copies overlap
 *
 * Consecutive events with the same name and step become one span. Line ids are the ids that xprof uses; they are the same for
 * all devices. Lines made from streams have the ids after these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "derive.h"
#include "graph/args.h"

enum { LEVELS = 64, NO_LEVEL = -1 };
enum { STEPS, NAME_SCOPE = 2, FRAMEWORK_OPS, MODULES, OPS, SOURCE = 7, OFFLOADS, PER_STREAM = 7, STREAMS_AT = 101 };
static const int64_t FIRST_ID = 0xdeadbeef;

static const char *const NAMES[] = {[STEPS] = "Steps",     [NAME_SCOPE] = "Framework Name Scope", [FRAMEWORK_OPS] = "Framework Ops",
                                    [MODULES] = "XLA Modules", [OPS] = "XLA Ops",                 [SOURCE] = "Source code"};

struct made {
  tk_time ts, end;
  tk_id name, long_name;
  uint32_t group, order;
};

struct line {
  struct derive *d;
  bool gpu;
  struct buf events;      /* array of struct made */
  uint32_t last[LEVELS];  /* by level: 1 + index of the span that may still be extended; 0 = none */
  struct line *dependent; /* a line whose open spans end whenever a span of this line ends */
};

static struct made *made_at(const struct line *line, uint32_t place) {
  return (struct made *)(void *)line->events.data + place - 1;
}

/* Shortens nested spans of equal length, each by 1 ns more than the span around it, so that viewers nest them (as xprof does). */
static void shorten(struct line *line, uint32_t level) {
  uint32_t top = level;
  while (top < LEVELS && line->last[top]) top++;
  if (top < level + 2) return;
  const struct made *highest = made_at(line, line->last[top - 1]);
  const int64_t most = (highest->end - highest->ts) / 1000 - 1;
  int64_t by = 0;
  tk_time ts = 0, end = -1;
  for (uint32_t i = level; i < top; i++) {
    struct made *m = made_at(line, line->last[i]);
    if (by < most && m->ts == ts && m->end == end) by++;
    ts = m->ts;
    end = m->end;
    if (by) m->end = end - 1000 * by;
  }
}

static void end_levels(struct line *line, uint32_t level) {
  shorten(line, level);
  for (uint32_t i = level; i < LEVELS; i++) line->last[i] = 0;
  if (level == 0 && line->dependent) end_levels(line->dependent, 0);
}

static bool grows(const struct line *line, const struct made *last, const struct made *m) {
  if (last->name != m->name || last->long_name != m->long_name || last->group != m->group) return false;
  return line->gpu || m->group || last->end + 2 * (last->end - last->ts) >= m->ts;
}

static void add(struct line *line, uint32_t level, struct made m) {
  struct made *last = line->last[level] ? made_at(line, line->last[level]) : NULL;
  if (last && grows(line, last, &m)) {
    if (m.end > last->end) last->end = m.end;
    return;
  }
  end_levels(line, level);
  m.order = (uint32_t)(line->events.len / sizeof m);
  if (buf_append(&line->events, &m, sizeof m)) line->last[level] = m.order + 1;
}

/* ---- adding to the graph ---- */

static int by_place(const void *a, const void *b) {
  const struct made *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  if (x->end != y->end) return x->end > y->end ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t args_of(struct derive *d, const struct made *m, bool step) {
  args_begin(d->t);
  if (m->group) args_int(d->t, d->keys.group, (int64_t)m->group - 1);
  if (step) args_str(d->t, d->keys.step_name, TK_ARG_STR, m->name);
  if (m->long_name) args_str(d->t, d->keys.long_name, TK_ARG_STR, m->long_name);
  args_flag(d->t, d->keys.mark, TK_ARG_TRUE);
  return args_end(d->t);
}

static bool put_events(struct derive *d, const struct line *line, tk_id track, bool steps) {
  struct made *v = (struct made *)(void *)line->events.data;
  const uint32_t n = (uint32_t)(line->events.len / sizeof *v);
  tk_time ends[UINT8_MAX];
  uint32_t depth = 0;
  qsort(v, n, sizeof *v, by_place);
  for (uint32_t i = 0; i < n && !d->mem->failed; i++) {
    const uint32_t args = args_of(d, &v[i], steps);
    const tk_id cls = trace_class(d->t, v[i].name, 0);
    while (depth && ends[depth - 1] <= v[i].ts) depth--;
    struct tk_event *e = trace_add_event(d->t);
    *e = (struct tk_event){.ts = v[i].ts, .dur = v[i].end - v[i].ts, .cls = cls, .track = track, .args = args};
    e->depth = (uint16_t)depth;
    if (depth && v[i].end > ends[depth - 1]) e->flags = TK_FLAG_OVERLAPS;
    else if (depth < UINT8_MAX) ends[depth++] = v[i].end;
  }
  return !d->mem->failed && !d->t->store->mem.failed;
}

/* Adds the line to the process, unless the line has no events. */
static bool put_line(struct derive *d, const struct line *line, tk_id process, int64_t id, const char *name, bool steps) {
  if (line->events.len == 0) return true;
  const tk_id text = trace_text(d->t, name);
  const tk_id first = d->t->n_events + 1;
  struct tk_track *k = trace_add_track(d->t);
  const tk_id track = d->t->n_tracks;
  *k = (struct tk_track){.kind = TK_TRACK_THREAD,
                         .parent = process, .pid = d->t->tracks[process].pid, .tid = ident_int(id), .name = text,
                         .sort_index = id, .has_sort = true, .first = first, .renamed = true, .derived = true};
  if (!put_events(d, line, track, steps)) return false;
  d->t->tracks[track].count = d->t->n_events + 1 - first;
  return true;
}

static struct line new_line(struct derive *d, bool gpu, struct line *dependent) {
  return (struct line){.d = d, .gpu = gpu, .events = {.mem = d->mem}, .dependent = dependent};
}

/* ---- framework ops ---- */

static bool all_of(const char *p, const char *end, const char *chars) {
  for (; p < end; p++)
    if (!(*p >= 'a' && *p <= 'z') && !(*p >= '0' && *p <= '9') && !(*p >= 'A' && *p <= 'Z' && *chars == '*') && !strchr(chars, *p))
      return false;
  return true;
}

/* True if the text matches "[a-z_][a-z0-9_]*", optionally followed by text in brackets. */
static bool is_jax_type(const char *p, const char *end) {
  const char *bracket = memchr(p, '[', (size_t)(end - p));
  if (bracket && end[-1] != ']') return false;
  if (bracket) end = bracket;
  return p < end && (*p == '_' || (*p >= 'a' && *p <= 'z')) && all_of(p, end, "_");
}

static bool is_tf_type(const char *p, const char *end) {
  return p < end && (*p == '_' || (*p >= 'A' && *p <= 'Z')) && all_of(p, end, "*_");
}

static bool is_tf_name(const char *p, const char *end) {
  return p < end && *p != '_' && *p != '-' && *p != '/' && *p != '>' && *p != '*' && !memchr(p, '*', (size_t)(end - p)) &&
         all_of(p, end, "*_.\\/>-");
}

/* Returns the last part of the op's name without its number: "MatMul" for "model/layer/MatMul_1". */
static const char *derived_type(const char *name, const char **end) {
  const char *p = *end, *number;
  while (p > name && p[-1] != '/') p--;
  for (number = *end; number > p && number[-1] >= '0' && number[-1] <= '9';) number--;
  if (number < *end && number > p && number[-1] == '_') *end = number - 1;
  return p;
}

/* Returns the text that is shown for an op, usually its type. For an op of TensorFlow or JAX, sets *scopes to the end of its name;
 * otherwise to NULL. */
static tk_id shown_op(struct tk_trace *t, const char *op, size_t n, const char **scopes) {
  const char *end = op + n, *colon = memchr(op, ':', n), *type = colon ? colon + 1 : end, *type_end = end;
  *scopes = NULL;
  if (!colon || (colon - op == 8 && memcmp(op, "Iterator", 8) == 0)) {
    while (end > op && strchr(" \t\n\r\v\f", end[-1])) end--;
    return trace_string(t, op, (size_t)(end - op));
  }
  const bool own = type < end;
  if (own && is_tf_name(op, colon) && is_tf_type(type, end)) {
    *scopes = colon;
    return trace_string(t, type, (size_t)(end - type));
  }
  if (!own) type_end = colon, type = derived_type(op, &type_end);
  if (is_jax_type(type, type_end)) {
    const char *bracket = memchr(type, '[', (size_t)(type_end - type));
    *scopes = colon;
    return trace_string(t, type, (size_t)((bracket ? bracket : type_end) - type));
  }
  if (!own) {
    *scopes = colon;
    return trace_string(t, type, (size_t)(type_end - type));
  }
  return trace_string(t, op, n);
}

/* Adds the scopes of an op to the line of scopes, one per level, and adds the op to the line of ops. */
static void add_op(struct line *scope, struct line *ops, tk_id op, struct made m) {
  struct derive *d = scope->d;
  size_t n;
  const char *scopes, *text = tk_string(d->t, op, &n);
  const tk_id shown = shown_op(d->t, text, n, &scopes);
  struct buf copy = {.mem = d->mem};
  uint32_t level = 0;
  text = tk_string(d->t, op, &n); /* adding a string may move the strings */
  if (scopes && buf_append(&copy, text, n)) {
    const char *p = (const char *)copy.data, *end = memchr(p, ':', n), *slash;
    for (; level < LEVELS && (slash = memchr(p, '/', (size_t)(end - p))) != NULL; p = slash + 1, level++) {
      m.name = trace_string(d->t, p, (size_t)(slash - p));
      add(scope, level, m);
    }
    if (level) end_levels(scope, level);
  }
  buf_free(&copy);
  m.name = shown;
  m.long_name = op;
  add(ops, 0, m);
}

/* ---- GPUs ---- */

static struct made made_of(const struct derive *d, tk_id event) {
  const struct tk_event *e = &d->t->events[event];
  return (struct made){.ts = e->ts, .end = derive_end(e), .group = d->groups[event]};
}

static bool derive_steps(struct derive *d, tk_id process) {
  struct line steps = new_line(d, true, NULL);
  uint32_t n;
  tk_id *events = derive_sorted(d, process, &n);
  for (uint32_t i = 0; events && i < n; i++) {
    struct made m = made_of(d, events[i]);
    if (!m.group) continue;
    m.name = d->names[m.group];
    add(&steps, 0, m);
  }
  const bool ok = events && put_line(d, &steps, process, FIRST_ID + STEPS, NAMES[STEPS], true);
  mem_free(d->mem, events);
  buf_free(&steps.events);
  return ok;
}

/* Returns the name of the module, such as "jit_step(77)". Sets *prefix to the prefix of the names of its ops, such as "77/". */
static tk_id module_of(struct derive *d, tk_id event, struct buf *prefix) {
  const tk_id name = derive_text(d, event, d->keys.module);
  struct buf b = {.mem = d->mem};
  int64_t program;
  char number[32];
  size_t n;
  const char *text = tk_string(d->t, name, &n);
  const bool has = derive_int(d, event, d->keys.program, &program);
  const size_t digits = has ? (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)program) : 0;
  prefix->len = 0;
  buf_append(prefix, has ? number : text, has ? digits : n);
  buf_text(prefix, "/");
  buf_append(&b, text, n);
  if (has) buf_text(&b, "("), buf_append(&b, number, digits), buf_text(&b, ")");
  const tk_id made = name ? trace_string(d->t, b.data, b.len) : 0;
  buf_free(&b);
  return made;
}

/* Adds nested ops, outermost first: "while::fusion" is a fusion inside a while. */
static void add_xla_ops(struct line *ops, tk_id op, const struct buf *prefix, struct made m) {
  struct derive *d = ops->d;
  struct buf copy = {.mem = d->mem}, long_name = {.mem = d->mem};
  size_t n;
  const char *text = tk_string(d->t, op, &n);
  uint32_t level = 0;
  if (!buf_append(&copy, text, n) || !buf_append(&copy, "", 1)) return;
  for (const char *p = (const char *)copy.data, *next; p && level < LEVELS; p = next, level++) {
    const char *end = strstr(p, "::");
    next = end ? end + 2 : NULL;
    const size_t length = end ? (size_t)(end - p) : strlen(p);
    long_name.len = 0;
    buf_append(&long_name, prefix->data, prefix->len);
    buf_append(&long_name, p, length);
    m.name = trace_string(d->t, p, length);
    m.long_name = trace_string(d->t, long_name.data, long_name.len);
    add(ops, level, m);
  }
  end_levels(ops, level < LEVELS ? level : LEVELS - 1);
  buf_free(&copy);
  buf_free(&long_name);
}

/* Lines made from one stream. */
struct stream_lines {
  struct derive *d;
  struct line scope, framework, modules, ops;
  struct buf prefix; /* scratch */
};

static void add_kernel(struct stream_lines *s, tk_id event) {
  struct derive *d = s->d;
  if (!derive_text(d, event, d->keys.kernel)) return;
  const tk_id op = derive_text(d, event, d->keys.op), tf_op = derive_text(d, event, d->keys.tf_op);
  const tk_id module = module_of(d, event, &s->prefix);
  const struct made m = made_of(d, event);
  struct made of_module = m;
  of_module.name = module;
  const uint32_t before = s->modules.last[0];
  if (module) add(&s->modules, 0, of_module);
  if (module && s->modules.last[0] != before) end_levels(&s->ops, 0);
  if (op) add_xla_ops(&s->ops, op, &s->prefix, m);
  else if (tf_op) add_op(&s->scope, &s->framework, tf_op, m);
}

static bool put_stream_lines(const struct stream_lines *s, tk_id process, int64_t tid, uint32_t nth) {
  const struct {
    const struct line *line;
    unsigned kind;
  } lines[] = {{&s->scope, NAME_SCOPE}, {&s->framework, FRAMEWORK_OPS}, {&s->modules, MODULES}, {&s->ops, OPS}};
  bool ok = !s->d->mem->failed;
  for (size_t i = 0; ok && i < sizeof lines / sizeof *lines; i++) {
    const int64_t id = FIRST_ID + STREAMS_AT + (int64_t)nth * PER_STREAM + lines[i].kind;
    char name[96];
    snprintf(name, sizeof name, "%s - from #%lld", NAMES[lines[i].kind], (long long)tid);
    ok = put_line(s->d, lines[i].line, process, id, name, false);
  }
  return ok;
}

static bool derive_stream(struct derive *d, tk_id process, tk_id track, uint32_t nth) {
  struct stream_lines s = {.d = d, .framework = new_line(d, true, NULL), .ops = new_line(d, true, NULL), .prefix = {.mem = d->mem}};
  s.scope = new_line(d, true, &s.framework);
  s.modules = new_line(d, true, &s.scope);
  const struct tk_track k = d->t->tracks[track];
  for (tk_id i = k.first; i < k.first + k.count; i++) add_kernel(&s, i);
  end_levels(&s.scope, 0);
  end_levels(&s.ops, 0);
  const bool ok = put_stream_lines(&s, process, k.tid.num, nth);
  buf_free(&s.framework.events);
  buf_free(&s.scope.events);
  buf_free(&s.ops.events);
  buf_free(&s.modules.events);
  buf_free(&s.prefix);
  return ok;
}

/* ---- TPU cores ---- */

static bool is_async(const struct derive *d, tk_id event) {
  int64_t v = 0;
  return derive_int(d, event, d->keys.async, &v) && v;
}

/* True for events such as "copy-start.2" that copy between device memory and host memory (S(5) in layouts). */
static bool is_offload(const struct derive *d, tk_id event, const char **kind, bool *starts, int64_t *id) {
  static const char *const KINDS[] = {"copy", "slice", "dynamic-slice", "dynamic-update-slice"};
  const char *name = tk_string(d->t, d->t->classes[d->t->events[event].cls].name, NULL);
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
    const char *rest = name + strlen(KINDS[i]);
    if (!text_begins(name, KINDS[i]) || (!text_begins(rest, "-start") && !text_begins(rest, "-done"))) continue;
    *starts = text_begins(rest, "-start");
    rest += *starts ? strlen("-start") : strlen("-done");
    if (*rest && *rest != '.') return false;
    *id = *rest ? strtoll(rest + 1, NULL, 10) : 0;
    *kind = KINDS[i];
    return strstr(tk_string(d->t, derive_text(d, event, d->keys.long_name), NULL), "S(5)") != NULL;
  }
  return false;
}

struct offload {
  struct line rows[LEVELS];
  uint32_t n;
  struct map starts; /* kind and id of a copy -> event that starts it */
};

/* Adds a copy to the first row that has no copy in progress. (If several copies end at once, xprof adds them in arbitrary order.) */
static void add_offload(struct offload *o, struct derive *d, tk_id event, bool of_start) {
  const char *kind;
  bool starts;
  int64_t id;
  char name[96];
  uint32_t row = 0;
  if (!is_offload(d, event, &kind, &starts, &id) || starts != of_start) return;
  uint32_t *start = map_put(&o->starts, (uint64_t)id * 0x9e3779b97f4a7c15u + strlen(kind), 0);
  if (!start || (!starts && !*start)) return;
  if (starts) {
    *start = event;
    return;
  }
  struct made m = {.ts = d->t->events[*start].ts, .end = derive_end(&d->t->events[event])};
  *start = 0;
  snprintf(name, sizeof name, "offload-%s.%lld", kind, (long long)id);
  m.name = trace_text(d->t, name);
  while (row < o->n && o->rows[row].last[0] && made_at(&o->rows[row], o->rows[row].last[0])->end > m.ts) row++;
  if (row == LEVELS) row = LEVELS - 1;
  if (row == o->n) o->rows[o->n++] = new_line(d, false, NULL);
  m.order = (uint32_t)(o->rows[row].events.len / sizeof m);
  if (buf_append(&o->rows[row].events, &m, sizeof m)) o->rows[row].last[0] = m.order + 1;
}

static bool put_offloads(struct offload *o, struct derive *d, tk_id process) {
  bool ok = true;
  for (uint32_t i = 0; i < o->n; i++) {
    char name[64];
    snprintf(name, sizeof name, "Host Offload Ops row %u", i);
    ok = ok && put_line(d, &o->rows[i], process, FIRST_ID + OFFLOADS + i, name, false);
    buf_free(&o->rows[i].events);
  }
  map_free(&o->starts);
  return ok;
}

/* Adds the copies. At equal times, starts of copies are handled before ends of copies. */
static void add_offloads(struct offload *o, struct derive *d, const tk_id *events, uint32_t n) {
  for (uint32_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && d->t->events[events[end]].ts == d->t->events[events[i]].ts; end++)
      if (!is_async(d, events[end])) add_offload(o, d, events[end], true);
    for (uint32_t k = i; k < end; k++)
      if (!is_async(d, events[k])) add_offload(o, d, events[k], false);
  }
}

static bool derive_core(struct derive *d, tk_id process) {
  struct line framework = new_line(d, false, NULL), scope = new_line(d, false, &framework), source = new_line(d, false, NULL);
  struct offload offload = {0};
  uint32_t n;
  tk_id *events = derive_sorted(d, process, &n);
  map_init(&offload.starts, d->mem);
  if (events) add_offloads(&offload, d, events, n);
  for (uint32_t i = 0; events && i < n; i++) {
    struct made m = made_of(d, events[i]);
    const tk_id op = derive_text(d, events[i], d->keys.tf_op), from = derive_text(d, events[i], d->keys.source);
    if (is_async(d, events[i])) continue;
    if (op && op != KEY_EMPTY) add_op(&scope, &framework, op, m);
    m.name = from;
    if (from && from != KEY_EMPTY) add(&source, 0, m);
  }
  end_levels(&scope, 0);
  bool ok = events && !d->mem->failed && put_line(d, &scope, process, FIRST_ID + NAME_SCOPE, NAMES[NAME_SCOPE], false) &&
            put_line(d, &framework, process, FIRST_ID + FRAMEWORK_OPS, NAMES[FRAMEWORK_OPS], false) &&
            put_line(d, &source, process, FIRST_ID + SOURCE, NAMES[SOURCE], false);
  ok = put_offloads(&offload, d, process) && ok;
  mem_free(d->mem, events);
  buf_free(&framework.events);
  buf_free(&scope.events);
  buf_free(&source.events);
  return ok;
}

bool derive_lines(struct derive *d, tk_id process, uint64_t *n_lines) {
  const tk_id before = d->t->n_tracks;
  bool ok = true;
  uint32_t nth = 0;
  if (d->planes[process] == PLANE_TPU) ok = derive_core(d, process);
  if (d->planes[process] == PLANE_GPU) {
    ok = derive_steps(d, process);
    for (tk_id i = d->first_line[process]; ok && i; i = d->next_line[i]) ok = derive_stream(d, process, i, nth++);
  }
  *n_lines += d->t->n_tracks - before;
  return ok;
}

/* match.c - evaluates filter expressions over a graph (match.h). */
#include "match.h"

#include <stdio.h>
#include <string.h>

#include "graph/accelerator.h"
#include "base/glob.h"
#include "graph/args.h"
#include "graph/within.h"
#include "pending.h"
#include "step_launches.h"

/* ---- preparing ---- */

static bool asks(const struct expr *e, enum symbol symbol) {
  if (e->kind == EXPR_TEST) return e->symbol == symbol;
  return asks(e->left, symbol) || (e->right && asks(e->right, symbol));
}

/* True if a test uses the track, or the kind module or step: devices have separate lines for modules and steps. */
static bool selects_lines(const struct expr *e) {
  if (e->kind != EXPR_TEST) return selects_lines(e->left) || (e->right && selects_lines(e->right));
  if (e->symbol == SYM_KIND) return e->op != OP_HAS && (unsigned)e->value.time & (KIND_MODULE | KIND_STEP);
  return e->symbol == SYM_TRACK || e->symbol == SYM_THREAD || e->symbol == SYM_TID;
}

static bool prepare_test(struct match *m, const struct expr *e) {
  uint32_t i = e->index;
  if (e->kind != EXPR_TEST) return prepare_test(m, e->left) && (!e->right || prepare_test(m, e->right));
  enum symbol_scope scope = expr_symbols[e->symbol].scope;
  if (scope == OF_CLASS) m->of_class[i] = mem_zeros(m->mem, (uint64_t)m->t->n_classes + 1, 1);
  if (scope == OF_TRACK) m->of_track[i] = mem_zeros(m->mem, (uint64_t)m->t->n_tracks + 1, 1);
  map_init(&m->texts[i], m->mem);
  const char *key = e->symbol == SYM_ARG ? e->key : e->symbol == SYM_STREAM ? "stream" : e->symbol == SYM_DEVICE ? "device" : NULL;
  if (key) m->keys[i] = trace_text_id(m->t, key);
  return (scope != OF_CLASS || m->of_class[i]) && (scope != OF_TRACK || m->of_track[i]);
}

/* Computes self times: the duration of a span minus the durations of its children. */
static bool count_self(struct match *m) {
  const struct tk_trace *t = m->t;
  tk_id *above = mem_array(m->mem, (uint64_t)UINT16_MAX + 2, sizeof *above);
  m->self = mem_array(m->mem, (uint64_t)t->n_events + 1, sizeof *m->self);
  if (!above || !m->self) {
    mem_free(m->mem, above);
    return false;
  }
  above[0] = 0;
  m->self[0] = 0;
  for (tk_id i = 1; i <= t->n_events; i++) {
    const struct tk_event *e = &t->events[i];
    m->self[i] = e->dur;
    if (t->tracks[e->track].kind != TK_TRACK_THREAD || e->kind != TK_EVENT_SPAN) continue;
    if (e->depth && above[e->depth]) m->self[above[e->depth]] -= e->dur;
    if (trace_nests(t, i)) above[e->depth + 1] = i;
  }
  mem_free(m->mem, above);
  return true;
}

static tk_time first_start(const struct tk_trace *t) {
  tk_time start = INT64_MAX;
  for (tk_id i = 1; i <= t->n_events; i++)
    if (!(t->events[i].flags & TK_FLAG_LOST_CLOCK) && t->events[i].ts < start) start = t->events[i].ts;
  return start == INT64_MAX ? 0 : start;
}

static void *tables(struct match *m, size_t elem) { return mem_zeros(m->mem, (uint64_t)m->n_tests + 1, elem); }

static bool parse_all(struct match *m, const char *const *where, struct tk_err *err) {
  for (; where && *where; where++) {
    struct expr *e = expr_parse(*where, &m->n_tests, m->mem, err), *both;
    if (!e) return err_prefix(err, "filter '%.200s'", *where);
    both = m->root ? expr_and(m->root, e) : e;
    if (!both) m->root = NULL;
    if (!both) return err_set(err, TK_ELIMIT, "out of memory");
    m->root = both;
  }
  return true;
}

static bool link_steps(struct match *m) { return step_launches_link(&m->steps, &m->kinds, m->origins, NULL); }

static bool prepare_classes(struct match *m) { return work_classes_init(&m->work_classes, &m->kinds, m->origins, NULL, m->mem); }

static bool mark_launches(struct match *m);
static bool find_phases(struct match *m);

/* For each symbol that a test uses, computes the data that all its tests share. Steps come before phases, which need them. */
static bool prepare_symbols(struct match *m) {
  static const struct {
    enum symbol symbol;
    bool (*prepare)(struct match *);
  } ROWS[] = {
    {SYM_SELF, count_self}, {SYM_LAUNCHED_BY, mark_launches}, {SYM_STEP, link_steps}, {SYM_PHASE, find_phases},
    {SYM_WORK_CLASS, prepare_classes},
  };
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof ROWS / sizeof *ROWS; i++) ok = !asks(m->root, ROWS[i].symbol) || ROWS[i].prepare(m);
  return ok;
}

bool match_init(struct match *m, const struct tk_trace *t, const char *const *where, const struct track_origin *origins,
                struct mem *mem, struct tk_err *err) {
  *m = (struct match){.mem = mem, .t = t, .origins = origins, .n_events = t->n_events};
  if (!parse_all(m, where, err)) return false;
  m->of_class = tables(m, sizeof *m->of_class);
  m->of_track = tables(m, sizeof *m->of_track);
  m->texts = tables(m, sizeof *m->texts);
  m->keys = tables(m, sizeof *m->keys);
  bool ok = m->of_class && m->of_track && m->texts && m->keys && kinds_init(&m->kinds, t, mem) &&
            steps_runs_init(&m->steps, &m->kinds, origins, mem);
  m->regions = tables(m, sizeof *m->regions);
  ok = ok && m->regions;
  if (m->root) {
    m->start = first_start(t);
    m->selects_lines = selects_lines(m->root);
    ok = ok && prepare_test(m, m->root) && prepare_symbols(m);
  }
  return ok || mem_refuse(mem, err);
}

void match_free(struct match *m) {
  if (!m->mem) return;
  const bool tables = m->of_class && m->of_track && m->texts;
  for (uint32_t i = 0; tables && i < m->n_tests; i++) {
    mem_free(m->mem, m->of_class[i]);
    mem_free(m->mem, m->of_track[i]);
    if (m->texts[i].mem) map_free(&m->texts[i]);
    if (m->regions) mem_free(m->mem, m->regions[i]);
  }
  mem_free(m->mem, m->of_class);
  mem_free(m->mem, m->of_track);
  mem_free(m->mem, m->texts);
  mem_free(m->mem, m->keys);
  mem_free(m->mem, m->self);
  links_free(&m->links);
  phases_free(&m->phases);
  mem_free(m->mem, m->regions);
  work_classes_free(&m->work_classes);
  kinds_free(&m->kinds);
  steps_free(&m->steps);
  expr_free(m->root);
  *m = (struct match){0};
}

bool match_follow_launches(struct match *m, struct scope *s, const tk_id *launch_of) {
  if (!s->has_steps) return true;
  s->steps = &m->steps;
  return step_launches_link(&m->steps, &m->kinds, m->origins, launch_of);
}

/* ---- values ---- */

static bool text_passes(const struct expr *e, const char *text) {
  if (e->op == OP_REGEX) return regexp_matches(e->regexp, text);
  if (e->op == OP_GLOB) return glob_matches(e->value.text, text);
  return e->op == OP_HAS || strcmp(text, e->value.text) == 0;
}

/* ---- regions ---- */

static bool find_launches(struct match *m) { return m->links.launch || links_init(&m->links, &m->kinds, m->origins, m->mem); }

static bool find_phases(struct match *m) {
  return find_launches(m) && phases_init(&m->phases, &m->kinds, &m->steps, &m->links, m->mem);
}

/* True if the work was launched inside a span whose name passes the test, or if the graph that launched it was captured inside
 * such a span. */
static bool is_launched_by(const struct match *m, const struct expr *e, tk_id id) {
  const tk_id launch = m->links.launch[id], capture = links_capture(&m->links, id);
  const uint8_t *inside = m->regions[e->index];
  return launch && (e->op == OP_HAS || inside[launch] || (capture && inside[capture]));
}

static bool mark_track(struct match *m, const struct tk_track *k, const uint8_t *named, struct within *within, uint8_t *inside) {
  const bool nests = k->kind == TK_TRACK_THREAD;
  within_begin(within);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &m->t->events[i];
    const struct within_span around = nests ? within_find(within, e) : (struct within_span){0};
    inside[i] = named[e->cls] || around.node;
    if (nests && !pending_add(within, &m->kinds, i, around, inside[i])) return false;
  }
  return true;
}

/* Marks the events whose name passes the test, and the events inside such spans. */
static bool mark_region(struct match *m, const struct expr *e) {
  const struct tk_trace *t = m->t;
  struct within within = {0};
  uint8_t *inside = m->regions[e->index] = mem_array(m->mem, (uint64_t)t->n_events + 1, 1);
  uint8_t *named = mem_array(m->mem, (uint64_t)t->n_classes + 1, 1);
  bool ok = inside && named && within_init(&within, m->mem);
  if (ok) inside[0] = named[0] = 0;
  for (tk_id i = 1; ok && i <= t->n_classes; i++) named[i] = text_passes(e, tk_string(t, t->classes[i].name, NULL));
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) ok = mark_track(m, &t->tracks[i], named, &within, inside);
  mem_free(m->mem, named);
  within_free(&within);
  return !m->mem->failed;
}

static bool mark_regions(struct match *m, const struct expr *e) {
  if (e->kind != EXPR_TEST) return mark_regions(m, e->left) && (!e->right || mark_regions(m, e->right));
  return e->symbol != SYM_LAUNCHED_BY || e->op == OP_HAS || mark_region(m, e);
}

static bool mark_launches(struct match *m) { return find_launches(m) && mark_regions(m, m->root); }

static bool order_passes(enum expr_op op, int order) {
  switch (op) {
  case OP_EQ: return order == 0;
  case OP_LT: return order < 0;
  case OP_LE: return order <= 0;
  case OP_GT: return order > 0;
  case OP_GE: return order >= 0;
  default: return true;
  }
}

static bool time_passes(const struct expr *e, i128 time) {
  return e->op == OP_HAS || order_passes(e->op, time < e->value.time ? -1 : time > e->value.time);
}

/* Compares integers and decimals exactly, as multiples of 10^-9. A value that then exceeds 100 bits never matches. */
static bool number_passes(const struct expr *e, int64_t mant, int exp) {
  i128 a, b;
  if (e->op == OP_HAS) return true;
  if (!e->value.is_number) return false;
  bool fits = num_scale(mant, exp + 9, &a) && num_scale(e->value.num.mant, e->value.num.exp + 9, &b);
  return fits && order_passes(e->op, a < b ? -1 : a > b);
}

static bool double_passes(const struct expr *e, double v) {
  if (e->op == OP_HAS) return true;
  if (!e->value.is_number || v != v) return false;
  double want = num_nearest(e->value.num.mant, e->value.num.exp);
  return order_passes(e->op, v < want ? -1 : v > want);
}

/* ---- tests of classes and tracks ---- */

static bool class_passes(const struct match *m, const struct expr *e, tk_id cls) {
  const struct tk_class *c = &m->t->classes[cls];
  tk_id text = e->symbol == SYM_NAME ? c->name : c->cat;
  return text && text_passes(e, tk_string(m->t, text, NULL));
}

static bool ident_passes(const struct match *m, const struct expr *e, struct tk_ident i) {
  char digits[24];
  if (i.kind == TK_IDENT_NONE) return false;
  if (i.kind == TK_IDENT_STR) return e->op < OP_LT || e->op > OP_GE ? text_passes(e, tk_string(m->t, i.str, NULL)) : false;
  if (e->op == OP_HAS || e->value.is_number) return number_passes(e, i.num, 0);
  digits[num_put_i64(digits, i.num)] = 0;
  return (e->op < OP_LT || e->op > OP_GE) && text_passes(e, digits);
}

static bool track_passes(const struct match *m, const struct expr *e, tk_id track) {
  const struct tk_track *k = &m->t->tracks[track], *process = k->kind == TK_TRACK_PROCESS ? k : &m->t->tracks[k->parent];
  const struct track_origin *o = m->origins ? &m->origins[track] : NULL;
  tk_id text = 0;
  switch (e->symbol) {
  case SYM_PID: return ident_passes(m, e, process->pid);
  case SYM_TID: return k->kind != TK_TRACK_PROCESS && ident_passes(m, e, k->tid);
  case SYM_RANK: return o && o->rank >= 0 && number_passes(e, o->rank, 0);
  case SYM_HOST: return o && *o->host && text_passes(e, o->host);
  case SYM_PROCESS: text = process->name; break;
  case SYM_THREAD: text = k->kind == TK_TRACK_THREAD || k->kind == TK_TRACK_ASYNCS ? k->name : 0; break;
  default: text = k->name ? k->name : process->name; break;
  }
  return text && text_passes(e, tk_string(m->t, text, NULL));
}

static bool remembered(uint8_t *memo, bool (*ask)(const struct match *, const struct expr *, tk_id), const struct match *m,
                       const struct expr *e, tk_id id) {
  if (!memo[id]) memo[id] = (uint8_t)(ask(m, e, id) + 1);
  return memo[id] == 2;
}

/* ---- tests of events ---- */

/* Tests the text of an arg and caches the result. If the text and the test's value are both numbers, compares them as numbers. */
static bool arg_text_passes(const struct match *m, const struct expr *e, tk_id s) {
  bool orders = e->op >= OP_LT && e->op <= OP_GE;
  if (e->op == OP_HAS) return true;
  uint32_t *memo = map_put(&m->texts[e->index], s, MAYBE);
  if (memo && *memo != MAYBE) return *memo == YES;
  const char *text = tk_string(m->t, s, NULL);
  const uint8_t *end;
  struct num n = num_scan((const uint8_t *)text, &end);
  bool number = e->value.is_number && !*end && (n.kind == NUM_INT || n.kind == NUM_DEC) && e->op <= OP_GE;
  bool passes = number ? number_passes(e, n.mant, n.exp) : !orders && text_passes(e, text);
  if (memo) *memo = passes ? YES : NO;
  return passes;
}

static bool value_passes(const struct match *m, const struct expr *e, const struct tk_arg *arg) {
  char digits[96];
  bool text_op = e->op == OP_REGEX || e->op == OP_GLOB || (e->op == OP_EQ && !e->value.is_number);
  switch (arg->type) {
  case TK_ARG_NULL: return e->op == OP_HAS || (e->op == OP_EQ && strcmp(e->value.text, "null") == 0);
  case TK_ARG_TRUE:
  case TK_ARG_FALSE: return e->op == OP_HAS || (text_op && text_passes(e, arg->type == TK_ARG_TRUE ? "true" : "false"));
  case TK_ARG_INT:
  case TK_ARG_DECIMAL:
    if (!text_op) return number_passes(e, arg->i, arg->exp);
    digits[num_put_decimal(digits, arg->i, arg->exp)] = 0;
    return text_passes(e, digits);
  case TK_ARG_UINT:
  case TK_ARG_POINTER:
    if (!text_op) return arg->u <= INT64_MAX ? number_passes(e, arg->i, 0) : double_passes(e, (double)arg->u);
    digits[num_put_u64(digits, arg->u)] = 0;
    return text_passes(e, digits);
  case TK_ARG_DOUBLE: return double_passes(e, arg->d);
  default: return arg_text_passes(m, e, arg->s);
  }
}

static bool arg_passes(const struct match *m, const struct expr *e, const struct tk_event *ev, bool *has) {
  struct tk_arg arg;
  *has = args_of_event(m->t, ev, m->keys[e->index], &arg);
  return *has && value_passes(m, e, &arg);
}

/* Finds the number after `word` in a name: "/device:GPU:3", "GPU 3", "Stream #7(Compute)". */
static bool number_in(const char *name, const char *word, int64_t *number) {
  const uint8_t *end;
  const char *p = strstr(name, word);
  if (!p) return false;
  p += strlen(word);
  p += strspn(p, " #:");
  struct num n = num_scan((const uint8_t *)p, &end);
  *number = n.mant;
  return n.kind == NUM_INT;
}

bool match_stream_in_name(const struct tk_trace *t, tk_id track, int64_t *number) {
  const tk_id process = t->tracks[track].parent;
  if (number_in(tk_string(t, t->tracks[track].name, NULL), "tream", number)) return true;
  /* TensorFlow 1 writes a process for each stream: "/device:GPU:0/stream:13 Compute". */
  return accelerator_is_queue(t, process) && number_in(tk_string(t, t->tracks[process].name, NULL), "/stream", number);
}

bool match_device_in_name(const struct tk_trace *t, tk_id track, int64_t *number) {
  const tk_id process = t->tracks[track].kind == TK_TRACK_PROCESS ? track : t->tracks[track].parent;
  const struct accelerator a = accelerator_of(t, track);
  *number = a.number;
  return a.number >= 0 || number_in(tk_string(t, t->tracks[process].name, NULL), "GPU", number);
}

static bool named_number_passes(const struct match *m, const struct expr *e, const struct tk_event *ev) {
  int64_t n;
  bool found = e->symbol == SYM_STREAM ? match_stream_in_name(m->t, ev->track, &n) : match_device_in_name(m->t, ev->track, &n);
  return found && number_passes(e, n, 0);
}

static bool event_passes(const struct match *m, const struct expr *e, tk_id id) {
  const struct tk_event *ev = &m->t->events[id];
  bool timed = !(ev->flags & TK_FLAG_LOST_CLOCK), counter = ev->kind == TK_EVENT_COUNTER, has;
  const char *word;
  int64_t number;
  switch (e->symbol) {
  case SYM_TS: return timed && time_passes(e, (i128)ev->ts - m->start);
  case SYM_END: return timed && time_passes(e, (i128)ev->ts + ev->dur - m->start);
  case SYM_DUR: return !counter && ev->kind != TK_EVENT_SAMPLE && time_passes(e, ev->dur);
  case SYM_SELF: return !counter && ev->kind != TK_EVENT_SAMPLE && time_passes(e, m->self[id]);
  case SYM_DEPTH: return !counter && number_passes(e, ev->depth, 0);
  case SYM_KIND: return e->op == OP_HAS || (kinds_of(&m->kinds, ev) & (unsigned)e->value.time) != 0;
  case SYM_STEP: return steps_of(&m->steps, ev, &number) && number_passes(e, number, 0);
  case SYM_LAUNCHED_BY: return is_launched_by(m, e, id);
  case SYM_PHASE: word = phase_word(m->phases.of[id]); return word && text_passes(e, word);
  case SYM_WORK_CLASS: word = kernel_classes_word(work_classes_of(&m->work_classes, id)); return word && text_passes(e, word);
  case SYM_ARG: return arg_passes(m, e, ev, &has);
  default: break;
  }
  if (e->symbol == SYM_STREAM && !kinds_on_stream(&m->kinds, ev)) return false;
  bool passes = arg_passes(m, e, ev, &has);
  return has ? passes : named_number_passes(m, e, ev);
}

static bool test_passes(const struct match *m, const struct expr *e, tk_id id) {
  const struct tk_event *ev = &m->t->events[id];
  if (m->of_class[e->index]) return remembered(m->of_class[e->index], class_passes, m, e, ev->cls);
  if (m->of_track[e->index]) return remembered(m->of_track[e->index], track_passes, m, e, ev->track);
  return event_passes(m, e, id);
}

/* ---- trees ---- */

static bool passes(const struct match *m, const struct expr *e, tk_id id) {
  switch (e->kind) {
  case EXPR_OR: return passes(m, e->left, id) || passes(m, e->right, id);
  case EXPR_AND: return passes(m, e->left, id) && passes(m, e->right, id);
  case EXPR_NOT: return !passes(m, e->left, id);
  default: return test_passes(m, e, id);
  }
}

bool match_event(const struct match *m, tk_id event) { return !m->root || passes(m, m->root, event); }

bool match_check(const struct match *m, struct tk_err *err) { return expr_check(m->root, err); }

static enum verdict opposite(enum verdict v) { return v == MAYBE ? MAYBE : v == YES ? NO : YES; }

static enum verdict judge_track(const struct match *m, const struct expr *e, tk_id track) {
  if (e->kind == EXPR_TEST && !m->of_track[e->index]) return MAYBE;
  if (e->kind == EXPR_TEST) return remembered(m->of_track[e->index], track_passes, m, e, track) ? YES : NO;
  enum verdict a = judge_track(m, e->left, track), b;
  if (e->kind == EXPR_NOT) return opposite(a);
  if (a == (e->kind == EXPR_OR ? YES : NO)) return a;
  b = judge_track(m, e->right, track);
  if (b == (e->kind == EXPR_OR ? YES : NO)) return b;
  return a == MAYBE || b == MAYBE ? MAYBE : a;
}

enum verdict match_track(const struct match *m, tk_id track) { return m->root ? judge_track(m, m->root, track) : YES; }

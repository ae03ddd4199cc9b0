/* xplane.c - extracts the collectives of XLA's programs as anchors.
 *
 *     /device:TPU:n   "XLA Modules": executions of programs; "XLA Ops": their ops; a collective is one op, or a pair -start and -done
 *     /device:GPU:n   "Stream #s(...)": kernels; NCCL kernels name their op
 *     /host:CPU       only without devices: ops that XLA ran on CPUs, on a pool of threads, with program, run and device
 *
 * An op is identified by its program (fingerprint), its name, and its ordinal within the execution. Executions on different devices are
 * matched later (align/solve/hypotheses.c). Other lines only repeat these events. On CPUs, all processes of a job give an execution the
 * same number, so the number is a part of the key of an op.
 *
 * The replica groups of an op come from its text, from the event, or from the program itself (struct align_op). Kernels do not state
 * groups; these are looked up in the program, which the kernel identifies by the name and number that its process uses.
 *
 * Only the members of one replica group leave a collective together. Groups list either replicas or global device ids. A plane states
 * its replica but not its global id (core_details looks like one, but counts chips in a different order than programs do). Therefore
 * the anchors of an op are vague if the op has several groups that list global ids, or if its groups are unknown. */
#include <stdlib.h>
#include <string.h>

#include "xplane.h"
#include "base/text.h"
#include "collector.h"
#include "replicas.h"

/* Minimum duration of a -done op that is used. A shorter one found its collective already finished, so it does not show when other
 * devices arrived. */
static const tk_time WAITED = 1000000; /* ps */

enum part { WHOLE, START, DONE };

/* A collective of a program, parsed from its name and text. */
struct op {
  tk_id name;            /* string id of the text from which it was parsed */
  bool collective, one_way;
  bool by_partition;     /* true if it has a channel: its groups then list partitions */
  uint8_t part;
  uint64_t hash;         /* hash of the name */
  uint64_t start_hash;   /* for -done ops: hash of the name of the -start op; 0 = unknown */
  const char *groups;    /* text of its replica groups; NULL = unknown */
  bool global;           /* true if the groups list global ids or partitions rather than replicas */
};

struct execution {
  tk_time start, end;
  uint64_t module;  /* hash of the program, equal on all hosts */
  uint64_t program; /* id of the program within the process */
  int64_t run, replica;
  bool has_run, has_replica;
};

struct planes {
  struct collector *c;
  struct op *ops;
  uint32_t n_ops, cap_ops;
  struct map op_of;      /* class and hlo_op -> 1 + op */
  struct map told;       /* program and op -> 1 + index of its description */
  struct execution *executions; /* executions on the current device, by time; empty if the device has no line of executions */
  uint32_t n_executions, cap_executions;
  struct map starts;     /* name of a -start op -> 1 + index of the anchor that contains its start */
  uint32_t device, first; /* current device, and the index of its first anchor */
};


/* ---- parsing an op ---- */

static const char *const OPCODES[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "ragged-all-to-all",
                                      "collective-broadcast", NULL};

/* Parses an opcode such as "all-reduce-start" into op->part (here START). Returns false if it is not a collective. */
static bool parse_opcode(struct op *op, const char *p, size_t n) {
  for (const char *const *code = OPCODES; *code; code++) {
    size_t length = strlen(*code);
    if (n < length || memcmp(p, *code, length) != 0) continue;
    const char *rest = p + length;
    size_t left = n - length;
    if (left == 6 && memcmp(rest, "-start", 6) == 0) op->part = START;
    else if (left == 5 && memcmp(rest, "-done", 5) == 0) op->part = DONE;
    else if (left != 0) continue;
    op->one_way = code - OPCODES >= 4;
    op->by_partition = code - OPCODES >= 3;
    return op->collective = true;
  }
  return false;
}

static size_t token(const char *p) { return strcspn(p, " =(),"); }

/* Parses an op's text, in which the opcode precedes a parenthesis: "%all-reduce-done.3 = f32[8] all-reduce-done(f32[8]
 * %all-reduce-start.2), ...". */
static void parse_text(struct op *op, const char *text) {
  const char *p;
  for (const char *const *code = OPCODES; *code && !op->collective; code++) {
    for (p = text; !op->collective && (p = strstr(p, *code)); p++) {
      size_t n = token(p);
      if (p > text && p[-1] == ' ' && p[n] == '(') parse_opcode(op, p, n);
    }
  }
  if (!op->collective) return;
  if ((p = strstr(text, "replica_groups="))) op->groups = p + strlen("replica_groups=");
  op->global = strstr(text, "use_global_device_ids=true") || (op->by_partition && strstr(text, "channel_id="));
  p = op->part == DONE ? strstr(text, "-done(") : NULL;
  if (p && (p = strchr(p, '%'))) op->start_hash = hash_bytes(p + 1, token(p + 1));
}

static void parse_name(struct op *op, const char *name) {
  name += *name == '%';
  size_t n = token(name);
  op->hash = hash_bytes(name, n);
  if (!op->collective) parse_opcode(op, name, strcspn(name, ". =(),"));
}

static bool names_nccl(const char *s) { return strstr(s, "nccl") || strstr(s, "rccl"); }

static struct op make_op(const struct planes *p, tk_id cls, tk_id hlo_op) {
  const struct tk_trace *t = p->c->t;
  tk_id id;
  const char *name = tk_string(t, t->classes[cls].name, NULL), *text = collect_text(t, t->classes[cls].args, "long_name", &id);
  struct op op = {.name = hlo_op ? hlo_op : t->classes[cls].name};
  parse_text(&op, text ? text : name);
  parse_name(&op, tk_string(t, op.name, NULL));
  if (op.start_hash == 0 && op.part == DONE) op.start_hash = op.hash;
  return op;
}

/* Returns the collective that an event executes; NULL if it executes none. `kernels`: true if the event is a kernel on a GPU. The name
 * of a kernel is an NCCL function, so the op's name is taken from a stat; the program may describe the op in more detail. */
static const struct op *op_of(struct planes *p, const struct tk_event *e, bool kernels) {
  const struct tk_trace *t = p->c->t;
  tk_id hlo_op = 0;
  if (kernels && !names_nccl(tk_string(t, t->classes[e->cls].name, NULL))) return NULL;
  if (kernels && !collect_text(t, e->args, "hlo_op", &hlo_op)) return NULL;
  uint32_t *slot = map_put(&p->op_of, (uint64_t)e->cls << 32 | hlo_op, 0);
  if (!slot) return NULL;
  if (!*slot) {
    if (!mem_grow(p->c->out->mem, (void **)&p->ops, &p->cap_ops, (uint64_t)p->n_ops + 1, sizeof *p->ops)) return NULL;
    p->ops[p->n_ops] = make_op(p, e->cls, hlo_op);
    *slot = ++p->n_ops;
  }
  const struct op *op = &p->ops[*slot - 1];
  return (op->collective || kernels) && !op->one_way ? op : NULL;
}

/* ---- descriptions of ops in programs ---- */

enum { CONTRADICTED = UINT32_MAX }; /* value in `told`: programs with this key describe the op differently */

static uint64_t hash_of_name(const char *module) {
  const char *paren = strrchr(module, '(');
  return hash_bytes(module, paren ? (size_t)(paren - module) : strlen(module));
}

/* Returns a key made of the program's name and number, or of one of them if the other is unknown; 0 if both are unknown. */
static uint64_t program_key(bool named, uint64_t name, bool numbered, uint64_t number) {
  if (!named && !numbered) return 0;
  return hash_mix(named ? hash_mix(51, name) : 52, numbered ? hash_mix(53, number) : 54);
}

static bool same(const struct align_op *a, const struct align_op *b) {
  bool groups = a->groups == b->groups || (a->groups && b->groups && strcmp(a->groups, b->groups) == 0);
  return groups && a->global == b->global && a->opcode == b->opcode;
}

static bool learn(struct planes *p, uint32_t i, uint64_t program) {
  const struct align_op *ops = p->c->from->ops;
  uint32_t *at = map_put(&p->told, hash_mix(program, ops[i].op), i + 1);
  if (at && *at != CONTRADICTED && !same(&ops[*at - 1], &ops[i])) *at = CONTRADICTED;
  return at != NULL;
}

static bool learn_programs(struct planes *p) {
  const struct align_source *from = p->c->from;
  bool ok = true;
  for (uint32_t i = 0; ok && i < from->n_ops; i++) {
    const struct align_op *o = &from->ops[i];
    ok = learn(p, i, program_key(true, o->module, true, o->program)) && learn(p, i, program_key(true, o->module, false, 0)) &&
         learn(p, i, program_key(false, 0, true, o->program));
  }
  return ok;
}

static const struct align_op *told_of(const struct planes *p, const struct op *op, const struct execution *x) {
  uint64_t name = op->part == DONE ? op->start_hash : op->hash;
  const uint32_t *at = x->program ? map_get(&p->told, hash_mix(x->program, name)) : NULL;
  return at && *at != CONTRADICTED ? &p->c->from->ops[*at - 1] : NULL;
}

static bool is_anchor(const struct op *op, const struct align_op *told) {
  struct op as_told = {0};
  if (told) parse_opcode(&as_told, told->opcode, strlen(told->opcode));
  return told ? as_told.collective && !as_told.one_way : op->collective;
}

/* ---- executions ---- */

/* Returns a hash of a program. The number in "jit_step(12190760917235803885)" is a fingerprint, which is equal on all hosts; a
 * small number is a counter of the process and is ignored. */
static uint64_t hash_of_module(const char *name, uint64_t program) {
  const char *paren = strrchr(name, '(');
  uint64_t number = paren ? strtoull(paren + 1, NULL, 10) : program;
  uint64_t h = hash_mix(21, hash_bytes(name, paren ? (size_t)(paren - name) : strlen(name)));
  return number >> 32 ? hash_mix(h, number) : h;
}

/* True for a span whose start and end are known. */
static bool is_usable(const struct tk_event *e) {
  return e->kind == TK_EVENT_SPAN && !(e->flags & (TK_FLAG_LOST_CLOCK | TK_FLAG_UNFINISHED | TK_FLAG_CLIPPED));
}

static bool take_executions(struct planes *p, const struct tk_track *line) {
  const struct tk_trace *t = p->c->t;
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    const struct tk_event *e = &t->events[i];
    if (!is_usable(e)) continue;
    if (!mem_grow(p->c->out->mem, (void **)&p->executions, &p->cap_executions, (uint64_t)p->n_executions + 1, sizeof *p->executions))
      return false;
    struct execution *x = &p->executions[p->n_executions++];
    *x = (struct execution){.start = e->ts, .end = e->ts + e->dur};
    const char *name = tk_string(t, t->classes[e->cls].name, NULL), *paren = strrchr(name, '(');
    x->module = hash_of_module(name, 0);
    x->program = program_key(true, hash_of_name(name), paren != NULL, paren ? strtoull(paren + 1, NULL, 10) : 0);
    x->has_run = collect_number(t, e->args, "run_id", &x->run);
    x->has_replica = collect_number(t, e->args, "replica_id", &x->replica);
  }
  return true;
}

/* Returns the execution that contains the event; NULL if there is none. */
static const struct execution *execution_at(const struct planes *p, const struct tk_event *e) {
  uint32_t lo = 0, hi = p->n_executions;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (p->executions[mid].start <= e->ts) lo = mid + 1;
    else hi = mid;
  }
  return lo && e->ts + e->dur <= p->executions[lo - 1].end ? &p->executions[lo - 1] : NULL;
}

/* Returns the execution to which the event belongs, from the event's own stats. Used if the device has no line of executions. */
static struct execution execution_of(const struct planes *p, const struct tk_event *e) {
  const struct tk_trace *t = p->c->t;
  struct execution x = {0};
  int64_t program = 0;
  tk_id id;
  const char *module = collect_text(t, e->args, "hlo_module", &id);
  bool numbered = collect_number(t, e->args, "program_id", &program);
  if (module || numbered) x.module = hash_of_module(module ? module : "", (uint64_t)program);
  x.program = program_key(module != NULL, module ? hash_of_name(module) : 0, numbered, (uint64_t)program);
  x.has_run = collect_number(t, e->args, "run_id", &x.run);
  x.has_replica = collect_number(t, e->args, "replica_id", &x.replica);
  return x;
}

/* ---- anchors ---- */

/* Returns a hash of the replica group to which the device belongs in this op; 0 if the op has a single group, or if the group
 * is unknown, which sets *vague. `said`, `told`: groups according to the event and to the program; either may be NULL. */
static uint64_t group_of(const struct op *op, const char *said, const struct align_op *told, const struct execution *x, bool *vague) {
  struct replicas r;
  uint64_t group = 0;
  const char *text = said ? said : op->groups ? op->groups : told ? told->groups : NULL;
  bool global = op->global || (told && told->global);
  *vague = !text || !replicas_parse(&r, text);
  if (*vague || r.n_groups == 1) return 0;
  *vague = global || !x->has_replica || x->replica < 0 || !replicas_group(&r, (uint64_t)x->replica, &group);
  return *vague ? 0 : hash_mix(group, 31);
}

/* Adds the anchor of an op. Until executions are numbered, `label` contains the op with its group, `exact` the op, and
 * `execution` 1 + the index on the line of executions. */
static bool add_op(struct planes *p, const struct tk_event *e, const struct op *op, const struct align_op *told,
                const struct execution *x) {
  tk_id id;
  bool vague;
  const char *said = collect_text(p->c->t, e->args, "replica_groups", &id);
  uint32_t *start = NULL;
  struct align_anchor *a = collect_add(p->c, e);
  if (!a) return false;
  if (op->part == DONE) start = map_get(&p->starts, op->start_hash);
  const struct op *first = start && *start ? &p->ops[p->c->out->v[*start - 1].op] : op;
  if (start && *start) a->start = p->c->out->v[*start - 1].start;
  if (x->has_run) a->seq = x->run;
  a->device = p->device;
  a->module = x->module;
  a->run = x->run;
  a->has_run = x->has_run;
  a->execution = p->n_executions ? (uint32_t)(x - p->executions) + 1 : 0;
  a->label = hash_mix(hash_mix(x->module, op->hash), group_of(first, said, told, x, &vague));
  a->exact = op->hash;
  a->says = vague ? ALIGN_VAGUE : ALIGN_BARRIER;
  a->op = (uint32_t)(op - p->ops);
  return true;
}

/* Adds the anchor of an undivided op or of a -done op. Keeps a -start op until its -done op, because the -start op shows when the
 * device entered the collective. */
static bool take_op(struct planes *p, const struct tk_event *e, const struct op *op, bool kernels) {
  const struct execution *known = p->n_executions ? execution_at(p, e) : NULL;
  struct execution said = {0};
  if (p->n_executions && !known) return true;
  if (!known) said = execution_of(p, e);
  if (!known && !said.module) return true;
  const struct align_op *told = told_of(p, op, known ? known : &said);
  bool waits = !kernels && op->part == DONE;
  if (!is_anchor(op, told) || (waits && e->dur < WAITED)) return true;
  if (!add_op(p, e, op, told, known ? known : &said)) return false;
  if (kernels || op->part != START) return true;
  uint32_t *start = map_put(&p->starts, op->hash, 0);
  if (start) *start = p->c->out->n;
  p->c->out->v[p->c->out->n - 1].module = 0; /* module 0: number_executions removes this anchor */
  return true;
}

static bool take_line(struct planes *p, const struct tk_track *line, bool kernels) {
  for (tk_id i = line->first; i < line->first + line->count; i++) {
    const struct tk_event *e = &p->c->t->events[i];
    if (!is_usable(e)) continue;
    const struct op *op = op_of(p, e, kernels);
    if (op && !take_op(p, e, op, kernels)) return false;
  }
  return true;
}

/* ---- numbers ---- */

static int by_start(const void *pa, const void *pb) {
  const struct align_anchor *a = pa, *b = pb;
  if (a->start != b->start) return a->start < b->start ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

/* Returns a key that is different for each execution of a program: a hash of the execution's index or of its run id, if the
 * trace has one. Otherwise an execution begins each time a certain op recurs; this op is the same on every device, so it does
 * not matter where the recording begins. *failed becomes true when memory runs out. */
static uint64_t execution_key(const struct align_anchor *a, struct map *marks, struct map *counts, bool *failed) {
  if (a->execution) return hash_mix(a->execution, 41);
  if (a->has_run) return hash_mix(hash_mix(a->module, (uint64_t)a->run), 42);
  uint32_t *count = map_put(counts, a->module, 0), *mark = map_get(marks, a->module);
  if (!count || !mark) {
    *failed = true;
    return 0;
  }
  if (*mark == (uint32_t)a->exact) ++*count;
  return hash_mix(hash_mix(a->module, *count), 43);
}

/* Chooses for each program the op that marks executions: the op with the smallest hash. */
static bool find_marks(const struct planes *p, struct map *marks) {
  const struct align_anchor *v = p->c->out->v;
  for (uint32_t i = p->first; i < p->c->out->n; i++) {
    uint32_t *mark = map_put(marks, v[i].module, (uint32_t)v[i].exact);
    if (!mark) return false;
    if ((uint32_t)v[i].exact < *mark) *mark = (uint32_t)v[i].exact;
  }
  return true;
}

static void number_occurrences(struct planes *p, struct map *marks, struct map *counts, struct map *seen) {
  struct align_anchor *v = p->c->out->v;
  uint32_t last = 0;
  bool failed = false;
  for (uint32_t i = p->first; i < p->c->out->n; i++) {
    uint64_t key = execution_key(&v[i], marks, counts, &failed);
    uint32_t *at = map_put(seen, key, 0);
    if (failed || !at) return;
    if (!*at) *at = ++last;
    v[i].execution = v[i].step = *at; /* store now: the next map_put may move the value */
    uint32_t *again = map_put(seen, hash_mix(hash_mix(key, v[i].label), v[i].device), 0);
    if (!again) return;
    v[i].label = hash_mix(v[i].label, ++*again);
    v[i].exact = 0;
    v[i].op = 0;
    v[i].stepped = true;
  }
}

static bool number_executions(struct planes *p) {
  struct align_anchors *out = p->c->out;
  struct map marks, counts, seen;
  uint32_t n = p->first;
  for (uint32_t i = p->first; i < out->n; i++)
    if (out->v[i].module) out->v[n++] = out->v[i];
  out->n = n;
  map_init(&marks, out->mem);
  map_init(&counts, out->mem);
  map_init(&seen, out->mem);
  if (n > p->first) qsort(out->v + p->first, n - p->first, sizeof *out->v, by_start);
  if (find_marks(p, &marks)) number_occurrences(p, &marks, &counts, &seen);
  map_free(&marks);
  map_free(&counts);
  map_free(&seen);
  return !out->mem->failed;
}

/* ---- devices ---- */

static bool take_device(struct planes *p, tk_id process, bool kernels) {
  const struct tk_trace *t = p->c->t;
  bool ok = true;
  p->n_executions = 0;
  p->first = p->c->out->n;
  p->device++;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    bool own = k->kind == TK_TRACK_THREAD && k->parent == process;
    if (own && strcmp(tk_string(t, k->name, NULL), "XLA Modules") == 0) ok = take_executions(p, k);
  }
  map_init(&p->starts, p->c->out->mem);
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const char *name = tk_string(t, t->tracks[i].name, NULL);
    if (t->tracks[i].kind != TK_TRACK_THREAD || t->tracks[i].parent != process) continue;
    if (kernels ? text_begins(name, "Stream #") : strcmp(name, "XLA Ops") == 0) ok = take_line(p, &t->tracks[i], kernels);
  }
  map_free(&p->starts);
  return ok && number_executions(p);
}

/* ---- CPUs ---- */

/* Returns the index of the device that ran an op. A merged trace has one device for each rank. */
static uint32_t cpu_of(struct planes *p, const struct tk_event *e, struct map *devices) {
  int64_t ordinal = 0;
  if (p->c->from->origins) return (uint32_t)(p->c->from->origins[e->track].rank + 1);
  collect_number(p->c->t, e->args, "device_ordinal", &ordinal);
  uint32_t *at = map_put(devices, (uint64_t)ordinal, 0);
  if (at && !*at) *at = ++p->device;
  return at ? *at : 0;
}

static bool take_cpu_op(struct planes *p, const struct tk_event *e, struct map *devices) {
  tk_id id;
  const struct op *op = op_of(p, e, false);
  if (!op || op->part != WHOLE || !collect_text(p->c->t, e->args, "hlo_op", &id)) return true;
  const struct execution x = execution_of(p, e);
  const struct align_op *told = told_of(p, op, &x);
  if (!x.module || !x.has_run || !is_anchor(op, told)) return true;
  if (!add_op(p, e, op, told, &x)) return false;
  struct align_anchor *a = &p->c->out->v[p->c->out->n - 1];
  a->device = cpu_of(p, e, devices);
  a->says |= a->says & ALIGN_EQUAL ? ALIGN_KEYED | ALIGN_LOOSE : ALIGN_KEYED;
  return true;
}

/* Adds the number of the execution to the key of each op. */
static void key_cpu_ops(struct planes *p) {
  struct align_anchor *v = p->c->out->v;
  for (uint32_t i = p->first; i < p->c->out->n; i++) v[i].exact = hash_mix(hash_mix(v[i].label, (uint64_t)v[i].run), 61);
}

static bool take_cpus(struct planes *p, tk_id process) {
  const struct tk_trace *t = p->c->t;
  struct map devices;
  bool ok = true;
  p->n_executions = 0;
  p->first = p->c->out->n;
  map_init(&devices, p->c->out->mem);
  for (tk_id k = 1; ok && k <= t->n_tracks; k++) {
    const struct tk_track *line = &t->tracks[k];
    if (line->kind != TK_TRACK_THREAD || line->parent != process) continue;
    for (tk_id i = line->first; ok && i < line->first + line->count; i++)
      if (is_usable(&t->events[i])) ok = take_cpu_op(p, &t->events[i], &devices);
  }
  map_free(&devices);
  ok = ok && number_executions(p);
  if (ok) key_cpu_ops(p);
  return ok;
}

static bool take_hosts(struct planes *p) {
  const struct tk_trace *t = p->c->t;
  bool ok = true;
  for (tk_id i = 1; ok && i <= t->n_tracks; i++) {
    const struct tk_track *k = &t->tracks[i];
    if (k->kind == TK_TRACK_PROCESS && !k->hidden && strstr(tk_string(t, k->name, NULL), "/host:CPU")) ok = take_cpus(p, i);
  }
  return ok;
}

/* ---- entry point ---- */

bool collect_planes(struct collector *c) {
  struct planes p = {.c = c};
  map_init(&p.op_of, c->out->mem);
  map_init(&p.told, c->out->mem);
  bool ok = learn_programs(&p);
  for (tk_id i = 1; ok && i <= c->t->n_tracks; i++) {
    const struct tk_track *k = &c->t->tracks[i];
    const char *name = tk_string(c->t, k->name, NULL);
    bool gpu = text_begins(name, "/device:GPU:");
    if (k->kind == TK_TRACK_PROCESS && !k->hidden && (gpu || text_begins(name, "/device:TPU:"))) ok = take_device(&p, i, gpu);
  }
  if (ok && !p.device && trace_text_id(c->t, "hlo_op")) ok = take_hosts(&p);
  map_free(&p.op_of);
  map_free(&p.told);
  mem_free(c->out->mem, p.ops);
  mem_free(c->out->mem, p.executions);
  return ok;
}

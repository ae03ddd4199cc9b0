/* samples.c - see samples.h.
 *
 * Frames and stacks are interned in the graph as soon as their sequence defines them; the values of their iids are ids of the graph. A
 * frame's module is the path of its mapping as trace_processor prints it: each part after a slash. Samples of other producers have
 * weight 1, because their counts are running totals. Their tracks are the threads of procs.h; they also stay in their original
 * packets. */
#include "samples.h"

#include "format/json_args.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "filed_stacks.h"
#include "inspect.h"
#include "sequence.h"
#include "track.h"

/* ---- interned data ---- */

static bool iid_of(const struct pb_field *f, uint64_t *iid) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  *iid = 0;
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(INTERNED_IID, PB_VARINT)) *iid = g.value;
  return *iid != 0;
}

static void add_mapping(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  size_t n;
  r->copy.len = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) != PB_KEY(MAPPING_PATH_IIDS, PB_VARINT)) continue;
    const char *part = tk_string(r->t, sequence_find(q, IID_PATH, g.value), &n);
    if (r->copy.len || *part != '/') buf_append(&r->copy, "/", 1);
    buf_append(&r->copy, part, n);
  }
  sequence_define(r, q, IID_MAPPING, iid, r->copy.len ? trace_string(r->t, r->copy.data, r->copy.len) : KEY_EMPTY);
}

/* Defines the iid of a mapping of our writer. Its value is the mapping's path, which has at most one part; 0 = no path. */
static void add_own_mapping(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  tk_id path = 0;
  while (pb_next(&c, &g))
    if (pb_field_key(&g) == PB_KEY(MAPPING_PATH_IIDS, PB_VARINT)) path = sequence_find(q, IID_PATH, g.value);
  sequence_define(r, q, IID_OWN_MAPPING, iid, path);
}

static void add_frame(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  struct tk_frame frame = {.line = 0};
  uint64_t mapping = 0, own = 0;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(FRAME_FUNCTION_IID, PB_VARINT): frame.name = sequence_find(q, IID_FUNCTION, g.value); break;
    case PB_KEY(FRAME_MAPPING_IID, PB_VARINT): mapping = g.value; break;
    case PB_KEY(FRAME_SOURCE_PATH_IID, PB_VARINT): frame.file = sequence_find(q, IID_SOURCE, g.value); break;
    case PB_KEY(FRAME_LINE, PB_VARINT): frame.line = (uint32_t)g.value; break;
    case PB_KEY(FRAME_TRACEKIT, PB_VARINT): own = g.value; break;
    default: break;
    }
  }
  frame.module = sequence_find(q, own ? IID_OWN_MAPPING : IID_MAPPING, mapping);
  if (own) frame.column = (uint32_t)((own >> 1) - 1);
  else if (frame.module == KEY_EMPTY) frame.module = 0;
  if (own & 1) frame.name = 0;
  sequence_define(r, q, IID_FRAME, iid, stack_frame(r->t, &frame));
}

static void add_callstack(struct perfetto *r, struct sequence *q, const struct pb_field *f, uint64_t iid) {
  struct pb c = pb_inside(f);
  struct pb_field g;
  tk_id stack = 0;
  while (pb_next(&c, &g)) {
    if (pb_field_key(&g) != PB_KEY(CALLSTACK_FRAME_IDS, PB_VARINT)) continue;
    const tk_id frame = sequence_find(q, IID_FRAME, g.value);
    if (!frame) return;
    stack = stack_push(r->t, stack, frame);
  }
  sequence_define(r, q, IID_STACK, iid, stack);
}

void samples_intern(struct perfetto *r, struct sequence *q, const struct pb_field *f) {
  static const uint32_t ORDER[] = {INTERNED_MAPPINGS, INTERNED_FRAMES, INTERNED_CALLSTACKS};
  if (r->filed) {
    filed_stacks_intern(r, q, f);
    return;
  }
  for (int i = 0; i < 3; i++) {
    struct pb c = pb_inside(f);
    struct pb_field g;
    uint64_t iid;
    while (pb_next(&c, &g)) {
      if (g.number != ORDER[i] || g.wire != PB_BYTES || !iid_of(&g, &iid)) continue;
      if (i == 0) add_mapping(r, q, &g, iid), add_own_mapping(r, q, &g, iid);
      else if (i == 1) add_frame(r, q, &g, iid);
      else add_callstack(r, q, &g, iid);
    }
  }
}

/* ---- samples of our writer ---- */

void samples_claim(struct packet *k) {
  struct pb c = pb_inside(&k->private_fields);
  struct pb_field f;
  if (!k->private_fields.p || k->content.number != PACKET_PERF_SAMPLE || k->other != PACKET_PERF_SAMPLE) return;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(TRACEKIT_SAMPLE, PB_BYTES)) k->sample = k->content;
  if (!k->sample.p) return;
  k->content = (struct pb_field){0};
  k->other = 0;
}

/* Returns the stack that a PerfSample refers to; 0 = none. */
static tk_id stack_of_sample(struct perfetto *r, struct sequence *q, const struct pb_field *sample) {
  struct pb c = pb_inside(sample);
  struct pb_field f;
  tk_id stack = 0;
  while (pb_next(&c, &f)) {
    if (pb_field_key(&f) != PB_KEY(PERF_CALLSTACK_IID, PB_VARINT)) continue;
    stack = sequence_find(q, IID_STACK, f.value);
    if (!stack) perfetto_note(r, TK_NOTE_REPAIR, "samples whose callstack is missing from the trace: their stack is empty");
  }
  return stack;
}

static void add_sample(struct perfetto *r, struct tk_sample *s, struct proc_time at, uint32_t args) {
  const tk_id n = r->t->n_events;
  s->ts = at.ns;
  if (args) stack_add_with(r->t, s, args);
  else stack_add(r->t, s);
  if (r->t->n_events == n) return;
  if (!r->filed) r->nodes[s->track / ASPECTS].has_events = true; /* samples have no track in trace_processor */
  if (at.pending) perfetto_add_pending(r, (struct pending_time){at.pending, r->t->n_events, false});
  r->t->counts.by_phase['P']++;
  r->t->counts.read++;
}

void samples_own(struct perfetto *r, struct sequence *q, const struct packet *k, const struct pb_field *f, struct proc_time at) {
  const uint32_t node = track_node_of_uuid(r, q, k->machine, q->has_track ? q->default_track : 0);
  struct tk_sample s = {.track = node * ASPECTS + ON_TRACK, .weight = 1, .stack = stack_of_sample(r, q, &k->sample)};
  struct pb c = pb_inside(f);
  struct pb_field g;
  uint32_t args = 0;
  bool in_record = false;
  while (pb_next(&c, &g)) {
    switch (pb_field_key(&g)) {
    case PB_KEY(SAMPLE_NUMBER, PB_VARINT): s.weight = (int64_t)g.value; break;
    case PB_KEY(SAMPLE_EXP, PB_VARINT): s.exp = (int32_t)(int64_t)g.value; break;
    case PB_KEY(SAMPLE_UNIT_IID, PB_VARINT): s.unit = sequence_text(r, q, IID_NAME, g.value); break;
    case PB_KEY(SAMPLE_CATEGORY_IID, PB_VARINT): s.cat = sequence_text(r, q, IID_CATEGORY, g.value); break;
    case PB_KEY(SAMPLE_ARGS, PB_BYTES): args = json_take_args(r->t, g.p, (size_t)g.value); break;
    case PB_KEY(SAMPLE_IN_RECORD, PB_VARINT): in_record = g.value != 0; break;
    default: break;
    }
  }
  if (!node) return;
  if (!s.unit) s.unit = trace_text(r->t, "samples");
  if (s.exp < -64 || s.exp > 64) s.exp = 0;
  add_sample(r, &s, at, args);
  if (in_record) r->t->events[r->t->n_events].flags |= TK_FLAG_IN_RECORD;
}

/* ---- samples of other producers ---- */

struct perf_fields {
  int64_t pid, tid;
  bool is_sample; /* false: a report of lost records or of the producer */
  bool has_cpu, has_count, has_error;
  uint64_t cpu, mode, count, skipped, error, stack;
};

static struct perf_fields read_perf(const struct pb_field *content) {
  struct perf_fields p = {.is_sample = true};
  struct pb c = pb_inside(content);
  struct pb_field f;
  while (pb_next(&c, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(PERF_CPU, PB_VARINT): p.cpu = f.value, p.has_cpu = true; break;
    case PB_KEY(PERF_PID, PB_VARINT): p.pid = (uint32_t)f.value; break;
    case PB_KEY(PERF_TID, PB_VARINT): p.tid = (uint32_t)f.value; break;
    case PB_KEY(PERF_CALLSTACK_IID, PB_VARINT): p.stack = f.value; break;
    case PB_KEY(PERF_CPU_MODE, PB_VARINT): p.mode = f.value; break;
    case PB_KEY(PERF_TIMEBASE_COUNT, PB_VARINT): p.count = f.value, p.has_count = true; break;
    case PB_KEY(PERF_UNWIND_ERROR, PB_VARINT): p.error = f.value, p.has_error = true; break;
    case PB_KEY(PERF_RECORDS_LOST, PB_VARINT): p.is_sample = p.is_sample && f.value == 0; break;
    case PB_KEY(PERF_SKIP_REASON, PB_VARINT): p.skipped = f.value; break;
    case PB_KEY(PERF_PRODUCER_EVENT, PB_BYTES): p.is_sample = false; break;
    default: break;
    }
  }
  p.is_sample = p.is_sample && !c.fault;
  return p;
}

static void put_number(struct perfetto *r, const char *key, uint64_t value) {
  if (value <= INT64_MAX) args_int(r->t, trace_text(r->t, key), (int64_t)value);
  else args_uint(r->t, trace_text(r->t, key), TK_ARG_UINT, value);
}

static const char *const MODES[] = {"unknown", "kernel", "user", "hypervisor", "guest_kernel", "guest_user"};
enum { N_MODES = sizeof MODES / sizeof *MODES };

static void put_word(struct perfetto *r, const char *key, const char *const *words, size_t n, uint64_t value) {
  args_str(r->t, trace_text(r->t, key), TK_ARG_STR, trace_text(r->t, words[value < n ? value : 0]));
}

/* Returns an arg for each column of trace_processor's table perf_sample, with enum values as words. */
static uint32_t filed_args(struct perfetto *r, const struct perf_fields *p) {
  static const char *const ERRORS[] = { /* Profiling.StackUnwindError */
    "unknown", "none", "memory_invalid", "unwind_info", "unsupported", "invalid_map", "max_frames_exceeded", "repeated_frame",
    "invalid_elf", "system_call", "thread_timeout", "thread_does_not_exist", "bad_arch", "maps_parse", "invalid_parameter",
    "ptrace_call"};
  args_begin(r->t);
  put_number(r, "cpu", (uint32_t)p->cpu);
  put_word(r, "cpu_mode", MODES, N_MODES, p->mode);
  if (p->has_error) put_word(r, "unwind_error", ERRORS, sizeof ERRORS / sizeof *ERRORS, p->error);
  return args_end(r->t);
}

static uint32_t args_of_perf(struct perfetto *r, const struct perf_fields *p) {
  struct tk_trace *t = r->t;
  args_begin(t);
  if (p->has_cpu) put_number(r, "cpu", p->cpu);
  if (p->mode > 0 && p->mode < N_MODES) put_word(r, "cpu_mode", MODES, N_MODES, p->mode);
  if (p->has_count) put_number(r, "timebase_count", p->count);
  if (p->skipped) put_number(r, "sample_skipped_reason", p->skipped);
  if (p->error) put_number(r, "unwind_error", p->error);
  return args_end(t);
}

static uint64_t number_of_process(uint32_t machine, int64_t pid) { return (uint64_t)machine << 32 | (uint32_t)pid; }

bool samples_perf(struct perfetto *r, struct sequence *q, const struct packet *k) {
  const struct perf_fields p = read_perf(&k->content);
  struct proc_time at;
  if (!p.is_sample || !proc_packet_time(r, q, k, &at)) return false;
  const uint32_t node = proc_thread(r, k->machine, p.tid, p.pid);
  if (!node) return false;
  struct tk_sample s = {.track = node * ASPECTS + ON_TRACK, .weight = 1, .unit = trace_text(r->t, "samples")};
  s.stack = r->filed ? filed_stacks_find(r, q, number_of_process(k->machine, p.pid), p.stack) : stack_of_sample(r, q, &k->content);
  add_sample(r, &s, at, r->filed ? filed_args(r, &p) : args_of_perf(r, &p));
  return true;
}

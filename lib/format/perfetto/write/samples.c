/* samples.c - see samples.h.
 *
 * trace_processor shows PerfSamples in its tables perf_sample and stack_profile_*. A sample refers to an interned callstack,
 * the callstack to frames, and each frame to a function name and a mapping, which contains the path of the module;
 * trace_processor drops frames without a mapping. It also merges frames with the same mapping, name and address, so each frame
 * with a source location gets a unique address. Counters of PerfSample are running totals rather than weights; therefore
 * weights, units, categories and args are private fields. */
#include "samples.h"

#include "format/json_args.h"
#include "graph/args.h"
#include "graph/stack.h"
#include "plain.h"

static uint32_t new_iid(struct event_writer *w, struct iids *kind, tk_id id) {
  writer_iids_set(w, kind, id, ++kind->n);
  return kind->iid[id];
}

/* Returns the iid of the mapping with this module (0 = unknown module, for which the mapping has no path). */
static uint32_t mapping_of(struct event_writer *w, tk_id module) {
  struct buf *b = &w->annotation;
  if (w->mappings.iid[module]) return w->mappings.iid[module];
  const uint32_t path = module ? writer_iid(w, &w->paths, INTERNED_MAPPING_PATHS, module) : 0, iid = new_iid(w, &w->mappings, module);
  b->len = 0;
  pb_u64(b, INTERNED_IID, iid);
  if (path) pb_u64(b, MAPPING_PATH_IIDS, path);
  pb_message(&w->interned, INTERNED_MAPPINGS, b);
  return iid;
}

static uint32_t frame_of(struct event_writer *w, tk_id id) {
  const struct tk_frame *f = &w->t->frames[id];
  struct buf *b = &w->annotation;
  if (w->frames.iid[id]) return w->frames.iid[id];
  const uint32_t mapping = mapping_of(w, f->module);
  const uint32_t name = f->name ? writer_iid(w, &w->functions, INTERNED_FUNCTIONS, f->name) : 0;
  const uint32_t source = f->file ? writer_iid(w, &w->sources, INTERNED_SOURCE_PATHS, f->file) : 0, iid = new_iid(w, &w->frames, id);
  b->len = 0;
  pb_u64(b, INTERNED_IID, iid);
  if (name) pb_u64(b, FRAME_FUNCTION_IID, name);
  pb_u64(b, FRAME_MAPPING_IID, mapping);
  if (f->file || f->line || f->column) pb_u64(b, FRAME_ADDRESS, id);
  if (source) pb_u64(b, FRAME_SOURCE_PATH_IID, source);
  if (f->line) pb_u64(b, FRAME_LINE, f->line);
  pb_u64(b, FRAME_TRACEKIT, ((uint64_t)f->column + 1) << 1 | !f->name);
  pb_message(&w->interned, INTERNED_FRAMES, b);
  return iid;
}

/* Returns the iid of a stack. */
static uint32_t callstack_of(struct event_writer *w, tk_id stack) {
  const struct tk_stack *stacks = w->t->stacks;
  const uint32_t depth = stacks[stack].depth;
  if (w->stacks.iid[stack]) return w->stacks.iid[stack];
  uint32_t *frames = mem_array(w->mem, depth, sizeof *frames);
  tk_id at = stack;
  for (uint32_t i = depth; frames && i-- > 0; at = stacks[at].parent) frames[i] = frame_of(w, stacks[at].frame);
  const uint32_t iid = new_iid(w, &w->stacks, stack);
  struct buf *b = &w->annotation;
  b->len = 0;
  pb_u64(b, INTERNED_IID, iid);
  for (uint32_t i = 0; frames && i < depth; i++) pb_u64(b, CALLSTACK_FRAME_IDS, frames[i]);
  pb_message(&w->interned, INTERNED_CALLSTACKS, b);
  mem_free(w->mem, frames);
  return iid;
}

/* True if the sample has args besides its weight. */
static bool has_more_args(const struct tk_trace *t, const struct tk_event *e) {
  struct tk_args it = tk_args_of(t, e->args);
  struct tk_arg weight;
  return it.shape && it.shape->n > (args_of_event(t, e, KEY_WEIGHT, &weight) ? 1 : 0);
}

static void put_private(struct event_writer *w, const struct tk_event *e) {
  const struct tk_class *c = &w->t->classes[e->cls];
  struct buf args = {.mem = w->mem}, b = {.mem = w->mem};
  int32_t exp;
  const int64_t number = tk_sample_weight(w->t, e, &exp);
  if (number != 1 || exp) pb_i64(&b, SAMPLE_NUMBER, number);
  if (exp) pb_i64(&b, SAMPLE_EXP, exp);
  pb_u64(&b, SAMPLE_UNIT_IID, writer_iid(w, &w->names, INTERNED_NAMES, c->unit));
  if (c->cat) pb_u64(&b, SAMPLE_CATEGORY_IID, writer_iid(w, &w->categories, INTERNED_CATEGORIES, c->cat));
  if (has_more_args(w->t, e) && json_put_args(&args, w->t, e->args)) pb_message(&b, SAMPLE_ARGS, &args);
  if (e->flags & TK_FLAG_IN_RECORD && !w->t->edits) pb_u64(&b, SAMPLE_IN_RECORD, 1);
  w->private_fields.len = 0;
  pb_message(&w->private_fields, TRACEKIT_SAMPLE, &b);
  w->has_private_fields = true;
  buf_free(&args);
  buf_free(&b);
}

static void put_sample(struct perfetto_sink *s, tk_id track, tk_id id) {
  struct event_writer *w = &s->w;
  const struct tk_event *e = &w->t->events[id];
  const struct tk_track *k = &w->t->tracks[track];
  const tk_id stack = w->t->classes[e->cls].stack;
  const int64_t pid = s->pids[k->kind == TK_TRACK_PROCESS ? track : k->parent];
  w->event.len = w->interned.len = 0;
  const uint32_t callstack = stack ? callstack_of(w, stack) : 0;
  w->sample.len = 0;
  pb_u64(&w->sample, PERF_PID, (uint32_t)pid);
  pb_u64(&w->sample, PERF_TID, (uint32_t)(s->tids[track] ? s->tids[track] : pid));
  if (callstack) pb_u64(&w->sample, PERF_CALLSTACK_IID, callstack);
  put_private(w, e);
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
  w->sample.len = 0;
}

void perfetto_samples_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    if (s->t->events[i].kind != TK_EVENT_SAMPLE) continue;
    writer_track(&s->w, s->uuids[track]);
    put_sample(s, track, i);
  }
}

/* gpu.c - writes the work of devices as GpuRenderStageEvents, as Perfetto's own GPU producers do.
 *
 * A stage is one packet with a duration, on a hardware queue of a GPU. trace_processor shows it in its table gpu_slice, on tracks that
 * it creates for the queue, and assigns overlapping spans to lanes itself. The args of a stage are texts, and a stage has no flows, so
 * the private fields of the packet contain the span a second time, as a begin event (and an end event) on the track of the queue. Only
 * our reader uses them (read/gpu_own.c).
 *
 * Stages represent complete spans. Spans that were recorded as begin and end events are restored exactly only if they do not overlap,
 * as is usual on a queue. Otherwise the order of begin and end events with the same time would be lost, so the track is written as
 * TrackEvents. The same applies to spans that never end. Instants of a queue are always track events. */
#include "gpu.h"

#include "base/base64.h"
#include "base/hash.h"
#include "event.h"
#include "graph/accelerator.h"
#include "graph/kind.h"
#include "gpu_writer.h"
#include "plain.h"

enum { WORK = KIND_KERNEL | KIND_MEMCPY | KIND_MEMSET | KIND_COLLECTIVE };

bool gpu_begin(struct perfetto_sink *s) {
  struct gpu_writer *g = s->gpu = mem_alloc(&s->mem, sizeof *g);
  if (!g) return false;
  *g = (struct gpu_writer){.device = -1};
  g->own.mem = g->text.mem = &s->mem;
  for (tk_id i = 1; i <= s->t->n_events; i++)
    if (s->t->events[i].ts + s->t->events[i].dur > g->end) g->end = s->t->events[i].ts + s->t->events[i].dur;
  for (int i = 0; i < ACCELERATOR_LINKS; i++)
    g->links[i] = trace_text_id(s->t, accelerator_links[i]);
  return kinds_init(&g->kinds, s->t, &s->mem);
}

void gpu_end(struct perfetto_sink *s) {
  if (!s->gpu) return;
  if (s->gpu->kinds.mem) kinds_free(&s->gpu->kinds);
  buf_free(&s->gpu->own);
  buf_free(&s->gpu->text);
  mem_free(&s->mem, s->gpu->series);
  mem_free(&s->mem, s->gpu);
  s->gpu = NULL;
}

/* ---- which tracks ---- */

static bool is_work(const struct perfetto_sink *s, const struct tk_event *e) {
  const unsigned kind = kinds_of(&s->gpu->kinds, e);
  return kind & KIND_DEVICE && kind & WORK;
}

static int64_t end_ns(const struct event_writer *w, const struct tk_event *e) { return writer_ns(w, e->ts + e->dur); }

/* True if the span is outermost, and begins after the start of the previous span and not before its end. */
static bool follows(const struct event_writer *w, const struct tk_event *last, const struct tk_event *e) {
  const int64_t ns = writer_ns(w, e->ts);
  return e->depth == 0 && (!last || (ns > writer_ns(w, last->ts) && ns >= end_ns(w, last)));
}

bool gpu_takes(const struct perfetto_sink *s, tk_id track) {
  static const unsigned UNFIT = TK_FLAG_UNFINISHED | TK_FLAG_LOST_CLOCK | TK_FLAG_ASYNC;
  const struct tk_track *k = &s->t->tracks[track];
  const struct tk_event *last = NULL;
  bool works = false, pairs = false, in_row = true;
  if (!s->gpu) return false;
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    const struct tk_event *e = &s->t->events[i];
    if (e->flags & UNFIT || event_needs_interned(&s->w, e)) return false;
    if (e->kind != TK_EVENT_SPAN) continue;
    works = works || is_work(s, e);
    pairs = pairs || e->flags & TK_FLAG_PAIRED;
    in_row = in_row && follows(&s->w, last, e);
    last = e;
  }
  return works && (!pairs || in_row);
}

int64_t gpu_device_of(const struct tk_trace *t, tk_id track) {
  struct accelerator a = accelerator_of(t, t->tracks[track].parent);
  if (!a.family || a.number < 0) a = accelerator_of(t, track);
  return a.family && a.number >= 0 && a.number <= INT32_MAX ? a.number : -1;
}

/* ---- interned data ---- */

/* Returns the iid of a key; sets *fresh if the iid is new. */
static uint32_t iid_of(struct event_writer *w, uint64_t key, bool *fresh) {
  uint32_t *slot = map_put(&w->stage_iids, key, 0);
  *fresh = slot && !*slot;
  if (*fresh) *slot = w->stage_iids.n;
  return slot ? *slot : 0;
}

static void put_specification(struct event_writer *w, uint32_t iid, const struct intern_str *name,
                              const struct intern_str *description, unsigned category) {
  struct buf *b = &w->annotation;
  b->len = 0;
  pb_u64(b, INTERNED_IID, iid);
  pb_bytes(b, INTERNED_TEXT, name->bytes, name->len);
  if (description) pb_bytes(b, GPU_STAGE_DESCRIPTION, description->bytes, description->len);
  if (category) pb_u64(b, GPU_STAGE_CATEGORY, category);
  pb_u64(b, GPU_STAGE_TRACEKIT, 1);
  pb_message(&w->interned, INTERNED_GPU_SPECIFICATIONS, b);
}

/* Interns the context of a process, whose pid viewers then show for its stages. */
static void put_context(struct perfetto_sink *s, tk_id process) {
  struct buf *b = &s->w.annotation;
  b->len = 0;
  pb_u64(b, INTERNED_IID, s->uuids[process]);
  pb_u64(b, GPU_CONTEXT_PID, (uint64_t)s->pids[process]);
  pb_u64(b, GPU_STAGE_TRACEKIT, 1);
  pb_message(&s->w.interned, INTERNED_GRAPHICS_CONTEXTS, b);
}

static uint32_t queue_of(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  const tk_id name = k->name ? k->name : k->tid.str;
  char text[32];
  bool fresh;
  const uint32_t iid = iid_of(&s->w, hash_pair(track, UINT64_MAX), &fresh);
  if (!fresh) return iid;
  const struct intern_str number = {.bytes = (const uint8_t *)text, .len = (uint32_t)num_put_i64(text, k->tid.num)};
  put_specification(&s->w, iid, name ? trace_str(s->t, name) : &number, NULL, 0);
  if (s->uuids[k->parent]) put_context(s, k->parent);
  return iid;
}

struct work_kind {
  unsigned kind;
  const char *word;
  unsigned category;
};

/* Returns the kind of a span on a queue; the last row is for spans that are not work, such as annotations. */
static const struct work_kind *work_kind_of(const struct perfetto_sink *s, const struct tk_event *e) {
  static const struct work_kind ROWS[] = {{KIND_COLLECTIVE, "collective", GPU_STAGE_COMPUTE},
                                          {KIND_MEMCPY, "memcpy", 0},
                                          {KIND_MEMSET, "memset", 0},
                                          {KIND_KERNEL, "kernel", GPU_STAGE_COMPUTE},
                                          {0, "other", 0}};
  const unsigned kind = kinds_of(&s->gpu->kinds, e);
  const struct work_kind *row = ROWS;
  while (row->kind && !(row->kind & kind)) row++;
  return row;
}

/* Returns the iid of a span's stage. The stage has the name of the span, because trace_processor v52 shows no other name; the
 * category of the span is its description. */
static uint32_t stage_of(struct perfetto_sink *s, const struct tk_event *e) {
  const struct tk_class *c = &s->t->classes[e->cls];
  const struct work_kind *kind = work_kind_of(s, e);
  bool fresh;
  const uint32_t iid = iid_of(&s->w, hash_pair((uint64_t)c->name << 32 | c->cat, kind->kind), &fresh);
  const struct intern_str word = {.bytes = (const uint8_t *)kind->word, .len = (uint32_t)strlen(kind->word)};
  const struct intern_str *described = c->cat ? trace_str(s->t, c->cat) : &word;
  if (fresh) put_specification(&s->w, iid, c->name ? trace_str(s->t, c->name) : described, described, kind->category);
  return iid;
}

/* ---- args ---- */

static void put_digits(struct buf *b, const struct tk_arg *a) {
  char text[96];
  size_t n = 0;
  if (a->type == TK_ARG_INT) n = num_put_i64(text, a->i);
  if (a->type == TK_ARG_UINT || a->type == TK_ARG_POINTER) n = num_put_u64(text, a->u);
  if (a->type == TK_ARG_DECIMAL) n = num_put_decimal(text, a->i, a->exp);
  if (a->type == TK_ARG_DOUBLE) n = num_put_double(text, a->d);
  buf_append(b, text, n);
}

static void put_value(const struct tk_trace *t, struct buf *b, const struct tk_arg *a) {
  const struct intern_str *text;
  b->len = 0;
  switch (a->type) {
  case TK_ARG_NULL: buf_append(b, "null", 4); return;
  case TK_ARG_FALSE: buf_append(b, "false", 5); return;
  case TK_ARG_TRUE: buf_append(b, "true", 4); return;
  case TK_ARG_BYTES:
    text = trace_str(t, a->s);
    base64_append(b, text->bytes, text->len);
    return;
  case TK_ARG_STR:
  case TK_ARG_REF:
  case TK_ARG_JSON:
  case TK_ARG_NUMBER:
    text = trace_str(t, a->s);
    buf_append(b, text->bytes, text->len);
    return;
  default: put_digits(b, a);
  }
}

static void put_extra(struct perfetto_sink *s, uint32_t args) {
  struct tk_args it = tk_args_of(s->t, args);
  struct buf *b = &s->w.annotation, *text = &s->gpu->text;
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    const struct intern_str *key = trace_str(s->t, arg.key);
    if (!key->len) continue;
    put_value(s->t, text, &arg);
    b->len = 0;
    pb_bytes(b, GPU_EXTRA_NAME, key->bytes, key->len);
    pb_message(b, GPU_EXTRA_VALUE, text);
    pb_message(&s->w.stage, GPU_EXTRA, b);
  }
}

/* Writes the correlation id that links the span to its launch as the submission id of the stage. */
static void put_submission(struct perfetto_sink *s, uint32_t args) {
  struct tk_args it = tk_args_of(s->t, args);
  struct tk_arg arg;
  while (tk_args_next(&it, &arg)) {
    const bool is_number = (arg.type == TK_ARG_INT || arg.type == TK_ARG_UINT) && arg.u <= UINT32_MAX;
    for (int i = 0; is_number && i < ACCELERATOR_LINKS; i++) {
      if (!s->gpu->links[i] || s->gpu->links[i] != arg.key) continue;
      pb_u64(&s->w.stage, GPU_SUBMISSION, arg.u);
      return;
    }
  }
}

/* ---- spans ---- */

static void put_stage(struct perfetto_sink *s, tk_id track, const struct tk_event *e) {
  struct event_writer *w = &s->w;
  const struct tk_class *c = &s->t->classes[e->cls];
  const tk_id process = s->t->tracks[track].parent;
  const uint32_t queue = queue_of(s, track), stage = stage_of(s, e);
  w->stage.len = 0;
  pb_u64(&w->stage, GPU_EVENT_ID, s->last_stage += s->step);
  pb_u64(&w->stage, GPU_DURATION, (uint64_t)(end_ns(w, e) - writer_ns(w, e->ts)));
  pb_u64(&w->stage, GPU_QUEUE_IID, queue);
  pb_u64(&w->stage, GPU_STAGE_IID, stage);
  if (s->uuids[process]) pb_u64(&w->stage, GPU_CONTEXT, s->uuids[process]);
  if (s->gpu->device > 0) pb_u64(&w->stage, GPU_NUMBER, (uint64_t)s->gpu->device);
  put_submission(s, e->args);
  put_extra(s, c->args);
  put_extra(s, e->args);
}

static void put_span(struct perfetto_sink *s, tk_id track, tk_id id) {
  struct event_writer *w = &s->w;
  const struct tk_event *e = &s->t->events[id];
  struct buf *own = &s->gpu->own;
  event_put_begin(w, id);
  own->len = 0;
  pb_message(own, GPU_OWN_BEGIN, &w->event);
  w->event.len = 0;
  w->has_private_fields = false;
  event_put_end(w, id);
  if (w->event.len) pb_message(own, GPU_OWN_END, &w->event);
  if (e->flags & TK_FLAG_PAIRED) pb_u64(own, GPU_OWN_PAIRED, 1);
  if (w->has_private_fields) pb_u64(own, GPU_OWN_POINTS, 1);
  w->event.len = 0;
  put_stage(s, track, e);
  pb_message(&w->private_fields, TRACEKIT_GPU, own);
  w->has_private_fields = true;
  plain_event(w, writer_ns(w, e->ts), SINK_EVENT, id);
  w->stage.len = 0;
}

void gpu_write(struct perfetto_sink *s, tk_id track) {
  const struct tk_track *k = &s->t->tracks[track];
  s->gpu->device = gpu_device_of(s->t, track);
  for (tk_id i = k->first; i < k->first + k->count; i++) {
    if (s->t->events[i].kind == TK_EVENT_SPAN) put_span(s, track, i);
    else if (s->t->events[i].kind == TK_EVENT_INSTANT) event_instant(&s->w, i);
  }
}

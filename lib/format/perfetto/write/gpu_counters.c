/* gpu_counters.c - writes the counters of devices as GpuCounterEvents.
 *
 * In trace_processor, the value of such a sample applies to the time since the previous sample: it becomes the value of the
 * previous sample, and the last sample becomes 0. So each packet contains the value of the previous sample, and a packet at the
 * end of the trace contains the value of the last sample. The samples themselves are in private fields, as for stages (gpu.c).
 * Ids of counters are unique in the file, because trace_processor v52 ignores the sequence that defines them. */
#include "gpu_counters.h"

#include "event.h"
#include "gpu.h"
#include "gpu_writer.h"
#include "plain.h"

void gpu_counters_begin(struct perfetto_sink *s, tk_id track) {
  const tk_id process = s->t->tracks[track].parent;
  if (!s->gpu) return;
  s->gpu->counters = accelerator_of(s->t, process).family ? track : 0;
  s->gpu->device = s->gpu->counters ? gpu_device_of(s->t, track) : -1;
  s->gpu->n_series = 0;
  map_init(&s->gpu->series_at, &s->mem);
}

/* Puts the name of a series into g->text. Except for device 0, it contains the number of the device, because trace_processor
 * v52 adds the samples of all devices to one track. */
static void put_name(struct perfetto_sink *s, tk_id key) {
  const struct tk_track *k = &s->t->tracks[s->gpu->counters];
  const struct intern_str *counter = trace_str(s->t, k->name), *part = trace_str(s->t, key);
  struct buf *name = &s->gpu->text;
  char device[32];
  name->len = 0;
  buf_append(name, counter->bytes, counter->len);
  if (!k->renamed) buf_append(name, " ", 1), buf_append(name, part->bytes, part->len);
  if (s->gpu->device <= 0) return;
  buf_append(name, " (device ", 9);
  buf_append(name, device, num_put_i64(device, s->gpu->device));
  buf_append(name, ")", 1);
}

/* Adds a series, and its description to the packet. */
static struct gpu_series *add_series(struct perfetto_sink *s, tk_id key) {
  struct gpu_writer *g = s->gpu;
  struct buf *b = &s->w.annotation, *name = &g->text;
  if (!mem_grow(&s->mem, (void **)&g->series, &g->cap_series, (uint64_t)g->n_series + 1, sizeof *g->series)) return NULL;
  struct gpu_series *series = &g->series[g->n_series++];
  *series = (struct gpu_series){.id = s->last_counter += s->step};
  put_name(s, key);
  b->len = 0;
  pb_u64(b, GPU_SPEC_ID, series->id);
  pb_message(b, GPU_SPEC_NAME, name);
  name->len = 0;
  pb_message(name, GPU_DESCRIPTOR_SPEC, b);
  pb_message(&s->w.counter, GPU_COUNTER_DESCRIPTOR, name);
  return series;
}

static void put_sample(struct event_writer *w, const struct gpu_series *series, const struct tk_arg *value) {
  struct buf *b = &w->annotation;
  b->len = 0;
  pb_u64(b, GPU_SAMPLE_ID, series->id);
  if (value->type == TK_ARG_INT) pb_i64(b, GPU_SAMPLE_INT, value->i);
  else pb_double(b, GPU_SAMPLE_DOUBLE, event_double_of(value));
  pb_message(&w->counter, GPU_COUNTER_SAMPLE, b);
}

static void put_device(struct perfetto_sink *s) {
  if (s->gpu->device > 0) pb_u64(&s->w.counter, GPU_COUNTER_GPU, (uint64_t)s->gpu->device);
}

void gpu_counters_sample(struct perfetto_sink *s, uint64_t uuid, tk_id key, const struct tk_arg *value) {
  s->w.counter.len = 0;
  if (!s->gpu || !s->gpu->counters) return;
  uint32_t *slot = map_put(&s->gpu->series_at, uuid, 0);
  const bool fresh = slot && !*slot;
  struct gpu_series *series = !slot ? NULL : fresh ? add_series(s, key) : &s->gpu->series[*slot - 1];
  if (!series) return;
  if (fresh) *slot = s->gpu->n_series;
  put_sample(&s->w, series, fresh ? value : &series->last);
  put_device(s);
  series->last = *value;
}

void gpu_counters_end(struct perfetto_sink *s) {
  struct event_writer *w = &s->w;
  if (!s->gpu || !s->gpu->counters) return;
  w->counter.len = w->event.len = w->interned.len = w->private_fields.len = 0;
  for (uint32_t i = 0; i < s->gpu->n_series; i++) put_sample(w, &s->gpu->series[i], &s->gpu->series[i].last);
  put_device(s);
  s->gpu->own.len = 0;
  pb_message(&w->private_fields, TRACEKIT_GPU, &s->gpu->own);
  w->has_private_fields = true;
  if (s->gpu->n_series) plain_event(w, writer_ns(w, s->gpu->end), SINK_META, 0);
  w->counter.len = 0;
  s->gpu->counters = 0;
  map_free(&s->gpu->series_at);
}

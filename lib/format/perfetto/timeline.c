/* timeline.c - recognises the contents of packets that are also events of the graph (read/gpu.c, gpu_counters.c, ftrace.c,
 * system.c).
 *
 * Such events are written only once: in the original packets if the trace is unedited, otherwise as track events. */
#include "timeline.h"

#include "atrace_text.h"
#include "fields.h"

static bool is_text(const struct pb_field *print) {
  struct pb c = pb_inside(print);
  struct atrace_text e;
  struct pb_field f;
  while (pb_next(&c, &f))
    if (pb_field_key(&f) == PB_KEY(PRINT_TEXT, PB_BYTES)) return atrace_text(&e, f.p, (size_t)f.value);
  return false;
}

/* True for a field of a bundle that is an event in the graph. */
static bool is_ftrace(const struct pb_field *field, bool sched) {
  struct pb c = pb_inside(field);
  struct pb_field f;
  if (field->number == FTRACE_COMPACT) return sched;
  if (field->number != FTRACE_EVENT || field->wire != PB_BYTES) return false;
  while (pb_next(&c, &f)) {
    if (f.wire != PB_BYTES) continue;
    if (f.number == FTRACE_SWITCH || f.number == FTRACE_WAKING) return sched;
    if (atrace_is_mark(f.number)) return true;
    return f.number == FTRACE_CPU_FREQUENCY || f.number == FTRACE_CPU_IDLE || (f.number == FTRACE_PRINT && is_text(&f));
  }
  return false;
}

/* True for a field that only describes the bundle. */
static bool is_head(const struct pb_field *field) { return field->wire != PB_BYTES; }

static bool is_stat(const struct pb_field *field) {
  switch (field->number) {
  case STATS_MEMORY:
  case STATS_VM:
  case STATS_CPU:
  case STATS_FORKS:
  case STATS_IRQS:
  case STATS_IRQ:
  case STATS_SOFTIRQS:
  case STATS_SOFTIRQ:
  case STATS_END_TIME:
  case STATS_DEVICE_FREQUENCY:
  case STATS_CPU_FREQUENCY:
  case STATS_PRESSURE:
  case STATS_THERMAL:
  case STATS_CPU_IDLE:
  case STATS_GPU_FREQUENCY: return true;
  default: return false;
  }
}

/* True if the specification of a counter has more than its name: a description, units or groups, which the graph does not represent. */
static bool has_properties(const struct pb_field *specification) {
  struct pb c = pb_inside(specification);
  struct pb_field f;
  while (pb_next(&c, &f))
    if (f.number != GPU_SPEC_ID && f.number != GPU_SPEC_NAME && f.number != GPU_SPEC_DIRECTION) return true;
  return false;
}

/* True if the description of GPU counters has more than their names. `content`: samples of GPU counters. */
static bool describes_counters(const struct pb_field *content) {
  struct pb c = pb_inside(content), in;
  struct pb_field descriptor, f;
  while (pb_next(&c, &descriptor)) {
    if (pb_field_key(&descriptor) != PB_KEY(GPU_COUNTER_DESCRIPTOR, PB_BYTES)) continue;
    for (in = pb_inside(&descriptor); pb_next(&in, &f);)
      if (pb_field_key(&f) != PB_KEY(GPU_DESCRIPTOR_SPEC, PB_BYTES) || has_properties(&f)) return true;
  }
  return false;
}

/* True for content that consists of an event, or of samples and their description. */
static bool is_whole(const struct pb_field *content) {
  struct pb c = pb_inside(content);
  struct pb_field f;
  switch (content->number) {
  case PACKET_GPU_RENDER_STAGE:
  case PACKET_GPU_ANNOTATION:
  case PACKET_GPU_COUNTER:
  case PACKET_GPU_MEMORY: return true;
  case PACKET_VULKAN_API: return pb_next(&c, &f) && f.number == VULKAN_SUBMIT;
  default: return false;
  }
}

bool timeline_may(uint32_t packet_field) {
  switch (packet_field) {
  case PACKET_FTRACE:
  case PACKET_SYS_STATS:
  case PACKET_GPU_RENDER_STAGE:
  case PACKET_GPU_ANNOTATION:
  case PACKET_GPU_COUNTER:
  case PACKET_GPU_MEMORY:
  case PACKET_VULKAN_API: return true;
  default: return false;
  }
}

bool timeline_rest(const struct pb_field *content, bool sched, struct buf *rest) {
  struct pb c = pb_inside(content);
  struct pb_field f;
  bool any = false;
  if (rest) rest->len = 0;
  if (is_whole(content)) return false;
  if (content->number != PACKET_FTRACE && content->number != PACKET_SYS_STATS) return true;
  for (const uint8_t *from = c.p; pb_next(&c, &f); from = c.p) {
    const bool is_bundle = content->number == PACKET_FTRACE;
    if (is_bundle ? is_ftrace(&f, sched) : is_stat(&f)) continue;
    any = any || !is_bundle || !is_head(&f);
    if (rest) buf_append(rest, from, (size_t)(c.p - from));
  }
  return any;
}

bool timeline_is(const struct pb_field *content) {
  if (content->number == PACKET_GPU_COUNTER && describes_counters(content)) return false;
  return !timeline_rest(content, false, NULL);
}

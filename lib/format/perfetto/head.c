/* head.c - reads those fields of a packet that determine whether a cut in time keeps it. */
#include "head.h"

#include "fields.h"

bool head_is_transport(uint32_t field) {
  switch (field) {
  case PACKET_TIMESTAMP:
  case PACKET_TIMESTAMP_CLOCK_ID:
  case PACKET_SEQUENCE_ID:
  case PACKET_MACHINE_ID:
  case PACKET_TRUSTED_UID:
  case PACKET_TRUSTED_PID: return true;
  default: return false;
  }
}

bool head_is_state(uint32_t field) {
  switch (field) {
  case PACKET_INTERNED_DATA:
  case PACKET_DEFAULTS:
  case PACKET_SEQUENCE_FLAGS:
  case PACKET_STATE_CLEARED:
  case PACKET_PREVIOUS_DROPPED:
  case PACKET_FIRST_ON_SEQUENCE: return true;
  default: return false;
  }
}

/* Stores the field with the packet's content. A valid packet has one such field. If a damaged packet has several, the first one that
 * counts as state is used. */
static void take_content(struct packet_head *h, const struct pb_field *f) {
  const struct kind_of_packet *kind = kind_find(f->number);
  if (h->kind && h->kind->rule == KIND_STATE) return;
  h->content = *f;
  h->kind = kind;
}

void head_read(const struct pb_field *packet, struct packet_head *h) {
  struct pb in = pb_inside(packet);
  struct pb_field f;
  while (pb_next(&in, &f)) {
    switch (pb_field_key(&f)) {
    case PB_KEY(PACKET_TIMESTAMP, PB_VARINT):
      h->timestamp = f.value;
      h->has_timestamp = true;
      break;
    case PB_KEY(PACKET_TIMESTAMP_CLOCK_ID, PB_VARINT):
      h->clock = (uint32_t)f.value;
      h->has_clock = true;
      break;
    case PB_KEY(PACKET_SEQUENCE_ID, PB_VARINT): h->sequence = f.value; break;
    case PB_KEY(PACKET_MACHINE_ID, PB_VARINT): h->machine = (uint32_t)f.value; break;
    case PB_KEY(PACKET_SEQUENCE_FLAGS, PB_VARINT): h->flags |= f.value; break;
    case PB_KEY(PACKET_STATE_CLEARED, PB_VARINT): h->flags |= f.value ? SEQUENCE_CLEARED : 0; break;
    case PB_KEY(PACKET_DEFAULTS, PB_BYTES): h->defaults = f; break;
    default:
      if (!head_is_state(f.number) && !head_is_transport(f.number)) take_content(h, &f);
    }
    h->has_state |= head_is_state(f.number) && (f.number != PACKET_SEQUENCE_FLAGS || f.value & SEQUENCE_CLEARED);
  }
}

bool head_has_samples(uint32_t number) {
  return number == PACKET_SYS_STATS || number == PACKET_GPU_COUNTER || number == PACKET_GPU_MEMORY;
}

bool head_has(const struct pb_field *content, uint32_t field) {
  struct pb in = pb_inside(content);
  struct pb_field f;
  while (field && pb_next(&in, &f))
    if (f.number == field) return true;
  return false;
}

uint64_t head_number(const struct pb_field *content, uint32_t field, uint64_t otherwise) {
  struct pb in = pb_inside(content);
  struct pb_field f;
  while (pb_next(&in, &f))
    if (pb_field_key(&f) == PB_KEY(field, PB_VARINT)) return f.value;
  return otherwise;
}

struct head_clock head_bundle_clock(const struct packet_head *h, bool raw) {
  if (h->kind->clock) return (struct head_clock){.id = h->kind->clock};
  const uint64_t named = head_number(&h->content, FTRACE_CLOCK, 0);
  if (!named) return (struct head_clock){.id = CLOCK_BOOTTIME};
  if (named == FTRACE_CLOCK_RAW && raw) return (struct head_clock){.id = CLOCK_MONOTONIC_RAW};
  const uint64_t boot = head_number(&h->content, FTRACE_BOOT_TIME, 0);
  return (struct head_clock){.id = CLOCK_BOOTTIME, .shift = boot ? boot - head_number(&h->content, FTRACE_OWN_TIME, 0) : 0};
}

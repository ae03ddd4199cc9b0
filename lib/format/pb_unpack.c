/* pb_unpack.c - see pb_unpack.h. */
#include "pb_unpack.h"

static void *alloc_counted(void *mem, size_t size) { return mem_alloc(mem, size); }
static void free_counted(void *mem, void *p) { mem_free(mem, p); }

static ProtobufCAllocator allocator_of(struct mem *mem) {
  return (ProtobufCAllocator){.alloc = alloc_counted, .free = free_counted, .allocator_data = mem};
}

/* True if protobuf-c can unpack the message safely: nesting is at most `depth` levels deep, and only lists have several
 * messages in a field. */
static bool scan(const ProtobufCMessageDescriptor *type, struct pb c, unsigned depth) {
  struct pb_field f;
  uint64_t seen = 0; /* bit set, by index in the schema: fields with one message that have occurred */
  while (pb_next(&c, &f)) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, f.number);
    if (!field || field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    size_t at = (size_t)(field - type->fields);
    if (f.wire != PB_BYTES || depth == 0 || at >= 64) return false;
    if (field->label != PROTOBUF_C_LABEL_REPEATED && seen & (uint64_t)1 << at) return false;
    seen |= (uint64_t)1 << at;
    if (!scan(field->descriptor, pb_inside(&f), depth - 1)) return false;
  }
  return !c.fault;
}

void *pb_unpack(const ProtobufCMessageDescriptor *type, struct pb message, struct mem *mem) {
  ProtobufCAllocator allocator = allocator_of(mem);
  if (!message.p || !scan(type, message, PB_UNPACK_DEPTH)) return NULL;
  return protobuf_c_message_unpack(type, &allocator, (size_t)(message.end - message.p), message.p);
}

void pb_unpack_free(void *message, struct mem *mem) {
  ProtobufCAllocator allocator = allocator_of(mem);
  if (message) protobuf_c_message_free_unpacked(message, &allocator);
}

/* snapshot.h - the contents of a memory snapshot as arrays, converted from a pickle of dicts.
 *
 *     {"segments": [{"device", "address", "total_size", "stream", "segment_type",
 *                    "blocks": [{"address", "size", "requested_size", "state", "frames"}]}],
 *      "device_traces": [[{"action", "addr", "size", "stream", "time_us", "frames"}]],
 *      "external_annotations": [{"stage", "name", "device", "time_us"}],
 *      "allocator_settings": {"trace_alloc_overflowed": [false], "trace_alloc_max_entries": [100000]}}
 *
 * Source of the keys: torch/csrc/cuda/Module.cpp and memory_snapshot.cpp of PyTorch. */
#ifndef FORMAT_TORCH_MEMORY_READ_SNAPSHOT_H
#define FORMAT_TORCH_MEMORY_READ_SNAPSHOT_H

#include "graph/trace.h"
#include "pickle.h"

/* Keys and values that the reader knows. They are interned first, so their ids are constants. */
#define SNAPSHOT_WORDS(X)                                                                                              \
  X(ACTION, "action") X(ADDR, "addr") X(SIZE, "size") X(STREAM, "stream") X(TIME_US, "time_us") X(FRAMES, "frames")     \
  X(DEVICE_FREE, "device_free") X(COMPILE_CONTEXT, "compile_context") X(USER_METADATA, "user_metadata")                 \
  X(CATEGORY, "category") X(NAME, "name") X(FILENAME, "filename") X(LINE, "line") X(STAGE, "stage") X(DEVICE, "device") \
  X(ADDRESS, "address") X(REQUESTED_SIZE, "requested_size") X(STATE, "state") X(BLOCKS, "blocks")                       \
  X(TOTAL_SIZE, "total_size") X(SEGMENTS, "segments") X(DEVICE_TRACES, "device_traces")                                 \
  X(EXTERNAL_ANNOTATIONS, "external_annotations") X(START, "START") X(END, "END") X(ALLOC, "alloc")                     \
  X(USER_DEFINED, "user_defined")                                                                                       \
  X(FREE_REQUESTED, "free_requested") X(FREE_COMPLETED, "free_completed") X(SEGMENT_ALLOC, "segment_alloc")             \
  X(SEGMENT_FREE, "segment_free") X(SEGMENT_MAP, "segment_map") X(SEGMENT_UNMAP, "segment_unmap") X(OOM, "oom")         \
  X(SNAPSHOT, "snapshot") X(SETTINGS, "allocator_settings") X(OVERFLOWED, "trace_alloc_overflowed")                    \
  X(MAX_ENTRIES, "trace_alloc_max_entries") X(INACTIVE, "inactive") X(NOT_AVAILABLE, "N/A") X(NOTHING, "")

enum snapshot_word {
  WORD_NONE,
#define X(name, text) WORD_##name,
  SNAPSHOT_WORDS(X)
#undef X
  WORD_COUNT
};

/* Kinds of objects of the pickle. */
enum snapshot_kind { SNAPSHOT_EVENT, SNAPSHOT_FRAME, SNAPSHOT_BLOCK, SNAPSHOT_SEGMENT, SNAPSHOT_ANNOTATION, SNAPSHOT_KINDS };

/* Texts are ids of the pickle; stacks are numbers of its lists plus 1, 0 = none. */
struct snapshot_event {
  int64_t time_us, addr, size, stream;
  uint32_t action, stack, context, metadata;
  bool has_time;
};
struct snapshot_frame {
  uint32_t name, file;
  int64_t line;
};
struct snapshot_block {
  int64_t addr, size;
  uint32_t state, stack;
};
struct snapshot_segment {
  int64_t device, size, stream;
  uint32_t blocks; /* number of a list, plus 1 */
};
struct snapshot_annotation {
  int64_t time_us, device;
  uint32_t stage, name;
};

struct snapshot {
  struct pickle pickle;
  struct tk_trace *t;
  struct tk_err *err;
  struct tk_progress progress;
  bool is_ordered; /* no event has a time: the times are ordinals */
  struct snapshot_array {
    void *p;
    uint32_t n, cap;
  } of[SNAPSHOT_KINDS];
};

void snapshot_init(struct snapshot *s, struct tk_trace *t, struct in *in, struct tk_err *err);
void snapshot_free(struct snapshot *s);

/* Return the i-th object of a kind. */
static inline const struct snapshot_event *snapshot_event(const struct snapshot *s, int64_t i) {
  return (const struct snapshot_event *)s->of[SNAPSHOT_EVENT].p + i;
}
static inline const struct snapshot_frame *snapshot_frame(const struct snapshot *s, int64_t i) {
  return (const struct snapshot_frame *)s->of[SNAPSHOT_FRAME].p + i;
}
static inline const struct snapshot_block *snapshot_block(const struct snapshot *s, int64_t i) {
  return (const struct snapshot_block *)s->of[SNAPSHOT_BLOCK].p + i;
}
static inline const struct snapshot_segment *snapshot_segment(const struct snapshot *s, int64_t i) {
  return (const struct snapshot_segment *)s->of[SNAPSHOT_SEGMENT].p + i;
}
static inline const struct snapshot_annotation *snapshot_annotation(const struct snapshot *s, int64_t i) {
  return (const struct snapshot_annotation *)s->of[SNAPSHOT_ANNOTATION].p + i;
}

/* Calls `each` for each object of this kind in a list, in order. */
void snapshot_each(const struct snapshot *s, const struct pickle_value *list, enum snapshot_kind kind,
                   void (*each)(void *arg, int64_t object), void *arg);
/* Returns the list that a stack refers to; `number`: number of the list plus 1. */
struct pickle_value snapshot_list(uint32_t number);
/* Returns a text of the pickle as a string of the graph. */
tk_id snapshot_string(const struct snapshot *s, uint32_t text);

#endif

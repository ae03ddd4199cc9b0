/* fields.h - field numbers of Perfetto's Trace that both the reader and the writer use. proto/perfetto_trace.proto contains the
 * messages; a test compares the numbers. */
#ifndef FORMAT_PERFETTO_FIELDS_H
#define FORMAT_PERFETTO_FIELDS_H

enum {
  TRACE_PACKET = 1,

  PACKET_FTRACE = 1,
  PACKET_PROCESS_TREE = 2,
  PACKET_TRUSTED_UID = 3,      /* this and the next two describe the transport of the packet */
  PACKET_TRUSTED_PID = 79,
  PACKET_FIRST_ON_SEQUENCE = 87,
  PACKET_CHROME_EVENTS = 5,
  PACKET_CLOCK_SNAPSHOT = 6,
  PACKET_SYS_STATS = 7,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE_ID = 10,
  PACKET_TRACK_EVENT = 11,
  PACKET_INTERNED_DATA = 12,
  PACKET_SEQUENCE_FLAGS = 13,
  PACKET_STATE_CLEARED = 41,   /* a bool of traces that are older than sequence_flags */
  PACKET_PREVIOUS_DROPPED = 42,
  PACKET_PROCESS_DESCRIPTOR = 43,
  PACKET_THREAD_DESCRIPTOR = 44,
  PACKET_SYSTEM_INFO = 45,
  PACKET_COMPRESSED = 50,
  PACKET_GPU_COUNTER = 52,
  PACKET_GPU_RENDER_STAGE = 53,
  PACKET_GRAPHICS_FRAME = 57,
  PACKET_TIMESTAMP_CLOCK_ID = 58,
  PACKET_DEFAULTS = 59,
  PACKET_TRACK_DESCRIPTOR = 60,
  PACKET_MODULE_SYMBOLS = 61,
  PACKET_DEOBFUSCATION = 64,
  PACKET_VULKAN_API = 65,
  PACKET_PERF_SAMPLE = 66,
  PACKET_SERVICE_EVENT = 69,
  PACKET_GPU_MEMORY = 71,
  PACKET_EXTENSION_DESCRIPTOR = 72,
  PACKET_FRAME_TIMELINE = 76,
  PACKET_MACHINE_ID = 98,
  PACKET_SHELL_TRANSITION = 96,
  PACKET_REMOTE_CLOCK_SYNC = 107,
  PACKET_MODEM_EVENTS = 110,
  PACKET_TRACE_ATTRIBUTES = 126,
  PACKET_ZSTD = 133,
  PACKET_GPU_ANNOTATION = 136,

  SEQUENCE_CLEARED = 1,
  SEQUENCE_NEEDS_STATE = 2,

  DEFAULTS_TRACK_EVENT = 11,
  DEFAULTS_TIMESTAMP_CLOCK_ID = 58,
  EVENT_DEFAULTS_TRACK_UUID = 11,
  EVENT_DEFAULTS_EXTRA_UUIDS = 31,
  EVENT_DEFAULTS_EXTRA_DOUBLE_UUIDS = 45,

  SERVICE_TRACING_STARTED = 2,
  REMOTE_SYNCED_CLOCKS = 1,
  SYNCED_CLIENT = 2,
  SYNCED_HOST = 3,
  SNAPSHOT_CLOCKS = 1,
  SNAPSHOT_PRIMARY_CLOCK = 2,
  CLOCK_ID = 1,
  CLOCK_TIMESTAMP = 2,
  CLOCK_IS_INCREMENTAL = 3,
  CLOCK_UNIT_NS = 4,
  CLOCK_REALTIME = 1,
  CLOCK_MONOTONIC = 3,
  CLOCK_BOOTTIME = 6,
  CLOCK_OF_SEQUENCE = 64, /* this and higher clocks, up to 127, are local to a sequence */
  CLOCK_SEQUENCE_LAST = 127,

  EVENT_TIMESTAMP_DELTA_US = 1,
  EVENT_THREAD_TIME_DELTA_US = 2,
  EVENT_CATEGORY_IIDS = 3,
  EVENT_DEBUG_ANNOTATIONS = 4,
  EVENT_LEGACY = 6,
  EVENT_TYPE = 9,
  EVENT_NAME_IID = 10,
  EVENT_TRACK_UUID = 11,
  EVENT_EXTRA_VALUES = 12,
  EVENT_INSTRUCTIONS_DELTA = 8,
  EVENT_TIMESTAMP_ABSOLUTE_US = 16,
  EVENT_THREAD_TIME_ABSOLUTE_US = 17,
  EVENT_INSTRUCTIONS_ABSOLUTE = 20,
  EVENT_CATEGORIES = 22,
  EVENT_NAME = 23,
  EVENT_COUNTER_VALUE = 30,
  EVENT_EXTRA_UUIDS = 31,
  EVENT_FLOW_IDS_OLD = 36,
  EVENT_TERMINATING_FLOW_IDS_OLD = 42,
  EVENT_DOUBLE_COUNTER_VALUE = 44,
  EVENT_EXTRA_DOUBLE_UUIDS = 45,
  EVENT_EXTRA_DOUBLE_VALUES = 46,
  EVENT_FLOW_IDS = 47,
  EVENT_TERMINATING_FLOW_IDS = 48,
  EVENT_GPU_CORRELATION = 3000, /* GpuCorrelation: an extension (gpu_track_event.proto) */
  EVENT_CORRELATION_ID = 52,
  EVENT_CORRELATION_ID_STR = 53,
  EVENT_CORRELATION_ID_IID = 54,
  EVENT_FIRST_EXTENSION = 1000,
  TYPE_UNSPECIFIED = 0,
  TYPE_SLICE_BEGIN = 1,
  TYPE_SLICE_END = 2,
  TYPE_INSTANT = 3,
  TYPE_COUNTER = 4,

  LEGACY_NAME_IID = 1,
  LEGACY_PHASE = 2,
  LEGACY_DURATION_US = 3,
  LEGACY_THREAD_DURATION_US = 4,
  LEGACY_UNSCOPED_ID = 6,
  LEGACY_ID_SCOPE = 7,
  LEGACY_BIND_ID = 8,
  LEGACY_LOCAL_ID = 10,
  LEGACY_GLOBAL_ID = 11,
  LEGACY_BIND_TO_ENCLOSING = 12,
  LEGACY_FLOW_DIRECTION = 13, /* 1 in, 2 out, 3 both */
  LEGACY_INSTANT_SCOPE = 14,  /* 1 global, 2 process, 3 thread */
  LEGACY_PID_OVERRIDE = 18,
  LEGACY_TID_OVERRIDE = 19,

  INTERNED_CATEGORIES = 1,
  INTERNED_NAMES = 2,
  INTERNED_ANNOTATION_NAMES = 3,
  INTERNED_ANNOTATION_STRINGS = 29,
  INTERNED_GPU_SPECIFICATIONS = 24, /* hardware queues and stages; same fields as interned event names */
  INTERNED_GRAPHICS_CONTEXTS = 23,
  INTERNED_CORRELATION_IDS = 43,
  INTERNED_GPU_COUNTERS = 47,
  INTERNED_KERNELS = 1000, /* this and the next field: gpu_interned_data.proto */
  INTERNED_COMPUTE_ARGS = 1001,
  INTERNED_FUNCTIONS = 5, /* this and the next six: parts of stacks */
  INTERNED_FRAMES = 6,
  INTERNED_CALLSTACKS = 7,
  INTERNED_BUILD_IDS = 16,
  INTERNED_MAPPING_PATHS = 17,
  INTERNED_SOURCE_PATHS = 18,
  INTERNED_MAPPINGS = 19,
  INTERNED_IID = 1,
  INTERNED_TEXT = 2,

  ANNOTATION_NAME_IID = 1,
  ANNOTATION_BOOL = 2,
  ANNOTATION_UINT = 3,
  ANNOTATION_INT = 4,
  ANNOTATION_DOUBLE = 5,
  ANNOTATION_STRING = 6,
  ANNOTATION_POINTER = 7,
  ANNOTATION_NESTED = 8,
  ANNOTATION_JSON = 9,
  ANNOTATION_NAME = 10,
  ANNOTATION_DICT = 11,
  ANNOTATION_ARRAY = 12,
  ANNOTATION_PROTO = 14,
  ANNOTATION_STRING_IID = 17,
  ANNOTATION_TRACEKIT = 1990, /* private: text of a number that double_value cannot represent exactly */
  ANNOTATION_LEVELS = 100, /* maximum number of levels of nested annotations */
  NESTED_TYPE = 1, /* 1 dict, 2 array */
  NESTED_KEYS = 2,
  NESTED_VALUES = 3,
  NESTED_ARRAY = 4,
  NESTED_INT = 5,
  NESTED_DOUBLE = 6,
  NESTED_BOOL = 7,
  NESTED_STRING = 8,

  DESCRIPTOR_UUID = 1,
  DESCRIPTOR_NAME = 2,
  DESCRIPTOR_PROCESS = 3,
  DESCRIPTOR_THREAD = 4,
  DESCRIPTOR_PARENT_UUID = 5,
  DESCRIPTOR_COUNTER = 8,
  DESCRIPTOR_DISALLOW_MERGING = 9, /* disallow_merging_with_system_tracks */
  DESCRIPTOR_STATIC_NAME = 10,
  DESCRIPTOR_CHILD_ORDERING = 11,
  DESCRIPTOR_SIBLING_ORDER_RANK = 12,
  DESCRIPTOR_ATRACE_NAME = 13,
  DESCRIPTOR_MERGE_BEHAVIOR = 15,
  MERGE_NONE = 2,
  ORDERING_EXPLICIT = 3,
  PROCESS_PID = 1,
  PROCESS_LEGACY_SORT_INDEX = 3,
  PROCESS_NAME = 6,
  PROCESS_START = 7,
  PROCESS_LABELS = 8,
  THREAD_PID = 1,
  THREAD_TID = 2,
  THREAD_LEGACY_SORT_INDEX = 3,
  THREAD_NAME = 5,
  THREAD_REFERENCE_US = 6,
  THREAD_REFERENCE_THREAD_US = 7,
  THREAD_REFERENCE_INSTRUCTIONS = 8,
  COUNTER_TYPE = 1, /* 1 thread time, 2 thread instructions */
  COUNTER_UNIT = 3, /* 1 ns, 2 count, 3 bytes */
  COUNTER_MULTIPLIER = 4,
  COUNTER_IS_INCREMENTAL = 5,
  COUNTER_UNIT_NAME = 6,

  /* Private fields, which other importers ignore: properties of events from other formats that no field of Perfetto can
   * represent. */
  PACKET_TRACEKIT = 1990,
  TRACEKIT_POINTS = 1, /* a flow point of the event; in a packet without an event: a flow point of the default track */
  TRACEKIT_CHAIN = 2,  /* the flow id of the event does not imply a flow point */
  TRACEKIT_RECORD = 3, /* a record: data without a time, or without meaning as an event; as JSON */
  TRACEKIT_JOINED = 4, /* counter sample: another series of the event to which the previous sample belongs */
  TRACEKIT_ARGS = 5,   /* of a counter sample: args of its event that no sample represents, encoded as in a TrackEvent; in a
                        * packet without an event: a complete event of the default track that has no sample */
  TRACEKIT_TRACK = 6,  /* the TrackDescriptor of a counter without samples */
  TRACEKIT_WHOLE = 7,  /* for FORM_MIXED: the span was a single complete event */
  TRACEKIT_LATER = 8,  /* in a separate packet: ns that were added to all times because the first time was negative */
  TRACEKIT_UNTIMED = 9, /* in a separate packet: a packet whose event has no usable time, wrapped so that readers do not give it one */
  RECORD_KIND = 1,     /* enum tk_record_kind */
  RECORD_PHASE = 2,
  RECORD_TRACK = 3,    /* uuid of the process or thread to which the record belongs */
  RECORD_STRONG = 4,   /* the record has a pid or a tid even though there is no such track */
  RECORD_TIME = 5,     /* ns on the trace clock; absent = no time */
  RECORD_TEXT = 6,     /* JSON object with the remaining properties */
  RECORD_SAMPLED = 7,  /* tk_record.sampled */
  TRACEKIT_SAMPLE = 10, /* with a PerfSample: a stack sample of the default track; its weight is 1 if SAMPLE_NUMBER is missing */
  SAMPLE_NUMBER = 1,   /* weight: SAMPLE_NUMBER x 10^SAMPLE_EXP */
  SAMPLE_EXP = 2,
  SAMPLE_UNIT_IID = 3, /* iid of an event name */
  SAMPLE_CATEGORY_IID = 4,
  SAMPLE_ARGS = 5,     /* JSON object with all args, if the sample has args other than the weight */
  SAMPLE_IN_RECORD = 6, /* TK_FLAG_IN_RECORD */
  TRACEKIT_GPU = 11,   /* with a GpuRenderStageEvent: the span on the default track that the event represents */
  GPU_OWN_BEGIN = 1,   /* TrackEvent that begins the span, without a time */
  GPU_OWN_END = 2,     /* TrackEvent that ends the span, without a time; absent = the end has no fields */
  GPU_OWN_PAIRED = 3,  /* true if the span was recorded as a begin and an end event */
  GPU_OWN_POINTS = 4,  /* true if flow points of other events represent the flow ids of the end */
  TRACEKIT_PART = 12,  /* in a separate packet before others: the trace is a part of another one that was cut in time */
  PART_START = 1,      /* start of the range, ns on the trace clock; absent = the start of the trace */
  PART_END = 2,        /* end of the range; absent = the end of the trace */
  TRACEKIT_MOVED = 13, /* in a part: the time of the event was before the part and is its start now */
  TRACEKIT_BLOCK = 30, /* in a separate packet: a piece of the data that is embedded for another format */
  BLOCK_FORMAT = 1,    /* name of the other format */
  BLOCK_BYTES = 2,
  POINT_ROLE = 1,
  POINT_ID = 2,        /* an integer; absent = the only flow id of the event */
  POINT_ID_TEXT = 3,   /* iid of an event name */
  POINT_NAME_IID = 4,
  POINT_CATEGORY_IID = 5,
  POINT_TIME = 6,      /* ns on the trace clock; absent = time of the packet */
  POINT_ENCLOSING = 7,
  POINT_NEW_CLASS = 8, /* true: this point's name and category apply until the next such point of the same event category */
  POINT_ID_ARG = 9,    /* ordinal, from 1, of the event's debug annotation whose value is the id */
  POINT_ARGS = 10,     /* JSON object */
  DESCRIPTOR_TRACEKIT = 1990,
  TRACK_FORM = 1,      /* FORM_* bits */
  TRACK_IDENT = 2,     /* original pid or tid if it was a string */
  TRACK_TID = 3,       /* for an async lane or a counter: tid of its thread */
  TRACK_COUNTER_ID = 5, /* for a counter: its id, which is part of its name */
  TRACK_PROCESS = 4,   /* for FORM_GLOBAL: uuid of the process to which the instants belong in other formats */
  TRACK_MACHINE = 6,   /* for a process: name of its machine */
  TRACK_TID_TEXT = 7,  /* for a counter: tid of its thread, if the tid is a string */
  FORM_COMPLETE = 1,   /* all spans were complete events rather than begin and end */
  FORM_MIXED = 1024,   /* only spans with TRACEKIT_WHOLE were complete events */
  FORM_ASYNC = 2,      /* a track with async events of its parent */
  FORM_LANE = 4,       /* a track with spans that overlap other spans of the parent's thread */
  FORM_ABSENT = 8,     /* the track has no pid or no tid */
  FORM_QUOTED = 16,    /* the id was an integer in quotes */
  FORM_GLOBAL = 64,    /* a track with the global instants of one process */
  FORM_TEXT = 128,     /* for a counter: its values were strings */
  FORM_NUMBER_ID = 256, /* TRACK_COUNTER_ID was a number */
  FORM_NO_LANES = 2048, /* for a thread: tk_track.no_lanes */
  FORM_COUNTER = 512,  /* a counter track for events without samples; its name contains no series */
  FORM_SERIES = 32,    /* a counter whose name ends with a space and the series in TRACK_IDENT */

  DESCRIPTOR_PROCESS_ORDERING = 19,
  DESCRIPTOR_THREAD_ORDERING = 20,
  ATTRIBUTES_ATTRIBUTE = 1,
  ATTRIBUTE_KEY = 1,
  ATTRIBUTE_STRING = 3
};

/* Nested annotations are JSON text in the graph. If the text does not imply the types of the values, they are in another arg of
 * the event, ARG_TYPES: an object that contains, by key of the annotation, one character for each value in the order of the
 * text. */
enum {
  VALUE_IMPLIED = '-', /* the type that the text implies */
  VALUE_UINT = 'u',
  VALUE_POINTER = 'p',
  VALUE_DOUBLE = 'd',  /* in nested annotations only for non-finite doubles, whose text is a name such as "NaN" */
  VALUE_JSON = 'j',    /* legacy_json_value; one character for the whole value */
  VALUE_BYTES = 'b'    /* fields of an event, "perfetto.fields"; another format stores them as a data URL */
};

/* In the graph, a track that is not a thread is a TK_TRACK_THREAD track, so that its spans can nest. Its tid is a string that
 * contains its name and is unique in its process. Its actual parent is encoded in the tid's number, which string tids do not
 * need otherwise:
 *
 *     code                 parent                   the rest of the number
 *     NAMED_OF_PROCESS     its process
 *     NAMED_GLOBAL         none
 *     NAMED_OF_THREAD      a thread of its process  the thread's tid
 *     NAMED_IS_PROCESS     is the process track
 *     NAMED_OF_TRACK       another named track      length of the parent's tid, with which its own tid begins
 *
 * A Perfetto counter has one series. `renamed` marks its name as complete, because other counters are displayed as "name
 * series". */
enum { NAMED_OF_PROCESS = 1, NAMED_GLOBAL, NAMED_OF_THREAD, NAMED_IS_PROCESS, NAMED_OF_TRACK, NAMED_CODES = 8 };

/* GpuRenderStageEvent: protos/perfetto/trace/gpu/gpu_render_stage_event.proto. Producers before 2020 refer to queues and stages
 * by number and describe them in one event (GPU_SPECIFICATIONS); later producers intern them. */
enum { GPU_CORRELATION_SUBMITS = 1, GPU_CORRELATION_WAITS = 2 }; /* GpuCorrelation: ids of GpuRenderStageEvents */

enum {
  GPU_EVENT_ID = 1,
  GPU_DURATION = 2, /* ns */
  GPU_QUEUE_ID = 3,
  GPU_STAGE_ID = 4,
  GPU_CONTEXT = 5,
  GPU_EXTRA = 6,
  GPU_SPECIFICATIONS = 7,
  GPU_RENDER_TARGET = 8,
  GPU_RENDER_PASS = 9,
  GPU_SUBMISSION = 10,
  GPU_NUMBER = 11,
  GPU_COMMAND_BUFFER = 12,
  GPU_QUEUE_IID = 13,
  GPU_STAGE_IID = 14,
  GPU_SUBPASS_MASK = 15,
  GPU_RENDER_PASS_INSTANCE = 16,
  GPU_NAME = 17,
  GPU_WAIT_IDS = 18, /* events for which this one waited */
  GPU_KERNEL_IID = 19,
  GPU_NAME_IID = 20,
  GPU_LAUNCH = 21,
  GPU_LOGICAL_QUEUE = 22,

  GPU_EXTRA_NAME = 1,
  GPU_EXTRA_VALUE = 2,

  GPU_SPECIFICATIONS_QUEUE = 2,
  GPU_SPECIFICATIONS_STAGE = 3,
  GPU_DESCRIPTION_NAME = 1,

  GPU_STAGE_DESCRIPTION = 3,
  GPU_STAGE_TRACEKIT = 1990, /* private, also in contexts: our writer made the entry, and makes it again if necessary */
  GPU_CONTEXT_PID = 2,

  GPU_STAGE_CATEGORY = 4, /* of an interned specification: category of the stage */
  GPU_STAGE_GRAPHICS = 1,
  GPU_STAGE_COMPUTE = 2,

  GPU_LAUNCH_GRID = 1,
  GPU_LAUNCH_BLOCK = 2,
  GPU_LAUNCH_ARG = 3,

  COMPUTE_ARG_NAME_IID = 1,
  COMPUTE_ARG_NAME = 2,
  COMPUTE_ARG_INT = 3,
  COMPUTE_ARG_UINT = 4,
  COMPUTE_ARG_DOUBLE = 5,
  COMPUTE_ARG_STRING = 6,
  COMPUTE_ARG_STRING_IID = 7,

  KERNEL_NAME = 2, /* of an interned kernel */
  KERNEL_DEMANGLED = 3,
  KERNEL_ARCH = 4,
  KERNEL_ARG = 5,

  GPU_NOTE_EVENT_ID = 1, /* GpuUserAnnotationEvent: gpu_user_annotation_event.proto */
  GPU_NOTE_DURATION = 2,
  GPU_NOTE_NAME = 3,
  GPU_NOTE_NAME_IID = 4,
  GPU_NOTE_GPU = 5,
  GPU_NOTE_CONTEXT = 6,
  GPU_NOTE_QUEUE_IID = 7,
  GPU_NOTE_ARG = 8 /* a message with the fields COMPUTE_ARG_*; its name is one of the interned names of debug annotations */
};

/* PerfSample and the messages that make up stacks: profile_packet.proto and profile_common.proto in
 * protos/perfetto/trace/profiling. */
enum {
  PERF_CPU = 1,
  PERF_PID = 2,
  PERF_TID = 3,
  PERF_CALLSTACK_IID = 4,
  PERF_CPU_MODE = 5,
  PERF_TIMEBASE_COUNT = 6,
  PERF_FOLLOWER_COUNTS = 7,
  PERF_UNWIND_ERROR = 16,
  PERF_RECORDS_LOST = 17,
  PERF_SKIP_REASON = 18,
  PERF_PRODUCER_EVENT = 19,
  CALLSTACK_FRAME_IDS = 2, /* the outermost first */
  FRAME_FUNCTION_IID = 2,
  FRAME_MAPPING_IID = 3,
  FRAME_ADDRESS = 4, /* relative to the mapping */
  FRAME_SOURCE_PATH_IID = 5,
  FRAME_LINE = 6,
  FRAME_TRACEKIT = 1990, /* private: (column + 1) << 1, plus 1 if the frame has no name. Absent in frames of other producers */
  MAPPING_BUILD_ID = 2,
  MAPPING_START_OFFSET = 3,
  MAPPING_START = 4,
  MAPPING_END = 5,
  MAPPING_LOAD_BIAS = 6,
  MAPPING_PATH_IIDS = 7,
  MAPPING_EXACT_OFFSET = 8
};

/* GpuCounterEvent, GpuCounterDescriptor, VulkanApiEvent, GpuMemTotalEvent: protos/perfetto/trace/gpu/gpu_counter_event.proto,
 * protos/perfetto/common/gpu_counter_descriptor.proto, vulkan_api_event.proto and gpu_mem_event.proto. */
enum {
  GPU_COUNTER_DESCRIPTOR = 1,
  GPU_COUNTER_SAMPLE = 2,
  GPU_COUNTER_GPU = 3,
  GPU_COUNTER_IID = 4,
  GPU_SAMPLE_ID = 1,
  GPU_SAMPLE_INT = 2,
  GPU_SAMPLE_DOUBLE = 3,
  GPU_INTERNED_IID = 1,
  GPU_INTERNED_DESCRIPTOR = 2,
  GPU_INTERNED_GPU = 3,
  GPU_DESCRIPTOR_SPEC = 1,
  GPU_SPEC_ID = 1,
  GPU_SPEC_NAME = 2,
  GPU_SPEC_DIRECTION = 11,
  GPU_FORWARDS = 2, /* true: the value of a sample applies after its time; false: before its time */

  VULKAN_SUBMIT = 2,
  SUBMIT_DURATION = 1,
  SUBMIT_PID = 2,
  SUBMIT_TID = 3,
  SUBMIT_QUEUE = 4,
  SUBMIT_BUFFER = 5,
  SUBMIT_ID = 6,

  GPU_MEMORY_GPU = 1,
  GPU_MEMORY_PID = 2,
  GPU_MEMORY_SIZE = 3
};

/* FtraceEventBundle and its CompactSched: protos/perfetto/trace/ftrace/ftrace_event_bundle.proto. */
enum {
  FTRACE_CPU = 1,
  FTRACE_EVENT = 2,
  FTRACE_COMPACT = 4,
  FTRACE_CLOCK = 5, /* 0 BOOTTIME, 4 MONOTONIC_RAW; other clocks are in snapshots */
  FTRACE_OWN_TIME = 6,  /* this and the next field: the same moment on that clock and on BOOTTIME */
  FTRACE_BOOT_TIME = 7,
  FTRACE_ERROR = 8,
  FTRACE_LAST_READ = 9, /* this and the next field: last_read_event_timestamp, previous_bundle_end_timestamp */
  FTRACE_PREVIOUS_END = 10,
  FTRACE_DESCRIPTORS = 11,
  FTRACE_EVENT_TIME = 1,
  FTRACE_EVENT_TID = 2, /* called pid in the proto */
  FTRACE_CLOCK_RAW = 4,
  COMPACT_SWITCH_TIME = 1, /* this and COMPACT_WAKING_TIME: packed deltas, beginning from 0 */
  COMPACT_PREV_STATE = 2,
  COMPACT_NEXT_TID = 3,
  COMPACT_NEXT_PRIO = 4,
  COMPACT_NAMES = 5,
  COMPACT_NEXT_NAME = 6,
  COMPACT_WAKING_TIME = 7,
  COMPACT_WOKEN_TID = 8,
  COMPACT_WOKEN_CPU = 9,
  COMPACT_WOKEN_PRIO = 10,
  COMPACT_WOKEN_NAME = 11,
  COMPACT_WOKEN_FLAGS = 12,
  CLOCK_MONOTONIC_RAW = 5
};

/* Kinds of FtraceEvent (protos/perfetto/trace/ftrace/ftrace_event.proto), and their fields (ftrace.proto, sched.proto, task.proto,
 * power.proto, binder.proto, mdss.proto, sde.proto, dpu.proto in the same folder). */
enum {
  FTRACE_PRINT = 3,
  FTRACE_SWITCH = 4,
  FTRACE_CPU_FREQUENCY = 11,
  FTRACE_CPU_IDLE = 13,
  FTRACE_WAKING = 20,
  FTRACE_BINDER_SENT = 50, /* binder_transaction: a request or a reply */
  FTRACE_BINDER_RECEIVED = 51,
  FTRACE_BINDER_BUFFER = 323, /* binder_transaction_alloc_buf */
  FTRACE_MARK = 80, /* this and the next two: events of display drivers with the same meaning as text in FTRACE_PRINT */
  FTRACE_MARK_SDE = 333,
  FTRACE_MARK_DPU = 348,
  FTRACE_NEWTASK = 235,
  FTRACE_RENAME = 236,

  PRINT_TEXT = 2,
  MARK_PID = 1,
  MARK_NAME = 2,
  SWITCH_PREV_NAME = 1,
  SWITCH_PREV_TID = 2,
  SWITCH_PREV_STATE = 4,
  SWITCH_NEXT_NAME = 5,
  SWITCH_NEXT_TID = 6,
  WAKING_NAME = 1,
  WAKING_TID = 2,
  CPU_VALUE = 1,
  CPU_ID = 2,
  BINDER_SENT_ID = 1,
  BINDER_SENT_REPLY = 5,
  BINDER_SENT_FLAGS = 7,
  BINDER_ONE_WAY = 1, /* a flag: no reply follows */
  BINDER_RECEIVED_ID = 1,
  BINDER_BUFFER_ID = 2,
  NEWTASK_TID = 1,
  NEWTASK_NAME = 2,
  NEWTASK_FLAGS = 3,
  NEWTASK_IS_THREAD = 0x10000, /* CLONE_THREAD */
  RENAME_TID = 1,
  RENAME_NAME = 3
};

/* ProcessTree (protos/perfetto/trace/ps/process_tree.proto) and SystemInfo (protos/perfetto/common/system_info.proto). */
enum {
  TREE_PROCESS = 1,
  TREE_THREAD = 2,
  TREE_PROCESS_PID = 1,
  TREE_PROCESS_COMMAND = 3,
  TREE_THREAD_TID = 1,
  TREE_THREAD_NAME = 2,
  TREE_THREAD_PID = 3,
  SYSTEM_KERNEL = 1,
  KERNEL_RELEASE = 3
};

/* SysStats: protos/perfetto/trace/sys_stats/sys_stats.proto. */
enum {
  STATS_MEMORY = 1,
  STATS_VM = 2,
  STATS_CPU = 3,
  STATS_FORKS = 4,
  STATS_IRQS = 5,
  STATS_IRQ = 6,
  STATS_SOFTIRQS = 7,
  STATS_SOFTIRQ = 8,
  STATS_END_TIME = 9,
  STATS_DEVICE_FREQUENCY = 10,
  STATS_CPU_FREQUENCY = 11,
  STATS_BUDDY = 12,
  STATS_PRESSURE = 14,
  STATS_THERMAL = 15,
  STATS_CPU_IDLE = 16,
  STATS_GPU_FREQUENCY = 17,
  STATS_KEY = 1,
  STATS_VALUE = 2
};

#endif

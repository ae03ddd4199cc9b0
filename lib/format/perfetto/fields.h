/* fields.h - field numbers of Perfetto's Trace that both directions speak of (proto/perfetto_trace.proto holds the messages; a
 * test holds these numbers against it). */
#ifndef FORMAT_PERFETTO_FIELDS_H
#define FORMAT_PERFETTO_FIELDS_H

enum {
  TRACE_PACKET = 1,

  PACKET_FTRACE = 1,
  PACKET_PROCESS_TREE = 2,
  PACKET_TRUSTED_UID = 3,      /* this and the next two: how the packet travelled */
  PACKET_TRUSTED_PID = 79,
  PACKET_FIRST_ON_SEQUENCE = 87,
  PACKET_CHROME_EVENTS = 5,
  PACKET_CLOCK_SNAPSHOT = 6,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE_ID = 10,
  PACKET_TRACK_EVENT = 11,
  PACKET_INTERNED_DATA = 12,
  PACKET_SEQUENCE_FLAGS = 13,
  PACKET_STATE_CLEARED = 41,   /* bool, before sequence_flags */
  PACKET_PREVIOUS_DROPPED = 42,
  PACKET_PROCESS_DESCRIPTOR = 43,
  PACKET_THREAD_DESCRIPTOR = 44,
  PACKET_COMPRESSED = 50,
  PACKET_TIMESTAMP_CLOCK_ID = 58,
  PACKET_DEFAULTS = 59,
  PACKET_TRACK_DESCRIPTOR = 60,
  PACKET_EXTENSION_DESCRIPTOR = 72,
  PACKET_MACHINE_ID = 98,
  PACKET_REMOTE_CLOCK_SYNC = 107,
  PACKET_TRACE_ATTRIBUTES = 126,
  PACKET_ZSTD = 133,

  SEQUENCE_CLEARED = 1,
  SEQUENCE_NEEDS_STATE = 2,

  DEFAULTS_TRACK_EVENT = 11,
  DEFAULTS_TIMESTAMP_CLOCK_ID = 58,
  EVENT_DEFAULTS_TRACK_UUID = 11,
  EVENT_DEFAULTS_EXTRA_UUIDS = 31,
  EVENT_DEFAULTS_EXTRA_DOUBLE_UUIDS = 45,

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
  CLOCK_OF_SEQUENCE = 64, /* .. 127: of their sequence alone */
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
  INTERNED_CORRELATION_IDS = 43,
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
  ANNOTATION_TRACEKIT = 1990, /* ours: text of a number that double_value is not exactly */
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

  /* Private fields, which every importer passes over: what Perfetto has no field for of another format's events. */
  PACKET_TRACEKIT = 1990,
  TRACEKIT_POINTS = 1, /* a flow point of the event, or, in a packet without one, of the default track */
  TRACEKIT_CHAIN = 2,  /* the flow id of the event stands for no point in full */
  TRACEKIT_RECORD = 3, /* what has no time or no meaning in a trace of events, as JSON */
  TRACEKIT_JOINED = 4, /* a counter sample: another series of the sample before, which was one event */
  TRACEKIT_ARGS = 5,   /* of a counter sample: those of its event's args that no sample says, as a TrackEvent has them; in a packet
                          without an event, on the default track: the whole of an event that has no sample to show */
  TRACEKIT_TRACK = 6,  /* the TrackDescriptor of a counter without samples */
  TRACEKIT_WHOLE = 7,  /* of FORM_MIXED: the span came whole */
  TRACEKIT_LATER = 8,  /* a packet of its own: so many ns all times were moved, for the first one was negative */
  TRACEKIT_UNTIMED = 9, /* a packet of its own: one with a track event without a usable time, which nothing around it can give it */
  RECORD_KIND = 1,     /* enum tk_record_kind */
  RECORD_PHASE = 2,
  RECORD_TRACK = 3,    /* uuid of the process or thread that it names */
  RECORD_STRONG = 4,   /* it has a pid or a tid, also if there is no such track */
  RECORD_TIME = 5,     /* ns, of the trace's clock; absent = it has none */
  RECORD_TEXT = 6,     /* JSON object, less what the above say */
  TRACEKIT_BLOCK = 30, /* a packet of its own: what another format asks to be carried; more of it may follow */
  BLOCK_FORMAT = 1,    /* name of that format */
  BLOCK_BYTES = 2,
  POINT_ROLE = 1,
  POINT_ID = 2,        /* integer; absent = the only flow id of the event */
  POINT_ID_TEXT = 3,   /* iid of an event name */
  POINT_NAME_IID = 4,
  POINT_CATEGORY_IID = 5,
  POINT_TIME = 6,      /* ns, of the trace's clock; absent = the packet's */
  POINT_ENCLOSING = 7,
  POINT_NEW_CLASS = 8, /* name and category are these from here on, for events of this category, else those of the last such point */
  POINT_ID_ARG = 9,    /* which debug annotation of the event, from 1 on, is the id */
  POINT_ARGS = 10,     /* JSON object */
  DESCRIPTOR_TRACEKIT = 1990,
  TRACK_FORM = 1,      /* bits, below */
  TRACK_IDENT = 2,     /* the pid or tid that was a string */
  TRACK_TID = 3,       /* of an async lane or a counter: its thread */
  TRACK_COUNTER_ID = 5, /* of a counter: its id, which is part of its name */
  TRACK_PROCESS = 4,   /* of FORM_GLOBAL: uuid of the process that has them elsewhere */
  TRACK_MACHINE = 6,   /* of a process: name of its machine */
  TRACK_TID_TEXT = 7,  /* of a counter: its thread, if that is a string */
  FORM_COMPLETE = 1,   /* spans came whole, not as begin and end */
  FORM_MIXED = 1024,   /* those came whole that say so */
  FORM_ASYNC = 2,      /* async events of the parent */
  FORM_LANE = 4,       /* overlaps of the parent thread */
  FORM_ABSENT = 8,     /* there was no pid, no tid */
  FORM_QUOTED = 16,    /* an integer in quotes */
  FORM_GLOBAL = 64,    /* instants of global scope of one process */
  FORM_TEXT = 128,     /* of a counter: its values were strings */
  FORM_NUMBER_ID = 256, /* TRACK_COUNTER_ID was a number */
  FORM_NO_LANES = 2048, /* of a thread: tk_track.no_lanes */
  FORM_COUNTER = 512,  /* a counter whose name is whole, on which are events without samples */
  FORM_SERIES = 32,    /* a counter's name ends with a blank and the series that TRACK_IDENT names */

  DESCRIPTOR_PROCESS_ORDERING = 19,
  DESCRIPTOR_THREAD_ORDERING = 20,
  ATTRIBUTES_ATTRIBUTE = 1,
  ATTRIBUTE_KEY = 1,
  ATTRIBUTE_STRING = 3
};

/* How a track that is no thread stands in the graph: as a TK_THREAD track, so that it has a stack, whose tid is a string, unique in
 * its process, that shows its name.  What it really hangs under is in the tid's number, which strings do not use:
 *
 *     code                 of                       the rest of the number
 *     NAMED_OF_PROCESS     its process
 *     NAMED_GLOBAL         nothing
 *     NAMED_OF_THREAD      a thread of its process  the thread's tid
 *     NAMED_IS_PROCESS     is the process's own
 *     NAMED_OF_TRACK       another such track       bytes of its tid that are the other's tid
 *
 * A counter of Perfetto has one series; that its name is whole (other counters show "name series") is said by `renamed`. */
enum { NAMED_OF_PROCESS = 1, NAMED_GLOBAL, NAMED_OF_THREAD, NAMED_IS_PROCESS, NAMED_OF_TRACK, NAMED_CODES = 8 };

#endif

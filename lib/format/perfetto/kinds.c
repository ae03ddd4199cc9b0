/* kinds.c - the table of packet kinds.
 *
 * Field numbers: protos/perfetto/trace/trace_packet.proto, and protos/third_party/android/ for the payloads that moved there.
 * The time of a packet is its `timestamp` (field 8, clock in field 58), except for KIND_ITEMS and KIND_LISTS. Kinds that are not in
 * the table are KIND_TIMED. */
#include "kinds.h"

#include <stddef.h>

#include "fields.h"

#define TIMED(number, title) {.field = (number), .rule = KIND_TIMED, .name = (title)}
#define STATE(number, title) {.field = (number), .rule = KIND_STATE, .name = (title)}
#define LAST(number, title) {.field = (number), .rule = KIND_LAST, .name = (title)}
/* A row for KIND_TIMED packets. A packet with the field `description` is always kept, because it describes later packets. */
#define DESCRIBED(number, title, description) {.field = (number), .rule = KIND_TIMED, .name = (title), .state = (description)}

/* Sorted by field, for kind_find. */
static const struct kind_of_packet KINDS[] = {
    /* ftrace/ftrace_event_bundle.proto: items = event, time = its timestamp, state = generic_event_descriptors */
    {.field = PACKET_FTRACE, .rule = KIND_ITEMS, .name = "ftrace_events",
     .items = FTRACE_EVENT, .time = FTRACE_EVENT_TIME, .unit = 1, .state = FTRACE_DESCRIPTORS},
    STATE(PACKET_PROCESS_TREE, "process_tree"), /* written when a process is first seen, which may be after the range */
    STATE(4, "inode_file_map"),
    TIMED(PACKET_CHROME_EVENTS, "chrome_events"),
    STATE(PACKET_CLOCK_SNAPSHOT, "clock_snapshot"),
    TIMED(PACKET_SYS_STATS, "sys_stats"),
    TIMED(9, "process_stats"),
    TIMED(PACKET_TRACK_EVENT, "track_event"),
    STATE(PACKET_INTERNED_DATA, "interned_data"),
    STATE(33, "trace_config"),
    STATE(34, "ftrace_stats"),
    STATE(35, "trace_stats"),
    STATE(36, "synchronization_marker"),
    TIMED(37, "profile_packet"),
    TIMED(38, "battery"),
    /* android/android_log.proto: items = events, time = LogEvent.timestamp on REALTIME */
    {.field = 39, .rule = KIND_ITEMS, .name = "android_log",
     .items = 1, .time = 5, .clock = CLOCK_REALTIME, .unit = 1},
    /* power/power_rails.proto: state = rail_descriptor, items = energy_data, time = timestamp_ms on BOOTTIME */
    {.field = 40, .rule = KIND_ITEMS, .name = "power_rails",
     .items = 2, .time = 2, .clock = CLOCK_BOOTTIME, .unit = 1000000, .state = 1},
    STATE(PACKET_PROCESS_DESCRIPTOR, "process_descriptor"),
    STATE(PACKET_THREAD_DESCRIPTOR, "thread_descriptor"),
    STATE(PACKET_SYSTEM_INFO, "system_info"),
    TIMED(46, "trigger"),
    STATE(47, "packages_list"),
    STATE(48, "chrome_benchmark_metadata"),
    TIMED(49, "perfetto_metatrace"),
    STATE(PACKET_COMPRESSED, "compressed_packets"),
    STATE(51, "chrome_metadata"),
    DESCRIBED(PACKET_GPU_COUNTER, "gpu_counter_event", GPU_COUNTER_DESCRIPTOR),
    {.field = PACKET_GPU_RENDER_STAGE, .rule = KIND_TIMED, .name = "gpu_render_stage_event", .duration = GPU_DURATION,
     .state = GPU_SPECIFICATIONS},
    TIMED(54, "streaming_profile_packet"), /* has deltas of its sequence instead of a timestamp */
    TIMED(56, "heap_graph"),
    TIMED(PACKET_GRAPHICS_FRAME, "graphics_frame_event"),
    STATE(PACKET_DEFAULTS, "trace_packet_defaults"),
    STATE(PACKET_TRACK_DESCRIPTOR, "track_descriptor"),
    STATE(PACKET_MODULE_SYMBOLS, "module_symbols"),
    TIMED(62, "vulkan_memory_event"),
    TIMED(63, "gpu_log"),
    STATE(PACKET_DEOBFUSCATION, "deobfuscation_mapping"),
    TIMED(PACKET_VULKAN_API, "vulkan_api_event"),
    TIMED(66, "perf_sample"),
    STATE(67, "cpu_info"),
    TIMED(68, "smaps_packet"),
    STATE(PACKET_SERVICE_EVENT, "service_event"), /* contains the start of tracing, before which importers drop ftrace events */
    LAST(70, "initial_display_state"),
    TIMED(PACKET_GPU_MEMORY, "gpu_mem_total_event"),
    STATE(PACKET_EXTENSION_DESCRIPTOR, "extension_descriptor"),
    TIMED(73, "memory_tracker_snapshot"),
    TIMED(74, "streaming_allocation"),
    TIMED(75, "streaming_free"),
    TIMED(PACKET_FRAME_TIMELINE, "frame_timeline_event"),
    DESCRIBED(77, "android_energy_estimation_breakdown", 1), /* energy_consumer_descriptor */
    STATE(78, "ui_state"),
    STATE(82, "translation_table"),
    STATE(83, "android_game_intervention_list"),
    /* statsd/statsd_atom.proto: atom, timestamp_nanos */
    {.field = 84, .rule = KIND_LISTS, .name = "statsd_atom", .items = 1, .time = 2, .clock = CLOCK_BOOTTIME},
    LAST(86, "android_system_property"),
    TIMED(88, "network_packet"),
    STATE(89, "trace_uuid"),
    STATE(90, "track_event_range_of_interest"),
    DESCRIBED(91, "entity_state_residency", 1), /* power_entity_state */
    /* connectivity/network_trace.proto: packet_lengths, packet_timestamps; or totals with total_duration */
    {.field = 92, .rule = KIND_LISTS, .name = "network_packet_bundle", .items = 4, .time = 3, .packed = true, .duration = 6},
    TIMED(93, "surfaceflinger_layers_snapshot"),
    TIMED(94, "surfaceflinger_transactions"),
    /* etw/etw_event_bundle.proto: items = event, time = its timestamp */
    {.field = 95, .rule = KIND_ITEMS, .name = "etw_events",
     .items = 2, .time = 1, .clock = CLOCK_BOOTTIME, .unit = 1},
    TIMED(96, "shell_transition"),
    STATE(97, "shell_handler_mappings"),
    LAST(99, "v8_js_code"), /* this and the next four: code to which later samples refer */
    LAST(100, "v8_internal_code"),
    LAST(101, "v8_wasm_code"),
    LAST(102, "v8_reg_exp_code"),
    LAST(103, "v8_code_move"),
    TIMED(104, "protolog_message"),
    STATE(105, "protolog_viewer_config"),
    STATE(PACKET_REMOTE_CLOCK_SYNC, "remote_clock_sync"),
    TIMED(109, "chrome_trigger"),
    TIMED(110, "pixel_modem_events"),
    STATE(111, "pixel_modem_token_database"),
    TIMED(112, "winscope_extensions"),
    STATE(113, "clone_snapshot_trigger"),
    TIMED(114, "bluetooth_trace_event"),
    LAST(115, "kernel_wakelock_data"), /* this and cpu_per_uid_data: differences to the packet before */
    TIMED(116, "app_wakelock_bundle"),
    TIMED(117, "generic_kernel_task_state_event"),
    TIMED(118, "generic_kernel_cpu_freq_event"),
    LAST(119, "cpu_per_uid_data"),
    LAST(120, "generic_kernel_task_rename_event"),
    TIMED(121, "evdev_event"),
    STATE(122, "generic_kernel_process_tree"),
    STATE(123, "user_list"),
    STATE(124, "trace_provenance"),
    STATE(125, "protovms"),
    STATE(PACKET_TRACE_ATTRIBUTES, "trace_attributes"),
    STATE(127, "android_aflags"),
    STATE(128, "gpu_info"),
    TIMED(129, "generic_gpu_frequency_event"),
    STATE(130, "interrupt_info"),
    STATE(131, "art_process_metadata"),
    TIMED(132, "journald_event"),
    STATE(PACKET_ZSTD, "zstd_compressed_packets"),
    STATE(134, "concurrent_session_event"),
    TIMED(135, "stack_sample"),
    {.field = PACKET_GPU_ANNOTATION, .rule = KIND_TIMED, .name = "gpu_user_annotation_event", .duration = GPU_NOTE_DURATION},
    STATE(138, "recovered_trace_info"),
    STATE(139, "source_file"),
    STATE(140, "module_disassembly"),
    STATE(PACKET_TRACEKIT, "tracekit"), /* contains events without a usable time */
};

const struct kind_of_packet *kind_find(uint32_t field) {
  size_t lo = 0, hi = sizeof KINDS / sizeof *KINDS;
  while (lo < hi) {
    const size_t mid = lo + (hi - lo) / 2;
    if (KINDS[mid].field == field) return &KINDS[mid];
    if (KINDS[mid].field < field) lo = mid + 1;
    else hi = mid;
  }
  return NULL;
}

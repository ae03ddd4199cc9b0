/* perfetto.c - row of the format table for Perfetto's Trace protobuf, mainly traces of TrackEvents. */
#include "perfetto.h"
#include "format/perfetto/read/adopt.h"
#include "format/perfetto/write/carried.h"
#include "format/perfetto/write/cut.h"
#include "format/perfetto/write/write.h"
#include "format/perfetto/read/inspect.h"

#include "join.h"
#include "passthrough.h"
#include "format/perfetto/read/detect.h"
#include "format/perfetto/read/read.h"

static const char *const ENDINGS[] = {".pftrace", ".perfetto-trace", NULL};
static const char *const WORDS[] = {"protobuf", "proto", NULL};

static const struct setting SETTINGS[] = {
    {.info = {PERFETTO_FORMAT, "sched", "read the scheduler: a row for each CPU, and the states of each thread", false},
     .with = TK_WITH_SCHED},
    {.info = {PERFETTO_FORMAT, "gpu_events", "write the work and counters of devices as GPU events", true},
     .flag = offsetof(struct sink_options, gpu_events)}};

static const char *perfetto_clock_name(const struct tk_trace *t) {
  if (t->clock == TK_CLOCK_MONOTONIC) return "MONOTONIC";
  return t->clock == TK_CLOCK_REALTIME && t->zero_ns == 0 ? "REALTIME" : "BOOTTIME";
}

const struct format format_perfetto = {
    .binary = true,
    .settings = SETTINGS,
    .n_settings = sizeof SETTINGS / sizeof *SETTINGS,
    .gzip_level = 5,
    .needs_start = true,
    .has_types = true,
    .in_parts = true,
    .in_manifest = true,
    .engine = {.perf_samples = true},
    .info = {.name = PERFETTO_FORMAT, .title = "Perfetto protobuf", .ending = ".pftrace", .endings = ENDINGS, .words = WORDS,
             .holds = TK_HOLDS_ALL & ~TK_HOLDS_DANGLING, .resolution = 1000, .can_read = true, .can_write = true,
             .carries = true, .is_carried = true},
    .carrier = perfetto_carrier,
    .adopt = perfetto_adopt,
    .clock_name = perfetto_clock_name,
    .machine = perfetto_machine,
    .track = perfetto_track,
    .start = perfetto_start,
    .bid = perfetto_bid,
    .shape = &perfetto_shape,
    .read = perfetto_read,
    .inspect = perfetto_inspect,
    .join = perfetto_join,
    .join_finish = perfetto_join_finish,
    .keeps_ids = perfetto_keeps_ids,
    .n_passthrough = perfetto_n_passthrough,
    .passthrough_times = cut_times,
    .writer = perfetto_writer,
};

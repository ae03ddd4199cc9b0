/* xplane.c - row of the format table for XPlane, in which JAX, TensorFlow and OpenXLA write profiles. */
#include "xplane.h"
#include "format/xplane/write/write.h"
#include "format/xplane/read/read.h"
#include "format/xplane/read/inspect.h"
#include "format/xplane/read/detect.h"
#include "format/xplane/read/adopt.h"

#include "join.h"
#include "passthrough.h"
#include "program.h"

static const char *const ENDINGS[] = {".xplane.pb", ".pb", NULL};
static const char *const WORDS[] = {"xspace", "protobuf", "proto", NULL};

const struct format format_xplane = {
    .info = {.name = XPLANE_FORMAT,
             .title = "XPlane",
             .ending = ".xplane.pb",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_ALL & ~(TK_HOLDS_MACHINES | TK_HOLDS_SAMPLES),
             .resolution = 1,
             .can_read = true,
             .can_write = true,
             .carries = true,
             .is_carried = true,
             .derives = true},
    .binary = true,
    .invents_pids = true,
    .needs_start = true,
    .has_types = true,
    .in_parts = true,
    .own_order = true,
    .runs_in = "plugins/profile",
    .bid = xplane_bid,
    .shape = &xplane_shape,
    .read = xplane_read,
    .inspect = xplane_inspect,
    .carrier = xplane_carrier,
    .adopt = xplane_adopt,
    .n_passthrough = xplane_n_passthrough,
    .start = xplane_start,
    .join = xplane_join,
    .join_finish = xplane_join_finish,
    .writer = xplane_writer,
};

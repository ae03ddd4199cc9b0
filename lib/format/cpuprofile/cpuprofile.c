/* cpuprofile.c - row of the format table for CPU profiles of V8 (Node, Chrome). Only reading is supported. */
#include "cpuprofile.h"

#include "read.h"

static const char *const ENDINGS[] = {".cpuprofile", NULL};
static const char *const WORDS[] = {"v8", NULL};

const struct format format_cpuprofile = {
    .info = {.name = "cpuprofile",
             .title = "V8 CPU profile",
             .ending = ".cpuprofile",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES,
             .resolution = 1000000,
             .can_read = true,
             .no_spans = true},
    .json = true,
    .bid = cpuprofile_bid,
    .read = cpuprofile_read,
};

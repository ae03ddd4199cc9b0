/* pprof.c - row of the format table for profiles of pprof. Only reading is supported. */
#include "pprof.h"

#include "read.h"

static const char *const ENDINGS[] = {".pprof", ".prof", NULL};
static const char *const WORDS[] = {"profile", NULL};

const struct format format_pprof = {
    .info = {.name = "pprof",
             .title = "pprof profile",
             .ending = ".pprof",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000000000000,
             .can_read = true,
             .no_spans = true},
    .binary = true,
    .bid = pprof_bid,
    .read = pprof_read,
};

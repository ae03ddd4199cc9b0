/* pprof.c - row of the format table for profiles of pprof. Spans are written as samples of self time. */
#include "pprof.h"

#include "carry.h"
#include "read.h"
#include "write.h"

static const char *const ENDINGS[] = {".pprof", ".prof", NULL};
static const char *const WORDS[] = {"profile", NULL};

const struct format format_pprof = {
    .info = {.name = PPROF_FORMAT,
             .title = "pprof profile",
             .ending = ".pprof",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = TK_NO_TIMES,
             .can_read = true,
             .can_write = true,
             .no_spans = true},
    .binary = true,
    .packed = true,
    .bid = pprof_bid,
    .read = pprof_read,
    .writer = pprof_writer,
    .carrier = pprof_carrier,
    .adopt = pprof_adopt,
};

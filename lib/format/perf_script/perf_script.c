/* perf_script.c - row of the format table for the text of `perf script`. Only reading is supported. */
#include "perf_script.h"

#include "read.h"

static const char *const ENDINGS[] = {".perf", ".perf.txt", NULL};
static const char *const WORDS[] = {"perf", NULL};

const struct format format_perf_script = {
    .info = {.name = "perf-script",
             .title = "perf script",
             .ending = ".perf",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES | TK_HOLDS_ARGS | TK_HOLDS_CATEGORIES,
             .resolution = 1000,
             .can_read = true,
             .no_spans = true},
    .engine = {.thousands = 3, .outer_depth = 1},
    .bid = perf_script_bid,
    .read = perf_script_read,
};

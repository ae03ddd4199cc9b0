/* folded.c - row of the format table for folded stacks, the input of flame graphs. Spans are written as their self time. */
#include "folded.h"

#include "read.h"
#include "write.h"

static const char *const ENDINGS[] = {".folded", ".collapsed", NULL};
static const char *const WORDS[] = {"collapsed", "flamegraph", NULL};

const struct format format_folded = {
    .info = {.name = "folded",
             .title = "folded stacks",
             .ending = ".folded",
             .endings = ENDINGS,
             .words = WORDS,
             .holds = TK_HOLDS_SAMPLES,
             .resolution = TK_NO_TIMES,
             .can_read = true,
             .can_write = true,
             .no_spans = true},
    .bid = folded_bid,
    .read = folded_read,
    .writer = folded_writer,
};

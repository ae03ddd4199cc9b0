/* folded.c - row of the format table for folded stacks, the input of flame graphs. Only reading is supported, as `tree
 * --folded` already prints folded stacks. */
#include "folded.h"

#include "read.h"

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
             .no_spans = true},
    .bid = folded_bid,
    .read = folded_read,
};
